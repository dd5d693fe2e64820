# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A document of an invented later version is read by this one: known content as if the rest did not exist."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from robot_semantics import Diagnostics, Severity, WorldState, write_world
from robot_semantics.cli.main import main
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.writer import full_schema
from robot_semantics.xml.reader import parse_xml

KNOWN = """<world_state name="kitchen" xmlns:rs="urn:robot-semantics:usdf:1" rs:time="12.500000000">
  <rs:comment>as it was</rs:comment>
  <model_state name="robot" rs:age="0.25"><parent>odom</parent><pose>1 2 0 0 0 0.5</pose><twist>0.1 0 0 0 0 0.2</twist>
    <link_state name="hand"><pose>0 0 1 0 0 0</pose><wrench>0 0 -9.8 0 0 0</wrench></link_state>
    <joint_state name="elbow"><positions>0.5</positions><velocities>0</velocities></joint_state>
  </model_state>
  <frame name="odom"><pose>0 0 0 0 0 0</pose></frame>
  <rs:engine name="mujoco" version="3"><rs:array name="act">1 2</rs:array></rs:engine>
</world_state>"""
# Of each kind of addition one: attributes, elements, known elements in new places, parts within values and engines.
NEWER = (
    KNOWN.replace("<world_state ", '<world_state rs:version="1.1" rs:clock="wall" ')
    .replace(
        "<model_state ", '<rs:contact between="hand cup"><pose>not six</pose></rs:contact><model_state rs:mood="good" '
    )
    .replace("<parent>odom", '<rs:comment>of the model</rs:comment><parent rs:since="3">odom')
    .replace("<pose>1 2", '<pose rs:covariance="1 2 3">1 <rs:mark/>2')
    .replace("<link_state ", '<link_state rs:age="1" ')
    .replace("</velocities>", "</velocities><rs:accelerations>0.5</rs:accelerations>")
    .replace("<frame ", '<frame rs:kind="odometry" ')
    .replace("<rs:array ", '<rs:table name="t"><rs:row>1</rs:row></rs:table><rs:array rs:unit="m" ')
)


def without_foreign(state: WorldState) -> WorldState:
    return replace(
        state,
        version=None,
        foreign=(),
        models=tuple(
            replace(
                model,
                foreign=(),
                links=tuple(replace(link, foreign=()) for link in model.links),
                joints=tuple(replace(joint, foreign=()) for joint in model.joints),
            )
            for model in state.models
        ),
        frames=tuple(replace(frame, foreign=()) for frame in state.frames),
        engines=tuple(replace(engine, foreign=()) for engine in state.engines),
    )


def test_a_later_version_is_read_with_warnings_alone_and_says_what_is_known() -> None:
    found = Diagnostics()
    state = parse_world(NEWER, diagnostics=found)
    assert without_foreign(state) == parse_world(KNOWN)
    assert state.version == "1.1"
    codes = [item.code for item in found]
    assert {item.severity for item in found} == {Severity.WARNING}
    counts = {code: codes.count(code) for code in ("newer-version", "unknown-attribute", "unknown-element")}
    assert counts == {"newer-version": 1, "unknown-attribute": 7, "unknown-element": 5}


def test_what_a_later_version_added_is_written_again_and_stays_valid() -> None:
    text = write_world(parse_world(NEWER))
    for added in ("rs:clock", "rs:contact", "rs:mood", "of the model", "rs:covariance", "rs:mark", "rs:accelerations",
                  "rs:kind", "rs:table", "rs:unit", "rs:since"):  # fmt: skip
        assert added in text, added
    assert full_schema().validate(parse_xml(text, "written").root)
    assert parse_world(text) == parse_world(NEWER)


def test_check_and_show_take_a_later_version(tmp_path: Path) -> None:
    path = tmp_path / "later.usdf"
    path.write_text(NEWER)
    assert main(["check", str(path)]) == 0
    assert main(["check", str(path), "--strict"]) == 1
    assert main(["usdf", "show", str(path), "--json"]) == 0
