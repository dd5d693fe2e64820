# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Every reader of frame names drops ONE leading slash, as tf2 does: the slash changes nothing but a warning.

The oracle is the same input without the slash, and arithmetic on its numbers.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.bags import START, S, Tape

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.names import frame_name
from robot_semantics.cli.main import main
from robot_semantics.convert.json_form import json_text, parse_json
from robot_semantics.model.loading import robot_from_text
from robot_semantics.usdf.edit import removed, set_pose
from robot_semantics.usdf.frames import resolve_frames
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.world_state import Frame, ModelState, WorldState
from robot_semantics.usdf.writer import write_world

SOURCES = Path(__file__).parent.parent / "robot_semantics"

URDF = """<robot name="rover"><link name="base"/><link name="arm"/>
<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""
SRDF = '<robot name="rover"><virtual_joint name="wj" type="planar" parent_frame="{}odom" child_link="base"/></robot>'
WORLD_TEXT = """<world_state><model_state name="rover"><parent>{0}odom</parent><pose>1 0 0 0 0 0</pose></model_state>
<frame name="{0}odom"><parent>{0}map</parent><pose>5 0 0 0 0 0</pose></frame>
<frame name="{0}map"><parent>world</parent><pose>0 2 0 0 0 0</pose></frame></world_state>"""


def test_one_slash_is_dropped_and_only_one() -> None:
    # tf2's rule (BufferCore, stripSlash): the first letter, if it is a slash.
    assert list(map(frame_name, ("/odom", "odom", "//odom", "/r1/base", "r1/base", "/", "", "odom/"))) == [
        *("odom", "odom", "/odom", "r1/base", "r1/base", "", "", "odom/")
    ]


def test_no_other_code_drops_the_slash_of_a_frame() -> None:
    """A second place with its own rule, such as `lstrip`, would drop two slashes."""
    own = re.compile(r"""(?:frame|child|parent)\w*(?:\[[^\]]*\])*\.(?:lstrip|removeprefix)\(["']/["']\)""")
    found = [
        f"{path.relative_to(SOURCES)}:{line}"
        for path in SOURCES.rglob("*.py")
        for line, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if own.search(text)
    ]
    assert found == []


def test_the_virtual_joint_of_an_srdf() -> None:
    problems = Diagnostics()
    robot = robot_from_text(URDF, SRDF.format("/"), diagnostics=problems)
    assert robot.root_joint.parent_link == "odom"
    assert [joint.parent_frame for joint in robot.semantics.virtual_joints] == ["odom"]
    assert [(item.code, item.place.path.rpartition("/")[2]) for item in problems] == [
        ("leading-slash", "@parent_frame")
    ]


def test_an_srdf_without_its_urdf(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "r.srdf").write_text(SRDF.format("/"))
    assert main(["check", str(tmp_path / "r.srdf")]) == 0
    assert "(leading-slash)" in capsys.readouterr().out


def test_a_slash_alone_is_an_empty_frame() -> None:
    problems = Diagnostics()
    text = SRDF.replace("{}odom", "/")
    assert not robot_from_text(URDF, text, strict=False, diagnostics=problems).has_virtual_joint
    assert "empty-parent-frame" in {item.code for item in problems}


@pytest.mark.parametrize("read", [parse_world, lambda text: parse_json(json_text(parse_world(text)))])
def test_a_world_state(read: Callable[[str], WorldState]) -> None:
    state = read(WORLD_TEXT.format("/"))
    assert write_world(state) == write_world(read(WORLD_TEXT.format("")))
    assert resolve_frames(state).pose("rover")[:3, 3].tolist() == [6.0, 2.0, 0.0]
    assert resolve_frames(state).pose("rover", "/map")[:3, 3].tolist() == [6.0, 0.0, 0.0]
    moved = set_pose(set_pose(state, "rover", parent="/map"), "/map", parent="/world")
    assert (moved.model("rover").parent, moved.frame("map").parent) == ("map", "world")
    assert removed(removed(state, "rover"), "/odom").frames == parse_world(WORLD_TEXT.format("")).frames[1:]


def test_every_slash_of_a_world_state_is_a_warning_at_its_place() -> None:
    problems = Diagnostics()
    parse_world(WORLD_TEXT.format("/"), "w.usdf", problems)
    assert [(item.code, item.place.line) for item in problems] == [
        *(("leading-slash", 1), ("leading-slash", 2), ("leading-slash", 2), ("leading-slash", 3))
    ]


def test_every_slash_of_a_world_in_json_is_a_warning_with_its_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = {"pose": {"xyz_rpy": [0, 0, 0, 0, 0, 0]}}
    frames = [
        {**body, "name": "/odom", "parent": "/map"},
        {**body, "name": "map"},
        {**body, "name": "x", "parent": "/m"},
    ]
    models = [{**body, "name": "/m", "parent": "/odom"}]
    text = json.dumps({"models": models, "frames": frames})
    problems = Diagnostics()
    state = parse_json(text, "w.json", problems)
    assert [(item.code, item.place.path) for item in problems] == [
        *(("leading-slash", f"/{path}") for path in ("models/0/parent", "frames/0/name", "frames/0/parent"))
    ]
    assert [frame.parent for frame in state.frames] == ["map", "world", "/m"]
    (tmp_path / "w.json").write_text(text)
    for command in ("resolve", "show"):
        assert main(["usdf", command, str(tmp_path / "w.json")]) == 0
        stderr = capsys.readouterr().err
        assert "'/odom' begins with a slash; tf2 drops it, so it is 'odom' [/models/0/parent]" in stderr
        assert "3 times" in stderr


def test_a_model_keeps_its_name_also_as_a_parent() -> None:
    """Simulators name entities by paths: /World/cup is no frame of tf2."""
    state = WorldState(models=(ModelState("/World/cup"),), frames=(Frame("/lid", "/World/cup"),))
    assert (state.models[0].name, state.frames[0]) == ("/World/cup", Frame("lid", "/World/cup"))


def bag(folder: Path, slash: str, odometry: bool) -> Path:
    tape = Tape()
    tape.text("/robot_description", URDF)
    tape.text("/robot_description_semantic", SRDF.format(slash))
    none = [0.0, 0.0, 0.0, 1.0]
    for k in range(20):
        stamp = START + k * S // 10
        tape.tf([(stamp, f"{slash}map", f"{slash}odom", [5.0, 0.0, 0.0, *none])])
        at = [0.1 * k, 0.0, 0.0, *none]
        if odometry:
            tape.odometry(stamp, f"{slash}odom", f"{slash}base", at, [1.0, 0, 0, 0, 0, 0])
        else:
            tape.tf([(stamp, f"{slash}odom", f"{slash}base", at)])
        tape.joints(stamp, ["turn"], [0.0])
    return tape.write(folder / "bag")


@pytest.mark.parametrize("odometry", [False, True], ids=["tf", "odometry"])
@pytest.mark.parametrize("words", [[], ["--world-frame", "{}map"]], ids=["root", "named"])
def test_a_recording(odometry: bool, words: list[str], tmp_path: Path) -> None:
    tables = []
    for name, slash in (("plain", ""), ("slashed", "/")):
        (tmp_path / name).mkdir()
        source, out = bag(tmp_path / name, slash, odometry), tmp_path / name / "o.csv"
        options = [word.format(slash) for word in words]
        assert main(["export", str(source), "-o", str(out), "--every", "0.1", *options]) == 0
        tables.append(list(csv.reader(out.read_text().splitlines())))
    assert tables[0] == tables[1]
    assert any("odom" in title for title in tables[0][0])


def test_commands_that_name_frames(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    urdf, srdf, world = (tmp_path / name for name in ("r.urdf", "r.srdf", "w.usdf"))
    urdf.write_text(URDF)
    srdf.write_text('<robot name="rover"></robot>')
    words = [
        "srdf",
        "add",
        "--in-place",
        str(srdf),
        "--urdf",
        str(urdf),
        "--virtual-joint",
        "planar",
        "--parent-frame",
        "/odom",
    ]
    assert main(words) == 0
    assert 'name="odom_joint" type="planar" parent_frame="odom"' in srdf.read_text()
    srdf.write_text(SRDF.format("/"))
    world.write_text(WORLD_TEXT.format(""))
    files = ["--urdf", f"{urdf},{srdf}"]
    assert main(["usdf", "edit", str(world), "--joint", "rover/wj=3 0 0", *files, "--in-place"]) == 0
    # The virtual joint moves in odom, which is at x = 5: 3 + 5.
    assert resolve_frames(parse_world(world.read_text())).pose("rover")[:3, 3].tolist() == [8.0, 2.0, 0.0]
    edits = ["--parent", "rover=/map", "--pose", "/odom=4 0 0 0 0 0", "--rename", "/odom", "/local"]
    assert main(["usdf", "edit", str(world), *edits, "--in-place"]) == 0
    state = parse_world(world.read_text())
    assert (state.model("rover").parent, state.frame("local").pose.xyz_rpy[0]) == ("map", 4.0)  # type: ignore[union-attr]
    capsys.readouterr()
    assert main(["usdf", "resolve", str(world), "rover", "--relative-to", "/local", "--json"]) == 0


def test_transforms_as_messages() -> None:
    pytest.importorskip("tf2_msgs")
    from support.tf_messages import stamped

    from robot_semantics.ros.messages.tf_messages import from_transforms, to_transforms

    robot = robot_from_text(URDF, SRDF.format(""))
    for slash in ("", "/"):
        rows = [(f"{slash}odom", f"{slash}r1/base"), (f"{slash}r1/base", f"{slash}r1/arm")]
        messages = [stamped(*row, values=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)) for row in rows]
        state = from_transforms(messages, robots={"rover": robot}, prefixes={"rover": f"{slash}r1/"}).value
        assert (state.models[0].parent, [frame.name for frame in state.frames]) == ("odom", ["odom"])
        assert {link.name for link in state.models[0].links} == {"base", "arm"}
        back = to_transforms(state, robots={"rover": robot}, prefixes={"rover": f"{slash}r1/"}).value.transforms
        assert {item.child_frame_id for item in back} == {"r1/base", "r1/arm"}


def test_a_rival_that_writes_the_slash_is_seen() -> None:
    pytest.importorskip("tf2_msgs")
    from types import SimpleNamespace
    from typing import cast

    from rclpy.serialization import serialize_message
    from support.tf_messages import stamped
    from tf2_msgs.msg import TFMessage

    from robot_semantics.live.frames import RobotFrames
    from robot_semantics.live.settings import RobotSettings
    from robot_semantics.ros.node.outputs import TfAuthority

    frames = RobotFrames(robot_from_text(URDF, SRDF.format("/")), RobotSettings(frame_prefix="/r1/"))
    assert frames.child_frames == {"r1/base", "r1/arm"}
    assert frames.frames_of(0) == ("odom", "r1/base")
    reports: list[str] = []
    node = SimpleNamespace(resolve_topic_name=lambda name: name, get_fully_qualified_name=lambda: "/node")
    authority = TfAuthority(cast(Any, node), lambda: frames.child_frames, reports.append)
    for child in ("/r1/base", "r1/arm"):
        authority._listener("/tf")(serialize_message(TFMessage(transforms=[stamped("odom", child)])))
    assert [report.split()[0] for report in reports] == ["'r1/base'", "'r1/arm'"]
