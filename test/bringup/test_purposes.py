# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Warnings of `check --for`: each is given for the programs that it concerns, and says what such a program does."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_semantics import Diagnostics
from robot_semantics.bringup.purposes import check_for
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.resources import PackageResolver

MASS = '<inertial><mass value="{}"/><inertia ixx="{}" ixy="0" ixz="0" iyy="{}" iyz="0" izz="{}"/></inertial>'
SOLID = MASS.format(2, 1, 1, 1)
ROBOT = """<robot name="r" version="1.1"><link name="base">{base}</link><link name="arm">{arm}</link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/>
<limit lower="-1" upper="1" effort="{effort}" velocity="{velocity}"/></joint></robot>"""
GROUP = '<group name="g"><joint name="j"/></group>'
VIRTUAL = '<virtual_joint name="v" type="fixed" parent_frame="world" child_link="base"/>'


def said(purpose: str, srdf: str | None = GROUP + VIRTUAL, *, folder: str | Path = ".", **parts: str) -> list[str]:
    """Return code and text of the warnings for a robot; its link arm has a mass if the parts do not say otherwise."""
    text = ROBOT.format(**{"base": "", "arm": SOLID, "effort": "3", "velocity": "4", **parts})
    semantic = None if srdf is None else f'<robot name="r">{srdf}</robot>'
    robot = robot_from_text(text, semantic, urdf_source=str(Path(folder, "r.urdf")))
    found = Diagnostics()
    check_for(purpose, robot, found, PackageResolver(), {"arm", "j"}.__contains__)
    return [f"{problem.code}: {problem.message}" for problem in found]


RESERVED = [
    "sdf-name: link 'arm': SDFormat reserves this name: Gazebo refuses the robot",
    "sdf-name: joint 'j': SDFormat reserves this name: Gazebo refuses the robot",
]
MASSLESS = "no-mass: link 'arm': it moves and has no mass: "
REFUSED = "simulators refuse it or assume one"
IGNORED = "Gazebo ignores it and its joint"
NO_INERTIA = "no-inertia: link 'arm': it has a mass of 2 kg and no moment of inertia"
NO_COLLISION = "no-collision: link 'arm': it has a visual shape and no collision shape: nothing collides with it"
LIMIT = "zero-limit: joint 'j': the {} limit is 0: {}"
STILL = LIMIT.format("velocity", "it cannot move, or is not limited")
WEAK = LIMIT.format("effort", "a motor cannot move it, or its effort is not limited")


@pytest.mark.parametrize(
    ("parts", "simulation", "moveit", "gazebo"),
    [
        ({}, [], [], []),
        ({"arm": ""}, [MASSLESS + REFUSED], [], [MASSLESS + IGNORED]),
        ({"arm": MASS.format(0, 1, 1, 1)}, [MASSLESS + REFUSED], [], [MASSLESS + IGNORED]),
        ({"arm": MASS.format(2, 0, 0, 0)}, [NO_INERTIA], [], [NO_INERTIA]),
        ({"velocity": "0"}, [STILL], [LIMIT.format("velocity", "MoveIt cannot time a trajectory")], [STILL]),
        ({"effort": "0"}, [WEAK], [], [WEAK]),
        (
            {"arm": SOLID + '<visual><geometry><sphere radius="1"/></geometry></visual>'},
            [NO_COLLISION], [NO_COLLISION], [],
        ),
    ],
)  # fmt: skip
def test_a_warning_is_given_for_the_programs_that_it_concerns(
    parts: dict[str, str], simulation: list[str], moveit: list[str], gazebo: list[str]
) -> None:
    assert said("simulation", **parts) == simulation
    assert said("moveit", **parts) == moveit
    link, joint = RESERVED
    of_links = [text for text in gazebo if "link 'arm'" in text]
    assert said("gazebo", **parts) == [*of_links, link, *gazebo[len(of_links) :], joint]


def test_moveit_needs_a_group_and_a_virtual_joint() -> None:
    assert said("moveit", None) == ["no-group: no planning group: MoveIt plans for groups of an SRDF"]
    assert said("moveit", VIRTUAL) == ["no-group: no planning group: MoveIt plans for groups of an SRDF"]
    assert said("moveit", GROUP) == [
        "no-virtual-joint: no virtual joint: MoveIt fixes the root link 'base' to the world"
    ]
    assert said("simulation", None) == []


@pytest.mark.parametrize(
    ("shape", "extent"),
    [
        ('<box size="1 {} 2"/>', 1.0),
        ('<sphere radius="{}"/>', 2.0),
        ('<cylinder radius="1" length="{}"/>', 1.0),
        ('<cylinder radius="{}" length="1"/>', 2.0),
        ('<capsule radius="1" length="{}"/>', 1.0),
        ('<mesh filename="part.stl" scale="1 1 {}"/>', 0.5),
        ('<mesh filename="part.stl" scale="1 -{} 1"/>', 4.0),
    ],
)
def test_a_shape_of_more_than_20_m_is_huge(shape: str, extent: float, tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    corners = "".join(f"vertex {corner}\n" for corner in ("1 1 1", "2 1 1", "1 5 1.5"))
    facet = f"facet normal 0 0 1\nouter loop\n{corners}endloop\nendfacet\n"
    (tmp_path / "part.stl").write_text(f"solid part\n{facet}endsolid part\n")
    # The length of the capsule is without its ends.
    rest = 2.0 if "capsule" in shape else 0.0
    for size in (20.0, 21.0):
        collision = f"<collision><geometry>{shape.format((size - rest) / extent)}</geometry></collision>"
        found = said("simulation", folder=tmp_path, base=collision)
        expected = "huge-link: link 'base': a shape is 21 m long: is it in millimetres?"
        assert found == ([expected] if size > 20.0 else [])


def test_a_mesh_without_a_file_or_without_vertices_is_not_huge(tmp_path: Path) -> None:
    (tmp_path / "part.obj").write_text("")
    for name in ("part.obj", "missing.obj"):
        shape = f'<collision><geometry><mesh filename="{name}" scale="1e9 1e9 1e9"/></geometry></collision>'
        assert said("simulation", folder=tmp_path, base=shape) == []
