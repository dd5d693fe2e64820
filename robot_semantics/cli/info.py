# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics info`: what a description, a world state, a series, a recording or a folder of them has."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from robot_semantics.base.diagnostic import Severity
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.files import STANDARD_INPUT
from robot_semantics.base.json_value import JsonObject
from robot_semantics.base.names import quoted
from robot_semantics.base.nanoseconds import float_seconds, seconds_text
from robot_semantics.cli.frame import inputs
from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.frame.console import console_for_output, empty_table
from robot_semantics.cli.frame.printing import add_json_argument, counted, print_line, print_note, print_result
from robot_semantics.cli.frame.problems import print_problems
from robot_semantics.recording.bags.columns import Stream
from robot_semantics.xml.document_kind import DocumentKind, kind_of_file

if TYPE_CHECKING:
    from robot_semantics.recording.bags.source import BagInfo
    from robot_semantics.recording.read.clocks import RecordedSender

_MOST_NAMES = 12


class Topic(NamedTuple):
    """A topic of a recording: message type, number of messages, messages in a second, and the senders."""

    msgtype: str
    messages: int
    rate: float | None
    senders: tuple[JsonObject, ...] = ()

    def as_json(self) -> JsonObject:
        """Return the topic as JSON-ready values."""
        return {"type": self.msgtype, "count": self.messages, "rate": self.rate, "senders": list(self.senders)}


class Info(NamedTuple):
    """Content of a file or folder.

    Attributes:
        file: its name.
        kind: ``urdf``, ``srdf``, ``usdf``, ``series``, ``recording`` or ``folder``.
        robots: names of the robots.
        start_ns: first time [ns]; None where there is none.
        end_ns: last time [ns].
        topics: of a recording.
        joints: names of the joints.
        size: bytes.
        files: contents of the recordings of a folder.
    """

    file: str
    kind: str
    robots: tuple[str, ...]
    start_ns: int | None
    end_ns: int | None
    topics: Mapping[str, Topic]
    joints: tuple[str, ...]
    size: int
    files: tuple[Info, ...] = ()

    @property
    def duration_ns(self) -> int | None:
        """Time from the first to the last moment [ns]."""
        return None if self.start_ns is None or self.end_ns is None else self.end_ns - self.start_ns

    def as_json(self) -> JsonObject:
        """Return the content as JSON-ready values, times in seconds and exact in nanoseconds."""
        times = {"start": self.start_ns, "end": self.end_ns, "duration": self.duration_ns}
        value: JsonObject = {
            "file": self.file,
            "kind": self.kind,
            "robots": list(self.robots),
            **{name: None if time is None else float_seconds(time) for name, time in times.items()},
            **{f"{name}_ns": time for name, time in times.items()},
            "topics": {name: topic.as_json() for name, topic in self.topics.items()},
            "joints": list(self.joints),
            "size": self.size,
        }
        return {**value, "files": [file.as_json() for file in self.files]} if self.kind == "folder" else value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("file", metavar="FILE", help="description, world state, series, recording, or a folder")
    inputs.add_package_argument(parser)
    inputs.add_reading_arguments(parser)
    add_json_argument(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print the content."""
    info = _info_of(arguments.file, arguments)
    if arguments.json:
        print_result(info.as_json())
        return
    for line in _lines(info):
        print_line(line)
    if info.topics:
        rows = empty_table("topic", "type", "messages", "rate", "senders")
        for name, topic in info.topics.items():
            rate = "-" if topic.rate is None else f"{topic.rate:.3g} Hz"
            rows.add_row(name, topic.msgtype, str(topic.messages), rate, str(len(topic.senders) or "-"))
        console_for_output().print(rows)


def _lines(info: Info) -> Iterator[str]:
    size = f"{info.size / 1e6:.3g} MB" if info.size >= 1e5 else counted(info.size, "byte")
    yield f"{info.file}: {info.kind}, {size}"
    if info.robots:
        yield f"robots: {quoted(info.robots, _MOST_NAMES)}"
    if info.start_ns is not None and info.duration_ns is not None:
        span = f", {seconds_text(info.duration_ns)} s long" if info.kind != "usdf" else ""
        yield f"from {seconds_text(info.start_ns)} s{span}"
    if info.joints:
        yield f"{counted(len(info.joints), 'joint')}: {quoted(info.joints, _MOST_NAMES)}"
    for file in info.files:
        duration = "" if file.duration_ns is None else f", {seconds_text(file.duration_ns)} s long"
        yield f"{file.file}: {file.kind}{duration}, {counted(len(file.topics), 'topic')}"


def _info_of(file: str, arguments: argparse.Namespace) -> Info:
    """Return the content of a file or folder.

    Raises:
        RobotSemanticsError: it cannot be read, or has nothing that is known.
        OSError: likewise.
    """
    # Import here: a description needs no recordings.
    from robot_semantics.recording.bags.source import is_recording
    from robot_semantics.recording.series.formats import is_series

    path = Path(file)
    if file != STANDARD_INPUT:
        path.stat()
        if is_recording(path):
            return _recording(path)
        if path.is_dir() and not is_series(path):
            return _folder(path, arguments)
        if path.suffix.lower() != ".usdf" and is_series(path):
            return _series(path)
    kind = kind_of_file(file)
    if kind is DocumentKind.SRDF:
        from robot_semantics.srdf.table import srdf_from_file

        find, xacro = inputs.package_finder(arguments, file), inputs.xacro_of(arguments)
        semantic = srdf_from_file(file, Diagnostics(), xacro=xacro, find_package=find)
        return _described(file, "srdf", [semantic.name or ""], [])
    if kind is DocumentKind.USDF:
        from robot_semantics.cli.usdf.files import read_world_file

        state = read_world_file(file, Diagnostics()).state
        joints = [joint.name for model in state.models for joint in model.joints]
        found = _described(file, "usdf", [model.name for model in state.models], joints)
        return found._replace(start_ns=state.time_ns, end_ns=state.time_ns)
    problems = Diagnostics()
    robot = inputs.read_robot_files(arguments, file, diagnostics=problems)
    inputs.print_diagnostics(problems)
    return _described(file, "urdf", [robot.name], robot.joint_names[1:])


def _described(file: str, kind: str, robots: Iterable[str], joints: Iterable[str]) -> Info:
    from robot_semantics.xml.reader import read_text

    return Info(file, kind, _once(robots), None, None, {}, _once(joints), len(read_text(file)))


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def _series(path: Path) -> Info:
    from robot_semantics.recording.series.input import load_states

    # Descriptions that are not there are no content.
    states = load_states([path], Diagnostics()).states
    times = [state.time_ns for state in states if state.time_ns is not None]
    models = [model for state in states for model in state.models]
    joints = _once(joint.name for model in models for joint in model.joints)
    start_ns, end_ns = (min(times), max(times)) if times else (None, None)
    return Info(str(path), "series", _once(model.name for model in models), start_ns, end_ns, {}, joints, _size(path))


def _folder(path: Path, arguments: argparse.Namespace) -> Info:
    """Return the content of a folder of recordings, or of a package with the description of a robot."""
    from robot_semantics.bringup.package_files import files_of_folder
    from robot_semantics.model.resources import PackageResolver
    from robot_semantics.recording.bags.source import RequestError
    from robot_semantics.recording.fleet import find_bags

    try:
        files = [_recording(bag.path) for bag in find_bags([path])]
    except RequestError:
        package = files_of_folder(path, PackageResolver(arguments.package_path), expand=arguments.xacro)
        if package.urdf is None:
            raise RobotSemanticsError(f"'{path}' has no recording, series or description") from None
        arguments.xacro_arguments = {**package.xacro_arguments, **arguments.xacro_arguments}
        files = [_info_of(str(package.urdf), arguments)]
    starts = [file.start_ns for file in files if file.start_ns is not None]
    ends = [file.end_ns for file in files if file.end_ns is not None]
    topics: dict[str, Topic] = {}
    for name, topic in ((name, topic) for file in files for name, topic in file.topics.items()):
        before = topics.get(name, Topic(topic.msgtype, 0, None))
        senders = (*before.senders, *topic.senders)
        topics[name] = before._replace(messages=before.messages + topic.messages, senders=senders)
    robots = _once(name for file in files for name in file.robots)
    joints = _once(name for file in files for name in file.joints)
    start_ns, end_ns = min(starts, default=None), max(ends, default=None)
    return Info(str(path), "folder", robots, start_ns, end_ns, topics, joints, _size(path), tuple(files))


def _recording(path: Path) -> Info:
    """Return the content of a recording; without robots where it has no message that tells of one."""
    from robot_semantics.recording.export import ExportRequest, export
    from robot_semantics.recording.read.stretches import inspect_bag

    problems = Diagnostics()
    try:
        recording = export(ExportRequest((path,), None, dry_run=True), problems).recording
    except RobotSemanticsError as error:
        bag = inspect_bag(path, Diagnostics())
        print_note(f"note: {path}: no robot can be read: {error}")
        start_ns, end_ns = (None, None) if bag.end_ns < bag.start_ns else (bag.start_ns, bag.end_ns)
        return Info(str(path), "recording", (), start_ns, end_ns, _topics([bag], []), (), _size(path))
    print_problems(problem for problem in problems if problem.severity is Severity.ERROR)
    senders = recording.clocks.senders
    described = [robot.model.joint_names[1:] for robot in recording.robots if robot.model is not None]
    recorded = [sender.names for sender in senders if sender.kind == Stream.JOINTS]
    joints = _once(name for names in (*described, *recorded) for name in names)
    robots = tuple(robot.name for robot in recording.robots)
    topics = _topics(recording.plan.bags, senders)
    return Info(str(path), "recording", robots, recording.start_ns, recording.end_ns, topics, joints, _size(path))


def _topics(bags: Sequence[BagInfo], senders: Sequence[RecordedSender]) -> dict[str, Topic]:
    """Return the topics by name; the rate is that of the messages over the whole recording."""
    topics: dict[str, Topic] = {}
    for bag in bags:
        duration_s = float_seconds(bag.end_ns - bag.start_ns)
        counts = bag.counts()
        for name, msgtype in sorted(bag.topics.items()):
            own_topics: tuple[JsonObject, ...] = tuple(
                {
                    "kind": sender.kind,
                    "names": list(sender.names),
                    "rate": None if not sender.interval_ns else 1e9 / sender.interval_ns,
                    "state": sender.state,
                }
                for sender in senders
                if sender.topic == name
            )
            rate = counts[name] / duration_s if duration_s > 0.0 and counts[name] > 1 else None
            topics[name] = Topic(msgtype, counts[name], rate, own_topics)
    return topics


COMMAND = Command(
    add_arguments,
    run,
    examples=("robot_semantics info robot.urdf", "robot_semantics info world.usdf --json"),
)
