"""What of a robot collides in a simulation: the same shapes in every engine."""

from __future__ import annotations

from typing import NamedTuple

from robot_semantics.collision.shapes import GeometryError, Shape, shape_of
from robot_semantics.simulation.world_spec import BuildNote, ModelSpec
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf.dialects import matrix_of


class LinkShape(NamedTuple):
    """One geometry of the link with this index: its name ``LINK/NUMBER``, and ``T_link_shape`` (4, 4) [m]."""

    link: int
    name: str
    shape: Shape
    T_link_shape: FloatArray


def collision_shapes(spec: ModelSpec, notes: list[BuildNote]) -> list[LinkShape]:
    """Return what of a robot collides, link by link; what cannot, and why, goes to `notes`."""
    found = []
    for link in spec.robot.links:
        for number, collision in enumerate(link.urdf.collisions):
            try:
                shape = shape_of(collision.geometry, spec.find_mesh)
            except GeometryError as error:
                message = f"collides without its geometry {number}: {error}"
                notes.append(BuildNote(spec.name, f"link '{link.name}'", message))
                continue
            found.append(LinkShape(link.index, f"{link.name}/{number}", shape, matrix_of(collision.origin)))
    if len({each.link for each in found}) > 1 and spec.robot.semantics.srdf is None:
        notes.append(BuildNote(spec.name, "self-collision", "is off: no SRDF states which links may touch"))
    return found
