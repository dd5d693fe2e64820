# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What commands print: lines for people, JSON with the version of its shape for programs.

Whatever names lines hold, they neither steer a terminal nor fill it. `spec/commands-2.schema.json` says the shape of
every command's JSON, `spec/check-2.schema.json` that of problems and errors.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from io import TextIOWrapper
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


JSON_VERSION = 2
"""Grows when a key changes its meaning."""


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """Declare ``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    accept_json_1(parser, "json", True)


def accept_json_1(parser: argparse._ActionsContainer, dest: str, value: object) -> None:
    """Accept ``--json=1``, as version 1 had it, where ``--json`` is declared; it puts `value` into `dest`."""
    parser.add_argument("--json=1", dest=dest, action="store_const", const=value, help=argparse.SUPPRESS)


def wants_json(arguments: argparse.Namespace) -> bool:
    """Return whether standard output is for programs: then errors are JSON there."""
    # The reports of check have --format for it.
    of_a_check = None if hasattr(arguments, "json") else getattr(arguments, "format", None)
    return getattr(arguments, "json", None) in (True, "-") or of_a_check == "json"


def print_result(result: Mapping[str, Any]) -> None:
    """Print a command's result, JSON-ready values by key, with the version of its shape.

    Raises:
        RobotSemanticsError: as `print_json`.
    """
    print_json({"version": JSON_VERSION, **result})


def tell(arguments: argparse.Namespace, result: Mapping[str, Any], lines: Iterable[object]) -> None:
    """Print a command's result as JSON if that is asked for, as `print_result` does; else as lines for people."""
    if arguments.json:
        print_result(result)
        return
    for line in lines:
        say(line)


def print_json(value: Any) -> None:
    """Print a value as JSON that is exact and free of NaN, whatever characters standard output takes.

    Raises:
        RobotSemanticsError: a number is not finite; nothing has been printed then.
    """
    # Imported here: `--version` and `--help` need no JSON.
    import json

    in_unicode = (sys.stdout.encoding or "utf-8").lower().replace("_", "-").startswith("utf-")
    try:
        text = json.dumps(value, indent=2, ensure_ascii=not in_unicode, allow_nan=False)
    except ValueError as error:
        raise RobotSemanticsError("a result is beyond 64-bit floats, so there is no JSON of it") from error
    sys.stdout.write(text + "\n")
