# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What a conversion gives: the converted thing, and everything it could not carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from robot_semantics.usdf.ages import ages_of
from robot_semantics.usdf.world_state import WorldState

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Converted(Generic[T]):
    """A converted value.

    Attributes:
        value: what the other format has.
        lost: one sentence for each thing that it cannot say.
        notes: how the value was read where that was not certain.
    """

    value: T
    lost: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def beyond_motion(state: WorldState) -> list[str]:
    """Return what no format but USDF itself carries of `state`: engines, files, ages, comment, foreign content."""
    lost = [f"the engine state of '{engine.name}'" for engine in state.engines]
    for model in state.models:
        files = [what for what in ("description", "semantic", "urdf_sha256") if getattr(model, what) is not None]
        if files:
            lost.append(f"model '{model.name}': which robot it is (rs:description, rs:semantic, rs:hash)")
    if ages_of(state):
        lost.append("how old values are (rs:age)")
    if state.comment:
        lost.append("the comment")
    carriers = [(body.name, body.foreign) for body in state.bodies]
    for model in state.models:
        carriers.extend((f"{model.name}::{link.name}", link.foreign) for link in model.links)
        carriers.extend((f"{model.name} joint {joint.name}", joint.foreign) for joint in model.joints)
    lost.extend(f"'{name}': comments and content of foreign namespaces" for name, foreign in carriers if foreign)
    if state.foreign:
        lost.append("the world's comments and content of foreign namespaces")
    return lost
