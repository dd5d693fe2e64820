# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""End effectors: the group of each one and the groups to which it is attached, as MoveIt infers them."""

from __future__ import annotations

from collections.abc import Mapping

from robot_semantics.base.foreign_text import quoted
from robot_semantics.model.semantic_scope import ResolutionScope, declared_groups
from robot_semantics.model.semantics import EndEffector, Group
from robot_semantics.srdf import tree


def resolve_end_effectors(
    scope: ResolutionScope, groups: Mapping[str, Group]
) -> tuple[dict[str, EndEffector], dict[str, tuple[str, ...]]]:
    """Return the end effectors by name, and the names of those attached to each group; report all problems.

    An end effector is attached to every other group that has its parent link.
    """
    scope_groups = declared_groups(scope.semantic)
    usable = [item for item in scope.semantic.end_effectors if _is_usable(scope, item, scope_groups, groups)]
    found: dict[str, EndEffector] = {}
    attached: dict[str, list[str]] = {}
    parent_links = {item.parent_link for item in usable}
    holders: dict[str, list[Group]] = {}
    for group in groups.values():
        for link in parent_links.intersection(group.links):
            holders.setdefault(link, []).append(group)
    # MoveIt sorts by group; this decides the order in `attached`, and which of two equal names is used.
    for item in sorted(usable, key=lambda item: item.group):
        hosts = [group for group in holders.get(item.parent_link, ()) if group.name != item.group]
        for host in hosts:
            attached.setdefault(host.name, []).append(item.name)
        parent = _named_parent(scope, item, hosts, groups)
        inferred = parent is None
        if parent is None and hosts:
            parent = min(hosts, key=lambda group: (len(group.joints), group.name))
        if parent is None:
            scope.warning(
                "no-parent-group",
                f"the parent link '{item.parent_link}' of end effector '{item.name}' is in no group except its own",
                item.at,
                "parent_link",
            )
        else:
            _check_shared_links(scope, item, groups[item.group], parent, inferred=inferred)
        found[item.name] = EndEffector(item.name, item.group, item.parent_link, parent.name if parent else "")
    in_document_order = {item.name: found[item.name] for item in usable}
    return in_document_order, {group: tuple(names) for group, names in attached.items()}


def _is_usable(
    scope: ResolutionScope,
    item: tree.SrdfEndEffector,
    declared: Mapping[str, tree.SrdfGroup],
    groups: Mapping[str, Group],
) -> bool:
    user = f"end effector '{item.name}'"
    link_known = scope.known_link(item.parent_link, item.at, "parent_link", user)
    if item.group in declared and item.group not in groups:
        scope.warning(
            "group-left-out", f"{user} is left out because group '{item.group}' is left out", item.at, "group"
        )
    return link_known and item.group in groups


def _named_parent(
    scope: ResolutionScope, item: tree.SrdfEndEffector, hosts: list[Group], groups: Mapping[str, Group]
) -> Group | None:
    """Return the parent group in the SRDF, if it is valid."""
    named = groups.get(item.parent_group or "")
    if named is None or named.name == item.group:
        return None
    if named not in hosts:
        scope.error(
            "parent-link-not-in-group",
            f"parent group '{named.name}' of end effector '{item.name}' has no link '{item.parent_link}'",
            item.at,
            "parent_group",
        )
        return None
    return named


def _check_shared_links(
    scope: ResolutionScope, item: tree.SrdfEndEffector, own: Group, parent: Group, *, inferred: bool
) -> None:
    shared = [link for link in own.links if link in parent.links]
    if not shared:
        return
    shown = quoted(shared, 3)
    if inferred:
        scope.warning(
            "shares-links",
            f"end effector '{item.name}' shares links {shown} with group '{parent.name}', which is used as its parent",
            item.at,
        )
    else:
        scope.error(
            "shares-links",
            f"end effector '{item.name}' shares links {shown} with its parent group '{parent.name}'",
            item.at,
            "parent_group",
        )
