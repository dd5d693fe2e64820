# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The rule for the content of joint-state messages, the same for the node and for recordings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from robot_semantics.base.foreign_text import quoted, shown
from robot_semantics.base.names import duplicates
from robot_semantics.state.joint_input import InputPlan, Reason, Refusal
from robot_semantics.state.settings import Invalid
from robot_semantics.transforms.arrays import BoolArray, FloatArray, IntArray

_MOST_SENTENCES = 8
"""If more joints of one message are not finite, one sentence names the first of them."""

SMALLEST_QUATERNION = 1e-6
"""A shorter quaternion has no direction."""


class MessageJointValues(NamedTuple):
    """Usable values of messages with one list of names.

    Attributes:
        messages: (n,) indices of the messages.
        names: (k,) joints of the columns, or variables of planar and floating joints.
        position: (n, k) finite [rad or m].
        velocity: (n, k) [rad/s or m/s], NaN where unknown; (n, 0) if the messages state none.
        effort: (n, k) [N m or N], likewise.
    """

    messages: IntArray
    names: tuple[str, ...]
    position: FloatArray
    velocity: FloatArray
    effort: FloatArray

    def chosen(self, rows: IntArray, columns: BoolArray) -> MessageJointValues:
        """Return some rows and columns."""
        if len(rows) == len(self.messages) and columns.all():
            return self
        position, velocity, effort = (
            part[rows][:, columns] if part.shape[1] else part[rows]
            for part in (self.position, self.velocity, self.effort)
        )
        names = tuple(name for name, wanted in zip(self.names, columns, strict=True) if wanted)
        return MessageJointValues(self.messages[rows], names, position, velocity, effort)


class Fault(NamedTuple):
    """A fault of some messages, and their indices (n,)."""

    refusal: Refusal
    messages: IntArray


class TakenJointStates(NamedTuple):
    """Result of reading joint-state messages.

    Attributes:
        values: the usable values; each message is in at most one item.
        refused: messages that are not used at all.
        notices: messages that are used in part.
    """

    values: tuple[MessageJointValues, ...]
    refused: tuple[Fault, ...] = ()
    notices: tuple[Fault, ...] = ()


def take_joint_state(
    names: Sequence[str],
    position: FloatArray,
    velocity: FloatArray,
    effort: FloatArray,
    *,
    invalid: Invalid = Invalid.SKIP,
) -> TakenJointStates:
    """Return the usable values of joint-state messages; the node and recordings both use this function.

    A message is refused if it has another number of positions than of names, or if it names a joint twice. Velocities
    or efforts are unknown if their number differs from the number of names, or if they are not finite.

    Args:
        names: (k,) the names of all these messages.
        position: (p,) of one message, or (n, p) of several with the same names and lengths [rad or m].
        velocity: (v,) or (n, v) [rad/s or m/s].
        effort: (e,) or (n, e) [N m or N].
        invalid: whether a joint whose position is not finite is skipped, or makes the message refused.
    """
    names = tuple(names)
    rows = np.atleast_2d(position)
    rates, efforts = (part.reshape(len(rows), -1) if part.size else rows[:, :0] for part in (velocity, effort))
    messages = np.arange(len(rows))
    refusal = _refusal(names, rows.shape[1])
    if refusal is not None:
        return TakenJointStates((), (Fault(refusal, messages),))
    notices = []
    for what, part in (("velocities", rates), ("efforts", efforts)):
        if part.shape[1] not in (0, len(names)):
            text = f"it has {len(names)} names but {part.shape[1]} {what}; these are not used"
            notices.append(Fault(Refusal(Reason.WRONG_LENGTH, text), messages))
    values = MessageJointValues(
        messages, names, rows, *(_finite_or_unknown(part, len(names)) for part in (rates, efforts))
    )
    bad = ~np.isfinite(rows)
    if not bad.any():
        return TakenJointStates((values,), (), tuple(notices))

    def describe(row: int, columns: list[int]) -> list[str]:
        if len(columns) > _MOST_SENTENCES:
            return [f"the positions of {quoted((names[column] for column in columns), 5)} are not finite"]
        return [f"the position of '{shown(names[column])}' is {rows[row, column]}" for column in columns]

    return _without(values, bad, Reason.NOT_FINITE, describe, invalid, notices)


def take_quaternions(
    plan: InputPlan, values: MessageJointValues, *, invalid: Invalid = Invalid.SKIP
) -> TakenJointStates:
    """Return values with the quaternions of floating joints at length one.

    A joint whose quaternion is zero is skipped, or makes the message refused.
    """
    position, bad = np.array(values.position), np.zeros(values.position.shape, np.bool_)
    joint_of: dict[int, str] = {}
    for floating in plan.floating:
        at = list(floating.quaternion)
        length = np.linalg.norm(position[:, at], axis=1)
        zero = length < SMALLEST_QUATERNION
        bad[np.ix_(zero, list(floating.entries))] = True
        joint_of.update(dict.fromkeys(floating.entries, floating.joint))
        position[:, at] /= np.where(zero, 1.0, length)[:, np.newaxis]
    values = values._replace(position=position)

    def describe(_row: int, columns: list[int]) -> list[str]:
        joints = dict.fromkeys(joint_of[column] for column in columns)
        return [f"the quaternion of '{shown(name)}' is zero" for name in joints]

    if not bad.any():
        return TakenJointStates((values,))
    return _without(values, bad, Reason.BAD_QUATERNION, describe, invalid, [])


def _refusal(names: tuple[str, ...], count: int) -> Refusal | None:
    if not names:
        return Refusal(Reason.EMPTY, "it names no joint")
    if len(set(names)) < len(names):
        return Refusal(Reason.DUPLICATE_NAME, f"it names {quoted(duplicates(names), 5)} more than once")
    if not count:
        return Refusal(Reason.NO_POSITIONS, f"it has no position for '{shown(names[0])}' nor for any other joint")
    if count != len(names):
        odd = shown(names[min(count, len(names) - 1)])
        text = f"it has {len(names)} names but {count} positions, from '{odd}' on they do not match"
        return Refusal(Reason.WRONG_LENGTH, text)
    return None


def _finite_or_unknown(values: FloatArray, count: int) -> FloatArray:
    if values.shape[1] != count:
        return values[:, :0]
    finite = np.isfinite(values)
    return values if finite.all() else np.where(finite, values, np.nan)


def _without(
    values: MessageJointValues,
    bad: BoolArray,
    reason: Reason,
    describe: Callable[[int, list[int]], list[str]],
    invalid: Invalid,
    notices: list[Fault],
) -> TakenJointStates:
    """Return `values` without the `bad` (n, k) ones; `describe` gives the sentences for some columns of a row."""
    kept, refused = [], []
    patterns, which = np.unique(bad, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows, columns = np.flatnonzero(which.ravel() == number), np.flatnonzero(pattern).tolist()
        messages = values.messages[rows]
        if columns and (pattern.all() or invalid is Invalid.REFUSE):
            refused.append(Fault(Refusal(reason, describe(int(rows[0]), columns[:1])[0]), messages))
            continue
        kept.append(values.chosen(rows, ~pattern))
        for sentence in describe(int(rows[0]), columns) if columns else ():
            notices.append(Fault(Refusal(reason, f"{sentence}; the message's other joints are used"), messages))
    return TakenJointStates(tuple(kept), tuple(refused), tuple(notices))
