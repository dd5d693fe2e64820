# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Many processes, or a cluster, give the very files that one process gives."""

from __future__ import annotations

import filecmp
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_semantics import RobotSemanticsError
from robot_semantics.recording.bags.source import storage_files
from robot_semantics.recording.parallel import Processes, WorkerError, Workers, choose_workers


def _same(a: Path, b: Path) -> None:
    names = sorted(path.name for path in a.iterdir())
    assert names == sorted(path.name for path in b.iterdir())
    match, mismatch, errors = filecmp.cmpfiles(a, b, names, shallow=False)
    assert (sorted(match), mismatch, errors) == (names, [], [])


def _same_arrays(a: Path, b: Path) -> None:
    first, second = np.load(a), np.load(b)
    assert set(first.files) == set(second.files)
    for name in first.files:
        np.testing.assert_array_equal(first[name], second[name])


@pytest.mark.parametrize("kind", ["mcap split", "sqlite3", "ros1"])
def test_processes_give_what_one_gives(tools: Any, kind: str) -> None:
    tape = tools.rover()
    # Values that are refused in any of the stretches are counted together.
    for i in range(5):
        tape.joints(tools.START + i * tools.S // 2 + 1, ["elbow_joint"], [float("nan")])
    bag = tape.write(tools.folder / "drive", kind)
    results = []
    for jobs in ("1", "3"):
        out = tools.folder / f"jobs{jobs}"
        results.append(tools.run("export", bag, "--every", "0.01", "--links", "--jobs", jobs, "-o", out))
        tools.run("export", bag, "--at-topic", "/tf", "--jobs", jobs, "-o", tools.folder / f"jobs{jobs}.npz")
    (code, _, stderr), (again, _, warnings) = results
    assert code == again == 0
    assert stderr == warnings
    assert "5 messages refused, the first at log time 1700000000.000 s: malformed, the pos" in stderr
    _same(tools.folder / "jobs1", tools.folder / "jobs3")
    _same_arrays(tools.folder / "jobs1.npz", tools.folder / "jobs3.npz")
    assert len(list((tools.folder / "jobs3").glob("*.usdf"))) == 399
    assert not list(tools.folder.glob(".robot_semantics*"))


def test_processes_read_what_is_whole_of_a_damaged_bag(tools: Any) -> None:
    bag = tools.rover().write(tools.folder / "drive", "bare mcap")
    data = bytearray(bag.read_bytes())
    data[data.index(b"elbow_joint", len(data) // 2)] ^= 1
    bag.write_bytes(data)
    alone = tools.run("export", bag, "--every", "0.02", "-o", tools.folder / "a.npz")
    together = tools.run("export", bag, "--every", "0.02", "-o", tools.folder / "b.npz", "--jobs", "2")
    assert alone[0] == together[0] == 1
    assert together[2].count("fails its checksum and is left out") == 1
    _same_arrays(tools.folder / "a.npz", tools.folder / "b.npz")


def test_a_dask_cluster_gives_what_one_process_gives(tools: Any, drive: Path) -> None:
    distributed = pytest.importorskip("distributed")
    tools.run("export", drive, "--every", "0.02", "--links", "-o", tools.folder / "alone")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        code, _, stderr = tools.run(
            "export",
            drive,
            "--every",
            "0.02",
            "--links",
            "--dask",
            cluster.scheduler_address,
            "-o",
            tools.folder / "cluster",
        )
    assert code == 0, stderr
    _same(tools.folder / "alone", tools.folder / "cluster")


REUSE = """
import resource
import numpy as np
from robot_semantics.base.system import reused_memory

def new_pages():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        np.empty(1 << 20, np.uint8).fill(1)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

print(new_pages())
with reused_memory():
    print(new_pages())
print(new_pages())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no such setting")
def test_a_worker_of_dask_reuses_its_memory_during_the_work_and_gives_it_back_after_it() -> None:
    # As Dask starts its workers.
    environment = os.environ | {"MALLOC_TRIM_THRESHOLD_": "65536"}
    output = subprocess.run([sys.executable, "-c", REUSE], env=environment, check=True, capture_output=True, text=True)
    before, during, after = map(int, output.stdout.split())
    assert 10 * during < before
    assert after == pytest.approx(before, rel=0.1)


def test_a_scheduler_that_does_not_answer_is_said(tools: Any, drive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    connect = distributed.Client
    monkeypatch.setattr(
        distributed, "Client", lambda address, **given: connect(address, **{**given, "timeout": "0.5s"})
    )
    code, _, stderr = tools.run("export", drive, "--dask", "tcp://127.0.0.1:9", "-o", tools.folder / "state.usdf")
    assert code == 1
    assert "error: no Dask scheduler answers at 'tcp://127.0.0.1:9'" in stderr
    assert list(tools.folder.iterdir()) == []


def test_without_dask_the_extra_is_named(tools: Any, drive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, stderr = tools.run("export", drive, "--dask", "tcp://127.0.0.1:9", "-o", tools.folder / "state.usdf")
    assert code == 1
    assert "work on a Dask cluster needs the Python module 'distributed': pip install '.[cluster]'" in stderr


def test_workers_keep_the_order_and_pass_errors_on(tmp_path: Path) -> None:
    assert type(choose_workers(1, None)) is Workers
    with Processes(2) as workers:
        assert list(workers.map(abs, range(-200, 0))) == list(range(200, 0, -1))
        assert list(workers.map(abs, [])) == []
    with pytest.raises(RobotSemanticsError, match="no bag: the folder holds neither"), Processes(2) as workers:
        list(workers.map(storage_files, [Path("a.mcap"), tmp_path, Path("b.mcap")]))
    with (
        pytest.raises(WorkerError, match="worker processes ended unexpectedly twice"),
        Processes(2) as workers,
    ):
        list(workers.map(os._exit, [3] * 50))
