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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from functools import partial

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.pattern import pattern
from robot_semantics.base.record import record
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.apply_semantics import apply_semantics
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.srdf import new
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.srdf.tree import SrdfDocument, SrdfGroup
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.xml.edit import NewElement

ARM_JOINTS, LEG_JOINTS, FINGER_JOINTS = 4, 3, 4
"""Driven joints of an arm and of a leg at least, and of a finger without a name of a hand at most."""
ROUNDS = 6
"""Largest number of times that suggestions follow from accepted ones."""
MIRROR_TOLERANCE = 0.05
"""Deviation of the axes of two joints that mirror each other, 1 - cos(angle)."""
HAND = pattern(r"hand|palm|finger|thumb|gripper", re.IGNORECASE)


@record(frozen=True)
class Suggestion:
    """A part that the user may accept.

    Attributes:
        step: its kind: ``virtual joint``, ``group``, ``end effector``, ``state`` or ``passive joint``.
        title: the added part, in words.
        edit: function that adds it to a text.
        is_optional: few robots need it, such as a union of groups.
        state: group and name of a state; None for other parts.
    """

    step: str
    title: str
    edit: Callable[[SrdfText], SrdfText]
    is_optional: bool = False
    state: tuple[str, str] | None = None


@record(frozen=True)
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


FreePose = Callable[[RobotModel, FloatArray, Collection[str]], FloatArray]
"""Return the pose (size,) nearest to a pose (size,) in which joints of these names do not collide."""


def suggestions(robot: RobotModel, semantic: SrdfDocument, free_pose: FreePose | None = None) -> list[Suggestion]:
    """Return suggested parts for the semantics of a robot, in the order of work, without existing parts.

    Args:
        robot: the robot with its present semantics.
        semantic: the same semantics as an SRDF tree.
        free_pose: moves a suggested pose until it is free of collision, when it is added; None: it may collide.
    """
    result: list[Suggestion] = []
    kind = base_type(robot)
    frame = new.VIRTUAL_JOINT_FRAMES[kind]
    if not semantic.virtual_joints and robot.root_link != frame:
        joint = new.virtual_joint(virtual_joint_name(robot, frame), kind, frame, robot.root_link)
        result.append(_adding("virtual joint", f"{kind} virtual joint: {robot.root_link} in {frame}", joint))
    result += _limbs(robot, semantic)
    mirrored_poses = list(_mirrored(robot, semantic, free_pose))
    # Where the other side has the pose home, its mirrored pose is the suggestion.
    mirrored = {item.state for item in mirrored_poses}
    result += [item for item in _home_poses(robot, semantic, free_pose) if item.state not in mirrored]
    passive = [
        joint.name
        for joint in robot.joints
        if not joint.passive and _is_driven(joint) and re.search(r"caster|passive", joint.name, re.IGNORECASE)
    ]
    if passive:
        title = f"passive joint{'s' * (len(passive) > 1)} {', '.join(passive)}"
        result.append(_adding("passive joint", title, *map(new.passive_joint, passive)))
    return [*result, *_more_groups(robot, semantic), *_feet(robot, semantic), *mirrored_poses]


def _limbs(robot: RobotModel, semantic: SrdfDocument) -> Iterator[Suggestion]:
    """Yield arms, legs, heads and hands as groups, and hands as end effectors."""
    stated = {group.name for group in semantic.groups}
    effectors = {item.name for item in semantic.end_effectors}
    for name, hand, chain in named_chains(robot):
        if name not in stated:
            members = new.group_members(chains=[(chain.base, chain.tip)])
            title = f"group {name}: chain {chain.base} → {chain.tip}, {len(chain.joints)} joints"
            yield _adding("group", title, new.group(name, members))
        if chain.hand and hand not in stated:
            members = new.group_members(links=chain.hand)
            yield _adding("group", f"group {hand}: {len(chain.hand)} links", new.group(hand, members))
        if chain.hand and {name, hand} <= stated and not any(item.group == hand for item in semantic.end_effectors):
            effector = hand if hand not in effectors else f"{hand}_effector"
            element = new.end_effector(effector, hand, chain.tip, name)
            yield _adding("end effector", f"end effector {effector} on {chain.tip}", element)


def accept_all(
    bare: RobotModel, text: SrdfText, free_pose: FreePose | None = None
) -> tuple[SrdfText, tuple[str, ...], tuple[str, ...]]:
    """Return the text with all suggestions, and with those that follow from them.

    Args:
        bare: the robot without semantics.
        text: the present text.
        free_pose: moves a suggested pose until it is free of collision; None: it may collide.

    Returns:
        the text, the titles of the added parts, and for each part that could not be added its title and the reason.
    """
    added: list[str] = []
    failed: dict[str, str] = {}
    for _ in range(ROUNDS):
        robot = apply_semantics(bare, text.semantic, Diagnostics())
        waiting = [item for item in suggestions(robot, text.semantic, free_pose) if item.title not in failed]
        if not waiting:
            break
        for suggestion in waiting:
            try:
                text = suggestion.edit(text)
                added.append(suggestion.title)
            except RobotSemanticsError as error:
                failed[suggestion.title] = f"{suggestion.title}: {error}"
    return text, tuple(added), tuple(failed.values())


# Further groups: single limbs without a hand, and unions of the groups that exist.


def _more_groups(robot: RobotModel, semantic: SrdfDocument) -> Iterator[Suggestion]:
    """Yield the torso, heads and grippers that have no group, unions of limbs, and feet as end effectors."""
    stated = {group.name for group in semantic.groups}
    limbs: dict[str, list[str]] = {}
    for name, hand, chain in named_chains(robot):
        limbs.setdefault(_kind(chain), []).append(name)
        if hand:
            limbs.setdefault("hand", []).append(hand)
    joined = {joint for limb in named_chains(robot) for joint in limb[2].joints}
    for kind, chain in _other_limbs(robot, joined):
        name = kind if kind not in limbs else f"{kind}_{len(limbs[kind]) + 1}"
        limbs.setdefault(kind, []).append(name)
        if name not in stated:
            members = new.group_members(chains=[(chain.base, chain.tip)])
            title = f"group {name}: chain {chain.base} → {chain.tip}, {len(chain.joints)} joints"
            yield _adding("group", title, new.group(name, members), is_optional=True)
    movable = [item.name for item in semantic.virtual_joints if item.type != "fixed"]
    if any(item.type == "planar" for item in semantic.virtual_joints) and "base" not in stated:
        element = new.group("base", new.group_members(joints=movable))
        yield _adding("group", f"group base: joint {movable[0]}", element, is_optional=True)
    for name, parts in _unions(robot, limbs).items():
        joints = movable if name == "whole_body" else []
        if name not in stated and {*parts} <= stated and len(parts) + len(joints) > 1:
            element = new.group(name, new.group_members(joints=joints, subgroups=parts))
            yield _adding("group", f"group {name}: {', '.join((*joints, *parts))}", element, is_optional=True)


def _feet(robot: RobotModel, semantic: SrdfDocument) -> Iterator[Suggestion]:
    """Yield the feet of legs as end effectors."""
    stated = {group.name for group in semantic.groups}
    effectors = {item.parent_link for item in semantic.end_effectors}
    names = {item.name for item in semantic.end_effectors}
    for name, _, chain in named_chains(robot):
        foot = f"{name.removesuffix('_leg')}_foot"
        if _kind(chain) == "leg" and chain.tip not in effectors and foot not in names and {name, "all_legs"} <= stated:
            element = new.end_effector(foot, name, chain.tip)
            yield _adding("end effector", f"end effector {foot} on {chain.tip}", element, is_optional=True)


def _other_limbs(robot: RobotModel, joined: Set[str]) -> Iterator[tuple[str, Chain]]:
    """Yield the kind and the chain of the limbs that `named_chains` leaves out: torsos and heads."""
    children = _children(robot)
    for chain in chains(robot):
        if joined.isdisjoint(chain.joints) and chain.joints:
            words = " ".join((*chain.joints, *_below(children, [chain.tip]))).lower()
            if not joined.isdisjoint(_joints_below(robot, children, chain.tip)):
                yield "torso", chain
            elif re.search(r"head|neck", words):
                yield "head", chain


def _joints_below(robot: RobotModel, children: dict[str, list[str]], link: str) -> set[str]:
    below = set(_below(children, children[link]))
    return {joint.name for item, joint in zip(robot.links, robot.joints, strict=True) if item.name in below}


def _unions(robot: RobotModel, limbs: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the names of unions with the groups that they join."""
    arms, legs, torso = limbs.get("arm", []), limbs.get("leg", []), limbs.get("torso", [])[:1]
    heads, hands = limbs.get("head", []), limbs.get("hand", [])
    unions: dict[str, list[str]] = {}
    for arm in arms:
        hand = arm.replace("arm", "hand")
        if hand in hands:
            unions[f"{arm}_and_hand"] = [arm, hand]
    sets: dict[str, Sequence[str]] = {"both_arms" if len(arms) == 2 else "all_arms": arms, "all_legs": legs}
    if len(legs) == 4:
        sets |= _pairs_of_legs(robot, legs)
    unions |= {name: [*parts] for name, parts in sets.items() if len(parts) > 1}
    if torso:
        single = {limb: [limb] for limb in (*arms, *legs)}
        both = {name: [*parts] for name, parts in sets.items() if len(parts) > 1 and len(legs) < 4}
        unions |= {f"{name}_and_torso": [*torso, *parts] for name, parts in {**single, **both}.items()}
    unions["whole_body"] = [*torso, *arms, *legs]
    if heads:
        unions["body"] = [*torso, *arms, *legs, *heads]
    return unions


def _pairs_of_legs(robot: RobotModel, legs: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return the pairs of the legs of a quadruped by their places: left, right, front, hind and diagonal."""
    kinematics = ForwardKinematics(robot)
    poses = kinematics.link_poses(kinematics.space.neutral())
    hips = {name: robot.joint(chain.joints[0]).child_link for name, _, chain in named_chains(robot) if name in legs}
    first = {name: poses[robot.link_index[link]][:2, 3] for name, link in hips.items()}
    middle = sum(first.values()) / len(first)
    is_left = {name: at[1] > middle[1] for name, at in first.items()}
    is_front = {name: at[0] > middle[0] for name, at in first.items()}
    return {
        "left_legs": [leg for leg in legs if is_left[leg]],
        "right_legs": [leg for leg in legs if not is_left[leg]],
        "front_legs": [leg for leg in legs if is_front[leg]],
        "hind_legs": [leg for leg in legs if not is_front[leg]],
        "left_diagonal_legs": [leg for leg in legs if is_front[leg] == is_left[leg]],
        "right_diagonal_legs": [leg for leg in legs if is_front[leg] != is_left[leg]],
    }


# The other side: groups and poses from left to right, and from right to left.

_SIDES = (("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"))


def mirrored_name(name: str) -> str | None:
    """Return the name of the same part on the other side; None if the name has no side."""
    for left, right in _SIDES:
        for one, other in ((left, right), (right, left)):
            if one in name:
                return name.replace(one, other)
    swap = {"l": "r", "r": "l", "L": "R", "R": "L", "FL": "FR", "FR": "FL", "LF": "RF", "RF": "LF"}
    swap |= {"RL": "RR", "RR": "RL", "LH": "RH", "RH": "LH", "HL": "HR", "HR": "HL"}
    words = re.split(r"([_\-])", name)
    found = next((at for at, word in enumerate(words) if word in swap), None)
    if found is None:
        return None
    words[found] = swap[words[found]]
    return "".join(words)


def _mirrored(robot: RobotModel, semantic: SrdfDocument, free_pose: FreePose | None) -> Iterator[Suggestion]:
    """Yield the groups and states of one side that the other side does not have."""
    stated = {group.name for group in semantic.groups}
    for group in semantic.groups:
        name, members = mirrored_name(group.name), _mirrored_members(robot, group, stated)
        if name is not None and name not in stated and members:
            title = f"group {name}: as {group.name} on the other side"
            yield _adding("group", title, new.group(name, members), is_optional=True)
    states = {(state.group, state.name) for state in semantic.states}
    space = JointSpace.of(robot)
    for state in semantic.states:
        side, name = mirrored_name(state.group), mirrored_name(state.name) or state.name
        if side in stated and (side, name) not in states and state.joints:
            values = _mirrored_values(robot, {item.name: item.values for item in state.joints})
            if values is not None:
                start = np.array(space.neutral())
                for joint, numbers in values.items():
                    start[space.joint_positions[joint]] = numbers
                title = f"pose {name} of {side}: as {state.group}/{state.name} on the other side"
                start = np.array(space.with_mimics(start))
                yield _pose(robot, space, title, (str(side), name), start, [*values], free_pose)


def _mirrored_members(robot: RobotModel, group: SrdfGroup, stated: Collection[str]) -> tuple[NewElement, ...]:
    """Return the members of the other side; nothing if one of them does not exist."""
    links = [mirrored_name(item.name) or "" for item in group.links]
    joints = [mirrored_name(item.name) or "" for item in group.joints]
    subgroups = [mirrored_name(item.name) or "" for item in group.subgroups]
    # The base of a chain may be on the middle line.
    ends = [
        (mirrored_name(item.base_link) or item.base_link, mirrored_name(item.tip_link) or "") for item in group.chains
    ]
    known_links = {*links, *(link for pair in ends for link in pair)} <= robot.link_index.keys()
    if not (known_links and {*joints} <= robot.joint_index.keys() and {*subgroups} <= {*stated}):
        return ()
    return new.group_members(ends, joints, links, subgroups)


def _mirrored_values(
    robot: RobotModel, values: Mapping[str, Sequence[float] | None]
) -> dict[str, tuple[float, ...]] | None:
    """Return the positions of the joints of the other side in the pose mirrored at the plane y = 0 of the root link.

    None if a joint has no counterpart, or the two do not mirror each other.
    """
    kinematics = ForwardKinematics(robot)
    poses = kinematics.link_poses(kinematics.space.neutral())
    mirrored: dict[str, tuple[float, ...]] = {}
    for name, numbers in values.items():
        other = mirrored_name(name)
        if numbers is None or len(numbers) != 1 or name not in robot.joint_index or other not in robot.joint_index:
            return None
        joint_model, partner = robot.joint(name), robot.joint(str(other))
        if joint_model.type is not partner.type:
            return None
        axes = [
            poses[robot.link_index[joint.child_link]][:3, :3] @ np.asarray(joint.axis)
            for joint in (joint_model, partner)
        ]
        # A mirror turns a rotation round.
        image = axes[0] * ((1.0, -1.0, 1.0) if joint_model.type.value == "prismatic" else (-1.0, 1.0, -1.0))
        share = float(image @ axes[1])
        if abs(abs(share) - 1.0) > MIRROR_TOLERANCE:
            return None
        mirrored[str(other)] = (numbers[0] if share > 0.0 else -numbers[0],)
    return mirrored


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
    used_names: set[str] = set()

    def free(kind: str, of: str, tip: str) -> str:
        # The side; without a side, the first word of the tip's name if there are several chains.
        prefix = _side(tip) or (tip.split("_")[0] if plain[of] > 1 else "")
        name = first = f"{prefix}_{kind}" if prefix else kind
        number = 2
        while name in used_names:
            name, number = f"{first}_{number}", number + 1
        used_names.add(name)
        return name

    named = []
    for kind, whole in kinds:
        chain = _without_gripper(robot, whole) if kind == "arm" and not whole.hand else whole
        chain = _to_the_sole(robot, chain) if kind == "leg" else chain
        if kind == "arm":
            named.append((free(kind, kind, chain.tip), free("hand", kind, chain.tip) if chain.hand else "", chain))
        elif kind:
            named.append((free(kind, kind, chain.tip), "", Chain(chain.base, chain.tip, chain.joints)))
    return named


def _without_gripper(robot: RobotModel, chain: Chain) -> Chain:
    """Return an arm without the joints of a gripper at its end; the gripper's links are its hand."""
    arm = [name for name in chain.joints if not HAND.search(name)]
    if len(arm) == len(chain.joints) or list(chain.joints[: len(arm)]) != arm or len(arm) < ARM_JOINTS:
        return chain
    tip = robot.joint(chain.joints[len(arm)]).parent_link
    first = robot.joint(chain.joints[len(arm)]).child_link
    return Chain(chain.base, tip, tuple(arm), tuple(_below(_children(robot), [first])))


def _to_the_sole(robot: RobotModel, chain: Chain) -> Chain:
    """Return a leg down to its sole, if the foot has a sole as a fixed frame."""
    for link in _children(robot)[chain.tip]:
        if re.search("sole", link, re.IGNORECASE) and not _is_moving(robot.joints[robot.link_index[link]]):
            return Chain(chain.base, link, chain.joints)
    return chain


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
        links = [base, link]
        while len(on := moving[link]) == 1:
            (link,) = on
            links.append(link)
        base, joints = _driven_part(links, joint_above)
        if (
            len(joints) >= ARM_JOINTS
            and on
            and all(moves[child] <= FINGER_JOINTS or HAND.search(child) for child in on)
        ):
            above = joint_above[link]
            tip = link if _is_moving(above) else links[-2]
            hand = _below(children, [link] if tip != link else on)
            yield Chain(base, tip, tuple(joints), tuple(hand))
            continue
        while not on and len(children[link]) == 1:
            # A frame for the tool, fixed to the last link.
            link = children[link][0]
        if joints:
            yield Chain(base, link, tuple(joints))
        waiting += [(link, child) for child in on]


def _driven_part(links: Sequence[str], joint_above: Mapping[str, JointModel]) -> tuple[str, list[str]]:
    """Return the link above the first driven joint of a row of links, and the driven joints.

    The fixed joints above it belong to no group.
    """
    driven = [at for at in range(1, len(links)) if _is_driven(joint_above[links[at]])]
    return links[driven[0] - 1 if driven else 0], [joint_above[links[at]].name for at in driven]


def _moving_joints(robot: RobotModel, children: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the number of moving joints below each link, including the joint above the link."""
    moves: dict[str, int] = {}
    for link, joint in zip(reversed(robot.links), reversed(robot.joints), strict=True):
        moves[link.name] = _is_moving(joint) + sum(moves[child] for child in children[link.name])
    return moves


def _home_poses(robot: RobotModel, semantic: SrdfDocument, free_pose: FreePose | None) -> list[Suggestion]:
    stated = {group for group, _ in robot.semantics.states}
    poses = []
    unions = {group.name for group in semantic.groups if group.subgroups or group.name == "base"}
    space = JointSpace.of(robot)
    for group in robot.semantics.groups.values():
        if group.name not in stated | unions and group.active_joints:
            title = f"pose home of {group.name}: default positions"
            start = np.array(space.neutral())
            poses.append(_pose(robot, space, title, (group.name, "home"), start, group.active_joints, free_pose))
    return poses


def _pose(
    robot: RobotModel,
    space: JointSpace,
    title: str,
    state: tuple[str, str],
    start: FloatArray,
    joints: Sequence[str],
    free_pose: FreePose | None,
) -> Suggestion:
    """Return a suggested state (group, name) of `joints`: positions `start` (size,), moved until free of collision."""

    def add(text: SrdfText) -> SrdfText:
        q = start if free_pose is None else free_pose(robot, start, joints)
        values = {joint: q[space.joint_positions[joint]].round(6).tolist() for joint in joints}
        return text.add([new.group_state(state[1], state[0], values)])

    if free_pose is not None:
        title += ", moved until free of collision"
    return Suggestion("state", title, add, is_optional=state[1] != "home", state=state)


def _adding(step: str, title: str, *elements: NewElement, is_optional: bool = False) -> Suggestion:
    return Suggestion(step, title, partial(_add, elements=elements), is_optional)


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
