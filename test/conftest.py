"""What tests of every part share, and how their modules are collected."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from support.optional import instead_of_failing

# Higher domains use ports that Linux hands out to others.
DOMAINS = range(1, 102)


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
    """A DDS domain that no other test on this machine uses at the same time, set for this process and its children.

    Domains are held by locks on files, which go with the process that holds them, however it ends.
    """
    folder = Path(tempfile.gettempdir(), "robot_semantics_domains")
    folder.mkdir(exist_ok=True)
    start = os.getpid() % len(DOMAINS)
    for domain in [*DOMAINS[start:], *DOMAINS[:start]]:
        with (folder / str(domain)).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
            monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
            yield domain
            return
    pytest.fail("all DDS domains are in use")
