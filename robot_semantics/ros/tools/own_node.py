# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A node of a program that is none itself, in a context that nothing else disturbs, and its calls of services."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from robot_semantics.base.errors import RobotSemanticsError


@contextmanager
def own_node(name: str) -> Iterator[tuple[Node, SingleThreadedExecutor]]:
    """Make a node and what serves it, and take both away at the end."""
    context = Context()
    rclpy.init(args=[], context=context)
    try:
        node, executor = Node(name, context=context, enable_rosout=False), SingleThreadedExecutor(context=context)
        executor.add_node(node)
        try:
            yield node, executor
        finally:
            executor.shutdown()
            node.destroy_node()
    finally:
        context.try_shutdown()


class ServiceError(RobotSemanticsError):
    """A service is not there or does not answer; the message says which."""


class ServiceCaller(ExitStack):
    """A short-lived node; use it in a ``with`` statement."""

    def __init__(self, timeout_s: float = 10.0) -> None:
        """`timeout_s` is how long a service may take to be found, and again to answer [s]."""
        super().__init__()
        self.timeout_s = timeout_s

    def __enter__(self) -> ServiceCaller:
        self._node, self._executor = self.enter_context(own_node("robot_semantics_cli"))
        return self

    def call(self, kind: Any, service: str, /, **request: Any) -> Any:
        """Return a service's answer, which may be that it failed.

        Raises:
            ServiceError: it is not there, or has not answered in time.
        """
        client = self._node.create_client(kind, service)
        try:
            if not client.wait_for_service(timeout_sec=self.timeout_s):
                raise ServiceError(f"the service {service} is not there: is the node running?")
            future = client.call_async(kind.Request(**request))
            deadline = time.monotonic() + self.timeout_s
            while not future.done():
                if time.monotonic() > deadline:
                    raise ServiceError(f"the service {service} has not answered for {self.timeout_s:g} s")
                self._executor.spin_once(timeout_sec=0.1)
            return future.result()
        finally:
            self._node.destroy_client(client)
