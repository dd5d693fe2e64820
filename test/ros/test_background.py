# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Work in a thread ends a callback also if nothing else wakes the executor of the node."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from std_srvs.srv import Empty
from support.nodes import Client

from robot_semantics.ros.node.background import in_background

pytestmark = pytest.mark.ros


def test_a_quiet_node_answers_after_long_work(client: Client) -> None:
    node = rclpy.create_node("quiet", context=client.node.context, start_parameter_services=False, enable_rosout=False)
    executor = SingleThreadedExecutor(context=node.context)

    async def answer(_request: Any, response: Any) -> Any:
        await in_background(node, time.sleep, 0.3)
        return response

    node.create_service(Empty, "~/work", answer)
    executor.add_node(node)
    spinning = threading.Thread(target=executor.spin, daemon=True)
    spinning.start()
    try:
        client.call(Empty, "/quiet/work")
    finally:
        executor.shutdown()
        spinning.join()
        node.destroy_node()
