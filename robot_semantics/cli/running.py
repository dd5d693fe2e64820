# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Execution of a command line: choice of the command, parsing, and error output."""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, NoReturn

from robot_semantics.base.deferred_interrupt import deferred_interrupt
from robot_semantics.base.errors import DescriptionError, RobotSemanticsError
from robot_semantics.base.names import LONGEST_LINE, did_you_mean, shown
from robot_semantics.cli.frame.command import Command, UsageError, check_standard_input, first_or_all, with_node_name
from robot_semantics.cli.frame.outputs import check_outputs
from robot_semantics.cli.frame.printing import print_error, print_json, set_quiet, wants_json

if TYPE_CHECKING:
    from robot_semantics.base.diagnostic import Diagnostic


# `usage_message` reads argparse's English sentences. The search for translations would take a fifth of a help's time.
vars(argparse)["_"] = str

EXIT_PROBLEMS, EXIT_USAGE = 1, 2
_OBJECTS_PER_COLLECTION = 100_000
EXIT_CODES = """exit codes:
  0  success
  1  invalid input; of diff: a difference; of check: errors (--strict: warnings)
  2  wrong usage
  130, 143  ended by SIGINT (Ctrl-C) or SIGTERM; unfinished files are removed
'robot_semantics COMMAND --help' shows options and examples."""


# Each command is a module of the same name with a COMMAND, or stands in MODULES; only the chosen module is imported.
COMMANDS: dict[str, str] = {
    "check": "report every problem of URDF, SRDF and USDF files",
    "info": "show what a file, a recording or a folder has",
    "explain": "explain a kind of problem and how to fix it",
    "diff": "compare two robots by motion, two worlds or two SRDFs",
    "show": "show links, joints, groups, states and end effectors",
    "fk": "compute the poses of all links",
    "groups": "list groups, show one, or find those of a link",
    "states": "list named states, or find the states of given positions",
    "srdf": "create and edit an SRDF, checked",
    "expand": "print a description with its xacro macros expanded",
    "upgrade": "convert an older form of URDF to the current one",
    "compose": "make one robot from a base and a part",
    "collisions": "generate, audit and edit self-collision matrices",
    "export": "convert recordings (rosbag2, mcap, ROS 1) to world states",
    "bag": "convert world states to a recording (rosbag2, mcap)",
    "view": "show robots, worlds and series on a page or in a picture",
    "lsp": "serve an editor: problems, fixes, completion, renaming",
    "studio": "edit an SRDF in the browser beside the robot",
    "plot": "draw joint positions, velocities and the base path of a series",
    "sim": "simulate a world and continue it bit for bit",
    "snapshot": "save, restore, list and delete snapshots of a running node",
    "doctor": "check this machine and the running robots",
    "example": "write the files of an example robot",
    "schema": "print the schema of a format: RELAX NG or JSON Schema",
    "completion": "print the code that completes commands in a shell",
    "help": "show the help of a command, or the manual page",
    "usdf": "show, edit, combine and convert world states",
}
MODULES = {
    **dict.fromkeys(("groups", "states", "expand"), "queries"),
    **dict.fromkeys(("help", "explain"), "help"),
    **dict.fromkeys(("schema", "example"), "schema"),
}
"""Modules that hold several commands together, each under its name in capitals."""


def run(words: list[str]) -> int:
    """Run a command line; return its exit code."""
    # Robots have many objects but no cycles: with the default of 700, collections take a third of the reading time.
    usual = gc.get_threshold()
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    plain, xacro_arguments = split_xacro_arguments(words)
    arguments = argparse.Namespace(json="--json" in words)
    try:
        if "_ARGCOMPLETE" in os.environ:
            # A shell requests completion; the answer ends the process.
            completion = importlib.import_module("robot_semantics.cli.completion")
            completion.answer_completion(parser_of(completion.words_so_far()))
        # An interrupt inside of argparse would end in one of its `finally` blocks, with another error.
        with deferred_interrupt(below=False):
            parser = parser_of(plain)
            arguments = parser.parse_args(plain)
        if xacro_arguments and arguments.command is not None and "xacro" not in arguments:
            parser.error(f"{next(iter(xacro_arguments))}:= is given, but this command reads no xacro")
        arguments.xacro_arguments, arguments.xacro_asked = xacro_arguments, set()
        if arguments.command is None:
            parser.print_help()
            return EXIT_USAGE
        set_quiet(arguments.quiet)
        check_standard_input(arguments)
        check_outputs(arguments)
        if "loops" in arguments:
            # Import here: other commands read no robots.
            from robot_semantics.cli.frame.inputs import check_robots

            check_robots(arguments)
        if "package_path" in arguments:
            # Import here: other commands need no settings of a project.
            from robot_semantics.cli.frame.problems import package_paths

            arguments.package_path = [*arguments.package_path, *package_paths()]
        # Import here: a help reads no file.
        from robot_semantics.base.files import keep_pipes

        with keep_pipes():
            return arguments.perform(arguments) or 0
    except DescriptionError as error:
        # Import here what only errors need.
        from robot_semantics.cli.frame.problems import print_reasons

        print_reasons(error)
        _print_json_error(arguments, error)
        return EXIT_PROBLEMS
    except RobotSemanticsError as error:
        _print_json_error(arguments, error)
        for line in f"error: {error}".split("\n"):
            print_error(line)
        return EXIT_USAGE if isinstance(error, UsageError) else EXIT_PROBLEMS
    except BrokenPipeError:
        # The reader of our output has ended (`| head`).
        return EXIT_PROBLEMS
    except OSError as error:
        _print_json_error(arguments, error)
        where = f"{error.filename}: " if error.filename else ""
        print_error(f"error: {where}{error.strerror or ' '.join(str(error).split())}")
        return EXIT_PROBLEMS
    finally:
        set_quiet(False)
        # A program that calls this function goes on with its own setting.
        gc.set_threshold(*usual)


def _print_json_error(arguments: argparse.Namespace, error: Exception) -> None:
    """If JSON is requested, print an error also as JSON on standard output, in the form of a check."""
    if wants_json(arguments):
        _print_error(str(error), error.diagnostics if isinstance(error, DescriptionError) else ())


def _print_error(text: str, found: Sequence[Diagnostic] = ()) -> None:
    # Import here: it reads the pages of all codes.
    from robot_semantics.cli.frame.problems import problems_json

    report = problems_json(found, ok=False)
    # Standard output may be the cause of the failure.
    with suppress(OSError):
        print_json({**report, "errors": max(report["errors"], 1), "error": text})


def split_xacro_arguments(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return the other words, and the xacro arguments ``name:=value`` as a mapping."""
    assignments = {word: re.fullmatch(r"([A-Za-z_]\w*):=(.*)", word, re.DOTALL) for word in words}
    found = {match.group(1): match.group(2) for match in assignments.values() if match}
    return [word for word in words if not assignments[word]], found


def _nearest_option(word: str, options: Iterable[str]) -> str | None:
    """Return the option that resembles a word; None if none does. The dashes, which all have, do not count."""
    names = {option.lstrip("-"): option for option in options}
    nearest = did_you_mean(word.lstrip("-"), names)
    return None if nearest is None else names[nearest]


def usage_message(message: str, options: Iterable[str]) -> str:
    """Return argparse's message about a wrong command line in plain words, with the nearest valid word."""
    wrong = re.fullmatch(r"argument (.*?): invalid choice: '(.*?)' \(choose from (.*)\)", message)
    if wrong:
        what, word, choices = wrong.groups()
        names = re.findall(r"[\w.-]+", choices)
        hint = did_you_mean(word, names)
        known = f"; did you mean '{hint}'?" if hint else f"; known: {', '.join(names)}"
        return f"unknown {what.lower()} '{word}'{known}"
    unknown = re.fullmatch(r"unrecognized arguments: (.*)", message)
    if unknown:
        # Import here what only some command lines need: imports take most of the time of `--help`.
        from robot_semantics.cli.frame.argument_values import unquoted_numbers

        words = unknown[1].split()
        numbers = unquoted_numbers(words)
        if numbers:
            return numbers
        word = next((word for word in words if word.startswith("-")), words[0])
        hint = _nearest_option(word.partition("=")[0], options) if word.startswith("-") else None
        if "=" in word and not word.startswith("-") and "--joint" in options:
            hint = f"--joint {word}"
        return f"unexpected '{word}'" + (f"; did you mean '{hint}'?" if hint else "; see --help")
    alternatives = re.fullmatch(r"one of the arguments (.*) is required", message)
    if alternatives:
        return f"missing: {' or '.join(alternatives[1].split())}"
    return message.replace("the following arguments are required:", "missing:")


_PLAIN = "\0"
"""Mark of a word behind ``--``, which is no option; a command line cannot have this character."""
MAY_BE_EMPTY = ("TEXT", "P", "[=NAME]")
"""Values that may be empty: texts and prefixes; the name of a node has its own check."""


_FORMATTER = partial(argparse.RawDescriptionHelpFormatter, width=80)
"""For argparse's checks of arguments; without a width, each check asks for that of the terminal."""


class _Parser(argparse.ArgumentParser):
    """A parser that suggests the right word for a misspelt one, as do the parsers of its commands.

    Attributes:
        names_node: True if the line has ``--node``; then a command that can ask a node takes no files.
    """

    def __init__(self, *, words: Sequence[str] = (), **options: Any) -> None:
        self._words = words
        self.names_node = any(word.partition("=")[0] == "--node" for word in words)
        self._mixing = False
        super().__init__(allow_abbrev=False, formatter_class=_FORMATTER, **options)
        # A URDF from standard input with its SRDF, `-,r.srdf`, is no option.
        self._negative_number_matcher = re.compile(f"{self._negative_number_matcher.pattern}|^-,")

    def add_subparsers(self, **options: Any) -> Any:
        """Pass this parser's settings to the parsers of its commands."""
        options["parser_class"] = partial(_Parser, words=self._words)
        return super().add_subparsers(**options)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Allow options anywhere between positional words; argparse alone does not."""
        args = with_node_name(sys.argv[1:] if args is None else args)
        if not (self._mixing or "_ARGCOMPLETE" in os.environ):
            self._refuse_unknown_options(args)
        if self._subparsers is not None or self._mixing:
            return super().parse_known_args(args, namespace)
        self._mixing = True
        if "--" in args:
            # argparse would read a word with a dash behind it as an option; `_get_values` takes the mark away.
            last = args.index("--")
            args = [*args[:last], *(f"{_PLAIN}{word}" for word in args[last + 1 :])]
        try:
            parsed, unknown = self.parse_known_intermixed_args(args, namespace)
        finally:
            self._mixing = False
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(word.removeprefix(_PLAIN) for word in unknown)}")
        return parsed, unknown

    def _refuse_unknown_options(self, words: Sequence[str]) -> None:
        """End with an error for an unknown option: argparse alone names a missing word or option before it."""
        for word in words:
            if word == "--" or (self._subparsers is not None and not word.startswith("-")):
                return
            # As argparse: a word with a blank, or a negative number, is a value.
            if not re.match(r"-(?!\d|\.\d|,|$)", word) or " " in word:
                continue
            known = word.partition("=")[0] if word.startswith("--") else word[:2]
            if known not in self._option_string_actions:
                self.error(f"unrecognized arguments: {word}")

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """Convert the values of an option or word; an empty one is often an unset variable of a shell."""
        is_own = not isinstance(action, argparse._SubParsersAction) and action.metavar not in MAY_BE_EMPTY
        if is_own and any(not word.strip(f"{_PLAIN} ") for word in arg_strings):
            name = action.option_strings[-1] if action.option_strings else _metavar(action)
            self.error(f"{name}: the value is empty")
        return super()._get_values(action, [word.removeprefix(_PLAIN) for word in arg_strings])

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print a help text; unlike argparse's method, report a failure."""
        if message:
            (file or sys.stderr).write(message)

    def format_help(self) -> str:
        """Return the text of ``--help``."""
        return help_text(self)

    def format_usage(self) -> str:
        """Return one line with the required words."""
        return f"{usage_line(self)}\n"

    def _without_optional(self, message: str) -> str:
        """Return argparse's message about missing words without the words that may be missing."""
        start, colon, names = message.partition("the following arguments are required: ")
        if not colon:
            return message
        optional = {
            str(action.metavar)
            for action in self._actions
            if not action.option_strings
            and getattr(action, "save_nargs", action.nargs) in (argparse.OPTIONAL, argparse.ZERO_OR_MORE)
        }
        return f"{start}{colon}{', '.join(name for name in names.split(', ') if name not in optional)}"

    def error(self, message: str) -> NoReturn:
        """Print one line of usage and the mistake, or for a former word one line with the new word, and exit."""
        # Import here what only wrong command lines need.
        from robot_semantics.cli.frame.old_words import replacement

        new = replacement(self._words)
        if new is not None:
            if "--json" in self._words:
                _print_error(new)
            self.exit(EXIT_USAGE, f"error: {new}\n")
        text = usage_message(self._without_optional(message), self._option_string_actions)
        if text.startswith("missing: SRDF"):
            from robot_semantics.cli.frame.inputs import srdf_beside

            beside = [(word, file) for word in self._words if (file := srdf_beside(word)) is not None]
            text += "".join(f"; {file} lies beside {word}" for word, file in beside[:1])
        text = shown(text, LONGEST_LINE)
        if any(word.partition("=")[0] == "--json" for word in self._words):
            _print_error(text)
        self.exit(EXIT_USAGE, f"{self.format_usage()}error: {text}\n")


class _Version(argparse.Action):
    """Print the version, for which the other commands need not search."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from robot_semantics.base.version import __version__

        parser._print_message(f"robot_semantics {__version__}\n", sys.stdout)
        parser.exit()


def parser_of(words: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser; only the chosen command's module is imported, for a fast start.

    If the first word is a command, no other command has a parser.
    """
    chosen = next((word for word in words if not word.startswith("-")), None)
    parser = _Parser(
        words=words,
        prog="robot_semantics",
        description="Robot descriptions, semantics and states",
        epilog=EXIT_CODES,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show program's version number and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name in first_or_all(words, COMMANDS):
        sub = commands.add_parser(name, help=COMMANDS[name], description=COMMANDS[name])
        if name == chosen:
            command_of(name).declare(sub, words[words.index(name) + 1 :])
    return parser


def command_of(name: str) -> Command:
    """Return a command by its name; this imports its module."""
    module, attribute = (MODULES[name], name.upper()) if name in MODULES else (name, "COMMAND")
    with deferred_interrupt(below=False):
        command: Command = getattr(importlib.import_module(f"robot_semantics.cli.{module}"), attribute)
    return command


def all_commands() -> Iterator[tuple[str, Command]]:
    """Yield every command and operation with its words; this imports all their modules."""
    for name in COMMANDS:
        command = command_of(name)
        yield from _with_operations(name, command)


def _with_operations(words: str, command: Command) -> Iterator[tuple[str, Command]]:
    yield words, command
    for name, operation in command.operations.items():
        yield from _with_operations(f"{words} {name}", operation.load())


# Text of ``--help``: one line for each option; the command's own options first, shared options last.


SHARED = (
    *("--loops", "--package-path", "--implicit-links", "--xacro", "--strict"),
    *("--force", "--dry-run", "--quiet", "--json"),
)
"""Options with one meaning in many commands."""
_MOST_LINES = 40
"""Lines of a help on one screen: in a longer one the shared options have only their names."""
_WIDEST = 100
_WIDEST_NAME = 26


def usage_line(parser: argparse.ArgumentParser) -> str:
    """Return one line with the required words: ``usage: robot_semantics fk [options] URDF [SRDF]``."""
    shown = [action for action in parser._actions if action.help != argparse.SUPPRESS]
    needed = [
        re.sub(r"^(-\w), --\S+", r"\1", _invocation(action))
        for action in shown
        if action.option_strings and (action.required or getattr(action, "needed", False))
    ]
    places = [_repetition(action) for action in shown if not action.option_strings]
    return " ".join(["usage:", parser.prog, "[options]", *needed, *places])


def help_text(parser: argparse.ArgumentParser, width: int | None = None) -> str:
    """Return the help of a parser.

    Args:
        parser: the parser.
        width: characters in a line; by default the width of the terminal, at most 100.
    """
    # Import here: only a help needs them.
    import shutil
    import textwrap

    columns = min(shutil.get_terminal_size().columns if width is None else width, _WIDEST)
    lines = [usage_line(parser), ""]
    if parser.description:
        lines += [*textwrap.wrap(parser.description[0].upper() + parser.description[1:] + ".", columns), ""]
    first = (parser._positionals, parser._optionals)
    own = [action for group in first for action in group._group_actions if not _is_shared(action)]
    lines += _rows(own, columns)
    for group in parser._action_groups:
        rows = [action for action in group._group_actions if not _is_shared(action)]
        if group not in first and rows:
            lines += [f"{group.title}:", *_rows(rows, columns)]
    epilog = ["", *parser.epilog.split("\n")] if parser.epilog else []
    shared = [action for action in parser._actions if _is_shared(action)]
    if shared:
        texts = list(_rows(shared, columns))
        if len(lines) + 1 + len(texts) + len(epilog) > _MOST_LINES:
            # No line ends between an option and its value.
            names = ", ".join(_invocation(action).replace(" ", "\0") for action in shared)
            wrapped = textwrap.wrap(f"  {names}", columns, subsequent_indent="  ", break_on_hyphens=False)
            texts = [line.replace("\0", " ") for line in wrapped]
        lines += ["options of many commands:", *texts]
    return "\n".join([*lines, *epilog]) + "\n"


def _is_shared(action: argparse.Action) -> bool:
    return any(option in SHARED for option in action.option_strings)


def _rows(actions: Iterable[argparse.Action], columns: int) -> Iterator[str]:
    for action in _together(actions):
        if action.help == argparse.SUPPRESS or isinstance(action, argparse._HelpAction):
            continue
        if isinstance(action, argparse._SubParsersAction):
            choices = [(str(choice.metavar or choice.dest), choice.help or "") for choice in action._choices_actions]
            widest = max(len(name) for name, _ in choices)
            for name, text in choices:
                yield from _row(name, text, columns, widest + 2)
            continue
        text = (action.help or "") % {**vars(action), "choices": _choices(action)}
        if action.choices is not None and "%(choices)s" not in (action.help or ""):
            text += f": {_choices(action)}" if text else _choices(action)
        yield from _row(_invocation(action), text, columns, _WIDEST_NAME)


def _together(actions: Iterable[argparse.Action]) -> Iterator[argparse.Action]:
    """Yield actions; neighbours with one text and one kind of value are one: ``--from, --to T``."""
    for _, alike in groupby(actions, key=lambda action: (action.help, action.metavar, bool(action.option_strings))):
        first, *rest = alike
        if rest and first.option_strings and first.help not in (None, argparse.SUPPRESS):
            names = [option for action in (first, *rest) for option in action.option_strings]
            yield argparse.Action(names, first.dest, first.nargs, help=first.help, metavar=first.metavar)
        else:
            yield from (first, *rest)


def _row(name: str, text: str, columns: int, indent: int) -> Iterator[str]:
    """Yield a name with its text beside it; a long name moves the text to the right."""
    import textwrap

    start = f"  {name:<{indent}}"
    if len(name) >= indent:
        start += "  "
    rest = textwrap.wrap(text, max(columns - len(start), 20)) or [""]
    yield f"{start}{rest[0]}".rstrip()
    for line in rest[1:]:
        yield f"{'':<{indent + 2}}{line}"


def _choices(action: argparse.Action) -> str:
    return ", ".join(map(str, action.choices or ()))


def _metavar(action: argparse.Action) -> str:
    if isinstance(action.metavar, tuple):
        return " ".join(action.metavar)
    return action.metavar or action.dest.upper().replace("_", "-")


def _invocation(action: argparse.Action) -> str:
    """Return the form of an option or word: ``-o, --output FILE``."""
    if not action.option_strings:
        return _metavar(action)
    names = ", ".join(sorted(action.option_strings, key=lambda name: name.startswith("--")))
    value = _metavar(action)
    return names if action.nargs == 0 else f"{names}{value}" if value.startswith("[=") else f"{names} {value}"


def _repetition(action: argparse.Action) -> str:
    """Return a word with its number of repetitions: ``[SRDF]``, ``BAG ...``."""
    # argparse changes `nargs` while options and words are read in any order.
    nargs = getattr(action, "save_nargs", action.nargs)
    name = f"{action.metavar} ..." if isinstance(action, argparse._SubParsersAction) else _metavar(action)
    if nargs == argparse.OPTIONAL:
        return f"[{name}]"
    if nargs == argparse.ZERO_OR_MORE:
        return f"[{name} ...]"
    return f"{name} ..." if nargs == argparse.ONE_OR_MORE else name
