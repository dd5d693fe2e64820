# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What this package needs of generated messages, services and actions: their Python code has no types.

Messages are those of ROS 2, or those of rosbags, which makes its classes from definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol


class RosMessage(Protocol):
    """An instance of a generated message class, with the fields of its definition."""

    def __init__(self, **fields: Any) -> None:
        """Make a message; a field that is not given is empty."""

    @classmethod
    def get_fields_and_field_types(cls) -> Mapping[str, str]:
        """Return the type of each field by its name."""

    def __getattr__(self, name: str) -> Any:
        """Return the content of a field."""

    def __setattr__(self, name: str, value: object) -> None:
        """Set the content of a field; its type is checked."""


MessageTypes = Mapping[str, Callable[..., RosMessage]]
"""Message classes by name, as ``std_msgs/msg/Header``."""


class ServiceType(Protocol):
    """A generated service class."""

    Request: type[RosMessage]
    Response: type[RosMessage]


class ActionType(Protocol):
    """A generated action class."""

    Goal: type[RosMessage]
    Result: type[RosMessage]
    Feedback: type[RosMessage]
