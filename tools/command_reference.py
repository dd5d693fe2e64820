# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The texts of doc/commands.md (commands, options) and doc/codes.md (problem codes); tools/reference.py writes both."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from robot_semantics.cli.frame.explanations import explanations
from robot_semantics.cli.running import COMMANDS, all_commands

SHARED_FROM = 15
"""An option with the same help in this number of commands is in the table of shared options."""


class Option(NamedTuple):
    """One row: the option or argument as a user writes it, and its help."""

    spelling: str
    help: str


def options(parser: argparse.ArgumentParser) -> Iterator[Option]:
    """Yield the visible arguments and options of a parser in their order, without --help."""
    for action in parser._actions:
        if action.help == argparse.SUPPRESS or isinstance(action, (argparse._HelpAction, argparse._SubParsersAction)):
            continue
        names = ", ".join(action.option_strings)
        value = "" if action.nargs == 0 else str(action.metavar or action.dest.upper())
        if isinstance(action.metavar, tuple):
            value = " ".join(action.metavar)
        if action.choices is not None and action.metavar is None:
            value = "{" + ",".join(map(str, action.choices)) + "}"
        if action.nargs in ("*", "+") and not action.option_strings:
            value += " ..."
        value = value if value.startswith("[=") else f" {value}"
        yield Option(f"{names}{value}".strip(), " ".join((action.help or "").split()).replace("%%", "%"))


def options_by_command() -> dict[str, list[Option]]:
    """Return the options of every command that does work, by its words."""
    found = {}
    for name, command in all_commands():
        if command.run is not None:
            parser = argparse.ArgumentParser(prog=f"robot_semantics {name}")
            command.declare(parser)
            found[name] = list(dict.fromkeys(options(parser)))
    return found


def commands_page() -> str:
    """Return the page of all commands and options."""
    by_command = options_by_command()
    summaries = dict(COMMANDS) | {name: command.help for name, command in all_commands() if command.help}
    times = Counter(option for rows in by_command.values() for option in rows if option.spelling.startswith("-"))
    shared = {option for option, count in times.items() if count >= SHARED_FROM}
    lines = [
        "# Commands and options",
        "",
        "This page is the reference of all commands and options. `tools/reference.py` makes it from the code. A",
        "test checks that it is current. `robot_semantics COMMAND --help` prints the same with examples. The exit",
        "codes are in [Checking files](check.md#exit-codes).",
        "",
        "## Shared options",
        "",
        "Many commands have these options. The line *Shared* of a command lists them.",
        "",
        *_table(sorted(shared)),
    ]
    for name, rows in by_command.items():
        also = sorted(option.spelling.split()[0].rstrip(",") for option in rows if option in shared)
        lines += [f"## {name}", "", _sentence(summaries.get(name, "")), ""]
        lines += _table([option for option in rows if option not in shared])
        lines += [f"Shared: {', '.join(f'`{one}`' for one in also)}.", ""] if also else []
    return "\n".join(lines).rstrip() + "\n"


def codes_page() -> str:
    """Return the page of all problem codes."""
    lines = [
        "# Problem codes",
        "",
        "This page is the reference of all problem codes. `tools/reference.py` makes it from the texts of",
        "`robot_semantics explain`, and a test checks that it is current. `robot_semantics explain CODE` prints the",
        "reason, the solution and an example.",
        "",
        *_table([Option(page.code, page.what) for page in explanations().values()], "code"),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _table(rows: list[Option], first: str = "option") -> list[str]:
    if not rows:
        return []
    cells = [f"| `{_cell(row.spelling)}` | {_cell(row.help).replace('<', '&lt;')} |" for row in rows]
    return [f"| {first} | meaning |", "| --- | --- |", *cells, ""]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
