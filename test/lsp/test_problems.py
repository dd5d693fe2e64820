# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Problems in an editor are those of `check`, at the same places, for the newest text."""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
from functools import cache
from pathlib import Path

import pytest
from lsprotocol import types
from support.editor import Editor, position, text_at
from support.explained import CONTEXTS

import robot_semantics
from robot_semantics.cli import check
from robot_semantics.cli.frame.explanations import explanations

EXAMPLES = Path(robot_semantics.__file__).parent / "examples"
EDITS = int(os.environ.get("LSP_EDITS", "300"))
"""Number of random edits; 10,000 take some minutes."""

ARM = """<robot name="arm">
  <link name="base"/>
  <link name="tool"/>
  <joint name="turn" type="revolute">
    <parent link="base"/>
    <child link="tool"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/>
  </joint>
</robot>
"""
GROUPS = """<robot name="arm">
  <group name="all"><joint name="turn"/></group>
  <group_state name="home" group="all"><joint name="turn" value="0"/></group_state>
</robot>
"""

Row = tuple[str, int, int, str]
_NUMBERS = {"error": 1, "warning": 2, "note": 3}


def checked(capsys: pytest.CaptureFixture[str], folder: Path, *files: str) -> dict[str, list[Row]]:
    """Return the problems by `check` for each file: code, line, column, severity."""
    capsys.readouterr()
    before = Path.cwd()
    os.chdir(folder)
    try:
        check.run(argparse.Namespace(**vars(_arguments(files))))
    finally:
        os.chdir(before)
    found: dict[str, list[Row]] = {name: [] for name in files}
    for row in json.loads(capsys.readouterr().out)["diagnostics"]:
        found[row["file"]].append((row["code"], row["line"], row["column"], row["severity"]))
    return {name: sorted(rows) for name, rows in found.items()}


@cache
def _arguments(files: tuple[str, ...]) -> argparse.Namespace:
    """Return the arguments of `check`; to parse them takes longer than most checks."""
    parser = argparse.ArgumentParser()
    check.COMMAND.declare(parser)
    return parser.parse_args([*files, "--all", "--json"], argparse.Namespace(xacro_arguments={}, xacro_asked=set()))


def rows(editor: Editor, name: str, found: list[types.Diagnostic]) -> list[Row]:
    """Return problems of the editor like `checked`; columns in characters."""
    severities = {number: word for word, number in _NUMBERS.items()}
    text = editor.texts[name]
    # `check` counts lines by "\n" only.
    starts = [0, *(found.end() for found in re.finditer("\r\n|\r|\n", text))]
    result = []
    for problem in found:
        line = text[starts[problem.range.start.line] :].encode("utf-16-le")
        offset = starts[problem.range.start.line] + len(line[: 2 * problem.range.start.character].decode("utf-16-le"))
        before = text[:offset]
        column = offset - before.rfind("\n")
        row = (str(problem.code), before.count("\n") + 1, column, severities[int(problem.severity or 0)])
        if problem.code != "unknown-robot":
            result.append(row)
    return sorted(result)


def wait_for_rows(editor: Editor, name: str, expected: list[Row]) -> None:
    """Wait until the editor has these problems."""
    try:
        editor.problems(name, lambda found: rows(editor, name, found) == expected)
    except TimeoutError:
        assert rows(editor, name, editor.problems(name)) == expected, (name, editor.texts)
        raise


def opened(editor: Editor, folder: Path, **texts: str) -> None:
    """Write and open files of these texts; a name has `_` for its dot."""
    for name, text in texts.items():
        path = folder / name.replace("_", ".")
        path.write_text(text)
    for name in texts:
        editor.open(name.replace("_", "."))


def test_a_problem_marks_the_attribute_that_has_it(editor: Editor, folder: Path) -> None:
    opened(editor, folder, a_urdf=ARM, a_srdf=GROUPS.replace('<joint name="turn" value', '<joint name="trun" value'))
    (unknown,) = [problem for problem in editor.problems("a.srdf") if problem.code == "unknown-joint"]
    assert text_at(editor.texts["a.srdf"], unknown.range) == 'name="trun"'
    assert unknown.severity == types.DiagnosticSeverity.Error
    assert unknown.message == "unknown joint 'trun' in state 'home'; did you mean 'turn'?"
    assert editor.problems("a.urdf") == []


def test_a_change_of_the_urdf_changes_the_problems_of_the_srdf(editor: Editor, folder: Path) -> None:
    opened(editor, folder, a_urdf=ARM, a_srdf=GROUPS)
    assert editor.problems("a.srdf") == []
    editor.change("a.urdf", ARM.replace('name="turn"', 'name="twist"'))
    found = editor.problems("a.srdf", lambda found: len(found) > 1)
    assert {problem.code for problem in found} >= {"unknown-joint"}
    editor.change("a.urdf", ARM)
    assert editor.problems("a.srdf", lambda found: found == []) == []


def test_a_text_that_is_not_well_formed_has_one_problem_and_its_srdf_is_not_compared(
    editor: Editor, folder: Path
) -> None:
    opened(editor, folder, a_urdf=ARM, a_srdf=GROUPS)
    editor.change("a.urdf", ARM.replace('<link name="tool"/>', '<link name="tool'))
    (found,) = editor.problems("a.urdf")
    assert found.code == "not-well-formed"
    assert found.range.start == position(editor.texts["a.urdf"], editor.texts["a.urdf"].index("<joint"))
    (found,) = editor.problems("a.srdf", bool)
    assert found.message.startswith("this file is not compared with ")


def test_a_file_on_disk_belongs_to_the_open_document(editor: Editor, folder: Path) -> None:
    (folder / "a.urdf").write_text(ARM)
    opened(editor, folder, a_srdf=GROUPS.replace("turn", "trun", 1))
    assert [problem.code for problem in editor.problems("a.srdf")].count("unknown-joint") == 1
    (folder / "a.urdf").write_text(ARM.replace('name="turn"', 'name="trun"'))
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([]))
    found = editor.problems("a.srdf", lambda found: "'turn'" in str(found))
    assert [problem.code for problem in found].count("unknown-joint") == 1


def test_nothing_is_guessed_if_several_urdfs_fit(editor: Editor, folder: Path) -> None:
    (folder / "a.urdf").write_text(ARM)
    (folder / "b.urdf").write_text(ARM)
    opened(editor, folder, a_srdf=GROUPS.replace("turn", "trun", 1))
    (note,) = editor.problems("a.srdf")
    assert note.severity == types.DiagnosticSeverity.Information
    assert "several URDF files have robot 'arm'" in note.message
    assert "a.urdf" in note.message
    assert "b.urdf" in note.message
    (folder / "b.urdf").unlink()
    editor.save("a.srdf")
    found = editor.problems("a.srdf", lambda found: len(found) != 1 or found[0] != note)
    assert "unknown-joint" in {problem.code for problem in found}


def test_the_settings_of_the_project_select_the_problems(editor: Editor, folder: Path) -> None:
    (folder / ".robot_semantics.toml").write_text('ignore = ["incomplete-state"]\nerror = ["unknown-attribute"]\n')
    opened(
        editor, folder, a_urdf=ARM.replace('lower="', 'lowr="'), a_srdf=GROUPS.replace('name="turn" v', 'name="trun" v')
    )
    editor.save("a.srdf")
    found = editor.problems("a.srdf", lambda found: "incomplete-state" not in {problem.code for problem in found})
    assert {problem.code for problem in found} == {"unknown-joint"}
    (limit,) = [problem for problem in editor.problems("a.urdf") if problem.code == "unknown-attribute"]
    assert limit.severity == types.DiagnosticSeverity.Error


def test_of_several_urdfs_the_only_one_in_the_package_fits(tmp_path: Path) -> None:
    for package in ("one", "two"):
        for name, text in (("package.xml", "<package/>"), ("urdf/a.urdf", ARM), ("srdf/a.srdf", GROUPS)):
            path = tmp_path / package / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    (tmp_path / "two/urdf/a.urdf").write_text(ARM.replace('name="turn"', 'name="twist"'))
    with Editor(tmp_path) as editor:
        editor.open("one/srdf/a.srdf")
        editor.open("two/srdf/a.srdf")
        assert editor.problems("one/srdf/a.srdf") == []
        assert "unknown-joint" in {problem.code for problem in editor.problems("two/srdf/a.srdf")}


def test_a_closed_document_has_no_problems(editor: Editor, folder: Path) -> None:
    opened(editor, folder, a_urdf=ARM.replace("base", "bas", 1))
    assert editor.problems("a.urdf")
    editor.close("a.urdf")
    editor.open("a.urdf", ARM)
    assert editor.problems("a.urdf") == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_places_are_in_the_units_of_the_editor(tmp_path: Path, encoding: str) -> None:
    unit = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}[encoding]
    marks = '<!-- 😀é -->\u2028\x85<joint name="😀 é" type="revolute">'
    lines = ARM.replace('<joint name="turn" type="revolute">', marks).replace('lower="-1"', 'lower="🦾"')
    lines = lines.replace("<limit ", '<limit effort2="🦾"\n')
    with Editor(tmp_path, encodings=[encoding]) as editor:
        assert editor.capabilities.position_encoding == encoding
        for number, end in enumerate(("\n", "\r\n", "\r")):
            text, name = lines.replace("\n", end), f"{number}.urdf"
            editor.open(name, text)
            found = {str(problem.code): problem.range for problem in editor.problems(name)}
            for code, mark in (("bad-number", 'lower="🦾"'), ("unknown-attribute", 'effort2="🦾"')):
                start = text.index(mark)
                assert found[code].start == position(text, start, unit)
                assert found[code].end == position(text, start + len(mark), unit)


def test_problems_are_those_of_check_for_every_example_of_the_explanations(
    editor: Editor, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: set[str] = set()
    for page in explanations().values():
        for context in (CONTEXTS[name] for name in ("arm", "semantic", "model")):
            if not page.before:
                continue
            files = {name: text.replace("{}", page.before) for name, text in context.files.items()}
            for name, text in files.items():
                (folder / name).write_text(text)
                editor.open(name)
            for name, expected in checked(capsys, folder, *files).items():
                wait_for_rows(editor, name, expected)
                seen |= {row[0] for row in expected}
            editor.close_all()
            for name in files:
                (folder / name).unlink()
    assert len(seen) > 50


def test_random_edits_never_leave_a_stale_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The problems after each burst of edits are those that `check` reports for the same texts in files."""
    names = ("rover_arm.urdf", "rover_arm.srdf", "rover_arm.usdf")
    for name in names:
        shutil.copy(EXAMPLES / name, tmp_path)
    rng = random.Random(7)
    compared = 0
    with Editor(tmp_path, {"urdf": names[0], "srdf": names[1]}) as editor:
        for name in names:
            editor.open(name)
        original = dict(editor.texts)
        for edit in range(EDITS):
            name = rng.choice(names)
            editor.change(name, edited(rng, editor.texts[name] if rng.random() < 0.8 else original[name], edit))
            if rng.random() < 0.1:
                for each in names:
                    (tmp_path / each).write_text(editor.texts[each])
                editor.save(name)
                for each, expected in checked(capsys, tmp_path, *names).items():
                    wait_for_rows(editor, each, expected)
                    compared += len(expected) > 0
    assert compared > EDITS // 20


def edited(rng: random.Random, text: str, seed: int) -> str:
    """Return the text with one random change."""
    start = rng.randrange(len(text) + 1)
    end = min(start + rng.choice((0, 0, 1, 3, 40)), len(text))
    names = ("elbow_joint", "arm", "base_link", "wrist_link", "left_wheel")
    new = rng.choice(("", "x", '"', "<", ">", "&", "😀", "\r", "\u2028", f'<link name="l{seed}"/>', *names))
    swapped = text.replace(rng.choice(names), rng.choice(names), 1)
    return rng.choice((text[:start] + new + text[end:], swapped))
