"""Drake as a simulator of robots described by URDF and SRDF, whose state is a USDF world state."""

from __future__ import annotations

import hashlib
import logging
import platform
from collections.abc import Callable, Collection, Iterable
from importlib.metadata import version

import numpy as np

from robot_semantics.base.errors import MissingExtraError, UnknownNameError

try:
    import mujoco  # noqa: F401  what reads the geometry
    import pydrake  # noqa: F401
except ImportError as error:  # pragma: no cover - depends on the installation
    raise MissingExtraError("drake", "drake", "simulating with Drake") from error

from robot_semantics.convert.commands import COMMANDS, Command, commands_state
from robot_semantics.model.joint_types import JointType
from robot_semantics.simulation.commanding import NO_MOTOR, restore_commands, why_not_driven
from robot_semantics.simulation.drake_builder import DrakeModel, build_world, rigid
from robot_semantics.simulation.drake_capture import capture_model, set_joint, unit_positions
from robot_semantics.simulation.link_states import pose_of
from robot_semantics.simulation.restoring import Plan, all_frames, plan_restore, standing, standing_of
from robot_semantics.simulation.simulator import SimulationError
from robot_semantics.simulation.world_spec import BuildNote, WorldSpec
from robot_semantics.state.apply import AppliedState, resolve_with
from robot_semantics.state.report import RestoreLog, RestoreReport
from robot_semantics.transforms import matrix_from_pose
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.frames import ResolvedWorld
from robot_semantics.usdf.identity import model_digest
from robot_semantics.usdf.poses import six
from robot_semantics.usdf.world_state import WORLD, EngineState, Frame, WorldState

ENGINE = "drake"
VERSION = version("drake")

_CONTRADICTION = 1e-9
"""How far [m, rad and their rates] stated values may lie from the engine's: rounding of poses, not an edit."""


class DrakeSimulator:
    """A Drake world of robots; implements `Simulator`.

    Drake's discrete plant starts every step from positions and velocities alone, so these, the targets of the servos
    and where the bases stand are all that it needs to continue bit for bit.
    """

    def __init__(self, spec: WorldSpec) -> None:
        """Build and start a world, at time 0, its joints at their default positions.

        Raises:
            WorldSpecError: the world cannot be built.
        """
        self._world = build_world(spec)
        self._timestep = spec.timestep
        self._robots = {model.name: standing_of(model) for model in spec.models}
        self._digests = {model.name: model_digest(model.robot) for model in spec.models}
        self._frames: dict[str, Frame] = {}
        self._context = self._world.diagram.CreateDefaultContext()
        self._inner = self._world.plant.GetMyMutableContextFromRoot(self._context)
        self._bases = {name: np.eye(4) for name in self._world.models}
        self._targets = {name: np.zeros(len(model.driven)) for name, model in self._world.models.items()}
        said = (sorted((name, str(digest)) for name, digest in self._digests.items()), spec.timestep, spec.gravity)
        self._digest = hashlib.sha256(repr((*said, spec.ground)).encode()).hexdigest()
        q = self._positions()
        for name, model in self._world.models.items():
            space = self._robots[name].kinematics.space
            neutral = space.neutral()
            for joint_name, joint in model.joints.items():
                set_joint(q, joint, "position", neutral[space.joint_positions[joint_name]])
        self._put(q, self._velocities(), self._bases, {name: self._held(name, q) for name in self._targets})

    @property
    def model_names(self) -> tuple[str, ...]:
        """Names of the models in the world."""
        return tuple(self._world.models)

    @property
    def notes(self) -> tuple[BuildNote, ...]:
        """What of the robots could not be taken as it is."""
        return self._world.notes

    @property
    def time_ns(self) -> int:
        """Simulation time in integer nanoseconds."""
        return round(float(self._context.get_time()) * 1e9)

    def step(self, count: int = 1) -> None:
        """Advance by `count` time steps.

        Raises:
            SimulationError: Drake cannot go on; the world is as it was before that step.
        """
        diagram, context = self._world.diagram, self._context
        for _ in range(count):
            try:
                following = diagram.EvalUniquePeriodicDiscreteUpdate(context)
            except RuntimeError as error:
                raise SimulationError(f"Drake cannot go on after {context.get_time():g} s: {error}") from error
            values = following.get_vector(0).value()
            if not np.isfinite(values).all():
                raise SimulationError(f"the simulation diverged after {context.get_time():g} s")
            context.SetDiscreteState(following)
            context.SetTime(context.get_time() + self._timestep)

    # --- state

    def capture(self, models: Collection[str] | None = None) -> WorldState:
        """Return the present state; see `Simulator.capture`. Forces are not stated.

        Raises:
            UnknownNameError: a model that the world does not have.
        """
        for name in models or ():
            if name not in self._world.models:
                raise UnknownNameError("model", name, self._world.models)
        frames = tuple(all_frames(self._frames, self._robots).values())
        placed = resolve_with(WorldState(frames=frames), self._standing())
        states = tuple(
            capture_model(self._world, name, self._inner, placed, self._digests[name])
            for name in (self.model_names if models is None else models)
        )
        engines = (self._engine_state(), commands_state(self._commands())) if models is None else ()
        return WorldState(models=states, frames=frames, time_ns=self.time_ns, engines=engines)

    def restore(
        self,
        state: WorldState,
        *,
        models: Iterable[str] | None = None,
        partial: bool = False,
        dry_run: bool = False,
    ) -> RestoreReport:
        """Put the world into `state`; see `Simulator.restore`.

        With Drake's own state of the same world and version in it, the simulation continues bit for bit.
        """
        names = None if models is None else tuple(models)
        plan = plan_restore(state, self._robots, self._standing(), self._frames, names)
        log = plan.log
        if plan.now is None:
            return log.report()
        q, v, bases = self._positions(), self._velocities(), dict(self._bases)
        for name in self._robots:
            self._apply(self._world.models[name], plan, plan.now, (q, v, bases))
        targets = {name: self._held(name, q) if name in plan.applied else held for name, held in self._targets.items()}
        time = self._context.get_time()
        if names is None and state.time_ns is not None:
            time = state.time_ns * 1e-9
            log.done("time", "", "set")
        self._restore_commands(state, names, targets, log)
        log.extend((), plan.notes)
        reason = self._why_not_exact(state, names, q, v) if log.complete else "not everything could be restored"
        if reason is None:
            q, v, bases, targets, time = self._arrays(state)
        else:
            log.note(f"not bit for bit: {reason}; positions and velocities are set")
        for engine in state.engines:
            if engine.name not in (ENGINE, COMMANDS):
                log.note(f"the state of the engine '{engine.name}' is not Drake's and is not used")
        if dry_run or not (log.complete or partial):
            return log.report(exact=reason is None)
        self._context.SetTime(time)
        self._put(q, v, bases, targets)
        self._frames = plan.frames
        return log.report(exact=reason is None, applied=True)

    # --- the plant's numbers

    def _positions(self) -> FloatArray:
        return np.array(self._world.plant.GetPositions(self._inner))

    def _velocities(self) -> FloatArray:
        return np.array(self._world.plant.GetVelocities(self._inner))

    def _held(self, name: str, q: FloatArray) -> FloatArray:
        """Return the targets (driven,) with which the servos of a model hold it where it is."""
        model = self._world.models[name]
        return np.array([q[model.joints[joint].position_start()] for joint in model.driven])

    def _put(self, q: FloatArray, v: FloatArray, bases: dict[str, FloatArray], targets: dict[str, FloatArray]) -> None:
        plant = self._world.plant
        plant.SetPositions(self._inner, q)
        plant.SetVelocities(self._inner, v)
        self._bases, self._targets = bases, targets
        for name, model in self._world.models.items():
            if model.base is not None:
                model.base.SetPoseInParentFrame(self._inner, rigid(bases[name]))
            if model.driven:
                port = plant.get_desired_state_input_port(model.instance)
                port.FixValue(self._inner, np.concatenate([targets[name], np.zeros(len(model.driven))]))

    def _commands(self) -> dict[Command, float]:
        return {
            Command(name, joint, "position"): float(target)
            for name, model in self._world.models.items()
            for joint, target in zip(model.driven, self._targets[name], strict=True)
        }

    # --- capture

    def _standing(self) -> tuple[Frame, ...]:
        """Return what is there whatever a state says: the frames, and each model as a frame, where it is now."""
        frames = list(all_frames(self._frames, self._robots).values())
        for name, model in self._world.models.items():
            T = self._world.plant.EvalBodyPoseInWorld(self._inner, model.bodies[0]).GetAsMatrix4()
            velocity = self._world.plant.EvalBodySpatialVelocityInWorld(self._inner, model.bodies[0])
            twist = six(np.concatenate((velocity.translational(), velocity.rotational())))
            frames.append(Frame(name, WORLD, pose_of(T), twist))
        return standing(frames)

    # --- parts of a restore

    def _apply(
        self,
        model: DrakeModel,
        plan: Plan,
        now: ResolvedWorld,
        into: tuple[FloatArray, FloatArray, dict[str, FloatArray]],
    ) -> None:
        """Write a robot as it is to be into positions, velocities and bases."""
        q, v, bases = into
        spec, applied = model.spec, plan.applied.get(model.spec.name)
        if spec.root_type is JointType.PLANAR:
            bases[spec.name] = now.pose(spec.parent_frame)
        if applied is None:
            return
        if applied.base_xyz_quat is not None:
            if spec.root_type is JointType.FIXED:
                bases[spec.name] = now.pose(spec.parent_frame) @ matrix_from_pose(applied.base_xyz_quat)
            else:
                set_joint(q, model.root, "position", applied.base_positions)
        if applied.base_velocities is not None and spec.root_type is not JointType.FIXED:
            set_joint(v, model.root, "velocity", applied.base_velocities)
        self._apply_joints(model, applied, q, v)

    def _apply_joints(self, model: DrakeModel, applied: AppliedState, q: FloatArray, v: FloatArray) -> None:
        space = self._robots[model.spec.name].kinematics.space
        for name, joint in model.joints.items():
            if name in applied.positions_of:
                set_joint(q, joint, "position", applied.positions[space.joint_positions[name]])
            if name in applied.velocities_of:
                set_joint(v, joint, "velocity", applied.velocities[space.joint_velocities[name]])

    def _restore_commands(
        self, state: WorldState, names: tuple[str, ...] | None, targets: dict[str, FloatArray], log: RestoreLog
    ) -> None:
        def give(name: str, variable: str, mode: str, value: float) -> str | None:
            model = self._world.models[name]
            if variable not in model.driven:
                return why_not_driven(model.spec.robot, variable) or NO_MOTOR
            if mode != "position":
                return f"the motors of this engine take positions, no {mode}"
            targets[name][model.driven.index(variable)] = value
            return None

        restore_commands(state, names, self._robots, give, log)

    # --- the engine's own state

    def _engine_state(self) -> EngineState:
        arrays = {
            "positions": self._positions(),
            "velocities": self._velocities(),
            "bases": np.array(list(self._bases.values())).ravel(),
            "targets": np.concatenate([np.zeros(0), *self._targets.values()]),
            "time": np.array([self._context.get_time()]),
        }
        said = {"world": self._digest, "machine": platform.machine()}
        return EngineState(ENGINE, VERSION, {k: tuple(v.tolist()) for k, v in arrays.items()}, said)

    def _why_not_exact(
        self, state: WorldState, names: tuple[str, ...] | None, q: FloatArray, v: FloatArray
    ) -> str | None:
        own = self._engine_state()
        engines = [engine for engine in state.engines if engine.name == ENGINE]
        if len(engines) != 1:
            return "the state has no engine state of Drake, or several"
        (engine,) = engines
        if names is not None or self._robots.keys() - {model.name for model in state.models}:
            return "not all models are restored"
        if engine.version != own.version or engine.attributes != own.attributes:
            return "the engine state is of another world, version or kind of machine"
        if {k: len(values) for k, values in engine.arrays.items()} != {k: len(v) for k, v in own.arrays.items()}:
            return "the engine state's arrays have other sizes"
        beside = {name: np.array(values) for name, values in engine.arrays.items()}
        for kind, apart in (
            ("positions", unit_positions(self._world, q) - unit_positions(self._world, beside["positions"])),
            ("velocities", v - beside["velocities"]),
        ):
            if np.abs(apart).max(initial=0.0) > _CONTRADICTION:
                return f"the {kind} it states are not those of the engine's state beside them"
        return None

    def _arrays(
        self, state: WorldState
    ) -> tuple[FloatArray, FloatArray, dict[str, FloatArray], dict[str, FloatArray], float]:
        (engine,) = (engine for engine in state.engines if engine.name == ENGINE)
        arrays = {name: np.array(values) for name, values in engine.arrays.items()}
        bases = dict(zip(self._bases, arrays["bases"].reshape(-1, 4, 4), strict=True))
        ends = np.cumsum([len(values) for values in self._targets.values()])[:-1]
        targets = dict(zip(self._targets, np.split(arrays["targets"], ends), strict=True))
        return arrays["positions"], arrays["velocities"], bases, targets, float(arrays["time"][0])


def start(spec: WorldSpec, tell: Callable[[str], None]) -> DrakeSimulator:
    """Return a world in Drake.

    Raises:
        WorldSpecError: the world cannot be built.
    """
    del tell
    # Its warnings are of features that are not used here: deformable bodies on half spaces.
    logging.getLogger("drake").setLevel(logging.ERROR)
    return DrakeSimulator(spec)
