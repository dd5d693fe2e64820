# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Bags and the command line for the tests of recordings; what writes the bags is in `support.bags`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.bags import Tape, Tools


@pytest.fixture
def tools(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Tools:
    """Return the shared objects of the tests in this folder."""
    from support.bags import Tools

    return Tools(tmp_path, capsys)


@pytest.fixture(scope="session")
def rover() -> Callable[[float], Tape]:
    """Factory of drives of the example robot, for fixtures that live longer than a test."""
    from support.bags import make_rover

    return make_rover


@pytest.fixture(scope="session")
def drive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example robot's drive as a rosbag2 in mcap."""
    from support.bags import make_rover

    return make_rover().write(tmp_path_factory.mktemp("drive") / "drive")
