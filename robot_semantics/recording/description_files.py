# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The robots' descriptions of an export: the names of their files, and their names in the states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from robot_semantics.base.files import relative_path
from robot_semantics.recording.robots import RecordedRobot
from robot_semantics.recording.series import Series
from robot_semantics.usdf.saved_descriptions import hash_name

Named = tuple[str | None, str | None]
"""The names of a model's URDF and SRDF in a state."""


def description_files(
    robots: Sequence[RecordedRobot], out: Path, *, inside: bool, beside: bool
) -> tuple[dict[str, Named], dict[str, str]]:
    """Return the names of each model's description files, and the texts that are written with the states.

    Given files keep their names; texts from the bag are named by their digests.

    Args:
        robots: the robots with the descriptions.
        out: the output file or folder.
        inside: True if the texts are written into the output.
        beside: True if the texts are written beside the output.
    """
    names: dict[str, Named] = {}
    texts: dict[str, str] = {}
    for robot in robots:
        both = []
        given = ((robot.description, robot.urdf_text, ".urdf"), (robot.semantic, robot.srdf_text, ".srdf"))
        for path, text, suffix in given:
            name = None if inside or path is None else relative_path(path, out.parent)
            if name is None and text is not None and (inside or beside):
                name = f"{_file_name(robot)}{suffix}" if inside else hash_name(text, suffix)
                texts[name] = text
            both.append(name)
        names[robot.name] = (both[0], both[1])
    return names, texts


def _file_name(robot: RecordedRobot) -> str:
    return (
        "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in robot.name).lstrip(".") or "robot"
    )


def with_descriptions(series: Series, names: Mapping[str, Named]) -> Series:
    """Return the series with the names of the description files beside the output."""
    models = (
        replace(model, description=names[model.name][0], semantic=names[model.name][1]) for model in series.models
    )
    return replace(series, models=tuple(models))
