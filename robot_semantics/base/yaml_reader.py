# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Reading of YAML 1.2 to a tree with the place of every value; sizes are bounded and nothing is evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.files import read_bounded

MAX_BYTES = 1 << 23
"""Largest file [bytes]."""

MAX_NODES = 200_000
"""Largest number of values, after aliases are resolved."""

MAX_DEPTH = 100
"""Largest number of levels."""

_TAG = "tag:yaml.org,2002:"

Scalar: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class YamlNode:
    """A value in a YAML text.

    Attributes:
        value: a scalar, a list of nodes, or a map from key texts to nodes.
        place: where the value begins.
        key_place: where its key begins; the place of the value if it has no key.
        text: the text of a scalar, without quotes; empty for others.
        plain: True for a scalar without quotes.
        tag: a tag of a program, as in ``!degrees 90``; such a scalar is a text.
    """

    value: Scalar | list[YamlNode] | dict[str, YamlNode]
    place: SourcePlace
    key_place: SourcePlace
    text: str = ""
    plain: bool = False
    tag: str = ""

    @property
    def entries(self) -> dict[str, YamlNode]:
        """The entries of a map; empty for another value."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> list[YamlNode]:
        """The items of a list; empty for another value."""
        return self.value if isinstance(self.value, list) else []

    def get(self, *keys: str) -> YamlNode | None:
        """Return the node under `keys`, one for each level; None if it does not exist."""
        node: YamlNode | None = self
        for key in keys:
            node = node.entries.get(key) if node is not None else None
        return node


def read_yaml(path: str | Path) -> YamlNode:
    """Read a file with one YAML document.

    Raises:
        DescriptionError: as `parse_yaml`.
        OSError: the file cannot be read, or has more than `MAX_BYTES` bytes.
    """
    return parse_yaml(read_bounded(path, MAX_BYTES), str(path))


def parse_yaml(text: str | bytes, source: str = "<yaml>", *, warnings: Diagnostics | None = None) -> YamlNode:
    """Parse one YAML document; every message calls it `source`.

    With `warnings`, a repeated key is a warning there and its last value is used, as in most programs. Then scalars may
    have tags of programs.

    Raises:
        DescriptionError: it is not YAML, is too large or too deep, repeats a key, or has a tag of a program.
    """
    # Import here: few commands read YAML, and each import delays every start.
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    found = Diagnostics()
    try:
        loader = YAML(typ="safe", pure=True)
        root = loader.compose(text)
        if root is not None:
            return _Builder(loader.constructor, source, found, warnings).build(root)
        found.error("bad-yaml", "the document is empty", SourcePlace(source))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = SourcePlace(source, mark.line + 1, mark.column + 1) if mark else SourcePlace(source)
        found.error("bad-yaml", f"is not YAML: {' '.join(str(error.problem or error.context).split())}", place)
    except (YAMLError, ValueError) as error:
        # A character that YAML does not permit has an offset.
        before = text[: getattr(error, "position", 0)]
        lines = (before.encode() if isinstance(before, str) else before).split(b"\n")
        place = SourcePlace(source, len(lines), len(lines[-1]) + 1)
        found.error("bad-yaml", f"is not YAML: {' '.join(str(error).split())}", place)
    except RecursionError:
        found.error("bad-yaml", f"has more than {MAX_DEPTH} levels", SourcePlace(source))
    found.raise_if_failed()
    raise AssertionError("unreachable: an error was added")


class _Builder:
    """Builds the tree from ruamel's nodes and counts its values."""

    def __init__(self, constructor: Any, source: str, found: Diagnostics, warnings: Diagnostics | None) -> None:
        self._constructor, self._source, self._found, self._warnings = constructor, source, found, warnings
        self._nodes = 0

    def build(self, root: Any) -> YamlNode:
        node = self._node(root, "", None, 0)
        self._found.raise_if_failed()
        return node

    def _place(self, node: Any, path: str) -> SourcePlace:
        return SourcePlace(self._source, node.start_mark.line + 1, node.start_mark.column + 1, path)

    def _node(self, node: Any, path: str, key: SourcePlace | None, depth: int) -> YamlNode:
        self._nodes += 1
        place = self._place(node, path or "/")
        if self._nodes > MAX_NODES or depth > MAX_DEPTH:
            limit = f"more than {MAX_DEPTH} levels" if depth > MAX_DEPTH else f"more than {MAX_NODES:,} values"
            self._found.error("bad-yaml", f"has {limit}", place)
            self._found.raise_if_failed()
        key = key or place
        # ruamel has one class for the tag of each version.
        if node.id != "scalar" and str(node.tag) not in (_TAG + "seq", _TAG + "map"):
            self._found.error("bad-yaml", f"the tag '{node.tag}' is not allowed", place)
        if node.id == "sequence":
            items = [self._node(item, f"{path}/{at}", None, depth + 1) for at, item in enumerate(node.value)]
            return YamlNode(items, place, key)
        if node.id == "mapping":
            return YamlNode(self._entries(node, path, depth), place, key)
        if self._warnings is not None and not str(node.tag).startswith(_TAG):
            return YamlNode(node.value, place, key, node.value, tag=str(node.tag))
        try:
            value = self._constructor.construct_object(node, deep=True)
        except ValueError:
            self._found.error("bad-yaml", f"is not YAML: '{node.value[:20]}' is not a value of its kind", place)
            value = None
        plain = value is None or isinstance(value, (str, int, float, bool))
        return YamlNode(value if plain else node.value, place, key, node.value, node.style is None)

    def _entries(self, node: Any, path: str, depth: int) -> dict[str, YamlNode]:
        entries: dict[str, YamlNode] = {}
        merged: dict[str, YamlNode] = {}
        for name, value in node.value:
            if str(name.tag) == _TAG + "merge":
                for part in value.value if value.id == "sequence" else [value]:
                    merged = {**self._node(part, path, None, depth + 1).entries, **merged}
                continue
            at = self._place(name, f"{path}/{name.value if name.id == 'scalar' else '?'}")
            if name.id != "scalar":
                self._found.error("bad-yaml", "a key should be a text", at)
                continue
            if name.value in entries:
                message = f"the key '{name.value}' is repeated"
                if self._warnings is None:
                    self._found.error("duplicate-name", message, at)
                    continue
                self._warnings.warning("duplicate-name", f"{message}; the last value is used", at)
            entries[name.value] = self._node(value, f"{path}/{name.value}", at, depth + 1)
        return {**merged, **entries}
