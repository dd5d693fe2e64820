# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Many bags, each exported separately, by one process, by several, and by a Dask cluster."""

from __future__ import annotations

import filecmp
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.ending import ends_once

from robot_semantics.examples import example
from robot_semantics.recording import parallel
from robot_semantics.recording.parallel import ClusterError, Dask, Processes

pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def fleet(tools: Any) -> Any:
    """Six bags of several kinds in nested folders, one of them no bag at all, one damaged."""
    folder = tools.folder / "fleet"
    for number, kind in enumerate(("mcap", "sqlite3", "ros1", "bare mcap")):
        (folder / f"day{number % 2}").mkdir(parents=True, exist_ok=True)
        tools.rover(1.0 + number).write(folder / f"day{number % 2}" / f"run{number}", kind)
    (folder / "nonsense.mcap").write_bytes(b"this is not a bag")
    damaged: Path = tools.rover(2.0).write(folder / "damaged", "bare mcap")
    data = damaged.read_bytes()
    damaged.write_bytes(data[: len(data) // 2])
    return folder


def rows(out: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(out / "index.parquet").to_pylist()
    return found


def test_each_bag_has_a_result_and_a_row_and_one_failure_is_not_the_end(tools: Any, fleet: Path) -> None:
    out = tools.folder / "out"
    command = ("export", fleet, "--each", "--every", "0.1", "--to", "npz", "-o", out)
    code, stdout, stderr = tools.run(*command)
    assert code == 1
    assert "6 bags: 5 exported, 0 were done before, 1 failed" in stdout
    assert "nonsense.mcap: error: " in stderr
    found = {Path(row["bag"]).name: row for row in rows(out)}
    assert {name: (row["exit_code"], row["states"]) for name, row in found.items() if "run" in name} == {
        "run0": (0, 10), "run1": (0, 20), "run2.bag": (0, 30), "run3.mcap": (0, 40),
    }  # fmt: skip
    assert (found["damaged.mcap"]["exit_code"], found["damaged.mcap"]["errors"] > 0) == (1, True)
    assert found["nonsense.mcap"]["result"] == ""
    for name, row in found.items():
        assert row["result"] == "" or (out / row["result"]).exists(), name
        assert row["robots"] == ([] if name == "nonsense.mcap" else ["rover_arm"])


def test_a_link_to_a_bag_that_is_gone_is_told_in_words(tools: Any, fleet: Path) -> None:
    (fleet / "day0" / "gone.mcap").symlink_to(fleet / "moved.mcap")
    code, _, stderr = tools.run("export", fleet / "day0", "--each", "-o", tools.folder / "out")
    assert code == 1
    assert f"gone.mcap: error: {fleet / 'day0' / 'gone.mcap'}: No such file or directory" in stderr
    assert "[Errno" not in stderr


def test_what_was_done_is_not_done_again_unless_bag_or_request_change(tools: Any, fleet: Path) -> None:
    out = tools.folder / "out"
    command = ["export", fleet / "day0", "--each", "--every", "0.1", "--to", "npz", "-o", out]
    tools.run(*command)
    assert "2 bags: 0 exported, 2 were done before, 0 failed" in tools.run(*command)[1]
    # The same content under another path and date is the same bag.
    moved = (fleet / "day0").rename(fleet / "elsewhere")
    command[1] = moved
    assert "0 exported, 2 were done before" in tools.run(*command)[1]
    (moved / "run2.bag").unlink()
    tools.rover(5.0).write(moved / "run2", "ros1")
    assert "1 exported, 1 were done before" in tools.run(*command)[1]
    command[4] = "0.2"
    assert "2 exported, 0 were done before" in tools.run(*command)[1]


def test_a_changed_description_is_another_request(tools: Any, fleet: Path) -> None:
    urdf = tools.folder / "rover.urdf"
    text = example("rover_arm.urdf").read_text(encoding="utf-8")
    urdf.write_text(text, encoding="utf-8")
    command = ("export", fleet / "day0", "--each", "--urdf", urdf, "--to", "npz", "-o", tools.folder / "out")
    tools.run(*command)
    assert "0 exported, 2 were done before" in tools.run(*command)[1]
    urdf.write_text(text.replace('name="elbow_joint"', 'name="bend_joint"'), encoding="utf-8")
    assert "2 exported, 0 were done before" in tools.run(*command)[1]


def test_what_is_not_a_result_of_before_is_replaced_by_force_alone(tools: Any, fleet: Path) -> None:
    out = tools.folder / "out"
    own = out.joinpath(*(fleet / "day0" / "run0.npz").parts[1:])
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    command = ("export", fleet / "day0", "--each", "--to", "npz", "-o", out)
    for _ in range(2):
        code, stdout, stderr = tools.run(*command)
        assert (code, own.read_text()) == (1, "mine")
        assert "1 failed" in stdout
        assert f"'{own}' exists; --force replaces it" in stderr
    code, stdout, stderr = tools.run(*command, "--force")
    assert code == 0, stdout + stderr
    assert len(np.load(own)["time_ns"]) == 1


def test_processes_and_a_cluster_give_the_very_files(tools: Any, fleet: Path) -> None:
    distributed = pytest.importorskip("distributed")
    ways: dict[str, tuple[object, ...]] = {"alone": (), "two": ("--jobs", "2")}
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        ways["cluster"] = ("--dask", cluster.scheduler_address)
        for name, how in ways.items():
            code, stdout, stderr = tools.run(
                "export", fleet, "--each", "--every", "0.1", "-o", tools.folder / name, *how
            )
            # One of the six is not a bag and one is damaged.
            assert (code, "6 bags: 5 exported, 0 were done before, 1 failed" in stdout) == (1, True), stdout + stderr
    for other in ("two", "cluster"):
        for row in rows(tools.folder / "alone"):
            if row["result"]:
                one, two = (tools.folder / name / row["result"] for name in ("alone", other))
                names = sorted(file.name for file in one.iterdir())
                assert filecmp.cmpfiles(one, two, names, shallow=False)[0] == names
        assert rows(tools.folder / other) == rows(tools.folder / "alone")


def test_the_work_of_a_process_that_was_killed_is_done_again(tmp_path: Path) -> None:
    with Processes(2) as workers:
        assert list(workers.map(ends_once, [tmp_path] * 5)) == ["done"] * 5


def test_work_that_ends_just_after_a_timeout_is_no_timeout() -> None:
    class EndsLate:
        """A future whose work ends between the timeout of `result` and the next look at it."""

        status = "pending"

        def done(self) -> bool:
            return self.status != "pending"

        def result(self, timeout: float) -> str:
            if self.status == "finished":
                return "done"
            self.status = "finished"
            raise TimeoutError

    workers = Dask("tcp://127.0.0.1:1")
    workers._client = SimpleNamespace(nthreads=lambda: {"worker": 1})
    assert workers._result(EndsLate()) == "done"


def test_a_cluster_without_workers_is_an_error_and_no_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(parallel, "WORKERLESS_S", 2.0)
    import time

    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        Dask(cluster.scheduler_address) as workers,
    ):
        answers = workers.map(time.sleep, [0.01, 60.0])
        next(answers)
        cluster.scale(0)
        with pytest.raises(ClusterError, match="has had no workers for 2 s"):
            list(answers)
