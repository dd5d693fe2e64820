# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Detection of an SRDF for a different robot: one sentence replaces a thousand errors."""

from __future__ import annotations

from collections.abc import Iterator

from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.tree import SrdfDocument

MOST_KNOWN = 0.25
"""Largest share of known names in an SRDF that is reported as another robot's.

Different robots share names such as `base_link`, `world` or a gripper; in an outdated SRDF most names are known.
"""

FEWEST = 5
"""With fewer unknown names, an SRDF may just have misspelt names."""


def another_robot_message(semantic: SrdfDocument, model: RobotModel) -> str | None:
    """Return a sentence if the robot has almost no link or joint of the SRDF, else None."""
    links, joints = set(_links(semantic)), set(_joints(semantic))
    total = len(links) + len(joints)
    known = len(links & model.link_index.keys()) + len(joints & model.joint_index.keys())
    if total - known < FEWEST or known > MOST_KNOWN * total:
        return None
    return (
        f"the SRDF is for another robot, '{semantic.name}': of the {total} links and joints that it names, "
        f"'{model.name}' has {known or 'none'}"
    )


def _links(semantic: SrdfDocument) -> Iterator[str]:
    for group in semantic.groups:
        yield from (link.name for link in group.links)
        for chain in group.chains:
            yield from (chain.base_link, chain.tip_link)
    for pair in (*semantic.disabled_collisions, *semantic.enabled_collisions):
        yield from (pair.link1, pair.link2)
    yield from (link.name for link in semantic.default_disabled_links)
    yield from (spheres.link for spheres in semantic.link_spheres)
    yield from (effector.parent_link for effector in semantic.end_effectors)
    yield from (joint.child_link for joint in semantic.virtual_joints)


def _joints(semantic: SrdfDocument) -> Iterator[str]:
    own = {joint.name for joint in semantic.virtual_joints}
    for group in semantic.groups:
        yield from (joint.name for joint in group.joints if joint.name not in own)
    for state in semantic.states:
        yield from (joint.name for joint in state.joints if joint.name not in own)
    yield from (joint.name for joint in semantic.passive_joints if joint.name not in own)
    yield from (item.joint_name for item in semantic.joint_properties if item.joint_name not in own)
