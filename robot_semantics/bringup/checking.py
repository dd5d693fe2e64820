# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The bring-up check: YAML files against URDF and SRDF, from texts, all problems together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

from robot_semantics.base.caches import LruCache
from robot_semantics.base.diagnostic import Diagnostic, Severity, SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.names import is_near, quoted
from robot_semantics.base.pattern import pattern
from robot_semantics.base.yaml_reader import MAX_BYTES, YamlNode, parse_yaml
from robot_semantics.bringup import name_checks, ros2_controllers
from robot_semantics.bringup.configuration import (
    WORDS,
    Configuration,
    ConfigurationProblem,
    Rule,
    Section,
    SectionKind,
    has_substitution,
    sections_of,
    substitutions,
    with_nested_parameters,
)
from robot_semantics.bringup.decimal_numbers import doubles, doubles_of_entries, number_in
from robot_semantics.bringup.description import check_chosen, choose_descriptions, is_within, report_not_compared
from robot_semantics.bringup.name_checks import (
    ConfiguredName,
    by_name,
    joints_left_out,
    last_name,
    severity_of,
    texts_of,
    unknown_names,
)
from robot_semantics.model.loading import NAMED_FILES, RobotOptions
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.model.semantic_names import DeclaredNames
from robot_semantics.srdf.table import parse_srdf
from robot_semantics.srdf.tree import SrdfDocument
from robot_semantics.urdf.control_tree import ControlBlock
from robot_semantics.urdf.reader import parse_urdf
from robot_semantics.urdf.tree import UrdfRobot
from robot_semantics.xml.document import XmlDocument
from robot_semantics.xml.document_kind import DocumentKind, kind_and_name
from robot_semantics.xml.reader import parse_xml

# Rules of MoveIt's controllers: ``controller_names`` and their maps of MoveIt 2, ``controller_list`` of MoveIt 1.


TYPES = ("FollowJointTrajectory", "GripperCommand", "ParallelGripperCommand")
REQUIRED = ("type", "action_ns", "joints")


class ControllerList(NamedTuple):
    """The controllers of MoveIt 2 in a file: their names, and a map that describes them."""

    names: list[ConfiguredName]
    node: YamlNode


def _lists(configuration: Configuration) -> Iterator[ControllerList]:
    for section in configuration.of(SectionKind.MOVEIT_CONTROLLERS):
        if isinstance(section.node.value, dict):
            yield ControllerList(texts_of(section.node.get("controller_names")), section.node)


def _controllers(configuration: Configuration) -> Iterator[tuple[str, YamlNode]]:
    """Yield the names of controllers and their entries."""
    for listed in _lists(configuration):
        names = {use.name for use in listed.names}
        yield from ((name, node) for name, node in listed.node.entries.items() if name in names)
    for section in configuration.of(SectionKind.MOVEIT_CONTROLLERS):
        for item in section.node.items:
            name = item.get("name")
            yield ("" if name is None else name.text), item


def _controllers_are_described(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for listed in _lists(configuration):
        described = tuple(name for name, node in listed.node.entries.items() if node.entries)
        for use in listed.names:
            if use.name not in described:
                message = f"controller '{use.name}' is not described in this file"
                code = "unknown-controller"
                yield ConfigurationProblem(Severity.ERROR, code, message, use.place, use.name, described)


def _controllers_are_named(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for listed in _lists(configuration):
        stated, names = listed.node.get("controller_names"), {use.name for use in listed.names}
        for name, node in listed.node.entries.items() if stated is not None and not any(substitutions(stated)) else ():
            if "joints" in node.entries and name not in names:
                message = f"controller_names does not have controller '{name}', so MoveIt ignores it"
                yield ConfigurationProblem(Severity.WARNING, "unknown-controller", message, node.key_place)


def _keys_are_present(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for listed in _lists(configuration):
        for use in listed.names:
            node = listed.node.get(use.name)
            for key in REQUIRED if node is not None and node.entries else ():
                if node is not None and key not in node.entries:
                    message = f"controller '{use.name}' has no {key}"
                    yield ConfigurationProblem(Severity.ERROR, "missing-key", message, node.key_place)


def _types_are_known(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for listed in _lists(configuration):
        for name, node in listed.node.entries.items():
            kind = node.get("type") if "joints" in node.entries else None
            if kind is not None and kind.text not in TYPES and not has_substitution(kind):
                message = f"the type of controller '{name}' should be {', '.join(TYPES)}, not '{kind.text}'"
                yield ConfigurationProblem(Severity.ERROR, "bad-value", message, kind.place, kind.text, TYPES)


def _joints_exist(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    controllers = list(_controllers(configuration))
    severities = {name: severity_of(alternatives) for name, alternatives in by_name(controllers).items()}
    uses = ((use, severities[name]) for name, node in controllers for use in texts_of(node.get("joints")))
    return unknown_names(uses, configuration.joint_names, "joint") if configuration.joint_names else iter(())


def _defaults_are_unique(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    first: dict[tuple[str, str], str] = {}
    for name, node in _controllers(configuration):
        default = node.get("default")
        if default is None or default.text.lower() != "true":
            continue
        for use in texts_of(node.get("joints")):
            other = first.setdefault((use.place.source, use.name), name)
            if other != name:
                message = f"joint '{use.name}' has two default controllers, '{other}' and '{name}'"
                yield ConfigurationProblem(Severity.WARNING, "controllers-overlap", message, use.place)


def _joints_are_served(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    sections = list(configuration.of(SectionKind.MOVEIT_CONTROLLERS))
    if not sections or any(found for section in sections for found in substitutions(section.node)):
        return
    served = {use.name for _, node in _controllers(configuration) for use in texts_of(node.get("joints"))}
    reported: set[str] = set()
    for group in sorted(configuration.groups.values(), key=lambda group: (len(group.joints), group.name)):
        wanted = [name for name in group.commandable_joints if name in configuration.joints]
        missing = [name for name in wanted if name not in served and name not in reported]
        if missing:
            reported.update(missing)
            names = ", ".join(f"'{name}'" for name in missing[:5]) + (" and more" if len(missing) > 5 else "")
            message = f"no controller of MoveIt moves {names} of group '{group.name}'"
            yield ConfigurationProblem(Severity.WARNING, "joint-not-served", message, sections[0].node.key_place)


def _alternatives_have_the_same_joints(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    return joints_left_out(_controllers(configuration), configuration.joints)


def _controllers_run(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    """Report a misspelt name of a controller of ros2_control; other names may be a driver's."""
    running = {last_name(name) for name, _ in configuration.entries(SectionKind.CONTROLLERS)}
    for listed in _lists(configuration):
        for use in listed.names if running else ():
            name = last_name(use.name)
            if name not in running and is_near(name, running):
                message = f"ros2_control has no controller '{use.name}'"
                valid = tuple(running)
                yield ConfigurationProblem(Severity.WARNING, "unknown-controller", message, use.place, name, valid)


CONTROLLER_RULES: tuple[Rule, ...] = (
    _controllers_are_described,
    _controllers_are_named,
    _keys_are_present,
    _types_are_known,
    _joints_exist,
    _defaults_are_unique,
    _joints_are_served,
    _alternatives_have_the_same_joints,
    _controllers_run,
)


# Rules of MoveIt's joint limits: ``joint_limits: {JOINT: {max_velocity: 1.0, ...}}``.


LIMITED = ("velocity", "acceleration", "deceleration", "jerk")
"""Quantities with ``has_X_limits`` and ``max_X``."""

DOUBLES = ("min_position", "max_position", *(f"max_{name}" for name in (*LIMITED, "effort")))
SCALING = ("default_velocity_scaling_factor", "default_acceleration_scaling_factor")
KEYS = (
    *DOUBLES,
    *(f"has_{name}_limits" for name in ("position", *LIMITED, "effort", "soft")),
    *("angle_wraparound", "k_position", "k_velocity", "soft_lower_limit", "soft_upper_limit"),
)
_BOOLEANS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_SHOWN = 5


def _boolean(node: YamlNode | None) -> bool | None:
    return _BOOLEANS.get(node.text.lower()) if node is not None and node.plain else None


def _keys_are_known(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for joint, entry in configuration.entries(SectionKind.JOINT_LIMITS):
        for key, node in entry.entries.items():
            if key not in KEYS:
                message = f"'{key}' of joint '{joint}' is not a key of joint limits; MoveIt ignores it"
                yield ConfigurationProblem(Severity.WARNING, "unknown-key", message, node.key_place, key, KEYS)


def _limits_are_doubles(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    yield from doubles_of_entries(configuration, SectionKind.JOINT_LIMITS, "joint", DOUBLES)
    for section in configuration.of(SectionKind.JOINT_LIMITS):
        around = section.around.entries
        yield from doubles((key, around[key]) for key in SCALING if key in around)


def _switches_are_booleans(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for joint, entry in configuration.entries(SectionKind.JOINT_LIMITS):
        for key, node in entry.entries.items():
            if key.startswith("has_") and key in KEYS and _boolean(node) is None and not has_substitution(node):
                message = f"{key} of joint '{joint}' should be true or false, not '{node.text}'"
                yield ConfigurationProblem(Severity.ERROR, "bad-value", message, node.place)


def _limits_and_switches_agree(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for joint, entry in configuration.entries(SectionKind.JOINT_LIMITS):
        for name in LIMITED:
            switch, limit = entry.get(f"has_{name}_limits"), entry.get(f"max_{name}")
            value = number_in(limit)
            if limit is None:
                if switch is not None and _boolean(switch):
                    message = f"joint '{joint}' has has_{name}_limits: true, but no max_{name}"
                    yield ConfigurationProblem(Severity.ERROR, "limit-without-value", message, switch.key_place)
            elif switch is None:
                message = f"MoveIt ignores max_{name} of joint '{joint}' without has_{name}_limits: true"
                yield ConfigurationProblem(Severity.WARNING, "limit-not-used", message, limit.key_place)
            elif _boolean(switch) and value is not None and value <= 0.0 and name != "deceleration":
                message = f"max_{name} of joint '{joint}' should be above 0, not {value:g}"
                yield ConfigurationProblem(Severity.ERROR, "bad-number", message, limit.place)


def _positions_are_ordered(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for joint, entry in configuration.entries(SectionKind.JOINT_LIMITS):
        node = entry.get("min_position")
        lower, upper = number_in(node), number_in(entry.get("max_position"))
        if node is not None and lower is not None and upper is not None and lower > upper:
            message = f"min_position {lower:g} of joint '{joint}' is above max_position {upper:g}"
            yield ConfigurationProblem(Severity.ERROR, "limits-crossed", message, node.place)


def _limits_are_within_the_urdf(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for name, entry in configuration.entries(SectionKind.JOINT_LIMITS):
        joint = configuration.joints.get(name)
        if joint is None:
            continue
        limits = joint.limits
        ranges = {
            "min_position": (limits.lower, limits.upper),
            "max_position": (limits.lower, limits.upper),
            "max_velocity": (-limits.velocity, limits.velocity),
        }
        for key, (lower, upper) in ranges.items():
            node = entry.get(key)
            value = number_in(node)
            if node is not None and value is not None and not is_within(value, lower, upper):
                message = f"{key} {value:g} of joint '{name}' is outside the URDF's {lower + 0.0:g} to {upper + 0.0:g}"
                yield ConfigurationProblem(Severity.WARNING, "limit-above-urdf", message, node.place)


def _accelerations_are_limited(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    sections = list(configuration.of(SectionKind.JOINT_LIMITS))
    planned = {name for group in configuration.groups.values() for name in group.commandable_joints}
    limited = {
        name
        for name, entry in configuration.entries(SectionKind.JOINT_LIMITS)
        if _boolean(entry.get("has_acceleration_limits"))
    }
    # A name that the robot does not have, or a computed key, has a message of its own.
    if not sections or not set(sections[0].node.entries) <= configuration.joints.keys():
        return
    missing = [joint for joint in configuration.joints if joint in planned and joint not in limited]
    if missing:
        place = _place_of_acceleration(sections[0], missing)
        names = quoted(missing, _SHOWN)
        message = f"joints of groups have no acceleration limit, so MoveIt cannot time a plan: {names}"
        yield ConfigurationProblem(Severity.WARNING, "no-acceleration-limit", message, place)


def _place_of_acceleration(section: Section, missing: list[str]) -> SourcePlace:
    for name in missing:
        entry = section.node.entries.get(name)
        if entry is not None:
            switch = entry.get("has_acceleration_limits")
            return entry.key_place if switch is None else switch.key_place
    return section.node.key_place


JOINT_LIMIT_RULES: tuple[Rule, ...] = (
    _keys_are_known,
    _limits_are_doubles,
    _switches_are_booleans,
    _limits_and_switches_agree,
    _positions_are_ordered,
    _limits_are_within_the_urdf,
    _accelerations_are_limited,
)


# Rules of the small sections: solvers of groups, initial positions, Cartesian limits and sensors.


SOLVER_DOUBLES = ("kinematics_solver_search_resolution", "kinematics_solver_timeout")
_OF_CHAINS = pattern(r"kdl|trac|lma|ikfast|srv", re.IGNORECASE)
"""Names of the solvers that only accept a chain."""

CARTESIAN = ("max_trans_vel", "max_trans_acc", "max_trans_dec", "max_rot_vel")
"""Limits that the Pilz planner reads; none has a default."""


def _solved_group_is_a_chain(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for name, entry in configuration.entries(SectionKind.KINEMATICS):
        group, solver = configuration.groups.get(name), entry.get("kinematics_solver")
        if group is None or solver is None or group.is_chain or not _OF_CHAINS.search(solver.text):
            continue
        message = f"group '{name}' is not a chain, so the solver '{solver.text}' does not accept it"
        yield ConfigurationProblem(Severity.WARNING, "group-not-chain", message, entry.key_place)


def _solver_has_doubles(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    return doubles_of_entries(configuration, SectionKind.KINEMATICS, "group", SOLVER_DOUBLES)


def _positions_are_numbers(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    positions = configuration.entries(SectionKind.INITIAL_POSITIONS)
    found = doubles((f"the initial position of '{name}'", node) for name, node in positions)
    # A xacro copies the text, so an integer is a number there.
    return (problem for problem in found if problem.severity is Severity.ERROR)


def _positions_are_within_limits(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for name, node in configuration.entries(SectionKind.INITIAL_POSITIONS):
        joint, value = configuration.joints.get(name), number_in(node)
        if joint is not None and value is not None and not is_within(value, joint.limits.lower, joint.limits.upper):
            limits = f"{joint.limits.lower:g} to {joint.limits.upper:g}"
            message = f"the initial position {value:g} of joint '{name}' is outside its limits {limits}"
            yield ConfigurationProblem(Severity.WARNING, "outside-limits", message, node.place)


def _cartesian_limits_are_doubles(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    return doubles(configuration.entries(SectionKind.CARTESIAN_LIMITS))


def _cartesian_limits_are_complete(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for section in configuration.of(SectionKind.CARTESIAN_LIMITS):
        for key in CARTESIAN:
            if key not in section.node.entries:
                message = f"cartesian_limits has no {key}, so the Pilz planner does not start"
                yield ConfigurationProblem(Severity.WARNING, "missing-key", message, section.node.key_place)


def _sensors_are_described(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for section in configuration.of(SectionKind.SENSORS):
        described = tuple(name for name, node in section.around.entries.items() if "sensor_plugin" in node.entries)
        for use in texts_of(section.node):
            if use.name not in section.around.entries:
                message = f"sensor '{use.name}' is not described in this file"
                code = "unknown-sensor"
                yield ConfigurationProblem(Severity.WARNING, code, message, use.place, use.name, described)


OTHER_SECTION_RULES: tuple[Rule, ...] = (
    _solved_group_is_a_chain,
    _solver_has_doubles,
    _positions_are_numbers,
    _positions_are_within_limits,
    _cartesian_limits_are_doubles,
    _cartesian_limits_are_complete,
    _sensors_are_described,
)


_Source = TypeVar("_Source")
_Tree = TypeVar("_Tree")

ENDINGS = (".yaml", ".yml")
RULES: tuple[Rule, ...] = (
    *name_checks.RULES,
    *JOINT_LIMIT_RULES,
    *CONTROLLER_RULES,
    *ros2_controllers.RULES,
    *OTHER_SECTION_RULES,
)
_LINE = pattern(rb"[^\r\n]+")
_TEMPLATE = pattern(rb"\{\{|\{%|\$\{")


class YamlText(NamedTuple):
    """The known sections of a YAML text, its own problems, and its content; None if it is not read."""

    sections: tuple[Section, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
    root: YamlNode | None = None


_READ: LruCache[tuple[str, bytes], YamlText] = LruCache(64, most_weight=MAX_BYTES)
"""Texts that were read: an editor checks all files of a robot after each change of one."""


def is_yaml(name: str) -> bool:
    """Return True if the name of a file has an ending of YAML."""
    return Path(name).suffix in ENDINGS


def read_sections(text: str | bytes, source: str) -> YamlText:
    """Return the known sections of a YAML text, which every message calls `source`.

    A text that cannot have a known section is not read: it may be for another program, and to read it takes long.
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    known_sections = _READ.get((source, data))
    if known_sections is None:
        found = Diagnostics()
        root = _root(data, source, found)
        sections = () if root is None else tuple(sections_of(with_nested_parameters(root)))
        known_sections = YamlText(
            _without_xacro(root, sections, found) if root and sections else (), tuple(found), root
        )
        _READ.put((source, data), known_sections, len(data))
    return known_sections


def _root(text: bytes, source: str, diagnostics: Diagnostics) -> YamlNode | None:
    """Return the content of a YAML text; None if it is not read."""
    place = SourcePlace(source)
    try:
        lines = (line[0].strip() for line in _LINE.finditer(text))
        if all(line.startswith(b"#") or line in (b"", b"---") for line in lines):
            # The Setup Assistant and MoveIt's launch files end at an empty file.
            diagnostics.warning("empty-document", "the text is empty", place)
        elif len(text) > MAX_BYTES:
            diagnostics.error("too-large", f"the text is longer than {MAX_BYTES:,} bytes, the limit", place)
        elif WORDS.search(text.replace(b"\0", b"")):  # UTF-16 has a zero beside each letter.
            return parse_yaml(text, source, warnings=diagnostics)
    except DescriptionError as error:
        if _TEMPLATE.search(text):
            diagnostics.note("substitution", "this file is a template and is not checked", place)
        else:
            diagnostics.extend(error.diagnostics)
    return None


def _without_xacro(root: YamlNode, sections: tuple[Section, ...], diagnostics: Diagnostics) -> tuple[Section, ...]:
    """Report substitutions once; return the sections, or none if the file is written for a xacro."""
    computed = list(substitutions(root))
    tagged = next((node for node in computed if node.tag), None)
    if tagged is not None:
        message = f"the tag '{tagged.tag}' is of xacro, so this file is not checked"
        diagnostics.note("substitution", message, tagged.place)
        return ()
    if computed:
        message = f"values with a substitution, as '{computed[0].text}', are not checked"
        diagnostics.note("substitution", message, computed[0].place)
    return sections


def check_sections(
    sections: Iterable[Section],
    robot: RobotModel | None,
    blocks: tuple[ControlBlock, ...],
    diagnostics: Diagnostics,
    names: DeclaredNames | None = None,
) -> None:
    """Report the problems of YAML sections against a robot, or against the names of a description without one."""
    configuration = Configuration(robot, blocks, tuple(sections), names)
    for problem in (problem for rule in RULES for problem in rule(configuration)):
        diagnostics.add(*problem)


class FileReaders(NamedTuple):
    """How a check reads a file by its name; each reader may raise a `DescriptionError`.

    `robot` makes the robot of a URDF's content; None without a valid tree.
    """

    document: Callable[[str], XmlDocument]
    urdf: Callable[[str], UrdfRobot]
    robot: Callable[[UrdfRobot], RobotModel | None]
    semantic: Callable[[str], SrdfDocument]
    yaml: Callable[[str], YamlText]


class CheckedFiles(NamedTuple):
    """The result of a check.

    Attributes:
        robot: the robot of the other files; None if it is not certain.
        worlds: the USDF files, which are not checked yet.
        is_complete: False if names in an SRDF or YAML file are not checked, because its URDF is not certain.
    """

    robot: RobotModel | None
    worlds: tuple[str, ...]
    is_complete: bool


def check_description_files(
    files: Iterable[str],
    read: FileReaders,
    diagnostics: Diagnostics,
    *,
    urdf: str | None = None,
    srdf: str | None = None,
    by_name: bool = False,
    resolver: PackageResolver | None = None,
    options: RobotOptions = NAMED_FILES,
) -> CheckedFiles:
    """Check URDF, SRDF and YAML files together; those that belong together are chosen by `choose_descriptions`.

    The endings ``.yaml`` and ``.yml`` mean YAML; the content tells the other kinds.
    """

    def tree(reader: Callable[[_Source], _Tree], source: _Source) -> _Tree | None:
        try:
            return reader(source)
        except DescriptionError as error:
            diagnostics.extend_new(error.diagnostics)
            return None

    file_list = list(dict.fromkeys(files))
    documents = {file: tree(read.document, file) for file in file_list if not is_yaml(file)}
    names = _names_by_kind(documents, diagnostics)
    urdfs, srdfs = names[DocumentKind.URDF], names[DocumentKind.SRDF]
    choice = choose_descriptions(urdfs, srdfs, urdf, srdf, by_name=by_name)
    contents = {file: tree(read.urdf, file) for file in dict.fromkeys([*filter(None, [urdf]), *urdfs])}
    robots = {file: None if urdf is None else tree(read.robot, urdf) for file, urdf in contents.items()}
    semantics = {file: tree(read.semantic, file) for file in dict.fromkeys([*srdfs, *filter(None, [srdf])])}
    checked = check_chosen(choice, robots, semantics, diagnostics, resolver=resolver, urdfs=contents, options=options)
    sections: list[Section] = []
    configured: list[str] = []
    for file in filter(is_yaml, file_list):
        text = tree(read.yaml, file) or YamlText()
        diagnostics.extend(text.problems)
        sections += text.sections
        configured += [file] * bool(text.sections)
    check_sections(sections, checked.robot, checked.blocks, diagnostics, checked.names)
    if choice.urdf and checked.robot is None:
        report_not_compared(configured, choice.urdf, diagnostics, names=checked.names is not None)
        report_not_compared(names[DocumentKind.USDF], choice.urdf, diagnostics)
    if choice.srdf and semantics.get(choice.srdf) is None:
        report_not_compared(configured, choice.srdf, diagnostics)
    is_complete = bool(choice.urdf) or (not sections and srdfs.keys() <= choice.urdf_by_srdf.keys())
    return CheckedFiles(checked.robot, tuple(names[DocumentKind.USDF]), is_complete)


def _names_by_kind(
    documents: Mapping[str, XmlDocument | None], found: Diagnostics
) -> dict[DocumentKind, dict[str, str]]:
    """Return the name of the robot or world in each file, by the kind of the file."""
    names = {kind: dict[str, str]() for kind in DocumentKind}
    for file, document in documents.items():
        if document is not None and (known := kind_and_name(document, file, found)) is not None:
            names[known[0]][file] = known[1]
    for kind in (DocumentKind.URDF, DocumentKind.SRDF):
        # A file that cannot be read is of its ending's kind, if no other file is.
        ending = f".{kind.value.lower()}"
        unreadable = [file for file, document in documents.items() if document is None]
        names[kind] = names[kind] or {file: "" for file in unreadable if ending in Path(file).suffixes}
    return names


def check_texts(texts: Mapping[str, str | bytes], *, options: RobotOptions = NAMED_FILES) -> list[Diagnostic]:
    """Check the texts of a robot together, each with its name, as `check_description_files`, URDF and SRDF expanded.

    Without a URDF, names are not checked. Files that the texts name, such as meshes, are not read.
    """
    diagnostics = Diagnostics()

    readers = FileReaders(
        lambda name: parse_xml(texts[name], name, forgiving=True),
        lambda name: parse_urdf(texts[name], name, diagnostics),
        lambda urdf: options.resolve(urdf, diagnostics),
        lambda name: parse_srdf(texts[name], name, diagnostics),
        lambda name: read_sections(texts[name], name),
    )
    check_description_files(texts, readers, diagnostics, options=options)
    return list(diagnostics)
