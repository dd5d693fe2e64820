# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The three simulators make the same joints: the same records, and the same notes on unsupported properties."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.random_worlds import motion
from support.worlds import model_from_text

from robot_semantics.kinematics.motions import elementary_motions
from robot_semantics.model.joint_types import JointType
from robot_semantics.simulation.loading import start_simulator
from robot_semantics.simulation.sim_models import sim_joints
from robot_semantics.simulation.world_spec import WorldSpec

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def robot(*joints: str) -> str:
    links = "".join(f'<link name="l{at}">{INERTIAL}</link>' for at in range(len(joints) + 1))
    chain = "".join(
        joint.format(f'<parent link="l{at}"/><child link="l{at + 1}"/><axis xyz="0 0.6 0.8"/>')
        for at, joint in enumerate(joints)
    )
    return f'<robot name="r">{links}{chain}</robot>'


IDLE = '<joint name="idle" type="revolute">{}<limit lower="-1" upper="1" effort="0" velocity="1"/></joint>'
STUCK = '<joint name="stuck" type="prismatic">{}<limit lower="0.5" upper="0.5" effort="2" velocity="1"/></joint>'
FREE = '<joint name="free" type="{}">{{}}</joint>'


@pytest.mark.parametrize("engine", ["mujoco", "drake"])
def test_every_simulator_notes_what_it_does_not_limit(engine: str) -> None:
    pytest.importorskip({"mujoco": "mujoco", "drake": "pydrake"}[engine])
    simulator = start_simulator(engine, WorldSpec((model_from_text("m", robot(IDLE, STUCK)),)), lambda _: None)
    assert [str(note) for note in simulator.notes if "not limited" in note.message] == [
        "model 'm': joint 'idle' has the effort limit 0: not limited",
        "model 'm': joint 'stuck' has limits 0.5 and 0.5: not limited",
    ]


def test_a_record_says_what_a_joint_is() -> None:
    passive = '<robot name="r"><passive_joint name="idle"/></robot>'
    spec = model_from_text("m", robot(IDLE, STUCK, FREE.format("floating")), passive)
    notes: list[object] = []
    root, idle, stuck, free = sim_joints(spec, notes, ties_several=True)  # type: ignore[arg-type]  # any list
    assert (root.joint.type, root.motions, root.driven) == (JointType.FIXED, (), False)
    # A passive joint has no motor, whose effort could be noted.
    assert (idle.limits, idle.driven, idle.effort) == ((-1.0, 1.0), False, np.inf)
    assert (stuck.limits, stuck.driven, stuck.effort) == (None, True, 2.0)
    assert ([each.kind for each in free.motions], free.driven) == (["slide", "slide", "slide", "ball"], False)
    assert len(notes) == 1


@pytest.mark.parametrize("kind", [each.value for each in JointType])
def test_elementary_motions_one_after_the_other_are_the_joints_motion(kind: str) -> None:
    limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
    joint = model_from_text("m", robot(f'<joint name="j" type="{kind}">{{}}{limit}</joint>')).robot.joints[1]
    rng = np.random.default_rng(4)
    q = rng.uniform(-1.0, 1.0, joint.position_count)
    if kind == "floating":
        q[3:] = Rotation.random(random_state=rng).as_quat()
    T, at = np.eye(4), 0
    for each in elementary_motions(joint):
        step = np.eye(4)
        if each.kind == "slide":
            step[:3, 3] = each.axis * q[at]
        elif each.kind == "hinge":
            step[:3, :3] = Rotation.from_rotvec(each.axis * q[at]).as_matrix()
        else:
            step[:3, :3] = Rotation.from_quat(q[at : at + 4]).as_matrix()
        T, at = T @ step, at + (4 if each.kind == "ball" else 1)
    assert at == len(q)
    np.testing.assert_allclose(T, motion(kind, np.array([0.0, 0.6, 0.8]), q), atol=1e-12)
