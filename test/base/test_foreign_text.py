# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Text from outside, printed: one line that controls no terminal, of bounded length; memories that are bounded."""

from __future__ import annotations

import gc
import unicodedata
import weakref

import pytest

from robot_semantics import Diagnostics, SourcePlace, UnknownNameError
from robot_semantics.base.caches import LruCache, cached_per_object
from robot_semantics.base.names import shown
from robot_semantics.base.throttle import Throttle

HARMFUL = "\x1b[2J", "\x9b31m", "\u202eevil", "a\nb", "a\r", "\u2028", "\x00", "\x7f", "\u200b", "\ud800"


@pytest.mark.parametrize("text", HARMFUL)
def test_nothing_that_moves_a_cursor_or_turns_a_line_is_left(text: str) -> None:
    printed = [shown(text), str(UnknownNameError(text, text, [f"{text}x"], text)).replace(f"unknown {text}", "")]
    found = Diagnostics()
    found.error(
        "code", f"the name '{text}'", SourcePlace(f"file{text}", 1, 1, f"/robot[{text}]"), name=text, valid=[f"{text}x"]
    )
    printed += map(str, found)
    for line in printed:
        categories = {unicodedata.category(mark) for mark in line}
        assert not categories & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}, ascii(line)


def test_what_can_be_printed_is_printed_as_it_is() -> None:
    for text in ("", "elbow_joint", "Gelenk für Füße", "関節", "a b [c] {d}", "x" * 80):
        assert shown(text) == text


@pytest.mark.parametrize("text", ["x" * 81, "x" * 1_000_000, "\x1b" * 1_000_000, "\u202e" * 81])
def test_what_is_long_is_cut(text: str) -> None:
    assert len(shown(text)) == 80
    assert shown(text).endswith("…")
    assert len(str(UnknownNameError("joint", text, [text + "x"], text))) < 500


def test_the_oldest_and_the_heaviest_are_forgotten_first() -> None:
    gone: list[str] = []
    memory: LruCache[str, str] = LruCache(3, 10, gone.append)
    for name in ("a", "b", "c"):
        memory.put(name, name, 1)
    assert memory.get("a") == "a"
    memory.put("d", "d", 1)
    assert gone == ["b"]
    memory.put("e", "e", 9)
    assert gone == ["b", "c", "a"]
    assert list(memory) == ["e", "d"]
    memory.put("f", "f", 1_000)
    assert list(memory) == ["f"]
    assert not memory.add("f", "again")
    assert memory.add("g", "g")


def test_each_kind_passes_a_few_times_in_a_while_and_the_rest_is_counted() -> None:
    now = [0.0]
    throttle = Throttle(burst=2, period_s=5.0, clock=lambda: now[0])
    assert [throttle.admit("a") for _ in range(4)] == [0, 0, None, None]
    assert throttle.admit("b") == 0
    now[0] = 5.0
    assert throttle.admit_sentence("a", "it fails") == "it fails (2 more of this kind since the last such report)"
    assert throttle.admit_sentence("a", "it fails") == "it fails"
    assert throttle.admit_sentence("a", "it fails") is None
    for number in range(10_000):
        throttle.admit(number)
    assert throttle.admit("a") == 0


def test_what_is_remembered_of_an_object_goes_with_it() -> None:
    class Thing:
        pass

    computed: list[int] = []
    lives: weakref.WeakSet[Thing] = weakref.WeakSet()

    @cached_per_object
    def size(thing: Thing) -> int:
        computed.append(1)
        lives.add(thing)
        return len(computed)

    thing = Thing()
    assert (size(thing), size(thing), size(Thing())) == (1, 1, 2)
    del thing
    gc.collect()
    assert not lives
