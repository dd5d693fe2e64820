# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A node that is told to stop ends, even where nothing but the shutdown itself could wake it."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import rclpy
from rclpy import executors
from rclpy.impl.implementation_singleton import rclpy_implementation
from support.nodes import RUNNING, Client, NodeProcess
from support.patience import PATIENCE_S

from robot_semantics.ros.running.spinning import spin

pytestmark = pytest.mark.ros


def test_an_executor_that_slept_through_the_signal_ends(domain: int) -> None:
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    node = rclpy.create_node("quiet", context=context)
    spinning = threading.Thread(target=spin, args=(node,), daemon=True)
    spinning.start()
    spinning.join(0.5)
    assert spinning.is_alive()
    # The last action of rclpy's signal thread after it has woken the executor: no further wake-up follows.
    context.handle.shutdown()
    spinning.join(PATIENCE_S)
    assert not spinning.is_alive()
    node.destroy_node()


@pytest.mark.parametrize("program", ["robot_semantics_node", "robot_semantics_lifecycle_node"])
def test_to_be_told_twice_is_to_be_told_once(client: Client, start: Callable[..., NodeProcess], program: str) -> None:
    others = talkers(client)
    node = start(robot_description='<robot name="r"><link name="base"/></robot>', program=program, fresh=True)
    client.until(lambda: takes_care_of_signals(node), "its handlers")
    client.until(lambda: talkers(client) - others, "the node")
    RUNNING.remove(node)
    # As often as it takes: while it spins, while it takes itself away, while Python ends.
    while True:
        node.process.send_signal(signal.SIGINT)
        try:
            assert node.process.wait(0.03) == 0, node.output
            break
        except subprocess.TimeoutExpired:
            continue
    assert "Traceback" not in node.output
    assert "KeyboardInterrupt" not in node.output
    client.until(lambda: talkers(client) <= others, "its end")


@pytest.mark.parametrize("made", ["GuardCondition", "SignalHandlerGuardCondition"])
def test_a_node_that_is_told_to_stop_while_it_starts_says_nothing(
    domain: int, monkeypatch: pytest.MonkeyPatch, made: str
) -> None:
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    node = rclpy.create_node("early", context=context)
    make = getattr(executors, made)

    def make_late(*arguments: object, **named: object) -> object:
        context.try_shutdown()
        return make(*arguments, **named)

    monkeypatch.setattr(executors, made, make_late)
    unraisable: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda raised: unraisable.append(raised.exc_value))
    with pytest.raises(rclpy_implementation.RCLError):
        spin(node)
    gc.collect()
    assert not unraisable
    node.destroy_node()


def talkers(client: Client) -> set[bytes]:
    """Return by whom our nodes publish /rosout, also one that another test has left behind."""
    found = client.node.get_publishers_info_by_topic("/rosout")
    return {bytes(info.endpoint_gid) for info in found if info.node_name.startswith("robot_semantics")}


def wakes_of_main_thread(node: NodeProcess) -> int:
    """Return how often the thread of the executor has waited and was woken."""
    pid = node.process.pid
    status = Path(f"/proc/{pid}/task/{pid}/status").read_text()
    return int(status.split("\nvoluntary_ctxt_switches:")[1].split()[0])


def test_a_quiet_node_lets_its_executor_sleep(client: Client, start: Callable[..., NodeProcess]) -> None:
    # A wake takes the interpreter from the thread of the joint states: once a second, a message waits for it.
    # Nobody subscribes to ~/world_state, so its timer does not exist.
    node = start(
        robot_description='<robot name="r"><link name="base"/></robot>',
        ros_args=["-r", "__ns:=/sleeper", "-r", "/tf:=tf", "-r", "/tf_static:=tf_static"],
    )
    windows: list[int] = []

    while len(windows) < 9 and min(windows, default=2) > 1:
        before = wakes_of_main_thread(node)
        client.spin_for(3.2)
        windows.append(wakes_of_main_thread(node) - before)
    assert min(windows) <= 1, windows


def takes_care_of_signals(node: NodeProcess) -> bool:
    """Tell whether the process has a handler of its own for SIGTERM, which Python has not."""
    for line in Path(f"/proc/{node.process.pid}/status").read_text().splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> (signal.SIGTERM - 1) & 1)
    return False


def test_a_signal_at_any_moment_of_the_start_ends_it_without_a_word(start: Callable[..., NodeProcess]) -> None:
    one_by_one = threading.Lock()

    def end_early(program: str) -> None:
        for number in range(12):
            with one_by_one:
                node = start(
                    robot_description='<robot name="r"><link name="base"/></robot>',
                    program=program,
                    fresh=True,
                )
                RUNNING.remove(node)
            end = time.monotonic() + PATIENCE_S
            while not takes_care_of_signals(node):
                assert time.monotonic() < end
                time.sleep(0.002)
            time.sleep(0.1 * number)
            node.process.send_signal(signal.SIGINT if number % 3 else signal.SIGTERM)
            assert node.process.wait(PATIENCE_S) == 0, node.output
            assert "Traceback" not in node.output
            assert "Error" not in node.output
            assert "KeyboardInterrupt" not in node.output

    # Side by side, so that the moments differ more than the pauses do.
    with ThreadPoolExecutor() as threads:
        list(threads.map(end_early, ("robot_semantics_node", "robot_semantics_lifecycle_node", "mujoco_world")))
