# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The rule of doc/usdf.md: parameter, virtual joint, TF, odometry, fixed virtual joint, none."""

from __future__ import annotations

import itertools

from robot_semantics.live.samples import RootCandidate, RootSource, choose_root

IN_ORDER = [
    RootCandidate(RootSource.CHOSEN, "/my_odom", "odom"),
    RootCandidate(RootSource.VIRTUAL_JOINT, "world_joint", "odom"),
    RootCandidate(RootSource.TF, "/tf", "map"),
    RootCandidate(RootSource.ODOMETRY, "/odom", "odom"),
    RootCandidate(RootSource.FIXED, "world_joint", "world"),
]


def test_the_first_kind_that_is_there_is_believed_in_whatever_order_they_come() -> None:
    for first, candidate in enumerate(IN_ORDER):
        for some in itertools.permutations(IN_ORDER[first:]):
            assert choose_root(some).chosen == candidate


def test_two_of_one_kind_are_not_mixed_and_the_other_is_named() -> None:
    one, other = (RootCandidate(RootSource.ODOMETRY, name, "odom") for name in ("/a/odom", "/b/odom"))
    choice = choose_root([other, one])
    assert choice.chosen == one
    assert choice.complaint("r") == "the pose of 'r' is taken from '/a/odom'; ignored: '/b/odom'"


def test_sources_of_other_kinds_are_no_complaint() -> None:
    assert choose_root(IN_ORDER).complaint("r") is None
    assert choose_root(IN_ORDER[2:]).rivals == tuple(IN_ORDER[3:])


def test_where_nobody_says_anything_that_is_reported() -> None:
    choice = choose_root([])
    assert choice.chosen is None
    assert choice.complaint("r") == "the pose of 'r' is unknown: no source states it"
