# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`python -m conformance`: print the conformance cases that a reader passes, by the rules of the specifications.

A reader is any program that answers lines on its standard input. README.md in this folder describes the lines.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from html import escape
from pathlib import Path
from typing import Any

from conformance.comparison import FORMATS, Case, Outcome, cases, differences
from conformance.reader_process import Reader
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.files import save_text
from robot_semantics.base.names import shown

FOLDER = Path(__file__).parent
SHOWN, KEPT, LONGEST_LINE = 5, 100, 2000


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog="python -m conformance", description="Ask a reader the conformance cases.")
    made.add_argument("--reader", metavar="CMD", required=True, help="command that reads; see README.md")
    made.add_argument("--format", action="append", choices=FORMATS, default=[], help="only the cases of this format")
    made.add_argument("--cases", metavar="DIR", type=Path, default=FOLDER, help="folder of the cases")
    made.add_argument("--report", metavar="R.html", type=Path, help="also write a page with every case")
    made.add_argument("--json", action="store_true", help="print JSON for programs")
    return made


def main(words: Sequence[str] | None = None) -> int:
    """Run the reader on every case and print the passed cases by rule.

    Returns:
        0: it passes all supported cases; 1: it fails one, or cannot be run; 2: wrong usage.
    """
    made = parser()
    arguments = made.parse_args(words)
    try:
        command = shlex.split(arguments.reader)
    except ValueError as error:
        made.error(f"--reader: {error}")
    if not command:
        made.error("--reader: there is no command")
    try:
        return run(command, arguments)
    except (RobotSemanticsError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def run(command: Sequence[str], arguments: argparse.Namespace) -> int:
    """Start the reader `command`, run all cases, and print the outcomes.

    Raises:
        RobotSemanticsError: the reader cannot be started, or there are no cases.
        OSError: the report cannot be written.
    """
    chosen = list(cases(arguments.cases, arguments.format or FORMATS))
    if not chosen:
        raise RobotSemanticsError(f"there are no cases in {arguments.cases}")
    with closing(Reader(command)) as reader:
        outcomes = [_outcome(case, reader.answer(case.fields)) for case in chosen]
    if arguments.report:
        save_text(_page(arguments.reader, outcomes), arguments.report)
    if arguments.json:
        print(json.dumps(_as_json(outcomes), indent=2))
    else:
        _print(outcomes)
    asked = [outcome for outcome in outcomes if outcome.differences is not None]
    return 0 if asked and all(outcome.passed for outcome in asked) else 1


def _as_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    rows = [
        {
            "format": one.case.format,
            "rule": one.case.rule,
            "name": one.case.name,
            "outcome": one.word,
            "differences": one.differences or (),
        }
        for one in outcomes
    ]
    return {"version": 2, "passed": sum(outcome.passed for outcome in outcomes), "cases": rows}


def _print(outcomes: Sequence[Outcome]) -> None:
    rules: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        rules.setdefault((outcome.case.format, outcome.case.rule), []).append(outcome)
    print(f"{'format':<8}{'rule':<10}{'passed':>8}{'of':>8}")
    for (kind, rule), of_rule in rules.items():
        print(f"{kind:<8}{rule:<10}{sum(one.passed for one in of_rule):>8}{len(of_rule):>8}")
    for outcome in outcomes:
        found = outcome.differences or ()
        if found:
            more = len(found) - SHOWN
            text = "; ".join(found[:SHOWN]) + f"; and {more} more" * (more > 0)
            print(f"{outcome.case.format} {outcome.case.name}: {text}")
    print(_summary(outcomes))


def _outcome(case: Case, given: Mapping[str, Any] | str) -> Outcome:
    if isinstance(given, dict) and given.get("unsupported"):
        return Outcome(case, None)
    try:
        found = differences(case.answer, given)
        return Outcome(case, tuple(shown(difference, LONGEST_LINE) for difference in found[:KEPT]))
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        return Outcome(case, (f"the answer has not the shape of one ({shown(str(error))})",))


def _summary(outcomes: Sequence[Outcome]) -> str:
    unsupported = sum(outcome.differences is None for outcome in outcomes)
    said = f"{sum(outcome.passed for outcome in outcomes)} of {len(outcomes)} cases passed"
    return f"{said}, {unsupported} not supported" if unsupported else said


def _page(reader: str, outcomes: Sequence[Outcome]) -> str:
    """Return a page with a row for each case."""
    rows = "\n".join(
        f"<tr><td>{outcome.case.format}<td>{escape(outcome.case.rule)}<td>{escape(outcome.case.name)}"
        f"<td>{outcome.word}<td>{'<br>'.join(map(escape, outcome.differences or ()))}</tr>"
        for outcome in outcomes
    )
    return (
        f"<!DOCTYPE html><meta charset=utf-8><title>Conformance</title><h1>{escape(reader)}</h1>"
        f"<p>{_summary(outcomes)}<table>\n{rows}\n</table>\n"
    )


if __name__ == "__main__":
    sys.exit(main())
