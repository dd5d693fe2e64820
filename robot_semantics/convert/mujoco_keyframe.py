"""World states as keyframes of a MuJoCo model: qpos and qvel by joint name, free joints by the models they carry.

A MuJoCo joint ``NAME``, or ``MODEL/NAME``, is the joint NAME of a model; ``NAME/x`` and the like are the variables of a
planar or floating one. A free joint carries the model that is named like its body, like the first part of its body's or
its own name (``MODEL/…``), or whose root link its body is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from robot_semantics.base.errors import ArrayError
from robot_semantics.convert.commands import COMMANDS
from robot_semantics.convert.conversion import Converted, beyond_motion
from robot_semantics.convert.mujoco_actuators import KEYFRAME, controls_of, engines_of
from robot_semantics.convert.mujoco_key_text import MAX_TIME, Keyframe
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.state.apply import apply_model_state, resolve_with
from robot_semantics.state.root_placement import Base
from robot_semantics.transforms import matrix_from_quat, quat_from_matrix, quat_from_rpy
from robot_semantics.transforms.arrays import checked
from robot_semantics.usdf.frames import ResolvedWorld
from robot_semantics.usdf.numbers import shortest
from robot_semantics.usdf.poses import FloatArray, pose_from_quaternion, pose_quaternions, six
from robot_semantics.usdf.table import format_time
from robot_semantics.usdf.world_state import WORLD, Frame, JointState, ModelState, Pose, WorldState

FREE, BALL = 0, 1
"""MuJoCo's joint types that have a quaternion; slides and hinges have one number."""

_POSITIONS = (7, 4, 1, 1)
_VELOCITIES = (6, 3, 1, 1)
_VARIABLES = {
    "x": slice(0, 1),
    "y": slice(1, 2),
    "theta": slice(2, 3),
    "trans_x": slice(0, 1),
    "trans_y": slice(1, 2),
    "trans_z": slice(2, 3),
    "rot": slice(3, 7),
}
_LINK_PARTS = {
    ("pose", "twist"): "the poses and twists of its links, which MuJoCo has from the joints",
    ("wrench",): "the wrenches on its links",
}
_RATES = {**_VARIABLES, "rot": slice(3, 6)}
_COUNTS = {"x": (3, 3), "trans_x": (7, 6)}


class _Place(NamedTuple):
    """One joint of a MuJoCo model."""

    name: str
    body: str
    type: int
    qpos: slice
    qvel: slice


def to_keyframe(
    state: WorldState, model: Any, *, robots: Mapping[str, RobotModel] | None = None, name: str = ""
) -> Converted[Keyframe]:
    """Return the keyframe of `state` for a ``mujoco.MjModel``, and what it cannot say.

    What the state does not say of the model's joints is as in the model's reference configuration, at rest, and listed.

    Args:
        state: the state.
        model: the compiled model (``mujoco.MjModel``).
        robots: the robots by their models' names; they tell the root links.
        name: the keyframe's name.

    Raises:
        DescriptionError: the state's parents are unknown or form a cycle.
    """
    return _Export(state, model, robots or {}).converted(name)


class _Export:
    def __init__(self, state: WorldState, model: Any, robots: Mapping[str, RobotModel]) -> None:
        self._model = model
        self._robots = robots
        self._resolved: ResolvedWorld = resolve_with(state, robots=robots)
        others = tuple(engine for engine in state.engines if engine.name not in (KEYFRAME, COMMANDS))
        self._lost = beyond_motion(replace(state, engines=others))
        self._state = replace(state, models=tuple(self._with_joints(model) for model in state.models))
        self._placed: set[str] = set()
        self._used: set[tuple[str, str]] = set()
        self._qpos = np.array(model.qpos0, dtype=np.float64)
        self._qvel = np.zeros(model.nv)

    def _with_joints(self, model: ModelState) -> ModelState:
        """Return a model with all joints that follow, its virtual joint too, where its robot is known."""
        robot = self._robots.get(model.name)
        if robot is None:
            return model
        applied = apply_model_state(model, self._resolved, robot, base=replace(Base.of(robot), placeable=True))
        self._lost += [str(item) for item in applied.refused]
        space, torques = JointSpace.of(robot), {joint.name: joint.torques for joint in model.joints}
        known = set(applied.positions_of | applied.velocities_of)
        if applied.base_positions is not None:
            known.add(robot.root_joint.name)
        joints = []
        for joint in space.joints:
            if joint.name in known:
                q = applied.positions[space.joint_positions[joint.name]].tolist()
                v = applied.velocities[space.joint_velocities[joint.name]]
                moving = None if np.isnan(v).any() else tuple(v.tolist())
                placed = joint.virtual or joint.name in applied.positions_of
                joints.append(JointState(joint.name, tuple(q) if placed else None, moving, torques.get(joint.name)))
        others = [joint for joint in model.joints if joint.name not in robot.joint_index]
        return replace(model, joints=(*joints, *others))

    def converted(self, name: str) -> Converted[Keyframe]:
        """Return the keyframe."""
        for place in _places(self._model):
            if place.type == FREE:
                self._free(place)
            else:
                self._joint(place)
        mpos, mquat = self._mocap()
        for model in self._state.models:
            if model.name not in self._placed:
                self._lost.append(f"model '{model.name}': its pose and twist, as no free joint carries it")
            for joint in model.joints:
                if (model.name, joint.name) not in self._used and not self._is_virtual(model, joint):
                    self._lost.append(f"joint '{joint.name}' of '{model.name}', which the MuJoCo model does not have")
                elif joint.torques is not None:
                    self._lost.append(f"joint '{joint.name}' of '{model.name}': its torques")
            for words, what in _LINK_PARTS.items():
                if any(getattr(link, word) is not None for link in model.links for word in words):
                    self._lost.append(f"model '{model.name}': {what}")
        ctrl, act, lost = controls_of(self._state, self._model)
        self._lost += lost
        time_ns = self._state.time_ns or 0
        time = time_ns / 1_000_000_000
        if round(time * 1_000_000_000) != time_ns:
            self._lost.append(f"the last digits of the time: {shortest(time)} s is the nearest number that MuJoCo has")
        key = Keyframe(self._qpos, self._qvel, time, name, ctrl, act, mpos, mquat)
        return Converted(key, tuple(self._lost))

    def _mocap(self) -> tuple[FloatArray, FloatArray]:
        """Return the places (nmocap, 3) and quaternions (nmocap, 4) of mocap bodies, which are frames of the state."""
        model, frames = self._model, {frame.name: frame for frame in self._state.frames}
        mpos, mquat = np.zeros((model.nmocap, 3)), np.zeros((model.nmocap, 4))
        for body, at in _mocap_bodies(model):
            mpos[at], mquat[at] = model.body_pos[body], model.body_quat[body]
            name = str(model.body(body).name)
            carried = [item for item in self._state.models if item.name == name]
            item = frames.pop(name, None) or next(iter(carried), None)
            if item is None or item.pose is None:
                self._lost.append(f"nothing is stated of the mocap body '{name}': it is where the model has it")
                continue
            T = self._resolved.pose(item.name)
            mpos[at], mquat[at] = T[:3, 3], np.roll(quat_from_matrix(T[:3, :3]), 1)
            if item.parent == WORLD:
                mquat[at] = np.roll(pose_quaternions([item.pose])[0], 1)
            self._placed.add(item.name)
        self._lost.extend(f"frame '{name}'" for name in frames)
        return mpos, mquat

    def _is_virtual(self, model: ModelState, joint: JointState) -> bool:
        robot = self._robots.get(model.name)
        return robot is not None and joint.name == robot.root_joint.name

    def _free(self, place: _Place) -> None:
        model = self._carried(place)
        if model is None:
            self._lost.append(f"nothing is stated of what free joint '{place.name}' carries: it is as at the start")
            return
        self._placed.add(model.name)
        T = self._resolved.pose(model.name)
        quat = pose_quaternions([model.pose])[0] if model.pose and model.parent == WORLD else None
        if quat is None:
            quat = quat_from_matrix(T[:3, :3])
        self._qpos[place.qpos] = (*T[:3, 3], quat[3], *quat[:3])
        twist = self._resolved.twists[self._resolved.at(model.name)]
        if np.isnan(twist).any():
            self._lost.append(f"the twist of model '{model.name}' is not stated: it is taken to be at rest")
        else:
            # MuJoCo has the linear velocity in the world's axes, the angular one in the body's.
            self._qvel[place.qvel] = (*twist[:3], *(twist[3:] @ T[:3, :3]))

    def _carried(self, place: _Place) -> ModelState | None:
        by_name = {model.name: model for model in self._state.models}
        for name in (place.body, place.body.split("/")[0], place.name.split("/")[0]):
            if name in by_name:
                return by_name[name]
        for model in self._state.models:
            robot = self._robots.get(model.name)
            if robot is not None and robot.root_link == place.body:
                return model
        named = [model for model in self._state.models if any(link.name == place.body for link in model.links)]
        return named[0] if len(named) == 1 else None

    def _joint(self, place: _Place) -> None:
        found = self._stated(place.name)
        if found is None:
            self._lost.append(f"nothing is stated of MuJoCo's joint '{place.name}': it is as at the start")
            return
        model, joint, part = found
        self._used.add((model.name, joint.name))
        positions, velocities = joint.positions, joint.velocities
        if positions is not None and part.startswith(("rot", "trans")) and len(positions) == 6:
            positions = (*positions[:3], *quat_from_rpy(np.array(positions[3:])).tolist())
        row = _part(positions, _VARIABLES.get(part), _POSITIONS[place.type])
        if row is None:
            self._lost.append(f"the position of MuJoCo's joint '{place.name}' is not stated: it is as at the start")
        else:
            self._qpos[place.qpos] = (row[3], *row[:3]) if place.type == BALL else row
        rates = _part(velocities, _RATES.get(part), _VELOCITIES[place.type])
        if rates is None:
            self._lost.append(f"the velocity of MuJoCo's joint '{place.name}' is not stated: it is taken to be at rest")
        elif place.type == BALL and row is not None:
            # The state has a floating joint's angular velocity in its joint's axes, MuJoCo a ball's in the child's.
            self._qvel[place.qvel] = np.array(rates) @ matrix_from_quat(np.array(row))
        else:
            self._qvel[place.qvel] = rates

    def _stated(self, name: str) -> tuple[ModelState, JointState, str] | None:
        """Return the model, the joint and the part of it that a MuJoCo joint's name means."""
        matches = []
        for model in self._state.models:
            joints = {joint.name: joint for joint in model.joints}
            for whole in (name, name.removeprefix(f"{model.name}/")):
                stem, _, part = whole.rpartition("/")
                if whole in joints:
                    matches.append((model, joints[whole], ""))
                elif stem in joints and part in _VARIABLES:
                    matches.append((model, joints[stem], part))
        unique = {(model.name, joint.name, part): (model, joint, part) for model, joint, part in matches}
        return next(iter(unique.values())) if len(unique) == 1 else None


def from_keyframe(key: Keyframe, model: Any) -> Converted[WorldState]:
    """Return the world state of a keyframe of a ``mujoco.MjModel``, and what it cannot say.

    Each tree of bodies with joints is a model, named by the first part of its root body's name (``MODEL/…``) or by
    its root body; it stands in the world where the keyframe, or the MuJoCo model, puts its root body.

    Raises:
        ArrayError: the keyframe has another number of values than the model.
    """
    qpos = checked("qpos", key.qpos if np.size(key.qpos) else model.qpos0, model.nq)
    qvel = checked("qvel", key.qvel if np.size(key.qvel) else np.zeros(model.nv), model.nv)
    if qpos.ndim != 1 or qvel.ndim != 1:
        raise ArrayError("qpos", "a keyframe has one row of positions and one of velocities")
    if not abs(key.time) < MAX_TIME:
        raise ArrayError("time", f"{key.time:g} s is no time that a world state can have")
    mpos = _mocap_rows("mpos", key.mpos, model, 3)
    mquat = _mocap_rows("mquat", key.mquat, model, 4)
    trees: dict[int, list[_Place]] = {}
    for index, place in enumerate(_places(model)):
        trees.setdefault(int(model.body_rootid[model.jnt_bodyid[index]]), []).append(place)
    lost: list[str] = []
    models = [
        _imported(model, root, places, qpos, qvel, _body_pose(model, root, mpos, mquat), lost)
        for root, places in trees.items()
    ]
    joints = {place.name: made.name for made, places in zip(models, trees.values(), strict=True) for place in places}
    time_ns = round(key.time * 1e9)
    if time_ns / 1_000_000_000 != key.time:
        lost.append(f"the last digits of the time: {format_time(time_ns)} s is the nearest whole nanosecond")
    state = WorldState(
        name=key.name or None,
        models=tuple(models),
        frames=tuple(_mocap_frames(model, trees, mpos, mquat, lost)),
        time_ns=time_ns,
        engines=engines_of(model, joints, np.ravel(key.ctrl), np.ravel(key.act)),
    )
    return Converted(state, tuple(lost))


def _imported(
    model: Any, root: int, places: Sequence[_Place], qpos: FloatArray, qvel: FloatArray, at: Pose, lost: list[str]
) -> ModelState:
    """Return the model of a tree of bodies, whose root body is `at` a pose unless a free joint carries it."""
    root_body = str(model.body(root).name)
    name = root_body.split("/")[0] or f"body_{root}"
    twist = (0.0,) * 6
    joints: dict[str, JointState] = {}
    for place in places:
        row, rates = qpos[place.qpos], qvel[place.qvel]
        if place.type == FREE and place.body == root_body:
            quat = np.roll(row[3:], -1)
            at = pose_from_quaternion(row[:3].tolist(), quat.tolist())
            R = matrix_from_quat(quat)
            twist = six(np.concatenate((rates[:3], R @ rates[3:])))
            continue
        short = place.name.removeprefix(f"{name}/")
        stem, _, part = short.rpartition("/")
        if not place.name:
            lost.append(f"a joint without a name of body '{place.body}'")
            continue
        if place.type == BALL:
            row, rates = np.roll(row, -1), matrix_from_quat(np.roll(row, -1)) @ rates
        if part in _VARIABLES and stem:
            joints[stem] = _joined(joints.get(stem), stem, part, row, rates)
        else:
            joints[short] = JointState(short, tuple(row.tolist()), tuple(rates.tolist()))
    return ModelState(name, pose=at, twist=twist, joints=tuple(joints.values()))


def _joined(before: JointState | None, name: str, part: str, row: FloatArray, rates: FloatArray) -> JointState:
    """Return a joint state with one more of its variables."""
    sizes = _COUNTS["x"] if part in ("x", "y", "theta") else _COUNTS["trans_x"]
    positions = list(before.positions or ()) if before else [0.0] * sizes[0]
    velocities = list(before.velocities or ()) if before else [0.0] * sizes[1]
    positions[_VARIABLES[part]] = row.tolist()
    velocities[_RATES[part]] = rates.tolist()
    return JointState(name, tuple(positions), tuple(velocities))


def _mocap_bodies(model: Any) -> Iterator[tuple[int, int]]:
    """Yield the bodies that are moved from outside, and their places among these."""
    for body in range(model.nbody):
        if model.body_mocapid[body] >= 0:
            yield body, int(model.body_mocapid[body])


def _mocap_rows(word: str, given: FloatArray, model: Any, width: int) -> FloatArray:
    """Return (nmocap, width) rows of a keyframe, NaN where it has none.

    Raises:
        ArrayError: there are other numbers of them than the model has.
    """
    if not np.size(given):
        return np.full((model.nmocap, width), np.nan)
    if np.size(given) != model.nmocap * width:
        raise ArrayError(word, f"{np.size(given)} numbers; the model has {model.nmocap} mocap bodies")
    return np.reshape(given, (model.nmocap, width))


def _mocap_frames(
    model: Any, trees: Collection[int], mpos: FloatArray, mquat: FloatArray, lost: list[str]
) -> Iterator[Frame]:
    """Yield each mocap body that carries no joints as a frame of the world; one that does is where its model is."""
    for body, _ in _mocap_bodies(model):
        name = str(model.body(body).name)
        if name and body not in trees:
            yield Frame(name, WORLD, _body_pose(model, body, mpos, mquat))
        elif not name:
            lost.append(f"the place of body {body}, a mocap body without a name")


def _body_pose(model: Any, body: int, mpos: FloatArray, mquat: FloatArray) -> Pose:
    """Return where a body of the world is: as the keyframe says, else as the model has it."""
    xyz, quat, at = model.body_pos[body], model.body_quat[body], int(model.body_mocapid[body])
    if at >= 0:
        xyz = xyz if np.isnan(mpos[at]).any() else mpos[at]
        quat = quat if np.isnan(mquat[at]).any() else mquat[at]
    return pose_from_quaternion(xyz.tolist(), np.roll(quat, -1).tolist())


def _places(model: Any) -> Iterator[_Place]:
    for index in range(model.njnt):
        kind = int(model.jnt_type[index])
        qpos, qvel = int(model.jnt_qposadr[index]), int(model.jnt_dofadr[index])
        yield _Place(
            str(model.joint(index).name),
            str(model.body(int(model.jnt_bodyid[index])).name),
            kind,
            slice(qpos, qpos + _POSITIONS[kind]),
            slice(qvel, qvel + _VELOCITIES[kind]),
        )


def _part(row: tuple[float, ...] | None, part: slice | None, count: int) -> tuple[float, ...] | None:
    """Return the part of a joint's row that one MuJoCo joint has, None where it is not stated."""
    if row is None:
        return None
    chosen = row if part is None else row[part]
    return chosen if len(chosen) == count else None
