"""A node that is told to stop ends, even where nothing but the shutdown itself could wake it."""

from __future__ import annotations

import threading

import pytest
import rclpy

from robot_semantics.ros.spinning import spin

from .conftest import PATIENCE_S

pytestmark = pytest.mark.ros


def test_an_executor_that_slept_through_the_signal_ends(domain: int) -> None:
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    node = rclpy.create_node("quiet", context=context)
    spinning = threading.Thread(target=spin, args=(node,), daemon=True)
    spinning.start()
    spinning.join(0.5)
    assert spinning.is_alive()
    # What rclpy's signal thread does last, after it has woken the executor: nobody wakes the executor again.
    context.handle.shutdown()
    spinning.join(PATIENCE_S)
    assert not spinning.is_alive()
    node.destroy_node()
