# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Text to a world state, by the table of USDF: all problems are reported together, each with its place."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.names import frame_name
from robot_semantics.base.nanoseconds import seconds_text
from robot_semantics.base.pattern import pattern
from robot_semantics.usdf.table import NAMESPACE, RESERVED, USDF, VERSION, VERSIONS, XML_SPACE
from robot_semantics.usdf.validity import report_invalid_values, without_faults
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.xml.document import XmlDocument
from robot_semantics.xml.reader import parse_xml, read_text
from robot_semantics.xml.schema_reader import read_table
from robot_semantics.xml.source_map import SourceMap

_SLASH = pattern(rb"""<parent>\s*/|<frame\s[^>]*["']/""")
"""Quick look for frame names that may begin with a slash."""


class Examined(NamedTuple):
    """World state read from a document, and the problems found in it.

    Parts with an invalid text are omitted from the state. Invalid names, parents and orientations are still in it.
    """

    state: WorldState
    places: SourceMap
    problems: Diagnostics


class WorldDocument(NamedTuple):
    """A world state with the places of its elements, for messages about it."""

    state: WorldState
    places: SourceMap


def read_world(path: str | Path, diagnostics: Diagnostics | None = None, *, strict: bool = True) -> WorldState:
    """Read a USDF file; see `parse_world`.

    Raises:
        DescriptionError: the file cannot be read, or has errors; the exception has all of them.
    """
    return read_world_document(path, diagnostics, strict=strict).state


def parse_world(
    text: str | bytes,
    source: str = "<world_state>",
    diagnostics: Diagnostics | None = None,
    *,
    strict: bool = True,
) -> WorldState:
    """Read the text of a USDF document, called `source` in every message.

    Notes and warnings are added to `diagnostics`, if given. Without `strict`, errors are added also. Each invalid part
    is omitted, with all bodies attached to it; the remaining state has no errors.

    Raises:
        DescriptionError: with `strict`, the text has errors; the exception has all problems. Without `strict`, the text
            is not a world state.
    """
    return parse_document(text, source, diagnostics, strict=strict).state


def read_world_document(
    path: str | Path, diagnostics: Diagnostics | None = None, *, strict: bool = True
) -> WorldDocument:
    """Read a USDF file with the places of its elements; see `parse_world`."""
    return parse_document(read_text(path), str(path), diagnostics, strict=strict)


def parse_document(
    text: str | bytes,
    source: str = "<world_state>",
    diagnostics: Diagnostics | None = None,
    *,
    strict: bool = True,
) -> WorldDocument:
    """Read the text of a USDF document with the places of its elements; see `parse_world`."""
    state, places, problems = read_text_leniently(text, source)
    if strict:
        problems.raise_if_failed()
    elif problems.failed():
        state = without_faults(state)
    if diagnostics is not None:
        diagnostics.extend(problems)
    return WorldDocument(state, places)


def read_leniently(path: str | Path) -> Examined:
    """Read the readable parts of a USDF file, for checks that continue after errors.

    Raises:
        DescriptionError: it cannot be read at all: no file, not well-formed, or not a world state.
    """
    return read_text_leniently(read_text(path), str(path))


def read_text_leniently(text: str | bytes, source: str) -> Examined:
    """Read as much of a USDF text as can be read, as `read_leniently` does."""
    document = parse_xml(text, source)
    diagnostics = Diagnostics()
    state = read_table(document, USDF, diagnostics)
    _refuse_other_namespaces(document)
    report_invalid_values(state, document.places, diagnostics)
    if document.root.tag != USDF.root.tag:
        message = "the root element <world> is an older name of <world_state>"
        diagnostics.note("other-root", message, document.places.place(0))
    said = document.root.get(f"{{{NAMESPACE}}}time")
    if said is not None and state.time_ns is not None and len(said.partition(".")[2]) != 9:
        message = f"rs:time is '{said}'; write nine digits after the point: {seconds_text(state.time_ns)}"
        diagnostics.warning("bad-value", message, document.places.place(0, "rs:time"))
    if state.version is not None and state.version not in VERSIONS:
        message = f"rs:version is '{state.version}'; content newer than version {VERSION} is kept but not used"
        diagnostics.warning("newer-version", message, document.places.place(0, "rs:version"))
    if _SLASH.search(document.places.text):
        _report_slashes(document, state, diagnostics)
    return Examined(state, document.places, diagnostics)


def _report_slashes(document: XmlDocument, state: WorldState, diagnostics: Diagnostics) -> None:
    """Warn about frames that are written with a leading slash."""
    models = {model.name for model in state.models}
    for element in document.root.iter("frame", "parent"):
        is_frame = element.tag == "frame"
        written = element.get("name", "") if is_frame else (element.text or "").strip(XML_SPACE)
        if frame_name(written) == written or (written in models and not is_frame):
            continue
        place = document.places.place(document.ordinal(element), "name" if is_frame else None)
        warn_of_slash(written, diagnostics, place)


def warn_of_slash(written: str, found: Diagnostics, place: SourcePlace) -> None:
    """Warn about the name of a frame that begins with a slash."""
    message = f"the frame name '{written}' begins with a slash; tf2 drops it, so it is '{frame_name(written)}'"
    found.warning("leading-slash", message, place)


def _refuse_other_namespaces(document: XmlDocument) -> None:
    """Refuse a document with a namespace of another version, or a misspelt one: without it, poses are wrong.

    Raises:
        DescriptionError: there is one; each namespace is reported at its first element.
    """
    if not set(_RESERVED.findall(document.places.text)) - {NAMESPACE.encode()}:
        return
    diagnostics, seen = Diagnostics(), {NAMESPACE}
    for element in document.root.iter("*"):
        for key in (str(element.tag), *map(str, element.keys())):
            namespace = key[1:].partition("}")[0]
            if key.startswith(f"{{{RESERVED}") and namespace not in seen:
                seen.add(namespace)
                message = f"the namespace '{namespace}' is misspelt or of another version; '{NAMESPACE}' is known"
                place = document.places.place(document.ordinal(element))
                diagnostics.error("other-namespace", message, place, name=namespace, valid=(NAMESPACE,))
    diagnostics.raise_if_failed()


_RESERVED = pattern(rb"%b[^\"'<&]*" % RESERVED.encode())
