# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Robots with closed loops, as URDF and SRDF texts."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from robot_semantics import RobotModel
from robot_semantics.model.loading import robot_from_text

FloatArray = npt.NDArray[np.float64]

Numbers = Sequence[float] | FloatArray

FOUR_BAR = (0.4, 0.1, 0.35, 0.3)
"""Lengths of ground, crank, coupler and rocker; the crank can turn around."""


def numbers(values: Numbers) -> str:
    return " ".join(map(repr, np.asarray(values, np.float64).tolist()))


def joint(name: str, kind: str, parent: str, child: str, xyz: Numbers, axis: Numbers, more: str = "") -> str:
    limit = '<limit lower="-3" upper="3" effort="1" velocity="1"/>' if kind in ("revolute", "prismatic") else ""
    return (
        f'<joint name="{name}" type="{kind}"><origin xyz="{numbers(xyz)}"/><parent link="{parent}"/>'
        f'<child link="{child}"/><axis xyz="{numbers(axis)}"/>{limit}{more}</joint>\n'
    )


def constraint(
    name: str,
    kind: str,
    parent: tuple[str, Numbers],
    child: tuple[str, Numbers],
    axis: Numbers = (0.0, 0.0, 1.0),
    child_axis: Numbers | None = None,
) -> str:
    ends = [
        f'<parent link="{parent[0]}"/><parent_origin xyz="{numbers(parent[1])}"/>',
        f'<child link="{child[0]}"/><child_origin xyz="{numbers(child[1])}"/>',
    ]
    if kind.removesuffix("_joint") not in ("spherical", "link"):
        ends.append(f'<parent_axis xyz="{numbers(axis)}"/>')
    if child_axis is not None:
        ends.append(f'<child_axis xyz="{numbers(child_axis)}"/>')
    return f'<constraint name="{name}" type="{kind}">{"".join(ends)}</constraint>\n'


def urdf(*parts: str, links: Sequence[str]) -> str:
    return f'<robot name="loop">\n{"".join(f"<link name={link!r}/>" for link in links)}\n{"".join(parts)}</robot>'


def srdf(*passive: str) -> str:
    return '<robot name="loop">' + "".join(f'<passive_joint name="{name}"/>' for name in passive) + "</robot>"


def four_bar_text(lengths: Numbers = FOUR_BAR, kind: str = "revolute", moving: str = "continuous") -> str:
    ground, crank, coupler, rocker = lengths
    z = (0.0, 0.0, 1.0)
    return urdf(
        joint("crank", "continuous", "base", "crank_link", (0, 0, 0), z),
        joint("coupler", moving, "crank_link", "coupler_link", (crank, 0, 0), z),
        joint("rocker", moving, "base", "rocker_link", (ground, 0, 0), z),
        constraint("pin", kind, ("coupler_link", (coupler, 0, 0)), ("rocker_link", (rocker, 0, 0)), z),
        links=("base", "crank_link", "coupler_link", "rocker_link"),
    )


def cut_four_bar_text(lengths: Numbers = FOUR_BAR) -> str:
    """Return a four-bar linkage without a constraint; its ends are the links A and B, as in `ROBOT_YAML`."""
    ends = "".join(
        f'<link name="{end}"/>{joint(f"{end}_mount", "fixed", link, end, (length, 0, 0), (1, 0, 0))}'
        for end, link, length in (("A", "coupler_link", lengths[2]), ("B", "rocker_link", lengths[3]))
    )
    return re.sub(r"<constraint.*</constraint>", ends, four_bar_text(lengths))


ROBOT_YAML = "closed_loop: [[A, B]]\ntype: ['3d']\nname_mot: [crank]\n"
"""The loop of `cut_four_bar_text` in Extended URDF."""


def universal_shafts(tilt: float) -> RobotModel:
    """Return two shafts at an angle, joined by a universal joint: input `input`, output `output`."""
    zero, x, y, z = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    output = joint("output", "continuous", "base", "b", zero, z)
    text = urdf(
        joint("input", "continuous", "base", "a", zero, z),
        output.replace('<origin xyz="0.0 0.0 0.0"/>', f'<origin rpy="{tilt} 0 0"/>'),
        constraint("cross", "universal", ("a", zero), ("b", zero), x, y),
        links=["base", "a", "b"],
    )
    return robot_from_text(text, srdf("output"))


def scotch_yoke(radius: float) -> RobotModel:
    """Return a crank whose pin moves a yoke along x; a block slides in the slot of the yoke."""
    zero, x, y, z = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    text = urdf(
        joint("crank", "continuous", "base", "a", zero, z),
        joint("block", "continuous", "a", "b", (radius, 0, 0), z),
        joint("yoke", "prismatic", "base", "c", zero, x),
        constraint("slot", "prismatic", ("c", zero), ("b", zero), y),
        links=["base", "a", "b", "c"],
    )
    return robot_from_text(text, srdf("block", "yoke"))


def four_bar(lengths: Numbers = FOUR_BAR, kind: str = "revolute", moving: str = "continuous") -> RobotModel:
    return robot_from_text(four_bar_text(lengths, kind, moving), srdf("coupler", "rocker"))


def four_bar_positions(lengths: Numbers, theta: FloatArray, side: float) -> FloatArray:
    """Return (n, 3) crank, coupler and rocker angle on one side: the pin is where two circles meet."""
    ground, crank, coupler, rocker = lengths
    elbow = crank * np.stack((np.cos(theta), np.sin(theta)), axis=-1)
    pin = circles_meet(elbow, coupler, np.array((ground, 0.0)), rocker, side)
    absolute = np.arctan2(*(pin - elbow).T[::-1])
    return np.stack((theta, absolute - theta, np.arctan2(pin[:, 1], pin[:, 0] - ground)), axis=-1)


def circles_meet(
    first: FloatArray, first_radius: float, second: FloatArray, second_radius: float, side: float
) -> FloatArray:
    """Return (n, 2) where two circles meet, on the left (side 1) or right (side -1) of the way between the centres."""
    way = second - first
    distance = np.hypot(way[..., 0], way[..., 1])
    along = (distance**2 + first_radius**2 - second_radius**2) / (2.0 * distance)
    across = np.sqrt(first_radius**2 - along**2)
    unit = way / distance[..., np.newaxis]
    normal = np.stack((-unit[..., 1], unit[..., 0]), axis=-1)
    return first + along[..., np.newaxis] * unit + side * across[..., np.newaxis] * normal
