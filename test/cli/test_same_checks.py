# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`check`, `check_texts` and the language server report the same problems of URDF, SRDF and YAML: a fault per code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pygls.workspace import PositionCodec
from support.commands import RunCommand
from support.explained import CONTEXTS
from support.explained_codes import EXAMPLES

from robot_semantics.bringup.checking import check_texts
from robot_semantics.cli.frame.explanations import explanations
from robot_semantics.lsp.checking import Checker
from robot_semantics.lsp.workspace import EditorSettings, Workspace

Row = tuple[str, str, int | None, int | None]

ENDINGS = {".urdf", ".srdf", ".yaml"}
FILES = {"missing-mesh", "missing-texture"}
"""Codes of files that a URDF names: `check_texts` has only the texts."""

OTHERS = {"not-decodable", "other-namespace", "other-root", "unknown-configuration"}
"""Codes of the bytes of a file, of USDF, and of a YAML file that `check` is told to check but does not know."""

FAULTS = [
    code
    for code, name in EXAMPLES.items()
    if code not in OTHERS
    and CONTEXTS[name].command.startswith("check ")
    and not {"--implicit-links", "--for"} & set(CONTEXTS[name].command.split())
    and {Path(file).suffix for file in CONTEXTS[name].files} <= ENDINGS
]


def by_check(run: RunCommand, texts: dict[str, str]) -> set[Row]:
    found = json.loads(run("check", *texts, "--all", "--json").out)["diagnostics"]
    return {(row["file"], row["code"], row["line"], row["column"]) for row in found}


def by_server(folder: Path, texts: dict[str, str]) -> set[Row]:
    workspace = Workspace([str(folder)], EditorSettings(), PositionCodec())
    for name, text in texts.items():
        workspace.put(str(folder / name), text, 1)
    checker = Checker(workspace)
    found = {problem for document in list(workspace.open.values()) for problem in checker.problems(document)}
    return {
        (Path(problem.place.source).name, problem.code, problem.place.line, problem.place.column)
        for problem in found
        if problem.code != "unknown-robot"
    }


@pytest.mark.parametrize("code", FAULTS)
def test_a_fault_is_reported_by_all_three(
    run: RunCommand, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {
        name: text.replace("{}", explanations()[code].before, 1)
        for name, text in CONTEXTS[EXAMPLES[code]].files.items()
    }
    for name, text in texts.items():
        Path(name).write_text(text)
    expected = by_check(run, texts)
    assert code in {row[1] for row in expected}
    assert by_server(tmp_path, texts) == expected
    found = {(item.place.source, item.code, item.place.line, item.place.column) for item in check_texts(texts)}
    assert found == {row for row in expected if row[1] not in FILES}


TWO_JOINTS = """<robot name="{}"><link name="a"/><link name="b"/><link name="c"/>
<joint name="i" type="continuous"><parent link="a"/><child link="b"/></joint>
<joint name="j" type="continuous"><parent link="b"/><child link="c"/></joint></robot>"""
ONE_GROUP = '<robot name="{}"><group name="{}"><joint name="j"/></group></robot>'
SOLVER = "{}: {{kinematics_solver: kdl_kinematics_plugin/KDLKinematicsPlugin}}\n"


@pytest.mark.parametrize(
    ("semantics", "reported"),
    [
        ({"m.srdf": ONE_GROUP.format("r", "arm")}, True),
        ({"m.srdf": ONE_GROUP.format("r", "arm"), "n.srdf": ONE_GROUP.format("r", "hand")}, False),
        ({"m.srdf": ONE_GROUP.format("r", "hand"), "n.srdf": ONE_GROUP.format("r", "arm")}, False),
        ({"m.srdf": ONE_GROUP.format("r", "arm"), "n.srdf": ONE_GROUP.format("other", "hand")}, True),
        ({"m.srdf": ONE_GROUP.format("r", "hand"), "n.srdf": ONE_GROUP.format("other", "arm")}, False),
        ({"m.srdf": ONE_GROUP.format("r", "arm"), "n.srdf": '<robot name="r"><group'}, True),
    ],
)
def test_the_semantics_of_a_yaml_file_are_chosen_by_all_three_in_the_same_way(
    run: RunCommand, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, semantics: dict[str, str], reported: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {"r.urdf": TWO_JOINTS.format("r"), **semantics, "kinematics.yaml": SOLVER.format("hand")}
    for name, text in texts.items():
        Path(name).write_text(text)
    expected = by_check(run, texts)
    assert {(item.place.source, item.code, item.place.line, item.place.column) for item in check_texts(texts)} == (
        expected
    )
    assert {row for row in by_server(tmp_path, texts) if row[0].endswith("yaml")} == (
        {row for row in expected if row[0].endswith("yaml")}
    )
    assert reported == ("unknown-group" in {row[1] for row in expected})


def test_the_faults_are_of_every_kind() -> None:
    assert {"cycle", "empty-group", "loop-overdetermined", "mimic-commanded", "limits-crossed", "decimal-point"} <= {
        *FAULTS
    }
