# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Camera of a picture: it sees all points, with a little room around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import ArrayError
from robot_semantics.transforms.arrays import FloatArray

FARTHEST = 1e30
"""How far away a point may be; pixels are worked out from squares of such numbers [m]."""
FIELD_OF_VIEW = 0.38
"""How tall a thing fills the picture's smaller side, as a share of its distance."""


@dataclass(frozen=True, eq=False)
class Camera:
    """A pinhole camera: x right, y down, z forward.

    Attributes:
        T_camera_world: (4, 4) [m].
        focal: focal length [pixels].
        size: width and height [pixels].
    """

    T_camera_world: FloatArray
    focal: float
    size: tuple[int, int]

    @property
    def eye(self) -> FloatArray:
        """(3,) position of the camera in the world [m]."""
        R = self.T_camera_world[:3, :3]
        position: FloatArray = -R.T @ self.T_camera_world[:3, 3]
        return position

    def scaled(self, factor: int) -> Camera:
        """Return the same view with another number of pixels."""
        return Camera(self.T_camera_world, self.focal * factor, (self.size[0] * factor, self.size[1] * factor))

    def rays(self, x: npt.NDArray[np.floating[Any]], y: npt.NDArray[np.floating[Any]]) -> FloatArray:
        """Return (..., 3) the rays through pixels x and y (...), with z = 1, in the camera's axes."""
        width, height = self.size
        across, down = (x - 0.5 * width) / self.focal, (y - 0.5 * height) / self.focal
        return np.stack([across, down, np.ones_like(across)], axis=-1)

    def project(self, points: FloatArray) -> FloatArray:
        """Return (n, 3) pixel x, pixel y and depth [m] of (n, 3) points in the world."""
        at = points @ self.T_camera_world[:3, :3].T + self.T_camera_world[:3, 3]
        depth = np.maximum(at[:, 2], 1e-9)
        width, height = self.size
        x = self.focal * at[:, 0] / depth + 0.5 * width
        y = self.focal * at[:, 1] / depth + 0.5 * height
        return np.column_stack([x, y, at[:, 2]])


def fit_camera(
    points: FloatArray,
    size: tuple[int, int],
    azimuth: float,
    elevation: float,
    zoom: float = 1.0,
    left_margin: float = 0.0,
) -> Camera:
    """Return a camera that sees all points with a little room around them.

    Args:
        points: (n, 3) in the world [m]; at least one.
        size: width and height [pixels].
        azimuth: direction from which it looks, about z from x [rad].
        elevation: above the horizon [rad].
        zoom: larger than 1 is nearer.
        left_margin: share of the width kept free on the left.

    Raises:
        ArrayError: a point is too far away for a picture.
    """
    farthest = float(np.abs(points).max())
    if not farthest <= FARTHEST:
        raise ArrayError("picture", f"something is {farthest:g} m away, but the limit is {FARTHEST:g} m")
    back = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    R = np.stack([right, np.cross(right, back), -back])
    width, height = size
    free = width * (1.0 - left_margin)
    focal = max(min(free, height) / FIELD_OF_VIEW, 1.0)
    turned = points @ R.T
    # The four border planes of the view through the points: their intersection is the nearest position that sees all
    # points.
    slopes = np.array([0.47 * free / focal, 0.47 * height / focal]) * zoom
    centre = np.empty(3)
    backs = []
    for axis in (0, 1):
        slope = slopes[axis]
        high = (turned[:, axis] - slope * turned[:, 2]).max()
        low = (-turned[:, axis] - slope * turned[:, 2]).max()
        centre[axis] = 0.5 * (high - low)
        backs.append(-0.5 * (high + low) / slope)
    # The camera is always outside of the points.
    extent = max(float(np.ptp(turned, axis=0).max()), 1e-6)
    centre[2] = min(*backs, float(turned[:, 2].min()) - 0.05 * extent / zoom)
    centre[0] -= 0.5 * left_margin * width / focal * (float(turned[:, 2].mean()) - centre[2])
    T = np.eye(4)
    T[:3, :3] = R
    T[:3, 3] = -centre
    return Camera(T, focal, size)
