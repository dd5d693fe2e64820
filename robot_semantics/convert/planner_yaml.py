# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Reading of cuRobo's YAML and of XRDF 1.0: spheres, ignored pairs, joints, default positions, tool frames."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.names import LinkPair
from robot_semantics.base.yaml_reader import YamlNode, read_yaml
from robot_semantics.convert.conversion import Converted
from robot_semantics.convert.planner_robot import PlannerRobot, no_sphere
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.tree import SrdfSphere

_DERIVED = {"format_version", "urdf_path", "asset_root_path", "collision_link_names", "mesh_link_names"}
"""Keys of cuRobo that follow from the URDF and the spheres."""


def from_curobo(path: str | Path, robot: RobotModel, diagnostics: Diagnostics) -> Converted[PlannerRobot]:
    """Return the planner's facts of a robot in cuRobo's YAML, of format 1 or 2.

    Unknown links and joints are warnings, and their entries are left out.

    Raises:
        DescriptionError: the file is not YAML, or a value has a wrong form.
        OSError: the file cannot be read.
    """
    reader = _Reader(read_yaml(path), robot, diagnostics)
    top = reader.get(reader.root, "robot_cfg") or reader.root
    kinematics = reader.get(top, "kinematics") or top
    reader.first(kinematics, *_DERIVED)
    cspace = reader.get(kinematics, "cspace")
    reader.declare(list(reader.map_of(reader.get(kinematics, "extra_links"))))
    spheres = reader.spheres(reader.required(kinematics, "collision_spheres"))
    names = reader.joints(reader.get(cspace, "joint_names"))
    locked = reader.by_name(reader.get(kinematics, "lock_joints"), "joint")
    stated = reader.per_joint(reader.first(cspace, "default_joint_position", "retract_config"), names)
    planner = PlannerRobot(
        spheres=spheres,
        ignored=reader.pairs(reader.get(kinematics, "self_collision_ignore")),
        joints=tuple(name for name in reader.existing(names) if name not in locked),
        positions={**stated, **locked},
        tool_frames=reader.links(reader.first(kinematics, "tool_frames", "ee_link"), "a tool frame"),
        base_link=reader.base(reader.get(kinematics, "base_link")),
        acceleration=reader.per_joint(reader.get(cspace, "max_acceleration"), names),
        jerk=reader.per_joint(reader.get(cspace, "max_jerk"), names),
        buffer=reader.buffers(reader.get(kinematics, "collision_sphere_buffer"), spheres),
        self_buffer=reader.buffers(reader.get(kinematics, "self_collision_buffer"), spheres),
    )
    return reader.finish(planner)


def from_xrdf(path: str | Path, robot: RobotModel, diagnostics: Diagnostics) -> Converted[PlannerRobot]:
    """Return the planner's facts of a robot in XRDF 1.0; problems as in `from_curobo`.

    Raises:
        DescriptionError: the file is not XRDF 1, or a value has a wrong form.
        OSError: the file cannot be read.
    """
    reader = _Reader(read_yaml(path), robot, diagnostics)
    root = reader.root
    for key, wanted in (("format", "xrdf"), ("format_version", 1.0)):
        stated = reader.required(root, key)
        if stated is not None and stated.value != wanted:
            diagnostics.error("bad-value", f"the {key} should be {wanted}, not '{stated.text}'", stated.place)
    modifiers = reader.list_of(reader.get(root, "modifiers"))
    added = [frame.get("frame_name") for item in modifiers if (frame := reader.get(item, "add_frame")) is not None]
    reader.declare([name.text for name in added if name is not None])
    base = next((base for item in reversed(modifiers) if (base := reader.get(item, "set_base_frame"))), None)
    cspace, collision = reader.get(root, "cspace"), reader.required(root, "collision")
    itself = reader.get(root, "self_collision")
    used, own = reader.required(collision, "geometry"), reader.get(itself, "geometry")
    geometries = reader.required(root, "geometry") if used is not None else None
    geometry = reader.required(geometries, used.text) if used is not None else None
    spheres = reader.spheres(reader.required(geometry, "spheres"))
    if own is not None and used is not None and own.value != used.value:
        reader.get(geometries, own.text)
        reader.lost.append(f"geometry '{own.text}', which only checks of collisions between links use")
    names = reader.joints(reader.get(cspace, "joint_names"))
    positions = reader.get(root, "default_joint_positions")
    planner = PlannerRobot(
        spheres=spheres,
        ignored=reader.pairs(reader.get(itself, "ignore")),
        joints=reader.existing(names),
        positions=reader.by_name(positions, "joint"),
        tool_frames=reader.links(reader.get(root, "tool_frames"), "a tool frame"),
        base_link=reader.base(base),
        acceleration=reader.per_joint(reader.get(cspace, "acceleration_limits"), names),
        jerk=reader.per_joint(reader.get(cspace, "jerk_limits"), names),
        buffer=reader.buffers(reader.get(collision, "buffer_distance"), spheres),
        self_buffer=reader.buffers(reader.get(itself, "buffer_distance"), spheres),
    )
    return reader.finish(planner)


class _Reader:
    """Reads values of a YAML tree; wrong forms are errors, unknown names warnings, and unread keys are lost."""

    def __init__(self, root: YamlNode, robot: RobotModel, found: Diagnostics) -> None:
        self.root, self._robot, self._found = root, robot, found
        self.lost: list[str] = []
        self._added: set[str] = set()
        self._unread: dict[int, dict[str, YamlNode]] = {id(root): dict(root.entries)}

    def finish(self, planner: PlannerRobot) -> Converted[PlannerRobot]:
        """Return the facts, and what they cannot hold: also the keys that were not read and are not empty."""
        self._found.raise_if_failed()
        left = [entry for unread in self._unread.values() for entry in unread.values()]
        self.lost += [
            f"{entry.key_place.path.strip('/')} (line {entry.key_place.line})"
            for entry in left
            if entry.value not in (None, [], {}, "")
        ]
        return Converted(planner, tuple(dict.fromkeys(self.lost)))

    def error(self, node: YamlNode, message: str) -> None:
        self._found.error("bad-value", message, node.place)

    def get(self, node: YamlNode | None, key: str) -> YamlNode | None:
        """Return an entry of a map; None for no map and no entry."""
        if node is None:
            return None
        self._unread.setdefault(id(node), dict(node.entries)).pop(key, None)
        return node.get(key)

    def first(self, node: YamlNode | None, *keys: str) -> YamlNode | None:
        """Return the first entry with one of the keys, of which only one is used."""
        return next(filter(None, [self.get(node, key) for key in keys]), None)

    def required(self, node: YamlNode | None, key: str) -> YamlNode | None:
        """Return the entry; without it, add an error. Return None for no node."""
        found = self.get(node, key)
        if found is None and node is not None:
            self.error(node, f"the key '{key}' is missing")
        return found

    def declare(self, names: Sequence[str]) -> None:
        """List the names of added frames, which no planner robot has."""
        self._added |= {name for name in names if name not in self._robot.link_index}
        self.lost += [f"the added frame '{name}'" for name in sorted(self._added)]

    def known(self, node: YamlNode, name: str, kind: str, user: str) -> bool:
        """Return whether a link or joint exists; add a warning, or list an added frame, if it does not."""
        valid = self._robot.link_index if kind == "link" else self._robot.joint_index
        if name in valid:
            return True
        if name in self._added and kind == "link":
            self.lost.append(f"{user} with the added frame '{name}'")
        else:
            message = f"unknown {kind} '{name}' in {user}; left out"
            self._found.warning(f"unknown-{kind}", message, node.key_place, name=name, valid=valid)
        return False

    def number(self, node: YamlNode | None) -> float:
        """Return a finite number; 0 for no node, and after an error."""
        if node is None:
            return 0.0
        value = node.value
        if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max:
            return float(value)
        self.error(node, f"should be a number, not '{node.text}'" if node.text else "should be a number")
        return 0.0

    def list_of(self, node: YamlNode | None) -> list[YamlNode]:
        if node is not None and node.value is not None and not isinstance(node.value, list):
            self.error(node, "should be a list")
        return node.items if node is not None else []

    def map_of(self, node: YamlNode | None) -> dict[str, YamlNode]:
        if node is not None and node.value is not None and not isinstance(node.value, dict):
            self.error(node, "should be a map")
        return node.entries if node is not None else {}

    def spheres(self, node: YamlNode | None) -> dict[str, tuple[SrdfSphere, ...]]:
        if node is not None and isinstance(node.value, str):
            self.error(node, f"the spheres are in another file, '{node.text}': convert that file")
            return {}
        found: dict[str, tuple[SrdfSphere, ...]] = {}
        for link, items in self.map_of(node).items():
            spheres = tuple(self._spheres(link, items))
            if self.known(items, link, "link", "spheres") and spheres:
                found[link] = spheres
        return found

    def _spheres(self, link: str, items: YamlNode) -> Iterator[SrdfSphere]:
        for at, item in enumerate(self.list_of(items)):
            if not isinstance(item.value, dict):
                self.error(item, "should be a map with center and radius")
                continue
            numbers = self.required(item, "center")
            center = [self.number(value) for value in self.list_of(numbers)]
            if numbers is not None and len(center) != 3:
                self.error(numbers, f"a center has 3 numbers, not {len(center)}")
            stated = self.required(item, "radius")
            radius = self.number(stated)
            if radius > 0.0 and len(center) == 3:
                yield SrdfSphere((center[0], center[1], center[2]), radius)
            elif stated is not None:
                self.lost.append(no_sphere(link, at, radius))

    def pairs(self, node: YamlNode | None) -> tuple[LinkPair, ...]:
        found: dict[LinkPair, None] = {}
        for first, others in self.map_of(node).items():
            user = "an ignored pair"
            known = self.known(others, first, "link", user)
            for other in self.list_of(others):
                second = self.known(other, other.text, "link", user)
                if known and second and first != other.text:
                    found[LinkPair.of(first, other.text)] = None
        return tuple(found)

    def joints(self, node: YamlNode | None) -> tuple[str, ...]:
        """Return the texts of a list of joints, also unknown ones."""
        names = self.list_of(node)
        for item in names:
            self.known(item, item.text, "joint", "the joint list")
        return tuple(item.text for item in names)

    def existing(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in names if name in self._robot.joint_index)

    def links(self, node: YamlNode | None, user: str) -> tuple[str, ...]:
        one = [node] if node is not None and isinstance(node.value, str) else self.list_of(node)
        return tuple(item.text for item in one if self.known(item, item.text, "link", user))

    def base(self, node: YamlNode | None) -> str:
        found = self.links(node, "the base link")
        return found[0] if found and found[0] != self._robot.root_link else ""

    def by_name(self, node: YamlNode | None, kind: str) -> dict[str, float]:
        entries = self.map_of(node).items()
        return {name: self.number(item) for name, item in entries if self.known(item, name, kind, "a map")}

    def per_joint(self, node: YamlNode | None, names: tuple[str, ...]) -> dict[str, float]:
        """Return the values of a list by joint; one number is for all joints."""
        if node is None or node.value is None:
            return {}
        if not isinstance(node.value, list):
            return dict.fromkeys(self.existing(names), self.number(node))
        if len(node.items) != len(names):
            self.error(node, f"should have {len(names)} numbers, one for each joint, not {len(node.items)}")
        values = {name: self.number(item) for name, item in zip(names, node.items, strict=False)}
        return {name: values[name] for name in self.existing(tuple(values))}

    def buffers(self, node: YamlNode | None, spheres: Mapping[str, object]) -> dict[str, float]:
        """Return the buffer of each link; one number is for all links."""
        if node is None or node.value is None:
            return {}
        if not isinstance(node.value, dict):
            value = self.number(node)
            return dict.fromkeys(spheres, value) if value else {}
        return self.by_name(node, "link")
