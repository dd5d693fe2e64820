# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Equal and different content of two links: the pose of each shape, the surface of a mesh, and the distance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_semantics.comparison.link_content import Content, geometry_differences, hausdorff_distance, same_content
from robot_semantics.model.mesh_files import Surface
from robot_semantics.urdf.tree import (
    Box,
    Capsule,
    Collision,
    Cylinder,
    Geometry,
    Inertial,
    Link,
    Mesh,
    Origin,
    Sphere,
    Visual,
)

SHAPES: dict[str, Geometry] = {
    "box": Box((0.1, 0.2, 0.3)),
    "sphere": Sphere(0.1),
    "cylinder": Cylinder(0.1, 0.3),
    "capsule": Capsule(0.1, 0.3),
    "mesh": Mesh("part.obj"),
}
# Two triangles that share an edge.
OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n"


def differences(
    folder: Path, first: Geometry, second: Geometry, second_at: Origin | None, first_at: Origin | None = None
) -> list[str]:
    a, b = (
        Content(Link(name, collisions=(Collision(geometry, at),)), folder.joinpath)
        for name, geometry, at in (("a", first, first_at), ("b", second, second_at))
    )
    return [difference.text for difference in geometry_differences(a, b, np.eye(4))]


@pytest.mark.parametrize(
    ("origin", "equal"),
    [
        (Origin(), {"box", "sphere", "cylinder", "capsule", "mesh"}),
        # TOLERANCE itself is equal.
        (Origin((1e-6, 0.0, 0.0)), {"box", "sphere", "cylinder", "capsule", "mesh"}),
        (Origin((0.0, 0.0, 1.1e-6)), set()),
        (Origin((0.0, -2e-3, 0.0)), set()),
        # About z.
        (Origin(rpy=(0.0, 0.0, 1e-3)), {"sphere", "cylinder", "capsule"}),
        (Origin(rpy=(0.0, 0.0, 2.0 * np.pi)), {"box", "sphere", "cylinder", "capsule", "mesh"}),
        # Upside down.
        (Origin(rpy=(np.pi, 0.0, 0.0)), {"sphere", "cylinder", "capsule"}),
        (Origin(rpy=(0.0, 1e-3, 0.0)), {"sphere"}),
        (Origin(rpy=(3e-6, 0.0, 0.0)), {"sphere"}),
        (Origin(rpy=(0.0, np.pi / 2.0, 0.0)), {"sphere"}),
        (Origin(rpy=(0.5e-6, 0.0, 0.0)), {"box", "sphere", "cylinder", "capsule", "mesh"}),
    ],
)
def test_a_shape_is_at_the_same_place_within_the_tolerance(tmp_path: Path, origin: Origin, equal: set[str]) -> None:
    (tmp_path / "part.obj").write_text(OBJ)
    found = {name for name, shape in SHAPES.items() if not differences(tmp_path, shape, shape, origin)}
    assert found == equal


def test_a_shape_of_another_size_or_kind_is_not_the_same(tmp_path: Path) -> None:
    (tmp_path / "part.obj").write_text(OBJ)
    others: dict[str, Geometry] = {
        "box": Box((0.1, 0.2, 0.301)),
        "sphere": Sphere(0.101),
        "cylinder": Cylinder(0.101, 0.3),
        "capsule": Capsule(0.1, 0.301),
    }
    for name, shape in SHAPES.items():
        for second in (*others.values(), *(one for other, one in SHAPES.items() if other != name)):
            assert differences(tmp_path, shape, second, None), (shape, second)


@pytest.mark.parametrize(
    ("text", "scale", "equal"),
    [
        (OBJ, None, True),
        (OBJ, (1.0, 1.0, 1.0), True),
        (OBJ.replace("v 1 0 0", "v 1.000001 0 0"), None, True),
        (OBJ.replace("v 1 0 0", "v 1.00001 0 0"), None, False),
        (OBJ.replace("v 1 0 0", "v 0.9 0 0"), None, False),
        (OBJ.replace("f 1 2 4", "f 1 3 4"), None, False),
        (OBJ.replace("f 1 2 4\n", ""), None, False),
        (f"{OBJ}v 5 5 5\nf 1 2 5\n", None, False),
        (OBJ, (1.0, 1.0, 2.0), False),
        ("", None, False),
    ],
)
def test_meshes_of_two_files_are_the_same_if_their_surfaces_are(
    tmp_path: Path, text: str, scale: tuple[float, float, float] | None, equal: bool
) -> None:
    (tmp_path / "part.obj").write_text(OBJ)
    (tmp_path / "other.obj").write_text(text)
    assert (not differences(tmp_path, Mesh("part.obj"), Mesh("other.obj", scale), None)) == equal
    # The place decides for equal surfaces as well.
    assert differences(tmp_path, Mesh("part.obj"), Mesh("other.obj", scale), Origin((0.0, 0.0, 0.01)))


def test_a_mesh_without_its_file_is_not_the_same_as_another_and_the_difference_says_why(tmp_path: Path) -> None:
    (tmp_path / "part.obj").write_text(OBJ)
    (text,) = differences(tmp_path, Mesh("part.obj"), Mesh("missing.obj"), None)
    assert text.startswith("meshes cannot be compared: ")
    assert "missing.obj" in text
    # Equal names need no file.
    assert not differences(tmp_path, Mesh("missing.obj"), Mesh("missing.obj"), None)


@pytest.mark.parametrize(
    ("first", "second", "origin", "text", "distance"),
    [
        (Sphere(0.1), Sphere(0.1), Origin((0.0, 3e-3, 4e-3)), "sphere 0.1 moved 5 mm", 5e-3),
        (Sphere(0.1), Sphere(0.1), Origin((0.0, 0.0, 0.999)), "sphere 0.1 moved 999 mm", 0.999),
        (SHAPES["box"], SHAPES["box"], Origin(rpy=(0.0, 0.0, 0.5)), "box 0.1 0.2 0.3 turned", 0.0),
        (Cylinder(0.1, 0.3), Capsule(0.1, 0.2), None, "cylinder 0.1 0.3 → capsule 0.1 0.2", None),
        (Mesh("part.obj"), Sphere(0.1), None, "mesh 'part.obj' → sphere 0.1", None),
        (Mesh("part.obj"), Mesh("part.obj"), Origin((0.0, 0.0, 0.01)), "surfaces are up to 10 mm apart", 0.01),
    ],
)
def test_a_difference_is_said_with_its_distance(
    tmp_path: Path, first: Geometry, second: Geometry, origin: Origin, text: str, distance: float | None
) -> None:
    (tmp_path / "part.obj").write_text(OBJ)
    a, b = (
        Content(Link(name, collisions=(Collision(geometry, at),)), tmp_path.joinpath)
        for name, geometry, at in (("a", first, None), ("b", second, origin))
    )
    (found,) = geometry_differences(a, b, np.eye(4))
    assert found.text == text
    assert found.distance_m == (None if distance is None else pytest.approx(distance, rel=1e-3, abs=1e-12))
    # The pose of the links is part of that of their shapes.
    T_b_a = np.eye(4)
    T_b_a[2, 3] = 7.0
    (far,) = geometry_differences(a, b, T_b_a)
    if found.distance_m is not None:
        assert far.distance_m == pytest.approx(7.0 - found.distance_m, abs=0.02) or far.distance_m == pytest.approx(
            7.0, abs=0.02
        )


def test_the_distance_of_two_meshes_is_that_of_the_farthest_point_of_either(tmp_path: Path) -> None:
    (tmp_path / "part.obj").write_text(OBJ)
    (tmp_path / "more.obj").write_text(f"{OBJ}v 5 5 5\nf 1 2 5\n")
    for first, second in (("part.obj", "more.obj"), ("more.obj", "part.obj")):
        (text,) = differences(tmp_path, Mesh(first), Mesh(second), None)
        # From (5, 5, 5) to (0.5, 0.5, 0), the nearest point of the other surface.
        assert text == f"surfaces are up to {1e3 * np.sqrt(2 * 4.5**2 + 25.0):.3g} mm apart"


def test_shapes_are_compared_with_those_of_the_same_size_first() -> None:
    first = (Collision(Box((1.0, 1.0, 1.0))), Collision(Sphere(0.1)), Collision(Sphere(0.2)))
    second = (
        Collision(Sphere(0.2), Origin((0.0, 0.0, 1e-3))),
        Collision(Sphere(0.1), Origin((0.0, 0.0, 2e-3))),
        Collision(Box((1.0, 1.0, 1.0)), Origin((0.0, 0.0, 3e-3))),
    )

    def texts(a: tuple[Collision, ...], b: tuple[Collision, ...]) -> list[str]:
        one, other = (Content(Link(name, collisions=shapes), Path) for name, shapes in (("a", a), ("b", b)))
        return [difference.text for difference in geometry_differences(one, other, np.eye(4))]

    assert texts(first, second) == ["box 1 1 1 moved 3 mm", "sphere 0.1 moved 2 mm", "sphere 0.2 moved 1 mm"]
    assert texts(first, second[:1]) == ["box 1 1 1 → sphere 0.2", "sphere 0.1 removed", "sphere 0.2 removed"]
    assert texts(first[:1], second[1:]) == ["box 1 1 1 moved 3 mm", "sphere 0.1 added"]
    assert texts((), second[:2]) == ["sphere 0.2 added", "sphere 0.1 added"]
    assert texts(first, first[::-1]) == []


def test_the_same_content_gives_the_pose_of_one_link_in_the_other() -> None:
    ball, box = Sphere(0.1), Box((1.0, 2.0, 3.0))
    a = Link("a", collisions=(Collision(box, Origin((1.0, 0.0, 0.0))),), visuals=(Visual(ball), Visual(box)))
    b = Link(
        "b",
        collisions=(Collision(ball), Collision(box, Origin((3.0, 0.0, 0.0), (0.0, 0.0, np.pi / 2.0)))),
        visuals=(Visual(box, Origin((0.0, 5.0, 0.0))),),
    )
    first, second = same_content(a, b)
    # A box at x = 1 in A is at x = 3 in B, turned: the frame of A is 1 m to the right of the box.
    np.testing.assert_allclose(first @ (0.0, 0.0, 0.0, 1.0), [3.0, -1.0, 0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(first @ (1.0, 0.0, 0.0, 1.0), [3.0, 0.0, 0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(second @ (0.0, 0.0, 0.0, 1.0), [0.0, 5.0, 0.0, 1.0], atol=1e-12)
    # Each shape has one counterpart.
    assert len(list(same_content(Link("a", collisions=a.collisions * 2), b))) == 1


def test_the_same_inertia_gives_the_pose_of_one_link_in_the_other() -> None:
    numbers = (1.0, 0.0, 0.0, 2.0, 0.0, 3.0)
    a = Link("a", inertial=Inertial(1.0, numbers, Origin((1.0, 0.0, 0.0))))
    b = Link("b", inertial=Inertial(1.0, numbers, Origin((0.0, 4.0, 0.0))))
    (T_b_a,) = same_content(a, b)
    np.testing.assert_allclose(T_b_a[:3, 3], [-1.0, 4.0, 0.0], atol=1e-12)
    other = Link("c", inertial=Inertial(1.0, (1.5, *numbers[1:]), Origin()))
    for first, second in ((a, other), (a, Link("d")), (Link("d"), a), (Link("d"), Link("e"))):
        assert not list(same_content(first, second))


def test_the_distance_of_a_surface_without_area_is_that_of_its_vertices() -> None:
    line = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    surface = Surface(line, np.array([[0, 1, 2]]))
    assert hausdorff_distance(line, surface, line, surface) == 0.0
    assert hausdorff_distance(line, surface, line + np.array([0.0, 0.3, 0.4]), surface) == pytest.approx(0.5)
