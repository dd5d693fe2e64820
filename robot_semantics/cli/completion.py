"""`robot_semantics completion`: what a shell needs to complete commands, operations and options."""

from __future__ import annotations

import argparse
import importlib
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from robot_semantics.cli import main as command_line

PROGRAM = "robot_semantics"


@dataclass(frozen=True)
class Words:
    """What may follow a command: options with their help and choices, and operations with theirs."""

    summary: str
    options: dict[str, tuple[str, tuple[str, ...]]]
    operations: dict[str, Words]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("shell", choices=sorted(_SHELLS), help="the shell")


def run(arguments: argparse.Namespace) -> int:
    """Print the shell's code."""
    print(script(arguments.shell), end="")
    return 0


def script(shell: str) -> str:
    """Return the code that makes `shell` complete this command."""
    return _SHELLS[shell](_commands())


def _commands() -> dict[str, Words]:
    found = {}
    for name, command in command_line.COMMANDS.items():
        parser = argparse.ArgumentParser(prog=f"{PROGRAM} {name}", description=command.summary)
        importlib.import_module(f"robot_semantics.cli.{command.module}").add_arguments(parser)
        found[name] = _words(parser, command.summary)
    return found


def _words(parser: argparse.ArgumentParser, summary: str) -> Words:
    options: dict[str, tuple[str, tuple[str, ...]]] = {}
    operations: dict[str, Words] = {}
    for action in parser._actions:  # argparse has no public list of them
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            operations |= {name: _words(sub, helps.get(name, "")) for name, sub in action.choices.items()}
        elif action.option_strings and action.help != argparse.SUPPRESS:
            choices = tuple(str(choice) for choice in action.choices or ())
            for option in action.option_strings:
                options[option] = ((action.help or "").replace("%%", "%"), choices)
    return Words(summary, options, operations)


def _cases(commands: dict[str, Words]) -> Iterator[tuple[str, Words]]:
    for name, words in commands.items():
        yield name, words
        for operation, inner in words.operations.items():
            yield f"{name} {operation}", inner


def _bash(commands: dict[str, Words]) -> str:
    cases = "\n".join(
        f'    "{name}") words="{" ".join([*words.operations, *words.options])}" ;;' for name, words in _cases(commands)
    )
    operations = "\n".join(
        f'    {name}) case "${{COMP_WORDS[2]}}" in {"|".join(words.operations)}) at="$at ${{COMP_WORDS[2]}}" ;; esac ;;'
        for name, words in commands.items()
        if words.operations
    )
    choices = "\n".join(
        f'    "{name} {option}") words="{" ".join(values)}"; only=1 ;;'
        for name, words in _cases(commands)
        for option, (_, values) in words.options.items()
        if values
    )
    return f"""\
# bash completion for {PROGRAM}
_{PROGRAM}() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD - 1]}}" at="" words="" only=0
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{" ".join(commands)} --help --version" -- "$word"))
    return
  fi
  at="${{COMP_WORDS[1]}}"
  if [ "$COMP_CWORD" -gt 2 ]; then
    case "$at" in
{operations}
    esac
  fi
  case "$at" in
{cases}
  esac
  case "$at $before" in
{choices}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [ "$only" -eq 0 ]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen -f -- "$word"))
  fi
}}
complete -F _{PROGRAM} {PROGRAM}
"""


def _zsh(commands: dict[str, Words]) -> str:
    def described(entries: dict[str, str]) -> str:
        return " ".join(
            shlex.quote(name.replace(":", "\\:") + (":" + text.splitlines()[0] if text else ""))
            for name, text in entries.items()
        )

    cases = []
    for name, words in _cases(commands):
        lines = [f"    {shlex.quote(name)})"]
        if words.operations:
            operations = described({key: inner.summary for key, inner in words.operations.items()})
            lines.append(f"      operations=({operations})")
        options = described({option: text for option, (text, _) in words.options.items()})
        lines.append(f"      options=({options}) ;;")
        cases.append("\n".join(lines))
    with_operations = "|".join(name for name, words in commands.items() if words.operations)
    top = described({name: words.summary for name, words in commands.items()})
    body = "\n".join(cases)
    return f"""\
#compdef {PROGRAM}
# zsh completion for {PROGRAM}
_{PROGRAM}() {{
  local -a commands operations options
  local at="$words[2]"
  commands=({top})
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  if (( CURRENT > 3 )); then
    case "$at" in
      {with_operations}) at="$at $words[3]" ;;
    esac
  fi
  case "$at" in
{body}
  esac
  (( $#operations )) && _describe operation operations
  [[ "$words[CURRENT]" == -* ]] && _describe option options
  _files
}}
if [ "$funcstack[1]" = "_{PROGRAM}" ]; then _{PROGRAM} "$@"; else compdef _{PROGRAM} {PROGRAM}; fi
"""


def _fish(commands: dict[str, Words]) -> str:
    lines = [f"# fish completion for {PROGRAM}"]
    for name, words in commands.items():
        lines.append(f"complete -c {PROGRAM} -n __fish_use_subcommand -f -a {name} -d {shlex.quote(words.summary)}")
        seen = f"__fish_seen_subcommand_from {name}"
        for operation, inner in words.operations.items():
            lines.append(
                f'complete -c {PROGRAM} -n "{seen}" -f -a {operation} -d {shlex.quote(inner.summary.splitlines()[0])}'
            )
            within = f"{seen}; and __fish_seen_subcommand_from {operation}"
            lines += _fish_options(within, inner)
        lines += _fish_options(seen, words)
    return "\n".join([*lines, ""])


def _fish_options(condition: str, words: Words) -> Iterator[str]:
    for option, (text, choices) in words.options.items():
        kind = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
        values = f" -x -a {shlex.quote(' '.join(choices))}" if choices else ""
        summary = shlex.quote(text.splitlines()[0]) if text else "''"
        yield f'complete -c {PROGRAM} -n "{condition}" {kind}{values} -d {summary}'


_SHELLS: dict[str, Callable[[dict[str, Words]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
