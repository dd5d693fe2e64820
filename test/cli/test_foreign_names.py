# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Names that would steer a terminal: no command that prints for people prints them as they are."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest

from robot_semantics.cli import main as command_line

EVIL = "a\u202eb\x9b31mc\x85d\x7f"
IN_XML = f"{EVIL}&#10;ZZ"
"""An attribute's line feed is one only where it is written like this."""
URDF = f"""<robot name="{IN_XML}"><link name="base{IN_XML}"/><link name="tip{IN_XML}"/>
<joint name="j{IN_XML}" type="revolute"><parent link="base{IN_XML}"/><child link="tip{IN_XML}"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
SRDF = f"""<robot name="{IN_XML}"><group name="g{IN_XML}"><joint name="j{IN_XML}"/></group>
<group_state name="s{IN_XML}" group="g{IN_XML}"><joint name="j{IN_XML}" value="0.5"/></group_state>
<end_effector name="e{IN_XML}" parent_link="base{IN_XML}" group="g{IN_XML}"/><passive_joint name="j{IN_XML}"/>
<disable_collisions link1="base{IN_XML}" link2="tip{IN_XML}" reason="{IN_XML}"/></robot>"""
USDF = f"""<world_state name="{IN_XML}"><model_state name="m{IN_XML}"><pose>0 0 0 0 0 0</pose>
<joint_state name="j{IN_XML}"><positions>0.5</positions></joint_state>
<link_state name="base{IN_XML}"><pose>0 0 0 0 0 0</pose></link_state></model_state>
<frame name="f{IN_XML}"><parent>m{EVIL}\nZZ</parent></frame></world_state>"""
NAME = f"{EVIL}\nZZ"
ROBOT = ("r.urdf", "r.srdf")
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("check", *ROBOT, "w.usdf"),
    ("show", "r.urdf", "r.srdf"),
    ("fk", "r.urdf", "r.srdf"),
    ("groups", *ROBOT),
    ("groups", *ROBOT, f"g{NAME}"),
    ("groups", *ROBOT, NAME),
    ("states", *ROBOT),
    ("states", *ROBOT, "--joint", f"j{NAME}=0.5"),
    ("groups", *ROBOT, "--link", f"tip{NAME}"),
    ("show", *ROBOT, "--passive-joints"),
    ("show", *ROBOT, "--end-effectors"),
    ("show", *ROBOT, "--pair", f"tip{NAME}", f"base{NAME}"),
    ("collisions", "table", *ROBOT),
    ("collisions", "check", *ROBOT, "--samples", "10"),
    ("diff", "r.srdf", "empty.srdf"),
    ("usdf", "show", "w.usdf"),
    ("check", "w.usdf"),
    ("diff", "w.usdf", "empty.usdf"),
    ("usdf", "resolve", "w.usdf"),
    ("usdf", "show", f"{NAME}.usdf"),
    ("check", "r.urdf", f"--{NAME}"),
    (NAME,),
    ("usdf", NAME),
)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words).encode("ascii", "replace").decode()[:40])
def test_what_is_printed_for_people_steers_no_terminal(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    texts: dict[str, Any] = {"r.urdf": URDF, "r.srdf": SRDF, "w.usdf": USDF}
    texts |= {"empty.srdf": '<robot name="r"/>', "empty.usdf": "<world_state/>"}
    for name, text in texts.items():
        Path(name).write_text(text)
    try:
        code = command_line.main(words)
    except SystemExit as wrong_usage:
        code = int(str(wrong_usage.code))
    printed = capsys.readouterr()
    text = printed.out + printed.err
    assert code in (0, 1, 2)
    assert "\\u202e" in text
    assert {mark for mark in text if unicodedata.category(mark) in {"Cc", "Cf"}} <= {"\n"}
    assert not [line for line in text.splitlines() if line.startswith("ZZ")], "a line feed in a name ends a line"
