# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A request that takes long does not delay the answers to others."""

from __future__ import annotations

import time
from typing import Any

import pytest
from robot_semantics_interfaces.srv import GetGroup, RestoreSnapshot
from support.nodes import Client

from robot_semantics.examples import example

pytestmark = pytest.mark.ros

NODE = "/robot_semantics"
URDF, SRDF = (example(f"rover_arm.{kind}").read_text() for kind in ("urdf", "srdf"))
COUNT = 8_000
LONGEST_S = 2.0
"""A restore that blocked the other services took 21 s. On a quiet machine the longest answer takes 0.04 s."""


def world(elements: str) -> str:
    return f"<world_state>{elements}</world_state>"


STATES = {
    "unknown models": world("".join(f"<model_state name='m{number}'/>" for number in range(COUNT))),
    "names like those of links": world("".join(f"<model_state name='a::b{number}'/>" for number in range(COUNT))),
    "unknown joints": world(
        "<model_state name='rover_arm'>"
        + "".join(f"<joint_state name='elbow_jiont{number}'/>" for number in range(COUNT))
        + "</model_state>"
    ),
}


PARAMETERS: dict[str, Any] = {"robot_description": URDF, "robot_description_semantic": SRDF}


@pytest.mark.usefixtures("node")
@pytest.mark.parametrize("text", STATES.values(), ids=STATES)
def test_groups_are_answered_during_a_long_restore(client: Client, text: str) -> None:
    waits = delays(client, text)
    assert max(waits) <= LONGEST_S
    assert len(waits) >= 3


def delays(client: Client, text: str) -> list[float]:
    """Return how long each request for a group waits while a text is restored, which is refused."""
    restores = client.node.create_client(RestoreSnapshot, f"{NODE}/restore_snapshot")
    groups = client.node.create_client(GetGroup, f"{NODE}/get_group")
    client.until(lambda: restores.service_is_ready() and groups.service_is_ready(), "the services")
    restore = restores.call_async(RestoreSnapshot.Request(text=text))
    waits = []
    while not restore.done():
        before = time.monotonic()
        group = groups.call_async(GetGroup.Request(name="arm"))
        client.until(group.done, "a group")
        waits.append(time.monotonic() - before)
    answer = restore.result()
    assert not answer.success
    assert len(answer.not_restored) == COUNT
    return waits
