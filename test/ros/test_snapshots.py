# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Snapshots by services: the whole world, all or nothing, per item; nothing outside the folder."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="MuJoCo is not installed (pip install '.[mujoco]')")

from geometry_msgs.msg import TransformStamped
from robot_semantics_interfaces.srv import (
    DeleteSnapshot,
    GetWorldState,
    ListSnapshots,
    RestoreSnapshot,
    SaveSnapshot,
    Step,
)
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from support.json_shapes import validate
from support.killed_writers import unsound
from support.nodes import LATCHED, Client, NodeProcess, joint_state, matrix_of, said
from support.patience import PATIENCE_S
from support.small_disk import small_disk
from support.templates import start_module
from tf2_msgs.msg import TFMessage

from robot_semantics import WorldState, read_world
from robot_semantics.cli.main import main
from robot_semantics.cli.schema import command_schema
from robot_semantics.examples import example
from robot_semantics.transforms.pose import pose_matrix
from robot_semantics.usdf.fields import ages_of
from robot_semantics.usdf.frames import resolve_frames
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.saved_descriptions import Texts, check_descriptions
from robot_semantics.usdf.snapshots import SnapshotStore, comment_of
from robot_semantics.usdf.world_state import ModelState

pytestmark = pytest.mark.ros

NODE, SIMULATOR = "/robot_semantics", "/mujoco_world"
KILLS = int(os.environ.get("KILLS", "20"))
"""How often a node is killed."""
URDF, SRDF = example("rover_arm.urdf").read_text(), example("rover_arm.srdf").read_text()


class World:
    """A simulated world, the node beside it, and where its snapshots are."""

    def __init__(self, start: Callable[..., NodeProcess], folder: Path) -> None:
        self.folder = folder
        self.simulator = start(
            program="mujoco_world",
            world=str(example("rover_arm.usdf")),
            start_paused=True,
        )
        self.node = start(
            robot_description=URDF,
            robot_description_semantic=SRDF,
            simulators=[SIMULATOR],
            snapshots__directory=str(folder),
            use_sim_time=True,
            publish_frequency=1000.0,
        )


@pytest.fixture(scope="module")
def world(start: Callable[..., NodeProcess], tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(start, tmp_path_factory.mktemp("snapshots"))


def save(client: Client, name: str, node: str = NODE, **fields: Any) -> Any:
    request = SaveSnapshot.Request(name=name, overwrite=True, **fields)
    return client.call(SaveSnapshot, f"{node}/save_snapshot", request)


def restore(client: Client, name: str = "", **fields: Any) -> Any:
    return client.call(RestoreSnapshot, f"{NODE}/restore_snapshot", RestoreSnapshot.Request(name=name, **fields))


def simulated(client: Client) -> Any:
    return parse_world(
        client.call(GetWorldState, f"{SIMULATOR}/get_world_state", GetWorldState.Request(with_text=True)).text
    )


def step(client: Client, count: int) -> None:
    assert client.call(Step, f"{SIMULATOR}/step", Step.Request(steps=count)).success


def test_a_saved_world_comes_back_exactly_and_so_does_tf(client: Client, world: World) -> None:
    def on_tf() -> bool:
        # Each moment is published once, perhaps before this client was found.
        step(client, 1)
        return "base_footprint" in client.newest()

    client.until(on_tf, "the base on TF")
    assert client.call(Trigger, f"{SIMULATOR}/reset").success
    step(client, 120)
    answer = save(client, "grasp", comment="before the grasp")
    assert answer.success, answer.message
    assert not answer.missing
    assert answer.path == str(world.folder / "grasp.usdf")
    assert (answer.stamp.sec, answer.stamp.nanosec) == (0, 240_000_000)
    saved = read_world(answer.path)
    assert comment_of(saved) == "before the grasp"
    assert {model.name for model in saved.models} == {"rover_arm", "block_1", "block_2", "block_3"}
    before = simulated(client)
    step(client, 200)
    later = simulated(client)
    done = restore(client, "grasp")
    assert done.success, done.message
    assert not done.not_restored
    assert "simulator '/mujoco_world': exact, it continues bit for bit" in said(done.restored)
    assert "simulator '/mujoco_world': model 'block_1': pose: set" in said(done.restored)
    assert "simulator '/mujoco_world': model 'rover_arm': joint 'elbow_joint': position and velocity set" in said(
        done.restored
    )
    assert simulated(client).engines == before.engines
    rover = next(model for model in saved.models if model.name == "rover_arm")

    def is_back() -> bool:
        # The newest transforms have the restored time, which is earlier than the time of the previous ones.
        found = client.at(240_000_000)
        if "base_footprint" not in found or "wrist_link" not in found:
            return False
        apart = np.abs(matrix_of(found["base_footprint"]) - pose_matrix(rover.pose)).max()
        return bool(apart < 1e-12)

    client.until(is_back, "the restored pose on TF")
    step(client, 200)
    assert simulated(client).engines == later.engines


def test_all_or_nothing_across_simulator_and_node(client: Client, world: World) -> None:
    save(client, "whole")
    text = (world.folder / "whole.usdf").read_text().replace('model_state name="block_2"', 'model_state name="blok_2"')
    step(client, 10)
    before = simulated(client)
    refused = restore(client, text=text)
    assert not refused.success
    assert refused.message.startswith("nothing restored, because not everything could be: ")
    assert not refused.restored
    assert any("no such model; did you mean 'block_2'" in item for item in said(refused.not_restored))
    assert simulated(client).engines == before.engines
    part = restore(client, text=text, partial=True)
    assert part.success
    assert any("blok_2" in item for item in said(part.not_restored))
    assert simulated(client).engines != before.engines


def test_a_dry_run_says_what_it_would_do(client: Client, world: World) -> None:
    save(client, "dry")
    step(client, 10)
    before = simulated(client)
    answer = restore(client, "dry", dry_run=True)
    assert answer.success
    assert any("block_3" in item for item in said(answer.restored))
    assert simulated(client).engines == before.engines


def test_chosen_models_alone_are_restored(client: Client, world: World) -> None:
    save(client, "chosen")
    step(client, 50)
    before = {model.name: model for model in simulated(client).models}
    answer = restore(client, "chosen", models=["block_1"])
    assert answer.success, answer.message
    after = {model.name: model for model in simulated(client).models}
    assert after["rover_arm"].joints == before["rover_arm"].joints
    saved = {model.name: model for model in read_world(world.folder / "chosen.usdf").models}
    np.testing.assert_allclose(pose_matrix(after["block_1"].pose), pose_matrix(saved["block_1"].pose), atol=1e-12)
    unknown = restore(client, "chosen", models=["block_9"])
    assert not unknown.success
    assert unknown.nearest


def test_names_are_listed_found_and_deleted(client: Client, world: World) -> None:
    for name in ("one", "two"):
        save(client, name, comment=name.upper())
    answer = client.call(ListSnapshots, f"{NODE}/list_snapshots")
    assert [(info.name, info.comment) for info in answer.snapshots][-2:] == [("one", "ONE"), ("two", "TWO")]
    wrong = restore(client, "tow")
    assert not wrong.success
    assert wrong.nearest[0] == "two"
    deleted = client.call(DeleteSnapshot, f"{NODE}/delete_snapshot", DeleteSnapshot.Request(name="one"))
    assert deleted.success
    assert not (world.folder / "one.usdf").exists()
    assert restore(client, "last").success


@pytest.mark.parametrize("name", ["../x", "/tmp/x", "a/b", ".."])
def test_no_name_leads_out_of_the_folder(client: Client, world: World, name: str) -> None:
    for answer in (
        save(client, name),
        restore(client, name),
        client.call(DeleteSnapshot, f"{NODE}/delete_snapshot", DeleteSnapshot.Request(name=name)),
    ):
        assert not answer.success
        assert "is not a snapshot name" in answer.message


def test_name_and_text_exclude_each_other(client: Client, world: World) -> None:
    assert "give either" in restore(client).message
    assert "give either" in restore(client, "a", text="b").message


def test_a_bad_text_is_refused_with_its_place(client: Client, world: World) -> None:
    answer = restore(client, text="<world_state>\n<pose/></world_state>")
    assert not answer.success
    assert answer.message.startswith("<text>:2:1: error: ")


def test_tf_frames_outside_the_robots_are_saved(client: Client, world: World) -> None:
    publisher = client.node.create_publisher(TFMessage, "/tf_static", LATCHED)
    table, camera = TransformStamped(), TransformStamped()
    table.header.frame_id, table.child_frame_id = "map", "table"
    table.transform.translation.x, table.transform.rotation.w = 2.0, 1.0
    camera.header.frame_id, camera.child_frame_id = "palm_link", "camera"
    camera.transform.translation.z, camera.transform.rotation.w = 0.5, 1.0
    publisher.publish(TFMessage(transforms=[table, camera]))

    def saved() -> Any:
        path = save(client, "framed").path
        frames = {frame.name: frame for frame in read_world(path).frames}
        return (frames, read_world(path)) if {"table", "camera", "map"} <= set(frames) else None

    frames, state = client.until(saved, "the frames in a snapshot")
    assert (frames["table"].parent, frames["map"].parent, frames["camera"].parent) == ("map", "world", "rover_arm")
    assert frames["table"].pose.xyz_rpy[0] == 2.0
    assert frames["camera"].parent_link == "palm_link"
    assert frames["camera"].pose.xyz_rpy == (0.0, 0.0, 0.5, 0.0, 0.0, 0.0)
    expected = pose_matrix(state.model("rover_arm").link("palm_link").pose)
    expected[:3, 3] += 0.5 * expected[:3, 2]
    np.testing.assert_allclose(resolve_frames(state).pose("camera", "rover_arm"), expected, atol=1e-9)
    assert restore(client, "framed").success
    client.node.destroy_publisher(publisher)


def test_the_command_line_saves_restores_and_lists(
    client: Client, world: World, domain: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    assert main(["snapshot", "save", "typed", "--comment", "by hand", "--force"]) == 0
    assert capsys.readouterr().out.strip() == str(world.folder / "typed.usdf")
    for words in (
        ["save", "typed", "--force"],
        ["restore", "typed", "--dry-run"],
        ["list"],
        ["save", "gone"],
        ["delete", "gone"],
    ):
        assert main(["snapshot", *words, "--json"]) == 0
        validate(json.loads(capsys.readouterr().out), json.loads(command_schema(f"snapshot {words[0]}")))
    assert main(["snapshot", "save", "typed", "--comment", "by hand", "--force"]) == 0
    capsys.readouterr()
    assert main(["snapshot", "list", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["snapshots"]}
    assert rows["typed"]["comment"] == "by hand"
    assert main(["snapshot", "list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert listed[0].split() == ["snapshot", "time", "comment"]
    assert any(re.fullmatch(r"typed +\d+\.\d{3} s  by hand", line.rstrip()) for line in listed)
    assert main(["snapshot", "restore", "typed", "--dry-run"]) == 0
    assert "model 'rover_arm'" in capsys.readouterr().out
    assert main(["snapshot", "restore", "--file", str(world.folder / "typed.usdf")]) == 0
    capsys.readouterr()
    assert main(["snapshot", "restore", "typd"]) == 1
    assert "did you mean 'typed'" in capsys.readouterr().err
    assert main(["snapshot", "delete", "typed"]) == 0
    assert main(["snapshot", "list", "--node=/nobody", "--timeout", "0.5"]) == 1
    assert "/nobody/list_snapshots does not exist" in capsys.readouterr().err


def test_a_dead_simulator_is_said_and_the_node_saves_what_it_sees(
    client: Client, start: Callable[..., NodeProcess], tmp_path: Path
) -> None:
    start(
        robot_description=URDF,
        robot_description_semantic=SRDF,
        simulators=["/nobody"],
        snapshots__directory=str(tmp_path),
        ros_args=("-r", "__ns:=/alone"),
    )
    positions = {"elbow_joint": 0.5, "world_joint/x": 1.0, "world_joint/y": 2.0, "world_joint/theta": 0.5}
    publisher = client.publisher(JointState, "/alone/joint_states")

    def seen() -> Any:
        publisher.publish(joint_state(positions))
        found = save(client, "seen", node="/alone/robot_semantics")
        assert found.success, found.message
        return found if read_world(found.path).models[0].joints else None

    answer = client.until(seen, "a snapshot with a joint")
    assert any("simulator '/nobody' is not running" in item for item in said(answer.missing))
    assert any("has never been reported" in item for item in said(answer.missing))
    (model,) = read_world(answer.path).models
    assert [(joint.name, joint.positions) for joint in model.joints] == [("elbow_joint", (0.5,))]
    assert model.pose is not None
    np.testing.assert_allclose(model.pose.xyz_rpy, (1.0, 2.0, 0.0, 0.0, 0.0, 0.5), atol=1e-12)
    assert model.twist is None
    request = RestoreSnapshot.Request(name="seen")
    refused = client.call(RestoreSnapshot, "/alone/robot_semantics/restore_snapshot", request)
    assert not refused.success
    assert any("simulator '/nobody' is not running" in item for item in said(refused.not_restored))


def test_old_values_are_refused_with_their_age_and_autosave_rotates(
    client: Client, start: Callable[..., NodeProcess], tmp_path: Path
) -> None:
    start(
        robot_description=URDF,
        robot_description_semantic=SRDF,
        snapshots__directory=str(tmp_path),
        snapshots__max_age=0.5,
        snapshots__autosave_period=0.1,
        snapshots__autosave_keep=2,
        ros_args=("-r", "__ns:=/aged"),
    )
    publisher = client.publisher(JointState, "/aged/joint_states")
    now = time.time_ns() - 10_000_000_000

    def fourth() -> bool:
        newest = max(tmp_path.glob("auto-*.usdf"), default=None)
        if newest is None or int(newest.stem.removeprefix("auto-aged.robot_semantics-")) < 4:
            return False
        return bool(read_world(newest).models[0].joints)

    client.publish_until(
        publisher, lambda: joint_state({"elbow_joint": 0.5}, now), fourth, "the fourth autosave, with a joint in it"
    )
    assert len(list(tmp_path.glob("auto-*.usdf"))) <= 3
    node = "/aged/robot_semantics"

    def aged() -> bool:
        # Ages are differences of arrival, whatever the stamps say.
        publisher.publish(joint_state({"elbow_joint": 0.5}, time.time_ns() - 5_000_000_000))
        publisher.publish(joint_state({"lift_joint": 0.1}))
        answer = save(client, "aged", node=node)
        ages = {age.name: age.age_ns for age in ages_of(read_world(answer.path))} if answer.success else {}
        return ages.get("lift_joint") == 0 and 0 < ages.get("elbow_joint", 0) < 500_000_000

    client.until(aged, "the ages of both joints in the file")

    def refused() -> Any:
        client.spin_for(0.6)
        publisher.publish(joint_state({"lift_joint": 0.1}))
        client.spin_for(0.1)
        answer = save(client, "old", node=node)
        return answer if not answer.success else None

    answer = client.until(refused, "a refusal")
    assert re.search(
        r"robot 'rover_arm': joint 'elbow_joint' is [\d.]+ s older than the newest value, more than max_age 0\.5 s",
        answer.message,
    )


@pytest.mark.timeout(100 + 20 * KILLS)
def test_a_node_that_is_killed_before_any_file_operation_loses_and_leaves_nothing(
    start: Callable[..., NodeProcess], tmp_path: Path
) -> None:
    rng, folder = random.Random(16), tmp_path / "snapshots"
    texts = {"rover_arm": Texts(URDF, SRDF)}
    mine = SnapshotStore(folder).save("mine", WorldState(models=(ModelState("rover_arm"),)), texts=texts).read_bytes()
    for number in range(KILLS):
        node = start(
            module="support.killed_writers",
            robot_description=URDF,
            robot_description_semantic=SRDF,
            snapshots__directory=str(folder),
            snapshots__autosave_period=0.001,
            snapshots__autosave_keep=3,
            ros_args=("-r", f"__ns:=/killed_{number % 3}"),
            environment={
                "KILLED_BEFORE": str(rng.randrange(1, 50)),
                "KILLED_IN": str(folder),
                "KILLED_MODULE": "robot_semantics.ros",
            },
        )
        assert node.wait() == -signal.SIGKILL, node.output
        writer = start_module("support.killed_writers", ["next", str(folder)], os.environ, 2, SnapshotStore.__module__)
        assert writer.wait(PATIENCE_S) == 0
        assert unsound(folder) == []
        assert (folder / "mine.usdf").read_bytes() == mine


def test_a_full_disk_fails_a_save_and_leaves_the_files_as_they_were(
    client: Client, start: Callable[..., NodeProcess], tmp_path: Path
) -> None:
    with small_disk(tmp_path / "disk", 1000) as disk:
        folder = disk.folder / "snapshots"
        start(robot_description=URDF, snapshots__directory=str(folder), ros_args=("-r", "__ns:=/full"))
        node = "/full/robot_semantics"
        assert save(client, "grasp", node=node).success
        before = disk.files()
        for pages in range(3):
            disk.leave(pages)
            answer = save(client, "grasp" if pages else "new", node=node, comment="x" * 20_000)
            assert not answer.success
            assert "No space left on device" in answer.message
            assert disk.files() == before
        disk.leave(100)
        assert save(client, "grasp", node=node, comment="later").success
        assert read_world(folder / "grasp.usdf").models


def test_two_nodes_on_one_folder_keep_their_own_automatic_snapshots(
    client: Client, start: Callable[..., NodeProcess], tmp_path: Path
) -> None:
    nodes = ["left", "right"]
    for name in nodes:
        start(
            robot_description=URDF.replace('name="rover_arm"', f'name="{name}"'),
            snapshots__directory=str(tmp_path),
            snapshots__autosave_period=0.01,
            snapshots__autosave_keep=2,
            ros_args=("-r", f"__ns:=/{name}"),
        )
    for number in range(40):
        for name in nodes:
            answer = save(client, f"{name}{number % 5}", node=f"/{name}/robot_semantics")
            assert answer.success, answer.message
            state = read_world(answer.path)
            assert [model.name for model in state.models] == [name]
            check_descriptions(state, tmp_path, 1_000_000)
            assert (tmp_path / str(state.models[0].description)).exists()
    for name in nodes:
        assert 2 <= len(list(tmp_path.glob(f"auto-{name}.robot_semantics-*.usdf"))) <= 3


def test_a_damaged_description_is_refused_by_a_restore_and_written_again_by_a_save(
    client: Client, start: Callable[..., NodeProcess], tmp_path: Path
) -> None:
    start(robot_description=URDF, snapshots__directory=str(tmp_path), ros_args=("-r", "__ns:=/damaged"))
    node = "/damaged/robot_semantics"
    (saved,) = read_world(save(client, "before", node=node).path).models
    path = tmp_path / str(saved.description)
    path.write_text("<robot name='another'><link name='x'/></robot>")
    answer = client.call(RestoreSnapshot, f"{node}/restore_snapshot", RestoreSnapshot.Request(name="before"))
    assert not answer.success
    assert f"its name states {path.stem}" in answer.message
    assert save(client, "after", node=node).success
    assert path.read_text() == URDF


def test_a_bad_parameter_is_one_error_at_the_start(start: Callable[..., NodeProcess]) -> None:
    process = start(robot_description=URDF, snapshots__max_age=-1.0, ros_args=("-r", "__ns:=/bad"))
    assert process.wait() == 1
    assert "parameter 'snapshots.max_age' must not be negative, not -1.0" in process.output


def test_nothing_is_left_in_the_folder_but_snapshots(world: World) -> None:
    assert all(entry.suffix in (".usdf", ".urdf", ".srdf") for entry in world.folder.iterdir())
