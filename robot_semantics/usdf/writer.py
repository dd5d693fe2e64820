"""A world state to text: checked first, every number in the shortest form that reads back to the same 64 bits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.sax.saxutils import escape

from lxml import etree

from robot_semantics.base.diagnostics import Diagnostics, Place
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.files import save_bytes
from robot_semantics.usdf.foreign import quoted, take_foreign
from robot_semantics.usdf.numbers import Row, format_rows
from robot_semantics.usdf.schema import full_schema, structure_schema
from robot_semantics.usdf.vocabulary import NAMESPACE, PREFIX
from robot_semantics.usdf.world_state import (
    EngineState,
    Frame,
    ModelState,
    Pose,
    WorldState,
)
from robot_semantics.usdf.writable import SOURCE, check_meaning, has_foreign, report_numbers, strings
from robot_semantics.xml.reader import parse_xml

_NEEDS_ESCAPE = re.compile('[&<>"\t\r\n]')


def write_world(state: WorldState) -> str:
    """Return the text of `state`; reading it back gives an equal state, every float bit for bit.

    What is written conforms to the schema by construction; where foreign content is carried, the text is validated.

    Raises:
        DescriptionError: the state cannot be written: names, parents or orientations are wrong, a number is not
            finite, a count is wrong; all problems are carried.
    """
    texts, rows = _checked(state)
    # One look at all strings at once spares nearly every world the escaping of each.
    plain = _NEEDS_ESCAPE.search("|".join(texts)) is None
    text = _Text(rows, (lambda name: f'"{name}"') if plain else quoted).world(state)
    if has_foreign(state):
        _check_foreign(text)
    return text


def check_writable(state: WorldState) -> None:
    """Raise what `write_world` would, without writing.

    Raises:
        DescriptionError: the state cannot be written.
    """
    _checked(state)


def _checked(state: WorldState) -> tuple[list[str], _Rows]:
    """Return all names and texts of a state, and its numbers as texts."""
    found = Diagnostics()
    texts = list(strings(state))
    check_meaning(state, texts, found)
    rows = _Rows()
    rows.collect(state)
    if not rows.sound():
        report_numbers(state, found)
    found.raise_if_failed()
    return texts, rows


def save_world(state: WorldState, path: str | Path, *, validate: bool = True) -> None:
    """Write `state` to a file: whole or not at all, on the disk when this returns.

    The text goes to a temporary file in the same folder, which then takes the name. With `validate` it is first
    held against the schema.

    Raises:
        DescriptionError: the state cannot be written; see `write_world`.
        OSError: the file cannot be written.
    """
    text = write_world(state).encode()
    if validate:
        _validate(text)
    save_bytes(text, path)


def format_time(time_ns: int) -> str:
    """Return nanoseconds as ``seconds.nanoseconds``, nine digits after the point."""
    seconds, nanoseconds = divmod(abs(time_ns), 1_000_000_000)
    return f"{'-' if time_ns < 0 else ''}{seconds}.{nanoseconds:09d}"


class _Rows:
    """All rows of numbers of a state in the order in which they are written."""

    def __init__(self) -> None:
        self.six: list[Row] = []
        self.quaternions: list[Row] = []
        self.arrays: list[Row] = []
        self.six_texts: Iterator[str] = iter(())
        self.quaternion_texts: Iterator[str] = iter(())
        self.array_texts: Iterator[str] = iter(())

    def collect(self, state: WorldState) -> None:
        """Collect the rows, in the order in which `_Text` asks for them."""
        six, arrays = self.six, self.arrays
        for model in state.models:
            self._placement(model)
            for link in model.links:
                pose = link.pose
                if pose is not None:
                    six.append(pose.xyz_rpy)
                    if pose.quat_xyzw is not None:
                        self.quaternions.append(pose.quat_xyzw)
                if link.twist is not None:
                    six.append(link.twist)
                if link.wrench is not None:
                    six.append(link.wrench)
            for joint in model.joints:
                if joint.positions is not None:
                    arrays.append(joint.positions)
                if joint.velocities is not None:
                    arrays.append(joint.velocities)
                if joint.torques is not None:
                    arrays.append(joint.torques)
        for frame in state.frames:
            self._placement(frame)
        for engine in state.engines:
            arrays.extend(engine.arrays.values())

    def _placement(self, item: ModelState | Frame) -> None:
        if item.pose is not None:
            self.six.append(item.pose.xyz_rpy)
            if item.pose.quat_xyzw is not None:
                self.quaternions.append(item.pose.quat_xyzw)
        if item.twist is not None:
            self.six.append(item.twist)

    def sound(self) -> bool:
        """Make the texts; False where a count is wrong or a value is no finite number."""
        if not set(map(len, self.six)) <= {6} or not set(map(len, self.quaternions)) <= {4}:
            return False
        try:
            self.six_texts = iter(format_rows(self.six))
            self.quaternion_texts = iter(format_rows(self.quaternions))
            self.array_texts = iter(format_rows(self.arrays))
        except ValueError:
            return False
        return True


class _Text:
    """The lines of a document."""

    def __init__(self, rows: _Rows, quote: Callable[[str], str]) -> None:
        self._six = rows.six_texts
        self._quaternions = rows.quaternion_texts
        self._arrays = rows.array_texts
        self._quote = quote
        self._lines: list[str] = ['<?xml version="1.0" encoding="UTF-8"?>\n']

    def world(self, state: WorldState) -> str:
        """Return the whole text."""
        lines = self._lines
        name = "" if state.name is None else f" name={self._quote(state.name)}"
        time = "" if state.time_ns is None else f' {PREFIX}:time="{format_time(state.time_ns)}"'
        namespace = f' xmlns:{PREFIX}="{NAMESPACE}"' if _needs_namespace(state) else ""
        lines.append(f"<world_state{name}{namespace}{time}{_attributes(state.foreign)}>\n")
        self._foreign(state.foreign, "  ")
        for model in state.models:
            self._model(model)
        for frame in state.frames:
            lines.append(f"  <frame name={self._quote(frame.name)}{_attributes(frame.foreign)}>\n")
            self._foreign(frame.foreign, "    ")
            self._placement(frame)
            lines.append("  </frame>\n")
        for engine in state.engines:
            self._engine(engine)
        lines.append("</world_state>\n")
        return "".join(lines)

    def _model(self, model: ModelState) -> None:
        lines, quote, six, arrays = self._lines, self._quote, self._six, self._arrays
        extension = "".join(
            f" {PREFIX}:{word}={quoted(value)}"
            for word, value in (
                ("description", model.description),
                ("semantic", model.semantic),
                ("hash", model.urdf_sha256),
            )
            if value is not None
        )
        lines.append(f"  <model_state name={quote(model.name)}{extension}{_attributes(model.foreign)}>\n")
        self._foreign(model.foreign, "    ")
        self._placement(model)
        for link in model.links:
            lines.append(f"    <link_state name={quote(link.name)}{_attributes(link.foreign)}>\n")
            if link.foreign:
                self._foreign(link.foreign, "      ")
            if link.pose is not None:
                lines.append(f"      {self._pose(link.pose)}")
            if link.twist is not None:
                lines.append(f"      <twist>{next(six)}</twist>\n")
            if link.wrench is not None:
                lines.append(f"      <wrench>{next(six)}</wrench>\n")
            lines.append("    </link_state>\n")
        for joint in model.joints:
            lines.append(f"    <joint_state name={quote(joint.name)}{_attributes(joint.foreign)}>\n")
            if joint.foreign:
                self._foreign(joint.foreign, "      ")
            if joint.positions is not None:
                lines.append(f"      <positions>{next(arrays)}</positions>\n")
            if joint.velocities is not None:
                lines.append(f"      <velocities>{next(arrays)}</velocities>\n")
            if joint.torques is not None:
                lines.append(f"      <torques>{next(arrays)}</torques>\n")
            lines.append("    </joint_state>\n")
        lines.append("  </model_state>\n")

    def _placement(self, item: ModelState | Frame) -> None:
        self._lines.append(f"    <parent>{_escaped(item.parent)}</parent>\n")
        if item.pose is not None:
            self._lines.append(f"    {self._pose(item.pose)}")
        if item.twist is not None:
            self._lines.append(f"    <twist>{next(self._six)}</twist>\n")

    def _pose(self, pose: Pose) -> str:
        if pose.quat_xyzw is None:
            return f"<pose>{next(self._six)}</pose>\n"
        return f'<pose {PREFIX}:quaternion="{next(self._quaternions)}">{next(self._six)}</pose>\n'

    def _engine(self, engine: EngineState) -> None:
        lines = self._lines
        lines.append(f"  <{PREFIX}:engine name={quoted(engine.name)} version={quoted(engine.version)}>\n")
        for name in engine.arrays:
            lines.append(f"    <{PREFIX}:array name={quoted(name)}>{next(self._arrays)}</{PREFIX}:array>\n")
        for name, value in engine.attributes.items():
            lines.append(f"    <{PREFIX}:property name={quoted(name)} value={quoted(value)}/>\n")
        lines.append(f"  </{PREFIX}:engine>\n")

    def _foreign(self, entries: tuple[str, ...], indent: str) -> None:
        self._lines.extend(f"{indent}{entry}\n" for entry in entries if entry.startswith("<"))


def _attributes(foreign: tuple[str, ...]) -> str:
    return "".join(f" {entry}" for entry in foreign if not entry.startswith("<")) if foreign else ""


def _escaped(text: str) -> str:
    return escape(text, {"\r": "&#13;"})


def _needs_namespace(state: WorldState) -> bool:
    if state.time_ns is not None or state.engines:
        return True
    for model in state.models:
        if model.description is not None or model.semantic is not None or model.urdf_sha256 is not None:
            return True
        if any(link.pose is not None and link.pose.quat_xyzw is not None for link in model.links):
            return True
    return any(item.pose is not None and item.pose.quat_xyzw is not None for item in state.bodies)


def _check_foreign(text: str) -> None:
    """Hold a text with foreign content against the schema: what was put into it may be anything."""
    document = parse_xml(text, SOURCE)
    found = Diagnostics()
    take_foreign(document, found)
    found.raise_if_failed()
    _hold_against(structure_schema(), document.root)


def _validate(text: bytes) -> None:
    _hold_against(full_schema(), parse_xml(text, SOURCE).root)


def _hold_against(schema: etree.RelaxNG, root: etree._Element) -> None:
    found = Diagnostics()
    if not schema.validate(root):
        for entry in schema.error_log:
            found.error("schema", entry.message, Place(SOURCE, entry.line))
        raise DescriptionError(found)
