# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Writing and reading back is the identity, bit for bit."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from lxml import etree
from support.states import Chance

from robot_semantics import DescriptionError, WorldState, read_world, save_world, write_world
from robot_semantics.convert.json_form import parse_json, world_to_json
from robot_semantics.transforms.pose import Pose
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.world_state import Frame, LinkState, ModelState
from robot_semantics.usdf.writer import full_schema
from robot_semantics.xml import numbers

WORLDS = int(1000 * float(os.environ.get("LONGER", "1")))


def without_places(state: WorldState) -> str:
    return re.sub(r"ordinal=-?\d+", "", repr(state))


def test_random_worlds_read_back_bit_for_bit(chance: Callable[[int], Chance]) -> None:
    source, checked = chance(0), 0
    for _ in range(WORLDS):
        state = source.world()
        back = parse_world(write_world(state))
        assert back == state
        # Equality takes -0.0 for 0.0; the text of the values does not.
        assert without_places(back) == without_places(state)
        checked += 1
    assert checked == WORLDS


def test_every_written_world_conforms_to_the_published_schema(chance: Callable[[int], Chance]) -> None:
    source = chance(1)
    for _ in range(500):
        tree = etree.fromstring(write_world(source.world()).encode())
        # libxml2 does not look behind a comment inside a list; none is ever written there.
        assert full_schema().validate(tree), full_schema().error_log


def test_json_keeps_every_bit_too(chance: Callable[[int], Chance]) -> None:
    import json

    source = chance(2)
    for _ in range(500):
        state = source.world()
        back = parse_json(json.dumps(world_to_json(state)))
        assert without_places(back) == without_places(state)


def test_the_written_text_is_the_same_without_the_fast_library(
    chance: Callable[[int], Chance], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = chance(3)
    states = [source.world() for _ in range(300)]
    numbers.FAST_ROWS.load()
    texts = [write_world(state) for state in states]
    monkeypatch.setattr(numbers, "FAST_ROWS", numbers._FastRows())
    for state, text in zip(states, texts, strict=True):
        assert write_world(state) == text
        assert without_places(parse_world(text)) == without_places(state)


def test_a_number_is_written_as_short_as_repr_writes_it(chance: Callable[[int], Chance]) -> None:
    source = chance(4)
    digits = re.compile(r"^-?0*\.?0*|[.-]|0*$|e.*$")
    for _ in range(5_000):
        value = source.number()
        text = numbers.format_row((value,))
        assert float(text) == value
        mantissa = [digits.sub("", re.sub(r"\.0$|e.*$", "", word)).strip("0") for word in (text, repr(value))]
        assert len(mantissa[0]) <= len(mantissa[1])


def test_a_saved_world_is_read_back(tmp_path: Path, chance: Callable[[int], Chance]) -> None:
    path, state = tmp_path / "w.usdf", chance(5).world()
    save_world(state, path)
    assert read_world(path) == state
    assert list(tmp_path.iterdir()) == [path]


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.usdf"
    save_world(WorldState(name="old"), path)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="No space"):
        save_world(WorldState(name="new"), path)
    monkeypatch.undo()
    assert read_world(path).name == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_to_a_file_stays_one_and_the_mode_is_kept(tmp_path: Path) -> None:
    path, link = tmp_path / "w.usdf", tmp_path / "latest.usdf"
    save_world(WorldState(name="old"), path)
    path.chmod(0o640)
    link.symlink_to(path.name)
    save_world(WorldState(name="new"), link)
    assert link.is_symlink()
    assert read_world(path).name == "new"
    assert path.stat().st_mode & 0o777 == 0o640


Z = (0.0,) * 6
TWINS = ModelState("m", links=(LinkState("l"), LinkState("l")))
UNWRITABLE = {
    "nan": (WorldState(frames=(Frame("f", pose=Pose((float("nan"), 0, 0, 0, 0, 0))),)), "number 1, nan, is not finite"),
    "infinite": (WorldState(frames=(Frame("f", twist=(0, 0, 0, 0, 0, float("inf"))),)), "number 6, inf, is not finite"),
    "count": (WorldState(frames=(Frame("f", twist=(1.0, 2.0)),)), "it has 2 numbers; it must have 6"),  # type: ignore[arg-type]
    "none": (WorldState(frames=(Frame("f", twist=(None,) * 6),)), "number 1, None, is not a number"),  # type: ignore[arg-type]
    "name": (WorldState(frames=(Frame(""),)), "the name '' is empty"),
    "space": (WorldState(frames=(Frame(" a"),)), "the name ' a' begins or ends with white space"),
    "control": (WorldState(frames=(Frame("a\0b"),)), "has a character that XML does not allow"),
    "parent": (WorldState(frames=(Frame("a", "b"),)), "the parent 'b' is neither a frame nor a model"),
    "twice": (WorldState(frames=(Frame("a"), Frame("a"))), "the name 'a' is already used by a frame"),
    "links": (WorldState(models=(TWINS,)), "a second <link_state> has the name 'l'"),
    "hash": (WorldState(models=(ModelState("m", urdf_sha256="abc"),)), "rs:hash is 'abc'"),
    "time": (WorldState(time_ns=10**19), "at most ten digits of seconds"),
    "quaternion": (WorldState(frames=(Frame("a", pose=Pose(Z, (0.0, 0.0, 1.0, 0.0))),)), "are different orientations"),
    "foreign": (WorldState(foreign=("<x:y/>",)), "not well-formed XML"),
    "not foreign": (WorldState(foreign=("<frame/>",)), "frame"),
}  # fmt: skip


@pytest.mark.parametrize(("state", "message"), UNWRITABLE.values(), ids=UNWRITABLE)
def test_what_could_not_be_read_back_is_not_written(state: WorldState, message: str, tmp_path: Path) -> None:
    with pytest.raises(DescriptionError) as caught:
        save_world(state, tmp_path / "w.usdf")
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_numpy_numbers_and_integers_are_written_as_what_they_are() -> None:
    import numpy as np

    state = WorldState(frames=(Frame("f", twist=tuple(np.arange(6) + 0.5)), Frame("g", twist=(1, 2, 3, 4, 5, 6))))
    assert parse_world(write_world(state)) == state
