# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Resolution of a URDF tree to a checked robot model: cross-checks, joint frames, axes, limits and mimic sources."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.names import quoted
from robot_semantics.base.record import record
from robot_semantics.model.element_checks import check_joint, check_links
from robot_semantics.model.joint_types import MOTION, X_AXIS, JointFrames, JointLimits, JointType, unit_axis
from robot_semantics.model.robot_model import ASSUMED_ROOT_JOINT, JointModel, LinkModel, MimicSource, RobotModel
from robot_semantics.urdf.tree import Joint, Link, Mimic, UrdfRobot

# Checks that links and joints form a tree: unique and known names, one parent each, one root, no cycle.


Named = TypeVar("Named", Link, Joint)


@record(frozen=True, slots=True)
class Tree:
    """A kinematic tree: links by name, and the joints depth first, siblings by name in byte order, as in MoveIt."""

    root: str
    links: dict[str, Link]
    joints: tuple[Joint, ...]
    children: dict[str, tuple[Joint, ...]]


def find_tree(robot: UrdfRobot, diagnostics: Diagnostics, *, implicit_links: bool = False) -> Tree | None:
    """Return the tree of the links and joints of `robot`; report the problem and return None if they form none."""
    links, fine = _unique("link", robot.links, robot, diagnostics)
    joints, unique = _unique("joint", robot.joints, robot, diagnostics)
    fine &= unique
    links_known = _links_known(links, robot.joints, robot, diagnostics, implicit_links)
    fine &= links_known
    if not links and not joints:
        if robot.complete:
            diagnostics.error("no-links", "the robot has no links", robot.places.place(robot.ordinal))
        return None
    fine &= _one_parent_each(joints.values(), robot, diagnostics)
    # A joint with another error still shows that its child is not a root.
    has_parent = {joint.child for joint in robot.joints}
    children = _children(joints.values())
    roots = [name for name in links if name not in has_parent]
    if fine and len(roots) == 1 and robot.complete:
        reached = tuple(_depth_first(roots[0], children))
        # A link that cannot be reached from the root is in a cycle.
        if len(reached) == len(links) - 1:
            return Tree(roots[0], links, reached, children)
    for cycle in _joint_cycles(links, children):
        path = " → ".join([cycle[0].parent, *(joint.child for joint in cycle)])
        message = f"links and joints form a loop: {path}; use a <constraint> instead of a joint"
        diagnostics.error("cycle", message, _place_of_end(robot, cycle[-1], cycle[-1].child_ordinal))
    if not roots and links_known:
        diagnostics.error(
            "no-root", "there is no root link: each link is the child of a joint", robot.places.place(robot.ordinal)
        )
    elif len(roots) > 1 and robot.complete:
        place = _declared(links[roots[1]], robot)
        others = quoted(roots[1:], 9)
        message = f"the robot is not one tree: it has {len(roots)} root links, '{roots[0]}' and {others}"
        diagnostics.error("several-roots", message, place)
    return None


def _declared(link: Link, robot: UrdfRobot) -> SourcePlace:
    """Return the place of a link's name: its declaration or, for an implicit link, the first joint that names it."""
    if link.ordinal >= 0:
        return robot.places.place(link.ordinal, "name")
    ends = (
        (joint, name, at)
        for joint in robot.joints
        for name, at in ((joint.parent, joint.parent_ordinal), (joint.child, joint.child_ordinal))
    )
    return next((_place_of_end(robot, joint, at) for joint, name, at in ends if name == link.name), SourcePlace(""))


def _place_of_end(robot: UrdfRobot, joint: Joint, at: int) -> SourcePlace:
    """Return the place where a joint names its parent or child: `link`, or `name` in an older form.

    A joint inside a link does not name its child; then return the joint's own place.
    """
    return robot.places.place_of_first(at, () if at == joint.ordinal else ("link", "name"))


def _unique(
    kind: str, items: Iterable[Named], robot: UrdfRobot, diagnostics: Diagnostics
) -> tuple[dict[str, Named], bool]:
    items_by_name: dict[str, Named] = {}
    fine = True
    for item in items:
        first = items_by_name.setdefault(item.name, item)
        if first is not item:
            fine = False
            line = robot.places.place(first.ordinal).line
            message = f"{kind} '{item.name}' is declared twice, first on line {line}"
            diagnostics.error("duplicate-name", message, robot.places.place(item.ordinal, "name"))
    return items_by_name, fine


def _links_known(
    links: dict[str, Link], joints: Iterable[Joint], robot: UrdfRobot, diagnostics: Diagnostics, implicit_links: bool
) -> bool:
    declared = tuple(links)
    fine = True
    for joint in joints:
        for end, name, ordinal in (
            ("parent", joint.parent, joint.parent_ordinal),
            ("child", joint.child, joint.child_ordinal),
        ):
            if name in links:
                continue
            place = _place_of_end(robot, joint, ordinal)
            if implicit_links:
                links[name] = Link(name)
                message = f"no <link> declares '{name}'; it is added without mass and shape"
                diagnostics.warning("implicit-link", message, place)
            elif robot.complete or declared:
                fine = False
                message = f"joint '{joint.name}': {end} link '{name}' does not exist"
                diagnostics.error("unknown-link", message, place, name=name, valid=declared)
    return fine


def _one_parent_each(joints: Iterable[Joint], robot: UrdfRobot, diagnostics: Diagnostics) -> bool:
    parents: dict[str, Joint] = {}
    fine = True
    for joint in joints:
        first = parents.setdefault(joint.child, joint)
        if first is not joint:
            fine = False
            message = (
                f"link '{joint.child}' has two parents: '{first.parent}' by joint '{first.name}' "
                f"and '{joint.parent}' by joint '{joint.name}'"
            )
            diagnostics.error("two-parents", message, _place_of_end(robot, joint, joint.child_ordinal))
    return fine


def _children(joints: Iterable[Joint]) -> dict[str, tuple[Joint, ...]]:
    found: dict[str, list[Joint]] = {}
    for joint in joints:
        found.setdefault(joint.parent, []).append(joint)
    # Code points sort in the same order as their UTF-8 bytes.
    return {link: tuple(sorted(leaving, key=lambda joint: joint.name)) for link, leaving in found.items()}


def _joint_cycles(links: Iterable[str], children: dict[str, tuple[Joint, ...]]) -> Iterator[list[Joint]]:
    """Yield a cycle for each joint that leads back to a link above itself; this joint is the last of its cycle."""
    done: set[str] = set()
    for start in links:
        if start in done:
            continue
        path: list[Joint] = []
        depth = {start: 0}
        stack: list[tuple[str, Iterator[Joint]]] = [(start, iter(children.get(start, ())))]
        while stack:
            link, leaving = stack[-1]
            joint = next(leaving, None)
            if joint is None:
                stack.pop()
                done.add(link)
                del depth[link]
                if path:
                    path.pop()
            elif joint.child in depth:
                yield [*path[depth[joint.child] :], joint]
            elif joint.child not in done:
                path.append(joint)
                depth[joint.child] = len(path)
                stack.append((joint.child, iter(children.get(joint.child, ()))))


def _depth_first(root: str, children: dict[str, tuple[Joint, ...]]) -> Iterator[Joint]:
    stack = list(reversed(children.get(root, ())))
    while stack:
        joint = stack.pop()
        yield joint
        stack.extend(reversed(children.get(joint.child, ())))


# Mimic joints: each is resolved through its chain to a joint that moves independently; cycles are found.


def resolve_mimics(
    robot: UrdfRobot, joints: Mapping[str, Joint], types: Mapping[str, JointType], diagnostics: Diagnostics
) -> dict[str, MimicSource]:
    """Return the final leader of each mimic joint; a joint with an invalid mimic is an ordinary joint.

    Along a chain factors multiply and offsets compose (`MimicSource.through`).
    """
    followed = {
        joint.name: joint.mimic
        for joint in joints.values()
        if joint.mimic is not None and _has_meaning(joint, joint.mimic, robot, joints, types, diagnostics)
    }
    for cycle in _mimic_cycles(followed):
        path = " → ".join([*cycle, cycle[0]])
        place = robot.places.place(followed[cycle[0]].ordinal, "joint")
        diagnostics.error("mimic-cycle", f"mimic joints follow each other in a circle: {path}", place)
        for name in cycle:
            del followed[name]
    sources: dict[str, MimicSource] = {}
    for name in followed:
        _follow(name, followed, sources)
    for name, source in list(sources.items()):
        if not (math.isfinite(source.multiplier) and math.isfinite(source.offset)):
            message = (
                f"joint '{name}' follows '{source.joint}' with multipliers or offsets that are too large for a 64-bit "
                "float"
            )
            diagnostics.error("mimic-too-large", message, robot.places.place(followed[name].ordinal))
            del sources[name]
    for name, source in sources.items():
        limits, of_leader = (JointLimits.of(types[joint], joints[joint]) for joint in (name, source.joint))
        reached = _outside(source, of_leader, limits)
        if reached is not None:
            message = (
                f"joint '{name}' follows '{source.joint}' and reaches {reached[0]:g} to {reached[1]:g}, outside its "
                f"limits {limits.lower:g} to {limits.upper:g}"
            )
            if _outside(replace(source, multiplier=-source.multiplier), of_leader, limits) is None:
                message += "; with the other sign of the multiplier it would stay inside"
            diagnostics.warning("mimic-outside-limits", message, robot.places.place(followed[name].ordinal))
    return sources


ROUNDING = 1e-3
"""Largest share of a limit by which a follower may exceed it: limits and multipliers are often rounded."""


def _outside(source: MimicSource, leader: JointLimits, follower: JointLimits) -> tuple[float, float] | None:
    """Return the range [rad or m] that a follower reaches if a part of it is outside its limits; else None."""
    ends = leader.lower, leader.upper
    is_limited = all(map(math.isfinite, (*ends, follower.lower, follower.upper)))
    if not is_limited or ends[0] > ends[1] or not follower.lower < follower.upper:
        return None
    lower, upper = sorted(source.multiplier * end + source.offset for end in ends)
    allowed = ROUNDING * max(abs(lower), abs(upper))
    return None if follower.lower - allowed <= lower and upper <= follower.upper + allowed else (lower, upper)


def _has_meaning(
    joint: Joint,
    mimic: Mimic,
    robot: UrdfRobot,
    joints: Mapping[str, Joint],
    types: Mapping[str, JointType],
    diagnostics: Diagnostics,
) -> bool:
    if mimic.joint not in joints:
        message = f"joint '{joint.name}' mimics an unknown joint, '{mimic.joint}'"
        place = robot.places.place(mimic.ordinal, "joint")
        diagnostics.error("unknown-mimic", message, place, name=mimic.joint, valid=joints)
        return False
    if joint.name not in types or mimic.joint not in types:
        return False
    follower, leader = (len(MOTION[types[name]].variables) for name in (joint.name, mimic.joint))
    if follower and follower == leader:
        return True
    if follower == 0:
        message = f"joint '{joint.name}' is fixed, so its <mimic> does nothing"
        diagnostics.warning("mimic-of-fixed", message, robot.places.place(mimic.ordinal, "joint"))
        return False
    message = (
        f"joint '{joint.name}' ({joint.type}) cannot mimic '{mimic.joint}' ({joints[mimic.joint].type}): "
        "their numbers of variables differ"
    )
    diagnostics.error("mimic-mismatch", message, robot.places.place(mimic.ordinal, "joint"))
    return False


def _mimic_cycles(followed: Mapping[str, Mimic]) -> list[list[str]]:
    """Return the cycles, each beginning with its first joint in document order."""
    rank = {name: index for index, name in enumerate(followed)}
    done: set[str] = set()
    cycles = []
    for start in followed:
        path: dict[str, None] = {}
        name = start
        while name in followed and name not in done and name not in path:
            path[name] = None
            name = followed[name].joint
        if name in path:
            members = list(path)
            cycle = members[members.index(name) :]
            first = cycle.index(min(cycle, key=rank.__getitem__))
            cycles.append(cycle[first:] + cycle[:first])
        done.update(path)
    return cycles


def _follow(name: str, followed: Mapping[str, Mimic], sources: dict[str, MimicSource]) -> None:
    chain = []
    while name in followed and name not in sources:
        chain.append(name)
        name = followed[name].joint
    source = sources.get(name, MimicSource(name))
    for link in reversed(chain):
        source = sources[link] = MimicSource.of(followed[link]).through(source)


def resolve_urdf(robot: UrdfRobot, diagnostics: Diagnostics, *, implicit_links: bool = False) -> RobotModel | None:
    """Return the model of `robot`; add problems to `diagnostics`.

    Invalid parts are left out of the model: a mimic without a valid leader, a zero axis (replaced by the default axis),
    an inertial with a negative mass. With `implicit_links`, a link that only joints name becomes a link without mass or
    shape.

    Returns:
        The model; None if links and joints do not form a tree or a joint's motion is unknown.
    """
    types: dict[str, JointType] = {}
    all_known = True
    for joint in robot.joints:
        kind = check_joint(joint, robot.places, diagnostics)
        if kind is None or (MOTION[kind].limited and joint.limit is None):
            all_known = False
        if kind is not None:
            types.setdefault(joint.name, kind)
    bad_inertials = check_links(robot, diagnostics)
    tree = find_tree(robot, diagnostics, implicit_links=implicit_links)
    by_name = {joint.name: joint for joint in reversed(robot.joints)}
    mimics = resolve_mimics(robot, {joint.name: by_name[joint.name] for joint in robot.joints}, types, diagnostics)
    if tree is None or not all_known:
        return None
    declared = {link.name for link in robot.links}
    implied = tuple(link for name, link in tree.links.items() if name not in declared)
    if implied:
        robot = replace(robot, content=(*robot.content, *implied), rewritten=True)
    model = RobotModel(robot.name, _joints(tree, types, mimics), _links(tree, bad_inertials), robot)
    if not robot.constraints:
        return model

    # Only robots with loops need arrays, whose import takes longer than the rest of a check.
    from robot_semantics.model.constraint_checks import resolve_constraints

    return replace(model, constraints=resolve_constraints(robot, model, diagnostics))


def _joints(tree: Tree, types: dict[str, JointType], mimics: dict[str, MimicSource]) -> tuple[JointModel, ...]:
    frames = JointFrames(
        (None, *(joint.origin for joint in tree.joints)),
        (X_AXIS, *(unit_axis(joint, types[joint.name]) for joint in tree.joints)),
    )
    root = JointModel(0, ASSUMED_ROOT_JOINT, JointType.FIXED, "", tree.root, frames, virtual=True)
    return (
        root,
        *(
            JointModel(
                index,
                joint.name,
                types[joint.name],
                joint.parent,
                joint.child,
                frames,
                JointLimits.of(types[joint.name], joint),
                mimics.get(joint.name),
                urdf=joint,
            )
            for index, joint in enumerate(tree.joints, 1)
        ),
    )


def _links(tree: Tree, bad_inertials: frozenset[str]) -> tuple[LinkModel, ...]:
    index = {tree.root: 0, **{joint.child: place for place, joint in enumerate(tree.joints, 1)}}
    parents = [-1, *(index[joint.parent] for joint in tree.joints)]
    return tuple(
        LinkModel(
            place,
            name,
            parents[place],
            tuple([index[joint.child] for joint in tree.children.get(name, ())]),
            _without_inertial(tree.links[name]) if name in bad_inertials else tree.links[name],
        )
        for name, place in index.items()
    )


def _without_inertial(link: Link) -> Link:
    return replace(link, inertial=None)
