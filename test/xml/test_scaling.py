# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A thousand problems cost a thousand times as much as one, not a million times: every reader, every kind."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable, Iterator

import pytest

from robot_semantics import DescriptionError, Diagnostics
from robot_semantics.model.apply_semantics import check_alone
from robot_semantics.model.loading import robot_from_text
from robot_semantics.srdf.table import parse_srdf
from robot_semantics.usdf.check import check_world
from robot_semantics.usdf.frames import resolve_frames
from robot_semantics.usdf.reader import parse_document

MOST = 2.6
"""By how much the cost may grow where the text doubles."""

TRIES = 4
"""Measurements are repeated while they say too much: other programs disturb them, and never make them cheaper."""

CHAIN = (
    '<robot name="r">'
    + "".join(f'<link name="l{n}"/>' for n in range(4))
    + "".join(
        f'<joint name="j{n}" type="fixed"><parent link="l{n}"/><child link="l{n + 1}"/></joint>' for n in range(3)
    )
    + "</robot>"
)

Make = Callable[[int], str]


def read_urdf(text: str) -> None:
    robot_from_text(text, strict=False)


def read_srdf(text: str) -> None:
    robot_from_text(CHAIN, text, strict=False)


def read_srdf_alone(text: str) -> None:
    found = Diagnostics()
    check_alone(parse_srdf(text, "s", found), found)
    assert len(list(found)) <= 3003


def read_usdf(text: str) -> None:
    found = Diagnostics()
    document = parse_document(text, "u", found)
    check_world(document.state, None, found, places=document.places)
    resolve_frames(document.state)


def robot(inside: str, attributes: str = "") -> str:
    return f'<robot name="r" {attributes}><link name="base"/>{inside}</robot>'


def world(inside: str, attributes: str = "") -> str:
    return f'<world_state xmlns:rs="urn:robot-semantics:usdf:1" {attributes}>{inside}</world_state>'


def model(inside: str) -> str:
    return world(f'<model_state name="m"><pose>0 0 0 0 0 0</pose>{inside}</model_state>')


def each(item: Callable[[int], str], count: int) -> str:
    return "\n".join(map(item, range(count)))


def group(inside: str, after: str = "") -> str:
    return robot(f'<group name="g">{inside}</group>{after}')


READERS = {"urdf": (read_urdf, robot), "srdf": (read_srdf, robot), "usdf": (read_usdf, world)}

Wrap = Callable[..., str]
OF_ALL: dict[str, tuple[int, Callable[[Wrap, int], str]]] = {
    "comments without end": (20_000, lambda wrap, n: "<!--" * n),
    "comments before what is not well-formed": (5_000, lambda wrap, n: "<!---->" * n + "<a"),
    "comments that XML forbids": (5_000, lambda wrap, n: wrap("<!-- -- -->" * n)),
    "comments before the root": (5_000, lambda wrap, n: "<!--a-->" * n + wrap("")),
    "comments behind the root": (5_000, lambda wrap, n: wrap("") + "<!--a-->" * n),
    "comments inside": (5_000, lambda wrap, n: wrap("<!--a-->" * n)),
    "unknown elements": (3_000, lambda wrap, n: wrap("<naQ/>" * n)),
    "different unknown elements": (3_000, lambda wrap, n: wrap(each(lambda i: f"<naQ{i}/>", n))),
    "letters beyond ASCII in one line": (3_000, lambda wrap, n: wrap("<é/>" * n)),
    "undeclared prefixes": (500, lambda wrap, n: wrap(each(lambda i: f"<p{i}:a/>", n))),
    "prefixes declared where they are used": (
        1_000,
        lambda wrap, n: wrap(each(lambda i: f'<p{i}:a xmlns:p{i}="u{i}"/>', n)),
    ),
    "prefixes declared on the root": (
        500,
        lambda wrap, n: wrap(each(lambda i: f"<p{i}:a/>", n), each(lambda i: f'xmlns:p{i}="u{i}"', n)),
    ),
    "foreign attributes": (3_000, lambda wrap, n: wrap("", 'xmlns:q="q" ' + each(lambda i: f'q:a{i}="u"', n))),
    "unknown attributes": (5_000, lambda wrap, n: wrap("", each(lambda i: f'a{i}="u"', n))),
    "text between tags": (3_000, lambda wrap, n: wrap("<!--x-->bad" * n)),
    "long text": (50_000, lambda wrap, n: wrap("bad " * n)),
    "foreign elements": (3_000, lambda wrap, n: wrap('<q:a xmlns:q="q"/>' * n)),
    "elements in each other": (5_000, lambda wrap, n: wrap('<group name="g">' * n + "</group>" * n)),
    "declarations in a document type": (
        2_000,
        lambda wrap, n: "<!DOCTYPE robot [" + "<!ELEMENT a ANY>" * n + "]>" + wrap(""),
    ),
    "a document type without end": (5_000, lambda wrap, n: "<!DOCTYPE robot [" + '<!-- "' * n + "]>" + wrap("")),
    "entities": (5_000, lambda wrap, n: "<!DOCTYPE robot [" + '<!ENTITY a "b">' * n + "]>" + wrap("")),
    "references": (3_000, lambda wrap, n: '<!DOCTYPE robot SYSTEM "x">' + wrap("&a;" * n)),
    "signs that end tags": (50_000, lambda wrap, n: wrap("<!--x-->" + ">" * n)),
    "quotes in a quote": (50_000, lambda wrap, n: wrap('<a b="' + "'>" * n + '"/>')),
    "spaces in a tag": (200_000, lambda wrap, n: wrap("<a" + " " * n + 'b="1"/>')),
    "what looks like attributes": (50_000, lambda wrap, n: wrap('<a b="' + " c = " * n + '"/>')),
    "quotes without end": (5_000, lambda wrap, n: wrap('<a b="x" c="' * n)),
    "CDATA without end": (5_000, lambda wrap, n: wrap("<![CDATA[" * n)),
    "instructions without end": (20_000, lambda wrap, n: "<?" * n),
    "instructions": (5_000, lambda wrap, n: wrap("<?a b?>" * n)),
    "declarations": (20_000, lambda wrap, n: "<?xml " * n),
    "white space": (200_000, lambda wrap, n: " " * n + "x"),
    "character references": (20_000, lambda wrap, n: wrap('<a b="' + "&lt;" * n + '"/>')),
}


def chain_of_links(count: int, more: str = "") -> str:
    links = "".join(f'<link name="l{n}"/>' for n in range(count + 1))
    joints = (
        f'<joint name="j{n}" type="fixed"><parent link="l{n}"/><child link="l{n + 1}"/></joint>' for n in range(count)
    )
    return f'<robot name="r">{links}{"".join(joints)}{more}</robot>'


def mimics(count: int, leader: Callable[[int], str]) -> str:
    links = "".join(f'<link name="l{n}"/>' for n in range(count + 1))
    joints = (
        f'<joint name="j{n}" type="continuous"><parent link="l0"/><child link="l{n + 1}"/>{leader(n)}</joint>'
        for n in range(count)
    )
    return f'<robot name="r">{links}{"".join(joints)}</robot>'


def fixed(name: str, parent: str, child: str) -> str:
    return f'<joint name="{name}" type="fixed"><parent link="{parent}"/><child link="{child}"/></joint>'


INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
BALL = '<visual><geometry><sphere radius="{}"/></geometry></visual>'
SPHERE = '<sphere center="x" radius="1"/>'
ARRAY = '<rs:array name="a">1</rs:array>'
STATED = '<group_state name="s" group="g">{}</group_state>'

OF_URDF: dict[str, tuple[int, Make]] = {
    "links of one name": (3_000, lambda n: robot('<link name="a"/>' * n)),
    "joints of one name": (2_000, lambda n: robot('<link name="l"/>' + fixed("a", "base", "l") * n)),
    "unknown links": (1_000, lambda n: robot(each(lambda i: fixed(f"a{i}", f"x{i}", f"y{i}"), n))),
    "roots": (2_000, lambda n: robot(each(lambda i: f'<link name="m{i}"/>', n))),
    "a chain": (1_000, chain_of_links),
    "a cycle": (1_000, lambda n: chain_of_links(n, fixed("c", f"l{n}", "l0"))),
    "a cycle at a chain's end": (1_000, lambda n: chain_of_links(n, fixed("c", f"l{n}", f"l{n - 1}"))),
    "a chain of mimics": (1_000, lambda n: mimics(n, lambda i: f'<mimic joint="j{i + 1}"/>' if i < n - 1 else "")),
    "a cycle of mimics": (1_000, lambda n: mimics(n, lambda i: f'<mimic joint="j{(i + 1) % n}"/>')),
    "unknown leaders": (1_000, lambda n: mimics(n, lambda i: f'<mimic joint="x{i}"/>')),
    "unknown materials": (
        500,
        lambda n: robot(
            each(lambda i: f'<material name="m{i}"/>', n)
            + each(
                lambda i: (
                    f'<link name="k{i}">{BALL.format(1).replace("</v", f"""<material name="u{i}"/></v""")}</link>'
                ),
                n,
            )
        ),
    ),
    "materials of one name": (2_000, lambda n: robot('<material name="m"><color rgba="1 1 1 1"/></material>' * n)),
    "bad shapes": (2_000, lambda n: robot(f'<link name="v">{BALL.format("x") * n}</link>')),
    "good shapes": (2_000, lambda n: robot(f'<link name="v">{BALL.format(1) * n}</link>')),
    "repeated children": (2_000, lambda n: robot(f'<link name="v">{INERTIAL * n}</link>')),
    "joints in links": (
        500,
        lambda n: robot(
            each(lambda i: f'<link name="v{i}"><joint name="j{i}" type="fixed"><parent name="base"/></joint></link>', n)
        ),
    ),
    "numbers in a vector": (
        50_000,
        lambda n: robot(f'<link name="v"><visual><origin xyz="{"1 " * n}"/>{BALL.format(1)[8:]}</link>'),
    ),
    "digits in a number": (50_000, lambda n: robot(f'<link name="v">{BALL.format("1" * n)}</link>')),
    "letters in a name": (50_000, lambda n: robot(f'<link name="{"v" * n}"/>')),
}

OF_SRDF: dict[str, tuple[int, Make]] = {
    "groups of one name": (2_000, lambda n: robot('<group name="g"><link name="l0"/></group>' * n)),
    "a chain of groups": (
        1_000,
        lambda n: robot(each(lambda i: f'<group name="g{i}"><group name="g{i + 1}"/></group>', n)),
    ),
    "a cycle of groups": (
        1_000,
        lambda n: robot(each(lambda i: f'<group name="g{i}"><group name="g{(i + 1) % n}"/></group>', n)),
    ),
    "a cycle at the end of a chain of groups": (
        1_000,
        lambda n: robot(each(lambda i: f'<group name="g{i}"><group name="g{min(i + 1, n - 1)}"/></group>', n)),
    ),
    "cycles through one group": (
        300,
        lambda n: group(
            each(lambda i: f'<group name="h{i}"/>', n),
            each(lambda i: f'<group name="h{i}"><group name="g"/></group>', n),
        ),
    ),
    "unknown groups": (2_000, lambda n: group(each(lambda i: f'<group name="h{i}"/>', n))),
    "repeated members": (3_000, lambda n: group('<joint name="j0"/>' * n)),
    "unknown members": (2_000, lambda n: group(each(lambda i: f'<joint name="x{i}"/>', n))),
    "chains": (2_000, lambda n: group('<chain base_link="l0" tip_link="l3"/>' * n)),
    "bad states": (
        1_000,
        lambda n: group(
            '<joint name="j0"/>',
            each(lambda i: f'<group_state name="s{i}" group="g"><joint name="j0" value="x"/></group_state>', n),
        ),
    ),
    "states of one name": (1_000, lambda n: group('<joint name="j0"/>', STATED.format("") * n)),
    "values of one joint": (
        2_000,
        lambda n: group('<joint name="j0"/>', STATED.format('<joint name="j0" value="1"/>' * n)),
    ),
    "values of unknown joints": (
        4_000,
        lambda n: group('<joint name="j0"/>', STATED.format(each(lambda i: f'<joint name="q{i}" value="1"/>', n))),
    ),
    "numbers in a value": (
        50_000,
        lambda n: group('<joint name="j0"/>', STATED.format(f'<joint name="j0" value="{"1 " * n}"/>')),
    ),
    "states of unknown groups": (
        2_000,
        lambda n: robot(each(lambda i: f'<group_state name="s{i}" group="g{i}"/>', n)),
    ),
    "repeated pairs": (2_000, lambda n: robot('<disable_collisions link1="l0" link2="l1" reason="x"/>' * n)),
    "pairs of unknown links": (
        2_000,
        lambda n: robot(each(lambda i: f'<disable_collisions link1="a{i}" link2="b{i}" reason="x"/>', n)),
    ),
    "passive joints": (2_000, lambda n: robot('<passive_joint name="j0"/>' * n)),
    "virtual joints": (
        1_000,
        lambda n: robot(
            each(lambda i: f'<virtual_joint name="v{i}" type="fixed" parent_frame="w" child_link="l0"/>', n)
        ),
    ),
    "end effectors": (
        1_000,
        lambda n: group(
            '<link name="l1"/>', each(lambda i: f'<end_effector name="e{i}" group="g" parent_link="l0"/>', n)
        ),
    ),
    "bad spheres": (
        2_000,
        lambda n: robot(f'<link_sphere_approximation link="l0">{SPHERE * n}</link_sphere_approximation>'),
    ),
    "properties": (2_000, lambda n: robot('<joint_property joint_name="j0" property_name="a" value="1"/>' * n)),
}

OF_USDF: dict[str, tuple[int, Make]] = {
    "unknown parents": (
        2_000,
        lambda n: world(each(lambda i: f'<frame name="f{i}"><parent>x{i}</parent></frame>', n)),
    ),
    "a chain of frames": (
        1_000,
        lambda n: world(
            each(lambda i: f'<frame name="f{i}"><parent>f{i + 1}</parent></frame>', n) + f'<frame name="f{n}"/>'
        ),
    ),
    "a cycle of frames": (
        2_000,
        lambda n: world(each(lambda i: f'<frame name="f{i}"><parent>f{(i + 1) % n}</parent></frame>', n)),
    ),
    "many cycles of frames": (
        2_000,
        lambda n: world(each(lambda i: f'<frame name="f{i}"><parent>f{i ^ 1}</parent></frame>', n)),
    ),
    "frames of one name": (2_000, lambda n: world('<frame name="f"/>' * n)),
    "links of one name": (2_000, lambda n: model('<link_state name="f"/>' * n)),
    "empty names": (2_000, lambda n: model('<joint_state name=""/>' * n)),
    "missing names": (2_000, lambda n: model("<link_state/>" * n)),
    "bad numbers": (
        2_000,
        lambda n: model(each(lambda i: f'<joint_state name="f{i}"><positions>x</positions></joint_state>', n)),
    ),
    "wrong counts": (
        2_000,
        lambda n: model(each(lambda i: f'<link_state name="f{i}"><pose>1 2</pose></link_state>', n)),
    ),
    "a bad number at the end of many": (
        20_000,
        lambda n: model(f'<joint_state name="f"><positions>{"1 " * n}x</positions></joint_state>'),
    ),
    "many numbers": (
        20_000,
        lambda n: model(f'<joint_state name="f"><positions>{"1 " * n}</positions></joint_state>'),
    ),
    "second poses": (2_000, lambda n: model("<pose>0 0 0 0 0 0</pose>" * n)),
    "quaternions that disagree": (
        1_000,
        lambda n: model(
            each(lambda i: f'<link_state name="a{i}"><pose rs:quaternion="1 0 0 0">1 2 3 0 0 0</pose></link_state>', n)
        ),
    ),
    "engines of one name": (
        1_000,
        lambda n: world(
            each(lambda i: f'<rs:engine name="e" version="1"><rs:array name="a{i}">1</rs:array></rs:engine>', n)
        ),
    ),
    "arrays of one name": (
        1_000,
        lambda n: world(f'<rs:engine name="e" version="1">{ARRAY * n}</rs:engine>'),
    ),
    "unknown elements in joints": (
        1_000,
        lambda n: model(each(lambda i: f'<joint_state name="f{i}"><q/></joint_state>', n)),
    ),
    "comments in values": (2_000, lambda n: model(f"<pose>0 0 0 0 0 0{'<!--x-->' * n}</pose>")),
    "foreign elements in links": (
        1_000,
        lambda n: model(each(lambda i: f'<link_state name="f{i}"><q:a xmlns:q="q"/></link_state>', n)),
    ),
}

KINDS: dict[str, tuple[Callable[[str], None], int, Make]] = {
    **{
        f"{format}: {kind}": (read, size, lambda n, make=make, wrap=wrap: make(wrap, n))  # type: ignore[misc]
        for format, (read, wrap) in READERS.items()
        for kind, (size, make) in OF_ALL.items()
    },
    **{f"urdf: {kind}": (read_urdf, *case) for kind, case in OF_URDF.items()},
    **{f"srdf: {kind}": (read_srdf, *case) for kind, case in OF_SRDF.items()},
    **{f"srdf alone: {kind}": (read_srdf_alone, *case) for kind, case in OF_SRDF.items()},
    **{f"usdf: {kind}": (read_usdf, *case) for kind, case in OF_USDF.items()},
}


@pytest.fixture(autouse=True, scope="module")
def only_new_objects_are_collected() -> Iterator[None]:
    """A collection before each measurement does not look at the objects of other tests."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def cost(read: Callable[[str], None], text: str) -> float:
    """Return the processor time of reading [s]; the text may be refused."""
    gc.collect()
    start = time.process_time()
    with contextlib.suppress(DescriptionError):
        read(text)
    return time.process_time() - start


@pytest.mark.parametrize("kind", KINDS)
def test_reading_costs_in_proportion_to_the_text(kind: str) -> None:
    read, size, make = KINDS[kind]
    small, large = make(size), make(4 * size)
    cost(read, small)
    costs: list[tuple[float, float]] = []
    for _ in range(TRIES):
        costs.append((cost(read, small), cost(read, large)))
        least, most = (min(column) for column in zip(*costs, strict=True))
        # A few milliseconds are nothing to compare.
        if most <= MOST**2 * max(least, 0.005):
            return
    pytest.fail(f"{size} cost {least:.4f} s, four times as many {most:.4f} s")
