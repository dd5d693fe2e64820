# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A node whose parameters come from tables: of one type each, checked by the table, whoever sets them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter

from robot_semantics.base.names import nearest_names
from robot_semantics.ros.node.parameter_table import Check, Parameter, ParameterError, Values


class CheckedNode(Node):  # type: ignore[misc]  # rclpy is typed in part
    """Checks new values of the parameters that `declare` declared before rclpy does, which says less.

    Attributes:
        checks: what turns values away, by the full names of parameters.

    """

    def __init__(self, name: str, **options: Any) -> None:
        """Make the node; `options` are rclpy's."""
        self.checks: dict[str, Check] = {}
        super().__init__(name, **options)

    @property
    def overrides(self) -> Mapping[str, Any]:
        """The parameters that were given in a file or an argument; rclpy shows them only by declaring all of them."""
        given: Mapping[str, RosParameter] = getattr(self, "_parameter_overrides", {})
        return {name: parameter.value for name, parameter in given.items()}

    def set_parameters(self, parameter_list: list[RosParameter]) -> list[SetParametersResult]:
        """Set parameters one after the other."""
        return [self.set_parameters_atomically([parameter]) for parameter in parameter_list]

    def set_parameters_atomically(self, parameter_list: list[RosParameter]) -> SetParametersResult:
        """Set all parameters or none; what a check refuses is logged, too."""
        try:
            for parameter in parameter_list:
                if parameter.name in self.checks:
                    self.checks[parameter.name](parameter.name, parameter.value)
        except ParameterError as error:
            self.get_logger().error(f"parameters are not changed: {error}")
            return SetParametersResult(successful=False, reason=str(error))
        return super().set_parameters_atomically([self._in_its_type(parameter) for parameter in parameter_list])

    def _in_its_type(self, given: RosParameter) -> RosParameter:
        if given.name not in self.checks:
            return given
        value = as_type(self.get_parameter(given.name).type_, given.value)
        return given if value is given.value else RosParameter(given.name, value=value)


def as_type(kind: RosParameter.Type, value: Any) -> Any:
    """Return `value` as a parameter of this type has it, where it means the same: 20.0 for 20; else as it is."""
    if kind is RosParameter.Type.DOUBLE and type(value) is int:
        return float(value)
    if kind is RosParameter.Type.INTEGER and type(value) is float and value.is_integer():
        return int(value)
    if kind is RosParameter.Type.DOUBLE_ARRAY and not isinstance(value, (str, bool, int, float, type(None))):
        return [as_type(RosParameter.Type.DOUBLE, item) for item in value]
    if kind is RosParameter.Type.STRING_ARRAY and not isinstance(value, str) and value is not None and not len(value):
        # An empty list has no type of its own.
        return [""]
    return value


def declare(
    node: CheckedNode, table: Iterable[Parameter], prefix: str = "", defaults: Values | None = None
) -> dict[str, Any]:
    """Declare every parameter of `table` as ``PREFIX.NAME``; return the values by full name, checked.

    The values of `defaults`, by NAME, replace the table's defaults.

    Raises:
        ParameterError: a given value means nothing.

    """
    values: dict[str, Any] = {}
    for parameter in table:
        name = f"{prefix}.{parameter.name}" if prefix else parameter.name
        default = (defaults or {}).get(parameter.name, parameter.default)
        if not node.has_parameter(name):
            # What was given is checked here first: rclpy would say less, and turn away 20 where 20.0 is meant.
            value = default
            if name in node.overrides:
                parameter.check(name, node.overrides[name])
                value = as_type(RosParameter.Type.from_parameter_value(parameter.default), node.overrides[name])
            node.declare_parameter(name, value, parameter.descriptor(), ignore_override=True)
            node.checks[name] = parameter.check
        value = node.get_parameter(name).value
        if isinstance(default, list) and value is not None and not isinstance(value, str):
            value = list(value)
        parameter.check(name, value)
        values[name] = value
    return values


def unknown_overrides(node: CheckedNode, waiting: bool = False) -> dict[str, str]:
    """Return what to say of each parameter that was given to a node, in a file or an argument, and that it never reads.

    With `waiting` those below ``virtual_joints.`` may yet be declared, once a description names the joint.
    """
    given = [name for name in node.overrides if not name.startswith("qos_overrides.")]
    unknown = [name for name in given if not node.has_parameter(name)]
    declared = sorted(node.list_parameters([], 0).names)
    found = {}
    for name in unknown:
        if not (waiting and "virtual_joints." in name):
            near = nearest_names(name, declared, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            found[name] = f"parameter '{name}' has no effect: there is none of this name{hint}"
    return found
