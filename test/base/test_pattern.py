# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A pattern behaves as a compiled regular expression; no module compiles one when it is imported."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import robot_semantics
from robot_semantics.base.pattern import pattern

PACKAGE = Path(robot_semantics.__file__).parent


@pytest.mark.parametrize("flags", [0, re.IGNORECASE])
def test_a_pattern_finds_what_the_regular_expression_finds(flags: int) -> None:
    late, compiled = pattern("(?P<letters>[a-c]+)", flags), re.compile("(?P<letters>[a-c]+)", flags)
    text = "abc ABC 12 cab"
    for _ in range(2):
        assert late.findall(text) == compiled.findall(text)
        assert late.sub("x", text) == compiled.sub("x", text)
        assert [found.span() for found in late.finditer(text)] == [found.span() for found in compiled.finditer(text)]
        assert late.fullmatch(text) is None
    assert (late.pattern, late.flags, late.groups) == (compiled.pattern, compiled.flags, compiled.groups)
    with pytest.raises(AttributeError, match="no_method"):
        late.no_method  # type: ignore[attr-defined]  # noqa: B018


def test_a_pattern_is_compiled_at_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, real = list[object](), re.compile

    def noted(text: bytes, flags: int) -> re.Pattern[bytes]:
        compiled.append((text, flags))
        return real(text, flags)

    monkeypatch.setattr(re, "compile", noted)
    late = pattern(b"[a-d]{3}")
    assert late.pattern == b"[a-d]{3}"
    assert compiled == []
    assert late.fullmatch(b"bad")
    assert compiled == [(b"[a-d]{3}", 0)]


def test_no_module_compiles_a_regular_expression_when_it_is_imported() -> None:
    compiled = list[str]()
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        inside = {call for function in functions for call in ast.walk(function)}
        compiled += [
            f"{path.relative_to(PACKAGE)}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile" and node not in inside
        ]
    assert compiled == []
