# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Whether an SRDF is of another robot altogether: then one sentence says so, in the place of a thousand."""

from __future__ import annotations

from collections.abc import Iterator

from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.tree import SrdfDocument

MOST_KNOWN = 0.25
"""Share of the names in an SRDF that a robot may have while the SRDF still counts as another robot's.

Different robots share a `base_link`, a `world` or a gripper; an SRDF that is merely out of date knows most names.
"""

FEWEST = 5
"""An SRDF with fewer names than these that the robot lacks may have them all misspelt."""


def of_another_robot(semantic: SrdfDocument, model: RobotModel) -> str | None:
    """Return a sentence that says so where hardly any link and joint that the SRDF names is the robot's."""
    links, joints = set(_links(semantic)), set(_joints(semantic))
    total = len(links) + len(joints)
    known = len(links & model.link_index.keys()) + len(joints & model.joint_index.keys())
    if total - known < FEWEST or known > MOST_KNOWN * total:
        return None
    return (
        f"the SRDF is of another robot, '{semantic.name}': of the {total} links and joints that it names, "
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
