# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Tests are skipped by the name of the module that they lack, wherever it is imported."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

from robot_semantics.base.errors import MissingExtraError

OPTIONAL = frozenset(
    {
        # what extras of the package bring
        *(
            "PIL",
            "coacd",
            "collada",
            "dask",
            "distributed",
            "fcl",
            "matplotlib",
            "mcap",
            "morphit_rs",
            "msgspec",
            "mujoco",
            "pybullet",
            "pydrake",
        ),
        *("lsprotocol", "networkx", "nicegui", "pyarrow", "pygls", "rosbags", "scipy", "trimesh"),
        # ROS, and the package's own interfaces
        *("ament_index_python", "rclpy", "robot_semantics_interfaces", "simulation_interfaces", "tf2_msgs", "tf2_ros"),
        *("controller_manager_msgs", "mujoco_ros2_control_msgs"),
        # oracles and checkers
        *(
            "coal",
            "hypothesis",
            "mypy",
            "packaging",
            "pinocchio",
            "psutil",
            "ruamel",
            "yaml",
            "urchin",
            "urdf_parser_py",
            "yourdfpy",
        ),
    }
)
"""Modules whose tests a machine can do without; every other one that is missing is an error."""


_SAID = re.compile(r"needs the Python module '(\w+)")


@contextmanager
def instead_of_failing() -> Iterator[None]:
    """Skip the test, instead of a failure, if an optional module is missing.

    A command in this process raises an error about the module; a separate process prints it.
    """
    lacked: list[str] = []

    def note(self: MissingExtraError, module: str, extra: str, purpose: str) -> None:
        lacked.append(module)
        _INIT(self, module, extra, purpose)

    MissingExtraError.__init__ = note  # type: ignore[method-assign]
    try:
        yield
    except Exception as error:
        names = [name.partition(".")[0] for name in (*lacked, *_SAID.findall(str(error)), _not_found(error))]
        # A module that the test hides itself is not a reason to skip it.
        missing = [name for name in names if name in OPTIONAL and find_spec(name) is None]
        if not missing:
            raise
        pytest.skip(f"the Python module '{missing[0]}' is not installed", allow_module_level=True)
    finally:
        MissingExtraError.__init__ = _INIT  # type: ignore[method-assign]


_INIT = MissingExtraError.__init__


def _not_found(error: BaseException) -> str:
    """Return the name of the module for whose absence an error was raised; empty if for another reason."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ModuleNotFoundError):
        cause = cause.__cause__ or cause.__context__
    return "" if cause is None else cause.name or ""
