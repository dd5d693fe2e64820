"""The full names of the nodes behind topics, as far as discovery knows them."""

from __future__ import annotations

from typing import Any

UNKNOWN_NODE = "an unknown node"
"""What stands for a node whose publisher has been discovered, and its name not yet."""


def node_name(info: Any) -> str:
    """Return the full name of a publisher's or subscriber's node."""
    if info.node_name == "_NODE_NAME_UNKNOWN_":
        return UNKNOWN_NODE
    return f"{info.node_namespace.rstrip('/')}/{info.node_name}"
