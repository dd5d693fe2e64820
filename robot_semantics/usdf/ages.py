# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""How old the values of a state were at its time: the state has one time, they have many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from robot_semantics.usdf.world_state import WorldState


class ValueAge(NamedTuple):
    """The age of one value.

    Attributes:
        model: the model whose joint it is; None for a frame, or for a model as a whole.
        name: of the joint, frame or model.
        age_ns: how long before the state's time it was true.
    """

    model: str | None
    name: str
    age_ns: int


def with_ages(state: WorldState, ages: Sequence[ValueAge]) -> WorldState:
    """Return the state with these ages, those of what it does not state left out, instead of those it had."""
    by_name = {(age.model, age.name): age.age_ns for age in ages}
    return replace(
        state,
        models=tuple(
            replace(
                model,
                age_ns=by_name.get((None, model.name)),
                joints=tuple(replace(joint, age_ns=by_name.get((model.name, joint.name))) for joint in model.joints),
            )
            for model in state.models
        ),
        frames=tuple(replace(frame, age_ns=by_name.get((None, frame.name))) for frame in state.frames),
    )


def ages_of(state: WorldState) -> tuple[ValueAge, ...]:
    """Return the ages that a state states."""
    bodies = [ValueAge(None, body.name, body.age_ns) for body in state.bodies if body.age_ns is not None]
    joints = [
        ValueAge(model.name, joint.name, joint.age_ns)
        for model in state.models
        for joint in model.joints
        if joint.age_ns is not None
    ]
    return (*joints, *bodies)
