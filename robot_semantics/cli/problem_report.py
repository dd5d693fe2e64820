# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Problems as text, JSON, SARIF 2.1.0 and GitHub annotations; the output of every check.

doc/check.md and spec/check-2.schema.json specify the formats.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TypedDict
from urllib.parse import quote

from robot_semantics.base.diagnostics import Diagnostic, Severity
from robot_semantics.base.foreign_text import shown
from robot_semantics.base.json_value import JsonObject
from robot_semantics.base.version import __version__
from robot_semantics.cli.explain import explanations
from robot_semantics.cli.printing import JSON_VERSION, accept_json_1, counted
from robot_semantics.cli.problem_policy import add_policy_arguments, policy_of

_COLOUR = {Severity.ERROR: "\033[1;31m", Severity.WARNING: "\033[1;33m", Severity.NOTE: "\033[1;36m"}


def counts_of(found: Sequence[Diagnostic]) -> dict[Severity, int]:
    """Return the number of problems of each severity."""
    return {severity: sum(item.count for item in found if item.severity is severity) for severity in Severity}


def every_line(found: Sequence[Diagnostic]) -> list[str]:
    """Return a line for each problem, with its code."""
    return [f"{item} ({item.code})" for item in found]


def line_of_each_kind(found: Sequence[Diagnostic]) -> list[str]:
    """Return a line for each kind of problem: the first one, and the number of problems of this kind."""
    kinds: dict[tuple[Severity, str], list[Diagnostic]] = {}
    for item in found:
        kinds.setdefault((item.severity, item.code), []).append(item)
    lines = []
    for (_, code), items in kinds.items():
        count = sum(item.count for item in items)
        lines.append(f"{items[0]} ({code}, {count:,} times)" if count > 1 else f"{items[0]} ({code})")
    return lines


def coloured(line: str) -> str:
    """Return a line with coloured severity if standard output is a terminal."""
    if not sys.stdout.isatty():
        return line
    for severity, colour in _COLOUR.items():
        before, word, after = line.partition(f" {severity.value}: ")
        if word:
            return f"{before} {colour}{severity.value}:\033[0m {after}"
    return line


def summary(found: Sequence[Diagnostic]) -> str:
    """Return the number of problems: ``2 errors, 1 warning``; empty if there are only notes."""
    counts = counts_of(found)
    words = [counted(count, severity.value) for severity, count in counts.items() if count]
    return ", ".join(words[:2]) if counts[Severity.ERROR] or counts[Severity.WARNING] else ""


class ProblemsJson(TypedDict):
    """The report for programs."""

    version: int
    ok: bool
    errors: int
    warnings: int
    diagnostics: list[JsonObject]


def as_json(found: Sequence[Diagnostic], *, ok: bool) -> ProblemsJson:
    """Return the report for programs."""
    counts = counts_of(found)
    return {
        "version": JSON_VERSION,
        "ok": ok,
        "errors": counts[Severity.ERROR],
        "warnings": counts[Severity.WARNING],
        "diagnostics": [item.as_json() for item in found],
    }


def as_sarif(found: Sequence[Diagnostic]) -> dict[str, object]:
    """Return a SARIF 2.1.0 log of one run, which code hosts and editors read."""
    codes = list(dict.fromkeys(item.code for item in found))
    pages = explanations()
    rules: list[JsonObject] = [
        {"id": code, "shortDescription": {"text": pages[code].what}, "help": {"text": pages[code].text}}
        if code in pages
        else {"id": code}
        for code in codes
    ]
    properties = {"shape": JSON_VERSION}
    driver = {"name": "robot_semantics", "version": __version__, "rules": rules}
    results = [
        {
            "ruleId": item.code,
            "ruleIndex": codes.index(item.code),
            "level": item.severity.value,
            "message": {"text": _sentence(item)},
            "locations": [_location(item)],
        }
        for item in found
    ]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": results,
                "properties": properties,
            }
        ],
    }


def _sentence(item: Diagnostic) -> str:
    return item.message + (f"; did you mean '{item.suggestion}'?" if item.suggestion else "")


def _location(item: Diagnostic) -> JsonObject:
    place = item.place
    physical: JsonObject = {"artifactLocation": {"uri": quote(place.source)}}
    if place.line:
        physical["region"] = {"startLine": place.line, "startColumn": max(place.column, 1)}
    location: JsonObject = {"physicalLocation": physical}
    if place.path:
        location["logicalLocations"] = [{"fullyQualifiedName": place.path}]
    return location


def as_github(found: Sequence[Diagnostic]) -> list[str]:
    """Return one workflow command for each problem."""
    lines = []
    for item in found:
        level = "notice" if item.severity is Severity.NOTE else item.severity.value
        values = {"file": item.place.source, "title": item.code}
        if item.place.line:
            values |= {"line": str(item.place.line), "col": str(item.place.column)}
        words = ",".join(f"{key}={_escaped(value, property_of=True)}" for key, value in values.items())
        lines.append(f"::{level} {words}::{_escaped(_sentence(item))}")
    return lines


def _escaped(text: str, *, property_of: bool = False) -> str:
    escapes = {"%": "%25", "\r": "%0D", "\n": "%0A"} | ({":": "%3A", ",": "%2C"} if property_of else {})
    return "".join(escapes.get(character, character) for character in shown(text, 10_000))


FORMATS: dict[str, Callable[[Sequence[Diagnostic], bool], str]] = {
    "json": lambda found, ok: json.dumps(as_json(found, ok=ok), indent=2, allow_nan=False),
    "sarif": lambda found, ok: json.dumps(as_sarif(found), indent=2, allow_nan=False),
    "github": lambda found, ok: "\n".join(as_github(found)),
}
"""The formats for programs: function of the problems and of the success flag."""


def add_report_arguments(parser: argparse.ArgumentParser) -> None:
    """Add options for the selection and output of problems."""
    shown = parser.add_argument_group("output options")
    shown.add_argument("--all", action="store_true", help="print every problem, not one line for each kind")
    shown.add_argument("--quiet", action="store_true", help="print errors only")
    shown.add_argument("--format", choices=("text", *FORMATS), default="text", help="output format (default: text)")
    shown.add_argument("--json", dest="format", action="store_const", const="json", help="the same as --format json")
    accept_json_1(shown, "format", "json")
    add_policy_arguments(parser)


def report(found: Iterable[Diagnostic], arguments: argparse.Namespace, files: int) -> int:
    """Print the problems of `files` files as the arguments request; return the exit code.

    Raises:
        UsageError: the arguments or the project's settings name a code that does not exist.
    """
    policy = policy_of(arguments)
    kept = policy.of(found)
    failed = policy.failed(kept)
    if arguments.format != "text":
        text = FORMATS[arguments.format](kept, not failed)
        if text:
            print(text)
        return int(failed)
    if arguments.quiet:
        kept = [item for item in kept if item.severity is Severity.ERROR]
    lines = every_line(kept) if arguments.all else line_of_each_kind(kept)
    for line in lines:
        print(coloured(line))
    words = summary(kept)
    if arguments.quiet:
        return int(failed)
    if not words:
        print(f"{counted(files, 'file')} checked: no problems")
    else:
        print(words if len(lines) == len(kept) else f"{words}: --all shows every one")
    return int(failed)
