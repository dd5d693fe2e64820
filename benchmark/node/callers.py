# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Clients that permanently call a running node, and sometimes change its description: for `benchmark.soak`.

Run: python -m benchmark.node.callers CLIENTS CHANGES SECONDS JOINTS
"""

from __future__ import annotations

import itertools
import sys
import time
from typing import Any

import rclpy
from rcl_interfaces.srv import SetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from robot_semantics_interfaces import srv

from benchmark.node.robots import chain_urdf

NODE = "/robot_semantics"
KINDS = {
    "list_groups": srv.ListGroups,
    "get_group": srv.GetGroup,
    "get_current_state": srv.GetCurrentState,
    "get_collision_pair": srv.GetCollisionPair,
    "get_status": srv.GetStatus,
    "get_world_state": srv.GetWorldState,
    "list_snapshots": srv.ListSnapshots,
    "delete_snapshot": srv.DeleteSnapshot,
}
PACE_S = 0.25
"""Time between two calls of a client [s]."""


def main(clients: int, changes: int, seconds: float, joints: int) -> None:
    """Call until told to stop; each client has one open call at a time."""
    rclpy.init()
    node = rclpy.create_node("callers")
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    kinds = itertools.islice(itertools.cycle(KINDS.items()), clients)
    asking = [(node.create_client(kind, f"{NODE}/{name}"), kind.Request()) for name, kind in kinds]
    setter = node.create_client(SetParameters, f"{NODE}/set_parameters")
    open_questions: list[Any] = [None] * len(asking)
    begin, changed = time.monotonic(), 0
    try:
        while True:
            for number, (client, request) in enumerate(asking):
                future = open_questions[number]
                if client.service_is_ready() and (future is None or future.done()):
                    open_questions[number] = client.call_async(request)
            if setter.service_is_ready() and changed < changes * (time.monotonic() - begin) / seconds:
                changed += 1
                # The same robot as another text: its joints continue.
                text = chain_urdf(joints) + "<!-- again -->" * (changed % 7)
                setter.call_async(
                    SetParameters.Request(parameters=[Parameter("robot_description", value=text).to_parameter_msg()])
                )
            pace = time.monotonic() + PACE_S
            while time.monotonic() < pace:
                executor.spin_once(timeout_sec=max(0.0, pace - time.monotonic()))
    except Exception:
        # It was told to stop during a call.
        if rclpy.ok():
            raise
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
