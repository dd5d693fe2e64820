# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Forward kinematics compared with pinocchio, yourdfpy and urchin: equal results first, then configurations per second.

``python -m benchmark.bench_kinematics``. The robots are from example-robot-data: an arm with seven joints and a
gripper, and a humanoid with 55 joints. All libraries get the same configurations and a description without shapes.
"""

from __future__ import annotations

import statistics
import sysconfig
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio
import urchin
import yourdfpy
from lxml import etree

from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.kinematics.local import LocalTransforms
from robot_semantics.model.loading import load_robot

FloatArray = npt.NDArray[np.float64]

ROBOTS = Path(sysconfig.get_path("purelib")) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
CASES = {
    "panda (7 + 2 joints, 13 links)": "panda_description/urdf/panda.urdf",
    "romeo (55 joints, 82 links)": "romeo_description/urdf/romeo.urdf",
}
BATCHES = (1, 100, 1000, 10_000)
ROUNDS = 7
BUDGET = 0.05


class Contender(NamedTuple):
    """A way to compute poses: its name, its largest number of configurations, and its function."""

    name: str
    most: int
    run: Callable[[FloatArray], object]


class Pinocchio:
    """The same robot in pinocchio."""

    def __init__(self, path: Path, forward: ForwardKinematics) -> None:
        self.model = pinocchio.buildModelFromUrdf(str(path))
        self.data = self.model.createData()
        self.columns = [
            forward.space.positions_of(forward.model.joint(name)).start for name in list(self.model.names)[1:]
        ]
        self.frames = [self.model.getFrameId(name, pinocchio.FrameType.BODY) for name in forward.model.link_names]
        if self.model.nq != len(self.columns):
            raise SystemExit("bench_kinematics: a robot of single angles and distances is needed")

    def arranged(self, q: FloatArray) -> FloatArray:
        """Return our configurations in pinocchio's order."""
        return np.ascontiguousarray(q[:, self.columns])

    def bare(self, q: FloatArray) -> None:
        """Compute joint placements inside pinocchio, without frames of fixed joints."""
        for one in q:
            pinocchio.forwardKinematics(self.model, self.data, one)

    def read_out(self, q: FloatArray) -> list[list[FloatArray]]:
        """Return every link's pose as a numpy matrix."""
        poses = []
        for one in q:
            pinocchio.framesForwardKinematics(self.model, self.data, one)
            poses.append([self.data.oMf[frame].homogeneous for frame in self.frames])
        return poses


def without_shapes(path: Path, folder: Path) -> Path:
    """Write the description without visual and collision elements: some readers require their meshes."""
    tree = etree.parse(str(path), etree.XMLParser(remove_comments=True))
    etree.strip_elements(tree, "visual", "collision", "transmission", "gazebo")
    bare = folder / path.name
    tree.write(str(bare))
    return bare


def contenders(path: Path, folder: Path) -> tuple[ForwardKinematics, Pinocchio, list[Contender]]:
    """Return all libraries, after a check that all compute the same poses."""
    bare = without_shapes(path, folder)
    forward = ForwardKinematics(load_robot(bare, strict=False))
    other = Pinocchio(bare, forward)
    names = forward.space.names
    scene: Any = yourdfpy.URDF.load(str(bare), load_meshes=False, build_scene_graph=True)
    robot: Any = urchin.URDF.load(str(bare), lazy_load_meshes=True)

    def by_yourdfpy(q: FloatArray) -> list[list[FloatArray]]:
        poses = []
        for one in q:
            scene.update_cfg(dict(zip(names, one, strict=True)))
            poses.append([scene.get_transform(link) for link in forward.model.link_names])
        return poses

    def by_urchin(q: FloatArray) -> dict[str, FloatArray]:
        batch: dict[str, FloatArray] = robot.link_fk_batch(dict(zip(names, q.T, strict=True)), use_names=True)
        return batch

    q = forward.space.random(np.random.default_rng(0), (50,))
    poses = forward.link_poses(q)
    from_urchin = by_urchin(q)
    for name, theirs in {
        "pinocchio": np.array(other.read_out(other.arranged(q))),
        "yourdfpy": np.array(by_yourdfpy(q)),
        "urchin": np.stack([from_urchin[link] for link in forward.model.link_names], axis=1),
        "one at a time": np.array([forward.link_poses(one) for one in q]),
    }.items():
        np.testing.assert_allclose(poses, theirs, rtol=0.0, atol=1e-9, err_msg=name)
    return (
        forward,
        other,
        [
            Contender("robot_semantics", BATCHES[-1], forward.link_poses),
            Contender("pinocchio, bare loop", BATCHES[-1], other.bare),
            Contender("pinocchio, links read out", 1000, other.read_out),
            Contender("urchin, link_fk_batch", BATCHES[-1], by_urchin),
            Contender("yourdfpy", 20, by_yourdfpy),
        ],
    )


def seconds(run: Callable[[], object]) -> float:
    """Return the processor time of one run, averaged over as many runs as fit into the budget."""
    start, runs = time.process_time(), 0
    while True:
        run()
        runs += 1
        spent = time.process_time() - start
        if spent > BUDGET:
            return spent / runs


def compare(title: str, path: Path, folder: Path) -> None:
    """Measure all in turn for several rounds, and print median configurations per second."""
    forward, other, everyone = contenders(path, folder)
    print(f"\n{title}: link poses, thousand configurations per second of processor time; ours against each")
    print(f"{'':28}" + "".join(f"{f'{batch} at once':>24}" for batch in BATCHES))
    rates: dict[str, list[float]] = {contender.name: [] for contender in everyone}
    for batch in BATCHES:
        q = forward.space.random(np.random.default_rng(1), (batch,))
        arranged = other.arranged(q)
        times: dict[str, list[float]] = {contender.name: [] for contender in everyone}
        for _ in range(ROUNDS):
            for name, most, run in everyone:
                some = (arranged if name.startswith("pinocchio") else q)[: min(batch, most)]
                times[name].append(seconds(partial(run, some)) / len(some))
        for name, found in times.items():
            rates[name].append(1e-3 / statistics.median(found))
    ours = rates["robot_semantics"]
    for name, found in rates.items():
        cells = "".join(f"{rate:14.3f}{f'{own / rate:.2f} x':>10}" for rate, own in zip(found, ours, strict=True))
        print(f"{name:28}{cells}")
    q, first = forward.space.random(np.random.default_rng(1), (BATCHES[-1],)), []
    for _ in range(ROUNDS):
        unused = ForwardKinematics(forward.model)
        start = time.process_time()
        unused.link_poses(q)
        first.append((time.process_time() - start) / len(q))
    rate = 1e-3 / statistics.median(first)
    print(f"robot_semantics' first call, into memory that the system has yet to map: {rate:.3f}")


def latency(title: str, path: Path, folder: Path) -> None:
    """Print the time of one configuration."""
    forward = ForwardKinematics(load_robot(without_shapes(path, folder), strict=False))
    local = LocalTransforms(forward.model)
    q, v = forward.space.random(np.random.default_rng(0)), np.zeros(forward.space.velocity_size)
    print(f"\n{title}: one configuration, µs")
    for name, run in {
        "every T_parent_child, matrices": lambda: local.matrices(q),
        "every T_parent_child, xyz + quaternion": lambda: local.transforms(q),
        "every link pose": lambda: forward.link_poses(q),
        "every link twist": lambda: forward.link_twists(q, v),
    }.items():
        print(f"{name:40}{1e6 * statistics.median(seconds(run) for _ in range(ROUNDS)):8.1f}")


def main() -> None:
    """Run all comparisons."""
    with tempfile.TemporaryDirectory() as folder:
        for title, path in CASES.items():
            compare(title, ROBOTS / path, Path(folder))
            latency(title, ROBOTS / path, Path(folder))


if __name__ == "__main__":
    main()
