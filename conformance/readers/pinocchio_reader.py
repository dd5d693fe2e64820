# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Pinocchio as a reader."""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, sin
from typing import Any

import pinocchio
from common import Answer, pose, serve


def urdf(file: str, _robot: str, positions: Mapping[str, Any]) -> Answer:
    """Read a robot; pinocchio represents an unlimited angle by its cosine and sine."""
    model = pinocchio.buildModelFromUrdf(file, True)
    q = pinocchio.neutral(model)
    for name, value in positions.items():
        joint = model.joints[model.getJointId(name)]
        values = list(value) if isinstance(value, list) else [value]
        if joint.nq == len(values) + 1:
            values[-1:] = [cos(values[-1]), sin(values[-1])]
        q[joint.idx_q : joint.idx_q + joint.nq] = values
    data = model.createData()
    pinocchio.framesForwardKinematics(model, data, q)
    frames = [frame for frame in model.frames if frame.type == pinocchio.FrameType.BODY]
    poses = {frame.name: pose(data.oMf[model.getFrameId(frame.name)].homogeneous) for frame in frames}
    return {"robot": {"name": model.name, "root": frames[0].name, "links": sorted(poses)}, "poses": poses}


if __name__ == "__main__":
    serve({"urdf": urdf})
