# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The joint space of a robot: position variables by name and index, limits, mimic joints, velocities, named states.

Positions ``q`` are (..., size): one number for each position variable of every moving joint in model order, including
mimic joints and a planar or floating virtual root joint. A number is an angle [rad], a distance [m], ``x y theta`` of a
planar joint, or ``x y z`` and a quaternion ``x y z w`` of a floating joint.

Velocities ``v`` are (..., velocity_size): one number for each degree of freedom, the rate of the position. A floating
joint has the linear velocity of the child's origin [m/s] and the angular velocity vector [rad/s], both in the axes of
its position. These are the axes of the joint's origin; for a virtual joint they are the parent's own axes.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import ArrayError, UnknownNameError
from robot_semantics.base.record import record
from robot_semantics.model.robot_model import MIMIC_TOLERANCE, JointModel, MimicSource, RobotModel
from robot_semantics.transforms.arrays import FloatArray, checked_array

IndexArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]


@record(frozen=True, eq=False)
class Affine:
    """Variables that follow from those of a configuration: ``factor * q[..., source] + offset``.

    Attributes:
        source: indices in q, of any shape.
        factor: of the same shape.
        offset: of the same shape [rad or m].
    """

    source: IndexArray
    factor: FloatArray
    offset: FloatArray

    @classmethod
    def identity(cls, size: int) -> Affine:
        """Return the variables of a configuration as they are."""
        return cls(np.arange(size), np.ones(size), np.zeros(size))

    @cached_property
    def is_plain(self) -> bool:
        """True if every variable is one of q itself."""
        return bool((self.factor == 1.0).all() and (self.offset == 0.0).all())

    def __call__(self, q: FloatArray) -> FloatArray:
        """Return the variables (..., *shape) from `q` (..., size)."""
        values: FloatArray = q.take(self.source, axis=-1)
        return values if self.is_plain else self.factor * values + self.offset

    def rows(self, q: FloatArray) -> FloatArray:
        """Return the variables (k, m) of m configurations that are columns, (size, m)."""
        values: FloatArray = q[self.source]
        if not self.is_plain:
            values *= self.factor[:, np.newaxis]
            values += self.offset[:, np.newaxis]
        return values

    def __getitem__(self, chosen: slice | IndexArray | BoolArray) -> Affine:
        """Return some of the variables, in the shape that numpy gives them."""
        return Affine(self.source[chosen], self.factor[chosen], self.offset[chosen])


@record(frozen=True, eq=False)
class MimicMap(Affine):
    """Every position, or every velocity, as it follows from the variables that move independently.

    A variable without a leader is its own source; its factor is 1 and its offset 0, as for the quaternion of a floating
    joint. The offsets of velocities are 0. Chains are resolved to joints that move independently.

    Attributes:
        followers: (m,) indices of the variables with a leader.
    """

    followers: IndexArray

    @classmethod
    def of_positions(cls, model: RobotModel, places: Mapping[int, slice], *, follow: bool = True) -> MimicMap:
        """Return the map of positions; `places`: slices by joint index; without `follow`, all are independent."""
        return cls._of(model, places, offsets=True, follow=follow)

    @classmethod
    def of_velocities(cls, model: RobotModel, places: Mapping[int, slice], *, follow: bool = True) -> MimicMap:
        """Return the map of velocities, as `of_positions`."""
        return cls._of(model, places, offsets=False, follow=follow)

    @classmethod
    def _of(cls, model: RobotModel, places: Mapping[int, slice], *, offsets: bool, follow: bool) -> MimicMap:
        size = sum(where.stop - where.start for where in places.values())
        source, factor, offset = np.arange(size), np.ones(size), np.zeros(size)
        for joint, leader, mimic in followings(model) if follow else ():
            to, come = places[joint.index], places[leader.index]
            source[to] = np.arange(come.start, come.stop)
            # The other numbers, a floating joint's rotation, are copied.
            scaled = slice(to.start, to.start + joint.motion.mimicked)
            factor[scaled], offset[scaled] = mimic.multiplier, mimic.offset * offsets
        arrays = (source, factor, offset, np.flatnonzero(source != np.arange(size)))
        for array in arrays:
            array.setflags(write=False)
        return cls(*arrays)

    def followed(self, x: FloatArray) -> FloatArray:
        """Return a copy of `x` (..., size) in which the followers have the values that follow from their leaders."""
        result = np.array(x)
        self._follow(result, self.followers)
        return result

    def completed(self, x: FloatArray, is_known: BoolArray) -> tuple[FloatArray, BoolArray]:
        """Return copies of `x` (..., size) and `is_known` (size,) with all values that follow from the known variables.

        An unknown leader follows from its first known follower; then unknown followers follow from their leaders. Known
        variables keep their values.
        """
        result, result_known = np.array(x), np.array(is_known)
        followers = self.leading(is_known)[::-1]  # the first follower of a leader is written last
        leaders = self.source[followers]
        result[..., leaders] = (result[..., followers] - self.offset[followers]) / self.factor[followers]
        result_known[leaders] = True
        followers = self.followers[~result_known[self.followers] & result_known[self.source[self.followers]]]
        self._follow(result, followers)
        result_known[followers] = True
        return result, result_known

    def leading(self, is_known: BoolArray) -> IndexArray:
        """Return the known followers that determine their unknown leaders."""
        at = self.followers
        leading: IndexArray = at[is_known[at] & ~is_known[self.source[at]] & (self.factor[at] != 0.0)]
        return leading

    def _follow(self, x: FloatArray, at: IndexArray) -> None:
        if len(at):
            x[..., at] = self[at](x)


def followings(model: RobotModel) -> Iterator[tuple[JointModel, JointModel, MimicSource]]:
    """Yield each joint with a valid leader, its leader, and the relation.

    A joint whose leader has another number of variables is an ordinary joint, as in MoveIt.
    """
    for joint in model.joints:
        if joint.mimic is not None and joint.position_count and joint.mimic.joint in model.joint_index:
            leader = model.joints[model.joint_index[joint.mimic.joint]]
            if leader.position_count == joint.position_count and leader is not joint:
                yield joint, leader, joint.mimic


_MAPPING_GIVEN = "a mapping of names is no array of positions: use robot.q(...) or space.pack(...)"


class JointSpace:
    """Names, order, limits and mimic relations of a robot's position and velocity variables; create it with `of`.

    If a leniently loaded robot has two joints of one name, the name means the later one.

    Attributes:
        model: the robot.
        joints: the moving joints, in model order.
        names: names of the position variables: ``elbow``, ``base/x``, ``base/rot_w``.
        velocity_names: names of the velocity variables; for a floating joint ``base/vx`` to ``base/wz``.
        size: number of position variables.
        velocity_size: number of velocity variables, including degrees of freedom of mimic joints.
        index: index of each position variable by name.
        joint_positions: slice of each moving joint's variables in q.
        joint_velocities: slice of each moving joint's velocities in v.
        lower: (size,) lower bounds (intersection of limits and soft limits), -inf if unlimited; read-only.
        upper: (size,) upper bounds, inf if unlimited; read-only.
        mimics: source variable of each position.
        velocity_mimics: source variable of each velocity.
    """

    def __init__(self, model: RobotModel, *, follow_mimics: bool = True) -> None:
        """Prepare; without `follow_mimics`, mimic joints are independent joints, as for measured positions."""
        self.model = model
        self.joints: tuple[JointModel, ...] = tuple(joint for joint in model.joints if joint.position_count)
        self.names: tuple[str, ...] = tuple(name for joint in self.joints for name in joint.variable_names)
        self.size = len(self.names)
        self.index: Mapping[str, int] = MappingProxyType({name: at for at, name in enumerate(self.names)})
        positions = {joint.index: joint.position_count for joint in self.joints}
        velocities = {joint.index: joint.velocity_count for joint in self.joints}
        self._positions = _slices(positions)
        self._velocities = self._positions if velocities == positions else _slices(velocities)
        self.velocity_names: tuple[str, ...] = (
            self.names
            if velocities == positions
            else tuple(name for joint in self.joints for name in _velocity_names(joint))
        )
        self.velocity_size = len(self.velocity_names)
        self.joint_positions = MappingProxyType({joint.name: self._positions[joint.index] for joint in self.joints})
        self.joint_velocities = (
            self.joint_positions
            if velocities == positions
            else MappingProxyType({joint.name: self._velocities[joint.index] for joint in self.joints})
        )
        self.lower, self.upper = self._bounds()
        self.mimics = MimicMap.of_positions(model, self._positions, follow=follow_mimics)
        self.velocity_mimics = MimicMap.of_velocities(model, self._velocities, follow=follow_mimics)

    @classmethod
    def of(cls, model: RobotModel) -> JointSpace:
        """Return the joint space of `model`."""
        return cls(model)

    @cached_property
    def quaternions(self) -> tuple[slice, ...]:
        """The slices of q with the quaternions of floating joints."""
        floating = (self.positions_of(joint) for joint in self.joints if joint.motion.has_quaternion)
        return tuple(slice(where.stop - 4, where.stop) for where in floating)

    def positions_of(self, joint: JointModel) -> slice:
        """Return the slice of a moving joint's variables in q."""
        return self._positions[joint.index]

    def velocities_of(self, joint: JointModel) -> slice:
        """Return the slice of a moving joint's velocities in v."""
        return self._velocities[joint.index]

    def checked_positions(self, q: npt.ArrayLike) -> FloatArray:
        """Return `q` as float64 (..., size) after a check of its shape and values.

        Raises:
            ArrayError: wrong shape, not finite, or a floating joint's quaternion is all zeros.
        """
        try:
            positions = checked_array("q", q, self.size)
        except ArrayError as error:
            if isinstance(q, Mapping):
                raise ArrayError("q", _MAPPING_GIVEN) from None
            if error.reason.startswith("expected shape"):
                raise ArrayError("q", f"{error.reason}; robot.q(...) makes all positions from some") from None
            raise
        for where in self.quaternions:
            if not positions[..., where].any(axis=-1).all():
                raise ArrayError("q", f"the quaternion of '{self.names[where.start].partition('/')[0]}' is all zeros")
        return positions

    def checked_velocities(self, v: npt.ArrayLike) -> FloatArray:
        """Return `v` as float64 (..., velocity_size).

        Raises:
            ArrayError: wrong shape or not finite.
        """
        return checked_array("v", v, self.velocity_size)

    def neutral(self) -> FloatArray:
        """Return (size,) default positions: 0, or the middle of bounds that exclude 0.

        Quaternions are the identity. MoveIt calls these the default positions. Mimic joints follow their leaders.
        """
        q = np.zeros(self.size)
        for at in np.flatnonzero((self.lower > 0.0) | (self.upper < 0.0)).tolist():
            q[at] = self.model.default_position(self.model.joint(self.names[at]))
        for where in self.quaternions:
            q[where.stop - 1] = 1.0
        return self.with_mimics(q)

    def with_mimics(self, q: npt.ArrayLike) -> FloatArray:
        """Return a copy of `q` (..., size) in which every mimic joint follows its leader."""
        return self.mimics.followed(checked_array("q", q, self.size))

    def with_mimic_velocities(self, v: npt.ArrayLike) -> FloatArray:
        """Return a copy of `v` (..., velocity_size) in which every mimic joint follows its leader."""
        return self.velocity_mimics.followed(self.checked_velocities(v))

    def pack(self, values: Mapping[str, npt.ArrayLike], base: npt.ArrayLike | None = None) -> FloatArray:
        """Return q (..., size): `base`, overwritten by the given values.

        A given mimic joint sets the position of its leader; then all mimic joints follow their leaders. Given
        quaternions are normalised.

        Args:
            values: by variable or joint name, each a number or (..., k); k is the number of variables of the name.
            base: (..., size) all other values; by default `neutral`.

        Raises:
            UnknownNameError: a name is neither a position variable nor a moving joint.
            ArrayError: a value has the wrong shape or is not finite; a quaternion is all zeros; a mimic joint and its
                leader, or two mimic joints of one leader, differ by more than 1e-6; a given mimic joint has the
                multiplier 0.
        """
        parts: list[tuple[slice, FloatArray]] = []
        shapes = []
        start = self.neutral() if base is None else checked_array("base", base, self.size)
        for name, value in values.items():
            at = self.index.get(name)
            positions = self.joint_positions.get(name) if at is None else slice(at, at + 1)
            if positions is None:
                raise UnknownNameError("joint variable", name, (*self.names, *self.joint_positions))
            is_number = positions.stop - positions.start == 1 and np.ndim(value) == 0
            part = (
                checked_array(name, value)[np.newaxis]
                if is_number
                else checked_array(name, value, positions.stop - positions.start)
            )
            shapes.append(part.shape[:-1])
            parts.append((positions, part))
        try:
            shape = np.broadcast_shapes(start.shape[:-1], *shapes)
        except ValueError as error:
            raise ArrayError("values", f"the batch axes of the values do not match ({error})") from None
        q = np.empty((*shape, self.size))
        q[...] = start
        given = np.zeros(self.size, dtype=np.bool_)
        for positions, part in parts:
            q[..., positions] = part
            given[positions] = True
        self._normalise(q, given)
        self._lead(q, given)
        return self.mimics.followed(q)

    def _normalise(self, q: FloatArray, is_given: BoolArray) -> None:
        """Normalise the quaternions of `q` that are partly or completely given, in place."""
        for quaternion in self.quaternions:
            if is_given[quaternion].any():
                length = np.linalg.norm(q[..., quaternion], axis=-1, keepdims=True)
                if not length.all():
                    raise ArrayError(self.names[quaternion.start].rpartition("/")[0], "its quaternion is all zeros")
                q[..., quaternion] /= length
                is_given[quaternion] = True

    def _lead(self, q: FloatArray, is_given: BoolArray) -> None:
        """Set the leaders of given mimic joints to fitting positions, in place.

        Raises:
            ArrayError: a value disagrees with another by more than `MIMIC_TOLERANCE`, or a multiplier is 0.
        """
        mimics = self.mimics
        for follower in mimics.followers[is_given[mimics.followers]].tolist():
            source = int(mimics.source[follower])
            if mimics.factor[follower] == 0.0 and not is_given[source]:
                leader = self.names[source]
                message = f"it follows '{leader}' with multiplier 0, so '{leader}' has no known position"
                raise ArrayError(self.names[follower], message)
        q[...] = mimics.completed(q, is_given)[0]
        differences = self.leader_differences(q)
        for follower in mimics.followers[is_given[mimics.followers]].tolist():
            if not (np.abs(differences[..., follower]) <= MIMIC_TOLERANCE).all():
                worst = np.unravel_index(int(np.abs(differences[..., follower]).argmax()), differences.shape[:-1])
                position, leads, leader = (
                    q[worst][follower],
                    q[worst][mimics.source[follower]],
                    self.names[int(mimics.source[follower])],
                )
                there = f"its leader '{leader}' at {leads:.9g} gives {position - differences[worst][follower]:.9g}"
                raise ArrayError(self.names[follower], f"is given as {position:.9g}, but {there}")

    def leader_of(self, variable: str) -> str | None:
        """Return the leader of a position variable; None if it has none."""
        at = self.index[variable]
        source = int(self.mimics.source[at])
        return None if source == at else self.names[source]

    def leader_differences(self, q: FloatArray) -> FloatArray:
        """Return (..., size) the difference of each position from the value that its leader requires; 0 without a
        leader.

        Quaternions of opposite sign are equal.
        """
        taken = self.mimics.followed(q)
        for where in self.quaternions:
            opposite = (taken[..., where] * q[..., where]).sum(axis=-1, keepdims=True) < 0.0
            taken[..., where] = np.where(opposite, -taken[..., where], taken[..., where])
        return q - taken

    def completed(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return positions by variable, and the positions of leaders and mimic joints that follow.

        Raises:
            UnknownNameError, ArrayError: as `pack`.
        """
        q, given = self.pack(values), np.zeros(self.size, dtype=np.bool_)
        given[[self.index[name] for name in values]] = True
        _, known = self.mimics.completed(q, given)
        return {self.names[at]: float(q[at]) for at in np.flatnonzero(known).tolist()}

    def unpack(self, q: npt.ArrayLike) -> dict[str, float] | dict[str, FloatArray]:
        """Return `q` (..., size) by variable name: numbers, or (...) arrays if `q` has leading axes."""
        positions = checked_array("q", q, self.size)
        if positions.ndim == 1:
            return dict(zip(self.names, positions.tolist(), strict=True))
        return {name: positions[..., at] for at, name in enumerate(self.names)}

    def by_joint(self, q: npt.ArrayLike) -> dict[str, FloatArray]:
        """Return `q` (..., size) by joint name: (..., n) arrays, n = 1, 3 (planar) or 7 (floating)."""
        positions = checked_array("q", q, self.size)
        return {name: positions[..., where] for name, where in self.joint_positions.items()}

    def random(self, rng: np.random.Generator, shape: tuple[int, ...] = ()) -> FloatArray:
        """Return ``(*shape, size)`` random positions: uniform inside the bounds; mimic joints follow their leaders.

        Angles of continuous joints are uniform over a turn, rotations uniform; see `sampling_range`. A mimic joint may
        exceed its own limits if the limits of its leader allow it.
        """
        low, high = self.sampling_range
        q = rng.uniform(size=(*shape, self.size)) * (high - low) + low
        for where in self.quaternions:
            quat = rng.normal(size=(*shape, 4))
            q[..., where] = quat / np.sqrt((quat * quat).sum(axis=-1, keepdims=True))
        return self.mimics.followed(q)

    def random_some(self, rng: np.random.Generator, places: npt.NDArray[np.intp], count: int) -> FloatArray:
        """Return (count, n) random positions of the variables at `places` (n,), drawn in this order.

        Only these variables are drawn; the four numbers of a quaternion must be beside each other.
        """
        low, high = (bound[places] for bound in self.sampling_range)
        q: FloatArray = rng.uniform(size=(count, len(places))) * (high - low) + low
        for where in self.quaternions:
            at = np.flatnonzero((places >= where.start) & (places < where.stop))
            if at.size:
                q[:, at] = rng.normal(size=(count, at.size))
                q[:, at] /= np.sqrt((q[:, at] ** 2).sum(axis=-1, keepdims=True))
        return q

    @cached_property
    def sampling_range(self) -> tuple[FloatArray, FloatArray]:
        """(size,) finite lower and upper ends of the usable range of each variable (`RobotModel.usable_range`).

        Without limits: half a turn, ±1 m for the variables of planar and floating joints.
        """
        span = np.array([reach for joint in self.joints for reach in joint.motion.reach])
        lower, upper = np.array(self.lower), np.array(self.upper)
        for joint in self.model.unlimited_joints:
            where = self.positions_of(joint)
            lower[where], upper[where] = self.model.usable_range(joint)
        low = np.where(np.isinf(lower), np.where(np.isinf(upper), -span, upper - 2 * span), lower)
        return low, np.where(np.isinf(upper), low + 2 * span, upper)

    def _bounds(self) -> FloatArray:
        lower, upper = [-math.inf] * self.size, [math.inf] * self.size
        for joint in self.joints:
            if joint.position_count == 1:
                at = self.positions_of(joint).start
                lower[at], upper[at] = joint.limits.bounds
        bounds = np.array([lower, upper])
        bounds.setflags(write=False)
        return bounds


def _slices(counts: Mapping[int, int]) -> Mapping[int, slice]:
    found, start = {}, 0
    for joint, count in counts.items():
        found[joint] = slice(start, start + count)
        start += count
    return found


def _velocity_names(joint: JointModel) -> tuple[str, ...]:
    if joint.motion.has_quaternion:
        return tuple(f"{joint.name}/{suffix}" for suffix in ("vx", "vy", "vz", "wx", "wy", "wz"))
    return joint.variable_names


class MissingJoints(enum.Enum):
    """Choice of the position for a joint of the group that the state does not have."""

    DEFAULT = "default"
    """The joint's default position: 0, or the middle of limits that exclude 0."""
    CURRENT = "current"
    """The joint's current position."""


def with_state(
    space: JointSpace,
    group: str,
    state: str,
    current: npt.ArrayLike | None = None,
    missing: MissingJoints = MissingJoints.CURRENT,
) -> FloatArray:
    """Return (..., size) positions with the group in its named state; other joints keep their positions.

    Mimic joints follow their leaders (`JointSpace.pack`).

    Args:
        space: the joint space of the robot.
        group: name of the group.
        state: name of the state in the group.
        current: (..., size) current positions; by default the default positions.
        missing: choice for joints of the group that the state does not have.

    Raises:
        UnknownNameError: the group or state does not exist.
        ArrayError: `current` has the wrong shape or is not finite.
    """
    semantics = space.model.semantics
    values = semantics.state(group, state).positions
    neutral = space.neutral()
    q = neutral.copy() if current is None else np.array(space.checked_positions(current))
    if missing is MissingJoints.DEFAULT:
        for joint in semantics.group(group).active_joints:
            where = space.joint_positions[joint]
            q[..., where] = neutral[where]
    return space.pack(values, q)
