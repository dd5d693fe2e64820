# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Typical changes open few modules: the table of the architecture names them, an example of each proves it."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import robot_semantics

PACKAGE = Path(robot_semantics.__file__).parent
PAGE = Path(__file__).parents[2] / "doc" / "architecture.md"
CHANGES = re.findall(r"^\| (.+?) \| (`.+?`) \| (`.+?`) \|$", PAGE.read_text(), re.MULTILINE)
MOST_MODULES = 30


@cache
def words_of_modules() -> dict[str, set[str]]:
    """Return for each module its own name and all names, ``NAME.NAME`` and whole texts in its code."""
    return {str(path.relative_to(PACKAGE)): {path.stem, *words(path.read_text())} for path in PACKAGE.rglob("*.py")}


def words(text: str) -> Iterator[str]:
    before = ["", ""]
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            yield token.string
            if before[1] == ".":
                yield f"{before[0]}.{token.string}"
        elif token.type == tokenize.STRING and token.string.startswith('"'):
            yield token.string.strip('"')
        before = [before[1], token.string]


@pytest.mark.parametrize(("change", "modules", "example"), CHANGES, ids=[change for change, _, _ in CHANGES])
def test_no_other_module_knows_the_example_of_a_typical_change(change: str, modules: str, example: str) -> None:
    examples = re.findall("`(.+?)`", example)
    modules_with_it = {path for path, known in words_of_modules().items() if not known.isdisjoint(examples)}
    listed = set(re.findall("`(.+?)`", modules))
    assert listed <= words_of_modules().keys()
    assert modules_with_it <= listed, f"{change}: {sorted(modules_with_it - listed)} know it too"
    assert set(examples) <= set().union(*words_of_modules().values())


def test_eleven_typical_changes_open_few_modules_together() -> None:
    assert len(CHANGES) == 11
    assert sum(modules.count("`") // 2 for _, modules, _ in CHANGES) <= MOST_MODULES
