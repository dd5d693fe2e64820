# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics sim run`: no ROS, bit for bit through files, and plain words where it cannot."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import mujoco
import numpy as np
import pytest
from lxml import etree

from robot_semantics import Diagnostics, read_world
from robot_semantics.cli.main import main
from robot_semantics.examples import example
from robot_semantics.simulation.loading import ModelFiles, world_from_state
from robot_semantics.usdf.frames import resolve_frames

WORLD = str(example("rover_arm.usdf"))


def test_the_example_world_continues_through_a_file_bit_for_bit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    straight, half, whole = (str(tmp_path / f"{name}.usdf") for name in ("straight", "half", "whole"))
    assert main(["sim", "run", WORLD, "--steps", "600", "-o", straight]) == 0
    assert "started from positions and velocities" in capsys.readouterr().err
    assert main(["sim", "run", WORLD, "--steps", "300", "-o", half]) == 0
    capsys.readouterr()
    assert main(["sim", "run", half, "--steps", "300", "-o", whole]) == 0
    assert "continued bit for bit; 300 steps to 1.200 s" in capsys.readouterr().err
    assert Path(whole).read_bytes() == Path(straight).read_bytes()


def test_a_file_moved_together_with_its_descriptions_still_runs(tmp_path: Path) -> None:
    for name in ("rover_arm.usdf", "rover_arm.urdf", "rover_arm.srdf", "block.urdf", "block.srdf"):
        (tmp_path / "a").mkdir(exist_ok=True)
        (tmp_path / "a" / name).write_bytes(example(name).read_bytes())
    assert (
        main(["sim", "run", str(tmp_path / "a/rover_arm.usdf"), "--steps", "5", "-o", str(tmp_path / "a/o.usdf")]) == 0
    )
    assert read_world(tmp_path / "a/o.usdf").models[0].description == "rover_arm.urdf"
    (tmp_path / "a").rename(tmp_path / "b")
    assert main(["sim", "run", str(tmp_path / "b/o.usdf"), "--steps", "5", "-o", str(tmp_path / "o.usdf")]) == 0


def test_models_may_be_given_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "w.usdf"
    path.write_text(
        '<world_state name="w"><model_state name="cube"><pose>0 0 1 0 0 0</pose></model_state></world_state>'
    )
    assert main(["sim", "run", str(path), "--steps", "1"]) == 1
    assert "model 'cube' has no rs:description: give its files as cube=URDF[,SRDF]" in capsys.readouterr().err
    files = f"cube={example('block.urdf')},{example('block.srdf')}"
    assert main(["sim", "run", str(path), "--steps", "100", "--urdf", files]) == 0
    out = capsys.readouterr().out
    assert re.search(r'<world_state [^>]*name="w"', out)
    assert 'rs:time="0.200000000"' in out


def test_files_for_a_model_that_the_world_does_not_have_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    files = f"{example('rover_arm.urdf')},{example('rover_arm.srdf')}"
    assert main(["sim", "run", WORLD, "--steps", "1", "--urdf", f"rover_arn={files}"]) == 1
    assert "unknown model 'rover_arn'" in (said := capsys.readouterr().err)
    assert "did you mean 'rover_arm'?" in said
    words = "'rover_arn', but the world has no such model; did you mean 'rover_arm'?"
    diagnostics, overrides = Diagnostics(), dict([ModelFiles.parse(f"rover_arn={files}")])
    spec = world_from_state(
        read_world(WORLD), Path(WORLD), overrides=overrides, more_models=True, diagnostics=diagnostics
    )
    assert [model.name for model in spec.models][-1] == "rover_arn"
    assert [words in str(problem) for problem in diagnostics.warnings] == [True]


def test_an_unrestorable_world_is_refused_unless_a_part_will_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "w.usdf"
    text = Path(WORLD).read_text().replace("<positions>0.1</positions>", "<positions>7</positions>")
    folder = example("block.urdf").parent
    path.write_text(re.sub(r'"(\w+\.[us]rdf)"', rf'"{folder}/\1"', text))
    assert main(["sim", "run", str(path), "--steps", "1"]) == 1
    errors = capsys.readouterr().err
    assert (
        "not restored: model 'rover_arm': joint 'lift_joint': the position 7 lies outside the limits 0 to 0.2" in errors
    )
    assert main(["sim", "run", str(path), "--steps", "1", "--partial", "-o", str(tmp_path / "o.usdf")]) == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["sim", "run", "nowhere.usdf", "--steps", "1"], 1, "nowhere.usdf"),
        (["sim", "run", WORLD, "--steps", "1", "--urdf", "x"], 1, "x: error: cannot be read"),
        (["example", "--path", "rover_am.usdf"], 2, "did you mean 'rover_arm.usdf'"),
    ],
)
def test_what_cannot_be_done_is_said(
    arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == code
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("numbers", [["--steps", "-1"], ["--steps", "1", "--timestep", "-1"]], ids=" ".join)
def test_a_negative_number_is_wrong_usage(numbers: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["sim", "run", WORLD, *numbers])
    assert caught.value.code == 2


def test_the_example_is_where_the_command_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["example", "--path"]) == 0
    assert capsys.readouterr().out.strip() == WORLD


def test_the_command_needs_no_ros(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['rclpy'] = None; from robot_semantics.cli.main import main;"
        f"sys.exit(main(['sim', 'run', {WORLD!r}, '--steps', '2', '-o', {str(tmp_path / 'o.usdf')!r}]))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False).returncode == 0


def test_every_writes_a_series_of_states_any_of_which_is_gone_on_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, straight = tmp_path / "series", tmp_path / "straight.usdf"
    assert main(["sim", "run", WORLD, "--steps", "100", "--every", "0.05", "-o", str(folder)]) == 0
    assert main(["sim", "run", WORLD, "--steps", "100", "-o", str(straight)]) == 0
    files = sorted(folder.iterdir())
    assert [path.name for path in files] == [f"step_{at:03d}.usdf" for at in (0, 25, 50, 75, 100)]
    states = [read_world(path) for path in files]
    assert [state.time_ns for state in states] == [0, 50_000_000, 100_000_000, 150_000_000, 200_000_000]
    assert states[-1].engines == read_world(straight).engines
    capsys.readouterr()
    assert main(["sim", "run", str(files[2]), "--steps", "50", "-o", str(folder / "again.usdf")]) == 0
    assert "continued bit for bit" in capsys.readouterr().err
    assert (folder / "again.usdf").read_bytes() == files[-1].read_bytes()
    again = ["sim", "run", WORLD, "--steps", "100", "--every", "0.05"]
    assert main([*again, "-o", str(folder)]) == 1
    assert "--force" in capsys.readouterr().err
    for wrong in (["-o", str(tmp_path / "x.usdf")], [], ["-o", str(tmp_path / "x"), "--every", "0.0031"]):
        assert main([*again, *wrong]) == 2


def test_a_series_ends_where_the_run_ends(tmp_path: Path) -> None:
    folder = tmp_path / "series"
    assert main(["sim", "run", WORLD, "--steps", "60", "--every", "0.05", "-o", str(folder)]) == 0
    states = [read_world(path) for path in sorted(folder.iterdir())]
    assert [state.time_ns for state in states] == [0, 50_000_000, 100_000_000, 120_000_000]


def test_what_of_a_world_is_not_known_and_not_used_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "w.usdf"
    held = '<parent rs:parent_link="gripper">rover_arm</parent>'
    text = """<world_state xmlns:rs="urn:robot-semantics:usdf:1">
      <model_state name="rover_arm"><pose>0 0 0 0 0 0</pose></model_state>
      <model_state name="cube">{}<pose>0 0 1 0 0 0</pose></model_state>
      </world_state>"""
    path.write_text(text.format(held))
    files = [
        f"--urdf={name}={example(f'{file}.urdf')},{example(f'{file}.srdf')}"
        for name, file in (("cube", "block"), ("rover_arm", "rover_arm"))
    ]
    assert main(["sim", "run", str(path), "--steps", "1", *files, "-o", str(tmp_path / "o.usdf")]) == 0
    assert "w.usdf:3:40: warning: attribute 'rs:parent_link' is not known in <parent>" in capsys.readouterr().err


def test_a_keyframe_for_an_exported_model_is_that_of_the_simulation(tmp_path: Path) -> None:
    """Two ways to one keyframe: from the simulation itself, and from the state by names, of a robot and objects."""
    half, xml, text = tmp_path / "half.usdf", tmp_path / "world.xml", tmp_path / "key.xml"
    assert main(["sim", "run", WORLD, "--steps", "300", "-o", str(half)]) == 0
    assert main(["sim", "export", str(half), "-o", str(xml)]) == 0
    words = ["--to", "mujoco-key", "--mujoco-model", str(xml)]
    assert main(["usdf", "convert", str(half), *words, "-o", str(text)]) == 0
    model = mujoco.MjModel.from_xml_path(str(xml))
    key = etree.parse(str(text)).getroot()
    for word, expected in (("qpos", model.key_qpos), ("qvel", model.key_qvel), ("mpos", model.key_mpos)):
        np.testing.assert_allclose([float(part) for part in key.get(word, "").split()], expected[0].ravel(), atol=1e-9)
    np.testing.assert_allclose([float(part) for part in key.get("mquat", "").split()], model.key_mquat[0], atol=1e-9)


def test_the_exported_model_is_the_one_that_is_simulated_and_stands_where_it_stood(tmp_path: Path) -> None:
    half, xml = tmp_path / "half.usdf", tmp_path / "world.xml"
    assert main(["sim", "run", WORLD, "--steps", "300", "-o", str(half)]) == 0
    assert main(["sim", "export", str(half), "-o", str(xml)]) == 0
    state = read_world(half)
    model = mujoco.MjModel.from_xml_path(str(xml))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("state").id)
    for item in state.models:
        for joint in item.joints:
            assert joint.positions is not None
            assert tuple(data.joint(f"{item.name}/{joint.name}").qpos.tolist()) == joint.positions
    assert data.time == pytest.approx(0.6)
    mujoco.mj_kinematics(model, data)
    world = resolve_frames(state)
    for item in state.models:
        for link in item.links:
            T = world.pose(f"{item.name}::{link.name}")
            np.testing.assert_allclose(data.body(f"{item.name}/{link.name}").xpos, T[:3, 3], atol=1e-12)
    # It goes on as the simulation does.
    assert main(["sim", "run", str(half), "--steps", "5", "-o", str(tmp_path / "on.usdf")]) == 0
    mujoco.mj_step(model, data, 5)
    for joint in read_world(tmp_path / "on.usdf").model("rover_arm").joints:
        np.testing.assert_allclose(data.joint(f"rover_arm/{joint.name}").qpos, joint.positions or (), atol=1e-9)


@pytest.mark.parametrize(
    "urdf", ["anymal_c_simple_description/urdf/anymal.urdf", "allegro_hand_description/urdf/allegro_left_hand.urdf"]
)
def test_an_exported_model_has_all_digits_so_that_plain_mujoco_and_convert_read_it(
    urdf: str, tmp_path: Path, robots: Path
) -> None:
    """With six digits, the moments of inertia of these robots break the triangle inequality."""
    world, xml, state = tmp_path / "w.usdf", tmp_path / "w.xml", tmp_path / "back.usdf"
    world.write_text('<world_state><model_state name="m"><pose>0 0 1 0 0 0</pose></model_state></world_state>')
    files = ["--urdf", f"m={robots / urdf}", "--package-path", str(robots.parent.parent)]
    assert main(["sim", "export", str(world), *files, "-o", str(xml)]) == 0
    model = mujoco.MjModel.from_xml_path(str(xml))
    masses = {
        link.get("name"): mass.get("value", "nan")
        for link in etree.parse(str(robots / urdf)).iter("link")
        for mass in link.findall("inertial/mass")
    }
    assert masses
    for link, mass in masses.items():
        assert model.body(f"m/{link}").mass[0] == float(mass)
    words = ["--from", "mujoco", "--mujoco-model", str(xml)]
    assert main(["usdf", "convert", str(xml), *words, "-o", str(state)]) == 0


def test_an_export_that_mujoco_does_not_read_back_writes_nothing(
    tmp_path: Path, robots: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robot_semantics.simulation.mujoco_export._all_digits", nullcontext)
    world, xml = tmp_path / "w.usdf", tmp_path / "w.xml"
    world.write_text('<world_state><model_state name="m"><pose>0 0 1 0 0 0</pose></model_state></world_state>')
    urdf = robots / "anymal_c_simple_description/urdf/anymal.urdf"
    files = ["--urdf", f"m={urdf}", "--package-path", str(robots.parent.parent)]
    assert main(["sim", "export", str(world), *files, "-o", str(xml)]) == 1
    assert "refuses the MJCF that it wrote of this world: Error: inertia must satisfy" in capsys.readouterr().err
    assert not xml.exists()


@pytest.mark.parametrize("engine", ["mujoco", "drake"])
def test_numbers_that_no_simulator_can_take_are_refused_whichever_it_is(
    engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = tmp_path / "w.usdf"
    joint = '<joint_state name="elbow_joint"><velocities>1e308</velocities></joint_state>'
    world.write_text(f'<world_state><model_state name="r">{joint}</model_state></world_state>')
    out = tmp_path / "out.usdf"
    assert main(["sim", "run", str(world), "--engine", engine, "--steps", "3", "-o", str(out)]) == 1
    assert "1e+308 is beyond 1e+10, the limit of a simulator" in capsys.readouterr().err
    assert not out.exists()
