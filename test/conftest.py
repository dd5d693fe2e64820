"""What tests of every part share."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

# Higher domains use ports that Linux hands out to others.
DOMAINS = range(1, 102)


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
