# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What commands print: lines for people, JSON with the version of its shape for programs.

Whatever names lines hold, they neither steer a terminal nor fill it. `spec/commands-1.schema.json` says the shape of
every command's JSON, `spec/check-1.schema.json` that of problems and errors.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from io import StringIO, TextIOWrapper
from typing import Any, TextIO

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.foreign_text import shown

LONGEST_LINE = 2000
"""Characters of a line that are printed at most."""


def counted(count: int, noun: str) -> str:
    """Return a number of things in words: ``1 state``, ``2 states``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def say(text: object, *, file: TextIO | None = None, flush: bool = False) -> None:
    """Print a text as one line, as the built-in `print` does."""
    print(shown(str(text), LONGEST_LINE), file=file, flush=flush)


def print_document(text: str) -> None:
    """Print a document for others to read, in UTF-8: so it says of itself, whatever the locale's encoding is."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.stdout.write(text)


JSON_VERSION = 1
"""Grows when a key changes its meaning."""

_VERSIONED = "--json=1"


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """Declare ``--json`` and ``--json=1``."""
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    add_versioned_json(parser)


def add_versioned_json(parser: argparse._ActionsContainer, dest: str = "json", value: str = _VERSIONED) -> None:
    """Declare ``--json=1``, where ``--json`` is declared; it puts `value` into `dest`."""
    text = "the same in version 1: lists and maps of names, too, as an object with a version"
    parser.add_argument(_VERSIONED, dest=dest, action="store_const", const=value, help=text)


def add_json(parser: argparse.ArgumentParser, run: Callable[[argparse.Namespace], int | None]) -> Any:
    """Give a command that has no JSON of its own ``--json`` all the same: an object with the text that it prints.

    Returns what does its work then.
    """
    if "--json" in parser._option_string_actions:
        return run
    add_json_argument(parser)

    def run_for_programs(arguments: argparse.Namespace) -> int | None:
        if not arguments.json:
            return run(arguments)
        with redirect_stdout(StringIO()) as text:
            code = run(arguments)
        print_result(arguments, {"ok": not code, "text": text.getvalue()})
        return code

    return run_for_programs


def wants_json(arguments: argparse.Namespace) -> bool:
    """Tell whether standard output is for programs: then errors are JSON, too."""
    # The reports of check have --format for it.
    of_a_check = None if hasattr(arguments, "json") else getattr(arguments, "format", None)
    return getattr(arguments, "json", None) in (True, _VERSIONED, "-") or of_a_check == "json"


def print_result(arguments: argparse.Namespace, result: Mapping[str, Any], *, alone: str | None = None) -> None:
    """Print a command's result with the version of its shape.

    Args:
        arguments: of the command.
        result: JSON-ready values by key.
        alone: the key whose value, a list or a map of names, is all that a plain ``--json`` prints, without a version;
            so it was when scripts began to read it.

    Raises:
        RobotSemanticsError: as `print_json`.
    """
    print_json(result[alone] if alone and arguments.json is True else {"version": JSON_VERSION, **result})


def tell(
    arguments: argparse.Namespace, result: Mapping[str, Any], lines: Iterable[object], *, alone: str | None = None
) -> None:
    """Print a command's result as JSON where that is asked for, as `print_result` does; else as lines for people."""
    if arguments.json:
        print_result(arguments, result, alone=alone)
        return
    for line in lines:
        say(line)


def print_json(value: Any) -> None:
    """Print a value as JSON that is exact and free of NaN, whatever characters standard output takes.

    Raises:
        RobotSemanticsError: a number is not finite; nothing has been printed then.
    """
    in_unicode = (sys.stdout.encoding or "utf-8").lower().replace("_", "-").startswith("utf-")
    try:
        text = json.dumps(value, indent=2, ensure_ascii=not in_unicode, allow_nan=False)
    except ValueError as error:
        raise RobotSemanticsError("a result is beyond 64-bit floats, so there is no JSON of it") from error
    sys.stdout.write(text + "\n")
