# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A recording as a series of world states to look at, made in a folder that goes when the process ends."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.xml.xacro_options import Xacro

ENDINGS = (".bag", ".mcap", ".db3")
MOST_MOMENTS = 300
"""So many states at most are taken from a recording, evenly over its length."""

SHORTEST_STEP_S = 0.02


def is_bag(path: Path) -> bool:
    """Tell whether a file or folder is a recording: ROS 1, a bare mcap or sqlite3 file, or a rosbag2 folder."""
    if path.is_dir():
        return (path / "metadata.yaml").is_file() or any(path.glob("*.mcap")) or any(path.glob("*.db3"))
    return path.suffix in ENDINGS


def series_of_bag(
    path: Path,
    urdf: Path | None,
    srdf: Path | None,
    problems: Diagnostics,
    xacro: Xacro | None = None,
    *,
    implicit_links: bool = False,
) -> Path:
    """Return a folder of world states of the recording at `path`; the robot is the given one, or the recording's own.

    Raises:
        MissingExtraError: the libraries that read recordings are not installed.
        RobotSemanticsError: nothing can be read of it, or there is nothing in it to show.
        OSError: it cannot be read.
    """
    # Only who looks at a recording needs the extra that reads one.
    from robot_semantics.recording.export import ExportRequest, export
    from robot_semantics.recording.robots import RobotRequest
    from robot_semantics.recording.times import TimeRequest

    folder = Path(tempfile.mkdtemp(prefix="robot_semantics_view_"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    robot = RobotRequest(urdf=urdf, srdf=srdf, xacro=xacro or Xacro(), implicit_links=implicit_links)
    whole = ExportRequest((path,), None, robots=(robot,), dry_run=True)
    # What is wrong with the recording is said once, by the second reading.
    recording = export(whole, Diagnostics()).recording
    seconds = (recording.end_ns - recording.start_ns) / 1e9
    step = max(seconds / MOST_MOMENTS, SHORTEST_STEP_S)
    out = folder / "states"
    export(replace(whole, out=out, times=TimeRequest(every=f"{step:.9f}"), dry_run=False), problems)
    return out
