# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics srdf`: create and change SRDF files without the Setup Assistant, checked."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.base.files import declared_utf8, resolved
from robot_semantics.base.names import LinkPair, frame_name
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.argument_values import DescriptionArgument, add_repeatable, pair_of
from robot_semantics.cli.frame.command import Command, UsageError
from robot_semantics.cli.frame.outputs import SRDF_ENDINGS, add_result, put_result, write_files
from robot_semantics.cli.frame.printing import add_json_argument, print_note, print_result
from robot_semantics.cli.frame.problems import print_problems
from robot_semantics.model.authoring import URDF_REFERENCES, check_change, rename_in_urdf
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf import new as srdf_new
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.srdf.table import VIRTUAL_JOINT_TYPES
from robot_semantics.xml.edit import NewElement, XmlText
from robot_semantics.xml.numbers import numbers_or_none
from robot_semantics.xml.reader import read_text

if TYPE_CHECKING:
    from robot_semantics.transforms.arrays import FloatArray

# Command-line options for SRDF parts: virtual joint, groups, end effectors, states and more.


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


def check_forms(arguments: argparse.Namespace) -> None:
    """Check the forms of the words that define parts, before a file is read.

    Raises:
        UsageError: a word has the wrong form.
    """
    if arguments.virtual_joint is None and (arguments.parent_frame or arguments.virtual_joint_name):
        raise UsageError("--parent-frame and --virtual-joint-name need --virtual-joint TYPE")
    _groups(arguments)
    for words in arguments.state:
        _state(words)
    for word in arguments.end_effector:
        _end_effector(word)
    for _, *spheres in arguments.spheres:
        for word in spheres:
            _sphere(word)
    for tag in PAIRS:
        list(_pairs(getattr(arguments, tag), _option(tag)))


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
        return
    if robot is None:
        raise RobotSemanticsError(f"{text.xml.source}: --virtual-joint needs --urdf, which has the root link")
    frame = frame_name(arguments.parent_frame or "") or srdf_new.VIRTUAL_JOINT_FRAMES[kind]
    yield srdf_new.virtual_joint(arguments.virtual_joint_name or f"{frame}_joint", kind, frame, robot.root_link)


def _groups(arguments: argparse.Namespace) -> dict[str, list[NewElement]]:
    elements: dict[str, list[NewElement]] = {}
    for name, chains in _named_lists(arguments.chain, "--chain", "NAME=BASE..TIP"):
        ends = [pair_of(chain, "..", "--chain", "NAME=BASE..TIP") for chain in chains]
        elements.setdefault(name, []).extend(srdf_new.group_members(chains=ends))
    for name, joints in _named_lists(arguments.joints, "--joints", "NAME=J1,J2"):
        elements.setdefault(name, []).extend(srdf_new.group_members(joints=joints))
    for name, links in _named_lists(arguments.links, "--links", "NAME=L1,L2"):
        elements.setdefault(name, []).extend(srdf_new.group_members(links=links))
    for name, subgroups in _named_lists(arguments.subgroups, "--subgroups", "NAME=G1,G2"):
        elements.setdefault(name, []).extend(srdf_new.group_members(subgroups=subgroups))
    return elements


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


KINDS = ("link", "joint", "group", "end-effector", "state", "frame")
"""Kinds of things that can be renamed."""


def _new_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("urdf", metavar="URDF", help="URDF, plain or xacro")
    add_result(parser, SRDF_ENDINGS, on_stdout=True, text="SRDF to write")
    parser.add_argument("--suggest", action="store_true", help="add the parts that the studio suggests")
    _add_robot_arguments(parser)
    add_part_arguments(parser)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_file_arguments(parser)
    add_part_arguments(parser)


REMOVABLE: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("--virtual-joint", ("NAME",), "virtual joint"),
    ("--passive-joint", ("JOINT",), "passive joint"),
    ("--state", ("GROUP/NAME",), "state"),
    ("--end-effector", ("NAME",), "end effector"),
    ("--group", ("NAME",), "group"),
    ("--joint-property", ("JOINT", "PROPERTY"), "joint property"),
    ("--disable-default-collisions", ("LINK",), "link disabled by default"),
    ("--spheres", ("LINK",), "link with spheres"),
)
"""Removable parts: the option, its words, and the kind of part (`robot_semantics.srdf.edit.PARTS`)."""

PAIRS = ("disable_collisions", "enable_collisions")


def _remove_arguments(parser: argparse.ArgumentParser) -> None:
    add_file_arguments(parser)
    pairs = ((_option(tag), ("LINK1", "LINK2"), f"element <{tag}> of a pair") for tag in PAIRS)
    for option, words, kind in (*REMOVABLE, *pairs):
        add_repeatable(parser, option, words, f"remove the {kind}", nargs=len(words))


def _option(tag: str) -> str:
    return "--" + tag.replace("_", "-")


def _rename_arguments(parser: argparse.ArgumentParser) -> None:
    add_file_arguments(parser)
    parser.add_argument("kind", choices=KINDS, metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("old", metavar="OLD", help="old name")
    parser.add_argument("new", metavar="NEW", help="new name")
    parser.add_argument("--in-urdf", action="store_true", help="rename it in the URDF also")


def add_file_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the SRDF to change, and the robot for the check of the change."""
    parser.add_argument("srdf", metavar="S.srdf", help="SRDF to change")
    inputs.add_urdf_option(parser, "robot of the SRDF, to check the change", several=False)
    add_result(parser, SRDF_ENDINGS, on_stdout=True, in_place=True)
    _add_robot_arguments(parser)


def _add_robot_arguments(parser: argparse.ArgumentParser) -> None:
    inputs.add_reader_options(parser)
    add_json_argument(parser)


def _new(arguments: argparse.Namespace) -> None:
    check_forms(arguments)
    robot = inputs.read_robot_files(arguments, arguments.urdf)
    text = with_parts(SrdfText.empty(robot.name, arguments.output or "<new>"), arguments, robot)
    added: Sequence[str] = ()
    failed: Sequence[str] = ()
    if arguments.suggest:
        text, added, failed = _with_suggestions(arguments, text, robot)
    inputs.print_diagnostics(check_change(None, text, robot))
    put_result(arguments, bytes(text), printed=declared_utf8(str(text)))
    if arguments.json:
        written = [] if arguments.dry_run else [arguments.output]
        print_result({"written": written, "added": [*added], "not_added": [*failed]})


def _with_suggestions(
    arguments: argparse.Namespace, text: SrdfText, robot: RobotModel
) -> tuple[SrdfText, Sequence[str], Sequence[str]]:
    """Return the text with all suggested parts, their titles, and the problems of those that were not added.

    Poses are free of collision if the extra for it is installed.
    """
    # Imports here: the other operations start faster.
    from robot_semantics.collision.poses import PoseCollisions
    from robot_semantics.model.resources import PackageResolver
    from robot_semantics.viewer.suggestions import accept_all

    poses = None
    try:
        from robot_semantics.collision.pieces import pieces_of

        pieces = pieces_of(robot, PackageResolver(arguments.package_path), Diagnostics())
        poses = PoseCollisions(robot, pieces) if pieces else None
    except RobotSemanticsError as error:
        print_note(f"the suggested poses are not checked for collisions: {error}")

    def free_pose(model: RobotModel, q: FloatArray, joints: Collection[str]) -> FloatArray:
        pose = q if poses is None else poses.free_positions(model, q, joints)
        if pose is None:
            raise RobotSemanticsError("no pose free of collision was found")
        return pose

    srdf_text, added, failed = accept_all(robot, text, free_pose)
    for title in added:
        print_note(f"added: {title}")
    for problem in failed:
        print_note(f"not added: {problem}")
    return srdf_text, added, failed


def _add(arguments: argparse.Namespace) -> None:
    check_forms(arguments)
    before, robot = SrdfText.from_file(arguments.srdf), known_robot(arguments)
    finish(arguments, before, with_parts(before, arguments, robot), robot)


def _remove(arguments: argparse.Namespace) -> None:
    for (word,) in arguments.state:
        pair_of(word, "/", "--state", "GROUP/NAME")
    before, robot = SrdfText.from_file(arguments.srdf), known_robot(arguments)
    text = before
    for option, _, kind in REMOVABLE:
        for words in getattr(arguments, option.removeprefix("--").replace("-", "_")):
            text = text.remove(kind, *(pair_of(words[0], "/", option, "GROUP/NAME") if kind == "state" else words))
    for tag in PAIRS:
        text = text.remove_pairs(tag, [LinkPair.of(*pair) for pair in getattr(arguments, tag)])
    finish(arguments, before, text, robot)


def _rename(arguments: argparse.Namespace) -> None:
    kind, old, new = arguments.kind, arguments.old, arguments.new
    if kind == "state":
        pair_of(old, "/", "rename state", "GROUP/NAME")
    if arguments.in_urdf and (arguments.urdf is None or kind not in URDF_REFERENCES):
        raise UsageError("--in-urdf needs --urdf, and a link or a joint to rename")
    if arguments.in_urdf and not (arguments.in_place or arguments.dry_run):
        raise UsageError("--in-urdf changes two files: give --in-place or --dry-run")
    before = SrdfText.from_file(arguments.srdf)
    if kind == "state":
        group, state = pair_of(old, "/", "rename state", "GROUP/NAME")
        renamed = (state, new)
        text = before.rename_state(group, state, new)
    else:
        renamed = (old, new)
        text = before.rename(kind.replace("-", "_"), old, new)
    if not arguments.in_urdf:
        robot = known_robot(arguments)
        if text is before:
            raise UnknownNameError(kind, old, before.mentioned(kind.replace("-", "_")))
        finish(arguments, before, text, robot, renamed)
        return
    notes = Diagnostics()
    file = _robot_file(arguments)
    urdf = rename_in_urdf(XmlText(read_text(file), file), kind, old, new, notes)
    robot = robot_from_text(urdf.utf8.decode(), strict=False, urdf_source=file, implicit_links=arguments.implicit_links)
    robot_before = inputs.read_robot_files(arguments, file)
    found = check_change(before, text, robot, robot_before, renamed)
    # Report what the renaming left: `check` does not know the old name.
    print_problems(notes)
    inputs.print_diagnostics(found)
    old = {Path(file): read_text(file), Path(arguments.srdf): bytes(before)}
    new = {Path(file): urdf.original, Path(arguments.srdf): bytes(text)}
    written = write_files(arguments, new)
    _print_change(arguments, old != new, [*map(str, new)] if written else [])


def finish(
    arguments: argparse.Namespace,
    before: SrdfText,
    text: SrdfText,
    robot: RobotModel | None,
    renamed: tuple[str, str] | None = None,
) -> None:
    """Check the change and write or print it; an unchanged file is not written.

    Raises:
        DescriptionError: the change adds an error.
    """
    inputs.print_diagnostics(check_change(before, text, robot, renamed=renamed))
    is_changed = bytes(text) != bytes(before)
    target = arguments.srdf if arguments.in_place else arguments.output
    if text is not before or not arguments.in_place or arguments.dry_run:
        put_result(arguments, bytes(text), arguments.srdf, printed=declared_utf8(str(text)))
    else:
        target = None
    _print_change(arguments, is_changed, [] if target is None or arguments.dry_run else [target])


def _print_change(arguments: argparse.Namespace, is_changed: bool, written: Sequence[str]) -> None:
    """Print the result of a change as JSON on request; nothing for people, who get the document."""
    if arguments.json:
        print_result({"changed": is_changed, "written": [*written]})


def known_robot(arguments: argparse.Namespace) -> RobotModel | None:
    """Return the robot of ``--urdf``; without it, print a note on the consequences."""
    if arguments.urdf is not None:
        return inputs.read_robot_files(arguments, _robot_file(arguments))
    print_note("note: without --urdf, names of links and joints are not checked")
    return None


def _robot_file(arguments: argparse.Namespace) -> str:
    """Return the URDF of ``--urdf``; its SRDF can only be the one that is changed.

    Raises:
        UsageError: it names another SRDF.
    """
    robot: DescriptionArgument = arguments.urdf
    if robot.srdf is not None and resolved(robot.srdf) != resolved(arguments.srdf):
        raise UsageError(f"--urdf '{robot}': the SRDF is {arguments.srdf}")
    return robot.urdf


COMMAND = Command(
    operations={
        "new": Command(
            _new_arguments,
            _new,
            "make an SRDF for a robot",
            examples=(
                "robot_semantics srdf new robot.urdf -o new.srdf --virtual-joint fixed --chain a=base_link..wrist_link",
                "robot_semantics srdf new robot.urdf --joints hand=left_finger_joint --end-effector e=hand,wrist_link",
            ),
        ),
        "add": Command(
            _add_arguments,
            _add,
            "add parts to an SRDF",
            examples=(
                "robot_semantics srdf add robot.srdf --urdf robot.urdf --state arm/low lift_joint=0 -o more.srdf",
            ),
        ),
        "remove": Command(
            _remove_arguments,
            _remove,
            "remove parts of an SRDF",
            examples=("robot_semantics srdf remove robot.srdf --urdf robot.urdf --state arm/reach -o less.srdf",),
        ),
        "rename": Command(
            _rename_arguments,
            _rename,
            "rename a thing and every reference to it; a state is GROUP/NAME, its new name is NAME",
            examples=(
                "robot_semantics srdf rename robot.srdf group arm limb --urdf robot.urdf -o limb.srdf",
                "robot_semantics srdf rename robot.srdf joint elbow_joint elbow --urdf robot.urdf --in-urdf --in-place",
            ),
        ),
    },
    examples=(
        "robot_semantics srdf new robot.urdf -o a.srdf --chain arm=base_link..wrist_link --state arm/up lift_joint=0",
        "robot_semantics srdf rename a.srdf state arm/up rest --urdf robot.urdf --in-place",
    ),
)
