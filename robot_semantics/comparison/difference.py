# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""One difference of two robots."""

from __future__ import annotations

from typing import NamedTuple

from robot_semantics.base.json_value import Json


class RobotDifference(NamedTuple):
    """One difference.

    Attributes:
        kind: what differs, as ``joint_origin`` or ``mass``.
        name: the joint, link, group or pair of robot A; of robot B if A does not have it.
        text: the difference in words.
        a: the value of robot A, if one value says it.
        b: the value of robot B.
    """

    kind: str
    name: str
    text: str
    a: Json = None
    b: Json = None
