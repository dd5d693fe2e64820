# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Every message of the package, found in its source and filled with sample values."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPORTS = frozenset(
    (
        "error",
        "warning",
        "note",
        "warn",
        "info",
        "debug",
        "failed",
        "report",
        "tell",
        "told",
        "complain",
        "refusal",
        "refused",
        "ForeignProblem",
        "ControlProblem",
        "ConfigurationProblem",
        "Problem",
        "done",
        "_error",
        "_refusal",
        "_left_out",
    )
)
"""Names of the functions, methods and classes that take a message."""

MOST = 12
"""Combinations of alternatives in one message that are shown."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_CODE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True, order=True)
class Message:
    """A message with sample values, each between ⟦ and ⟧ in `marked`, and where the source has it."""

    path: Path
    line: int
    marked: str

    @property
    def text(self) -> str:
        """The message as a user sees it."""
        return self.marked.replace("⟦", "").replace("⟧", "")


def messages(package: Path) -> list[Message]:
    """Return the messages of all modules below a folder, each text once a line."""
    found = {item for path in sorted(package.rglob("*.py")) for item in _messages_of(path)}
    return sorted(found)


def _messages_of(path: Path) -> Iterator[Message]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for owner, node in _with_owner(tree, None):
        call = node.exc if isinstance(node, ast.Raise) else node
        if not isinstance(call, ast.Call) or not (isinstance(node, ast.Raise) or _name(call.func) in REPORTS):
            continue
        for argument in (*call.args, *(item.value for item in call.keywords)):
            for line, text in _texts(argument, owner, 0):
                if " " in text.strip() and not _CODE.fullmatch(text):
                    yield Message(path, line, text)


def _with_owner(node: ast.AST, owner: ast.AST | None) -> Iterator[tuple[ast.AST | None, ast.AST]]:
    """Yield every node with the innermost function that it is in."""
    for child in ast.iter_child_nodes(node):
        yield owner, child
        yield from _with_owner(child, child if isinstance(child, _FUNCTIONS) else owner)


def _name(function: ast.AST) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _texts(node: ast.AST, owner: ast.AST | None, depth: int) -> Iterator[tuple[int, str]]:
    """Yield the texts that an expression may be, with their lines."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    elif isinstance(node, ast.JoinedStr):
        parts = [_part(part, owner, depth) for part in node.values]
        for row in itertools.islice(itertools.product(*parts), MOST):
            yield node.lineno, "".join(row)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = ([text for _, text in _texts(side, owner, depth)] or ["…"] for side in (node.left, node.right))
        for row in itertools.islice(itertools.product(*sides), MOST):
            yield node.lineno, "".join(row)
    elif isinstance(node, ast.IfExp):
        yield from _texts(node.body, owner, depth)
        yield from _texts(node.orelse, owner, depth)
    elif isinstance(node, ast.Name) and owner is not None and depth < 4:
        for item in ast.walk(owner):
            if isinstance(item, ast.Assign) and any(_name(target) == node.id for target in item.targets):
                yield from _texts(item.value, owner, depth + 1)


def _part(node: ast.AST, owner: ast.AST | None, depth: int) -> list[str]:
    """Return the pattern of a part of a formatted text."""
    if not isinstance(node, ast.FormattedValue):
        return [text for _, text in _texts(node, owner, depth)]
    if not isinstance(node.value, ast.Name) or node.format_spec is None:
        texts = [text for _, text in _texts(node.value, owner, depth + 1)]
        if texts:
            return texts[:4]
    spec = "".join(
        str(part.value) for part in getattr(node.format_spec, "values", []) if isinstance(part, ast.Constant)
    )
    return [f"⟦{sample(ast.unparse(node.value), spec)}⟧"]


_SAMPLES = (
    (r"^topics$|quoted\(|_some\(|listed", "'elbow', 'wrist'"),
    (r"count|len\(|total|number|times\b|\bn\b|lines?\b|jobs", "3"),
    (r"line", "12"),
    (r"topic", "/joint_states"),
    (r"path|file|source|folder|uri|output|target", "robot.urdf"),
    (r"link|child|parent|frame", "tool0"),
    (r"group", "arm"),
    (r"joint|leader|follow", "elbow"),
    (r"model|robot", "rover"),
    (r"error|reason|problem|why", "no such file"),
    (r"tag", "link"),
    (r"attribute|key|word", "name"),
    (r"kind|type", "joint"),
    (r"time|stamp|_ns|_s\b|seconds", "12.5"),
)


def sample(expression: str, spec: str) -> str:
    """Return a value for an expression in a message: by its format if it is a number, else by its names."""
    if spec and spec[-1] in "defg%":
        value = 3 if spec[-1] == "d" or spec == "," else 0.5
        return format(value, spec)
    if spec == ",":
        return "1,000"
    return next((text for pattern, text in _SAMPLES if re.search(pattern, expression)), expression.split("(")[0][-12:])
