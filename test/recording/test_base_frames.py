# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Where the base is: topics and frames with names of their own, and links that are fixed to the root."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.bags import STORE1, header

# The base link is 0.3 m above the root and turned by 90°; the arm moves.
ROBOT = """<robot name="rover">
 <link name="base_footprint"/><link name="base_link"/><link name="arm"/>
 <joint name="f" type="fixed"><parent link="base_footprint"/><child link="base_link"/>
  <origin xyz="0.1 0 0.3" rpy="0 0 1.5707963267948966"/></joint>
 <joint name="j" type="continuous"><parent link="base_link"/><child link="arm"/><axis xyz="0 0 1"/></joint>
</robot>"""
PLACE = (2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)
HALF = 0.5**0.5
# The pose of base_link where the root is at PLACE: T_root_link added by hand.
LINK_PLACE = (2.1, 1.0, 0.3, 0.0, 0.0, HALF, HALF)


def tape_of(tools: Any, *, describe: bool = True) -> Any:
    tape = tools.Tape()
    if describe:
        tape.text("/robot_description", ROBOT)
    for i in range(5):
        tape.joints(tools.START + i * tools.S // 10, ["j"], [0.0])
    return tape


def pose(store: Any, values: tuple[float, ...]) -> Any:
    geometry = {name: store.types[f"geometry_msgs/msg/{name}"] for name in ("Pose", "Point", "Quaternion")}
    return geometry["Pose"](geometry["Point"](*values[:3]), geometry["Quaternion"](*values[3:]))


def stamped_pose(tape: Any, stamp: int, frame: str, values: tuple[float, ...], topic: str) -> None:
    name = "geometry_msgs/msg/PoseStamped"
    tape.add(topic, name, stamp, lambda store: store.types[name](header(store, stamp, frame), pose(store, values)))


def covariant_pose(tape: Any, stamp: int, frame: str, values: tuple[float, ...], topic: str) -> None:
    name = "geometry_msgs/msg/PoseWithCovarianceStamped"

    def make(store: Any) -> Any:
        inner = store.types["geometry_msgs/msg/PoseWithCovariance"](pose(store, values), np.zeros(36))
        return store.types[name](header(store, stamp, frame), inner)

    tape.add(topic, name, stamp, make)


def stamped_transform(tape: Any, stamp: int, frame: str, child: str, values: tuple[float, ...], topic: str) -> None:
    from support.bags import stamped

    name = "geometry_msgs/msg/TransformStamped"
    tape.add(topic, name, stamp, lambda store: stamped(store, stamp, frame, child, values))


def base(tools: Any, bag: Path, *words: object) -> tuple[str, list[float] | None, str]:
    """Return the parent frame, the pose x y z qx qy qz qw of the first model, and the messages."""
    out = tools.folder / "state.npz"
    code, stdout, stderr = tools.run("export", bag, "-o", out, "--force", *words)
    assert code == 0, stdout + stderr
    with np.load(out) as arrays:
        (name,) = (key.removesuffix("/joints") for key in arrays.files if key.endswith("/joints"))
        if f"{name}/pose" not in arrays.files:
            return "", None, stderr
        parent = str(arrays["names"][arrays[f"{name}/parent"][-1]])
        return parent, arrays[f"{name}/pose"][-1].tolist(), stderr


def placed(found: tuple[str, list[float] | None, str], parent: str = "odom") -> bool:
    assert found[1] is not None, found[2]
    return found[0] == parent and np.allclose(found[1], PLACE, atol=1e-12)


# Names of the base.

TWIST = (0.5, 0.0, 0.0, 0.0, 0.0, 0.0)
NAMED: dict[str, tuple[tuple[str, ...], tuple[float, ...]]] = {
    "": ((), PLACE),
    "base_footprint": ((), PLACE),
    "/base_footprint": ((), PLACE),
    "base_link": ((), LINK_PLACE),
    "rover/base_footprint": ((), PLACE),
    "rover/base_link": ((), LINK_PLACE),
    "robot0base_footprint": (("--frame-prefix", "robot0"), PLACE),
    "robot0base_link": (("--frame-prefix", "robot0"), LINK_PLACE),
    "robot0/base_link": (("--frame-prefix", "/robot0/"), LINK_PLACE),
    "odom_link": (("--base-frame", "odom_link"), PLACE),
    "/odom_link": (("--base-frame", "/odom_link"), PLACE),
}


@pytest.mark.parametrize("child", NAMED)
@pytest.mark.parametrize("source", ["odometry", "tf", "tf_static", "pose topic"])
def test_the_base_is_found_by_every_name_of_it(tools: Any, child: str, source: str) -> None:
    words, values = NAMED[child]
    tape = tape_of(tools)
    if source != "odometry" and not child:
        pytest.skip("TF has no transform without a child")
    for i in range(5):
        stamp = tools.START + i * tools.S // 10
        if source == "odometry":
            tape.odometry(stamp, "odom", child, values, TWIST)
        elif source == "pose topic":
            stamped_transform(tape, stamp, "odom", child, values, "/gt")
        else:
            tape.tf([(stamp, "odom", child, values)], topic=f"/{source}")
    more = ("--pose-topic", "/gt") if source == "pose topic" else ()
    bag = tape.write(tools.folder / "bag", "mcap")
    found = base(tools, bag, *words, *more)
    assert placed(found)
    assert "root-" not in found[2]
    assert "not connected" not in found[2]
    # The option names the robot as the others do.
    if words:
        assert placed(base(tools, bag, "--model", "r", words[0], f"r={words[1]}", *more))


@pytest.mark.parametrize("child", ["rover/base_link", "robot0base_link", "odom_link"])
def test_prefixed_odometry_beside_plain_tf_of_the_links_is_one_robot(tools: Any, child: str) -> None:
    words, values = NAMED[child]
    tape = tape_of(tools)
    tape.tf([(tools.START, "base_footprint", "base_link", (0.1, 0.0, 0.3, 0.0, 0.0, HALF, HALF))], topic="/tf_static")
    for i in range(5):
        stamp = tools.START + i * tools.S // 10
        tape.odometry(stamp, "odom", child, values, TWIST)
        tape.tf([(stamp, "base_link", "arm", (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))])
    assert placed(base(tools, tape.write(tools.folder / "bag", "mcap"), *words))


def test_the_twist_of_a_fixed_link_is_moved_to_the_root(tools: Any) -> None:
    tape = tape_of(tools)
    for i in range(5):
        # base_link is turned by 90°: its forward motion is the root's motion along y, and a turn moves the root too.
        tape.odometry(tools.START + i * tools.S // 10, "odom", "base_link", LINK_PLACE, (0.5, 0.0, 0.0, 0.0, 0.0, 2.0))
    out = tools.folder / "state.npz"
    assert tools.run("export", tape.write(tools.folder / "bag", "mcap"), "-o", out)[0] == 0
    with np.load(out) as arrays:
        # v_root = v_link + w x (p_root - p_link), p_root - p_link = (-0.1, 0, -0.3) in odom.
        assert np.allclose(arrays["rover/twist"][-1], (0.0, 0.5 - 0.2, 0.0, 0.0, 0.0, 2.0), atol=1e-12)


def test_tf_of_a_link_fixed_to_the_root_moves_the_root_between_its_messages(tools: Any) -> None:
    tape = tape_of(tools)
    for i in range(5):
        stamp = tools.START + i * tools.S // 10
        tape.tf([(stamp, "map", "odom", (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))])
        tape.tf([(stamp, "odom", "base_link", (0.1 + 0.2 * i, 0.0, 0.3, 0.0, 0.0, HALF, HALF))])
    out = tools.folder / "states.npz"
    assert tools.run("export", tape.write(tools.folder / "bag", "mcap"), "--every", "0.05", "-o", out)[0] == 0
    with np.load(out) as arrays:
        assert np.allclose(arrays["rover/pose"][:, 0], np.linspace(0.0, 0.8, 9), atol=1e-12)
        assert np.allclose(arrays["rover/pose"][:, 1:3], 0.0, atol=1e-12)
        assert np.allclose(arrays["rover/twist"][1:-1, 0], 2.0, atol=1e-9)
    # The root's own transform comes first.
    for i in range(5):
        stamp = tools.START + i * tools.S // 10
        tape.tf([(stamp, "odom", "base_footprint", PLACE)])
    assert placed(base(tools, tape.write(tools.folder / "both", "mcap")))


def test_tf_from_a_link_to_a_fixed_link_is_not_the_place_of_the_root(tools: Any) -> None:
    tape = tape_of(tools)
    tape.tf([(tools.START, "base_footprint", "base_link", (0.1, 0.0, 0.3, 0.0, 0.0, HALF, HALF))], topic="/tf_static")
    found = base(tools, tape.write(tools.folder / "bag", "mcap"))
    assert found[1] is None
    assert "the pose of 'rover' is unknown" in found[2]


def test_a_child_that_nothing_explains_is_named_with_the_option(tools: Any) -> None:
    for child, hint in (("odom_link", "--base-frame odom_link"), ("robot0base_link", "--frame-prefix robot0")):
        for source in ("odometry", "tf"):
            tape = tape_of(tools)
            if source == "tf":
                tape.tf([(tools.START, "odom", child, PLACE)])
            else:
                tape.odometry(tools.START, "odom", child, PLACE, TWIST)
            found = base(tools, tape.write(tools.folder / f"{child}{source}", "mcap"))
            assert found[1] is None
            assert f"'{child}'" in found[2]
            assert hint in found[2]


def test_odometry_of_a_frame_that_nothing_explains_is_named_beside_another_source(tools: Any) -> None:
    tape = tape_of(tools)
    for i in range(5):
        stamp = tools.START + i * tools.S // 10
        tape.tf([(stamp, "odom", "base_footprint", PLACE)])
        tape.odometry(stamp, "odom", "odom_link", PLACE, TWIST)
    bag = tape.write(tools.folder / "bag", "mcap")
    found = base(tools, bag)
    assert placed(found)
    assert "'/odom' has 'odom_link'" in found[2]
    assert "--base-frame odom_link" in found[2]
    assert "odom_link" not in base(tools, bag, "--base-frame", "odom_link")[2]


@pytest.mark.parametrize("source", ["odometry", "tf", "both"])
@pytest.mark.parametrize("place", ["odom", "fixed"])
def test_a_frame_named_like_the_base_is_named_beside_every_other_source(tools: Any, source: str, place: str) -> None:
    tape = tape_of(tools)
    if place == "fixed":
        tape.text("/robot_description_semantic", SRDF_FIXED)
    for i in range(5):
        stamp = tools.START + i * tools.S // 10
        if place == "odom":
            tape.odometry(stamp, "odom", "base_footprint", PLACE, TWIST, topic="/wheels")
        if source != "tf":
            tape.odometry(stamp, "map", "robot0base_link", LINK_PLACE, TWIST)
        if source != "odometry":
            tape.tf([(stamp, "map", "robot0base_link", LINK_PLACE)])
    stderr = base(tools, tape.write(tools.folder / "bag", "mcap"))[2]
    assert "has 'robot0base_link'" in stderr
    assert "--frame-prefix robot0" in stderr


SRDF_FIXED = """<robot name="rover">
 <virtual_joint name="w" type="fixed" parent_frame="hall" child_link="base_footprint"/></robot>"""


@pytest.mark.parametrize("placed_by", ["nothing", "odometry"])
@pytest.mark.parametrize("child", ["arm", "robot0arm"])
def test_a_link_that_moves_is_never_proposed_as_the_base(tools: Any, child: str, placed_by: str) -> None:
    tape = tape_of(tools)
    tape.odometry(tools.START, "odom", child, PLACE, TWIST)
    if placed_by == "odometry":
        tape.odometry(tools.START, "odom", "base_footprint", PLACE, TWIST, topic="/wheels")
    stderr = base(tools, tape.write(tools.folder / "bag", "mcap"))[2]
    assert f"'/odom' has '{child}'" in stderr
    assert "--base-frame" not in stderr
    assert "--frame-prefix" not in stderr


OWN_NAME_OPTIONS: dict[str, str] = {"--frame-prefix": "robot0", "--base-frame": "odom_link", "--odometry": "/odom"}


@pytest.mark.parametrize("option", [*OWN_NAME_OPTIONS, "--joint-states", "--pose-topic"])
@pytest.mark.parametrize("description", ["in the bag", "file", "named file"])
def test_options_take_the_name_of_the_urdf(tools: Any, option: str, description: str) -> None:
    tape = tape_of(tools, describe=description == "in the bag")
    child = "robot0base_footprint" if option == "--frame-prefix" else "odom_link"
    if option in ("--odometry", "--pose-topic"):
        child = "base_footprint"
    tape.odometry(tools.START, "odom", child, PLACE, TWIST)
    urdf = tools.folder / "rover.urdf"
    urdf.write_text(ROBOT)
    words = {"in the bag": (), "file": ("--urdf", urdf), "named file": ("--urdf", f"rover={urdf}")}[description]
    value = OWN_NAME_OPTIONS.get(option, "/joint_states" if option == "--joint-states" else "/odom")
    bag = tape.write(tools.folder / "bag", "mcap")
    found = base(tools, bag, *words, option, f"rover={value}")
    assert option == "--joint-states" or placed(found)
    assert "has the prefix" not in found[2]
    for name in ("rovr", "arm", "x/y"):
        out = tools.folder / "none.npz"
        code, _, stderr = tools.run("export", bag, "-o", out, *words, option, f"{name}={value}")
        assert code == 1
        assert f"unknown robot '{name}'; did you mean 'rover'?" in stderr
        assert not out.exists()


@pytest.mark.parametrize("word", ["=robot0", "rover="])
def test_a_name_without_a_value_and_a_value_without_a_name_are_wrong_usage(tools: Any, word: str) -> None:
    bag = tape_of(tools).write(tools.folder / "bag", "mcap")
    code, _, stderr = tools.run("export", bag, "-o", tools.folder / "x.npz", "--frame-prefix", word)
    assert (code, f"--frame-prefix '{word}': there is no" in stderr) == (2, True)


def test_a_page_of_a_recording_takes_the_name_of_the_urdf(tools: Any) -> None:
    bag = tape_of(tools, describe=False).write(tools.folder / "bag", "mcap")
    urdf = tools.folder / "rover.urdf"
    urdf.write_text(ROBOT)
    page = tools.folder / "page.html"
    code, _, stderr = tools.run("view", bag, "--urdf", f"rover={urdf}", "--html", page)
    assert (code, page.exists()) == (0, True), stderr
    code, _, stderr = tools.run("view", bag, "--urdf", f"rovr={urdf}", "--html", tools.folder / "other.html")
    assert (code, "unknown robot 'rovr'; did you mean 'rover'?" in stderr) == (1, True), stderr


def test_a_path_with_an_equals_sign_is_a_file(tools: Any) -> None:
    tape = tape_of(tools, describe=False)
    tape.odometry(tools.START, "odom", "base_footprint", PLACE, TWIST)
    folder = tools.folder / "a=b"
    folder.mkdir()
    (folder / "rover.urdf").write_text(ROBOT)
    bag = tape.write(tools.folder / "bag", "mcap")
    for word in (folder / "rover.urdf", f"rover={folder}/rover.urdf"):
        assert placed(base(tools, bag, "--urdf", word))


def test_a_name_of_one_of_several_robots_needs_a_model(tools: Any) -> None:
    tape = tools.Tape()
    for name in ("left", "right"):
        tape.text(f"/{name}/robot_description", ROBOT)
        tape.joints(tools.START, ["j"], [0.0], topic=f"/{name}/joint_states")
    bag = tape.write(tools.folder / "bag", "mcap")
    code, _, stderr = tools.run("export", bag, "-o", tools.folder / "x.npz", "--frame-prefix", "left=robot0")
    assert code == 1
    assert "one of several robots (left, right)" in stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--base-frame", "odom_lnk"), "unknown frame 'odom_lnk'; did you mean 'odom_link'"),
        (("--base-frame", "arm"), "'arm' is a link that moves"),
        (("--base-frame", "a", "--base-frame", "b"), "--base-frame is given twice"),
        (("--frame-prefix", "a", "--frame-prefix", "b"), "--frame-prefix is given twice"),
        (("--pose-topic", "/od"), "unknown topic '/od'; did you mean '/odom'?"),
        (("--pose-topic", "/joint_states"), "'/joint_states' has messages of the type sensor_msgs/msg/JointState"),
        (("--tf-topic", "/gt"), "unknown topic '/gt'"),
        (("--tf-topic", "/odom"), "'/odom' has messages of the type nav_msgs/msg/Odometry"),
        (("--odometry", "/odom", "--pose-topic", "/odom"), "exclude each other"),
    ],
)
def test_options_that_fit_nothing_are_refused(tools: Any, words: tuple[str, ...], message: str) -> None:
    tape = tape_of(tools)
    tape.odometry(tools.START, "odom", "odom_link", PLACE, TWIST)
    bag = tape.write(tools.folder / "bag", "mcap")
    code, _, stderr = tools.run("export", bag, "-o", tools.folder / "x.npz", *words)
    assert code in (1, 2)
    assert message in stderr
    assert not (tools.folder / "x.npz").exists()


def test_a_prefix_that_no_frame_has_is_named(tools: Any) -> None:
    tape = tape_of(tools)
    tape.odometry(tools.START, "odom", "base_link", LINK_PLACE, TWIST)
    found = base(tools, tape.write(tools.folder / "bag", "mcap"), "--frame-prefix", "robot7")
    assert placed(found)
    assert "robot7" in found[2]


def test_a_robot_name_before_the_slash_is_of_that_robot_alone(tools: Any) -> None:
    """Two robots with one URDF: their own names are theirs; the URDF's name is nobody's."""
    tape = tools.Tape()
    urdf = tools.folder / "rover.urdf"
    urdf.write_text(ROBOT)
    for name in ("left", "right"):
        tape.joints(tools.START, ["j"], [0.0], topic=f"/{name}/joint_states")
        offset = 1.0 if name == "left" else 2.0
        tape.odometry(tools.START, "odom", f"{name}/base_footprint", (offset, *PLACE[1:]), TWIST, f"/{name}/odom")
    tape.odometry(tools.START, "odom", "rover/base_footprint", (9.0, *PLACE[1:]), TWIST, "/odom")
    words = [word for name in ("left", "right") for word in ("--model", f"{name}:/{name}", "--urdf", f"{name}={urdf}")]
    out = tools.folder / "x.npz"
    code, _, stderr = tools.run("export", tape.write(tools.folder / "bag", "mcap"), *words, "-o", out)
    assert code == 0, stderr
    with np.load(out) as arrays:
        assert (arrays["left/pose"][0, 0], arrays["right/pose"][0, 0]) == (1.0, 2.0)


# Topics by option.


@pytest.mark.parametrize("write", [stamped_pose, covariant_pose])
@pytest.mark.parametrize("kind", ["mcap", "ros1"])
def test_a_pose_topic_is_the_pose_of_the_root(tools: Any, write: Any, kind: str) -> None:
    tape = tape_of(tools)
    for i in range(5):
        write(tape, tools.START + i * tools.S // 10, "map", PLACE, "/mocap/pose")
        # The option stands above TF.
        tape.tf([(tools.START + i * tools.S // 10, "odom", "base_footprint", (9.0, *PLACE[1:]))])
    if kind == "ros1" and write is covariant_pose:
        assert STORE1 is not None
    bag = tape.write(tools.folder / "bag", kind)
    for topic in ("/mocap/pose", "mocap/pose"):
        assert placed(base(tools, bag, "--pose-topic", topic), "map")
    assert placed(base(tools, bag, "--model", "r", "--pose-topic", "r=/mocap/pose"), "map")
    # Without the option nobody knows what the pose is of.
    found = base(tools, bag)
    assert found[1] is not None
    assert found[1][0] == 9.0


def test_a_pose_topic_of_odometry_and_of_a_robot_in_another_namespace(tools: Any) -> None:
    tape = tools.Tape()
    urdf = tools.folder / "rover.urdf"
    urdf.write_text(ROBOT)
    for number, name in enumerate(("left", "right"), 1):
        tape.joints(tools.START, ["j"], [0.0], topic=f"/{name}/joint_states")
        stamped_pose(tape, tools.START, "map", (float(number), *PLACE[1:]), f"/mocap/{name}")
    words = [word for name in ("left", "right") for word in ("--model", f"{name}:/{name}", "--urdf", f"{name}={urdf}")]
    words += [word for name in ("left", "right") for word in ("--pose-topic", f"{name}=/mocap/{name}")]
    out = tools.folder / "x.npz"
    code, _, stderr = tools.run("export", tape.write(tools.folder / "bag", "mcap"), *words, "-o", out)
    assert code == 0, stderr
    with np.load(out) as arrays:
        assert (arrays["left/pose"][0, 0], arrays["right/pose"][0, 0]) == (1.0, 2.0)


@pytest.mark.parametrize(
    ("frame", "given", "moved"),
    [("field", ("left", "right"), []), ("hall", ("left", "right"), ["right"]), ("field", ("left",), ["left"])],
)
def test_odometry_without_a_child_frame_moves_a_robot_only_if_it_can_be_of_no_other(
    tools: Any, frame: str, given: tuple[str, ...], moved: list[str]
) -> None:
    tape = tools.Tape()
    urdf, words = tools.folder / "rover.urdf", list[object]()
    urdf.write_text(ROBOT)
    for name, parent in (("left", "field"), ("third", "field"), ("right", "hall")):
        srdf = tools.folder / f"{name}.srdf"
        joint = f'<virtual_joint name="v" type="planar" parent_frame="{parent}" child_link="base_footprint"/>'
        srdf.write_text(f'<robot name="rover">{joint}</robot>')
        tape.joints(tools.START, ["j"], [0.0], topic=f"/{name}/joint_states")
        words += ["--model", f"{name}:/{name}", "--urdf", f"{name}={urdf},{srdf}"]
        words += ["--odometry", f"{name}=/odom"] if name in given or len(given) > 1 else []
    tape.odometry(tools.START, frame, "", PLACE, TWIST, topic="/odom")
    out = tools.folder / "x.npz"
    code, _, stderr = tools.run("export", tape.write(tools.folder / "bag", "mcap"), *words, "-o", out)
    assert code == 0, stderr
    with np.load(out) as arrays:
        assert [name for name in ("left", "third", "right") if f"{name}/pose" in arrays.files] == moved
        assert [arrays[f"{name}/pose"][0, 0] for name in moved] == [PLACE[0]] * len(moved)
    refused = (
        "'/odom' names no child frame and may be of 'left', 'third', so it is not used; give --odometry NAME=/odom"
    )
    assert (refused in stderr) == (not moved), stderr


@pytest.mark.parametrize("single", [True, False])
def test_transforms_on_any_topic_are_tf_by_option(tools: Any, single: bool) -> None:
    tape = tape_of(tools)
    for i in range(5):
        stamp = tools.START + i * tools.S // 10
        if single:
            stamped_transform(tape, stamp, "odom", "base_footprint", PLACE, "/vehicle/gt")
        else:
            tape.tf([(stamp, "odom", "base_footprint", PLACE)], topic="/vehicle/gt")
    # One tree with /tf: the frame odom is the same.
    tape.tf([(tools.START, "map", "odom", (5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))])
    bag = tape.write(tools.folder / "bag", "mcap")
    found = base(tools, bag, "--tf-topic", "/vehicle/gt")
    assert placed(found)
    assert "not connected" not in found[2]
    assert base(tools, bag)[1] is None


def test_transforms_alone_on_another_topic_are_hinted_at(tools: Any) -> None:
    tape = tools.Tape()
    tape.tf([(tools.START, "world", "car", PLACE)], topic="/vehicle/gt")
    bag = tape.write(tools.folder / "bag", "mcap")
    code, _, stderr = tools.run("export", bag, "-o", tools.folder / "x.usdf")
    assert (code, "--tf-topic /vehicle/gt" in stderr) == (1, True), stderr
    code, _, stderr = tools.run("export", bag, "--tf-topic", "/vehicle/gt", "-o", tools.folder / "x.usdf")
    assert code == 0, stderr


def test_an_unused_topic_with_exactly_the_missing_joints_is_hinted_at(tools: Any) -> None:
    fingers = ("g1", "g2")
    parts = [
        f'<link name="{name}_link"/><joint name="{name}" type="continuous"><parent link="arm"/>'
        f'<child link="{name}_link"/><axis xyz="0 1 0"/></joint>'
        for name in fingers
    ]
    text = ROBOT.replace("</robot>", f"{''.join(parts)}</robot>")

    def tape(names: tuple[str, ...]) -> Any:
        result = tools.Tape()
        result.text("/robot_description", text)
        result.joints(tools.START, ["j"], [0.0])
        result.joints(tools.START, names, [0.1] * len(names), topic="/gripper/joint_states")
        return result

    for names, hinted in ((fingers, True), (("g1", "g2", "j"), False), (("g1",), False), (("other", "g2"), False)):
        bag = tape(names).write(tools.folder / "-".join(names), "mcap")
        _, _, stderr = tools.run("export", bag, "-o", tools.folder / "x.npz", "--force")
        hint = "--joint-states /joint_states --joint-states /gripper/joint_states"
        assert (hint in stderr) == hinted, stderr
