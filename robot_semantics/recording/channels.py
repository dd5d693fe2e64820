# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Channels, and batches of messages by channel: the output of every reader of bags."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import NamedTuple


class DefinitionFormat(Enum):
    """The language of a message definition."""

    NONE = ""
    MSG = "msg"
    IDL = "idl"


class MessageDefinition(NamedTuple):
    """A message definition in a bag, with the definitions that it uses."""

    format: DefinitionFormat = DefinitionFormat.NONE
    data: str = ""


class Channel(NamedTuple):
    """One topic of a bag as one publisher or file declares it.

    Attributes:
        msgtype: in ROS 2's form, ``sensor_msgs/msg/JointState``.
        definition: the message definition in the bag, if any.
        messages: number of messages; -1 if unknown.
        encoding: the serialisation of the messages, unless it is CDR or the form of ROS 1.
    """

    topic: str
    msgtype: str
    definition: MessageDefinition
    ros1: bool
    messages: int
    encoding: str = ""


Message = tuple[Channel, int, bytes]
"""A channel, a log time [ns], and the bytes."""

Report = Callable[[str], None]
"""Takes a sentence about the omitted part of a damaged bag."""

Batch = dict[Channel, tuple[list[int], list[bytes]]]
"""Messages by channel: their log times and their bytes."""

BATCH_MESSAGES = 4096


def in_batches(messages: Iterable[Message]) -> Iterator[Batch]:
    """Gather single messages into batches."""
    batch: Batch = {}
    # By identity first: the hash of a channel needs its whole definition. The table keeps the channels alive.
    lists: dict[int, tuple[list[int], list[bytes], Channel]] = {}
    for count, (channel, log_ns, data) in enumerate(messages, start=1):
        own = lists.get(id(channel))
        if own is None:
            own = lists[id(channel)] = (*batch.setdefault(channel, ([], [])), channel)
        own[0].append(log_ns)
        own[1].append(data)
        if count % BATCH_MESSAGES == 0:
            yield batch
            batch, lists = {}, {}
    yield batch
