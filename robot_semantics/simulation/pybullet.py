# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Simulator of URDF and SRDF robots in PyBullet. Its state is a USDF world state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from robot_semantics.base.errors import MissingExtraError
from robot_semantics.transforms.rows import twist_at

try:
    import mujoco  # noqa: F401  needed by the geometry reader
    import pybullet
except ImportError as error:  # pragma: no cover - depends on the installation
    raise MissingExtraError("pybullet", "pybullet", "simulating with PyBullet") from error

from robot_semantics.simulation.joint_state_simulator import JointStateSimulator
from robot_semantics.simulation.pybullet_builder import BASE, UNLIMITED, BulletBody, BulletClient, BulletWorld
from robot_semantics.simulation.robot_motion import LinkMotion, RobotMotion
from robot_semantics.simulation.simulator import DivergedError
from robot_semantics.simulation.world_spec import BuildNote, WorldSpec
from robot_semantics.transforms import (
    invert,
    matrix_from_pose,
    matrix_from_quat,
    matrix_from_xyz_quat,
    quat_from_matrix,
    xyz_quat_from_matrix,
)
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.world_state import WorldState

SERVO_FREQUENCY = 25.0
"""Speed [1/s] at which a servo approaches its target, within its effort."""

_DRIFT = "by a micrometre in 1 s at rest, by up to 0.1 m where blocks fall onto a rover"
"""Measured: ``python -m benchmark exchange``, and the example world stopped after 0.1, 0.4 and 1 s."""


class PybulletSimulator(JointStateSimulator):
    """A Bullet world of robots.

    Bullet keeps contact points of earlier steps, and they cannot be set. So links in contact continue a little
    differently after a restore, and the report says that.
    """

    ENGINE, TITLE = "pybullet", "PyBullet"

    def __init__(self, spec: WorldSpec) -> None:
        """Build and start a world, at time 0, its joints at their default positions.

        Raises:
            WorldSpecError: the world cannot be built.
        """
        self._world = BulletWorld(spec)
        super().__init__(spec)

    @property
    def notes(self) -> tuple[BuildNote, ...]:
        """Changes and omissions that the engine made necessary."""
        return tuple(self._world.notes)

    def _advance(self) -> None:
        client, bodies = self._world.client, self._world.bodies.values()
        client.stepSimulation()
        for body in bodies:
            numbers = np.concatenate((*_joints(client, body), *client.getBasePositionAndOrientation(body.number)))
            if not np.abs(numbers).max() < UNLIMITED:
                reason = self._world.deepest_contact()
                # Bullet cannot recover from such numbers.
                self._world = BulletWorld(self.spec)
                self.reset()
                raise DivergedError(f"the simulation diverged{reason}")

    def _continue_exactly(self, state: WorldState, names: tuple[str, ...] | None) -> str:
        del state, names
        return f"PyBullet's contact points of earlier steps cannot be set, so links in contact drift: {_DRIFT}"

    # --- motion of robots

    def _read(self, name: str, last: RobotMotion) -> RobotMotion:
        body, space = self._world.bodies[name], self._robots[name].kinematics.space
        q, v = _joints(self._world.client, body)
        root, rates = q[: q.size - space.size], v[: v.size - space.velocity_size]
        positions, velocities = last.positions.copy(), last.velocities.copy()
        for joint in body.spec.robot.joints[1:]:
            if joint.position_count:
                at, moving = space.positions_of(joint), space.velocities_of(joint)
                positions[at], velocities[moving] = q[root.size :][at], v[rates.size :][moving]
        if body.spec.has_floating_base:
            links = self._links_at(body, [BASE])
            root, rates = xyz_quat_from_matrix(links.T[0]), links.twist[0]
        return RobotMotion(last.base, root, rates, positions, velocities, last.targets)

    def _write(self, motions: Mapping[str, RobotMotion]) -> None:
        for name, body in self._world.bodies.items():
            self._put_base(body, motions[name])
            self._put_joints(body, motions[name])

    def _put_base(self, body: BulletBody, motion: RobotMotion) -> None:
        client, T_world_base, twist = self._world.client, motion.base, np.zeros(6)
        if body.spec.has_floating_base:
            T_world_base, twist = matrix_from_pose(motion.root_positions), motion.root_velocities
        pose = xyz_quat_from_matrix(T_world_base @ body.T_link_inertial[0])
        client.resetBasePositionAndOrientation(body.number, pose[:3], pose[3:])
        # Bullet stores the velocity of the centre of mass.
        twist = twist_at(twist, pose[:3] - T_world_base[:3, 3])
        client.resetBaseVelocity(body.number, twist[:3], twist[3:])

    def _put_joints(self, body: BulletBody, motion: RobotMotion) -> None:
        client, parts = self._world.client, (motion.positions, motion.velocities)
        if body.spec.has_planar_base:
            parts = (
                np.concatenate((motion.root_positions, motion.positions)),
                np.concatenate((motion.root_velocities, motion.velocities)),
            )
        q, v = parts
        for link, at, moving in body.scalar_joints:
            client.resetJointState(body.number, link, q[at], v[moving])
        for link, at, moving in body.ball_joints:
            # Bullet's ball relates principal axes; its velocity is in the turned axes.
            R, S = body.T_link_inertial[link + 1][:3, :3], matrix_from_quat(q[at : at + 4])
            turn = quat_from_matrix(R.T @ S @ R)
            client.resetJointStateMultiDof(body.number, link, turn, (S @ R).T @ v[moving : moving + 3])

    def _hold(self, name: str, motion: RobotMotion) -> None:
        body = self._world.bodies[name]
        for joint, target in zip(self._driven[name], motion.targets, strict=True):
            link, effort = body.motors[joint]
            self._world.client.setJointMotorControl2(
                body.number,
                link,
                pybullet.POSITION_CONTROL,
                targetPosition=target,
                force=effort,
                positionGain=SERVO_FREQUENCY * self.spec.timestep,
            )

    def _links(self, name: str) -> LinkMotion:
        body = self._world.bodies[name]
        return self._links_at(body, body.links)

    def _links_at(self, body: BulletBody, links: Sequence[int]) -> LinkMotion:
        """Return the motion of links of Bullet as link frames. Bullet has principal axes in centres of mass."""
        client, further = self._world.client, [link for link in links if link != BASE]
        states = {}
        if further:
            link_states = client.getLinkStates(body.number, further, computeLinkVelocity=1, computeForwardKinematics=1)
            states = {link: (*state[:2], *state[6:8]) for link, state in zip(further, link_states, strict=True)}
        states[BASE] = (*client.getBasePositionAndOrientation(body.number), *client.getBaseVelocity(body.number))
        xyz, quat, linear, angular = (np.array([states[link][part] for link in links]) for part in range(4))
        T = matrix_from_xyz_quat(xyz, quat) @ invert(np.array([body.T_link_inertial[link + 1] for link in links]))
        return LinkMotion(T, twist_at(np.concatenate((linear, angular), axis=1), T[:, :3, 3] - xyz))


def _joints(client: BulletClient, body: BulletBody) -> tuple[FloatArray, FloatArray]:
    """Return the positions and the velocities of a robot, zeros where it has no joint."""
    q, v = np.zeros(body.sizes[0]), np.zeros(body.sizes[1])
    if body.scalar_joints:
        states = client.getJointStates(body.number, [slot.link for slot in body.scalar_joints])
        q[[slot.position for slot in body.scalar_joints]] = [state[0] for state in states]
        v[[slot.velocity for slot in body.scalar_joints]] = [state[1] for state in states]
    for link, at, moving in body.ball_joints:
        turn, rate, *_ = client.getJointStateMultiDof(body.number, link)
        R, turned = body.T_link_inertial[link + 1][:3, :3], matrix_from_quat(turn)
        q[at : at + 4] = quat_from_matrix(R @ turned @ R.T)
        v[moving : moving + 3] = R @ turned @ rate
    return q, v


def start(spec: WorldSpec, warn: Callable[[str], None]) -> PybulletSimulator:
    """Return a world in PyBullet.

    Raises:
        WorldSpecError: the world cannot be built.
    """
    del warn
    return PybulletSimulator(spec)
