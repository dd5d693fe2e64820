# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A workspace of any size: a bounded part of it is looked at, and never in the thread that answers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pygls.workspace import PositionCodec
from support.editor import Editor

from robot_semantics.lsp import workspace as module
from robot_semantics.lsp.workspace import EditorSettings, Workspace

ROBOT = '<robot name="r"><link name="base"/></robot>'


def looked_at(folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return the number of entries that a walk looks at."""
    count = 0

    class Counted:
        def __init__(self, entries: object) -> None:
            self._entries = entries

        def __enter__(self) -> Counted:
            self._entries.__enter__()  # type: ignore[attr-defined]
            return self

        def __exit__(self, *error: object) -> None:
            self._entries.__exit__(*error)  # type: ignore[attr-defined]

        def __iter__(self) -> Counted:
            return self

        def __next__(self) -> object:
            nonlocal count
            entry = next(self._entries)  # type: ignore[call-overload]
            count += 1
            return entry

    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: Counted(scandir(path)))
    Workspace([str(folder)], EditorSettings(), PositionCodec()).walk()
    return count


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("files", [False, True])
def test_files_and_folders_are_counted_and_the_walk_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deep: bool, files: bool
) -> None:
    monkeypatch.setattr(module, "MOST_ENTRIES", 100)
    for number in range(400):
        path = tmp_path / f"{number // 20}" / f"{number}" if deep else tmp_path / f"{number}"
        path.parent.mkdir(exist_ok=True)
        if files:
            path.with_suffix(".urdf").write_text(ROBOT)
        else:
            path.mkdir()
    assert looked_at(tmp_path, monkeypatch) == 100


def test_a_workspace_within_the_limit_is_read_completely(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"{number}" / "urdf").mkdir(parents=True)
        (tmp_path / f"{number}" / "urdf" / "r.urdf").write_text(ROBOT)
    (tmp_path / "linked").symlink_to(tmp_path / "1")
    for left_out in (".git", "build"):
        (tmp_path / left_out).mkdir()
        (tmp_path / left_out / "r.urdf").write_text(ROBOT)
    documents = list(Workspace([str(tmp_path)], EditorSettings(), PositionCodec()).documents())
    assert {document.path for document in documents} == {f"{tmp_path}/{number}/urdf/r.urdf" for number in range(40)}


SLOW = """
import sys, threading
import os
from pathlib import Path
from robot_semantics.lsp.workspace import Workspace

folder, walk = Path(sys.argv.pop()), Workspace._found
def slow(self):
    with (folder / "threads").open("a") as file:
        print(threading.current_thread() is threading.main_thread(), file=file)
    while (folder / "wait").exists():
        threading.Event().wait(0.02)
    yield from walk(self)
Workspace._found = slow
from robot_semantics.cli.main import main
main(["lsp", "--stdio"])
"""


def test_the_thread_that_answers_never_walks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wait").touch()
    (tmp_path / "other.urdf").write_text(ROBOT)
    words = ["-c", SLOW, str(tmp_path)]
    monkeypatch.setattr("support.editor.SERVER", words)
    with Editor(tmp_path) as editor:
        editor.open("a.srdf", '<robot name="r"><group name="g"><link name="bas"/></group></robot>')
        # The walk goes on; a request that needs no file of the workspace may wait for it, the server does not.
        editor.change("a.srdf", '<robot name="r"><group name="g"><link name="base"/></group></robot>')
        (tmp_path / "wait").unlink()
        assert editor.problems("a.srdf") == []
    told = (tmp_path / "threads").read_text().split()
    assert told
    assert set(told) == {"False"}
