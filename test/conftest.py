# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Shared by all tests, and the collection of test modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from support.domains import Domain
from support.optional import instead_of_failing

pytest_plugins = ["support.processes", "support.order"]


class Module(pytest.Module):
    """A module of tests, skipped where it imports what this installation need not have."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Return the module's tests."""
        with instead_of_failing():
            return super().collect()


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> Module:
    """Collect a module here, before launch_testing's plugin imports it in a way of its own, by its bare name."""
    return Module.from_parent(parent, path=module_path)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Iterator[None]:
    """Skip a test one of whose fixtures lacks an optional module."""
    with instead_of_failing():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Skip a test that lacks an optional module."""
    with instead_of_failing():
        return (yield)


@pytest.fixture
def ros_domain(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A DDS domain that no other test on this machine uses at the same time, set for this process and its children."""
    domain = Domain()
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain.number))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    yield domain.number
    domain.release()
