# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Snapshots: whole or not there, nothing outside the folder, by names that cannot mean anything else."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from support.small_disk import small_disk

from robot_semantics import DescriptionError, UnknownNameError, WorldState
from robot_semantics.usdf.fields import ValueAge, ages_of, with_ages
from robot_semantics.usdf.saved_descriptions import Texts, hash_name
from robot_semantics.usdf.snapshots import SnapshotError, SnapshotStore, comment_of
from robot_semantics.usdf.world_state import Frame, JointState, ModelState


def state(value: float = 1.0, time_ns: int = 5) -> WorldState:
    return WorldState(models=(ModelState("m", joints=(JointState("j", (value,)),)),), time_ns=time_ns)


@pytest.fixture
def store(tmp_path: Path) -> SnapshotStore:
    return SnapshotStore(tmp_path / "snapshots")


def test_what_is_saved_is_read_back(store: SnapshotStore) -> None:
    path = store.save("a", state(0.1), "first <try> & more")
    assert path == store.folder / "a.usdf"
    found, source = store.load("a")
    assert found.models == state(0.1).models
    assert comment_of(found) == "first <try> & more"
    assert source == path


@pytest.mark.parametrize("comment", ["", "ünïcode 🤖", "a\nb\tc", "]]>", "control \x00\x0b \ud800", "<!-- -->"])
def test_any_comment_makes_sound_usdf(store: SnapshotStore, comment: str) -> None:
    store.save("a", state(), comment)
    (info,) = store.infos()
    assert len(info.comment) == len(comment)
    assert info.time_ns == 5


BAD_NAMES = ["", "../x", "/etc/x", "a/b", "..", ".hidden", "a\0b", "a b", "x" * 201, "ä", "-x", "a\n", "C:\\x"]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_no_name_leads_out_of_the_folder(store: SnapshotStore, name: str) -> None:
    for attempt in (lambda: store.save(name, state()), lambda: store.load(name), lambda: store.delete(name)):
        with pytest.raises(SnapshotError, match="is not a snapshot name"):
            attempt()
    assert not store.folder.exists() or not list(store.folder.iterdir())


def test_links_are_not_followed(store: SnapshotStore, tmp_path: Path) -> None:
    secret = tmp_path / "secret.usdf"
    secret.write_text("<world_state/>")
    store.folder.mkdir()
    (store.folder / "link.usdf").symlink_to(secret)
    with pytest.raises(SnapshotError, match="symbolic link; it is not followed"):
        store.load("link")
    with pytest.raises(SnapshotError, match="symbolic link; it is not replaced"):
        store.save("link", state(), overwrite=True)
    assert store.saved_names() == []
    assert secret.read_text() == "<world_state/>"
    store.delete("link")
    assert secret.exists()


def test_paths_are_taken_where_they_are_allowed(tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path / "snapshots", allow_paths=True)
    path = store.save(str(tmp_path / "elsewhere.usdf"), state())
    assert path == tmp_path / "elsewhere.usdf"
    assert store.load("../elsewhere.usdf")[0].models == state().models


def test_what_is_no_file_is_not_read(store: SnapshotStore) -> None:
    store.folder.mkdir()
    os.mkfifo(store.folder / "pipe.usdf")
    (store.folder / "folder.usdf").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(SnapshotError, match="is not a regular file"):
            store.load(name)


def test_only_regular_files_whose_names_are_those_of_snapshots_are_listed(store: SnapshotStore) -> None:
    store.save("a", state())
    for name in ("b", "README", "b.usdf.tmp", "b.USDF", ".usdf", ".b.usdf", "-b.usdf", "b c.usdf", "ä.usdf"):
        (store.folder / name).write_bytes((store.folder / "a.usdf").read_bytes())
    (store.folder / "folder.usdf").mkdir()
    os.mkfifo(store.folder / "pipe.usdf")
    (store.folder / "link.usdf").symlink_to(store.folder / "a.usdf")
    assert store.saved_names() == ["a"]
    assert [info.name for info in store.infos()] == ["a"]


def test_a_name_is_saved_only_once_unless_overwriting_is_asked_for(store: SnapshotStore) -> None:
    store.save("a", state(1.0))
    with pytest.raises(SnapshotError, match="a snapshot 'a' exists already"):
        store.save("a", state(2.0))
    assert store.load("a")[0].models == state(1.0).models
    store.save("a", state(2.0), overwrite=True)
    assert store.load("a")[0].models == state(2.0).models


def test_too_large_a_state_is_neither_saved_nor_read(store: SnapshotStore) -> None:
    path = store.save("a", state())
    small = SnapshotStore(store.folder, max_bytes=path.stat().st_size - 1)
    with pytest.raises(SnapshotError, match="longer than"):
        small.load("a")
    with pytest.raises(SnapshotError, match="more than"):
        small.save("b", state())
    with pytest.raises(SnapshotError, match="longer than"):
        small.parse("x" * 10_000, "<text>")
    assert store.saved_names() == ["a"]


def test_an_unknown_name_has_its_nearest(store: SnapshotStore) -> None:
    store.save("before_grasp", state())
    with pytest.raises(UnknownNameError, match="did you mean 'before_grasp'"):
        store.load("befor_grasp")
    with pytest.raises(UnknownNameError):
        store.delete("nothing")


def test_last_is_the_newest_and_cannot_be_saved_under(store: SnapshotStore) -> None:
    with pytest.raises(SnapshotError, match="nothing has been saved yet"):
        store.load("last")
    for number, name in enumerate(("b", "a")):
        path = store.save(name, state(float(number)))
        os.utime(path, ns=(number, number))
    assert store.load("last")[0].models == state(1.0).models
    with pytest.raises(SnapshotError, match="means the newest"):
        store.save("last", state())


def test_snapshots_are_listed_oldest_first_broken_ones_with_their_fault(store: SnapshotStore) -> None:
    for number, name in enumerate(("c", "b", "a")):
        os.utime(store.save(name, state(), name.upper()), ns=(number, number))
    (store.folder / "b.usdf").write_text("<world_state>")
    os.utime(store.folder / "b.usdf", ns=(1, 1))
    (store.folder / "notes.txt").write_text("not a snapshot")
    (store.folder / ".a.usdf.1234.tmp").write_text("torn")
    infos = store.infos()
    assert [info.name for info in infos] == ["c", "b", "a"]
    assert infos[0].comment == "C"
    assert infos[1].comment.startswith("cannot be read: ")
    with pytest.raises(DescriptionError):
        store.load("b")


@pytest.mark.parametrize("name", ["con", "NUL", "lpt1.before"])
def test_a_name_that_windows_cannot_hold_is_no_snapshot_name(store: SnapshotStore, name: str) -> None:
    with pytest.raises(SnapshotError, match="Windows has a device of this name"):
        store.save(name, state())
    assert store.saved_names() == []


def test_automatic_snapshots_are_rotated_and_others_stay(store: SnapshotStore) -> None:
    store.save("mine", state())
    for number in range(7):
        store.autosave(state(float(number)), keep=3)
    assert sorted(store.saved_names()) == ["auto-000005", "auto-000006", "auto-000007", "mine"]


def test_a_folder_that_cannot_be_made_is_an_error_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SnapshotError, match="file"):
        SnapshotStore(tmp_path / "file" / "folder").save("a", state())


SAVER = """
    import os, random, signal, sys, time
    from pathlib import Path
    from robot_semantics.usdf.snapshots import SnapshotStore
    from robot_semantics.usdf.world_state import JointState, ModelState, WorldState

    store = SnapshotStore(Path(sys.argv[1]))
    states = [
        WorldState(models=(ModelState("m", joints=tuple(JointState(f"j{n}", (value + n,)) for n in range(300))),))
        for value in (0.0, 0.1)
    ]
    whole = [tuple(state.models) for state in states]
    rng = random.Random(9)
    store.save("a", states[0])
    killed = seen = torn = 0
    for _ in range(200):
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            number = 0
            while True:
                number += 1
                store.save("a", states[number % 2], overwrite=True)
                if number == 1:
                    os.write(writer, b"1")
        # On a busy machine the first save takes longer than the time until the kill.
        os.read(reader, 1)
        os.close(reader)
        os.close(writer)
        time.sleep(rng.uniform(0.0, 0.02))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        killed += 1
        torn += any(name.endswith(".tmp") for name in os.listdir(store.folder))
        found = store.load("a")[0].models
        assert found in whole
        seen |= 1 << whole.index(found)
    print(killed, seen, torn, store.saved_names())
"""


def test_a_killed_save_leaves_the_old_snapshot_or_the_new_one(tmp_path: Path) -> None:
    command = [sys.executable, "-c", textwrap.dedent(SAVER), str(tmp_path)]
    output = subprocess.run(command, check=True, capture_output=True, text=True, timeout=100).stdout
    killed, seen, torn, names = output.split(maxsplit=3)
    assert killed == "200"
    assert seen == "3", "both states must have been met"
    assert int(torn) > 0, "some kills must have come in the middle of a write"
    assert names.strip() == "['a']"


AGED = WorldState(
    models=(ModelState('a "<b>', joints=(JointState('j"1'), JointState("k"))),),
    frames=(Frame("odom & map"),),
)


def test_the_ages_of_values_come_back_and_new_ones_take_their_place(tmp_path: Path) -> None:
    ages = (ValueAge('a "<b>', 'j"1', 12_000_000), ValueAge('a "<b>', "k", 0), ValueAge(None, "odom & map", -3))
    store = SnapshotStore(tmp_path)
    store.save("x", with_ages(AGED, ages), "remark")
    found, _ = store.load("x")
    assert ages_of(found) == ages
    assert comment_of(found) == "remark"
    assert ages_of(with_ages(found, ages[:1])) == ages[:1]
    assert comment_of(with_ages(found, ())) == "remark"
    assert ages_of(with_ages(found, ())) == ()


def test_descriptions_stand_beside_snapshots_once_and_go_with_the_last_that_names_them(store: SnapshotStore) -> None:
    one, other = Texts("<robot name='a'/>", "<robot name='s'/>"), Texts("<robot name='b'/>", "")
    store.save("first", state(), texts={"m": one})
    store.save("second", state(2.0), texts={"m": one})
    model = store.load("first")[0].models[0]
    assert model.description is not None
    assert model.semantic is not None
    assert (store.folder / model.description).read_text() == one.urdf
    assert (store.folder / model.semantic).read_text() == one.srdf
    assert len(list(store.folder.iterdir())) == 4
    # One that is replaced by a snapshot of another robot does not name them any more.
    store.save("second", state(), overwrite=True, texts={"m": other})
    assert len(list(store.folder.iterdir())) == 5
    store.delete("first")
    assert sorted(path.suffix for path in store.folder.iterdir()) == [".urdf", ".usdf"]
    store.delete("second")
    assert not list(store.folder.iterdir())


def test_a_model_that_names_its_description_keeps_it(store: SnapshotStore) -> None:
    described = WorldState(models=(ModelState("m", description="package://p/r.urdf"),))
    store.save("a", described, texts={"m": Texts("<robot name='a'/>", "")})
    assert store.load("a")[0].models[0].description == "package://p/r.urdf"
    assert [path.suffix for path in store.folder.iterdir()] == [".usdf"]


def test_a_description_named_by_an_absolute_path_is_copied_if_it_stands_alone(
    store: SnapshotStore, tmp_path: Path
) -> None:
    mesh = "<robot name='{}'><link name='l'><visual><geometry><mesh filename='{}'/></geometry></visual></link></robot>"
    texts = {
        "packaged": mesh.format("packaged", "package://p/m.stl"),
        "relative": mesh.format("relative", "meshes/m.stl"),
        "broken": "<robot name='broken'",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.urdf").write_text(text)
    names = [*texts, "missing"]
    models = tuple(ModelState(name, description=str(tmp_path / f"{name}.urdf")) for name in names)
    store.save("a", WorldState(models=models))
    found = {model.name: str(model.description) for model in store.load("a")[0].models}
    assert found.pop("packaged") == hash_name(texts["packaged"], ".urdf")
    assert (store.folder / hash_name(texts["packaged"], ".urdf")).read_text() == texts["packaged"]
    assert found == {name: f"../{name}.urdf" for name in ("relative", "broken", "missing")}


def test_files_of_others_are_never_deleted_for_descriptions(store: SnapshotStore) -> None:
    described = WorldState(models=(ModelState("m", description="mine.urdf"),))
    store.save("a", described)
    (store.folder / "mine.urdf").write_text("<robot name='mine'/>")
    store.delete("a")
    assert (store.folder / "mine.urdf").exists()


def test_automatic_snapshots_take_their_descriptions_with_them(store: SnapshotStore) -> None:
    for number in range(4):
        store.autosave(state(number), 2, texts={"m": Texts(f"<robot name='r{number}'/>", "")})
    assert sorted(path.suffix for path in store.folder.iterdir()) == [".urdf", ".urdf", ".usdf", ".usdf"]


def test_a_pipe_that_is_called_like_a_snapshot_is_not_waited_for(store: SnapshotStore) -> None:
    store.folder.mkdir()
    os.mkfifo(store.folder / "pipe.usdf")
    store.save("a", state(), texts={"m": Texts("<robot name='a'/>", "")})
    store.save("a", state(), overwrite=True, texts={"m": Texts("<robot name='b'/>", "")})
    store.delete("a")
    assert [path.name for path in store.folder.iterdir()] == ["pipe.usdf"]


def test_a_full_disk_costs_only_the_oldest_automatic_snapshots_of_the_node(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 96) as disk:
        store, other = SnapshotStore(disk.folder, owner="node"), SnapshotStore(disk.folder, owner="other")
        other.autosave(state(), 10)
        store.save("mine", state())
        for number in range(60):
            store.autosave(state(float(number)), 50)
        automatic = [name for name in store.saved_names() if name.startswith("auto-node-")]
        assert 1 < len(automatic) < 50
        assert automatic[-1] == "auto-node-000060"
        assert {"auto-other-000001", "mine"} <= set(store.saved_names())
        # The newest one stays, even if nothing fits.
        for name in automatic[:-1]:
            store.delete(name)
        disk.leave(0)
        with pytest.raises(SnapshotError, match="No space left"):
            store.autosave(state(), 50)
        assert "auto-node-000060" in store.saved_names()
