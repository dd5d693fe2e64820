# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The orders in which programs number the joints of a URDF, and how each lays out their positions and velocities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from robot_semantics.base.errors import UnknownNameError
from robot_semantics.base.record import record
from robot_semantics.model.joint_types import JointQuantity, JointType
from robot_semantics.model.robot_model import JointModel, RobotModel


@record(frozen=True)
class JointOrder:
    """The order in which a program numbers joints, and the layout of its state.

    Attributes:
        walk: ``document`` (the order of the file), ``depth first`` or ``breadth first``.
        by_name: children of one link are in byte order of their joints' names; else in the order of the file.
        quaternion: order of a quaternion's components.
        quaternion_first: a free pose is the quaternion, then the translation.
        cos_sin: an angle without limits is two numbers, its cosine and sine.
        linear_in_child: the linear velocity of a free or planar motion is in the axes of the child, else the parent.
        angular_in_child: likewise, the angular velocity.
        angular_first: a free velocity is the angular part, then the linear part.
        base_in_vector: the pose of a free base is in front of the joints; else the program keeps it separately.
        missing: joint types that the program's own URDF reader does not make.
        tested: the tests load URDFs in this program; else the rule is from its documentation.
    """

    walk: str
    by_name: bool = False
    quaternion: str = "xyzw"
    quaternion_first: bool = False
    cos_sin: bool = False
    linear_in_child: bool = False
    angular_in_child: bool = False
    angular_first: bool = False
    base_in_vector: bool = True
    missing: frozenset[JointType] = frozenset()
    tested: bool = True


_FLOATING, _PLANAR = JointType.FLOATING, JointType.PLANAR

ORDERS: Mapping[str, JointOrder] = {
    "urdf": JointOrder("document"),
    "depth-first": JointOrder("depth first"),
    "breadth-first": JointOrder("breadth first"),
    "mujoco": JointOrder("depth first", quaternion="wxyz", angular_in_child=True, missing=frozenset({_FLOATING})),
    "drake": JointOrder(
        "depth first", quaternion="wxyz", quaternion_first=True, angular_first=True, missing=frozenset({_FLOATING})
    ),
    "pybullet": JointOrder("depth first", base_in_vector=False, missing=frozenset({_FLOATING, _PLANAR})),
    "pinocchio": JointOrder("depth first", by_name=True, cos_sin=True, linear_in_child=True, angular_in_child=True),
    "isaacsim": JointOrder("breadth first", by_name=True, quaternion="wxyz", base_in_vector=False, tested=False),
    "isaacgym": JointOrder("depth first", by_name=True, base_in_vector=False, tested=False),
}
"""Every order by its name on the command line."""


class Component(NamedTuple):
    """One number of a state vector: its name, as ``elbow`` or ``base/qw``, and its unit."""

    name: str
    unit: str


def joint_order(name: str) -> JointOrder:
    """Return an order by its name.

    Raises:
        UnknownNameError: it is not one of `ORDERS`.
    """
    if name not in ORDERS:
        raise UnknownNameError("joint order", name, ORDERS)
    return ORDERS[name]


def ordered_joints(model: RobotModel, order: JointOrder) -> tuple[JointModel, ...]:
    """Return the moving joints of the URDF in an order, mimic joints included."""
    return tuple(joint for joint in _walk(model, order) if joint.position_count and joint.urdf is not None)


def _walk(model: RobotModel, order: JointOrder) -> Iterator[JointModel]:
    places = {id(joint): index for index, joint in enumerate(model.urdf.joints)}

    def place(joint: JointModel) -> int:
        return places.get(id(joint.urdf), -1)

    if order.walk == "document":
        yield from sorted(model.joints, key=place)
        return
    # A stack for depth first, a queue for breadth first: a chain may be deeper than Python's recursion.
    waiting = [0]
    level: list[int] = []
    while waiting:
        index = waiting.pop()
        yield model.joints[index]
        # The model has children by name already.
        children = list(model.links[index].children)
        if not order.by_name:
            children.sort(key=lambda child: place(model.joints[child]))
        if order.walk == "depth first":
            waiting += reversed(children)
            continue
        level += children
        if not waiting:
            waiting, level = level[::-1], []


def permutation(model: RobotModel, source: JointOrder, target: JointOrder) -> list[int]:
    """Return the numbers that take a list of joint values from one order to another: ``b = [a[i] for i in result]``."""
    numbers = {joint.index: at for at, joint in enumerate(ordered_joints(model, source))}
    return [numbers[joint.index] for joint in ordered_joints(model, target)]


def has_free_base(model: RobotModel) -> bool:
    """Return whether the root link moves freely: its virtual joint is floating."""
    return model.root_joint.type is JointType.FLOATING


def free_position(prefix: str, order: JointOrder) -> list[Component]:
    """Return the variables of a free pose; each name begins with `prefix`."""
    quaternion = [Component(f"{prefix}q{letter}", "1") for letter in order.quaternion]
    translation = [Component(f"{prefix}{letter}", "m") for letter in "xyz"]
    return quaternion + translation if order.quaternion_first else translation + quaternion


def free_velocity(prefix: str, order: JointOrder) -> list[Component]:
    """Return the variables of a free velocity; each name begins with `prefix`."""
    linear = [Component(f"{prefix}v{letter}", "m/s") for letter in "xyz"]
    angular = [Component(f"{prefix}w{letter}", "rad/s") for letter in "xyz"]
    return angular + linear if order.angular_first else linear + angular


def position_components(joint: JointModel, order: JointOrder) -> list[Component]:
    """Return the position variables of a joint as a program has them."""
    quantities = joint.motion.quantities
    if JointQuantity.QUATERNION in quantities:
        return free_position(f"{joint.name}/", order)
    parts = [Component(name, quantity.value) for name, quantity in zip(joint.variable_names, quantities, strict=True)]
    if order.cos_sin and quantities[-1] is JointQuantity.ANGLE and not joint.motion.limited:
        parts[-1:] = [Component(f"{joint.name}/cos", "1"), Component(f"{joint.name}/sin", "1")]
    return parts


def velocity_components(joint: JointModel, order: JointOrder) -> list[Component]:
    """Return the velocity variables of a joint as a program has them."""
    quantities = joint.motion.quantities
    if JointQuantity.QUATERNION in quantities:
        return free_velocity(f"{joint.name}/", order)
    return [
        Component(name, f"{quantity.value}/s") for name, quantity in zip(joint.variable_names, quantities, strict=True)
    ]
