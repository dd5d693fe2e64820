# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A keyframe of a MuJoCo model as a world state: trees of bodies as models, mocap bodies as frames."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from robot_semantics.base.errors import ArrayError
from robot_semantics.base.nanoseconds import float_seconds, seconds_text, whole_nanoseconds
from robot_semantics.convert.conversion import Converted
from robot_semantics.convert.mujoco_actuators import engines_of
from robot_semantics.convert.mujoco_bases import MocapBase, mocap_bases
from robot_semantics.convert.mujoco_key_text import MAX_TIME, Keyframe
from robot_semantics.convert.mujoco_places import (
    BALL,
    FREE,
    PARTS,
    RATES,
    VARIABLES,
    MujocoJoint,
    mocap_bodies,
    places_of,
)
from robot_semantics.transforms import matrix_from_quat
from robot_semantics.transforms.arrays import FloatArray, checked_array
from robot_semantics.transforms.pose import Pose, pose_from_quaternion, pose_matrix, six
from robot_semantics.usdf.world_state import WORLD, Frame, JointState, ModelState, WorldState

if TYPE_CHECKING:
    import mujoco

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
    lost: list[str] = []
    models = []
    for root, places in sorted(trees.items()):
        at = _body_pose(model, root, mpos, mquat)
        models.append(_imported(model, root, places, qpos, qvel, at, bases.get(root), lost))
    joints = {
        place.name: made.name
        for made, (_, places) in zip(models, sorted(trees.items()), strict=True)
        for place in places
    }
    time_ns = whole_nanoseconds(key.time)
    if float_seconds(time_ns) != key.time:
        lost.append(f"the last digits of the time: {seconds_text(time_ns)} s is the nearest whole nanosecond")
    state = WorldState(
        name=key.name or None,
        models=tuple(models),
        frames=tuple(_mocap_frames(model, trees, mpos, mquat, lost)),
        time_ns=time_ns,
        engines=engines_of(model, joints, np.ravel(key.ctrl), np.ravel(key.act)),
    )
    return Converted(state, tuple(lost))


def _imported(
    model: mujoco.MjModel,
    root: int,
    places: Sequence[MujocoJoint],
    qpos: FloatArray,
    qvel: FloatArray,
    at: Pose,
    base: MocapBase | None,
    lost: list[str],
) -> ModelState:
    """Return the model of a tree of bodies; its root body has the pose `at`, unless its root joint moves it."""
    root_body = str(model.body(root).name)
    name = root_body.split("/")[0] or f"body_{root}"
    twist = (0.0,) * 6
    if base is not None:
        name = base.model
        if base.plane is not None:
            at, twist = base.in_world(pose_matrix(at), qpos, qvel)
            places = [place for place in places if place not in base.joints]
    names = {place.name for place in places}
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
        if stem and _is_variable(place.name, names):
            joints[stem] = _joined(joints.get(stem), stem, part, row, rates)
        else:
            joints[short] = JointState(short, tuple(row.tolist()), tuple(rates.tolist()))
    return ModelState(name, pose=at, twist=twist, joints=tuple(joints.values()))


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


def _mocap_rows(word: str, given: FloatArray, model: mujoco.MjModel, width: int) -> FloatArray:
    """Return (nmocap, width) rows of a keyframe; NaN if it has none.

    Raises:
        ArrayError: there are other numbers of them than the model has.
    """
    if not np.size(given):
        return np.full((model.nmocap, width), np.nan)
    if np.size(given) != model.nmocap * width:
        raise ArrayError(word, f"{np.size(given)} numbers; the model has {model.nmocap} mocap bodies")
    return np.reshape(given, (model.nmocap, width))


def _mocap_frames(
    model: mujoco.MjModel, trees: Collection[int], mpos: FloatArray, mquat: FloatArray, lost: list[str]
) -> Iterator[Frame]:
    """Yield each mocap body without joints as a frame of the world; the others are part of their models."""
    for body, _ in mocap_bodies(model):
        name = str(model.body(body).name)
        if name and body not in trees:
            yield Frame(name, WORLD, _body_pose(model, body, mpos, mquat))
        elif not name:
            lost.append(f"the place of body {body}, a mocap body without a name")


def _body_pose(model: mujoco.MjModel, body: int, mpos: FloatArray, mquat: FloatArray) -> Pose:
    """Return the pose of a body of the world: in the keyframe, else in the model."""
    xyz, quat, at = model.body_pos[body], model.body_quat[body], int(model.body_mocapid[body])
    if at >= 0:
        xyz = xyz if np.isnan(mpos[at]).any() else mpos[at]
        quat = quat if np.isnan(mquat[at]).any() else mquat[at]
    return pose_from_quaternion(xyz.tolist(), np.roll(quat, -1).tolist())
