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
import importlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePath, PureWindowsPath
from typing import Any, NamedTuple, TypedDict
from urllib.parse import quote

from robot_semantics.base.diagnostic import Diagnostic, Severity, SourcePlace
from robot_semantics.base.diagnostics import MORE, NOT_COMPARED
from robot_semantics.base.errors import DescriptionError, RobotSemanticsError
from robot_semantics.base.files import read_named, relative_path, resolved, save_text
from robot_semantics.base.json_value import JsonObject
from robot_semantics.base.names import did_you_mean, shown
from robot_semantics.base.record import record
from robot_semantics.cli.frame.argument_values import add_repeatable, on_disk
from robot_semantics.cli.frame.command import UsageError
from robot_semantics.cli.frame.printing import (
    JSON_VERSION,
    counted,
    is_quiet,
    print_coloured,
    print_document,
    print_error,
    print_line,
)

# Severity of problems by the options of the command line and the settings of a project.


OWN_FILE, PROJECT_FILE = ".robot_semantics.toml", "pyproject.toml"
KEYS = ("ignore", "error", "strict", "package_path")


@record(frozen=True)
class ProblemPolicy:
    """Rules for the severity of problems.

    Attributes:
        ignore: codes that are left out.
        error: codes that are always errors.
        strict: True if warnings make the files fail.
    """

    ignore: frozenset[str] = frozenset()
    error: frozenset[str] = frozenset()
    strict: bool = False

    def of(self, found: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Return the problems that are not ignored, each once, with the severity of this policy."""
        kept = (item for item in dict.fromkeys(found) if item.code not in self.ignore)
        return [replace(item, severity=Severity.ERROR) if item.code in self.error else item for item in kept]

    def failed(self, counted: Iterable[Diagnostic]) -> bool:
        """Return True if files with these problems fail."""
        bad = (Severity.ERROR, Severity.WARNING) if self.strict else (Severity.ERROR,)
        return any(item.severity in bad for item in counted)


def add_policy_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--ignore`` and ``--error``."""
    for option, text in (
        ("--ignore", "ignore problems with this code"),
        ("--error", "report problems with this code as errors"),
    ):
        add_repeatable(parser, option, "CODE", text)


def policy_of(arguments: argparse.Namespace) -> ProblemPolicy:
    """Return the policy of the project's settings and the command line.

    Raises:
        UsageError: a code or setting that does not exist, or a settings file that cannot be read.
    """
    project = policy_of_folder(Path())
    ignore, error = (
        _codes([code for text in getattr(arguments, key) for code in text.split(",")], f"--{key}")
        for key in ("ignore", "error")
    )
    # The command line has priority over the project's settings.
    return ProblemPolicy(project.ignore - error | ignore, error | project.error, arguments.strict or project.strict)


def policy_of_folder(folder: Path) -> ProblemPolicy:
    """Return the policy of the settings of a folder's project.

    Raises:
        UsageError: as `project_settings`.
    """
    settings = project_settings(folder)
    ignore, error = (frozenset(settings.get(key, ())) for key in ("ignore", "error"))
    return ProblemPolicy(ignore, error, settings.get("strict", False))


def package_paths() -> list[str]:
    """Return the folders with packages of the project's settings; they are relative to the file with the settings.

    Raises:
        UsageError: as `project_settings`.
    """
    return list(project_settings(Path()).get("package_path", ()))


def _codes(codes: object, key: str) -> frozenset[str]:
    if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
        raise UsageError(f"{key} must be a list of codes, not {codes!r}")
    if not codes:
        return frozenset()
    # Import here what only some reports need: it reads the pages of all codes.
    from robot_semantics.cli.frame.explanations import explanations

    for code in codes:
        if code not in explanations() and code != MORE:
            nearest = did_you_mean(code, explanations())
            raise UsageError(
                f"{key}: unknown problem code '{code}'" + (f"; did you mean '{nearest}'?" if nearest else "")
            )
    return frozenset(codes)


def project_settings(folder: Path) -> Mapping[str, Any]:
    """Return the settings of the nearest folder at or above `folder` that has settings.

    Raises:
        UsageError: a file that cannot be read, or a setting that does not exist.
    """
    here = resolved(folder)
    for place in (here, *here.parents):
        for name in (OWN_FILE, PROJECT_FILE):
            path = place / name
            if not path.is_file():
                continue
            settings = _read_settings(path)
            if name == PROJECT_FILE:
                tools = settings.get("tool", {})
                settings = tools.get("robot_semantics") if isinstance(tools, dict) else None
            if settings is not None:
                settings = _checked(settings, path)
                folders = [str(place / folder) for folder in settings.get("package_path", ())]
                return {**settings, "package_path": folders}
    return {}


def _checked(settings: object, path: Path) -> Mapping[str, Any]:
    if not isinstance(settings, dict):
        raise UsageError(f"{path}: robot_semantics must be a table, not {settings!r}")
    for key in settings:
        if key not in KEYS:
            nearest = did_you_mean(key, KEYS)
            hint = f"; did you mean '{nearest}'?" if nearest else f"; there are {', '.join(KEYS)}"
            raise UsageError(f"{path}: unknown setting '{key}'{hint}")
    for key in ("ignore", "error"):
        _codes(settings.get(key, []), f"{path}: {key}")
    folders = settings.get("package_path", [])
    if not isinstance(folders, list) or not all(isinstance(folder, str) for folder in folders):
        raise UsageError(f"{path}: package_path must be a list of folders, not {folders!r}")
    if not isinstance(settings.get("strict", False), bool):
        raise UsageError(f"{path}: strict must be true or false, not {settings['strict']!r}")
    return settings


def _read_settings(path: Path) -> Any:
    try:
        toml = importlib.import_module("tomllib")
    except ModuleNotFoundError:
        # Before Python 3.11, without tomllib. A project file is probably about other tools.
        if path.name == PROJECT_FILE:
            return {}
        raise UsageError(f"{path}: settings need Python 3.11 or later") from None
    text = ""
    try:
        text = path.read_text(encoding="utf-8")
        return _parsed(toml.loads, text)
    except (OSError, UnicodeDecodeError, toml.TOMLDecodeError) as error:
        if path.name == PROJECT_FILE and "tool.robot_semantics" not in text:
            return {}
        raise UsageError(f"{path}: cannot be read: {error}") from None


@lru_cache(maxsize=4)
def _parsed(parse: Callable[[str], object], text: str) -> object:
    """Return the content of a TOML file; a command reads the settings several times."""
    return parse(text)


_COLOUR = {Severity.ERROR: "\033[1;31m", Severity.WARNING: "\033[1;33m", Severity.NOTE: "\033[1;36m"}


def counts_of(found: Sequence[Diagnostic]) -> dict[Severity, int]:
    """Return the number of problems of each severity."""
    return {severity: sum(item.count for item in found if item.severity is severity) for severity in Severity}


def every_line(found: Sequence[Diagnostic]) -> list[str]:
    """Return a line for each problem, with its code."""
    return [f"{item} ({item.code})" for item in found]


def line_of_each_kind(found: Sequence[Diagnostic]) -> list[str]:
    """Return a line for each kind of problem: the first one, and the number of problems of this kind."""
    return [line for _, line in _first_of_each_kind(found)]


def _first_of_each_kind(found: Sequence[Diagnostic]) -> list[tuple[Diagnostic, str]]:
    kinds: dict[tuple[Severity, str], list[Diagnostic]] = {}
    for item in found:
        kinds.setdefault((item.severity, item.code), []).append(item)
    rows = []
    for (_, code), items in kinds.items():
        count = sum(item.count for item in items)
        line = f"{items[0]} ({code}, {count:,} times)" if count > 1 else f"{items[0]} ({code})"
        rows.append((items[0], line))
    return rows


def heard(problems: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the problems that a command prints: no warning or note that the project ignores, with ``--quiet`` errors.

    Raises:
        UsageError: as `project_settings`.
    """
    return [item for item in unignored(problems) if item.severity is Severity.ERROR or not is_quiet()]


def unignored(problems: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the problems without the warnings and notes that the project ignores; errors stay.

    Raises:
        UsageError: as `project_settings`.
    """
    ignored = policy_of_folder(Path()).ignore
    return [item for item in problems if item.severity is Severity.ERROR or item.code not in ignored]


def print_problems(problems: Iterable[Diagnostic]) -> None:
    """Print every problem to stderr with its code, with any number of them: they are not shown again."""
    for line in every_line(heard(problems)):
        print_error(line)


def print_reasons(error: DescriptionError) -> None:
    """Print the problems of an error to stderr: those that a command prints, or all where these explain nothing."""
    problems = list(error.diagnostics)
    errors = [item for item in problems if item.severity is Severity.ERROR]
    for line in every_line(errors if errors and is_quiet() else problems):
        print_error(line)


def _source_lines(place: SourcePlace) -> list[str]:
    """Return the line of a problem with a caret below its column, cut to the terminal; nothing without such a line."""
    # Import here: only a terminal gets these lines.
    from robot_semantics.xml.reader import forgiving_utf8, read_text
    from robot_semantics.xml.xacro import is_xacro

    # The lines of a xacro are those of the expanded text.
    if not place.line or is_xacro(place.source):
        return []
    try:
        text = forgiving_utf8(read_text(place.source), place.source)[0].decode()
    except DescriptionError:
        return []
    lines = text.split("\n")
    if place.line > len(lines):
        return []
    line, column = lines[place.line - 1].rstrip("\r").replace("\t", " "), max(place.column, 1)
    # Import here: only a problem needs it.
    import shutil

    number = str(place.line)
    width = max(shutil.get_terminal_size().columns - len(number) - 4, 20)
    start = 0 if len(line) <= width else max(min(column - width // 2, len(line) - width), 0)
    before, after = shown(line[start : column - 1], 10 * width), shown(line[column - 1 : start + width], 10 * width)
    margin = " " * len(number)
    return [f" {number} | {before}{after}", f" {margin} | {' ' * len(before)}^"]


def _print_problem(line: str) -> None:
    """Print the line of a problem; its severity has a colour on a terminal."""
    severity = next((severity for severity in _COLOUR if f" {severity.value}: " in line), None)
    if severity is None:
        print_line(line)
    else:
        print_coloured(line, f" {severity.value}: ", _COLOUR[severity])


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


def problems_json(problems: Sequence[Diagnostic], *, ok: bool) -> ProblemsJson:
    """Return the report for programs."""
    counts = counts_of(problems)
    return {
        "version": JSON_VERSION,
        "ok": ok,
        "errors": counts[Severity.ERROR],
        "warnings": counts[Severity.WARNING],
        "diagnostics": [item.as_json() for item in problems],
    }


def uri_reference(source: str, kind: type[PurePath] = PurePath) -> str:
    """Return the name of a file as a URI, or as a reference relative to the folder of the program."""
    path = kind(source)
    if isinstance(path, PureWindowsPath):
        return path.as_uri() if path.is_absolute() else quote(path.as_posix())
    return quote(source)


def as_sarif(problems: Sequence[Diagnostic]) -> dict[str, object]:
    """Return a SARIF 2.1.0 log of one run, which code hosts and editors read."""
    from robot_semantics.base.version import __version__
    from robot_semantics.cli.frame.explanations import explanations

    codes = list(dict.fromkeys(item.code for item in problems))
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
        for item in problems
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
    physical: JsonObject = {"artifactLocation": {"uri": uri_reference(place.source)}}
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
    "json": lambda found, ok: json.dumps(problems_json(found, ok=ok), indent=2, allow_nan=False),
    "sarif": lambda found, ok: json.dumps(as_sarif(found), indent=2, allow_nan=False),
    "github": lambda found, ok: "\n".join(as_github(found)),
}
"""The formats for programs: function of the problems and of the success flag."""


def add_report_arguments(parser: argparse.ArgumentParser) -> None:
    """Add options for the selection and output of problems."""
    shown = parser.add_argument_group("output options")
    shown.add_argument("--all", action="store_true", help="print every problem, not one line for each kind")
    shown.add_argument("--format", choices=("text", *FORMATS), help="output format (default: text)")
    shown.add_argument("--json", action="store_true", help="the same as --format json")
    add_policy_arguments(parser)


def choose_format(arguments: argparse.Namespace) -> None:
    """Set ``format`` to the format of the report.

    Raises:
        UsageError: ``--json`` is given with another format.
    """
    if arguments.json and arguments.format not in (None, "json"):
        raise UsageError(f"--json is --format json: give it without --format {arguments.format}")
    arguments.format = "json" if arguments.json else arguments.format or "text"


def report_problems(problems: Iterable[Diagnostic], arguments: argparse.Namespace, files: int) -> int:
    """Print the problems of `files` files as the arguments request; return the exit code.

    Raises:
        UsageError: the arguments or the project's settings name a code that does not exist.
    """
    policy = policy_of(arguments)
    reported = policy.of(problems)
    failed = policy.failed(reported)
    if arguments.format != "text":
        text = FORMATS[arguments.format](reported, not failed)
        if text:
            print_document(f"{text}\n")
        return int(failed)
    if arguments.quiet:
        reported = [item for item in reported if item.severity is Severity.ERROR]
    rows = list(zip(reported, every_line(reported), strict=True)) if arguments.all else _first_of_each_kind(reported)
    for item, line in rows:
        _print_problem(line)
        if sys.stdout.isatty() and not getattr(arguments, "xacro", False):
            for source_line in _source_lines(item.place):
                print_line(source_line, most=len(source_line))
    words = summary(reported)
    if arguments.quiet:
        return int(failed)
    if not words:
        unchecked = {item.place.source for item in problems if item.code == "unknown-configuration"}
        print_line(f"{counted(files - len(unchecked), 'file')} checked: no problems")
    else:
        print_line(words if len(rows) == len(reported) else f"{words}: --all shows every one")
    return int(failed)


# Baselines of `check`: known problems of an old repository, which are left out.


VERSION = 1
_MAX_BYTES = 1 << 26


class KnownProblem(NamedTuple):
    """A problem without its line, which changes with every edit above it; `file` is relative to the baseline."""

    file: str
    code: str
    path: str
    message: str


def add_baseline_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--baseline`` and ``--write-baseline``."""
    parser.add_argument("--baseline", metavar="FILE", help="leave out the problems in this file")
    parser.add_argument("--write-baseline", type=on_disk, metavar="FILE", help="write all problems as a baseline")
    parser.add_argument("--force", action="store_true", help="overwrite a file")


def _known(item: Diagnostic, folder: Path) -> KnownProblem:
    file = relative_path(resolved(item.place.source), folder) if item.place.source else "."
    return KnownProblem(file, item.code, item.place.path, item.message)


def check_baseline_place(path: str, *, force: bool) -> None:
    """Check that a baseline may be written to a file: there is none, it is a baseline, or `force` is true.

    Raises:
        RobotSemanticsError: the file exists and is not a baseline.
    """
    if force or not Path(path).is_file():
        return
    try:
        _read_baseline(path)
    except RobotSemanticsError as error:
        raise RobotSemanticsError(f"{error}; --force overwrites it") from None


def write_baseline(problems: Iterable[Diagnostic], path: str) -> int:
    """Write the problems to a file; return their number.

    That a file was not compared is never a known problem, because nobody knows what the comparison would find.
    """
    folder = resolved(path).parent
    counts = Counter(_known(item, folder) for item in problems if item.code != NOT_COMPARED)
    rows = [{**problem._asdict(), "count": count} for problem, count in sorted(counts.items())]
    save_text(json.dumps({"version": VERSION, "problems": rows}, indent=1, ensure_ascii=False) + "\n", path)
    return sum(counts.values())


def without_known(problems: Sequence[Diagnostic], path: str) -> tuple[list[Diagnostic], int]:
    """Return the problems that the baseline does not have, and the number of its problems that no longer exist.

    Raises:
        RobotSemanticsError: the file is not a baseline.
    """
    folder, baseline = resolved(path).parent, _read_baseline(path)
    new = []
    for item in problems:
        problem = _known(item, folder)
        if baseline[problem] > 0:
            baseline[problem] -= 1
        else:
            new.append(item)
    return new, sum(baseline.values())


def _read_baseline(path: str) -> Counter[KnownProblem]:
    try:
        content: Any = json.loads(read_named(path, _MAX_BYTES))
        if content["version"] != VERSION:
            raise RobotSemanticsError(f"'{path}' is a baseline of version {content['version']}, not {VERSION}")
        rows = [
            (KnownProblem(*(str(row[key]) for key in KnownProblem._fields)), row["count"])
            for row in content["problems"]
        ]
        return Counter({problem: int(count) for problem, count in rows})
    except OSError as error:
        raise RobotSemanticsError(f"'{path}' cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise RobotSemanticsError(f"'{path}' is not a baseline; --write-baseline writes one") from None
