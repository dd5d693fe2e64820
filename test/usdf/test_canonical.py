"""Text in the written form is read by patterns: the same states as by the XML parser, and never one more text."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from support.states import Chance
from usdf.test_fuzz import damaged

from robot_semantics.base.errors import DescriptionError
from robot_semantics.usdf.canonical import canonical_state
from robot_semantics.usdf.reader import Examined, _examine, _examine_xml
from robot_semantics.usdf.world_state import Frame, JointState, LinkState, ModelState, Pose, WorldState
from robot_semantics.usdf.writer import write_world
from robot_semantics.xml.events import MAX_PLAIN_BYTES

ROW = (1.0, -0.0, 5e-324, 1e308, 0.1, -2.5)


class PlainChance(Chance):
    """A source of worlds without what is never in the canonical form: foreign content, letters beyond ASCII."""

    def names(self, count: int) -> list[str]:
        return [f"{self.random.choice(('l', 'a b', 'x|y,z', 'a::b', ']', 'q>'))}{at}" for at in range(count)]

    def foreign(self) -> tuple[str, ...]:
        return ()


def outcome(read: Callable[[str | bytes, str], Examined], text: str | bytes) -> str:
    """Return all that a reader says, the elements' numbers among it."""
    try:
        state, places, found = read(text, "w.usdf")
    except DescriptionError as error:
        return "\n".join(f"{problem.code} {problem}" for problem in error.diagnostics)
    return f"{state!r}\n{places.text!r}\n" + "\n".join(map(str, found))


def test_random_worlds_read_as_the_xml_parser_reads_them() -> None:
    chance, read = PlainChance(0), 0
    for _ in range(1500):
        text = write_world(chance.world(links=4, joints=3))
        state = canonical_state(text.encode())
        if state is not None:
            read += 1
            assert repr(state) == repr(_examine_xml(text, "w.usdf").state)
        assert outcome(_examine, text) == outcome(_examine_xml, text)
    assert read > 200


def test_damaged_texts_read_as_the_xml_parser_reads_them() -> None:
    chance, luck, read = PlainChance(1), random.Random(1), 0
    texts = [write_world(chance.world()) for _ in range(150)]
    texts = [text for text in texts if canonical_state(text.encode()) is not None]
    assert len(texts) > 10
    for _ in range(3000):
        text = damaged(luck.choice(texts), luck)
        if isinstance(text, str) and canonical_state(text.encode("utf-8", "surrogatepass")) is not None:
            read += 1
        assert outcome(_examine, text) == outcome(_examine_xml, text)
    assert read > 100


WORLD = WorldState(
    name="w",
    models=(
        ModelState(
            "m",
            pose=Pose(ROW),
            twist=ROW,
            links=(LinkState("l", Pose((1.0, 2.0, 3.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)), ROW), LinkState("k")),
            joints=(JointState("j", (1.0,), (), (2.0, 3.0)), JointState("i")),
            description="package://a/b.urdf",
            urdf_sha256="0" * 64,
        ),
    ),
    frames=(Frame("f", "m", Pose(ROW)), Frame("g", "f", None, ROW)),
    time_ns=-1,
)


def test_everything_that_a_world_may_say_is_in_the_canonical_form() -> None:
    text = write_world(WORLD)
    assert repr(canonical_state(text.encode())) == repr(_examine_xml(text, "w.usdf").state)


OTHER = {
    "a space more": ('<link_state name="l">', '<link_state  name="l">'),
    "another order": ("    <twist>1.0 -0.0", "    <wrench/>\n    <twist>1.0 -0.0"),
    "a comment": ("  <frame", "  <!-- x --><frame"),
    "a letter beyond ASCII": ('name="l"', 'name="é"'),
    "a reference": ('name="l"', 'name="&lt;"'),
    "a name with a tab": ('name="l"', 'name="l\t"'),
    "the namespace undeclared": (' xmlns:rs="urn:robot-semantics:usdf:1"', ""),
    "another namespace": ("usdf:1", "usdf:2"),
    "five numbers": ("1.0 -0.0 ", "-0.0 "),
    "no number": ("1.0 -0.0 ", "1.0 - "),
    "a hash in capitals": ("0" * 64, "A" * 64),
    "a time without a point": ('rs:time="-0.000000001"', 'rs:time="-1"'),
    "something behind the end": ("</world_state>\n", "</world_state>\n<!-- end -->"),
    "no end": ("</world_state>\n", ""),
    "a model in a model": (
        "  </model_state>\n",
        "",
    ),
    "an attribute in the row": ("<positions>1.0", "<positions a='1'>1.0"),
    "characters that end a section": ("<parent>world", "<parent>]]>world"),
}


@pytest.mark.parametrize(("old", "new"), OTHER.values(), ids=OTHER)
def test_another_form_is_left_to_the_xml_parser(old: str, new: str) -> None:
    text = write_world(WORLD)
    assert old in text
    text = text.replace(old, new, 1)
    assert canonical_state(text.encode()) is None
    assert outcome(_examine, text) == outcome(_examine_xml, text)


def test_a_row_that_the_xml_parser_would_refuse_is_left_to_it() -> None:
    text = write_world(WORLD).replace("<positions>1.0", f"<positions>1.0{' ' * MAX_PLAIN_BYTES}", 1)
    assert canonical_state(text.encode()) is None


def test_a_state_whose_meaning_is_wrong_is_diagnosed_in_its_text() -> None:
    text = write_world(WORLD).replace('name="k"', 'name="l"', 1)
    assert canonical_state(text.encode()) is not None
    with pytest.raises(DescriptionError, match="a second <link_state> is called 'l'"):
        _examine(text, "w.usdf").found.raise_if_failed()
    assert outcome(_examine, text) == outcome(_examine_xml, text)
