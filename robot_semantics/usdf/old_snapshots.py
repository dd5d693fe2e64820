# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Snapshots as older versions wrote them: ages and a comment in a namespace of their own become the fields of today."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from robot_semantics.usdf.ages import ValueAge, with_ages
from robot_semantics.usdf.table import OLD_SNAPSHOT_NAMESPACE
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.xml.foreign import element_of

_AGES, _COMMENT, _JOINT = (f"{{{OLD_SNAPSHOT_NAMESPACE}}}{word}" for word in ("ages", "comment", "joint"))


def from_old_snapshot(state: WorldState) -> WorldState:
    """Return the state with the ages and the comment that its foreign content states in their fields."""
    kept: list[str] = []
    ages: list[ValueAge] = []
    comment = state.comment
    for entry in state.foreign:
        element = element_of(entry, (_AGES, _COMMENT))
        if element is None:
            kept.append(entry)
        elif element.tag == _COMMENT:
            comment = comment or element.text
        else:
            for child in element:
                model = child.get("model") if child.tag == _JOINT else None
                with suppress(ValueError):
                    age_ns = int(child.get("age", "").replace(".", ""))
                    ages.append(ValueAge(model, child.get("name", ""), age_ns))
    return with_ages(replace(state, comment=comment, foreign=tuple(kept)), ages)
