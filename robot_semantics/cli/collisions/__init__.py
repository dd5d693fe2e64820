# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics collisions`: generate, check and compare self-collision matrices."""

from __future__ import annotations

from robot_semantics.cli.collisions import check as collisions_check
from robot_semantics.cli.collisions import edit as collisions_edit
from robot_semantics.cli.collisions import generate as collisions_generate
from robot_semantics.cli.collisions import spheres as collisions_spheres
from robot_semantics.cli.collisions import witness as collisions_witness
from robot_semantics.cli.frame.command import Command

COMMAND = Command(
    operations={
        "generate": collisions_generate.COMMAND,
        "check": collisions_check.CHECK,
        "table": collisions_check.TABLE,
        "enable": collisions_edit.ENABLE,
        "disable": collisions_edit.DISABLE,
        "witness": collisions_witness.COMMAND,
        "spheres": collisions_spheres.COMMAND,
        "diff": collisions_edit.DIFF,
    },
    examples=(
        "robot_semantics collisions generate robot.urdf robot.srdf -o new.srdf --samples 500 --json why.json",
        "robot_semantics collisions check robot.urdf robot.srdf --samples 500",
    ),
)
