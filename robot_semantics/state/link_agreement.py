# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Comparison of the stated links of a state with its joints: a link that differs is refused with the amount."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.state.report import TOLERANCE, RestoreLog
from robot_semantics.transforms import transform_distance
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.pose import pose_matrices
from robot_semantics.usdf.world_state import LinkState, ModelState


def compare_links(
    model: ModelState,
    measured: ForwardKinematics,
    q: FloatArray,
    v: FloatArray,
    positions_of: Collection[str],
    velocities_of: Collection[str],
    log: RestoreLog,
) -> None:
    """Log for each stated link whether its pose and twist agree with the joints.

    Args:
        model: the model_state.
        measured: kinematics in which mimic joints have their stated positions.
        q: (size,) positions.
        v: (velocity_size,) velocities, NaN where not known.
        positions_of: joints whose positions are known.
        velocities_of: joints whose velocities are.
        log: gets the items.

    """
    robot = measured.model
    known = []
    for link in model.links:
        if link.name in robot.link_index:
            known.append(link)
            continue
        log.failed("link", link.name, f"the robot does not have this link{log.suggestion(link.name, robot.link_index)}")
    placed = links_behind(robot, positions_of)
    moved = links_behind(robot, frozenset(positions_of) & frozenset(velocities_of))
    _poses([link for link in known if link.pose is not None and link.name in placed], measured, q, log)
    _twists([link for link in known if link.twist is not None and link.name in moved], measured, q, v, log)
    for link in known:
        without = []
        if link.pose is not None and link.name not in placed:
            without.append("pose")
        if link.twist is not None and link.name not in moved:
            without.append("twist")
        if without:
            what = " and ".join(without)
            reason = f"its {what} cannot be computed: a joint above the link is unknown"
            log.failed("link", link.name, reason, "unplaced-link")
    if any(link.wrench is not None for link in known):
        log.note("wrenches are results and are not set")


def links_behind(robot: RobotModel, joints: Collection[str]) -> frozenset[str]:
    """Return the links whose pose in the model's frame is computed from `joints`."""
    found = {robot.root_link}
    for link, joint in zip(robot.links[1:], robot.joints[1:], strict=True):
        if joint.parent_link in found and (not joint.position_count or joint.name in joints):
            found.add(link.name)
    return frozenset(found)


def _poses(links: Sequence[LinkState], measured: ForwardKinematics, q: FloatArray, log: RestoreLog) -> None:
    if not links:
        return
    given = pose_matrices([link.pose for link in links])
    made = measured.link_poses(q)[[measured.model.link_index[link.name] for link in links]]
    off_m, off_rad = transform_distance(given, made)
    agree = (off_m <= TOLERANCE) & (off_rad <= TOLERANCE)
    if agree.any():
        log.done("links", "", f"{int(agree.sum())} agree with the joints")
    for at in np.flatnonzero(~agree).tolist():
        reason = f"its pose is {off_m[at]:.3g} m and {off_rad[at]:.3g} rad away from the pose that the joints give"
        log.failed("link", links[at].name, reason, "link-pose-disagrees")


def _twists(
    links: Sequence[LinkState], measured: ForwardKinematics, q: FloatArray, v: FloatArray, log: RestoreLog
) -> None:
    if not links:
        return
    rows = [measured.model.link_index[link.name] for link in links]
    made = measured.link_twists(q, np.nan_to_num(v, nan=0.0))[rows]
    off = np.abs(np.array([link.twist for link in links], dtype=np.float64) - made)
    # Fast links differ by more in the last digits.
    allowed = TOLERANCE * np.maximum(1.0, np.abs(made).max(axis=1))
    for at in np.flatnonzero(~(off.max(axis=1) <= allowed)).tolist():
        amount = f"{off[at, :3].max():.3g} m/s and {off[at, 3:].max():.3g} rad/s"
        reason = f"its twist is {amount} away from the twist that the joints give"
        log.failed("link", links[at].name, reason, "link-twist-disagrees")
