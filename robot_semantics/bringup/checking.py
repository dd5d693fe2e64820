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

from robot_semantics.base.diagnostics import Diagnostic, Diagnostics, Severity, SourcePlace
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.lru_cache import LruCache
from robot_semantics.base.yaml_reader import MAX_BYTES, YamlNode, parse_yaml
from robot_semantics.bringup import joint_limits, moveit_controllers, name_checks, other_sections, ros2_controllers
from robot_semantics.bringup.configuration import Configuration, Rule, Section, sections_of, substitutions
from robot_semantics.bringup.description import check_chosen, choose_descriptions
from robot_semantics.model.resolve import resolve_urdf
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.reader import parse_srdf
from robot_semantics.urdf.control_tree import ControlBlock
from robot_semantics.urdf.reader import parse_urdf
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
    """The known sections of a YAML text, its own problems, and its content; None if it has none."""

    sections: tuple[Section, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
    root: YamlNode | None = None


_READ: LruCache[tuple[str, bytes], YamlText] = LruCache(64, most_weight=MAX_BYTES)
"""Texts that were read: an editor checks all files of a robot after each change of one."""


def is_yaml(name: str) -> bool:
    """Return True if the name of a file has an ending of YAML."""
    return Path(name).suffix in ENDINGS


def read_sections(text: str | bytes, source: str) -> YamlText:
    """Return the known sections of a YAML text, which every message calls `source`."""
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
    """Return the content of a YAML text; None if there is none."""
    place = SourcePlace(source)
    try:
        if all(line.startswith(b"#") or line in (b"", b"---") for line in map(bytes.strip, text.splitlines())):
            found.warning("empty-document", "the text is empty", place)
        elif len(text) > MAX_BYTES:
            found.error("too-large", f"the text is longer than {MAX_BYTES:,} bytes, the limit", place)
        else:
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
        if problem.severity is Severity.NOTE:
            diagnostics.note(problem.code, problem.message, problem.place)
        else:
            report = diagnostics.error if problem.severity is Severity.ERROR else diagnostics.warning
            report(problem.code, problem.message, problem.place, name=problem.name, valid=problem.valid)


def check_texts(texts: Mapping[str, str | bytes], *, implicit_links: bool = False) -> list[Diagnostic]:
    """Check the texts of a robot together: URDF and SRDF (expanded), and YAML, each with its name.

    The endings ``.yaml`` and ``.yml`` mean YAML; the content tells URDF from SRDF. The texts that belong together are
    those of `choose_descriptions`. Without a URDF, names are not checked. Files that the texts name, such as meshes,
    are not read.
    """
    found = Diagnostics()
    names: dict[DocumentKind, dict[str, str]] = {kind: {} for kind in DocumentKind}
    for name, text in texts.items():
        if not is_yaml(name) and (known := _kind(name, text, found)) is not None:
            names[known[0]][name] = known[1]

    def read(kind: DocumentKind, reader: Callable[[str | bytes, str], _Tree]) -> dict[str, _Tree | None]:
        """Return the trees of a kind; None for a text that is refused."""
        trees: dict[str, _Tree | None] = {}
        for name in names[kind]:
            try:
                trees[name] = reader(texts[name], name)
            except DescriptionError as error:
                trees[name] = None
                found.extend_new(error.diagnostics)
        return trees

    def robot_of(text: str | bytes, name: str) -> RobotModel | None:
        return resolve_urdf(parse_urdf(text, name, found), found, implicit_links=implicit_links)

    robots = read(DocumentKind.URDF, robot_of)
    semantics = read(DocumentKind.SRDF, lambda text, name: parse_srdf(text, name, found))
    choice = choose_descriptions(names[DocumentKind.URDF], names[DocumentKind.SRDF])
    checked = check_chosen(choice, robots, semantics, found)
    sections: list[Section] = []
    for name in filter(is_yaml, texts):
        yaml = read_sections(texts[name], name)
        found.extend(yaml.problems)
        sections += yaml.sections
    check_sections(sections, checked.robot, checked.blocks, found)
    return list(found)


def _kind(name: str, text: str | bytes, found: Diagnostics) -> tuple[DocumentKind, str] | None:
    """Return the kind of a text and the name of its robot; None for another text."""
    try:
        document = parse_xml(text, name, forgiving=True)
    except DescriptionError as error:
        found.extend(error.diagnostics)
        return None
    return kind_and_name(document, name, found)
