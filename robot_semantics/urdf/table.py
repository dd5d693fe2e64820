# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The table of URDF in its current form: every element and attribute, its field, and its first version."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from functools import partial
from typing import Any

from robot_semantics.urdf.extras import ExtraKeeper, kept_extras, verbatim
from robot_semantics.urdf.older_forms import UrdfReader
from robot_semantics.urdf.tree import (
    Box,
    Calibration,
    Capsule,
    Collision,
    Constraint,
    Cylinder,
    Dynamics,
    Inertia,
    Inertial,
    Joint,
    Limit,
    Link,
    Material,
    Mesh,
    Mimic,
    Origin,
    SafetyController,
    Sphere,
    UrdfRobot,
    Visual,
)
from robot_semantics.xml.numbers import (
    finite_text,
    finite_texts,
    not_negative,
    number,
    numbers,
    positive,
    quaternion,
    vec3,
)
from robot_semantics.xml.schema import (
    TEXT,
    Attribute,
    BadValueError,
    CheckedReader,
    Child,
    Element,
    Fields,
    FormatTable,
    ValueKind,
)

# The texts of URDF: how each kind of text becomes a value and back.


VERSIONS = ("1.0", "1.1", "1.2")
BOUNDED_TYPES = ("revolute", "prismatic")
"""Types of joints whose ``<limit>`` bounds the position."""
TYPES_WITHOUT_AXIS = ("fixed", "floating")


def _name(text: str) -> str:
    if not text:
        raise BadValueError("empty-name", "is empty", "")
    # The name of a link is read up to three times, and found faster if it is one object.
    return sys.intern(text)


def _link_name(text: str) -> str:
    if not text:
        raise BadValueError("empty-name", "is empty")
    return sys.intern(text)


def _version(text: str) -> str:
    if text not in VERSIONS:
        raise BadValueError("unknown-version", f"is '{text}'; known are {', '.join(VERSIONS)}")
    return text


_DOUBLE = '<data type="double"/>'
NAME = ValueKind("name", "<text/>", _name, TEXT.write)
LINK_NAME = ValueKind("link-name", "<text/>", _link_name, TEXT.write)
VERSION = ValueKind("version", "<text/>", _version, TEXT.write)
NUMBER = ValueKind("number", _DOUBLE, number, finite_text)
POSITIVE = ValueKind("positive", _DOUBLE, positive, finite_text)
NOT_NEGATIVE = ValueKind("not-negative", _DOUBLE, not_negative, finite_text)
VEC3 = ValueKind("vec3", f"<list>{_DOUBLE * 3}</list>", vec3, finite_texts)
RGBA = ValueKind("rgba", f"<list>{_DOUBLE * 4}</list>", partial(numbers, count=4), finite_texts)
QUATERNION = ValueKind("quaternion", f"<list>{_DOUBLE * 4}</list>", quaternion, finite_texts)


# The part of URDF's table for loop constraints.


def constraint_element(joint: Element, origin: Element, axis: ValueKind) -> Element:
    """Return the element ``<constraint>``; name, type, parent and child are those of `joint`."""
    children: dict[str, Child] = {}
    for side in ("parent", "child"):
        children[side] = joint.children[side]
        frame = replace(origin, tag=f"{side}_origin")
        children[f"{side}_origin"] = Child(f"{side}_origin", frame, vital=True)
        direction = Element(f"{side}_axis", None, {"xyz": Attribute("", axis, True)})
        children[f"{side}_axis"] = Child(f"{side}_axis", direction, ordinal=f"{side}_axis_ordinal")
    return Element(
        "constraint", Constraint, joint.attributes, children, keeps=True, numbered=True, check=_axes_are_known
    )


def _axes_are_known(reader: CheckedReader, values: Fields, at: int) -> bool:
    """Return True if no axis of a constraint is invalid."""
    return all(values.get(axis, ()) is not None for axis in ("parent_axis", "child_axis"))


FOREIGN_TAGS = frozenset(
    {
        "contact",
        "contact_coefficient",
        "coupling",
        "drake",
        "force_torque_sensor",
        "frame",
        "gazebo",
        "loop",
        "loop_joint",
        "mujoco",
        "ros2_control",
        "self_collision_checking",
        "sensor",
        "transmission",
        "verbose",
    }
)
"""Tags of other programs in a URDF; they are kept verbatim without a message."""


def _orientation(reader: CheckedReader, values: Fields, number: int) -> bool:
    """Report two orientations, and angles that are probably in degrees."""
    tag = reader.node.tag
    rpy = values.get("rpy")
    largest = max(rpy, key=abs) if isinstance(rpy, tuple) else 0.0
    if abs(largest) > 2.0 * math.pi:
        message = f"<{tag}> has the angle {largest:g}, more than a full turn: angles are in radians"
        reader.warning("large-angle", message, number, "rpy")
    if "rpy" not in values or "quat_xyzw" not in values:
        return True
    reader.error("two-orientations", f"<{tag}> has both 'rpy' and 'quat_xyzw'; remove one of them", number, "quat_xyzw")
    return False


def _color(reader: CheckedReader, values: Fields, number: int) -> bool:
    """Convert the ``<color rgb>`` of the 2009 review, whose numbers go up to 255."""
    rgb = values.pop("rgb", None)
    if not isinstance(rgb, tuple):
        if "" not in values and reader.node.get("rgba") is None:
            reader.missing("color", "rgba", number)
        return "" in values
    if "" in values:
        reader.warning("duplicate-element", "<color> has both 'rgba' and 'rgb'; 'rgba' is used", number, "rgb")
        return True
    whole = 255.0 if max(rgb) > 1.0 else 1.0
    message = f"<color rgb> is an older form of <color rgba>; its numbers are read as 0 to {whole:g}"
    assert isinstance(reader, UrdfReader)
    reader.in_older_dialect(message, number)
    values[""] = (*(value / whole for value in rgb), 1.0)
    return True


def _texture(reader: CheckedReader, values: Fields, at: int) -> bool:
    # Exporters write an empty <texture/> beside a colour; every reader ignores it.
    if not values.get(""):
        reader.warning("empty-element", "<texture> has no attribute 'filename'; it is not used", at)
        return False
    return True


def _named_material(reader: CheckedReader, values: Fields, at: int) -> bool:
    if not values.get("name"):
        message = "<material> has no 'name'; most programs ignore a material without a name"
        reader.warning("unnamed-material", message, at)
    return True


def _has_attributes(reader: CheckedReader, values: Fields, at: int) -> bool:
    if not values:
        tag = reader.node.tag
        reader.warning("empty-element", f"<{tag}> has no attribute, so it has no effect", at)
    return True


def _limit(reader: CheckedReader, values: Fields, number: int) -> bool:
    """Check the required attributes of a limit: only version 1.2 allows limits without effort and velocity."""
    required: tuple[str, ...] = ("effort", "velocity")
    if reader.version >= "1.2":
        node = reader.node
        for name in required:
            try:
                not_negative(node.get(name, "0"))
            except BadValueError as error:
                if values.pop(name, None) is not None:
                    reader.error(error.code, f"attribute '{name}' of <limit> {error}", number, name)
        joint = node.getparent()
        bounded = joint is not None and joint.get("type") in BOUNDED_TYPES
        required = ("lower", "upper") if bounded else ()
    for name in required:
        if name not in values and reader.node.get(name) is None:
            reader.missing("limit", name, number)
    return True


def _axis_is_known(reader: CheckedReader, values: Fields, at: int) -> bool:
    """Return True if the axis is valid or not needed; a missing axis gets its default."""
    if "axis" not in values or values["axis"] is not None or values.get("type") in TYPES_WITHOUT_AXIS:
        return True
    axis = reader.node.find("axis")
    return axis is not None and axis.get("xyz") is None


def _around_root(reader: CheckedReader, values: Fields, at: int) -> bool:
    """Add the content of the whole document, including comments before and after the root."""
    assert isinstance(reader, UrdfReader)
    assert isinstance(reader.keeper, ExtraKeeper)
    root = reader.node
    values["namespaces"] = tuple(sorted(reader.keeper.namespaces.items()))
    values["complete"] = not reader.faulty & {"link", "joint"}
    values["rewritten"] = reader.older
    values["prolog"] = tuple(map(verbatim, reversed(list(root.itersiblings(preceding=True)))))
    values["epilog"] = tuple(map(verbatim, root.itersiblings()))
    values["places"] = reader.document.places
    return True


def _robot(order: tuple[str, ...] = (), **values: Any) -> UrdfRobot:
    return UrdfRobot(**values)


def _attributes(kind: ValueKind, *names: str, required: bool = False) -> dict[str, Attribute]:
    return {name: Attribute(name, kind, required) for name in names}


_NAME = {"name": Attribute("name")}
_ORIGIN = Element(
    "origin",
    Origin,
    {**_attributes(VEC3, "xyz", "rpy"), "quat_xyzw": Attribute("quat_xyzw", QUATERNION, since="1.1")},
    numbered=True,
    whole=True,
    check=_orientation,
)
_PLACED = {"origin": Child("origin", _ORIGIN, vital=True)}


def _shape(tag: str, make: type, attributes: dict[str, Attribute], since: str = "") -> Child:
    return Child("", Element(tag, make, attributes, numbered=True, whole=True, since=since))


_GEOMETRY = Element(
    "geometry",
    None,
    {},
    {
        "box": _shape("box", Box, _attributes(VEC3, "size", required=True)),
        "cylinder": _shape("cylinder", Cylinder, _attributes(NUMBER, "radius", "length", required=True)),
        "capsule": _shape("capsule", Capsule, _attributes(POSITIVE, "radius", "length", required=True), "1.1"),
        "sphere": _shape("sphere", Sphere, _attributes(NUMBER, "radius", required=True)),
        "mesh": _shape("mesh", Mesh, {**_attributes(TEXT, "filename", required=True), **_attributes(VEC3, "scale")}),
    },
    choice="shape",
)
_MATERIAL = Element(
    "material",
    Material,
    _NAME,
    {
        "color": Child(
            "rgba",
            Element(
                "color", None, {"rgba": Attribute("", RGBA), "rgb": Attribute("rgb", VEC3)}, whole=True, check=_color
            ),
        ),
        "texture": Child("texture", Element("texture", None, {"filename": Attribute("")}, check=_texture)),
    },
    keeps=True,
    numbered=True,
    check=_named_material,
)
_SHAPED = {**_PLACED, "geometry": Child("geometry", _GEOMETRY, required=True)}
_VISUAL = Element(
    "visual", Visual, _NAME, {**_SHAPED, "material": Child("material", _MATERIAL)}, keeps=True, numbered=True
)
_COLLISION = Element("collision", Collision, _NAME, _SHAPED, keeps=True, numbered=True)
_INERTIAL = Element(
    "inertial",
    Inertial,
    {},
    {
        **_PLACED,
        "mass": Child(
            "mass", Element("mass", None, {"value": Attribute("", NUMBER, True)}), required=True, ordinal="mass_ordinal"
        ),
        "inertia": Child(
            "inertia",
            Element("inertia", Inertia, _attributes(NUMBER, *Inertia._fields, required=True), fields=Inertia._make),
            required=True,
            ordinal="inertia_ordinal",
        ),
    },
    keeps=True,
    numbered=True,
)
_LINK = Element(
    "link",
    Link,
    {"name": Attribute("name", NAME, True)},
    {
        "inertial": Child("inertial", _INERTIAL),
        "visual": Child("visuals", _VISUAL, many=True),
        "collision": Child("collisions", _COLLISION, many=True),
    },
    keeps=True,
    numbered=True,
)


def _end(tag: str) -> Child:
    element = Element(tag, None, {"link": Attribute("", LINK_NAME, True)})
    return Child(tag, element, required=True, ordinal=f"{tag}_ordinal")


def _values(tag: str, make: type, attributes: dict[str, Attribute]) -> Child:
    return Child(tag, Element(tag, make, attributes, numbered=True, whole=True, check=_has_attributes))


_LIMIT = Element(
    "limit",
    Limit,
    {
        **_attributes(NUMBER, "lower", "upper", "effort", "velocity"),
        **{name: Attribute(name, NOT_NEGATIVE, since="1.2") for name in ("acceleration", "deceleration", "jerk")},
    },
    numbered=True,
    check=_limit,
)
_JOINT = Element(
    "joint",
    Joint,
    {"name": Attribute("name", NAME, True), "type": Attribute("type", required=True)},
    {
        **_PLACED,
        "parent": _end("parent"),
        "child": _end("child"),
        "axis": Child("axis", Element("axis", None, {"xyz": Attribute("", VEC3, True)}), ordinal="axis_ordinal"),
        "calibration": _values(
            "calibration", Calibration, _attributes(NUMBER, "rising", "falling", "reference_position")
        ),
        "dynamics": _values("dynamics", Dynamics, _attributes(NUMBER, "damping", "friction")),
        "limit": Child("limit", _LIMIT),
        "mimic": _values(
            "mimic", Mimic, {"joint": Attribute("joint", TEXT, True), **_attributes(NUMBER, "multiplier", "offset")}
        ),
        "safety_controller": _values(
            "safety_controller",
            SafetyController,
            {
                "k_velocity": Attribute("k_velocity", NUMBER, True),
                **_attributes(NUMBER, "k_position", "soft_lower_limit", "soft_upper_limit"),
            },
        ),
    },
    keeps=True,
    numbered=True,
    partial=True,
    check=_axis_is_known,
)
URDF: FormatTable[UrdfRobot] = FormatTable(
    Element(
        "robot",
        _robot,
        {"name": Attribute("name", NAME, True, default=""), "version": Attribute("version", VERSION)},
        {
            "link": Child("content", _LINK, many=True),
            "joint": Child("content", _JOINT, many=True),
            "material": Child("content", _MATERIAL, many=True),
            "constraint": Child("content", constraint_element(_JOINT, _ORIGIN, VEC3), many=True),
        },
        keeps=True,
        numbered=True,
        check=_around_root,
    ),
    silent_tags=FOREIGN_TAGS,
    suggested_tags=("gazebo", "ros2_control", "sensor", "transmission"),
    keeper=ExtraKeeper,
    kept=kept_extras,
)
