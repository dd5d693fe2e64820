# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A world state to text: the state is checked first, and every number has the shortest form that reads back to the same
64 bits.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lxml import etree

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.files import save_bytes
from robot_semantics.usdf.reader import parse_document
from robot_semantics.usdf.table import USDF
from robot_semantics.usdf.validity import SOURCE, report_invalid_values
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.xml.reader import parse_xml
from robot_semantics.xml.relax_ng import relax_ng, schema_of
from robot_semantics.xml.schema_writer import write_table

# The RELAX NG schema of USDF, made from its table; `robot_semantics schema usdf` prints it.


ABOUT = """\
  USDF 1.0, the state of a world of robots, as a schema.

  A schema cannot check all rules: unique and known names, cycles of parents, a quaternion that agrees with its rpy,
  finite numbers. The reader checks these. Content of other namespaces, and unknown content of the own namespace, may be
  everywhere and is kept."""


@cache
def full_schema() -> etree.RelaxNG:
    """Return the schema as a validator."""
    return schema_of(relax_ng(USDF, ABOUT))


def write_world(state: WorldState) -> str:
    """Return the text of `state`; reading it back gives an equal state, every float bit for bit.

    The text conforms to the schema by construction. A text with foreign content is read again as a check.

    Raises:
        DescriptionError: the state cannot be written: names, parents or orientations are wrong, a number is not
            finite, a count is wrong; all problems are carried.
        TypeError: `state` is not a world state.
    """
    if not isinstance(state, WorldState):
        raise TypeError(f"a world state is needed, not {state!r}")
    found = Diagnostics()
    report_invalid_values(state, None, found)
    text = world_text(state, found)
    found.raise_if_failed()
    if _has_foreign(state):
        # Foreign content can be any text.
        parse_document(text, SOURCE)
    return text


def world_text(state: WorldState, found: Diagnostics) -> str:
    """Return the text of `state`, without the checks of `write_world`; add values without a text to `found`."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{write_table(state, USDF, SOURCE, found)}'


def check_writable(state: WorldState) -> None:
    """Raise the errors of `write_world`, without writing.

    Raises:
        DescriptionError: the state cannot be written.
    """
    write_world(state)


def save_world(state: WorldState, path: str | Path, *, validate: bool = True) -> None:
    """Write `state` to a file: whole or not at all, on the disk when this returns.

    The text goes to a temporary file in the same folder, which then takes the name. With `validate`, the text is first
    compared with the schema.

    Raises:
        DescriptionError: the state cannot be written; see `write_world`.
        OSError: the file cannot be written.
    """
    text = write_world(state).encode()
    schema = full_schema()
    if validate and not schema.validate(parse_xml(text, SOURCE).root):
        found = Diagnostics()
        for entry in schema.error_log:
            found.error("schema", entry.message, SourcePlace(SOURCE, entry.line))
        raise DescriptionError(found)
    save_bytes(text, path)


def _has_foreign(state: WorldState) -> bool:
    """Return True if any part of a state has foreign content."""
    carriers = (state, *state.bodies, *state.engines)
    return any(item.foreign for item in carriers) or any(
        any(link.foreign for link in model.links) or any(joint.foreign for joint in model.joints)
        for model in state.models
    )
