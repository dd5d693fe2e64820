# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Fixes of YAML texts: decimal points and misspelt names, changed in place; all other bytes stay."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from robot_semantics.base.diagnostic import Diagnostic
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.yaml_reader import YamlNode, parse_yaml
from robot_semantics.bringup.decimal_numbers import CODE, decimal_text

_BEFORE_WORD = re.compile(r"(?:&\S+\s+)?['\"]?")


def fixed_yaml(text: str, found: Iterable[Diagnostic], source: str = "<yaml>") -> str:
    """Return a YAML text with the problems in `found` fixed that have exactly one solution."""
    try:
        root = parse_yaml(text, source, warnings=Diagnostics())
    except DescriptionError:
        return text
    words = dict(_words(root))
    # Several problems may have one place: a value with an alias has them once for each use.
    fixes: dict[tuple[int, int], str] = {}
    for problem in found:
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
