# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""urdf_parser_py, ROS's reader in Python: names, types and limits; it computes no poses."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# The library has the same name as this file.
sys.path.append(sys.path.pop(0))

from common import Answer, serve
from urdf_parser_py.urdf import URDF


def urdf(file: str, _robot: str, _positions: Mapping[str, Any]) -> Answer:
    """Read a robot."""
    read = URDF.from_xml_string(Path(file).read_bytes())
    joints = {}
    for joint in read.joints:
        limit, mimic = joint.limit, joint.mimic
        joints[joint.name] = {"type": joint.type, "parent": joint.parent, "child": joint.child}
        if limit is not None:
            joints[joint.name] |= {key: getattr(limit, key) for key in ("lower", "upper", "effort", "velocity")}
        if mimic is not None:
            joints[joint.name]["mimic"] = [mimic.joint, mimic.multiplier or 1.0, mimic.offset or 0.0]
    links = sorted(link.name for link in read.links)
    return {"robot": {"name": read.name, "root": read.get_root(), "links": links, "joints": joints}}


if __name__ == "__main__":
    serve({"urdf": urdf})
