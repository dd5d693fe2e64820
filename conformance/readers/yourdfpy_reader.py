# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""yourdfpy as a reader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from common import Answer, pose, serve
from yourdfpy import URDF


def urdf(file: str, _robot: str, positions: Mapping[str, Any]) -> Answer:
    """Read a robot; joints with several degrees of freedom get no positions here."""
    read = URDF.load(file, load_meshes=False, build_scene_graph=True)
    read.update_cfg({name: value for name, value in positions.items() if name in read.actuated_joint_names})
    joints = {}
    for name, joint in read.joint_map.items():
        limit, mimic = joint.limit, joint.mimic
        joints[name] = {"type": joint.type, "parent": joint.parent, "child": joint.child}
        if joint.axis is not None:
            joints[name]["axis"] = joint.axis.tolist()
        if limit is not None:
            joints[name] |= {key: getattr(limit, key) for key in ("lower", "upper", "effort", "velocity")}
        if mimic is not None:
            joints[name]["mimic"] = [mimic.joint, mimic.multiplier, mimic.offset]
    links = sorted(read.link_map)
    return {
        "robot": {"name": read.robot.name, "root": read.base_link, "links": links, "joints": joints},
        "poses": {link: pose(read.get_transform(link, read.base_link)) for link in links},
    }


if __name__ == "__main__":
    serve({"urdf": urdf})
