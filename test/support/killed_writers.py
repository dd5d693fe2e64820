# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Processes that end themselves with SIGKILL right before a chosen file operation in a folder."""

from __future__ import annotations

import json
import os
import random
import runpy
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import cast

from robot_semantics import RobotSemanticsError, WorldState, read_world
from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.usdf.saved_descriptions import Texts, hash_name
from robot_semantics.usdf.snapshots import SnapshotStore
from robot_semantics.usdf.world_state import JointState, ModelState
from robot_semantics.viewer.edit_session import EditSession, read_draft

OPERATIONS = frozenset({"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.scandir"})
ROBOTS = [f"<robot name='r{number}'><link name='l'/></robot>" for number in range(3)]


def kill_before_operation(number: int, folder: Path, *, reads: bool = False) -> None:
    """Have this process killed before its file operation of this number (from 1) on paths in the folder.

    A file that is opened to be read counts only with `reads`.
    """
    left = number

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if event == "open" and not reads and not cast("int", arguments[2]) & (os.O_WRONLY | os.O_RDWR):
            return  # It reads: a kill before the next change leaves the same files.
        if event in OPERATIONS and isinstance(arguments[0], str | bytes | os.PathLike):
            if os.fsdecode(arguments[0]).startswith(str(folder)):
                left -= 1
            # Threads may count down together, past 0.
            if left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def operations(writer: str, folder: Path, rng: random.Random) -> Iterator[tuple[list[str], Callable[[], object]]]:
    """Yield endless changes: the files that each may write or delete, and the function that does it."""
    if writer == "studio":
        path = folder / "r.srdf"
        bare, srdf = load_robot(example("rover_arm.urdf")), example("rover_arm.srdf").read_bytes()
        while True:
            session = EditSession(bare, SrdfText.from_file(path), path)
            group = f'<group name="g{rng.randrange(10**9)}"><link name="base_link"/></group>'.encode()
            text = SrdfText(srdf.replace(b"</robot>", group + b"</robot>"))
            session.change("a group", lambda _, text=text: text)  # type: ignore[misc]  # bound at once
            yield [path.name], session.save
    store = SnapshotStore(folder, owner="node")
    while True:
        texts = {"m": Texts(rng.choice(ROBOTS), "")}
        state = WorldState(models=(ModelState("m", joints=(JointState("j", (rng.random(),)),)),))
        choice, name = rng.random(), f"own{rng.randrange(6)}"
        if choice < 0.5:
            yield [f"{name}.usdf"], partial(store.save, name, state, overwrite=True, texts=texts)
        elif choice < 0.8:
            yield sorted(path.name for path in folder.glob("auto-*")), partial(store.autosave, state, 3, texts=texts)
        elif (folder / f"{name}.usdf").exists():
            yield [f"{name}.usdf"], partial(store.delete, name)


def content(folder: Path) -> dict[str, bytes]:
    """Return the files in a folder by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def unsound(folder: Path) -> list[str]:
    """Return the names of files that are torn, or that nothing needs."""
    files, needed, found = content(folder), set(), []
    for name in files:
        path = folder / name
        try:
            if path.suffix == ".srdf":
                SrdfText.from_file(path)
                needed.add(name)
            elif name.endswith(".draft.lock"):
                needed.add(name)  # free since the process has ended
            elif path.suffix == ".draft":
                read_draft(path.read_bytes())
                needed.add(name)
            elif path.suffix == ".usdf":
                needed |= {name, *(str(model.description) for model in read_world(path).models)}
        except RobotSemanticsError:
            found.append(name)
    for name in needed - files.keys():
        found.append(f"{name} is missing")
    for name in needed & files.keys():
        if name.endswith(".urdf") and hash_name(files[name].decode(), ".urdf") != name:
            found.append(name)
    return found + sorted(files.keys() - needed)


def in_child(work: Callable[[int], None]) -> tuple[bytes, int]:
    """Run work in a child process; return the data in its pipe, and the signal that ended it."""
    reader, end = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        code = 1
        try:
            work(end)
            code = 0
        finally:
            os._exit(code)
    os.close(end)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    return said, os.WTERMSIG(status) if os.WIFSIGNALED(status) else -os.WEXITSTATUS(status)


def run(writer: str, folder: Path, kills: int) -> dict[str, object]:
    """Kill a writer the given number of times; return the number of kills, and the faults after the next run."""
    rng = random.Random(38)
    wrong: list[str] = []
    killed = 0
    for number in range(kills):
        before = content(folder)
        seed, at = rng.random(), rng.randrange(1, 80)

        def write(end: int, seed: float = seed, at: int = at) -> None:
            own = random.Random(seed)
            changes = operations(writer, folder, own)
            kill_before_operation(at, folder)
            while True:
                names, change = next(changes)
                os.write(end, json.dumps(names).encode() + b"\n")
                change()
                os.write(end, json.dumps({name: data.hex() for name, data in content(folder).items()}).encode() + b"\n")

        def next_run(_: int, number: int = number) -> None:
            next(operations(writer, folder, random.Random(-1 - number)))[1]()

        said, ended_by = in_child(write)
        killed += ended_by == signal.SIGKILL
        lines = [json.loads(line) for line in said.splitlines()]
        # Confirmed by the last whole change; the one that was killed may or may not have been done.
        known = next(
            ({name: bytes.fromhex(data) for name, data in line.items()} for line in lines[::-1] if type(line) is dict),
            before,
        )
        pending = lines[-1] if lines and isinstance(lines[-1], list) else []
        after = content(folder)
        for name, data in known.items():
            if name.endswith((".usdf", ".srdf")) and name not in pending and after.get(name) != data:
                wrong.append(f"kill {number}: {name} is lost")
        _, failed = in_child(next_run)
        if failed:
            wrong.append(f"kill {number}: the next run ended with {failed}")
        wrong += [f"kill {number}: {name}" for name in unsound(folder)]
    return {"killed": killed, "wrong": wrong}


if __name__ == "__main__":
    if "KILLED_BEFORE" in os.environ:
        # A program that other tests start: the number, the folder and the program are in the environment.
        reads = "KILLED_READS" in os.environ
        kill_before_operation(int(os.environ["KILLED_BEFORE"]), Path(os.environ["KILLED_IN"]), reads=reads)
        runpy.run_module(os.environ["KILLED_MODULE"], run_name="__main__", alter_sys=True)
    elif sys.argv[1] == "next":
        store = SnapshotStore(Path(sys.argv[2]))
        store.save("next", store.load("mine")[0], overwrite=True)
    else:
        print(json.dumps(run(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))))
