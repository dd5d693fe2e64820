# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Fixes of YAML texts: decimal points and misspelt names, changed in place; all other bytes stay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from robot_semantics.base.diagnostics import Diagnostic, Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.yaml_reader import YamlNode, parse_yaml
from robot_semantics.bringup.decimal_numbers import CODE, decimal_text


def fixed_yaml(text: str, found: Iterable[Diagnostic], source: str = "<yaml>") -> str:
    """Return a YAML text with the problems in `found` fixed that have exactly one solution."""
    try:
        root = parse_yaml(text, source, warnings=Diagnostics())
    except DescriptionError:
        return text
    words = dict(_words(root))
    lines = text.splitlines(keepends=True)
    for problem in sorted(found, key=lambda item: (item.place.line, item.place.column), reverse=True):
        old = words.get((problem.place.line, problem.place.column))
        new = _replacement(problem, old)
        if old is None or new is None:
            continue
        line, start = lines[problem.place.line - 1], problem.place.column - 1
        # A word in quotes keeps its quotes.
        start += line[start : start + 1] in ("'", '"')
        if line.startswith(old, start):
            lines[problem.place.line - 1] = line[:start] + new + line[start + len(old) :]
    return "".join(lines)


def _replacement(problem: Diagnostic, old: str | None) -> str | None:
    if old is None:
        return None
    if problem.code == CODE:
        return decimal_text(old)
    return problem.suggestion if problem.suggestion and problem.certain else None


def _words(node: YamlNode) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the keys and scalars of a text by line and column."""
    if node.text:
        yield (node.place.line, node.place.column), node.text
    for item in node.items:
        yield from _words(item)
    for key, entry in node.entries.items():
        yield (entry.key_place.line, entry.key_place.column), key
        yield from _words(entry)
