# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Robots put into named states and given positions before they are shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.kinematics.named_states import with_state
from robot_semantics.viewer.scene import Actor, Scene, Stance


def posed(scene: Scene, states: Sequence[str], positions: Sequence[str], model: str | None = None) -> Scene:
    """Return the scene with its first moment changed, and no other moments, where anything is to be changed.

    Args:
        scene: what is shown.
        states: named states, each ``GROUP/STATE``, taken up one after the other.
        positions: each ``NAME=VALUE``, a position variable or joint and its value [rad, m], after the states.
        model: the robot that is meant; needed where there are several.

    Raises:
        UnknownNameError: there is no such robot, group, state or joint.
        RobotSemanticsError: a text has another form, or it is not clear which robot is meant.
        ArrayError: a value does not fit its joint.
    """
    if not states and not positions:
        return scene
    actor = _actor(scene, model)
    moment = scene.moments[0]
    if actor.name not in moment.stances:
        raise RobotSemanticsError(f"'{actor.name}' is not in the first of the states")
    space = actor.kinematics.space
    stance = moment.stances[actor.name]
    q = stance.q
    for text in states:
        group, separator, name = text.partition("/")
        if not separator:
            raise RobotSemanticsError(f"'{text}' is no GROUP/STATE")
        q = with_state(space, group, name, q)
    values: dict[str, float] = {}
    for text in positions:
        name, separator, number = text.rpartition("=")
        try:
            values[name] = float(number)
        except ValueError:
            raise RobotSemanticsError(f"'{text}' is no NAME=VALUE with a number") from None
        if not separator or not math.isfinite(values[name]):
            raise RobotSemanticsError(f"'{text}' is no NAME=VALUE with a finite number")
    if values:
        joints = {name: value for name, value in values.items() if name in space.index}
        if len(joints) < len(values):
            unknown = next(name for name in values if name not in joints)
            raise UnknownNameError("joint variable", unknown, space.names)
        q = space.pack(joints, q)
    stances = {**moment.stances, actor.name: Stance(q, stance.T_world_base)}
    return scene.with_moment(replace(moment, stances=stances))


def _actor(scene: Scene, name: str | None) -> Actor:
    if name is None:
        if len(scene.actors) != 1:
            raise RobotSemanticsError(
                f"which of {', '.join(actor.name for actor in scene.actors)} is meant? say --model"
            )
        return scene.actors[0]
    for actor in scene.actors:
        if actor.name == name:
            return actor
    raise UnknownNameError("model", name, [actor.name for actor in scene.actors])
