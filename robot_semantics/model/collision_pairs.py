"""What the SRDF says of links and joints one by one: collision pairs, spheres and joint properties."""

from __future__ import annotations

from types import MappingProxyType

from robot_semantics.description import srdf_tree as tree
from robot_semantics.model.semantic_scope import Scope
from robot_semantics.names import LinkPair


def resolve_pairs(scope: Scope, items: tuple[tree.CollisionPair, ...], tag: str) -> dict[LinkPair, str]:
    """Return the pairs whose links the robot has, with their reasons; of a repeated pair the first reason is kept."""
    found: dict[LinkPair, str] = {}
    lines: dict[LinkPair, int] = {}
    for item in items:
        known = [
            scope.known_link(item.link1, item.at, "link1", f"<{tag}>"),
            scope.known_link(item.link2, item.at, "link2", f"<{tag}>"),
        ]
        pair = LinkPair.of(item.link1, item.link2)
        if pair.first == pair.second:
            scope.error("pair-with-itself", f"<{tag}> pairs link '{item.link1}' with itself", item.at, "link2")
        if pair in lines:
            line = scope.semantic.places.place(lines[pair]).line
            scope.error(
                "duplicate-pair",
                f"<{tag}> of '{item.link1}' and '{item.link2}' is already stated in line {line}",
                item.at,
            )
        lines.setdefault(pair, item.at)
        if all(known):
            found.setdefault(pair, item.reason)
    return found


def check_contradictions(scope: Scope, disabled: dict[LinkPair, str]) -> None:
    """Report every enabled pair that is disabled as well; disabling wins, as in MoveIt."""
    for item in scope.semantic.enabled_collisions:
        if LinkPair.of(item.link1, item.link2) in disabled:
            scope.warning(
                "enabled-and-disabled",
                f"the pair '{item.link1}' and '{item.link2}' is both enabled and disabled; it stays disabled",
                item.at,
            )


def resolve_default_disabled(scope: Scope) -> tuple[str, ...]:
    """Return the links whose pairs are not checked unless enabled, each once."""
    found: dict[str, None] = {}
    for item in scope.semantic.default_disabled_links:
        if scope.known_link(item.name, item.at, "link", "<disable_default_collisions>"):
            if item.name in found:
                scope.warning("listed-twice", f"collisions of link '{item.name}' are disabled twice", item.at, "link")
            found[item.name] = None
    return tuple(found)


def check_spheres(scope: Scope) -> None:
    """Report sphere approximations of links that the robot does not have, or that have one already."""
    first: dict[str, int] = {}
    for item in scope.semantic.link_spheres:
        scope.known_link(item.link, item.at, "link", "<link_sphere_approximation>")
        if item.link in first:
            line = scope.semantic.places.place(first[item.link]).line
            scope.error(
                "duplicate-name", f"the spheres of link '{item.link}' are already stated in line {line}", item.at
            )
        first.setdefault(item.link, item.at)


def resolve_properties(scope: Scope) -> MappingProxyType[str, MappingProxyType[str, str]]:
    """Return the properties by joint and name; of a repeated one the last value is kept, as srdfdom keeps it."""
    found: dict[str, dict[str, str]] = {}
    for item in scope.semantic.joint_properties:
        if not scope.known_joint(item.joint_name, item.at, "joint_name", f"property '{item.property_name}'"):
            continue
        values = found.setdefault(item.joint_name, {})
        if item.property_name in values:
            scope.error(
                "duplicate-name",
                f"property '{item.property_name}' of joint '{item.joint_name}' is already stated",
                item.at,
                "property_name",
            )
        values[item.property_name] = item.value
    return MappingProxyType({joint: MappingProxyType(values) for joint, values in found.items()})
