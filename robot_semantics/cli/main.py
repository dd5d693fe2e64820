"""The `robot_semantics` command: one module per sub-command, imported only when it is called."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import re
import sys
from collections.abc import Sequence
from typing import NamedTuple, NoReturn, Protocol

from robot_semantics import __version__
from robot_semantics.base.errors import DescriptionError, RobotSemanticsError
from robot_semantics.base.names import did_you_mean
from robot_semantics.cli.examples import epilog
from robot_semantics.cli.words import UsageError

EXIT_OK, EXIT_PROBLEMS, EXIT_USAGE = 0, 1, 2
EXIT_CODES = """exit codes of all commands:
  0  done; of check: no errors (with --strict: no warnings either)
  1  something is wrong with what was given: a file, a name in it, a running node; of diff: a difference
  2  wrong usage: words that have no meaning, whatever the files say
'robot_semantics COMMAND --help' says more, with examples."""


class Command(NamedTuple):
    """A sub-command: the module that implements it and the line that `--help` shows."""

    module: str
    summary: str


class CommandModule(Protocol):
    """What a command's module offers."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do the work and return the exit code."""


COMMANDS: dict[str, Command] = {
    "check": Command("check", "check URDF, SRDF and USDF files and report every problem with its place"),
    "show": Command("show", "show a robot: links, joints, groups, states, end effectors"),
    "fk": Command("fk", "compute the pose of every link in the root link's frame"),
    "group": Command("group", "show one group with everything derived"),
    "groups": Command("groups", "list the groups of a robot"),
    "states": Command("states", "list named states, or find those that given positions are in"),
    "find": Command("find", "find the groups of a link or joint, collision pairs, end effectors, passive joints"),
    "srdf": Command("srdf", "write an SRDF: new, add, remove, rename, in place and checked"),
    "expand": Command("expand", "print a description as text, a xacro with its macros carried out"),
    "upgrade": Command("upgrade", "bring a URDF in one of the two older forms to the current one"),
    "collisions": Command("collisions", "generate, audit and compare self-collision matrices"),
    "export": Command("export", "make world states from recordings: rosbag2, mcap, ROS 1 bags"),
    "bag": Command("bag", "make a recording (rosbag2, mcap) from world states"),
    "view": Command("view", "see robots, worlds and series: on a page, or as a picture without a display"),
    "plot": Command("plot", "draw joint positions, velocities and base path of a series"),
    "sim": Command("sim", "simulate a world, and continue it bit for bit from its file"),
    "snapshot": Command("snapshot", "save, restore, list and delete snapshots of a running node"),
    "doctor": Command("doctor", "look at this machine and the running robots, and say what is wrong"),
    "example": Command("example", "write the files of an example robot, to try everything with"),
    "completion": Command("completion", "print what a shell needs to complete this command"),
    "usdf": Command("usdf", "work with world states: show, check, resolve, diff, merge, convert and more"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code: 0 done, 1 problems in the input, 2 wrong usage."""
    words = list(sys.argv[1:] if argv is None else argv)
    plain, xacro_arguments = split_xacro_arguments(words)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show an arrow shows its code, and the rest.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        parser = _parser(next((word for word in plain if not word.startswith("-")), None))
        arguments = parser.parse_args(plain)
        arguments.xacro_arguments = xacro_arguments
        if arguments.command is None:
            parser.print_help()
            return EXIT_USAGE
        module: CommandModule = arguments.module
        return module.run(arguments)
    except DescriptionError as error:
        for diagnostic in error.diagnostics:
            print(diagnostic, file=sys.stderr)
        return EXIT_PROBLEMS
    except RobotSemanticsError as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_USAGE if isinstance(error, UsageError) else EXIT_PROBLEMS
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            # The reader of our output has gone (`| head`); the interpreter must not complain when it flushes.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return EXIT_PROBLEMS
        where = f"{error.filename}: " if error.filename else ""
        print(f"error: {where}{error.strerror or error}", file=sys.stderr)
        return EXIT_PROBLEMS
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def split_xacro_arguments(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return the words that are not ``name:=value``, and the others, xacro arguments, as a mapping."""
    assignments = {word: re.fullmatch(r"([A-Za-z_]\w*):=(.*)", word, re.DOTALL) for word in words}
    found = {match.group(1): match.group(2) for match in assignments.values() if match}
    return [word for word in words if not assignments[word]], found


class _Parser(argparse.ArgumentParser):
    """A parser, and so are those of its commands, that says what a misspelt word was probably meant to be."""

    def error(self, message: str) -> NoReturn:
        """Print the message and the usage, and exit."""
        wrong = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        hint = did_you_mean(wrong.group(1), re.findall(r"[\w-]+", wrong.group(2))) if wrong else None
        super().error(f"{message}; did you mean '{hint}'?" if hint else message)


def _parser(chosen: str | None) -> argparse.ArgumentParser:
    """Return the parser; only the chosen command's module is imported, which keeps the others' start-up cheap."""
    parser = _Parser(
        prog="robot_semantics",
        description="Robot descriptions, semantics and states.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"robot_semantics {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, command in COMMANDS.items():
        sub = commands.add_parser(
            name,
            help=command.summary,
            description=command.summary,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == chosen:
            module = importlib.import_module(f"robot_semantics.cli.{command.module}")
            module.add_arguments(sub)
            _add_examples(sub, name)
            sub.set_defaults(module=module)
    return parser


def _add_examples(parser: argparse.ArgumentParser, name: str) -> None:
    """Let a command's help, and that of each of its operations, end with examples."""
    parser.epilog = "\n\n".join(text for text in (parser.epilog, epilog(name)) if text)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    for action in parser._actions:  # argparse has no other way to them.
        if isinstance(action, argparse._SubParsersAction):
            for operation, sub in action.choices.items():
                _add_examples(sub, f"{name} {operation}")


if __name__ == "__main__":
    sys.exit(main())
