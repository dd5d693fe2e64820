"""Text to a world state. The form in which states are written is read by patterns (`canonical`), any other as XML.

Then there is a tree that the schema has accepted, all its numbers parsed in one go, and one walk over it. Where
anything is wrong, `diagnosis` looks again, slowly, for every problem and its place.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.usdf import diagnosis
from robot_semantics.usdf.canonical import canonical_state
from robot_semantics.usdf.foreign import holds_remarks, take_foreign
from robot_semantics.usdf.schema import structure_schema
from robot_semantics.usdf.validity import problems
from robot_semantics.usdf.vocabulary import NAMESPACE, OTHER_ROOT
from robot_semantics.usdf.walk import Elements, Numbers, Walk
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.xml.no_collection import no_collection
from robot_semantics.xml.reader import SourceMap, parse_xml, read_text, utf8_of


class Examined(NamedTuple):
    """What could be read of a document, with all that is wrong with it; parts in error are left out of the state."""

    state: WorldState
    places: SourceMap
    found: Diagnostics


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
    examined = _examine(text, source)
    examined.found.raise_if_failed()
    if diagnostics is not None:
        diagnostics.extend(examined.found)
    return WorldDocument(examined.state, examined.places)


def examine(path: str | Path) -> Examined:
    """Read as much of a USDF file as can be read, for checks that go on where it has errors.

    Raises:
        DescriptionError: nothing can be read of it: no file, not well-formed, not a world state.
    """
    return _examine(read_text(path), str(path))


@no_collection()
def _examine(text: str | bytes, source: str) -> Examined:
    utf8 = utf8_of(text, source)
    state = canonical_state(utf8)
    if state is not None and not problems(state):
        return Examined(state, SourceMap(source, utf8), Diagnostics())
    return _examine_xml(text, source)


def _examine_xml(text: str | bytes, source: str) -> Examined:
    document = parse_xml(text, source)
    found = Diagnostics()
    schema = structure_schema()
    foreign: dict[int, tuple[str, ...]] = {}
    sound = schema.validate(document.root) and not holds_remarks(document.root)
    if not sound:
        foreign = take_foreign(document, found)
        sound = schema.validate(document.root)
    tree = Elements.of(document.root)
    extended = NAMESPACE.encode() in document.places.text
    numbers = Numbers.of(tree, extended=extended) if sound else None
    pruned = numbers is None
    if numbers is None:
        diagnosis.report_and_prune(document, found)
        tree = Elements.of(document.root)
        numbers = Numbers.of(tree, extended=extended)
        if numbers is None:
            raise DescriptionError(found)
    # In an untouched tree the elements are met in the order of their numbers.
    at = [document.at(element) for element in tree.elements] if pruned or foreign else None
    state = Walk(tree, numbers, foreign, at).state()
    diagnosis.add(problems(state), document, found)
    if document.root.tag == OTHER_ROOT:
        message = "the root element <world> is read; <world_state> is the one that is written"
        found.note("other-root", message, document.place(document.root))
    return Examined(state, document.places, found)
