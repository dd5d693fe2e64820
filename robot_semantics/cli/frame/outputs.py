# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Outputs of commands: a file, the input itself or standard output; nothing is overwritten unless asked for."""

from __future__ import annotations

import argparse
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from robot_semantics.base.errors import RobotSemanticsError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

SRDF_ENDINGS, URDF_ENDINGS = {".srdf": "srdf", ".xml": "srdf"}, {".urdf": "urdf", ".xml": "urdf"}
WORLD_ENDINGS = {".usdf": "usdf", ".xml": "usdf", ".json": "json"}
"""Kinds of results by the endings of their files."""


class ResultRule(NamedTuple):
    """Where the result of a command may go.

    Attributes:
        endings: kind of the result by the ending of its file; None: a folder, which has no ending.
        without: kind for a name without an ending and for standard output; None: the ending is needed.
        needed: whether ``-o``, ``--in-place`` or ``--dry-run`` is needed: the result is not printed.
        changed: the optional argument with the input that ``--in-place`` changes.
        printed: whether the result is a document on standard output without ``-o``.
    """

    endings: Mapping[str, str] | None
    without: str | None
    needed: bool
    changed: str | None = None
    printed: bool = False


class _OutputFile(argparse.Action):
    """Action that stores the path of an output file."""

    def __init__(self, *words: Any, dash: str | None, needed: bool = False, **options: Any) -> None:
        super().__init__(*words, **options)
        self._dash, self.needed = dash, needed

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        if values == "-" and self._dash == "":
            parser.error(f"argument {option_string}: '-' is standard output; give a file")
        setattr(namespace, self.dest, self._dash if values == "-" else values)


def add_output(parser: argparse._ActionsContainer, *flags: str, dash: str | None = "", **options: Any) -> None:
    """Add an option that names an output file; `options` are passed to `add_argument`.

    The command also gets ``--force``, and refuses at its start to overwrite an existing file. A ``-`` is refused,
    unless `dash` is given: the value that means standard output for the command.
    """
    parser.add_argument(*flags, action=_OutputFile, dash=dash, **options)


def add_result(
    parser: argparse._ActionsContainer,
    endings: Mapping[str, str] | None,
    *,
    without: str | None = None,
    on_stdout: bool = False,
    in_place: bool = False,
    optional: bool = False,
    changed: str | None = None,
    metavar: str = "FILE",
    text: str = "file for the result",
) -> None:
    """Add ``-o``, for several kinds of result ``--to``, and with `in_place` ``--in-place``.

    Args:
        parser: the parser.
        endings: kind of the result by the ending of its file; None: the result is a folder.
        without: kind for a name without an ending and for standard output; by default the first kind.
        on_stdout: print the result without ``-o``.
        in_place: the result may replace the input.
        optional: the command also works without any output.
        changed: the optional argument with the input that ``--in-place`` changes.
        metavar: name of the file in the help.
        text: help of ``-o``.
    """
    place = parser.add_mutually_exclusive_group() if in_place else parser
    needed = not (on_stdout or optional)
    text = f"{text} (stdout)" if on_stdout else text
    add_output(place, "-o", "--output", dash=None if on_stdout else "", needed=needed, metavar=metavar, help=text)
    if in_place:
        place.add_argument("--in-place", action="store_true", help="write the result into the input file")
    kinds = list(dict.fromkeys((endings or {}).values()))
    if len(kinds) > 1:
        parser.add_argument("--to", choices=kinds, help="kind of result (by the ending)")
    rule = ResultRule(endings, without or next(iter(kinds), None), needed, changed, on_stdout)
    parser.set_defaults(result_rule=rule)


def kind_of_result(arguments: argparse.Namespace) -> str:
    """Return the kind of the result: that of ``--to``, or by the ending of the file.

    Raises:
        UsageError: the ending is unknown.
    """
    # Import here: the start does not need it.
    from robot_semantics.base.files import UnknownEndingError, format_of

    rule: ResultRule = arguments.result_rule
    endings = rule.endings or {}
    if to := getattr(arguments, "to", None):
        return str(to)
    if arguments.output is None:
        return rule.without or ""
    try:
        return format_of(arguments.output, endings, rule.without)
    except UnknownEndingError as error:
        hint = ": give the kind with --to" if len(set(endings.values())) > 1 else ""
        raise UsageError(f"-o: {error}{hint}") from None


def put_result(
    arguments: argparse.Namespace,
    result: bytes | str,
    source: str | None = None,
    beside: Mapping[Path, bytes] = MappingProxyType({}),
    *,
    printed: str | None = None,
) -> None:
    """Write the result of a command to the file of ``-o``, with ``--in-place`` into its `source`, or print it.

    The files `beside` it are written together with it: all or none. With ``--dry-run`` nothing is written: a diff with
    the `source`, or the file that would be written, is printed. `printed` is the text for standard output, if it is not
    the result in UTF-8.

    Raises:
        OSError: a file cannot be written.
    """
    # Import here: a command that only prints its help writes nothing.
    from pathlib import Path

    from robot_semantics.cli.frame.printing import print_document

    data = result.encode() if isinstance(result, str) else result
    target = source if getattr(arguments, "in_place", False) else arguments.output
    if target is not None:
        write_files(arguments, {**beside, Path(target): data}, {} if source is None else {Path(target): Path(source)})
    elif arguments.dry_run:
        _print_plan(arguments, "standard output", data, None if source is None else Path(source))
        for path, content in beside.items():
            _print_plan(arguments, str(path), content, path)
    else:
        print_document(data.decode() if printed is None else printed)


def write_files(
    arguments: argparse.Namespace, files: Mapping[Path, bytes], sources: Mapping[Path, Path] = MappingProxyType({})
) -> bool:
    """Write files, all or none; with ``--dry-run`` print a diff, or the name and size of each new file.

    Args:
        arguments: the command line.
        files: content by path.
        sources: the file that each path is a change of; by default the file that exists at the path.

    Returns:
        False if nothing was written, because of ``--dry-run``.

    Raises:
        OSError: a file cannot be written.
    """
    from robot_semantics.base.files import save_all

    if not arguments.dry_run:
        save_all(files)
        return True
    for path, data in files.items():
        _print_plan(arguments, str(path), data, sources.get(path, path))
    return False


@contextmanager
def place_of_result(arguments: argparse.Namespace, name: str) -> Iterator[Path]:
    """Yield the path of ``-o``; with ``--dry-run`` a path in a folder that is deleted, called `name` without ``-o``."""
    from pathlib import Path

    from robot_semantics.base.files import scratch_folder

    if not arguments.dry_run:
        yield Path(arguments.output)
        return
    with scratch_folder() as folder:
        yield folder / Path(arguments.output or name).name


def _print_plan(arguments: argparse.Namespace, name: str, data: bytes, old: Path | None) -> None:
    """Print what would be written; with ``--json`` on stderr, because the result is on standard output."""
    import sys

    from robot_semantics.cli.frame.fixing import print_difference
    from robot_semantics.cli.frame.printing import counted, print_line

    file = sys.stderr if getattr(arguments, "json", False) else sys.stdout
    before = old.read_bytes() if old is not None and old.is_file() else None
    if b"\0" in data:
        print_line(f"would write {name}: {counted(len(data), 'byte')}", file=file)
    elif before is None:
        print_line(f"would write {name}: {counted(len(data.splitlines()), 'line')}", file=file)
    elif before == data:
        print_line(f"{name}: no change", file=file)
    else:
        previous, new = (content.decode("utf-8", "replace") for content in (before, data))
        print_difference(previous, new, str(old), name, file=file)


def declare_file_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--force`` and ``--dry-run`` to a command that makes files, unless it has its own."""
    outputs = [action.dest for action in parser._actions if isinstance(action, _OutputFile)]
    if outputs:
        for option, text in (("--force", "overwrite a file"), ("--dry-run", "write nothing; print what would change")):
            if option not in parser._option_string_actions:
                parser.add_argument(option, action="store_true", help=text)
        parser.set_defaults(made_files=outputs)


def _check_place_of_result(arguments: argparse.Namespace, rule: ResultRule) -> None:
    in_place, can_in_place = getattr(arguments, "in_place", False), hasattr(arguments, "in_place")
    if arguments.output is None and not in_place and not arguments.dry_run:
        if rule.needed:
            raise UsageError("missing: -o, or --dry-run" + " or --in-place" * can_in_place)
        if rule.printed and getattr(arguments, "json", False):
            raise UsageError("--json needs a file for the document: -o" + ", or --in-place" * can_in_place)
    if in_place and rule.changed is not None and getattr(arguments, rule.changed) is None:
        raise UsageError(f"--in-place needs the {rule.changed.upper()} that it changes")
    if rule.endings is not None and arguments.output is not None:
        kind_of_result(arguments)


def check_outputs(arguments: argparse.Namespace) -> None:
    """Check that the command's result has a place, and that its output files do not exist yet.

    Raises:
        UsageError: there is neither ``-o`` nor ``--dry-run`` where one is needed, also for a document beside
            ``--json``; or the ending is unknown.
        RobotSemanticsError: a file exists and ``--force`` was not given; a device or a pipe does not count.
        OSError: the path is invalid.
    """
    # Import here: the start needs no paths.
    from pathlib import Path

    rule: ResultRule | None = getattr(arguments, "result_rule", None)
    if rule is not None:
        _check_place_of_result(arguments, rule)
    for name in getattr(arguments, "made_files", ()):
        path = getattr(arguments, name)
        if path and path != "-" and not (rule is not None and rule.endings is None and name == "output"):
            check_not_there(Path(path), arguments.force)


def check_not_there(path: Path, force: bool) -> None:
    """Check that a file does not exist yet; raises the same errors as `check_outputs`."""
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return
    if is_file and not force:
        raise RobotSemanticsError(f"{path} exists already; --force overwrites it")
