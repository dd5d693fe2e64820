# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Checks that links and joints form a tree: unique and known names, one parent each, one root, no cycle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from robot_semantics.base.diagnostics import Diagnostics, SourcePlace
from robot_semantics.base.foreign_text import quoted
from robot_semantics.urdf.tree import Joint, Link, UrdfRobot

Named = TypeVar("Named", Link, Joint)


@dataclass(frozen=True, slots=True)
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
    known = _links_known(links, robot.joints, robot, diagnostics, implicit_links)
    fine &= known
    if not links and not joints:
        if robot.complete:
            diagnostics.error("no-links", "the robot has no links", robot.places.place(robot.at))
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
    for cycle in _cycles(links, children):
        path = " → ".join([cycle[0].parent, *(joint.child for joint in cycle)])
        message = f"links and joints form a loop, which URDF cannot describe: {path}"
        diagnostics.error("cycle", message, _place_of_end(robot, cycle[-1], cycle[-1].child_at))
    if not roots and known:
        diagnostics.error(
            "no-root", "there is no root link: each link is the child of a joint", robot.places.place(robot.at)
        )
    elif len(roots) > 1 and robot.complete:
        place = _declared(links[roots[1]], robot)
        others = quoted(roots[1:], 9)
        message = f"the robot is not one tree: it has {len(roots)} root links, '{roots[0]}' and {others}"
        diagnostics.error("several-roots", message, place)
    return None


def _declared(link: Link, robot: UrdfRobot) -> SourcePlace:
    """Return the place of a link's name: its declaration or, for an implicit link, the first joint that names it."""
    if link.at >= 0:
        return robot.places.place(link.at, "name")
    ends = (
        (joint, name, at)
        for joint in robot.joints
        for name, at in ((joint.parent, joint.parent_at), (joint.child, joint.child_at))
    )
    return next((_place_of_end(robot, joint, at) for joint, name, at in ends if name == link.name), SourcePlace(""))


def _place_of_end(robot: UrdfRobot, joint: Joint, at: int) -> SourcePlace:
    """Return the place where a joint names its parent or child: `link`, or `name` in an older form.

    A joint inside a link does not name its child; then return the joint's own place.
    """
    return robot.places.place_of_first(at, () if at == joint.at else ("link", "name"))


def _unique(
    kind: str, items: Iterable[Named], robot: UrdfRobot, diagnostics: Diagnostics
) -> tuple[dict[str, Named], bool]:
    found: dict[str, Named] = {}
    fine = True
    for item in items:
        first = found.setdefault(item.name, item)
        if first is not item:
            fine = False
            line = robot.places.place(first.at).line
            message = f"{kind} '{item.name}' is declared twice, first on line {line}"
            diagnostics.error("duplicate-name", message, robot.places.place(item.at, "name"))
    return found, fine


def _links_known(
    links: dict[str, Link], joints: Iterable[Joint], robot: UrdfRobot, diagnostics: Diagnostics, implicit_links: bool
) -> bool:
    declared = tuple(links)
    fine = True
    for joint in joints:
        for end, name, at in (("parent", joint.parent, joint.parent_at), ("child", joint.child, joint.child_at)):
            if name in links:
                continue
            place = _place_of_end(robot, joint, at)
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
            diagnostics.error("two-parents", message, _place_of_end(robot, joint, joint.child_at))
    return fine


def _children(joints: Iterable[Joint]) -> dict[str, tuple[Joint, ...]]:
    found: dict[str, list[Joint]] = {}
    for joint in joints:
        found.setdefault(joint.parent, []).append(joint)
    # Code points sort in the same order as their UTF-8 bytes.
    return {link: tuple(sorted(leaving, key=lambda joint: joint.name)) for link, leaving in found.items()}


def _cycles(links: Iterable[str], children: dict[str, tuple[Joint, ...]]) -> Iterator[list[Joint]]:
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
