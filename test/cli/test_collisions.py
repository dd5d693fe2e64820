"""`robot_semantics collisions`: results are merged into the user's file, and only when everything is done."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from robot_semantics.description.srdf_reader import srdf_from_file
from robot_semantics.usdf.reader import read_world
from test.cli.conftest import RunCommand

pytest.importorskip("mujoco", reason="mujoco is not installed (pip install 'robot_semantics[collision]')")

# A slider from 0 to 1 m carries a ball (radius 0.1) away from the base's ball; the middle link is a small ball inside.
BALL = '<collision><geometry><sphere radius="{}"/></geometry></collision>'
URDF = (
    '<robot name="slider">'
    f'<link name="base">{BALL.format(0.1)}</link><link name="mid">{BALL.format(0.01)}</link>'
    f'<link name="tip">{BALL.format(0.1)}</link>'
    '<joint name="slide" type="prismatic"><parent link="base"/><child link="mid"/><axis xyz="1 0 0"/>'
    '<limit lower="0.05" upper="1" effort="1" velocity="1"/></joint>'
    '<joint name="mount" type="fixed"><parent link="mid"/><child link="tip"/></joint></robot>'
)
SRDF = """<robot name="slider">
  <!-- the arm -->
  <group name="arm"><joint name="slide"/></group>
  <disable_collisions link1="base" link2="tip" reason="User"/> <!-- my own reason -->
  <disable_collisions link1="mid" link2="tip" reason="Never"/>
</robot>
"""


@pytest.fixture
def slider(tmp_path: Path) -> tuple[Path, Path]:
    urdf, srdf = tmp_path / "slider.urdf", tmp_path / "slider.srdf"
    urdf.write_text(URDF)
    srdf.write_text(SRDF)
    return urdf, srdf


def test_a_new_srdf_has_every_pair_with_its_reason(run: RunCommand, slider: tuple[Path, Path], tmp_path: Path) -> None:
    out, report, plot = tmp_path / "new.srdf", tmp_path / "r.json", tmp_path / "r.png"
    result = run("collisions", "generate", slider[0], "-o", out, "--json", report, "--plot", plot, "--samples", 1000)
    assert result.code == 0
    pairs = {(item.link1, item.link2): item.reason for item in srdf_from_file(out).disabled_collisions}
    # The default pose is the limit's middle, for 0 is excluded: 0.525 m away, where nothing touches.
    assert pairs == {("base", "mid"): "Adjacent", ("mid", "tip"): "Adjacent"}
    evidence = {(item["link1"], item["link2"]): item for item in json.loads(report.read_text())["pairs"]}["base", "tip"]
    # They touch below 0.2 m: in 0.15 of 0.95 m.
    assert evidence["hits"] == pytest.approx(1000 * 0.15 / 0.95, abs=50)
    assert evidence["deepest"]["positions"]["slide"] == pytest.approx(0.2 - evidence["deepest"]["depth"], abs=1e-9)
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_an_update_keeps_what_a_person_wrote(run: RunCommand, slider: tuple[Path, Path]) -> None:
    result = run("collisions", "generate", slider[0], "--srdf", slider[1], "--update", "--samples", 500)
    assert result.code == 0
    text = slider[1].read_text()
    assert '<disable_collisions link1="base" link2="tip" reason="User"/> <!-- my own reason -->' in text
    assert "<!-- the arm -->" in text
    assert '<disable_collisions link1="mid" link2="tip" reason="Adjacent"/>' in text
    assert 'link1="base" link2="mid" reason="Adjacent"' in text


def test_a_file_that_is_there_is_not_overwritten_unasked(run: RunCommand, slider: tuple[Path, Path]) -> None:
    result = run("collisions", "generate", slider[0], "-o", slider[1], "--samples", 100)
    assert result.code == 1
    assert "--force" in result.err
    assert slider[1].read_text() == SRDF


def test_an_audit_names_the_dangerous_pair_and_where_it_collides(run: RunCommand, slider: tuple[Path, Path]) -> None:
    slider[1].write_text(SRDF.replace('"User"', '"Never"'))
    result = run("collisions", "check", *slider, "--samples", 1000, "--json")
    report = json.loads(result.out)
    assert result.code == 1
    assert report["dangerous"] == 1
    (finding,) = [item for item in report["findings"] if item["dangerous"]]
    assert (finding["link1"], finding["link2"]) == ("base", "tip")
    assert finding["witness"]["positions"]["slide"] < 0.2
    assert "base - tip: disabled as Never, but collides" in run("collisions", "check", *slider).out


def test_an_audit_of_a_sound_matrix_succeeds(run: RunCommand, slider: tuple[Path, Path]) -> None:
    run("collisions", "generate", slider[0], "--srdf", slider[1], "--update", "--samples", 500)
    assert run("collisions", "check", *slider, "--samples", 500).code == 0


def test_a_diff_lists_what_only_one_has_and_what_changed(
    run: RunCommand, slider: tuple[Path, Path], tmp_path: Path
) -> None:
    other = tmp_path / "other.srdf"
    other.write_text(
        '<robot name="slider"><disable_collisions link1="tip" link2="base" reason="Never"/>'
        '<disable_collisions link1="base" link2="mid" reason="Adjacent"/></robot>'
    )
    result = run("collisions", "diff", slider[1], other)
    assert result.code == 1
    assert result.out.splitlines() == [
        "- mid - tip: Never",
        "+ base - mid: Adjacent",
        "~ base - tip: User -> Never",
    ]
    assert run("collisions", "diff", other, other).code == 0


def test_a_witness_can_be_a_group_state_or_a_world(run: RunCommand, slider: tuple[Path, Path], tmp_path: Path) -> None:
    world = tmp_path / "hit.usdf"
    words = ("collisions", "witness", slider[0], "--srdf", slider[1], "tip", "base", "--samples", 500)
    result = run(*words, "--group", "arm", "--usdf", world)
    assert result.code == 0
    assert '<group_state name="base_hits_tip" group="arm">' in result.out
    (model,) = read_world(world).models
    (joint,) = [joint for joint in model.joints if joint.name == "slide"]
    assert joint.positions is not None
    assert joint.positions[0] < 0.2
    assert f'value="{joint.positions[0]!r}"' in result.out
    missing = run(*words[:5], "tip", "bas")
    assert missing.code == 1
    assert "did you mean 'base'" in missing.err


def test_confidence_takes_the_samples_it_needs(run: RunCommand, slider: tuple[Path, Path], tmp_path: Path) -> None:
    result = run(
        "collisions",
        "generate",
        slider[0],
        "-o",
        tmp_path / "o.srdf",
        "--confidence",
        "0.001",
        "--samples",
        10,
        "--json",
        "-",
    )
    # ln(0.05) / ln(0.999) = 2994.2
    assert json.loads(result.out)["samples"] == 2995


def test_an_interrupted_run_leaves_the_file_as_it_was(slider: tuple[Path, Path]) -> None:
    words = ["collisions", "generate", str(slider[0]), "--srdf", str(slider[1]), "--update", "--samples", "100000000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "robot_semantics.cli.main", *words], stderr=subprocess.PIPE, text=True, env=os.environ
    )
    time.sleep(2.0)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert slider[1].read_text() == SRDF
