# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Names of frames if several namespaces have their own trees.

A robot in the namespace ``/a`` may publish ``/a/tf`` with the same frame names as its neighbour on ``/b/tf``. Each such
tree belongs to its namespace. This module decides which names of two trees mean the same frame (doc/bags.md,
"Namespaces").
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field

from robot_semantics.base.record import record
from robot_semantics.recording.bags.columns import GroupKey, Stream

EACH_ROBOTS_OWN = ("odom", "base_link", "base_footprint")
"""Frames that by REP-105 each robot has of its own, whoever else has one of that name."""

TF_KINDS = (Stream.TF, Stream.TF_STATIC)


def namespace_of(topic: str) -> str:
    """Return the namespace of a topic, ``""`` or ``"/left"``."""
    return topic.rpartition("/")[0]


def owner_of(topic: str, namespaces: Iterable[str]) -> str:
    """Return the innermost of the namespaces that contain a topic; ``""`` if none does."""
    inside = (namespace for namespace in namespaces if topic.startswith(f"{namespace}/"))
    return max(inside, key=len, default="")


@record(frozen=True)
class FrameNames:
    """Names of frames by the topics that name them.

    Attributes:
        trees: namespaces that have a tree of their own.
        spaces: these and the robots' namespaces.
        shared: names of the frames of the tree that has no namespace.
        special_names: the names of frames by (namespace, name), if they differ from the plain name.
        aliases: other names of the frames of links.
    """

    trees: frozenset[str]
    spaces: frozenset[str]
    shared: frozenset[str]
    special_names: Mapping[tuple[str, str], str]
    aliases: Mapping[str, str] = field(default_factory=dict)

    def of(self, topic: str, frame: str) -> str:
        """Return the name of a frame from a topic."""
        name = self.special_names.get((self._space(topic, frame), frame), frame)
        return self.aliases.get(name, name)

    def _space(self, topic: str, frame: str) -> str:
        """Return the namespace of a frame: the topic's own if it has a tree, else the one that has this frame."""
        space = owner_of(topic, self.spaces)
        return "" if space not in self.trees and frame in self.shared else space


def frame_names(keys: Iterable[GroupKey], links: Mapping[str, Collection[str]]) -> FrameNames:
    """Return the names of a recording's frames.

    A name in only one tree stays unchanged, and so does a name in the tree without a namespace. In other trees, a frame
    gets its namespace (``left/odom``) if one of these is true:

    * It has a parent in that tree.
    * It is a link of a robot of that namespace.
    * It is one of `EACH_ROBOTS_OWN`.

    The other frames are roots of trees, usually ``map``: one frame for all trees with that name.

    Args:
        keys: of the messages that name frames.
        links: the names of the robots' links by the robots' namespaces.
    """
    keys = list(keys)
    space_of = _tree_of_topics((key.topic for key in keys if key.kind in TF_KINDS), links)
    trees = frozenset(space_of.values())
    claims: dict[str, dict[str, bool]] = {}

    def claim(space: str, key: GroupKey) -> None:
        parents = key.parents if len(key.parents) == len(key.names) else key.parents[:1] * len(key.names)
        for child, parent in zip(key.names, parents, strict=True):
            claims.setdefault(parent, {}).setdefault(space, False)
            if key.kind != Stream.MULTI_DOF:
                claims.setdefault(child, {})[space] = True

    for key in keys:
        if key.kind in TF_KINDS:
            claim(space_of[key.topic], key)
    shared = frozenset(frame for frame, by in claims.items() if "" in by)
    names = FrameNames(trees, trees | frozenset(links), shared, {})
    for key in keys:
        if key.kind in (Stream.ODOMETRY, Stream.MULTI_DOF) and key.parents:
            space = owner_of(key.topic, names.spaces)
            if space in trees or key.parents[0] not in shared:
                claim(space, key)
    for space, robots_links in links.items():
        for link in robots_links:
            if space in trees or link not in shared:
                claims.setdefault(link, {}).setdefault(space, True)
    return FrameNames(trees, names.spaces, shared, _own_names(claims, links))


def _tree_of_topics(topics: Iterable[str], links: Iterable[str]) -> dict[str, str]:
    """Return the namespace of the tree of each topic; `links`: the namespaces of robots.

    A topic that only an option makes part of TF belongs to the tree of its robot.
    """
    topics = set(topics)
    own = {topic for topic in topics if topic.rpartition("/")[2] in TF_KINDS}
    spaces = {*map(namespace_of, own), *links}
    return {topic: namespace_of(topic) if topic in own else owner_of(topic, spaces) for topic in topics}


def _own_names(
    claims: Mapping[str, Mapping[str, bool]], links: Mapping[str, Collection[str]]
) -> dict[tuple[str, str], str]:
    """Return the names of the frames that belong to one namespace; `claims`: by frame and namespace, True for a
    child.
    """
    own_names: dict[tuple[str, str], str] = {}
    for frame, by in claims.items():
        if len(by) < 2:
            continue
        has_parent = [space for space, is_child in by.items() if is_child]
        for space, is_child in by.items():
            mine = (frame in EACH_ROBOTS_OWN and "" not in by) or frame in links.get(space, ())
            # If the frame is a child in one tree and a root in the others, it is one frame, and the first tree gives
            # its pose.
            if space and (mine or (is_child and len(has_parent) > 1)):
                own_names[space, frame] = f"{space.strip('/')}/{frame}"
    return own_names
