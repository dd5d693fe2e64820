# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Commands that put a state onto a robot take it through the frames, derive what follows, and refuse the rest."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.commands import RunCommand

from robot_semantics.transforms import matrix_from_pose

URDF = """<robot name="cart"><link name="base"/><link name="arm"/><link name="hand"/>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 1"/>
 <axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
<joint name="slide" type="prismatic"><parent link="arm"/><child link="hand"/><origin xyz="1 0 0"/>
 <axis xyz="1 0 0"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint></robot>"""
SRDF = """<robot name="cart"><virtual_joint name="wj" type="planar" parent_frame="odom" child_link="base"/>
<group name="all"><joint name="wj"/><joint name="turn"/></group>
<group_state name="home" group="all"><joint name="wj" value="1 2 0.5"/><joint name="turn" value="0.25"/></group_state>
</robot>"""
FRAMES = """<frame name="map"><pose>7 7 0 0 0 0.5</pose></frame>
<frame name="odom"><parent>map</parent><pose>1 2 0 0 0 -0.75</pose></frame>"""


@pytest.fixture
def cart(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "cart.urdf").write_text(URDF)
    (tmp_path / "cart.srdf").write_text(SRDF)
    return str(tmp_path / "cart.urdf"), str(tmp_path / "cart.srdf")


def world(folder: Path, model: str, frames: str = FRAMES) -> Path:
    path = folder / "world.usdf"
    path.write_text(
        '<world_state xmlns:rs="urn:robot-semantics:usdf:1">'
        f'<model_state name="cart" rs:description="cart.urdf" rs:semantic="cart.srdf">{model}</model_state>'
        f"{frames}</world_state>"
    )
    return path


def planar(x: float, y: float, theta: float, z: float = 0.0) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = Rotation.from_euler("z", theta).as_matrix()
    T[:3, 3] = x, y, z
    return T


def matrix(pose: list[float]) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = Rotation.from_quat(pose[3:]).as_matrix()
    T[:3, 3] = pose[:3]
    return T


T_MAP_ODOM = planar(1.0, 2.0, -0.75)
T_WORLD_MAP = planar(7.0, 7.0, 0.5)


def test_fk_is_in_the_virtual_joints_frame_where_its_values_are_given(run: RunCommand, cart: tuple[str, ...]) -> None:
    alone = json.loads(run("fk", *cart, "--joint", "turn=0.25", "--json").out)["poses"]
    by_value = run(
        "fk",
        *cart,
        "--joint",
        "wj/x=1",
        "--joint",
        "wj/y=2",
        "--joint",
        "wj/theta=0.5",
        "--joint",
        "turn=0.25",
        "--json",
    )
    by_state = run("fk", *cart, "--state", "all/home", "--json")
    assert by_value.code == by_state.code == 0
    assert json.loads(by_value.out) == json.loads(by_state.out)
    found = json.loads(by_value.out)
    assert found["relative_to"] == "odom"
    for link, pose in alone.items():
        np.testing.assert_allclose(matrix(found["poses"][link]), planar(1.0, 2.0, 0.5) @ matrix(pose), atol=1e-12)
    assert "(in odom)" in run("fk", *cart, "--state", "all/home").out
    assert "(in base)" in run("fk", *cart, "--joint", "turn=0.25").out


def test_fk_of_a_world_puts_the_robot_where_the_world_has_it(
    run: RunCommand, cart: tuple[str, ...], tmp_path: Path
) -> None:
    state = world(tmp_path, "<parent>map</parent><pose>1 1 0 0 0 0.1</pose><joint_state name='turn'><positions>0.25"
                  "</positions></joint_state>")  # fmt: skip
    result = run("usdf", "resolve", state, "--links", "cart", "--urdf", ",".join(cart), "--json")
    found = json.loads(result.out)
    assert found["relative_to"] == "world"
    expected = T_WORLD_MAP @ planar(1.0, 1.0, 0.1) @ planar(0.0, 0.0, 0.25, 1.0)
    np.testing.assert_allclose(matrix(found["poses"]["arm"]), expected, atol=1e-12)
    assert "stay as they are: slide" in result.err
    state = world(tmp_path, "<parent>map</parent><pose>1 1 0.5 0 0 0</pose>")
    off = run("usdf", "resolve", state, "--links", "cart", "--urdf", ",".join(cart))
    assert (off.code, off.out) == (1, "")
    assert "not restored: model 'cart': pose: planar joint 'wj' cannot leave its plane" in off.err
    for other in (["cart"], ["--relative-to", "map"], ["--axes", "map"]):
        assert run("usdf", "resolve", state, "--links", "cart", *other).code == 2


def tool_pose(run: RunCommand, state: Path, link: str) -> np.ndarray:
    """Return (4, 4) the pose of a link in the world, as `usdf resolve` has it."""
    found = run("usdf", "resolve", state, f"cart::{link}", "--json")
    assert found.code == 0, found.err
    (body,) = json.loads(found.out)["bodies"]
    return matrix(body["xyz"] + body["quat_xyzw"])


def test_every_command_treats_a_virtual_joints_frame_that_nothing_places_as_the_world(
    run: RunCommand, cart: tuple[str, ...], tmp_path: Path
) -> None:
    model = (
        "<parent>map</parent><pose>1 1 0 0 0 0.1</pose>"
        "<joint_state name='turn'><positions>0.25</positions></joint_state>"
        "<joint_state name='slide'><positions>0.5</positions></joint_state>"
    )
    state = world(tmp_path, model, '<frame name="map"><pose>7 7 0 0 0 0.5</pose></frame>')
    expected = T_WORLD_MAP @ planar(1.0, 1.0, 0.1) @ planar(0.0, 0.0, 0.25, 1.0)
    checked = run("check", state)
    assert checked.code == 0
    assert "unplaced-frame" in checked.out + checked.err
    assert "pose-refused" not in checked.out + checked.err
    put = run("usdf", "resolve", state, "--links", "cart", "--urdf", ",".join(cart), "--json")
    assert put.code == 0, put.err
    assert put.err.count("'odom' is treated as the world") == 1
    np.testing.assert_allclose(matrix(json.loads(put.out)["poses"]["arm"]), expected, atol=1e-12)
    np.testing.assert_allclose(tool_pose(run, state, "arm"), expected, atol=1e-12)
    pytest.importorskip("mujoco")
    before = state
    for name in ("first.usdf", "second.usdf"):
        ran = run("sim", "run", before, "--steps", "0", "-o", tmp_path / name)
        assert ran.code == 0, ran.err
        assert ran.err.count("'odom' is treated as the world") == (1 if before is state else 0)
        np.testing.assert_allclose(tool_pose(run, tmp_path / name, "arm"), expected, atol=1e-9)
        before = tmp_path / name


@pytest.mark.parametrize(
    ("changes", "notes"),
    [
        (("--pose", "cart=1 2 0 0 0 0.1"), 1),
        (("--joint", "cart/wj=1 2 0.3"), 1),
        (("--pose", "cart=1 2 0 0 0 0.1", "--joint", "cart/wj=1 2 0.3"), 1),
        (("--pose", "cart=1 2 0 0 0 0.1", "--rename", "cart", "wagon"), 1),
        (("--pose", "map=1 2 0 0 0 0"), 0),
        (("--joint", "cart/turn=0.5"), 0),
    ],
)
def test_an_edit_of_a_pose_notes_a_virtual_joints_frame_that_nothing_places(
    run: RunCommand, cart: tuple[str, ...], tmp_path: Path, changes: tuple[str, ...], notes: int
) -> None:
    model = "<parent>map</parent><pose>1 1 0 0 0 0.1</pose>"
    state = world(tmp_path, model, '<frame name="map"><pose>7 7 0 0 0 0.5</pose></frame>')
    checked = run("check", state)
    (note,) = [line for line in (checked.out + checked.err).splitlines() if "unplaced-frame" in line]
    edited = run("usdf", "edit", state, *changes, "-o", tmp_path / "edited.usdf")
    assert edited.code == 0, edited.err
    lines = [line for line in edited.err.splitlines() if "'odom' is treated as the world" in line]
    assert len(lines) == notes
    message = "model 'cart': nothing places 'odom', in which its virtual joint moves; 'odom' is treated as the world"
    assert message in note
    assert all(": note: " in line and message in line for line in lines)


@pytest.mark.parametrize("engine", ["mujoco", "drake"])
def test_a_simulation_continues_its_own_file_of_a_robot_in_a_frame_of_unstated_motion(
    run: RunCommand, tmp_path: Path, engine: str
) -> None:
    pytest.importorskip({"drake": "pydrake"}.get(engine, engine))
    (tmp_path / "cart.urdf").write_text(URDF)
    (tmp_path / "cart.srdf").write_text(SRDF.replace("planar", "floating").replace("1 2 0.5", "1 2 0 0 0 0 1"))
    files = f"cart={tmp_path / 'cart.urdf'},{tmp_path / 'cart.srdf'}"
    assert run("usdf", "new", files, "--pose", "cart=0.3 -0.2 4 0 0 0.3", "-o", tmp_path / "w.usdf").code == 0
    assert (
        run("sim", "run", tmp_path / "w.usdf", "--engine", engine, "--steps", "5", "-o", tmp_path / "a.usdf").code == 0
    )
    again = run("sim", "run", tmp_path / "a.usdf", "--engine", engine, "--steps", "5", "-o", tmp_path / "b.usdf")
    assert again.code == 0, again.err
    assert "not restored" not in again.err


def test_a_named_state_is_written_into_the_parent_that_the_model_has(
    run: RunCommand, cart: tuple[str, ...], tmp_path: Path
) -> None:
    state = world(tmp_path, "<parent>map</parent><pose>0 0 0 0 0 0</pose>")
    edited = run("usdf", "edit", state, "--state", "cart/all/home")
    assert edited.code == 0, edited.err
    (tmp_path / "edited.usdf").write_text(edited.out)
    (shown,) = json.loads(run("usdf", "show", tmp_path / "edited.usdf", "--json").out)["models"]
    assert shown["parent"] == "map"
    pose = [*shown["pose"]["xyz_rpy"][:3], *shown["pose"]["quat_xyzw"]]
    np.testing.assert_allclose(matrix(pose), T_MAP_ODOM @ planar(1.0, 2.0, 0.5), atol=1e-12)
    nowhere = world(tmp_path, "<parent>map</parent>", '<frame name="map"><pose>0 0 0 0 0 0</pose></frame>')
    put = run("usdf", "edit", nowhere, "--state", "cart/all/home", "-o", tmp_path / "put.usdf")
    assert put.code == 0
    assert "'odom' is treated as the world" in put.err
    assert tool_pose(run, tmp_path / "put.usdf", "base") == pytest.approx(planar(1.0, 2.0, 0.5), abs=1e-12)
    carried = '<frame name="odom"><parent>cart</parent><pose>0 0 0 0 0 0</pose></frame>'
    refused = run("usdf", "edit", world(tmp_path, "<pose>0 0 0 0 0 0</pose>", carried), "--state", "cart/all/home")
    assert refused.code == 1
    assert "is on the model itself" in refused.err


LINKS = """<pose>0 0 0 0 0 0</pose><link_state name="arm"><pose>0 0 1 0 0 0.25</pose></link_state>
<link_state name="hand"><pose>{x!r} {y!r} 1 0 0 0.25</pose></link_state>"""
AT_05 = LINKS.format(x=1.5 * float(np.cos(0.25)), y=1.5 * float(np.sin(0.25)))


def test_check_says_which_joints_follow_from_links_and_reports_those_that_do_not(
    run: RunCommand, cart: tuple[str, ...], tmp_path: Path
) -> None:
    state = world(tmp_path, f"<parent>odom</parent>{AT_05}")
    good = run("check", state)
    assert good.code == 0
    assert "the values of 2 joints of 'cart' are computed from other stated values: turn, slide" in good.out
    assert "warning" not in good.out
    bent = world(tmp_path, f"<parent>odom</parent>{LINKS.format(x=1.5, y=0.9)}")
    found = run("check", bent, "--json")
    codes = {problem["code"] for problem in json.loads(found.out)["diagnostics"]}
    assert {"underivable-joint", "unplaced-link", "missing-joint-state"} <= codes
    assert all(problem["line"] for problem in json.loads(found.out)["diagnostics"])
    assert run("check", bent, "--strict").code == 1
    tip = '<parent>odom</parent><pose>0 0 0 0 0 0</pose><link_state name="hand"><pose>1 0 1 0 0 0</pose></link_state>'
    assert "a joint above the link is unknown" in run("check", world(tmp_path, tip)).out
    up = run("check", world(tmp_path, "<parent>map</parent><pose>0 0 1 0 0 0</pose>"))
    assert "cannot leave its plane" in up.out


def test_sim_run_takes_joints_from_links_and_never_starts_in_silence_elsewhere(
    run: RunCommand, cart: tuple[str, ...], tmp_path: Path
) -> None:
    pytest.importorskip("mujoco")
    out = tmp_path / "out.usdf"
    good = run("sim", "run", world(tmp_path, f"<parent>odom</parent>{AT_05}"), "--steps", "0", "-o", out)
    assert good.code == 0, good.err
    joints = {item["name"]: item for item in json.loads(run("usdf", "show", out, "--json").out)["models"][0]["joints"]}
    assert joints["turn"]["positions"] == pytest.approx([0.25])
    assert joints["slide"]["positions"] == pytest.approx([0.5])
    out.unlink()
    bent = world(tmp_path, f"<parent>odom</parent>{LINKS.format(x=1.5, y=0.9)}")
    refused = run("sim", "run", bent, "--steps", "0", "-o", out)
    assert refused.code == 1
    assert "not restored: model 'cart': joint 'slide': cannot be derived" in refused.err
    assert not out.exists()
    assert run("sim", "run", bent, "--steps", "0", "-o", out, "--partial").code == 0


HELD = """<world_state xmlns:rs="urn:robot-semantics:usdf:1">
<model_state name="cart" rs:description="cart.urdf" rs:semantic="cart.srdf">
 <parent>odom</parent><pose>1 2 0 0 0 0.5</pose>
 <joint_state name="turn"><positions>0.25</positions></joint_state>
 <joint_state name="slide"><positions>0.5</positions></joint_state></model_state>
<model_state name="cup" rs:description="cup.urdf" rs:semantic="cup.srdf" rs:parent_link="hand"><parent>cart</parent>
 <pose>0.1 0 0.2 0 0 0.3</pose></model_state>
<frame name="odom"><pose>5 0 0 0 0 1</pose></frame></world_state>"""
CUP = '<robot name="cup"><link name="cup"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" {}/></inertial>'
NO_PRODUCTS = 'ixy="0" ixz="0" iyz="0"'


def test_what_a_hand_holds_is_where_the_hand_is_though_only_its_joints_are_stated(
    run: RunCommand, cart: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "cup.urdf").write_text(CUP.format(NO_PRODUCTS) + "</link></robot>")
    virtual = '<virtual_joint name="free" type="floating" parent_frame="world" child_link="cup"/>'
    (tmp_path / "cup.srdf").write_text(f'<robot name="cup">{virtual}</robot>')
    path = tmp_path / "held.usdf"
    path.write_text(HELD)
    T_world_hand = planar(5.0, 0.0, 1.0) @ planar(1.0, 2.0, 0.5) @ planar(0.0, 0.0, 0.25, 1.0) @ planar(1.5, 0.0, 0.0)
    expected = T_world_hand @ planar(0.1, 0.0, 0.3, 0.2)
    bodies = json.loads(run("usdf", "resolve", path, "cup", "--json").out)["bodies"]
    np.testing.assert_allclose(matrix([*bodies[0]["xyz"], *bodies[0]["quat_xyzw"]]), expected, atol=1e-12)
    cup = (str(tmp_path / "cup.urdf"), str(tmp_path / "cup.srdf"))
    found = run("usdf", "resolve", path, "--links", "cup", "--urdf", ",".join(cup), "--json")
    assert found.code == 0, found.err
    np.testing.assert_allclose(matrix(json.loads(found.out)["poses"]["cup"]), expected, atol=1e-12)
    assert "error" not in run("check", path).out
    pytest.importorskip("mujoco")
    out = tmp_path / "out.usdf"
    simulated = run("sim", "run", path, "--steps", "0", "-o", out)
    assert simulated.code == 0, simulated.err
    (body,) = json.loads(run("usdf", "resolve", out, "cup", "--json").out)["bodies"]
    np.testing.assert_allclose(matrix([*body["xyz"], *body["quat_xyzw"]]), expected, atol=1e-12)
    # If one joint on the way to the hand is missing, the pose of the cup is unknown.
    path.write_text(HELD.replace('<joint_state name="slide"><positions>0.5</positions></joint_state>', ""))
    refused = run("sim", "run", path, "--steps", "0")
    assert (refused.code, refused.out) == (1, "")
    assert "model 'cup': pose: the pose of link 'cart::hand', on which it stands, is neither stated nor" in refused.err


def test_a_link_that_holds_something_and_is_nowhere_is_reported_with_its_place(
    run: RunCommand, cart: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "cup.urdf").write_text(CUP.format(NO_PRODUCTS) + "</link></robot>")
    path = tmp_path / "held.usdf"
    for text, said in (
        (HELD.replace("<positions>0.5</positions>", ""), "the pose of link 'hand' of 'cart' is neither stated nor"),
        (HELD.replace('rs:parent_link="hand"', 'rs:parent_link="hnad"'), "no link 'hnad'; did you mean 'hand'?"),
    ):
        path.write_text(text)
        found = run("check", path)
        assert found.code == 1
        assert f"{path}:6:" in found.out
        assert said in found.out
        assert "[/world_state/model_state[@name='cup']/@rs:parent_link]" in found.out


def test_edit_sets_a_joint_of_a_model_with_a_slash_in_its_name(
    run: RunCommand, cart: tuple[str, ...], tmp_path: Path
) -> None:
    out = tmp_path / "out.usdf"
    path = world(tmp_path, "<parent>odom</parent>")
    path.write_text(path.read_text().replace('name="cart"', 'name="site/cart"'))
    assert run("usdf", "edit", path, "--joint", "site/cart/turn=0.5", "-o", out).code == 0
    assert "<positions>0.5</positions>" in out.read_text()


def test_edit_puts_things_into_a_hand_and_out_of_it(run: RunCommand, cart: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "cup.urdf").write_text(CUP.format(NO_PRODUCTS) + "</link></robot>")
    path, out = tmp_path / "held.usdf", tmp_path / "out.usdf"
    path.write_text(HELD.replace(' rs:semantic="cup.srdf"', ""))
    held, let_go = planar(0.1, 0.0, 0.3, 0.2), planar(5.0, 0.0, 1.0) @ planar(1.0, 2.0, 0.5)
    for parent, T_world_parent in (("world", np.eye(4)), ("cart", let_go)):
        assert run("usdf", "edit", path, "--parent", f"cup={parent}", "-o", out, "--force").code == 0
        (body,) = json.loads(run("usdf", "resolve", out, "cup", "--json").out)["bodies"]
        found = matrix([*body["xyz"], *body["quat_xyzw"]])
        np.testing.assert_allclose(found, T_world_parent @ held, atol=1e-12, err_msg=parent)
    assert run("usdf", "edit", out, "--parent", "cup=cart::hand", "-o", tmp_path / "again.usdf").code == 0
    assert not run("diff", path, tmp_path / "again.usdf").code
    wrong = run("usdf", "edit", path, "--parent", "cup=cart::hnad", "-o", out, "--force")
    assert wrong.code == 1
    assert wrong.err.count("no link 'hnad'; did you mean 'hand'?") == 1


def test_numbers_that_are_relative_to_a_link_are_said_to_be(run: RunCommand, tmp_path: Path) -> None:
    path, other = tmp_path / "held.usdf", tmp_path / "other.usdf"
    path.write_text(HELD)
    other.write_text(HELD.replace('rs:parent_link="hand"', 'rs:parent_link="arm"'))
    (row,) = (line for line in run("usdf", "show", path).out.splitlines() if line.startswith("cup"))
    assert row.split()[:3] == ["cup", "model", "cart::hand"]
    apart = run("usdf", "interpolate", path, other, "--share", "0.5", "--no-robots")
    assert "'cup' has the parent 'cart::hand' in one state and 'cart::arm' in the other" in apart.err
    pytest.importorskip("matplotlib")
    assert run("plot", path, "-o", tmp_path / "path.svg").code == 0
    assert "cup: path of the base in cart::hand" in (tmp_path / "path.svg").read_text()


LIFT = """<robot name="lift"><link name="base"/><link name="low"/><link name="high"/>
<joint name="low" type="prismatic"><parent link="base"/><child link="low"/><axis xyz="0 0 1"/>
 <limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
<joint name="high" type="prismatic"><parent link="low"/><child link="high"/><axis xyz="0 0 1"/>
 <limit lower="-2" upper="2" effort="1" velocity="1"/><mimic joint="low" multiplier="2" offset="0.5"/></joint>
</robot>"""


@pytest.mark.parametrize(
    ("stated", "heights"),
    [
        ({}, (0.0, 0.5)),  # the leader at 0, its follower where it takes it
        ({"low": 0.25}, (0.25, 1.25)),
        ({"high": 1.5}, (0.5, 2.0)),
        ({"low": 0.25, "high": 0.125}, (0.25, 0.375)),  # measured, where it is
    ],
)
def test_fk_of_a_world_has_a_mimic_joint_where_it_was_measured_or_where_its_leader_takes_it(
    run: RunCommand, tmp_path: Path, stated: dict[str, float], heights: tuple[float, float]
) -> None:
    (tmp_path / "lift.urdf").write_text(LIFT)
    joints = "".join(
        f'<joint_state name="{name}"><positions>{q}</positions></joint_state>' for name, q in stated.items()
    )
    path = tmp_path / "world.usdf"
    path.write_text(
        f'<world_state><model_state name="lift"><pose>0 0 0 0 0 0</pose>{joints}</model_state></world_state>'
    )
    found = run("usdf", "resolve", path, "--links", "lift", "--urdf", tmp_path / "lift.urdf", "--json")
    assert found.code == 0, found.err
    poses = json.loads(found.out)["poses"]
    assert (poses["low"][2], poses["high"][2]) == pytest.approx(heights)
    assert ("'high' is 0.875 away from where 'low' takes it" in found.err) == (len(stated) == 2)


PLACED = FRAMES.replace("</pose></frame>", "</pose><twist>0 0 0 0 0 0</twist></frame>") + (
    '<frame name="cup"><parent>cart</parent><pose>0.1 0 0.2 0 0 0</pose><twist>0.1 0 0 0 0 0.2</twist></frame>'
)
STANDING = "<parent>odom</parent><pose>1 2 0 0 0 0.5</pose><twist>0 0 0 0 0 0</twist>"


def test_edit_refuses_a_pose_that_the_virtual_joint_cannot_take(
    run: RunCommand, cart: tuple[str, ...], tmp_path: Path
) -> None:
    path, out = world(tmp_path, STANDING), tmp_path / "out.usdf"
    off = run("usdf", "edit", path, "--pose", "cart=1 2 0.25 0 0 0.5", "-o", out)
    assert (off.code, out.exists()) == (1, False)
    assert "planar joint 'wj' cannot leave its plane in 'odom': 0.25 m and 0 rad off" in off.err
    assert run("usdf", "edit", path, "--pose", "cart=3 4 0 0 0 0.5", "-o", out).code == 0
    (tmp_path / "cart.srdf").write_text(SRDF.replace('type="planar"', 'type="fixed"'))
    fixed = run("usdf", "edit", path, "--pose", "cart=0.5 0 0 0 0 0", "-o", out, "--force")
    assert fixed.code == 1
    assert "the base is fixed in 'odom', 0.5 m and 0 rad away from there" in fixed.err
    assert run("usdf", "edit", path, "--pose", "cart=0 0 0 0 0 0", "-o", out, "--force").code == 0


def test_new_has_the_rule_of_edit_and_a_fixed_joint_is_mounted_anywhere(
    run: RunCommand, cart: tuple[str, ...], tmp_path: Path
) -> None:
    urdf, srdf, out = tmp_path / "cart.urdf", tmp_path / "cart.srdf", tmp_path / "out.usdf"
    off = run("usdf", "new", f"{urdf},{srdf}", "--pose", "cart=1 2 0.25 0 0 0.5", "-o", out)
    assert (off.code, out.exists()) == (1, False)
    assert "planar joint 'wj' cannot leave its plane in 'odom': 0.25 m and 0 rad off" in off.err
    srdf.write_text(SRDF.replace('type="planar"', 'type="fixed"'))
    two = run("usdf", "new", f"a={urdf},{srdf}", f"b={urdf},{srdf}", "--pose", "b=2 0 0 0 0 0", "-o", out)
    assert two.code == 0
    assert "model 'b': pose: the base is fixed in 'odom', 2 m and 0 rad away from there" in two.err
    moved = run("usdf", "edit", out, "--pose", "b=3 0 0 0 0 0", "-o", tmp_path / "moved.usdf")
    assert (moved.code, (tmp_path / "moved.usdf").exists()) == (1, False)
    assert "1 m and 0 rad away from where it is mounted" in moved.err
    for pose in ("2 0 0 0 0 0", "0 0 0 0 0 0"):
        assert run("usdf", "edit", out, "--pose", f"b={pose}", "-o", tmp_path / "e.usdf", "--force").code == 0


@pytest.mark.parametrize(
    ("kind", "pose", "expected"),
    [("planar", "1 2 0 0 0 0.5", [2.0, 4.0, 0.0]), ("floating", "1 2 3 0 0 0", [2.0, 4.0, 6.0])],
)
def test_a_follower_of_the_virtual_joint_is_where_the_pose_of_the_model_puts_it(
    kind: str, pose: str, expected: list[float], run: RunCommand, tmp_path: Path
) -> None:
    (tmp_path / "m.urdf").write_text(
        f'<robot name="m"><link name="base"/><link name="f"/><joint name="fol" type="{kind}"><parent link="base"/>'
        '<child link="f"/><axis xyz="0 0 1"/><mimic joint="v" multiplier="2"/></joint></robot>'
    )
    (tmp_path / "m.srdf").write_text(
        f'<robot name="m"><virtual_joint name="v" type="{kind}" parent_frame="odom" child_link="base"/></robot>'
    )
    path = tmp_path / "w.usdf"
    path.write_text(
        '<world_state xmlns:rs="urn:robot-semantics:usdf:1"><model_state name="m" rs:description="m.urdf"'
        f' rs:semantic="m.srdf"><parent>odom</parent><pose>{pose}</pose></model_state>'
        '<frame name="odom"><pose>0 0 0 0 0 0</pose></frame></world_state>'
    )
    resolved = run("usdf", "resolve", path, "m::f", "--relative-to", "m::base", "--json")
    assert json.loads(resolved.out)["bodies"][0]["xyz"] == pytest.approx(expected)
    found = run("usdf", "resolve", path, "--links", "m", "--json")
    assert "no stated or derived position" not in found.err
    poses = json.loads(found.out)["poses"]
    assert matrix_from_pose(poses["base"])[:3, :3].T @ (np.array(poses["f"][:3]) - poses["base"][:3]) == pytest.approx(
        expected
    )


def test_problems_of_a_file_name_the_file(run: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text('<robot name="r"><link name="b"/></robot>')
    path = tmp_path / "two.usdf"
    path.write_text('<world_state>\n<model_state name="m"/>\n<model_state name="n"/></world_state>')
    found = run("usdf", "resolve", path, "--urdf", tmp_path / "r.urdf")
    assert found.code == 1
    assert f"{path}:1:1: error: no model has the name of the robot, 'r'; the models are: m, n" in found.err
    assert f"{path}:2:1: warning: 'm' has no pose in 'world'" in run("usdf", "resolve", path).err


def test_edit_sets_the_virtual_joint_as_the_pose(run: RunCommand, cart: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "out.usdf"
    path = world(tmp_path, "<parent>map</parent><pose>0 0 0 0 0 0</pose>")
    assert run("usdf", "edit", path, "--joint", "cart/wj=1 2 0.5", "-o", out).code == 0
    np.testing.assert_allclose(
        tool_pose(run, out, "base"), T_WORLD_MAP @ T_MAP_ODOM @ planar(1.0, 2.0, 0.5), atol=1e-12
    )
    wrong = run("usdf", "edit", path, "--joint", "cart/wj=1 2", "-o", out, "--force")
    assert (wrong.code, wrong.err) == (1, "error: wj: a planar joint has 3 positions, not 2\n")


def test_edit_keeps_the_place_of_what_gets_another_parent(
    run: RunCommand, cart: tuple[str, ...], tmp_path: Path
) -> None:
    joints = "".join(
        f"<joint_state name='{name}'><positions>{value}</positions></joint_state>"
        for name, value in (("turn", 0.25), ("slide", 0.5))
    )
    path, out = world(tmp_path, STANDING + joints, PLACED), tmp_path / "out.usdf"
    T_world_cart = T_WORLD_MAP @ T_MAP_ODOM @ planar(1.0, 2.0, 0.5)
    T_world_cup = T_world_cart @ planar(0.1, 0.0, 0.0, 0.2)
    for parent in ("world", "odom", "cart"):
        assert run("usdf", "edit", path, "--parent", f"cup={parent}", "--keep-place", "-o", out, "--force").code == 0
        (body,) = json.loads(run("usdf", "resolve", out, "cup", "--json").out)["bodies"]
        np.testing.assert_allclose(matrix([*body["xyz"], *body["quat_xyzw"]]), T_world_cup, atol=1e-12)
        turned = T_world_cart[:3, :3] @ (0.1, 0.0, 0.0)
        np.testing.assert_allclose(body["twist"], [*turned, 0.0, 0.0, 0.2], atol=1e-12)
    # How the hand moves is not stated: the twist of the cup against it is not known.
    hand = run("usdf", "edit", path, "--parent", "cup=cart::hand", "--keep-place", "-o", out, "--force")
    assert (hand.code, hand.err) == (
        1, "error: cup: how 'cart::hand' moves is not stated, so its twist there is unknown\n"
    )  # fmt: skip
    path.write_text(path.read_text().replace("<twist>0.1 0 0 0 0 0.2</twist>", ""))
    assert run("usdf", "edit", path, "--parent", "cup=cart::hand", "--keep-place", "-o", out, "--force").code == 0
    (body,) = json.loads(run("usdf", "resolve", out, "cup", "--json").out)["bodies"]
    np.testing.assert_allclose(matrix([*body["xyz"], *body["quat_xyzw"]]), T_world_cup, atol=1e-12)
    loop = run("usdf", "edit", path, "--parent", "cart=cup", "--keep-place")
    assert loop.code == 1
    assert run("usdf", "edit", path, "--keep-place").code == 2


def test_edit_renames_and_removes(run: RunCommand, cart: tuple[str, ...], tmp_path: Path) -> None:
    path, out = world(tmp_path, STANDING, PLACED), tmp_path / "out.usdf"
    held = run("usdf", "edit", path, "--remove", "cart", "-o", out)
    assert (held.code, out.exists()) == (1, False)
    assert "cart: it carries 'cup'" in held.err
    assert run("usdf", "edit", path, "--rename", "cart", "rover", "--pose", "cart=0 0 0 0 0 0", "-o", out).code == 0
    (cup,) = json.loads(run("usdf", "resolve", out, "cup", "--json").out)["bodies"]
    np.testing.assert_allclose(
        matrix([*cup["xyz"], *cup["quat_xyzw"]]), T_WORLD_MAP @ T_MAP_ODOM @ planar(0.1, 0.0, 0.0, 0.2), atol=1e-12
    )
    taken = run("usdf", "edit", path, "--rename", "cart", "odom", "-o", out, "--force")
    assert (taken.code, taken.err) == (1, "error: 'cart' and 'odom' would both be called 'odom'\n")
    assert run("usdf", "edit", path, "--remove", "cup", "--remove", "cart", "-o", out, "--force").code == 0
    assert "model_state" not in out.read_text()
    assert "did you mean 'cup'" in run("usdf", "edit", path, "--remove", "cupp").err
