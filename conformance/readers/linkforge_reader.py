# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""linkforge-core as a reader of URDF and SRDF; it computes no poses and no group members."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from common import Answer, serve
from linkforge.core.parsers.srdf_parser import SRDFParser
from linkforge.core.parsers.urdf_parser import URDFParser


def urdf(file: str, _robot: str, _positions: Mapping[str, Any]) -> Answer:
    """Read a robot."""
    read = URDFParser().parse(Path(file))
    joints: dict[str, Any] = {}
    for joint in read.joints:
        axis, limits, mimic = joint.axis, joint.limits, joint.mimic
        joints[joint.name] = {"type": joint.type.value, "parent": joint.parent, "child": joint.child}
        if axis is not None:
            joints[joint.name]["axis"] = [axis.x, axis.y, axis.z]
        if limits is not None:
            joints[joint.name] |= {key: getattr(limits, key) for key in ("lower", "upper", "effort", "velocity")}
        if mimic is not None:
            joints[joint.name]["mimic"] = [mimic.joint, mimic.multiplier, mimic.offset]
    links = sorted(link.name for link in read.links)
    return {"robot": {"name": read.name, "root": read.get_root_link().name, "links": links, "joints": joints}}


def srdf(file: str, _robot: str, _positions: Mapping[str, Any]) -> Answer:
    """Read semantics; the reader does not check them against a robot."""
    read = SRDFParser().parse(Path(file))
    return {
        "states": {
            f"{state.group}/{state.name}": {joint: list(values) for joint, values in state.joint_values.items()}
            for state in read.group_states
        },
        "end_effectors": {one.name: {"group": one.group, "parent_link": one.parent_link} for one in read.end_effectors},
        "disabled_pairs": sorted(sorted((pair.link1, pair.link2)) for pair in read.disabled_collisions),
    }


if __name__ == "__main__":
    serve({"urdf": urdf, "srdf": srdf})
