# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Cost of a query about groups: in the library, and as a service call compared with an empty one (std_srvs/Trigger).

Run: python -m benchmark.bench_queries [--calls N]
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.queries import groups_with_link, matching_states
from robot_semantics.model.robot_model import RobotModel

LINKS, GROUPS = 500, 50
PER_GROUP = (LINKS - 1) // GROUPS

TRIGGER = """
import rclpy
from rclpy.executors import ExternalShutdownException
from std_srvs.srv import Trigger
rclpy.init()
node = rclpy.create_node("empty")
node.create_service(Trigger, "~/trigger", lambda request, response: response)
try:
    rclpy.spin(node)
except (KeyboardInterrupt, ExternalShutdownException):
    pass
finally:
    rclpy.try_shutdown()
"""


def descriptions() -> tuple[str, str]:
    """Return the URDF and SRDF of a robot with 500 links in 50 chains, each a group with a state."""
    links, joints, groups = ['<link name="base"/>'], [], []
    for group in range(GROUPS):
        parent = "base"
        count = PER_GROUP + (group < LINKS - 1 - GROUPS * PER_GROUP)
        names = [f"chain_{group:02}_{at}" for at in range(count)]
        for name in names:
            links.append(f'<link name="{name}_link"/>')
            joints.append(
                f'<joint name="{name}_joint" type="revolute"><parent link="{parent}"/><child link="{name}_link"/>'
                '<axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>'
            )
            parent = f"{name}_link"
        values = "".join(f'<joint name="{name}_joint" value="0.5"/>' for name in names)
        groups.append(f'<group name="group_{group:02}"><chain base_link="base" tip_link="{parent}"/></group>')
        groups.append(f'<group_state name="home" group="group_{group:02}">{values}</group_state>')
    urdf = f'<robot name="large">{"".join(links)}{"".join(joints)}</robot>'
    return urdf, f'<robot name="large">{"".join(groups)}</robot>'


def library_times(model: RobotModel, srdf: str, urdf: str) -> list[tuple[str, float]]:
    """Return the median time of each query [s], after a check of the answers."""
    positions = {joint.name: 0.5 for joint in model.joints[1:]}
    assert len(model.links) == LINKS
    assert len(model.semantics.groups) == GROUPS
    assert len(model.semantics.group("group_25").joints) in (PER_GROUP, PER_GROUP + 1)
    assert groups_with_link(model, "chain_25_3_link") == ("group_25",)
    assert [match.state for match in matching_states(model, "group_25", positions, 1e-9)] == ["home"]
    questions: list[tuple[str, Callable[[], object], int]] = [
        ("one group", lambda: model.semantics.group("group_25"), 10_000),
        ("groups that have a link", lambda: groups_with_link(model, "chain_25_3_link"), 1_000),
        ("which state a group is in", lambda: matching_states(model, "group_25", positions, 1e-3), 1_000),
        ("reading URDF and SRDF", lambda: robot_from_text(urdf, srdf), 1),
    ]
    return [(name, median_time(ask, repeats)) for name, ask, repeats in questions]


def median_time(call: Callable[[], object], repeats: int, samples: int = 9) -> float:
    """Return the median time of one call [s] over `samples` rounds of `repeats`."""
    times = []
    for _ in range(samples):
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        times.append((time.perf_counter() - start) / repeats)
    return statistics.median(times)


def service_times(urdf: str, srdf: str, model: RobotModel, calls: int) -> tuple[float, float]:
    """Return the median times of a GetGroup call and of a Trigger call [s], called in turn."""
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from robot_semantics_interfaces.srv import GetGroup
    from std_srvs.srv import Trigger

    os.environ.setdefault("ROS_DOMAIN_ID", "77")
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    rclpy.init()
    node = rclpy.create_node("bench_queries")
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    with tempfile.TemporaryDirectory() as folder:
        parameters = Path(folder, "parameters.yaml")
        # JSON is YAML; a text of this length does not fit on a command line.
        values = {"robot_description": urdf, "robot_description_semantic": srdf}
        parameters.write_text(json.dumps({"/**": {"ros__parameters": values}}))
        servers = [
            subprocess.Popen(command)
            for command in (
                [
                    sys.executable,
                    "-m",
                    "robot_semantics.ros",
                    "robot_semantics_node",
                    "--ros-args",
                    "--params-file",
                    str(parameters),
                ],
                [sys.executable, "-c", TRIGGER],
            )
        ]
        try:
            group = node.create_client(GetGroup, "/robot_semantics/get_group")
            trigger = node.create_client(Trigger, "/empty/trigger")
            for client in (group, trigger):
                if not client.wait_for_service(timeout_sec=30.0):
                    raise SystemExit(f"{client.srv_name} did not come up")
            ask = GetGroup.Request(name="group_25")
            # The client may see a server before the server sees the client: then the first answers are lost.
            for client, request in ((group, ask), (trigger, Trigger.Request())):
                for _ in range(20):
                    if called(executor, client, request, timeout=0.5) is not None:
                        break
            check_answer(called(executor, group, ask).group, model)
            times: dict[str, list[float]] = {"group": [], "trigger": []}
            for at in range(calls + 50):
                for name, client, request in (("group", group, ask), ("trigger", trigger, Trigger.Request())):
                    start = time.perf_counter()
                    called(executor, client, request)
                    # The first calls are a warm-up of both processes.
                    if at >= 50:
                        times[name].append(time.perf_counter() - start)
            return statistics.median(times["group"]), statistics.median(times["trigger"])
        finally:
            for server in servers:
                server.send_signal(signal.SIGINT)
            for server in servers:
                server.wait(timeout=10)
            node.destroy_node()
            rclpy.try_shutdown()


def called(executor: Any, client: Any, request: Any, timeout: float = 10.0) -> Any:
    """Return the answer to one call; None if none came in `timeout` seconds."""
    future = client.call_async(request)
    end = time.monotonic() + timeout
    # Not `spin_until_future_complete`: in Jazzy's rclpy every call leaves tasks behind, which slow down all later
    # calls.
    while not future.done() and time.monotonic() < end:
        executor.spin_once(timeout_sec=timeout)
    return future.result() if future.done() else None


def check_answer(message: Any, model: RobotModel) -> None:
    """Stop if the service and the library disagree."""
    group = model.semantics.group("group_25")
    for field in type(message).get_fields_and_field_types():
        theirs, ours = getattr(message, field), getattr(group, field)
        assert (tuple(theirs) if isinstance(ours, tuple) else theirs) == ours, field


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--calls", type=int, default=1000, help="service calls of each kind")
    calls = parser.parse_args().calls
    urdf, srdf = descriptions()
    model = robot_from_text(urdf, srdf)
    print(f"a robot of {LINKS} links and {GROUPS} groups")
    for name, seconds in library_times(model, srdf, urdf):
        print(f"  library: {name:<28} {seconds * 1e6:12.2f} µs")
    group, trigger = service_times(urdf, srdf, model, calls)
    print(f"  service: {'GetGroup':<28} {group * 1e6:12.2f} µs")
    print(f"  service: {'std_srvs/Trigger':<28} {trigger * 1e6:12.2f} µs")
    print(f"  GetGroup / Trigger: {group / trigger:.2f} (at most 1.5)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
