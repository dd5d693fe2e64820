# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The library for bags: `rosbags` if it is installed, else `rosbag2_py` of a ROS 2 installation."""

from __future__ import annotations

from pathlib import Path

from robot_semantics.base.errors import MissingExtraError
from robot_semantics.recording.bags.source import BagSource, BagWriter

try:
    from robot_semantics.recording.bags.rosbags import (
        RosbagsSource,
        RosbagsWriter,
        definition_problem,
        starts_with_header,
    )

    HAS_ROSBAGS = True
except ImportError as error:
    try:
        from robot_semantics.recording.bags.encodings import definition_problem, starts_with_header
        from robot_semantics.recording.bags.rosbag2_py import Rosbag2Source, Rosbag2Writer
    except ImportError:
        raise MissingExtraError("rosbags", "bag", "reading and writing recordings") from error

    HAS_ROSBAGS = False

__all__ = ["HAS_ROSBAGS", "create_bag", "definition_problem", "open_source", "starts_with_header"]


def open_source(path: Path) -> BagSource:
    """Return a bag; open it with ``with``."""
    return RosbagsSource(path) if HAS_ROSBAGS else Rosbag2Source(path)


def create_bag(folder: Path) -> BagWriter:
    """Create a rosbag2 in mcap and return its writer; the folder must not exist."""
    return RosbagsWriter(folder) if HAS_ROSBAGS else Rosbag2Writer(folder)
