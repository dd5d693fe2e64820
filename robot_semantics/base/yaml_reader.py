# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Reading of YAML 1.2 to a tree with the place of every value; sizes are bounded and nothing is evaluated.

The tree is built from the events of libyaml, and its limits are checked at each event: a text that is too large or too
deep is refused before it has a cost.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, Protocol, TypeAlias, cast

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.files import read_bounded, read_named
from robot_semantics.base.names import shown
from robot_semantics.base.pattern import pattern

MAX_BYTES = 1 << 23
"""Largest file [bytes]."""

MAX_NODES = 200_000
"""Largest number of values, after aliases are resolved."""

MAX_DEPTH = 100
"""Largest number of levels."""

MAX_DIRECTIVES = 100
"""Largest number of lines that begin with ``%``: libyaml compares each ``%TAG`` with all others."""

TOO_LARGE = "too-large"
"""Code of a text beyond one of these limits."""

_TAG = "tag:yaml.org,2002:"
_BREAKS = "\n\r\x85\u2028\u2029"
# These are compiled when a YAML is read, which takes 5 ms; most commands read none.
_DIRECTIVE = f"(?:\\A|[{_BREAKS}])%"
_NOT_YAML = "[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"

Scalar: TypeAlias = str | int | float | bool | None


class YamlNode:
    """A value in a YAML text.

    Attributes:
        value: a scalar, a list of nodes, or a map from key texts to nodes.
        text: the text of a scalar, without quotes; empty for others.
        plain: True for a scalar without quotes.
        tag: a tag of a program, as in ``!degrees 90``; such a scalar is a text.
    """

    __slots__ = ("_key", "_key_at", "_known_place", "_parent", "_position", "_source", "plain", "tag", "text", "value")

    def __init__(
        self, source: str, at: _Position, parent: YamlNode | None, key: str | int | None, key_at: _Position
    ) -> None:
        """Take the position in the text `source`, the parent, and the key or index in it; None for a merged map."""
        self._source, self._position, self._parent, self._key, self._key_at = source, at, parent, key, key_at
        self.value: Scalar | list[YamlNode] | dict[str, YamlNode] = None
        self.text, self.plain, self.tag = "", False, ""
        self._known_place: SourcePlace | None = None

    @property
    def place(self) -> SourcePlace:
        """The place where the value begins."""
        if self._known_place is None:
            self._known_place = _place(self._source, self._position, self._path or "/")
        return self._known_place

    @property
    def key_place(self) -> SourcePlace:
        """The place where its key begins; the place of the value if it has no key."""
        return _place(self._source, self._key_at, self._path or "/")

    @property
    def _path(self) -> str:
        keys: list[str] = []
        node: YamlNode | None = self
        while node is not None and node._parent is not None:
            keys.append("" if node._key is None else f"/{node._key}")
            node = node._parent
        return "".join(reversed(keys))

    @property
    def entries(self) -> dict[str, YamlNode]:
        """The entries of a map; empty for another value."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> list[YamlNode]:
        """The items of a list; empty for another value."""
        return self.value if isinstance(self.value, list) else []

    def with_entries(self, entries: dict[str, YamlNode], *, at_key: bool = False) -> YamlNode:
        """Return a map with other entries; with `at_key` the map begins at the key of this value, which it replaces."""
        node = YamlNode(self._source, self._key_at if at_key else self._position, self._parent, self._key, self._key_at)
        node.value = entries
        return node

    def get(self, *keys: str) -> YamlNode | None:
        """Return the node under `keys`, one for each level; None if it does not exist."""
        node: YamlNode | None = self
        for key in keys:
            if node is None or not isinstance(node.value, dict):
                return None
            node = node.value.get(key)
        return node


_Position: TypeAlias = int
"""Line and column from 0 in one number, which takes less memory than a pair."""
_COLUMNS = 1 << 24


def _place(source: str, at: _Position, path: str = "") -> SourcePlace:
    return SourcePlace(source, at // _COLUMNS + 1, at % _COLUMNS + 1, path)


def read_yaml(path: str | Path, *, foreign: bool = False) -> YamlNode:
    """Read a file with one YAML document; with `foreign`, another file names it, and only a regular file is read.

    Raises:
        DescriptionError: as `parse_yaml`.
        OSError: the file cannot be read, or has more than `MAX_BYTES` bytes.
    """
    read = read_bounded if foreign else read_named
    return parse_yaml(read(path, MAX_BYTES), str(path))


def parse_yaml(text: str | bytes, source: str = "<yaml>", *, warnings: Diagnostics | None = None) -> YamlNode:
    """Parse one YAML document; every message calls it `source`.

    With `warnings`, a repeated key is a warning there and its last value is used, as in most programs. Then scalars may
    have tags of programs.

    Raises:
        DescriptionError: it is not YAML, is too large or too deep, repeats a key, or has a tag of a program.
    """
    # Import here: few commands read YAML, and each import delays every start.
    from yaml import CSafeLoader
    from yaml.error import MarkedYAMLError, YAMLError

    problems = Diagnostics()
    builder, checked = _Builder(source, problems, warnings), _checked(text, source, problems)
    try:
        parser = CSafeLoader(checked)
        while (event := parser.get_event()) is not None:
            builder.take(cast("_Event", event))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        # libyaml ends a text with a line break.
        at = (0, 0) if mark is None else min((mark.line + 1, mark.column + 1), _end(checked))
        message = f"is not YAML: {' '.join(str(error.problem or error.context).split())}"
        problems.error("bad-yaml", message, SourcePlace(source, *at))
    except YAMLError as error:
        problems.error("bad-yaml", f"is not YAML: {' '.join(str(error).split())}", SourcePlace(source))
    if builder.root is None and not problems:
        problems.error("bad-yaml", "the document is empty", SourcePlace(source))
    problems.raise_if_failed()
    if builder.root is None:
        raise AssertionError("unreachable: an error was added")
    return builder.root


def check_limits(text: bytes, source: str) -> None:
    """Refuse a text on which another reader of YAML would spend too much; other faults are left to that reader.

    Raises:
        DescriptionError: it is too large or too deep.
    """
    problems = Diagnostics()
    if len(text) > MAX_BYTES:
        problems.error(TOO_LARGE, f"is longer than {MAX_BYTES:,} bytes", SourcePlace(source))
    else:
        try:
            parse_yaml(text, source, warnings=Diagnostics())
        except DescriptionError as error:
            problems.extend(tuple(problem for problem in error.diagnostics if problem.code == TOO_LARGE))
    problems.raise_if_failed()


def _end(text: str) -> tuple[int, int]:
    """Return line and column, from 1, of the end of a text."""
    lines = re.split(f"\r\n|[{_BREAKS}]", text)
    return len(lines), len(lines[-1]) + 1


def _checked(text: str | bytes, source: str, problems: Diagnostics) -> str:
    """Return a text whose characters YAML permits, and which libyaml reads in linear time."""

    def refuse(before: str, message: str, code: str = "bad-yaml") -> NoReturn:
        problems.error(code, message, SourcePlace(source, *_end(before)))
        problems.raise_if_failed()
        raise AssertionError("unreachable: an error was added")

    unicode = text if isinstance(text, str) else ""
    if isinstance(text, bytes):
        is_wide = text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        try:
            unicode = text.decode("utf-16" if is_wide else "utf-8-sig")
        except UnicodeDecodeError as error:
            before = text[: error.start].decode("utf-16" if is_wide else "utf-8-sig", "replace")
            refuse(before, f"is not YAML: unacceptable character #x{text[error.start]:02x}: {error.reason}")
    if not unicode.isprintable() and (wrong := re.search(_NOT_YAML, unicode)):
        message = f"unacceptable character #x{ord(wrong[0]):04x}: special characters are not allowed"
        refuse(unicode[: wrong.start()], f"is not YAML: {message}")
    for number, directive in enumerate(re.finditer(_DIRECTIVE, unicode)):
        if number == MAX_DIRECTIVES:
            refuse(unicode[: directive.end() - 1], f"has more than {MAX_DIRECTIVES} directives", TOO_LARGE)
    return unicode


class _Mark(Protocol):
    line: int
    column: int


class _Event(Protocol):
    """An event of libyaml; each kind has some of the attributes."""

    start_mark: _Mark
    anchor: str | None
    tag: str | None
    implicit: tuple[bool, bool]
    value: str
    style: str | None


class _Anchor:
    """A named value.

    Attributes:
        node: the value.
        count: the number of its values with itself.
        height: the number of levels below it.
        is_complete: False inside of the value.
    """

    __slots__ = ("count", "height", "is_complete", "node")

    def __init__(self, node: YamlNode) -> None:
        self.node, self.count, self.height, self.is_complete = node, 1, 0, True


class _Open:
    """A list or a map whose end is not reached.

    Attributes:
        node: the value.
        anchor: its anchor, if it has one.
        first: the number of values before it.
        height: the number of levels below it.
        is_key: True for a list or a map that is a key, which is an error.
        key: the key whose value comes next; None if a key comes next.
        key_at: the position of this key.
        is_used: False if the value of this key is not used.
        is_merge: True if the value of this key is merged into the map.
        merged: the merged entries.
    """

    __slots__ = ("anchor", "first", "height", "is_key", "is_merge", "is_used", "key", "key_at", "merged", "node")

    def __init__(self, node: YamlNode, anchor: _Anchor | None, first: int, *, is_key: bool) -> None:
        self.node, self.anchor, self.first, self.is_key = node, anchor, first, is_key
        self.height = 0
        self.key: str | None = None
        self.key_at: _Position = 0
        self.is_used, self.is_merge = True, False
        self.merged: dict[str, YamlNode] = {}


class _Builder:
    """Builds the tree from libyaml's events, and counts its values.

    Attributes:
        root: the value of the document; None before its end and for an empty document.
    """

    def __init__(self, source: str, problems: Diagnostics, warnings: Diagnostics | None) -> None:
        self._source, self._problems, self._warnings = source, problems, warnings
        self.root: YamlNode | None = None
        self._count = self._documents = 0
        self._open: list[_Open] = []
        self._anchors: dict[str, _Anchor] = {}

    def take(self, event: _Event) -> None:
        """Take the next event."""
        kind = type(event).__name__
        if kind == "ScalarEvent":
            self._take_scalar(event)
        elif kind == "AliasEvent":
            self._take_alias(event)
        elif kind in ("SequenceStartEvent", "MappingStartEvent"):
            self._begin(event, [] if kind == "SequenceStartEvent" else {})
        elif kind in ("SequenceEndEvent", "MappingEndEvent"):
            self._end()
        elif kind == "DocumentStartEvent":
            self._documents += 1
            if self._documents > 1:
                self._refuse("is not YAML: expected a single document", _place(self._source, _position(event)))

    def _refuse(self, message: str, place: SourcePlace, code: str = "bad-yaml") -> NoReturn:
        self._problems.error(code, message, place)
        self._problems.raise_if_failed()
        raise AssertionError("unreachable: an error was added")

    def _new(self, position: _Position) -> YamlNode:
        """Return a new value for the place that comes next."""
        parent = self._open[-1] if self._open else None
        if parent is None:
            node = YamlNode(self._source, position, None, None, position)
        elif isinstance(parent.node.value, list):
            index = None if parent.node._key is None and parent.node._parent is not None else len(parent.node.value)
            node = YamlNode(self._source, position, parent.node, index, position)
        elif parent.key is None:
            node = YamlNode(self._source, position, parent.node, "?", position)
        else:
            node = YamlNode(self._source, position, parent.node, None if parent.is_merge else parent.key, parent.key_at)
        self._add(1, 0, node)
        return node

    def _add(self, count: int, height: int, node: YamlNode) -> None:
        """Count values and levels; refuse the text if they are too many."""
        self._count += count
        if len(self._open) + height > MAX_DEPTH:
            self._refuse(f"has more than {MAX_DEPTH} levels", node.place, TOO_LARGE)
        if self._count > MAX_NODES:
            self._refuse(f"has more than {MAX_NODES:,} values", node.place, TOO_LARGE)

    def _begin(self, event: _Event, value: list[YamlNode] | dict[str, YamlNode]) -> None:
        """Begin a list or a map."""
        is_key = self._expects_key()
        node = self._new(_position(event))
        node.value = value
        if is_key:
            self._problems.error("bad-yaml", "a key should be a text", node.place)
        if event.tag not in (None, "!", f"{_TAG}seq", f"{_TAG}map"):
            self._problems.error("bad-yaml", f"the tag '{shown(event.tag)}' is not allowed", node.place)
        anchor = self._anchor(event, node)
        if anchor is not None:
            anchor.is_complete = False
        self._open.append(_Open(node, anchor, self._count - 1, is_key=is_key))

    def _end(self) -> None:
        """End the innermost list or map."""
        ended = self._open.pop()
        if ended.merged and isinstance(ended.node.value, dict):
            ended.node.value = {**ended.merged, **ended.node.value}
        if ended.anchor is not None:
            ended.anchor.count, ended.anchor.height = self._count - ended.first, ended.height
            ended.anchor.is_complete = True
        self._put(ended.node, ended.height, is_key=ended.is_key)

    def _anchor(self, event: _Event, node: YamlNode) -> _Anchor | None:
        """Give a value its name."""
        if event.anchor is None:
            return None
        self._anchors[event.anchor] = anchor = _Anchor(node)
        return anchor

    def _take_alias(self, event: _Event) -> None:
        position = _position(event)
        anchor = self._anchors.get(event.anchor or "")
        if anchor is None:
            self._refuse(
                f"is not YAML: found undefined alias '{shown(event.anchor or '')}'", _place(self._source, position)
            )
        original = anchor.node
        if not anchor.is_complete:
            self._refuse(f"has more than {MAX_DEPTH} levels", original.place, TOO_LARGE)
        is_key = self._expects_key()
        if is_key and not isinstance(original.value, (list, dict)):
            self._take_key(original.text, position)
            return
        node = self._new(original._position)
        if is_key:
            self._problems.error("bad-yaml", "a key should be a text", _place(self._source, position))
        node.value, node.text, node.plain, node.tag = original.value, original.text, original.plain, original.tag
        self._add(anchor.count - 1, anchor.height, node)
        self._put(node, anchor.height, is_key=is_key)

    def _take_scalar(self, event: _Event) -> None:
        position = _position(event)
        if self._expects_key():
            is_merge = event.value == "<<" and (event.implicit[0] if event.tag is None else event.tag == f"{_TAG}merge")
            self._take_key(event.value, position, is_merge=is_merge)
            node = YamlNode(self._source, position, None, None, position)
        else:
            node = self._new(position)
            self._fill(node, event)
            self._put(node, 0, is_key=False)
        if self._anchor(event, node) is not None:
            self._fill(node, event)

    def _fill(self, node: YamlNode, event: _Event) -> None:
        """Set the value of a scalar by its tag, or by its text if it has none."""
        text, tag = event.value, event.tag
        node.text, node.plain = text, event.style == ""
        try:
            if tag is None:
                node.value = _resolved(text) if event.implicit[0] else text
            elif tag == "!" or tag.removeprefix(_TAG) in _TEXT_TAGS:
                node.value = text
            elif tag.removeprefix(_TAG) in _CONVERSIONS:
                node.value = _CONVERSIONS[tag.removeprefix(_TAG)](text)
            elif self._warnings is not None and not tag.startswith(_TAG):
                node.value, node.tag, node.plain = text, tag, False
            else:
                message = f"is not YAML: the tag '{shown(tag)}' is not known"
                self._problems.error("bad-yaml", message, node.place)
        except (ValueError, KeyError):
            message = f"is not YAML: '{shown(text[:20])}' is not a value of its kind"
            self._problems.error("bad-yaml", message, node.place)

    def _expects_key(self) -> bool:
        """Return True if a key comes next."""
        return bool(self._open) and self._open[-1].key is None and isinstance(self._open[-1].node.value, dict)

    def _take_key(self, key: str, at: _Position, *, is_merge: bool = False) -> None:
        parent = self._open[-1]
        parent.key, parent.key_at, parent.is_used, parent.is_merge = key, at, True, is_merge
        if is_merge or key not in parent.node.entries:
            return
        message, place = f"the key '{shown(key)}' is repeated", _place(self._source, at, f"{parent.node._path}/{key}")
        if self._warnings is None:
            self._problems.error("duplicate-name", message, place)
            parent.is_used = False
        else:
            self._warnings.warning("duplicate-name", f"{message}; the last value is used", place)

    def _put(self, node: YamlNode, height: int, *, is_key: bool) -> None:
        """Put a complete value into its parent."""
        if not self._open:
            self.root = node
            return
        parent = self._open[-1]
        parent.height = max(parent.height, height + 1)
        if is_key:
            parent.key, parent.is_used = "?", False
        elif isinstance(parent.node.value, list):
            parent.node.value.append(node)
        elif isinstance(parent.node.value, dict) and parent.key is not None:
            if parent.is_merge:
                for part in node.items or [node]:
                    for key, entry in part.entries.items():
                        parent.merged.setdefault(key, entry)
            elif parent.is_used:
                parent.node.value[parent.key] = node
            parent.key, parent.is_used, parent.is_merge = None, True, False


def _position(event: _Event) -> _Position:
    mark = event.start_mark
    return int(mark.line * _COLUMNS + mark.column)


_TEXT_TAGS = frozenset({"str", "timestamp", "binary"})
_BOOLEANS = {
    word: value
    for yes, no in (("true", "false"), ("True", "False"), ("TRUE", "FALSE"))
    for word, value in ((yes, True), (no, False))
}
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_INTEGER = pattern(r"[-+]?(?:0b[01_]+|0o[0-7_]+|_*[0-9][0-9_]*|0x[0-9a-fA-F_]+)")
_FLOAT = pattern(
    r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[0-9][0-9_]*[eE][-+]?[0-9]+|\.[0-9_]+(?:[eE][-+][0-9]+)?"
    r"|\.(?:inf|Inf|INF))|\.(?:nan|NaN|NAN)"
)
_FIRST = frozenset("-+.0123456789tTfF~nN")
"""First characters of texts without quotes that are not strings."""


def _resolved(text: str) -> Scalar:
    """Return the value of a scalar without quotes and tag."""
    if text and text[0] not in _FIRST:
        return text
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _FLOAT.fullmatch(text):
        return _float(text)
    if _INTEGER.fullmatch(text):
        return _integer(text)
    return text


def _integer(text: str) -> int:
    digits = text.replace("_", "").lower()
    sign, digits = (-1 if digits[:1] == "-" else 1), digits.lstrip("+-")
    base = {"0b": 2, "0o": 8, "0x": 16}.get(digits[:2])
    return sign * (int(digits) if base is None else int(digits[2:], base))


def _float(text: str) -> float:
    number = text.replace("_", "").lower()
    return float(number.replace(".inf", "inf").replace(".nan", "nan"))


def _null(_text: str) -> None:
    return None


_CONVERSIONS: dict[str, Callable[[str], Scalar]] = {
    "int": _integer,
    "float": _float,
    "bool": lambda text: {word.lower(): value for word, value in _BOOLEANS.items()}[text.lower()],
    "null": _null,
}
