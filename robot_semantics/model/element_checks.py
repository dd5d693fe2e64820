# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Checks of a single joint: a known type, the limits that the type needs, a valid axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.model.joint_types import MOTION, Z_AXIS, JointType, is_unlimited, unit_axis
from robot_semantics.urdf.table import TYPES_WITHOUT_AXIS
from robot_semantics.urdf.tree import Box, Cylinder, Inertial, Joint, Link, Material, Sphere, UrdfRobot, Visual
from robot_semantics.xml.source_map import SourceMap

TYPES: dict[str, JointType] = {kind.value: kind for kind in JointType}
WITHOUT_AXIS = frozenset(map(JointType, TYPES_WITHOUT_AXIS))

Check = Callable[[Joint, JointType, SourceMap, Diagnostics], None]


def check_joint(joint: Joint, places: SourceMap, diagnostics: Diagnostics) -> JointType | None:
    """Report the problems of a single `joint`; return its type, None if unknown."""
    kind = TYPES.get(joint.type)
    if kind is None:
        message = f"joint '{joint.name}' is of unknown type '{joint.type}'"
        place = places.place(joint.ordinal, "type")
        diagnostics.error("unknown-joint-type", message, place, name=joint.type, valid=tuple(TYPES))
        return None
    for check in _CHECKS:
        check(joint, kind, places, diagnostics)
    return kind


def _limits_present(joint: Joint, kind: JointType, places: SourceMap, diagnostics: Diagnostics) -> None:
    if MOTION[kind].limited and joint.limit is None:
        message = f"{kind.value} joint '{joint.name}' has no <limit>"
        diagnostics.error("missing-limit", message, places.place(joint.ordinal))


def _limits_ordered(joint: Joint, kind: JointType, places: SourceMap, diagnostics: Diagnostics) -> None:
    limit = joint.limit
    if not MOTION[kind].limited or limit is None:
        return
    lower, upper = limit.lower or 0.0, limit.upper or 0.0
    if lower > upper:
        attribute = "upper" if limit.lower is None else "lower"
        message = f"the lower limit {lower:g} of joint '{joint.name}' is above the upper limit {upper:g}"
        diagnostics.error("limits-crossed", message, places.place(limit.ordinal, attribute))
    elif is_unlimited(kind, lower, upper):
        unit = "m" if MOTION[kind].slides else "rad"
        message = (
            f"the range {lower:g} to {upper:g} {unit} of joint '{joint.name}' means that it is not limited; "
            "sampling and default positions use a part of it"
        )
        diagnostics.warning("unlimited-range", message, places.place(limit.ordinal))


def _range(joint: Joint, kind: JointType, places: SourceMap, diagnostics: Diagnostics) -> None:
    """Warn about a joint that moves by its type, but cannot move by its limits: zeros, as exporters write them."""
    limit, safety = joint.limit, joint.safety_controller
    if kind is JointType.FIXED or limit is None:
        return
    reasons = []
    # An attribute in error has its own message.
    if MOTION[kind].limited and all(
        getattr(limit, name) is not None or places.value_span(limit.ordinal, name) is None
        for name in ("lower", "upper")
    ):
        if limit.lower is None and limit.upper is None:
            reasons.append("has neither lower nor upper limit; both are 0 by default")
        elif not limit.lower and not limit.upper:
            reasons.append("has the limits 0 to 0")
        elif safety is not None and safety.soft_lower_limit == 0.0 == safety.soft_upper_limit:
            reasons.append("has the soft limits 0 to 0")
    zero = [word for word in ("effort", "velocity") if getattr(limit, word) == 0.0]
    if zero:
        reasons.append(f"has the {' and '.join(zero)} limit 0")
    if reasons:
        message = f"joint '{joint.name}' {' and '.join(reasons)}, so it cannot move"
        diagnostics.warning("no-range", message, places.place(limit.ordinal))


def _limits_in_radians(joint: Joint, kind: JointType, places: SourceMap, diagnostics: Diagnostics) -> None:
    limit = joint.limit
    if kind is not JointType.REVOLUTE or limit is None or is_unlimited(kind, limit.lower or 0.0, limit.upper or 0.0):
        return
    for name, value in (("lower", limit.lower or 0.0), ("upper", limit.upper or 0.0)):
        if abs(value) > 4.0 * math.pi:
            message = f"the {name} limit {value:g} of joint '{joint.name}' is beyond two turns: angles are in radians"
            diagnostics.warning("large-angle", message, places.place(limit.ordinal, name))


def _soft_limits(joint: Joint, kind: JointType, places: SourceMap, diagnostics: Diagnostics) -> None:
    limit, safety = joint.limit, joint.safety_controller
    if not MOTION[kind].limited or limit is None or safety is None:
        return
    lower, upper = limit.lower or 0.0, limit.upper or 0.0
    soft = {"soft_lower_limit": safety.soft_lower_limit, "soft_upper_limit": safety.soft_upper_limit}
    for name, value in soft.items():
        if value is not None and not lower <= value <= upper:
            message = f"{name} {value:g} of joint '{joint.name}' is outside its limits {lower:g} to {upper:g}"
            diagnostics.warning("soft-limit-outside", message, places.place(safety.ordinal, name))
    soft_lower, soft_upper = soft.values()
    if soft_lower is not None and soft_upper is not None and soft_lower > soft_upper:
        message = (
            f"the soft lower limit {soft_lower:g} of joint '{joint.name}' is above the soft upper limit {soft_upper:g}"
        )
        diagnostics.warning("soft-limits-crossed", message, places.place(safety.ordinal, "soft_lower_limit"))


def _calibration(joint: Joint, kind: JointType, places: SourceMap, diagnostics: Diagnostics) -> None:
    limit, calibration = joint.limit, joint.calibration
    if not MOTION[kind].limited or limit is None or calibration is None:
        return
    lower, upper = limit.lower or 0.0, limit.upper or 0.0
    for name in ("rising", "falling", "reference_position"):
        value: float | None = getattr(calibration, name)
        if value is not None and not lower <= value <= upper:
            limits = f"limits {lower:g} to {upper:g}"
            message = f"the calibration position {value:g} of joint '{joint.name}' is outside its {limits}"
            diagnostics.warning("calibration-outside-limits", message, places.place(calibration.ordinal, name))


def _magnitudes(joint: Joint, kind: JointType, places: SourceMap, diagnostics: Diagnostics) -> None:
    if joint.limit is None:
        return
    for name in ("velocity", "effort"):
        value: float | None = getattr(joint.limit, name)
        if value is not None and value < 0:
            message = f"the {name} limit of joint '{joint.name}' must not be negative, but is {value:g}"
            diagnostics.warning("negative-limit", message, places.place(joint.limit.ordinal, name))


def _dynamics(joint: Joint, kind: JointType, places: SourceMap, diagnostics: Diagnostics) -> None:
    if joint.dynamics is None:
        return
    for name in ("damping", "friction"):
        value: float | None = getattr(joint.dynamics, name)
        if value is not None and value < 0:
            message = f"the {name} of joint '{joint.name}' should not be negative, but is {value:g}"
            diagnostics.warning("negative-dynamics", message, places.place(joint.dynamics.ordinal, name))


def _axis(joint: Joint, kind: JointType, places: SourceMap, diagnostics: Diagnostics) -> None:
    if kind not in WITHOUT_AXIS and joint.axis is not None and not any(joint.axis):
        message = f"the axis of joint '{joint.name}' is 0 0 0"
        diagnostics.error("zero-axis", message, places.place(joint.axis_ordinal, "xyz"))


def _planar_axis(joint: Joint, kind: JointType, places: SourceMap, diagnostics: Diagnostics) -> None:
    if kind is not JointType.PLANAR:
        return
    if joint.axis is None:
        message = f"planar joint '{joint.name}' has no <axis>; 0 0 1 is used, not the general default 1 0 0"
        diagnostics.warning("planar-axis-missing", message, places.place(joint.ordinal))
    elif any(joint.axis) and unit_axis(joint, kind) != Z_AXIS:
        message = (
            f"planar joint '{joint.name}' moves in the plane normal to {' '.join(f'{v:g}' for v in joint.axis)}; "
            "MoveIt and pinocchio ignore the axis and use 0 0 1"
        )
        diagnostics.warning("planar-axis", message, places.place(joint.axis_ordinal, "xyz"))


_CHECKS: tuple[Check, ...] = (
    _limits_present,
    _limits_ordered,
    _range,
    _limits_in_radians,
    _soft_limits,
    _calibration,
    _magnitudes,
    _dynamics,
    _axis,
    _planar_axis,
)


# Checks of single links: impossible masses and inertias, undefined materials.


def check_links(robot: UrdfRobot, diagnostics: Diagnostics) -> frozenset[str]:
    """Report wrong inertials and materials; return the links with a meaningless inertial."""
    with_inertial = [(link.name, link.inertial) for link in robot.links if link.inertial is not None]
    bad = frozenset([name for name, inertial in with_inertial if not _mass_is_good(name, inertial, robot, diagnostics)])
    _check_inertias(with_inertial, robot, diagnostics)
    _check_sizes(robot, diagnostics)
    _check_materials(robot, diagnostics)
    return bad


def materials_by_name(robot: UrdfRobot) -> dict[str, Material]:
    """Return the definition for each material name: at robot level, else the first one in a link."""
    found: dict[str, Material] = {}
    for material in (*robot.materials, *(visual.material for visual in _visuals(robot) if visual.material)):
        if material.name and _defines(material):
            found.setdefault(material.name, material)
    return found


def _mass_is_good(name: str, inertial: Inertial, robot: UrdfRobot, diagnostics: Diagnostics) -> bool:
    if inertial.mass >= 0:
        return True
    message = f"the mass of link '{name}' is negative: {inertial.mass:g} kg"
    diagnostics.error("negative-mass", message, robot.places.place(inertial.mass_ordinal, "value"))
    return False


def _check_inertias(inertials: list[tuple[str, Inertial]], robot: UrdfRobot, diagnostics: Diagnostics) -> None:
    """Warn about inertias that are not positive semi-definite, by their principal minors."""
    for name, inertial in inertials:
        if _is_semi_definite(inertial.inertia):
            continue
        message = f"the inertia of link '{name}' is not positive semi-definite, which is impossible for a body"
        diagnostics.warning("inertia-not-physical", message, robot.places.place(inertial.inertia_ordinal))


def _is_semi_definite(inertia: Sequence[float]) -> bool:
    # Scaled to entries of at most 1: the minors neither overflow nor underflow, and one tolerance fits all.
    scale = max(map(abs, inertia)) or 1.0
    xx, xy, xz, yy, yz, zz = (value / scale for value in inertia)
    minors = (
        xx,
        yy,
        zz,
        xx * yy - xy * xy,
        xx * zz - xz * xz,
        yy * zz - yz * yz,
        xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz),
    )
    # The rounded decimal inertia of a thin rod may miss semi-definiteness slightly.
    return min(minors) >= -1e-9


def _check_sizes(robot: UrdfRobot, diagnostics: Diagnostics) -> None:
    """Warn about negative sizes, which every reader treats differently; negative capsules are parse errors."""
    for link in robot.links:
        shapes = [visual.geometry for visual in link.visuals] + [shape.geometry for shape in link.collisions]
        for shape in shapes:
            if isinstance(shape, (Box, Cylinder, Sphere)):
                for name, value in _sizes(shape):
                    if value < 0:
                        tag = type(shape).__name__.lower()
                        message = f"attribute '{name}' of <{tag}> should not be negative, but is {value:g}"
                        diagnostics.warning("negative-size", message, robot.places.place(shape.ordinal, name))


def _sizes(shape: Box | Cylinder | Sphere) -> Iterator[tuple[str, float]]:
    """Yield the lengths of a shape with their attribute names."""
    if isinstance(shape, Box):
        yield "size", min(shape.size)
    else:
        yield "radius", shape.radius
    if isinstance(shape, Cylinder):
        yield "length", shape.length


def _check_materials(robot: UrdfRobot, diagnostics: Diagnostics) -> None:
    first: dict[str, Material] = {}
    for material in robot.materials:
        if not material.name:
            continue
        if material.name in first:
            line = robot.places.place(first[material.name].ordinal).line
            message = f"material '{material.name}' is declared twice, first on line {line}"
            diagnostics.error("duplicate-name", message, robot.places.place(material.ordinal, "name"))
            continue
        first[material.name] = material
        if not _defines(material):
            message = f"material '{material.name}' has neither a colour nor a texture"
            diagnostics.warning("empty-material", message, robot.places.place(material.ordinal))
    materials = materials_by_name(robot)
    inline = [visual.material for visual in _visuals(robot) if visual.material is not None]
    _check_colours((*robot.materials, *inline), robot, diagnostics)
    for visual in _visuals(robot):
        used = visual.material
        if used is None or not used.name:
            continue
        if used.name not in materials:
            message = f"material '{used.name}' is not defined"
            place = robot.places.place(used.ordinal, "name")
            diagnostics.warning("unknown-material", message, place, name=used.name, valid=materials)
        elif _defines(used) and _appearance(used) != _appearance(materials[used.name]):
            line = robot.places.place(materials[used.name].ordinal).line
            message = f"material '{used.name}' looks different on line {line}, and other programs use that one"
            diagnostics.warning("material-redefined", message, robot.places.place(used.ordinal))


def _check_colours(materials: Iterable[Material], robot: UrdfRobot, diagnostics: Diagnostics) -> None:
    for material in materials:
        if material.rgba is not None and not all(0.0 <= value <= 1.0 for value in material.rgba):
            rgba = " ".join(f"{value:g}" for value in material.rgba)
            message = f"the colour {rgba} of material '{material.name or ''}' is not within 0 to 1"
            diagnostics.warning("colour-range", message, robot.places.place(material.ordinal))


def _visuals(robot: UrdfRobot) -> list[Visual]:
    return [visual for link in robot.content if isinstance(link, Link) for visual in link.visuals]


def _defines(material: Material) -> bool:
    return material.rgba is not None or material.texture is not None


def _appearance(material: Material) -> tuple[object, object]:
    return material.rgba, material.texture
