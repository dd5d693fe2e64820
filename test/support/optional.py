"""Tests are skipped by the name of the module that they lack, wherever it is imported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

OPTIONAL = frozenset(
    {
        # what extras of the package bring
        *("PIL", "coacd", "collada", "dask", "distributed", "fcl", "matplotlib", "mcap", "msgspec", "mujoco"),
        *("networkx", "nicegui", "pyarrow", "rosbags", "scipy", "trimesh"),
        # ROS, and the package's own interfaces
        *("ament_index_python", "rclpy", "robot_semantics_interfaces", "simulation_interfaces", "tf2_msgs", "tf2_ros"),
        # oracles and checkers
        *(
            "coal",
            "hypothesis",
            "mypy",
            "packaging",
            "pinocchio",
            "psutil",
            "ruamel",
            "urchin",
            "urdf_parser_py",
            "yourdfpy",
        ),
    }
)
"""Modules whose tests a machine can do without; every other one that is missing is an error."""


@contextmanager
def instead_of_failing() -> Iterator[None]:
    """Skip what is in here, rather than let it fail, where an optional module is missing."""
    try:
        yield
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, ModuleNotFoundError):
            cause = cause.__cause__ or cause.__context__
        missing = cause.name if cause is not None else None
        name = (missing or "").partition(".")[0]
        # What a test has hidden is no reason to skip it.
        if name not in OPTIONAL or find_spec(name) is not None:
            raise
        pytest.skip(f"the Python module '{name}' is not installed", allow_module_level=True)
