# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Files of other formats in the place of a URDF, SRDF or USDF: what such a file is, and which command reads it."""

from __future__ import annotations

import re
from pathlib import Path

from robot_semantics.base.pattern import pattern
from robot_semantics.xml.document import name_of_root

_SERIES = "'robot_semantics info' shows a series in it, and 'robot_semantics bag' makes a recording of it"
_RECORDING = "'robot_semantics export' makes world states of it"
_SPHERES = "'robot_semantics collisions spheres convert' reads its spheres"
_WORLD_COMMANDS = "'robot_semantics usdf' has the commands for it"

ROOTS = {
    "robot": "the file is a URDF or SRDF: 'robot_semantics usdf new' makes a world state of a robot",
    "world_state": f"the file is a USDF file: {_WORLD_COMMANDS}",
    "mujoco": "the file is an MJCF: 'robot_semantics usdf convert' makes a world state of its keyframe",
    "key": "the file is a keyframe of MuJoCo: 'robot_semantics usdf convert' makes a world state of it",
    "sdf": "the file is an SDFormat file: 'robot_semantics usdf convert' makes a world state of its <state>",
    "COLLADA": "the file is a mesh: a description names it",
    "launch": "the file is a launch file: 'ros2 launch' reads it",
    "package": "the file is the manifest of a ROS package: 'robot_semantics check' reads the folder of the package",
}
"""What a file is, by its root element."""

_BEGINNINGS = (
    (b"PK\x03\x04", f"the file is an archive of NumPy (.npz): {_SERIES}"),
    (b"PAR1", f"the file is a table of Parquet: {_SERIES}"),
    (b"\x89MCAP0\r\n", f"the file is a recording (mcap): {_RECORDING}"),
    (b"SQLite format 3\0", f"the file is a recording (rosbag2, sqlite3): {_RECORDING}"),
    (b"#ROSBAG V", f"the file is a recording (ROS 1): {_RECORDING}"),
    (b"\x93NUMPY", "the file is an array of NumPy (.npy): no command reads it"),
    (b"\x89PNG\r\n", "the file is a picture: no command reads it"),
    (b"solid ", "the file is a mesh: a description names it"),
)
_KEYS = (
    (rb"rosbag2_bagfile_information:", f"the file is the list of a recording: {_RECORDING} if you name the folder"),
    (rb"directives:", "the file has model directives of Drake: 'robot_semantics sim export' writes them"),
    (rb"robot_cfg:", f"the file is a robot of cuRobo: {_SPHERES}"),
    (rb"format:\s*[\"']?xrdf", f"the file is an XRDF: {_SPHERES}"),
    (rb"closed_loop:", "the file has loops of Extended URDF: give it as --loops"),
    (rb"models:|format:\s*[\"']?urn:robot-semantics:usdf",
     "a world state is read as USDF or JSON, not as YAML: 'robot_semantics usdf convert' reads JSON"),
)  # fmt: skip
"""What a YAML file is, by a key at the beginning of a line."""
_YAML_KEYS = tuple((pattern(rb"^(?:" + key + rb")", re.MULTILINE), words) for key, words in _KEYS)
_ENDINGS = {
    ".jsonl": f"the file has a JSON object in each line: {_SERIES}",
    ".csv": "the file is a table (CSV): 'robot_semantics export' writes it, no command reads it",
    ".yaml": "the file is YAML: 'robot_semantics check' reads the configuration files of MoveIt and ros2_control",
}
_MOST = 1 << 16
"""Bytes that are searched."""


def other_format(text: bytes, source: str) -> str:
    """Return what a file is that is no URDF, SRDF or USDF, and which command reads it; empty if that is not known.

    Args:
        text: the bytes of the file.
        source: its name; its ending decides between texts that look alike.
    """
    beginning = text[:_MOST].removeprefix(b"\xef\xbb\xbf")
    for mark, words in _BEGINNINGS:
        if beginning.startswith(mark):
            return words
    beginning = beginning.lstrip()
    if beginning.startswith(b"<"):
        return ROOTS.get(name_of_root(beginning), "")
    ending = Path(source).suffix.lower().replace(".yml", ".yaml")
    if beginning.startswith((b"{", b"[")) and ending not in (".jsonl", ".yaml"):
        return "the file is JSON: 'robot_semantics usdf convert' makes a USDF file of a world state in it"
    return next(
        (words for key, words in _YAML_KEYS if ending == ".yaml" and key.search(beginning)), _ENDINGS.get(ending, "")
    )
