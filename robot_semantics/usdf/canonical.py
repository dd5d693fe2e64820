"""Text in the very form that `writer` writes, by patterns instead of an XML parser: most of what is ever read.

The patterns let nothing pass that XML, the schema or the number format would not, so what they match needs no other
look. Whatever else there is, be it one space more, a comment or a letter beyond ASCII, is left to the XML parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate, repeat
from typing import Any

from robot_semantics.usdf.numbers import Row, parse_rows
from robot_semantics.usdf.validity import XML_SPACE
from robot_semantics.usdf.vocabulary import NAMESPACE
from robot_semantics.usdf.walk import parse_time
from robot_semantics.usdf.world_state import WORLD, Frame, JointState, LinkState, ModelState, Pose, WorldState
from robot_semantics.xml.events import MAX_PLAIN_BYTES
from robot_semantics.xml.fast_values import fast

_NAME = r"([ !#-%\'-;=-~]*)"  # printable, without " & <
_TEXT = r"([ !-%'-;=?-~]*)"  # printable, without & < >
_ROW = r"([^<]*)"  # of which only numbers are let pass when they are read
_POSE = rf'<pose(?: rs:quaternion="([^"]*)")?>{_ROW}</pose>'
_PLACEMENT = rf"    <parent>{_TEXT}</parent>\n(?:    {_POSE}\n)?(?:    <twist>{_ROW}</twist>\n)?"

_ROOT = re.compile(
    rf'<\?xml version="1\.0" encoding="UTF-8"\?>\n<world_state(?: name="{_NAME}")?( xmlns:rs="{re.escape(NAMESPACE)}")?'
    r'(?: rs:time="(-?[0-9]{1,10}\.[0-9]{9})")?>\n'
)
_MODEL = re.compile(
    rf'  <model_state name="{_NAME}"(?: rs:description="{_NAME}")?(?: rs:semantic="{_NAME}")?'
    rf'(?: rs:hash="([0-9a-f]{{64}})")?>\n{_PLACEMENT}'
)
_LINK = re.compile(
    rf'    <link_state name="{_NAME}">\n(?:      {_POSE}\n)?(?:      <twist>{_ROW}</twist>\n)?'
    rf"(?:      <wrench>{_ROW}</wrench>\n)?    </link_state>\n"
)
_JOINT = re.compile(
    rf'    <joint_state name="{_NAME}">\n(?:      <positions>{_ROW}</positions>\n)?'
    rf"(?:      <velocities>{_ROW}</velocities>\n)?(?:      <torques>{_ROW}</torques>\n)?    </joint_state>\n"
)
_MODEL_END = "  </model_state>\n"
_FRAME = re.compile(rf'  <frame name="{_NAME}">\n{_PLACEMENT}  </frame>\n')
_END = "</world_state>\n"

_new_pose, _new_link, _new_joint = fast(Pose), fast(LinkState), fast(JointState)


class _OtherForm(Exception):  # noqa: N818 no error: somebody else reads it
    """The text is not in the canonical form."""


def canonical_state(utf8: bytes) -> WorldState | None:
    """Return the state that a text in the canonical form says, None where the text is in another.

    What makes a state valid beyond its grammar (`validity.problems`) has not been looked at.
    """
    root = _ROOT.match(utf8.decode()) if utf8.isascii() else None
    if root is None:
        return None
    name, namespace, time = root.groups()
    text = root.string
    if namespace is None and "rs:" in text:
        return None
    *models, rest = text[root.end() :].split(_MODEL_END)
    reader = _Reader()
    try:
        return WorldState(
            name=name,
            models=tuple([reader.model(part) for part in models]),
            frames=tuple(reader.frames(rest)),
            time_ns=None if time is None else parse_time(time),
            at=0,
        )
    except _OtherForm:
        return None


class _Reader:
    """Reads the parts of a text one after the other, and counts their elements."""

    def __init__(self) -> None:
        self._next = 1

    def model(self, text: str) -> ModelState:
        """Read a model, whose end tag has been cut off."""
        head = _MODEL.match(text)
        # A longer one may have a row of numbers that is too long for the XML parser.
        if head is None or len(text) > MAX_PLAIN_BYTES:
            raise _OtherForm
        name, description, semantic, sha256, parent, quat, pose, twist = head.groups()
        # Before, between and behind what the pattern matches there must be nothing, but the joints behind the links.
        links = _LINK.split(text[head.end() :])
        *nothing, rest = links[::6]
        joints = _JOINT.split(rest)
        if any(nothing) or any(joints[::5]):
            raise _OtherForm
        six = _rows([pose, twist, *links[3::6], *links[4::6], *links[5::6]], 6)
        quats = _rows([quat, *links[2::6]], 4)
        at = self._numbers([None], [parent], [pose], [twist])[0]
        return ModelState(
            name=name,
            parent=parent.strip(XML_SPACE) or WORLD,
            pose=None if six[0] is None else _new_pose(six[0], quats[0]),
            twist=six[1],
            links=tuple(self._links(links[1::6], quats[1:], six[2:])),
            joints=tuple(self._joints(joints)),
            description=description,
            semantic=semantic,
            urdf_sha256=sha256,
            at=at,
        )

    def _links(self, names: list[str], quats: list[Any], six: list[Any]) -> Iterable[LinkState]:
        count = len(names)
        rows, twists, wrenches = six[:count], six[count : 2 * count], six[2 * count :]
        poses: list[Pose | None] = list(map(_new_pose, rows, quats))
        if None in rows:
            poses = [None if row is None else pose for row, pose in zip(rows, poses, strict=True)]
        return map(_new_link, names, poses, twists, wrenches, repeat(()), self._numbers(rows, twists, wrenches))

    def _joints(self, pieces: list[Any]) -> Iterable[JointState]:
        names = pieces[1::5]
        count = len(names)
        rows = _rows([*pieces[2::5], *pieces[3::5], *pieces[4::5]], None)
        positions, velocities, torques = rows[:count], rows[count : 2 * count], rows[2 * count :]
        ats = self._numbers(positions, velocities, torques)
        return map(_new_joint, names, positions, velocities, torques, repeat(()), ats)

    def frames(self, text: str) -> Iterable[Frame]:
        """Read what follows the models: frames and the end."""
        here = 0
        if len(text) > MAX_PLAIN_BYTES:
            raise _OtherForm
        while (frame := _FRAME.match(text, here)) is not None:
            here = frame.end()
            name, parent, quat, pose, twist = frame.groups()
            (row, twist_row), (quat_row,) = _rows([pose, twist], 6), _rows([quat], 4)
            at = self._numbers([None], [parent], [pose], [twist])[0]
            value = None if row is None else _new_pose(row, quat_row)
            yield Frame(name, parent.strip(XML_SPACE) or WORLD, value, twist_row, at=at)
        if text[here:] != _END:
            raise _OtherForm

    def _numbers(self, *columns: Sequence[object]) -> Sequence[int]:
        """Return the numbers of elements, one for each row of `columns`: children that an element has, or None."""
        count = len(columns[0])
        if not any(None in column for column in columns):
            step = 1 + len(columns)
            ats: Sequence[int] = range(self._next, self._next + step * count, step)
            self._next += step * count
            return ats
        sizes = [1 + len(row) - row.count(None) for row in zip(*columns, strict=True)]
        *ats, self._next = accumulate(sizes, initial=self._next)
        return ats


def _rows(texts: list[str | None], count: int | None) -> list[Any]:
    """Return the numbers of each text, None where there is no text."""
    stated = texts if None not in texts else [text for text in texts if text is not None]
    rows: list[Row] | None = parse_rows(stated, count)  # type: ignore[arg-type]  # no None is left
    if rows is None:
        raise _OtherForm
    if len(rows) == len(texts):
        return rows
    following = iter(rows)
    return [None if text is None else next(following) for text in texts]
