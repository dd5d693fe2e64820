# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""States of a robot from its joints: every link's pose and motion by forward kinematics."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import ArrayError
from robot_semantics.kinematics.forward import ForwardKinematics, kinematics_of
from robot_semantics.kinematics.joint_space import followings
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.transforms.arrays import FloatArray, checked_array
from robot_semantics.transforms.pose import Vec6, pose_from_matrix, poses_from_matrices, six
from robot_semantics.usdf.joint_values import JointValues, closed_values, joint_states, joint_values
from robot_semantics.usdf.recover import recover_joints
from robot_semantics.usdf.validity import SOURCE, element_path
from robot_semantics.usdf.world_state import WORLD, LinkState, ModelState, WorldState


def from_joint_positions(
    robot: RobotModel,
    positions: Mapping[str, npt.ArrayLike] | npt.ArrayLike,
    velocities: Mapping[str, float] | npt.ArrayLike | None = None,
    T_parent_root: npt.ArrayLike | None = None,
    *,
    twist_parent_root: Sequence[float] | None = None,
    efforts: npt.ArrayLike | None = None,
    name: str | None = None,
    parent: str | None = None,
) -> ModelState:
    """Return the full state of a robot: all joints, and poses (with `velocities`: twists too) of all links.

    Args:
        robot: the robot.
        positions: (size,) joint-space positions [rad, m], or the values of all active joints by variable or joint name
            (the virtual root joint may be omitted). Mimic joints follow their leaders; a given mimic joint sets its
            leader.
        velocities: (velocity_size,) joint-space velocities [rad/s, m/s], or by velocity variable; None if unknown.
        T_parent_root: (4, 4) pose of the root link in `parent` [m]; by default from the virtual joint's variables in
            `positions`, without them not stated.
        twist_parent_root: motion of the root link relative to `parent` in its axes [m/s, rad/s]; by default from the
            virtual joint's variables in `velocities`, if the pose also comes from it.
        efforts: (velocity_size,) joint efforts [N m, N]; None if unknown.
        name: the model's name, by default the robot's.
        parent: the parent of the root link, by default the virtual joint's parent frame, or the world.

    Raises:
        ArrayError: an array has a wrong shape or is not finite, or a value of an active joint is missing.
        UnknownNameError: a name is neither a joint nor a variable.
    """
    kinematics = kinematics_of(robot)
    space = kinematics.space
    q, moving_root = _positions(kinematics, positions)
    v, root_rates = _velocities(kinematics, velocities)
    torques = None if efforts is None else checked_array("efforts", efforts, space.velocity_size)
    pose = twist = None
    if T_parent_root is not None:
        pose = pose_from_matrix(checked_array("T_parent_root", T_parent_root, 4, 4))
    elif moving_root or (robot.has_virtual_joint and not robot.root_joint.position_count):
        pose = pose_from_matrix(kinematics.T_parent_root(q))
        if v is not None and root_rates:
            twist = six(kinematics.twist_parent_root(q, v))
    if twist_parent_root is not None:
        twist = six(checked_array("twist_parent_root", twist_parent_root, 6))
    return ModelState(
        name=robot.name if name is None else name,
        parent=parent if parent is not None else robot.root_joint.parent_link or WORLD,
        pose=pose,
        twist=twist,
        links=_links(kinematics, q, v, None, None),
        joints=joint_states(space, q, v, torques),
    )


def complete_model(state: ModelState, robot: RobotModel) -> ModelState:
    """Return `state`, completed with the poses and twists of links that follow from it.

    A link's pose needs the positions of all joints between it and the root, stated or from other links; its twist also
    needs their velocities. Stated values stay unchanged, and so do links that the robot does not have.
    """
    recovered, _ = recover_joints(state, robot)
    derived = _derived_links(recovered, robot)
    stated = {link.name: link for link in state.links}
    names = dict.fromkeys((*derived, *stated))
    return replace(state, links=tuple(_first_stated(stated.get(name), derived.get(name)) for name in names))


def complete_models(state: WorldState, robots: Mapping[str, RobotModel]) -> WorldState:
    """Return `state` with completed models of `robots`, which are by the models' names; other models stay unchanged."""
    models = (complete_model(model, robots[model.name]) if model.name in robots else model for model in state.models)
    return replace(state, models=tuple(models))


def with_carriers(state: WorldState, robots: Mapping[str, RobotModel], also: Collection[str] = ()) -> WorldState:
    """Return `state` with the links of carrying models at the poses that their joints give, unless stated.

    `also` has names of further carrying models.
    """
    carriers = {*also, *(body.parent for body in state.bodies if body.parent_link is not None)} & robots.keys()
    return complete_models(state, {name: robots[name] for name in carriers})


def rederive_links(state: ModelState, robot: RobotModel, diagnostics: Diagnostics | None = None) -> ModelState:
    """Return `state` with the poses and twists of its links computed again from its joints.

    A pose or twist that the joints do not determine is removed, with a warning; no other link is added.
    """
    derived = _derived_links(state, robot)
    links: list[LinkState] = []
    for link in state.links:
        found = derived.get(link.name, LinkState(link.name))
        pose = None if link.pose is None else found.pose
        twist = None if link.twist is None else found.twist
        made = replace(link, pose=pose, twist=twist) if link.name in robot.link_index else link
        links.append(made)
        left_out = [word for word in ("pose", "twist") if getattr(made, word) is None is not getattr(link, word)]
        if left_out and diagnostics is not None:
            message = (
                f"known joints no longer give the {' and '.join(left_out)} of link '{link.name}' of '{state.name}'"
            )
            place = SourcePlace(SOURCE, path=element_path(link, element_path(state)))
            diagnostics.warning("left-out", f"{message}; it is left out", place)
    return replace(state, links=tuple(links))


def _derived_links(state: ModelState, robot: RobotModel) -> dict[str, LinkState]:
    whole = kinematics_of(robot)
    kinematics = whole.measured
    values = joint_values(state, kinematics.space)
    if whole.model.constraints:
        values, _ = closed_values(whole.loops, values)
    placed, moved = _known_links(kinematics.model, values)
    return {link.name: link for link in _links(kinematics, values.q, values.v, placed, moved)}


def _first_stated(stated: LinkState | None, derived: LinkState | None) -> LinkState:
    """Return the stated values of a link, completed with the derived ones; one of the two exists."""
    if derived is None:
        return stated if stated is not None else LinkState("")
    if stated is None:
        return derived
    pose = derived.pose if stated.pose is None else stated.pose
    return replace(stated, pose=pose, twist=derived.twist if stated.twist is None else stated.twist)


def _known_links(robot: RobotModel, values: JointValues) -> tuple[frozenset[str], frozenset[str]]:
    """Return the links whose poses follow from the known joints, and the links whose twists do."""
    placed_links, moved_links = {robot.root_link}, {robot.root_link}
    for link, joint in zip(robot.links[1:], robot.joints[1:], strict=True):
        above = joint.parent_link
        rigid = joint.position_count == 0
        if above in placed_links and (rigid or joint.name in values.positions_of):
            placed_links.add(link.name)
            if above in moved_links and (rigid or joint.name in values.velocities_of):
                moved_links.add(link.name)
    return frozenset(placed_links), frozenset(moved_links)


def _links(
    kinematics: ForwardKinematics,
    q: FloatArray,
    v: FloatArray | None,
    placed_links: Collection[str] | None,
    moved_links: Collection[str] | None,
) -> tuple[LinkState, ...]:
    """Return the states of the links in `placed_links`, with twists if they are in `moved_links`; None means all."""
    poses = poses_from_matrices(kinematics.link_poses(q))
    twists: list[Vec6 | None] = [None] * len(poses)
    if v is not None:
        twists = [six(row) for row in kinematics.link_twists(q, v)]
    return tuple(
        LinkState(name, pose, twist if moved_links is None or name in moved_links else None)
        for name, pose, twist in zip(kinematics.model.link_names, poses, twists, strict=True)
        if placed_links is None or name in placed_links
    )


def _positions(
    kinematics: ForwardKinematics, positions: Mapping[str, npt.ArrayLike] | npt.ArrayLike
) -> tuple[FloatArray, bool]:
    """Return (size,) positions, and True if they include a moving virtual joint."""
    space, root = kinematics.space, kinematics.model.root_joint
    moving_root = root.position_count > 0
    if not isinstance(positions, Mapping):
        q = space.with_mimics(checked_array("positions", positions, space.size))
        if q.ndim != 1:
            raise ArrayError("positions", f"one state has shape ({space.size},), got {q.shape}")
        return q, moving_root
    named = {joint.name for joint in space.joints if {joint.name} & positions.keys() or _all_named(joint, positions)}
    named |= {leader.name for joint, leader, _ in followings(kinematics.model) if joint.name in named}
    missing = [joint.name for joint in space.joints if joint.is_active and joint.name not in named]
    if root.name in missing and not any(variable in positions for variable in root.variable_names):
        missing.remove(root.name)
        moving_root = False
    if missing:
        raise ArrayError("positions", f"no value for {', '.join(missing)}")
    return space.pack(positions), moving_root


def _all_named(joint: JointModel, positions: Mapping[str, npt.ArrayLike]) -> bool:
    return all(variable in positions for variable in joint.variable_names)


def _velocities(
    kinematics: ForwardKinematics, velocities: Mapping[str, float] | npt.ArrayLike | None
) -> tuple[FloatArray | None, bool]:
    """Return (velocity_size,) velocities, and True if they include the virtual joint."""
    space, root = kinematics.space, kinematics.model.root_joint
    if velocities is None:
        return None, False
    if not isinstance(velocities, Mapping):
        return space.with_mimic_velocities(velocities), True
    v = np.zeros(space.velocity_size)
    unknown = [name for name in velocities if name not in space.velocity_names]
    followers = {
        name
        for joint in space.joints
        if not joint.is_active or joint.virtual
        for name in space.velocity_names[space.joint_velocities[joint.name]]
    }
    missing = [name for name in space.velocity_names if name not in velocities and name not in followers]
    if unknown or missing:
        what = f"no velocity variable {', '.join(unknown)}" if unknown else f"no value for {', '.join(missing)}"
        raise ArrayError("velocities", what)
    for name, value in velocities.items():
        v[space.velocity_names.index(name)] = value
    of_root = space.velocity_names[space.joint_velocities[root.name]] if root.velocity_count else ()
    return space.with_mimic_velocities(v), all(name in velocities for name in of_root)
