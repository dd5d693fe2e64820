# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""World states as plain values for JSON and back, by the table of USDF: nothing is lost either way."""

from __future__ import annotations

import json
from collections import Counter

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.json_value import Json, JsonObject
from robot_semantics.base.names import frame_name
from robot_semantics.usdf.reader import warn_of_slash
from robot_semantics.usdf.table import NAMESPACE, USDF
from robot_semantics.usdf.validity import problems
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.xml.reader import MAX_BYTES, too_large
from robot_semantics.xml.schema_writer import JsonReader, object_of

FORMAT = NAMESPACE
"""Value of the key ``format``, by which a reader recognises the document."""


def world_to_json(state: WorldState) -> JsonObject:
    """Return the plain values of a state; ``json.dumps`` of them is exact. Values that are not stated have no key."""
    plain: JsonObject = {"format": FORMAT, **object_of(state, USDF.root)}
    if not state.engines:
        del plain["engines"]
    return plain


def json_text(state: WorldState) -> str:
    """Return a state as the text of a JSON file."""
    return json.dumps(world_to_json(state), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def parse_json(text: str | bytes, source: str = "<json>", diagnostics: Diagnostics | None = None) -> WorldState:
    """Return the state of a JSON text; warnings are added to `diagnostics`, if given.

    Raises:
        DescriptionError: the text is not JSON, or not a world state; the error has all problems, each with its path.
    """
    if len(text) > MAX_BYTES:
        raise too_large(source)
    problems = Diagnostics()
    try:
        values = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        problems.error("not-json", f"not JSON: {error.msg}", SourcePlace(source, error.lineno, error.colno))
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        problems.error("not-json", f"not JSON: {error}", SourcePlace(source, 1, 1))
    problems.raise_if_failed()
    return world_from_json(values, source, diagnostics)


def _object(pairs: list[tuple[str, Json]]) -> JsonObject:
    """Return an object; a repeated key is an error, because one value would be lost."""
    values = dict(pairs)
    if len(values) < len(pairs):
        key = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"the key '{key}' appears twice in one object")
    return values


def world_from_json(values: Json, source: str = "<json>", diagnostics: Diagnostics | None = None) -> WorldState:
    """Return the state of plain values in the form of `world_to_json`; warnings are added to `diagnostics`, if given.

    Raises:
        DescriptionError: they are not a world state; the error has all problems, each with its path.
    """
    new_problems = Diagnostics()
    if isinstance(values, dict) and values.get("format", FORMAT) != FORMAT:
        message = f"the format is {values['format']!r}; it must be {FORMAT!r}"
        new_problems.error("bad-json", message, SourcePlace(source, path="/format"))
    state = JsonReader(source, new_problems).read(values, USDF.root, more_keys=("format",))
    new_problems.raise_if_failed()
    assert isinstance(state, WorldState)  # the root has no required items
    for problem in problems(state):
        place = SourcePlace(source, path=problem.path)
        new_problems.error(problem.code, problem.message, place, name=problem.name, valid=problem.valid)
    new_problems.raise_if_failed()
    if diagnostics is not None and isinstance(values, dict):
        _report_slashes(values, state, source, diagnostics)
    return state


def _report_slashes(values: JsonObject, state: WorldState, source: str, diagnostics: Diagnostics) -> None:
    """Warn about frames that are written with a leading slash."""
    models = {model.name for model in state.models}
    for kind in ("models", "frames"):
        bodies = values.get(kind)
        for number, body in enumerate(bodies if isinstance(bodies, list) else ()):
            for key in ("name", "parent") if kind == "frames" else ("parent",):
                written = body.get(key) if isinstance(body, dict) else None
                is_frame = key == "name" or written not in models
                if isinstance(written, str) and is_frame and frame_name(written) != written:
                    warn_of_slash(written, diagnostics, SourcePlace(source, path=f"/{kind}/{number}/{key}"))
