"""The node's own state as a world state, and back: coherent, with the ages of its values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.state.joint_input import Refusal
from robot_semantics.state.root_motion import joint_motion
from robot_semantics.state.samples import RobotSample, WorldSample
from robot_semantics.state.snapshot_ages import ValueAge
from robot_semantics.state.time_order import NEVER_NS
from robot_semantics.transforms import xyz_quat_from_matrix
from robot_semantics.usdf.frames import NotStatedError, resolve
from robot_semantics.usdf.identity import model_digest
from robot_semantics.usdf.joint_values import joint_values, stated_positions, stated_velocities
from robot_semantics.usdf.robot import from_joint_positions
from robot_semantics.usdf.world_state import EngineState, Frame, JointState, ModelState, WorldState

FloatArray = npt.NDArray[np.float64]

PLANE_TOLERANCE = 1e-6
"""How far [m, rad] a stated root may lie outside its plane."""


class StaleStateError(RobotSemanticsError):
    """The state is older than allowed; the message names the oldest value and its age."""


@dataclass(frozen=True, slots=True)
class NodeState:
    """A node's robots as a world state.

    Attributes:
        state: the state.
        missing: what it lacks, one statement each.

    """

    state: WorldState
    missing: tuple[str, ...]


def world_of(sample: WorldSample, frames: Iterable[Frame], max_age_ns: int) -> NodeState:
    """Return the state of a sample.

    Args:
        sample: the robots at one moment.
        frames: frames outside the robots.
        max_age_ns: the greatest age of a value against the sample's stamp; 0 for no limit.

    Raises:
        StaleStateError: a value is older.
    """
    missing: list[str] = []
    models = []
    for robot in sample.robots:
        check_age(robot, sample.stamp_ns, max_age_ns)
        models.append(_model(robot, missing))
    return NodeState(WorldState(models=tuple(models), frames=tuple(frames), time_ns=sample.stamp_ns), tuple(missing))


def joint_ages(sample: WorldSample) -> Iterator[ValueAge]:
    """Yield how old each joint's newest values are against the sample's stamp; none of joints never heard of."""
    for robot in sample.robots:
        for joint, at in zip(robot.space.joints, robot.stamps_ns.tolist(), strict=True):
            if at != NEVER_NS:
                yield ValueAge(robot.name, joint.name, sample.stamp_ns - at)


def check_age(robot: RobotSample, stamp_ns: int, max_age_ns: int) -> None:
    """Compare the ages of a robot's values with the limit.

    Raises:
        StaleStateError: a value is older.
    """
    stamps = {joint.name: int(at) for joint, at in zip(robot.space.joints, robot.stamps_ns, strict=True)}
    known = {name: at for name, at in stamps.items() if at != NEVER_NS}
    if not max_age_ns or not known:
        return
    oldest = min(known, key=lambda name: known[name])
    age_ns = stamp_ns - known[oldest]
    if age_ns > max_age_ns:
        raise StaleStateError(
            f"robot '{robot.name}': joint '{oldest}' is {age_ns * 1e-9:.3f} s older than the newest value, "
            f"more than max_age {max_age_ns * 1e-9:g} s"
        )


def _model(robot: RobotSample, missing: list[str]) -> ModelState:
    space = robot.space
    unknown = [joint.name for joint, known in zip(space.joints, robot.known, strict=True) if not known]
    slow = bool(np.isnan(robot.velocities).any())
    root = robot.model.root_joint.name
    if unknown:
        missing.append(f"robot '{robot.name}': the positions of {', '.join(unknown)} have never been reported")
    if slow:
        missing.append(f"robot '{robot.name}': not all velocities are known, so links have no twists")
    full = from_joint_positions(
        ForwardKinematics(robot.model),
        robot.positions,
        None if slow else robot.velocities,
        name=robot.name,
        parent=robot.parent_frame or None,
    )
    joints = tuple(_joint(joint, robot) for joint in full.joints if joint.name not in unknown)
    return replace(
        full,
        joints=joints,
        links=() if unknown and unknown != [root] else full.links,
        pose=None if root in unknown else full.pose,
        twist=None if root in unknown else full.twist,
        urdf_sha256=model_digest(robot.model),
    )


def _joint(joint: JointState, robot: RobotSample) -> JointState:
    """Return the joint's state with those velocities and efforts that are known."""
    where = robot.space.joint_velocities[joint.name]
    velocities, efforts = robot.velocities[where], robot.efforts[where]
    return replace(
        joint,
        velocities=None if np.isnan(velocities).any() else tuple(velocities.tolist()),
        torques=None if np.isnan(efforts).any() else tuple(efforts.tolist()),
    )


@dataclass(frozen=True, slots=True, eq=False)
class RobotValues:
    """What a state says of one of the node's robots.

    Attributes:
        positions: (n,) as the robot's space has them; what the state leaves open stays as it was.
        velocities: (nv,) NaN where unknown.
        done: what is restored, one statement each.
        failed: what is not, with the reason.

    """

    positions: FloatArray
    velocities: FloatArray
    done: tuple[str, ...]
    failed: tuple[str, ...]


def counterpart(state: WorldState, robot: RobotSample) -> ModelState | None:
    """Return the model that is this robot: the one of its name, or else the only one that was made from its URDF."""
    named = [model for model in state.models if model.name == robot.name]
    if named:
        return named[0]
    digest = model_digest(robot.model)
    same = [model for model in state.models if digest is not None and model.urdf_sha256 == digest]
    return same[0] if len(same) == 1 else None


def values_of(state: WorldState, robot: RobotSample) -> RobotValues | None:
    """Return the values that `state` gives a robot, None if none of its models is this robot."""
    model = counterpart(state, robot)
    if model is None:
        return None
    space = robot.space
    done: list[str] = []
    failed: list[str] = []
    subject = f"model '{model.name}'"
    digest = model_digest(robot.model)
    if model.urdf_sha256 is not None and digest is not None and model.urdf_sha256 != digest:
        failed.append(f"{subject}: description: the state was made from another URDF than the node's")
    values = joint_values(model, space)
    q, v = robot.positions.copy(), np.full(space.velocity_size, np.nan)
    for joint in space.joints:
        if joint.name in values.positions_of:
            q[space.joint_positions[joint.name]] = values.q[space.joint_positions[joint.name]]
        if joint.name in values.velocities_of:
            v[space.joint_velocities[joint.name]] = values.v[space.joint_velocities[joint.name]]
    moving = {joint.name: joint for joint in space.joints}
    for joint_state in model.joints:
        if joint_state.name in values.positions_of:
            # A mimic joint's measured value goes before what its leader says, as in a joint state message.
            stated = stated_positions(moving[joint_state.name], joint_state)
            if stated is not None:
                q[space.joint_positions[joint_state.name]] = stated
            rates = stated_velocities(moving[joint_state.name], joint_state)
            if rates is not None:
                v[space.joint_velocities[joint_state.name]] = rates
            done.append(f"{subject}: joint '{joint_state.name}'")
        elif joint_state.positions is not None:
            known = joint_state.name in robot.model.joint_index
            reason = "does not fit the joint" if known else "the robot has no such joint"
            failed.append(f"{subject}: joint '{joint_state.name}': {reason}")
    _put_root(state, model, robot, q, v, done, failed)
    return RobotValues(q, v, tuple(done), tuple(failed))


def _put_root(
    state: WorldState,
    model: ModelState,
    robot: RobotSample,
    q: FloatArray,
    v: FloatArray,
    done: list[str],
    failed: list[str],
) -> None:
    root = robot.model.root_joint
    if model.pose is None or not root.position_count:
        return
    resolved = resolve(state)
    relative_to = robot.parent_frame if robot.parent_frame in resolved.index else model.parent
    pose = xyz_quat_from_matrix(resolved.pose(model.name, relative_to))
    twist = None if model.twist is None else np.array(model.twist)
    if twist is not None and relative_to != model.parent:
        try:
            twist = np.array(resolved.twist(model.name, relative_to, relative_to))
        except NotStatedError:
            twist = None
    motion = joint_motion(root, pose, twist)
    subject = f"model '{model.name}': pose"
    if isinstance(motion, Refusal):
        failed.append(f"{subject}: {motion}")
        return
    q[robot.space.joint_positions[root.name]] = motion.positions
    if motion.velocities is not None:
        v[robot.space.joint_velocities[root.name]] = motion.velocities
    if max(motion.lost_m, motion.lost_rad) > PLANE_TOLERANCE:
        failed.append(
            f"{subject}: joint '{root.name}' cannot leave its plane: {motion.lost_m:.3g} m and "
            f"{motion.lost_rad:.3g} rad off"
        )
    else:
        done.append(subject)


def merged(own: WorldState, simulated: Mapping[str, WorldState]) -> WorldState:
    """Return the whole world: what simulators say of their models, and what only the node knows.

    A simulator's word on a model or frame goes before the node's, which has it second-hand; the first simulator's goes
    before the others'.
    """
    models: dict[str, ModelState] = {}
    frames: dict[str, Frame] = {}
    engines: list[EngineState] = []
    for state in (*simulated.values(), own):
        for model in state.models:
            first = models.setdefault(model.name, model)
            if not first.joints and first is not model:
                # A simulator of entities knows where a robot is, the node how it stands.
                models[model.name] = replace(
                    first, joints=model.joints, links=model.links, urdf_sha256=model.urdf_sha256
                )
        for frame in state.frames:
            frames.setdefault(frame.name, frame)
        engines += state.engines
    times = [state.time_ns for state in simulated.values() if state.time_ns is not None]
    kept = tuple(frame for name, frame in frames.items() if name not in models)
    return WorldState(
        models=tuple(models.values()),
        frames=kept,
        time_ns=times[0] if times else own.time_ns,
        engines=tuple(engines),
    )
