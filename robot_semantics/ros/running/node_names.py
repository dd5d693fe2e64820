# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The full names of nodes that publish or subscribe, as far as discovery knows them."""

from __future__ import annotations

import time
from collections.abc import Collection, Hashable

from rclpy.node import Node
from rclpy.topic_endpoint_info import TopicEndpointInfo

UNKNOWN_NODE = "an unknown node"
"""Placeholder for the name of a node that is not discovered yet."""


PATIENCE_S = 10.0
"""Discovery tells a publisher before the name of its node; so long a sentence waits for the name [s]."""


class NamePatience:
    """Lets sentences wait until discovery has told the names of the nodes in them."""

    def __init__(self) -> None:
        self._since_s: dict[Hashable, float] = {}

    def is_over(self, sentence: Hashable, names: Collection[str]) -> bool:
        """Return True if all names are known, or the sentence has waited for `PATIENCE_S`."""
        if UNKNOWN_NODE not in names:
            self._since_s.pop(sentence, None)
            return True
        now_s = time.monotonic()
        return now_s - self._since_s.setdefault(sentence, now_s) >= PATIENCE_S


def node_name(info: TopicEndpointInfo) -> str:
    """Return the full name of a publisher's or subscriber's node."""
    if info.node_name == "_NODE_NAME_UNKNOWN_":
        return UNKNOWN_NODE
    return f"{info.node_namespace.rstrip('/')}/{info.node_name}"


def other_publishers(node: Node, topic: str) -> frozenset[str]:
    """Return the names of the other nodes that publish on a topic; also the node's own name, if a second node has
    it.
    """
    resolved = node.resolve_topic_name(topic)
    if node.count_publishers(resolved) <= 1:
        return frozenset()
    own_name = node.get_fully_qualified_name()
    names = [node_name(info) for info in node.get_publishers_info_by_topic(resolved)]
    own_publishers = sum(publisher.topic_name == resolved for publisher in node.publishers)
    has_twin = names.count(own_name) > own_publishers
    return frozenset(name for name in names if name != own_name or has_twin)
