# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Continues saved simulations in a process of its own: ``continuation.py SCENE FOLDER LAST_STEP ROBOTS``.

Each FOLDER/STEP.usdf is restored, simulated up to LAST_STEP, and its positions and velocities are written, bit by bit,
to FOLDER/STEP.bin.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.scenes import SCENES

from robot_semantics import read_world


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
