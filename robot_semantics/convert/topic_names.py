# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Valid ROS topic names made from the names of models."""

from __future__ import annotations

import re
from collections.abc import Iterable

from robot_semantics.base.errors import RobotSemanticsError

LONGEST_NAMESPACE = 200
"""Characters of a namespace; rmw takes topic names of up to 247."""


def topic_namespace(name: str) -> str:
    """Return the namespace, without slashes around it, of the topics of a model.

    Characters that a topic name may not have become ``_``; a part that begins with a digit gets ``_`` before it.
    """
    parts = (re.sub(r"[^A-Za-z0-9_]", "_", part) or "_" for part in name.split("/"))
    return "/".join(f"_{part}" if part[0].isdigit() else part for part in parts)


def topic_namespaces(names: Iterable[str]) -> dict[str, str]:
    """Return the `topic_namespace` of each model by its name.

    Raises:
        RobotSemanticsError: two models have the same one, or a name is too long.
    """
    found: dict[str, str] = {}
    for name in names:
        namespace = topic_namespace(name)
        if len(namespace) > LONGEST_NAMESPACE:
            raise RobotSemanticsError(
                f"model '{name}': too long for a topic name (at most {LONGEST_NAMESPACE} characters)"
            )
        other = next((other for other, taken in found.items() if taken == namespace and other != name), None)
        if other is not None:
            raise RobotSemanticsError(
                f"models '{other}' and '{name}' have the same topics, '/{namespace}/...'; rename one of them"
            )
        found[name] = namespace
    return found
