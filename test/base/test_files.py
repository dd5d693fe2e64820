# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Files are written completely or not at all; a device or a pipe is never replaced by a file."""

from __future__ import annotations

import ntpath
import os
import resource
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path, PureWindowsPath

import pytest

from robot_semantics.base import system
from robot_semantics.base.files import (
    open_bounded,
    read_bounded,
    save_all,
    save_bytes,
    scratch_folder,
    temporary_beside,
)
from robot_semantics.cli.main import main
from robot_semantics.examples import example


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    save_bytes(b"state", pipe)
    reader.join(10.0)
    assert read == [b"state"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("read", [lambda path: read_bounded(path, 100), lambda path: open_bounded(path, 100)])
def test_what_another_file_names_is_a_regular_file(tmp_path: Path, read: Callable[[Path], object]) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(OSError, match="is not a regular file"):
            read(path)


def test_a_longer_file_is_refused_also_where_it_states_no_length(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    assert read_bounded(path, 10) == b"0123456789"
    for long, limit in ((path, 9), (Path("/proc/self/maps"), 100)):
        with pytest.raises(OSError, match=f"is longer than the {limit} bytes allowed"):
            read_bounded(long, limit)


def test_a_part_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(20))
    os.truncate(path, 2**40)
    with open_bounded(path, 10) as file:
        assert len(file.readline()) == 10
        assert len(file.read(10)) == 10
        for size in (11, 2**35, -1):
            with pytest.raises(OSError, match="more than the 10 allowed"):
                file.read(size)


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="directory"):
        save_bytes(b"", tmp_path)
    assert tmp_path.is_dir()


def test_a_link_stays_one_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to("file")
    save_bytes(b"new", tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "link"]


def test_a_folder_that_is_not_there_is_reported_under_the_name_that_was_given(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        save_bytes(b"", tmp_path / "nowhere" / "w.usdf")
    assert caught.value.filename == str(tmp_path / "nowhere" / "w.usdf")


@pytest.mark.parametrize(
    "words",
    [
        ("usdf", "convert", str(example("rover_arm.usdf")), "-o"),
        ("usdf", "merge", str(example("rover_arm.usdf")), "-o"),
        ("sim", "run", str(example("rover_arm.usdf")), "--steps", "1", "-o"),
        ("usdf", "split", str(example("rover_arm.usdf")), "-o"),
    ],
)
def test_where_nothing_more_fits_the_old_file_stays_and_the_new_one_is_named(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    out = tmp_path if words[1] == "split" else tmp_path / "w.usdf"
    written = tmp_path / "rover_arm.usdf" if words[1] == "split" else out
    written.write_bytes(b"old")

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    command = (sys.executable, "-m", "robot_semantics.cli.main", *words, str(out), "--force")
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=little_room, timeout=120.0)
    assert done.returncode == 1
    assert f"error: {written}: File too large" in done.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == [written.name]
    assert written.read_bytes() == b"old"


def test_what_a_killed_save_left_is_swept_and_what_is_being_written_is_not(tmp_path: Path) -> None:
    writer = """
import sys, time
from pathlib import Path
from robot_semantics.base.files import temporary_beside
with temporary_beside(Path(sys.argv[1])) as path:
    print(path.name, flush=True)
    time.sleep(60)
"""
    with (
        subprocess.Popen([sys.executable, "-c", writer, str(tmp_path / "a.usdf")], stdout=subprocess.PIPE) as killed,
        subprocess.Popen([sys.executable, "-c", writer, str(tmp_path / "b.usdf")], stdout=subprocess.PIPE) as writing,
    ):
        left, held = (
            tmp_path / process.stdout.readline().decode().strip() for process in (killed, writing) if process.stdout
        )
        killed.kill()
        killed.wait()
        for path in (left, held):
            os.utime(path, (0, 0))
        (tmp_path / ".mine.tmp").write_bytes(b"")
        os.utime(tmp_path / ".mine.tmp", (0, 0))
        save_bytes(b"state", tmp_path / "c.usdf")
        lock = held.with_suffix(".lck")
        assert {path.name for path in tmp_path.iterdir()} == {held.name, lock.name, "c.usdf", ".mine.tmp"}
        writing.kill()


def test_a_file_is_on_the_disk_before_it_has_its_name_and_then_its_name_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "w.usdf").write_bytes(b"old")
    steps: list[tuple[str, bytes, bytes]] = []

    def note(descriptor: int) -> None:
        what = Path(f"/proc/self/fd/{descriptor}").resolve()
        content = b"" if what.is_dir() else what.read_bytes()
        steps.append(("folder" if what == tmp_path else what.suffix, content, (tmp_path / "w.usdf").read_bytes()))

    monkeypatch.setattr("os.fsync", note)
    save_bytes(b"new", tmp_path / "w.usdf")
    assert steps == [(".tmp", b"new", b"old"), ("folder", b"", b"new")]


def test_a_loop_of_links_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="symbolic links") as caught:
        save_bytes(b"", tmp_path / "loop")
    assert caught.value.filename == str(tmp_path / "loop")


def test_a_scratch_folder_of_a_killed_process_is_swept_at_once(tmp_path: Path) -> None:
    writer = """
import sys, time
from pathlib import Path
from robot_semantics.base.files import scratch_folder
with scratch_folder(Path(sys.argv[1])) as path:
    (path / "columns").mkdir()
    (path / "columns" / "large").write_bytes(bytes(100))
    print(path.name, flush=True)
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", writer, str(tmp_path)], stdout=subprocess.PIPE) as killed:
        assert killed.stdout is not None
        killed.stdout.readline()
        killed.kill()
    assert len(list(tmp_path.glob("*.tmp"))) == 1
    with scratch_folder(tmp_path) as folder:
        assert sorted(tmp_path.iterdir()) == [folder.with_suffix(".lck"), folder]
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert list(tmp_path.iterdir()) == []


def test_a_temporary_whose_lock_another_process_sweeps_gets_another_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[Path] = []

    @contextmanager
    def lock(path: Path) -> Iterator[None]:
        tried.append(path)
        if len(tried) == 1:
            raise TimeoutError("another process holds it")
        yield

    monkeypatch.setattr(system, "held_lock", lock)
    with temporary_beside(tmp_path / "w.usdf") as path:
        assert path.with_suffix(".lck") == tried[1] != tried[0]
        assert list(tmp_path.iterdir()) == [path]


def test_no_lock_makes_a_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), system.held_lock(tmp_path / "nowhere" / "lock"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_lock_excludes_threads_and_processes_until_its_holder_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    code = """
import sys, time
from pathlib import Path
from robot_semantics.base.system import held_lock
with held_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(TimeoutError), system.held_lock(path):
            pass
        holder.kill()
        with system.held_lock(path, 60.0), ThreadPoolExecutor(1) as threads:
            assert isinstance(threads.submit(lambda: system.held_lock(path).__enter__()).exception(), TimeoutError)
    assert list(tmp_path.iterdir()) == []


def in_use(*_: object) -> Path:
    error = PermissionError(13, "The process cannot access the file because it is being used by another process")
    error.winerror = 32  # type: ignore[attr-defined]  # only Windows has it
    raise error


def test_a_file_that_another_program_has_open_is_replaced_when_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[object] = []

    def replace(source: Path, target: Path) -> Path:
        tries.append(target)
        return own(source, target) if len(tries) > 3 else in_use()

    own = Path.replace
    monkeypatch.setattr(Path, "replace", replace)
    (tmp_path / "w.usdf").write_bytes(b"old")
    save_bytes(b"new", tmp_path / "w.usdf")
    assert (tmp_path / "w.usdf").read_bytes() == b"new"
    assert len(tries) == 4


def test_a_file_that_stays_open_stays_whole_and_gives_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(system, "REPLACE_TIMEOUT_S", 0.1)
    monkeypatch.setattr(Path, "replace", in_use)
    out = tmp_path / "w.usdf"
    out.write_bytes(b"old")
    assert main(["usdf", "convert", str(example("rover_arm.usdf")), "-o", str(out), "--force"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {out}: another program has it open")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"w.usdf": b"old"}


def test_several_files_stay_whole_if_one_of_them_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def replace(source: Path, target: Path) -> Path:
        return in_use() if target.name == "c" else own(source, target)

    own = Path.replace
    monkeypatch.setattr(Path, "replace", replace)
    monkeypatch.setattr(system, "REPLACE_TIMEOUT_S", 0.1)
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(OSError, match="another program has it open"):
        save_all({tmp_path / name: b"new" for name in "abc"})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"old"}


NO_WINDOWS_NAMES = [
    *("a:b", "a?", "a*", "a<b", "a>b", "a|b", 'a"b', "a\\b", "a.", "a ", "a\tb", "con", "CON", "Con.usdf", "nul"),
    *("aux.x.y", "prn", "COM1", "lpt9.txt", "com¹", "CONIN$", "nul .txt", "..."),
]


@pytest.mark.parametrize("name", NO_WINDOWS_NAMES)
def test_a_name_that_windows_cannot_hold_is_refused_for_a_file_and_for_its_folder(tmp_path: Path, name: str) -> None:
    for path in (tmp_path / name, tmp_path / name / "w.usdf"):
        with pytest.raises(OSError, match=r"Windows .*: choose another name"), temporary_beside(path):
            pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["a", "a.b", ".a", "a..b", "console", "com", "com10", "lpt", "nul_", "ä", "a;b", "a'b"]
)
def test_any_other_name_is_a_file_name(tmp_path: Path, name: str) -> None:
    assert not getattr(ntpath, "isreserved", lambda name: PureWindowsPath(name).is_reserved())(name)
    save_bytes(b"state", tmp_path / name)
    assert (tmp_path / name).read_bytes() == b"state"


def test_a_file_that_has_such_a_name_keeps_it(tmp_path: Path) -> None:
    (tmp_path / "a:b").write_bytes(b"old")
    save_bytes(b"new", tmp_path / "a:b")
    assert (tmp_path / "a:b").read_bytes() == b"new"
