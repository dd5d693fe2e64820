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


WORLD = '<world_state name="w"><frame name="f"><pose>1 2 3 0 0 0</pose></frame></world_state>'
WRITTEN = {
    "w.json": "usdf convert w.usdf -o w.json",
    "w.sdf": "usdf convert w.usdf -o w.sdf",
    "w.npz": "export bag -o w.npz",
    "w.jsonl": "export bag -o w.jsonl",
    "w.csv": "export bag -o w.csv",
    "bag/bag.mcap": "bag w.usdf -o bag --force",
}
"""Files of other formats, and the commands that write them."""
READ = {
    "w.json": "usdf convert w.json --to usdf",
    "w.sdf": "usdf convert w.sdf --to usdf",
    "w.npz": "info w.npz",
    "w.jsonl": "info w.jsonl",
    "w.csv": None,
    "bag/bag.mcap": "export bag/bag.mcap -o again.npz --force",
}
"""The commands that read them; nothing reads a table."""
FOREIGN = {
    "m.xml": (b'<?xml version="1.0"?><!-- a <robot> --><mujoco/>', "MJCF", "usdf convert"),
    "x.db3": (b"SQLite format 3\0\0", "recording", "export"),
    "x.bag": (b"#ROSBAG V2.0\n", "recording", "export"),
    "x.parquet": (b"PAR1\x15\x04\x15", "Parquet", "info"),
    "robot.yml": (b"robot_cfg: {}\n", "cuRobo", "collisions spheres convert"),
    "r.yaml": (b"format: xrdf\nformat_version: 1.0\n", "XRDF", "collisions spheres convert"),
    "metadata.yaml": (b"rosbag2_bagfile_information:\n  version: 5\n", "recording", "export"),
    "world.yaml": (b"format: urn:robot-semantics:usdf:1\nmodels: []\n", "world state", "usdf convert"),
    "loops.yaml": (b"closed_loop: []\n", "Extended URDF", "--loops"),
    "package.xml": (b"<package/>", "manifest", "check"),
}
"""Files of other programs, with a word of what they are and the command that reads them."""


@pytest.fixture
def others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: RunCommand) -> Path:
    """Return a folder with a file of each other format."""
    monkeypatch.chdir(tmp_path)
    Path("w.usdf").write_text(WORLD)
    for words in sorted(WRITTEN.values()):
        assert run(*words.split()).code == 0, words
    for name, (content, _, _) in FOREIGN.items():
        Path(name).write_bytes(content)
    return tmp_path


@pytest.mark.usefixtures("others")
def test_a_file_of_another_format_is_named_with_the_command_that_reads_it(run: RunCommand) -> None:
    for name in (*WRITTEN, *FOREIGN):
        for words in ("check", "show", "usdf show", "fk", "upgrade"):
            if words == "usdf show" and name in ("w.json", "w.sdf"):
                continue
            result = run(*words.split(), name)
            said = result.err + result.out
            is_yaml = words == "check" and name.endswith(("yaml", "yml"))
            assert result.code == int(not is_yaml), (words, said)
            assert "well-formed" not in said.replace("(not-well-formed)", ""), (words, said)
            assert "checked: no problems" not in said or "0 files checked" in said, (words, said)
            if name in FOREIGN:
                assert all(word in said for word in FOREIGN[name][1:]), (words, said)
                continue
            command = READ[name]
            if command is None:
                assert "no command reads it" in said
            else:
                assert f"'robot_semantics {command.partition(f' {name}')[0]}'" in said, (words, said)
    for command in filter(None, READ.values()):
        assert run(*command.split()).code == 0, command


def test_a_text_of_no_known_format_is_refused_at_its_place(run: RunCommand, tmp_path: Path) -> None:
    for name, content in {"notes.txt": b"hello", "x.urdf": b"\xff\xfa\x00\x01", "y.urdf": b"<robot"}.items():
        (tmp_path / name).write_bytes(content)
        result = run("check", tmp_path / name)
        assert result.code == 1
        assert f"{name}:1:" in result.out
        assert "the file is" not in result.out
