# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics usdf`: show, check, resolve, compare, combine, convert and change world states."""

from __future__ import annotations

from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.usdf import change as usdf_edit
from robot_semantics.cli.usdf import change as usdf_new
from robot_semantics.cli.usdf import combine as usdf_combine
from robot_semantics.cli.usdf import combine as usdf_convert
from robot_semantics.cli.usdf import views as usdf_diff
from robot_semantics.cli.usdf import views as usdf_views

COMMAND = Command(
    operations={
        "new": usdf_new.NEW,
        "check": usdf_views.CHECK,
        "show": usdf_views.SHOW,
        "resolve": usdf_views.RESOLVE,
        "diff": usdf_diff.DIFF,
        "merge": usdf_combine.MERGE,
        "split": usdf_combine.SPLIT,
        "interpolate": usdf_combine.INTERPOLATE,
        "from-series": usdf_new.FROM_SERIES,
        "convert": usdf_convert.CONVERT,
        "edit": usdf_edit.EDIT,
    },
    examples=(
        "robot_semantics usdf resolve world.usdf",
        "robot_semantics usdf diff world.usdf world.usdf",
        "robot_semantics usdf edit world.usdf --joint rover_arm/elbow_joint 1.2 -o changed.usdf",
    ),
)
