# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The in-place transforms equal the general form, for every joint type and every target position."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_semantics import JointSpace, RobotModel
from robot_semantics.examples import example
from robot_semantics.kinematics.joint_space import Affine
from robot_semantics.kinematics.local import InPlaceTransforms, LocalTransforms
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.loading import load_robot, robot_from_text

EVERY_TYPE = """<robot name="all">
  <link name="a"/><link name="b"/><link name="c"/><link name="d"/><link name="e"/><link name="f"/>
  <joint name="turn" type="revolute"><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><parent link="a"/><child link="b"/>
    <axis xyz="1 1 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
  <joint name="slide" type="prismatic"><origin xyz="0 1 0" rpy="0.4 0 1"/><parent link="b"/><child link="c"/>
    <axis xyz="0 0.6 0.8"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="plane" type="planar"><origin xyz="0 0 1" rpy="0 0.5 0"/><parent link="c"/><child link="d"/>
    <axis xyz="0 0.6 0.8"/></joint>
  <joint name="free" type="floating"><origin xyz="1 0 0" rpy="1 0 0.2"/><parent link="d"/><child link="e"/></joint>
  <joint name="weld" type="fixed"><origin xyz="5 0 0" rpy="0 0 0.7"/><parent link="e"/><child link="f"/></joint>
</robot>"""


def robots() -> list[RobotModel]:
    return [
        robot_from_text(EVERY_TYPE, strict=False),
        load_robot(example("rover_arm.urdf"), example("rover_arm.srdf")),
    ]


@pytest.mark.parametrize("model", robots(), ids=lambda model: model.name)
def test_every_joint_is_where_the_general_form_puts_it(model: RobotModel) -> None:
    space, general = JointSpace.of(model), LocalTransforms(model)
    in_place = InPlaceTransforms(model, range(len(model.joints)))
    rng = np.random.default_rng(5)
    for _ in range(50):
        q = space.with_mimics(space.random(rng))
        actual = in_place.update(q).reshape(-1, 7)
        expected = general.transforms(q)
        np.testing.assert_allclose(actual[:, :3], expected[:, :3], atol=1e-12)
        turned = Rotation.from_quat(actual[:, 3:]).inv() * Rotation.from_quat(expected[:, 3:])
        np.testing.assert_allclose(turned.magnitude(), 0.0, atol=1e-7)
        np.testing.assert_allclose(np.linalg.norm(actual[:, 3:], axis=1), 1.0, atol=1e-12)


def test_a_choice_of_joints_is_written_where_it_is_told_to_be() -> None:
    model = robots()[0]
    space = JointSpace.of(model)
    chosen = [model.joint_index["free"], model.joint_index["turn"]]
    places = np.array([[20, 21, 22, 23, 24, 25, 26], [3, 4, 5, 6, 7, 8, 9]])
    values = np.full(30, 7.5)
    InPlaceTransforms(model, chosen, values, places).update(space.neutral())
    plain = InPlaceTransforms(model, chosen).update(space.neutral()).reshape(-1, 7)
    np.testing.assert_array_equal(values[places], plain)
    untouched = np.delete(values, places.ravel())
    assert (untouched == 7.5).all()


def test_a_mimic_joint_stays_where_it_was_measured() -> None:
    model = robots()[1]
    space = JointSpace.of(model)
    follower = next(joint for joint in space.joints if joint.mimic is not None)
    q = np.array(space.neutral())
    at = space.joint_positions[follower.name]
    in_place = InPlaceTransforms(model, [follower.index])
    before = in_place.update(q).copy()
    q[at] += 0.01
    assert np.abs(in_place.update(q) - before).max() == pytest.approx(0.01, rel=1e-3)


@pytest.mark.parametrize("model", robots(), ids=lambda model: model.name)
def test_an_input_is_converted_to_a_configuration(model: RobotModel) -> None:
    space, general, rng = JointSpace.of(model), LocalTransforms(model, follow_mimics=False), np.random.default_rng(6)
    factor, offset = rng.uniform(0.5, 2.0, space.size), rng.uniform(-0.3, 0.3, space.size)
    # A quaternion has no factors and offsets.
    for joint in space.joints:
        if joint.type is JointType.FLOATING:
            factor[space.positions_of(joint)], offset[space.positions_of(joint)] = 1.0, 0.0
    source = rng.permutation(space.size)
    in_place = InPlaceTransforms(model, range(len(model.joints)), input_map=Affine(source, factor, offset))
    for _ in range(20):
        q = space.random(rng)
        values = np.zeros(space.size)
        values[source] = (q - offset) / factor
        actual, expected = in_place.update(values).reshape(-1, 7), general.transforms(q)
        np.testing.assert_allclose(actual[:, :3], expected[:, :3], atol=1e-12)
        turned = Rotation.from_quat(actual[:, 3:]).inv() * Rotation.from_quat(expected[:, 3:])
        np.testing.assert_allclose(turned.magnitude(), 0.0, atol=1e-7)
