# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Quality of service of every topic; topics of robot_state_publisher have its settings."""

from __future__ import annotations

import copy

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy, qos_profile_sensor_data
from rclpy.qos_overriding_options import QoSOverridingOptions

from robot_semantics.ros.running.parameter_table import Check, one_word_of, whole


def _reliable(depth: int, durability: DurabilityPolicy) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST, depth=depth, reliability=ReliabilityPolicy.RELIABLE, durability=durability
    )


TF = _reliable(100, DurabilityPolicy.VOLATILE)
"""/tf: reliable, the last 100."""

LATCHED = _reliable(1, DurabilityPolicy.TRANSIENT_LOCAL)
"""/tf_static, descriptions and the world state: the last message also reaches those that come later."""

SENSOR = qos_profile_sensor_data
"""joint_states, odometry and base states: best effort, the last 5; matches every publisher."""

SERVICES = _reliable(1000, DurabilityPolicy.VOLATILE)
"""Services and clients: a burst of requests or answers is kept; ROS's own profile keeps the last 10.

Every client of a service receives the answers for all clients. With ROS's profile, ten answers for others remove an
answer that is not yet taken.
"""

TF_LISTENER = _reliable(1000, DurabilityPolicy.VOLATILE)
"""Listening to /tf, where messages are taken at intervals: a frame that is rarely sent must not be lost."""

STATIC_LISTENER = _reliable(100, DurabilityPolicy.TRANSIENT_LOCAL)
"""Listening to /tf_static, which several nodes publish, each its own latched message."""

DIAGNOSTICS = _reliable(10, DurabilityPolicy.VOLATILE)
"""/diagnostics, as diagnostic_updater has it."""


def _words(kind: type[HistoryPolicy] | type[ReliabilityPolicy]) -> Check:
    """Return a check for the words of a policy, in any case."""
    check = one_word_of(*(word.lower() for word in kind.__members__ if word != "UNKNOWN"))
    return lambda name, value: check(name, value.lower() if isinstance(value, str) else value)


OVERRIDES: dict[str, Check] = {
    "history": _words(HistoryPolicy),
    "depth": whole,
    "reliability": _words(ReliabilityPolicy),
}
"""The policies of `overridable`, each with the check of its values."""


def overridable() -> QoSOverridingOptions:
    """Return options that let a user override history, depth and reliability by parameters qos_overrides.TOPIC..."""
    return QoSOverridingOptions.with_default_policies()


def fresh(profile: QoSProfile) -> QoSProfile:
    """Return a copy, because overrides are written into the profile itself."""
    return copy.copy(profile)
