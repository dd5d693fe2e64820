# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.


"""Real robots as XML trees: joints, collision geometry and mass; read and changed with lxml, numpy and scipy alone."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import numpy as np
import numpy.typing as npt
from lxml import etree
from scipy.spatial.transform import Rotation

from robot_semantics import RobotModel
from robot_semantics.model.loading import robot_from_text

FloatArray = npt.NDArray[np.float64]
SHARE = Path(sysconfig.get_path("purelib")) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
ROBOTS = (
    *("panda_description/urdf/panda.urdf", "pr2_description/urdf/pr2.urdf", "ur_description/urdf/ur5_robot.urdf"),
    *("go2_description/urdf/go2.urdf", "anymal_c_simple_description/urdf/anymal.urdf", "a1_description/urdf/a1.urdf"),
    *("talos_data/robots/talos_reduced.urdf", "icub_description/robots/icub.urdf", "z1_description/urdf/z1.urdf"),
    *("solo_description/robots/solo12.urdf", "bolt_description/robots/bolt.urdf", "b1_description/urdf/b1.urdf"),
    *("hyq_description/robots/hyq_no_sensors.urdf", "kinova_description/robots/kinova.urdf"),
    *("baxter_description/urdf/baxter.urdf", "tiago_description/robots/tiago.urdf", "go1_description/urdf/go1.urdf"),
    *("romeo_description/urdf/romeo.urdf", "laikago_description/urdf/laikago.urdf"),
    *("xarm_description/urdf/xarm7.urdf", "double_pendulum_description/urdf/double_pendulum.urdf"),
)


def tree_of(name: str) -> etree._Element:
    """Return a robot without visual geometry and extensions: joints, collision geometry and mass."""
    root = etree.fromstring((SHARE / name).read_bytes(), etree.XMLParser(remove_comments=True))
    for element in list(root):
        if element.tag not in ("link", "joint"):
            root.remove(element)
    for visual in list(root.iter("visual")):
        link = visual.getparent()
        assert link is not None
        link.remove(visual)
    return root


def model_of(root: etree._Element) -> RobotModel:
    return robot_from_text(etree.tostring(root, encoding="unicode"), strict=False)


def numbers(element: etree._Element | None, word: str, default: str) -> FloatArray:
    text = default if element is None else element.get(word, default)
    return np.array([float(part) for part in text.split()])


def pose_of(element: etree._Element) -> FloatArray:
    origin = element.find("origin")
    T = np.eye(4)
    T[:3, 3] = numbers(origin, "xyz", "0 0 0")
    T[:3, :3] = Rotation.from_euler("xyz", numbers(origin, "rpy", "0 0 0")).as_matrix()
    return T


def inverse(T: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.inv(T), dtype=np.float64)


def words(row: FloatArray) -> str:
    return " ".join(repr(float(value)) for value in row)


def set_pose(element: etree._Element, T: FloatArray) -> None:
    for origin in element.findall("origin"):
        element.remove(origin)
    rpy = Rotation.from_matrix(T[:3, :3]).as_euler("xyz")
    element.insert(0, etree.Element("origin", xyz=words(T[:3, 3]), rpy=words(rpy)))


def axis_of(joint: etree._Element) -> FloatArray:
    axis = numbers(joint.find("axis"), "xyz", "1 0 0")
    return np.asarray(axis / (np.linalg.norm(axis) or 1.0))


def set_axis(joint: etree._Element, axis: FloatArray) -> None:
    for old in joint.findall("axis"):
        joint.remove(old)
    etree.SubElement(joint, "axis", xyz=words(axis))


def end(joint: etree._Element, tag: str) -> str:
    found = joint.find(tag)
    assert found is not None
    return str(found.get("link"))


def link_called(root: etree._Element, name: str) -> etree._Element:
    return next(link for link in root.iterchildren("link") if link.get("name") == name)


def move_content(root: etree._Element, link: str, T_new_old: FloatArray, but: etree._Element | None = None) -> None:
    """Re-express all that a link carries, and the joints on it, in a new frame of the link."""
    element = link_called(root, link)
    carried = [*element.iterchildren("collision", "inertial")]
    carried += [joint for joint in root.iterchildren("joint") if end(joint, "parent") == link and joint is not but]
    for part in carried:
        set_pose(part, T_new_old @ pose_of(part))


def joints_of(root: etree._Element, *types: str) -> list[etree._Element]:
    return [joint for joint in root.iterchildren("joint") if joint.get("type") in types]
