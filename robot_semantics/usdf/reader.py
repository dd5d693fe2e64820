"""Text to a world state: a tree that the schema has accepted, all its numbers parsed in one go, then one walk over it.

Where anything is wrong, `diagnosis` looks again, slowly, for every problem and its place.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from lxml import etree

from robot_semantics.description.xml_reader import SourceMap, parse_xml, read_text
from robot_semantics.diagnostics import Diagnostics
from robot_semantics.errors import DescriptionError
from robot_semantics.usdf import diagnosis
from robot_semantics.usdf.foreign import holds_remarks, take_foreign
from robot_semantics.usdf.numbers import Row, parse_rows
from robot_semantics.usdf.schema import structure_schema
from robot_semantics.usdf.validity import XML_SPACE, problems
from robot_semantics.usdf.vocabulary import (
    NAMESPACE,
    OTHER_ROOT,
    RS_ARRAY,
    RS_DESCRIPTION,
    RS_HASH,
    RS_QUATERNION,
    RS_SEMANTIC,
    RS_TIME,
    SIX_NUMBERS,
)
from robot_semantics.usdf.world_state import (
    WORLD,
    EngineState,
    Frame,
    JointState,
    LinkState,
    ModelState,
    Pose,
    WorldState,
)


class WorldDocument(NamedTuple):
    """A world state with the places of its elements, for messages about it."""

    state: WorldState
    places: SourceMap


def read_world(path: str | Path, diagnostics: Diagnostics | None = None) -> WorldState:
    """Read a USDF file; see `parse_world`.

    Raises:
        DescriptionError: the file cannot be read, or has errors; all of them are carried.

    """
    return read_document(path, diagnostics).state


def parse_world(text: str | bytes, source: str = "<world_state>", diagnostics: Diagnostics | None = None) -> WorldState:
    """Read the text of a USDF document, called `source` in every message.

    Notes and warnings are added to `diagnostics`, where given.

    Raises:
        DescriptionError: the text has errors; all of them are carried, and the rest of the problems with them.

    """
    return parse_document(text, source, diagnostics).state


def read_document(path: str | Path, diagnostics: Diagnostics | None = None) -> WorldDocument:
    """Read a USDF file with the places of its elements; see `parse_world`."""
    return parse_document(read_text(path), str(path), diagnostics)


def parse_document(
    text: str | bytes, source: str = "<world_state>", diagnostics: Diagnostics | None = None
) -> WorldDocument:
    """Read the text of a USDF document with the places of its elements; see `parse_world`."""
    with _no_collection():
        return _parse(text, source, diagnostics)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Keep the garbage collector from going over the many new values again and again; none of them is garbage."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _parse(text: str | bytes, source: str, diagnostics: Diagnostics | None) -> WorldDocument:
    document = parse_xml(text, source)
    found = Diagnostics()
    schema = structure_schema()
    foreign: dict[int, tuple[str, ...]] = {}
    sound = schema.validate(document.root) and not holds_remarks(document.root)
    if not sound:
        foreign = take_foreign(document, found)
        sound = schema.validate(document.root)
    tree = _Elements.of(document.root)
    extended = NAMESPACE.encode() in document.places.text
    numbers = _Numbers.of(tree, extended) if sound else None
    pruned = numbers is None
    if numbers is None:
        diagnosis.report_and_prune(document, found)
        tree = _Elements.of(document.root)
        numbers = _Numbers.of(tree, extended)
        if numbers is None:
            raise DescriptionError(found)
    # In an untouched tree the elements are met in the order of their numbers.
    at = [document.at(element) for element in tree.elements] if pruned or foreign else None
    state = _Walk(tree, numbers, foreign, at).state()
    for problem in problems(state):
        diagnosis.add(problem, document, found)
    if document.root.tag == OTHER_ROOT:
        message = "the root element <world> is read; <world_state> is the one that is written"
        found.note("other-root", message, document.place(document.root))
    found.raise_if_failed()
    if diagnostics is not None:
        diagnostics.extend(found)
    return WorldDocument(state, document.places)


class _Elements(NamedTuple):
    """A tree as lists, in document order: each element is made once, its tag is read once."""

    elements: list[etree._Element]
    tags: list[str]

    @classmethod
    def of(cls, root: etree._Element) -> _Elements:
        """Return the elements of a tree."""
        elements = list(root.iter())
        return cls(elements, [element.tag for element in elements])


class _Numbers(NamedTuple):
    """All numbers of a document, in document order: of poses, twists and wrenches, of quaternions, of arrays."""

    six: Iterator[Any]
    quaternions: Iterator[Any]
    arrays: Iterator[Row]
    any_quaternions: bool

    @classmethod
    def of(cls, tree: _Elements, extended: bool) -> _Numbers | None:
        """Return the numbers of a tree of the right structure, None where a text is faulty.

        Quaternions are only looked for where the document names the extension namespace at all (`extended`).
        """
        pairs = list(zip(tree.elements, tree.tags, strict=True))
        six = parse_rows([element.text or "" for element, tag in pairs if tag in SIX_NUMBERS], 6)
        arrays = parse_rows([element.text or "" for element, tag in pairs if tag in _ARRAYS])
        poses = [element for element, tag in pairs if tag == "pose"] if extended else []
        quaternions = parse_rows([text for pose in poses if (text := pose.get(RS_QUATERNION)) is not None], 4)
        if six is None or quaternions is None or arrays is None:
            return None
        return cls(iter(six), iter(quaternions), iter(arrays), bool(quaternions))


_ARRAYS = frozenset(("positions", "velocities", "torques", RS_ARRAY))


class _Walk:
    """One walk along the list of a sound tree's elements, which takes the numbers as it meets their elements.

    A link's or joint's children follow it in the list, and have none themselves. `at` gives the numbers that elements
    have in the document, None where these are their places in the list.
    """

    def __init__(
        self, tree: _Elements, numbers: _Numbers, foreign: dict[int, tuple[str, ...]], at: list[int] | None
    ) -> None:
        self._elements, self._tags = tree
        self._at: Sequence[int] = range(len(self._elements)) if at is None else at
        self._numbers = numbers
        self._foreign = foreign

    def state(self) -> WorldState:
        """Return the world state."""
        root = self._elements[0]
        models: list[ModelState] = []
        frames: list[Frame] = []
        engines: list[EngineState] = []
        here = 1
        for _ in range(len(root)):
            tag = self._tags[here]
            if tag == "model_state":
                model, here = self._model(here)
                models.append(model)
            elif tag == "frame":
                frame, here = self._frame(here)
                frames.append(frame)
            else:
                engine, here = self._engine(here)
                engines.append(engine)
        time = root.get(RS_TIME)
        return WorldState(
            name=root.get("name"),
            models=tuple(models),
            frames=tuple(frames),
            time_ns=None if time is None else parse_time(time),
            engines=tuple(engines),
            foreign=self._foreign.get(0, ()),
            at=0,
        )

    def _pose(self, here: int) -> Pose:
        numbers = self._numbers
        if numbers.any_quaternions and self._elements[here].get(RS_QUATERNION) is not None:
            return Pose(next(numbers.six), next(numbers.quaternions))
        return Pose(next(numbers.six))

    def _model(self, start: int) -> tuple[ModelState, int]:
        elements, tags, at, foreign = self._elements, self._tags, self._at, self._foreign
        six, arrays, quaternions = self._numbers.six, self._numbers.arrays, self._numbers.any_quaternions
        parent, pose, twist = WORLD, None, None
        links: list[LinkState] = []
        joints: list[JointState] = []
        here = start + 1
        for _ in range(len(elements[start])):
            tag = tags[here]
            element = elements[here]
            number = at[here]
            if tag == "link_state":
                link_pose = link_twist = wrench = None
                end = here + 1 + len(element)
                for tag in tags[here + 1 : end]:
                    here += 1
                    if tag == "pose":
                        link_pose = self._pose(here) if quaternions else Pose(next(six))
                    elif tag == "twist":
                        link_twist = next(six)
                    else:
                        wrench = next(six)
                name = element.get("name", "")
                links.append(LinkState(name, link_pose, link_twist, wrench, foreign.get(number, ()), number))
            elif tag == "joint_state":
                positions = velocities = torques = None
                end = here + 1 + len(element)
                for tag in tags[here + 1 : end]:
                    if tag == "positions":
                        positions = next(arrays)
                    elif tag == "velocities":
                        velocities = next(arrays)
                    else:
                        torques = next(arrays)
                here = end - 1
                name = element.get("name", "")
                joints.append(JointState(name, positions, velocities, torques, foreign.get(number, ()), number))
            elif tag == "pose":
                pose = self._pose(here)
            elif tag == "twist":
                twist = next(six)
            else:
                parent = _parent(element)
            here += 1
        element, number = elements[start], at[start]
        model = ModelState(
            name=element.get("name", ""),
            parent=parent,
            pose=pose,
            twist=twist,
            links=tuple(links),
            joints=tuple(joints),
            description=element.get(RS_DESCRIPTION),
            semantic=element.get(RS_SEMANTIC),
            urdf_sha256=element.get(RS_HASH),
            foreign=foreign.get(number, ()),
            at=number,
        )
        return model, here

    def _frame(self, start: int) -> tuple[Frame, int]:
        parent, pose, twist = WORLD, None, None
        element, number = self._elements[start], self._at[start]
        end = start + 1 + len(element)
        for here in range(start + 1, end):
            tag = self._tags[here]
            if tag == "pose":
                pose = self._pose(here)
            elif tag == "twist":
                twist = next(self._numbers.six)
            else:
                parent = _parent(self._elements[here])
        return Frame(element.get("name", ""), parent, pose, twist, self._foreign.get(number, ()), number), end

    def _engine(self, start: int) -> tuple[EngineState, int]:
        arrays: dict[str, Row] = {}
        properties: dict[str, str] = {}
        element = self._elements[start]
        for child in element:
            name = child.get("name", "")
            if child.tag == RS_ARRAY:
                arrays[name] = next(self._numbers.arrays)
            else:
                properties[name] = child.get("value", "")
        engine = EngineState(
            name=element.get("name", ""),
            version=element.get("version", ""),
            arrays=MappingProxyType(arrays),
            attributes=MappingProxyType(properties),
            at=self._at[start],
        )
        return engine, start + 1 + len(element)


def _parent(element: etree._Element) -> str:
    return (element.text or "").strip(XML_SPACE) or WORLD


def parse_time(text: str) -> int:
    """Return the nanoseconds of ``seconds.nanoseconds``, nine digits after the point; a minus is the whole number's."""
    seconds, _, nanoseconds = text.lstrip("-").partition(".")
    total = int(seconds) * 1_000_000_000 + int(nanoseconds)
    return -total if text.startswith("-") else total
