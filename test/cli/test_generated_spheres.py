# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Generated spheres cover the links, keep the rest of the SRDF, and depend only on the seed."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from support.commands import RunCommand

trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed (pip install '.[spheres]')")
pytest.importorskip("mujoco", reason="mujoco is not installed (pip install '.[spheres]')")
pytest.importorskip("morphit_rs", reason="morphit_rs is not installed (pip install '.[spheres]')")

from robot_semantics.srdf.table import srdf_from_file  # noqa: E402

BODIES = (
    '<link name="ball"><collision><origin xyz="0.1 0 0"/><geometry><sphere radius="0.25"/></geometry></collision>'
    "</link>"
    '<link name="cube"><collision><geometry><box size="2 2 2"/></geometry></collision></link>'
    '<link name="ring"><collision><geometry><mesh filename="file://{}"/></geometry></collision></link>'
    '<link name="none"/>'
)
JOINTS = "".join(
    f'<joint name="j{at}" type="fixed"><parent link="ball"/><child link="{name}"/></joint>'
    for at, name in enumerate(("cube", "ring", "none"))
)
SRDF = """<?xml version="1.0"?>
<!-- about the robot -->
<robot name="r">
  <group name="g"><link name="cube"/></group> <!-- about the group -->
  <link_sphere_approximation link="cube"><sphere center="0 0 0" radius="5"/></link_sphere_approximation>
</robot>
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    mesh = trimesh.creation.torus(0.3, 0.1, major_sections=24, minor_sections=12)
    mesh.export(tmp_path / "ring.stl")
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{BODIES.format(tmp_path / "ring.stl")}{JOINTS}</robot>')
    (tmp_path / "r.srdf").write_text(SRDF)
    return tmp_path / "r.urdf", tmp_path / "r.srdf"


def spheres_of(path: Path) -> dict[str, np.ndarray]:
    links = srdf_from_file(path).link_spheres
    return {item.link: np.array([(*one.center, one.radius) for one in item.spheres]) for item in links}


def test_generated_spheres_are_covers_by_check_and_by_samples(
    files: tuple[Path, Path], run: RunCommand, tmp_path: Path
) -> None:
    out = tmp_path / "out.srdf"
    words = ("collisions", "spheres", "generate", *files, "--count", "8", "--jobs", "1", "-o")
    made = run(*words, out)
    assert made.code == 0
    assert run("collisions", "spheres", "check", files[0], out).code == 0
    found = spheres_of(out)
    assert found.keys() == {"ball", "cube", "ring"}
    assert all(len(rows) <= 8 for rows in found.values())
    # A sphere is its own best cover.
    assert found["ball"].tolist() == [[0.1, 0.0, 0.0, 0.25]]
    samples, _ = trimesh.sample.sample_surface(trimesh.load(tmp_path / "ring.stl"), 50_000, seed=3)
    distances = np.linalg.norm(samples[:, None] - found["ring"][:, :3], axis=2) - found["ring"][:, 3]
    assert distances.min(axis=1).max() <= 1e-9
    # One sphere about the middle of a cube overshoots by sqrt(3) - 1, eight about the middles of its octants by less.
    overshoot = float(made.out.split("cube: ")[1].split("overshoot ")[1].split(" m")[0])
    assert overshoot < 0.6 * (math.sqrt(3.0) - 1.0)
    again = tmp_path / "again.srdf"
    assert run(*words, again).out == made.out
    assert again.read_bytes() == out.read_bytes()
    text = out.read_text()
    assert "<!-- about the robot -->" in text
    assert '<group name="g"><link name="cube"/></group> <!-- about the group -->' in text
    assert text.count('<link_sphere_approximation link="cube">') == 1


def test_an_overshoot_is_kept_with_few_spheres(files: tuple[Path, Path], run: RunCommand, tmp_path: Path) -> None:
    out = tmp_path / "out.srdf"
    words = ("collisions", "spheres", "generate", *files, "--jobs", "1", "--link", "cube", "-o", out, "--force")
    assert run(*words, "--overshoot", "0.74").code == 0
    assert spheres_of(out)["cube"][0] == pytest.approx([0.0, 0.0, 0.0, math.sqrt(3.0)], abs=1e-5)
    assert run(*words, "--overshoot", "0.42").code == 0
    cube = spheres_of(out)["cube"]
    assert 1 < len(cube) <= 8
    # The distance of a centre inside to the nearest face.
    assert (cube[:, 3] - (1.0 - np.abs(cube[:, :3]).max(axis=1))).max() <= 0.42
    assert run("collisions", "spheres", "check", files[0], out).code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--count", "4", "--link", "cub"), "did you mean 'cube'?"),
        (("--count", "4", "--link", "none"), "link 'none' has no collision geometry"),
    ],
)
def test_wrong_links_are_refused(
    files: tuple[Path, Path], run: RunCommand, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    done = run("collisions", "spheres", "generate", files[0], *words, "-o", tmp_path / "out.srdf")
    assert done.code == 1
    assert message in done.err
    assert not (tmp_path / "out.srdf").exists()


def test_radius_0_stays_unless_the_link_is_named(files: tuple[Path, Path], run: RunCommand, tmp_path: Path) -> None:
    files[1].write_text(SRDF.replace('radius="5"', 'radius="0"').replace("cube", "ball"))
    out = tmp_path / "out.srdf"
    words = ("collisions", "spheres", "generate", *files, "--count", "1", "--jobs", "1", "-o", out, "--force")
    assert "radius 0 in the SRDF" in run(*words).err
    assert spheres_of(out)["ball"].tolist() == [[0.0, 0.0, 0.0, 0.0]]
    assert run(*words, "--link", "ball").code == 0
    assert spheres_of(out)["ball"].tolist() == [[0.1, 0.0, 0.0, 0.25]]
