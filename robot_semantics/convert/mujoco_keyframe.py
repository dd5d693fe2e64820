# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""World states as keyframes of a MuJoCo model: qpos and qvel by joint names, free joints by their models.

A MuJoCo joint ``NAME``, or ``MODEL/NAME``, is the joint NAME of a model; ``NAME/x`` and the like are the variables of a
planar or floating one. The parent of a model is the mocap body ``MODEL//frame``, if it exists: see `mujoco_bases`. A
free joint carries the model with the name of its body, else the model whose root link is its body, else the model with
the first part of the body's or joint's name (``MODEL/…``). If several models fit, it carries none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from robot_semantics.base.errors import ArrayError, RobotSemanticsError
from robot_semantics.base.nanoseconds import float_seconds, seconds_text, whole_nanoseconds
from robot_semantics.convert.conversion import Converted, beyond_motion
from robot_semantics.convert.mujoco_actuators import KEYFRAME, controls_of, engines_of
from robot_semantics.convert.mujoco_bases import (
    BALL,
    FREE,
    PARTS,
    POSITIONS,
    RATES,
    VARIABLES,
    VELOCITIES,
    MocapBase,
    MujocoJoint,
    mocap_bases,
    mocap_bodies,
    places_of,
)
from robot_semantics.convert.mujoco_key_text import MAX_TIME, Keyframe
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.kinematics.motions import twist_of
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import matrix_from_pose, matrix_from_quat, quat_from_matrix, quat_from_rpy
from robot_semantics.transforms.arrays import FloatArray, checked_array
from robot_semantics.transforms.pose import Pose, pose_from_quaternion, pose_matrix, pose_quaternions, six
from robot_semantics.usdf.apply import Base, apply_model_state, resolve_with
from robot_semantics.usdf.commands import COMMANDS
from robot_semantics.usdf.frames import ResolvedWorld
from robot_semantics.usdf.restore_report import TOLERANCE
from robot_semantics.usdf.world_state import WORLD, Frame, JointState, LinkState, ModelState, WorldState
from robot_semantics.xml.numbers import shortest

if TYPE_CHECKING:
    import mujoco


_LINK_PARTS = {
    ("pose", "twist"): "the poses and twists of its links, which MuJoCo has from the joints",
    ("wrench",): "the wrenches on its links",
}


def to_keyframe(
    state: WorldState, model: mujoco.MjModel, *, robots: Mapping[str, RobotModel] | None = None, name: str = ""
) -> Converted[Keyframe]:
    """Return the keyframe of `state` for a ``mujoco.MjModel``, and the lost data.

    Joints that the state does not have are in the model's reference configuration, at rest, and listed.

    Args:
        state: the state.
        model: the compiled model (``mujoco.MjModel``).
        robots: the robots by their models' names; they give the root links.
        name: the keyframe's name.

    Raises:
        DescriptionError: the state's parents are unknown or form a cycle.
        RobotSemanticsError: no joint and no body of the state is in the model.
    """
    return _KeyframeExport(state, model, robots or {}).converted(name)


class _KeyframeExport:
    def __init__(self, state: WorldState, model: mujoco.MjModel, robots: Mapping[str, RobotModel]) -> None:
        self._model = model
        self._robots = robots
        self._resolved: ResolvedWorld = resolve_with(state, robots=robots)
        others = tuple(engine for engine in state.engines if engine.name not in (KEYFRAME, COMMANDS))
        self._losses = beyond_motion(replace(state, engines=others))
        self._bases = {base.body: base for base in mocap_bases(model)}
        self._state = replace(state, models=tuple(self._with_joints(item) for item in state.models))
        self._written_bodies: set[str] = set()
        self._used: set[tuple[str, str]] = set()
        self._qpos = np.array(model.qpos0, dtype=np.float64)
        self._qvel = np.zeros(model.nv)

    def _with_joints(self, model: ModelState) -> ModelState:
        """Return a model with all joints that follow, including its virtual joint; unchanged if its robot is
        unknown.
        """
        robot = self._robots.get(model.name)
        if robot is None:
            return model
        applied = apply_model_state(model, self._resolved, robot, base=replace(Base.of(robot), placeable=True))
        based = any(base.model == model.name for base in self._bases.values())
        # The base in MuJoCo decides the use of the model's own motion.
        self._losses += [str(item) for item in applied.refused if not based or item.kind not in ("pose", "twist")]
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

    def _lost_of(self, model: ModelState) -> Iterator[str]:
        """Yield the values of a model that the keyframe cannot hold."""
        if model.name not in self._written_bodies:
            yield f"model '{model.name}': its pose and twist, as no free joint carries it"
        for joint in model.joints:
            if (model.name, joint.name) not in self._used and not self._is_virtual(model, joint):
                yield f"joint '{joint.name}' of '{model.name}', which the MuJoCo model does not have"
            elif joint.torques is not None:
                yield f"joint '{joint.name}' of '{model.name}': its torques"
        for words, what in _LINK_PARTS.items():
            if any(getattr(link, word) is not None for link in model.links for word in words):
                yield f"model '{model.name}': {what}"

    def converted(self, name: str) -> Converted[Keyframe]:
        """Return the keyframe."""
        places = list(places_of(self._model))
        self._names = {place.name for place in places}
        carried = self._carried([place for place in places if place.type == FREE])
        of_bases = {place.number for base in self._bases.values() for place in base.joints}
        for place in places:
            if place.number in of_bases:
                continue
            if place.type == FREE:
                self._free(place, carried.get(place.qpos.start))
            else:
                self._joint(place)
        mpos, mquat = self._mocap()
        self._refuse_strangers(places)
        for model in self._state.models:
            self._losses += self._lost_of(model)
        ctrl, act, lost = controls_of(self._state, self._model)
        self._losses += lost
        time_ns = self._state.time_ns or 0
        time = float_seconds(time_ns)
        if whole_nanoseconds(time) != time_ns:
            self._losses.append(
                f"the last digits of the time: {shortest(time)} s is the nearest number that MuJoCo has"
            )
        key = Keyframe(self._qpos, self._qvel, time, name, ctrl, act, mpos, mquat)
        return Converted(key, tuple(self._losses))

    def _refuse_strangers(self, places: list[MujocoJoint]) -> None:
        """Refuse a state of which nothing is in the MuJoCo model: its keyframe would be the model's own start.

        Raises:
            RobotSemanticsError: it is such a state.
        """
        stated = [(model, joint) for model in self._state.models for joint in model.joints]
        if self._used or self._written_bodies or not stated or not places:
            return
        model, joint = stated[0]
        there = next((f"; it has joint '{place.name}'" for place in places if place.name), "")
        message = f"the MuJoCo model has no joint or body of this state, as joint '{joint.name}' of '{model.name}'"
        raise RobotSemanticsError(message + there)

    def _mocap(self) -> tuple[FloatArray, FloatArray]:
        """Return the positions (nmocap, 3) and quaternions (nmocap, 4) of mocap bodies: frames, or the bases of
        models.
        """
        model, frames = self._model, {frame.name: frame for frame in self._state.frames}
        models = {item.name: item for item in self._state.models}
        mpos, mquat = np.zeros((model.nmocap, 3)), np.zeros((model.nmocap, 4))
        for body, mocap_index in mocap_bodies(model):
            mpos[mocap_index], mquat[mocap_index] = model.body_pos[body], model.body_quat[body]
            name, base = str(model.body(body).name), self._bases.get(body)
            item = frames.pop(name, None) or models.get(name if base is None else base.model)
            if item is None or item.pose is None:
                self._losses.append(f"nothing is stated of the mocap body '{name}': it is where the model has it")
                continue
            if base is not None and base.plane is not None:
                mpos[mocap_index], mquat[mocap_index] = _place(
                    self._move_on_plane(base, _matrix(mpos[mocap_index], mquat[mocap_index]))
                )
                continue
            T = self._resolved.pose(item.name)
            mpos[mocap_index], mquat[mocap_index] = _place(T)
            if item.parent == WORLD:
                mquat[mocap_index] = np.roll(pose_quaternions([item.pose])[0], 1)
            if item.twist is not None and any(item.twist):
                self._losses.append(f"the twist of '{item.name}', which is a mocap body and has none")
            self._written_bodies.add(item.name)
        self._losses.extend(f"frame '{name}'" for name in frames)
        return mpos, mquat

    def _frame_of(self, base: MocapBase) -> str | None:
        """Return the parent frame of a planar base's virtual joint; None for an unknown robot."""
        robot = self._robots.get(base.model)
        if robot is None or not robot.has_virtual_joint:
            return None
        return self._resolved.frame_or_world(robot.root_joint.parent_link or WORLD)

    def _move_on_plane(self, base: MocapBase, T_world_mocap: FloatArray) -> FloatArray:
        """Put the pose and twist of a model into the joints of its planar base.

        Args:
            base: the base.
            T_world_mocap: (4, 4) pose of the mocap body in the MuJoCo model.

        Returns:
            (4, 4) pose of the mocap body: the frame of the robot's virtual joint. If the robot is unknown: the pose in
            the MuJoCo model, or the model's own pose if it is not in this plane.
        """
        name, frame = base.model, self._frame_of(base)
        self._written_bodies.add(name)
        T_world_model = self._resolved.pose(name)
        T = T_world_mocap if frame is None else self._resolved.pose(frame)
        if frame is None and not base.holds(np.linalg.inv(T) @ T_world_model, TOLERANCE):
            T = T_world_model
        twist_in_frame = self._resolved.relative_twists((name,), frame or WORLD)[0]
        if frame is None:
            twist_in_frame = np.concatenate((twist_in_frame[:3] @ T[:3, :3], twist_in_frame[3:] @ T[:3, :3]))
        motion = base.on_plane(np.linalg.inv(T) @ T_world_model, twist_in_frame)
        self._qpos[base.qpos] = motion.positions
        if max(motion.lost_m, motion.lost_rad) > TOLERANCE:
            deviation = f"{motion.lost_m:.3g} m and {motion.lost_rad:.3g} rad"
            self._losses.append(f"model '{name}': its pose lies {deviation} outside the plane of its base")
        if motion.velocities is None:
            self._losses.append(f"the twist of model '{name}' is not stated: it is taken to be at rest")
            return T
        self._qvel[base.qvel] = motion.velocities
        assert base.plane is not None
        deviation = np.abs(twist_of(base.plane, motion.velocities) - twist_in_frame).max()
        if deviation > TOLERANCE:
            self._losses.append(
                f"model '{name}': {deviation:.3g} m/s or rad/s of its twist lie outside the plane of its base"
            )
        return T

    def _is_virtual(self, model: ModelState, joint: JointState) -> bool:
        robot = self._robots.get(model.name)
        return robot is not None and joint.name == robot.root_joint.name

    def _free(self, place: MujocoJoint, model: ModelState | None) -> None:
        if model is None:
            what = f"free joint '{place.name}'" if place.name else f"the free joint of body '{place.body}'"
            self._losses.append(f"the bodies on {what} are not stated: they are as at the start")
            return
        self._written_bodies.add(model.name)
        T = self._resolved.pose(model.name)
        quat = pose_quaternions([model.pose])[0] if model.pose and model.parent == WORLD else None
        if quat is None:
            quat = quat_from_matrix(T[:3, :3])
        self._qpos[place.qpos] = (*T[:3, 3], quat[3], *quat[:3])
        twist = self._resolved.twists[self._resolved.at(model.name)]
        if np.isnan(twist).any():
            self._losses.append(f"the twist of model '{model.name}' is not stated: it is taken to be at rest")
        else:
            # MuJoCo has the linear velocity in the world's axes, the angular one in the body's.
            self._qvel[place.qvel] = (*twist[:3], *(twist[3:] @ T[:3, :3]))

    def _carried(self, places: list[MujocoJoint]) -> dict[int, ModelState]:
        """Return the models on free joints, by index in qpos; the best rank decides, and equal ranks give none."""
        claims = [
            (rank, place.qpos.start, model)
            for place in places
            for model in self._state.models
            if (rank := self._claim(place, model)) is not None
        ]
        carried: dict[int, ModelState] = {}
        for rank, at, model in sorted(claims, key=lambda claim: claim[0]):
            rivals = [other for same, *other in claims if same == rank and (other[0] == at) != (other[1] is model)]
            if at in carried or model in carried.values():
                continue
            if not rivals:
                carried[at] = model
            elif (
                words := f"model '{model.name}': one of several free joints may carry it, and none does"
            ) not in self._losses:
                self._losses.append(words)
        return carried

    def _claim(self, place: MujocoJoint, model: ModelState) -> int | None:
        """Return the rank of a free joint as the carrier of a model, 0 the best; None if it is not a carrier."""
        robot = self._robots.get(model.name)
        roots = [link.name for link in model.links if _is_root(link)] if robot is None else [robot.root_link]
        holds = (
            place.body == model.name,
            place.body.removeprefix(f"{model.name}/") in roots,
            place.body.split("/")[0] == model.name,
            place.name.split("/")[0] == model.name,
        )
        return holds.index(True) if any(holds) else None

    def _joint(self, place: MujocoJoint) -> None:
        found = self._stated(place.name)
        if found is None:
            self._losses.append(f"nothing is stated of MuJoCo's joint '{place.name}': it is as at the start")
            return
        model, joint, part = found
        self._used.add((model.name, joint.name))
        if self._is_virtual(model, joint):
            self._written_bodies.add(model.name)
        positions, velocities = joint.positions, joint.velocities
        if positions is not None and part.startswith(("rot", "trans")) and len(positions) == 6:
            positions = (*positions[:3], *quat_from_rpy(np.array(positions[3:])).tolist())
        row = _part(positions, VARIABLES.get(part), POSITIONS[place.type])
        if row is None:
            self._losses.append(f"the position of MuJoCo's joint '{place.name}' is not stated: it is as at the start")
        else:
            self._qpos[place.qpos] = (row[3], *row[:3]) if place.type == BALL else row
        rates = _part(velocities, RATES.get(part), VELOCITIES[place.type])
        if rates is None:
            self._losses.append(
                f"the velocity of MuJoCo's joint '{place.name}' is not stated: it is taken to be at rest"
            )
        elif place.type == BALL and row is not None:
            # The state has a floating joint's angular velocity in its joint's axes, MuJoCo a ball's in the child's.
            self._qvel[place.qvel] = np.array(rates) @ matrix_from_quat(np.array(row))
        else:
            self._qvel[place.qvel] = rates

    def _stated(self, name: str) -> tuple[ModelState, JointState, str] | None:
        """Return the model, the joint and its part for the name of a MuJoCo joint."""
        matches = []
        for model in self._state.models:
            joints = {joint.name: joint for joint in model.joints}
            for whole in (name, name.removeprefix(f"{model.name}/")):
                stem, _, part = whole.rpartition("/")
                if whole == name and f"{model.name}/{name}" in self._names:
                    continue
                if whole in joints:
                    matches.append((model, joints[whole], ""))
                elif stem in joints and part in VARIABLES:
                    matches.append((model, joints[stem], part))
        unique = {(model.name, joint.name, part): (model, joint, part) for model, joint, part in matches}
        return next(iter(unique.values())) if len(unique) == 1 else None


def _is_root(link: LinkState) -> bool:
    return link.pose is not None and max(map(abs, link.pose.xyz_rpy)) < TOLERANCE


def _place(T: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the position (3,) and quaternion (4,) w x y z of a (4, 4) pose."""
    return T[:3, 3], np.roll(quat_from_matrix(T[:3, :3]), 1)


def _matrix(xyz: FloatArray, quat_wxyz: FloatArray) -> FloatArray:
    """Return the (4, 4) pose of a position and a quaternion w x y z."""
    return matrix_from_pose(np.concatenate((xyz, np.roll(quat_wxyz, -1))))


def _part(row: tuple[float, ...] | None, part: slice | None, count: int) -> tuple[float, ...] | None:
    """Return the part of a joint's row for one MuJoCo joint; None if it is not stated."""
    if row is None:
        return None
    chosen = row if part is None else row[part]
    return chosen if len(chosen) == count else None


# A keyframe of a MuJoCo model as a world state: trees of bodies as models, mocap bodies as frames.


_COUNTS = {"x": (3, 3), "trans_x": (7, 6)}


def from_keyframe(key: Keyframe, model: mujoco.MjModel) -> Converted[WorldState]:
    """Return the world state of a keyframe of a ``mujoco.MjModel``, and the lost data.

    Each tree of bodies with joints is a model. Its name is the first part of its root body's name (``MODEL/…``), or the
    whole name. Its pose in the world is the pose of its root body in the keyframe, or in the MuJoCo model. A body in a
    mocap body ``MODEL//frame`` is a model even without joints. The joints of a planar base are its pose and twist.

    Raises:
        ArrayError: the keyframe has another number of values than the model.
    """
    qpos = checked_array("qpos", key.qpos if np.size(key.qpos) else model.qpos0, model.nq)
    qvel = checked_array("qvel", key.qvel if np.size(key.qvel) else np.zeros(model.nv), model.nv)
    if qpos.ndim != 1 or qvel.ndim != 1:
        raise ArrayError("qpos", "a keyframe has one row of positions and one of velocities")
    if not abs(key.time) < MAX_TIME:
        raise ArrayError("time", f"{key.time:g} s is not a time that a world state can have")
    mpos = _mocap_rows("mpos", key.mpos, model, 3)
    mquat = _mocap_rows("mquat", key.mquat, model, 4)
    bases = {base.body: base for base in mocap_bases(model)}
    trees: dict[int, list[MujocoJoint]] = {body: [] for body in bases}
    for place in places_of(model):
        trees.setdefault(int(model.body_rootid[place.body_id]), []).append(place)
    lost_items: list[str] = []
    models = []
    for root, places in sorted(trees.items()):
        at = _body_pose(model, root, mpos, mquat)
        models.append(_imported(model, root, places, qpos, qvel, at, bases.get(root), lost_items))
    joints = {
        place.name: made.name
        for made, (_, places) in zip(models, sorted(trees.items()), strict=True)
        for place in places
    }
    time_ns = whole_nanoseconds(key.time)
    if float_seconds(time_ns) != key.time:
        lost_items.append(f"the last digits of the time: {seconds_text(time_ns)} s is the nearest whole nanosecond")
    state = WorldState(
        name=key.name or None,
        models=tuple(models),
        frames=tuple(_mocap_frames(model, trees, mpos, mquat, lost_items)),
        time_ns=time_ns,
        engines=engines_of(model, joints, np.ravel(key.ctrl), np.ravel(key.act)),
    )
    return Converted(state, tuple(lost_items))


def _imported(
    model: mujoco.MjModel,
    root: int,
    places: Sequence[MujocoJoint],
    qpos: FloatArray,
    qvel: FloatArray,
    pose: Pose,
    base: MocapBase | None,
    lost_items: list[str],
) -> ModelState:
    """Return the model of a tree of bodies; its root body has the pose `pose`, unless its root joint moves it."""
    root_body = str(model.body(root).name)
    name = root_body.split("/")[0] or f"body_{root}"
    twist = (0.0,) * 6
    if base is not None:
        name = base.model
        if base.plane is not None:
            pose, twist = base.in_world(pose_matrix(pose), qpos, qvel)
            places = [place for place in places if place not in base.joints]
    names = {place.name for place in places}
    joints: dict[str, JointState] = {}
    for place in places:
        row, rates = qpos[place.qpos], qvel[place.qvel]
        if place.type == FREE and place.body == root_body:
            quat = np.roll(row[3:], -1)
            pose = pose_from_quaternion(row[:3].tolist(), quat.tolist())
            R = matrix_from_quat(quat)
            twist = six(np.concatenate((rates[:3], R @ rates[3:])))
            continue
        short = place.name.removeprefix(f"{name}/")
        stem, _, part = short.rpartition("/")
        if not place.name:
            lost_items.append(f"a joint without a name of body '{place.body}'")
            continue
        if place.type == BALL:
            row, rates = np.roll(row, -1), matrix_from_quat(np.roll(row, -1)) @ rates
        if stem and _is_variable(place.name, names):
            joints[stem] = _joined(joints.get(stem), stem, part, row, rates)
        else:
            joints[short] = JointState(short, tuple(row.tolist()), tuple(rates.tolist()))
    return ModelState(name, pose=pose, twist=twist, joints=tuple(joints.values()))


def _is_variable(name: str, names: set[str]) -> bool:
    """Return True if the joint `name` is a variable of a planar or floating joint, and all variables of this joint
    exist.
    """
    stem, _, part = name.rpartition("/")
    return any(part in parts and names >= {f"{stem}/{other}" for other in parts} for parts in PARTS)


def _joined(before: JointState | None, name: str, part: str, row: FloatArray, rates: FloatArray) -> JointState:
    """Return a joint state with one more of its variables."""
    sizes = _COUNTS["x"] if part in ("x", "y", "theta") else _COUNTS["trans_x"]
    positions = list(before.positions or ()) if before else [0.0] * sizes[0]
    velocities = list(before.velocities or ()) if before else [0.0] * sizes[1]
    positions[VARIABLES[part]] = row.tolist()
    velocities[RATES[part]] = rates.tolist()
    return JointState(name, tuple(positions), tuple(velocities))


def _mocap_rows(word: str, numbers: FloatArray, model: mujoco.MjModel, width: int) -> FloatArray:
    """Return (nmocap, width) rows of a keyframe; NaN if it has none.

    Raises:
        ArrayError: there are other numbers of them than the model has.
    """
    if not np.size(numbers):
        return np.full((model.nmocap, width), np.nan)
    if np.size(numbers) != model.nmocap * width:
        raise ArrayError(word, f"{np.size(numbers)} numbers; the model has {model.nmocap} mocap bodies")
    return np.reshape(numbers, (model.nmocap, width))


def _mocap_frames(
    model: mujoco.MjModel, trees: Collection[int], mpos: FloatArray, mquat: FloatArray, lost_items: list[str]
) -> Iterator[Frame]:
    """Yield each mocap body without joints as a frame of the world; the others are part of their models."""
    for body, _ in mocap_bodies(model):
        name = str(model.body(body).name)
        if name and body not in trees:
            yield Frame(name, WORLD, _body_pose(model, body, mpos, mquat))
        elif not name:
            lost_items.append(f"the place of body {body}, a mocap body without a name")


def _body_pose(model: mujoco.MjModel, body: int, mpos: FloatArray, mquat: FloatArray) -> Pose:
    """Return the pose of a body of the world: in the keyframe, else in the model."""
    xyz, quat, at = model.body_pos[body], model.body_quat[body], int(model.body_mocapid[body])
    if at >= 0:
        xyz = xyz if np.isnan(mpos[at]).any() else mpos[at]
        quat = quat if np.isnan(mquat[at]).any() else mquat[at]
    return pose_from_quaternion(xyz.tolist(), np.roll(quat, -1).tolist())
