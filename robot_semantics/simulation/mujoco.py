"""MuJoCo as a simulator of robots described by URDF and SRDF, whose state is a USDF world state."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import ArrayError, MissingExtraError, UnknownNameError

try:
    import mujoco
except ImportError as error:  # pragma: no cover - depends on the installation
    raise MissingExtraError("mujoco", "mujoco", "simulating with MuJoCo") from error

from robot_semantics.convert.commands import COMMANDS, commands_of
from robot_semantics.convert.mujoco_actuators import KEYFRAME
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.model.joint_types import JointType
from robot_semantics.simulation.mujoco_builder import BuildNote, BuiltWorld, build_world
from robot_semantics.simulation.mujoco_capture import BodyMotion, capture_model, pose_of
from robot_semantics.simulation.mujoco_engine import ENGINE, engine_arrays, engine_state, why_not_exact
from robot_semantics.simulation.mujoco_layout import ModelLayout
from robot_semantics.simulation.mujoco_restore import base_of, put_frame, write_state
from robot_semantics.simulation.mujoco_servos import ControlMode
from robot_semantics.simulation.mujoco_stepping import DivergedError, advance, send_warnings_to
from robot_semantics.simulation.restoring import Plan, Standing, all_frames, plan_restore, standing
from robot_semantics.simulation.world_spec import WorldSpec
from robot_semantics.state.apply import resolve_with
from robot_semantics.state.report import RestoreItem, RestoreLog, RestoreReport
from robot_semantics.transforms import matrix_from_pose, matrix_from_rotation, xyz_quat_from_matrix
from robot_semantics.usdf.frames import ResolvedWorld
from robot_semantics.usdf.identity import model_digest
from robot_semantics.usdf.poses import six
from robot_semantics.usdf.world_state import WORLD, Frame, Pose, WorldState

FloatArray = npt.NDArray[np.float64]
INTEGRATION = mujoco.mjtState.mjSTATE_INTEGRATION
IDENTITY = Pose((0.0,) * 6, (0.0, 0.0, 0.0, 1.0))


class MujocoSimulator:
    """A MuJoCo world of robots; implements `Simulator`.

    Attributes:
        built: the compiled world and where each robot's state lies in it.
        model: this simulator's own MjModel; only the actuators' gains ever differ from the compiled one.
        data: the MjData. Stepping it by other means than `step` is fine; it is never changed by `capture`.
        modes: (nu,) what each actuator's command means.

    """

    def __init__(self, spec: WorldSpec) -> None:
        """Build and start a world, at time 0.

        Raises:
            WorldSpecError: the world cannot be built.

        """
        self.built: BuiltWorld = build_world(spec)
        self.spec = spec
        self.model: Any = copy.copy(self.built.model)
        self.data: Any = mujoco.MjData(self.model)
        self._scratch: Any = mujoco.MjData(self.model)
        self._trial: Any = mujoco.MjData(self.model)
        self.modes = self.built.servos.default_modes.copy()
        self._frames: dict[str, Frame] = {}
        self._digests = {model.name: model_digest(model.robot) for model in spec.models}
        self._robots = {
            layout.name: Standing(base_of(layout), ForwardKinematics(layout.spec.robot), layout.spec.parent_frame)
            for layout in self.built.layouts.values()
        }
        self._actuators = {
            layout.name: {
                variable: int(actuator)
                for place in layout.places
                if len(place.actuators)
                for variable, actuator in zip(place.joint.variable_names, place.actuators, strict=True)
            }
            for layout in self.built.layouts.values()
        }
        self._size = mujoco.mj_stateSize(self.model, INTEGRATION)
        self.reset()

    @property
    def model_names(self) -> tuple[str, ...]:
        """Names of the models in the world."""
        return tuple(self.built.layouts)

    @property
    def notes(self) -> tuple[BuildNote, ...]:
        """What of the robots could not be taken as it is."""
        return self.built.notes

    @property
    def time_ns(self) -> int:
        """Simulation time in integer nanoseconds."""
        return round(float(self.data.time) * 1e9)

    def reset(self) -> None:
        """Put the world into its neutral state: time 0, every joint at its default position, nothing moving."""
        mujoco.mj_resetData(self.model, self.data)
        self._set_modes(self.built.servos.default_modes)
        self._frames = {}
        for layout in self.built.layouts.values():
            for place in layout.joints:
                joint = place.joint
                if joint.position_count == 1 and joint.mimic is None:
                    self.data.qpos[place.qpos] = joint.limits.default
            for place in layout.joints:
                mimic = place.joint.mimic
                if mimic is not None and place.joint.position_count == 1:
                    leader = self.data.qpos[layout.by_name[mimic.joint].qpos]
                    self.data.qpos[place.qpos] = mimic.multiplier * leader + mimic.offset
            self._hold(self.data, self.modes, layout)

    def step(self, count: int = 1) -> None:
        """Advance by `count` time steps.

        Raises:
            DivergedError: numbers are not finite or huge; the world is in its neutral state then, as `reset` puts it.
            SimulationError: MuJoCo refuses for another reason.

        """
        try:
            advance(self.model, self.data, count)
        except DivergedError:
            self.reset()
            raise

    # --- commands

    def command(self, model: str, mode: ControlMode, targets: Mapping[str, float]) -> None:
        """Set the targets of a model's actuators, and what they mean [rad, m, their rates, N m, N].

        Args:
            model: the model.
            mode: what the targets are.
            targets: by variable: a joint's own name, or ``J/x``, ``J/y`` and ``J/theta`` of a planar joint, the root's
                planar joint included.

        Raises:
            UnknownNameError: unknown model or variable.
            ArrayError: a target that is not finite, or a joint that nothing drives; the error says why.

        """
        known = self._actuators[self.built.layout(model).name]
        for variable in targets:
            if variable not in known:
                reason = self._why_not_driven(model, variable)
                if reason is not None:
                    raise ArrayError(variable, reason)
                raise UnknownNameError("actuated variable", variable, known, f"model '{model}'")
        actuators = [known[variable] for variable in targets]
        values = np.fromiter(targets.values(), dtype=np.float64)
        if not np.isfinite(values).all():
            raise ArrayError("targets", f"must be finite, not {dict(targets)}")
        if (self.modes[actuators] != mode).any():
            modes = self.modes.copy()
            modes[actuators] = mode
            self._set_modes(modes)
        self.data.ctrl[actuators] = values

    def _why_not_driven(self, model: str, variable: str) -> str | None:
        """Return why a joint that the robot has takes no commands; None where it has no such joint."""
        robot = self.built.layout(model).spec.robot
        name = variable if variable in robot.joint_index else variable.rpartition("/")[0]
        if name not in robot.joint_index:
            return None
        joint = robot.joint(name)
        if joint.virtual:
            return f"it is the virtual joint, which no motor drives: the base is {joint.type.value}"
        if joint.mimic is not None:
            return f"it mimics '{joint.mimic.joint}': command that one"
        if joint.passive:
            return "it is passive: no motor drives it"
        return f"a {joint.type.value} joint has no motor"

    # --- state

    def integration_state(self) -> FloatArray:
        """Return MuJoCo's complete integration state (n,)."""
        state = np.empty(self._size)
        mujoco.mj_getState(self.model, self.data, state, INTEGRATION)
        return state

    def capture(self, models: Collection[str] | None = None, *, motion_only: bool = False) -> WorldState:
        """Return the present state; see `Simulator.capture`.

        A whole world carries the engine's own state, with which it continues bit for bit; a part of it does not.

        Args:
            models: capture only these; None for all.
            motion_only: leave out links and the engine's state: what a sensor of the joints and the base would see.

        Raises:
            UnknownNameError: a model that the world does not have.

        """
        chosen = [self.built.layout(name) for name in (self.model_names if models is None else models)]
        placed = resolve_with(
            WorldState(frames=tuple(all_frames(self._frames, self._robots).values())), self._standing()
        )
        motion = self._forward()
        states = tuple(
            capture_model(
                layout,
                self._scratch,
                motion,
                placed.pose(layout.spec.parent_frame),
                self._digests[layout.name],
                links=not motion_only,
            )
            for layout in chosen
        )
        whole = models is None and not motion_only
        engines = () if not whole else (engine_state(self.built, self.model, self.integration_state(), self.modes),)
        return WorldState(
            models=states,
            frames=tuple(all_frames(self._frames, self._robots).values()),
            time_ns=self.time_ns,
            engines=engines,
        )

    def restore(
        self,
        state: WorldState,
        *,
        models: Iterable[str] | None = None,
        partial: bool = False,
        dry_run: bool = False,
    ) -> RestoreReport:
        """Put the world into `state`; see `Simulator.restore`.

        With the engine's own state of the same world and version in it, the simulation continues bit for bit. Without,
        positions and velocities are set, the servos hold the restored positions, and the report says so.
        """
        names = None if models is None else tuple(models)
        plan = plan_restore(state, self._robots, self._standing(), self._frames, names)
        log = plan.log
        if plan.now is None:
            return log.report()
        trial = self._trial
        mujoco.mj_setState(self.model, trial, self.integration_state(), INTEGRATION)
        self._carry(plan, plan.now, trial)
        for name, applied in plan.applied.items():
            write_state(self.built.layouts[name], applied, plan.now.pose(self._robots[name].base.frame), trial)
        if names is None and state.time_ns is not None:
            trial.time = state.time_ns * 1e-9
            log.done("time", "", "set")
        modes = self.modes
        exact = False
        reason = why_not_exact(state, self.built, self.model, names, self._size)
        if reason is None and log.complete:
            arrays = engine_arrays(state)
            reason = self._contradiction(arrays["integration"], trial)
            if reason is None:
                exact = True
                mujoco.mj_setState(self.model, trial, arrays["integration"], INTEGRATION)
                modes = arrays["control_mode"].astype(np.int64)
        if not exact:
            self._settle(plan.applied, trial, reason, log)
            modes = self._commanded(state, names, trial, log)
            log.extend((), plan.notes)
        if dry_run or not (log.complete or partial):
            return log.report(exact=exact and log.complete)
        final = np.empty(self._size)
        mujoco.mj_getState(self.model, trial, final, INTEGRATION)
        mujoco.mj_setState(self.model, self.data, final, INTEGRATION)
        self._set_modes(modes)
        self._frames = plan.frames
        return log.report(exact=exact, applied=True)

    # --- parts of a restore

    def _carry(self, plan: Plan, now: ResolvedWorld, trial: Any) -> None:
        """Put the planes that robots move in to where their frames are, and the robots with them."""
        for layout in self.built.layouts.values():
            if layout.spec.root_type is not JointType.PLANAR:
                continue
            there = now.pose(layout.spec.parent_frame)
            w, x, y, z = trial.mocap_quat[layout.mocap]
            here = matrix_from_pose([*trial.mocap_pos[layout.mocap], x, y, z, w])
            if np.abs(there - here).max() > _CONTRADICTION:
                put_frame(layout, xyz_quat_from_matrix(there), trial)
                applied = plan.applied.get(layout.name)
                if applied is None or applied.base_xyz_quat is None:
                    plan.log.note(f"model '{layout.name}' is carried along by its frame '{layout.spec.parent_frame}'")

    def _contradiction(self, integration: FloatArray, trial: Any) -> str | None:
        """Return why the engine's state is not that of the positions and velocities stated beside it, or None."""
        engine = self._scratch
        mujoco.mj_setState(self.model, engine, integration, INTEGRATION)
        pairs = (("positions", engine.qpos, trial.qpos), ("velocities", engine.qvel, trial.qvel))
        motions = []
        for data in (engine, trial):
            mujoco.mj_kinematics(self.model, data)
            motions.append(np.concatenate((data.xpos.ravel(), data.xmat.ravel())))
        if np.abs(motions[0] - motions[1]).max() > _CONTRADICTION:
            return "the positions it states are not those of the engine's state beside them"
        for kind, ours, theirs in pairs[1:]:
            if ours.size and np.abs(ours - theirs).max() > _CONTRADICTION:
                return f"the {kind} it states are not those of the engine's state beside them"
        return None

    def _settle(self, chosen: Iterable[str], trial: Any, reason: str | None, log: RestoreLog) -> None:
        """Give what positions and velocities leave open a value that goes with them."""
        trial.qacc_warmstart[:] = 0.0
        for name in chosen:
            self._hold(trial, self.modes, self.built.layouts[name])
        log.note(f"not bit for bit: {reason or 'not everything could be restored'}; positions and velocities are set")
        if chosen:
            log.note("servos hold the restored positions")

    def _commanded(
        self, state: WorldState, names: tuple[str, ...] | None, trial: Any, log: RestoreLog
    ) -> npt.NDArray[np.int64]:
        """Write the commands to joints that the state has beside its models; return the actuators' modes then."""
        modes: npt.NDArray[np.int64] = self.modes.copy()
        commands, unknown = commands_of(state)
        for engine in state.engines:
            if engine.name == KEYFRAME:
                controls, activations = (len(engine.arrays.get(word, ())) for word in ("ctrl", "act"))
                if controls > len(commands) or activations:
                    others = f"{controls - len(commands)} controls and {activations} activations"
                    log.failed("engine", KEYFRAME, f"{others} are of actuators that this simulator does not have")
            elif engine.name not in (ENGINE, COMMANDS):
                log.note(f"the state of the engine '{engine.name}' is not MuJoCo's and is not used")
        for name in unknown:
            log.failed("engine", COMMANDS, f"'{name}' is no command that is known")
        for command, value in commands.items():
            if names is not None and command.model not in names:
                continue
            actuator = self._actuators.get(command.model, {}).get(command.variable)
            done = actuator is not None
            why = self._why_not_driven(command.model, command.variable) if command.model in self._actuators else None
            detail = f"{command.mode} {value:.6g}" if done else (why or "the simulator has no motor there")
            log.extend([RestoreItem("command", command.model, command.variable, done, detail)])
            if actuator is not None:
                modes[actuator] = ControlMode[command.mode.upper()]
                trial.ctrl[actuator] = value
        return modes

    # --- where everything is

    def _forward(self) -> BodyMotion:
        """Return the bodies' motion now, computed on a copy: a forward pass would change the solver's warm start."""
        mujoco.mj_setState(self.model, self._scratch, self.integration_state(), INTEGRATION)
        mujoco.mj_forward(self.model, self._scratch)
        return BodyMotion.read(self.model, self._scratch)

    def _standing(self) -> tuple[Frame, ...]:
        """Return what is there whatever a state says: the frames, and each model as a frame, where it is now."""
        model, data = self.model, self._scratch
        mujoco.mj_setState(model, data, self.integration_state(), INTEGRATION)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        motion = BodyMotion.read(model, data, forces=False)
        frames = list(all_frames(self._frames, self._robots).values())
        for layout in self.built.layouts.values():
            root = layout.bodies[0]
            twist = six(np.concatenate((motion.linear[root], motion.angular[root])))
            pose = pose_of(matrix_from_rotation(motion.R[root], motion.xyz[root]))
            frames.append(Frame(layout.name, WORLD, pose, twist))
        return standing(frames)

    # --- actuators

    def _set_modes(self, modes: npt.NDArray[np.int64]) -> None:
        self.modes = modes.copy()
        self.built.servos.apply(self.model, self.modes)

    def _hold(self, data: Any, modes: npt.NDArray[np.int64], layout: ModelLayout) -> None:
        """Make the servos of a robot hold where it is."""
        for place in layout.places:
            if not len(place.actuators):
                continue
            held = modes[place.actuators] == ControlMode.POSITION
            data.ctrl[place.actuators] = np.where(held, data.qpos[place.qpos], 0.0)


_CONTRADICTION = 1e-9
"""How far [m, rad and their rates] stated values may lie from the engine's: rounding of poses, not an edit."""


def start(spec: WorldSpec, tell: Callable[[str], None]) -> MujocoSimulator:
    """Return a world in MuJoCo, whose warnings, in the whole process, go to `tell`.

    Raises:
        WorldSpecError: the world cannot be built.

    """
    send_warnings_to(lambda text: tell(f"MuJoCo: {text}"))
    return MujocoSimulator(spec)
