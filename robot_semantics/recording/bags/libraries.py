# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The library for bags, and its errors: `rosbags` if it is installed, else `rosbag2_py` of a ROS 2 installation."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

from robot_semantics.base.errors import MissingExtraError
from robot_semantics.recording.bags.columns import NONSENSE
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

__all__ = [
    "HAS_ROSBAGS",
    "NOT_ROS2",
    "READ_ERRORS",
    "create_bag",
    "definition_problem",
    "describe",
    "open_source",
    "reason_of",
    "starts_with_header",
]


try:
    import apsw
    from rosbags.rosbag1 import ReaderError as ReaderError1
    from rosbags.rosbag2 import ReaderError as ReaderError2

    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdError
    else:
        from backports.zstd import ZstdError

    _LIBRARY_ERRORS: tuple[type[Exception], ...] = (ReaderError1, ReaderError2, apsw.Error, ZstdError)
except ImportError:
    # rosbag2_py raises this type for everything.
    _LIBRARY_ERRORS = (RuntimeError,)

READ_ERRORS: tuple[type[Exception], ...] = (*_LIBRARY_ERRORS, struct.error, OSError, *NONSENSE)
"""Errors that a damaged bag can cause."""


NOT_ROS2 = "its profile is not ros2"
"""Reason why the index of an MCAP file is not used; the file is not damaged."""

_CLEARER = {
    "Profile is not ros2.": NOT_ROS2,
    "File magic is invalid.": "it does not begin as an MCAP file does",
    "File end magic is invalid.": "it does not end as an MCAP file does",
    "Unexpected record.": "it does not begin with a header",
}
"""Texts of rosbags, and what they mean."""


def reason_of(error: BaseException) -> str:
    """Return the reason why a library cannot read a bag; "" if the error says nothing about the bag."""
    text = " ".join(str(error).split())
    if not isinstance(error, (*_LIBRARY_ERRORS, OSError, EOFError)):
        return ""
    return "the file is empty" if text.endswith("seems to be empty.") else _CLEARER.get(text, text)


def describe(error: BaseException) -> str:
    """Return the reason why a part of a bag cannot be read."""
    return reason_of(error) or "its content is not valid"


def open_source(path: Path) -> BagSource:
    """Return a bag; open it with ``with``."""
    return RosbagsSource(path) if HAS_ROSBAGS else Rosbag2Source(path)


def create_bag(folder: Path) -> BagWriter:
    """Create a rosbag2 in mcap and return its writer; the folder must not exist."""
    return RosbagsWriter(folder) if HAS_ROSBAGS else Rosbag2Writer(folder)
