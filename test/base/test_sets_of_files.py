# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Several files are written all or none, also if the process is killed or the disk is full."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from support.killed_writers import in_child, kill_before_operation
from support.small_disk import small_disk

from robot_semantics.base import files
from robot_semantics.base.files import locked, save_all, save_bytes
from robot_semantics.cli.main import main

NAMES = [f"{name}.usdf" for name in "abcd"]
WORLD = (
    "<world_state>"
    + "".join(f'<model_state name="{name[0]}"><pose>0 0 0 0 0 0</pose></model_state>' for name in NAMES)
    + "</world_state>"
)


def content(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def forget() -> None:
    """Behave as a new process."""
    files._swept.clear()


def of_library(folder: Path) -> None:
    save_all({folder / name: b"new" for name in NAMES})


def of_split(folder: Path) -> None:
    world = folder.parent / "world.usdf"
    assert main(["usdf", "split", str(world), "-o", str(folder), "--force"]) == 0


@pytest.mark.parametrize("write", [of_library, of_split])
@pytest.mark.parametrize("there", [True, False])
def test_a_killed_process_leaves_all_files_or_none_after_the_next_run(
    tmp_path: Path, write: Callable[[Path], None], there: bool
) -> None:
    (tmp_path / "world.usdf").write_text(WORLD)
    whole = tmp_path / "whole"
    whole.mkdir()
    write(whole)
    new = content(whole)
    assert sorted(new) == NAMES
    outcomes = set()
    for operation in range(1, 60):
        folder = tmp_path / str(operation)
        folder.mkdir()
        old = {name: "old" for name in NAMES if there}
        for name, text in old.items():
            (folder / name).write_text(text)

        def killed(_end: int, folder: Path = folder, operation: int = operation) -> None:
            forget()
            kill_before_operation(operation, folder)
            write(folder)

        _, ended_by = in_child(killed)
        forget()
        save_bytes(b"next", folder / "next")
        after = content(folder)
        assert after.pop("next") == "next"
        assert after in (old, new)
        outcomes.add(after == new)
        if ended_by != signal.SIGKILL:
            break
    else:
        raise AssertionError("the operations never end")
    assert outcomes == {True, False}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_between_two_names_waits_for_the_last_one(
    tmp_path: Path, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Ended(BaseException):
        pass

    def end(*_: object) -> None:
        raise Ended

    replace = Path.replace

    def replaced(path: Path, target: Path) -> Path:
        signal.raise_signal(number)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", replaced)
    before = signal.signal(number, end)
    try:
        with pytest.raises(Ended):
            of_library(tmp_path)
    finally:
        signal.signal(number, before)
    assert content(tmp_path) == dict.fromkeys(NAMES, "new")


def test_a_split_on_a_full_disk_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "world.usdf").write_text(WORLD)
    with small_disk(tmp_path / "disk", 64) as disk:
        (disk.folder / "a.usdf").write_text("old")
        disk.leave(2)
        assert main(["usdf", "split", str(tmp_path / "world.usdf"), "-o", str(disk.folder), "--force"]) == 1
        assert "No space left" in capsys.readouterr().err
        assert disk.files() == {"a.usdf": b"old"}


@pytest.mark.parametrize(
    "names",
    [
        {".a.00000000.tmp": "../outside"},
        {".a.00000000.tmp": "/tmp/outside"},
        {"../.a.00000000.tmp": "inside"},
        {"mine": "inside"},
        {".a.00000000.tmp": ".."},
        {".a.00000000.tmp": ""},
        [],
        None,
    ],
)
def test_a_list_from_elsewhere_renames_nothing_but_temporary_files_in_its_folder(tmp_path: Path, names: object) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for path in (tmp_path / ".a.00000000.tmp", folder / ".a.00000000.tmp", folder / "mine"):
        path.write_text("mine")
    (folder / ".files.00000001.set").write_text(json.dumps(names))
    forget()
    save_bytes(b"next", folder / "next")
    assert content(folder) == {"mine": "mine", "next": "next"}
    assert sorted(path.name for path in tmp_path.iterdir()) == [".a.00000000.tmp", "folder"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_list_of_another_user_is_ignored(tmp_path: Path) -> None:
    (tmp_path / ".a.00000000.tmp").write_text("theirs")
    (tmp_path / ".files.00000001.set").write_text(json.dumps({".a.00000000.tmp": "mine"}))
    os.chown(tmp_path / ".files.00000001.set", 1000, 1000)
    (tmp_path / "mine").write_text("mine")
    forget()
    save_bytes(b"next", tmp_path / "next")
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_locked_folder_is_swept_again_and_again(tmp_path: Path) -> None:
    for _ in range(2):
        # Another node was killed meanwhile.
        (tmp_path / ".a.00000000.tmp").write_text("left over")
        with locked(tmp_path, 1.0):
            assert content(tmp_path) == {".robot_semantics.lock": ""}
        assert content(tmp_path) == {}


def test_the_example_is_written_as_a_whole(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 64) as disk:
        disk.leave(3)
        assert main(["example", str(disk.folder)]) == 1
        assert disk.files() == {}
