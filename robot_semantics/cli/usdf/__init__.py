# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics usdf`: show, resolve, combine, convert and change world states."""

from __future__ import annotations

from robot_semantics.cli.frame.command import Command, LazyCommand

COMMAND = Command(
    operations={
        "new": LazyCommand(
            f"{__name__}.change", "NEW", "make a world state of robots: which, where and in which named states"
        ),
        "show": LazyCommand(f"{__name__}.views", "SHOW", "show the content of a world state"),
        "resolve": LazyCommand(
            f"{__name__}.views", "RESOLVE", "say where everything is and how it moves, seen from any frame"
        ),
        "merge": LazyCommand(f"{__name__}.combine", "MERGE", "put several world states into one"),
        "split": LazyCommand(f"{__name__}.combine", "SPLIT", "write one world state for each model"),
        "interpolate": LazyCommand(f"{__name__}.combine", "INTERPOLATE", "make the world state between two others"),
        "convert": LazyCommand(
            f"{__name__}.combine", "CONVERT", "convert from and to JSON, SDFormat and MuJoCo options"
        ),
        "edit": LazyCommand(f"{__name__}.change", "EDIT", "set poses, joints or named states; the links follow"),
    },
    examples=(
        "robot_semantics usdf resolve world.usdf",
        "robot_semantics usdf edit world.usdf --joint rover_arm/elbow_joint=1.2 -o changed.usdf",
    ),
)
