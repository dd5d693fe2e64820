# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics collisions`: generate, check and edit self-collision matrices."""

from __future__ import annotations

from robot_semantics.cli.frame.command import Command, LazyCommand

COMMAND = Command(
    operations={
        "generate": LazyCommand(
            f"{__name__}.generate",
            "COMMAND",
            "sample a robot's configurations and write the pairs that need no checking",
        ),
        "check": LazyCommand(
            f"{__name__}.check", "CHECK", "audit the pairs of an SRDF: disabled pairs that collide, and more"
        ),
        "table": LazyCommand(
            f"{__name__}.check", "TABLE", "table of all pairs of links: SRDF status, sampling result, and risk"
        ),
        "enable": LazyCommand(f"{__name__}.edit", "ENABLE", "check a pair of links, whatever a generated matrix says"),
        "disable": LazyCommand(f"{__name__}.edit", "DISABLE", "do not check a pair of links"),
        "witness": LazyCommand(f"{__name__}.witness", "COMMAND", "find a configuration in which two links collide"),
        "spheres": LazyCommand(f"{__name__}.spheres", "COMMAND", "check, generate and convert the spheres of links"),
    },
    examples=(
        "robot_semantics collisions generate robot.urdf robot.srdf -o new.srdf --samples 500 --report why.json",
        "robot_semantics collisions check robot.urdf robot.srdf --samples 500",
    ),
)
