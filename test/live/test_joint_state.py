# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.


"""Content of a joint-state message, for one message and for thousands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.live.joint_state import (
    InputPlan,
    MovingJoints,
    Reason,
    TakenJointStates,
    make_plan,
    take_joint_state,
)
from robot_semantics.live.settings import Invalid
from robot_semantics.model.loading import robot_from_text

nan, inf = float("nan"), float("inf")


def take(names: str, position: Any, velocity: Any = (), effort: Any = (), **how: Any) -> TakenJointStates:
    arrays = (np.array(values, np.float64) for values in (position, velocity, effort))
    return take_joint_state(names.split(), *arrays, **how)


def test_a_whole_message_is_taken_as_it_is() -> None:
    taken = take("a b", [1, 2], [3, 4], [5, 6])
    (values,) = taken.values
    assert (taken.refused, taken.notices) == ((), ())
    assert values.names == ("a", "b")
    assert [part.tolist() for part in values[2:]] == [[[1, 2]], [[3, 4]], [[5, 6]]]


@pytest.mark.parametrize(
    ("names", "position", "reason", "sentence"),
    [
        ("", [], Reason.EMPTY, "it names no joint"),
        ("a b a", [1, 2, 3], Reason.DUPLICATE_NAME, "it names 'a' more than once"),
        ("a a b b c c d d e e f f g g", [0.0] * 14, Reason.DUPLICATE_NAME,
         "it names 'a', 'b', 'c', 'd', 'e' and 2 more more than once"),
        ("a b", [], Reason.NO_POSITIONS, "it has no position for 'a' nor for any other joint"),
        ("a b", [1], Reason.WRONG_LENGTH, "it has 2 names but 1 positions, from 'b' on they do not match"),
        ("a", [1, 2], Reason.WRONG_LENGTH, "it has 1 names but 2 positions, from 'a' on they do not match"),
        ("a b", [nan, -inf], Reason.NOT_FINITE, "the position of 'a' is nan"),
    ],
)  # fmt: skip
def test_a_message_that_says_nothing_is_refused(
    names: str, position: list[float], reason: Reason, sentence: str
) -> None:
    taken = take(names, position)
    (fault,) = taken.refused
    assert (taken.values, fault.refusal.reason, fault.refusal.message) == ((), reason, sentence)
    assert fault.messages.tolist() == [0]


@pytest.mark.parametrize(("count", "notices"), [(0, 0), (1, 1), (3, 1)])
def test_velocities_and_efforts_of_another_number_are_unknown(count: int, notices: int) -> None:
    taken = take("a b", [1, 2], [7] * count, [8, 9])
    (values,) = taken.values
    assert (values.position.tolist(), values.velocity.shape, values.effort.tolist()) == ([[1, 2]], (1, 0), [[8, 9]])
    assert [fault.refusal.message for fault in taken.notices] == [
        f"it has 2 names but {count} velocities; these are not used"
    ] * notices


def test_velocities_and_efforts_that_are_not_finite_are_unknown() -> None:
    (values,) = take("a b", [1, 2], [nan, 4], [5, -inf]).values
    np.testing.assert_array_equal([*values.velocity, *values.effort], [[nan, 4], [5, nan]])


def test_a_joint_without_a_finite_position_is_skipped_or_the_message_is_refused() -> None:
    position = [[1, 2, 3], [4, nan, 6], [inf, 8, 9], [10, nan, 12], [nan, nan, nan]]
    velocity = [[10, 20, 30], [40, 50, 60], [70, 80, 90], [100, 110, 120], [1, 1, 1]]
    taken = take("a b c", position, velocity)
    found = {
        int(message): (values.names, values.position[row].tolist(), values.velocity[row].tolist())
        for values in taken.values
        for row, message in enumerate(values.messages)
    }
    assert found == {
        0: (("a", "b", "c"), [1, 2, 3], [10, 20, 30]),
        1: (("a", "c"), [4, 6], [40, 60]),
        2: (("b", "c"), [8, 9], [80, 90]),
        3: (("a", "c"), [10, 12], [100, 120]),
    }
    rest = "; the message's other joints are used"
    assert {(fault.refusal.message, tuple(fault.messages)) for fault in taken.notices} == {
        (f"the position of 'b' is nan{rest}", (1, 3)),
        (f"the position of 'a' is inf{rest}", (2,)),
    }
    assert [fault.messages.tolist() for fault in taken.refused] == [[4]]
    strict = take("a b c", position, velocity, invalid=Invalid.REFUSE)
    assert [values.messages.tolist() for values in strict.values] == [[0]]
    assert sorted(row for fault in strict.refused for row in fault.messages.tolist()) == [1, 2, 3, 4]
    assert strict.notices == ()


def test_more_than_eight_joints_that_are_not_finite_are_one_sentence() -> None:
    for count, sentences in ((8, 8), (9, 1)):
        names = [f"j{number}" for number in range(count)]
        taken = take(" ".join([*names, "last"]), [nan] * count + [1.0])
        assert len(taken.notices) == sentences
    (fault,) = taken.notices
    assert fault.refusal.message == (
        "the positions of 'j0', 'j1', 'j2', 'j3', 'j4' and 4 more are not finite; the message's other joints are used"
    )


@pytest.mark.parametrize(
    ("names", "variables"),
    [
        ("a b c", slice(0, 3)),
        ("b c", slice(1, 3)),
        ("c", slice(2, 3)),
        ("a c", None),
        ("b a", None),
        ("a b fixed", None),
        ("other a b", None),
    ],
)
def test_messages_in_the_order_of_the_model_need_no_indices(names: str, variables: slice | None) -> None:
    links = "".join(f'<link name="{link}"/>' for link in "rabcf")
    joints = "".join(
        f'<joint name="{joint}" type="{kind}"><parent link="r"/><child link="{joint[0]}"/></joint>'
        for joint, kind in (("a", "continuous"), ("b", "continuous"), ("c", "continuous"), ("fixed", "fixed"))
    )
    model = robot_from_text(f'<robot name="r">{links}{joints}</robot>')
    space = JointSpace.of(model)
    plan = make_plan(names.split(), model, space, MovingJoints(space), frozenset())
    assert isinstance(plan, InputPlan)
    assert plan.straight == variables
