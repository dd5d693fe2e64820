# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Options of `export` except times, joints and frames; and its remaining files and memory."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_semantics import read_world
from robot_semantics.cli import export as export_command
from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot
from robot_semantics.usdf.identity import model_digest


def test_the_program_bag_to_usdf_is_the_same(tools: Any, drive: Path) -> None:
    assert export_command.main([str(drive), "-o", str(tools.folder / "a.usdf")]) == 0
    tools.run("export", drive, "-o", tools.folder / "b.usdf")
    assert (tools.folder / "a.usdf").read_bytes() == (tools.folder / "b.usdf").read_bytes()


def test_descriptions_may_come_from_files(tools: Any) -> None:
    bag = tools.rover(1.0, describe=False).write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "-o", tools.folder / "bare.usdf")
    assert code == 0
    assert (
        "</robot_description>: warning: there is no robot description; joints and frames have the names of the messages"
        in stderr
    )
    assert read_world(tools.folder / "bare.usdf").models[0].name == "robot"
    urdf, srdf = tools.folder / "rover.urdf", tools.folder / "rover.srdf"
    urdf.write_bytes(example("rover_arm.urdf").read_bytes())
    srdf.write_bytes(example("rover_arm.srdf").read_bytes())
    for arguments in (("--urdf", f"{urdf},{srdf}"), ("--model", "mine", "--urdf", f"mine={urdf},{srdf}")):
        code, _, stderr = tools.run("export", bag, *arguments, "-o", tools.folder / "sub" / "state.usdf")
        assert (code, stderr) == (0, "")
        model = read_world(tools.folder / "sub" / "state.usdf").models[0]
        assert model.name == ("mine" if "--model" in arguments else "rover_arm")
        assert (model.description, model.semantic) == ("../rover.urdf", "../rover.srdf")
        assert model.urdf_sha256 == model_digest(load_robot(urdf))


def test_a_faulty_description_in_the_bag_is_said_with_its_place(tools: Any) -> None:
    tape = tools.rover(1.0, describe=False)
    tape.text("/robot_description", "<robot name='x'>\n<link name='a'/>\n<link name='a'/></robot>")
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "-o", tools.folder / "state.usdf")
    assert code == 1
    assert "</robot_description>:3:" in stderr
    assert read_world(tools.folder / "state.usdf").models[0].joints


def test_a_file_that_is_no_description_ends_it(tools: Any, drive: Path) -> None:
    (tools.folder / "bad.urdf").write_text("<robot><link/>")
    code, _, stderr = tools.run("export", drive, "--urdf", tools.folder / "bad.urdf", "-o", tools.folder / "state.usdf")
    assert code == 1
    assert "bad.urdf:1:" in stderr
    code, _, stderr = tools.run("export", drive, "--urdf", tools.folder / "no.urdf", "-o", tools.folder / "state.usdf")
    assert (code, "no.urdf" in stderr) == (1, True)
    assert not (tools.folder / "state.usdf").exists()


def test_a_description_that_changes_is_said_and_the_last_counts(tools: Any) -> None:
    tape = tools.rover(1.0)
    tape.text("/robot_description", "<robot name='other'><link name='base_footprint'/></robot>", tools.START + tools.S)
    bag = tape.write(tools.folder / "bag")
    _, _, stderr = tools.run("export", bag, "-o", tools.folder / "state.usdf")
    assert "</robot_description>: warning: '/robot_description' changes; the last text is used" in stderr
    assert read_world(tools.folder / "state.usdf").models[0].name == "other"


def test_joint_states_may_be_on_any_topic(tools: Any) -> None:
    tape = tools.Tape()
    tape.joints(tools.START, ["a"], [1.0], topic="/arm/state")
    bag = tape.write(tools.folder / "one")
    code, _, stderr = tools.run("export", bag, "-o", tools.folder / "state.usdf")
    assert code == 0
    assert "note: joint states are taken from '/arm/state'" in stderr
    tape.joints(tools.START, ["b"], [2.0], topic="/hand/state")
    bag = tape.write(tools.folder / "two")
    code, _, stderr = tools.run("export", bag, "-o", tools.folder / "state.usdf")
    assert code == 1
    assert "several topics have joint states, choose one with --joint-states: /arm/state, /hand/state" in stderr
    for argument in ("/hand/state", "robot=/hand/state"):
        model = () if "=" not in argument else ("--model", "robot")
        code, _, _ = tools.run("export", bag, *model, "--joint-states", argument, "-o", tools.folder / "state.usdf")
        assert code == 0
        assert [joint.name for joint in read_world(tools.folder / "state.usdf").models[0].joints] == ["b"]
    code, _, stderr = tools.run("export", bag, "--joint-states", "/hand/stat", "-o", tools.folder / "state.usdf")
    assert (code, "error: unknown topic '/hand/stat'; did you mean '/hand/state'" in stderr) == (1, True)


def test_every_format_has_the_same_numbers(tools: Any, drive: Path) -> None:
    for name in ("folder", "series.npz", "series.jsonl", "series.csv"):
        code, _, stderr = tools.run("export", drive, "--every", "0.31", "-o", tools.folder / name)
        assert (code, stderr) == (0, "")
    index = json.loads((tools.folder / "folder" / "index.json").read_text())
    states = [read_world(tools.folder / "folder" / entry["file"]) for entry in index["states"]]
    arrays = np.load(tools.folder / "series.npz")
    lines = [json.loads(line) for line in (tools.folder / "series.jsonl").read_text().splitlines()]
    with (tools.folder / "series.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(states) == len(arrays["time_ns"]) == len(lines) == len(rows) == 13
    joints = arrays["rover_arm/joints"].tolist()
    for i, state in enumerate(states):
        assert state.time_ns == arrays["time_ns"][i]
        assert lines[i]["time"] == rows[i]["time"] == index["states"][i]["time"]
        model = state.models[0]
        assert model.twist == tuple(arrays["rover_arm/twist"][i].tolist())
        told = {joint["name"]: joint for joint in lines[i]["models"][0]["joints"]}
        for joint in model.joints:
            column = joints.index(joint.name)
            assert joint.positions == (arrays["rover_arm/positions"][i, column],)
            assert list(joint.positions) == told[joint.name]["positions"]
            assert float(rows[i][f"rover_arm/{joint.name}/position"]) == joint.positions[0]
            assert joint.velocities == (float(rows[i][f"rover_arm/{joint.name}/velocity"]),)
        pose = model.pose
        assert pose is not None
        assert pose.xyz_rpy[0] == float(rows[i]["rover_arm/x"]) == arrays["rover_arm/pose"][i, 0]
        assert rows[i]["rover_arm/parent"] == "odom" == str(arrays["names"][arrays["rover_arm/parent"][i]])
    assert str(arrays["text/rover_arm.urdf"]) == example("rover_arm.urdf").read_text(encoding="utf-8")
    assert (tools.folder / "folder" / "rover_arm.urdf").read_text(encoding="utf-8") == str(
        arrays["text/rover_arm.urdf"]
    )
    assert states[0].models[0].description == "rover_arm.urdf"


def test_a_description_is_found_from_a_folder_behind_a_link(tools: Any, drive: Path) -> None:
    urdf = tools.folder / "rover_arm.urdf"
    urdf.write_bytes(example("rover_arm.urdf").read_bytes())
    (tools.folder / "deep" / "real").mkdir(parents=True)
    (tools.folder / "link").symlink_to(tools.folder / "deep" / "real")
    out = tools.folder / "link" / "state.usdf"
    code, _, _ = tools.run("export", drive, "--model", "rover_arm", "--urdf", urdf, "-o", out)
    assert code == 0
    description = read_world(out).models[0].description
    assert description is not None
    assert (out.parent / description).samefile(urdf)


def test_format_may_be_said_when_the_ending_does_not(tools: Any, drive: Path) -> None:
    tools.run("export", drive, "--to", "jsonl", "-o", tools.folder / "out.data")
    assert json.loads((tools.folder / "out.data").read_text())["models"]
    code, _, stderr = tools.run("export", drive, "-o", tools.folder / "other.data")
    assert code == 2
    assert "has the ending '.data'; known is .usdf, .xml, .jsonl, .npz, .csv or .parquet: give the kind with" in stderr
    code, _, stderr = tools.run("export", drive, "--every", "1", "-o", tools.folder / "one.usdf")
    assert (code, "error: 4 states need a folder, not the one file" in stderr) == (1, True)


def test_a_folder_is_replaced_only_by_force(tools: Any, drive: Path) -> None:
    out = tools.folder / "out"
    out.mkdir()
    assert tools.run("export", drive, "--every", "1", "-o", out)[0] == 0
    (out / "mine").write_text("x")
    code, _, stderr = tools.run("export", drive, "--every", "2", "-o", out)
    assert (code, "exists and is not empty; --force replaces it" in stderr) == (1, True)
    assert len(list(out.glob("*.usdf"))) == 4
    assert tools.run("export", drive, "--every", "2", "-o", out, "--force")[0] == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "index.json", "rover_arm.srdf", "rover_arm.urdf", "state_000000.usdf", "state_000001.usdf"
    ]  # fmt: skip
    code, _, stderr = tools.run("export", drive, "-o", out / "x.npz" / "y.usdf")
    assert code == 0
    code, _, stderr = tools.run("export", drive, "-o", tools.folder / "out", "--to", "npz")
    assert (code, "is a folder, but the output is a file" in stderr) == (1, True)


def test_a_dry_run_says_what_it_found_and_writes_nothing(tools: Any, drive: Path) -> None:
    code, stdout, _ = tools.run("export", drive, "--every", "0.1", "--dry-run", "-o", tools.folder / "out")
    assert code == 0
    assert f"{drive}: 283 messages on 5 topics" in stdout
    assert "  /joint_states  sensor_msgs/msg/JointState  200" in stdout
    assert "robot rover_arm: 15 links, joint states /joint_states" in stdout
    assert "world frame: map; other frames: camera, map, odom" in stdout
    assert "would write 40 states as usdf to" in stdout
    assert list(tools.folder.iterdir()) == []
    found = tools.json("export", drive, "--every", "0.1", "--dry-run")
    assert (found["states"], found["written"], found["robots"], found["runs"]) == (40, None, ["rover_arm"], 1)
    assert found["bags"][0]["topics"]["/tf"] == {"type": tools.TF, "messages": 80, "used": True}


def test_json_lists_gaps_and_problems(tools: Any) -> None:
    tape = tools.Tape()
    tape.joints(tools.START, ["a"], [1.0])
    tape.joints(tools.START + 5 * tools.S, ["b"], [1.0])
    bag = tape.write(tools.folder / "bag")
    found = tools.json("export", bag, "-o", tools.folder / "state.usdf")
    assert {(gap["kind"], gap["name"]): (gap["states"], gap["never"], gap["worst_s"]) for gap in found["gaps"]} == {
        ("joint", "robot/a"): (1, 0, 5.0),
        ("base", "robot"): (1, 1, 0.0),
    }
    assert {problem["code"] for problem in found["problems"]} == {"gap", "never-seen", "no-description"}


def _busy_export(folder: Path, drive: Path, *more: str) -> subprocess.Popen[str]:
    # A background process of a shell ignores SIGINT from its start, and so would its children.
    script = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from robot_semantics.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    arguments = ["export", str(drive), "--every", "0.0005", "--links", "-o", str(folder / "out"), *more]
    return subprocess.Popen([sys.executable, "-c", script, *arguments], text=True, stderr=subprocess.PIPE)


@pytest.mark.parametrize(
    ("number", "more"), [(signal.SIGINT, ()), (signal.SIGTERM, ()), (signal.SIGINT, ("--jobs", "2"))]
)
def test_an_interrupted_export_leaves_nothing(tools: Any, drive: Path, number: int, more: tuple[str, ...]) -> None:
    process = _busy_export(tools.folder, drive, *more)
    deadline = time.monotonic() + 60
    try:
        # Well into the writing: some states are there under the temporary name.
        while not list(tools.folder.glob(".out.*.tmp/state_000050.usdf")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(process.pid, number)
        _, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 128 + number
    assert "Traceback" not in stderr
    assert ("interrupted" if number == signal.SIGINT else "terminated") in stderr
    assert list(tools.folder.iterdir()) == []


def test_a_terminal_shows_progress_with_rate_and_time_left_and_nothing_else_does(tools: Any, drive: Path) -> None:
    command = [sys.executable, "-m", "robot_semantics.cli.main", "export", str(drive), "--every", "0.005", "-o"]
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(
        [*command, str(tools.folder / "a")], stderr=slave, stdout=subprocess.PIPE, env=environment, text=True
    )
    os.close(slave)
    shown = b""
    with contextlib.suppress(OSError):
        while block := os.read(master, 4096):
            shown += block
    os.close(master)
    process.communicate(timeout=60)
    assert process.returncode == 0
    text = shown.decode(errors="replace")
    assert "reading" in text
    assert "writing" in text
    assert re.search(r"\d+/797", text)
    assert re.search(r"\d/s", text)
    assert re.search(r"\d:\d\d:\d\d", text)
    quiet = subprocess.run([*command, str(tools.folder / "b")], capture_output=True, text=True, check=True)
    assert quiet.stderr == ""


FLAT = """
import sys, threading, time
from pathlib import Path
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.recording import export as module
from robot_semantics.recording.read.times import TimeRequest

module.IN_MEMORY_BYTES = 2**22
peak = 0
def watch():
    global peak
    while True:
        with open("/proc/self/status") as file:
            peak = max(peak, *(int(line.split()[1]) for line in file if line.startswith("RssAnon")))
        time.sleep(0.002)

threading.Thread(target=watch, daemon=True).start()
times = TimeRequest(at_topic="/joint_states")
module.export(module.ExportRequest((Path(sys.argv[1]),), Path(sys.argv[2]), times=times), Diagnostics())
print(peak / 1024)
"""


def test_a_recording_larger_than_memory_is_read_in_flat_memory(tools: Any) -> None:
    names = [f"joint_{i}" for i in range(200)]
    peaks = []
    for count in (14_000, 28_000):
        tape = tools.Tape()
        tape.joints(tools.START, names, np.zeros(200), np.zeros(200))
        template = tools.cdr(tape.events[0])
        for i in range(1, count):
            now = tools.START + i * tools.S // 100
            stamp = (now // tools.S).to_bytes(4, "little") + (now % tools.S).to_bytes(4, "little")
            tape.add("/joint_states", tools.JOINT_STATE, now, template[:4] + stamp + template[12:])
        bag = tape.write(tools.folder / f"bag{count}", "sqlite3")
        command = [sys.executable, "-c", FLAT, str(bag), str(tools.folder / "out.npz")]
        peaks.append(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    assert np.load(tools.folder / "out.npz")["time_ns"].size == 28_000
    # 70 MB more of recording, with 45 MB of exported numbers, but almost no more memory [MB].
    assert peaks[1] < peaks[0] + 12


def test_without_rosbags_the_extra_is_named(tools: Any, drive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("robot_semantics.recording")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rosbags.interfaces", None)
    for command in ("export", "bag"):
        code, _, stderr = tools.run(command, drive, "-o", tools.folder / "x.usdf")
        assert code == 1
        assert "recordings needs the Python module 'rosbags': pip install '.[bag]'" in stderr


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_of_somebody_else_is_not_replaced(tools: Any, drive: Path, ending: str) -> None:
    out = tools.folder / f"out.{ending}"
    if ending == "csv":
        out.write_text("time,my,own\n1,2,3\n")
    else:
        arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(arrow.table({"mine": [1, 2, 3]}), out)
    mine = out.read_bytes()
    code, _, error = tools.run("export", drive, "--at", "2", "-o", out)
    assert (code, out.read_bytes()) == (1, mine)
    assert "is not the output of an export; --force overwrites it" in error
    assert tools.run("export", drive, "--at", "2", "-o", out, "--force")[0] == 0
    assert tools.run("export", drive, "--at", "1", "-o", out)[0] == 0


@pytest.mark.parametrize("ending", ["usdf", "npz", "jsonl", "csv"])
def test_a_file_is_replaced_where_an_export_made_it_or_by_force(tools: Any, drive: Path, ending: str) -> None:
    out = tools.folder / f"out.{ending}"
    for at in ("1", "2"):
        assert tools.run("export", drive, "--at", at, "-o", out)[0] == 0
    made = out.read_bytes()
    out.write_text("mine")
    code, _, error = tools.run("export", drive, "--at", "2", "-o", out)
    assert (code, out.read_text()) == (1, "mine")
    assert "exists already and is not the output of an export; --force overwrites it" in error
    assert tools.run("export", drive, "--at", "2", "-o", out, "--force")[0] == 0
    assert out.read_bytes() == made


def test_what_is_read_is_never_written_over(tools: Any, drive: Path) -> None:
    before = sorted((path, path.read_bytes()) for path in drive.rglob("*") if path.is_file())
    for words in (("--every", "1", "-o", drive, "--force"), ("--every", "1", "-o", drive.parent, "--force")):
        code, _, stderr = tools.run("export", drive, *words)
        assert code == 1
        assert "which is an input" in stderr
    assert sorted((path, path.read_bytes()) for path in drive.rglob("*") if path.is_file()) == before
    tools.run("export", drive, "--every", "1", "-o", tools.folder / "series")
    code, _, stderr = tools.run("bag", tools.folder / "series", "-o", tools.folder / "series", "--force")
    assert (code, "which is an input" in stderr) == (1, True)
    one = tools.rover(1.0).write(tools.folder / "one", "bare mcap")
    code, _, stderr = tools.run("export", one, "--to", "csv", "-o", one)
    assert (code, "which is an input" in stderr) == (1, True)
    assert one.read_bytes().startswith(b"\x89MCAP")


@pytest.mark.parametrize("form", ["FILE", ",FILE"], ids=["urdf", "srdf"])
@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe", b"<robot", None])
def test_a_description_that_cannot_be_read_is_told_before_the_bag_is(
    tools: Any, drive: Path, form: str, content: bytes | None
) -> None:
    file = tools.folder / "r.xml"
    if content is not None:
        file.write_bytes(content)
    robot = form.replace("FILE", str(file))
    # The bag is not even looked at.
    code, _, stderr = tools.run("export", tools.folder / "no_bag", "--urdf", robot, "-o", tools.folder / "o.usdf")
    assert (code, "error: " in stderr) == (1, True)
    assert str(file) in stderr
    tools.run("export", drive, "-o", tools.folder / "end.usdf")
    code, _, stderr = tools.run("bag", tools.folder / "end.usdf", "--urdf", robot, "-o", tools.folder / "b")
    assert (code, str(file) in stderr) == (1, True)
    assert not (tools.folder / "b").exists()


@pytest.mark.parametrize("name", ["out", "out.jsonl", "out.npz", "out.csv", "out.usdf"])
def test_where_nothing_more_fits_nothing_is_left_and_the_target_is_named(tools: Any, drive: Path, name: str) -> None:
    out = tools.folder / name

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    times = () if name == "out.usdf" else ("--every", "0.1")
    command = (sys.executable, "-m", "robot_semantics.cli.main", "export", str(drive), *times, "-o", str(out))
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=little_room, timeout=120.0)
    assert done.returncode == 1
    assert f"error: {out}: File too large" in done.stderr
    assert list(tools.folder.iterdir()) == []


def test_what_is_no_bag_by_its_name_is_one_error(tools: Any) -> None:
    (tools.folder / "notes.txt").write_text("x")
    (tools.folder / "empty").mkdir()
    for name, reason in (("notes.txt", "a bag ends in .mcap, .db3 or .bag, not in '.txt'"), ("empty", "no bag: the")):
        code, _, stderr = tools.run("export", tools.folder / name, "-o", tools.folder / "o.usdf")
        assert code == 1
        (line,) = stderr.splitlines()
        assert line.startswith(f"error: {tools.folder / name}: {reason}")


def test_the_next_export_removes_what_a_killed_one_left(tools: Any, drive: Path) -> None:
    process = _busy_export(tools.folder, drive)
    deadline = time.monotonic() + 60
    while not list(tools.folder.glob(".out.*.tmp/state_000050.usdf")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    process.communicate(timeout=60)
    assert {path.suffix for path in tools.folder.iterdir()} == {".tmp", ".lck"}
    tools.run("export", drive, "-o", tools.folder / "state.usdf")
    assert not [path for path in tools.folder.iterdir() if path.name.startswith(".")]
