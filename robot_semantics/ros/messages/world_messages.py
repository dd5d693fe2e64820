# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""World states as ROS messages and back.

Poses become quaternions. A message cannot hold the engines' own states and foreign XML; they are in the USDF text that
the services return with the message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from robot_semantics_interfaces.msg import StateItem, WorldFrame, WorldJoint, WorldLink, WorldModel
from robot_semantics_interfaces.msg import WorldState as WorldStateMessage

from robot_semantics.base.nanoseconds import stamp_ns
from robot_semantics.cdr.generated_types import RosMessage
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.ros.messages.maker import MAKER, pose_message, pose_of, row_of_twist, row_of_wrench
from robot_semantics.usdf.fields import ElementField, ElementList, fields_of, lists_of
from robot_semantics.usdf.frames import without_parent_links
from robot_semantics.usdf.restore_report import RestoreItem
from robot_semantics.usdf.robot import with_carriers
from robot_semantics.usdf.table import TWIST_VECTORS, USDF, WRENCH_VECTORS, FieldQuantity, ValueForm
from robot_semantics.usdf.world_state import WORLD, Frame, JointState, LinkState, ModelState, WorldState


def world_to_message(
    state: WorldState,
    missing: Iterable[RestoreItem] = (),
    robots: Mapping[str, RobotModel | ForwardKinematics] | None = None,
) -> WorldStateMessage:
    """Return the message of a world state and its `missing` items; all poses are relative to the parent's frame.

    The joints of `robots`, by their models' names, give the poses of carrying links.

    Raises:
        NotStatedError: the pose of a carrying link is not stated and cannot be computed.
    """
    links = {model.name: model.links for model in state.models}
    state = without_parent_links(with_carriers(state, robots or {}))
    state = replace(state, models=tuple(replace(model, links=links[model.name]) for model in state.models))
    message = WorldStateMessage(has_time=state.time_ns is not None)
    message.header.frame_id = WORLD
    if state.time_ns is not None:
        message.header.stamp = MAKER.time(state.time_ns)
    message.missing = item_messages(missing)
    return _message_of(state, message)


def world_from_message(message: WorldStateMessage) -> WorldState:
    """Return the world state of a message."""
    time_ns = stamp_ns(message.header.stamp) if message.has_time else None
    return WorldState(**_values_of(message), time_ns=time_ns)


def item_messages(items: Iterable[RestoreItem]) -> list[StateItem]:
    """Return the messages of result items or missing items."""
    return [
        StateItem(kind=item.kind, model=item.model, name=item.name, code=_code(item), reason=item.detail, by=item.by)
        for item in items
    ]


def _code(item: RestoreItem) -> str:
    return item.code or ("derived" if item.derived else "taken" if item.done else "refused")


def note_messages(notes: Iterable[str]) -> list[StateItem]:
    """Return the messages of notes."""
    return item_messages(RestoreItem("", "", "", True, note, code="note") for note in notes)


def items_from_messages(messages: Iterable[StateItem], *, done: bool, by: str = "") -> list[RestoreItem]:
    """Return the items of messages; `by` is the simulator that sent them."""
    return [
        RestoreItem(
            message.kind,
            message.model,
            message.name,
            done,
            message.reason,
            derived=message.code == "derived",
            code=message.code,
            by=by or message.by,
        )
        for message in messages
    ]


class _Slot(NamedTuple):
    """A field of a message and the corresponding field of a value.

    Attributes:
        slot: the message's field.
        name: the value's field.
        stated: the message's field that is true if the value is stated. None for a text, which is empty if not stated.
        to_message: returns the content of the message's field.
        from_message: returns the value.
    """

    slot: str
    name: str
    stated: str | None
    to_message: Callable[[Any], object]
    from_message: Callable[[Any], object]


Codec = tuple[Callable[[Any], object], Callable[[Any], object]]
"""Functions from a value to the content of a message's field, and back."""


@cache
def _slots(
    kind: type[RosMessage], of: ElementList | None
) -> tuple[tuple[_Slot, ...], tuple[tuple[str, ElementList], ...]]:
    """Return the fields and the lists of an item, or of the world, that a message class has."""
    element = USDF.root if of is None else of.element
    known = kind.get_fields_and_field_types()
    slots = []
    for field in fields_of(element):
        slot = field.tag.rpartition(":")[2]
        if slot in known and slot != "name":
            stated = f"has_{slot}" if f"has_{slot}" in known else None
            slots.append(_Slot(slot, field.name, stated, *_codec(field)))
    lists = ((f"{items.tag.rpartition(':')[2]}s", items) for items in lists_of(element))
    return tuple(slots), tuple((slot, items) for slot, items in lists if slot in known)


def _message_of(value: Any, message: RosMessage, of: ElementList | None = None) -> RosMessage:
    """Fill a message with the fields and lists that its class has, of an item or, without a list, of the world."""
    message_type = type(message)
    slots, lists = _slots(message_type, of)
    message.name = value.name or ""
    for slot, name, stated, to_message, _ in slots:
        content = getattr(value, name)
        if content is not None:
            if stated is not None:
                setattr(message, stated, True)
            setattr(message, slot, to_message(content))
    for slot, items in lists:
        make = MESSAGES[items.quantity.type]
        setattr(message, slot, [_message_of(item, make(), items) for item in getattr(value, items.field)])
    return message


def _values_of(message: RosMessage, of: ElementList | None = None) -> dict[str, Any]:
    """Return the fields and lists of a message as arguments of the class of the item, or of the world."""
    message_type = type(message)
    slots, lists = _slots(message_type, of)
    values: dict[str, Any] = {"name": message.name if of else message.name or None}
    for slot, name, stated, _, from_message in slots:
        content = getattr(message, slot)
        if content if stated is None else getattr(message, stated):
            values[name] = from_message(content)
    for slot, items in lists:
        make: Any = items.quantity.type
        values[items.field] = tuple(make(**_values_of(item, items)) for item in getattr(message, slot))
    return values


def _codec(field: ElementField) -> Codec:
    """Return the conversions of a field to the content of a message's field, and back."""
    return CODECS.get(field.quantity, CODECS.get(field.quantity.form, (_listed, _tupled)))


def _listed(content: object) -> object:
    return list(content) if isinstance(content, tuple) else content


def _tupled(content: Any) -> Any:
    return content if isinstance(content, str | int | float) else tuple(content)


MESSAGES: dict[type | None, Callable[[], RosMessage]] = {
    ModelState: WorldModel,
    Frame: WorldFrame,
    LinkState: WorldLink,
    JointState: WorldJoint,
}
"""The message of each item of a world state."""

CODECS: dict[FieldQuantity | ValueForm, Codec] = {
    ValueForm.POSE: (pose_message, pose_of),
    TWIST_VECTORS: (MAKER.twist, row_of_twist),
    WRENCH_VECTORS: (MAKER.wrench, row_of_wrench),
}
"""How quantities become message fields, and back; other values go as they are, tuples as lists."""
