# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics collisions`: results are merged into the user's file, and only when everything is done."""

from __future__ import annotations

import importlib.util
import json
import math
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands import RunCommand

from robot_semantics import read_world
from robot_semantics.convert.json_form import parse_json
from robot_semantics.srdf.table import srdf_from_file

pytest.importorskip("mujoco", reason="mujoco is not installed (pip install '.[collision]')")

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
    result = run("collisions", "generate", slider[0], "-o", out, "--report", report, "--plot", plot, "--samples", 1000)
    assert result.code == 0
    pairs = {(item.link1, item.link2): item.reason for item in srdf_from_file(out).disabled_collisions}
    # The default pose is the limit's middle, for 0 is excluded: 0.525 m away, where nothing touches.
    assert pairs == {("base", "mid"): "Adjacent", ("mid", "tip"): "Adjacent"}
    evidence = {(item["link1"], item["link2"]): item for item in json.loads(report.read_text())["pairs"]}["base", "tip"]
    # They touch below 0.2 m: in 0.15 of 0.95 m.
    assert evidence["hits"] == pytest.approx(1000 * 0.15 / 0.95, abs=50)
    assert evidence["deepest"]["positions"]["slide"] == pytest.approx(0.2 - evidence["deepest"]["depth"], abs=1e-9)
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_each_cell_of_the_heat_map_has_the_colour_of_its_share(run: RunCommand, tmp_path: Path) -> None:
    matplotlib, pyplot = pytest.importorskip("matplotlib"), pytest.importorskip("matplotlib.pyplot")
    links = {"base": "0 0 0", "tip": "0 0 0", "far": "0 0 9", "end": "0 0 9.05"}
    joints = {
        "rail": ("fixed", "base"),
        "tip": ("prismatic", "rail"),
        "far": ("fixed", "base"),
        "end": ("fixed", "base"),
    }
    ball = '<collision><origin xyz="{}"/><geometry><sphere radius="0.1"/></geometry></collision>'
    joint = (
        '<joint name="j_{0}" type="{1}"><parent link="{2}"/><child link="{0}"/>'
        '<limit lower="0" upper="1" effort="1" velocity="1"/></joint>'
    )
    urdf, report, plot = tmp_path / "r.urdf", tmp_path / "r.json", tmp_path / "r.png"
    urdf.write_text(
        '<robot name="r"><link name="rail"/>'
        + "".join(f'<link name="{name}">{ball.format(xyz)}</link>' for name, xyz in links.items())
        + "".join(joint.format(child, *kind_and_parent) for child, kind_and_parent in joints.items())
        + "</robot>"
    )
    options = ("-o", tmp_path / "r.srdf", "--report", report, "--plot", plot, "--samples", 1000)
    assert run("collisions", "generate", urdf, *options).code == 0
    pairs = json.loads(report.read_text())["pairs"]
    shares = sorted(pair["hits"] / pair["samples"] for pair in pairs if pair["hits"])
    # Two balls of radius 0.1 m on an axis of 1 m touch in 0.2 of the positions; far and end always.
    np.testing.assert_allclose(shares, [0.2, 1.0], atol=0.05)
    pixels = np.round(255.0 * pyplot.imread(plot)[..., :3]).reshape(-1, 3)
    for share in shares:
        colour = 255.0 * np.array(matplotlib.colormaps["YlOrRd"](1.0 + math.log(share) / math.log(1000.0))[:3])
        # One of 16 cells has this colour; the scale beside the picture has a few pixels of it.
        assert 0.01 < (np.abs(pixels - colour).max(axis=1) <= 1.0).mean() < 0.07


def test_an_update_keeps_what_a_person_wrote(run: RunCommand, slider: tuple[Path, Path]) -> None:
    result = run("collisions", "generate", slider[0], slider[1], "--in-place", "--samples", 500)
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
    run("collisions", "generate", slider[0], slider[1], "--in-place", "--samples", 500)
    assert run("collisions", "check", *slider, "--samples", 500).code == 0


def test_a_diff_lists_what_only_one_has_and_what_changed(
    run: RunCommand, slider: tuple[Path, Path], tmp_path: Path
) -> None:
    other = tmp_path / "other.srdf"
    other.write_text(
        '<robot name="slider"><disable_collisions link1="tip" link2="base" reason="Never"/>'
        '<disable_collisions link1="base" link2="mid" reason="Adjacent"/></robot>'
    )
    result = run("diff", slider[1], other)
    assert result.code == 1
    assert result.out.splitlines() == [
        "- mid - tip: Never",
        "+ base - mid: Adjacent",
        "~ base - tip: User -> Never",
    ]
    assert run("diff", other, other).code == 0


@pytest.mark.parametrize(
    ("a", "b", "lines"),
    [
        ('<enable_collisions link1="mid" link2="base"/>', "", ["- enabled base - mid"]),
        ("", '<disable_default_collisions link="tip"/>', ["+ disabled by default tip"]),
        (
            '<link_sphere_approximation link="tip"><sphere center="0 0 1" radius="2"/></link_sphere_approximation>',
            '<link_sphere_approximation link="tip"><sphere center="0 0 1" radius="3"/></link_sphere_approximation>',
            ["~ spheres tip: 0.0 0.0 1.0 2.0 -> 0.0 0.0 1.0 3.0"],
        ),
    ],
)
def test_a_diff_has_every_statement_about_collisions_of_links(
    a: str, b: str, lines: list[str], run: RunCommand, tmp_path: Path
) -> None:
    files = [tmp_path / "a.srdf", tmp_path / "b.srdf"]
    for file, content in zip(files, (a, b), strict=True):
        file.write_text(f'<robot name="slider">{content}</robot>')
    result = run("diff", *files)
    assert (result.code, result.out.splitlines()) == (1, lines)
    found = json.loads(run("diff", *files, "--json").out)
    changes = [rows for kind in ("enabled", "disabled_by_default", "spheres") for rows in found[kind].values()]
    assert sum(map(len, changes)) == 1


def test_a_witness_can_be_a_group_state_or_a_world(run: RunCommand, slider: tuple[Path, Path], tmp_path: Path) -> None:
    world = tmp_path / "hit.usdf"
    words = ("collisions", "witness", slider[0], slider[1], "tip", "base", "--samples", 500)
    result = run(*words, "--group", "arm", "--usdf", world)
    assert result.code == 0
    assert '<group_state name="base_hits_tip" group="arm">' in result.out
    (model,) = read_world(world).models
    (joint,) = [joint for joint in model.joints if joint.name == "slide"]
    assert joint.positions is not None
    assert joint.positions[0] < 0.2
    assert f'value="{joint.positions[0]!r}"' in result.out
    # An existing target is not overwritten, and its ending selects the format.
    assert run(*words, "--usdf", world).code == 1
    assert run(*words, "--usdf", world.with_suffix(".json")).code == 0
    assert parse_json(world.with_suffix(".json").read_text()).models[0].joints == model.joints
    missing = run(*words[:4], "tip", "bas")
    assert missing.code == 1
    assert "did you mean 'base'" in missing.err


@pytest.mark.parametrize("kind", ["fixed", "planar", "floating"])
def test_a_witness_of_a_robot_with_a_virtual_joint_is_a_world_of_its_own(
    run: RunCommand, slider: tuple[Path, Path], kind: str
) -> None:
    virtual = f'<virtual_joint name="v" type="{kind}" parent_frame="odom" child_link="base"/></robot>'
    slider[1].write_text(SRDF.replace("</robot>", virtual))
    out = slider[0].with_name("hit.usdf")
    command = ("collisions", "witness", slider[0], slider[1], "tip", "base", "--samples", 500, "--usdf", out)
    assert run(*command).code == 0
    (model,) = read_world(out).models
    assert model.parent == "world"
    # A witness does not need the robot's pose in the world and does not state it; it does state the robot.
    assert model.pose is None
    assert model.description == slider[0].name
    checked = run("check", out)
    assert checked.code == 0, checked.err
    assert "hash" not in checked.out
    assert run("usdf", "resolve", out, "--links", model.name, "--urdf", f"{slider[0]},{slider[1]}").code == 0


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
    )
    # ln(0.05) / ln(0.999) = 2994.2
    assert json.loads(result.out)["samples"] == 2995


def generated(run: RunCommand, slider: tuple[Path, Path], *words: object) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the pairs of a JSON report by their links."""
    out = slider[0].with_name("out.srdf")
    command = ("collisions", "generate", slider[0], slider[1], "-o", out, "--force", "--json", *words)
    result = run(*command)
    assert result.code == 0, result.err
    return {(pair["link1"], pair["link2"]): pair for pair in json.loads(result.out)["pairs"]}


def test_confidence_below_what_the_samples_give_takes_no_more(run: RunCommand, slider: tuple[Path, Path]) -> None:
    pairs = generated(run, slider, "--confidence", "0.01", "--samples", 1000)
    assert pairs["base", "tip"]["samples"] == 1000


def test_what_never_means_is_printed(run: RunCommand, slider: tuple[Path, Path]) -> None:
    result = run("collisions", "generate", slider[0], "-o", slider[0].with_name("n.srdf"), "--samples", 1000)
    # 1 - 0.05^(1/1000)
    assert "Never: a collision probability below 0.003, at 95 % confidence" in result.out


def test_the_default_pose_is_a_group_state_if_asked(run: RunCommand, slider: tuple[Path, Path]) -> None:
    state = '<group_state name="in" group="arm"><joint name="slide" value="0.1"/></group_state></robot>'
    slider[1].write_text(SRDF.replace("</robot>", state))
    assert generated(run, slider, "--samples", 200)["base", "tip"]["reason"] is None
    assert generated(run, slider, "--samples", 200, "--default-state", "arm/in")["base", "tip"]["reason"] == "Default"
    for words, named in (("arm/inn", "did you mean 'in'"), ("leg/in", "unknown group 'leg'"), ("in", "GROUP/NAME")):
        result = run("collisions", "generate", *slider_words(slider), "--default-state", words)
        assert result.code in (1, 2)
        assert named in result.err


def slider_words(slider: tuple[Path, Path]) -> tuple[object, ...]:
    return (slider[0], slider[1], "-o", slider[0].with_name("other.srdf"))


def test_padding_and_the_share_of_always_are_passed_on(run: RunCommand, slider: tuple[Path, Path]) -> None:
    # Below 0.2 m of 0.05 to 1 m; with 0.1 m round each, below 0.4 m.
    bare = generated(run, slider, "--samples", 2000)["base", "tip"]
    padded = generated(run, slider, "--samples", 2000, "--padding", 0.1)["base", "tip"]
    assert bare["fraction"] == pytest.approx(0.15 / 0.95, abs=0.04)
    assert padded["fraction"] == pytest.approx(0.35 / 0.95, abs=0.05)
    assert generated(run, slider, "--always-fraction", 0.1)["base", "tip"]["reason"] == "Always"


def test_sobol_is_nearer_to_the_truth_than_chance(run: RunCommand, slider: tuple[Path, Path]) -> None:
    pair = generated(run, slider, "--samples", 2000, "--sampler", "sobol")["base", "tip"]
    assert pair["fraction"] == pytest.approx(0.15 / 0.95, abs=0.001)


def test_what_a_mesh_counts_as_may_be_chosen(run: RunCommand, slider: tuple[Path, Path]) -> None:
    trimesh = pytest.importorskip("trimesh")
    # A ring of radius 1: its hull is full, so is the box round it; its triangles and convex parts leave room for the
    # ball.
    trimesh.creation.annulus(r_min=0.8, r_max=1.0, height=0.2).export(slider[0].with_name("ring.stl"))
    ring = '<collision><geometry><mesh filename="ring.stl"/></geometry></collision>'
    slider[0].write_text(URDF.replace(BALL.format(0.1), ring, 1).replace('upper="1"', 'upper="0.3"'))
    expected = {"mesh": "Never", "hull": "Always", "primitive": "Always"}
    if importlib.util.find_spec("coacd"):
        expected["decomposed"] = "Never"
    for geometry, reason in expected.items():
        assert generated(run, slider, "--samples", 200, "--geometry", geometry)["base", "tip"]["reason"] == reason
    result = run("collisions", "generate", *slider_words(slider), "--samples", 100, "--geometry", "hull")
    assert "use the 'mesh' geometry" in result.err
    assert "pairs about which the triangles say otherwise:\n  base - tip: Always (100 of 100" in result.out
    assert "triangles: Never (0 of 100" in result.out


@pytest.mark.parametrize(
    ("keep", "reasons"),
    [
        # Expected: mid and tip are adjacent; base and tip must be checked.
        ("user", {("base", "tip"): "User", ("mid", "tip"): "Adjacent"}),
        ("all", {("base", "tip"): "User", ("mid", "tip"): "Never"}),
        ("none", {("mid", "tip"): "Adjacent"}),
    ],
)
def test_what_stays_of_the_users_pairs_may_be_chosen(
    run: RunCommand, slider: tuple[Path, Path], keep: str, reasons: dict[tuple[str, str], str]
) -> None:
    assert run("collisions", "generate", *slider_words(slider), "--keep", keep, "--samples", 200).code == 0
    written = srdf_from_file(slider[0].with_name("other.srdf")).disabled_collisions
    found = {tuple(sorted((item.link1, item.link2))): item.reason for item in written}
    assert found == {**reasons, ("base", "mid"): "Adjacent"}


def test_a_robot_that_has_nothing_to_collide_is_told_so(run: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "bare.urdf").write_text('<robot name="bare"><link name="a"/></robot>')
    result = run("collisions", "generate", tmp_path / "bare.urdf", "-o", tmp_path / "o.srdf")
    assert result.code == 1
    assert "'bare' has fewer than two links with collision geometry" in result.err
    assert not (tmp_path / "o.srdf").exists()


@pytest.mark.parametrize(
    "words",
    [
        *(("--samples", "0"), ("--samples", "many"), ("--seed", "-1"), ("--seed", str(2**64)), ("--padding", "-1")),
        *(("--jobs", "0"), ("--always-fraction", "1.5"), ("--confidence", "0"), ("--padding", "nan")),
    ],
)
def test_a_number_that_makes_no_sense_is_refused(
    run: RunCommand, slider: tuple[Path, Path], words: tuple[str, str]
) -> None:
    result = run("collisions", "generate", *slider_words(slider), *words)
    assert result.code == 2
    assert words[0] in result.err


def test_an_interrupted_run_leaves_the_file_as_it_was(slider: tuple[Path, Path]) -> None:
    # The interrupt must come during the sampling. On a busy machine the imports take longer than two seconds.
    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from robot_semantics.cli.collisions import generate; from robot_semantics.cli.main import main;"
        "print('ready', flush=True); sys.exit(main(sys.argv[1:]))"
    )
    words = ["collisions", "generate", str(slider[0]), str(slider[1]), "--in-place", "--samples", "100000000"]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(2.0)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    try:
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "Traceback" not in err
    assert slider[1].read_text() == SRDF


def pairs_in(srdf: Path) -> dict[tuple[str, str], str]:
    """Return the disabled pairs of a file with their reasons."""
    return {tuple(sorted((item.link1, item.link2))): item.reason for item in srdf_from_file(srdf).disabled_collisions}  # type: ignore[misc]


def test_what_was_removed_by_hand_stays_removed(run: RunCommand, slider: tuple[Path, Path]) -> None:
    update = ("collisions", "generate", slider[0], slider[1], "--in-place", "--samples", 200)
    assert run(*update).code == 0
    adjacent = ("base", "mid")
    assert adjacent in pairs_in(slider[1])
    lines = slider[1].read_text().splitlines(keepends=True)
    slider[1].write_text("".join(line for line in lines if 'link1="base" link2="mid"' not in line))
    for _ in range(2):
        result = run(*update)
        assert result.code == 0
        assert adjacent not in pairs_in(slider[1])
        assert "left enabled, as they were removed by hand:\n  base - mid" in result.out
    assert run(*update, "--keep", "none").code == 0
    assert pairs_in(slider[1])[adjacent] == "Adjacent"


def test_what_the_file_enables_or_disables_by_default_is_not_generated(
    run: RunCommand, slider: tuple[Path, Path]
) -> None:
    words = '<enable_collisions link1="mid" link2="base"/><disable_default_collisions link="tip"/></robot>'
    slider[1].write_text(SRDF.replace("</robot>", words))
    result = run("collisions", "generate", slider[0], slider[1], "--in-place", "--samples", 200)
    assert result.code == 0
    # base and mid are adjacent, but the file enables them; pairs of tip are off by default and need no line.
    assert pairs_in(slider[1]) == {("base", "tip"): "User"}
    assert "left enabled, as the SRDF says:\n  base - mid" in result.out
    assert "mid" not in run("collisions", "check", *slider, "--samples", 200).out


def test_a_pair_is_enabled_for_good_and_disabled_again(run: RunCommand, slider: tuple[Path, Path]) -> None:
    urdf, srdf = slider
    assert (
        run("collisions", "enable", "--in-place", srdf, "tip", "mid", "--urdf", urdf, "--reason", "it may bend").code
        == 0
    )
    assert '<enable_collisions link1="mid" link2="tip" reason="it may bend"/>' in srdf.read_text()
    assert run("collisions", "generate", urdf, srdf, "--in-place", "--samples", 200).code == 0
    assert ("mid", "tip") not in pairs_in(srdf)
    assert run("collisions", "disable", "--in-place", srdf, "mid", "tip", "--urdf", urdf).code == 0
    assert "enable_collisions" not in srdf.read_text()
    assert pairs_in(srdf)["mid", "tip"] == "User"


def test_a_written_reason_is_never_replaced_by_user(run: RunCommand, slider: tuple[Path, Path]) -> None:
    urdf, srdf = slider
    srdf.write_text(SRDF.replace('reason="User"', 'reason="rubber"'))
    assert run("collisions", "disable", "--in-place", srdf, "tip", "base", "--urdf", urdf).code == 0
    assert run("srdf", "add", "--in-place", srdf, "--urdf", urdf, "--disable-collisions", "tip", "base").code == 0
    assert run("collisions", "generate", urdf, srdf, "--in-place", "--samples", 200).code == 0
    assert pairs_in(srdf)["base", "tip"] == "rubber"
    assert run("collisions", "disable", "--in-place", srdf, "tip", "base", "--urdf", urdf, "--reason", "felt").code == 0
    assert pairs_in(srdf)["base", "tip"] == "felt"


def test_an_unknown_link_is_neither_enabled_nor_disabled(run: RunCommand, slider: tuple[Path, Path]) -> None:
    for action in ("enable", "disable"):
        result = run("collisions", action, slider[1], "tip", "bas", "--urdf", slider[0])
        assert result.code == 1
        assert "'base'" in result.err
    assert slider[1].read_text() == SRDF


def test_the_table_begins_with_what_is_at_risk(run: RunCommand, slider: tuple[Path, Path]) -> None:
    slider[1].write_text(SRDF.replace('"User"', '"Never"'))
    words = ("collisions", "table", *slider, "--samples", 1000)
    rows = json.loads(run(*words, "--json").out)["pairs"]
    # base and tip touch in 0.15 of 0.95 m and are disabled; the others are adjacent, one of them is not in the file.
    assert [(row["link1"], row["link2"], row["state"], row["stated"], row["reason"]) for row in rows] == [
        ("base", "tip", "disabled", "Never", None),
        ("base", "mid", "checked", None, "Adjacent"),
        ("mid", "tip", "disabled", "Never", "Adjacent"),
    ]
    assert rows[0]["risk"] == pytest.approx(0.15 / 0.95, abs=0.05)
    assert [row["risk"] for row in rows[1:]] == [0.0, 0.0]
    lines = run(*words).out.splitlines()
    assert lines[1].split()[:5] == ["base", "tip", "disabled", "Never", "to"]


def test_dangerous_findings_come_last(run: RunCommand, slider: tuple[Path, Path]) -> None:
    slider[1].write_text(SRDF.replace('"User"', '"Never"'))
    lines = run("collisions", "check", *slider, "--samples", 500).out.splitlines()
    assert lines[0].startswith("warning: base - mid")
    assert lines[-3].startswith("error: base - tip")
