# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Special recordings: varying tf subsets, USDF states, one state of a large bag, many bags, Parquet, a Dask cluster.

Run: python -m benchmark.bench_fleet [--minutes 10] [--gigabytes 1]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmark.bench_recording import ours, record, timed
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.cli.main import main as command_line
from robot_semantics.recording.parallel import Processes
from robot_semantics.recording.read.plan import RobotRequest, plan_recording
from robot_semantics.recording.read.recording import combine_stretches, whole_tasks
from robot_semantics.recording.read.stretches import read_stretch
from robot_semantics.recording.read.times import TimeRequest, blocks, choose_times
from robot_semantics.recording.sample.world import Sampling, WorldSampler
from robot_semantics.recording.series.outputs import aged_states, state_texts
from robot_semantics.usdf.writer import write_world

BAGS, THOUSAND, PROCESSES = 20, 1000, 8
MEAN_S = 0.02
"""Mean time of a simulated bag [s]; the processes sleep, so that eight of them do not need eight cores."""


def bytes_read() -> int:
    """Return the number of bytes that this process has read so far, from files or from their cache."""
    return int(Path("/proc/self/io").read_text().split()[1])


def usdf_states(bag: Path, folder: Path) -> None:
    """Print the cost of a USDF state: in total, only its file, and its text with and without filling in numbers."""
    problems = Diagnostics()
    plan = plan_recording((bag,), (RobotRequest(),), problems)
    recording = combine_stretches(plan, map(read_stretch, whole_tasks(plan)), problems)
    times = choose_times(TimeRequest(every="0.1"), recording, problems)
    series = [*map(WorldSampler(recording, Sampling(), problems).sample, blocks(times, 64))]
    gap_ns, texts, plain = Sampling().max_gap_ns, list[str](), list[str]()
    filled = timed(lambda: texts.extend(text for some in series for text in state_texts(some, gap_ns)))
    written = timed(lambda: plain.extend(write_world(state) for some in series for state in aged_states(some, gap_ns)))
    assert plain == texts

    def files() -> None:
        (folder / "files").mkdir()
        for number, text in enumerate(texts):
            (folder / "files" / f"{number}.usdf").write_text(text, encoding="utf-8")

    bare = timed(files)
    whole = timed(partial(ours, bag, folder / "states", TimeRequest(every="0.1")))
    each = [f"{seconds / len(texts) * 1e3:.3f} ms" for seconds in (whole, bare, filled, written)]
    print(
        f"a USDF state of {len(texts)}: {each[0]}, its file alone {each[1]}, its text {each[2]}, "
        f"one by one {each[3]} ({written / filled:.1f} x)"
    )


def fleet(bags: Path, out: Path, *options: str) -> float:
    """Export all bags of a folder separately; return the elapsed time [s]."""
    begin = time.perf_counter()
    words = ["export", str(bags), "--each", "--every", "0.1", "--to", "npz", "-o", str(out), *options]
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        assert command_line([*words, "--quiet"]) == 0
    return time.perf_counter() - begin


def copies(bag: Path, bags: Path, count: int, copy: Callable[[str, str], object] = os.link) -> None:
    """Make a folder with copies of a bag; by default they share the file."""
    for number in range(count):
        shutil.copytree(bag, bags / f"run{number:02}", copy_function=copy)


def growth(bag: Path, folder: Path) -> None:
    """Print the processor time for 1, 10 and 100 copies of a bag."""
    costs: list[float] = []
    for count in (1, 10, 100):
        bags = folder / f"bags{count}"
        copies(bag, bags, count)
        begin = time.process_time()
        fleet(bags, folder / f"out{count}")
        costs.append(time.process_time() - begin)
    factors = [f"{later / earlier:.1f}" for earlier, later in pairwise(costs)]
    print(f"--each, 1, 10, 100 bags: {', '.join(f'{cost:.2f}' for cost in costs)} s, factors {', '.join(factors)}")


def same_files(one: Path, other: Path) -> bool:
    """Return True if two folders have the same results, byte by byte.

    Hidden files are left out: the records of what is done (of equal bags, one names the bag that was done last), and
    the lock of a killed worker, which the next run deletes.
    """

    def results(top: Path) -> list[Path]:
        names = (path.relative_to(top) for path in top.rglob("*") if path.is_file())
        return sorted(name for name in names if not any(part.startswith(".") for part in name.parts))

    names = results(one)
    return names == results(other) and all((one / name).read_bytes() == (other / name).read_bytes() for name in names)


class Memory(threading.Thread):
    """Notes the memory of processes every half second, in MB."""

    def __init__(self, processes: Sequence[int]) -> None:
        super().__init__(daemon=True)
        self._processes = processes
        self._ended = threading.Event()
        self.samples: list[list[float]] = []

    def run(self) -> None:
        """Note it until `most` is called."""
        while not self._ended.wait(0.5):
            pages = [int(Path(f"/proc/{process}/statm").read_text().split()[1]) for process in self._processes]
            self.samples.append([page * os.sysconf("SC_PAGE_SIZE") / 1e6 for page in pages])

    def most(self) -> float:
        """End; return the most that a process had [MB]."""
        self._ended.set()
        self.join()
        return max(map(max, self.samples), default=0.0)


def cluster(folder: Path, gigabytes: float) -> None:
    """Print how a Dask cluster exports many bags, also if a worker is killed, beside one process."""
    from distributed import LocalCluster

    start_cluster: Any = LocalCluster  # distributed is typed in part
    bags = folder / "hours"
    record(folder / "hour", 60.0, "mcap")
    size = sum(file.stat().st_size for file in (folder / "hour").iterdir())
    count = max(2, round(gigabytes * 1e9 / size))
    copies(folder / "hour", bags, count, shutil.copy2)
    print(f"{count} bags, {count * size / 1e9:.1f} GB, {os.cpu_count()} cores")
    with start_cluster(
        n_workers=PROCESSES, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as local:
        address = str(local.scheduler_address)
        one = fleet(bags, folder / "one")
        many, most = 0.0, list[float]()
        # In the first round, the workers import their modules.
        for name in ("first", "many"):
            memory = Memory([worker.pid for worker in local.workers.values()])
            memory.start()
            many = fleet(bags, folder / name, "--dask", address)
            most.append(memory.most())
        victim = next(iter(local.workers.values())).pid
        kill = threading.Timer(many / 2.0, os.kill, (victim, signal.SIGKILL))
        kill.start()
        killed = fleet(bags, folder / "killed", "--dask", address)
        kill.join()
    assert same_files(folder / "one", folder / "many")
    assert same_files(folder / "one", folder / "killed")
    print(f"one process {one:.1f} s; {PROCESSES} Dask workers {many:.1f} s, {one / many:.2f} x, the same bytes")
    print(f"most memory of a worker: {most[0]:.0f} MB, and when all is done once more {most[1]:.0f} MB")
    print(f"one worker killed in the middle: {killed:.1f} s, the same bytes")


def thousand() -> tuple[float, float]:
    """Return the time of a thousand bags of very different lengths, and its lower bound [s]."""
    numbers = random.Random(1)
    lengths = [numbers.lognormvariate(0.0, 1.0) for _ in range(THOUSAND)]
    seconds = [MEAN_S * THOUSAND * length / sum(lengths) for length in lengths]
    with Processes(PROCESSES) as workers:
        list(workers.map(time.sleep, [0.01] * 4 * PROCESSES))
        begin = time.perf_counter()
        list(workers.map(time.sleep, seconds, ahead=THOUSAND))
        return time.perf_counter() - begin, sum(seconds) / PROCESSES


def main() -> None:
    """Record, measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--gigabytes", type=float, default=1.0, help="size of the bags for the Dask cluster")
    arguments = parser.parse_args()
    minutes = arguments.minutes
    every = TimeRequest(every="0.02")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for subsets in (False, True):
            record(folder / f"bag{subsets}", minutes, "mcap", subsets=subsets)
            ours(folder / f"bag{subsets}", folder / "once.npz", TimeRequest(every="60"))
        same, varying = (timed(partial(ours, folder / f"bag{some}", folder / "x.npz", every)) for some in (False, True))
        print(f"{minutes:g} minutes of 100 Hz joint states and 50 Hz tf, a state every 0.02 s")
        ratio = f"{varying / same:.2f} x"
        print(f"all transforms in each message: {same:.2f} s; a random half of them: {varying:.2f} s, {ratio}")
        parquet = timed(partial(ours, folder / "bagFalse", folder / "x.parquet", every))
        sizes = [(folder / f"x.{ending}").stat().st_size / 1e6 for ending in ("npz", "parquet")]
        print(f"npz {same:.2f} s, {sizes[0]:.0f} MB; parquet {parquet:.2f} s, {sizes[1]:.0f} MB")
        usdf_states(folder / "bagFalse", folder)
        size = sum(file.stat().st_size for file in (folder / "bagFalse").iterdir())
        before = bytes_read()
        last = timed(partial(ours, folder / "bagFalse", folder / "end.npz", TimeRequest()))
        print(f"--at end: {(bytes_read() - before) / 1e6:.1f} of {size / 1e6:.0f} MB read, {last:.2f} s")
        copies(folder / "bagFalse", folder / "bags", BAGS)
        one, two = (fleet(folder / "bags", folder / f"out{jobs}", "--jobs", str(jobs)) for jobs in (1, 2))
        print(f"--each, {BAGS} bags: {one:.1f} s with one process, {two:.1f} s with two, {one / two:.2f} x")
        record(folder / "minute", 1.0, "mcap")
        growth(folder / "minute", folder)
        cluster(folder, arguments.gigabytes)
    took, least = thousand()
    print(
        f"{THOUSAND} simulated bags on {PROCESSES} processes: {took:.2f} s, at least {least:.2f} s: {least / took:.0%}"
    )


if __name__ == "__main__":
    main()
