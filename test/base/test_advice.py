# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Advice on a missing extra is what this installation needs."""

from __future__ import annotations

import sys

import pytest

from robot_semantics.base.errors import MissingExtraError


def test_pip_is_named_where_there_is_no_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    assert str(MissingExtraError("rosbags", "bag", "reading bags")) == (
        "reading bags needs the Python module 'rosbags': pip install '.[bag]'"
    )


def test_in_a_workspace_rosdep_is_named_and_never_pip_into_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMENT_PREFIX_PATH", "/opt/ros/jazzy")
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    said = str(MissingExtraError("rosbags", "bag", "reading bags"))
    assert "rosdep install --from-paths src" in said
    assert "pip install" not in said
