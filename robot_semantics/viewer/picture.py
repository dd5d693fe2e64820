# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A picture of a scene, made without a display or a graphics card."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import ArrayError, MissingExtraError
from robot_semantics.base.record import record
from robot_semantics.transforms.arrays import FloatArray, IntArray
from robot_semantics.viewer.link_surfaces import PLAIN, Kind
from robot_semantics.viewer.scene import Scene, check_groups, groups_of_links, link_poses
from robot_semantics.viewer.shading import FADED, Shades, corner_normals, group_colour, lit

# Camera of a picture: it sees all points, with a little room around them.


FARTHEST = 1e30
"""How far away a point may be; pixels are worked out from squares of such numbers [m]."""
FIELD_OF_VIEW = 0.38
"""How tall a thing fills the picture's smaller side, as a share of its distance."""


@record(frozen=True, eq=False)
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

    def rays(self, columns: IntArray, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return x of the rays through the centres of pixels of some columns, and y of some rows, with z = 1, in the
        camera's axes.
        """
        width, height = self.size
        across = np.asarray((columns + 0.5 - 0.5 * width) / self.focal, dtype=np.float64)
        down = np.asarray((rows + 0.5 - 0.5 * height) / self.focal, dtype=np.float64)
        return across, down

    def project(self, points: FloatArray) -> FloatArray:
        """Return (n, 3) pixel x, pixel y and depth [m] of (n, 3) points in the world."""
        camera_points = turned(points, self.T_camera_world[:3, :3]) + self.T_camera_world[:3, 3]
        depth = np.maximum(camera_points[:, 2], 1e-9)
        width, height = self.size
        x = self.focal * camera_points[:, 0] / depth + 0.5 * width
        y = self.focal * camera_points[:, 1] / depth + 0.5 * height
        return np.column_stack([x, y, camera_points[:, 2]])


Vectors = TypeVar("Vectors", FloatArray, Shades)


def turned(vectors: Vectors, R: Vectors) -> Vectors:
    """Return (..., 3) vectors, turned by (3, 3). The product of numpy would wake threads that cost more than this."""
    result: Vectors = np.einsum("...j,ij->...i", vectors, R)
    return result


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
    in_camera_axes = turned(points, R)
    # The four border planes of the view through the points: their intersection is the nearest position that sees all
    # points.
    slopes = np.array([0.47 * free / focal, 0.47 * height / focal]) * zoom
    centre = np.empty(3)
    backs = []
    for axis in (0, 1):
        slope = slopes[axis]
        high = (in_camera_axes[:, axis] - slope * in_camera_axes[:, 2]).max()
        low = (-in_camera_axes[:, axis] - slope * in_camera_axes[:, 2]).max()
        centre[axis] = 0.5 * (high - low)
        backs.append(-0.5 * (high + low) / slope)
    # The camera is always outside of the points.
    extent = max(float(np.ptp(in_camera_axes, axis=0).max()), 1e-6)
    centre[2] = min(*backs, float(in_camera_axes[:, 2].min()) - 0.05 * extent / zoom)
    centre[0] -= 0.5 * left_margin * width / focal * (float(in_camera_axes[:, 2].mean()) - centre[2])
    T = np.eye(4)
    T[:3, :3] = R
    T[:3, 3] = -centre
    return Camera(T, focal, size)


# The visible triangle of each pixel: a z-buffer in array operations, for machines without a display.


_CANDIDATES = 500_000
"""How many pixels are looked at in one go; bounds the memory."""

_SHADED = 32_768
"""How many pixels are shaded together: their numbers fit into the processor's cache."""


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
    # (3, m) each, so that numpy compares the corners of all triangles together.
    x, y, depth = np.ascontiguousarray(corners.transpose(2, 1, 0))
    finite = np.isfinite(x) & np.isfinite(y) & np.isfinite(depth)
    area = (x[1] - x[0]) * (y[2] - y[0]) - (y[1] - y[0]) * (x[2] - x[0])
    first_x, last_x, first_y, last_y = x.min(axis=0), x.max(axis=0), y.min(axis=0), y.max(axis=0)
    inside = ((depth > near) & finite).all(axis=0) & (np.abs(area) > 0.0)
    inside &= (last_x > 0.0) & (first_x < width) & (last_y > 0.0) & (first_y < height)
    chosen = np.flatnonzero(inside)
    # First and last pixel whose centre may be inside.
    left = np.clip(np.ceil(first_x[chosen] - 0.5), 0, width).astype(np.int64)
    right = np.clip(np.floor(last_x[chosen] - 0.5), -1, width - 1).astype(np.int64)
    top = np.clip(np.ceil(first_y[chosen] - 0.5), 0, height).astype(np.int64)
    bottom = np.clip(np.floor(last_y[chosen] - 0.5), -1, height - 1).astype(np.int64)
    some = (right >= left) & (bottom >= top)
    chosen, left, top, right, bottom = chosen[some], left[some], top[some], right[some], bottom[some]
    # As many triangles are drawn together as bounded memory allows.
    groups = np.cumsum((right - left + 1) * (bottom - top + 1)) // _CANDIDATES
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    for few in map(slice, starts, [*starts[1:], len(chosen)]):
        box = (left[few], top[few], right[few], bottom[few])
        _draw_triangles(seen, corners[chosen[few]], chosen[few], box, width)
    index = (seen & np.uint64(0xFFFFFFFF)).astype(np.int64) - 1
    nearness = (seen >> np.uint64(32)).astype(np.uint32).view(np.float32)
    return index.reshape(height, width), nearness.reshape(height, width)


def _draw_triangles(
    seen: npt.NDArray[np.uint64],
    corners: FloatArray,
    numbers: IntArray,
    box: tuple[IntArray, IntArray, IntArray, IntArray],
    width: int,
) -> None:
    """Draw the triangles whose pixels are in boxes into `seen`: for each row of a box, the pixels between the edges."""
    left, top, right, bottom = box
    rows = bottom - top + 1
    which = np.repeat(np.arange(len(rows)), rows)
    row = np.arange(len(which)) - np.repeat(np.cumsum(rows) - rows, rows)
    # Columns count from the left of each box.
    first, last = np.zeros(len(which)), (right - left).astype(np.float64)[which]
    near = np.zeros(3)[:, None]
    # A corner's weight is a linear function of the pixel, and so is their sum over the depths, which is 1/depth.
    x, y = corners[..., 0] - (left + 0.5)[:, None], corners[..., 1] - (top + 0.5)[:, None]
    area = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (y[:, 1] - y[:, 0]) * (x[:, 2] - x[:, 0])
    for corner, (b, c) in enumerate(((1, 2), (2, 0), (0, 1))):
        weight = np.stack([x[:, b] * y[:, c] - y[:, b] * x[:, c], y[:, b] - y[:, c], x[:, c] - x[:, b]]) / area
        _cut(first, last, *_in_rows(weight, which, row))
        near = near + weight / corners[:, corner, 2]
    lengths = np.maximum(last - first + 1.0, 0.0).astype(np.int64)
    before = np.cumsum(lengths) - lengths
    column = np.arange(lengths.sum()) - np.repeat(before - first.astype(np.int64), lengths)
    start, slope = _in_rows(near, which, row)
    nearness = (np.repeat(start, lengths) + np.repeat(slope, lengths) * column).astype(np.float32)
    pixels = np.repeat((top[which] + row) * width + left[which], lengths) + column
    who = np.repeat(numbers[which] + 1, lengths)
    # Positive floats have the order of their bits; the triangle's number in the lower bits decides between equal
    # depths.
    key = nearness.view(np.uint32).astype(np.uint64) << np.uint64(32) | who.astype(np.uint64)
    np.maximum.at(seen, pixels, key)


def _in_rows(coefficients: FloatArray, which: IntArray, row: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the value at column 0 and the slope along a row of functions ``a + b * column + c * row``, as (3, n)."""
    a, b, c = coefficients
    return a[which] + c[which] * row, b[which]


def _cut(first: FloatArray, last: FloatArray, start: FloatArray, slope: FloatArray) -> None:
    """Reduce spans of columns, from `first` to `last`, to those where ``start + slope * column`` is not negative."""
    direction = np.sign(slope)
    with np.errstate(divide="ignore", invalid="ignore"):
        edge = direction * np.ceil(direction * np.clip(-start / slope, first - 2.0, last + 2.0))
    # The division is rounded: the pixel at the edge and its neighbour decide.
    edge += direction * (start + slope * edge < 0.0)
    edge -= direction * (start + slope * (edge - direction) >= 0.0)
    np.copyto(first, np.maximum(first, edge), where=slope > 0.0)
    np.copyto(last, np.minimum(last, edge), where=slope < 0.0)
    last[(slope == 0.0) & (start < 0.0)] = -1.0


Bytes = npt.NDArray[np.uint8]

SUPERSAMPLING = 2
"""How many times more columns and rows are computed than shown."""

_SUBPIXELS = [(row, column) for row in range(SUPERSAMPLING) for column in range(SUPERSAMPLING)]

_SKY, _HAZE = np.array([0.985, 0.988, 0.992]), np.array([0.86, 0.88, 0.905])


@record(frozen=True)
class View:
    """Options of a picture.

    Attributes:
        size: width and height [pixels].
        azimuth: direction from which the camera looks, about z from x [deg].
        elevation: above the horizon [deg].
        zoom: larger than 1 is nearer.
        groups: groups to colour, one colour each; the rest is faded. A link in several groups has the colour of the
            last one.
        left_margin: share of the width kept free for a legend.
        kind: visuals or collision geometry; a scene may have both.
    """

    size: tuple[int, int] = (1200, 900)
    azimuth: float = 35.0
    elevation: float = 20.0
    zoom: float = 1.0
    groups: tuple[str, ...] = ()
    left_margin: float = 0.0
    kind: Kind = "visual"


@record(frozen=True, eq=False)
class _ShownTriangles:
    """All triangles of a scene.

    Attributes:
        points: (n, 3) corners in the world, those of a surface only once [m].
        corners: (m, 3) their numbers for each triangle.
        normals: (m, 3, 3) normals at the corners.
        rgba: (m, 4) colours in 0…1.
    """

    points: FloatArray
    corners: IntArray
    normals: Shades
    rgba: Shades


_LEAST_WIDTH = 200
"""Smallest width of a picture with a scale [pixels]."""


def render(scene: Scene, view: View = View(), *, scale: bool = False) -> Bytes:
    """Return the first moment of a scene as a picture, (height, width, 3) bytes; with `scale` with a scale bar.

    Raises:
        UnknownNameError: a group to be coloured does not exist in any of the robots.
    """
    mesh = _triangles(scene, view)
    width, height = view.size
    # Row r covers the finer rows 2 r and 2 r + 1.
    down = (np.arange(height) * SUPERSAMPLING + 0.5 * (SUPERSAMPLING - 1)) / max(height * SUPERSAMPLING - 1, 1)
    column = (_SKY + down[:, None, None] * (_HAZE - _SKY)).astype(np.float32)
    image: Shades = np.broadcast_to(column, (height, width, 3)).copy()
    if len(mesh.corners):
        points = mesh.points
        azimuth, elevation = math.radians(view.azimuth), math.radians(view.elevation)
        plain = fit_camera(points, view.size, azimuth, elevation, view.zoom, view.left_margin)
        if view.elevation > 3.0:
            image *= _floor(plain, mesh)[..., None]
        _draw_all(image, plain, mesh)
    picture = np.asarray((image * np.float32(255.0)).round(), dtype=np.uint8)
    return _with_scale(picture, points, plain) if scale and len(mesh.corners) else picture


def _draw_all(image: Shades, camera: Camera, mesh: _ShownTriangles) -> None:
    """Draw the triangles on finer pixels, only in the part of the picture that they may cover."""
    projected = camera.project(mesh.points)
    left, top, right, bottom = _covered(projected, camera.size)
    if left >= right or top >= bottom:
        return
    part = image[top:bottom, left:right]
    fine = part.repeat(SUPERSAMPLING, axis=0).repeat(SUPERSAMPLING, axis=1)
    finer, corner = camera.scaled(SUPERSAMPLING), (left * SUPERSAMPLING, top * SUPERSAMPLING)
    projected[:, :2] = projected[:, :2] * SUPERSAMPLING - corner
    solid = mesh.rgba[:, 3] > 0.99
    nearness = _draw(fine, corner, finer, mesh, projected[mesh.corners], solid, np.zeros(fine.shape[:2], np.float32))
    if not solid.all():
        _draw(fine, corner, finer, mesh, projected[mesh.corners], ~solid, nearness)
    places = [(slice(row, None, SUPERSAMPLING), slice(column, None, SUPERSAMPLING)) for row, column in _SUBPIXELS]
    part[:] = sum((fine[place] for place in places[1:]), fine[places[0]]) / np.float32(len(places))


def _covered(projected: FloatArray, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return the first column and row of a picture that things between (n, 3) projected points may cover, and the
    numbers after the last ones.
    """
    x, y, depth = projected.T
    if (depth <= 0.0).any():
        return 0, 0, *size
    left, right = (int(np.clip(edge, 0, size[0])) for edge in (np.floor(x.min()), np.ceil(x.max())))
    top, bottom = (int(np.clip(edge, 0, size[1])) for edge in (np.floor(y.min()), np.ceil(y.max())))
    return left, top, right, bottom


def scale_bar(points: FloatArray, camera: Camera) -> tuple[float, float]:
    """Return the length of a scale bar [m] and [pixels], at the mean depth of (n, 3) points; 1, 2 or 5 in front."""
    pixels_per_metre = camera.focal / max(float(camera.project(points.mean(axis=0, keepdims=True))[0, 2]), 1e-9)
    longest = 0.25 * camera.size[0] / pixels_per_metre
    power = 10.0 ** math.floor(math.log10(longest))
    length = next(step * power for step in (5.0, 2.0, 1.0) if step * power <= longest * (1.0 + 1e-9))
    return length, length * pixels_per_metre


def _with_scale(image: Bytes, points: FloatArray, camera: Camera) -> Bytes:
    """Return the picture with a scale bar, lower left, and with the size of what it shows, upper right."""
    height, width = image.shape[:2]
    if width < _LEAST_WIDTH:
        return image
    Image, ImageDraw, ImageFont = _pillow()
    length, pixels = scale_bar(points, camera)
    picture = Image.fromarray(image)
    draw = ImageDraw.Draw(picture)
    size = max(11, height // 40)
    left, y = int(1.6 * size), height - int(1.6 * size)
    ink = (60, 64, 72)
    draw.line(
        [(left, y - size // 2), (left, y), (left + round(pixels), y), (left + round(pixels), y - size // 2)], ink, 2
    )
    sides = " x ".join(f"{side:.3g}" for side in np.ptp(points, axis=0))
    font = ImageFont.load_default(size)
    draw.text((left, y - size), f"{length:g} m", fill=ink, font=font, anchor="ls")
    draw.text((width - left, left), f"size {sides} m", fill=ink, font=font, anchor="rt")
    return np.asarray(picture, dtype=np.uint8)


def _pillow() -> tuple[Any, Any, Any]:
    """Return the modules that write into pictures.

    Raises:
        MissingExtraError: Pillow is not installed.
    """
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError as error:
        raise MissingExtraError("PIL", "view", "writing into pictures") from error
    return Image, ImageDraw, ImageFont


def _triangles(scene: Scene, view: View) -> _ShownTriangles:
    groups = view.groups
    points: list[FloatArray] = [np.empty((0, 3))]
    corners: list[IntArray] = [np.empty((0, 3), dtype=np.int64)]
    normals: list[Shades] = [np.empty((0, 3, 3), dtype=np.float32)]
    colours: list[Shades] = [np.empty((0, 4), dtype=np.float32)]
    count = 0
    check_groups(scene, groups)
    moment = scene.moments[0]
    for actor in scene.actors:
        if actor.name not in moment.stances:
            continue
        poses = link_poses(actor, moment.stances[actor.name])
        group_names = [name for name in groups if name in actor.model.semantics.groups]
        in_group = groups_of_links(actor.model, group_names)
        for shown in actor.surfaces:
            if shown.kind not in (view.kind, "both", "missing", "uncovered", "sphere"):
                continue
            T = poses[shown.link] @ shown.T_link_surface
            surface = shown.surface
            # A vertex without a face is not part of the picture.
            used = np.zeros(len(surface.vertices), dtype=np.bool_)
            used[surface.faces] = True
            corners.append((np.cumsum(used) - 1 + count)[surface.faces])
            points.append(turned(surface.vertices[used], T[:3, :3]) + T[:3, 3])
            count += int(used.sum())
            normals.append(turned(corner_normals(surface), T[:3, :3].astype(np.float32)))
            rgba = np.empty((len(surface.faces), 4), dtype=np.float32)
            if groups and shown.kind not in ("uncovered", "sphere"):
                number = in_group[shown.link]
                rgba[:] = FADED if number < 0 else group_colour(list(groups).index(group_names[number]))
            elif shown.rgba is None and surface.colours is not None:
                rgba[:] = surface.colours / 255.0
            else:
                rgba[:] = shown.rgba or PLAIN
            colours.append(rgba)
    rgba = np.clip(np.concatenate(colours), 0.0, 1.0)
    return _ShownTriangles(np.concatenate(points), np.concatenate(corners), np.concatenate(normals), rgba)


def _draw(
    image: Shades,
    corner: tuple[int, int],
    camera: Camera,
    mesh: _ShownTriangles,
    projected: FloatArray,
    is_chosen: npt.NDArray[np.bool_],
    before: Shades,
) -> Shades:
    """Draw the chosen triangles where they are nearer than `before`; return the new nearness of each pixel.

    The first pixel of `image` is the pixel `corner`, as column and row, of the camera's picture; `projected` (m, 3, 3)
    has the pixel x, pixel y and depth of the corners in `image`.
    """
    chosen = np.flatnonzero(is_chosen)
    if not len(chosen):
        return before
    corners = projected[chosen]
    extent = max(float(np.ptp(corners[..., 2])), 1e-9)
    index, nearness = visible_triangles(corners, (image.shape[1], image.shape[0]), 1e-4 * extent)
    pixels = np.flatnonzero((index >= 0) & (nearness > before))
    if not len(pixels):
        return before
    is_seen = np.zeros(len(chosen), dtype=np.bool_)
    is_seen[index.ravel()[pixels]] = True
    which, pixels_of_image = (np.cumsum(is_seen) - 1)[index.ravel()], image.reshape(-1, 3)
    # One row for each number of a triangle: numpy reads them faster than three numbers side by side.
    x, y, depth = np.ascontiguousarray(corners[is_seen].transpose(2, 1, 0))
    normals = np.ascontiguousarray(mesh.normals[chosen[is_seen]].transpose(1, 2, 0))
    shares, colours = (float(depth.min()) / depth).astype(np.float32), mesh.rgba[chosen[is_seen]].T.copy()
    across, down = camera.rays(np.arange(image.shape[1]) + corner[0], np.arange(image.shape[0]) + corner[1])
    R = camera.T_camera_world[:3, :3].astype(np.float32)
    for start in range(0, len(pixels), _SHADED):
        few = pixels[start : start + _SHADED]
        triangle, (rows, columns) = which[few], divmod(few, image.shape[1])
        # The sum of the weights does not matter for a direction.
        weights = _pixel_weights(x[:, triangle] - (columns + 0.5), y[:, triangle] - (rows + 0.5), shares[:, triangle])
        normal = sum(weight * of_corner[:, triangle] for weight, of_corner in zip(weights, normals, strict=True))
        normal = np.einsum("ij,jk->ik", R, normal)
        normal /= np.maximum(np.sqrt((normal * normal).sum(axis=0)), np.float32(1e-9))
        ray = np.stack([across[columns], down[rows], np.ones(len(few))]).astype(np.float32)
        ray /= np.sqrt((ray * ray).sum(axis=0))
        rgba = colours[:, triangle]
        seen = lit(rgba[:3], normal, ray)
        if (rgba[3] < 1.0).any():
            seen = rgba[3] * seen + (1.0 - rgba[3]) * pixels_of_image[few].T
        pixels_of_image[few] = seen.T
    after: Shades = before.copy()
    after.ravel()[pixels] = nearness.ravel()[pixels]
    return after


def _pixel_weights(x: FloatArray, y: FloatArray, shares: Shades) -> Shades:
    """Return (3, n) shares of the corners of triangles in the values at pixels, times a positive number for each pixel.

    Args:
        x: (3, n) of the corners, relative to the pixel.
        y: (3, n) the same.
        shares: (3, n) 1/depth of the corners, times a number.
    """
    # Relative to the pixel, seven digits are enough.
    (ax, bx, cx), (ay, by, cy) = x.astype(np.float32), y.astype(np.float32)
    weights = np.stack([bx * cy - by * cx, cx * ay - cy * ax, ax * by - ay * bx]) * shares
    weights *= np.sign(weights.sum(axis=0))
    return weights


def _floor(camera: Camera, mesh: _ShownTriangles) -> Shades:
    """Return (height, width) brightness of the floor below the lowest point: darker near bodies."""
    low, high = mesh.points.min(axis=0), mesh.points.max(axis=0)
    cells = 192
    cell = 1.5 * max(high[0] - low[0], high[1] - low[1], 1e-6) / cells
    corner = 0.5 * (low[:2] + high[:2]) - 0.5 * cells * cell
    tall = max(high[2] - low[2], 1e-9)
    # Seen from below, the nearest thing over each cell of the floor.
    flat = np.column_stack([(mesh.points[:, :2] - corner) / cell, mesh.points[:, 2] - low[2] + 0.05 * tall])
    index, nearness = visible_triangles(flat[mesh.corners], (cells, cells), 0.0)
    clearance = np.where(index >= 0, 1.0 / np.maximum(nearness, 1e-12) - 0.05 * tall, np.inf)
    shade = _blurred(np.exp(-clearance / (0.18 * tall)), 7)
    width, height = camera.size
    light = np.ones((height, width), dtype=np.float32)
    ends = corner + cell * cells * np.array([(0, 0), (0, 1), (1, 0), (1, 1)])
    square = np.column_stack([ends, np.full(len(ends), low[2])])
    left, top, right, bottom = _covered(camera.project(square), camera.size)
    across, down = camera.rays(np.arange(left, right), np.arange(top, bottom))
    R = camera.T_camera_world[:3, :3]
    ray_x, ray_y, ray_z = ((across * R[0, axis] + R[2, axis]) + down[:, None] * R[1, axis] for axis in range(3))
    with np.errstate(divide="ignore", invalid="ignore"):
        far = (low[2] - camera.eye[2]) / ray_z
    x, y = ((camera.eye[axis] + far * ray - corner[axis]) / cell - 0.5 for axis, ray in enumerate((ray_x, ray_y)))
    below = (far > 0.0) & (x >= 0.0) & (x < cells - 1.001) & (y >= 0.0) & (y < cells - 1.001)
    x, y = x[below], y[below]
    i, j = y.astype(np.int64), x.astype(np.int64)
    u, v = x - j, y - i
    dark = (shade[i, j] * (1 - u) + shade[i, j + 1] * u) * (1 - v)
    dark += (shade[i + 1, j] * (1 - u) + shade[i + 1, j + 1] * u) * v
    light[top:bottom, left:right][below] = 1.0 - 0.38 * dark
    return light


def _blurred(field: FloatArray, radius: int) -> FloatArray:
    """Return the field, averaged three times over a square; it is zero outside of the border."""
    for _ in range(3):
        for axis in (0, 1):
            pads = [(radius + 1, radius) if a == axis else (0, 0) for a in (0, 1)]
            sums = np.cumsum(np.pad(field, pads), axis=axis)
            upper = np.take(sums, range(2 * radius + 1, sums.shape[axis]), axis=axis)
            lower = np.take(sums, range(sums.shape[axis] - 2 * radius - 1), axis=axis)
            field = (upper - lower) / (2 * radius + 1)
    return field


def with_legend(image: Bytes, groups: Sequence[str]) -> Bytes:
    """Return the picture with the names of the groups beside their colours, in its upper left corner.

    Raises:
        MissingExtraError: Pillow is not installed.
    """
    if not groups:
        return image
    Image, ImageDraw, ImageFont = _pillow()
    picture = Image.fromarray(image)
    draw = ImageDraw.Draw(picture)
    size = max(11, image.shape[0] // 40)
    font = ImageFont.load_default(size)
    y = margin = line = int(1.6 * size)
    for number, name in enumerate(groups):
        colour = tuple(round(255 * part) for part in group_colour(number)[:3])
        draw.rounded_rectangle((margin, y, margin + size, y + size), radius=size // 4, fill=colour)
        draw.text((margin + int(1.6 * size), y + size // 2), name, fill=(60, 64, 72), font=font, anchor="lm")
        y += line
    return np.asarray(picture, dtype=np.uint8)


def png_bytes(image: npt.NDArray[np.uint8]) -> bytes:
    """Return an (height, width, 3) picture as the content of a PNG file.

    Raises:
        MissingExtraError: Pillow is not installed.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError("PIL", "view", "writing pictures") from error
    content = io.BytesIO()
    Image.fromarray(image).save(content, "PNG")
    return content.getvalue()
