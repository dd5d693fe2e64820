# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The formats of sphere approximations by the endings of their files."""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.files import format_of
from robot_semantics.base.json_value import Json, JsonObject
from robot_semantics.base.names import LinkPair
from robot_semantics.base.yaml_reader import YamlNode, read_yaml
from robot_semantics.convert.conversion import Converted
from robot_semantics.convert.planner_robot import SphereModel, independent_joints, no_sphere
from robot_semantics.model.queries import PairCause, pair_status
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.model.semantics import Group, NamedState
from robot_semantics.srdf import new
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.srdf.tree import SrdfSphere
from robot_semantics.urdf.reader import parse_urdf, urdf_from_file
from robot_semantics.urdf.tree import Sphere
from robot_semantics.xml.edit import NewElement, XmlText
from robot_semantics.xml.numbers import number_text

# Reading of cuRobo's YAML and of XRDF 1.0: spheres, ignored pairs, joints, default positions, tool frames.


MAX_CLONES = 100
"""Longest chain of cloned geometry groups."""

_DERIVED = {"format_version", "urdf_path", "asset_root_path", "collision_link_names", "mesh_link_names"}
"""Keys of cuRobo that follow from the URDF and the spheres."""


def from_curobo(path: str | Path, robot: RobotModel, diagnostics: Diagnostics) -> Converted[SphereModel]:
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
    planner = SphereModel(
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


def from_xrdf(path: str | Path, robot: RobotModel, diagnostics: Diagnostics) -> Converted[SphereModel]:
    """Return the planner's facts of a robot in XRDF 1.0 or 2.0; problems as in `from_curobo`.

    Raises:
        DescriptionError: the file is not XRDF of these versions, or a value has a wrong form.
        OSError: the file cannot be read.
    """
    reader = _Reader(read_yaml(path), robot, diagnostics)
    root = reader.root
    is_first = _xrdf_version(reader) == "1.0"
    modifiers = reader.list_of(reader.get(root, "modifiers"))
    added = [frame.get("frame_name") for item in modifiers if (frame := reader.get(item, "add_frame")) is not None]
    reader.declare([name.text for name in added if name is not None])
    base = next((base for item in reversed(modifiers) if (base := reader.get(item, "set_base_frame"))), None)
    cspace, itself = reader.get(root, "cspace"), reader.get(root, "self_collision")
    collision, spheres = _xrdf_spheres(reader, itself, is_first=is_first)
    names = reader.joints(reader.get(cspace, "joint_names"))
    positions = reader.get(root, "default_joint_positions")
    planner = SphereModel(
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


def _xrdf_version(reader: _Reader) -> str:
    """Return the version that a file states; another format or version is an error."""
    texts = []
    for key, wanted in (("format", ("xrdf",)), ("format_version", ("1.0", "2.0"))):
        stated = reader.required(reader.root, key)
        value = stated.value if stated is not None else None
        texts.append(f"{value:.1f}" if isinstance(value, int | float) else str(value))
        if stated is not None and texts[-1] not in wanted:
            reader.error(stated, f"the {key} should be {' or '.join(wanted)}, not '{stated.text}'")
    return texts[-1]


def _xrdf_spheres(
    reader: _Reader, itself: YamlNode | None, *, is_first: bool
) -> tuple[YamlNode | None, dict[str, tuple[SrdfSphere, ...]]]:
    """Return the node with the collisions with the world, and the spheres for them; else those between the links."""
    root = reader.root
    collision = reader.required(root, "collision") if is_first else reader.get(root, "world_collision")
    if not is_first and (old := reader.get(root, "collision")) is not None:
        reader.error(old, "in XRDF 2.0, the key 'collision' is called 'world_collision'")
    own_geometry = reader.get(itself, "geometry") if collision is not None else reader.required(itself, "geometry")
    used = reader.required(collision, "geometry") or own_geometry
    geometries = reader.required(root, "geometry") if used is not None else None
    spheres = reader.geometry_group(geometries, used)
    if own_geometry is not None and used is not None and own_geometry.value != used.value:
        reader.geometry_group(geometries, own_geometry)
        reader.losses.append(f"geometry '{own_geometry.text}', which only checks of collisions between links use")
    return collision, spheres


class _Reader:
    """Reads values of a YAML tree; wrong forms are errors, unknown names warnings, and unread keys are lost."""

    def __init__(self, root: YamlNode, robot: RobotModel, found: Diagnostics) -> None:
        self.root, self._robot, self._diagnostics = root, robot, found
        self.losses: list[str] = []
        self._added: set[str] = set()
        self._groups: dict[str, dict[str, tuple[SrdfSphere, ...]]] = {}
        self._unread: dict[int, dict[str, YamlNode]] = {id(root): dict(root.entries)}

    def finish(self, planner: SphereModel) -> Converted[SphereModel]:
        """Return the facts, and what they cannot hold: also the keys that were not read and are not empty."""
        self._diagnostics.raise_if_failed()
        left = [entry for unread in self._unread.values() for entry in unread.values()]
        self.losses += [
            f"{entry.key_place.path.strip('/')} (line {entry.key_place.line})"
            for entry in left
            if entry.value not in (None, [], {}, "")
        ]
        return Converted(planner, tuple(dict.fromkeys(self.losses)))

    def error(self, node: YamlNode, message: str) -> None:
        self._diagnostics.error("bad-value", message, node.place)

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
        self.losses += [f"the added frame '{name}'" for name in sorted(self._added)]

    def known(self, node: YamlNode, name: str, kind: str, user: str) -> bool:
        """Return whether a link or joint exists; add a warning, or list an added frame, if it does not."""
        valid = self._robot.link_index if kind == "link" else self._robot.joint_index
        if name in valid:
            return True
        if name in self._added and kind == "link":
            self.losses.append(f"{user} with the added frame '{name}'")
        else:
            message = f"unknown {kind} '{name}' in {user}; left out"
            self._diagnostics.warning(f"unknown-{kind}", message, node.key_place, name=name, valid=valid)
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
        for index, item in enumerate(self.list_of(items)):
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
                self.losses.append(no_sphere(link, index, radius))

    def geometry_group(
        self, groups: YamlNode | None, name: YamlNode | None, above: tuple[str, ...] = ()
    ) -> dict[str, tuple[SrdfSphere, ...]]:
        """Return the spheres of a group of XRDF by link, with those of the groups that it clones."""
        if groups is None or name is None:
            return {}
        if name.text in above or len(above) == MAX_CLONES:
            reason = "clones itself" if name.text in above else f"is one of more than {MAX_CLONES} clones in a chain"
            self.error(name, f"the group '{name.text}' {reason}")
            return {}
        if name.text not in self._groups:
            group = self.required(groups, name.text)
            clones = self.get(group, "clone")
            spheres = self.spheres(self.get(group, "spheres") if clones else self.required(group, "spheres"))
            for clone in self.list_of(clones):
                for link, more in self.geometry_group(groups, clone, (*above, name.text)).items():
                    spheres[link] = tuple(dict.fromkeys((*spheres.get(link, ()), *more)))
            self._groups[name.text] = spheres
        return self._groups[name.text]

    def pairs(self, node: YamlNode | None) -> tuple[LinkPair, ...]:
        pairs_found: dict[LinkPair, None] = {}
        for first, others in self.map_of(node).items():
            user = "an ignored pair"
            known = self.known(others, first, "link", user)
            for other in self.list_of(others):
                second = self.known(other, other.text, "link", user)
                if known and second and first != other.text:
                    pairs_found[LinkPair.of(first, other.text)] = None
        return tuple(pairs_found)

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


# Facts of planners on spheres from an SRDF, and an SRDF from them.


def from_srdf(robot: RobotModel, group: str | None = None, state: str | None = None) -> Converted[SphereModel]:
    """Return the planner's facts of a robot with an SRDF.

    Args:
        robot: the robot.
        group: the group that the planner moves; needed if there are several. Without any group, all joints are moved.
        state: the group's state with the default positions; needed if there are several.

    Raises:
        RobotSemanticsError: the group or the state does not exist, or several exist and none is named.
    """
    semantics = robot.semantics
    moved_joints = _group(robot, group)
    named, lost_items = _state(robot, moved_joints, state)
    possible = independent_joints(robot)
    active = possible if moved_joints is None else moved_joints.active_joints
    positions = named.positions if named is not None else {}
    limits = {name: robot.joint(name).limits for name in active if name in possible}
    solid = {link: spheres for link, spheres in semantics.link_spheres.items() if spheres[0].radius > 0.0}
    planner = SphereModel(
        spheres=solid,
        ignored=tuple(_unchecked(robot)),
        joints=tuple(limits),
        positions={name: values[0] for name, values in positions.items() if len(values) == 1},
        tool_frames=_tool_frames(robot, moved_joints),
        acceleration={name: each.acceleration for name, each in limits.items() if math.isfinite(each.acceleration)},
        jerk={name: each.jerk for name, each in limits.items() if math.isfinite(each.jerk)},
    )
    lost_items += [
        f"joint '{name}' of the group has several degrees of freedom" for name in active if name not in possible
    ]
    return Converted(planner, (*lost_items, *_left(robot, moved_joints, named, planner)))


def to_srdf(planner: SphereModel, robot: RobotModel, group: str, state: str) -> Converted[str]:
    """Return an SRDF text with a group `group` of the joints, and a state `state` of their default positions."""
    text = SrdfText.empty(robot.name)
    text = text.add([new.link_spheres(link, [(*one.center, one.radius) for one in spheres])
                     for link, spheres in planner.for_moveit(robot).items()])  # fmt: skip
    text = text.disable_collisions(dict.fromkeys(planner.ignored))
    lost_items = list(planner.beyond_spheres())
    if planner.base_link:
        lost_items.append(f"base link '{planner.base_link}'")
    if not planner.joints:
        lost_items += [f"tool frame '{frame}'" for frame in planner.tool_frames]
        return Converted(str(text), tuple(lost_items))
    chains = _chains(robot, planner)
    members = new.group_members(chains=chains, joints=() if chains else planner.joints)
    text = text.add([new.group(group, members)])
    if not chains:
        lost_items += [f"tool frame '{frame}': no chain to it has exactly the joints" for frame in planner.tool_frames]
    if list(planner.joints) != sorted(planner.joints, key=robot.joint_index.__getitem__):
        lost_items.append("order of the joints: those of a group are in the order of the robot")
    own = {name: (planner.positions[name],) for name in planner.joints if name in planner.positions}
    if own:
        text = text.add([new.group_state(state, group, own)])
    lost_items += [
        f"default position of '{name}', which is not in the group" for name in planner.positions.keys() - own
    ]
    return Converted(str(text), tuple(lost_items))


def _group(robot: RobotModel, name: str | None) -> Group | None:
    groups = robot.semantics.groups
    if name is not None:
        return robot.semantics.group(name)
    if len(groups) > 1:
        raise RobotSemanticsError(f"the SRDF has {len(groups)} groups: choose one with --group: {', '.join(groups)}")
    return next(iter(groups.values()), None)


def _state(robot: RobotModel, group: Group | None, name: str | None) -> tuple[NamedState | None, list[str]]:
    if name is not None:
        if group is None:
            raise RobotSemanticsError(f"the SRDF has no group, and so no state '{name}'")
        return robot.semantics.state(group.name, name), []
    states = group.states if group is not None else ()
    if group is None or len(states) != 1:
        names = ", ".join(states)
        return None, [f"default positions: --state chooses one of {len(states)}: {names}"] if states else []
    return robot.semantics.state(group.name, states[0]), []


def _unchecked(robot: RobotModel) -> Iterator[LinkPair]:
    """Yield the pairs that an SRDF disables: by name in document order, then by a link that is disabled by default."""
    yield from robot.semantics.disabled_collisions
    if robot.semantics.default_disabled_links:
        for one, other in combinations(robot.link_names, 2):
            status = pair_status(robot, one, other)
            if status.cause is PairCause.DEFAULT_DISABLED:
                yield status.pair


def _tool_frames(robot: RobotModel, group: Group | None) -> tuple[str, ...]:
    """Return the tips of the group's chains, and the parent links of its end effectors."""
    if group is None or robot.semantics.srdf is None:
        return ()
    tips = [chain.tip_link for item in robot.semantics.srdf.groups if item.name == group.name for chain in item.chains]
    held = robot.semantics.end_effectors.values()
    return tuple(dict.fromkeys([*tips, *(each.parent_link for each in held if each.parent_group == group.name)]))


def _chains(robot: RobotModel, planner: SphereModel) -> list[tuple[str, str]]:
    """Return the chains (base, tip) to the tool frames; empty if together they do not have exactly the joints."""
    chains, seen = [], set[str]()
    for frame in planner.tool_frames:
        path = [robot.joints[at] for at in robot.to_root(robot.link_index[frame])]
        moved_joints = [joint for joint in path if joint.name in planner.joints]
        if not moved_joints:
            return []
        between = path[: path.index(moved_joints[-1]) + 1]
        if [joint for joint in between if joint.is_active] != moved_joints:
            return []
        seen |= {joint.name for joint in moved_joints}
        chains.append((moved_joints[-1].parent_link, frame))
    return chains if seen == set(planner.joints) else []


def _left(robot: RobotModel, group: Group | None, state: NamedState | None, planner: SphereModel) -> Iterator[str]:
    """Yield what planners on spheres cannot hold of an SRDF."""
    semantics = robot.semantics
    for link in robot.links:
        if link.urdf.collisions and link.name not in semantics.link_spheres:
            yield f"the enclosing sphere of link '{link.name}': the SRDF has no spheres for it, the planner ignores it"
    yield from (f"group '{name}'" for name in semantics.groups if group is None or name != group.name)
    yield from (
        f"state '{own}/{name}'"
        for own, name in semantics.states
        if state is None or (own, name) != (state.group, state.name)
    )
    for name, effector in semantics.end_effectors.items():
        kept = effector.parent_link in planner.tool_frames
        yield f"end effector '{name}'" + (f", except its link '{effector.parent_link}'" if kept else "")
    yield from (f"virtual joint '{joint.name}'" for joint in semantics.virtual_joints)
    yield from (f"passive joint '{name}'" for name in semantics.passive_joints)
    for joint, properties in semantics.joint_properties.items():
        yield from (f"property '{name}' of joint '{joint}'" for name in properties)
    if reasons := sum(reason not in ("", "User") for reason in semantics.disabled_collisions.values()):
        yield f"the reasons of {reasons} disabled pairs"
    if semantics.srdf is not None and b"<!--" in semantics.srdf.places.text:
        yield "comments"


# Writing of cuRobo's YAML and of XRDF 1.0; every number reads back to the same 64-bit float.


GEOMETRY = "collision_spheres"
"""Name of the geometry in a written XRDF."""


def to_curobo(planner: SphereModel, robot: RobotModel, urdf: str) -> Converted[str]:
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


def to_xrdf(planner: SphereModel) -> Converted[str]:
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


def _needed(planner: SphereModel, acceleration: str, jerk: str) -> Iterator[str]:
    """Yield the limits that the planner wants and the source does not have."""
    for name, values in ((acceleration, planner.acceleration), (jerk, planner.jerk)):
        missing = [joint for joint in planner.joints if joint not in values]
        if missing:
            yield f"add {name} of the joints: the source has none of {', '.join(missing)}"


def _zeros(planner: SphereModel) -> Iterator[str]:
    missing = [name for name in planner.joints if name not in planner.positions] if planner.positions else []
    if missing:
        yield f"default position 0, not in the source: {', '.join(missing)}"


def _rows(planner: SphereModel) -> dict[str, list[JsonObject]]:
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


# URDF with spheres in the place of all collision geometry, as VAMP, cricket and foam use it.


def from_sphere_urdf(path: str | Path, robot: RobotModel, diagnostics: Diagnostics) -> Converted[SphereModel]:
    """Return the spheres of a URDF whose collision geometry is only spheres; unknown links are warnings.

    Raises:
        DescriptionError: the file is not a URDF, or has another collision geometry.
    """
    tree = urdf_from_file(path)
    spheres_of: dict[str, tuple[SrdfSphere, ...]] = {}
    lost_items: list[str] = []
    for link in tree.links:
        spheres: list[SrdfSphere] = []
        for at, collision in enumerate(link.collisions):
            if isinstance(collision.geometry, Sphere) and collision.geometry.radius <= 0.0:
                lost_items.append(no_sphere(link.name, at, collision.geometry.radius))
            elif isinstance(collision.geometry, Sphere):
                center = collision.origin.xyz if collision.origin else (0.0, 0.0, 0.0)
                spheres.append(SrdfSphere(center, collision.geometry.radius))
            else:
                kind = type(collision.geometry).__name__.lower()
                message = f"link '{link.name}': the collision geometry is a {kind}, not a sphere"
                diagnostics.error("unusable-geometry", message, tree.places.place(collision.ordinal))
        if spheres and link.name in robot.link_index:
            spheres_of[link.name] = tuple(spheres)
        elif spheres:
            message, place = (
                f"unknown link '{link.name}' in the spheres; left out",
                tree.places.place(link.ordinal, "name"),
            )
            diagnostics.warning("unknown-link", message, place, name=link.name, valid=robot.link_index)
    diagnostics.raise_if_failed()
    return Converted(SphereModel(spheres_of), tuple(lost_items))


def to_sphere_urdf(planner: SphereModel, robot: RobotModel) -> Converted[str]:
    """Return the robot's URDF with the spheres in the place of its collision geometry; the rest is unchanged."""
    text = XmlText(robot.urdf_text, robot.urdf.places.source)
    links = parse_urdf(str(text.utf8.decode()), text.source, Diagnostics()).links
    text = text.edited([text.removal(collision.ordinal) for link in links for collision in link.collisions])
    # Element numbers change with each removal.
    links = parse_urdf(text.utf8.decode(), text.source, Diagnostics()).links
    text = text.edited(
        text.insertion([_collision(sphere) for sphere in planner.spheres[link.name]], link.ordinal, None)
        for link in links
        if link.name in planner.spheres
    )
    lost_items = list(planner.beyond_spheres())
    for count, what in (
        (len(planner.ignored), "ignored pairs"),
        (len(planner.joints), "joints of the planner"),
        (len(planner.positions), "default positions"),
        (len(planner.tool_frames), "tool frames"),
    ):
        if count:
            lost_items.append(f"{count} {what}")
    return Converted(text.utf8.decode(), tuple(lost_items))


def _collision(sphere: SrdfSphere) -> NewElement:
    origin = NewElement("origin", (("xyz", " ".join(map(number_text, sphere.center))),))
    geometry = NewElement("geometry", (), (NewElement("sphere", (("radius", number_text(sphere.radius)),)),))
    return NewElement("collision", (), (origin, geometry))


SRDF = "srdf"
ENDINGS: Mapping[str, str] = {".srdf": SRDF, ".yml": "curobo", ".yaml": "curobo", ".xrdf": "xrdf", ".urdf": "urdf"}
"""Format by the ending of a file."""

READERS: Mapping[str, Callable[[str | Path, RobotModel, Diagnostics], Converted[SphereModel]]] = {
    "curobo": from_curobo,
    "xrdf": from_xrdf,
    "urdf": from_sphere_urdf,
}
"""Reader of each format but SRDF, which belongs to the robot model."""


def read_planner(
    path: str,
    robot: RobotModel,
    diagnostics: Diagnostics,
    group: str | None = None,
    state: str | None = None,
    *,
    kind: str | None = None,
) -> Converted[SphereModel]:
    """Return the planner's facts in a file of a `kind`, by default that of its ending; an SRDF must already be part of
    the robot.

    Raises:
        UnknownEndingError: the ending is unknown.
        DescriptionError: the file has errors.
        RobotSemanticsError: as `from_srdf`.
        OSError: the file cannot be read.
    """
    kind = kind or format_of(path, ENDINGS)
    return from_srdf(robot, group, state) if kind == SRDF else READERS[kind](path, robot, diagnostics)


def write_planner(
    planner: SphereModel,
    path: str,
    robot: RobotModel,
    urdf: str,
    group: str | None = None,
    state: str | None = None,
    *,
    kind: str | None = None,
) -> Converted[str]:
    """Return the text of a file of a `kind`, by default that of its ending. An SRDF gets the given names, or
    ``planner`` and ``default``.

    Raises:
        UnknownEndingError: the ending is unknown.
    """
    writers: dict[str, Callable[[], Converted[str]]] = {
        SRDF: lambda: to_srdf(planner, robot, group or "planner", state or "default"),
        "curobo": lambda: to_curobo(planner, robot, urdf),
        "xrdf": lambda: to_xrdf(planner),
        "urdf": lambda: to_sphere_urdf(planner, robot),
    }
    return writers[kind or format_of(path, ENDINGS)]()
