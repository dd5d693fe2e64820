# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The identity of a state's robot (``rs:hash``): a digest of the model of a URDF, not of its text."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from lxml import etree

from robot_semantics.base.caches import cached_per_object
from robot_semantics.base.json_value import Json, JsonObject
from robot_semantics.model.element_checks import TYPES, WITHOUT_AXIS
from robot_semantics.model.joint_types import default_axis
from robot_semantics.model.robot_model import MimicSource, RobotModel
from robot_semantics.urdf import tree
from robot_semantics.usdf.world_state import ModelState
from robot_semantics.xml.reader import parse_xml

FORM = "robot_semantics model 1"
"""Name of the form that is digested; it changes whenever the form does. doc/usdf.md describes it."""


def sha256_of(content: bytes) -> str:
    """Return a digest of some bytes, as 64 hexadecimal digits."""
    import hashlib  # OpenSSL, which most commands do not need, takes 3 ms.

    return hashlib.sha256(content).hexdigest()


@cached_per_object
def model_digest(robot: RobotModel) -> str | None:
    """Return the SHA-256, in hexadecimal, of a robot's kinematics, masses, collisions and limits; None without a URDF.

    The hash includes, sorted by name, links with inertia and collision geometry, and joints without calibration.
    Numbers are as read; missing values are their defaults. The hash ignores visuals, indentation, order, comments,
    transmissions, foreign elements and the robot's name.
    """
    if not robot.urdf.places.text.strip():
        return None
    form = {
        "form": FORM,
        "links": {link.name: _link(link.urdf) for link in robot.links},
        "joints": {joint.name: _joint(joint.urdf) for joint in robot.joints if joint.urdf is not None},
    }
    if robot.constraints:
        form["constraints"] = {one.name: _values(one.urdf) for one in robot.constraints if one.urdf is not None}
    return sha256_of(_text(form).encode("utf-8", "surrogatepass"))


@cached_per_object
def appearance_digest(robot: RobotModel) -> str:
    """Return a digest of a robot's appearance: its visuals and materials."""
    appearance = [
        {link.name: [_values(visual) for visual in link.urdf.visuals] for link in robot.links},
        [_values(item) for item in robot.urdf.content if isinstance(item, tree.Material)],
    ]
    return sha256_of(json.dumps(appearance, sort_keys=True).encode("utf-8", "surrogatepass"))


def describes_another_robot(state: ModelState, robot: RobotModel) -> str | None:
    """Return a sentence if a state is of another robot than `robot`; None if it is of `robot` or has no hash."""
    stated = state.urdf_sha256
    if stated is None or is_of(stated, robot):
        return None
    own = model_digest(robot)
    if own is None:
        return None
    return f"the state was made from another URDF (its model is {stated[:12]}…, this robot's is {own[:12]}…)"


def is_of(digest: str | None, robot: RobotModel) -> bool:
    """Return True if an ``rs:hash`` is this robot's: of its model or, in older files, of its URDF's canonical XML."""
    return digest is not None and digest in (model_digest(robot), _text_digest(robot))


@cached_per_object
def _text_digest(robot: RobotModel) -> str | None:
    places = robot.urdf.places
    if not places.text.strip():
        return None
    document = parse_xml(places.text, places.source, forgiving=True)
    return sha256_of(etree.tostring(document.root, method="c14n", with_comments=False))


def _text(values: object) -> str:
    return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _link(link: tree.Link) -> JsonObject:
    inertial = link.inertial
    return {
        "inertial": None
        if inertial is None
        else [_numbers(inertial.mass), _numbers(*inertial.inertia), _origin(inertial.origin)],
        "collisions": sorted(
            ([_geometry(shape.geometry), _origin(shape.origin)] for shape in link.collisions), key=_text
        ),
    }


def _joint(joint: tree.Joint) -> JsonObject:
    fields = {
        name: _values(getattr(joint, name))
        for name in ("limit", "dynamics", "safety_controller", "mimic")
        if getattr(joint, name) is not None
    }
    if joint.mimic is not None:
        followed = MimicSource.of(joint.mimic)
        fields["mimic"] = [followed.joint, *_numbers(followed.multiplier, followed.offset)]
    kind = TYPES.get(joint.type)
    axis = None if kind in WITHOUT_AXIS else joint.axis or default_axis(kind)
    return {
        "type": joint.type,
        "between": [joint.parent, joint.child],
        "origin": _origin(joint.origin),
        "axis": None if axis is None else _numbers(*axis),
        **fields,
    }


def _origin(origin: tree.Origin | None) -> list[float]:
    if origin is None:
        return _numbers(*(0.0,) * 6)
    return _numbers(*origin.xyz, *(origin.quat_xyzw or origin.rpy or (0.0, 0.0, 0.0)))


def _geometry(geometry: tree.Geometry) -> list[Json]:
    scale = getattr(geometry, "scale", None)
    values = _values(geometry)
    if isinstance(geometry, tree.Mesh):
        values["scale"] = _numbers(*(scale or (1.0, 1.0, 1.0)))
    return [type(geometry).__name__.lower(), values]


def _values(value: Any) -> Any:
    """Return a frozen value of the tree as plain data, without places, foreign parts and missing values."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _numbers(value)[0]
    if isinstance(value, tuple):
        return [_values(item) for item in value]
    if not hasattr(value, "__dataclass_fields__"):
        return value
    return {
        field.name: _values(stated)
        for field in fields(value)
        if field.compare and field.name not in ("extras", "name") and (stated := getattr(value, field.name)) is not None
    }


def _numbers(*values: float) -> list[float]:
    # Adding zero changes -0.0 to 0.0.
    return [float(value) + 0.0 for value in values]
