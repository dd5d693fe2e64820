# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""urchin as a reader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from common import Answer, pose, serve
from urchin import URDF


def urdf(file: str, _robot: str, positions: Mapping[str, Any]) -> Answer:
    """Read a robot."""
    read = URDF.load(file, lazy_load_meshes=True)
    joints = {}
    for joint in read.joints:
        limit, mimic = joint.limit, joint.mimic
        joints[joint.name] = {"type": joint.joint_type, "parent": joint.parent, "child": joint.child}
        if joint.axis is not None:
            joints[joint.name]["axis"] = list(joint.axis)
        if limit is not None:
            joints[joint.name] |= {key: getattr(limit, key) for key in ("lower", "upper", "effort", "velocity")}
        if mimic is not None:
            joints[joint.name]["mimic"] = [mimic.joint, mimic.multiplier, mimic.offset]
    links = sorted(link.name for link in read.links)
    poses = {link.name: pose(T) for link, T in read.link_fk(cfg=dict(positions)).items()}
    return {"robot": {"name": read.name, "root": read.base_link.name, "links": links, "joints": joints}, "poses": poses}


if __name__ == "__main__":
    serve({"urdf": urdf})
