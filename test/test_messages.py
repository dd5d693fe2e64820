# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The form of all messages. `pytest -s test/test_messages.py` prints them with sample values."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.messages import Message, messages

import robot_semantics

PACKAGE = Path(robot_semantics.__file__).parent
LONGEST = 30
"""Words in one part of a message."""

NOT_PLAIN = re.compile(
    r"\b(?:passed over|taken for|taken to be|carried out|mend(?:s|ed)?|anew|nobody|by itself|all the same|"
    r"hardly|seldom|as it stands|says? nothing|says otherwise|has no place|have no place|gives? way|goes by|"
    r"the most that|beyond all|is none|what is whole|put in order|is the one that|kinds? of problem|"
    r"(?<!there )(?:is|are) no (?!longer))",
)
"""Words and habits that make a message hard to read."""

BEGINS = re.compile(r"(?:[a-z0-9'<\-/_.…⟦]|[A-Z]{2}|T_|MuJoCo|Dask|Drake|Parquet|Sobol|CDR|MoveIt|Python|Nav)")
"""Beginning of a message: lower case, a name or an abbreviation."""

FOREIGN_WORDS = {"recording/bags/rosbags.py": "the sentences of the library whose reading it replaces"}
"""Modules whose messages repeat another program's, and why."""

OWN_SENTENCES = {"viewer/studio_robot.py": "a sentence of the page"}

UNQUOTED = re.compile(r"(?<!-)\b(?:joint|link|group|frame|model|material|topic|parameter|sub-group) ⟦(?!')")


@pytest.fixture(scope="module")
def every() -> list[Message]:
    found = messages(PACKAGE)
    print()
    for message in found:
        print(f"{message.path.relative_to(PACKAGE)}:{message.line}: {message.text}")
    return [item for item in found if str(item.path.relative_to(PACKAGE)) not in {**FOREIGN_WORDS, **OWN_SENTENCES}]


def _place(message: Message) -> str:
    return f"{message.path.relative_to(PACKAGE)}:{message.line}: {message.text}"


def test_messages_are_found(every: list[Message]) -> None:
    assert len(every) > 600
    assert any("is above the upper limit 0.5" in message.text for message in every)


def test_parts_of_a_message_are_short(every: list[Message]) -> None:
    parts = ((message, re.split(r"[.;:] |, but |, so ", message.text)) for message in every)
    assert [_place(message) for message, row in parts if max(len(part.split()) for part in row) > LONGEST] == []


def test_messages_have_plain_words(every: list[Message]) -> None:
    assert [_place(message) for message in every if NOT_PLAIN.search(message.text)] == []


def test_a_message_begins_in_lower_case_and_has_no_full_stop(every: list[Message]) -> None:
    assert [_place(item) for item in every if not BEGINS.match(item.text) or re.search(r"[a-z]\.$", item.text)] == []


def test_names_are_in_quotes(every: list[Message]) -> None:
    assert [_place(message) for message in every if UNQUOTED.search(message.marked)] == []
