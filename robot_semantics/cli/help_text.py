# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Text of ``--help``: one line for each option; the command's own options first, shared options last."""

from __future__ import annotations

import argparse
import re
import shutil
import textwrap
from collections.abc import Iterable, Iterator

SHARED = ("--strict", "--package-path", "--implicit-links", "--xacro", "--json")
"""Options with one meaning in many commands, in the order of the help."""
_WIDEST = 100
_WIDEST_NAME = 26


def usage_line(parser: argparse.ArgumentParser) -> str:
    """Return one line with the required words: ``usage: robot_semantics fk [options] URDF [SRDF]``."""
    shown = [action for action in parser._actions if action.help != argparse.SUPPRESS]
    needed = [
        re.sub(r"^(-\w), --\S+", r"\1", _invocation(action))
        for action in shown
        if action.option_strings and action.required
    ]
    places = [_repetition(action) for action in shown if not action.option_strings]
    return " ".join(["usage:", parser.prog, "[options]", *needed, *places])


def help_text(parser: argparse.ArgumentParser, width: int | None = None) -> str:
    """Return the help of a parser.

    Args:
        parser: the parser.
        width: characters in a line; by default the width of the terminal, at most 100.
    """
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
    shared = [action for action in parser._actions if _is_shared(action)]
    if shared:
        lines += ["options of many commands:", *_rows(shared, columns)]
    if parser.epilog:
        lines += ["", parser.epilog]
    return "\n".join(lines) + "\n"


def _is_shared(action: argparse.Action) -> bool:
    return any(option in SHARED for option in action.option_strings)


def _rows(actions: Iterable[argparse.Action], columns: int) -> Iterator[str]:
    for action in actions:
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


def _row(name: str, text: str, columns: int, indent: int) -> Iterator[str]:
    """Yield a name with its text beside it; a long name moves the text to the right."""
    start = f"  {name:<{indent}}"
    if len(start) > indent + 2:
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
    names = ", ".join(sorted(action.option_strings, key=len))
    return names if action.nargs == 0 else f"{names} {_metavar(action)}"


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
