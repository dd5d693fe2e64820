# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Change the code in small ways, one change at a time, and list the changes that no test notices.

The files are those that differ from `main`, or those named. Each is tested by the tests of its room, in a copy of the
checkout. cosmic-ray makes the changes; operators that only make the code fail are left out.
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
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "mutants"
COSMIC_RAY = ROOT / "build" / "mutants-env" / "bin" / "cosmic-ray"
# Almost all numbers are floats, for which these raise an error.
LEFT_OUT = ("BitAnd", "BitOr", "BitXor", "Shift", "Invert", "MatMul", "FloorDiv", "Mod", "Pow", "RemoveDecorator")


def changed_files() -> list[str]:
    """Return the modules of the package that differ from `main`'s merge base."""
    base = subprocess.check_output(["git", "merge-base", "main", "HEAD"], cwd=ROOT, text=True).strip()
    command = ["git", "diff", "--name-only", "--diff-filter=d", base, "--", "robot_semantics"]
    names = subprocess.check_output(command, cwd=ROOT, text=True).split()
    return [name for name in names if name.endswith(".py")]


def tests_of(room: str) -> str:
    """Return the folder of a room's tests; all tests where it has none of its own."""
    return f"test/{room}" if (ROOT / "test" / room).is_dir() else "test"


def copy_checkout(folder: Path) -> None:
    """Copy all files that git knows to a new folder."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def survivors_of(room: str, files: list[str], tests: str, most: int) -> tuple[int, list[str]]:
    """Return how many mutants of some files were tested, and a description of each that no test noticed."""
    work = FOLDER / "work"
    copy_checkout(work)
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests.split()]
    begin = time.monotonic()
    subprocess.run(words, cwd=work, check=True, stdout=subprocess.DEVNULL)
    settings = {
        "module-path": files,
        "timeout": 3.0 * (time.monotonic() - begin) + 10.0,
        "excluded-modules": [],
        "test-command": " ".join(words),
        "distributor": {"name": "local"},
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items() if key != "distributor"]
    config, session = FOLDER / f"{room}.toml", FOLDER / f"{room}.sqlite"
    config.write_text("\n".join(["[cosmic-ray]", *lines, "[cosmic-ray.distributor]", 'name = "local"', ""]))
    session.unlink(missing_ok=True)
    subprocess.run([COSMIC_RAY, "init", str(config), str(session)], cwd=work, check=True)
    with closing(sqlite3.connect(session)) as database, database:
        jobs = database.execute("SELECT job_id, operator_name FROM mutation_specs ORDER BY module_path, start_pos_row")
        chosen = [job for job, operator in jobs if not any(name in operator for name in LEFT_OUT)]
        kept = set(random.Random(0).sample(chosen, min(most, len(chosen))))
        every = [job for (job,) in database.execute("SELECT job_id FROM work_items")]
        for table in ("mutation_specs", "work_items"):
            database.executemany(f"DELETE FROM {table} WHERE job_id = ?", [(job,) for job in every if job not in kept])
    subprocess.run([COSMIC_RAY, "exec", str(config), str(session)], cwd=work, check=True)
    with closing(sqlite3.connect(session)) as database:
        rows = database.execute(
            "SELECT module_path, start_pos_row, definition_name, diff FROM mutation_specs JOIN work_results"
            " USING (job_id) WHERE test_outcome = 'SURVIVED' ORDER BY module_path, start_pos_row"
        ).fetchall()
    return len(kept), [f"{path}:{row} in {name}\n{changed_lines(diff)}" for path, row, name, diff in rows]


def changed_lines(diff: str) -> str:
    """Return the lines of a diff that differ."""
    return "\n".join(line for line in diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---"))


def main() -> int:
    """Print every change that no test notices; return 1 if there is one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help="modules of the package; by default those that differ from main")
    parser.add_argument("--most", type=int, default=100, help="most mutants of a room")
    parser.add_argument("--tests", help="tests to run instead of the room's")
    arguments = parser.parse_args()
    files = arguments.files or changed_files()
    rooms = sorted({Path(file).parts[1] for file in files if len(Path(file).parts) > 2})
    found = 0
    for room in rooms:
        mine = [file for file in files if Path(file).parts[1] == room]
        count, survivors = survivors_of(room, mine, arguments.tests or tests_of(room), arguments.most)
        print(f"{room}: {count} mutants, {len(survivors)} survived")
        for survivor in survivors:
            print(survivor)
        found += len(survivors)
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
