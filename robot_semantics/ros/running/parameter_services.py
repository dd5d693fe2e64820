# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The services that set parameters, with a reason for each parameter that is not set."""

from __future__ import annotations

from collections.abc import Callable

from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.parameter import Parameter

from robot_semantics.cdr.generated_types import RosMessage, ServiceType
from robot_semantics.ros.running.parameter_table import ParameterError

Callback = Callable[[RosMessage, RosMessage], RosMessage]
Explain = Callable[[str, Exception], str]
"""Returns the reason of a failed call; its arguments are the name of the call and the error."""

_TYPES = {type_.value for type_ in Parameter.Type}


def _set_each(callback: Callback, explain: Explain) -> Callback:
    def answer(request: RosMessage, response: RosMessage) -> RosMessage:
        for parameter in request.parameters:
            try:
                _check_type(parameter)
                one = callback(SetParameters.Request(parameters=[parameter]), SetParameters.Response())
                response.results.extend(one.results)
            except Exception as error:  # noqa: BLE001 - the caller gets the error, and the node continues
                response.results.append(_failure(explain, error))
        return response

    return answer


def _set_all(callback: Callback, explain: Explain) -> Callback:
    def answer(request: RosMessage, response: RosMessage) -> RosMessage:
        try:
            for parameter in request.parameters:
                _check_type(parameter)
            return callback(request, response)
        except Exception as error:  # noqa: BLE001 - the caller gets the error, and the node continues
            response.result = _failure(explain, error)
            return response

    return answer


def _failure(explain: Explain, error: Exception) -> SetParametersResult:
    return SetParametersResult(successful=False, reason=explain("parameters", error))


def _check_type(parameter: ParameterMessage) -> None:
    # rclpy raises an error for these, and its answer has no result for any parameter.
    if parameter.value.type not in _TYPES:
        raise ParameterError(f"parameter '{parameter.name}' has an unknown type, {parameter.value.type}")


ANSWER_WITH_REASONS: dict[type[ServiceType], Callable[[Callback, Explain], Callback]] = {
    SetParameters: _set_each,
    SetParametersAtomically: _set_all,
}
"""For the type of a service: returns its callback with the reasons."""
