"""From a sound tree to a world state: all numbers parsed in one go, then one walk along the list of elements.

Where many links (or joints) say the same kinds of things one after the other, as in nearly every file, they are made
together, by calls that loop in C.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, repeat
from types import MappingProxyType
from typing import Any, NamedTuple

from lxml import etree

from robot_semantics.usdf.numbers import Row, parse_rows
from robot_semantics.usdf.validity import XML_SPACE
from robot_semantics.usdf.vocabulary import (
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
from robot_semantics.xml.fast_values import fast

_ARRAYS = frozenset(("positions", "velocities", "torques", RS_ARRAY))
_VALUES = SIX_NUMBERS | _ARRAYS
_new_pose, _new_link, _new_joint = fast(Pose), fast(LinkState), fast(JointState)


class Elements(NamedTuple):
    """A tree as lists, in document order: each element is made once, its tag is read once."""

    elements: list[etree._Element]
    tags: list[str]

    @classmethod
    def of(cls, root: etree._Element) -> Elements:
        """Return the elements of a tree."""
        elements = list(root.iter())
        return cls(elements, [element.tag for element in elements])


class Numbers(NamedTuple):
    """All numbers of a document, in document order.

    Attributes:
        six: of poses, twists and wrenches.
        quaternions: of those poses that have one.
        arrays: of joints and engines.
        quaternion_share: whether all poses have a quaternion (True), none (False), or some (None).
    """

    six: Iterator[Any]
    quaternions: Iterator[Any]
    arrays: Iterator[Row]
    quaternion_share: bool | None

    @classmethod
    def of(cls, tree: Elements, *, extended: bool) -> Numbers | None:
        """Return the numbers of a tree of the right structure, None where a text is faulty.

        Quaternions are only looked for where the document names the extension namespace at all (`extended`).
        """
        pairs = list(zip(tree.elements, tree.tags, strict=True))
        six = parse_rows([element.text or "" for element, tag in pairs if tag in SIX_NUMBERS], 6)
        arrays = parse_rows([element.text or "" for element, tag in pairs if tag in _ARRAYS])
        stated = [element.get(RS_QUATERNION) for element, tag in pairs if tag == "pose"] if extended else []
        quaternions = parse_rows([text for text in stated if text is not None], 4)
        if six is None or quaternions is None or arrays is None:
            return None
        share = False if not quaternions else True if len(quaternions) == len(stated) else None
        return cls(iter(six), iter(quaternions), iter(arrays), share)


class Walk:
    """One walk along the list of a sound tree's elements, which takes the numbers as it meets their elements.

    A link's or joint's children follow it in the list, and have none themselves. `at` gives the numbers that elements
    have in the document, None where these are their places in the list.
    """

    def __init__(
        self, tree: Elements, numbers: Numbers, foreign: dict[int, tuple[str, ...]], at: list[int] | None
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
        share = numbers.quaternion_share
        if share or (share is None and self._elements[here].get(RS_QUATERNION) is not None):
            return _new_pose(next(numbers.six), next(numbers.quaternions))
        return _new_pose(next(numbers.six))

    def _model(self, start: int) -> tuple[ModelState, int]:
        elements, tags = self._elements, self._tags
        parent, pose, twist = WORLD, None, None
        links: list[LinkState] = []
        joints: list[JointState] = []
        # How many children of the model are still to come; a run takes several of them at once.
        left = len(elements[start])
        here = start + 1
        while left > 0:
            tag = tags[here]
            if tag in ("link_state", "joint_state"):
                step = 1 + len(elements[here])
                count = self._run_length(here, step)
                if tag == "link_state":
                    links += self._links(here, step, count)
                else:
                    joints += self._joints(here, step, count)
                here += step * count
                left -= count
                continue
            if tag == "pose":
                pose = self._pose(here)
            elif tag == "twist":
                twist = next(self._numbers.six)
            else:
                parent = _parent(elements[here])
            here += 1
            left -= 1
        element, number = elements[start], self._at[start]
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
            foreign=self._foreign.get(number, ()),
            at=number,
        )
        return model, here

    def _run_length(self, here: int, step: int) -> int:
        """Return how many elements of the same tag, with children of the same tags, stand one after the other."""
        tags = self._tags
        shape = tags[here : here + step]
        end = here + step
        while tags[end : end + step] == shape:
            end += step
        # A value that follows may be one more child of the last element.
        if end > here + step and end < len(tags) and tags[end] in _VALUES:
            end -= step
        return (end - here) // step

    def _links(self, here: int, step: int, count: int) -> Iterator[LinkState]:
        """Return the links of a run."""
        kinds = self._tags[here + 1 : here + step]
        if "pose" in kinds and self._numbers.quaternion_share is None:
            return self._links_one_by_one(here, step, count)
        rows = list(islice(self._numbers.six, count * len(kinds)))
        columns: dict[str, Iterator[Any]] = {kind: iter(rows[at :: len(kinds)]) for at, kind in enumerate(kinds)}
        poses: Iterator[Pose | None] = repeat(None)
        if "pose" in columns:
            quaternions = islice(self._numbers.quaternions, count) if self._numbers.quaternion_share else repeat(None)
            poses = map(_new_pose, columns["pose"], quaternions)
        none: Iterator[Any] = repeat(None)
        return map(
            _new_link,
            self._names(here, step, count),
            poses,
            columns.get("twist", none),
            columns.get("wrench", none),
            self._foreign_of(here, step, count),
            self._at[here : here + step * count : step],
        )

    def _links_one_by_one(self, here: int, step: int, count: int) -> Iterator[LinkState]:
        """Yield the links of a run whose poses have quaternions here and there."""
        for at in range(here, here + step * count, step):
            values: dict[str, Any] = {}
            for child in range(at + 1, at + step):
                kind = self._tags[child]
                values[kind] = self._pose(child) if kind == "pose" else next(self._numbers.six)
            number = self._at[at]
            name = self._elements[at].get("name", "")
            yield _new_link(name, **values, foreign=self._foreign.get(number, ()), at=number)

    def _joints(self, here: int, step: int, count: int) -> Iterator[JointState]:
        """Return the joints of a run."""
        kinds = self._tags[here + 1 : here + step]
        rows = list(islice(self._numbers.arrays, count * len(kinds)))
        columns: dict[str, Iterator[Any]] = {kind: iter(rows[at :: len(kinds)]) for at, kind in enumerate(kinds)}
        none: Iterator[Any] = repeat(None)
        return map(
            _new_joint,
            self._names(here, step, count),
            columns.get("positions", none),
            columns.get("velocities", none),
            columns.get("torques", none),
            self._foreign_of(here, step, count),
            self._at[here : here + step * count : step],
        )

    def _names(self, here: int, step: int, count: int) -> list[str]:
        return [element.get("name", "") for element in self._elements[here : here + step * count : step]]

    def _foreign_of(self, here: int, step: int, count: int) -> Iterator[tuple[str, ...]]:
        if not self._foreign:
            return repeat(())
        return iter([self._foreign.get(number, ()) for number in self._at[here : here + step * count : step]])

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
