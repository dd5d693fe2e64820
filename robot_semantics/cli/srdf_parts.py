# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Command-line options for SRDF parts: virtual joint, groups, end effectors, states and more."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import LinkPair
from robot_semantics.cli.argument_values import add_repeatable, pair_of
from robot_semantics.cli.usage import UsageError
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf import new as srdf_new
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.srdf.table import VIRTUAL_JOINT_TYPES
from robot_semantics.xml.edit import NewElement
from robot_semantics.xml.numbers import numbers_or_none


def add_part_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for SRDF parts."""
    parser.add_argument(
        "--virtual-joint",
        choices=VIRTUAL_JOINT_TYPES,
        metavar="TYPE",
        help="virtual joint on the root link",
    )
    parser.add_argument("--parent-frame", metavar="FRAME", help="parent frame (world if fixed, else odom)")
    parser.add_argument("--virtual-joint-name", metavar="NAME", help="name of the virtual joint (FRAME_joint)")
    add_repeatable(parser, "--end-effector", "NAME=GROUP,PARENT_LINK[,PARENT_GROUP]", "group mounted on a link")
    add_repeatable(parser, "--passive-joint", "JOINT", "joint that is not driven")
    add_repeatable(parser, "--disable-default-collisions", "LINK", "link with collisions off by default")
    add_repeatable(parser, "--joint-property", ("JOINT", "PROPERTY", "VALUE"), "property of a joint", nargs=3)
    pair = "LINK1 LINK2 [REASON]:"
    several: tuple[tuple[str, str | tuple[str, str], str], ...] = (
        ("--chain", "NAME=BASE..TIP", "group of the chain between two links"),
        ("--joints", "NAME=J1,J2", "group of joints"),
        ("--links", "NAME=L1,L2", "group of links and their parent joints"),
        ("--subgroups", "NAME=G1,G2", "group of other groups"),
        ("--state", ("GROUP/NAME", "JOINT=VALUE"), "named state [rad, m]"),
        ("--disable-collisions", "LINK", f"{pair} do not check a pair (User)"),
        ("--enable-collisions", "LINK", f"{pair} always check a pair"),
        (
            "--spheres",
            ("LINK", "X,Y,Z,R"),
            "spheres of a link, centre and radius [m]",
        ),
    )
    for option, form, meaning in several:
        add_repeatable(parser, option, form, meaning, nargs="+")


def with_parts(text: SrdfText, arguments: argparse.Namespace, robot: RobotModel | None) -> SrdfText:
    """Return the text with the parts of the options; an existing group gets the new members.

    Raises:
        RobotSemanticsError: an option's words have the wrong form.
    """
    elements = list(_virtual_joint(text, arguments, robot))
    there = {group.name for group in text.semantic.groups}
    for name, members in _groups(arguments).items():
        if name in there:
            text = text.extend_group(name, members)
        else:
            elements.append(srdf_new.group(name, members))
    elements += [_state(words) for words in arguments.state]
    elements += [_end_effector(word) for word in arguments.end_effector]
    elements += [srdf_new.passive_joint(name) for name in arguments.passive_joint]
    elements += [srdf_new.disable_default_collisions(link) for link in arguments.disable_default_collisions]
    for joint, name, value in arguments.joint_property:
        if any((item.joint_name, item.property_name) == (joint, name) for item in text.semantic.joint_properties):
            text = text.remove("joint property", joint, name)
        elements.append(srdf_new.joint_property(joint, name, value))
    for link, *spheres in arguments.spheres:
        if any(item.link == link for item in text.semantic.link_spheres):
            text = text.remove("link with spheres", link)
        elements.append(srdf_new.link_spheres(link, [_sphere(word) for word in spheres]))
    text = text.add(elements).enable_collisions(dict(_pairs(arguments.enable_collisions, "--enable-collisions")))
    return text.disable_collisions(dict(_pairs(arguments.disable_collisions, "--disable-collisions")))


def _sphere(word: str) -> tuple[float, ...]:
    numbers = numbers_or_none(word.replace(",", " "))
    if numbers is None or len(numbers) != 4:
        raise UsageError(f"--spheres takes LINK X,Y,Z,R..., not '{word}'")
    return numbers


def _virtual_joint(text: SrdfText, arguments: argparse.Namespace, robot: RobotModel | None) -> Iterator[NewElement]:
    kind = arguments.virtual_joint
    if kind is None:
        if arguments.parent_frame or arguments.virtual_joint_name:
            raise UsageError("--parent-frame and --virtual-joint-name need --virtual-joint TYPE")
        return
    if robot is None:
        raise RobotSemanticsError(f"{text.xml.source}: --virtual-joint needs --urdf, which has the root link")
    frame = arguments.parent_frame or srdf_new.VIRTUAL_JOINT_FRAMES[kind]
    yield srdf_new.virtual_joint(arguments.virtual_joint_name or f"{frame}_joint", kind, frame, robot.root_link)


def _groups(arguments: argparse.Namespace) -> dict[str, list[NewElement]]:
    found: dict[str, list[NewElement]] = {}
    for name, chains in _named_lists(arguments.chain, "--chain", "NAME=BASE..TIP"):
        ends = [pair_of(chain, "..", "--chain", "NAME=BASE..TIP") for chain in chains]
        found.setdefault(name, []).extend(srdf_new.group_members(chains=ends))
    for name, joints in _named_lists(arguments.joints, "--joints", "NAME=J1,J2"):
        found.setdefault(name, []).extend(srdf_new.group_members(joints=joints))
    for name, links in _named_lists(arguments.links, "--links", "NAME=L1,L2"):
        found.setdefault(name, []).extend(srdf_new.group_members(links=links))
    for name, subgroups in _named_lists(arguments.subgroups, "--subgroups", "NAME=G1,G2"):
        found.setdefault(name, []).extend(srdf_new.group_members(subgroups=subgroups))
    return found


def _named_lists(words: list[list[str]], option: str, form: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the members of each use of an option; commas and spaces separate the members."""
    for first, *others in words:
        name, members = pair_of(first, "=", option, form)
        listed = [member.strip() for part in (members, *others) for member in part.split(",")]
        if not all(listed) or any("=" in part for part in others):
            raise UsageError(f"{option} takes {form}, not '{' '.join((first, *others))}'")
        yield name, listed


def _state(words: list[str]) -> NewElement:
    group, name = pair_of(words[0], "/", "--state", "GROUP/NAME JOINT=VALUE...")
    values: dict[str, tuple[float, ...]] = {}
    for word in words[1:]:
        joint, text = pair_of(word, "=", "--state", "GROUP/NAME JOINT=VALUE...")
        numbers = numbers_or_none(text.replace(",", " "))
        if numbers is None or joint in values:
            problem = "is given twice" if numbers is not None else f"takes finite numbers, not '{text}'"
            raise UsageError(f"--state {words[0]}: joint '{joint}' {problem}")
        values[joint] = numbers
    return srdf_new.group_state(name, group, values)


def _end_effector(word: str) -> NewElement:
    form = "NAME=GROUP,PARENT_LINK[,PARENT_GROUP]"
    name, rest = pair_of(word, "=", "--end-effector", form)
    parts = [part.strip() for part in rest.split(",")]
    if not 2 <= len(parts) <= 3 or not all(parts):
        raise UsageError(f"--end-effector takes {form}, not '{word}'")
    return srdf_new.end_effector(name, *parts)


def _pairs(options: list[list[str]], option: str) -> Iterator[tuple[LinkPair, str | None]]:
    for words in options:
        if not 2 <= len(words) <= 3:
            raise UsageError(f"{option} takes LINK1 LINK2 [REASON], not '{' '.join(words)}'")
        yield LinkPair.of(words[0], words[1]), words[2] if len(words) == 3 else None
