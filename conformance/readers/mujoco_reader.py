# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""MuJoCo as a reader; it merges links that are fixed to their parents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco
from common import Answer, serve


def urdf(file: str, _robot: str, positions: Mapping[str, Any]) -> Answer:
    """Read a robot; links without mass get one, because MuJoCo requires it."""
    spec = mujoco.MjSpec.from_file(file)
    spec.compiler.fusestatic = False
    spec.compiler.boundmass = spec.compiler.boundinertia = 1e-3
    model = spec.compile()
    data = mujoco.MjData(model)
    for name, value in positions.items():
        joint = model.joint(name)
        values = value if isinstance(value, list) else [value]
        if len(values) == 7:
            values = [*values[:3], values[6], *values[3:6]]
        start = joint.qposadr[0]
        data.qpos[start : start + len(values)] = values
    mujoco.mj_kinematics(model, data)
    poses = {}
    for at in range(1, model.nbody):
        w, *xyz = data.xquat[at].tolist()
        poses[model.body(at).name] = [*data.xpos[at].tolist(), *xyz, w]
    return {"robot": {"name": spec.modelname}, "poses": poses}


if __name__ == "__main__":
    serve({"urdf": urdf})
