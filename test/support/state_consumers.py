# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Everything that reads a world state with its robots, behind one function each; a new consumer is one line below.

A consumer takes a world state, the URDF and SRDF of each model, and a folder to work in. It answers where everything
is, as far as it can say, or raises `RefusedError` with the subjects that it does not take.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robot_semantics import Diagnostics, ForwardKinematics, WorldState, read_world, save_world
from robot_semantics.model.loading import robot_from_text
from robot_semantics.transforms import matrix_from_pose
from robot_semantics.transforms.pose import pose_from_matrix
from robot_semantics.usdf.apply import Base, apply_model_state, resolve_with
from robot_semantics.usdf.frames import ResolvedWorld

FloatArray = npt.NDArray[np.float64]
Robots = Mapping[str, tuple[str, str | None]]
"""The URDF and SRDF texts of each model, by its name."""

Answer = dict[str, dict[str, Any]]
"""Result of a consumer by model, as far as it has one.

``T_world_link``: (4, 4) by link; ``positions`` and ``velocities``: rows by joint; ``base_twist``: (6,) of the root link
in its virtual joint's frame, in that frame's axes; ``said``: its messages about the model.
"""


class RefusedError(Exception):
    """A consumer refuses a state.

    Attributes:
        items: the refused items with reasons, each beginning with its subject: ``model 'm': joint 'j': …``.
    """

    def __init__(self, items: Iterable[object]) -> None:
        self.items = tuple(str(item) for item in items)
        super().__init__("; ".join(self.items))


@dataclass(frozen=True)
class Consumer:
    """One consumer.

    Attributes:
        run: takes a state, its robots and a folder.
        puts: it puts the state onto robots, and so must refuse what these cannot take; others only look at it.
        says_ages: it says in words how old values are that it takes as of the state's time; the others show none.
        worlds: how many of the random worlds it is given; fewer for slow ones.
        marks: pytest's marks of its tests.
    """

    run: Callable[[WorldState, Robots, Path], Answer]
    puts: bool = True
    says_ages: bool = True
    worlds: int = 140
    marks: tuple[pytest.MarkDecorator, ...] = ()


def written(state: WorldState, robots: Robots, folder: Path) -> Path:
    """Write the state and its robots' files; return where the state is."""
    models = []
    for model in state.models:
        urdf, srdf = robots[model.name]
        (folder / f"{model.name}.urdf").write_text(urdf)
        if srdf is not None:
            (folder / f"{model.name}.srdf").write_text(srdf)
        semantic = None if srdf is None else f"{model.name}.srdf"
        models.append(replace(model, description=f"{model.name}.urdf", semantic=semantic))
    path = folder / "world.usdf"
    save_world(replace(state, models=tuple(models)), path)
    return path


def everywhere(state: WorldState, robots: Robots) -> ResolvedWorld:
    """Return the resolved world; links that carry something are where their robots' joints put them."""
    return resolve_with(state, robots={name: robot_from_text(*texts) for name, texts in robots.items()})


def library(state: WorldState, robots: Robots, _folder: Path) -> Answer:
    """`apply_model_state`, model by model, a fixed base wherever it is stated."""
    world, answer = everywhere(state, robots), Answer()
    refused: list[object] = []
    for model in state.models:
        robot = robot_from_text(*robots[model.name])
        kinematics = ForwardKinematics(robot)
        base = replace(Base.of(robot), placeable=True)
        found = apply_model_state(model, world, kinematics.model, base=base)
        refused += found.refused
        space, said = kinematics.space, answer.setdefault(model.name, {})
        said["positions"] = {name: found.positions[space.joint_positions[name]] for name in found.positions_of}
        said["velocities"] = {name: found.velocities[space.joint_velocities[name]] for name in found.velocities_of}
        if found.base_xyz_quat is not None:
            T_world_root = world.pose(base.frame) @ matrix_from_pose(found.base_xyz_quat)
            poses = T_world_root @ kinematics.measured.link_poses(found.positions)
            said["T_world_link"] = dict(zip(robot.link_names, poses, strict=True))
        if found.base_twist is not None:
            said["base_twist"] = found.base_twist
        said["said"] = found.notes
    if refused:
        raise RefusedError(refused)
    return answer


def usdf_resolve(state: WorldState, robots: Robots, folder: Path) -> Answer:
    """`robot_semantics usdf resolve --json`."""
    result = command("usdf", "resolve", str(written(state, robots, folder)), "--json")
    answer: Answer = {model.name: {"T_world_link": {}} for model in state.models}
    for body in json.loads(result)["bodies"]:
        model, separator, link = body["name"].partition("::")
        if separator:
            T = matrix_from_pose([*body["xyz"], *body["quat_xyzw"]])
            answer[model]["T_world_link"][link] = T
    return answer


def fk(state: WorldState, robots: Robots, folder: Path) -> Answer:
    """`robot_semantics usdf resolve --links --json`, robot by robot."""
    path, answer, refused = written(state, robots, folder), Answer(), list[object]()
    for model in state.models:
        files = ["--urdf", str(folder / f"{model.name}.urdf")]
        if robots[model.name][1] is not None:
            files[1] += f",{folder / model.name}.srdf"
        try:
            words: list[str] = []
            options = ("--links", model.name, "--json")
            found = json.loads(command("usdf", "resolve", str(path), *options, *files, said=words))
        except RefusedError as error:
            refused += error.items
            continue
        answer[model.name] = {"said": words}
        if found["relative_to"] == "world":
            poses = {link: matrix_from_pose(pose) for link, pose in found["poses"].items()}
            answer[model.name]["T_world_link"] = poses
    if refused:
        raise RefusedError(refused)
    return answer


def view(state: WorldState, robots: Robots, folder: Path) -> Answer:
    """What `robot_semantics view` shows."""
    from robot_semantics.viewer.opening import Opening, open_files
    from robot_semantics.viewer.scene import link_poses

    scene = open_files([written(state, robots, folder)], Opening(), Diagnostics())
    answer: Answer = {model.name: {"T_world_link": {}} for model in state.models}
    for actor in scene.actors:
        poses = link_poses(actor, scene.moments[0].stances[actor.name])
        answer[actor.name]["T_world_link"] = dict(zip(actor.model.link_names, poses, strict=True))
    return answer


def simulation(engine: str) -> Callable[[WorldState, Robots, Path], Answer]:
    """Restored by a simulator, and captured again."""

    def run(state: WorldState, robots: Robots, _folder: Path) -> Answer:
        pytest.importorskip({"drake": "pydrake"}.get(engine, engine))
        from robot_semantics.simulation.loading import start_simulator
        from robot_semantics.simulation.world_spec import ModelSpec, WorldSpec

        specs = tuple(ModelSpec(name, robot_from_text(*texts)) for name, texts in robots.items())
        simulator = start_simulator(engine, WorldSpec(specs, ground=False), lambda text: None)
        report = simulator.restore(state)
        if not report.complete:
            raise RefusedError(report.not_restored)
        return of_world(simulator.capture(), robots, report.notes)

    return run


def recording(state: WorldState, robots: Robots, folder: Path) -> Answer:
    """Recorded by `robot_semantics bag`, and exported from there with its links."""
    pytest.importorskip("rosbags")
    path = written(replace(state, time_ns=1_700_000_000_000_000_000), robots, folder)
    names, alone = [model.name for model in state.models], len(state.models) == 1
    words: list[str] = []
    with contextlib.suppress(RefusedError):
        # Items that do not fit a robot are named, and left out of a recording that has all others.
        command("bag", str(path), "-o", str(folder / "bag"), said=words)
    models = [word for name in names for word in ("--model", name if alone else f"{name}:/{name}")]
    out = folder / "exported.usdf"
    command("export", str(folder / "bag"), *models, "--links", "--at-topic", "/clock", "-o", str(out))
    return of_world(read_world(out), robots, words)


def node(state: WorldState, robots: Robots, folder: Path) -> Answer:
    """Restored by a node over DDS, and given back by `~/save_snapshot` and `~/get_world_state`, which agree.

    Other nodes publish the foreign data: the frames, and the poses of robots without a virtual joint.
    """
    pytest.importorskip("rclpy")
    from support.node_world import OneNode, transform, without_files
    from support.nodes import said

    world = everywhere(state, robots)
    static = [transform(frame.parent, frame.name, frame.pose) for frame in state.frames if frame.pose is not None]
    for model in state.models:
        if robots[model.name][1] is None and model.pose is not None:
            static.append(transform("world", f"{model.name}/base", pose_from_matrix(world.pose(model.name))))
    with OneNode(robots, folder, static) as one:
        answer = one.restore(state)
        if not answer.success:
            assert answer.message
            raise RefusedError(said(answer.not_restored))
        assert not answer.not_restored
        saved, _ = one.saved()
        # Without any stamp, the time is the time of the call.
        assert without_files(replace(one.state(), time_ns=None)) == without_files(replace(saved, time_ns=None))
    return of_world(saved, robots, said(answer.notes))


def of_world(state: WorldState, robots: Robots, words: Iterable[str]) -> Answer:
    """Return where a world state that names every link and joint says that everything is."""
    world, answer = resolve_with(state), Answer()
    for model in state.models:
        frame = Base.of(robot_from_text(*robots[model.name])).frame
        answer[model.name] = {
            "T_world_link": {link.name: world.pose(f"{model.name}::{link.name}") for link in model.links if link.pose},
            "positions": {joint.name: joint.positions for joint in model.joints if joint.positions is not None},
            "velocities": {joint.name: joint.velocities for joint in model.joints if joint.velocities is not None},
            "said": tuple(words),
        }
        if model.pose is None:
            del answer[model.name]["T_world_link"]
        twist = world.relative_twists((model.name,), frame)[0] if frame in world.index else np.full(6, np.nan)
        if not np.isnan(twist).any():
            answer[model.name]["base_twist"] = twist
    return answer


def command(*words: str, said: list[str] | None = None) -> str:
    """Run the command line in this process and return its output; `said` receives the lines of standard error.

    Raises:
        RefusedError: it fails; the items are the lines that it prints to standard error.
    """
    import io

    from robot_semantics.cli.main import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(words))
    lines = err.getvalue().splitlines()
    if said is not None:
        said += lines
    if code:
        raise RefusedError(line.split("not restored: ", 1)[1] for line in lines if "not restored: " in line)
    return out.getvalue()


CONSUMERS: dict[str, Consumer] = {
    "library": Consumer(library),
    "simulation": Consumer(simulation("mujoco")),
    "drake": Consumer(simulation("drake"), worlds=6),
    "fk": Consumer(fk, worlds=70),
    "recording": Consumer(recording, puts=False, worlds=70),
    "view": Consumer(view, puts=False, says_ages=False, worlds=70),
    "node": Consumer(node, worlds=10, marks=(pytest.mark.ros,)),
    "usdf resolve": Consumer(usdf_resolve, puts=False, says_ages=False, worlds=70),
}
