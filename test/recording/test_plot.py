# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Pictures of a series: their content, read back from the SVG."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lxml import etree

from robot_semantics import WorldState, save_world
from robot_semantics.examples import example
from robot_semantics.transforms.pose import Pose
from robot_semantics.urdf.reader import urdf_from_file
from robot_semantics.usdf.world_state import JointState, ModelState

SVG = "{http://www.w3.org/2000/svg}"


class _Picture:
    """An SVG that matplotlib drew, by the names (gid) of its lines."""

    def __init__(self, path: Path) -> None:
        self.root = etree.parse(str(path)).getroot()
        self.texts = ["".join(str(part) for part in text.itertext()).strip() for text in self.root.iter(f"{SVG}text")]

    def lines(self, name: str) -> list[np.ndarray]:
        """Return the points (n, 2) of the unbroken pieces of every line with that name."""
        pieces = []
        for group in self.root.iter(f"{SVG}g"):
            if group.get("id") == name:
                for path in group.iter(f"{SVG}path"):
                    for piece in re.split("(?=M)", path.get("d", "")):
                        numbers = [float(number) for number in re.findall(r"-?\d+\.?\d*", piece)]
                        if numbers:
                            pieces.append(np.array(numbers).reshape(-1, 2))
        return pieces


def _unit(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the points with x from 0 to 1."""
    return (x - x[0]) / (x[-1] - x[0]), y


def _draw(tools: Any, source: Path, *arguments: str) -> _Picture:
    code, stdout, stderr = tools.run("plot", source, "-o", tools.folder / "picture.svg", "--force", *arguments)
    assert (code, stderr) == (0, "")
    assert "drew " in stdout
    return _Picture(tools.folder / "picture.svg")


@pytest.mark.parametrize("name", ["folder", "series.npz", "series.jsonl"])
def test_positions_velocities_limits_and_path_are_drawn(tools: Any, drive: Path, name: str) -> None:
    tools.run("export", drive, "--every", "0.1", "-o", tools.folder / name)
    drawn = ("left_wheel_joint", "lift_joint", "elbow_joint", "right_finger_joint")
    more = ("--urdf", str(example("rover_arm.urdf"))) if name.endswith("jsonl") else ()
    picture = _draw(tools, tools.folder / name, *more, *(word for joint in drawn for word in ("--joint", joint)))
    tools.run("export", drive, "--every", "0.1", "-o", tools.folder / "check.npz")
    found = np.load(tools.folder / "check.npz")
    for joint in drawn:
        column = found["rover_arm/joints"].tolist().index(joint)
        for kind in ("position", "velocity"):
            values = found["rover_arm/positions" if kind == "position" else "rover_arm/velocities"][:, column]
            (line,) = picture.lines(f"{kind} rover_arm/{joint}")
            # The picture is the values up to scale and shift, with its y axis downwards and points on a line left out.
            heights = np.interp(np.linspace(0, 1, 40), *_unit(line[:, 0], line[:, 1]))
            expected = np.interp(np.linspace(0, 1, 40), *_unit(found["time_ns"].astype(float), values))
            assert np.corrcoef(heights, expected)[0, 1] < -0.9999
    for entry in urdf_from_file(example("rover_arm.urdf")).joints:
        if entry.name in drawn:
            limited = entry.type in ("revolute", "prismatic")
            assert len(picture.lines(f"limit rover_arm/{entry.name}")) == (2 if limited else 0), entry.name
    assert picture.lines("path rover_arm")
    assert picture.lines("gap") == []
    assert "rover_arm: path of the base in odom" in picture.texts
    assert {"x [m]", "y [m]", "time [s]"} <= set(picture.texts)


def test_a_limit_stands_at_its_height(tools: Any, drive: Path) -> None:
    tools.run("export", drive, "--every", "0.1", "-o", tools.folder / "series.npz")
    picture = _draw(tools, tools.folder / "series.npz", "--joint", "lift_joint")
    found = np.load(tools.folder / "series.npz")
    values = found["rover_arm/positions"][:, found["rover_arm/joints"].tolist().index("lift_joint")]
    (line,) = picture.lines("position rover_arm/lift_joint")
    scale, shift = np.polyfit(values[[0, -1]], line[[0, -1], 1], 1)
    heights = sorted((piece[0, 1] - shift) / scale for piece in picture.lines("limit rover_arm/lift_joint"))
    limits = urdf_from_file(example("rover_arm.urdf"))
    limit = next(joint.limit for joint in limits.joints if joint.name == "lift_joint")
    assert limit is not None
    assert limit.lower is not None
    assert limit.upper is not None
    np.testing.assert_allclose(heights, [limit.lower, limit.upper], atol=1e-3)
    assert picture.lines("position rover_arm/elbow_joint") == []


@pytest.mark.parametrize("name", ["folder", "series.npz"])
def test_a_gap_is_grey_and_breaks_the_line(tools: Any, name: str) -> None:
    tape = tools.Tape()
    for i in range(100):
        if not 30 <= i < 70:
            tape.joints(tools.START + i * tools.S // 10, ["a"], [float(i)])
        tape.joints(tools.START + i * tools.S // 10, ["b"], [float(i)])
    bag = tape.write(tools.folder / "bag")
    tools.run("export", bag, "--every", "0.1", "-o", tools.folder / name)
    picture = _draw(tools, tools.folder / name)
    assert len(picture.lines("position robot/a")) == 2
    assert len(picture.lines("position robot/b")) == 1
    assert len(picture.lines("gap")) == 2  # beside the position, and beside the velocity
    # Gaps are determined when the series is made.
    tools.run("export", bag, "--every", "0.1", "--max-gap", "30", "-o", tools.folder / name, "--force")
    assert _draw(tools, tools.folder / name).lines("gap") == []


def test_the_same_series_gives_the_same_file(tools: Any, drive: Path) -> None:
    tools.run("export", drive, "--every", "0.5", "-o", tools.folder / "series.npz")
    for name in ("a.svg", "b.svg", "c.png", "e.pdf"):
        assert (
            tools.run("plot", tools.folder / "series.npz", "-o", tools.folder / name, "--joint", "elbow_joint")[0] == 0
        )
    assert (tools.folder / "a.svg").read_bytes() == (tools.folder / "b.svg").read_bytes()
    assert (tools.folder / "c.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "x.gif"), "'x.gif' has the ending '.gif'; known is .png, .svg or .pdf: give the kind with --to"),
        (("-o", "x.svg", "--joint", "elbow"), "unknown joint 'elbow'; did you mean 'elbow_joint'"),
        (("-o", "x.svg", "--model", "rover"), "unknown model 'rover'; did you mean 'rover_arm'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    tools: Any, drive: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tools.folder)
    tools.run("export", drive, "--every", "1", "-o", "series.npz")
    code, _, stderr = tools.run("plot", "series.npz", *arguments)
    assert (code, message in stderr) == (2 if "x.gif" in arguments else 1, True), stderr
    assert [path.name for path in tools.folder.iterdir()] == ["series.npz"]


def _series(tools: Any, joints: int, models: int) -> list[Path]:
    paths = []
    for number in range(2):
        states = tuple(
            ModelState(
                f"m{index}",
                pose=Pose((float(number), 0.0, 0.0, 0.0, 0.0, 0.0)),
                joints=tuple(JointState(f"j{joint}", (float(number),)) for joint in range(joints)),
            )
            for index in range(models)
        )
        paths.append(tools.folder / f"{number}.usdf")
        save_world(WorldState(models=states, time_ns=number * 1_000_000_000), paths[-1])
    return paths


@pytest.mark.parametrize(("x", "q", "v"), [(1e308, 0.0, 0.0), (0.0, -1e308, 0.0), (0.0, 0.0, 1e200)])
def test_numbers_that_no_axis_can_have_are_refused(tools: Any, x: float, q: float, v: float) -> None:
    pose = Pose((x, 0.0, 0.0, 0.0, 0.0, 0.0))
    save_world(
        WorldState(models=(ModelState("m", pose=pose, joints=(JointState("j", (q,), (v,)),)),)), tools.folder / "w.usdf"
    )
    code, _, stderr = tools.run("plot", tools.folder / "w.usdf", "-o", tools.folder / "x.svg")
    assert (code, "of 'm' is beyond 1e+100, more than can be drawn" in stderr) == (1, True), stderr


def test_a_limit_that_no_axis_can_have_is_none(tools: Any) -> None:
    joint = '<parent link="a"/><child link="b"/><limit lower="-1e308" upper="1e308" effort="1" velocity="1"/>'
    (tools.folder / "r.urdf").write_text(
        f'<robot name="m"><link name="a"/><link name="b"/><joint name="j" type="revolute">{joint}</joint></robot>'
    )
    save_world(WorldState(models=(ModelState("m", joints=(JointState("j", (1.0,)),)),)), tools.folder / "w.usdf")
    words = ("plot", tools.folder / "w.usdf", "-o", tools.folder / "x.svg", "--urdf", tools.folder / "r.urdf")
    assert tools.run(*words)[0] == 0


def test_several_robots_are_a_page_of_panels(tools: Any) -> None:
    sizes = []
    for models in (1, 4):
        paths = _series(tools, 0, models)
        code, _, stderr = tools.run("plot", *paths, "--force", "-o", tools.folder / "p.svg")
        assert code == 0, stderr
        root = etree.parse(str(tools.folder / "p.svg")).getroot()
        sizes.append([float(root.get(side, "0pt").removesuffix("pt")) / 72 for side in ("width", "height")])
        titles = [text for text in root.iter(f"{SVG}text") if "path of the base" in "".join(map(str, text.itertext()))]
        assert len(titles) == models
    # Two by two, each panel with the height of the one.
    (wide, high), (page_wide, page_high) = sizes
    assert page_high - high == pytest.approx(3.4)
    assert [wide, page_wide] == pytest.approx([11.0, 16.0])


def test_too_many_rows_are_refused_at_once(tools: Any) -> None:
    paths = _series(tools, 250, 1)
    code, _, stderr = tools.run("plot", *paths, "--force", "-o", tools.folder / "p.svg")
    assert (code, "251 rows are too many for a picture: choose some with --joint or --model" in stderr) == (1, True)
    assert tools.run("plot", *paths, "--joint", "j7", "--force", "-o", tools.folder / "p.svg")[0] == 0


def test_a_joint_of_two_models_needs_its_model(tools: Any) -> None:
    words = ("plot", *_series(tools, 2, 2), "-o", tools.folder / "p.svg", "--joint")
    code, _, stderr = tools.run(*words, "j1")
    assert (code, "can be joint 'j1' of model 'm0' or joint 'j1' of model 'm1'" in stderr) == (1, True), stderr
    assert tools.run(*words, "m1/j1")[1].startswith("drew 1 joint at")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [".svg", ".png", ".pdf"])
def test_names_that_steer_a_terminal_or_look_like_formulas_are_drawn_as_text(tools: Any, kind: str) -> None:
    name = "a\u202eb\x9b31m $x_{$ \\frac \u0000".replace("\u0000", "\x7f")
    model = ModelState(name, joints=(JointState(name, positions=(0.5,)),), pose=Pose((1.0, 2.0, 3.0, 0.0, 0.0, 0.0)))
    save_world(WorldState(models=(model,)), tools.folder / "w.usdf")
    out = tools.folder / f"picture{kind}"
    code, _, stderr = tools.run("plot", tools.folder / "w.usdf", "-o", out, "--title", name)
    assert (code, stderr) == (0, "")
    if kind == ".svg":
        shown = "a\\u202eb\\x9b31m $x_{$ \\frac \\x7f"
        assert {shown, f"{shown}: base"} <= set(_Picture(out).texts)
