# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""YAML is read with places, within bounds, and without running anything."""

from __future__ import annotations

import math
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("yaml", reason="PyYAML is not installed")
pytest.importorskip("ruamel.yaml", reason="ruamel.yaml is not installed")

import yaml
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from robot_semantics import DescriptionError, Diagnostics
from robot_semantics.base.yaml_reader import MAX_BYTES, MAX_NODES, YamlNode, check_limits, parse_yaml, read_yaml

TEXT = """\
a: [1, 1e-3, -0.0]
b:
  c: yes
  d: '1'
  e: null
"""


def test_values_have_the_types_of_yaml_1_2_and_their_places() -> None:
    root = parse_yaml(TEXT, "f.yml")
    a, d = root.get("a"), root.get("b", "d")
    assert a is not None
    assert d is not None
    assert [item.value for item in a.items] == [1, 0.001, 0.0]
    assert str(a.items[2].value) == "-0.0"
    assert [node.value for node in (root.get("b") or root).entries.values()] == ["yes", "1", None]
    assert (str(d.place), d.place.path) == ("f.yml:4:6", "/b/d")
    assert (str(d.key_place), d.text) == ("f.yml:4:3", "1")
    assert str(a.items[1].place) == "f.yml:1:8"
    assert root.get("b", "x", "y") is None


DOUBLED = "a: &a [x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{last}'] * 9)}]\n" for last, name in zip("abcdef", "bcdefg", strict=True)
)


def test_merged_keys_are_keys_of_the_map() -> None:
    text = "base: &b {x: 1, y: 2}\nmore: &m {y: 3, z: 4}\na: {<<: *b, x: 5}\nb: {<<: [*b, *m]}\nc: {'<<': 6}\n"
    root = parse_yaml(text, "f.yml")
    found = {key: {name: each.value for name, each in node.entries.items()} for key, node in root.entries.items()}
    assert found["a"] == {"x": 5, "y": 2}
    assert found["b"] == {"x": 1, "y": 2, "z": 4}
    assert found["c"] == {"<<": 6}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.yml: error: the document is empty"),
        ("a: [1,\n  2", "f.yml:2:4: error: is not YAML"),
        ("a: 1\na: 2\n", "f.yml:2:1: error: the key 'a' is repeated [/a]"),
        ("a: !!python/object/apply:os.system [x]", "f.yml:1:4: error: the tag"),
        ("a: !own 1", "f.yml:1:4: error: is not YAML"),
        pytest.param("[" * 5000, "f.yml:1:102: error: has more than 100 levels", id="deep"),
        ("a: &a [*a]", "f.yml:1:4: error: has more than 100 levels"),
        (DOUBLED, "error: has more than 200,000 values"),
        pytest.param("a: " + "9" * 5000, "f.yml:1:4: error: is not YAML: '99999999999999999999' is not a", id="long"),
        ("a: *a", "f.yml:1:4: error: is not YAML: found undefined alias 'a'"),
        ("- &a {b: 1}\n- {*a : 2}", "f.yml:2:4: error: a key should be a text"),
        ("a: !!map 1", "f.yml:1:4: error: is not YAML: the tag 'tag:yaml.org,2002:map' is not known"),
        ("a: 1\n\nb\0: 2", "f.yml:3:2: error: is not YAML: unacceptable character"),
        (b"a: 1\nb: \xe9", "f.yml:2:4: error: is not YAML: unacceptable character"),
        ("a: 1\n---\nb: 2\n", "f.yml:2:1: error: is not YAML"),
        ("? [1]\n: 2\n", "f.yml:1:3: error: a key should be a text"),
    ],
)
def test_other_texts_are_refused_with_the_place(text: str, message: str) -> None:
    with pytest.raises(DescriptionError) as refused:
        parse_yaml(text, "f.yml")
    assert message in str(refused.value)


KINDS = ("str", "int", "float", "bool", "null", "timestamp", "binary", "set", "omap", "pairs", "merge", "value", "own")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "text", ["maybe", "", '"-"', "_", "0x", "0b2", "1:30", "é", '"1"', "'yes'", "2001-99-99", "~", "."]
)
def test_a_tag_with_any_text_is_a_value_or_an_error_with_a_place(kind: str, text: str) -> None:
    for warnings in (None, Diagnostics()):
        try:
            parse_yaml(f"a: 1\nb: !!{kind} {text}\n", "f.yml", warnings=warnings)
        except DescriptionError as error:
            places = {(problem.place.line, problem.place.column) for problem in error.diagnostics}
        else:
            continue
        assert places == {(2, 4)}


SCALARS = "0123456789+-._eExXobinfaNtrueTRUEnullL~:yYs< "


def test_scalars_have_the_values_of_another_reader() -> None:
    rng, other = random.Random(50), YAML(typ="safe", pure=True)
    texts = {"".join(rng.choices(SCALARS, k=rng.randrange(1, 7))).strip() for _ in range(6_000)}
    compared = 0
    for text in sorted(texts):
        try:
            expected = other.load(f"k: {text}")["k"]
        except (YAMLError, ValueError, LookupError):
            continue
        if isinstance(expected, (dict, list, date)):
            continue
        value = parse_yaml(f"k: {text}").entries["k"].value
        assert (type(value), repr(value)) == (type(expected), repr(expected)), text
        compared += 1
    assert compared > 3_000


def documents(rng: random.Random, indent: int = 0) -> Iterator[str]:
    """Yield the lines of a random document: lists, maps, aliases, block texts, comments."""
    is_list = rng.random() < 0.4
    keys = [*"abcdef", '"q r"', "'s'", "é"]
    for key in rng.sample(keys, rng.randrange(1, 4)):
        head, anchor = "-" if is_list else f"{key}:", rng.choice(("", " &x", " &y"))
        if indent < 12 and rng.random() < 0.5:
            yield " " * indent + head + anchor + rng.choice(("", "  # a comment"))
            yield from documents(rng, indent + rng.choice((1, 2, 4)))
        else:
            value = rng.choice(
                ("1", "2.5", "x y", '"a\\n\\u00e9"', "~", "true", "[1, {a: [], 'b': *x}]", "{a: *y, c: d}", "|\n")
            )
            text = "".join(f"{' ' * (indent + 3)}{word}\n" for word in ("text", "  more")) if value == "|\n" else ""
            yield " " * indent + f"{head}{anchor} {value}{text}"
        if rng.random() < 0.1:
            yield "# a comment"


def content(node: YamlNode) -> object:
    """Return a value without its places."""
    if isinstance(node.value, dict):
        return {key: content(entry) for key, entry in node.value.items()}
    return [content(item) for item in node.items] if isinstance(node.value, list) else node.value


@pytest.mark.filterwarnings("ignore::ruamel.yaml.error.ReusedAnchorWarning")
def test_documents_have_the_content_and_the_places_of_another_reader() -> None:
    rng, compared = random.Random(51), 0
    for _ in range(400):
        text = "a0: &x [0]\nb0: &y {z: 0}\nrest:\n" + "\n".join(documents(rng, 2))
        other = YAML(typ="safe", pure=True)
        expected, root = other.load(text), other.compose(text)
        if "..." in str(expected):
            # A value that contains itself.
            with pytest.raises(DescriptionError, match="has more than 100 levels"):
                parse_yaml(text)
            continue
        found = parse_yaml(text)
        assert content(found) == expected
        for (name, value), node in zip(root.value, found.entries.values(), strict=True):
            assert (node.key_place.line, node.key_place.column) == (
                name.start_mark.line + 1,
                name.start_mark.column + 1,
            )
            assert (node.place.line, node.place.column) == (value.start_mark.line + 1, value.start_mark.column + 1)
        compared += 1
    assert compared > 200


LARGE: dict[str, Callable[[int], str]] = {
    "maps": lambda size: "".join(f" a{number}: {{}}\n" for number in range(size // 13)),
    "comments": lambda size: "# a comment\n" * (size // 12),
    "line ends": lambda size: "\n" * size,
    "anchors": lambda size: "".join(f"- &a{number} x\n" for number in range(size // 13)),
    "aliases": lambda size: "- &a x\n" + "- *a\n" * (size // 5),
    "directives": lambda size: "".join(f"%TAG !a{number}! tag:x,2000:\n" for number in range(size // 27)) + "--- a\n",
    "documents": lambda size: "---\n" * (size // 4),
    "open lists": lambda size: "[" * size,
    "lists in lists": lambda size: "- " * (size // 2),
    "keys in keys": lambda size: "? " * (size // 2),
    "one list": lambda size: "[" + "a," * (size // 2) + "]",
    "empty keys": lambda size: "{" + "?," * (size // 2) + "}",
    "one text": lambda size: "a: " + "x" * size,
    "folded lines": lambda size: "a: >\n" + " x\n" * (size // 3),
    "escapes": lambda size: 'a: "' + "\\x41" * (size // 4) + '"',
    "a wide letter": lambda size: 'a: "' + "x" * size + '\U0001f600"',
    "one number": lambda size: "a: " + "9" * size,
    "repeated keys": lambda size: "a: 1\n" * (size // 5),
    "wrong tags": lambda size: "- !x 1\n" * (size // 7),
    "wrong values": lambda size: "- !!int x\n" * (size // 10),
    "a long key": lambda size: "k" * 1000 + ": [" + "a," * 199_000 + "]",
    "a map at the limit": lambda size: (
        "{" + "".join(f"key{number:020d}: {number}.5," for number in range(199_000)) + "}"
    ),
    "merged maps": lambda size: (
        "b: &b {" + "".join(f"k{number}: 1," for number in range(60_000)) + "}\n"
        "t: &t {z: 1}\nm: {<<: *b, " + "<<: *t," * 60_000 + "}\n"
    ),
    "a tag for each value": lambda size: "- !!str x\n" * (size // 10),
}

MEASURED = """
import re, sys, time
from pathlib import Path
from robot_semantics import DescriptionError
from robot_semantics.base.yaml_reader import read_yaml
import lxml.etree, yaml
start = time.process_time()
try:
    read_yaml(sys.argv[1])
except DescriptionError as error:
    len(error.diagnostics)
seconds = time.process_time() - start
print(seconds, int(re.search("VmHWM: *([0-9]+)", Path("/proc/self/status").read_text().replace("\\t", " "))[1]) / 1024)
"""


@cache
def seconds_of_libyaml() -> float:
    """Return the processor time in which libyaml alone reads the largest file of small maps [s]."""
    text = LARGE["maps"](MAX_BYTES).encode()[:MAX_BYTES]
    begin = time.process_time()
    with suppress(yaml.YAMLError):
        for _ in yaml.parse(text, Loader=yaml.CLoader):
            pass
    return time.process_time() - begin


@pytest.mark.parametrize("kind", LARGE)
def test_the_largest_file_costs_2_s_and_150_mb_at_most(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_bytes(LARGE[kind](MAX_BYTES).encode()[:MAX_BYTES])
    ran = subprocess.run([sys.executable, "-c", MEASURED, str(path)], capture_output=True, text=True, check=True)
    seconds, megabytes = map(float, ran.stdout.split())
    # 2 s on a fast machine; on others 2.5 times what libyaml alone needs for as many small maps.
    assert seconds <= max(2.0, 2.5 * seconds_of_libyaml())
    assert megabytes <= 150.0


@pytest.mark.parametrize("text", [b"- x\n" * (MAX_NODES + 1), b"[" * 200, DOUBLED.encode(), b"#" * (MAX_BYTES + 1)])
def test_a_text_for_another_reader_is_refused_only_for_its_size(text: bytes) -> None:
    with pytest.raises(DescriptionError, match=r"has more than|is longer than"):
        check_limits(text, "f.yaml")
    for other in (b"a: [1", b"a: 1\na: 2\n", b"", b"a: !own 1"):
        check_limits(other, "f.yaml")


NUMBERS = {
    "0x1F": 31,
    "-0xff": -255,
    "0b101": 5,
    "+0b11": 3,
    "0o17": 15,
    "-0o7": -7,
    "010": 10,
    "1_000": 1000,
    "0x_f_f": 255,
    ".5": 0.5,
    "-1_0.5e1": -105.0,
    "-.inf": -math.inf,
}


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_have_their_base_and_their_sign(text: str) -> None:
    value = parse_yaml(f"k: {text}").entries["k"].value
    assert (type(value), value) == (type(NUMBERS[text]), NUMBERS[text])
    tagged = parse_yaml(f'k: !!{"int" if isinstance(value, int) else "float"} "{text}"').entries["k"].value
    assert (type(tagged), tagged) == (type(value), value)


def test_every_value_has_a_path_also_in_lists_aliases_and_merged_maps() -> None:
    root = parse_yaml("a: [[1, {b: 2}]]\nc: &c {x: 1}\nd: *c\ne: {<<: [*c, {y: [3]}], z: 4}\n", "f.yml")
    (inner,) = root.entries["a"].items
    assert [item.place.path for item in inner.items] == ["/a/0/0", "/a/0/1"]
    assert inner.items[1].entries["b"].place.path == "/a/0/1/b"
    assert (root.entries["d"].place.path, str(root.entries["d"].key_place)) == ("/d", "f.yml:3:1")
    merged = root.entries["e"].entries
    assert {key: node.place.path for key, node in merged.items()} == {"x": "/c/x", "y": "/e/y", "z": "/e/z"}
    assert merged["y"].items[0].place.path == "/e/y/0"


@pytest.mark.parametrize(
    ("text", "place"),
    [("a: b: c\n", "f.yml:1:5"), ("a: 1\nb: ]\nc: 2\n", "f.yml:2:4"), ("%TAG !a! x:\n" * 101 + "--- a", "f.yml:101:1")],
)
def test_what_is_not_yaml_has_its_place_and_a_reason(text: str, place: str) -> None:
    with pytest.raises(DescriptionError) as refused:
        parse_yaml(text, "f.yml")
    (problem,) = refused.value.diagnostics
    assert str(problem.place) == place
    assert re.search(r"is not YAML: \w+ \w+|has more than 100 directives", problem.message)


@pytest.mark.parametrize(("most", "is_read"), [(10, True), (9, False)])
def test_the_values_of_an_alias_count(most: int, is_read: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robot_semantics.base.yaml_reader.MAX_NODES", most)
    # The map, its three lists, and two values in each list.
    text = "a: &a [1, 2]\nb: *a\nc: *a\n"
    if is_read:
        assert len(parse_yaml(text).entries) == 3
    else:
        with pytest.raises(DescriptionError, match="has more than 9 values"):
            parse_yaml(text)


def test_a_pipe_is_read_unless_another_file_names_it(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="is not a regular file"):
        read_yaml(pipe, foreign=True)
    threading.Thread(target=lambda: pipe.write_text("a: 1"), daemon=True).start()
    assert read_yaml(pipe).entries["a"].value == 1


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "f.yml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DescriptionError, match="is not YAML"):
        read_yaml(path)


def test_repeated_keys_and_tags_of_programs_can_be_allowed() -> None:
    warnings = Diagnostics()
    root = parse_yaml("a: 1\nb: !degrees 90\na: '2'\n", "robot.yaml", warnings=warnings)
    assert [str(problem) for problem in warnings] == [
        "robot.yaml:3:1: warning: the key 'a' is repeated; the last value is used [/a]"
    ]
    assert (root.entries["a"].value, root.entries["a"].plain) == ("2", False)
    assert (root.entries["b"].value, root.entries["b"].tag) == ("90", "!degrees")
    for text in ("a: 1\na: 2", "b: !degrees 90"):
        with pytest.raises(DescriptionError):
            parse_yaml(text)
