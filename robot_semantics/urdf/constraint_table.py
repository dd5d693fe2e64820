# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The part of URDF's table for loop constraints."""

from __future__ import annotations

from dataclasses import replace

from robot_semantics.urdf.tree import Constraint
from robot_semantics.xml.schema import Attribute, CheckedReader, Child, Element, Fields, ValueKind


def constraint_element(joint: Element, origin: Element, axis: ValueKind) -> Element:
    """Return the element ``<constraint>``; name, type, parent and child are those of `joint`."""
    children: dict[str, Child] = {}
    for side in ("parent", "child"):
        children[side] = joint.children[side]
        frame = replace(origin, tag=f"{side}_origin")
        children[f"{side}_origin"] = Child(f"{side}_origin", frame, vital=True)
        direction = Element(f"{side}_axis", None, {"xyz": Attribute("", axis, True)})
        children[f"{side}_axis"] = Child(f"{side}_axis", direction, at=f"{side}_axis_at")
    return Element(
        "constraint", Constraint, joint.attributes, children, keeps=True, numbered=True, check=_axes_are_known
    )


def _axes_are_known(reader: CheckedReader, values: Fields, at: int) -> bool:
    """Return True if no axis of a constraint is invalid."""
    return all(values.get(axis, ()) is not None for axis in ("parent_axis", "child_axis"))
