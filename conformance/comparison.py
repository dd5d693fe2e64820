# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Conformance cases, and the differences between a reader's answers and the expected ones."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import copysign
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import shown

FORMATS = ("urdf", "srdf", "usdf")
TOLERANCE = 1e-9


class Case(NamedTuple):
    """A case: the rule that it tests, its files, and the expected answer."""

    name: str
    rule: str
    format: str
    fields: tuple[str, ...]
    answer: Mapping[str, Any]


class Outcome(NamedTuple):
    """Result of a case: the differences of the answer; None if the reader does not support the case."""

    case: Case
    differences: tuple[str, ...] | None

    @property
    def passed(self) -> bool:
        """True if the answer is right."""
        return self.differences == ()

    @property
    def word(self) -> str:
        """The result in one word."""
        return "not supported" if self.differences is None else "passed" if self.passed else "failed"


def cases(folder: Path, formats: Sequence[str] = FORMATS) -> Iterator[Case]:
    """Yield the cases of a folder in the order of the rules.

    Raises:
        RobotSemanticsError: a file is not a case.
    """
    for name in formats:
        for path in sorted((folder / name).glob("*.json"), key=lambda path: _in_order(path.name)):
            try:
                case = _case(path, name, json.loads(path.read_text(encoding="utf-8")))
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
                raise RobotSemanticsError(f"{path}: it is no case ({error})") from None
            yield case


def _case(path: Path, name: str, said: Mapping[str, Any]) -> Case:
    file = path.with_name(said["file"]) if "file" in said else path.with_suffix(f".{name}")
    robot = str(path.with_name(said["robot"])) if "robot" in said else ""
    positions = json.dumps(said["positions"]) if "positions" in said else ""
    fields = (said.get("question", name), str(file), robot, positions)
    return Case(path.stem, said["rule"], name, fields, said["answer"])


def _in_order(name: str) -> tuple[list[int], str]:
    number = name[1:].partition("-")[0]
    return [int(part) for part in number.split(".") if part.isdigit()], name


def differences(expected: Mapping[str, Any], given: Mapping[str, Any] | str) -> tuple[str, ...]:
    """Return the differences of an answer from the expected one, in words.

    A reader that reports no problems passes a case with errors if it refuses the document.
    """
    if isinstance(given, str):
        return (given,)
    found: list[str] = []
    if "problems" in given and "problems" in expected:
        found += _problems(expected["problems"], given["problems"])
    elif any(problem["severity"] == "error" for problem in expected.get("problems", ())):
        return () if given.get("refused") else ("it is not refused",)
    if "refused" in expected and bool(given.get("refused")) != expected["refused"]:
        found.append("it is refused" if given.get("refused") else "it is not refused")
    if expected.get("written") is not None and not given.get("refused"):
        found += _documents(expected["written"], given.get("written"))
    for key, value in expected.items():
        if key not in ("problems", "refused", "written") and (key in given or "problems" in given):
            answered = given.get(key)
            wanted = value if "problems" in given else _told(value, answered)
            found += _values(wanted, answered, key, exact=key == "state")
    return tuple(found)


def _documents(expected: str, given: Any) -> Iterator[str]:
    """Yield the differences of two world states as texts, except for the order of children and white space."""
    try:
        one, other = (_content(etree.fromstring(str(text).encode())) for text in (expected, given))
    except etree.XMLSyntaxError as error:
        yield f"what is written is no XML: {error.msg}"
        return
    if one != other:
        left, right = (sorted(set(re.findall(r"[^()]+", repr(side)))) for side in (one, other))
        missing, more = [part for part in left if part not in right], [part for part in right if part not in left]
        yield f"written: {shown(' '.join(more), 80)}, expected {shown(' '.join(missing), 80)}"


def _content(element: etree._Element) -> tuple[Any, ...]:
    """Return the content of an element in a fixed order; `<parent>world</parent>` is ignored as the default."""
    children = [_content(child) for child in element.iterchildren(etree.Element)]
    said = [child for child in children if child[0] != "parent" or child[2] not in ("", "world")]
    text = element.text or ""
    return element.tag, sorted(element.attrib.items()), text if text.strip() else "", sorted(said)


def _told(expected: Any, given: Any) -> Any:
    """Return the expected values that the reader's answer also has."""
    if not isinstance(expected, dict) or not isinstance(given, dict):
        return expected
    return {key: _told(value, given[key]) for key, value in expected.items() if key in given}


def _problems(expected: Sequence[Mapping[str, Any]], given: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    left = list(given)
    for problem in expected:
        # Compare only the parts of a place that both have.
        same = (other for other in left if all(other.get(key, value) == value for key, value in problem.items()))
        match = next(same, None)
        if match is None:
            yield f"missing: {_problem(problem)}"
        else:
            left.remove(match)
    yield from (f"not expected: {_problem(problem)}" for problem in left)


def _problem(problem: Mapping[str, Any]) -> str:
    place = ":".join(str(problem[key]) for key in ("line", "column") if key in problem)
    return f"{problem.get('severity')} {problem.get('code')}{' at ' + place if place else ''}"


def _values(expected: Any, given: Any, where: str, *, exact: bool) -> Iterator[str]:
    """Yield the differences of values; if not `exact`, numbers have a tolerance and more keys are allowed."""
    if isinstance(expected, dict) and isinstance(given, dict):
        for key in dict.fromkeys((*expected, *(given if exact else ()))):
            if key != "foreign":
                yield from _values(expected.get(key), given.get(key), f"{where}/{key}", exact=exact)
    elif isinstance(expected, list) and isinstance(given, list) and len(expected) == len(given):
        pose = len(given) == 7 and all(map(_is_number, given))
        if pose and not exact and _opposite(expected, given):
            given = [*given[:3], *(-value for value in given[3:])]
        for at, (one, other) in enumerate(zip(expected, given, strict=True)):
            yield from _values(one, other, f"{where}/{at}", exact=exact)
    elif not _same(expected, given, exact):
        yield f"{where}: {shown(json.dumps(given), 80)}, expected {shown(json.dumps(expected), 80)}"


def _opposite(one: Sequence[float], other: Sequence[float]) -> bool:
    """Return True if the quaternions of two poses have opposite signs: q and -q are one rotation."""
    return sum(a * b for a, b in zip(one[3:], other[3:], strict=True)) < 0


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _same(one: Any, other: Any, exact: bool) -> bool:
    if not (_is_number(one) and _is_number(other)):
        return bool(one == other)
    if exact:
        return bool(one == other and copysign(1, one) == copysign(1, other))
    return bool(abs(one - other) <= TOLERANCE * max(1.0, abs(one)))
