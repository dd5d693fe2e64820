"""World states as keyframes of a MuJoCo model: qpos and qvel by joint name, free joints by the models they carry.

A MuJoCo joint ``NAME``, or ``MODEL/NAME``, is the joint NAME of a model; ``NAME/x`` and the like are the variables of a
planar or floating one. A free joint carries the model that is named like its body, like the first part of its body's or
its own name (``MODEL/…``), or whose root link its body is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from lxml import etree

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import ArrayError, UnknownNameError
from robot_semantics.convert.conversion import Converted, beyond_motion
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import matrix_from_quat, quat_from_matrix, quat_from_rpy
from robot_semantics.transforms.arrays import checked
from robot_semantics.usdf.frames import ResolvedWorld, resolve
from robot_semantics.usdf.numbers import BadNumber, parse_row, shortest
from robot_semantics.usdf.poses import FloatArray, pose_from_quaternion, pose_quaternions, six
from robot_semantics.usdf.world_state import WORLD, JointState, ModelState, WorldState
from robot_semantics.xml.reader import parse_xml

MAX_TIME = 1e10
"""What the time of a world state is less than [s]: it is written with ten digits of seconds."""

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
_OTHER_WORDS = ("act", "ctrl", "mpos", "mquat")
_RATES = {**_VARIABLES, "rot": slice(3, 6)}
_COUNTS = {"x": (3, 3), "trans_x": (7, 6)}


@dataclass(frozen=True, eq=False)
class Keyframe:
    """One keyframe.

    Attributes:
        qpos: (nq,) MuJoCo positions; quaternions are w x y z. None at all mean the model's reference configuration.
        qvel: (nv,) MuJoCo velocities. None at all mean rest.
        time: [s].
        name: its name; may be empty.
        others: what else its text states, by MuJoCo's word: ``act``, ``ctrl``, ``mpos``, ``mquat``.
    """

    qpos: FloatArray
    qvel: FloatArray
    time: float = 0.0
    name: str = ""
    others: tuple[str, ...] = ()

    def as_mjcf(self) -> str:
        """Return the keyframe as an MJCF document of its own, to be included in a model."""
        root = etree.Element("mujoco")
        key = etree.SubElement(etree.SubElement(root, "keyframe"), "key")
        if self.name:
            key.set("name", self.name)
        key.set("time", shortest(self.time))
        key.set("qpos", " ".join(map(shortest, self.qpos.tolist())))
        key.set("qvel", " ".join(map(shortest, self.qvel.tolist())))
        etree.indent(root)
        return etree.tostring(root, encoding="unicode") + "\n"


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
        self._state = state
        self._model = model
        self._robots = robots
        self._resolved: ResolvedWorld = resolve(state)
        self._lost = beyond_motion(state)
        self._placed: set[str] = set()
        self._used: set[tuple[str, str]] = set()
        self._qpos = np.array(model.qpos0, dtype=np.float64)
        self._qvel = np.zeros(model.nv)

    def converted(self, name: str) -> Converted[Keyframe]:
        """Return the keyframe."""
        for place in _places(self._model):
            if place.type == FREE:
                self._free(place)
            else:
                self._joint(place)
        for model in self._state.models:
            if model.name not in self._placed:
                self._lost.append(f"model '{model.name}': its pose and twist, as no free joint carries it")
            for joint in model.joints:
                if (model.name, joint.name) not in self._used:
                    self._lost.append(f"joint '{joint.name}' of '{model.name}', which the MuJoCo model does not have")
                elif joint.torques is not None:
                    self._lost.append(f"joint '{joint.name}' of '{model.name}': its torques")
            for words, what in _LINK_PARTS.items():
                if any(getattr(link, word) is not None for link in model.links for word in words):
                    self._lost.append(f"model '{model.name}': {what}")
        self._lost.extend(f"frame '{frame.name}'" for frame in self._state.frames)
        time_ns = self._state.time_ns or 0
        time = time_ns / 1_000_000_000
        if round(time * 1_000_000_000) != time_ns:
            self._lost.append(f"the last digits of the time: {shortest(time)} s is the nearest number that MuJoCo has")
        return Converted(Keyframe(self._qpos, self._qvel, time, name), tuple(self._lost))

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
    trees: dict[int, list[_Place]] = {}
    for index, place in enumerate(_places(model)):
        trees.setdefault(int(model.body_rootid[model.jnt_bodyid[index]]), []).append(place)
    lost: list[str] = []
    models = [_imported(model, root, places, qpos, qvel, lost) for root, places in trees.items()]
    lost.extend(f"the keyframe's {word}" for word in key.others)
    lost.extend(_other_state(model))
    return Converted(
        WorldState(name=key.name or None, models=tuple(models), time_ns=round(key.time * 1e9)), tuple(lost)
    )


def _imported(
    model: Any, root: int, places: Sequence[_Place], qpos: FloatArray, qvel: FloatArray, lost: list[str]
) -> ModelState:
    root_body = str(model.body(root).name)
    name = root_body.split("/")[0] or f"body_{root}"
    xyz, quat = model.body_pos[root].tolist(), np.roll(model.body_quat[root], -1).tolist()
    twist = (0.0,) * 6
    joints: dict[str, JointState] = {}
    for place in places:
        row, rates = qpos[place.qpos], qvel[place.qvel]
        if place.type == FREE and place.body == root_body:
            xyz, quat = row[:3].tolist(), np.roll(row[3:], -1).tolist()
            R = matrix_from_quat(np.array(quat))
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
    return ModelState(name, pose=pose_from_quaternion(xyz, quat), twist=twist, joints=tuple(joints.values()))


def _joined(before: JointState | None, name: str, part: str, row: FloatArray, rates: FloatArray) -> JointState:
    """Return a joint state with one more of its variables."""
    sizes = _COUNTS["x"] if part in ("x", "y", "theta") else _COUNTS["trans_x"]
    positions = list(before.positions or ()) if before else [0.0] * sizes[0]
    velocities = list(before.velocities or ()) if before else [0.0] * sizes[1]
    positions[_VARIABLES[part]] = row.tolist()
    velocities[_RATES[part]] = rates.tolist()
    return JointState(name, tuple(positions), tuple(velocities))


def _other_state(model: Any) -> Iterator[str]:
    if model.na:
        yield f"{model.na} actuator activations"
    if model.nmocap:
        yield f"the places of {model.nmocap} mocap bodies"


def parse_keyframe(text: str | bytes, name: str | None = None, source: str = "<keyframe>") -> Keyframe:
    """Return a keyframe of an MJCF text: the one called `name`, or the first.

    Raises:
        DescriptionError: the text is not well-formed, has no keyframe, or one whose values are no numbers.
        UnknownNameError: there is no keyframe of that name.
    """
    document = parse_xml(text, source)
    found = Diagnostics()
    keys = [key for frames in document.root.iter("keyframe") for key in frames.iter("key")]
    if not keys:
        found.error("no-keyframe", "there is no <key> element", document.place(document.root))
    found.raise_if_failed()
    named = {key.get("name", ""): key for key in reversed(keys)}
    if name is not None and name not in named:
        raise UnknownNameError("keyframe", name, named)
    key = keys[0] if name is None else named[name]
    rows: dict[str, tuple[float, ...]] = {}
    for word in ("qpos", "qvel", "time"):
        row = parse_row(key.get(word, "0" if word == "time" else ""))
        if isinstance(row, BadNumber):
            message = f"number {row.position} of {word}, '{row.word[:40]}', {row.reason}"
            found.error("bad-number", message, document.place(key, word))
        else:
            rows[word] = row
    time = rows.get("time", (0.0,))
    if len(time) != 1:
        found.error("wrong-count", "time must be one number", document.place(key, "time"))
    elif not abs(time[0]) < MAX_TIME:
        message = f"time is {time[0]:g} s; a world state has ten digits of seconds"
        found.error("bad-value", message, document.place(key, "time"))
    found.raise_if_failed()
    others = tuple(word for word in _OTHER_WORDS if key.get(word, "").strip())
    return Keyframe(np.array(rows["qpos"]), np.array(rows["qvel"]), rows["time"][0], key.get("name", ""), others)


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
