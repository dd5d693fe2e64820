# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Change the code in small ways, one change at a time, and list the changes that no test notices.

The changes are taken at random from the rooms where most data is decided, or from the named files. Each is tested by
the tests of its room and by the sweeps, in a copy of the checkout. cosmic-ray makes the changes; operators that only
make the code fail are left out. A change is decided if the tests ran with it; 95 % of the decided ones must be noticed.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "mutants"
COSMIC_RAY = ROOT / "build" / "mutants-env" / "bin" / "cosmic-ray"
# Almost all numbers are floats, for which these raise an error.
LEFT_OUT = ("BitAnd", "BitOr", "BitXor", "Shift", "Invert", "MatMul", "FloorDiv", "Mod", "Pow", "RemoveDecorator")


ROOMS = ("live", "usdf", "kinematics", "comparison", "bringup", "collision")
"""Rooms whose code decides data."""
SWEEPS = (
    "test/test_one_state.py",
    "test/test_one_mimic.py",
    "test/test_every_joint_type.py",
    "test/test_every_pair.py",
)
"""Tests of every joint type, state and pair against every consumer; they run after a room's tests."""
LEAST_KILLED = 0.95
"""Smallest share of the decided changes that the tests must notice."""


def files_of(rooms: Sequence[str]) -> list[str]:
    """Return the modules of some rooms."""
    paths = (path for room in rooms for path in sorted((ROOT / "robot_semantics" / room).rglob("*.py")))
    return [str(path.relative_to(ROOT)) for path in paths if path.name != "__init__.py"]


BY_COMMANDS = {
    "bringup": ("check", "check_folders", "fix"),
    "collision": ("collisions",),
    "comparison": ("states_on_robots",),
    "kinematics": ("fk",),
    "usdf": ("usdf", "usdf_new"),
}
"""Tests of commands that are tests of a room."""


def tests_of(room: str) -> str:
    """Return the tests of a room and the sweeps; all tests where the room has none of its own."""
    commands = (f"test/cli/test_{name}.py" for name in BY_COMMANDS.get(room, ()))
    return " ".join((f"test/{room}", *commands, *SWEEPS)) if (ROOT / "test" / room).is_dir() else "test"


def copy_checkout(folder: Path) -> None:
    """Copy all files that git knows to a new folder."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


class Room(NamedTuple):
    """A room with its possible changes.

    Attributes:
        name: the room.
        config: settings of cosmic-ray.
        session: its database.
        jobs: the changes.
    """

    name: str
    config: Path
    session: Path
    jobs: list[str]


def prepared(room: str, files: list[str], tests: str, work: Path) -> Room:
    """Run a room's tests without a change, for their time, and list the possible changes."""
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests.split()]
    begin = time.monotonic()
    subprocess.run(words, cwd=work, check=True, stdout=subprocess.DEVNULL)
    settings = {
        "module-path": files,
        "timeout": 3.0 * (time.monotonic() - begin) + 10.0,
        "excluded-modules": [],
        "test-command": " ".join(words),
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    config, session = FOLDER / f"{room}.toml", FOLDER / f"{room}.sqlite"
    config.write_text("\n".join(["[cosmic-ray]", *lines, "[cosmic-ray.distributor]", 'name = "local"', ""]))
    session.unlink(missing_ok=True)
    subprocess.run([COSMIC_RAY, "init", str(config), str(session)], cwd=work, check=True)
    with closing(sqlite3.connect(session)) as database:
        jobs = database.execute("SELECT job_id, operator_name FROM mutation_specs ORDER BY module_path, start_pos_row")
        return Room(room, config, session, [job for job, name in jobs if not any(word in name for word in LEFT_OUT)])


def tested(room: Room, chosen: set[str], work: Path) -> tuple[int, int, list[str]]:
    """Test the chosen changes; return how many were decided, how many were noticed, and the others as text."""
    with closing(sqlite3.connect(room.session)) as database, database:
        every = [job for (job,) in database.execute("SELECT job_id FROM work_items")]
        for table in ("mutation_specs", "work_items"):
            database.executemany(
                f"DELETE FROM {table} WHERE job_id = ?", [(job,) for job in every if job not in chosen]
            )
    subprocess.run([COSMIC_RAY, "exec", str(room.config), str(room.session)], cwd=work, check=True)
    with closing(sqlite3.connect(room.session)) as database:
        rows = database.execute(
            "SELECT module_path, start_pos_row, definition_name, diff, test_outcome FROM mutation_specs"
            " JOIN work_results USING (job_id) ORDER BY module_path, start_pos_row"
        ).fetchall()
    outcomes = Counter(outcome for *_, outcome in rows)
    survivors = [
        f"{path}:{row} in {name}\n{changed_lines(diff)}"
        for path, row, name, diff, outcome in rows
        if outcome == "SURVIVED"
    ]
    return outcomes["KILLED"] + outcomes["SURVIVED"], outcomes["KILLED"], survivors


def changed_lines(diff: str) -> str:
    """Return the lines of a diff that differ."""
    return "\n".join(line for line in diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---"))


def main() -> int:
    """Print every change that no test notices; return 1 if too many are not noticed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help=f"modules of the package; by default all of {', '.join(ROOMS)}")
    parser.add_argument("--most", type=int, default=300, help="number of changes")
    parser.add_argument("--seed", type=int, default=0, help="other changes for another number")
    parser.add_argument("--tests", help="tests to run instead of the room's and the sweeps")
    arguments = parser.parse_args()
    files = arguments.files or files_of(ROOMS)
    work = FOLDER / "work"
    copy_checkout(work)
    rooms = []
    for name in sorted({Path(file).parts[1] for file in files if len(Path(file).parts) > 2}):
        own = [file for file in files if Path(file).parts[1] == name]
        rooms.append(prepared(name, own, arguments.tests or tests_of(name), work))
    every = [job for room in rooms for job in room.jobs]
    chosen = set(random.Random(arguments.seed).sample(every, min(arguments.most, len(every))))
    decided = killed = 0
    for room in rooms:
        own_decided, own_killed, survivors = tested(room, chosen, work)
        print(f"{room.name}: {own_killed} of {own_decided} decided changes are noticed")
        print(*survivors, sep="\n", flush=True)
        decided, killed = decided + own_decided, killed + own_killed
    share = killed / decided if decided else 1.0
    print(f"mutants: {killed} of {decided} decided changes are noticed: {100 * share:.1f} %")
    return int(share < LEAST_KILLED)


if __name__ == "__main__":
    sys.exit(main())
