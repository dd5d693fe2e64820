# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Surface properties of a URDF in Drake's elements. Drake's parser reads their values."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from robot_semantics.base.names import did_you_mean
from robot_semantics.urdf.extras import Extra, element_of
from robot_semantics.urdf.tree import Collision

NAMESPACE = "http://drake.mit.edu"
TAG = "drake:proximity_properties"
KNOWN = (
    "drake:rigid_hydroelastic",
    "drake:compliant_hydroelastic",
    "drake:mesh_resolution_hint",
    "drake:hydroelastic_modulus",
    "drake:hydroelastic_margin",
    "drake:hunt_crossley_dissipation",
    "drake:relaxation_time",
    "drake:mu_dynamic",
    "drake:mu_static",
    "drake:point_contact_stiffness",
)
"""Property elements that Drake knows. Drake ignores unknown elements silently."""


def surface_properties(collision: Collision) -> Extra | None:
    """Return the surface properties of a collision: the first such element, as in Drake; None without one."""
    return next((extra for extra in collision.extras if extra.tag == TAG and not extra.within), None)


def ignored_elements(stated: Extra) -> Iterator[str]:
    """Yield a message about each element that Drake ignores."""
    seen = set()
    for tag, _ in _children(stated):
        if tag not in KNOWN:
            nearest = did_you_mean(tag, KNOWN)
            yield f"<{tag}>, which Drake does not know" + (f"; did you mean <{nearest}>?" if nearest else "")
        elif tag in seen:
            yield f"another <{tag}>: the first one counts"
        seen.add(tag)


def sdf_properties(stated: Extra) -> etree._Element:
    """Return the properties for an SDFormat collision, where numbers are texts, not attributes."""
    element = etree.Element(etree.QName(NAMESPACE, TAG.partition(":")[2]), nsmap={"drake": NAMESPACE})
    for tag, value in _children(stated):
        if tag in KNOWN:
            etree.SubElement(element, etree.QName(NAMESPACE, tag.partition(":")[2])).text = value
    return element


def _children(stated: Extra) -> Iterator[tuple[str, str | None]]:
    """Yield the elements of a surface, as written, and their values."""
    for child in element_of(stated).iterchildren("*"):
        # The prefix is part of the name if it is declared outside.
        name = str(child.tag).rpartition("}")[2]
        yield f"{child.prefix}:{name}" if child.prefix else name, child.get("value")
