"""Continues saved simulations in a process of its own: ``continuation.py SCENE FOLDER LAST_STEP ROBOTS``.

Each FOLDER/STEP.usdf is restored, simulated up to LAST_STEP, and its positions and velocities are written, bit by bit,
to FOLDER/STEP.bin.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.scenes import SCENES

from robot_semantics.usdf.reader import read_world


def main() -> None:
    scene, folder, last = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    simulator = SCENES[scene](Path(sys.argv[4]))
    for path in sorted(folder.glob("*.usdf")):
        simulator.reset()
        report = simulator.restore(read_world(path))
        assert report.exact, (report.not_restored, report.notes)
        simulator.step(last - int(path.stem))
        path.with_suffix(".bin").write_bytes(simulator.data.qpos.tobytes() + simulator.data.qvel.tobytes())


if __name__ == "__main__":
    main()
