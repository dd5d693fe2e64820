# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Description of a command or operation of the command line: its arguments, its function, its operations."""

from __future__ import annotations

import argparse
import importlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from robot_semantics.base.errors import UsageError as UsageError
from robot_semantics.base.names import STANDARD_INPUT
from robot_semantics.base.pattern import pattern
from robot_semantics.cli.frame.outputs import declare_file_options


def no_arguments(_parser: argparse.ArgumentParser) -> None:
    """Add no arguments."""


NODE = "/robot_semantics"
"""Name of the node that ``--node`` asks."""


def with_node_name(words: Sequence[str]) -> list[str]:
    """Return the words of a command line with the name of the node behind each ``--node`` that has none."""
    last = words.index("--") if "--" in words else len(words)
    return [f"--node={NODE}" if word == "--node" and at < last else word for at, word in enumerate(words)]


def _files(value: object) -> list[str]:
    """Return the file names in the value of an argument; words such as ``[NAME=]URDF[,SRDF]`` know theirs."""
    named: Sequence[object] | None = getattr(value, "files", None)
    if named is None and isinstance(value, (list, tuple)):
        return [file for item in value for file in _files(item)]
    return [str(value)] if named is None and value else [*map(str, named or ())]


class LazyCommand(NamedTuple):
    """An operation whose module is imported when the operation is used.

    Attributes:
        module: its module, in full.
        name: the name of its `Command` in this module.
        help: its line in the help of the command.
    """

    module: str
    name: str
    help: str

    def load(self) -> Command:
        """Import the module and return the operation."""
        command: Command = getattr(importlib.import_module(self.module), self.name)
        return command._replace(help=self.help)


_INPUT = pattern(
    r"(\[?NAME=\]?)?(URDF|SRDF|U|S\.srdf|OLD|FILE|WORLD|BAG|STATES|SERIES|XML|CSV|A|B|FIRST|SECOND|BASE|PART)"
    r"(\.[a-z]+)?(\[?,SRDF\]?)?"
)
"""Metavar of an argument that names files to read."""


def declare_inputs(parser: argparse.ArgumentParser, *, reads_input: bool) -> None:
    """Note the arguments that name files to read, for `check_standard_input`; without `reads_input`, its words."""
    outputs = parser.get_default("made_files") or ()
    parser.set_defaults(
        only_files=set() if reads_input else {action.dest for action in parser._actions if not action.option_strings},
        read_files={
            action.dest
            for action in parser._actions
            if isinstance(action.metavar, str) and _INPUT.fullmatch(action.metavar) and action.dest not in outputs
        },
    )


def check_standard_input(arguments: argparse.Namespace) -> None:
    """Check that ``-``, standard input, is read at most once and can be read.

    Raises:
        UsageError: it is not; or a file is to be changed in place, and standard input is no file.
    """
    words = {name: _files(getattr(arguments, name)) for name in getattr(arguments, "read_files", ())}
    if any(STANDARD_INPUT in words[name] for name in words.keys() & getattr(arguments, "only_files", set())):
        raise UsageError("'-' is standard input, which this command does not read: give a file")
    count = sum(row.count(STANDARD_INPUT) for row in words.values())
    if count > 1:
        raise UsageError(f"'-' is standard input, which can be read only once; it is given {count} times")
    for option in ("in_place", "fix"):
        if count and getattr(arguments, option, False):
            raise UsageError(f"--{option.replace('_', '-')} changes a file, and '-' is standard input")


def first_or_all(words: Sequence[str], names: Iterable[str]) -> Iterable[str]:
    """Return the names that can follow: only the first word if it is one of them, as a parser takes 0.5 ms."""
    return words[:1] if words and words[0] in names and "_ARGCOMPLETE" not in os.environ else names


class Command(NamedTuple):
    """A command of the command line, or an operation of a command.

    Attributes:
        arguments: adds its arguments.
        run: does the work and returns the exit code, None for 0; None for a command with operations.
        help: one line; for commands it is in `robot_semantics.cli.running`, which shows it without importing the
            command.
        operations: its operations by name.
        reads_input: True if ``-`` is standard input for its words, not only for the files of options.
        examples: command lines at the end of its help; tests run them in a folder with the files of the example robot.
    """

    arguments: Callable[[argparse.ArgumentParser], None] = no_arguments
    run: Callable[[argparse.Namespace], int | None] | None = None
    help: str = ""
    operations: Mapping[str, Command | LazyCommand] = MappingProxyType({})
    examples: tuple[str, ...] = ()
    reads_input: bool = True

    def load(self) -> Command:
        """Return this command, like `LazyCommand.load`."""
        return self

    def declare(self, parser: argparse.ArgumentParser, words: Sequence[str] = ()) -> None:
        """Set up `parser` for this command: the attribute `perform` of its result does the work.

        Args:
            parser: parser of the command.
            words: the words behind the command; of the operations, only those among them are set up.
        """
        self.arguments(parser)
        if self.run is not None:
            parser.add_argument("--quiet", action="store_true", help="print errors and the result only")
        declare_file_options(parser)
        declare_inputs(parser, reads_input=self.reads_input)
        lines = "\n".join(f"  {line}" for line in self.examples)
        title = "examples" if len(self.examples) > 1 else "example"
        parser.epilog = "\n\n".join(text for text in (parser.epilog, lines and f"{title}:\n{lines}") if text)
        if self.run is not None:
            parser.set_defaults(perform=self.run)
            return
        choices = parser.add_subparsers(dest="operation", metavar="OPERATION", required=True)
        for name in first_or_all(words, self.operations):
            operation = self.operations[name]
            choice = choices.add_parser(name, help=operation.help, description=operation.help)
            if name in words:
                operation.load().declare(choice, words[words.index(name) + 1 :])
