# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Facts about bags, and the protocol of the sources that read their messages."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import field
from enum import Enum
from pathlib import Path
from typing import NamedTuple, Protocol

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.pattern import pattern
from robot_semantics.base.record import record
from robot_semantics.cdr.generated_types import RosMessage
from robot_semantics.cdr.message_types import JOINT_STATE, STRING, TF_MESSAGE
from robot_semantics.recording.bags.columns import NONSENSE
from robot_semantics.usdf.world_state import WORLD

# Channels, and batches of messages by channel: the output of every reader of bags.


JSON, PROTOBUF = "json", "protobuf"
"""Encodings whose messages are read by their schema."""


class DefinitionFormat(Enum):
    """The language of a message definition."""

    NONE = ""
    MSG = "msg"
    IDL = "idl"
    PROTOBUF = "protobuf"


class MessageDefinition(NamedTuple):
    """A message definition in a bag, with the definitions that it uses.

    Attributes:
        format: its language.
        data: its text; for protobuf, the bytes of the descriptors, one letter each.
    """

    format: DefinitionFormat = DefinitionFormat.NONE
    data: str = ""


class Channel(NamedTuple):
    """One topic of a bag as one publisher or file declares it.

    Attributes:
        msgtype: in ROS 2's form, ``sensor_msgs/msg/JointState``.
        definition: the message definition in the bag, if any.
        messages: number of messages; -1 if unknown.
        encoding: the serialisation of the messages, unless it is CDR or the form of ROS 1.
        schema: the name of the schema in JSON or protobuf; `msgtype` is then the ROS message with this content.
    """

    topic: str
    msgtype: str
    definition: MessageDefinition
    ros1: bool
    messages: int
    encoding: str = ""
    schema: str = ""


ROS1_NAMES = {"tf/msg/tfMessage": TF_MESSAGE}
"""Older names of the same messages."""

_DDS_NAME = pattern(r"(\w+)::(msg|srv|action)::(?:(dds_)::)?(\w+)")


def topic_name(text: str) -> str:
    """Return the full name of a topic: recorders and options may leave out the leading slash."""
    return text if text.startswith("/") else f"/{text}"


def ros_type_name(name: str) -> str:
    """Return a message type in the form of ROS 2; DDS writes ``std_msgs::msg::dds_::String_``."""
    found = _DDS_NAME.fullmatch(name)
    if found:
        name = f"{found[1]}/{found[2]}/{found[4].removesuffix('_') if found[3] else found[4]}"
    return ROS1_NAMES.get(name, name)


def declared_channel(
    topic: str, msgtype: str, definition: MessageDefinition, *, ros1: bool, messages: int, encoding: str = ""
) -> Channel:
    """Return a channel by the names in a bag, with the names of ROS 2.

    A topic gets its leading slash. Where DDS has mangled the type, it has also put ``rt/`` before the topic.
    """
    name = ros_type_name(msgtype)
    if name != msgtype and "::dds_::" in msgtype:
        topic = topic.removeprefix("/").removeprefix("rt/")
    text = definition if definition.data.strip() else MessageDefinition()
    return Channel(topic_name(topic), name, text, ros1, messages, "" if encoding == "cdr" else encoding)


Message = tuple[Channel, int, bytes]
"""A channel, a log time [ns], and the bytes."""

Report = Callable[[str], None]
"""Takes a sentence about the omitted part of a damaged bag."""

STILL_WRITTEN = "the file is still written; it is read to its last whole message"
"""End of the sentence about a file that grows while it is read."""

Batch = dict[Channel, tuple[list[int], list[bytes]]]
"""Messages by channel: their log times and their bytes."""

BATCH_MESSAGES = 4096
BATCH_BYTES = 8 * 2**20
"""Limits of a batch."""


def in_batches(messages: Iterable[Message]) -> Iterator[Batch]:
    """Gather single messages into batches."""
    batch: Batch = {}
    # By identity first: the hash of a channel needs its whole definition. The table keeps the channels alive.
    lists: dict[int, tuple[list[int], list[bytes], Channel]] = {}
    count = size = 0
    for channel, log_ns, data in messages:
        own = lists.get(id(channel))
        if own is None:
            own = lists[id(channel)] = (*batch.setdefault(channel, ([], [])), channel)
        own[0].append(log_ns)
        own[1].append(data)
        count += 1
        size += len(data)
        if count == BATCH_MESSAGES or size > BATCH_BYTES:
            yield batch
            batch, lists, count, size = {}, {}, 0, 0
    yield batch


# Endings of bags; models and frames in the metadata of our own recordings: the `custom_data` of a rosbag2.


KEY = "robot_semantics"

ROS1_ENDINGS = (".bag", ".bag.active")
"""Endings of the files of ROS 1."""

ENDINGS = (".mcap.zstd", ".db3.zstd", ".mcap", ".db3", *ROS1_ENDINGS)
"""Endings of the files with messages; a longer ending comes before a shorter one."""


class RecordedModel(NamedTuple):
    """A model of a recording that `bag` wrote.

    Attributes:
        name: its name in the world states.
        namespace: of its topics, ``""`` or ``"/left_arm"``.
        joints: the joints whose position at least one state has.
    """

    name: str
    namespace: str
    joints: frozenset[str]


def free_frame(name: str, taken: Container[str]) -> str:
    """Return the TF name of a frame: NAME, or ``NAME_frame`` if a link has this TF name; `taken`: TF names of links."""
    while name in taken:
        name += "_frame"
    return name


def metadata_text(models: Iterable[RecordedModel], frames: Mapping[str, str]) -> str:
    """Return the text under `KEY`: the models, and frames that have another name on TF (TF name → name)."""
    entries = [{"name": m.name, "namespace": m.namespace, "joints": sorted(m.joints)} for m in models]
    return json.dumps({"version": 1, "models": entries, "frames": dict(frames)}, ensure_ascii=False)


class OwnMetadata(ABC):
    """The part of a bag's source that reads the metadata that this package writes."""

    @property
    @abstractmethod
    def _custom_data(self) -> Mapping[str, str] | None:
        """The custom data of the bag."""

    @property
    def models(self) -> tuple[RecordedModel, ...]:
        """The models in the metadata, if this package wrote the bag."""
        return models_of_metadata(self._custom_data)

    @property
    def frames(self) -> dict[str, str]:
        """The names of frames by their TF names, if they differ and this package wrote the bag."""
        return frames_of_metadata(self._custom_data)


def models_of_metadata(custom: Mapping[str, str] | None) -> tuple[RecordedModel, ...]:
    """Return the models in the custom data of a bag; none if another program wrote the bag."""
    try:
        entries = json.loads((custom or {})[KEY])["models"]
        models = tuple(
            RecordedModel(str(entry["name"]), str(entry["namespace"]), frozenset(map(str, entry["joints"])))
            for entry in entries
        )
    except NONSENSE:
        return ()
    names, namespaces = {model.name for model in models}, {model.namespace for model in models}
    usable = all(name.strip() and name != WORLD for name in names)
    return models if usable and len(names) == len(namespaces) == len(models) else ()


def frames_of_metadata(custom: Mapping[str, str] | None) -> dict[str, str]:
    """Return the frames that have another name on TF (TF name → name); none if another program wrote the bag."""
    try:
        frames = json.loads((custom or {})[KEY])["frames"]
        found = {str(tf_name): str(name) for tf_name, name in frames.items()}
    except NONSENSE:
        return {}
    usable = all(name.strip() and tf_name != WORLD for tf_name, name in found.items())
    return found if usable and len(set(found.values())) == len(found) else {}


class RequestError(RobotSemanticsError):
    """The request does not fit the recording."""


class BagError(RobotSemanticsError):
    """A bag that cannot be read at all.

    Attributes:
        path: the bag.
        reason: why it cannot be read.
    """

    def __init__(self, path: Path, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")


class BagSource(Protocol):
    """A bag that a library reads; use it in a ``with`` statement."""

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The channels of the bag."""

    @property
    def models(self) -> tuple[RecordedModel, ...]:
        """The models in the metadata, if this package wrote the bag."""

    @property
    def frames(self) -> dict[str, str]:
        """The names of frames by their TF names, if they differ and this package wrote the bag."""

    @property
    def span_ns(self) -> tuple[int, int]:
        """Log time of the first and of the last message [ns]."""

    @property
    def notices(self) -> tuple[str, ...]:
        """Differences between the metadata and the files of the bag, in words."""

    def batches(self, topics: Collection[str], start: int | None = None, stop: int | None = None) -> Iterator[Batch]:
        """Yield the messages of some topics with log times from `start` to before `stop` [ns]."""

    def __enter__(self) -> BagSource:
        """Open the bag."""

    def __exit__(self, *error: object) -> None:
        """Close the bag."""


class BagWriter(Protocol):
    """Writes messages to a new bag.

    Attributes:
        types: message classes by name.
    """

    types: Mapping[str, type]

    def write(self, topic: str, msgtype: str, time_ns: int, message: RosMessage, *, latched: bool) -> None:
        """Write a message with its log time [ns]."""

    def close(self, custom_data: Mapping[str, str]) -> None:
        """Close the bag and add the custom data to its metadata."""


@record(frozen=True)
class BagInfo:
    """Facts about a bag.

    Attributes:
        start_ns: log time of the first message.
        end_ns: log time of the last message; before `start_ns` if there is none.
        damaged: the damage; "" for a sound bag.
        scanned: True if it must be read record by record, because it is damaged or `rosbags` refuses it.
        models: the models in its metadata, if this package wrote it.
        frames: the names of frames by their TF names, if they differ and this package wrote it.
    """

    path: Path
    channels: tuple[Channel, ...]
    start_ns: int
    end_ns: int
    damaged: str = ""
    scanned: bool = False
    models: tuple[RecordedModel, ...] = ()
    frames: Mapping[str, str] = field(default_factory=dict)

    @property
    def topics(self) -> dict[str, str]:
        """The message type of each topic."""
        return {channel.topic: channel.msgtype for channel in self.channels}

    def counts(self) -> dict[str, int]:
        """Return the number of messages of each topic, as the bag states it."""
        result: dict[str, int] = {}
        for channel in self.channels:
            result[channel.topic] = result.get(channel.topic, 0) + max(channel.messages, 0)
        return result


def write_ahead_log(path: Path) -> Path | None:
    """Return the write-ahead log of a database; None if it does not exist or is empty."""
    log = path.with_name(f"{path.name}-wal")
    return log if path.suffix.lower() == ".db3" and log.is_file() and log.stat().st_size else None


def is_cut_off(path: Path) -> bool:
    """Return whether a database is shorter than its header says. SQLite reads missing bytes as zeros."""
    with path.open("rb") as file:
        head = file.read(100)
    if len(head) < 100 or head[24:28] != head[92:96]:
        # The last writer did not update the number of pages.
        return False
    size = int.from_bytes(head[16:18], "big")
    return path.stat().st_size < (65536 if size == 1 else size) * int.from_bytes(head[28:32], "big")


def storage_files(path: Path) -> tuple[Path, ...]:
    """Return the files with messages of a bag, in the order of their names.

    Raises:
        BagError: there is none.
    """
    if not path.is_dir():
        return (path,)
    found = (file for file in path.iterdir() if is_bag_name(file.name))
    # Splits are numbered without leading zeros: bag_2 comes before bag_10.
    files = tuple(
        sorted(found, key=lambda file: [int(part) if part.isdigit() else 0 for part in re.split(r"(\d+)", file.name)])
    )
    if not files:
        raise BagError(path, "no bag: the folder holds neither .mcap nor .db3 files")
    return files


def unlisted_notices(topics: Iterable[str], files: Iterable[str]) -> tuple[str, ...]:
    """Return the sentences about topics and files of a bag that its metadata lacks."""
    notices = [f"metadata.yaml lacks the topic '{topic}', which the files have; it is read" for topic in topics]
    return (*notices, *(f"metadata.yaml lacks the file '{name}'; it is not read" for name in files))


def is_bag_name(name: str) -> bool:
    """Return True for the name of a file with messages, in small or capital letters."""
    return name.lower().endswith(ENDINGS)


def is_recording(path: Path) -> bool:
    """Return True if a file or folder is a recording: a rosbag2 folder, or files of ROS 1, mcap or sqlite3."""
    files = path.iterdir() if path.is_dir() else [path]
    return (path / "metadata.yaml").is_file() or any(is_bag_name(file.name) for file in files)


def ending_of(file: Path) -> str:
    """Return the ending of a file with messages, of `ENDINGS`.

    Raises:
        BagError: the file has another ending.
    """
    suffixes = "".join(file.suffixes[-2:]).lower()
    for ending in ENDINGS:
        if suffixes.endswith(ending):
            return ending
    raise BagError(file, f"a bag ends in .mcap, .db3 or .bag, not in '{file.suffix}'")


# The message types that a recording is read for, as the fields of their serialised form.


USUAL_TYPES = {
    "tf": TF_MESSAGE,
    "tf_static": TF_MESSAGE,
    "joint_states": JOINT_STATE,
    "robot_description": STRING,
    "robot_description_semantic": STRING,
}
"""Message types of topics with these names, in any namespace."""
