# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""URDF with spheres in the place of all collision geometry, as VAMP, cricket and foam use it."""

from __future__ import annotations

from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.convert.conversion import Converted
from robot_semantics.convert.planner_robot import PlannerRobot, no_sphere
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.tree import SrdfSphere
from robot_semantics.urdf.reader import parse_urdf, urdf_from_file
from robot_semantics.urdf.tree import Sphere
from robot_semantics.xml.edit import NewElement, XmlText
from robot_semantics.xml.numbers import number_text


def from_sphere_urdf(path: str | Path, robot: RobotModel, diagnostics: Diagnostics) -> Converted[PlannerRobot]:
    """Return the spheres of a URDF whose collision geometry is only spheres; unknown links are warnings.

    Raises:
        DescriptionError: the file is not a URDF, or has another collision geometry.
    """
    tree = urdf_from_file(path)
    found: dict[str, tuple[SrdfSphere, ...]] = {}
    lost: list[str] = []
    for link in tree.links:
        spheres: list[SrdfSphere] = []
        for at, collision in enumerate(link.collisions):
            if isinstance(collision.geometry, Sphere) and collision.geometry.radius <= 0.0:
                lost.append(no_sphere(link.name, at, collision.geometry.radius))
            elif isinstance(collision.geometry, Sphere):
                center = collision.origin.xyz if collision.origin else (0.0, 0.0, 0.0)
                spheres.append(SrdfSphere(center, collision.geometry.radius))
            else:
                kind = type(collision.geometry).__name__.lower()
                message = f"link '{link.name}': the collision geometry is a {kind}, not a sphere"
                diagnostics.error("unusable-geometry", message, tree.places.place(collision.at))
        if spheres and link.name in robot.link_index:
            found[link.name] = tuple(spheres)
        elif spheres:
            message, place = f"unknown link '{link.name}' in the spheres; left out", tree.places.place(link.at, "name")
            diagnostics.warning("unknown-link", message, place, name=link.name, valid=robot.link_index)
    diagnostics.raise_if_failed()
    return Converted(PlannerRobot(found), tuple(lost))


def to_sphere_urdf(planner: PlannerRobot, robot: RobotModel) -> Converted[str]:
    """Return the robot's URDF with the spheres in the place of its collision geometry; the rest is unchanged."""
    text = XmlText(robot.urdf_text, robot.urdf.places.source)
    links = parse_urdf(str(text.utf8.decode()), text.source, Diagnostics()).links
    text = text.edited([text.removal(collision.at) for link in links for collision in link.collisions])
    # Element numbers change with each removal.
    links = parse_urdf(text.utf8.decode(), text.source, Diagnostics()).links
    text = text.edited(
        text.insertion([_collision(sphere) for sphere in planner.spheres[link.name]], link.at, None)
        for link in links
        if link.name in planner.spheres
    )
    lost = list(planner.beyond_spheres())
    for count, what in (
        (len(planner.ignored), "ignored pairs"),
        (len(planner.joints), "joints of the planner"),
        (len(planner.positions), "default positions"),
        (len(planner.tool_frames), "tool frames"),
    ):
        if count:
            lost.append(f"{count} {what}")
    return Converted(text.utf8.decode(), tuple(lost))


def _collision(sphere: SrdfSphere) -> NewElement:
    origin = NewElement("origin", (("xyz", " ".join(map(number_text, sphere.center))),))
    geometry = NewElement("geometry", (), (NewElement("sphere", (("radius", number_text(sphere.radius)),)),))
    return NewElement("collision", (), (origin, geometry))
