# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Differences between two world states."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from demo.failure import DemoError
from robot_semantics import WorldState
from robot_semantics.transforms import quat_angle
from robot_semantics.transforms.pose import Pose, pose_quaternions
from robot_semantics.usdf.world_state import ModelState

FloatArray = npt.NDArray[np.float64]
Stated = TypeVar("Stated")


class Difference(NamedTuple):
    """The largest difference of one kind, and the number of compared values."""

    kind: str
    unit: str
    number: int
    largest: float


def differences(before: WorldState, after: WorldState) -> list[Difference]:
    """Return the largest differences between two states of the same world, by kind.

    Raises:
        DemoError: they do not have the same values.
    """
    values_before, values_after = _values(before), _values(after)
    found = []
    for (kind, unit), first in values_before.items():
        second = values_after[kind, unit]
        if first.shape != second.shape or not len(first):
            raise DemoError(f"the states do not have the same {kind}: {first.shape} and {second.shape}")
        apart = quat_angle(first, second) if kind.endswith("orientations") else np.abs(first - second)
        found.append(Difference(kind, unit, len(first), float(apart.max())))
    return found


def _values(state: WorldState) -> dict[tuple[str, str], FloatArray]:
    models = sorted(state.models, key=lambda model: model.name)
    joints = [joint for model in models for joint in model.joints]
    links = [link for model in models for link in model.links]
    return {
        ("joint positions", "rad, m"): _flat([joint.positions for joint in joints]),
        ("joint velocities", "rad/s, m/s"): _flat([joint.velocities for joint in joints]),
        ("base positions", "m"): _places([model.pose for model in models]),
        ("base orientations", "rad"): _turns([model.pose for model in models]),
        ("base twists", "m/s, rad/s"): _flat([model.twist for model in models]),
        ("link positions", "m"): _places([link.pose for link in links]),
        ("link orientations", "rad"): _turns([link.pose for link in links]),
        ("link twists", "m/s, rad/s"): _flat([link.twist for link in links]),
    }


def model_of(state: WorldState, name: str) -> ModelState:
    """Return the model of that name.

    Raises:
        DemoError: the state does not have it.
    """
    for model in state.models:
        if model.name == name:
            return model
    raise DemoError(f"the state has no model '{name}'")


def _flat(rows: list[tuple[float, ...] | None]) -> FloatArray:
    return np.array([value for row in rows for value in _stated(row)])


def _places(poses: list[Pose | None]) -> FloatArray:
    return np.array([value for pose in poses for value in _stated(pose).xyz_rpy[:3]])


def _turns(poses: list[Pose | None]) -> FloatArray:
    return pose_quaternions([_stated(pose) for pose in poses])


def _stated(value: Stated | None) -> Stated:
    if value is None:
        raise DemoError("the state leaves something out")
    return value
