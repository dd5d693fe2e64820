# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""YAML is read with places, within bounds, and without running anything."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("ruamel.yaml", reason="ruamel.yaml is not installed")

from robot_semantics import DescriptionError, Diagnostics
from robot_semantics.base.yaml_reader import parse_yaml, read_yaml

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
        ("[" * 5000, "f.yml: error: has more than 100 levels"),
        ("a: &a [*a]", "f.yml:1:4: error: has more than 100 levels"),
        (DOUBLED, "error: has more than 200,000 values"),
        ("a: " + "9" * 5000, "f.yml:1:4: error: is not YAML: '99999999999999999999' is not a value of its kind"),
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
