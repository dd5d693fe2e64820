# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A second publisher on TF is seen exactly when its GID is not one of our own.

rclpy has the GID of a discovered publisher, but not the GID of a publisher that it made. Here the middleware's C
functions give the GIDs of our own publishers. They are the oracle for the node, which counts publishers by node name.
"""

from __future__ import annotations

import ctypes
import itertools
import time
from collections.abc import Iterator
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any, cast

import pytest
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.utilities import get_rmw_implementation_identifier
from support.patience import PATIENCE_S
from tf2_msgs.msg import TFMessage

from robot_semantics.ros.node import outputs as tf_authority
from robot_semantics.ros.node.outputs import TfAuthority
from robot_semantics.ros.running.node_names import UNKNOWN_NODE, node_name

pytestmark = pytest.mark.ros


class RmwGid(ctypes.Structure):
    """The struct `rmw_gid_t` of rmw/types.h."""

    _fields_ = (("implementation_identifier", ctypes.c_char_p), ("data", ctypes.c_uint8 * 16))


def gid_of(publisher: Publisher) -> bytes:
    """Return the GID of a publisher of this process."""
    rcl = ctypes.CDLL("librcl.so")
    rcl.rcl_publisher_get_rmw_handle.restype = ctypes.c_void_p
    rmw = ctypes.CDLL(f"lib{get_rmw_implementation_identifier()}.so")
    gid = RmwGid()
    with publisher.handle:
        handle = rcl.rcl_publisher_get_rmw_handle(ctypes.c_void_p(publisher.handle.pointer))
        assert rmw.rmw_get_gid_for_publisher(ctypes.c_void_p(handle), ctypes.byref(gid)) == 0
    return bytes(gid.data)


@pytest.fixture
def nodes(domain: int) -> Iterator[dict[str, Node]]:
    """Our node, a second node of its name in another participant and in the same one, and a node of another name."""
    with ExitStack() as stack:
        contexts = [Context(), Context()]
        for context in contexts:
            rclpy.init(context=context, domain_id=domain)
            stack.callback(context.try_shutdown)
        found = {
            role: rclpy.create_node(name, context=context)
            for role, name, context in (
                ("ours", "robot", contexts[0]),
                ("twin", "robot", contexts[1]),
                ("twin in the same process", "robot", contexts[0]),
                ("other", "other", contexts[1]),
            )
        }
        for node in found.values():
            stack.callback(node.destroy_node)
        yield found


def foreign_gids(ours: Node) -> set[bytes]:
    """Return the GIDs of the publishers on /tf that our node sees and has not made."""
    own = {gid_of(publisher) for publisher in ours.publishers if publisher.topic_name == "/tf"}
    return {bytes(info.endpoint_gid) for info in ours.get_publishers_info_by_topic("/tf")} - own


def wait_for_foreign(ours: Node, gids: set[bytes]) -> None:
    """Wait until our node sees these publishers of others and no more, with the names of their nodes."""
    end = time.monotonic() + PATIENCE_S
    while foreign_gids(ours) != gids or any(
        node_name(info) == UNKNOWN_NODE for info in ours.get_publishers_info_by_topic("/tf")
    ):
        assert time.monotonic() < end, gids
        time.sleep(0.01)


def sees_others(ours: Node) -> bool:
    """Return True if the node's detector begins to listen to TF, which it does only for publishers of others."""
    detector = TfAuthority(cast("Any", ours), frozenset, pytest.fail)
    if detector.is_idle():
        return False
    detector.tick(b"")
    return detector.watching


@pytest.mark.parametrize("own_count", [1, 2])
def test_publishers_of_others_are_those_with_a_foreign_gid(nodes: dict[str, Node], own_count: int) -> None:
    ours = nodes["ours"]
    own = [ours.create_publisher(TFMessage, "/tf", 10) for _ in range(own_count)]
    # Our own publisher is in the graph as soon as it is made: no moment in which the count is one too low.
    assert {bytes(info.endpoint_gid) for info in ours.get_publishers_info_by_topic("/tf")} == set(map(gid_of, own))
    assert not sees_others(ours)

    for role in ("twin", "twin in the same process", "other"):
        publisher = nodes[role].create_publisher(TFMessage, "/tf", 10)
        wait_for_foreign(ours, {gid_of(publisher)})
        assert sees_others(ours), role
        ours.destroy_publisher(own.pop())
        assert foreign_gids(ours) == {gid_of(publisher)}
        own.append(ours.create_publisher(TFMessage, "/tf", 10))
        assert sees_others(ours), role
        nodes[role].destroy_publisher(publisher)
        wait_for_foreign(ours, set())
        assert not sees_others(ours), role


def test_the_first_pauses_between_two_watches_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = [0.0]
    starts: list[float] = []
    monkeypatch.setattr(tf_authority, "time", SimpleNamespace(monotonic=lambda: now_s[0]))
    other = SimpleNamespace(node_namespace="/", node_name="other")
    node = SimpleNamespace(
        publishers=[],
        resolve_topic_name=str,
        get_fully_qualified_name=lambda: "/one",
        count_publishers=lambda _: 2,
        get_publishers_info_by_topic=lambda _: [other],
        create_subscription=lambda *_, **__: starts.append(now_s[0]),
        destroy_subscription=lambda _: None,
    )
    detector = TfAuthority(cast("Any", node), frozenset, pytest.fail)
    for second in range(180):
        now_s[0] = float(second)
        detector.tick(b"")
    # One subscription for each of /tf and /tf_static. The look that finds a watch due, and the next one, take 2 s.
    assert starts[::2] == starts[1::2]
    assert [b - a - 2.0 for a, b in itertools.pairwise(starts[::2])] == [5.0, 10.0, 20.0, 40.0, 60.0]
