# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The parameter file has every parameter with its default value; failed checks state the expected values."""

from __future__ import annotations

import re
from array import array
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("rclpy", reason="rclpy is not installed (make setup, or a ROS 2 environment)")

from rclpy.parameter import Parameter

from robot_semantics.ros.node import parameters
from robot_semantics.ros.running.parameter_table import ParameterError, as_type

FILE = Path(__file__).parents[2] / "config" / "robot_semantics.yaml"
TABLES = {
    "": parameters.ROBOT + parameters.NODE + parameters.SNAPSHOTS,
    "virtual_joints.world_joint.": parameters.VIRTUAL_JOINT,
}


def uncommented() -> dict[str, Any]:
    """Return the file's parameters by full name, commented ones included."""
    lines = []
    for line in FILE.read_text().splitlines():
        if re.match(r"^    (# )? *[a-z_]+:( |$)", line):
            lines.append(line.replace("    # ", "    ", 1))
    content = yaml.safe_load("\n".join(lines))
    return flat(content)


def check(name: str, value: Any) -> None:
    """Check a value as the parameter of this full name is checked; 'left' is a model."""
    own = name.removeprefix("left.")
    table = "virtual_joints.world_joint." if own.startswith("virtual_joints.") else ""
    (found,) = (item for item in TABLES[table] if item.name == own.split(".")[-1])
    found.check(name, value)


def flat(content: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in content.items():
        found |= flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return found


def test_the_file_is_what_ros_reads() -> None:
    content = yaml.safe_load(FILE.read_text())
    assert content == {"/**": {"ros__parameters": {"publish_frequency": 20.0}}}


def test_the_file_names_every_parameter_with_its_default() -> None:
    expected = {prefix + item.name: item.default for prefix, table in TABLES.items() for item in table}
    assert uncommented() == expected


def test_every_default_passes_its_own_check() -> None:
    for table in TABLES.values():
        for item in table:
            item.check(item.name, item.default)
            assert item.about


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("virtual_joints.base.pose", [1.0, 2.0], "must be six numbers x y z roll pitch yaw, not [1.0, 2.0]"),
        ("virtual_joints.base.pose", [1.0] * 5 + [float("nan")], "must be a finite number, not nan"),
        ("virtual_joints.base.source", "off", "must be one of auto, joint_states, multi_dof, odometry, tf, fixed"),
        ("left.stale_timeout", -1.0, "must not be negative, not -1.0"),
        ("simulators", "mujoco_world", "must be a list of texts, not 'mujoco_world'"),
        ("simulators", 5, "must be a list of texts, not 5"),
        ("virtual_joints.base.pose", 1.5, "must be six numbers x y z roll pitch yaw, not 1.5"),
        ("models", ["a b"], "must be letters, digits and underscores, not 'a b'"),
        ("models", ["a", "a"], "names a robot twice: a, a"),
        ("robot_description_topic", "bad topic", "must be a topic name, not 'bad topic'"),
        ("left.virtual_joints.base.topic", "//odom", "must be a topic name, not '//odom'"),
        ("virtual_joints.base.topic", "", "must be a topic name, not empty"),
        ("simulators", ["/mujoco world"], "must be a node's name, not '/mujoco world'"),
        ("world_state_frequency", 1e6, "must be at most 100, not 1000000.0"),
        ("diagnostics_period", 1e-9, "must be 0 or at least 0.01, not 1e-09"),
        ("publish_frequency", True, "must be a finite number, not true"),
        ("frame_prefix", "a\x1b[31m/", "the name of a frame, 'a\\x1b[31m/f', has a control character"),
        ("left.frame_prefix", " ", "the name of a frame, ' f', begins or ends with white space"),
        ("virtual_joints.base.parent_frame", "\n", "the name of a frame, '\\n', is blank"),
        ("virtual_joints.base.base_frame", "a\x00", "has a control character"),
    ],
)
def test_a_value_that_means_nothing_says_what_is_expected(name: str, value: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)) as raised:
        check(name, value)
    assert name in str(raised.value)


@pytest.mark.parametrize(
    ("kind", "given", "taken"),
    [
        ("DOUBLE", 20, 20.0),
        ("DOUBLE_ARRAY", [1, 0, 0], [1.0, 0.0, 0.0]),
        ("INTEGER", 6e7, 60_000_000),
        ("STRING_ARRAY", [], [""]),
        # An invalid value is refused, and the old one stays.
        ("INTEGER", 1.5, 1.5),
        ("DOUBLE", True, True),
        ("STRING", 3, 3),
    ],
)
def test_a_number_written_the_other_way_is_the_same_number(kind: str, given: Any, taken: Any) -> None:
    value = as_type(Parameter.Type[kind], given)
    assert (value, type(value)) == (taken, type(taken))


@pytest.mark.parametrize("frequency", [5e-324, 1e-12, 1e-9, 1e300])
def test_any_frequency_gives_an_interval_that_stamps_can_be_compared_with(frequency: float) -> None:
    values = {item.name: item.default for item in parameters.ROBOT}
    values |= {"publish_frequency": frequency, "complete_after": 1e300, "stale_timeout": 1e300}
    settings = parameters.robot_settings(values, "", (), raw=True)
    longest_ns = 1_000_000_000_000_000_000
    assert 1 <= settings.publish_interval_ns <= longest_ns
    assert settings.complete_after_ns == settings.stale_timeout_ns == longest_ns


HOSTILE: dict[str, Any] = {
    "nothing": None,
    "a truth": True,
    "a long text": "x" * 100_000,
    "signs": "a\x1b[2J\u202e\n",
    "an array of ROS": array("d", [1.0, float("nan")]),
    "whole numbers": array("q", range(10_000)),
    "truths": [True, False],
    "texts": ["a b", "x" * 100_000],
    "not finite": float("-inf"),
}


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
def test_a_refusal_has_the_value_as_a_parameter_file_has_it_in_one_short_line(value: Any) -> None:
    refusals = []
    for parameter in (item for table in TABLES.values() for item in table):
        try:
            parameter.check(parameter.name, value)
        except ParameterError as error:
            refusals.append(str(error))
    assert len(refusals) > 5
    for refusal in refusals:
        assert refusal.isprintable()
        assert len(refusal) < 400
        assert not re.search(r"array\(|\bTrue|\bFalse|\bNone", refusal), refusal


@pytest.mark.parametrize(
    "name", ["/mujoco_world", "simulation_interfaces:/gz", "mujoco_ros2_control:/mujoco_ros2_control_node", ""]
)
def test_simulators_are_nodes_or_namespaces_of_the_standard_services(name: str) -> None:
    check("simulators", [name])
