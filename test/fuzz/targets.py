# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Fuzz targets: for each kind of foreign input a function that takes bytes and raises only unexpected errors."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

from robot_semantics import DescriptionError, RobotSemanticsError, write_world
from robot_semantics.cdr.joint_states import JointStateReader
from robot_semantics.cdr.layout import CdrError, LayoutError
from robot_semantics.cdr.message_types import FIELDS, TF_MESSAGE
from robot_semantics.cdr.walk import message_layout
from robot_semantics.model.loading import robot_from_text
from robot_semantics.recording.bags.salvage import scan
from robot_semantics.urdf.reader import parse_urdf
from robot_semantics.urdf.writer import write_urdf
from robot_semantics.usdf.reader import parse_world

ARM = """<robot name="arm"><link name="base"/><link name="upper"/><link name="hand"/>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="wrist" type="floating"><parent link="upper"/><child link="hand"/></joint></robot>"""
MESSAGES = 2000
"""Limit of states read from a bag: the test is about the way through the file."""


def text_of(data: bytes) -> str:
    """Return bytes as a text, whatever they are."""
    return data.decode("utf-8", "replace")


def urdf(data: bytes) -> None:
    """A URDF is read or refused; a read one is written, and reads back equal."""
    with suppress(DescriptionError):
        parse_urdf(data)
    with suppress(DescriptionError):
        robot = robot_from_text(text_of(data), strict=False)
        again = parse_urdf(write_urdf(robot.urdf))
        assert again == parse_urdf(write_urdf(again))


def srdf(data: bytes) -> None:
    """An SRDF of a small arm is read or refused."""
    with suppress(DescriptionError):
        robot_from_text(ARM, text_of(data), strict=False)


def usdf(data: bytes) -> None:
    """A world state is read or refused; a read one is written, and reads back bit for bit equal."""
    with suppress(DescriptionError):
        state = parse_world(data, "<fuzz>")
        assert parse_world(write_world(state), "<again>") == state


def joint_state(data: bytes) -> None:
    """CDR bytes are a joint state or are refused; its arrays are as long as it says."""
    reader = JointStateReader()
    for _ in range(2):  # the second time by the layout that was remembered
        with suppress(CdrError):
            message = reader.read(data)
            assert len(message.names) == len(set(message.names)) or message.names


def tf_message(data: bytes) -> None:
    """CDR bytes have the layout of a TFMessage, or are refused with the place."""
    for ros1 in (False, True):
        with suppress(LayoutError):
            message_layout(data, FIELDS[TF_MESSAGE], ros1=ros1)


def bag(data: bytes) -> None:
    """In any damaged bag the complete messages are found, and the rest is reported."""
    if not data:
        return
    ending = (".mcap", ".bag", ".db3", ".mcap.zstd")[data[0] % 4]
    with tempfile.TemporaryDirectory() as folder, suppress(RobotSemanticsError):
        path = Path(folder) / f"x{ending}"
        path.write_bytes(data[1:])
        for number, _ in enumerate(scan(path, lambda _text: None)):
            if number > MESSAGES:
                break


def xacro(data: bytes) -> None:
    """A text without a request for expansion starts no process, with any macros."""
    started = AssertionError("a text that nobody asked to expand has started a process")
    with patch.object(subprocess, "Popen", side_effect=started), suppress(DescriptionError):
        robot_from_text(text_of(data), strict=False)


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target for target in (urdf, srdf, usdf, joint_state, tf_message, bag, xacro)
}
