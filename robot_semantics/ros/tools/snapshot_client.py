"""A running node's snapshot services, for programs that are no nodes themselves."""

from __future__ import annotations

from typing import Any

from robot_semantics_interfaces import srv

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.ros.tools.service_caller import ServiceCaller

_SERVICES: dict[str, Any] = {
    "save": srv.SaveSnapshot,
    "restore": srv.RestoreSnapshot,
    "list": srv.ListSnapshots,
    "delete": srv.DeleteSnapshot,
}


def call_snapshot_service(
    node: str, operation: str, timeout_s: float, *, must_succeed: bool = True, **request: Any
) -> Any:
    """Return a node's answer to ``save``, ``restore``, ``list`` or ``delete``.

    Raises:
        RobotSemanticsError: the node is not there, does not answer, or (with `must_succeed`) says that it failed.

    """
    kind = _SERVICES[operation]
    name = f"{operation}_snapshots" if operation == "list" else f"{operation}_snapshot"
    with ServiceCaller(timeout_s) as caller:
        answer = caller.call(kind, f"{node.rstrip('/')}/{name}", **request)
    if must_succeed and not answer.success:
        raise RobotSemanticsError(answer.message)
    return answer
