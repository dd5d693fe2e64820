# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""SRDF content about single links and joints: collision pairs, spheres and joint properties."""

from __future__ import annotations

import sys
from types import MappingProxyType

from robot_semantics.base.names import LinkPair
from robot_semantics.model.semantic_scope import ResolutionScope
from robot_semantics.srdf import tree


def resolve_pairs(scope: ResolutionScope, items: tuple[tree.CollisionPair, ...], tag: str) -> dict[LinkPair, str]:
    """Return the pairs of existing links with their reasons; for a repeated pair, the first reason is used."""
    found: dict[LinkPair, str] = {}
    for item in items:
        known = [
            scope.known_link(item.link1, item.at, "link1", f"<{tag}>"),
            scope.known_link(item.link2, item.at, "link2", f"<{tag}>"),
        ]
        if all(known):
            found.setdefault(item.pair, item.reason)
    return found


def resolve_default_disabled(scope: ResolutionScope) -> tuple[str, ...]:
    """Return the links whose pairs are not checked unless enabled, each once."""
    items = scope.semantic.default_disabled_links
    user = "<disable_default_collisions>"
    return tuple(dict.fromkeys(item.name for item in items if scope.known_link(item.name, item.at, "link", user)))


def resolve_spheres(scope: ResolutionScope) -> dict[str, tuple[tree.SrdfSphere, ...]]:
    """Return the spheres of each existing link; for a repeated link, the first element is used.

    As in srdfdom: spheres without a radius are used only if a link has no others; then only one is kept.
    """
    found: dict[str, tuple[tree.SrdfSphere, ...]] = {}
    for item in scope.semantic.link_spheres:
        known = scope.known_link(item.link, item.at, "link", "<link_sphere_approximation>")
        if known and item.spheres and item.link not in found:
            solid = tuple(sphere for sphere in item.spheres if sphere.radius > sys.float_info.epsilon)
            found[item.link] = solid or (tree.SrdfSphere((0.0, 0.0, 0.0), 0.0, item.spheres[0].at),)
    return found


def resolve_properties(scope: ResolutionScope) -> MappingProxyType[str, MappingProxyType[str, str]]:
    """Return the properties by joint and name; for a repeated one the last value is used, as in srdfdom."""
    found: dict[str, dict[str, str]] = {}
    for item in scope.semantic.joint_properties:
        if scope.known_joint(item.joint_name, item.at, "joint_name", f"property '{item.property_name}'"):
            found.setdefault(item.joint_name, {})[item.property_name] = item.value
    return MappingProxyType({joint: MappingProxyType(values) for joint, values in found.items()})
