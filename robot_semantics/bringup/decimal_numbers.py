# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Numbers in YAML files that must have a decimal point.

MoveIt's launch files read YAML by version 1.1, and ROS parameters are typed: ``1`` is an integer there, and ``1e-3`` a
text. A node that declares the parameter as a double then ends with an exception.

Fixes change decimal points and misspelt names in place; all other bytes stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from robot_semantics.base.diagnostic import Diagnostic, Severity
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.pattern import pattern
from robot_semantics.base.yaml_reader import YamlNode, parse_yaml
from robot_semantics.bringup.configuration import Configuration, ConfigurationProblem, SectionKind, has_substitution
from robot_semantics.xml.numbers import one_line

CODE = "decimal-point"
_FINITE = pattern(r"[-+]?(?:\d[\d_]*\.[\d_]*|\.\d[\d_]*)(?:[eE][-+]\d+)?")
_DECIMAL = pattern(rf"{_FINITE.pattern}|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_OTHER = pattern(r"([-+]?(?:0|[1-9]\d*))(\.\d*)?(?:[eE]([-+]?)(\d+))?")


def decimal_text(text: str) -> str | None:
    """Return a number with the missing decimal point or sign of the exponent; None if it is not such a number."""
    found = _OTHER.fullmatch(text)
    if found is None or _DECIMAL.fullmatch(text):
        return None
    whole, fraction, sign, exponent = found.groups()
    return f"{whole}{fraction or '.0'}" + (f"e{sign or '+'}{exponent}" if exponent else "")


def number_in(node: YamlNode | None) -> float | None:
    """Return the finite number in a scalar; None if it has none or is computed elsewhere."""
    if node is None or not node.plain:
        return None
    text = decimal_text(node.text) or node.text
    if not _FINITE.fullmatch(text):
        return None
    return float(text.replace("_", ""))


def doubles(nodes: Iterator[tuple[str, YamlNode]]) -> Iterator[ConfigurationProblem]:
    """Yield the problems of scalars that must be doubles, each with its name in messages."""
    for what, node in nodes:
        if has_substitution(node):
            continue
        better = decimal_text(node.text) if node.plain else None
        if better is not None:
            message = f"{what} must be a decimal number, but '{node.text}' is not one in YAML; write {better}"
            yield ConfigurationProblem(Severity.WARNING, CODE, message, node.place)
        elif not node.plain or not _DECIMAL.fullmatch(node.text):
            message = f"{what} should be a number, not {_shown(node)}"
            yield ConfigurationProblem(Severity.ERROR, "bad-number", message, node.place)


def doubles_of_entries(
    configuration: Configuration, kind: SectionKind, what: str, keys: Sequence[str]
) -> Iterator[ConfigurationProblem]:
    """Yield the problems of doubles under known keys of the things that sections of a kind describe."""
    for name, entry in configuration.entries(kind):
        found = entry.entries
        yield from doubles((f"{key} of {what} '{name}'", found[key]) for key in keys if key in found)


def _shown(node: YamlNode) -> str:
    if node.entries or node.items:
        return "a map" if node.entries else "a list"
    return f"'{one_line(node.text)}'" + ("" if node.plain or not node.text else " in quotes")


_BEFORE_WORD = pattern(r"(?:&\S+\s+)?['\"]?")


def fixed_yaml(text: str, problems: Iterable[Diagnostic], source: str = "<yaml>") -> str:
    """Return a YAML text with the problems in `problems` fixed that have exactly one solution."""
    try:
        root = parse_yaml(text, source, warnings=Diagnostics())
    except DescriptionError:
        return text
    words = dict(_words(root))
    # Several problems may have one place: a value with an alias has them once for each use.
    fixes: dict[tuple[int, int], str] = {}
    for problem in problems:
        place = (problem.place.line, problem.place.column)
        word = words.get(place, "")
        is_misspelt = problem.certain and word == problem.name
        new = decimal_text(word) if problem.code == CODE else problem.suggestion if is_misspelt else None
        if word and new:
            fixes.setdefault(place, new)
    lines = text.splitlines(keepends=True)
    for (number, column), new in sorted(fixes.items(), reverse=True):
        old, line = words[number, column], lines[number - 1]
        # A word keeps its quotes and its anchor.
        start = _BEFORE_WORD.match(line, column - 1).end()  # type: ignore[union-attr]  # it matches every text
        if line.startswith(old, start):
            lines[number - 1] = line[:start] + new + line[start + len(old) :]
    return "".join(lines)


def _words(node: YamlNode) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the keys and scalars of a text by line and column."""
    if node.text:
        yield (node.place.line, node.place.column), node.text
    for item in node.items:
        yield from _words(item)
    for key, entry in node.entries.items():
        yield (entry.key_place.line, entry.key_place.column), key
        yield from _words(entry)
