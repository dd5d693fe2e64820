# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Files in each other's places, and files of two robots, are told in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands import RunCommand

from robot_semantics.examples import example

OTHER = '<robot name="other"><group name="g">{}</group></robot>'.format(
    "".join(f'<joint name="turn_{index}"/>' for index in range(9))
)


@pytest.mark.parametrize("words", [("show", "{1}", "{0}"), ("groups", "{1}", "{0}"), ("fk", "{1}", "{0}")])
def test_swapped_arguments_are_one_sentence(words: tuple[str, ...], run: RunCommand, rover: tuple[Path, Path]) -> None:
    result = run(*(word.format(*rover) for word in words))
    assert (result.code, result.out) == (1, "")
    assert result.err == f"error: '{rover[1]}' is an SRDF and '{rover[0]}' a URDF: exchange the two files\n"


def test_a_file_of_another_kind_is_named_with_what_is_needed(run: RunCommand, rover: tuple[Path, Path]) -> None:
    assert run("show", rover[1]).err == f"error: '{rover[1]}' is an SRDF, not a URDF\n"
    assert run("show", rover[0], rover[0]).err.startswith(f"error: '{rover[0]}' is a URDF, not an SRDF")


def test_the_commands_that_take_a_file_are_named(run: RunCommand, rover: tuple[Path, Path]) -> None:
    world = example("rover_arm.usdf")
    assert run("show", world).err == (
        f"error: '{world}' is a USDF file, not a URDF; 'robot_semantics usdf' has the commands for it\n"
    )
    for words in (("usdf", "show", rover[0]), ("sim", "run", rover[0], "--steps", "1")):
        assert "'robot_semantics usdf new' makes a world state of a robot" in run(*words).err


@pytest.mark.parametrize(("words", "code"), [("show", 0), ("groups", 0), ("groups --strict", 1), ("check", 1)])
def test_an_srdf_of_another_robot_is_one_line_and_only_check_and_strict_refuse_it(
    words: str, code: int, run: RunCommand, rover: tuple[Path, Path], tmp_path: Path
) -> None:
    srdf = tmp_path / "other.srdf"
    srdf.write_text(OTHER)
    result = run(*words.split(), rover[0], srdf)
    assert result.code == code
    assert (result.err + result.out).count("the SRDF is for another robot, 'other'") == 1
    assert "unknown joint" not in result.err + result.out


@pytest.mark.parametrize("words", ["usdf show endless.json", "usdf convert endless.json --to usdf"])
def test_a_device_behind_a_link_is_refused(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: RunCommand
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("endless.json").symlink_to("/dev/zero")
    result = run(*words.split())
    assert (result.code, result.out) == (1, "")
    assert "endless.json: error: cannot be read: is a device or a socket, not a file" in result.err
