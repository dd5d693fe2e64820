# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""No text of a file can become an attribute, a style, a script or HTML of a page; parsed text is constant."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import robot_semantics

ROOT = Path(robot_semantics.__file__).parent
PARSED = {
    "props",
    "style",
    "classes",
    "html",
    "markdown",
    "run_javascript",
    "add_head_html",
    "add_body_html",
    "add_css",
}
"""Functions of the page framework that parse the texts they are given; `with_attributes` parses none."""
PARSED_KEYWORDS = {"js_handler", "template"}


def is_fixed(node: ast.expr) -> bool:
    """A text of the source itself: a literal, a choice of two, or a constant of the module."""
    if isinstance(node, ast.IfExp):
        return is_fixed(node.body) and is_fixed(node.orelse)
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id.isupper())


def violations(source: str) -> list[int]:
    """Return the lines that pass a text that is not constant to a parser."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        parsed = isinstance(node.func, ast.Attribute) and node.func.attr in PARSED
        given = [*node.args, *(keyword.value for keyword in node.keywords)] if parsed else []
        given += [keyword.value for keyword in node.keywords if keyword.arg in PARSED_KEYWORDS]
        found += [argument.lineno for argument in given if not is_fixed(argument)]
    return found


@pytest.mark.parametrize(
    "call",
    [
        "e.props(f'data-x={name}')",
        "e.props('data-x=%s' % name)",
        "e.props('data-x={}'.format(name))",
        "e.props('data-x=' + name)",
        "e.classes(add=name)",
        "e.style(f'width: {w}px')",
        "ui.html(text, sanitize=False)",
        "ui.run_javascript(f'show({name})')",
        "e.on('click', js_handler=f'() => {name}')",
    ],
)
def test_the_gate_finds_texts_that_are_put_together(call: str) -> None:
    assert violations(f"x = 1\n{call}") == [2]


def test_the_pages_give_fixed_texts_to_all_that_parses_them() -> None:
    pages = [path for path in sorted(ROOT.rglob("*.py")) if "nicegui" in path.read_text(encoding="utf-8")]
    assert ROOT / "viewer" / "studio.py" in pages
    found = [f"{path}:{line}" for path in pages for line in violations(path.read_text(encoding="utf-8"))]
    assert found == []


def test_the_pages_scripts_parse_no_text() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "viewer" / "assets").glob("*.js")}
    for word in ("eval(", "new Function", "outerHTML", "insertAdjacentHTML", "document.write", "innerHTML", "v-html"):
        assert [name for name, text in texts.items() if word in text] == [], word
