# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The studio loses no work: neither typed text nor steps, whatever happens to the page, the server and the files."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path

import pytest
from support.browser import Browser
from support.person import Person
from support.served import Served

from robot_semantics import Diagnostics, RobotSemanticsError
from robot_semantics.base.files import save_bytes
from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot
from robot_semantics.srdf import new
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.viewer.edit_session import Draft, DraftFile, EditSession, TypedText, draft_bytes, read_draft

AREA = "document.getElementById('whole-text')"
DIALOG = "document.querySelector('.q-dialog__inner')"
CARD = "document.querySelector('[data-draft]')"


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Return a copy of the example's URDF and SRDF in a folder of their own."""
    folder = tmp_path / "robot"
    folder.mkdir()
    paths = folder / "r.urdf", folder / "r.srdf"
    for path in paths:
        path.write_bytes(example(f"rover_arm{path.suffix}").read_bytes())
    return paths


def studio(files: tuple[Path, Path], *more: str) -> Served:
    return Served("-m", "robot_semantics.cli.main", "studio", *map(str, files), "--no-browser", *more)


def edit(session: EditSession, name: str) -> None:
    session.change(f"group {name}", lambda text: text.add([new.group(name, new.group_members(links=["base_link"]))]))


def opened(files: tuple[Path, Path]) -> EditSession:
    robot = load_robot(files[0], strict=False, diagnostics=Diagnostics())
    return EditSession(robot, SrdfText.from_file(files[1]), files[1], DraftFile(files[1]))


def close(session: EditSession) -> None:
    """Let go of the draft as the end of a process does."""
    assert session._drafts is not None
    session._drafts._release()


# --- the draft file


@pytest.mark.parametrize("base", [None, b"", b'<robot name="r"/>\n', '<?xml version="1.0"?><robot name="ä"/>'.encode()])
@pytest.mark.parametrize("word", ["a", "--", "-->", "<!-- robot_semantics draft -->", "\n\0ä\ud800"])
def test_a_draft_is_read_as_it_was_written_and_is_an_srdf(base: bytes | None, word: str) -> None:
    draft = Draft(b'<robot name="r"><!-- c --></robot>', base, (word, "b"), (TypedText(f"<robot {word}", "0" * 64),))
    content = draft_bytes(draft)
    assert read_draft(content) == draft
    assert SrdfText(content).semantic.name == "r"


@pytest.mark.parametrize("at", [0, 5, 40, -30, -6])
def test_a_damaged_draft_is_an_error_and_stays(files: tuple[Path, Path], at: int) -> None:
    session = opened(files)
    edit(session, "mine")
    path = session.draft_path
    assert path is not None
    close(session)
    content = path.read_bytes()
    damaged = content[:at] + b"?" + content[at:][1:]
    path.write_bytes(damaged if at else b"")
    again = opened(files)
    if again.offered is None:
        assert str(path) in again.draft_problem
    edit_ok = again.offered is None
    if edit_ok:
        edit(again, "other")
        assert again.draft_path not in (None, path)
        assert path.read_bytes() == (damaged if at else b"")


def test_a_draft_follows_every_step_and_knows_its_file(files: tuple[Path, Path]) -> None:
    session, before = opened(files), files[1].read_bytes()
    draft = files[1].parent / ".r.srdf.draft"
    assert not draft.exists()
    edit(session, "one")
    assert stat.S_IMODE(draft.stat().st_mode) == 0o600
    edit(session, "two")
    kept = read_draft(draft.read_bytes())
    assert (kept.text, kept.base, kept.titles) == (bytes(session.text), before, ("group one", "group two"))
    session.undo()
    assert read_draft(draft.read_bytes()).titles == ("group one",)
    session.undo()
    assert not draft.exists()
    session.redo()
    session.save()
    assert not draft.exists()
    session.undo()
    assert read_draft(draft.read_bytes()).text == before
    session.save()
    # What was typed is kept also if it is not an SRDF.
    session.type("page", TypedText("<robot", "0"))
    session.keep_typed()
    assert read_draft(draft.read_bytes()).typed == (TypedText("<robot", "0"),)
    assert not session.is_saved


def test_a_new_file_s_draft_is_offered_and_taken_or_thrown_away(files: tuple[Path, Path]) -> None:
    files[1].unlink()
    robot = load_robot(files[0], strict=False, diagnostics=Diagnostics())

    def fresh() -> EditSession:
        return EditSession(robot, SrdfText.empty("rover_arm", "r.srdf"), files[1], DraftFile(files[1]))

    for take in (True, False):
        session = fresh()
        assert session.draft_path is None
        edit(session, "mine")
        close(session)
        again = fresh()
        assert again.offered is not None
        with pytest.raises(RobotSemanticsError, match="decide first"):
            edit(again, "other")
        again.answer_offer(take=take)
        assert (b'"mine"' in bytes(again.text)) == take
        assert (again.draft_path is not None) == take
        if take:
            again.undo()
            again.keep_draft()
            assert b'"mine"' not in bytes(again.text)


def test_a_draft_of_a_changed_file_shows_the_changes_of_both(files: tuple[Path, Path]) -> None:
    session = opened(files)
    edit(session, "mine")
    close(session)
    files[1].write_bytes(files[1].read_bytes().replace(b'name="reach"', b'name="stretch"'))
    again = opened(files)
    mine, theirs = again.offered_diffs()
    assert 'name="mine"' in mine[1]
    assert "stretch" not in mine[1]
    assert "stretch" in theirs[1]
    assert 'name="mine"' not in theirs[1]
    again.answer_offer(take=True)
    assert b"stretch" not in bytes(again.text)
    again.undo()
    assert b"stretch" in bytes(again.text)


@pytest.mark.parametrize("hindrance", ["a folder", "a link"])
def test_without_a_place_beside_the_file_the_draft_is_in_the_state_home(
    files: tuple[Path, Path], state_home: Path, hindrance: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = files[1].parent
    victim = folder.parent / "victim"
    victim.write_text("theirs")
    for slot in ("", *(f"{number}." for number in range(2, 10))):
        path = folder / f".r.srdf.{slot}draft"
        path.mkdir() if hindrance == "a folder" else path.symlink_to(victim)
    session = opened(files)
    edit(session, "mine")
    assert session.draft_problem == ""
    assert session.draft_path is not None
    assert session.draft_path.is_relative_to(state_home)
    assert victim.read_text() == "theirs"
    close(session)
    again = opened(files)
    assert again.offered is not None
    # Neither place: the reason is told.
    state_home.rename(state_home.with_name("other"))
    state_home.write_text("")
    again.answer_offer(take=True)
    assert "cannot be kept" in again.draft_problem


def test_the_draft_of_a_running_studio_is_not_offered_to_another_one(files: tuple[Path, Path]) -> None:
    first = opened(files)
    edit(first, "first")
    second = opened(files)
    assert second.offered is None
    edit(second, "second")
    assert {first.draft_path, second.draft_path} == {
        files[1].parent / name for name in (".r.srdf.draft", ".r.srdf.2.draft")
    }
    close(first)
    close(second)
    third = opened(files)
    assert third.offered is not None
    third.answer_offer(take=False)
    assert opened(files).offered is not None


def test_a_full_disk_loses_no_draft(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, state_home: Path
) -> None:
    session = opened(files)
    edit(session, "one")
    full: set[Path] = {files[1].parent}

    def save(content: bytes, path: Path, mode: int | None = None) -> None:
        if any(path.is_relative_to(folder) for folder in full):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        save_bytes(content, path, mode)

    monkeypatch.setattr("robot_semantics.viewer.edit_session.save_bytes", save)
    edit(session, "two")
    # Another place has the work, and the older draft stays.
    assert session.draft_path is not None
    assert session.draft_path.is_relative_to(state_home)
    assert session.draft_problem == ""
    full.add(state_home)
    edit(session, "three")
    assert "No space left on device" in session.draft_problem
    full.clear()
    edit(session, "four")
    assert session.draft_problem == ""
    close(session)
    offered = opened(files).offered
    assert offered is not None
    assert offered.titles == tuple(f"group {name}" for name in ("one", "two", "three", "four"))


def test_a_symbolic_link_in_place_of_a_draft_is_neither_read_nor_written(files: tuple[Path, Path]) -> None:
    other = files[1].parent / "other"
    other.write_bytes(draft_bytes(Draft(b'<robot name="r"/>', None)))
    content = other.read_bytes()
    link = files[1].parent / ".r.srdf.draft"
    link.symlink_to(other)
    session = opened(files)
    assert session.offered is None
    edit(session, "mine")
    assert session.draft_path not in (None, link)
    assert link.is_symlink()
    assert other.read_bytes() == content


# --- the page


@pytest.mark.timeout(200)
def test_typed_text_is_saved_or_stays_whatever_happens(browser: Browser, files: tuple[Path, Path]) -> None:
    urdf, srdf = files
    with studio(files) as served:
        person = Person(browser, served)
        person.tab("text")
        person.sees(f"{AREA}.value.includes('</robot>')")
        before = browser.run(f"{AREA}.value")

        def type_text(text: str) -> None:
            browser.run(f"{AREA}.focus(); {AREA}.select()")
            browser.type(text)

        # Not well-formed: nothing is saved, and the text stays on the page and in the draft.
        type_text(before.replace("</robot>", '<group name="typed">'))
        browser.press("s", ctrl=True)
        person.sees("document.body.innerText.includes('The typed text is not applied')")
        assert browser.run(f"{AREA}.value").endswith('<group name="typed">\n')
        person.sees("document.querySelector('[data-saved]').innerText === 'not saved yet'")
        # The description changes on the disk, the person looks at another tab, another page makes a step: it stays.
        urdf.write_text(urdf.read_text().replace("</robot>", "<!-- touched --></robot>"))
        joint = '<joint name="horn_joint" type="fixed"><parent link="palm_link"/><child link="horn"/></joint>'
        urdf.write_text(urdf.read_text().replace("</robot>", f'<link name="horn"/>{joint}</robot>'))
        person.sees("viewer.robots[0].linkIndex.has('horn')")
        person.tab("robot")
        person.type("property-name", "map")
        person.tab("text")
        assert 'name="typed"' in browser.run(f"{AREA}.value")
        draft = srdf.parent / ".r.srdf.draft"
        assert '<group name="typed">' in read_draft(draft.read_bytes()).typed[0].text
        whole = before.replace("</robot>", '<group name="typed"><link name="palm_link"/></group></robot>')
        type_text(whole)
        srdf.write_text(before.replace('name="reach"', 'name="stretch"'))
        person.sees("document.querySelector('[data-do=use-typed]').checkVisibility()")
        assert browser.run(f"{AREA}.value") == whole
        assert "stretch" in browser.run("document.querySelector('[data-typed-conflict]').innerText")
        browser.press("s", ctrl=True)
        person.sees("document.body.innerText.includes('has changed since you began to type')")
        assert "stretch" in srdf.read_text()
        person.press("use-typed")
        person.sees("!document.querySelector('[data-do=use-typed]').checkVisibility()")
        # The text is a step now; saving writes it, and the fields of other tabs have what was typed there.
        browser.press("s", ctrl=True)
        person.sees("document.activeElement.dataset.do === 'really-save'")
        browser.press("Enter")
        person.sees("document.querySelector('[data-saved]').innerText === 'saved'")
        assert srdf.read_text() == whole
        assert not draft.exists()
        person.sees(f"{DIALOG} === null")
        # Ctrl+S applies what is typed without a press on *apply*.
        type_text(before)
        browser.press("s", ctrl=True)
        person.sees(f"{DIALOG}?.innerText.includes('-') && document.activeElement.dataset.do === 'really-save'")
        browser.press("Enter")
        person.sees("document.querySelector('[data-saved]').innerText === 'saved'")
        assert srdf.read_text() == before
        # Longer than one message may be, with signs of every length; then longer than the studio takes.
        person.sees(f"{DIALOG} === null")
        signs = '"ä😀' * 100 + "\n"
        for count, is_taken in ((1_000, True), (11_000, False)):
            long = before.replace("</robot>", f"<!-- {signs * count} --></robot>")
            comment = f"'<!-- ' + {json.dumps(signs)}.repeat({count}) + ' --></robot>'"
            browser.run(
                f"{AREA}.value = {json.dumps(before)}.replace('</robot>', {comment});"
                f" {AREA}.dispatchEvent(new Event('input', {{bubbles: true}}))"
            )
            browser.press("s", ctrl=True)
            if is_taken:
                person.sees("document.activeElement.dataset.do === 'really-save'")
                browser.press("Enter")
                person.sees("document.querySelector('[data-saved]').innerText === 'saved'")
                person.sees(f"{DIALOG} === null")
                before = long
            else:
                person.sees("document.querySelector('[data-typed-conflict]').innerText.includes('is not saved')")
                assert browser.run("document.querySelector('[data-saved]').innerText") == "not saved yet"
                assert browser.run(f"{AREA}.value.length") > 4_000_000
            assert srdf.read_text(encoding="utf-8") == before
        person.press("drop-text")
        person.sees("document.querySelector('[data-saved]').innerText === 'saved'")
        assert browser.run(f"{AREA}.value") == before
        # Line ends and the mark at the beginning stay those of the file.
        text = "\ufeff" + before[: before.index("  <!-- ")] + "<!-- ends --></robot>\n"
        srdf.write_bytes(text.replace("\n", "\r\n").encode())
        person.sees(f"{AREA}.value.includes('<!-- ends -->')")
        for was, now in (("ends", "ended"), ("ended", "\\ud800ended")):
            browser.run(
                f"{AREA}.value = {AREA}.value.replace('<!-- {was}', '<!-- {now}'); {AREA}.setSelectionRange(9, 9);"
                f" {AREA}.dispatchEvent(new Event('input', {{bubbles: true}}))"
            )
            person.sees("document.querySelector('[data-saved]').innerText === 'not saved yet'")
            if now == "ended":
                assert browser.run(f"{AREA}.selectionStart") == 9
        browser.press("s", ctrl=True)
        person.sees("document.activeElement.dataset.do === 'really-save'")
        browser.press("Enter")
        person.sees("document.querySelector('[data-saved]').innerText === 'saved'")
        assert srdf.read_bytes() == text.replace("ends", "\ufffdended").replace("\n", "\r\n").encode()
        assert browser.complaints == []


@pytest.mark.timeout(200)
def test_after_a_kill_steps_typed_text_and_fields_are_there_again(
    browser: Browser, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROBOT_SEMANTICS_TOKEN", "the token of both")
    before = files[1].read_bytes()
    with studio(files) as served:
        person, port = Person(browser, served), str(served.port)
        person.tab("robot")
        name = "lift_joint"
        person.choose("property-joint", name)
        person.press("add-passive")
        person.sees("document.querySelector('[data-saved]').innerText === 'not saved yet'")
        person.tab("groups")
        person.type("group-name", "half a na")
        person.tab("text")
        person.sees(f"{AREA}.value.includes('</robot>')")
        served.process.kill()
        served.process.wait(30)
        person.sees("document.querySelector('[data-lost-server]').innerText.includes('keeps your work')")
        # Typed while no server answers.
        browser.run(f"{AREA}.focus(); {AREA}.select()")
        browser.type("<robot typed without a server")
        person.sees("document.querySelector('[data-do=download-document]') !== null")
    assert files[1].read_bytes() == before
    with studio(files, "--port", port) as served:
        person.sees(f"{CARD}?.checkVisibility() && {CARD}.innerText.includes('passive: {name}')")
        assert f'+  <passive_joint name="{name}"/>' in browser.run(f"{CARD}.innerText")
        assert browser.audit(".q-dialog") == []
        person.press("take-draft")
        person.sees(f"viewer.robots[0].passive.includes('{name}')")
        person.sees(f"{DIALOG} === null")
        person.tab("text")
        person.sees(f"{AREA}.value === '<robot typed without a server'")
        person.sees("document.querySelector('[data-do=drop-text]').checkVisibility()")
        person.press("drop-text")
        person.sees(f"{AREA}.value.includes('passive_joint name=\"{name}\"')")
        person.tab("groups")
        person.sees("document.getElementById('group-name').value === 'half a na'")
        person.press("undo")
        person.sees("document.querySelector('[data-saved]').innerText === 'saved'")
        person.press("redo")
        person.sees("document.querySelector('[data-saved]').innerText === 'not saved yet'")
        # Ctrl-C says where the work is.
        assert served.end() in (0, 130)
        assert served.process.stdout is not None
        assert ".r.srdf.draft; the next start offers them" in served.process.stdout.read()
    # Without the draft file, the page has it.
    (draft,) = files[1].parent.glob(".*.draft")
    draft.unlink()
    with studio(files, "--port", port):
        person.sees(f"{CARD}?.checkVisibility() && {CARD}.innerText.includes('{name}')")
        person.press("drop-draft")
        person.sees("document.querySelector('[data-saved]').innerText === 'saved'")


@pytest.mark.timeout(200)
def test_the_save_dialog_writes_what_it_shows(browser: Browser, files: tuple[Path, Path], tmp_path: Path) -> None:
    with studio(files) as served, Browser(tmp_path / "second") as other:
        first, second = Person(browser, served), Person(other, served)
        first.tab("robot")
        name = "lift_joint"
        first.choose("property-joint", name)
        first.press("add-passive")
        first.sees("document.querySelector('[data-saved]').innerText === 'not saved yet'")
        second.sees("document.querySelector('[data-saved]').innerText === 'not saved yet'")
        first.press("save")
        first.sees(f"{DIALOG}?.innerText.includes({json.dumps(name)})")
        second.press("undo")
        second.sees(f"!viewer.robots[0].passive.includes({json.dumps(name)})")
        first.press("really-save")
        first.sees(f"{DIALOG} === null")
        assert f'<passive_joint name="{name}"/>' in files[1].read_text()
        # The document is the undone one: the file differs from it, and both pages say so.
        for person in (first, second):
            person.sees("document.querySelector('[data-saved]').innerText === 'not saved yet'")
        # A text that is typed in one page stays when the other page makes a step.
        first.tab("text")
        first.sees(f"{AREA}.value.includes('</robot>')")
        browser.run(f"{AREA}.focus(); {AREA}.select()")
        browser.type("<robot")
        second.press("redo")
        first.sees("document.querySelector('[data-do=use-typed]').checkVisibility()")
        assert browser.run(f"{AREA}.value") == "<robot"
        files[1].unlink()
        first.sees("document.querySelector('[data-saved]').innerText === 'the file was deleted'")
