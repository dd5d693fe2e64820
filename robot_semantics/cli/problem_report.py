# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The end of every check: problems printed for people or for programs, and the exit code."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from robot_semantics.base.diagnostics import Diagnostic, Severity
from robot_semantics.cli.json_output import add_versioned_json
from robot_semantics.cli.problem_formats import FORMATS, coloured, every_line, line_of_each_kind, summary
from robot_semantics.cli.problem_policy import add_policy_arguments, policy_of


def add_report_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare how problems are counted and printed."""
    shown = parser.add_argument_group("what is printed")
    shown.add_argument("--all", action="store_true", help="print every problem, not one line for each kind")
    shown.add_argument("--quiet", action="store_true", help="print errors alone, and nothing where there is none")
    shown.add_argument(
        "--format", choices=("text", *FORMATS), default="text", help="text, or a form for programs (default: text)"
    )
    shown.add_argument("--json", dest="format", action="store_const", const="json", help="the same as --format json")
    add_versioned_json(shown, "format", "json")
    add_policy_arguments(parser)


def report(found: Iterable[Diagnostic], arguments: argparse.Namespace, files: int) -> int:
    """Print the problems of a number of files as the arguments say; return the exit code.

    Raises:
        UsageError: the arguments or the project's settings name a code that does not exist.
    """
    policy = policy_of(arguments)
    counted = policy.of(found)
    failed = policy.failed(counted)
    if arguments.format != "text":
        text = FORMATS[arguments.format](counted, not failed)
        if text:
            print(text)
        return int(failed)
    if arguments.quiet:
        counted = [item for item in counted if item.severity is Severity.ERROR]
    lines = every_line(counted) if arguments.all else line_of_each_kind(counted)
    for line in lines:
        print(coloured(line))
    words = summary(counted)
    if arguments.quiet:
        return int(failed)
    if not words:
        print(f"{files} file{'s' if files > 1 else ''} checked: no problems")
    else:
        print(words if len(lines) == len(counted) else f"{words}: --all shows every one")
    return int(failed)
