# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The bring-up check: YAML files against URDF and SRDF, from texts, all problems together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

from robot_semantics.base.diagnostics import Diagnostic, Diagnostics, SourcePlace
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.lru_cache import LruCache
from robot_semantics.base.yaml_reader import MAX_BYTES, YamlNode, parse_yaml
from robot_semantics.bringup import joint_limits, moveit_controllers, name_checks, other_sections, ros2_controllers
from robot_semantics.bringup.configuration import WORDS, Configuration, Rule, Section, sections_of, substitutions
from robot_semantics.bringup.description import check_chosen, choose_descriptions
from robot_semantics.model.resolve import resolve_urdf
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.reader import parse_srdf
from robot_semantics.srdf.tree import SrdfDocument
from robot_semantics.urdf.control_tree import ControlBlock
from robot_semantics.urdf.reader import parse_urdf
from robot_semantics.xml.document import XmlDocument
from robot_semantics.xml.document_kind import DocumentKind, kind_and_name
from robot_semantics.xml.reader import parse_xml

_Tree = TypeVar("_Tree")

ENDINGS = (".yaml", ".yml")
RULES: tuple[Rule, ...] = (
    *name_checks.RULES,
    *joint_limits.RULES,
    *moveit_controllers.RULES,
    *ros2_controllers.RULES,
    *other_sections.RULES,
)
_TEMPLATE = re.compile(rb"\{\{|\{%|\$\{")


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
    known = _READ.get((source, data))
    if known is None:
        found = Diagnostics()
        root = _root(data, source, found)
        sections = () if root is None else tuple(sections_of(root))
        known = YamlText(_without_xacro(root, sections, found) if root and sections else (), tuple(found), root)
        _READ.put((source, data), known, len(data))
    return known


def _root(text: bytes, source: str, found: Diagnostics) -> YamlNode | None:
    """Return the content of a YAML text; None if it is not read."""
    place = SourcePlace(source)
    try:
        if all(line.startswith(b"#") or line in (b"", b"---") for line in map(bytes.strip, text.splitlines())):
            # The Setup Assistant and MoveIt's launch files end at an empty file.
            found.warning("empty-document", "the text is empty", place)
        elif len(text) > MAX_BYTES:
            found.error("too-large", f"the text is longer than {MAX_BYTES:,} bytes, the limit", place)
        elif WORDS.search(text.replace(b"\0", b"")):  # UTF-16 has a zero beside each letter.
            return parse_yaml(text, source, warnings=found)
    except DescriptionError as error:
        if _TEMPLATE.search(text):
            found.note("substitution", "this file is a template and is not checked", place)
        else:
            found.extend(error.diagnostics)
    return None


def _without_xacro(root: YamlNode, sections: tuple[Section, ...], found: Diagnostics) -> tuple[Section, ...]:
    """Report substitutions once; return the sections, or none if the file is written for a xacro."""
    computed = list(substitutions(root))
    tagged = next((node for node in computed if node.tag), None)
    if tagged is not None:
        message = f"the tag '{tagged.tag}' is of xacro, so this file is not checked"
        found.note("substitution", message, tagged.place)
        return ()
    if computed:
        message = f"values with a substitution, as '{computed[0].text}', are not checked"
        found.note("substitution", message, computed[0].place)
    return sections


def check_sections(
    sections: Iterable[Section],
    robot: RobotModel | None,
    blocks: tuple[ControlBlock, ...],
    diagnostics: Diagnostics,
) -> None:
    """Report the problems of YAML sections against a robot; without a robot, names are not checked."""
    configuration = Configuration(robot, blocks, tuple(sections))
    for problem in (problem for rule in RULES for problem in rule(configuration)):
        diagnostics.add(*problem)


class FileReaders(NamedTuple):
    """How a check reads a file by its name; each reader may raise a `DescriptionError`."""

    document: Callable[[str], XmlDocument]
    robot: Callable[[str], RobotModel | None]
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


def check_files(
    files: Iterable[str],
    read: FileReaders,
    found: Diagnostics,
    *,
    urdf: str | None = None,
    srdf: str | None = None,
    by_name: bool = False,
    resolver: PackageResolver | None = None,
) -> CheckedFiles:
    """Check URDF, SRDF and YAML files together; those that belong together are chosen by `choose_descriptions`.

    The endings ``.yaml`` and ``.yml`` mean YAML; the content tells the other kinds.
    """

    def tree(reader: Callable[[str], _Tree], file: str) -> _Tree | None:
        try:
            return reader(file)
        except DescriptionError as error:
            found.extend_new(error.diagnostics)
            return None

    own, names = list(dict.fromkeys(files)), {kind: dict[str, str]() for kind in DocumentKind}
    for file in (file for file in own if not is_yaml(file)):
        document = tree(read.document, file)
        if document is not None and (known := kind_and_name(document, file, found)) is not None:
            names[known[0]][file] = known[1]
    urdfs, srdfs = names[DocumentKind.URDF], names[DocumentKind.SRDF]
    choice = choose_descriptions(urdfs, srdfs, urdf, srdf, by_name=by_name)
    robots = {file: tree(read.robot, file) for file in dict.fromkeys([*filter(None, [urdf]), *urdfs])}
    semantics = {file: tree(read.semantic, file) for file in dict.fromkeys([*srdfs, *filter(None, [srdf])])}
    checked = check_chosen(choice, robots, semantics, found, resolver=resolver)
    sections: list[Section] = []
    for file in filter(is_yaml, own):
        text = tree(read.yaml, file) or YamlText()
        found.extend(text.problems)
        sections += text.sections
    check_sections(sections, checked.robot, checked.blocks, found)
    is_complete = bool(choice.urdf) or (not sections and srdfs.keys() <= choice.urdf_by_srdf.keys())
    return CheckedFiles(checked.robot, tuple(names[DocumentKind.USDF]), is_complete)


def check_texts(texts: Mapping[str, str | bytes], *, implicit_links: bool = False) -> list[Diagnostic]:
    """Check the texts of a robot together, each with its name: as `check_files`, with URDF and SRDF expanded.

    Without a URDF, names are not checked. Files that the texts name, such as meshes, are not read.
    """
    found = Diagnostics()

    def robot(name: str) -> RobotModel | None:
        return resolve_urdf(parse_urdf(texts[name], name, found), found, implicit_links=implicit_links)

    readers = FileReaders(
        lambda name: parse_xml(texts[name], name, forgiving=True),
        robot,
        lambda name: parse_srdf(texts[name], name, found),
        lambda name: read_sections(texts[name], name),
    )
    check_files(texts, readers, found)
    return list(found)
