# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The language server: time from a change of a text to its problems in the editor, for the PR2 with URDF and SRDF.

Run: python -m benchmark.bench_editor [--changes N]
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from lsprotocol import types
from rich.console import Console
from rich.table import Table

PR2 = Path("cmeel.prefix/share/example-robot-data/robots/pr2_description")
"""The folder of the PR2 in the site packages."""

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test"))
from support.editor import Editor, position  # noqa: E402


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--changes", type=int, default=50, help="number of changes of each document")
    changes = parser.parse_args().changes
    packages = next(path for path in map(Path, sys.path) if (path / PR2).is_dir())
    with tempfile.TemporaryDirectory() as folder:
        for name in ("urdf/pr2.urdf", "srdf/pr2.srdf"):
            shutil.copy(packages / PR2 / name, folder)
        with Editor(Path(folder)) as editor:
            rows = [row for name in ("pr2.urdf", "pr2.srdf") for row in measured(editor, name, changes)]
    table = Table("document", "step", "median [ms]", "largest [ms]", "CPU of the server [ms]")
    for name, step, times, cpu in rows:
        table.add_row(name, step, *(f"{1e3 * value:.0f}" for value in (statistics.median(times), max(times), cpu)))
    Console().print(table)


def measured(editor: Editor, name: str, changes: int) -> list[tuple[str, str, list[float], float]]:
    """Return the times of one document: from its opening and from each change to its problems, and of a request."""
    text = (editor.folder / name).read_text()
    at = position(text, text.index('name="') + len('name="'))
    numbers = itertools.count()

    def change() -> None:
        editor.change(name, f"{text}<!-- {next(numbers)} -->")
        editor.problems(name)

    def complete() -> None:
        editor.ask("textDocument/completion", types.CompletionParams(editor.identifier(name), at))

    def opened() -> None:
        editor.open(name)
        editor.problems(name)

    steps = (("open → problems", opened, 1), ("change → problems", change, changes), ("completion", complete, changes))
    return [(name, step, *timed(editor, work, count)) for step, work, count in steps]


def timed(editor: Editor, work: Callable[[], None], count: int) -> tuple[list[float], float]:
    """Return the time of each run, and the mean time of the server's processor [s]."""
    before, times = cpu_time(editor), []
    for _ in range(count):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return times, (cpu_time(editor) - before) / count


def cpu_time(editor: Editor) -> float:
    """Return the processor time of the server so far [s]."""
    assert editor.process is not None
    fields = Path(f"/proc/{editor.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
