# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The examples of the explanations: the first one has the problem, the second one does not."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands import RunCommand
from support.explained import CONTEXTS, Context
from support.explained_codes import EXAMPLES

from robot_semantics import Diagnostics, Severity
from robot_semantics.cli.frame.explanations import Explanation, explanations
from robot_semantics.cli.running import parser_of, split_xacro_arguments

COMMANDS = frozenset(
    {
        "description-changes",
        "far-from-convex",
        "frames-unconnected",
        "gap",
        "joint-sources",
        "joint-states-topic",
        "never-seen",
        "no-description",
        "no-joint-states",
        "no-time",
        "read-in-part",
        "robot-found",
        "root-not-reached",
        "root-sources",
        "root-unknown",
        "time-reset",
        "unreadable",
        "unused-argument",
    }
)
"""Codes whose examples are commands: the problem is in a recording, or in a binary file."""

WITHOUT_EXAMPLE = frozenset(
    {
        "bag-damaged",
        "bag-growing",
        "bag-salvaged",
        "bag-scanned",
        "clock-offset",
        "clock-shifted",
        "clocks-mixed",
        "damaged-description",
        "duplicate-stamps",
        "empty-document",
        "frame-prefix",
        "frame-sources",
        "frame-twist",
        "joint-topic-unused",
        "late-messages",
        "left-out",
        "message-definition",
        "message-refused",
        "messages-missing",
        "metadata-incomplete",
        "more-problems",
        "name-kept",
        "nested-too-deep",
        "no-metadata",
        "not-compared",
        "not-recorded",
        "not-shown",
        "odd-bytes",
        "odometry-frame",
        "out-of-plane",
        "past-end",
        "schema",
        "schema-unknown",
        "stamped-ahead",
        "tf-parent-changes",
        "tf-self",
        "tf-static-and-moving",
        "tf-static-changes",
        "time-jump",
        "time-outside",
        "too-large",
        "two-senders",
        "unknown-robot",
        "unusual-type",
        "value-refused",
        "xacro-limit",
    }
)
"""Codes without an example: their files have no short text form."""


def codes_of(run: RunCommand, monkeypatch: pytest.MonkeyPatch, context: Context, example: str) -> dict[str, Severity]:
    """Return the codes, with their severities, that the command of a context reports for an example."""
    for name, text in context.files.items():
        Path(name).write_text(text.replace("{}", example, 1))
    found: dict[str, Severity] = {}
    usual = Diagnostics.add

    def add(self: Diagnostics, severity: Severity, code: str, *rest: object) -> None:
        found[code] = severity
        usual(self, severity, code, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(Diagnostics, "add", add)
        result = run(*shlex.split(context.command))
    assert result.code in (0, 1), result.err
    if "--json" in context.command:
        # A check prints codes: only these count.
        found = {item["code"]: Severity(item["severity"]) for item in json.loads(result.out)["diagnostics"]}
    return found


@pytest.mark.parametrize(("code", "context"), EXAMPLES.items(), ids=list(EXAMPLES))
def test_the_first_example_has_the_problem_and_the_second_one_has_not(
    run: RunCommand, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str, context: str
) -> None:
    monkeypatch.chdir(tmp_path)
    page = explanations()[code]
    before, after = (codes_of(run, monkeypatch, CONTEXTS[context], text) for text in (page.before, page.after))
    assert code in before
    assert code not in after
    new = set(after) - set(before)
    assert [code for code in new if after[code] is Severity.ERROR] == []


def commands_of(page: Explanation) -> Iterator[list[str]]:
    for text in (page.before, page.after):
        for line in text.splitlines():
            program, *words = shlex.split(line)
            assert program == "robot_semantics"
            yield words


@pytest.mark.parametrize("code", sorted(COMMANDS))
def test_commands_are_commands(code: str) -> None:
    for words in commands_of(explanations()[code]):
        plain, _ = split_xacro_arguments(words)
        parser_of(plain).parse_args(plain)


def test_each_page_has_an_example_or_needs_none() -> None:
    sets = (EXAMPLES.keys(), COMMANDS, WITHOUT_EXAMPLE)
    assert sorted(code for codes in sets for code in codes) == list(explanations())
    assert {page.code for page in explanations().values() if not page.before} == WITHOUT_EXAMPLE
