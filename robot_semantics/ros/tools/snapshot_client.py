# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Client of a node's snapshot services, for programs without a node."""

from __future__ import annotations

from typing import NamedTuple

from robot_semantics_interfaces import srv

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.cdr.generated_types import RosMessage, ServiceType
from robot_semantics.ros.messages.world_messages import items_from_messages
from robot_semantics.ros.tools.own_node import ServiceCaller
from robot_semantics.usdf.restore_report import RestoreItem

_SERVICES: dict[str, type[ServiceType]] = {
    "save": srv.SaveSnapshot,
    "restore": srv.RestoreSnapshot,
    "list": srv.ListSnapshots,
    "delete": srv.DeleteSnapshot,
}


class SnapshotAnswer(NamedTuple):
    """Answer of a node.

    Attributes:
        answer: the message.
        success: True if the request was carried out.
        message: one sentence with the result or the reason of a failure.
        restored: items that were restored.
        not_restored: items that were not.
        missing: items that a saved snapshot does not have.
        notes: further notes for the user.
    """

    answer: RosMessage
    success: bool
    message: str
    restored: tuple[RestoreItem, ...]
    not_restored: tuple[RestoreItem, ...]
    missing: tuple[RestoreItem, ...]
    notes: tuple[RestoreItem, ...]


def call_snapshot_service(
    node: str, operation: str, timeout_s: float, *, must_succeed: bool = True, **request: object
) -> SnapshotAnswer:
    """Return a node's answer to ``save``, ``restore``, ``list`` or ``delete``.

    Raises:
        RobotSemanticsError: the node does not exist, does not answer, or (with `must_succeed`) reports a failure.

    """
    kind = _SERVICES[operation]
    name = f"{operation}_snapshots" if operation == "list" else f"{operation}_snapshot"
    with ServiceCaller(timeout_s) as caller:
        answer = caller.call(kind, f"{node.rstrip('/')}/{name}", **request)
    if must_succeed and not answer.success:
        raise RobotSemanticsError(answer.message)

    def items(field: str, *, done: bool) -> tuple[RestoreItem, ...]:
        return tuple(items_from_messages(getattr(answer, field, ()), done=done))

    return SnapshotAnswer(
        answer,
        answer.success,
        answer.message,
        items("restored", done=True),
        items("not_restored", done=False),
        items("missing", done=False),
        items("notes", done=True),
    )
