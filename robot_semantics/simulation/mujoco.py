# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Simulator of URDF and SRDF robots in MuJoCo. Its state is a USDF world state."""

from __future__ import annotations

import copy
import hashlib
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import MissingExtraError

try:
    import mujoco
except ImportError as error:  # pragma: no cover - depends on the installation
    raise MissingExtraError("mujoco", "mujoco", "simulating with MuJoCo") from error

from robot_semantics.base.nanoseconds import whole_nanoseconds
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.simulation.mujoco_builder import BuiltWorld, JointIndices, ModelLayout, build_mujoco_world
from robot_semantics.simulation.restoring import TIME_DIFFERS, RestorePlan
from robot_semantics.simulation.robot_motion import LinkMotion
from robot_semantics.simulation.simulator import ControlMode, DivergedError, SimulationError, Simulator
from robot_semantics.simulation.world_spec import BuildNote, WorldSpec
from robot_semantics.transforms import (
    invert,
    matrix_from_pose,
    matrix_from_quat,
    matrix_from_rotation,
    quat_conjugate,
    quat_from_matrix,
    quat_multiply,
    rotation_about,
    rotation_from_z,
    xyz_quat_from_matrix,
)
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.pose import Pose, Vec6, pose_from_matrix, six
from robot_semantics.transforms.rows import LARGEST, into_axes, twist_at, wrench_about
from robot_semantics.usdf.apply import AppliedState
from robot_semantics.usdf.commands import commands_of
from robot_semantics.usdf.frames import ResolvedWorld
from robot_semantics.usdf.world_state import WORLD, EngineState, JointState, ModelState, WorldState

# MuJoCo's engine state in a world state: its content, and the conditions for a restart bit for bit.


ENGINE = "mujoco"

CONTRADICTION = 1e-9
"""Largest rounding difference [m, rad and their rates] between stated values and the engine's. More is an edit."""

_OPTIONS = tuple(name for name in dir(mujoco.MjOption) if not name.startswith("_"))
"""Names of the options. They can change during a simulation."""


def engine_state(
    built: BuiltWorld, model: mujoco.MjModel, integration: FloatArray, modes: npt.NDArray[np.int64]
) -> EngineState:
    """Return the engine's part of a world state.

    Measured: mjSTATE_INTEGRATION as shortest decimal text continues bit for bit with every solver and integrator. The
    smaller state sets drift, because they lack the solver's warm start.

    Args:
        built: the compiled world.
        model: the MjModel that is stepped.
        integration: mjSTATE_INTEGRATION.
        modes: (nu,) control mode of each actuator. No state set of MuJoCo has them, because they are in the model.

    """
    return EngineState(
        ENGINE,
        mujoco.__version__,
        {"integration": tuple(integration.tolist()), "control_mode": tuple(modes.astype(float).tolist())},
        {"model": digest(built, model), "machine": platform.machine()},
    )


def digest(built: BuiltWorld, model: mujoco.MjModel) -> str:
    """Return the SHA-256 of the world of `model`: of the compiled model and of the options changed since."""
    options = [(name, getattr(model.opt, name), getattr(built.model.opt, name)) for name in _OPTIONS]
    changed = [(name, np.asarray(now)) for name, now, then in options if not np.array_equal(now, then)]
    if not changed:
        return built.digest
    hashed = hashlib.sha256(built.digest.encode())
    for name, value in changed:
        hashed.update(name.encode() + value.tobytes())
    return hashed.hexdigest()


def why_not_exact(engine: EngineState, built: BuiltWorld, model: mujoco.MjModel, size: int) -> str | None:
    """Return why the engine's state cannot be used, or None if it can.

    Args:
        engine: the engine's state, of this machine and version.
        built: the compiled world.
        model: the MjModel that is stepped.
        size: the number of values that this world's integration state has.

    """
    if model.opt.enableflags & int(mujoco.mjtEnableBit.mjENBL_SLEEP):
        return "the simulator's option 'sleep' (mjENBL_SLEEP) is on: with it, no restart is exact"
    if engine.attributes.get("model") != digest(built, model):
        return "the state's compiled world differs from this one (another description, time step, option or mesh)"
    expected = {"integration": size, "control_mode": built.model.nu}
    sizes = {name: len(values) for name, values in engine.arrays.items()}
    if sizes != expected:
        return f"the engine state's arrays have the sizes {sizes}, not {expected}"
    if any(mode not in (0.0, 1.0, 2.0) for mode in engine.arrays["control_mode"]):
        return "the engine state has a control mode that does not exist"
    return None


def contradiction(
    state: WorldState, model: mujoco.MjModel, scratch: mujoco.MjData, integration: FloatArray, trial: mujoco.MjData
) -> str | None:
    """Return how the engine's state contradicts the other values of the world state, or None.

    Args:
        state: the world state.
        model: the MjModel.
        scratch: an MjData that may be overwritten.
        integration: the engine's state.
        trial: the MjData with the other values.

    """
    mujoco.mj_setState(model, scratch, integration, mujoco.mjtState.mjSTATE_INTEGRATION)
    poses = []
    for data in (scratch, trial):
        mujoco.mj_kinematics(model, data)
        poses.append(np.concatenate((data.xpos.ravel(), data.xmat.ravel())))
    apart = {"positions": poses[0] - poses[1], "velocities": scratch.qvel - trial.qvel}
    for kind, values in apart.items():
        if np.abs(values).max(initial=0.0) > CONTRADICTION:
            return f"its {kind} differ from the engine's state in the same file"
    if commands_of(state)[0]:
        return "it has commands as well as the engine's state"
    return TIME_DIFFERS if state.time_ns not in (None, whole_nanoseconds(float(scratch.time))) else None


# Read robots from MuJoCo's arrays as a world state, with MuJoCo's kinematics, and write them back.


def body_motion(model: mujoco.MjModel, data: mujoco.MjData, *, forces: bool = True) -> LinkMotion:
    """Return the motion of all bodies of a forward-computed MjData. Without `forces`, there are no wrenches."""
    # MuJoCo stores velocities at the centre of mass of each kinematic tree, angular velocities first.
    twist = twist_at(np.roll(data.cvel, 3, axis=1), data.xpos - data.subtree_com[model.body_rootid])
    T = matrix_from_rotation(data.xmat.reshape(-1, 3, 3), data.xpos)
    return LinkMotion(T, twist, _wrenches(model, data) if forces else None)


def _wrenches(model: mujoco.MjModel, data: mujoco.MjData) -> FloatArray:
    """Return (nbody, 6) contact and applied wrenches at the body origins, in world axes."""
    wrench = wrench_about(data.xfrc_applied, data.xpos - data.xipos)
    if data.ncon:
        local = np.zeros((data.ncon, 6))
        for index in range(data.ncon):
            mujoco.mj_contactForce(model, data, index, local[index])
        frames = data.contact.frame.reshape(-1, 3, 3)  # rows: axes of the contact in the world
        at_contact = into_axes(frames, local)
        bodies = model.geom_bodyid[data.contact.geom]
        # The force acts on both geometries, with opposite signs.
        for side, sign in ((0, -1.0), (1, 1.0)):
            body = bodies[:, side]
            np.add.at(wrench, body, sign * wrench_about(at_contact, data.xpos[body] - data.contact.pos))
    return wrench


def capture_mujoco_model(
    layout: ModelLayout,
    data: mujoco.MjData,
    motion: LinkMotion,
    T_world_parent: FloatArray,
    digest: str | None,
    *,
    links: bool = True,
) -> ModelState:
    """Return one robot's state from a forward-computed MjData, with or without its links."""
    pose, twist = _root_state(layout, data, motion, T_world_parent)
    return ModelState(
        name=layout.name,
        parent=layout.spec.parent_frame,
        pose=pose,
        twist=twist,
        links=motion.select(layout.bodies).states(layout.spec.robot.link_names) if links else (),
        joints=tuple(_joint(indices, data) for indices in layout.joints),
        description=layout.spec.description,
        semantic=layout.spec.semantic,
        urdf_sha256=digest,
    )


def planar_transform(axis: FloatArray, xytheta: FloatArray) -> FloatArray:
    """Return the (4, 4) motion of a planar joint about `axis` (3,) for x, y [m] and theta [rad]."""
    across = rotation_from_z(axis)[:, :2] @ xytheta[:2]
    return matrix_from_rotation(rotation_about(axis, xytheta[2]), across)


def _root_state(
    layout: ModelLayout, data: mujoco.MjData, motion: LinkMotion, T_world_parent: FloatArray
) -> tuple[Pose, Vec6]:
    T_world_root, _ = motion.select(layout.bodies[:1]).root()
    R_parent_world = T_world_parent[:3, :3].T
    if layout.spec.has_floating_base:
        assert layout.root is not None
        qpos, qvel = data.qpos[layout.root.qpos], data.qvel[layout.root.qvel]
        quat = quat_multiply(quat_conjugate(quat_from_matrix(T_world_parent[:3, :3])), qpos[[4, 5, 6, 3]])
        if np.array_equal(T_world_parent, np.eye(4)):
            quat = np.array(qpos[[4, 5, 6, 3]])  # exact, to the last bit
        xyz = R_parent_world @ (qpos[:3] - T_world_parent[:3, 3])
        # A free joint's linear velocity is in the world's axes, its angular velocity in the body's.
        twist = np.concatenate((R_parent_world @ qvel[:3], R_parent_world @ (T_world_root[:3, :3] @ qvel[3:])))
        T = matrix_from_rotation(R_parent_world @ T_world_root[:3, :3], xyz)
        return pose_from_matrix(T, quat), six(twist)
    if layout.spec.has_planar_base:
        assert layout.root is not None
        axis = layout.root.joint.axis
        T = planar_transform(axis, data.qpos[layout.root.qpos])
        qvel = data.qvel[layout.root.qvel]
        twist = np.concatenate((rotation_from_z(axis)[:, :2] @ qvel[:2], axis * qvel[2]))
        return pose_from_matrix(T), six(twist)
    return pose_from_matrix(invert(T_world_parent) @ T_world_root), (0.0,) * 6


def _joint(indices: JointIndices, data: mujoco.MjData) -> JointState:
    positions, velocities = data.qpos[indices.qpos], data.qvel[indices.qvel]
    torques = data.qfrc_actuator[indices.qvel] + data.qfrc_applied[indices.qvel]
    if indices.joint.motion.has_quaternion:
        positions = positions[[0, 1, 2, 4, 5, 6, 3]]
        # The velocity of MuJoCo's ball is in the child's axes, that of a floating joint in the axes of the joint frame.
        R = matrix_from_quat(positions[3:])
        velocities = np.concatenate((velocities[:3], R @ velocities[3:]))
        torques = np.concatenate((torques[:3], R @ torques[3:]))
    return JointState(
        indices.joint.name, tuple(positions.tolist()), tuple(velocities.tolist()), tuple(torques.tolist())
    )


def write_data(layout: ModelLayout, applied: AppliedState, T_world_base: FloatArray, data: mujoco.MjData) -> None:
    """Write a robot's state into an MjData.

    Args:
        layout: layout of the robot's state.
        applied: the state; its root link is in the frame of `restoring.simulated_robot`.
        T_world_base: (4, 4) pose of that frame in the world, the identity for the world.
        data: the MjData.

    """
    if applied.base_xyz_quat is not None:
        with _keeping_angular_velocity(layout.root, data):
            _place_root(layout, applied, T_world_base, data)
    if applied.base_twist is not None:
        _move_root(layout, applied, data)
    space = JointSpace.of(layout.spec.robot)
    for indices in layout.joints:
        name = indices.joint.name
        if name in applied.positions_of:
            with _keeping_angular_velocity(indices, data):
                data.qpos[indices.qpos] = mujoco_positions(applied.positions[space.joint_positions[name]], indices)
        if name in applied.velocities_of:
            data.qvel[indices.qvel] = _qvel(applied.velocities[space.joint_velocities[name]], indices, data)


@contextmanager
def _keeping_angular_velocity(indices: JointIndices | None, data: mujoco.MjData) -> Iterator[None]:
    """Keep the angular velocity of a floating joint in its parent's axes. MuJoCo has it in the child's axes."""
    if indices is None or not indices.joint.motion.has_quaternion:
        yield
        return
    angular = _rotation(indices, data) @ data.qvel[indices.qvel[3:]]
    yield
    data.qvel[indices.qvel[3:]] = _rotation(indices, data).T @ angular


def _rotation(indices: JointIndices, data: mujoco.MjData) -> FloatArray:
    w, x, y, z = data.qpos[indices.qpos[3:]]
    return matrix_from_quat([x, y, z, w])


def set_frame_pose(layout: ModelLayout, xyz_quat: FloatArray, data: mujoco.MjData) -> None:
    """Set the pose (7,) in the world of the mocap body of a root's parent frame."""
    data.mocap_pos[layout.mocap] = xyz_quat[:3]
    data.mocap_quat[layout.mocap] = xyz_quat[[6, 3, 4, 5]]


def move_planes(layouts: Iterable[ModelLayout], plan: RestorePlan, now: ResolvedWorld, data: mujoco.MjData) -> None:
    """Move the planes of planar bases to the poses of their frames, together with the robots."""
    for layout in layouts:
        if not layout.spec.has_planar_base:
            continue
        target = now.pose(layout.spec.parent_frame)
        w, x, y, z = data.mocap_quat[layout.mocap]
        present = matrix_from_pose([*data.mocap_pos[layout.mocap], x, y, z, w])
        if np.abs(target - present).max() > CONTRADICTION:
            set_frame_pose(layout, xyz_quat_from_matrix(target), data)
            applied = plan.applied.get(layout.name)
            if applied is None or applied.base_xyz_quat is None:
                plan.log.note(f"model '{layout.name}' is carried along by its frame '{layout.spec.parent_frame}'")


def _place_root(layout: ModelLayout, applied: AppliedState, T_world_base: FloatArray, data: mujoco.MjData) -> None:
    xyz_quat = applied.base_xyz_quat
    assert xyz_quat is not None
    if layout.spec.has_floating_base:
        assert layout.root is not None
        data.qpos[layout.root.qpos] = xyz_quat[[0, 1, 2, 6, 3, 4, 5]]
    elif layout.spec.has_planar_base:
        assert layout.root is not None
        data.qpos[layout.root.qpos] = applied.base_positions
    elif layout.spec.parent_frame == WORLD:
        set_frame_pose(layout, xyz_quat, data)
    else:
        set_frame_pose(layout, xyz_quat_from_matrix(T_world_base @ matrix_from_pose(xyz_quat)), data)


def _move_root(layout: ModelLayout, applied: AppliedState, data: mujoco.MjData) -> None:
    if layout.root is None:
        return
    if layout.spec.has_planar_base:
        data.qvel[layout.root.qvel] = applied.base_velocities
        return
    assert applied.base_twist is not None
    # A free joint's linear velocity is in the world's axes, its angular velocity in the body's.
    R_world_root = _rotation(layout.root, data)
    data.qvel[layout.root.qvel] = [*applied.base_twist[:3], *(R_world_root.T @ applied.base_twist[3:])]


def mujoco_positions(positions: FloatArray, indices: JointIndices) -> FloatArray:
    """Return the positions of a joint in MuJoCo's order: a quaternion is w x y z."""
    return positions if not indices.joint.motion.has_quaternion else positions[[0, 1, 2, 6, 3, 4, 5]]


def _qvel(velocities: FloatArray, indices: JointIndices, data: mujoco.MjData) -> FloatArray:
    if not indices.joint.motion.has_quaternion:
        return velocities
    # The velocity of MuJoCo's ball is in the child's axes, that of a floating joint in the axes of the joint frame.
    return np.concatenate((velocities[:3], _rotation(indices, data).T @ velocities[3:]))


INTEGRATION = mujoco.mjtState.mjSTATE_INTEGRATION

_STEPS_PER_CHECK = 100
"""Time steps between two checks for an interruption and for divergence."""
_DIVERGED = [int(getattr(mujoco.mjtWarning, f"mjWARN_BAD{kind}")) for kind in ("QPOS", "QVEL", "QACC")]
"""Warnings of MuJoCo after which it has reset the world."""


class MujocoSimulator(Simulator):
    """A MuJoCo world of robots.

    Attributes:
        built: the compiled world and the layout of each robot's state in it.
        model: the MjModel of this simulator; only its actuator gains differ from the compiled one.
        data: the MjData. Other code may step it. `capture` never changes it.
        modes: (nu,) control mode of each actuator.

    """

    ENGINE, TITLE = "mujoco", "MuJoCo"

    def __init__(self, spec: WorldSpec) -> None:
        """Build and start a world, at time 0.

        Raises:
            WorldSpecError: the world cannot be built.

        """
        super().__init__(spec)
        self.built: BuiltWorld = build_mujoco_world(spec)
        self.model: mujoco.MjModel = copy.copy(self.built.model)
        self.data: mujoco.MjData = mujoco.MjData(self.model)
        self._scratch: mujoco.MjData = mujoco.MjData(self.model)
        self._trial: mujoco.MjData = mujoco.MjData(self.model)
        self.modes = self._trial_modes = self.built.servos.default_modes.copy()
        self._motors = {
            layout.name: {
                variable: int(actuator)
                for indices in layout.joint_indices
                if len(indices.actuators)
                for variable, actuator in zip(indices.joint.variable_names, indices.actuators, strict=True)
            }
            for layout in self.built.layouts.values()
        }
        self._size = mujoco.mj_stateSize(self.model, INTEGRATION)
        self.reset()

    @property
    def notes(self) -> tuple[BuildNote, ...]:
        """Changes and omissions that the engine made necessary."""
        return self.built.notes

    @property
    def time(self) -> float:
        """Simulation time [s]."""
        return float(self.data.time)

    def reset(self) -> None:
        """Put the world into its neutral state: time 0, every joint at its default position, nothing moving."""
        mujoco.mj_resetData(self.model, self.data)
        self._set_modes(self.built.servos.default_modes)
        self._frames = {}
        for layout in self.built.layouts.values():
            robot = self._robots[layout.name]
            neutral, space = robot.neutral, robot.kinematics.space
            for indices in layout.joints:
                positions = neutral[space.joint_positions[indices.joint.name]]
                self.data.qpos[indices.qpos] = mujoco_positions(positions, indices)
            self._hold(self.data, self.modes, layout)

    def step(self, count: int = 1) -> None:
        """Advance by `count` time steps.

        Raises:
            DivergedError: numbers are not finite or huge. The world is then in its neutral state (`reset`).
            SimulationError: MuJoCo refuses for another reason.

        """
        data, warnings = self.data, self.data.warning.number
        while count > 0:
            # In parts: a call of MuJoCo cannot be interrupted, and a count may be any integer.
            part, before = min(count, _STEPS_PER_CHECK), self.time
            warnings[_DIVERGED] = 0
            try:
                mujoco.mj_step(self.model, data, part)
            except mujoco.FatalError as error:
                raise SimulationError(f"MuJoCo cannot continue after {before:g} s: {error}") from error
            # MuJoCo checks only at the start of the next step.
            values = np.concatenate((data.qpos, data.qvel))
            if warnings[_DIVERGED].any() or not (np.abs(values) <= LARGEST).all():
                self.reset()
                raise DivergedError(
                    f"the simulation diverged soon after {before:g} s: positions, velocities or "
                    "accelerations are huge or not finite; a time step shorter than "
                    f"{self.model.opt.timestep:g} s may help"
                )
            count -= part

    def _command(self, model: str, mode: ControlMode, targets: Mapping[int, float]) -> None:
        del model
        actuators = list(targets)
        if (self.modes[actuators] != mode).any():
            modes = self.modes.copy()
            modes[actuators] = mode
            self._set_modes(modes)
        self.data.ctrl[actuators] = list(targets.values())

    # --- state

    def integration_state(self) -> FloatArray:
        """Return MuJoCo's complete integration state (n,)."""
        state = np.empty(self._size)
        mujoco.mj_getState(self.model, self.data, state, INTEGRATION)
        return state

    def _states(self, names: Iterable[str], resolved: ResolvedWorld, *, links: bool) -> Iterator[ModelState]:
        # On a copy: a forward pass would change the solver's warm start.
        mujoco.mj_setState(self.model, self._scratch, self.integration_state(), INTEGRATION)
        mujoco.mj_forward(self.model, self._scratch)
        motion = body_motion(self.model, self._scratch, forces=links)
        for name in names:
            layout = self.built.layouts[name]
            T_world_parent = resolved.pose(layout.spec.parent_frame)
            yield capture_mujoco_model(layout, self._scratch, motion, T_world_parent, self._digests[name], links=links)

    def _engine_states(self) -> tuple[EngineState, ...]:
        return (engine_state(self.built, self.model, self.integration_state(), self.modes),)

    def _roots(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        model, data = self.model, self._scratch
        mujoco.mj_setState(model, data, self.integration_state(), INTEGRATION)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        motion = body_motion(model, data, forces=False)
        return {name: motion.select(layout.bodies[:1]).root() for name, layout in self.built.layouts.items()}

    # --- parts of a restore

    def _compute_trial(self, plan: RestorePlan, now: ResolvedWorld, time: float) -> None:
        trial, layouts = self._trial, self.built.layouts
        mujoco.mj_setState(self.model, trial, self.integration_state(), INTEGRATION)
        trial.time, self._trial_modes = time, self.modes.copy()
        move_planes(layouts.values(), plan, now, trial)
        for name, applied in plan.applied.items():
            write_data(layouts[name], applied, now.pose(self._robots[name].base.frame), trial)
            self._hold(trial, self.modes, layouts[name])
        # Positions and velocities do not determine the warm start, so reset it.
        trial.qacc_warmstart[:] = 0.0

    def _set_trial_command(self, model: str, motor: int, mode: ControlMode, target: float) -> str | None:
        del model
        self._trial_modes[motor], self._trial.ctrl[motor] = mode, target
        return None

    def _continue_exactly(self, state: WorldState, names: tuple[str, ...] | None) -> str | None:
        engine = self._matching_engine_state(state, names, mujoco.__version__)
        if isinstance(engine, str):
            return engine
        reason = why_not_exact(engine, self.built, self.model, self._size)
        if reason is None:
            integration = np.array(engine.arrays["integration"])
            reason = contradiction(state, self.model, self._scratch, integration, self._trial)
        if reason is None:
            mujoco.mj_setState(self.model, self._trial, integration, INTEGRATION)
            self._trial_modes = np.array(engine.arrays["control_mode"], dtype=np.int64)
        return reason

    def _accept_trial(self) -> None:
        final = np.empty(self._size)
        mujoco.mj_getState(self.model, self._trial, final, INTEGRATION)
        mujoco.mj_setState(self.model, self.data, final, INTEGRATION)
        self._set_modes(self._trial_modes)

    # --- actuators

    def _set_modes(self, modes: npt.NDArray[np.int64]) -> None:
        self.modes = modes.copy()
        self.built.servos.apply(self.model, self.modes)

    def _hold(self, data: mujoco.MjData, modes: npt.NDArray[np.int64], layout: ModelLayout) -> None:
        """Set the servos of a robot to hold its present positions."""
        for indices in layout.joint_indices:
            if not len(indices.actuators):
                continue
            held = modes[indices.actuators] == ControlMode.POSITION
            data.ctrl[indices.actuators] = np.where(held, data.qpos[indices.qpos], 0.0)


def start(spec: WorldSpec, warn: Callable[[str], None]) -> MujocoSimulator:
    """Return a world in MuJoCo. `warn` receives MuJoCo's warnings of the whole process.

    Raises:
        WorldSpecError: the world cannot be built.

    """
    # By default, MuJoCo writes warnings to a file in the current folder.
    mujoco.set_mju_user_warning(lambda text: warn(f"MuJoCo: {text}"))
    return MujocoSimulator(spec)
