# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.


"""The service that replaces the description of a running robot: URDF, SRDF and transforms in one act."""

from __future__ import annotations

from typing import Any

from robot_semantics_interfaces.srv import ReplaceDescription

from robot_semantics.base.errors import DescriptionError, RobotSemanticsError
from robot_semantics.ros.node.live_parameters import LiveParameters, Replacement
from robot_semantics.ros.node.served_robot import DESCRIPTIONS, ServedRobot


class DescriptionService:
    """Offers ``~/replace_description``, or ``~/MODEL/replace_description``."""

    def __init__(self, served: ServedRobot, live: LiveParameters) -> None:
        self._served, self._live = served, live
        served.node.create_service(ReplaceDescription, f"~/{served.topic('replace_description')}", self._answer)

    def _answer(
        self, request: ReplaceDescription.Request, response: ReplaceDescription.Response
    ) -> ReplaceDescription.Response:
        served = self._served
        try:
            replacement = self._live.replace(
                served, self._texts(request), strict=request.strict, dry_run=request.dry_run
            )
        except DescriptionError as error:
            response.message = f"the description is refused, and the robot stays as it is: {error}"
            response.problems = [str(problem) for problem in error.diagnostics]
            return response
        response.success = True
        response.message = _message(served, replacement, dry_run=request.dry_run)
        response.problems = [str(problem) for problem in replacement.description.problems]
        response.kept, response.lost = list(replacement.kept), list(replacement.lost)
        return response

    def _texts(self, request: ReplaceDescription.Request) -> dict[str, Any]:
        """Return the new texts by the names of their parameters.

        Raises:
            RobotSemanticsError: the request has an SRDF and wants to keep the present one.
        """
        if request.keep_srdf and request.srdf:
            raise RobotSemanticsError("give either a text in 'srdf' or 'keep_srdf', not both")
        urdf, srdf = (self._served.parameter(name) for name in DESCRIPTIONS)
        return {urdf: request.urdf, srdf: self._served.values[srdf] if request.keep_srdf else request.srdf}


def _message(served: ServedRobot, replacement: Replacement, *, dry_run: bool) -> str:
    model = replacement.description.model
    return (
        f"robot '{served.prefix or model.name}' {'would be' if dry_run else 'is'} replaced: {len(model.links)} links,"
        f" {len(model.joints) - 1} joints; {len(replacement.kept)} joints keep their values,"
        f" {len(replacement.lost)} lose them"
    )
