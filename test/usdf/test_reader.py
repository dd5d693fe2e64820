# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Every problem of a document has its message, line and column; all are reported together."""

from __future__ import annotations

import pytest
from support.marks import unmarked
from support.states import FOUNDING_EXAMPLE, REPAIRED_EXAMPLE

from robot_semantics import DescriptionError, Diagnostics, Severity, WorldState, write_world
from robot_semantics.transforms.pose import Pose
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.world_state import Frame, JointState, LinkState, ModelState

RS = 'xmlns:rs="urn:robot-semantics:usdf:1"'
ZERO = (0.0,) * 6


def problems(text: str | bytes) -> list[str]:
    """Return ``code line:column`` of every problem."""
    with pytest.raises(DescriptionError) as caught:
        parse_world(text, "w.usdf")
    assert all(item.place.source == "w.usdf" for item in caught.value.diagnostics)
    return [f"{item.code} {item.place.line}:{item.place.column}" for item in caught.value.diagnostics]


def test_the_founding_documents_example_gives_one_clear_error() -> None:
    with pytest.raises(DescriptionError) as caught:
        parse_world(FOUNDING_EXAMPLE, "w.usdf")
    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.place.line, problem.place.column) == ("not-well-formed", 6, 22)
    assert "the quote of attribute 'name' is not closed" in problem.message


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('<a b="1" §c="2></a>', None),
        ('<a b="x\n y>\n<c d="e"/></a>', (1, 6)),
        ('<a b="1"><c é="2" d="3></c></a>', (1, 21)),
        ('<a b="a<b"/>', (1, 8)),
    ],
)
def test_a_quote_that_is_left_open_is_reported_where_it_opens(text: str, place: tuple[int, int] | None) -> None:
    if place is None:
        text, (line, column) = unmarked(text)
        place = (line, column + 2)
    with pytest.raises(DescriptionError) as caught:
        parse_world(text)
    (problem,) = caught.value.diagnostics
    assert (problem.place.line, problem.place.column) == place


def test_its_repaired_form_is_read_with_a_note_about_the_root() -> None:
    diagnostics = Diagnostics()
    state = parse_world(REPAIRED_EXAMPLE, "w.usdf", diagnostics)
    (note,) = diagnostics
    assert note.severity is Severity.NOTE
    assert str(note).startswith("w.usdf:1:1: note: the root element <world> is an older name of <world_state>")
    link = LinkState("r_shoulder_pan_link", Pose((1.0, 0.0, 1.0, 0.0, 0.0, 0.0)), ZERO, ZERO)
    assert state == WorldState(
        "world_1",
        (ModelState("pr2", "odom", Pose(ZERO), ZERO, (link,)),),
        (Frame("odom", "world", Pose(ZERO), ZERO),),
    )
    assert write_world(state).splitlines()[1] == '<world_state name="world_1">'


# The place of each fault is marked with §. Cases with a tag of their own are inside <world_state>.
FAULTS = {
    "root": ("wrong-root", "§<robot/>"),
    "empty": ("empty-document", "§"),
    "entity": ("entity-declared", "<!DOCTYPE w [§<!ENTITY e 'x'>]><world_state>&e;</world_state>"),
    "attribute of the root": ("unknown-attribute", "<world_state §nam='a'/>"),
    "text": ("stray-text", "§<world_state>hello</world_state>"),
    "time": ("bad-value", f"<world_state {RS} §rs:time='1.5 s'/>"),
}
FRAME, MODEL = "<frame name='a'>", "<model_state name='a'>"
OTHER = "<model_state name='p'><link_state name='q::r'/></model_state>"
BODY_FAULTS = {
    "unknown element": ("unknown-element", "\n §<fram name='a'/>"),
    "misplaced element": ("unknown-element", "<frame name='a'>§<positions>1</positions></frame>"),
    "element in a value": ("unknown-element", "<frame name='a'><pose>§<x/></pose></frame>"),
    "two poses": ("duplicate-element", "<frame name='a'><pose>0 0 0 0 0 0</pose>§<pose>0 0 0 0 0 0</pose></frame>"),
    "no name": ("missing-attribute", "§<frame/>"),
    "unknown attribute": ("unknown-attribute", "<frame name='a' §nam='a'/>"),
    "text in a frame": ("stray-text", "§<frame name='a'>hello</frame>"),
    "five numbers": ("wrong-count", "<frame name='a'>§<pose>0 0 0 0 0</pose></frame>"),
    "no numbers": ("wrong-count", "<frame name='a'>§<pose/></frame>"),
    "word": ("bad-number", "<frame name='a'>§<twist>0 0 x 0 0 0</twist></frame>"),
    "comma": ("bad-number", "<frame name='a'>§<twist>0,0,0,0,0,0</twist></frame>"),
    "bar": ("bad-number", "<frame name='a'>§<twist>0 0 0 0 0 0|0</twist></frame>"),
    "bracket": ("bad-number", "<frame name='a'>§<twist>0 0 0 0 0 0]</twist></frame>"),
    "underscore": ("bad-number", "<frame name='a'>§<twist>1_0 0 0 0 0 0</twist></frame>"),
    "no-break space": ("bad-number", "<frame name='a'>§<twist>0\u00a00 0 0 0 0</twist></frame>"),
    "nan": ("bad-number", "<frame name='a'>§<twist>0 0 NaN 0 0 0</twist></frame>"),
    "infinity": ("bad-number", "<frame name='a'>§<twist>0 0 -INF 0 0 0</twist></frame>"),
    "too large": ("bad-number", "<frame name='a'>§<twist>0 0 1e400 0 0 0</twist></frame>"),
    "array": ("bad-number", f"{MODEL}<joint_state name='j'>§<positions>1 b</positions></joint_state></model_state>"),
    "quaternion count": ("wrong-count", "<frame name='a'><pose §rs:quaternion='0 0 1'>0 0 0 0 0 0</pose></frame>"),
    "quaternion word": ("bad-number", "<frame name='a'><pose §rs:quaternion='0 0 1 a'>0 0 0 0 0 0</pose></frame>"),
    "quaternion length": ("quaternion-disagrees", f"{FRAME}<pose §rs:quaternion='0 0 0 2'>0 0 0 0 0 0</pose></frame>"),
    "quaternion": ("quaternion-disagrees", f"{FRAME}<pose §rs:quaternion='0 0 0 1'>0 0 0 0 0 2e-8</pose></frame>"),
    "relative namespace": ("relative-namespace", "§<y:z xmlns:y='u'/>"),
    "hash": ("bad-value", "<model_state name='a' §rs:hash='ABC'/>"),
    "empty name": ("empty-name", "<frame §name=''/>"),
    "spaced name": ("bad-name", "<frame §name=' a'/>"),
    "world": ("reserved-name", "<frame §name='world'/>"),
    "two bodies": ("duplicate-name", "<frame §name='a'/><model_state name='a'/>"),
    "two links": ("duplicate-name", f"{MODEL}<link_state name='l'/><link_state §name='l'/></model_state>"),
    "two joints": ("duplicate-name", f"{MODEL}<joint_state name='l'/><joint_state §name='l'/></model_state>"),
    "two engines": ("duplicate-name", "<rs:engine name='e' version='1'/><rs:engine §name='e' version='1'/>"),
    "two world names": ("duplicate-name", f"{OTHER}<model_state name='p::q'><link_state §name='r'/></model_state>"),
    "unknown parent": ("unknown-parent", "<frame name='a'>§<parent>odom</parent></frame>"),
    "own parent": ("parent-cycle", "<frame name='a'>§<parent>a</parent></frame>"),
}  # fmt: skip


def in_world(body: str) -> str:
    return f"<world_state {RS} xmlns:x='urn:x'>{body}</world_state>"


def line_and_column(text: str) -> str:
    """Return ``line:column`` of the mark."""
    before = text[: text.index("§")]
    return f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


ALL_FAULTS = {**FAULTS, **{name: (code, in_world(body)) for name, (code, body) in BODY_FAULTS.items()}}


@pytest.mark.parametrize(("code", "text"), ALL_FAULTS.values(), ids=ALL_FAULTS)
def test_a_fault_has_its_place(code: str, text: str) -> None:
    assert problems(text.replace("§", "")) == [f"{code} {line_and_column(text)}"]


def test_all_faults_of_a_document_are_reported_together() -> None:
    bodies = []
    for at, (_, body) in enumerate(BODY_FAULTS.values()):
        unique = body.replace("name='a'", f"name='a{at}'").replace("<parent>a<", f"<parent>a{at}<")
        bodies.append(unique.replace("\n", " "))
    text = in_world("\n".join(bodies))
    places = [f"{at}:{line_and_column(line).split(':')[1]}" for at, line in enumerate(text.split("\n"), 1)]
    codes = [code for code, _ in BODY_FAULTS.values()]
    assert problems(text.replace("§", "")) == [f"{code} {place}" for code, place in zip(codes, places, strict=True)]


def test_a_cycle_is_named_once_with_its_path() -> None:
    text = "<world_state>" + "".join(
        f"<frame name='{name}'><parent>{parent}</parent></frame>" for name, parent in ("ab", "bc", "ca", "da")
    )
    with pytest.raises(DescriptionError, match="a → b → c → a") as caught:
        parse_world(f"{text}</world_state>")
    assert [item.code for item in caught.value.diagnostics] == ["parent-cycle"]


def test_an_unknown_parent_or_element_is_answered_with_the_nearest_name() -> None:
    text = "<world_state><frame name='odom'/><frame name='a'><parent>odmo</parent></frame><frme/></world_state>"
    with pytest.raises(DescriptionError) as caught:
        parse_world(text)
    assert [item.suggestion for item in caught.value.diagnostics] == ["odom", "frame"]


def test_children_may_stand_in_any_order_and_an_empty_parent_is_the_world() -> None:
    state = parse_world(
        "<world_state><frame name='f'><twist>1 2 3 4 5 6</twist><parent/><pose>6 5 4 3 2 1</pose></frame>"
        "<model_state name='m'><joint_state name='j'><torques>3</torques><positions>1</positions></joint_state>"
        "<link_state name='l'><wrench>1 1 1 1 1 1</wrench><pose>2 2 2 2 2 2</pose></link_state>"
        "<pose>0 0 0 0 0 0</pose><link_state name='k'/><parent> f </parent></model_state></world_state>"
    )
    assert state.frames == (Frame("f", "world", Pose((6.0, 5.0, 4.0, 3.0, 2.0, 1.0)), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)),)
    (model,) = state.models
    assert (model.parent, model.pose, model.twist) == ("f", Pose(ZERO), None)
    assert model.links == (LinkState("l", Pose((2.0,) * 6), None, (1.0,) * 6), LinkState("k"))
    assert model.joints == (JointState("j", (1.0,), None, (3.0,)),)


@pytest.mark.parametrize(
    "text",
    [
        "1 2 3 4 5 6",
        " 1\n2\t3 \r\n4 5  6 ",
        "+1 2. .3e1 4E0 5e+0 60e-1",
        "1.0 2.0 3.00 04 5 6",
        "<![CDATA[1 2 3 4 5 6]]>",
    ],
)
def test_every_spelling_of_xml_schema_doubles_is_read(text: str) -> None:
    state = parse_world(f"<world_state><frame name='f'><twist>{text}</twist></frame></world_state>")
    assert state.frames[0].twist == (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)


def test_the_sign_of_an_integer_zero_is_kept() -> None:
    (frame,) = parse_world(
        "<world_state><frame name='f'><twist>-0 0 -0.0 1e-400 -1e-400 -0e5</twist></frame></world_state>"
    ).frames
    assert repr(frame.twist) == "(-0.0, 0.0, -0.0, 0.0, -0.0, -0.0)"


@pytest.mark.parametrize(
    "text", ["1 2 3 4 5 -0\n", "\n1 2 3 4 5 -0", "1 2 3 4 5 -0\t", "1 2 3 4 5 -0 ", "1 2 3 4 5 -0"]
)
def test_the_sign_of_an_integer_zero_is_kept_before_any_white_space(text: str) -> None:
    (frame,) = parse_world(f"<world_state><frame name='f'><twist>{text}</twist></frame></world_state>").frames
    assert repr(frame.twist) == "(1.0, 2.0, 3.0, 4.0, 5.0, -0.0)"


def test_comments_and_foreign_content_are_kept_and_stay_what_they_are() -> None:
    text = (
        f"<world_state {RS} xmlns:x='urn:x' x:a='1' xml:lang='en'><!-- one --><x:e kind='x:t'><pose>no</pose></x:e>"
        "<model_state name='m' x:b='2'><pose>1 2 <!-- in --> 3 0 0 0</pose><?tool do?>"
        "<link_state name='l'><e xmlns='urn:y'/></link_state><joint_state name='j' x:c='&quot;'/></model_state>"
        "<frame name='f'><x:e/></frame></world_state>"
    )
    state = parse_world(text)
    assert state.foreign == (
        'xmlns:x="urn:x" xml:lang="en" x:a="1"',
        "<!-- one -->",
        '<x:e xmlns:x="urn:x" kind="x:t"><pose>no</pose></x:e>',
    )
    (model,) = state.models
    assert model.pose == Pose((1.0, 2.0, 3.0, 0.0, 0.0, 0.0))
    assert model.foreign == ('xmlns:x="urn:x" x:b="2"', "<?tool do?>", "<!-- in -->")
    assert model.links[0].foreign == ('<e xmlns="urn:y"></e>',)
    assert model.joints[0].foreign == ('xmlns:x="urn:x" x:c=\'"\'',)
    once = write_world(state)
    assert parse_world(once) == state
    assert write_world(parse_world(once)) == once


def test_the_extensions_are_read() -> None:
    state = parse_world(
        f"<world_state {RS} rs:time='-1.500000000'><model_state name='m' rs:description='a.urdf' rs:semantic='a.srdf' "
        f"rs:hash='{'0a' * 32}'><pose rs:quaternion='0 0 1 0'>0 0 0 0 0 3.141592653589793</pose></model_state>"
        "<rs:engine name='e' version='2'><rs:array name='x'>1 2</rs:array><rs:array name='y'/>"
        "<rs:property name='p' value=' v '/></rs:engine></world_state>"
    )
    assert state.time_ns == -1_500_000_000
    (model,) = state.models
    assert (model.description, model.semantic, model.urdf_sha256) == ("a.urdf", "a.srdf", "0a" * 32)
    assert model.pose == Pose((0.0, 0.0, 0.0, 0.0, 0.0, 3.141592653589793), (0.0, 0.0, 1.0, 0.0))
    (engine,) = state.engines
    assert (engine.name, engine.version) == ("e", "2")
    assert dict(engine.arrays) == {"x": (1.0, 2.0), "y": ()}
    assert dict(engine.attributes) == {"p": " v "}


GROWN = (
    f"<world_state {RS} xmlns:x='urn:x' rs:newer='1' rs:version='2'>"
    "<rs:engin a='b'>c</rs:engin><frame name='f' rs:soon='2'>"
    "<pose x:u='m' rs:w='&lt;'>0 0 0 0 0 0</pose><twist><!-- t --><x:in/>0 0 0 0 0 0</twist></frame>"
    "<rs:engine name='e' version='1' x:a='1'><!-- e --><rs:array name='a' rs:n='1'>1</rs:array>"
    "</rs:engine></world_state>"
)


def test_what_is_newer_or_foreign_is_kept_and_reported_as_a_warning() -> None:
    found = Diagnostics()
    state = parse_world(GROWN, diagnostics=found)
    assert not found.errors
    codes = sorted(item.code for item in found.warnings)
    unknown = ["newer-version", *["unknown-attribute"] * 4, "unknown-element"]
    assert codes == sorted([*unknown, *["foreign-content"] * 3])
    assert state.foreign == (
        'rs:newer="1"',
        '<rs:engin xmlns:rs="urn:robot-semantics:usdf:1" a="b">c</rs:engin>',
    )
    assert state.frames[0].foreign == (
        'rs:soon="2"',
        "<!-- t -->",
        '<x:in xmlns:x="urn:x"></x:in>',
        '@pose xmlns:x="urn:x" rs:w="&lt;" x:u="m"',
    )
    assert state.engines[0].foreign == ('xmlns:x="urn:x" x:a="1"', "<!-- e -->", '@rs:array rs:n="1"')
    text = write_world(state)
    assert parse_world(text) == state
    assert '<pose xmlns:x="urn:x" rs:w="&lt;" x:u="m">' in text


def test_the_fields_of_the_extensions_are_read_and_written() -> None:
    text = (
        f"<world_state {RS} rs:version='1'><rs:comment> a &lt;b&gt;\n</rs:comment><model_state name='m' rs:age='-0.5'>"
        "<pose>0 0 0 0 0 0</pose><joint_state name='j' rs:age='1.000000001'/><link_state name='hand'>"
        "<pose>1 0 0 0 0 0</pose></link_state></model_state><frame name='f' rs:age='3' rs:parent_link='hand'>"
        "<parent>m</parent><pose>0 0 0 0 0 0</pose></frame></world_state>"
    )
    found = Diagnostics()
    state = parse_world(text, diagnostics=found)
    assert len(found) == 0
    assert (state.comment, state.version) == (" a <b>\n", "1")
    (model,), (frame,) = state.models, state.frames
    assert (model.age_ns, model.joints[0].age_ns, frame.age_ns) == (-500_000_000, 1_000_000_001, 3_000_000_000)
    assert frame.parent_link == "hand"
    assert parse_world(write_world(state)) == state


@pytest.mark.parametrize("parent", ["world", "f"])
def test_only_a_model_has_a_link_that_something_can_stand_on(parent: str) -> None:
    text = f"<world_state {RS}><frame name='f'/><frame name='g' rs:parent_link='l'><parent>{parent}</parent></frame>"
    assert problems(f"{text}</world_state>") == ["unknown-parent-link 1:85"]


def test_a_lenient_reader_leaves_out_what_is_in_error_and_what_stands_on_it() -> None:
    found = Diagnostics()
    state = parse_world(
        "<world_state><frame name='a'/><frame name='b'><parent>nowhere</parent></frame><frame name='c'>"
        "<parent>b</parent></frame><frame name='a'><parent>c</parent></frame><frame name='d'><parent>a</parent>"
        "<pose>1 2</pose></frame><frame name='e'><parent>e</parent></frame><frame/><nothing/>"
        "<model_state name='m'><link_state name='l'/><link_state name='l'><pose>0 0 0 0 0 0</pose></link_state>"
        "<joint_state name='j'><positions>x</positions><velocities>1</velocities></joint_state></model_state>"
        "</world_state>",
        diagnostics=found,
        strict=False,
    )
    assert state == WorldState(
        models=(ModelState("m", links=(LinkState("l"),), joints=(JointState("j", None, (1.0,)),)),),
        frames=(Frame("a"), Frame("d", "a")),
    )
    assert len(found.errors) == 8
    assert parse_world(write_world(state)) == state


def test_a_property_of_an_engine_has_a_value() -> None:
    text = f"<world_state {RS}><rs:engine name='e' version='1'><rs:property name='p'/></rs:engine></world_state>"
    assert problems(text) == [f"missing-attribute 1:{text.index('<rs:property') + 1}"]


NAMED = {
    "model_state": "<model_state{}/>",
    "link_state": '<model_state name="m"><link_state{}/></model_state>',
    "joint_state": '<model_state name="m"><joint_state{}/></model_state>',
    "frame": "<frame{}/>",
    "rs:engine": "<rs:engine{}/>",
}


@pytest.mark.parametrize("element", list(NAMED))
def test_every_element_with_a_name_needs_it(element: str) -> None:
    message = f"<{element}> has no attribute 'name'"
    for attribute in (' name="n"', ""):
        text = NAMED[element].format(attribute)
        found: list[str] = []
        try:
            parse_world(f'<world_state xmlns:rs="urn:robot-semantics:usdf:1">{text}</world_state>', "w.usdf")
        except DescriptionError as error:
            found = [item.message for item in error.diagnostics]
        assert (message in found) is not bool(attribute)


@pytest.mark.parametrize(
    ("time", "digits"), [("", None), ('rs:time="1.5"', "1.500000000"), ('rs:time="1.500000000"', None)]
)
def test_a_time_without_nine_digits_is_a_warning_with_the_right_text(time: str, digits: str | None) -> None:
    found = Diagnostics()
    state = parse_world(f"<world_state {RS} {time}/>", diagnostics=found)
    assert state.time_ns == (1_500_000_000 if time else None)
    assert [item.message.rpartition(": ")[2] for item in found] == ([] if digits is None else [digits])
