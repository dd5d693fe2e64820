# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Pictures and pages of real robots, compared with trimesh's reading of the same meshes; opening, compared with
yourdfpy; time until pages are ready; updates of 300 links.

Run: python -m benchmark.bench_view
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmark.bench_start import cpu_time
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.model import mesh_files
from robot_semantics.model.loading import RobotOptions
from robot_semantics.urdf.tree import Mesh
from robot_semantics.viewer.opening import Opening, open_files
from robot_semantics.viewer.page import page
from robot_semantics.viewer.picture import render
from robot_semantics.viewer.scene import Scene, Stance, link_poses

ROBOTS = (
    "alex_description", "allegro_hand_description", "baxter_description", "bolt_description", "centauro_description",
    "finger_edu_description", "g1_description", "go2_description", "human_description", "hyq_description",
    "icub_description", "iris_description", "kinova_description", "laikago_description", "panda_description",
    "pr2_description", "romeo_description", "so_arm_description", "talos_data", "tiago_description",
)  # fmt: skip
LINKS = 300
FRAMES = 200


READ_MESHES = """import sys
from pathlib import Path
import trimesh
count = 0
for name in sys.argv[1:]:
    scene = trimesh.load_scene(name)
    for mesh in scene.geometry.values():
        material = getattr(mesh.visual, "material", None)
        image = getattr(material, "image", None) or getattr(material, "baseColorTexture", None)
        if image is not None:
            image.load()
    count += sum(len(mesh.faces) for mesh in scene.dump())
print(count)"""
RUNS = 3


def pictures(console: Console) -> None:
    """Compare `view --png` and `view --html` with the reading and decoding of the same meshes by trimesh."""
    import pinocchio

    share = Path(pinocchio.__file__).parents[4] / "share"
    table = Table("robot", "trimesh [s]", "--png [s]", "ratio", "--html [s]", "ratio")
    program = str(Path(sys.executable).with_name("robot_semantics"))
    for name in ("panda_description/urdf/panda.urdf", "pr2_description/urdf/pr2.urdf"):
        path = share / "example-robot-data" / "robots" / name
        scene = open_files([path], Opening(options=RobotOptions(package_paths=(str(share),))), Diagnostics())
        visuals = [
            visual.geometry for actor in scene.actors for link in actor.model.links for visual in link.urdf.visuals
        ]
        files = dict.fromkeys(
            str(share / item.filename.removeprefix("package://")) for item in visuals if isinstance(item, Mesh)
        )
        with tempfile.TemporaryDirectory() as folder:
            view = [program, "view", str(path), "--package-path", str(share), "--force"]
            commands = [
                [sys.executable, "-c", READ_MESHES, *files],
                *([*view, option, f"{folder}/{path.stem}.{option[2:]}"] for option in ("--png", "--html")),
            ]
            times = [min(row) for row in zip(*(map(cpu_time, commands) for _ in range(RUNS)), strict=True)]
        peer, *own = times
        table.add_row(
            path.stem, f"{peer:.2f}", *(text for value in own for text in (f"{value:.2f}", f"{value / peer:.2f}"))
        )
    console.print(table)


def triangles(scene: Scene) -> int:
    """Return the number of displayed triangles."""
    return sum(len(part.surface.faces) for actor in scene.actors for part in actor.surfaces)


def real_robots(console: Console) -> None:
    """Open each robot with its meshes, newly read from the files, with this package and with yourdfpy."""
    import pinocchio
    import yourdfpy

    share = Path(pinocchio.__file__).parents[4] / "share"
    table = Table("robot", "triangles", "open [s]", "page [s]", "picture [s]", "yourdfpy open [s]", "ratio")
    ratios = []
    for name in ROBOTS:
        path = sorted((share / "example-robot-data" / "robots" / name).glob("**/*.urdf"))[0]
        mesh_files._surface.cache_clear()
        start = time.perf_counter()
        scene = open_files([path], Opening(options=RobotOptions(package_paths=(str(share),))), Diagnostics())
        opened = time.perf_counter() - start
        start = time.perf_counter()
        page(scene)
        paged = time.perf_counter() - start
        start = time.perf_counter()
        render(scene)
        drawn = time.perf_counter() - start

        def find(fname: str) -> str:
            return str(share / fname.removeprefix("package://").lstrip("/"))

        start = time.perf_counter()
        try:
            other = yourdfpy.URDF.load(str(path), filename_handler=find, build_collision_scene_graph=False)
            theirs = time.perf_counter() - start
            count = sum(len(mesh.faces) for mesh in other.scene.dump())
        except Exception as error:  # noqa: BLE001 - any exception is the other package's result
            theirs, count = float("nan"), -1
            console.print(f"{name}: yourdfpy: {type(error).__name__}: {error}")
        # Compare only results with the same content.
        same = count == triangles(scene)
        if same:
            ratios.append(theirs / opened)
        table.add_row(
            name, f"{triangles(scene):,}", f"{opened:.2f}", f"{paged:.2f}", f"{drawn:.2f}",
            f"{theirs:.2f}" if same else f"({count:,} triangles)", f"{theirs / opened:.2f}" if same else "",
        )  # fmt: skip
    console.print(table)
    if ratios:
        console.print(
            f"yourdfpy / robot_semantics, median of {len(ratios)} robots alike: {statistics.median(ratios):.2f}"
        )


def chain(folder: Path) -> Scene:
    """Return a robot of 300 box links in ten chains."""
    links = ['<link name="l0"/>']
    joints = []
    for number in range(1, LINKS):
        parent = 0 if number % 30 == 1 else number - 1
        links.append(f'<link name="l{number}"><visual><geometry><box size="0.05 0.05 0.1"/></geometry></visual></link>')
        joints.append(
            f'<joint name="j{number}" type="continuous"><origin xyz="{0 if parent else 0.01 * number} 0 0.1"/>'
            f'<parent link="l{parent}"/><child link="l{number}"/><axis xyz="{number % 2} {1 - number % 2} 0"/></joint>'
        )
    path = folder / "chain.urdf"
    path.write_text(f'<robot name="chain">{"".join(links)}{"".join(joints)}</robot>')
    return open_files([path], Opening(), Diagnostics())


def updates(console: Console) -> None:
    """Repeat: move all joints of 300 links, draw, wait for the pixels, in a headless browser without a GPU."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))
    from support.browser import Browser, executable

    if executable() is None:
        console.print("no Chromium is installed, so updates of the page are not measured")
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        scene = chain(folder)
        actor = scene.actors[0]
        file = folder / "page.html"
        file.write_text(page(scene))
        with Browser(folder / "profile") as browser:
            browser.open(file.as_uri())
            q = actor.kinematics.space.random(np.random.default_rng(1))
            told = browser.run(f"viewer.robots[0].poses({json.dumps(q.tolist())}, viewer.stances.chain.T)")
            expected = link_poses(actor, Stance(q, np.eye(4)))
            np.testing.assert_allclose(np.array(told).reshape(-1, 4, 4), expected, atol=1e-9)
            took = browser.run(
                f"""(() => {{ const gl = viewer.scene.renderer.getContext(), pixel = new Uint8Array(4), took = [];
                for (let frame = 0; frame < {FRAMES}; frame++) {{
                  const start = performance.now(), q = viewer.q(viewer.robots[0]);
                  for (let k = 0; k < q.length; k++) q[k] = Math.sin(0.05 * frame + k);
                  viewer.stale = true; viewer.drawNow();
                  gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
                  took.push(performance.now() - start);
                }} return took; }})()"""
            )
    median = statistics.median(took)
    console.print(
        f"{LINKS} links, poses equal: {median:.1f} ms an update (median of {FRAMES}): {1000 / median:.0f} a second"
    )


def pages(console: Console) -> None:
    """Serve two real robots by the command line, and wait until a headless browser without a GPU has drawn them.

    Each is served twice: the first time also compiles modules that are compiled in an installed package.
    """
    import pinocchio

    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))
    from support.browser import Browser, executable
    from support.served import Served

    if executable() is None:
        return
    share = Path(pinocchio.__file__).parents[4] / "share"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, Browser(Path(name)) as browser:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(name) / "bytecode")
        for robot in 2 * ("pr2_description/urdf/pr2.urdf", "talos_data/robots/talos_full_v2.urdf"):
            start = time.perf_counter()
            path = share / "example-robot-data" / "robots" / robot
            command = ("view", str(path), "--package-path", str(share), "--no-browser")
            with Served("-m", "robot_semantics.cli.main", *command) as served:
                ready = time.perf_counter()
                browser.open(served.address)
                browser.drawn()
                drawn = time.perf_counter()
            console.print(
                f"{path.stem}: page drawn {drawn - start:.1f} s after the command,"
                f" {drawn - ready:.1f} s after its address was printed"
            )


def main() -> None:
    """Run all."""
    console = Console(width=120)
    pictures(console)
    pages(console)
    updates(console)
    real_robots(console)


if __name__ == "__main__":
    main()
