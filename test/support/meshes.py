# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A mesh of four corners, and COLLADA files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# A tetrahedron without any symmetry: its three edges from the origin are 1, 2 and 3 m long, along x, y and z.
CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])

GEOMETRY = """<geometry id="g{0}"><mesh>
<source id="p{0}"><float_array id="a{0}" count="{1}">{2}</float_array><technique_common>
<accessor source="#a{0}" count="{3}" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v{0}"><input semantic="POSITION" source="#p{0}"/></vertices>
<triangles material="x" count="{4}"><input semantic="VERTEX" source="#v{0}" offset="0"/><p>{5}</p></triangles>
</mesh></geometry>
"""
DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset>{asset}</asset>
{libraries}<library_geometries>{geometries}</library_geometries>
<library_visual_scenes><visual_scene id="s">{nodes}</visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>
"""


def dae(asset: str = "", node: str = "") -> str:
    """Return a COLLADA file of the mesh, with more in its asset and in its node."""
    numbers, indices = (" ".join(map(str, array.ravel())) for array in (CORNERS, FACES))
    return dae_of([(numbers, indices)], asset, node)


def dae_of(
    geometries: Sequence[tuple[str, str]], asset: str = "", node: str = "", libraries: str = "", materials: str = ""
) -> str:
    """Return a COLLADA file of some geometries, as texts of corners and triangles; `materials` are bound to each."""
    texts, nodes = "", ""
    for number, (corners, triangles) in enumerate(geometries):
        count = len(corners.split())
        texts += GEOMETRY.format(number, count, corners, count // 3, len(triangles.split()) // 3, triangles)
        instance = f'<instance_geometry url="#g{number}">{materials}</instance_geometry>'
        nodes += f'<node id="n{number}">{node}{instance}</node>'
    return DAE.format(asset=asset, libraries=libraries, geometries=texts, nodes=nodes)
