# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Writing of cuRobo's YAML and of XRDF 1.0; every number reads back to the same 64-bit float."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping

from robot_semantics.base.json_value import Json, JsonObject
from robot_semantics.convert.conversion import Converted
from robot_semantics.convert.planner_robot import PlannerRobot
from robot_semantics.model.robot_model import RobotModel

GEOMETRY = "collision_spheres"
"""Name of the geometry in a written XRDF."""


def to_curobo(planner: PlannerRobot, robot: RobotModel, urdf: str) -> Converted[str]:
    """Return a YAML text of cuRobo's format 2 for the robot in the file `urdf`."""
    locked = {name: value for name, value in planner.positions.items() if name not in planner.joints}
    names = [*planner.joints, *locked]
    cspace: JsonObject = {"joint_names": names}
    if planner.positions:
        cspace["default_joint_position"] = [planner.positions.get(name, 0.0) for name in names]
    limits = (("max_acceleration", planner.acceleration), ("max_jerk", planner.jerk))
    for key, values in limits:
        # A locked joint does not move: its limit has no effect, but cuRobo wants one.
        if planner.joints and values.keys() >= set(planner.joints):
            cspace[key] = [values.get(name, max(values.values())) for name in names]
    kinematics: JsonObject = {
        "format_version": 2.0,
        "urdf_path": urdf,
        "base_link": planner.base_link or robot.root_link,
        "tool_frames": list(planner.tool_frames),
        "collision_link_names": list(planner.spheres),
        "collision_spheres": _rows(planner),
        "collision_sphere_buffer": dict(planner.buffer) or 0.0,
        "self_collision_ignore": planner.ignored_by_link(),
        "self_collision_buffer": dict(planner.self_buffer),
        "lock_joints": locked,
        "cspace": cspace,
    }
    notes = (*_needed(planner, "max_acceleration", "max_jerk"), *_zeros(planner))
    return Converted(_yaml({"robot_cfg": {"kinematics": kinematics}}), (), notes)


def to_xrdf(planner: PlannerRobot) -> Converted[str]:
    """Return an XRDF 1.0 text."""
    cspace: JsonObject = {"joint_names": list(planner.joints)}
    for key, values in (("acceleration_limits", planner.acceleration), ("jerk_limits", planner.jerk)):
        if planner.joints and values.keys() >= set(planner.joints):
            cspace[key] = [values[name] for name in planner.joints]
    document: JsonObject = {"format": "xrdf", "format_version": 1.0}
    if planner.base_link:
        document["modifiers"] = [{"set_base_frame": planner.base_link}]
    document |= {
        "default_joint_positions": dict(planner.positions),
        "cspace": cspace,
        "tool_frames": list(planner.tool_frames),
        "collision": {"geometry": GEOMETRY, "buffer_distance": dict(planner.buffer)},
        "self_collision": {
            "geometry": GEOMETRY,
            "buffer_distance": dict(planner.self_buffer),
            "ignore": planner.ignored_by_link(),
        },
        "geometry": {GEOMETRY: {"spheres": _rows(planner)}},
    }
    return Converted(_yaml(document), (), tuple(_needed(planner, "acceleration_limits", "jerk_limits")))


def _needed(planner: PlannerRobot, acceleration: str, jerk: str) -> Iterator[str]:
    """Yield the limits that the planner wants and the source does not have."""
    for name, values in ((acceleration, planner.acceleration), (jerk, planner.jerk)):
        missing = [joint for joint in planner.joints if joint not in values]
        if missing:
            yield f"add {name} of the joints: the source has none of {', '.join(missing)}"


def _zeros(planner: PlannerRobot) -> Iterator[str]:
    missing = [name for name in planner.joints if name not in planner.positions] if planner.positions else []
    if missing:
        yield f"default position 0, not in the source: {', '.join(missing)}"


def _rows(planner: PlannerRobot) -> dict[str, list[JsonObject]]:
    return {
        link: [{"center": list(sphere.center), "radius": sphere.radius} for sphere in spheres]
        for link, spheres in planner.spheres.items()
    }


def _yaml(document: Mapping[str, Json]) -> str:
    """Return the text in block style; a list or map of plain values is on one line."""
    from ruamel.yaml import YAML
    from ruamel.yaml.nodes import ScalarNode
    from ruamel.yaml.representer import SafeRepresenter

    class Representer(SafeRepresenter):  # type: ignore[misc, unused-ignore]  # ruamel.yaml is typed in part
        """Writes 1.0e-07 instead of 1e-07, which readers of YAML 1.1 take for a text."""

    def number(self: Representer, value: float) -> ScalarNode:
        text = repr(value)
        return self.represent_scalar("tag:yaml.org,2002:float", text if "." in text else text.replace("e", ".0e"))

    Representer.add_representer(float, number)
    writer = YAML(typ="safe", pure=True)
    writer.Representer = Representer
    writer.default_flow_style = None
    writer.width = 10_000
    writer.representer.sort_base_mapping_type_on_output = False
    writer.representer.ignore_aliases = lambda data: True
    text = io.StringIO()
    writer.dump(document, text)
    return text.getvalue()
