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
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from robot_semantics.base.errors import UsageError as UsageError
from robot_semantics.cli.frame.outputs import declare_file_options


def no_arguments(_parser: argparse.ArgumentParser) -> None:
    """Add no arguments."""


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


class Command(NamedTuple):
    """A command of the command line, or an operation of a command.

    Attributes:
        arguments: adds its arguments.
        run: does the work and returns the exit code, None for 0; None for a command with operations.
        help: one line; for commands it is in `robot_semantics.cli.running`, which shows it without importing the
            command.
        operations: its operations by name.
        examples: command lines at the end of its help; tests run them in a folder with the files of the example robot.
    """

    arguments: Callable[[argparse.ArgumentParser], None] = no_arguments
    run: Callable[[argparse.Namespace], int | None] | None = None
    help: str = ""
    operations: Mapping[str, Command | LazyCommand] = MappingProxyType({})
    examples: tuple[str, ...] = ()

    def load(self) -> Command:
        """Return this command, like `LazyCommand.load`."""
        return self

    def declare(self, parser: argparse.ArgumentParser, words: Sequence[str] = ()) -> None:
        """Set up `parser` for this command: the attribute `perform` of its result does the work.

        Args:
            parser: parser of the command.
            words: the words of the command line; of the operations, only those among them are set up.
        """
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        self.arguments(parser)
        declare_file_options(parser)
        lines = "\n".join(f"  {line}" for line in self.examples)
        title = "examples" if len(self.examples) > 1 else "example"
        parser.epilog = "\n\n".join(text for text in (parser.epilog, lines and f"{title}:\n{lines}") if text)
        if self.run is not None:
            parser.set_defaults(perform=self.run)
            return
        choices = parser.add_subparsers(dest="operation", metavar="OPERATION", required=True)
        for name, operation in self.operations.items():
            choice = choices.add_parser(name, help=operation.help, description=operation.help)
            if name in words:
                operation.load().declare(choice, words)
