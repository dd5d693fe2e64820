# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Real node processes over real DDS: each module in its own domain, on the loopback interface, waiting on events."""

from __future__ import annotations

import os
import signal
import subprocess
import sysconfig
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from support.patience import PATIENCE_S
from support.templates import start_module

rclpy = pytest.importorskip("rclpy", reason="rclpy is not installed (make setup, or a ROS 2 environment)")
pytest.importorskip("robot_semantics_interfaces", reason="the interface package is not built (make setup)")

# Before any context: participants look for each other on this machine only.
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"

import numpy as np  # noqa: E402
import yaml  # noqa: E402
from rcl_interfaces.msg import Parameter as ParameterMessage  # noqa: E402
from rcl_interfaces.srv import GetParameters, SetParameters  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402

from robot_semantics.ros.__main__ import PROGRAMS  # noqa: E402
from robot_semantics.ros.messages.world_messages import items_from_messages  # noqa: E402

Message = TypeVar("Message")

DATA = Path(__file__).parents[1] / "data"
LATCHED = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
SHARE = Path(sysconfig.get_path("purelib")) / "cmeel.prefix" / "share"


RUNNING: list[NodeProcess] = []
"""The nodes that have been started and not stopped: whoever waits looks whether they still live."""


def check_that_nodes_live() -> None:
    for node in RUNNING:
        code = node.process.poll()
        assert not code, f"a node ended with exit code {code}:\n{node.output}"


class NodeProcess:
    """A node in a process of its own; its output goes to a file.

    With `fresh`, Python starts and imports the node; by default, the process is a copy of one that has done this.
    """

    def __init__(
        self,
        folder: Path,
        domain: int,
        parameters: Mapping[str, Any],
        *,
        module: str = "robot_semantics.ros",
        program: str = "robot_semantics_node",
        node: str = "/**",
        ros_args: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        fresh: bool = False,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        number = len(list(folder.glob("*.log")))
        self._log = folder / f"{number}.log"
        file = folder / f"{number}.yaml"
        file.write_text(yaml.safe_dump({node: {"ros__parameters": dict(parameters)}}))
        arguments = [program, "--ros-args", "--params-file", str(file), *ros_args]
        environ = {
            **os.environ,
            "ROS_DOMAIN_ID": str(domain),
            "ROS_LOG_DIR": str(folder / "log"),
            **(environment or {}),
        }
        with self._log.open("wb") as log:
            loaded = PROGRAMS[program][0].partition(":")[0]
            self.process = start_module(module, arguments, environ, log.fileno(), loaded, fresh=fresh)
        RUNNING.append(self)

    @property
    def output(self) -> str:
        return self._log.read_text(errors="replace")

    def wait_for_output(self, text: str, times: int = 1) -> None:
        end = time.monotonic() + PATIENCE_S
        while self.output.count(text) < times:
            assert time.monotonic() < end, f"no {text!r} in:\n{self.output}"
            time.sleep(0.02)

    def wait(self) -> int:
        """Wait for the end of a process; return its exit code."""
        RUNNING.remove(self)
        return self.process.wait(PATIENCE_S)

    def stop(self, number: int = signal.SIGINT) -> int:
        """Signal the process, wait for it, and return its exit code."""
        if self in RUNNING:
            RUNNING.remove(self)
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


class Client:
    """The other end: a node of the test, which spins only while it waits for something."""

    latched = LATCHED

    def __init__(self, domain: int, name: str = "test_client") -> None:
        self.domain = domain
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = rclpy.create_node(name, context=self.context)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self.transforms: list[Any] = []
        self._since_ns = 0
        self.static_messages: list[Any] = []
        self.node.create_subscription(TFMessage, "/tf", self._heard, 1000)
        self.node.create_subscription(TFMessage, "/tf_static", self.static_messages.append, LATCHED)
        self._services: dict[str, Any] = {}

    def close(self) -> None:
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)

    def until(self, condition: Callable[[], Any], what: str, patience_s: float = PATIENCE_S) -> Any:
        """Spin until `condition` holds and return its value."""
        end = time.monotonic() + patience_s
        while not (result := condition()):
            check_that_nodes_live()
            assert time.monotonic() < end, f"waited in vain for {what}"
            self._executor.spin_once(timeout_sec=0.1)
        return result

    def spin_for(self, seconds: float) -> None:
        """Spin for a while: only to show that something does NOT come."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self._executor.spin_once(timeout_sec=left)

    def publisher(self, message_type: Any, topic: str, qos: Any = 50) -> Any:
        """Return a publisher that has found its subscriber."""
        publisher = self.node.create_publisher(message_type, topic, qos)
        self.until(lambda: publisher.get_subscription_count() > 0, f"a subscriber of {topic}")
        return publisher

    def publish_until(
        self, publisher: Any, make_message: Callable[[], Any], condition: Callable[[], Any], what: str
    ) -> Any:
        """Publish again and again until `condition` holds: first messages may come before all have found each other."""
        end = time.monotonic() + PATIENCE_S
        while True:
            check_that_nodes_live()
            publisher.publish(make_message())
            again = time.monotonic() + 0.2
            while time.monotonic() < again:
                self._executor.spin_once(timeout_sec=0.05)
                if result := condition():
                    return result
            assert time.monotonic() < end, f"waited in vain for {what}"

    def collect(self, message_type: Any, topic: str, qos: Any = LATCHED) -> list[Any]:
        """Return a list that grows with every message that comes while something is waited for."""
        messages: list[Any] = []
        self.node.create_subscription(message_type, topic, messages.append, qos)
        return messages

    def collect_tf(self, topic: str) -> list[Any]:
        """Return a list that grows with every transform on a TF topic of another name."""
        transforms: list[Any] = []
        self.node.create_subscription(TFMessage, topic, lambda message: transforms.extend(message.transforms), 100)
        return transforms

    def call(self, kind: Any, name: str, request: Any = None) -> Any:
        """Call a service and return the response."""
        client = self._services.get(name)
        if client is None:
            client = self._services[name] = self.node.create_client(kind, name)
        self.until(client.service_is_ready, f"service {name}")
        # An answer is lost if the service has not yet found the client; so ask again. No request here minds that.
        futures: list[Any] = []
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            check_that_nodes_live()
            futures.append(client.call_async(request if request is not None else kind.Request()))
            again = time.monotonic() + 2.0
            while time.monotonic() < again:
                self._executor.spin_once(timeout_sec=0.05)
                done = [number for number, future in enumerate(futures) if future.done()]
                if done:
                    # A repeated request that is still on its way would act on what the test does next.
                    self._wait_for_answers(client, futures[done[0] + 1 :])
                    return futures[done[0]].result()
        raise AssertionError(f"waited in vain for the answer of {name}")

    def _wait_for_answers(self, client: Any, futures: list[Any]) -> None:
        """Wait for all answers of a service, or for its end."""
        self.until(
            lambda: all(future.done() for future in futures) or not client.service_is_ready(),
            f"the answers of {client.srv_name} to repeated requests",
        )

    def set_parameters(self, node: str, **values: Any) -> Any:
        """Set parameters (`__` in a name is a dot) and return the results."""
        request = SetParameters.Request()
        for name, value in values.items():
            message: ParameterMessage = Parameter(name.replace("__", "."), value=value).to_parameter_msg()
            request.parameters.append(message)
        return self.call(SetParameters, f"{node}/set_parameters", request).results

    def get_parameter(self, node: str, name: str) -> Any:
        return self.call(GetParameters, f"{node}/get_parameters", GetParameters.Request(names=[name])).values[0]

    def forget_transforms(self) -> None:
        """Forget the moving transforms until now, and those that are still on their way, which have older stamps."""
        self._since_ns = time.time_ns()
        self.transforms.clear()

    def _heard(self, message: TFMessage) -> None:
        self.transforms += [item for item in message.transforms if stamp_of(item) >= self._since_ns]

    def static_frames(self) -> dict[str, Any]:
        """Return the transforms of the last static message by child frame."""
        return (
            {item.child_frame_id: item for item in self.static_messages[-1].transforms} if self.static_messages else {}
        )

    def at(self, stamp_ns: int) -> dict[str, Any]:
        """Return the transforms with one stamp by child frame."""
        return {item.child_frame_id: item for item in self.transforms if stamp_of(item) == stamp_ns}

    def newest(self) -> dict[str, Any]:
        """Return the newest transform of each child frame on /tf."""
        return {item.child_frame_id: item for item in self.transforms}


def said(items: Any) -> list[str]:
    """Return items of an answer in words."""
    return [str(item) for item in items_from_messages(items, done=False)]


def stamp_of(transform: Any) -> int:
    """Return the stamp of a transform [ns]."""
    return int(transform.header.stamp.sec) * 1_000_000_000 + int(transform.header.stamp.nanosec)


def matrix_of(transform: Any) -> np.ndarray[Any, Any]:
    """Return the (4, 4) matrix of a TransformStamped, independent of the code under test."""
    q, t = transform.transform.rotation, transform.transform.translation
    x, y, z, w = q.x, q.y, q.z, q.w
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), t.x],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w), t.y],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y), t.z],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def joint_state(positions: Mapping[str, float], stamp_ns: int | None = None, **arrays: Sequence[float]) -> JointState:
    """Return a joint state, stamped with the time now by default."""
    message = JointState(name=list(positions), position=[float(value) for value in positions.values()])
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(
        time.time_ns() if stamp_ns is None else stamp_ns, 1_000_000_000
    )
    for name, values in arrays.items():
        setattr(message, name, [float(value) for value in values])
    return message


def text(data: str) -> String:
    return String(data=data)
