# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A browser, and the example robot."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.browser import Browser, executable

from robot_semantics import Diagnostics
from robot_semantics.examples import example
from robot_semantics.viewer.opening import Opening, open_files
from robot_semantics.viewer.scene import Scene


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Return a browser; tests that need it are skipped where there is none."""
    if executable() is None:
        pytest.skip("no Chromium is installed: apt install chromium")
    with Browser(tmp_path_factory.mktemp("chromium")) as found:
        yield found


@pytest.fixture(scope="session")
def rover() -> Scene:
    """Return a scene with the example robot."""
    return open_files([example("rover_arm.urdf"), example("rover_arm.srdf")], Opening(), Diagnostics())


@pytest.fixture(scope="session")
def world() -> Scene:
    """Return a scene with the example world: the robot in a frame, and three blocks."""
    return open_files([example("rover_arm.usdf")], Opening(), Diagnostics())
