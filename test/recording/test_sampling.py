# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The world at many times as arrays: old values, missing values, and the codes of the messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robot_semantics import read_recording
from robot_semantics.recording.notebook import RecordedWorld
from robot_semantics.recording.sample.world import Sampling

UNTURNED = (0.0, 0.0, 0.0, 1.0)
CART = '<robot name="cart"><link name="deck"/></robot>'
ARM = """<robot name="arm"><link name="base"/><link name="l1"/><joint name="turn" type="prismatic">
<parent link="base"/><child link="l1"/><axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>
</robot>"""


def at(x: float) -> tuple[float, ...]:
    return (x, 0.0, 0.0, *UNTURNED)


def read(tools: Any, tape: Any, **options: Any) -> RecordedWorld:
    return read_recording(tape.write(tools.folder / "bag"), **options)


def codes(world: RecordedWorld) -> list[str]:
    return sorted(problem.code for problem in world.problems)


def test_without_a_wish_values_are_interpolated_old_after_a_second_and_links_left_out(tools: Any) -> None:
    for name, last_ns in (("fresh", tools.S), ("old", tools.S - 1)):
        tape = tools.Tape()
        tape.text("/robot_description", ARM)
        for second in (0, 2):
            tape.tf([(tools.START + second * tools.S, "map", "base", at(second))])
        for stamp in (0, last_ns):
            tape.joints(tools.START + stamp, ["turn"], [0.5])
        world = read_recording(tape.write(tools.folder / name))
        model = world.at(1.5).model("arm")
        assert model.pose is not None
        assert (model.pose.xyz_rpy[0], model.links) == (1.5, ())
        assert (("joint", "arm/turn") in world.gaps) is (name == "old")


def test_repeated_and_late_transforms_have_their_codes(tools: Any) -> None:
    tape = tools.Tape()
    for k, second in enumerate((0, 2, 2, 1)):
        tape.tf([(tools.START + second * tools.S, "map", "a", at(0))], log=tools.START + k)
    assert codes(read(tools, tape)) == ["duplicate-stamps", "late-messages"]


def test_every_odometry_of_a_frame_but_the_first_is_passed_over_and_those_after_it_are_not(tools: Any) -> None:
    tape = tools.Tape()
    # 'a' is placed by tf, so its odometry is not asked; 'b' has two, and 'c', after all of these, one.
    tape.tf([(tools.START, "map", "a", at(9))])
    for topic, child, x in (("/o1", "a", 1), ("/o2", "b", 2), ("/o3", "b", 3), ("/o4", "c", 4)):
        tape.odometry(tools.START, "map", child, at(x), np.zeros(6), topic=topic)
    world = read(tools, tape)
    state = world.at("end")
    found = {frame.name: frame.pose.xyz_rpy[0] for frame in state.frames if frame.pose is not None}
    assert found == {"map": 0.0, "a": 9.0, "b": 2.0, "c": 4.0}
    (problem,) = world.problems
    assert (problem.code, problem.message) == ("frame-sources", "frame 'b' is taken from topic '/o2'; ignored: '/o3'")


def test_a_frame_with_a_robot_is_the_world_before_six_hundred_without(tools: Any) -> None:
    tape = tools.Tape()
    tape.tf([(tools.START, "isle", f"f{i}", at(1)) for i in range(600)], topic="/tf_static")
    tape.text("/robot_description", CART)
    tape.tf([(tools.START, "quay", "deck", at(2))])
    world = read(tools, tape)
    assert world.at("end").model("cart").parent == "quay"
    assert world.at("end").frame("quay").pose is not None
    assert "frames-unconnected" in codes(world)


def test_a_frame_above_the_world_frame_stays_where_it_was_told_last(tools: Any) -> None:
    tape = tools.Tape()
    tape.tf([(tools.START, "top", "room", at(3))])
    for second in (0, 5):
        tape.tf([(tools.START + second * tools.S, "room", "cup", at(1))])
    series = read(tools, tape, sampling=Sampling(world_frame="room")).sample([tools.START + 4 * tools.S])
    column = series.frames.index("top")
    np.testing.assert_array_equal(series.frame_pose[0, column], at(-3))
    assert series.frame_age_ns[0, column] == 4 * tools.S


@pytest.mark.parametrize(
    ("told_s", "known", "expected"),
    [
        # The joint places the link. Without the joint TF does: told once, the link stays there.
        (0, True, 0.5),
        (4, True, 0.5),
        (0, False, 7.0),
        (4, False, np.nan),
    ],
)
def test_a_link_that_carries_is_where_its_joint_has_it_or_else_where_tf_had_it_last(
    tools: Any, told_s: int, known: bool, expected: float
) -> None:
    tape = tools.Tape()
    tape.text("/robot_description", ARM)
    tape.tf([(tools.START, "l1", "grip", at(1))], topic="/tf_static")
    for second in range(6):
        tape.joints(tools.START + second * tools.S, ["turn"] if known else [], [0.5] if known else [])
    tape.tf([(tools.START + told_s * tools.S, "base", "l1", at(7))])
    series = read(tools, tape).sample([tools.START + 2 * tools.S, tools.START + 3 * tools.S])
    column = series.frames.index("grip")
    placed = expected == expected
    above = ("arm", "l1" if placed else None)
    assert [series.parents[at] for at in series.frame_parent[:, column]] == [above, above]
    np.testing.assert_array_equal(series.frame_pose[:, column, 0], [1.0 if placed else np.nan] * 2)
    poses = series.models[0].link_poses
    assert poses is not None
    np.testing.assert_allclose(poses[:, 0, 0], [expected, expected], rtol=0, atol=1e-12)


def test_a_robot_of_which_nobody_says_where_it_is_has_a_base_of_no_age(tools: Any) -> None:
    tape = tools.Tape()
    tape.text("/robot_description", ARM)
    virtual = '<virtual_joint name="v" type="floating" parent_frame="map" child_link="base"/>'
    tape.text("/robot_description_semantic", f'<robot name="arm">{virtual}</robot>')
    tape.joints(tools.START, ["turn"], [0.5])
    (model,) = read(tools, tape).sample([tools.START]).models
    assert np.isnan(model.pose).all()
    assert model.base_age_ns.tolist() == [-1]
