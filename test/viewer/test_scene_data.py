# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The triangles of a page's data equal the triangles of the surfaces, and each corner exists once."""

from __future__ import annotations

import json
import zlib

import numpy as np
import pytest

from robot_semantics.examples import example
from robot_semantics.model.loading import load_robot
from robot_semantics.model.mesh_files import Surface
from robot_semantics.viewer.link_surfaces import LinkSurface
from robot_semantics.viewer.scene import Actor, alone
from robot_semantics.viewer.scene_data import MAGIC, scene_bytes
from robot_semantics.viewer.shading import corner_normals

CUBE = np.array([[x, y, z] for x in (0.0, 0.1) for y in (0.0, 1 / 3) for z in (0.0, 0.7)])
SQUARES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
FACES = np.array([half for a, b, c, d in SQUARES for half in ((a, b, c), (a, c, d))], dtype=np.int32)


@pytest.mark.parametrize("coloured", [False, True])
def test_the_page_gets_every_triangle_to_the_last_bit_and_no_corner_twice(coloured: bool) -> None:
    colours = np.repeat(np.arange(6, dtype=np.uint8), 8).reshape(12, 4) if coloured else None
    surface = Surface(CUBE, FACES, colours)
    model = load_robot(example("rover_arm.urdf"))
    content = zlib.decompress(scene_bytes(alone(Actor("a", model, (LinkSurface(0, surface, np.eye(4), None),)))))
    length = int.from_bytes(content[len(MAGIC) : len(MAGIC) + 4], "little")
    body = len(MAGIC) + 4 + length
    (shape,) = json.loads(content[len(MAGIC) + 4 : body])["surfaces"]

    def array(name: str, kind: type, width: int) -> np.ndarray:
        start, count = shape[name]
        return np.frombuffer(content, kind, count, body + start).reshape(-1, width)

    faces = array("faces", np.uint32, 3)
    np.testing.assert_array_equal(array("corners", np.float32, 3)[faces], CUBE[FACES].astype(np.float32))
    normals = array("normals", np.int8, 4)[faces][..., :3]
    np.testing.assert_array_equal(normals, np.round(corner_normals(surface) * 127.0))
    # A cube has three normals at each of its eight corners.
    assert len(array("corners", np.float32, 3)) == 24
    if colours is not None:
        np.testing.assert_array_equal(array("colours", np.uint8, 4)[faces], np.repeat(colours[:, None], 3, axis=1))
