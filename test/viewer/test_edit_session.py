# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""An SRDF's editing: every step can be undone, the file changes only when it is saved, and the check runs along."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, cast

import pytest

from robot_semantics import DescriptionError, UnknownNameError
from robot_semantics.base.names import LinkPair
from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot
from robot_semantics.model.queries import pair_status
from robot_semantics.srdf import new
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.viewer.edit_session import EditSession, FileChangedError


@pytest.fixture
def session(tmp_path: Path) -> EditSession:
    path = tmp_path / "rover.srdf"
    path.write_bytes(example("rover_arm.srdf").read_bytes())
    return EditSession(load_robot(example("rover_arm.urdf")), SrdfText.from_file(path), path)


def test_steps_are_undone_and_done_again(session: EditSession) -> None:
    before = bytes(session.text)
    assert session.is_saved
    assert not session.undoable
    assert session.change("remove arm", lambda text: text.remove("state", "arm", "reach"))
    assert session.change("pair", lambda text: text.disable_collisions({LinkPair.of("palm_link", "base_link"): "User"}))
    assert [session.undoable, session.redoable] == ["pair", None]
    after = bytes(session.text)
    session.undo()
    session.undo()
    assert bytes(session.text) == before
    session.undo()
    session.redo()
    session.redo()
    assert bytes(session.text) == after
    session.undo()
    assert session.change("passive", lambda text: text.add([new.passive_joint("elbow_joint")]))
    assert session.redoable is None


def test_what_changes_nothing_is_no_step_and_what_fails_leaves_no_trace(session: EditSession) -> None:
    version = session.version
    assert not session.change("nothing", lambda text: text)
    with pytest.raises(UnknownNameError, match="did you mean 'arm'"):
        session.change("wrong", lambda text: text.remove("group", "amr"))
    assert (session.version, session.undoable) == (version, None)


def test_the_file_changes_only_when_it_is_saved(session: EditSession, tmp_path: Path) -> None:
    before = session.output.read_bytes()
    session.change("passive", lambda text: text.add([new.passive_joint("elbow_joint")]))
    assert session.output.read_bytes() == before
    added = [line for line in session.diff().splitlines() if line.startswith("+") and not line.startswith("+++")]
    assert len(added) == 1
    assert 'passive_joint name="elbow_joint"' in added[0]
    session.save(tmp_path / "other.srdf")
    assert session.output.name == "other.srdf"
    assert session.is_saved
    assert session.diff() == ""
    assert (tmp_path / "rover.srdf").read_bytes() == before


def test_a_file_that_another_program_wrote_is_taken_up_or_asked_about(session: EditSession) -> None:
    before = session.output.read_bytes()
    session.output.write_bytes(b"<robot")
    with pytest.raises(DescriptionError, match=r"rover\.srdf"):
        session.read_changes()
    other = before.replace(b"</robot>", b'<passive_joint name="elbow_joint"/></robot>')
    session.output.write_bytes(other)
    session.read_changes()
    assert (bytes(session.text), session.written) == (other, None)
    session.undo()
    assert bytes(session.text) == before
    # An undone step is also an unsaved change.
    for name, take in ((b'"stretch"', False), (b'"far"', True)):
        others = before.replace(b'"reach"', name)
        session.output.write_bytes(others)
        session.read_changes()
        assert (bytes(session.text), session.written is None) == (before, False)
        session.choose_version(take=take)
        assert (bytes(session.text), session.written) == (others if take else before, None)
    session.undo()
    session.save()
    session.read_changes()
    assert (bytes(session.text), session.written) == (before, None)


@pytest.mark.parametrize("theirs", [b"<robot", b"", None, b'<robot name="rover_arm"><group name="theirs"/></robot>'])
def test_a_save_never_overwrites_what_another_program_wrote_since_the_last_look(
    session: EditSession, theirs: bytes | None
) -> None:
    session.change("passive", lambda text: text.add([new.passive_joint("elbow_joint")]))
    if theirs is None:
        session.output.unlink()
    else:
        session.output.write_bytes(theirs)
    # Between two looks, and after one.
    for look in (False, True):
        if look:
            with contextlib.suppress(DescriptionError):
                session.read_changes()
        with pytest.raises(FileChangedError, match=r"rover\.srdf: (another program|the file no longer exists)"):
            session.save()
        assert (session.output.read_bytes() if session.output.exists() else None) == theirs
    session.save(overwrite=True)
    assert session.output.read_bytes() == bytes(session.text)
    session.change("undo by hand", lambda text: text.remove("passive joint", "elbow_joint"))
    session.save()
    assert session.is_saved


def test_a_new_file_that_another_program_creates_first_is_not_overwritten(session: EditSession, tmp_path: Path) -> None:
    fresh = EditSession(session.bare, SrdfText.empty("rover_arm", "new.srdf"), tmp_path / "new.srdf")
    fresh.output.write_text("theirs")
    with pytest.raises(FileChangedError, match="another program"):
        fresh.save()
    assert fresh.output.read_text() == "theirs"


def test_it_saves_only_below_the_folder_of_the_first_file(session: EditSession, tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    (inside / "below").mkdir(parents=True)
    outside.mkdir()
    (inside / "way").symlink_to(outside)
    (inside / "link.srdf").symlink_to(outside / "new.srdf")
    edited = EditSession(session.bare, SrdfText.empty("rover_arm", "new.srdf"), inside / "new.srdf")
    for path in (
        outside / "new.srdf",
        inside / "../outside/new.srdf",
        inside / "way/new.srdf",
        inside / "link.srdf",
        tmp_path / "inside2.srdf",
        Path("elsewhere.srdf"),
    ):
        with pytest.raises(PermissionError, match="choose a file in"):
            edited.save(path)
    assert list(outside.iterdir()) == []
    edited.save(inside / "below/new.srdf")
    # Another file does not widen the folder or narrow it.
    edited.save(inside / "again.srdf")
    assert sorted(path.name for path in inside.rglob("*.srdf")) == ["again.srdf", "link.srdf", "new.srdf"]


def test_a_folder_and_a_file_that_exists_are_no_place_to_save(session: EditSession, tmp_path: Path) -> None:
    (tmp_path / "other.srdf").write_text("other")
    with pytest.raises(FileExistsError):
        session.save(tmp_path / "other.srdf")
    with pytest.raises(IsADirectoryError):
        session.save(tmp_path)
    # Another way to write the same file is the same file.
    session.save(tmp_path / ".." / tmp_path.name / "rover.srdf")
    before = session.output.read_bytes()
    session.output.unlink()
    session.output.mkdir()
    for act in (session.read_changes, session.save):
        with pytest.raises(IsADirectoryError):
            act()
    assert not session.is_saved
    assert session.diff() != ""
    session.output.rmdir()
    with pytest.raises(FileChangedError, match="no longer exists"):
        session.save()
    session.save(overwrite=True)
    assert session.output.read_bytes() == before


def test_the_robot_and_the_messages_are_those_of_the_text(session: EditSession) -> None:
    assert session.problems == []
    session.change("remove", lambda text: text.remove("group", "arm"))
    assert "arm" not in session.robot.semantics.groups
    assert {problem.code for problem in session.about("arm")} >= {"unknown-group"}
    assert session.about("right_wheel") == []
    session.undo()
    assert session.problems == []
    assert "arm" in session.robot.semantics.groups


def test_pairs_of_a_link_disabled_by_default_are_shown_so_and_checked_when_a_person_says_so(
    session: EditSession,
) -> None:
    pytest.importorskip("nicegui")
    pytest.importorskip("mujoco")
    from robot_semantics.collision.matrix import CollisionMatrix, PairEvidence
    from robot_semantics.viewer.studio_pairs import PairsTab

    session.change("default", lambda text: text.add([new.disable_default_collisions("palm_link")]))
    pair = LinkPair.of("palm_link", "base_link")
    tab = PairsTab(cast(Any, SimpleNamespace(session=session, do=session.change)))
    evidence = PairEvidence(pair, 0, 100, False)
    by_pair = MappingProxyType({pair: evidence})
    tab._matrix = CollisionMatrix(by_pair, by_pair, 100, 0, "uniform", 0.95)

    def states() -> dict[LinkPair, tuple[str, bool]]:
        return {LinkPair.of(row["link1"], row["link2"]): (row["state"], row["off"]) for row in tab.rows()}

    assert states()[pair] == ("disabled by default", True)
    tab.decide([pair], False, "User")
    assert pair_status(session.robot, *pair).checked
    assert states()[pair] == ("enabled", False)
    tab.decide([pair], True, "User")
    assert states()[pair] == ("User", True)
    # One word of the two is left: MoveIt would go by the other one, or by none.
    assert "enable_collisions" not in str(session.text)
