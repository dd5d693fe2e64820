# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A file's format is told by its ending: an unknown one is refused before anything is read or written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from robot_semantics.base.files import UnknownEndingError, format_of
from robot_semantics.cli.main import main
from robot_semantics.examples import example

URDF, SRDF, WORLD = (str(example(f"rover_arm.{ending}")) for ending in ("urdf", "srdf", "usdf"))
FORMATS = {".usdf": "usdf", ".json": "json"}


def test_the_ending_names_the_format_whatever_its_capitals() -> None:
    assert format_of("a/b.JSON", FORMATS) == "json"
    assert format_of("b", FORMATS, "usdf") == "usdf"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("b.blend", "'b.blend' has the ending '.blend'; known is .usdf or .json"),
        ("b", "'b' has no ending; known is .usdf or .json"),
    ],
)
def test_an_unknown_ending_is_refused_with_the_known_ones(name: str, message: str) -> None:
    with pytest.raises(UnknownEndingError) as refused:
        format_of(name, FORMATS)
    assert str(refused.value) == message
    assert refused.value.endings == (".usdf", ".json")


def code_of(words: list[str]) -> int:
    try:
        return main(words)
    except SystemExit as ended:
        return int(str(ended.code))


@pytest.mark.parametrize(
    ("words", "known"),
    [
        (["usdf", "convert", WORLD, "-o"], ".usdf, .xml, .json, .sdf, .world or .mjcf: give the format with --to"),
        (["usdf", "edit", WORLD, "--name", "n", "-o"], ".usdf, .xml or .json"),
        (["usdf", "merge", WORLD, "-o"], ".usdf, .xml or .json"),
        (["usdf", "interpolate", WORLD, WORLD, "--share", "0.5", "-o"], ".usdf, .xml or .json"),
        (["sim", "run", WORLD, "--steps", "1", "-o"], ".usdf, .xml or .json"),
        (["view", URDF, "--png"], "known is .png"),
        (["view", URDF, "--html"], ".html or .htm"),
        (["show", URDF, "--svg"], "known is .svg"),
        (["collisions", "generate", URDF, "--samples", "9", "--plot"], ".png, .svg or .pdf"),
        (["collisions", "generate", URDF, "--samples", "9", "--report"], "known is .json"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else "",
)
def test_no_command_writes_its_own_format_under_the_name_of_another(
    words: list[str], known: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "x.blend"
    assert code_of([*words, str(target)]) == 2
    assert not target.exists()
    printed = capsys.readouterr().err
    assert "has the ending '.blend'" in printed
    assert known in printed


def test_what_is_read_needs_a_known_ending_or_its_format_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "world.blend"
    source.write_text(Path(WORLD).read_text())
    assert main(["usdf", "convert", str(source), "--to", "json"]) == 2
    assert "give the format with --from" in capsys.readouterr().err
    assert main(["usdf", "convert", str(source), "--from", "usdf", "--to", "json"]) == 0


def test_a_simulated_state_is_json_where_its_name_says_so(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    target = tmp_path / "later.json"
    assert main(["sim", "run", WORLD, "--steps", "1", "-o", str(target)]) == 0
    assert json.loads(target.read_text())["models"]
