# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Plan of a restore, the same for every simulator: its models, its frames, and the new state of each robot."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.names import suggestion
from robot_semantics.base.record import record
from robot_semantics.kinematics.forward import ForwardKinematics, kinematics_of
from robot_semantics.kinematics.loops import ClosedLoops
from robot_semantics.simulation.world_spec import ModelSpec
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.pose import STILL, pose_from_matrix, six
from robot_semantics.usdf.apply import AppliedState, Base, apply_model_state, resolve_with
from robot_semantics.usdf.frames import ResolvedWorld, root_frame, taken_as_world, without_unplaced
from robot_semantics.usdf.restore_report import RestoreItem, RestoreLog
from robot_semantics.usdf.robot import with_carriers
from robot_semantics.usdf.world_state import WORLD, Frame, ModelState, WorldState

TIME_DIFFERS = "its time differs from the engine's state in the same file"
"""Reason against an exact restart after an edit of the time."""

_SIMULATED = -2
"""Element number of a frame that comes from the simulator, not from a state."""


@record(frozen=True, eq=False)
class SimulatedRobot:
    """A simulated robot: its base, its kinematics, its closed loops, and the parent frame in captured states."""

    base: Base
    kinematics: ForwardKinematics
    loops: ClosedLoops | None
    frame: str

    @property
    def neutral(self) -> FloatArray:
        """Default positions (size,) with closed loops. Loops that cannot close have their default positions.

        An engine can also simulate loops whose passive joints do not follow from the others.
        """
        return self.kinematics.space.neutral() if self.loops is None else self.loops.home.q[0]


def simulated_robot(spec: ModelSpec) -> SimulatedRobot:
    """Return the base and the kinematics of a simulated robot.

    A floating robot moves in the world, whatever its virtual joint's parent frame is. A fixed robot can have any pose.
    """
    base = Base(spec.root_joint, spec.parent_frame, placeable=True)
    if spec.has_floating_base:
        base = Base(spec.root_joint, WORLD)
    return SimulatedRobot(base, kinematics_of(spec.robot), spec.loops, spec.parent_frame)


@dataclass(eq=False)
class RestorePlan:
    """A restore before anything is changed.

    Attributes:
        log: items that are restored, and items that are not.
        applied: the new state of each restored model.
        frames: the frames after the restore.
        now: these frames and the robots, resolved; None if a frame of the state has no known parent.
        notes: notes about the models, for a restart that is not exact.

    """

    log: RestoreLog = field(default_factory=RestoreLog)
    applied: dict[str, AppliedState] = field(default_factory=dict)
    frames: dict[str, Frame] = field(default_factory=dict)
    now: ResolvedWorld | None = None
    notes: list[str] = field(default_factory=list)


def plan_restore(
    state: WorldState,
    robots: Mapping[str, SimulatedRobot],
    present: Iterable[Frame],
    frames: Mapping[str, Frame],
    names: tuple[str, ...] | None,
    *,
    close_loops: bool = True,
) -> RestorePlan:
    """Return the plan of a restore.

    Args:
        state: the state.
        robots: the simulated robots by name.
        present: the present frames, and each robot as a frame at its present pose (`present_frames`).
        frames: the frames of earlier states.
        names: restore only these models; None for all.
        close_loops: whether positions that close the loops replace those of passive joints.

    """
    plan = RestorePlan()
    chosen = _chosen(state, robots, names, plan.log)
    present_list = tuple(present)
    stated = {model.name for model in state.models}
    try:
        models = {name: robot.kinematics.model for name, robot in robots.items()}
        placed_state, unplaced = without_unplaced(with_carriers(state, models))
        chosen = [placed_state.model(model.name) if model.name in unplaced else model for model in chosen]
        world = resolve_with(placed_state, present_list)
        plan.frames = _restored_frames(world, robots, chosen, names, frames, plan.log)
        # The simulator holds frames still, and the robots stand in these frames from now on.
        held = without_carried_frames(all_frames(plan.frames, robots))
        plan.now = resolve_with(WorldState(frames=tuple(held.values())), present_list)
    except DescriptionError as error:
        plan.log.failed("frames", "", "; ".join(problem.message for problem in error.diagnostics))
        return plan
    placed_names = {WORLD} | frames.keys() | {frame.name for frame in state.frames}
    chosen_names = {model.name for model in chosen}
    for name, reason in unplaced.items():
        if name in chosen_names:
            plan.log.extend([RestoreItem("pose", name, "", False, reason, code="not_stated")])
        elif name not in stated and names is None:
            plan.log.failed("frame", name, reason, "not_stated")
    for model in chosen:
        robot = robots[model.name]
        if robot.frame not in placed_names:
            plan.log.note(f"model '{model.name}': {taken_as_world(robot.frame)}")
        applied = apply_model_state(model, world, robot.kinematics.model, base=robot.base, close_loops=close_loops)
        plan.applied[model.name] = applied
        plan.log.extend(applied.items)
        plan.notes += (*applied.notes, *applied.kept_motion)
    return plan


def all_frames(frames: Mapping[str, Frame], robots: Mapping[str, SimulatedRobot]) -> dict[str, Frame]:
    """Return the frames, and those parent frames of robots that are not among them."""
    result = dict(frames)
    for robot in robots.values():
        if robot.frame != WORLD and robot.frame not in result:
            result[robot.frame] = root_frame(robot.frame)
    return result


def without_carried_frames(frames: Mapping[str, Frame]) -> dict[str, Frame]:
    """Return the frames that no link carries. The other frames move with robots."""
    free = {name: frame for name, frame in frames.items() if frame.parent_link is None}
    while carried := [name for name, frame in free.items() if frame.parent in frames.keys() - free.keys()]:
        for name in carried:
            del free[name]
    return free


def names_placed_on(frames: Mapping[str, Frame], models: Collection[str]) -> list[str]:
    """Return the names of the frames in the world or on one of the models, directly or through other frames."""
    found, left = {WORLD, *models}, dict(frames)
    while placed := [name for name, frame in left.items() if frame.parent in found]:
        found.update(placed)
        for name in placed:
            del left[name]
    return [name for name in frames if name in found]


def present_frames(
    frames: Mapping[str, Frame],
    robots: Mapping[str, SimulatedRobot],
    roots: Mapping[str, tuple[FloatArray, FloatArray]],
) -> tuple[Frame, ...]:
    """Return the present frames, and each robot as a frame at the pose of its root link.

    `roots` has the poses (4, 4) and twists (6,) of the root links in the world.
    """
    present = list(without_carried_frames(all_frames(frames, robots)).values())
    for name, (T_world_root, twist) in roots.items():
        present.append(Frame(name, WORLD, pose_from_matrix(T_world_root), six(twist)))
    return tuple(replace(frame, ordinal=_SIMULATED) for frame in present)


def _chosen(
    state: WorldState, robots: Mapping[str, SimulatedRobot], names: tuple[str, ...] | None, log: RestoreLog
) -> list[ModelState]:
    """Return the models to restore. Requested models that do not exist are refused in `log`."""
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
    robots: Mapping[str, SimulatedRobot],
    chosen: list[ModelState],
    names: tuple[str, ...] | None,
    before: Mapping[str, Frame],
    log: RestoreLog,
) -> dict[str, Frame]:
    """Return the frames after the restore: the frames of the state that its models stand in, held still."""
    stated = {frame.name: frame for frame in world.state.frames if frame.ordinal != _SIMULATED}
    frame_names = set(stated)
    if names is not None:
        starts = [model.parent for model in chosen]
        starts += [robots[model.name].frame for model in chosen]
        frame_names &= {above for start in starts for above in world.path(start)}
    frames = dict(before)
    bases = {robot.frame for robot in robots.values()}
    models = {model.name for model in world.state.models} | robots.keys()
    strangers = models - robots.keys()
    for name in stated:
        frame = stated[name]
        if name in robots:
            log.failed("frame", name, "the simulated world has a model of this name")
            continue
        if name not in frame_names:
            continue
        if strangers & set(world.path(name)) and name not in bases:
            log.note(f"frame '{name}' is on a model that is not simulated, and is left out")
            continue
        if frame.twist is not None and any(frame.twist):
            log.failed("frame", name, "it moves in the state, but the simulator keeps frames still")
        else:
            log.done("frame", name, "set")
        # The frame is held still, and a captured state says so.
        frame = replace(frame, twist=STILL)
        if name in bases and models & set(world.path(name)):
            log.note(f"frame '{name}' is on a model in the state, but the simulator keeps it still in the world")
            frame = Frame(name, WORLD, pose_from_matrix(world.pose(name)), STILL)
        frames[name] = frame
    return frames
