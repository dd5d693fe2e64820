# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The simulated world as an SDFormat document: its robots link by link, and their present state."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from lxml import etree

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import quoted
from robot_semantics.convert.conversion import Converted
from robot_semantics.convert.sdformat_state import SdfNames, to_sdformat, unused_name
from robot_semantics.kinematics.joint_space import followings
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.mesh_files import Surface, mesh_surface
from robot_semantics.model.robot_model import JointModel
from robot_semantics.simulation.drake_surfaces import sdf_properties, surface_properties
from robot_semantics.simulation.sim_models import BodyInertia, link_inertias, lost_loops
from robot_semantics.simulation.world_spec import BuildNote, ModelSpec, WorldSpec, file_uri
from robot_semantics.transforms import matrix_from_xyz_quat, xyz_quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.urdf import tree as urdf_tree
from robot_semantics.urdf.dialects import matrix_from_origin
from robot_semantics.usdf.frames import resolve_frames
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.xml.numbers import shortest
from robot_semantics.xml.reader import parse_xml

_TYPES = {
    JointType.REVOLUTE: "revolute",
    JointType.CONTINUOUS: "continuous",
    JointType.PRISMATIC: "prismatic",
    JointType.FIXED: "fixed",
    JointType.PLANAR: "fixed",
}
"""SDFormat's joint types. A link without a joint floats."""


NO_INERTIA = BodyInertia(1e-6, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), np.full(3, 1e-12))
"""Inertia of a link without mass that cannot move against its parent. SDFormat gives a link without `<inertial>` 1 kg,
and refuses a mass of zero.
"""


GROUND = (1000.0, 1000.0, 1.0)
"""Size of the floor [m]; its upper side is at z = 0."""


class ObjMeshes:
    """Collision meshes as OBJ files in a folder beside the document: Drake reads neither STL nor COLLADA."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.surfaces: dict[Path, Surface] = {}
        """Content of the files, by path."""
        self._names: dict[Path, str] = {}

    def uri(self, mesh: Path) -> str:
        """Return the URI of a mesh's OBJ file, relative to the document.

        Raises:
            RobotSemanticsError: the mesh cannot be read.
            MissingExtraError: trimesh is not installed.
            OSError: the file does not exist.

        """
        if mesh not in self._names:
            name = f"{unused_name(mesh.stem, 'mesh', self._names.values())}.obj"
            self.surfaces[self.folder / name] = mesh_surface(mesh, "mujoco")
            self._names[mesh] = name.removesuffix(".obj")
        return f"{self.folder.name}/{self._names[mesh]}.obj"


def sdf_of(spec: WorldSpec, state: WorldState, meshes: ObjMeshes | None = None) -> Converted[str]:
    """Return the SDFormat text of a world. Its models have all joints at zero; a captured `state` is its state.

    Collision meshes have the URIs of `meshes`, or of their own files without it.
    """
    names = SdfNames(state, {model.name: model.robot for model in spec.models})
    mimics = any(joint.mimic is not None for model in spec.models for joint in model.robot.joints)
    stated = to_sdformat(state, version="1.11" if mimics else "1.9", names=names)
    document = parse_xml(stated.value, "<sdf>").root
    world = document[0]
    exporter = _SdfExporter(names, meshes)
    physics = etree.Element("physics", name="default", type="ignored")
    _child(physics, "max_step_size", shortest(spec.timestep))
    gravity = etree.Element("gravity")
    gravity.text = f"0 0 {shortest(spec.gravity)}"
    placed = resolve_frames(state)
    models = [exporter.model(model, placed.pose(model.name)) for model in spec.models]
    for at, element in enumerate((physics, gravity, *([_ground(names)] if spec.ground else []), *models)):
        world.insert(at, element)
    etree.indent(document)
    text = etree.tostring(document, xml_declaration=True, encoding="UTF-8").decode()
    return Converted(f"{text}\n", (*exporter.losses, *stated.lost))


class _SdfExporter:
    def __init__(self, names: SdfNames, meshes: ObjMeshes | None) -> None:
        self.losses: list[str] = []
        self._names, self._meshes = names, meshes

    def model(self, spec: ModelSpec, T_world_root: FloatArray) -> etree._Element:
        """Return a robot with its root link at a (4, 4) pose in the world."""
        robot, element = spec.robot, etree.Element("model", name=self._names.models[spec.name])
        _pose(element, T_world_root)
        notes: list[BuildNote] = []
        inertias = link_inertias(spec, notes)
        self.losses += [str(note) for note in notes]
        weightless = [link.name for link, inertia in zip(robot.links, inertias, strict=True) if not inertia.mass]
        if weightless:
            self.losses.append(
                f"model '{spec.name}': that links have no mass: {NO_INERTIA.mass:g} kg: {quoted(weightless, 3)}"
            )
        link_names = [self._names.link(spec.name, name) for name in robot.link_names]
        if not spec.has_floating_base:
            name = self._names.unused("world_joint", spec.name)
            self._joint(spec, element, name, ("world", link_names[0]), spec.root_joint)
        for link, joint in zip(robot.links, robot.joints, strict=True):
            link_element = etree.SubElement(element, "link", name=link_names[link.index])
            if link.index:
                _pose(link_element, joint.T_parent_joint).set("relative_to", link_names[link.parent])
            _inertial(link_element, inertias[link.index] if inertias[link.index].mass else NO_INERTIA)
            for number, collision in enumerate(link.urdf.collisions):
                self._geometry(spec, link_element, f"collision_{number}", collision)
            for number, visual in enumerate(link.urdf.visuals):
                self._geometry(spec, link_element, f"visual_{number}", visual)
        for link, joint in zip(robot.links[1:], robot.joints[1:], strict=True):
            if not joint.motion.has_quaternion:
                name = self._names.joint(spec.name, joint.name)
                self._joint(spec, element, name, (link_names[link.parent], link_names[link.index]), joint)
        self.losses += lost_loops(spec)
        for joint, leader, _ in followings(robot):
            if joint.position_count > 1:
                self.losses.append(f"model '{spec.name}': that joint '{joint.name}' follows '{leader.name}'")
        if robot.semantics.srdf is not None:
            self.losses.append(f"model '{spec.name}': what its SRDF says: its links do not collide with each other")
        return element

    def _joint(
        self,
        spec: ModelSpec,
        element: etree._Element,
        name: str,
        links: tuple[str, str],
        joint: JointModel,
    ) -> None:
        joint_element = etree.SubElement(element, "joint", name=name, type=_TYPES[joint.type])
        _child(joint_element, "parent", links[0])
        _child(joint_element, "child", links[1])
        if joint.motion.is_planar:
            self.losses.append(f"model '{spec.name}': that joint '{joint.name}' moves in a plane: it is fixed")
        if joint.velocity_count != 1:
            return
        axis = etree.SubElement(joint_element, "axis")
        _child(axis, "xyz", _row(joint.axis.tolist()))
        limit = etree.SubElement(axis, "limit")
        limits = joint.limits
        for tag, value, is_known in (
            ("lower", limits.lower, True),
            ("upper", limits.upper, True),
            ("effort", limits.effort, limits.effort > 0.0),
            ("velocity", limits.velocity, limits.velocity > 0.0),
        ):
            if is_known and np.isfinite(value):
                _child(limit, tag, shortest(value))
        dynamics = joint.urdf.dynamics if joint.urdf is not None else None
        if dynamics is not None:
            words = etree.SubElement(axis, "dynamics")
            for word, value in (("damping", dynamics.damping or 0.0), ("friction", dynamics.friction or 0.0)):
                _child(words, word, shortest(max(value, 0.0)))
                if value < 0.0:
                    self.losses.append(f"model '{spec.name}': the negative {word} of joint '{joint.name}': it is 0")
        if joint.mimic is not None:
            mimic = etree.SubElement(axis, "mimic", joint=self._names.joint(spec.name, joint.mimic.joint))
            _child(mimic, "multiplier", shortest(joint.mimic.multiplier))
            _child(mimic, "offset", shortest(joint.mimic.offset))
            _child(mimic, "reference", "0")

    def _geometry(
        self, spec: ModelSpec, link: etree._Element, name: str, part: urdf_tree.Collision | urdf_tree.Visual
    ) -> None:
        tag = name.partition("_")[0]
        geometry = part.geometry
        try:
            shape = _shape(geometry, spec, self._meshes if isinstance(part, urdf_tree.Collision) else None)
        except (RobotSemanticsError, OSError) as error:
            self.losses.append(f"model '{spec.name}': a {tag} of link '{link.get('name')}': {error}")
            return
        made = etree.SubElement(link, tag, name=name)
        _pose(made, matrix_from_origin(part.origin))
        etree.SubElement(made, "geometry").append(shape)
        if isinstance(part, urdf_tree.Collision) and (stated := surface_properties(part)) is not None:
            made.append(sdf_properties(stated))


def _shape(geometry: urdf_tree.Geometry, spec: ModelSpec, meshes: ObjMeshes | None) -> etree._Element:
    if isinstance(geometry, urdf_tree.Mesh):
        element, path = etree.Element("mesh"), spec.find_mesh(geometry.filename).resolve()
        _child(element, "uri", file_uri(path) if meshes is None else meshes.uri(path))
        _child(element, "scale", _row(geometry.scale or (1.0, 1.0, 1.0)))
        return element
    element = etree.Element(type(geometry).__name__.lower())
    if isinstance(geometry, urdf_tree.Box):
        _child(element, "size", _row(geometry.size))
    else:
        _child(element, "radius", shortest(geometry.radius))
    if isinstance(geometry, urdf_tree.Cylinder | urdf_tree.Capsule):
        _child(element, "length", shortest(geometry.length))
    return element


def _inertial(link: etree._Element, inertia: BodyInertia) -> None:
    element = etree.SubElement(link, "inertial")
    _pose(element, matrix_from_xyz_quat(inertia.xyz, inertia.quat_xyzw))
    _child(element, "mass", shortest(inertia.mass))
    moments = etree.SubElement(element, "inertia")
    xx, yy, zz = inertia.moments.tolist()
    for tag, value in (("ixx", xx), ("ixy", 0.0), ("ixz", 0.0), ("iyy", yy), ("iyz", 0.0), ("izz", zz)):
        _child(moments, tag, shortest(value))


def _ground(names: SdfNames) -> etree._Element:
    model = etree.Element("model", name=unused_name("ground", "plane", names.models.values()))
    _child(model, "static", "true")
    collision = etree.SubElement(etree.SubElement(model, "link", name="link"), "collision", name="collision")
    # A box, because Drake crashes with many shapes beside a <plane>.
    _child(collision, "pose", f"0 0 {shortest(-0.5 * GROUND[2])} 0 0 0")
    _child(etree.SubElement(etree.SubElement(collision, "geometry"), "box"), "size", _row(GROUND))
    return model


def _child(parent: etree._Element, tag: str, text: str) -> etree._Element:
    element = etree.SubElement(parent, tag)
    element.text = text
    return element


def _pose(parent: etree._Element, T: FloatArray) -> etree._Element:
    element = _child(parent, "pose", _row(xyz_quat_from_matrix(T).tolist()))
    element.set("rotation_format", "quat_xyzw")
    return element


def _row(values: Sequence[float]) -> str:
    return " ".join(map(shortest, values))
