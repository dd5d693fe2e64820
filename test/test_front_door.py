"""The package's own namespace: every name is there, and nothing heavy is loaded before it is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import robot_semantics


def test_every_name_can_be_imported() -> None:
    for name in robot_semantics.__all__:
        assert getattr(robot_semantics, name).__name__ == name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'naQQQme'"):
        _ = robot_semantics.naQQQme


def test_importing_the_package_loads_no_heavy_module() -> None:
    heavy = ("numpy", "lxml", "rclpy", "mujoco", "rich")
    code = f"import sys, robot_semantics; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
