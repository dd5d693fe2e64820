# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The joint space of a robot: position variables by name and index, limits, mimic joints, velocities.

Positions ``q`` are (..., size), one number per position variable of every moving joint in model order, mimic joints and
a planar or floating virtual root joint included: an angle [rad], a distance [m], ``x y theta`` of a planar joint,
``x y z`` and a quaternion ``x y z w`` of a floating one. Velocities ``v`` are (..., velocity_size), one number a degree
of freedom: the rate of the position; for a floating joint the linear velocity of the child's origin [m/s] and the
angular velocity vector [rad/s], both in the axes in which its position is given: those of the joint's origin, which are
the parent's own for every virtual joint.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import ArrayError, UnknownNameError
from robot_semantics.kinematics.mimics import MimicMap
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.transforms.arrays import FloatArray, checked

_NEUTRAL: dict[JointType, tuple[float, ...]] = {
    JointType.PLANAR: (0.0, 0.0, 0.0),
    JointType.FLOATING: (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
}

_UNBOUNDED_SPAN: dict[JointType, tuple[float, ...]] = {
    JointType.REVOLUTE: (np.pi,),
    JointType.CONTINUOUS: (np.pi,),
    JointType.PRISMATIC: (1.0,),
    JointType.PLANAR: (1.0, 1.0, np.pi),
    JointType.FLOATING: (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
}


class JointSpace:
    """Names, order, limits and mimic relations of a robot's position and velocity variables; make it with `of`.

    Where a leniently loaded robot has two joints of one name, the name means the later one.

    Attributes:
        model: the robot.
        joints: the moving joints, in model order.
        names: names of the position variables: ``elbow``, ``base/x``, ``base/rot_w``.
        velocity_names: names of the velocity variables; a floating joint's are ``base/vx`` to ``base/wz``.
        size: number of position variables.
        velocity_size: number of velocity variables, degrees of freedom of mimic joints included.
        index: place of each position variable by name.
        joint_positions: where each moving joint's variables are in q.
        joint_velocities: where each moving joint's velocities are in v.
        lower: (size,) lower bounds (limits cut with soft limits), -inf where there is none; read-only.
        upper: (size,) upper bounds, inf where there is none; read-only.
        mimics: which variable gives each one its value.
    """

    def __init__(self, model: RobotModel, *, follow_mimics: bool = True) -> None:
        """Prepare; without `follow_mimics` a mimic joint is a joint of its own, as where every joint is measured."""
        self.model = model
        self.joints: tuple[JointModel, ...] = tuple(joint for joint in model.joints if joint.position_count)
        self.names: tuple[str, ...] = tuple(name for joint in self.joints for name in joint.variable_names)
        self.velocity_names: tuple[str, ...] = tuple(name for joint in self.joints for name in _velocity_names(joint))
        self.size = len(self.names)
        self.velocity_size = len(self.velocity_names)
        self.index: Mapping[str, int] = MappingProxyType({name: at for at, name in enumerate(self.names)})
        self._positions = _slices({joint.index: joint.position_count for joint in self.joints})
        self._velocities = _slices({joint.index: joint.velocity_count for joint in self.joints})
        self.joint_positions = MappingProxyType({joint.name: self._positions[joint.index] for joint in self.joints})
        self.joint_velocities = MappingProxyType({joint.name: self._velocities[joint.index] for joint in self.joints})
        self.lower, self.upper = self._bounds()
        self.mimics = MimicMap.of(model, self._positions, self._velocities, follow=follow_mimics)

    @classmethod
    def of(cls, model: RobotModel) -> JointSpace:
        """Return the joint space of `model`."""
        return cls(model)

    @cached_property
    def quaternions(self) -> tuple[slice, ...]:
        """Where in q the quaternions of the floating joints are."""
        floating = (self.positions_of(joint) for joint in self.joints if joint.type is JointType.FLOATING)
        return tuple(slice(where.stop - 4, where.stop) for where in floating)

    def positions_of(self, joint: JointModel) -> slice:
        """Return where a moving joint's variables are in q."""
        return self._positions[joint.index]

    def velocities_of(self, joint: JointModel) -> slice:
        """Return where a moving joint's velocities are in v."""
        return self._velocities[joint.index]

    def checked(self, q: npt.ArrayLike) -> FloatArray:
        """Return `q` as float64 (..., size), after a look at shape and values.

        Raises:
            ArrayError: wrong shape, not finite, or a floating joint's quaternion is all zeros.
        """
        positions = checked("q", q, self.size)
        for where in self.quaternions:
            if not positions[..., where].any(axis=-1).all():
                raise ArrayError("q", f"the quaternion of '{self.names[where.start].partition('/')[0]}' is all zeros")
        return positions

    def checked_velocities(self, v: npt.ArrayLike) -> FloatArray:
        """Return `v` as float64 (..., velocity_size).

        Raises:
            ArrayError: wrong shape or not finite.
        """
        return checked("v", v, self.velocity_size)

    def neutral(self) -> FloatArray:
        """Return (size,) default positions: 0 or, where the bounds exclude it, the middle between them.

        Quaternions are the identity. MoveIt calls it the default positions. Mimic joints follow their leaders.
        """
        q = np.zeros(self.size)
        for joint in self.joints:
            where = self.positions_of(joint)
            q[where] = _NEUTRAL.get(joint.type, (joint.limits.default,))
        return self.with_mimics(q)

    def with_mimics(self, q: npt.ArrayLike) -> FloatArray:
        """Return a copy of `q` (..., size) in which every mimic joint has the position its leader gives it."""
        return self.mimics.followed(checked("q", q, self.size))

    def with_mimic_velocities(self, v: npt.ArrayLike) -> FloatArray:
        """Return a copy of `v` (..., velocity_size) in which every mimic joint moves as its leader makes it."""
        return self.mimics.followed_velocities(self.checked_velocities(v))

    def pack(self, values: Mapping[str, npt.ArrayLike], base: npt.ArrayLike | None = None) -> FloatArray:
        """Return q (..., size) with the given values over `base`, mimic joints following their leaders.

        Args:
            values: by variable name, each a number or (...); or by joint name, each (..., n) for a joint with n > 1
                variables. What is given for a mimic joint is replaced by what its leader gives.
            base: (..., size) the rest; by default `neutral`.

        Raises:
            UnknownNameError: a name is neither a position variable nor a moving joint.
            ArrayError: a value has the wrong shape or is not finite.
        """
        parts: list[tuple[int | slice, FloatArray]] = []
        shapes = []
        start = self.neutral() if base is None else checked("base", base, self.size)
        for name, value in values.items():
            where: int | slice | None = self.index.get(name)
            if where is not None:
                part = checked(name, value)
                shapes.append(part.shape)
            else:
                where = self.joint_positions.get(name)
                if where is None:
                    raise UnknownNameError("joint variable", name, (*self.names, *self.joint_positions))
                part = checked(name, value, where.stop - where.start)
                shapes.append(part.shape[:-1])
            parts.append((where, part))
        try:
            shape = np.broadcast_shapes(start.shape[:-1], *shapes)
        except ValueError as error:
            raise ArrayError("values", f"the values' batch axes do not fit together ({error})") from None
        q = np.empty((*shape, self.size))
        q[...] = start
        for where, part in parts:
            q[..., where] = part
        return self.mimics.followed(q)

    def unpack(self, q: npt.ArrayLike) -> dict[str, float] | dict[str, FloatArray]:
        """Return `q` (..., size) by variable name: numbers, or (...) arrays where `q` has leading axes."""
        positions = checked("q", q, self.size)
        if positions.ndim == 1:
            return dict(zip(self.names, positions.tolist(), strict=True))
        return {name: positions[..., at] for at, name in enumerate(self.names)}

    def by_joint(self, q: npt.ArrayLike) -> dict[str, FloatArray]:
        """Return `q` (..., size) by joint name: (..., n) arrays, n = 1, 3 (planar) or 7 (floating)."""
        positions = checked("q", q, self.size)
        return {name: positions[..., where] for name, where in self.joint_positions.items()}

    def random(self, rng: np.random.Generator, shape: tuple[int, ...] = ()) -> FloatArray:
        """Return ``(*shape, size)`` random positions: uniform inside the bounds, mimic joints following their leaders.

        Unlimited angles are uniform over a turn, unlimited distances within ±1 m, rotations uniform. A mimic joint
        may leave its own limits where the description lets its leader take it there.
        """
        span = np.array([reach for joint in self.joints for reach in _UNBOUNDED_SPAN[joint.type]])
        low = np.where(np.isinf(self.lower), np.where(np.isinf(self.upper), -span, self.upper - 2 * span), self.lower)
        high = np.where(np.isinf(self.upper), low + 2 * span, self.upper)
        q = rng.uniform(size=(*shape, self.size)) * (high - low) + low
        for where in self.quaternions:
            quat = rng.normal(size=(*shape, 4))
            q[..., where] = quat / np.sqrt((quat * quat).sum(axis=-1, keepdims=True))
        return self.mimics.followed(q)

    def _bounds(self) -> FloatArray:
        bounds = np.tile([[-np.inf], [np.inf]], self.size)
        for joint in self.joints:
            if joint.position_count == 1:
                bounds[:, self.positions_of(joint).start] = joint.limits.bounds
        bounds.setflags(write=False)
        return bounds


def _slices(counts: Mapping[int, int]) -> Mapping[int, slice]:
    found, start = {}, 0
    for joint, count in counts.items():
        found[joint] = slice(start, start + count)
        start += count
    return found


def _velocity_names(joint: JointModel) -> tuple[str, ...]:
    if joint.type is JointType.FLOATING:
        return tuple(f"{joint.name}/{suffix}" for suffix in ("vx", "vy", "vz", "wx", "wy", "wz"))
    return joint.variable_names
