# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The visible triangle of each pixel: a z-buffer in array operations, for machines without a display."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_semantics.transforms.arrays import FloatArray, IntArray

_CANDIDATES = 2_000_000
"""How many pixels are looked at in one go; bounds the memory."""


def visible_triangles(
    corners: FloatArray, size: tuple[int, int], near: float
) -> tuple[IntArray, npt.NDArray[np.float32]]:
    """Return for each pixel (height, width) the index of the nearest triangle, -1 without one, and 1/depth.

    Triangles are seen from both sides. A triangle with a corner nearer than `near` is omitted.

    Args:
        corners: (m, 3, 3) pixel x, pixel y, depth [m] of the corners; the first pixel has its centre at (0.5, 0.5).
        size: width and height.
        near: nearest depth [m] that is shown.
    """
    width, height = size
    seen = np.zeros(width * height, dtype=np.uint64)
    x, y = corners[..., 0], corners[..., 1]
    inside = (corners[..., 2] > near).all(axis=1) & np.isfinite(corners).all(axis=(1, 2))
    _, area = edge_weights(corners, x[:, 0], y[:, 0])
    inside &= np.abs(area) > 0.0
    inside &= (x.max(axis=1) > 0.0) & (x.min(axis=1) < width) & (y.max(axis=1) > 0.0) & (y.min(axis=1) < height)
    chosen = np.flatnonzero(inside)
    x, y = x[chosen], y[chosen]
    # First and last pixel whose centre may be inside.
    left = np.clip(np.ceil(x.min(axis=1) - 0.5), 0, width).astype(np.int64)
    right = np.clip(np.floor(x.max(axis=1) - 0.5), -1, width - 1).astype(np.int64)
    top = np.clip(np.ceil(y.min(axis=1) - 0.5), 0, height).astype(np.int64)
    bottom = np.clip(np.floor(y.max(axis=1) - 0.5), -1, height - 1).astype(np.int64)
    some = (right >= left) & (bottom >= top)
    chosen, left, top, right, bottom = chosen[some], left[some], top[some], right[some], bottom[some]
    # Triangles of similar size are drawn together: their pixels are one array.
    columns, rows = _power_of_two(right - left + 1), _power_of_two(bottom - top + 1)
    for kind in np.unique(np.stack([columns, rows]), axis=1).T:
        same = np.flatnonzero((columns == kind[0]) & (rows == kind[1]))
        step = max(1, _CANDIDATES // int(kind[0] * kind[1]))
        for start in range(0, len(same), step):
            few = same[start : start + step]
            box = (left[few], top[few], right[few], bottom[few])
            _draw(seen, corners[chosen[few]], chosen[few], box, (int(kind[0]), int(kind[1])), width)
    index = (seen & np.uint64(0xFFFFFFFF)).astype(np.int64) - 1
    nearness = (seen >> np.uint64(32)).astype(np.uint32).view(np.float32)
    return index.reshape(height, width), nearness.reshape(height, width)


def _power_of_two(lengths: IntArray) -> IntArray:
    powers: IntArray = np.left_shift(1, np.ceil(np.log2(lengths)).astype(np.int64))
    return powers


def _draw(
    seen: npt.NDArray[np.uint64],
    corners: FloatArray,
    numbers: IntArray,
    box: tuple[IntArray, IntArray, IntArray, IntArray],
    grid: tuple[int, int],
    width: int,
) -> None:
    """Draw the triangles whose pixels are in boxes of at most `grid` columns and rows into `seen`."""
    left, top, right, bottom = box
    columns, rows = np.arange(grid[0]), np.arange(grid[1])
    inside = (rows <= (bottom - top)[:, None])[:, :, None] & (columns <= (right - left)[:, None])[:, None, :]
    near = np.zeros(3)[:, None]
    # A corner's weight is a linear function of the pixel, and so is their sum over the depths, which is 1/depth.
    x, y = corners[..., 0] - (left + 0.5)[:, None], corners[..., 1] - (top + 0.5)[:, None]
    area = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (y[:, 1] - y[:, 0]) * (x[:, 2] - x[:, 0])
    for corner, (b, c) in enumerate(((1, 2), (2, 0), (0, 1))):
        weight = np.stack([x[:, b] * y[:, c] - y[:, b] * x[:, c], y[:, b] - y[:, c], x[:, c] - x[:, b]]) / area
        inside &= _linear(weight, columns, rows) >= 0.0
        near = near + weight / corners[:, corner, 2]
    nearness = _linear(near, columns, rows)[inside].astype(np.float32)
    number, row, column = np.nonzero(inside)
    at = (top[number] + row) * width + left[number] + column
    who = numbers[number] + 1
    # Positive floats have the order of their bits; the triangle's number in the lower bits decides between equal
    # depths.
    key = nearness.view(np.uint32).astype(np.uint64) << np.uint64(32) | who.astype(np.uint64)
    np.maximum.at(seen, at, key)


def _linear(coefficients: FloatArray, columns: IntArray, rows: IntArray) -> FloatArray:
    """Return (n, rows, columns) values of n functions ``a + b * column + c * row``, given as (3, n)."""
    a, b, c = coefficients[..., None]
    values: FloatArray = (a + c * rows)[:, :, None] + (b * columns)[:, None, :]
    return values


def edge_weights(corners: FloatArray, x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return (..., 3) areas opposite to the corners (..., 3, 3) for pixel positions, and their (...) sum."""
    x, y = np.asarray(x), np.asarray(y)
    ax, ay = corners[..., 0, 0], corners[..., 0, 1]
    bx, by = corners[..., 1, 0], corners[..., 1, 1]
    cx, cy = corners[..., 2, 0], corners[..., 2, 1]
    of_a = (bx - x) * (cy - y) - (by - y) * (cx - x)
    of_b = (cx - x) * (ay - y) - (cy - y) * (ax - x)
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    return np.stack([of_a, of_b, np.broadcast_to(area, of_a.shape) - of_a - of_b], axis=-1), area
