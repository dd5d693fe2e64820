# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Names at the places of a format's table: with default namespaces, prefixes and white space."""

from __future__ import annotations

from robot_semantics.srdf.table import SRDF_REFERENCES
from robot_semantics.usdf.table import USDF_REFERENCES
from robot_semantics.xml.reader import parse_xml
from robot_semantics.xml.schema_reader import mentions


def test_names_are_found_at_the_places_of_the_table_only() -> None:
    text = """<robot xmlns="urn:x" xmlns:o="urn:o" name="r">
      <group name="arm"><link name=" a "/><o:link name="b"/><chain base_link="c" tip_link=""/></group>
      <link name="not-in-a-group"/>
    </robot>"""
    found = [
        (mention.ordinal, mention.attribute, mention.name)
        for mention in mentions(parse_xml(text, "t"), SRDF_REFERENCES["link"])
    ]
    assert found == [(2, "name", "a"), (4, "base_link", "c")]


def test_an_attribute_with_a_prefix_is_found() -> None:
    text = """<world_state xmlns:rs="urn:robot-semantics:usdf:1">
      <model_state name="r"><joint_state name="j"/><link_state name="l"/></model_state>
      <frame name="cup" rs:parent_link="gripper"/>
    </world_state>"""
    document = parse_xml(text, "t")
    assert {mention.name for mention in mentions(document, USDF_REFERENCES["link"])} == {"l", "gripper"}
    assert [mention.name for mention in mentions(document, USDF_REFERENCES["joint"])] == ["j"]
