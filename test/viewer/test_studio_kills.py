# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The studio's server is killed while it saves what a person pressed: the SRDF is the old or the new one, and whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from support.browser import Browser
from support.killed_writers import unsound
from support.patience import PATIENCE_S
from support.person import Person
from support.served import Served

from robot_semantics.examples import example
from robot_semantics.srdf.table import srdf_from_file

KILLS = int(os.environ.get("KILLS", "20"))
"""How often a server is killed, before another file operation each time."""
NEXT_RUN = (
    "import sys; from robot_semantics.base.files import save_bytes as f; f(open(sys.argv[1], 'rb').read(), sys.argv[1])"
)
"""A process that saves the file again: the first save of a process deletes what killed ones left."""


def groups(path: Path) -> set[str]:
    return {group.name for group in srdf_from_file(path).groups}


def save_group(person: Person, served: Served, name: str) -> bool:
    """Add a group and save it with the page's buttons; return False if the server was killed."""
    person.tab("groups")
    person.type("group-name", name)
    person.choose("chain-0", "base_link")
    person.choose("chain-1", "lift_link")
    person.press("add-group")
    if not sees(person, served, f"document.querySelector('[data-group-row={name}]') !== null"):
        return False
    person.press("save")
    if not sees(person, served, "document.querySelector('[data-do=really-save]') !== null"):
        return False
    person.press("really-save")
    return sees(person, served, "document.querySelector('[data-saved]')?.innerText === 'saved'")


def saves(browser: Browser, served: Served, prefix: str) -> Iterator[str]:
    """Save groups until the server is killed; yield the name of each saved group."""
    # Where a draft is left, the server may be killed at its start, and while it deletes the draft.
    if not served.address:
        return
    person = Person(browser, served)
    if "unsaved changes" in served.told:
        person.press("drop-draft")
        if not sees(person, served, "document.querySelector('.q-dialog__inner') === null"):
            return
    for number in count():
        if not save_group(person, served, f"{prefix}_{number}"):
            return
        yield f"{prefix}_{number}"


def sees(person: Person, served: Served, condition: str) -> bool:
    """Wait until a condition holds on the page; return False if the server was killed."""
    end = time.monotonic() + PATIENCE_S
    while served.process.poll() is None:
        if person.browser.run(condition):
            return True
        assert time.monotonic() < end, f"it never came about that {condition}; the page says: {person.text()}"
        time.sleep(0.03)
    return False


@pytest.mark.timeout(100 + 20 * KILLS)
def test_a_page_whose_server_is_killed_while_it_saves_loses_and_leaves_nothing(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.srdf"
    path.write_bytes(example("rover_arm.srdf").read_bytes())
    monkeypatch.setenv("KILLED_IN", str(tmp_path))
    monkeypatch.setenv("KILLED_MODULE", "robot_semantics.cli.main")
    for number in range(KILLS):
        # The draft and the SRDF take 10 file operations each: kills are before and after each of them is there.
        monkeypatch.setenv("KILLED_BEFORE", str(1 + 7 * number % 30))
        arguments = ("studio", str(example("rover_arm.urdf")), str(path), "--no-browser")
        before, served = groups(path), Served("-m", "support.killed_writers", *arguments, may_end=True)
        saved = list(saves(browser, served, f"g{number}"))
        assert served.process.wait(PATIENCE_S) == -signal.SIGKILL
        subprocess.run([sys.executable, "-c", NEXT_RUN, str(path)], check=True)
        assert unsound(tmp_path) == []
        # The group of the save that was killed may be there.
        assert groups(path) - {f"g{number}_{len(saved)}"} == before.union(saved)
    # Some servers were killed before the new file was there, others after it.
    there = [f"g{number}_0" in groups(path) for number in range(KILLS)]
    assert KILLS < 8 or {*there} == {True, False}
