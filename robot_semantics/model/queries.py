# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Questions about a robot's semantics, for the command line and the ROS services.

Each raises `UnknownNameError` for a name that the robot does not have; `run_query` converts errors to values.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.base.names import LinkPair
from robot_semantics.base.record import record
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.model.semantics import EndEffector, NamedState

_Value = TypeVar("_Value")


@record(frozen=True, slots=True)
class QueryResult(Generic[_Value]):
    """Result of a query as a value: `value`, or an error message and the `nearest` known names."""

    success: bool
    value: _Value | None = None
    message: str = ""
    nearest: tuple[str, ...] = ()


def run_query(query: Callable[[], _Value]) -> QueryResult[_Value]:
    """Run `query` and return its result; errors of this package become an unsuccessful result."""
    try:
        return QueryResult(True, query())
    except UnknownNameError as error:
        return QueryResult(False, None, str(error), error.nearest)
    except RobotSemanticsError as error:
        return QueryResult(False, None, str(error))


def groups_with_link(model: RobotModel, link: str) -> tuple[str, ...]:
    """Return the names of the groups that have the link, in byte order.

    Raises:
        UnknownNameError: the robot does not have the link.

    """
    model.link(link)
    return tuple(group.name for group in model.semantics.groups.values() if link in group.links)


def groups_with_joint(model: RobotModel, joint: str) -> tuple[str, ...]:
    """Return the names of the groups that have the joint, in byte order.

    Raises:
        UnknownNameError: the robot does not have the joint.

    """
    model.joint(joint)
    return tuple(group.name for group in model.semantics.groups.values() if joint in group.joints)


def states_of(model: RobotModel, group: str | None = None) -> tuple[NamedState, ...]:
    """Return the named states of one group, or of all, in document order.

    Raises:
        UnknownNameError: the group does not exist.

    """
    if group is not None:
        model.semantics.group(group)
    return tuple(state for state in model.semantics.states.values() if group in (None, state.group))


def end_effectors_of(model: RobotModel, group: str | None = None) -> tuple[EndEffector, ...]:
    """Return the end effectors, all or only those mounted on one group, in document order.

    Raises:
        UnknownNameError: the group does not exist.

    """
    if group is None:
        return tuple(model.semantics.end_effectors.values())
    names = model.semantics.group(group).end_effectors
    return tuple(effector for effector in model.semantics.end_effectors.values() if effector.name in names)


def links_fixed_to_root(model: RobotModel) -> tuple[str, ...]:
    """Return the links that do not move relative to the root link; the root link is the first."""
    found = [model.root_link]
    for joint in model.joints[1:]:
        if not joint.position_count and joint.parent_link in found:
            found.append(joint.child_link)
    return tuple(found)


class PairCause(enum.Enum):
    """The rule that decides whether a pair of links is checked for collision."""

    CHECKED = "checked"
    SAME_LINK = "one link does not collide with itself"
    NO_GEOMETRY = "a link without collision geometry touches nothing"
    DISABLED = "the SRDF disables the pair"
    DEFAULT_DISABLED = "the SRDF disables all pairs of a link that it does not enable"


class PairStatus(NamedTuple):
    """Status of a pair of links in collision checks.

    Attributes:
        cause: the rule that decides.
        reason: the reason for disabling in the SRDF, as written.
        enabled: True if the SRDF enables the pair by name.

    """

    pair: LinkPair
    cause: PairCause
    reason: str = ""
    enabled: bool = False

    @property
    def checked(self) -> bool:
        """True if the pair is checked."""
        return self.cause is PairCause.CHECKED


def pair_status(model: RobotModel, link1: str, link2: str) -> PairStatus:
    """Return whether a pair of links is checked for collision, and the rule that decides.

    The order of the rules is MoveIt's: a disabled pair is never checked, an enabled pair is checked, and a pair with a
    link that is disabled by default is not checked. All other pairs are checked.

    Raises:
        UnknownNameError: the robot does not have the link.

    """
    first, second = model.link(link1), model.link(link2)
    pair, semantics = LinkPair.of(link1, link2), model.semantics
    if first is second:
        return PairStatus(pair, PairCause.SAME_LINK)
    if pair in semantics.disabled_collisions:
        return PairStatus(pair, PairCause.DISABLED, semantics.disabled_collisions[pair])
    enabled = pair in semantics.enabled_collisions
    if not (first.urdf.collisions and second.urdf.collisions):
        return PairStatus(pair, PairCause.NO_GEOMETRY, enabled=enabled)
    by_default = link1 in semantics.default_disabled_links or link2 in semantics.default_disabled_links
    if by_default and not enabled:
        return PairStatus(pair, PairCause.DEFAULT_DISABLED)
    return PairStatus(pair, PairCause.CHECKED, enabled=enabled)


@record(frozen=True, slots=True)
class StateMatch:
    """The distance of a group from one of its named states.

    Attributes:
        state: the state's name.
        difference: the largest difference of a joint [rad or m].
        joint: the joint with the largest difference.

    """

    state: str
    difference: float
    joint: str


def matching_states(
    model: RobotModel, group: str, positions: Mapping[str, float], tolerance: float
) -> tuple[StateMatch, ...]:
    """Return the states of `group` that agree with `positions`, the nearest first.

    Only the joints of a state are compared; a joint with an unknown position matches no state. Turns of a continuous
    joint, and a quaternion's sign, make no difference.

    Args:
        model: the robot.
        group: name of the group.
        positions: by variable name [rad, m, quaternion components].
        tolerance: the largest difference of any joint; for a floating joint it limits the distance [m] and the angle
            [rad].

    Raises:
        UnknownNameError: the group does not exist.

    """
    matches: list[StateMatch] = []
    for state in states_of(model, group):
        stated = state.positions.items()
        differences = [(_difference(model, joint, values, positions), joint) for joint, values in stated]
        difference, joint = max(differences)
        if difference <= tolerance:
            matches.append(StateMatch(state.name, difference, joint))
    return tuple(sorted(matches, key=lambda match: (match.difference, match.state)))


def _difference(model: RobotModel, name: str, values: Sequence[float], positions: Mapping[str, float]) -> float:
    """Return the distance of a joint from a state's values; infinity if its position is unknown."""
    joint = model.joint(name)
    if not all(variable in positions for variable in joint.variable_names):
        return math.inf
    actual = [positions[variable] for variable in joint.variable_names]
    difference = joint.motion.difference(actual, values)
    return math.inf if math.isnan(difference) else difference
