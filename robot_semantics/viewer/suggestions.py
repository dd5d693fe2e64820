# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Suggested parts of an SRDF from the tree of links: a virtual joint, arms, hands, legs, end effectors, home poses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.srdf import new
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.srdf.tree import SrdfDocument
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.xml.edit import NewElement

ARM_JOINTS, LEG_JOINTS, FINGER_JOINTS = 4, 3, 4
"""Driven joints of an arm and of a leg at least, and of a finger without a name of a hand at most."""
HAND = re.compile(r"hand|palm|finger|thumb|gripper", re.IGNORECASE)


@dataclass(frozen=True)
class Suggestion:
    """A part that the user may accept.

    Attributes:
        step: its kind: ``virtual joint``, ``group``, ``end effector``, ``state`` or ``passive joint``.
        title: the added part, in words.
        edit: function that adds it to a text.
    """

    step: str
    title: str
    edit: Callable[[SrdfText], SrdfText]


@dataclass(frozen=True)
class Chain:
    """A part of the tree without a branch of driven joints.

    Attributes:
        base: its first link.
        tip: its last link, without a hand.
        joints: its driven joints in order.
        hand: the links of a hand below the tip, the palm first.
    """

    base: str
    tip: str
    joints: tuple[str, ...]
    hand: tuple[str, ...] = ()


FreePose = Callable[[RobotModel, Collection[str]], FloatArray]
"""Return the pose (size,) nearest to the default positions in which joints of these names do not collide."""


def suggestions(robot: RobotModel, semantic: SrdfDocument, free_pose: FreePose | None = None) -> list[Suggestion]:
    """Return suggested parts for the semantics of a robot, in the order of work, without existing parts.

    Args:
        robot: the robot with its present semantics.
        semantic: the same semantics as an SRDF tree.
        free_pose: gives the suggested poses, when they are added; None: they are the default positions.
    """
    found: list[Suggestion] = []
    kind = base_type(robot)
    frame = new.VIRTUAL_JOINT_FRAMES[kind]
    if not semantic.virtual_joints and robot.root_link != frame:
        joint = new.virtual_joint(virtual_joint_name(robot, frame), kind, frame, robot.root_link)
        found.append(_adding("virtual joint", f"{kind} virtual joint: {robot.root_link} in {frame}", joint))
    stated = {group.name for group in semantic.groups}
    effectors = {item.name for item in semantic.end_effectors}
    for name, hand, chain in named_chains(robot):
        if name not in stated:
            members = new.group_members(chains=[(chain.base, chain.tip)])
            title = f"group {name}: chain {chain.base} → {chain.tip}, {len(chain.joints)} joints"
            found.append(_adding("group", title, new.group(name, members)))
        if chain.hand and hand not in stated:
            members = new.group_members(links=chain.hand)
            found.append(_adding("group", f"group {hand}: {len(chain.hand)} links", new.group(hand, members)))
        if chain.hand and {name, hand} <= stated and not any(item.group == hand for item in semantic.end_effectors):
            effector = hand if hand not in effectors else f"{hand}_effector"
            element = new.end_effector(effector, hand, chain.tip, name)
            found.append(_adding("end effector", f"end effector {effector} on {chain.tip}", element))
    found += _home_poses(robot, free_pose)
    passive = [
        joint.name
        for joint in robot.joints
        if not joint.passive and _is_driven(joint) and re.search(r"caster|passive", joint.name, re.IGNORECASE)
    ]
    if passive:
        title = f"passive joint{'s' * (len(passive) > 1)} {', '.join(passive)}"
        found.append(_adding("passive joint", title, *map(new.passive_joint, passive)))
    return found


def virtual_joint_name(robot: RobotModel, frame: str) -> str:
    """Return a name for the virtual joint in a frame that no joint of the robot has."""
    name, taken = f"{frame}_joint", {joint.name for joint in robot.joints if not joint.virtual}
    while name in taken:
        name = f"virtual_{name}"
    return name


def base_type(robot: RobotModel) -> str:
    """Return the kind of virtual joint that fits: planar with wheels, floating with feet, fixed otherwise."""
    children = _children(robot)
    wheels = [link.name for link in robot.links if re.search(r"wheel|caster", link.name, re.IGNORECASE)]
    if len(wheels) >= 2:
        return "planar"
    feet = [link.name for link in robot.links if not children[link.name] and _is_leg(link.name)]
    return "floating" if len(feet) >= 2 else "fixed"


def named_chains(robot: RobotModel) -> list[tuple[str, str, Chain]]:
    """Return the arms, legs and heads of a robot: the group's name, the name for its hand, and the chain."""
    kinds = [(_kind(chain), chain) for chain in chains(robot)]
    plain = Counter(kind for kind, chain in kinds if not _side(chain.tip))
    known: set[str] = set()

    def free(kind: str, of: str, tip: str) -> str:
        # The side; without a side, the first word of the tip's name if there are several chains.
        prefix = _side(tip) or (tip.split("_")[0] if plain[of] > 1 else "")
        name = first = f"{prefix}_{kind}" if prefix else kind
        number = 2
        while name in known:
            name, number = f"{first}_{number}", number + 1
        known.add(name)
        return name

    named = []
    for kind, chain in kinds:
        if kind == "arm":
            named.append((free(kind, kind, chain.tip), free("hand", kind, chain.tip) if chain.hand else "", chain))
        elif kind:
            named.append((free(kind, kind, chain.tip), "", Chain(chain.base, chain.tip, chain.joints)))
    return named


def _kind(chain: Chain) -> str:
    """Return the kind of a chain: leg, head, finger, arm, or an empty text."""
    if _is_leg(chain.tip) and len(chain.joints) >= LEG_JOINTS:
        return "leg"
    if "head" in chain.tip.lower():
        return "head"
    if HAND.search(chain.base):
        return "finger"
    return "arm" if len(chain.joints) >= ARM_JOINTS else ""


def chains(robot: RobotModel) -> Iterator[Chain]:
    """Yield the parts of the tree without a branch of driven joints, starting at the root."""
    children = _children(robot)
    joint_above = {link.name: joint for link, joint in zip(robot.links, robot.joints, strict=True)}
    moves = _moving_joints(robot, children)
    moving = {link: [child for child in below if moves[child]] for link, below in children.items()}
    waiting = [(robot.root_link, child) for child in moving[robot.root_link]]
    while waiting:
        base, link = waiting.pop(0)
        way = [base, link]
        while len(on := moving[link]) == 1:
            (link,) = on
            way.append(link)
        base, joints = _driven_part(way, joint_above)
        if (
            len(joints) >= ARM_JOINTS
            and on
            and all(moves[child] <= FINGER_JOINTS or HAND.search(child) for child in on)
        ):
            above = joint_above[link]
            tip = link if _is_moving(above) else way[-2]
            hand = _below(children, [link] if tip != link else on)
            yield Chain(base, tip, tuple(joints), tuple(hand))
            continue
        while not on and len(children[link]) == 1:
            # A frame for the tool, fixed to the last link.
            link = children[link][0]
        if joints:
            yield Chain(base, link, tuple(joints))
        waiting += [(link, child) for child in on]


def _driven_part(way: Sequence[str], joint_above: Mapping[str, JointModel]) -> tuple[str, list[str]]:
    """Return the link above the first driven joint of a row of links, and the driven joints.

    The fixed joints above it belong to no group.
    """
    driven = [at for at in range(1, len(way)) if _is_driven(joint_above[way[at]])]
    return way[driven[0] - 1 if driven else 0], [joint_above[way[at]].name for at in driven]


def _moving_joints(robot: RobotModel, children: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the number of moving joints below each link, including the joint above the link."""
    moves: dict[str, int] = {}
    for link, joint in zip(reversed(robot.links), reversed(robot.joints), strict=True):
        moves[link.name] = _is_moving(joint) + sum(moves[child] for child in children[link.name])
    return moves


def _home_poses(robot: RobotModel, free_pose: FreePose | None) -> list[Suggestion]:
    stated = {group for group, _ in robot.semantics.states}
    found = []
    for group in robot.semantics.groups.values():
        if group.name not in stated and group.active_joints:
            title = f"pose home of {group.name}: default positions"
            if free_pose is not None:
                title += ", moved until free of collision"
            edit = partial(_add_home, robot=robot, group=group.name, joints=group.active_joints, free_pose=free_pose)
            found.append(Suggestion("state", title, edit))
    return found


def _add_home(
    text: SrdfText, robot: RobotModel, group: str, joints: Sequence[str], free_pose: FreePose | None
) -> SrdfText:
    space = ForwardKinematics(robot).space
    q = space.neutral() if free_pose is None else free_pose(robot, joints)
    values = {joint: q[space.joint_positions[joint]].round(6).tolist() for joint in joints}
    return text.add([new.group_state("home", group, values)])


def _adding(step: str, title: str, *elements: NewElement) -> Suggestion:
    return Suggestion(step, title, partial(_add, elements=elements))


def _add(text: SrdfText, elements: Sequence[NewElement]) -> SrdfText:
    return text.add(elements)


def _children(robot: RobotModel) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {link.name: [] for link in robot.links}
    for link in robot.links:
        if link.parent >= 0:
            found[robot.links[link.parent].name].append(link.name)
    return found


def _below(children: dict[str, list[str]], roots: Sequence[str]) -> list[str]:
    found, waiting = [], [*reversed(roots)]
    while waiting:
        found.append(waiting.pop())
        waiting += reversed(children[found[-1]])
    return found


def _is_moving(joint: JointModel) -> bool:
    return joint.position_count > 0 and not joint.virtual


def _is_driven(joint: JointModel) -> bool:
    return _is_moving(joint) and joint.mimic is None


def _is_leg(name: str) -> bool:
    return re.search(r"foot|ankle|toe|sole|(^|_)calf", name, re.IGNORECASE) is not None


def _side(name: str) -> str:
    words = re.split(r"[_\-]", name.lower())
    if "left" in name.lower() or "l" in words:
        return "left"
    return "right" if "right" in name.lower() or "r" in words else ""
