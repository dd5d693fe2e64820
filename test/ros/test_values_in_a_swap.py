# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A joint state that arrives while a robot is replaced is a value of the new robot, whatever replaces it.

One message at random moments of each kind of change, over real DDS. The value of a message is its number, so that the
number of the newest message is the expected value.
"""

from __future__ import annotations

import itertools
import os
import random
import time
from typing import Any

import pytest
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from robot_semantics_interfaces.srv import GetCurrentState, GetStatus, ReplaceDescription
from sensor_msgs.msg import JointState
from support.nodes import Client, NodeProcess, joint_state, stamp_of

pytestmark = pytest.mark.ros
NODE = "/robot_semantics"
MOMENTS = int(os.environ.get("MOMENTS", "25"))
"""How many messages are sent for each kind of change."""
JOINTS = 300


def urdf(name: str) -> str:
    """Return a comb of prismatic joints, with some work for whoever reads it."""
    links = "".join(f'<link name="l{number}"/>' for number in range(JOINTS))
    joints = "".join(
        f'<joint name="j{number}" type="prismatic"><parent link="base"/><child link="l{number}"/>'
        '<axis xyz="1 0 0"/><limit lower="-1e9" upper="1e9" effort="1" velocity="1"/></joint>'
        for number in range(JOINTS)
    )
    tool = f'<joint name="{name}" type="fixed"><parent link="base"/><child link="{name}"/></joint>'
    return f'<robot name="comb"><link name="base"/>{links}{joints}<link name="{name}"/>{tool}</robot>'


SRDF = """<robot name="comb"><virtual_joint name="root" type="planar" parent_frame="odom" child_link="base"/>
<group name="first"><joint name="j0"/></group>{more}</robot>"""


def parameters(**values: Any) -> SetParameters.Request:
    return SetParameters.Request(
        parameters=[
            Parameter(name.replace("__", "."), value=value).to_parameter_msg() for name, value in values.items()
        ]
    )


class Changes:
    """Each method asks for the change number `number` and returns the future of its answer, if it has one."""

    def __init__(self, client: Client) -> None:
        self._set = client.node.create_client(SetParameters, f"{NODE}/set_parameters")
        self._replace = client.node.create_client(ReplaceDescription, f"{NODE}/replace_description")
        client.until(lambda: self._set.service_is_ready() and self._replace.service_is_ready(), "the services")

    def frequency(self, number: int) -> Any:
        return self._set.call_async(parameters(publish_frequency=1000.0 + number % 2))

    def prefix(self, number: int) -> Any:
        return self._set.call_async(parameters(frame_prefix="r/" if number % 2 else ""))

    def stale_timeout(self, number: int) -> Any:
        return self._set.call_async(parameters(stale_timeout=60.0 + number % 2))

    def source(self, number: int) -> Any:
        value = "odometry" if number % 2 else "auto"
        return self._set.call_async(parameters(virtual_joints__root__source=value))

    def description_parameter(self, number: int) -> Any:
        return self._set.call_async(parameters(robot_description=urdf(f"tool{number % 2}")))

    def semantic_parameter(self, number: int) -> Any:
        more = '<group name="second"><joint name="j1"/></group>' if number % 2 else ""
        return self._set.call_async(parameters(robot_description_semantic=SRDF.format(more=more)))

    def service(self, number: int) -> Any:
        request = ReplaceDescription.Request(urdf=urdf(f"tool{number % 2}"), srdf=SRDF.format(more=""))
        return self._replace.call_async(request)


PARAMETERS: dict[str, Any] = {
    "robot_description": urdf("tool0"),
    "robot_description_semantic": SRDF.format(more=""),
    "publish_frequency": 1000.0,
}


@pytest.fixture(scope="module")
def joints(client: Client, node: NodeProcess) -> Any:
    publisher = client.publisher(JointState, "joint_states")
    first = lambda: joint_state({f"j{number}": 0.0 for number in range(JOINTS)})  # noqa: E731
    client.publish_until(publisher, first, lambda: current(client) == 0.0, "the first value")
    return publisher


def current(client: Client) -> float | None:
    answer = client.call(GetCurrentState, f"{NODE}/get_current_state", GetCurrentState.Request(group="first"))
    if not answer.success:
        return None
    return float(dict(zip(answer.state.variable_names, answer.state.values, strict=True))["j0"])


def received(client: Client) -> int:
    return int(client.call(GetStatus, f"{NODE}/get_status").joint_states_received)


@pytest.mark.parametrize("kind", [name for name in vars(Changes) if not name.startswith("_")])
def test_one_message_at_a_random_moment_of_a_change_is_not_lost(client: Client, joints: Any, kind: str) -> None:
    change = getattr(Changes(client), kind)
    chance = random.Random(kind)
    longest_s = 0.0
    for number in range(3):
        before = time.monotonic()
        answer = change(number)
        client.until(answer.done, "an answer")
        longest_s = max(longest_s, time.monotonic() - before)
    lost = []
    for number in range(1, MOMENTS + 1):
        count = received(client)
        answer = change(number)
        client.spin_for(chance.uniform(0.0, 1.2 * longest_s))
        joints.publish(joint_state({"j0": number}))
        client.until(answer.done, "an answer")
        while received(client) == count:
            client.spin_for(0.01)
        if current(client) != number:
            lost.append((number, current(client)))
    assert not lost


@pytest.mark.parametrize("kind", ["frequency", "service", "source"])
def test_no_older_value_follows_a_newer_one(client: Client, joints: Any, kind: str) -> None:
    """Messages at 50 Hz during the changes: the transforms of a frame never go back in time."""
    change = getattr(Changes(client), kind)
    client.forget_transforms()
    backwards = []
    for number in range(MOMENTS):
        answer, sent = change(number), 0
        while not answer.done() or sent < 5:
            joints.publish(joint_state({"j0": 1000.0 * number + sent, "j1": 0.0}))
            sent += 1
            client.spin_for(0.02)
        stamps = [stamp_of(item) for item in client.transforms if item.child_frame_id.removeprefix("r/") == "l0"]
        backwards += [(number, (b - a) / 1e6) for a, b in itertools.pairwise(stamps) if b < a]
        client.transforms.clear()
    assert not backwards
