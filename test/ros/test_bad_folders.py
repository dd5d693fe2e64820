# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Snapshots where no file can be: every service says why, and the node lives on."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from robot_semantics_interfaces.srv import DeleteSnapshot, GetStatus, ListSnapshots, RestoreSnapshot, SaveSnapshot
from support.nodes import Client, NodeProcess

from robot_semantics.examples import example

pytestmark = pytest.mark.ros

NODE = "/robot_semantics"
URDF = example("rover_arm.urdf").read_text()
STATED = '<world_state><model_state name="{}">{}</model_state></world_state>'
ELBOW = '<joint_state name="elbow_joint"><positions>{}</positions></joint_state>'


@pytest.fixture(scope="module", params=["file", "below a file", "folder"])
def folder(
    request: pytest.FixtureRequest, start: Callable[..., NodeProcess], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder that cannot be, or that can be left by paths that lead nowhere."""
    file = tmp_path_factory.mktemp("snapshots") / "taken"
    if request.param != "folder":
        file.write_text("")
    else:
        file.mkdir()
    for place in (file, file.parent):
        if place.is_dir():
            os.mkfifo(place / "pipe.usdf")
            os.mkfifo(place / "pipe")
    (file.parent / "text").write_text("not a snapshot")
    folder = file / "below" if request.param == "below a file" else file
    name = request.param.replace(" ", "_")
    start(
        robot_description=URDF,
        snapshots__directory=str(folder),
        snapshots__allow_paths=True,
        snapshots__autosave_period=0.05,
        environment={"HOME": str(file.parent)},
        ros_args=("-r", f"__ns:=/{name}"),
    )
    return Path(f"/{name}{NODE}")


def ask(client: Client, node: Path, kind: Any, service: str, **fields: Any) -> Any:
    answer = client.call(kind, f"{node}/{service}", kind.Request(**fields))
    assert answer.success or answer.message, fields
    return answer


def test_no_name_of_a_snapshot_ends_the_node(client: Client, folder: Path) -> None:
    for name in ("", "fine", "~nouser/x", "~", "no/such/folder.usdf", "pipe", "../pipe", "../text"):
        saved = ask(client, folder, SaveSnapshot, "save_snapshot", name=name)
        if not str(folder).startswith("/folder") or name not in ("", "fine"):
            assert not saved.success, name
        for kind, service in ((RestoreSnapshot, "restore_snapshot"), (DeleteSnapshot, "delete_snapshot")):
            answer = ask(client, folder, kind, service, name=name)
            assert not answer.success or name in ("fine", "pipe")
    ask(client, folder, ListSnapshots, "list_snapshots")
    ask(client, folder, RestoreSnapshot, "restore_snapshot", name="last")
    assert ask(client, folder, GetStatus, "get_status").state == "active"


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "<",
        "<world_state/>",
        STATED.format("nobody", ""),
        STATED.format("rover_arm", ""),
        STATED.format("rover_arm", ELBOW.format("1e300")),
        STATED.format("rover_arm", ELBOW.format("1 2")),
        STATED.format("rover_arm", ELBOW.format("0.1").replace("elbow", "elbo")),
        STATED.format("rover_arm", "<parent>nowhere</parent>"),
    ],
)
def test_a_restore_that_fails_says_why(client: Client, folder: Path, text: str, partial: bool, dry_run: bool) -> None:
    fields = {"text": text, "partial": partial, "dry_run": dry_run}
    answer = ask(client, folder, RestoreSnapshot, "restore_snapshot", **fields)
    if "1e300" in text:
        assert not answer.success
        assert "1e+300" in answer.message
    models = ask(client, folder, RestoreSnapshot, "restore_snapshot", models=["rover"], **fields)
    assert not models.success


def test_a_home_of_nobody_is_one_error_at_the_start(start: Callable[..., NodeProcess]) -> None:
    process = start(robot_description=URDF, snapshots__directory="~nouser/x", ros_args=("-r", "__ns:=/bad"))
    assert process.wait() == 1
    assert "snapshots.directory" in process.output
    assert "Traceback" not in process.output
