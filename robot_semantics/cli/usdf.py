# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics usdf`: world states shown, checked, resolved, compared, combined, converted and changed."""

from __future__ import annotations

from robot_semantics.cli import (
    usdf_combine,
    usdf_convert,
    usdf_diff,
    usdf_edit,
    usdf_new,
    usdf_resolve,
    usdf_series,
    usdf_views,
)
from robot_semantics.cli.command import Command

COMMAND = Command(
    operations={
        "new": Command(
            "make a world state of robots: which, where and in which named states",
            usdf_new.add_new_arguments,
            usdf_new.run_new,
            examples=(
                "robot_semantics usdf new robot.urdf,robot.srdf --state rover_arm arm/reach -o new.usdf",
                "robot_semantics usdf new a=robot.urdf b=robot.urdf --pose b '2 0 0 0 0 0' -o two.usdf",
            ),
        ),
        "check": Command(
            "check world states, also against the robots they are about",
            usdf_views.add_check_arguments,
            usdf_views.run_check,
            examples=("robot_semantics usdf check world.usdf --urdf robot.urdf --srdf robot.srdf",),
        ),
        "show": Command(
            "show what a world state says",
            usdf_views.add_show_arguments,
            usdf_views.run_show,
            examples=("robot_semantics usdf show world.usdf --json",),
        ),
        "resolve": Command(
            "say where everything is and how it moves, seen from any frame",
            usdf_resolve.add_resolve_arguments,
            usdf_resolve.run_resolve,
            examples=(
                "robot_semantics usdf resolve world.usdf rover_arm::tool_frame",
                "robot_semantics usdf resolve world.usdf rover_arm::tool_frame --relative-to block_1",
            ),
        ),
        "diff": Command(
            "compare two world states; exit code 1 where they differ",
            usdf_diff.add_diff_arguments,
            usdf_diff.run_diff,
            examples=("robot_semantics usdf diff world.usdf world.usdf --tolerance 1e-6",),
        ),
        "merge": Command(
            "put several world states into one",
            usdf_combine.add_merge_arguments,
            usdf_combine.run_merge,
            examples=("robot_semantics usdf merge world.usdf world.usdf --prefix a_ --prefix b_ -o both.usdf",),
        ),
        "split": Command(
            "write one world state for each model",
            usdf_combine.add_split_arguments,
            usdf_combine.run_split,
            examples=("robot_semantics usdf split world.usdf -o models",),
        ),
        "interpolate": Command(
            "make the world state between two others",
            usdf_combine.add_interpolate_arguments,
            usdf_combine.run_interpolate,
            examples=("robot_semantics usdf interpolate world.usdf world.usdf --share 0.5 -o between.usdf",),
        ),
        "from-series": Command(
            "write one state of a series that export made, with its robots, to start from",
            usdf_series.add_from_series_arguments,
            usdf_series.run_from_series,
            examples=("robot_semantics usdf from-series states/ --at 2.5 -o then.usdf",),
        ),
        "convert": Command(
            "convert from and to JSON, SDFormat and MuJoCo keyframes",
            usdf_convert.add_convert_arguments,
            usdf_convert.run_convert,
            examples=("robot_semantics usdf convert world.usdf -o world.json",),
        ),
        "edit": Command(
            "set poses, joints or named states; the links follow",
            usdf_edit.add_edit_arguments,
            usdf_edit.run_edit,
            examples=(
                "robot_semantics usdf edit world.usdf --joint rover_arm/elbow_joint 1.2 -o bent.usdf",
                "robot_semantics usdf edit world.usdf --pose rover_arm '1 0 0 0 0 1.57' -o moved.usdf",
                "robot_semantics usdf edit world.usdf --state rover_arm arm/reach -o reaching.usdf",
            ),
        ),
    },
    examples=(
        "robot_semantics usdf resolve world.usdf",
        "robot_semantics usdf diff world.usdf world.usdf",
        "robot_semantics usdf edit world.usdf --joint rover_arm/elbow_joint 1.2 -o changed.usdf",
    ),
)
