# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Several processes use one snapshot folder: nothing is lost or left over, and no process deletes foreign files."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from random import Random

import pytest

from robot_semantics import Diagnostics, WorldState, read_world
from robot_semantics.transforms.pose import Pose
from robot_semantics.usdf.check import check_world_file
from robot_semantics.usdf.saved_descriptions import DamagedDescriptionError, Texts, hash_name
from robot_semantics.usdf.snapshots import SnapshotError, SnapshotStore
from robot_semantics.usdf.world_state import ModelState

OPERATIONS = int(os.environ.get("SNAPSHOT_OPERATIONS", "600"))
"""Operations of all processes together; 10,000 take about two minutes."""

STATE = WorldState(models=(ModelState("m", pose=Pose((0.0,) * 6)),), time_ns=5)

WORKER = """
    import random, sys
    from pathlib import Path
    from robot_semantics.base.errors import UnknownNameError
    from robot_semantics.usdf.snapshots import SnapshotStore
    from robot_semantics.usdf.saved_descriptions import Texts
    from robot_semantics.usdf.world_state import ModelState, WorldState

    folder, number, operations = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(number)
    store = SnapshotStore(folder, owner=f"node{number}")
    state = WorldState(models=(ModelState("m"),))
    robots = [f"<robot name='r{kind}'><link name='l'/></robot>" for kind in range(3)]
    mine = set()
    for count in range(operations):
        texts = {"m": Texts(rng.choice(robots), "")}
        choice = rng.random()
        if choice < 0.4:
            name = f"own{number}_{rng.randrange(8)}"
            store.save(name, state, overwrite=True, texts=texts)
            mine.add(name)
        elif choice < 0.6:
            store.autosave(state, 3, texts=texts)
        elif choice < 0.75 and mine:
            store.delete(mine.pop())
        elif choice < 0.9 and mine:
            found, path = store.load(rng.choice(sorted(mine)))
            store.check_descriptions(found, path)
            assert (path.parent / found.models[0].description).read_text() in robots
        else:
            store.infos()
    print(",".join(sorted(mine)))
"""


def run_workers(folder: Path, count: int, operations: int) -> list[subprocess.Popen[str]]:
    command = [sys.executable, "-c", textwrap.dedent(WORKER), str(folder)]
    return [
        subprocess.Popen([*command, str(number), str(operations)], stdout=subprocess.PIPE, text=True)
        for number in range(count)
    ]


def check_folder(folder: Path) -> set[str]:
    """Return the names of the snapshots after checking that their descriptions, and nothing else, lie beside them."""
    named = set()
    for path in folder.glob("*.usdf"):
        description = read_world(path).models[0].description
        assert description is not None
        assert hash_name((folder / description).read_text(), ".urdf") == description
        named.add(description)
    assert {path.name for path in folder.iterdir() if path.suffix != ".usdf"} == named
    return {path.stem for path in folder.glob("*.usdf")}


def test_processes_on_one_folder_lose_nothing_and_delete_only_their_own(tmp_path: Path) -> None:
    workers = run_workers(tmp_path, 4, OPERATIONS // 4)
    outputs = [worker.communicate(timeout=600)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 4
    kept = {name for output in outputs for name in output.strip().split(",") if name}
    saved = check_folder(tmp_path)
    automatic = {name for name in saved if name.startswith("auto-")}
    assert saved - automatic == kept
    for number in range(4):
        assert len([name for name in automatic if re.fullmatch(rf"auto-node{number}-\d{{6}}", name)]) == 3


AUTOSAVES = """
    import sys
    from pathlib import Path
    from robot_semantics.usdf.snapshots import SnapshotStore
    from robot_semantics.usdf.world_state import ModelState, WorldState

    store = SnapshotStore(Path(sys.argv[1]), owner="node")
    for _ in range(60):
        store.autosave(WorldState(models=(ModelState("m"),)), 1000)
"""


def test_processes_of_one_name_number_their_automatic_snapshots_together(tmp_path: Path) -> None:
    command = [sys.executable, "-c", textwrap.dedent(AUTOSAVES), str(tmp_path)]
    workers = [subprocess.Popen(command) for _ in range(3)]
    assert [worker.wait(timeout=300) for worker in workers] == [0] * 3
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"auto-node-{number:06}.usdf" for number in range(1, 181)]


def test_a_killed_process_blocks_nobody_and_leaves_nothing_after_the_next_operation(tmp_path: Path) -> None:
    rng = Random(4)
    for _ in range(6):
        workers = run_workers(tmp_path, 2, 1_000_000)
        time.sleep(1.0 + rng.uniform(0.0, 0.5))
        for worker in workers:
            worker.send_signal(signal.SIGKILL)
        for worker in workers:
            worker.communicate(timeout=20)
    # A temporary file is removed when it is older than a moment.
    time.sleep(1.1)
    store = SnapshotStore(tmp_path)
    store.save("after", STATE, texts={"m": Texts("<robot name='r0'><link name='l'/></robot>", "")})
    assert "after" in check_folder(tmp_path)


@pytest.fixture
def store(tmp_path: Path) -> SnapshotStore:
    return SnapshotStore(tmp_path / "snapshots")


ROBOT = Texts("<robot name='m'><link name='l'/></robot>", "<robot name='m'><!-- s --></robot>")


def test_a_damaged_description_is_written_again_by_the_next_save(store: SnapshotStore) -> None:
    store.save("a", STATE, texts={"m": ROBOT})
    names = [hash_name(ROBOT.urdf, ".urdf"), hash_name(ROBOT.srdf, ".srdf")]
    for name in names:
        (store.folder / name).write_text("<robot name='another'><link name='x'/></robot>")
    store.save("b", STATE, texts={"m": ROBOT})
    assert [(store.folder / name).read_text() for name in names] == list(ROBOT)


@pytest.mark.parametrize("suffix", [".urdf", ".srdf"])
def test_a_damaged_description_is_an_error_with_both_hashes(store: SnapshotStore, suffix: str) -> None:
    path = store.save("a", STATE, texts={"m": ROBOT})
    (damaged,) = store.folder.glob(f"*{suffix}")
    other = "<robot name='m'><link name='l2'/></robot>"
    damaged.write_text(other)
    state, source = store.load("a")
    hashes = f"{hash_name(other, '')}, its name states {damaged.stem}"
    with pytest.raises(DamagedDescriptionError, match=hashes):
        store.check_descriptions(state, source)
    diagnostics = Diagnostics()
    check_world_file(path, diagnostics)
    (error,) = [problem for problem in diagnostics if problem.code == "damaged-description"]
    assert hashes in error.message
    assert diagnostics.failed()


@pytest.mark.parametrize("way", ["./{}", "../snapshots/{}", "file://{folder}/{}", "file://{folder}/{escaped}"])
def test_a_damaged_description_is_found_by_every_name(store: SnapshotStore, way: str) -> None:
    path = store.save("a", STATE, texts={"m": Texts(ROBOT.urdf, "")})
    (damaged,) = store.folder.glob("*.urdf")
    name = way.format(damaged.name, folder=store.folder, escaped=f"%{ord(damaged.name[0]):x}{damaged.name[1:]}")
    path.write_text(path.read_text().replace(damaged.name, name))
    store.check_descriptions(*store.load("a"))
    damaged.write_text("<robot name='m'><link name='l2'/></robot>")
    with pytest.raises(DamagedDescriptionError):
        store.check_descriptions(*store.load("a"))


def test_a_link_in_the_place_of_a_description_is_not_followed(store: SnapshotStore, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.urdf"
    foreign.write_text("keep")
    store.folder.mkdir()
    (store.folder / hash_name(ROBOT.urdf, ".urdf")).symlink_to(foreign)
    with pytest.raises(SnapshotError, match="is a symbolic link"):
        store.save("a", STATE, texts={"m": ROBOT})
    assert foreign.read_text() == "keep"
    assert store.saved_names() == []


@pytest.mark.parametrize(
    "other",
    [
        pytest.param("<world_state xmlns:rs='urn:robot-semantics:usdf:1'><model_state name='m' rs:description='{}'/>"
                     "</world_state>", id="single quotes"),
        pytest.param('<world_state xmlns:x="urn:robot-semantics:usdf:1"><model_state name="m" x:description="../{}"/>'
                     "</world_state>", id="another prefix and a folder"),
        pytest.param('<world_state xmlns:rs="urn:robot-semantics:usdf:1"><model_state name="m" rs:description="&#{}"/>'
                     "</world_state>", id="a character reference"),
        pytest.param("<world_state xmlns:rs='urn:robot-semantics:usdf:1'><model_state name='m'"
                     " rs:description='file:///anywhere/%{}'/></world_state>", id="an escape of a URI"),
        pytest.param("<world_state><model_st", id="not well-formed"),
    ],
)  # fmt: skip
def test_a_description_that_another_file_may_need_stays(store: SnapshotStore, other: str) -> None:
    store.save("a", STATE, texts={"m": ROBOT})
    name = hash_name(ROBOT.urdf, ".urdf")
    first = f"{ord(name[0])};{name[1:]}" if "&#" in other else f"{ord(name[0]):x}{name[1:]}" if "%" in other else name
    (store.folder / "below").mkdir()
    (store.folder / "below" / "b.usdf").write_text(other.format(first))
    store.delete("a")
    assert (store.folder / name).read_text() == ROBOT.urdf
