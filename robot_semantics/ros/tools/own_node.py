# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A node of a program that is none itself, in a context of its own, which nothing else that runs can disturb."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node


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
