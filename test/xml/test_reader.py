# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Reading XML: places of all elements and attributes, verbatim text, and refused texts with line and column."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from robot_semantics import DescriptionError
from robot_semantics.xml.document import UNDECLARED_NAMESPACE, XmlDocument
from robot_semantics.xml.reader import MAX_BYTES, parse_xml, read_xml

VALUES = ('"x>y"', "'/>'", '"ö"', '""')


def random_document(rng: random.Random) -> tuple[str, list[str]]:
    """Return a text and the verbatim text of each of its elements, in document order, made together."""

    def element(depth: int) -> list[str]:
        """Return the element's own text, then the texts of all elements in it."""
        name = rng.choice(["a", "link", "ns.b", "é"])
        attributes = "".join(
            rng.choice([" ", "\n\t"]) + f"k{index}" + rng.choice(["=", " = "]) + rng.choice(VALUES)
            for index in range(rng.randrange(3))
        )
        space = rng.choice(["", " "])
        if depth == 0 or rng.random() < 0.3:
            return [f"<{name}{attributes}{space}/>"]
        inside = ""
        below: list[str] = []
        for _ in range(rng.randrange(4)):
            inside += rng.choice(["", "text", "<!-- </a> -->", "<![CDATA[<a/>]]>", "<?pi <a> ?>", "\n"])
            child = element(depth - 1)
            inside += child[0]
            below += child
        return [f"<{name}{attributes}{space}>{inside}</{name}{space}>", *below]

    texts = element(4)
    return '<?xml version="1.0"?>\n<!-- é -->\n' + texts[0], texts


@pytest.mark.parametrize("seed", range(40))
def test_verbatim_is_the_text_from_the_first_to_the_last_character(seed: int) -> None:
    text, expected = random_document(random.Random(seed))
    document = parse_xml(text, "t")
    elements = list(document.root.iter("*"))
    assert len(elements) == len(expected)
    for at, element in enumerate(elements):
        assert document.ordinal(element) == at
        assert document.places.verbatim(at) == expected[at]
        start, end = document.places.span(at)
        assert document.places.text[start:end].decode() == expected[at]


@pytest.mark.parametrize("seed", range(20))
def test_places_agree_with_lxml_and_with_the_text(seed: int) -> None:
    text, _ = random_document(random.Random(seed))
    lines = text.split("\n")
    document = parse_xml(text, "t")
    for element in document.root.iter("*"):
        place = document.place(element)
        assert lines[place.line - 1][place.column - 1 :].startswith(f"<{element.tag}")
        # libxml2 counts the line in which the start tag ends.
        assert place.line <= int(str(element.sourceline))
        for name in element.keys():  # noqa: SIM118 lxml elements iterate over children
            place = document.place(element, str(name))
            assert lines[place.line - 1][place.column - 1 :].startswith(str(name))


@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE a>",
        '<!DOCTYPE a PUBLIC "b" "c]>d">',
        '<!DOCTYPE a [<!-- ]> <fake/> \' " --><!ELEMENT a ANY><!ATTLIST a b CDATA "]>">]>',
        "<!DOCTYPE a [<?pi ]> <fake/> ' ?> <!NOTATION x SYSTEM \"a'b]>\"> ] >",
    ],
)
def test_nothing_in_a_document_type_is_taken_for_an_element(doctype: str) -> None:
    document = parse_xml(f"{doctype}\n<a><!-- &x; --><?pi &x;?><![CDATA[&x;]]><b/></a>", "t")
    assert document.place(document.root).line == doctype.count("\n") + 2
    assert document.places.verbatim(1) == "<b/>"
    assert len(document.places.offsets) == 2


def test_an_empty_element_tag_takes_in_nothing_of_its_parent() -> None:
    document = parse_xml("<a><z/></a>", "t")
    assert document.places.verbatim(1) == "<z/>"
    assert document.places.inner_span(1) == (7, 7)
    assert document.places.inner_span(0) == (3, 7)


def test_the_missing_attribute_s_place_is_the_element_s() -> None:
    document = parse_xml('<a>\n  <b x="y=1" />\n</a>', "t")
    place = document.places.place(1, "y")
    assert (place.line, place.column, place.path) == (2, 3, "/a/b/@y")


def test_paths_name_elements_and_number_the_unnamed_ones() -> None:
    document = parse_xml('<robot name="r"><link name="a"><visual/><visual/></link><link name="b"/></robot>', "t")
    paths = [document.place(element).path for element in document.root.iter("*")]
    link = "/robot/link[@name='a']"
    assert paths == ["/robot", link, f"{link}/visual", f"{link}/visual[2]", "/robot/link[@name='b']"]


def test_every_path_leads_to_its_element_as_xpath_does() -> None:
    rng = random.Random(5)

    def elements(depth: int) -> str:
        names = ["", "", ' name="a"', ' name="b"', ' name="it\'s"', ' name="&lt;&#233;"']
        return "".join(
            f"<{tag}{rng.choice(names)}>{elements(depth - 1)}</{tag}>"
            for tag in rng.choices(["link", "joint"], k=rng.randrange(2 * depth + 1))
        )

    document = parse_xml(f"<robot>{elements(5)}</robot>", "t")
    found = list(document.root.iter("*"))
    assert len(found) > 100
    for element in found:
        path = document.place(element).path
        led_to = document.root.getroottree().xpath(path)
        assert isinstance(led_to, list)
        assert led_to[0] is element, path


def test_an_element_that_no_text_has_stands_in_the_source_as_a_whole() -> None:
    assert str(parse_xml("<a/>", "x.urdf").places.place(-1)) == "x.urdf"
    assert str(parse_xml("<a/>", "x.urdf").places.place(5)) == "x.urdf"


def refused(text: str | bytes, *, forgiving: bool = False) -> str:
    with pytest.raises(DescriptionError) as caught:
        parse_xml(text, "t", forgiving=forgiving)
    (problem,) = caught.value.diagnostics
    assert problem.code in str(problem.code)
    return f"{problem.place.line}:{problem.place.column} {problem.code}"


BILLION = (
    '<?xml version="1.0"?>\n<!DOCTYPE a [\n <!ENTITY l0 "ha">'
    + "".join(f'<!ENTITY l{n + 1} "' + f"&l{n};" * 10 + '">' for n in range(12))
    + "]>\n<a>&l12;</a>"
)


@pytest.mark.parametrize("forgiving", [False, True])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "1:1 empty-document"),
        (" \n", "1:1 empty-document"),
        ("<a>\n <b></a>", "2:9 not-well-formed"),
        ("<ä>\n äää<b></ä>", "2:12 not-well-formed"),
        ("<a", "1:3 not-well-formed"),
        ('<a b="1" b="2"/>', "1:15 not-well-formed"),
        ("<a/>\n<b/>", "2:1 not-well-formed"),
        ("<a>&x;</a>", "1:7 not-well-formed"),
        ("<a>" * 10_000, "1:771 nested-too-deep"),
        ('<!DOCTYPE a [\n <!ENTITY x "y">]><a/>', "2:2 entity-declared"),
        ('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', "1:14 entity-declared"),
        ('<!DOCTYPE a SYSTEM "http://192.0.2.1/x.dtd">\n<a b="&x;"/>', "2:7 entity-reference"),
        (BILLION, "3:2 entity-declared"),
        (b"\xff\xfe<", "1:1 not-decodable"),
        (b"<a>\xff</a>", "1:4 not-decodable"),
        (b"<a>\n <\xc3\xa4/> \xff</a>", "2:7 not-decodable"),
        (b'<?xml version="1.0" encoding="naQQQme"?><a/>', "1:1 not-decodable"),
        ("<a>\ud800</a>", "1:1 not-decodable"),
        (b"<a>\x00</a>", "1:4 not-well-formed"),
        (b'<?xml version="1.0" encoding="us-ascii"?>\n<a>\n \xe9</a>', "3:2 not-decodable"),
        (b"\xef\xbb\xbf<a>\xff</a>", "1:4 not-decodable"),
        (b'<?xml version="1.0" encoding="utf-16"?><a/>', "1:1 not-decodable"),
        (b'<?xml version="1.0" encoding="idna"?><a/>', "1:1 not-decodable"),
        (b'<?xml version="1.0" encoding="unicode_escape"?><a/>', "1:1 not-decodable"),
        (b'<?xml version="1.0" encoding="rot13"?><a/>', "1:1 not-decodable"),
    ],
)
def test_a_text_that_is_refused_gives_one_problem_with_line_and_column(
    text: str | bytes, expected: str, forgiving: bool
) -> None:
    assert refused(text, forgiving=forgiving) == expected


def test_a_hundred_megabytes_are_refused_unread(tmp_path: Path) -> None:
    assert refused("<a>" + " " * MAX_BYTES + "</a>") == "0:0 too-large"
    path = tmp_path / "large.urdf"
    with path.open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    with pytest.raises(DescriptionError, match="longer than"):
        read_xml(path)


@pytest.mark.parametrize("part", ["<a>{}</a>", '<a b="{}"/>', "<a><!--{}--></a>"])
def test_a_text_or_attribute_of_ten_megabytes_is_refused_in_plain_words(part: str) -> None:
    with pytest.raises(DescriptionError, match="longer than 10,000,000 bytes") as caught:
        parse_xml(part.format("x" * 10_000_001), "t")
    assert [(problem.code, problem.place.line) for problem in caught.value.diagnostics] == [("too-large", 1)]


@pytest.mark.parametrize("name", ["nowhere.urdf", ".", "nul\0.urdf"])
def test_a_file_that_cannot_be_read_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="cannot be read"):
        read_xml(f"{tmp_path}/{name}")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_columns_count_characters_in_every_encoding(encoding: str) -> None:
    declared = encoding.removesuffix("-sig")
    text = f'<?xml version="1.0" encoding="{declared}"?><a>ööö<b x="1"/></a>'
    document = parse_xml(text.encode(encoding), "t")
    place = document.places.place(1, "x")
    assert text[place.column - 1 :].startswith('x="1"')


def test_prefixes_without_declaration_pass_only_where_asked() -> None:
    text = '<robot xmlns:k="u">\n<gz:a q:b="1"/><k:x/><xml/></robot>'
    assert refused(text).endswith("not-well-formed")
    document = parse_xml(text, "t", forgiving=True)
    assert document.undeclared_prefixes == {"gz": 1, "q": 1}
    tags = [str(element.tag) for element in document.root.iter("*")]
    assert tags == ["robot", f"{{{UNDECLARED_NAMESPACE}gz}}a", "{u}x", "xml"]
    assert document.places.verbatim(1) == '<gz:a q:b="1"/>'
    assert (document.places.place(1).line, document.places.place(1).column) == (2, 1)


def test_a_prefix_without_declaration_may_have_letters_of_any_script() -> None:
    document = parse_xml("<robot><größe:a/></robot>", "t", forgiving=True)
    assert document.undeclared_prefixes == {"größe": 1}


def test_the_first_line_keeps_its_columns_where_prefixes_had_to_be_declared() -> None:
    with pytest.raises(DescriptionError) as refusal:
        parse_xml("<robot><gz:a/><b></robot>", "t", forgiving=True)
    place = refusal.value.diagnostics[0].place
    assert (place.line, place.column) == (1, len("<robot><gz:a/><b></robot>") + 1)


def test_a_prefix_that_an_element_declares_for_itself_is_declared() -> None:
    text = '<robot><k:x xmlns:k="u"><k:y/><gz:z xmlns:gz="v"/></k:x><gz:a/><k:b/></robot>'
    document = parse_xml(text, "t", forgiving=True)
    assert document.undeclared_prefixes == {"gz": 4, "k": 5}
    tags = [str(element.tag) for element in document.root.iter("*")]
    assert tags[1:] == ["{u}x", "{u}y", "{v}z", f"{{{UNDECLARED_NAMESPACE}gz}}a", f"{{{UNDECLARED_NAMESPACE}k}}b"]


@pytest.mark.parametrize(
    "start", ['\n\n<?xml version="1.0"?>', '<!-- é -->\n <?xml version="1.1"?>', '<?xml version="0.0" ?>']
)
def test_an_odd_declaration_passes_only_where_asked(start: str) -> None:
    text = f"{start}<a>\n<b/></a>"
    assert refused(text).endswith("not-well-formed")
    document = parse_xml(text, "t", forgiving=True)
    assert document.odd_declaration is not None
    line = text.split("\n")[document.odd_declaration.line - 1]
    assert line[document.odd_declaration.column - 1 :].startswith("<?xml")
    assert document.places.verbatim(1) == "<b/>"
    assert document.place(document.root).column == start.rpartition("\n")[2].__len__() + 1


def test_comments_and_instructions_stay_in_the_tree() -> None:
    document: XmlDocument = parse_xml("<!--p--><a><!--c--><?pi x?></a><!--e-->", "t")
    assert [getattr(node, "text", None) for node in document.root] == ["c", "x"]


def test_a_tag_with_thousands_of_attributes_is_searched_once() -> None:
    # With a new search for each place, this takes a quarter of an hour.
    names = [f"a{number}" for number in range(20_000)]
    document = parse_xml("<a>\n<b " + " ".join(f'{name}="1"' for name in names) + "/></a>", "t")
    columns = [document.places.place(1, name).column for name in names]
    assert columns[:3] == [4, 11, 18]
    assert len(set(columns)) == len(names)
