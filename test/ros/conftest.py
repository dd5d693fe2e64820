# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Real node processes over real DDS: each module in its own domain, on the loopback interface, waiting on events."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from support.nodes import Client, NodeProcess


@pytest.fixture(scope="module")
def domain() -> Iterator[int]:
    from support.domains import Domain

    domain = Domain()
    yield domain.number
    domain.release()


@pytest.fixture(scope="module")
def start(domain: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., NodeProcess]]:
    """Return a function that starts a node with parameters; all are stopped when the module's tests are done."""
    from support.nodes import NodeProcess

    started: list[NodeProcess] = []
    folder = tmp_path_factory.mktemp("node")

    def start(**parameters: Any) -> NodeProcess:
        options = {
            key: parameters.pop(key)
            for key in ("module", "program", "ros_args", "environment", "node", "fresh")
            if key in parameters
        }
        process = NodeProcess(
            folder, domain, {key.replace("__", "."): value for key, value in parameters.items()}, **options
        )
        started.append(process)
        return process

    yield start
    with ExitStack() as stack:
        # All are stopped even if one does not end: what stays would talk into the next module's domain.
        for process in reversed(started):
            stack.callback(process.stop, signal.SIGTERM)


@pytest.fixture(scope="module")
def node(
    request: pytest.FixtureRequest,
    start: Callable[..., NodeProcess],
    client: Client,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[NodeProcess]:
    """A node that answers, with the `PARAMETERS` of the test module; in the end it must stop without a traceback."""
    from robot_semantics_interfaces.srv import ListGroups

    folder = str(tmp_path_factory.mktemp("snapshots"))
    process = start(**{"snapshots__directory": folder, **request.module.PARAMETERS})
    client.call(ListGroups, "/robot_semantics/list_groups")
    yield process
    assert process.stop() == 0
    assert "Traceback" not in process.output


@pytest.fixture(scope="module")
def client(domain: int) -> Iterator[Client]:
    from support.nodes import Client

    client = Client(domain)
    yield client
    client.close()


@pytest.fixture(scope="session")
def pr2() -> tuple[str, str]:
    """The URDF and SRDF texts of the PR2."""
    from support.nodes import SHARE

    folder = SHARE / "example-robot-data" / "robots" / "pr2_description"
    if not folder.is_dir():
        pytest.skip("example-robot-data is not installed (pip install '.[test]')")
    return (folder / "urdf" / "pr2.urdf").read_text(), (folder / "srdf" / "pr2.srdf").read_text()
