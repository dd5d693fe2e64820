# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""From tree to model: order, frames, axes, limits, mimics, and the parts that lenient loading leaves out."""

from __future__ import annotations

import itertools
import math
import random
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from robot_semantics import DescriptionError, Diagnostics, RobotModel
from robot_semantics.model.element_checks import materials_by_name
from robot_semantics.model.joint_types import JointLimits, JointType
from robot_semantics.model.loading import load_robot, robot_from_text
from robot_semantics.model.resolve import resolve_mimics, resolve_urdf
from robot_semantics.model.robot_model import ASSUMED_ROOT_JOINT, MimicSource
from robot_semantics.urdf.reader import parse_urdf
from robot_semantics.urdf.tree import Joint, Link, Mimic, UrdfRobot

LIMIT = '<limit lower="-1" upper="2" effort="3" velocity="4"/>'


def chain(*joints: str, attributes: str = "") -> str:
    """A robot whose links l0, l1, … are joined by `joints`, each the inside of a joint and its attributes."""
    lines = [f'<robot name="r"{attributes}><link name="l0"/>']
    for index, joint in enumerate(joints):
        kind, _, inside = joint.partition(" ")
        ends = f'<parent link="l{index}"/><child link="l{index + 1}"/>'
        lines.append(f'<link name="l{index + 1}"/><joint name="j{index + 1}" type="{kind}">{ends}{inside}</joint>')
    return "\n".join([*lines, "</robot>"])


def lenient(text: str) -> tuple[RobotModel, list[str]]:
    diagnostics = Diagnostics()
    model = robot_from_text(text, strict=False, diagnostics=diagnostics)
    return model, [problem.code for problem in diagnostics.errors]


def test_joints_are_depth_first_with_siblings_in_byte_order_of_their_names() -> None:
    # The order that MoveIt gives to such siblings.
    names = ["z_j", "_u", "j10", "B_j", "j2", "m_j", "a_j", "j1", "é"]
    links = "".join(f'<link name="l_{name}"/><link name="x_{name}"/>' for name in names)
    joints = "".join(
        f'<joint name="{name}" type="fixed"><parent link="root"/><child link="l_{name}"/></joint>'
        f'<joint name="0{name}" type="fixed"><parent link="l_{name}"/><child link="x_{name}"/></joint>'
        for name in names
    )
    model = robot_from_text(f'<robot name="r">{joints}{links}<link name="root"/></robot>')
    ordered = ["B_j", "_u", "a_j", "j1", "j10", "j2", "m_j", "z_j", "é"]
    assert model.joint_names == (ASSUMED_ROOT_JOINT, *itertools.chain(*((name, f"0{name}") for name in ordered)))
    for joint, link in zip(model.joints, model.links, strict=True):
        assert (joint.index, joint.child_link) == (link.index, link.name)
        assert link.parent == (model.link_index[joint.parent_link] if joint.parent_link else -1)
    assert [model.links[child].name for child in model.links[0].children] == [f"l_{name}" for name in ordered]


def test_the_root_joint_is_assumed_fixed_and_has_no_parent() -> None:
    root = robot_from_text(chain("fixed")).root_joint
    assert (root.name, root.type, root.parent_link, root.child_link) == (
        "ASSUMED_FIXED_ROOT_JOINT",
        JointType.FIXED,
        "",
        "l0",
    )
    assert root.virtual
    np.testing.assert_array_equal(root.T_parent_joint, np.eye(4))


@settings(deadline=None)
@given(st.tuples(*[st.floats(-10, 10)] * 3), st.tuples(*[st.floats(-7, 7)] * 3))
def test_frames_are_roll_pitch_yaw_about_fixed_axes(xyz: tuple[float, ...], rpy: tuple[float, ...]) -> None:
    origin = f'<origin xyz="{" ".join(map(repr, xyz))}" rpy="{" ".join(map(repr, rpy))}"/>'
    T = robot_from_text(chain(f"fixed {origin}")).joints[1].T_parent_joint
    np.testing.assert_allclose(T[:3, :3], Rotation.from_euler("xyz", rpy).as_matrix(), atol=1e-12)
    np.testing.assert_array_equal(T[:3, 3], xyz)
    np.testing.assert_array_equal(T[3], [0, 0, 0, 1])


def test_a_quaternion_is_x_y_z_w_and_normalised() -> None:
    text = chain('fixed <origin xyz="1 2 3" quat_xyzw="0 0 3 4"/>', attributes=' version="1.1"')
    T = robot_from_text(text).joints[1].T_parent_joint
    np.testing.assert_allclose(T[:3, :3], Rotation.from_quat([0, 0, 0.6, 0.8]).as_matrix(), atol=1e-15)


def test_results_are_read_only() -> None:
    joint = robot_from_text(chain("fixed")).joints[1]
    for array in (joint.T_parent_joint, joint.axis):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5.0


@pytest.mark.parametrize(
    ("joint", "axis"),
    [
        ("continuous", (1, 0, 0)),
        ('continuous <axis xyz="0 3 -4"/>', (0, 0.6, -0.8)),
        ('continuous <axis xyz="0 3e-200 -4e-200"/>', (0, 0.6, -0.8)),
        ('continuous <axis xyz="0 3e200 4e200"/>', (0, 0.6, 0.8)),
        ("planar", (0, 0, 1)),
        ('planar <axis xyz="2 0 0"/>', (1, 0, 0)),
        ("floating", (1, 0, 0)),
    ],
)
def test_axes_are_normalised_and_default_to_x_and_of_a_plane_to_z(joint: str, axis: tuple[float, ...]) -> None:
    np.testing.assert_allclose(robot_from_text(chain(joint)).joints[1].axis, axis, rtol=1e-15)


INF = math.inf
SOFT = '<safety_controller k_velocity="1" soft_lower_limit="0.5" soft_upper_limit="9"/>'
HALF_SOFT = '<safety_controller k_velocity="1" soft_upper_limit="-0.5"/>'


@pytest.mark.parametrize(
    ("joint", "version", "expected"),
    [
        (f"revolute {LIMIT}", "1.0", JointLimits(-1, 2, 4, 3)),
        (f"continuous {LIMIT}", "1.0", JointLimits(-INF, INF, 4, 3)),
        ('prismatic <limit upper="2" effort="3" velocity="4"/>', "1.0", JointLimits(0, 2, 4, 3)),
        ("continuous", "1.0", JointLimits()),
        (
            'revolute <limit lower="-1" upper="2" acceleration="5"/>',
            "1.2",
            JointLimits(-1, 2, INF, INF, acceleration=5, deceleration=5),
        ),
        (
            'revolute <limit lower="-1" upper="2" acceleration="5" deceleration="6" jerk="7"/>',
            "1.2",
            JointLimits(-1, 2, INF, INF, 5, 6, 7),
        ),
        ('continuous <limit effort="3" velocity="4" jerk="7"/>', "1.1", JointLimits(velocity=4, effort=3)),
        (f"revolute {LIMIT}{SOFT}", "1.0", JointLimits(-1, 2, 4, 3, soft_lower=0.5, soft_upper=9)),
        (f"continuous {LIMIT}{SOFT}", "1.0", JointLimits(-INF, INF, 4, 3)),
        (f"revolute {LIMIT}{HALF_SOFT}", "1.0", JointLimits(-1, 2, 4, 3, soft_upper=-0.5)),
    ],
)
def test_limits_are_infinite_where_none_is_stated(joint: str, version: str, expected: JointLimits) -> None:
    assert robot_from_text(chain(joint, attributes=f' version="{version}"')).joints[1].limits == expected


@pytest.mark.parametrize(
    ("limits", "bounds", "default"),
    [
        (JointLimits(-1, 2), (-1, 2), 0.0),
        (JointLimits(-1, 2, soft_lower=0.5, soft_upper=9), (0.5, 2), 1.25),
        (JointLimits(-1, 2, soft_upper=-0.5), (-1, -0.5), -0.75),
        (JointLimits(soft_lower=3), (3, INF), 3.0),
        (JointLimits(soft_upper=-3), (-INF, -3), -3.0),
        (JointLimits(3, 1), (3, 1), 2.0),
    ],
)
def test_bounds_are_the_limits_cut_with_the_soft_ones_and_the_default_is_zero_or_their_middle(
    limits: JointLimits, bounds: tuple[float, float], default: float
) -> None:
    assert limits.bounds == bounds
    assert limits.default == default


@pytest.mark.parametrize(
    ("position", "code"),
    [(0.0, None), (0.5, None), (0.6, "outside-soft-limits"), (1.0, "outside-soft-limits"), (1.1, "outside-limits")],
)
def test_a_position_breaks_the_limits_or_else_the_soft_ones(position: float, code: str | None) -> None:
    broken = JointLimits(-1, 1, soft_upper=0.5).broken_by(position)
    assert (broken and broken.code) == code


def mimic(joint: str, multiplier: float | None = None, offset: float | None = None) -> str:
    numbers = "".join(
        f' {name}="{value!r}"' for name, value in (("multiplier", multiplier), ("offset", offset)) if value is not None
    )
    return f'continuous <mimic joint="{joint}"{numbers}/>'


def test_a_mimic_s_multiplier_is_one_and_its_offset_zero_by_default() -> None:
    model = robot_from_text(chain("continuous", mimic("j1")))
    assert model.joint("j2").mimic == MimicSource("j1", 1.0, 0.0)
    assert not model.joint("j2").is_active
    assert model.joint("j1").is_active


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(-3, 3)), min_size=1, max_size=6), st.floats(-3, 3), st.randoms())
def test_a_chain_of_mimics_is_each_one_s_formula_after_the_other(
    steps: list[tuple[float, float]], q: float, rng: random.Random
) -> None:
    joints = [Joint("j0", "continuous", "a", "b")]
    joints += [
        Joint(f"j{n}", "continuous", "a", "b", mimic=Mimic(f"j{n - 1}", *step)) for n, step in enumerate(steps, 1)
    ]
    rng.shuffle(joints)
    found = resolve_mimics(
        UrdfRobot("r"),
        {joint.name: joint for joint in joints},
        {j.name: JointType.CONTINUOUS for j in joints},
        Diagnostics(),
    )
    value = q
    for index, (multiplier, offset) in enumerate(steps, 1):
        value = multiplier * value + offset
        source = found[f"j{index}"]
        assert source.joint == "j0"
        assert source.multiplier * q + source.offset == pytest.approx(value, rel=1e-9, abs=1e-9)


def test_only_the_joints_of_a_mimic_cycle_lose_their_mimic() -> None:
    text = chain("continuous", mimic("j3"), mimic("j4", 2.0), mimic("j3", 3.0), mimic("j1", 5.0))
    model, errors = lenient(text)
    assert errors == ["mimic-cycle"]
    found = {joint.name: joint.mimic for joint in model.joints if joint.mimic}
    assert found == {"j2": MimicSource("j3", 1.0, 0.0), "j5": MimicSource("j1", 5.0, 0.0)}


@pytest.mark.parametrize(
    ("joint", "code"),
    [
        ('continuous <mimic joint="naQQQme"/>', "unknown-mimic"),
        (f'prismatic {LIMIT}<mimic joint="j1" multiplier="x"/>', "bad-number"),
        ('planar <axis xyz="0 0 1"/><mimic joint="j1"/>', "mimic-mismatch"),
    ],
)
def test_a_mimic_in_error_makes_an_ordinary_joint(joint: str, code: str) -> None:
    model, errors = lenient(chain("continuous", joint))
    assert errors == [code]
    assert model.joint("j2").is_active


def test_planar_and_floating_joints_may_follow_their_like() -> None:
    planar = 'planar <axis xyz="0 0 1"/>'
    model = robot_from_text(chain(planar, f'{planar}<mimic joint="j1"/>', "floating", 'floating <mimic joint="j3"/>'))
    assert model.joint("j2").mimic == MimicSource("j1", 1.0, 0.0)
    assert model.joint("j4").mimic == MimicSource("j3", 1.0, 0.0)


def with_parts(parts: str) -> str:
    return chain("fixed").replace('<link name="l1"/>', f'<link name="l1">{parts}</link>')


SHAPE = '<geometry><sphere radius="1"/></geometry>'
BAD_SHAPE = '<geometry><sphere radius="x"/></geometry>'
INERTIA = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'


@pytest.mark.parametrize(
    ("parts", "visuals", "collisions", "inertial"),
    [
        (f"<visual>{SHAPE}</visual><visual>{BAD_SHAPE}</visual><collision>{SHAPE}</collision>", 1, 1, False),
        (f'<visual><origin xyz="1"/>{SHAPE}</visual><collision>{BAD_SHAPE}</collision>', 0, 0, False),
        (f'<inertial><mass value="-1"/>{INERTIA}</inertial>', 0, 0, False),
        (f'<inertial><mass value="x"/>{INERTIA}</inertial><visual>{SHAPE}</visual>', 1, 0, False),
        (f'<inertial><mass value="1"/>{INERTIA}</inertial>', 0, 0, True),
    ],
)
def test_lenient_loading_leaves_out_the_parts_in_error(
    parts: str, visuals: int, collisions: int, inertial: bool
) -> None:
    link = lenient(with_parts(parts))[0].link("l1").urdf
    assert (len(link.visuals), len(link.collisions), link.inertial is not None) == (visuals, collisions, inertial)


def test_lenient_loading_turns_a_zero_axis_into_the_default() -> None:
    model, errors = lenient(chain('continuous <axis xyz="0 0 0"/>'))
    assert errors == ["zero-axis"]
    np.testing.assert_array_equal(model.joints[1].axis, [1, 0, 0])


def test_lenient_loading_keeps_crossed_limits_as_moveit_does() -> None:
    model, errors = lenient(chain('revolute <limit lower="1" upper="-1" effort="1" velocity="1"/>'))
    assert errors == ["limits-crossed"]
    assert (model.joints[1].limits.lower, model.joints[1].limits.upper) == (1, -1)


def test_of_two_materials_of_one_name_the_first_counts() -> None:
    materials = "".join(f'<material name="m"><color rgba="{value} 0 0 1"/></material>' for value in (1, 0))
    model, errors = lenient(chain("fixed").replace("</robot>", materials + "</robot>"))
    assert errors == ["duplicate-name"]
    assert materials_by_name(model.urdf)["m"].rgba == (1, 0, 0, 1)


def test_a_material_s_name_means_the_robot_s_own_before_any_inline_one() -> None:
    inline = '<material name="m"><color rgba="0 1 0 1"/></material>'
    own = '<material name="m"><color rgba="1 0 0 1"/></material>'
    text = with_parts(f"<visual>{SHAPE}{inline}</visual>")
    assert materials_by_name(parse_urdf(text))["m"].rgba == (0, 1, 0, 1)
    assert materials_by_name(parse_urdf(text.replace("</robot>", own + "</robot>")))["m"].rgba == (1, 0, 0, 1)


@pytest.mark.parametrize(
    "text",
    [
        "<robot",
        "<sdf/>",
        '<robot name="r"/>',
        chain("revolute"),
        chain("naQQQme"),
        chain('fixed <origin xyz="x"/>'),
        chain('continuous <axis xyz="x"/>'),
        chain("fixed").replace('<link name="l1"/>', ""),
        chain("fixed").replace("</robot>", '<link name="l1"/></robot>'),
        chain("fixed").replace("</robot>", '<link name="alone"/></robot>'),
        chain("fixed", "fixed").replace('"j2"', '"j1"'),
        chain("fixed", "fixed").replace('<parent link="l1"/>', '<parent link="l2"/>'),
        chain("fixed").replace('<parent link="l0"/>', ""),
    ],
)
def test_a_text_that_gives_no_tree_is_refused_leniently_too(text: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        robot_from_text(text, strict=False)
    assert any(problem.severity.value == "error" for problem in caught.value.diagnostics)


def test_a_fixed_joint_s_axis_does_not_matter() -> None:
    model, errors = lenient(chain('fixed <axis xyz="x"/>'))
    assert errors == ["bad-number"]
    assert len(model.joints) == 2


def test_strict_loading_refuses_any_error_and_carries_the_warnings_too() -> None:
    text = chain('continuous <mimic joint="naQQQme"/>').replace("</robot>", "<lonk/></robot>")
    with pytest.raises(DescriptionError) as caught:
        robot_from_text(text)
    assert [problem.code for problem in caught.value.diagnostics] == ["unknown-mimic", "unknown-element"]


def test_a_urdf_that_gives_no_tree_does_not_hide_what_is_wrong_with_the_srdf() -> None:
    srdf = '<robot name="r"><group name="g"/><group name="g"/><pasive_joint/></robot>'
    with pytest.raises(DescriptionError) as caught:
        robot_from_text('<robot name="r"><link name="a"/><link name="b"/></robot>', srdf)
    found = [(problem.place.source, problem.code) for problem in caught.value.diagnostics]
    assert found[0] == ("<robot_description>", "several-roots")
    assert {code for source, code in found if source == "<robot_description_semantic>"} >= {
        "duplicate-name",
        "empty-group",
        "unknown-element",
    }


def test_a_file_and_its_text_give_the_same_robot(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(chain("fixed", mimic("j1")))
    diagnostics = Diagnostics()
    model = load_robot(path, strict=False, diagnostics=diagnostics)
    assert model.urdf == robot_from_text(path.read_text(), strict=False).urdf
    assert {problem.place.source for problem in diagnostics} == {str(path)}


def test_a_tree_built_by_hand_is_checked_without_places() -> None:
    robot = UrdfRobot("r", content=(Link("a"), Joint("j", "fixed", "a", "naQQQme")))
    diagnostics = Diagnostics()
    assert resolve_urdf(robot, diagnostics) is None
    assert [str(problem) for problem in diagnostics] == [
        "<none>: error: joint 'j': child link 'naQQQme' does not exist"
    ]


def test_ten_thousand_links_in_a_row_are_no_trouble() -> None:
    model = robot_from_text(chain(*["fixed"] * 10_000))
    assert len(model.links) == 10_001
    assert model.links[-1].name == "l10000"


def test_a_robot_with_every_name_wrong_is_refused_in_seconds() -> None:
    joints = "".join(
        f'<joint name="j{n}" type="fixed"><parent link="left_arm_{n}_lnk"/><child link="left_arm_{n}_lank"/></joint>'
        for n in range(1000)
    )
    links = "".join(f'<link name="left_arm_{n}_link"/>' for n in range(1000))
    start = time.process_time()
    with pytest.raises(DescriptionError) as caught:
        robot_from_text(f'<robot name="r">{joints}{links}</robot>')
    assert time.process_time() - start < 30
    problems = caught.value.diagnostics
    assert sum(problem.count for problem in problems) == 2001
    assert problems[0].suggestion == "left_arm_0_link"
    assert problems[999].suggestion is None


def test_a_thousand_mimics_in_a_row_are_no_trouble() -> None:
    model = robot_from_text(chain("continuous", *[mimic(f"j{n}", -1.0, 1.0) for n in range(1, 1000)]))
    assert model.joint("j1000").mimic == MimicSource("j1", -1.0, 1.0)


def test_a_joint_declared_twice_still_has_its_unknown_links_reported() -> None:
    joint = '<joint name="j" type="fixed"><parent link="{}"/><child link="b"/></joint>'
    text = f'<robot name="r"><link name="a"/><link name="b"/>\n{joint.format("a")}\n{joint.format("aa")}</robot>'
    with pytest.raises(DescriptionError) as caught:
        robot_from_text(text)
    assert [(problem.code, problem.place.line) for problem in caught.value.diagnostics] == [
        ("duplicate-name", 3),
        ("unknown-link", 3),
    ]


def test_a_second_root_that_only_a_joint_names_has_that_joint_s_place() -> None:
    joint = '<joint name="j" type="fixed"><parent link="bse"/><child link="tip"/></joint>'
    with pytest.raises(DescriptionError) as caught:
        robot_from_text(f'<robot name="r"><link name="base"/>\n{joint}</robot>', implicit_links=True)
    (problem,) = [problem for problem in caught.value.diagnostics if problem.code == "several-roots"]
    assert (problem.place.line, problem.place.column) == (2, 38)
    assert problem.place.path == "/robot/joint[@name='j']/parent/@link"


def test_a_second_shape_is_called_one() -> None:
    shapes = '<box size="1 1 1"/>\n<sphere radius="1"/>'
    diagnostics = Diagnostics()
    robot_from_text(
        f'<robot name="r"><link name="a"><visual><geometry>{shapes}</geometry></visual></link></robot>',
        diagnostics=diagnostics,
    )
    (problem,) = diagnostics
    assert (problem.code, problem.place.line, problem.place.column) == ("duplicate-element", 2, 1)
    assert problem.message == "<geometry> has more than one shape; the first is used, this one is kept but not used"
    assert problem.suggestion is None


def test_the_arrays_of_every_joint_are_read_only() -> None:
    srdf = '<robot name="r"><virtual_joint name="v" type="planar" parent_frame="odom" child_link="l0"/></robot>'
    for joint in robot_from_text(chain("fixed"), srdf).joints:
        assert not joint.axis.flags.writeable
        assert not joint.T_parent_joint.flags.writeable
