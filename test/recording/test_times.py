# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Selection of exported times; clocks that jump, go back or repeat; old and missing values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_semantics import read_world


def _times(tools: Any, bag: Path, *arguments: str) -> list[int]:
    out = tools.folder / "out.npz"
    code, _, stderr = tools.run("export", bag, *arguments, "-o", out)
    assert code == 0, stderr
    times: list[int] = np.load(out)["time_ns"].tolist()
    return times


def test_a_time_is_counted_from_the_start_or_absolute_or_the_end(tools: Any, drive: Path) -> None:
    start, second = tools.START, tools.S
    assert _times(tools, drive, "--at", "1.000000001") == [start + second + 1]
    assert _times(tools, drive, "--at", "@1700000001.5") == [start + second * 3 // 2]
    assert _times(tools, drive, "--at", "end") == [start + second * 398 // 100]
    assert _times(tools, drive) == [start + second * 398 // 100]
    assert _times(tools, drive, "--stop", "1") == [start + second * 398 // 100]
    assert _times(tools, drive, "--at", "2", "--at", "1", "--at", "2") == [start + second, start + 2 * second]


def test_every_counts_in_whole_nanoseconds(tools: Any, drive: Path) -> None:
    times = _times(tools, drive, "--every", "0.1")
    assert times == [tools.START + i * tools.S // 10 for i in range(40)]
    assert _times(tools, drive, "--every", "0.3", "--start", "1", "--stop", "2") == [
        tools.START + tools.S + i * 3 * tools.S // 10 for i in range(4)
    ]


def test_at_topic_takes_the_stamps_of_its_messages(tools: Any) -> None:
    tape = tools.rover(1.0)
    odd = [tools.START + 123_456_789, tools.START + 700_000_001]
    for stamp in odd:
        # A type that is read for nothing but its header; logged a little later.
        tape.add(
            "/scan",
            "geometry_msgs/msg/PointStamped",
            stamp + 5_000_000,
            lambda store, stamp=stamp: store.types["geometry_msgs/msg/PointStamped"](
                _header(store, tools, stamp), store.types["geometry_msgs/msg/Point"](1.0, 2.0, 3.0)
            ),
        )
        tape.text("/spoken", "hello", stamp + 6_000_000)
    for kind in ("mcap", "sqlite3", "ros1"):
        bag = tape.write(tools.folder / kind, kind)
        assert _times(tools, bag, "--at-topic", "/scan") == odd
        assert _times(tools, bag, "--at-topic", "/spoken") == [stamp + 6_000_000 for stamp in odd]
        assert len(_times(tools, bag, "--at-topic", "/joint_states")) == 50
        assert len(_times(tools, bag, "--at-topic", "/tf", "--start", "0.5")) == 10


def _header(store: Any, tools: Any, stamp: int) -> Any:
    time = store.types["builtin_interfaces/msg/Time"](*divmod(stamp, tools.S))
    kind = store.types["std_msgs/msg/Header"]
    return kind(0, time, "") if store is tools.STORE1 else kind(time, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--at", "99"),
            "error: time '99' is outside the recording, which goes from 1700000000.000000000 s to 1700000003.",
        ),
        (("--at=-1",), "error: time '-1' is outside the recording"),
        (
            ("--at", "1700000001.5"),
            "1700000003.980000000 s; a time since 1970 is @T",
        ),
        (("--every", "1e-9"), "times from 1700000000.000000000 s to 1700000003.980000000 s are too many"),
        (("--every", "1", "--start", "3", "--stop", "2"), "error: the range of times ends before it starts"),
        (("--at-topic", "/joint_state"), "error: unknown topic '/joint_state'; did you mean '/joint_states'"),
        (
            ("--at-topic", "/tf_static", "--stop", "0", "--start", "0", "--run", "2"),
            "error: run 2 does not exist; the recording has 1",
        ),
    ],
)
def test_a_time_that_cannot_be_is_refused(tools: Any, drive: Path, arguments: tuple[str, ...], message: str) -> None:
    code, stdout, stderr = tools.run("export", drive, *arguments, "-o", tools.folder / "out.npz")
    assert (code, stdout) == (1, "")
    assert message in stderr
    assert list(tools.folder.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("--at", "1", "--every", "1"),
        ("--every", "1", "--at-topic", "/tf"),
        ("--at", "1", "--start", "0"),
        ("--at", "soon"),
        ("--at", "nan"),
        ("--at", "@"),
        ("--start", "soon", "--every", "1"),
        ("--every", "0"),
        ("--every", "-1"),
        ("--jobs", "0"),
        ("--jobs", "2", "--dask", "tcp://x:1"),
        ("--max-gap", "-1"),
        ("--max-gap", "x"),
        ("--model", ":left"),
        ("--model", "a", "--model", "a"),
        ("--model", "a", "--model", "b", "--urdf", "x.urdf"),
        ("--interpolate", "cubic"),
        ("--to", "xls"),
    ],
)
def test_options_that_contradict_each_other_are_wrong_usage(
    tools: Any, drive: Path, arguments: tuple[str, ...]
) -> None:
    code, stdout, stderr = tools.run("export", drive, "-o", tools.folder / "out.npz", *arguments)
    assert (code, stdout) == (2, "")
    assert "error: " in stderr


def test_without_an_output_the_summary_is_that_of_a_dry_run(tools: Any, drive: Path) -> None:
    code, stdout, _ = tools.run("export", drive)
    assert (code, stdout) == (0, tools.run("export", drive, "--dry-run")[1])
    assert "would write 1 state as usdf" in stdout
    assert list(tools.folder.iterdir()) == []


def test_a_clock_that_was_set_back_makes_runs_and_the_last_is_taken(tools: Any) -> None:
    tape = tools.Tape()
    log = tools.START
    for run in range(3):
        for i in range(100):
            log += tools.S // 50
            stamp = (1 + i) * tools.S // 50
            tape.joints(stamp, ["a"], [100.0 * run + i], log=log)
            if i % 5 == 0:
                # tf learns of the new clock a little later than the joints.
                old = stamp if run == 0 or i > 0 else (101 * tools.S) // 50
                tape.tf([(old, "odom", "base", (run, i, 0, 0, 0, 0, 1))], log=log)
    bag = tape.write(tools.folder / "bag")
    out = tools.folder / "out.npz"
    for arguments, run in (((), 2), (("--run", "3"), 2), (("--run", "1"), 0), (("--run", "2"), 1)):
        code, _, stderr = tools.run("export", bag, "--every", "0.1", *arguments, "-o", out, "--world-frame", "odom")
        assert code == 0
        assert stderr.count("the stamps of '/joint_states' go back by 1.980 s at log time 17000000") == 2
        assert f"run {run + 1} of 3 is read" in stderr
        found = np.load(out)
        positions = found["robot/positions"][:, 0]
        np.testing.assert_allclose(positions[:20], 100.0 * run + 5.0 * np.arange(20), atol=1e-9)
        base = found["frame_pose"][:, found["frames"].tolist().index("base")]
        np.testing.assert_array_equal(base[1:19, 0], run)
    code, _, stderr = tools.run("export", bag, "--run", "4", "-o", out)
    assert (code, "error: run 4 does not exist; the recording has 3" in stderr) == (1, True)


def test_one_late_message_is_no_reset(tools: Any) -> None:
    tape = tools.Tape()
    for i in range(100):
        tape.joints(tools.START + i * tools.S // 10, ["a"], [float(i)])
    tape.joints(tools.START + tools.S + 50_000_000, ["a"], [10.5], log=tools.START + 8 * tools.S + 1)
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "--at", "1.05", "-o", tools.folder / "state.usdf")
    assert code == 0
    assert "go back" not in stderr
    assert "topic '/joint_states': 1 messages came after one with a later stamp; they were sorted" in stderr
    assert read_world(tools.folder / "state.usdf").models[0].joint("a").positions == (10.5,)


def test_a_jump_ahead_is_said(tools: Any) -> None:
    tape = tools.Tape()
    tape.joints(5 * tools.S, ["a"], [0.0], log=tools.START)
    for i in range(10):
        tape.joints(tools.START + i * tools.S, ["a"], [1.0], log=tools.START + (i + 1) * tools.S)
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "-o", tools.folder / "state.usdf")
    assert code == 0
    assert (
        "warning: the stamps of '/joint_states' jump ahead by 1699999994.000 s at log time 1700000001.000 s" in stderr
    )
    code, _, stderr = tools.run("export", bag, "--every", "0.01", "-o", tools.folder / "x.npz")
    assert (code, "are too many; if a stamp is wrong, choose the range with --start and --stop" in stderr) == (1, True)
    assert len(_times(tools, bag, "--every", "1", "--start", "@1700000000")) == 10


def test_a_static_transform_that_changes_is_said_and_the_last_counts(tools: Any) -> None:
    tape = tools.rover(1.0)
    tape.tf(
        [(tools.START, "wrist_link", "camera", (9, 0, 0, 0, 0, 0, 1))], topic="/tf_static", log=tools.START + tools.S
    )
    tape.tf([(tools.START, "tool_frame", "cup", (0, 0, 1, 0, 0, 0, 1))], topic="/tf_static", log=tools.START)
    tape.tf([(tools.START, "tool_frame", "cup", (0, 0, 1, 0, 0, 0, 1))], topic="/tf_static", log=tools.START + tools.S)
    bag = tape.write(tools.folder / "bag")
    _, _, stderr = tools.run("export", bag, "-o", tools.folder / "state.usdf")
    assert stderr.count("static transform") == 1
    assert "warning: the static transform of frame 'camera' changes; the last one is used" in stderr


def test_a_frame_that_is_its_own_parent_and_one_with_two_parents_are_said(tools: Any) -> None:
    tape = tools.rover(1.0)
    tape.tf([(tools.START, "x", "x", (9, 0, 0, 0, 0, 0, 1))])
    tape.tf([(tools.START, "map", "cup", (1, 0, 0, 0, 0, 0, 1))])
    tape.tf([(tools.START + tools.S, "odom", "cup", (2, 0, 0, 0, 0, 0, 1))])
    bag = tape.write(tools.folder / "bag")
    _, _, stderr = tools.run("export", bag, "--at", "0.5", "-o", tools.folder / "state.usdf")
    assert "warning: a transform from 'x' to 'x' has no meaning; it is left out" in stderr
    assert "warning: frame 'cup' has several parents at different times: 'map', 'odom'" in stderr
    assert read_world(tools.folder / "state.usdf").frame("cup").parent == "map"


def test_what_is_old_or_was_never_seen_is_listed_state_by_state(tools: Any) -> None:
    tape = tools.Tape()
    for i in range(41):
        stamp = tools.START + i * tools.S // 10
        if not 10 < i < 30:
            tape.joints(stamp, ["a"], [float(i)])
        if i >= 20:
            tape.joints(stamp, ["late"], [float(i)])
        tape.tf([(stamp, "map", "moving", (i, 0, 0, 0, 0, 0, 1))])
    tape.tf([(tools.START, "map", "once", (0, 0, 0, 0, 0, 0, 1))])
    bag = tape.write(tools.folder / "bag")
    out = tools.folder / "series"
    code, stdout, stderr = tools.run("export", bag, "--every", "0.5", "--max-gap", "0.5", "-o", out)
    assert code == 0
    assert (
        "warning: joint 'robot/a' is older than 0.5 s in 1 of 9 states, up to 1.000 s, from 2.000 s to 2.000 s"
        in stderr
    )
    assert "warning: joint 'robot/late' is not known in 4 of 9 states, from 0.000 s to 1.500 s" in stderr
    assert (
        "warning: frame 'once' is older than 0.5 s in 7 of 9 states, up to 4.000 s, from 1.000 s to 4.000 s" in stderr
    )
    assert "with gaps" in stdout
    index = json.loads((out / "index.json").read_text())
    assert len(index["states"]) == 9
    gaps = [{(gap["kind"], gap["name"]): gap["age_s"] for gap in state.get("gaps", [])} for state in index["states"]]
    # Nobody ever said where the undescribed robot is.
    assert all(found.pop(("base", "robot")) is None for found in gaps)
    assert gaps[0] == {("joint", "robot/late"): None}
    assert gaps[4] == {("joint", "robot/a"): pytest.approx(1.0), ("frame", "once"): pytest.approx(2.0)}
    # Between the samples a joint is as old as the nearer of the two; the value is still there, and marked.
    state = read_world(out / index["states"][4]["file"])
    assert state.models[0].joint("a").positions == (20.0,)
    first = read_world(out / index["states"][0]["file"])
    assert [joint.name for joint in first.models[0].joints] == ["a"]
    assert tools.run("export", bag, "--strict", "-o", tools.folder / "s.usdf")[0] == 1


@pytest.mark.parametrize(
    ("mode", "expected"), [("linear", (3.0, 2.5)), ("previous", (2.0, 2.0)), ("nearest", (4.0, 3.0))]
)
def test_interpolation_is_as_chosen_for_joints_and_frames(tools: Any, mode: str, expected: tuple[float, float]) -> None:
    tape = tools.Tape()
    for i in range(4):
        stamp = tools.START + i * tools.S
        tape.joints(stamp, ["a"], [2.0 * (i - 1)])
        tape.tf([(stamp, "map", "cup", (i, 0, 0, 0, 0, 0, 1))])
    tape.joints(tools.START + 2 * tools.S, ["b"], [7.0])
    bag = tape.write(tools.folder / "bag")
    tools.run("export", bag, "--at", "2.51", "--interpolate", mode, "-o", tools.folder / "state.usdf")
    state = read_world(tools.folder / "state.usdf")
    pose = state.frame("cup").pose
    assert pose is not None
    assert state.models[0].joint("a").positions == pytest.approx((expected[0],), abs=0.03)
    assert pose.xyz_rpy[0] == pytest.approx(expected[1], abs=0.02)
    assert state.models[0].joint("b").positions == (7.0,)


@pytest.mark.parametrize("ahead", [5, 1000, 10**8])
@pytest.mark.parametrize("which", [0, 7, 19])
def test_one_message_that_is_stamped_ahead_is_left_out_and_said(tools: Any, ahead: int, which: int) -> None:
    tape = tools.Tape()
    for i in range(20):
        stamp, log = tools.START + i * tools.S // 10, tools.START + i * tools.S // 10
        odd = ahead * tools.S if i == which else 0
        tape.joints(stamp + odd, ["a"], [float(i)], log=log)
        tape.tf([(stamp, "map", "cup", (float(i), 0, 0, 0, 0, 0, 1))], log=log + 1)
    bag = tape.write(tools.folder / "bag")
    out = tools.folder / "all.npz"
    code, _, stderr = tools.run("export", bag, "--every", "0.1", "-o", out)
    if which == 19 and ahead == 5:
        # A last message that is slightly ahead looks the same as a publisher that paused.
        return
    assert code == 0
    assert "topic '/joint_states': 1 message is stamped ahead of the clock and left out" in stderr
    assert "run" not in stderr
    found = np.load(out)
    assert len(found["time_ns"]) == 20
    expected = [float(i) for i in range(20) if i != which]
    values = found["robot/positions"][:, 0]
    np.testing.assert_allclose(np.delete(values, which), expected, atol=1e-9)


def test_wall_and_simulated_clocks_in_one_recording_are_an_error_that_names_them(tools: Any) -> None:
    tape = tools.Tape()
    for i in range(20):
        log = tools.START + i * tools.S // 10
        tape.joints(i * tools.S // 10 + tools.S, ["a"], [float(i)], log=log)
        tape.tf([(i * tools.S // 10 + tools.S, "map", "cup", (float(i), 0, 0, 0, 0, 0, 1))], log=log)
        tape.odometry(log, "odom", "base", (float(i), 0, 0, 0, 0, 0, 1), np.zeros(6))
    bag = tape.write(tools.folder / "bag")
    code, _, stderr = tools.run("export", bag, "-o", tools.folder / "state.usdf")
    assert code == 1
    assert "'/odom' have stamps of the wall clock, '/joint_states', '/tf' of a simulation clock" in stderr
    assert (tools.folder / "state.usdf").read_text().count("2.900000000") == 1


def test_times_are_taken_and_printed_to_the_nanosecond(tools: Any) -> None:
    tape = tools.Tape()
    stamps = [tools.START + 48, tools.START + 950_000_048, tools.START + 14_950_000_048]
    for i, stamp in enumerate(stamps):
        tape.joints(stamp, ["a"], [float(i)])
    bag = tape.write(tools.folder / "bag")
    for text in ("@1700000014.950000048", "14.95", "end"):
        code, _, stderr = tools.run("export", bag, "--at", text, "-o", tools.folder / "state.usdf")
        assert code == 0, stderr
        assert read_world(tools.folder / "state.usdf").time_ns == stamps[-1]
    code, _, stderr = tools.run("export", bag, "--at", "@1700000014.950000049", "-o", tools.folder / "state.usdf")
    assert code == 1
    assert "from 1700000000.000000048 s to 1700000014.950000048 s" in stderr
    _, stdout, _ = tools.run("export", bag, "--dry-run")
    assert "from 1700000000.000000048 s, 14.950000000 s long" in stdout


@pytest.mark.parametrize("first", [0, 3])
def test_a_simulation_that_begins_at_zero_begins_there(tools: Any, first: int) -> None:
    tape, second = tools.Tape(), tools.S
    for i in range(3 * first):  # the clock has not ticked yet
        tape.joints(0, ["a"], [-1.0 - i], log=tools.START - second + i)
    for turn in range(2):  # the simulation is reset after five seconds, and begins at zero again
        for i in range(50):
            stamp, log = i * second // 10, tools.START + (turn * 50 + i) * second // 10
            tape.joints(stamp, ["a"], [turn * 100 + i * 0.1], log=log)
            tape.tf([(stamp, "map", "base", (turn * 100 + i * 0.1, 0, 0, 0, 0, 0, 1))], log=log)
    bag = tape.write(tools.folder / "bag")
    for turn in range(2):
        for at in (0.0, 0.05, 2.25):
            out = tools.folder / "state.usdf"
            code, _, stderr = tools.run("export", bag, "--run", turn + 1, "--at", at, "-o", out, "--force")
            assert code == 0, stderr
            assert "ahead" not in stderr
            state = read_world(out)
            assert state.time_ns == round(at * second)
            pose, joint = state.frame("base").pose, state.models[0].joint("a").positions
            assert pose is not None
            assert joint is not None
            assert pose.xyz_rpy[0] == pytest.approx(turn * 100 + at, abs=1e-12)
            assert joint[0] == pytest.approx(turn * 100 + at, abs=1e-12)
