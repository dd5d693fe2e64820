# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Questions about semantics are answered as the SRDF says, and a misspelt name gets its neighbours."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_semantics import RobotModel, UnknownNameError
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.queries import (
    PairCause,
    end_effectors_of,
    groups_with_joint,
    groups_with_link,
    matching_states,
    pair_status,
    run_query,
    states_of,
)

BOX = '<collision><geometry><box size="1 1 1"/></geometry></collision>'
URDF = f"""<robot name="r">
  <link name="base">{BOX}</link><link name="a">{BOX}</link><link name="b">{BOX}</link><link name="c">{BOX}</link>
  <link name="bare"/>
  <joint name="j1" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="j2" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
  <joint name="j3" type="planar"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/></joint>
  <joint name="jb" type="fixed"><parent link="c"/><child link="bare"/></joint>
</robot>"""
SRDF = """<robot name="r">
  <virtual_joint name="v" type="floating" parent_frame="odom" child_link="base"/>
  <group name="arm"><joint name="j1"/><joint name="j2"/></group>
  <group name="all"><chain base_link="base" tip_link="bare"/><joint name="v"/></group>
  <group name="tip"><joint name="jb"/></group>
  <group_state name="zero" group="arm"><joint name="j1" value="0"/><joint name="j2" value="0"/></group_state>
  <group_state name="half" group="arm"><joint name="j1" value="0.5"/><joint name="j2" value="3.1"/></group_state>
  <group_state name="there" group="all"><joint name="v" value="1 2 3 0 0 0 1"/><joint name="j3" value="1 2 -3.1"/>
    <joint name="j1" value="0"/><joint name="j2" value="0"/></group_state>
  <end_effector name="e" group="tip" parent_link="b" parent_group="arm"/>
  <passive_joint name="j2"/>
  <disable_collisions link1="b" link2="a" reason="Adjacent"/>
  <disable_collisions link1="base" link2="bare" reason="User"/>
  <disable_default_collisions link="c"/>
  <enable_collisions link1="base" link2="c"/>
</robot>"""


@pytest.fixture(scope="module")
def model() -> RobotModel:
    return robot_from_text(URDF, SRDF)


def test_groups_are_found_by_link_and_joint(model: RobotModel) -> None:
    assert groups_with_link(model, "a") == ("all", "arm")
    assert groups_with_link(model, "base") == ("all",)
    assert groups_with_joint(model, "jb") == ("all", "tip")
    assert groups_with_joint(model, "v") == ("all",)


def test_states_are_given_of_one_group_or_of_all(model: RobotModel) -> None:
    assert [(state.group, state.name) for state in states_of(model)] == [
        ("arm", "zero"),
        ("arm", "half"),
        ("all", "there"),
    ]
    assert [dict(state.joints) for state in states_of(model, "arm")] == [
        {"j1": (0.0,), "j2": (0.0,)},
        {"j1": (0.5,), "j2": (3.1,)},
    ]
    assert states_of(model, "tip") == ()


@pytest.mark.parametrize(
    ("word", "meant"),
    [("arm/half", ("arm", "half")), ("a/b/c", ("a", "b/c")), ("a/b/d", ("a/b", "d")), ("a/b/e/f", ("a/b", "e/f"))],
)
def test_a_state_is_found_by_group_and_name_whichever_has_slashes(word: str, meant: tuple[str, str]) -> None:
    states = (("arm", "half"), ("a", "b/c"), ("a/b", "d"), ("a/b", "e/f"))
    groups = "".join(f'<group name="{name}"><joint name="j1"/></group>' for name in ("arm", "a", "a/b"))
    texts = "".join(
        f'<group_state name="{name}" group="{group}"><joint name="j1" value="0"/></group_state>'
        for group, name in states
    )
    semantics = robot_from_text(URDF, f'<robot name="r">{groups}{texts}</robot>').semantics
    found = semantics.state_from_path(word)
    assert (found.group, found.name) == meant


@pytest.mark.parametrize(
    ("word", "message"),
    [("arm/hlaf", "unknown state 'hlaf' of group 'arm'"), ("amr/half", "unknown group 'amr'"), ("half", "'half'")],
)
def test_a_word_that_is_no_state_is_refused_with_what_is_unknown(model: RobotModel, word: str, message: str) -> None:
    with pytest.raises(UnknownNameError, match=re.escape(message)):
        model.semantics.state_from_path(word)


def test_end_effectors_are_given_all_or_those_attached_to_a_group(model: RobotModel) -> None:
    (effector,) = end_effectors_of(model)
    assert (effector.name, effector.group, effector.parent_link, effector.parent_group) == ("e", "tip", "b", "arm")
    assert end_effectors_of(model, "arm") == (effector,)
    assert end_effectors_of(model, "tip") == ()


@pytest.mark.parametrize(
    ("link1", "link2", "cause", "reason"),
    [
        ("a", "b", PairCause.DISABLED, "Adjacent"),
        ("b", "a", PairCause.DISABLED, "Adjacent"),
        ("base", "bare", PairCause.DISABLED, "User"),
        ("a", "a", PairCause.SAME_LINK, ""),
        ("a", "bare", PairCause.NO_GEOMETRY, ""),
        ("a", "c", PairCause.DEFAULT_DISABLED, ""),
        ("base", "c", PairCause.CHECKED, ""),
        ("base", "b", PairCause.CHECKED, ""),
    ],
)
def test_a_pair_is_checked_or_says_why_not(
    model: RobotModel, link1: str, link2: str, cause: PairCause, reason: str
) -> None:
    status = pair_status(model, link1, link2)
    assert (status.cause, status.reason, status.checked) == (cause, reason, cause is PairCause.CHECKED)


def test_a_group_is_in_the_state_whose_joints_are_all_near(model: RobotModel) -> None:
    (match,) = matching_states(model, "arm", {"j1": 0.0005, "j2": -0.0002}, 1e-3)
    assert (match.state, match.joint) == ("zero", "j1")
    assert match.difference == pytest.approx(0.0005)
    assert matching_states(model, "arm", {"j1": 0.0, "j2": 0.1}, 1e-3) == ()
    assert [match.state for match in matching_states(model, "arm", {"j1": 0.4, "j2": 3.0}, 10.0)] == ["half", "zero"]


def test_turns_of_a_continuous_joint_make_no_difference(model: RobotModel) -> None:
    for turns in (-3, -1, 1, 1000):
        (match,) = matching_states(model, "arm", {"j1": 0.5, "j2": 3.1 + turns * math.tau}, 1e-9)
        assert match.state == "half"
    (match,) = matching_states(model, "arm", {"j1": 0.5, "j2": -3.1}, 0.1)
    assert match.difference == pytest.approx(math.tau - 6.2)


def test_an_unknown_position_matches_no_state(model: RobotModel) -> None:
    assert matching_states(model, "arm", {"j1": 0.0}, math.pi) == ()
    assert matching_states(model, "arm", {"j1": 0.0, "j2": math.nan}, math.pi) == ()
    assert matching_states(model, "arm", {"j1": math.inf, "j2": math.inf}, math.pi) == ()


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 0.3, 3.0, math.pi])
def test_a_floating_joint_differs_by_its_angle_whatever_the_quaternions_sign(
    model: RobotModel, angle: float, sign: float
) -> None:
    rotation = Rotation.from_rotvec(angle * np.array((1.0, 2.0, -2.0)) / 3.0)
    there = positions((1, 2, 3), sign * rotation.as_quat(), (1, 2, -3.1))
    (match,) = matching_states(model, "all", there, 4.0)
    assert match.difference == pytest.approx(rotation.magnitude(), rel=1e-6, abs=1e-12)


def test_planar_and_floating_joints_differ_by_their_distance_too(model: RobotModel) -> None:
    identity = np.array((0.0, 0.0, 0.0, 1.0))
    (match,) = matching_states(model, "all", positions((1.3, 2.4, 3), identity, (1, 2, -3.1)), 4.0)
    assert match.joint == "v"
    assert match.difference == pytest.approx(0.5)
    (match,) = matching_states(model, "all", positions((1, 2, 3), identity, (1, 2, 3.1)), 4.0)
    assert match.joint == "j3"
    assert match.difference == pytest.approx(math.tau - 6.2)
    assert matching_states(model, "all", positions((1, 2, 3), 0 * identity, (1, 2, 3.1)), 4.0) == ()


def positions(xyz: tuple[float, ...], quat_xyzw: np.ndarray, plane: tuple[float, ...]) -> dict[str, float]:
    names = ("trans_x", "trans_y", "trans_z", "rot_x", "rot_y", "rot_z", "rot_w")
    base = {f"v/{name}": float(value) for name, value in zip(names, (*xyz, *quat_xyzw), strict=True)}
    return {**base, **dict(zip(("j3/x", "j3/y", "j3/theta"), plane, strict=True)), "j1": 0.0, "j2": 0.0}


@pytest.mark.parametrize(
    ("ask", "nearest"),
    [
        (lambda model: groups_with_link(model, "bar"), "bare"),
        (lambda model: groups_with_joint(model, "jj1"), "j1"),
        (lambda model: states_of(model, "amr"), "arm"),
        (lambda model: end_effectors_of(model, "tp"), "tip"),
        (lambda model: pair_status(model, "a", "bas"), "base"),
        (lambda model: matching_states(model, "al", {}, 1.0), "all"),
        (lambda model: model.semantics.group("ram"), "arm"),
        (lambda model: model.semantics.state("arm", "hafl"), "half"),
    ],
)
def test_an_unknown_name_is_an_answer_with_the_nearest_names(model: RobotModel, ask: object, nearest: str) -> None:
    assert callable(ask)
    with pytest.raises(UnknownNameError):
        ask(model)
    found = run_query(lambda: ask(model))
    assert not found.success
    assert found.value is None
    assert nearest in found.nearest
    assert "unknown" in found.message


def test_a_known_name_is_a_successful_answer(model: RobotModel) -> None:
    found = run_query(lambda: groups_with_joint(model, "j1"))
    assert (found.success, found.value, found.message, found.nearest) == (True, ("all", "arm"), "", ())
