# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""World states and recordings: edit, resolve, convert, plot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import checked_array
from robot_semantics.transforms.pose import pose_from_matrix
from robot_semantics.usdf.descriptions import RobotSources, beside, robots_for
from robot_semantics.usdf.edit import set_joints, set_pose
from robot_semantics.usdf.frames import ResolvedWorld, resolve_frames
from robot_semantics.usdf.reader import read_world
from robot_semantics.usdf.robot import complete_models
from robot_semantics.usdf.world_state import WorldState

if TYPE_CHECKING:
    from robot_semantics.convert.conversion import Converted
    from robot_semantics.recording.series.series import Series


def with_joints(
    world: WorldState,
    model: str,
    positions: Mapping[str, npt.ArrayLike] | None = None,
    *,
    robot: RobotModel | None = None,
    diagnostics: Diagnostics | None = None,
    **more: npt.ArrayLike,
) -> WorldState:
    """Return `world` with new positions of joints of a model.

    Args:
        world: the state; it does not change.
        model: name of the model.
        positions: by joint: a number [rad, m], or (k,) for a joint with k variables.
        robot: the robot of the model; its mimic joints and the stated links follow. Without it the model must not state
            link poses.
        diagnostics: receives warnings.
        more: further positions, as ``elbow_joint=0.5``.

    Raises:
        UnknownNameError: the model or joint does not exist.
        ArrayError: a joint has another number of values, or the links cannot follow.
        TypeError: `world` is a file.
    """
    _check_is_read(world)
    rows = {
        name: np.atleast_1d(checked_array(name, value)).tolist()
        for name, value in {**(positions or {}), **more}.items()
    }
    return set_joints(world, model, rows, robot, diagnostics=diagnostics)


def with_pose(world: WorldState, body: str, T_parent_body: npt.ArrayLike, *, parent: str | None = None) -> WorldState:
    """Return `world` with a new pose of a model or frame.

    Args:
        world: the state; it does not change.
        body: name of the model or frame.
        T_parent_body: (4, 4) pose in its parent [m].
        parent: another parent: ``world``, a frame, a model or ``MODEL::LINK``; by default the parent stays.

    Raises:
        UnknownNameError: the model, frame or parent does not exist.
        ArrayError: the pose is not a rigid transform.
        TypeError: `world` is a file.
    """
    _check_is_read(world)
    return set_pose(world, body, pose_from_matrix(checked_array("T_parent_body", T_parent_body, 4, 4)), parent=parent)


def _check_is_read(world: WorldState) -> None:
    if not isinstance(world, WorldState):
        raise TypeError(f"a world state is needed, not {world!r}: use read_world(...)")


def resolve(
    world: WorldState | str | Path,
    robots: Mapping[str, RobotModel] | None = None,
    *,
    diagnostics: Diagnostics | None = None,
) -> ResolvedWorld:
    """Return poses and velocities of all objects in a world, in the world and relative to each other.

    Links without a pose in the state follow from the joints of their robots. `ResolvedWorld.pose` takes the name of a
    model or frame, ``MODEL::LINK``, or a link name that only one model has.

    Args:
        world: the state, or its file; then the robots in the file are loaded.
        robots: other robots by the names of their models.
        diagnostics: receives warnings: missing poses, unreadable descriptions.

    Raises:
        DescriptionError: the file has errors; or unknown parents, cycles, names used twice.
        OSError: the file cannot be read.
    """
    problems = Diagnostics() if diagnostics is None else diagnostics
    robot_of: dict[str, RobotModel] = {}
    if not isinstance(world, WorldState):
        path = Path(world)
        world = read_world(path, problems)
        robot_of = robots_for(world, RobotSources(find=beside(path)), diagnostics=problems)
        problems.raise_if_failed()
    robot_of |= robots or {}
    return resolve_frames(complete_models(world, robot_of), diagnostics=problems)


def convert_world(
    world: WorldState | str | Path,
    to: str,
    *,
    mujoco_model: str | Path | None = None,
    robots: Mapping[str, RobotModel] | None = None,
) -> Converted[str]:
    """Return the text of a world state in another format, and one sentence for each thing that this format cannot hold.

    Args:
        world: the state, or its file: ``.usdf``, ``.json``, ``.sdf`` or ``.mjcf``.
        to: ``usdf``, ``json``, ``sdformat``, ``mujoco`` or ``mujoco-key``.
        mujoco_model: file of the MuJoCo model for a keyframe.
        robots: the robots of the models by name; a keyframe needs them for mimic joints and planar robots.

    Raises:
        UnknownNameError: the format does not exist.
        UnknownEndingError: the file has an unknown ending.
        DescriptionError: the file has errors.
        RobotSemanticsError: the state cannot be written in this format.
        OSError: the file cannot be read.
    """
    from robot_semantics.convert.world_formats import FormatOptions, format_of_file, read_as, write_as

    options = FormatOptions(mujoco_model, robots=robots or {})
    if isinstance(world, WorldState):
        return write_as(world, to, options)
    read = read_as(world, format_of_file(world), options)
    written = write_as(read.value, to, options)
    return replace(written, lost=(*read.lost, *written.lost))


def plot(
    series: Series | str | Path, out: str | Path, *, joints: tuple[str, ...] = (), model: str | None = None
) -> int:
    """Draw joint positions and base paths of a series into a ``.png``, ``.svg`` or ``.pdf`` file.

    Args:
        series: the result of ``read_recording(bag).series(every=0.1)``, or a file or folder that `export` wrote.
        out: the file.
        joints: names of joints; by default all.
        model: name of a model; by default all.

    Returns:
        The number of joints in the picture.

    Raises:
        MissingExtraError: matplotlib is not installed.
        UnknownNameError: the series does not have a joint or model.
        RobotSemanticsError: there is nothing to draw, or the ending is unknown.
        OSError: a file cannot be read or written.
        TypeError: `series` is neither a series nor a file.
    """
    from robot_semantics.recording.series.series import Series
    from robot_semantics.viewer.plotting import draw, load_plot_data, plot_data

    if isinstance(series, str | Path):
        data = load_plot_data([Path(series)], Diagnostics())
    elif isinstance(series, Series):
        data = plot_data(series)
    else:
        raise TypeError("a series is needed, as read_recording(bag).series(every=0.1)")
    return draw(data, Path(out), joints=joints, model=model)
