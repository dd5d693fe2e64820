# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A full disk: the old files stay whole, an error names the disk's lack of space, and nothing is left over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.small_disk import SmallDisk, small_disk

from robot_semantics import RobotSemanticsError, WorldState
from robot_semantics.cli.main import main
from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot
from robot_semantics.recording import export as around
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.usdf.saved_descriptions import Texts
from robot_semantics.usdf.snapshots import SnapshotStore
from robot_semantics.usdf.world_state import ModelState
from robot_semantics.viewer.edit_session import EditSession

URDF, SRDF, WORLD = (str(example(f"rover_arm.{ending}")) for ending in ("urdf", "srdf", "usdf"))
STATE = WorldState(models=(ModelState("rover_arm"),), time_ns=5)
NO_SPACE = "No space left on device"
MOST_PAGES = 400


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk", 4 * MOST_PAGES + 1600) as found:
        yield found


def fails_until_it_fits(disk: SmallDisk, work: Callable[[], str | None]) -> None:
    """Do the work with ever more space: all its failures leave the files as they were, and in the end it succeeds.

    `work` returns its error, None for success.
    """
    before = disk.files()
    pages = failures = 0
    while pages < MOST_PAGES:
        disk.leave(pages)
        error = work()
        if error is None:
            assert disk.files() != before
            assert failures, "nothing failed"
            return
        assert NO_SPACE in error
        assert disk.files() == before, f"{pages} pages free"
        failures += 1
        # Every page at first, where the files of a work begin; then in larger steps.
        pages += 1 + pages // 8
    raise AssertionError(f"it does not succeed with {pages} pages")


def of_library(work: Callable[[], object]) -> Callable[[], str | None]:
    def carry_out() -> str | None:
        try:
            work()
        except (RobotSemanticsError, OSError) as error:
            return str(error)
        return None

    return carry_out


def of_command(capsys: pytest.CaptureFixture[str], *words: str) -> Callable[[], str | None]:
    def carry_out() -> str | None:
        code = main(list(words))
        errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
        assert code == bool(errors)
        return errors[0] if errors else None

    return carry_out


@pytest.fixture
def texts() -> dict[str, Texts]:
    return {"rover_arm": Texts(Path(URDF).read_text(), Path(SRDF).read_text())}


def test_a_snapshot(disk: SmallDisk, texts: dict[str, Texts]) -> None:
    store = SnapshotStore(disk.folder / "snapshots")
    store.save("a", STATE)
    fails_until_it_fits(disk, of_library(lambda: store.save("a", STATE, "new", overwrite=True, texts=texts)))


def test_an_automatic_snapshot(disk: SmallDisk, texts: dict[str, Texts]) -> None:
    store = SnapshotStore(disk.folder / "snapshots")
    store.autosave(STATE, 1)
    fails_until_it_fits(disk, of_library(lambda: store.autosave(STATE, 1, texts=texts)))
    assert store.saved_names() == ["auto-000002"]


def test_the_deletion_of_a_snapshot_needs_no_space(disk: SmallDisk, texts: dict[str, Texts]) -> None:
    store = SnapshotStore(disk.folder / "snapshots")
    store.save("a", STATE, texts=texts)
    disk.leave(0)
    store.delete("a")
    assert disk.files() == {"snapshots": None}


@pytest.mark.parametrize(
    ("ending", "spilled"),
    [("usdf", False), ("usdf", True), ("jsonl", False), ("npz", True), ("csv", False), ("parquet", True), ("", False)],
)
def test_an_export(
    disk: SmallDisk,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    ending: str,
    spilled: bool,
) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    if spilled:
        monkeypatch.setattr(around, "IN_MEMORY_BYTES", 0)
    assert main(["bag", WORLD, "-o", str(tmp_path / "bag")]) == 0
    out = disk.folder / f"out.{ending}".rstrip(".")
    words = ["export", str(tmp_path / "bag"), "-o", str(out), "--at", "0", "--force", "--quiet"]
    capsys.readouterr()
    fails_until_it_fits(disk, of_command(capsys, *words))


def test_a_recording(disk: SmallDisk, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bag", WORLD, "-o", str(disk.folder / "bag"), "--force"]
    fails_until_it_fits(disk, of_command(capsys, *words))


def test_the_studio_keeps_the_changes(disk: SmallDisk) -> None:
    path = disk.folder / "r.srdf"
    path.write_bytes(Path(SRDF).read_bytes())
    session = EditSession(load_robot(URDF), SrdfText.from_file(path), path)
    comment = b"<!-- " + b"x" * 40_000 + b" -->"
    session.change("more", lambda text: SrdfText(bytes(text).replace(b"</robot>", comment + b"</robot>")))
    fails_until_it_fits(disk, of_library(session.save))
    assert session.is_saved
    assert comment in path.read_bytes()


def test_collisions(disk: SmallDisk, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("mujoco")
    out = disk.folder / "new.srdf"
    out.write_text("old")
    words = ["collisions", "generate", URDF, SRDF, "--samples", "20", "--no-search", "--force"]
    fails_until_it_fits(disk, of_command(capsys, *words, "-o", str(out), "--report", str(disk.folder / "r.json")))


def test_a_simulator_s_world_and_its_meshes(
    disk: SmallDisk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("mujoco")
    half, whole = tmp_path / "half.obj", tmp_path / "whole.obj"
    for path, size in ((half, 0.5), (whole, 1.0)):
        corners = [f"v {x} {y} {z}\n" for x in (0, size) for y in (0, size) for z in (0, size)]
        faces = "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n"
        path.write_text("".join(corners) + faces)
    shapes = "".join(f"<collision><geometry><mesh filename='{path}'/></geometry></collision>" for path in (half, whole))
    inertia = "<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/>"
    (tmp_path / "r.urdf").write_text(
        f"<robot name='r'><link name='l'><inertial><mass value='1'/>{inertia}</inertial>{shapes}</link></robot>"
    )
    world = tmp_path / "w.usdf"
    world.write_text(
        "<world_state xmlns:rs='urn:robot-semantics:usdf:1'><model_state name='r' rs:description='r.urdf'>"
        "<pose>0 0 0 0 0 0</pose></model_state></world_state>"
    )
    words = ["sim", "export", str(world), "-o", str(disk.folder / "w.sdf"), "--force"]
    fails_until_it_fits(disk, of_command(capsys, *words))
    assert len(list((disk.folder / "w_meshes").iterdir())) == 2
