# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Output of commands: lines for people, JSON with a version for programs.

Names in lines cannot control or flood the terminal. `spec/commands-2.schema.json` specifies the JSON of every command,
`spec/check-2.schema.json` the JSON of problems and errors.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from io import TextIOWrapper
from typing import TextIO

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import LONGEST_LINE, quoted, shown
from robot_semantics.base.names import print_line as print_line
from robot_semantics.base.pattern import pattern

_quiet = False
"""True if ``--quiet`` hides everything but errors and the result."""


def set_quiet(quiet: bool) -> None:
    """Hide or show notes, warnings and progress."""
    global _quiet
    _quiet = quiet


def is_quiet() -> bool:
    """Return True if only errors and the result are printed."""
    return _quiet


def print_error(text: object) -> None:
    """Print a line about an error to stderr."""
    print_line(text, file=sys.stderr)


def print_note(text: object, *, flush: bool = False) -> None:
    """Print a line that is no error to stderr; nothing with ``--quiet``."""
    if not _quiet:
        print_line(text, file=sys.stderr, flush=flush)


_last: list[str] = []


def note_at_end(text: str) -> None:
    """Print a note after the result, if that can be written; each only once, and nothing with ``--quiet``."""
    if not _quiet and text not in _last:
        _last.append(text)


def print_last_notes() -> None:
    """Print the notes of `note_at_end`."""
    while _last:
        print_line(_last.pop(0), file=sys.stderr)


def print_notes(texts: Iterable[object], start: str = "note: ", *, exact: bool = False) -> None:
    """Print lines as `print_note`, alike ones as one line; see `grouped`."""
    for text in [] if _quiet else grouped(map(str, texts), exact=exact):
        print_note(f"{start}{text}")


_NUMBER = pattern(r"(?<![\w.])[-+]?\d[\d.]*(?:e[-+]?\d+)?(?!\w)")
_NAME = r"(\w+) '([^']*)'"
_NAMED = pattern(_NAME)
_SUBJECT = pattern(rf"{_NAME}(?:(?:: |, | )?{_NAME})*")
_MOST_NAMES = 12


def grouped(texts: Iterable[str], *, exact: bool = False) -> list[str]:
    """Return texts; those that differ only in the names at their start become one: ``3 joints: …; likewise: 'b', 'c'``.

    Without `exact`, they may also differ in numbers.
    """
    alike: dict[tuple[str, ...], list[str]] = {}
    for text in dict.fromkeys(texts):
        subject = _SUBJECT.match(text)
        rest = text[subject.end() :] if subject else text
        nouns = tuple(noun for noun, _ in _NAMED.findall(subject[0])) if subject else ()
        alike.setdefault((rest if exact else _NUMBER.sub("*", rest), *nouns), []).append(text)
    return [line for group in alike.values() for line in _one_of(group)]


def _one_of(texts: Sequence[str]) -> Sequence[str]:
    """Return texts that differ only in the names at their start as one text."""
    subjects = [_SUBJECT.match(text) for text in texts]
    names = [_NAMED.findall(subject[0]) for subject in subjects if subject]
    differing = [column for column in range(len(names[0])) if len({row[column] for row in names}) > 1] if names else []
    if len(texts) == 1 or not differing:
        return texts
    # The last name that differs is the most special: a joint of a model.
    noun = next((names[0][column][0] for column in reversed(differing) if names[0][column][0] != "of"), "item")
    others = ["/".join(row[column][1] for column in differing) for row in names[1:]]
    return [f"{counted(len(texts), noun)}: {texts[0]}; likewise: {quoted(others, _MOST_NAMES)}"]


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 state``, ``2 states``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def wants_colour(stream: TextIO) -> bool:
    """Return True for a terminal with colours; ``NO_COLOR`` and ``TERM=dumb`` switch them off in every command."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def print_coloured(text: str, word: str, colour: str) -> None:
    """Print a text as `print_line`, with its first `word` in a colour, an ANSI sequence, if colours are wanted."""
    before, marked, after = shown(text, LONGEST_LINE).partition(word)
    print(f"{before}{colour}{marked}\033[0m{after}" if wants_colour(sys.stdout) else before + marked + after)


def print_document(text: str) -> None:
    """Print a document for other programs in UTF-8, as the document declares, with any locale."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.stdout.write(text)


_UNPRINTABLE = pattern("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
JSON_VERSION = 2
"""Increased when a key changes its meaning."""


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def wants_json(arguments: argparse.Namespace) -> bool:
    """Return True if standard output is for programs; errors are then JSON there."""
    # `check` also has --format.
    return bool(getattr(arguments, "json", False)) or getattr(arguments, "format", None) == "json"


def print_result(result: Mapping[str, object]) -> None:
    """Print a command's result, JSON-ready values by key, with the version.

    Raises:
        RobotSemanticsError: as `print_json`.
    """
    print_json({"version": JSON_VERSION, **result})


def print_output(arguments: argparse.Namespace, result: Mapping[str, object], lines: Iterable[object]) -> None:
    """Print a command's result as JSON on request, as `print_result`; else as lines for people."""
    if arguments.json:
        print_result(result)
        return
    for line in lines:
        print_line(line)


def print_json(value: object) -> None:
    """Print a value as exact JSON without NaN, in any encoding of standard output.

    Raises:
        RobotSemanticsError: a number is not finite; then nothing is printed.
    """
    # Import here: `--version` and `--help` need no JSON.
    import json

    in_unicode = (sys.stdout.encoding or "utf-8").lower().replace("_", "-").startswith("utf-")
    try:
        text = json.dumps(value, indent=2, ensure_ascii=not in_unicode, allow_nan=False)
    except ValueError as error:
        raise RobotSemanticsError(
            "a result is too large for a 64-bit float, so it cannot be written as JSON"
        ) from error
    # JSON escapes control characters, but not the marks that reverse the direction of a text.
    sys.stdout.write(_UNPRINTABLE.sub(lambda mark: json.dumps(mark[0])[1:-1], text) + "\n")
