# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A short-lived node in its own context, for a program that calls services or listens to topics."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

import rclpy
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.task import Future
from rosidl_generator_py.import_type_support_impl import UnsupportedTypeSupport
from std_msgs.msg import String

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.cdr.generated_types import RosMessage, ServiceType
from robot_semantics.ros.running import qos
from robot_semantics.ros.running.spinning import is_up

ASK_AGAIN_S = 2.0
"""Time after which a question without an answer is repeated [s]."""


CANNOT_START = (rclpy_implementation.RCLError, OSError, ImportError, UnsupportedTypeSupport, RuntimeError)
"""Errors of ROS on a machine without a usable home folder, without free file descriptors, or without a library."""


def first_reason(error: Exception) -> str:
    """Return the reason of an error of rclpy in one line, with the remedy for a home folder that cannot be used."""
    reason = " ".join(str(error).split())
    if "log" in reason:
        return f"{reason}; set ROS_LOG_DIR to a folder that you can write"
    # A library that exists cannot be opened.
    return f"{reason}; allow more open files: ulimit -n 1024" if "import" in reason or "open" in reason else reason


_open_contexts: set[Context] = set()


def end_waiting() -> None:
    """Let all threads of this process stop waiting for other nodes, because the program ends.

    Otherwise the interpreter waits for them until their timeouts.
    """
    for context in tuple(_open_contexts):
        context.try_shutdown()


class EndedError(RobotSemanticsError):
    """The program ends while a thread waits for another node."""


@contextmanager
def own_node(name: str) -> Iterator[tuple[Node, SingleThreadedExecutor]]:
    """Yield a node and its executor; destroy both at the end.

    Raises:
        RobotSemanticsError: ROS cannot start on this machine.
        EndedError: the program ends.
    """
    try:
        context = Context()
        rclpy.init(args=[], context=context)
    except CANNOT_START as error:
        raise RobotSemanticsError(f"ROS 2 cannot start: {first_reason(error)}") from None
    _open_contexts.add(context)
    try:
        try:
            node, executor = Node(name, context=context, enable_rosout=False), SingleThreadedExecutor(context=context)
            executor.add_node(node)
        except CANNOT_START as error:
            raise RobotSemanticsError(f"ROS 2 cannot start a node: {first_reason(error)}") from None
        try:
            yield node, executor
        except UnsupportedTypeSupport as error:
            raise RobotSemanticsError(f"ROS 2 cannot load a message: {first_reason(error)}") from None
        except (ExternalShutdownException, rclpy_implementation.RCLError):
            if is_up(context):
                raise
            raise EndedError("the program ends") from None
        finally:
            executor.shutdown()
            node.destroy_node()
    finally:
        _open_contexts.discard(context)
        context.try_shutdown()


class ServiceError(RobotSemanticsError):
    """A service or a topic does not exist or does not answer."""


class ServiceCaller(ExitStack):
    """A short-lived node; use it in a ``with`` statement."""

    def __init__(self, timeout_s: float = 10.0) -> None:
        """`timeout_s` is how long a service may take to be found, and again to answer [s]."""
        super().__init__()
        self.timeout_s = timeout_s

    def __enter__(self) -> ServiceCaller:
        self._node, self._executor = self.enter_context(own_node("robot_semantics_cli"))
        return self

    def call(self, kind: type[ServiceType], service: str, /, **request: object) -> RosMessage:
        """Return the answer of a service, also if the answer says that the service failed.

        Raises:
            ServiceError: the service does not exist, or did not answer in time.
        """
        return self._call(kind, service, request, self.timeout_s)

    def ask(self, kind: type[ServiceType], service: str, /, **request: object) -> RosMessage:
        """As `call`, but repeat the request: an answer is lost if the server has not discovered this node yet.

        Only for requests that change nothing.
        """
        return self._call(kind, service, request, ASK_AGAIN_S)

    def nodes_with(self, service: str, service_type: str) -> list[str]:
        """Return the full names of the nodes that offer a private service of this name and type."""
        ending = f"/{service}"
        services = self._node.get_service_names_and_types()
        names = [name for name, types in services if service_type in types]
        return sorted(name.removesuffix(ending) for name in names if name.endswith(ending))

    def latched_text(self, topic: str) -> str:
        """Return the text of the latched message on a topic.

        Raises:
            ServiceError: no message came in time.
        """
        texts: list[String] = []
        subscription = self._node.create_subscription(String, topic, texts.append, qos.fresh(qos.LATCHED))
        try:
            if not self._spin_until(lambda: bool(texts), self.timeout_s):
                raise ServiceError(f"no message came on {topic} within {self.timeout_s:g} s")
            return str(texts[-1].data)
        finally:
            self._node.destroy_subscription(subscription)

    def _call(self, kind: type[ServiceType], service: str, request: Mapping[str, object], again_s: float) -> RosMessage:
        client = self._node.create_client(kind, service, qos_profile=qos.fresh(qos.SERVICES))
        futures: list[Future] = []
        try:
            if not client.wait_for_service(timeout_sec=self.timeout_s):
                if not is_up(self._node.context):
                    raise EndedError("the program ends")
                raise ServiceError(f"the service {service} does not exist: is the node running?")
            deadline = time.monotonic() + self.timeout_s
            while (left := deadline - time.monotonic()) > 0.0:
                futures.append(client.call_async(kind.Request(**request)))
                if self._spin_until(lambda: any(future.done() for future in futures), min(left, again_s)):
                    answer: RosMessage = next(future.result() for future in futures if future.done())
                    return answer
            raise ServiceError(f"the service {service} has not answered for {self.timeout_s:g} s")
        finally:
            self._node.destroy_client(client)

    def _spin_until(self, is_done: Callable[[], bool], timeout_s: float) -> bool:
        """Serve the node until `is_done`; return False after the timeout."""
        end = time.monotonic() + timeout_s
        while not is_done():
            if time.monotonic() > end:
                return False
            self._executor.spin_once(timeout_sec=0.1)
        return True
