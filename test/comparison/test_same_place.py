# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""When collision geometry of two links counts as equal: the pose of each shape, and the surface of a mesh."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_semantics.comparison.link_content import Content, geometry_differences
from robot_semantics.urdf.tree import Box, Capsule, Collision, Cylinder, Geometry, Link, Mesh, Origin, Sphere

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
