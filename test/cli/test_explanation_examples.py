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

from robot_semantics.base.diagnostics import Diagnostics, Severity
from robot_semantics.cli.explain import Explanation, explanations
from robot_semantics.cli.running import _parser, split_xacro_arguments

EXAMPLES = {
    "actuator-joints": "arm",
    "bad-json": "JSON of a joint",
    "bad-name": "world",
    "bad-number": "joint",
    "bad-value": "world file",
    "bad-yaml": "spheres",
    "calibration-outside-limits": "joint",
    "chain-without-joints": "group",
    "colour-range": "material",
    "constraint-in-one-body": "robot that moves",
    "control-mimic-differs": "ros2_control",
    "controllers-overlap": "configuration",
    "counts-differ": "joint of the later world",
    "cycle": "links a and b",
    "decimal-point": "configuration",
    "derived-joints": "model",
    "duplicate-element": "robot",
    "duplicate-name": "robot",
    "duplicate-pair": "semantic",
    "empty-element": "material",
    "empty-group": "semantic",
    "empty-material": "robot",
    "empty-name": "links and joints",
    "empty-parent-frame": "semantic",
    "enabled-and-disabled": "semantic",
    "end-effector-overruled": "groups",
    "entity-declared": "file",
    "entity-reference": "file",
    "fixed-control-joint": "arm",
    "foreign-content": "world",
    "foreign-loop": "arm",
    "frame-moved": "robot",
    "group-left-out": "semantic",
    "group-not-chain": "configuration",
    "implicit-link": "robot with undeclared links",
    "incomplete-state": "groups",
    "inertia-not-physical": "link",
    "joint-not-in-group": "groups",
    "joint-not-served": "configuration",
    "large-angle": "joint",
    "leader-not-controlled": "arm",
    "limit-above-urdf": "arm",
    "limit-not-used": "configuration",
    "limit-without-value": "configuration",
    "limits-crossed": "joint",
    "link-frames-moved": "robot",
    "link-pose-disagrees": "model",
    "link-twist-disagrees": "model",
    "listed-twice": "semantic",
    "loop-disagrees": "model of a four-bar linkage",
    "loop-freedom": "passive joints of a four-bar linkage",
    "loop-open": "constraint of a four-bar linkage",
    "loop-overdetermined": "passive joints of a four-bar linkage",
    "loop-underdetermined": "passive joints of a four-bar linkage",
    "material-redefined": "robot",
    "mesh-unit": "colliding mesh",
    "mimic-commanded": "arm",
    "mimic-cycle": "robot",
    "mimic-disagrees": "model",
    "mimic-mismatch": "robot",
    "mimic-multiplier-zero": "group of a mimic with multiplier 0",
    "mimic-of-fixed": "robot",
    "mimic-too-large": "robot",
    "misplaced-element": "semantic",
    "missing-attribute": "joint",
    "missing-element": "two links",
    "missing-joint-state": "model",
    "missing-key": "configuration",
    "missing-limit": "robot",
    "missing-mesh": "shape",
    "missing-pose": "world",
    "missing-texture": "visual",
    "mixed-dialects": "two links",
    "name-conflict": "second of two worlds",
    "negative-dynamics": "joint",
    "negative-limit": "joint",
    "negative-mass": "link",
    "negative-size": "shape",
    "newer-version": "file",
    "no-acceleration-limit": "configuration",
    "no-keyframe": "MuJoCo",
    "no-links": "file",
    "no-parent-group": "groups",
    "no-range": "joint",
    "no-root": "links and joints",
    "no-state": "SDFormat",
    "not-a-unit-quaternion": "group of a floating joint",
    "not-decodable": "file",
    "not-json": "JSON",
    "not-well-formed": "file",
    "not-xml": "JSON",
    "odd-comment": "root element",
    "odd-declaration": "file",
    "odd-interface": "arm",
    "older-dialect": "visual",
    "other-parent": "world of a planar robot",
    "other-robot": "world of a robot",
    "other-root": "file",
    "out-of-range": "resolved world",
    "outside-limits": "model",
    "outside-soft-limits": "model",
    "own-parent": "groups",
    "pair-with-itself": "semantic",
    "parent-cycle": "world",
    "parent-frame-is-link": "semantic",
    "parent-link-not-in-group": "groups",
    "parents-differ": "later world",
    "planar-axis": "planar joint",
    "planar-axis-missing": "planar joint",
    "pose-refused": "world of a planar robot",
    "quaternion-disagrees": "world",
    "quaternion-length": "model of a floating robot",
    "relative-namespace": "world",
    "reserved-name": "world",
    "robot-name-differs": "semantic file",
    "second-virtual-joint": "semantic",
    "several-roots": "links and joints",
    "shares-links": "groups",
    "soft-limit-outside": "joint",
    "soft-limits-crossed": "joint",
    "srdf-of-another-robot": "semantic file",
    "stray-text": "robot",
    "subgroup-cycle": "semantic",
    "substitution": "configuration",
    "time-conflict": "root of the second world",
    "twist-refused": "world of a planar robot",
    "two-orientations": "fixed joint of version 1.1",
    "two-parents": "robot",
    "uncontrolled-joint": "configuration of a controlled arm",
    "undeclared-prefix": "file",
    "underivable-joint": "model",
    "unknown-attribute": "robot",
    "unknown-constraint-type": "arm",
    "unknown-configuration": "configuration",
    "unknown-control-joint": "arm",
    "unknown-controller": "configuration",
    "unknown-element": "robot",
    "unknown-gazebo-reference": "arm",
    "unknown-group": "groups",
    "unknown-interface": "configuration of a controlled arm",
    "unknown-joint": "semantic",
    "unknown-joint-type": "robot",
    "unknown-key": "JSON",
    "unknown-link": "robot",
    "unknown-material": "visual",
    "unknown-mimic": "robot",
    "unknown-model": "world of a robot",
    "unknown-parent": "world",
    "unknown-parent-link": "world",
    "unknown-sensor": "configuration",
    "unknown-shape": "shape",
    "unknown-transmission-joint": "arm",
    "unknown-version": "file",
    "unlisted-transmission-joint": "arm",
    "unnamed-material": "visual",
    "unplaced-frame": "world of a planar robot",
    "unplaced-link": "model",
    "unread-description": "described world",
    "unshown-mesh": "shown shape",
    "unusable-geometry": "colliding shape",
    "unused-axis": "arm",
    "unused-parent": "robot",
    "virtual-joint-not-root": "semantic",
    "virtual-joint-state": "model of a planar robot",
    "world-name": "root of the second world",
    "wrong-count": "joint",
    "wrong-root": "file",
    "xacro": "xacro",
    "xacro-not-expanded": "root element",
    "y-up-mesh": "shown mesh",
    "zero-axis": "joint",
    "zero-quaternion": "model of a floating robot",
    "zero-reduction": "arm",
}
"""The context of each example that is a part of a file, or a file."""

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
        "bag-salvaged",
        "bag-scanned",
        "clocks-mixed",
        "damaged-description",
        "duplicate-stamps",
        "empty-document",
        "frame-sources",
        "frame-twist",
        "late-messages",
        "left-out",
        "message-definition",
        "message-refused",
        "messages-missing",
        "more-problems",
        "name-kept",
        "nested-too-deep",
        "no-metadata",
        "not-recorded",
        "not-shown",
        "out-of-plane",
        "schema",
        "stamped-ahead",
        "tf-parent-changes",
        "tf-self",
        "tf-static-and-moving",
        "tf-static-changes",
        "time-jump",
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
    usual = Diagnostics._add

    def add(self: Diagnostics, severity: Severity, code: str, *rest: object) -> None:
        found[code] = severity
        usual(self, severity, code, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(Diagnostics, "_add", add)
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
        _parser(plain).parse_args(plain)


def test_each_page_has_an_example_or_needs_none() -> None:
    sets = (EXAMPLES.keys(), COMMANDS, WITHOUT_EXAMPLE)
    assert sorted(code for codes in sets for code in codes) == list(explanations())
    assert {page.code for page in explanations().values() if not page.before} == WITHOUT_EXAMPLE
