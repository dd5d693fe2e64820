# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Documents that chance has damaged raise the package's own errors and nothing else."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from support.states import REPAIRED_EXAMPLE, Chance

from robot_semantics import DescriptionError, WorldState, write_world
from robot_semantics.convert.json_form import parse_json, world_to_json
from robot_semantics.convert.sdformat_input import from_sdformat
from robot_semantics.convert.sdformat_state import to_sdformat
from robot_semantics.examples import example
from robot_semantics.usdf.reader import parse_world

DOCUMENTS = 6_000
WORDS = (
    *("<", ">", "/>", "</pose>", "<pose>", '"', "'", "&", "&#0;", "&amp;", "-", "1e999", "nan", "0", " ", "\n", "\0"),
    *(
        "<!--",
        "-->",
        "<?x ?>",
        "<![CDATA[",
        "]]>",
        "<x:y xmlns:x='u'/>",
        "<x:y xmlns:x='urn:u'/>",
        "rs:",
        "name",
        "world",
    ),
    *(
        "<frame name='f'/>",
        "<link_state/>",
        "rs:quaternion='0 0 0 1'",
        "\ud7ff",
        "é",
        "\u2028",
        "xmlns='urn:x'",
        "|",
        ",",
    ),
    *("<!DOCTYPE a [<!ENTITY b 'c'>]>", "<!DOCTYPE a SYSTEM 'b'>", "&b;", "xml:id='a'", "xmlns='urn:x'"),
)


def damaged(text: str, chance: random.Random) -> str | bytes:
    """Return `text` with a few cuts, copies and inserted words; sometimes with bytes that are not text.

    Some damage is small enough for a successful read: a changed digit, an insertion between two elements.
    """
    if chance.random() < 0.3:
        at = chance.randrange(len(text))
        if text[at].isdigit():
            return text[:at] + chance.choice("0123456789.e- ") + text[at + 1 :]
        at = text.find(">", at) + 1
        return text[:at] + chance.choice(("<!-- c -->", "<x:y xmlns:x='urn:u'>&lt;</x:y>", "\n", "<?p q?>")) + text[at:]
    for _ in range(chance.randint(1, 4)):
        at, to = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        to = min(to, at + 60)
        part = chance.choice(("", text[at:to] * 2, chance.choice(WORDS), text[to : to + 60]))
        text = text[:at] + part + text[to:]
    if chance.random() < 0.1:
        raw = bytearray(text.encode("utf-16" if chance.random() < 0.2 else "utf-8", "surrogatepass"))
        for _ in range(chance.randint(1, 3)):
            if raw:
                raw[chance.randrange(len(raw))] = chance.randrange(256)
        return bytes(raw)
    return text


def sources(chance: Callable[[int], Chance]) -> list[str]:
    rover = Path(example("rover_arm.usdf")).read_text()
    return [REPAIRED_EXAMPLE, rover[: rover.index("</model_state>")] + "</model_state></world_state>"] + [
        write_world(chance(seed).world()) for seed in range(20)
    ]


def read_or_refused(text: str | bytes) -> WorldState | DescriptionError:
    try:
        return parse_world(text, "w.usdf")
    except DescriptionError as error:
        return error


def test_damaged_documents_raise_the_packages_own_error_with_a_place(chance: Callable[[int], Chance]) -> None:
    luck = random.Random(0)
    texts = sources(chance)
    refused = read = 0
    for _ in range(DOCUMENTS):
        text = damaged(luck.choice(texts), luck)
        state = read_or_refused(text)
        if isinstance(state, DescriptionError):
            refused += 1
            assert all(item.place.source == "w.usdf" and item.place.line > 0 for item in state.diagnostics)
            assert state.diagnostics
        else:
            read += 1
            assert parse_world(write_world(state)) == state
    assert refused + read == DOCUMENTS
    assert refused > 3_000
    assert read > 150


def test_damaged_json_and_sdformat_raise_the_packages_own_error(chance: Callable[[int], Chance]) -> None:
    import json

    luck = random.Random(1)
    states = [chance(seed).world() for seed in range(20)]
    refused = 0
    for read, texts in (
        (parse_json, [json.dumps(world_to_json(state)) for state in states]),
        (from_sdformat, [to_sdformat(chance(seed).tame_world()).value for seed in range(5)]),
    ):
        for _ in range(2_000):
            try:
                read(damaged(luck.choice(texts), luck))
            except DescriptionError:
                refused += 1
    assert refused > 1_000
