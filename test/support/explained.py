# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Files and commands around the examples of the explanations (`cli/frame/explanations.md`)."""

from __future__ import annotations

from dataclasses import dataclass, replace

_TWO_LINKS = '<link name="base_link"/><link name="upper_arm"/>'
_LINKS = f'{_TWO_LINKS}<link name="forearm"/><link name="tool0"/>'
_LIMIT = '<limit lower="-1.5" upper="1.5" effort="10" velocity="1"/>'
_OPENING = '<limit lower="0" upper="0.04" effort="10" velocity="1"/>'


def _joint(name: str, kind: str, parent: str, child: str, rest: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{rest}</joint>'


_ARM = "".join(
    [
        f'<robot name="my_robot">{_LINKS}<link name="hand"/><link name="left_tip"/><link name="right_tip"/>',
        _joint(
            "shoulder",
            "revolute",
            "base_link",
            "upper_arm",
            f'<axis xyz="0 0 1"/>{_LIMIT}'
            '<safety_controller k_velocity="10" soft_lower_limit="-1" soft_upper_limit="1"/>',
        ),
        _joint("elbow", "revolute", "upper_arm", "forearm", _LIMIT),
        _joint("wrist", "fixed", "forearm", "tool0"),
        _joint("mount", "fixed", "tool0", "hand"),
        _joint("left_finger", "prismatic", "hand", "left_tip", _OPENING),
        _joint("right_finger", "prismatic", "hand", "right_tip", f'{_OPENING}<mimic joint="left_finger"/>'),
        "{}</robot>",
    ]
)
_FOUR_BAR = (
    '<robot name="my_robot"><link name="base"/><link name="a"/><link name="b"/><link name="c"/>'
    '<joint name="crank" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>'
    '<joint name="coupler" type="continuous"><origin xyz="0.1 0 0"/><parent link="a"/><child link="b"/>'
    '<axis xyz="0 0 1"/></joint><joint name="rocker" type="continuous"><origin xyz="0.4 0 0"/><parent link="base"/>'
    '<child link="c"/><axis xyz="0 0 1"/></joint><constraint name="pin" type="revolute"><parent link="b"/>{}'
    '<parent_axis xyz="0 0 1"/><child link="c"/><child_origin xyz="0.1 0 0"/></constraint></robot>'
)
_FLOATING = f'<robot name="my_robot">{_TWO_LINKS}{_joint("free", "floating", "base_link", "upper_arm")}</robot>'
_GROUPS = (
    '<group name="arm"><chain base_link="base_link" tip_link="tool0"/></group>'
    '<group name="hand"><joint name="left_finger"/><joint name="right_finger"/></group>'
)
_BASE = (
    '<robot name="my_robot"><virtual_joint name="base_joint" type="planar" parent_frame="odom" child_link="base_link"/>'
    "</robot>"
)
_WORLD = '<world_state xmlns:rs="urn:robot-semantics:usdf:1">{}</world_state>'
_MODEL = _WORLD.format('<model_state name="my_robot"><pose>0 0 0 0 0 0</pose>{}</model_state>')
_VISUAL = '<robot name="my_robot"><link name="base_link"><visual><geometry>{}</geometry></visual></link></robot>'
_COLLISION = (
    '<robot name="my_robot"><link name="base_link"><collision><geometry>{}</geometry></collision></link></robot>'
)
_TRIANGLE = "facet normal 0 0 1\nouter loop\nvertex {}\nvertex {}\nvertex {}\nendloop\nendfacet\n"
_CORNERS = ("0 0 0", "1 0 0", "0 1 0", "0 0 1")
_STL = f"solid arm\n{''.join(_TRIANGLE.format(*(c for c in _CORNERS if c != out)) for out in _CORNERS)}endsolid arm\n"
_DAE = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">{}
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array>
<technique_common><accessor source="#a" count="4" stride="3">
<param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common>
</source><vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/><p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n"><instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""
_MESH = '<mesh filename="arm.dae"/>'


@dataclass(frozen=True)
class Context:
    """Files around an example, which replaces ``{}``, and the command that reads them."""

    command: str
    files: dict[str, str]


def _robot(text: str, options: str = "") -> Context:
    return Context(f"check robot.urdf {options} --all --json", {"robot.urdf": text})


def _srdf(text: str, urdf: str = _ARM.replace("{}", "")) -> Context:
    return Context("check robot.urdf robot.srdf --all --json", {"robot.urdf": urdf, "robot.srdf": text})


def _yaml(control: str) -> Context:
    files = {"robot.urdf": _ARM.replace("{}", control), "robot.srdf": _SEMANTIC.replace("{}", _GROUPS), "a.yaml": "{}"}
    return Context("check robot.urdf robot.srdf a.yaml --all --json", files)


def _world(text: str, options: str = "", urdf: str = _ARM.replace("{}", "")) -> Context:
    files = {"robot.urdf": urdf, "robot.srdf": _BASE, "world.usdf": text}
    return Context(f"check world.usdf {options} --all --json", files)


def _later(first: str, second: str) -> Context:
    table = '<frame name="table"><pose>1 0 0 0 0 0</pose></frame>'
    files = {"first.usdf": _WORLD.format(table + first), "second.usdf": _WORLD.format(table + second)}
    return Context("usdf interpolate first.usdf second.usdf --share 0.5 -o world.usdf --force", files)


_ON_ROBOT, _ON_BASE = "--urdf robot.urdf", "--urdf robot.urdf,robot.srdf"
_SEMANTIC = '<robot name="my_robot">{}</robot>'
CONTEXTS = {
    "file": _robot("{}"),
    "xacro": Context("check robot.urdf.xacro --all --json", {"robot.urdf.xacro": "{}"}),
    "root element": _robot('<robot name="my_robot"><link name="base_link"/>{}</robot>'),
    "links and joints": _robot('<robot name="my_robot">{}</robot>'),
    "robot": _robot(f'<robot name="my_robot">{_LINKS}{{}}</robot>'),
    "robot with undeclared links": Context("check robot.urdf --implicit-links --all --json", {"robot.urdf": _ARM}),
    "arm": _robot(_ARM),
    "two links": _robot(_SEMANTIC.format(f"{_TWO_LINKS}{{}}")),
    "links a and b": _robot('<robot name="my_robot"><link name="a"/><link name="b"/>{}</robot>'),
    "ros2_control": _robot(_ARM.replace("{}", '<ros2_control name="hand" type="system">{}</ros2_control>')),
    "material": _robot(
        _VISUAL.replace("</geometry>", '</geometry><material name="paint">{}</material>').replace(
            "{}", '<box size="1 1 1"/>', 1
        )
    ),
    "group": _srdf(_SEMANTIC.replace("{}", '<group name="arm">{}</group>')),
    "resolved world": Context("usdf resolve world.usdf", {"world.usdf": _WORLD}),
    "passive joints of a four-bar linkage": _srdf(
        _SEMANTIC, _FOUR_BAR.replace("{}", '<parent_origin xyz="0.35 0 0"/>')
    ),
    "model of a four-bar linkage": Context(
        "check world.usdf --urdf robot.urdf,robot.srdf --all --json",
        {
            "robot.urdf": _FOUR_BAR.replace("{}", '<parent_origin xyz="0.35 0 0"/>'),
            "robot.srdf": _SEMANTIC.format('<passive_joint name="coupler"/><passive_joint name="rocker"/>'),
            "world.usdf": _MODEL,
        },
    ),
    "constraint of a four-bar linkage": _robot(_FOUR_BAR),
    "robot that moves": _robot(
        _SEMANTIC.replace(
            "{}",
            _TWO_LINKS
            + '<link name="forearm"/><link name="tool0"/>'
            + _joint("shoulder", "continuous", "base_link", "upper_arm")
            + _joint("elbow", "continuous", "upper_arm", "forearm")
            + "{}",
        )
    ),
    "link": _robot('<robot name="my_robot"><link name="base_link">{}</link></robot>'),
    "joint": _robot(_SEMANTIC.format(_TWO_LINKS + _joint("elbow", "revolute", "base_link", "upper_arm", "{}"))),
    "fixed joint of version 1.1": _robot(
        '<robot name="my_robot" version="1.1">{}</robot>'.format(
            _TWO_LINKS + _joint("mount", "fixed", "base_link", "upper_arm", "{}")
        )
    ),
    "planar joint": _robot(_SEMANTIC.format(_TWO_LINKS + _joint("base", "planar", "base_link", "upper_arm", "{}"))),
    "visual": _robot(_VISUAL.replace("</geometry>", "</geometry>{}").replace("{}", '<box size="1 1 1"/>', 1)),
    "shape": Context("check robot.urdf --all --json", {"robot.urdf": _VISUAL, "arm.stl": _STL}),
    "shown shape": Context("view robot.urdf --html page.html --force", {"robot.urdf": _VISUAL, "arm.stl": _STL}),
    "shown links": Context(
        "view robot.urdf --html page.html --force",
        {"robot.urdf": '<robot name="my_robot"><link name="base_link">{}</link></robot>'},
    ),
    "shown mesh": Context(
        "view robot.urdf --html page.html --force", {"robot.urdf": _VISUAL.format(_MESH), "arm.dae": _DAE}
    ),
    "colliding shape": Context(
        "collisions generate robot.urdf -o new.srdf --samples 10 --force", {"robot.urdf": _COLLISION, "arm.stl": _STL}
    ),
    "colliding mesh": Context(
        "collisions generate robot.urdf -o new.srdf --samples 10 --force",
        {"robot.urdf": _COLLISION.format(_MESH), "arm.dae": _DAE},
    ),
    "robot for simulation": _robot('<robot name="my_robot">{}</robot>', "--for simulation"),
    "robot for gazebo": _robot('<robot name="my_robot">{}</robot>', "--for gazebo"),
    "moving link for simulation": _robot(
        _SEMANTIC.format(
            '<link name="base_link"/><link name="upper_arm">{}</link>'
            + _joint("elbow", "revolute", "base_link", "upper_arm", _LIMIT)
        ),
        "--for simulation",
    ),
    "joint for simulation": _robot(
        _SEMANTIC.format(_TWO_LINKS + _joint("elbow", "revolute", "base_link", "upper_arm", "{}")), "--for simulation"
    ),
    "semantic for moveit": replace(_srdf(_SEMANTIC), command="check robot.urdf robot.srdf --for moveit --all --json"),
    "semantic file": _srdf("{}"),
    "semantic": _srdf(_SEMANTIC),
    "groups": _srdf(_SEMANTIC.replace("{}", f"{_GROUPS}{{}}")),
    "configuration": _yaml(""),
    "configuration of a controlled arm": _yaml(
        '<ros2_control name="arm" type="system"><hardware><plugin>my_driver/Arm</plugin></hardware>'
        '<joint name="elbow"><command_interface name="position"/></joint></ros2_control>'
    ),
    "group of a mimic with multiplier 0": _srdf(
        _SEMANTIC.replace("{}", '<group name="hand"><joint name="left"/><joint name="right"/></group>{}'),
        _SEMANTIC.format(
            f'{_TWO_LINKS}<link name="forearm"/>'
            + _joint("left", "prismatic", "base_link", "upper_arm", _OPENING)
            + _joint("right", "prismatic", "base_link", "forearm", f'{_OPENING}<mimic joint="left" multiplier="0"/>')
        ),
    ),
    "group of a floating joint": _srdf(
        _SEMANTIC.replace("{}", '<group name="body"><joint name="free"/></group>{}'), _FLOATING
    ),
    "world file": _world("{}"),
    "world": _world(_WORLD),
    "described world": _world(_WORLD),
    "world of a robot": _world(_WORLD, _ON_ROBOT),
    "model": _world(_MODEL, _ON_ROBOT),
    "model with a joint": _world(_MODEL.replace("{}", '<joint_state name="elbow">{}</joint_state>'), _ON_ROBOT),
    "model of a floating robot": _world(_MODEL, _ON_ROBOT, _FLOATING),
    "world of a planar robot": _world(_WORLD, _ON_BASE),
    "model of a planar robot": _world(
        _WORLD.format(
            '<frame name="odom"><pose>0 0 0 0 0 0</pose></frame><model_state name="my_robot">{}</model_state>'
        ),
        _ON_BASE,
    ),
    "spheres": Context(
        "collisions spheres convert robot.urdf robot.yml -o robot.xrdf --force",
        {"robot.urdf": _ARM.format(""), "robot.yml": "{}"},
    ),
    "JSON": Context("usdf convert world.json -o world.usdf --force", {"world.json": "{}"}),
    "JSON of a joint": Context(
        "usdf convert world.json -o world.usdf --force",
        {"world.json": '{"models": [{"name": "arm", "joints": [{"name": "elbow", {}}]}]}'},
    ),
    "MuJoCo": Context(
        "usdf convert scene.xml --from mujoco --mujoco-model model.xml -o world.usdf --force",
        {"scene.xml": "{}", "model.xml": "<mujoco/>"},
    ),
    "SDFormat": Context("usdf convert scene.sdf -o world.usdf --force", {"scene.sdf": "{}"}),
    "second of two worlds": Context(
        "usdf merge first.usdf second.usdf -o world.usdf --force",
        {"first.usdf": _WORLD.format('<frame name="table"><pose>1 0 0 0 0 0</pose></frame>'), "second.usdf": _WORLD},
    ),
    "root of the second world": Context(
        "usdf merge first.usdf second.usdf -o world.usdf --force",
        {
            "first.usdf": _WORLD.replace(">{}", ' rs:time="10.000000000" name="lab"/>').partition("</")[0],
            "second.usdf": _WORLD.replace(">{}", " {}/>").partition("</")[0],
        },
    ),
    "later world": _later('<frame name="cup"><parent>world</parent><pose>1 0 1 0 0 0</pose></frame>', "{}"),
    "joint of the later world": _later(
        *(
            f'<model_state name="my_robot"><pose>0 0 0 0 0 0</pose>{joint}</model_state>'
            for joint in ('<joint_state name="base"><positions>1 2 0</positions></joint_state>', "{}")
        )
    ),
}
"""Contexts by name."""
