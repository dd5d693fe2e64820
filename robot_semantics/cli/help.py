# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics help` and `explain`: the help of a command, the manual page, and the pages of problem codes."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence

from robot_semantics.base.errors import UnknownNameError
from robot_semantics.cli.frame.command import Command, UsageError
from robot_semantics.cli.frame.explanations import explanations
from robot_semantics.cli.frame.printing import add_json_argument, print_document, print_line, print_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("words", metavar="COMMAND", nargs="*", help="command, or command and operation")
    parser.add_argument("--man", action="store_true", help="print the manual page of all commands, for man")


def run(arguments: argparse.Namespace) -> int:
    """Print the help; the answer to wrong words is that of the command line."""
    # Import here: `running` loads the commands.
    from robot_semantics.cli.running import parser_of

    if not arguments.man:
        words = [*arguments.words, "--help"]
        _check_words(arguments.words)
        try:
            parser_of(words).parse_args(words)
        except SystemExit as stop:
            return int(stop.code or 0)
    elif arguments.words:
        raise UsageError("--man prints all commands: give it without COMMAND")
    else:
        print_document(man_page())
    return 0


def _check_words(words: Sequence[str]) -> None:
    """Check that no word follows a command, or an operation of it.

    Raises:
        UsageError: one does.
    """
    from robot_semantics.cli.running import COMMANDS, command_of

    if not words or words[0] not in COMMANDS:
        return
    command = command_of(words[0])
    for count, word in enumerate(words[1:], 1):
        if command.run is not None:
            raise UsageError(f"unexpected '{word}': 'help {' '.join(words[:count])}' is complete")
        if word not in command.operations:
            return
        command = command.operations[word].load()


def man_page() -> str:
    """Return the manual page of all commands in roff, made from their parsers."""
    from robot_semantics.base.version import __version__
    from robot_semantics.cli.running import COMMANDS, EXIT_CODES, all_commands, help_text, parser_of

    lines = [
        f'.TH ROBOT_SEMANTICS 1 "" "robot_semantics {__version__}" "User Commands"',
        ".SH NAME",
        r"robot_semantics \- robot descriptions, semantics and states",
        ".SH SYNOPSIS",
        r"\fBrobot_semantics\fR \fICOMMAND\fR [options] ...",
        ".SH DESCRIPTION",
        "Reads, checks and writes URDF, SRDF and USDF, asks running robots, and converts recordings.",
        ".SH COMMANDS",
    ]
    for name, summary in COMMANDS.items():
        lines += [".TP", rf"\fB{_roff(name)}\fR", f"{_roff(summary)}."]
    lines += [".SH EXIT STATUS", *_block(EXIT_CODES)]
    for words, command in all_commands():
        parser = parser_of(words.split())
        for word in words.split():
            parser = _of(parser, word)
        lines.append(f'.SH "{_roff(words.upper())}"')
        lines += _block(help_text(parser, 80) if command.run is not None or command.operations else "")
    return "\n".join(lines) + "\n"


def _of(parser: argparse.ArgumentParser, word: str) -> argparse.ArgumentParser:
    """Return the parser of a command or operation."""
    choices = next(action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    found: argparse.ArgumentParser = choices[word]
    return found


def _block(text: str) -> Iterator[str]:
    yield ".nf"
    for line in text.rstrip("\n").split("\n"):
        yield re.sub(r"^([.'])", r"\\&\1", _roff(line))
    yield ".fi"


def _roff(text: str) -> str:
    return text.replace("\\", r"\e").replace("-", r"\-")


HELP = Command(
    add_arguments,
    run,
    examples=(
        "robot_semantics help usdf edit",
        "robot_semantics help --man > ~/.local/share/man/man1/robot_semantics.1",
    ),
)


# `robot_semantics explain`: print the pages of problem codes.


def add_explain_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the codes argument."""
    parser.add_argument("codes", metavar="CODE", nargs="*", help="code of a problem (default: list all)")
    add_json_argument(parser)


def explain(arguments: argparse.Namespace) -> None:
    """Print the pages.

    Raises:
        UsageError: a code does not exist.
    """
    pages = explanations()
    for code in arguments.codes:
        if code not in pages:
            raise UsageError(str(UnknownNameError("code", code, pages)))
    if arguments.json:
        rows = [page._asdict() for page in pages.values()]
        chosen = set(arguments.codes or pages)
        print_result({"codes": [row for row in rows if row["code"] in chosen]})
        return
    if not arguments.codes:
        width = max(map(len, pages))
        for page in pages.values():
            print_line(f"{page.code:{width}}  {page.what}")
    print_document("\n\n".join(f"{code}\n{'-' * len(code)}\n{pages[code].text}" for code in arguments.codes))
    if arguments.codes:
        print_document("\n")


EXPLAIN = Command(
    add_explain_arguments, explain, examples=("robot_semantics explain unknown-link", "robot_semantics explain")
)
