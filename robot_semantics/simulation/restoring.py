# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What every simulator does alike when it is put into a state: which models and frames, each robot as it is to be."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.names import suggestion
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.simulation.world_spec import ModelSpec
from robot_semantics.state.apply import AppliedState, apply_model_state, resolve_with
from robot_semantics.state.report import RestoreItem, RestoreLog
from robot_semantics.state.root_placement import Base
from robot_semantics.transforms import matrix_from_rotation
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.frames import root_frame, without_unplaced
from robot_semantics.usdf.poses import STILL, pose_from_matrix, six
from robot_semantics.usdf.resolved_world import ResolvedWorld, taken_as_world
from robot_semantics.usdf.robot import with_carriers
from robot_semantics.usdf.world_state import WORLD, Frame, ModelState, WorldState

OTHER_TIME = "the time it states is not that of the engine's state beside it"
"""Why a state is not continued exactly whose time was changed."""

_STANDING = -2
"""In place of an element's number: a frame that the simulator has, and no state has said."""


@dataclass(frozen=True, eq=False)
class Standing:
    """A simulated robot: how its root link stands, its kinematics, and the frame that it is captured in."""

    base: Base
    kinematics: ForwardKinematics
    frame: str


def standing_of(spec: ModelSpec) -> Standing:
    """Return a robot as it stands in a simulation.

    One that floats moves in the world, whatever its virtual joint's frame; one that is fixed can be put anywhere.
    """
    base = Base(spec.root_joint, spec.parent_frame, placeable=True)
    if spec.has_floating_base:
        base = Base(spec.root_joint, WORLD)
    return Standing(base, ForwardKinematics(spec.robot), spec.parent_frame)


@dataclass(eq=False)
class RestorePlan:
    """A restore before anything is changed.

    Attributes:
        log: what is and is not restored so far.
        applied: each model that is restored, as it is to be.
        frames: the frames that hold afterwards.
        now: these and what stands in the world, resolved; None where the state's frames lead nowhere.
        notes: what a person should know of the models, unless the engine continues exactly.

    """

    log: RestoreLog = field(default_factory=RestoreLog)
    applied: dict[str, AppliedState] = field(default_factory=dict)
    frames: dict[str, Frame] = field(default_factory=dict)
    now: ResolvedWorld | None = None
    notes: list[str] = field(default_factory=list)


def plan_restore(
    state: WorldState,
    robots: Mapping[str, Standing],
    present: Iterable[Frame],
    frames: Mapping[str, Frame],
    names: tuple[str, ...] | None,
) -> RestorePlan:
    """Return what a restore does.

    Args:
        state: the state.
        robots: the simulated robots by name.
        present: what is there whatever the state says (`standing`): frames, and each robot as a frame, where it is now.
        frames: the frames that states have named before.
        names: restore only these models; None for all.

    """
    plan = RestorePlan()
    chosen = _chosen(state, robots, names, plan.log)
    there = tuple(present)
    stated = {model.name for model in state.models}
    try:
        kinematics = {name: robot.kinematics for name, robot in robots.items()}
        placed_state, unplaced = without_unplaced(with_carriers(state, kinematics))
        chosen = [placed_state.model(model.name) if model.name in unplaced else model for model in chosen]
        world = resolve_with(placed_state, there)
        plan.frames = _restored_frames(world, robots, chosen, names, frames, plan.log)
        # What the simulator holds still stands where it is held, and that is what robots stand in from now on.
        held = not_on_links(all_frames(plan.frames, robots))
        plan.now = resolve_with(WorldState(frames=tuple(held.values())), there)
    except DescriptionError as error:
        plan.log.failed("frames", "", "; ".join(problem.message for problem in error.diagnostics))
        return plan
    placed = {WORLD} | frames.keys() | {frame.name for frame in state.frames}
    chosen_names = {model.name for model in chosen}
    for name, reason in unplaced.items():
        if name in chosen_names:
            plan.log.extend([RestoreItem("pose", name, "", False, reason, code="not_stated")])
        elif name not in stated and names is None:
            plan.log.failed("frame", name, reason, "not_stated")
    for model in chosen:
        robot = robots[model.name]
        if robot.frame not in placed:
            plan.log.note(f"model '{model.name}': {taken_as_world(robot.frame)}")
        applied = apply_model_state(model, world, robot.kinematics, base=robot.base)
        plan.applied[model.name] = applied
        plan.log.extend(applied.items)
        plan.notes += (*applied.notes, *applied.kept_motion)
    return plan


def all_frames(frames: Mapping[str, Frame], robots: Mapping[str, Standing]) -> dict[str, Frame]:
    """Return the frames, those included in which robots stand though no state has named them."""
    result = dict(frames)
    for robot in robots.values():
        if robot.frame != WORLD and robot.frame not in result:
            result[robot.frame] = root_frame(robot.frame)
    return result


def not_on_links(frames: Mapping[str, Frame]) -> dict[str, Frame]:
    """Return the frames that no link carries: the others move with robots."""
    free = {name: frame for name, frame in frames.items() if frame.parent_link is None}
    while carried := [name for name, frame in free.items() if frame.parent in frames.keys() - free.keys()]:
        for name in carried:
            del free[name]
    return free


def placed_names(frames: Mapping[str, Frame], models: Collection[str]) -> list[str]:
    """Return the names of the frames that stand in the world, or on one of the models, directly or not."""
    found, left = {WORLD, *models}, dict(frames)
    while placed := [name for name, frame in left.items() if frame.parent in found]:
        found.update(placed)
        for name in placed:
            del left[name]
    return [name for name in frames if name in found]


def standing(
    frames: Mapping[str, Frame], robots: Mapping[str, Standing], roots: Mapping[str, Sequence[FloatArray]]
) -> tuple[Frame, ...]:
    """Return what is there whatever a state says: the frames, and each robot as a frame, where its root link is now.

    `roots` has their origins (3,), axes (3, 3), linear and angular velocities (3,) in the world.
    """
    there = list(not_on_links(all_frames(frames, robots)).values())
    for name, (xyz, R, linear, angular) in roots.items():
        pose = pose_from_matrix(matrix_from_rotation(R, xyz))
        there.append(Frame(name, WORLD, pose, six(np.concatenate((linear, angular)))))
    return tuple(replace(frame, at=_STANDING) for frame in there)


def _chosen(
    state: WorldState, robots: Mapping[str, Standing], names: tuple[str, ...] | None, log: RestoreLog
) -> list[ModelState]:
    """Return the models to be restored; those asked for that are not there are refused in `log`."""
    stated = {model.name: model for model in state.models}
    for name in names or ():
        if name not in stated:
            log.extend([_no_model(name, "the state has no such model", stated)])
    chosen = []
    for model in state.models:
        if names is not None and model.name not in names:
            continue
        if model.name not in robots:
            log.extend([_no_model(model.name, "the simulated world has no such model", robots)])
            continue
        chosen.append(model)
    if names is None:
        for name in robots:
            if name not in stated:
                log.note(f"model '{name}' is not in the state and stays as it is")
    return chosen


def _no_model(name: str, reason: str, known: Iterable[str]) -> RestoreItem:
    return RestoreItem("model", name, "", False, reason + suggestion(name, known))


def _restored_frames(
    world: ResolvedWorld,
    robots: Mapping[str, Standing],
    chosen: list[ModelState],
    names: tuple[str, ...] | None,
    before: Mapping[str, Frame],
    log: RestoreLog,
) -> dict[str, Frame]:
    """Return the frames that hold after the restore: those of the state that its models stand in, held still."""
    stated = {frame.name: frame for frame in world.state.frames if frame.at != _STANDING}
    wanted = set(stated)
    if names is not None:
        starts = [model.parent for model in chosen]
        starts += [robots[model.name].frame for model in chosen]
        wanted &= {above for start in starts for above in world.path(start)}
    frames = dict(before)
    bases = {robot.frame for robot in robots.values()}
    models = {model.name for model in world.state.models} | robots.keys()
    strangers = models - robots.keys()
    for name in stated:
        frame = stated[name]
        if name in robots:
            log.failed("frame", name, "the simulated world has a model of this name")
            continue
        if name not in wanted:
            continue
        if strangers & set(world.path(name)) and name not in bases:
            log.note(f"frame '{name}' stands on a model that is not simulated, and is left out")
            continue
        if frame.twist is not None and any(frame.twist):
            log.failed("frame", name, "it moves in the state; the simulator holds frames still")
        else:
            log.done("frame", name, "set")
        # Held still, so that a captured state says so.
        frame = replace(frame, twist=STILL)
        if name in bases and models & set(world.path(name)):
            log.note(f"frame '{name}' stands on a model in the state; the simulator holds it still in the world")
            frame = Frame(name, WORLD, pose_from_matrix(world.pose(name)), STILL)
        frames[name] = frame
    return frames
