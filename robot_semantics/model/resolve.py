"""A URDF tree to a checked kinematic tree: names resolved, cycles and double parents found, mimics followed."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from robot_semantics.description.urdf_tree import Joint, Limit, Link, Origin, Robot
from robot_semantics.diagnostics import Diagnostics
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.robot_model import (
    ASSUMED_ROOT_JOINT,
    FloatArray,
    JointLimits,
    JointModel,
    LinkModel,
    MimicSource,
    RobotModel,
)

TYPES = {kind.value: kind for kind in JointType}


def resolve_urdf(robot: Robot, diagnostics: Diagnostics, *, implicit_links: bool = False) -> RobotModel | None:
    """Return the model of `robot`, or None when its links and joints make no tree; problems go to `diagnostics`."""
    links = {link.name: link for link in robot.links}
    joints = {joint.name: joint for joint in robot.joints}
    parents = {joint.child: joint for joint in joints.values()}
    children: dict[str, list[Joint]] = {}
    for joint in joints.values():
        children.setdefault(joint.parent, []).append(joint)
    roots = [name for name in links if name not in parents]
    if len(roots) != 1:
        diagnostics.error("several-roots", f"roots: {roots}", robot.places.place(0))
        return None
    order: list[Joint] = []
    stack = [roots[0]]
    while stack:
        link = stack.pop()
        if link in parents:
            order.append(parents[link])
        stack.extend(
            joint.child for joint in sorted(children.get(link, ()), key=lambda j: j.name.encode(), reverse=True)
        )
    index = {roots[0]: 0, **{joint.child: at for at, joint in enumerate(order, 1)}}
    mimics = _mimics(joints)
    identity = _read_only(np.eye(4))
    models = [
        JointModel(
            0,
            ASSUMED_ROOT_JOINT,
            JointType.FIXED,
            "",
            roots[0],
            identity,
            _read_only(np.array([1.0, 0, 0])),
            virtual=True,
        )
    ]
    link_models = []
    for at, joint in enumerate(order, 1):
        kind = TYPES[joint.type]
        axis = np.array(joint.axis or ((0.0, 0.0, 1.0) if kind is JointType.PLANAR else (1.0, 0.0, 0.0)))
        norm = np.linalg.norm(axis)
        models.append(
            JointModel(
                at,
                joint.name,
                kind,
                joint.parent,
                joint.child,
                _matrix(joint.origin),
                _read_only(axis / norm if norm else np.array([1.0, 0.0, 0.0])),
                _limits(kind, joint.limit),
                mimics.get(joint.name),
                urdf=joint,
            )
        )
    for name, at in index.items():
        kids = sorted(children.get(name, ()), key=lambda j: j.name.encode())
        parent = index[parents[name].parent] if name in parents else -1
        link_models.append(LinkModel(at, name, parent, tuple(index[j.child] for j in kids), links[name]))
    return RobotModel(robot.name, tuple(models), tuple(link_models), robot)


def _limits(kind: JointType, limit: Limit | None) -> JointLimits:
    if limit is None:
        return JointLimits()
    values = {
        name: getattr(limit, name)
        for name in ("velocity", "effort", "acceleration", "deceleration", "jerk")
        if getattr(limit, name) is not None
    }
    if kind in (JointType.REVOLUTE, JointType.PRISMATIC):
        values.update(lower=limit.lower or 0.0, upper=limit.upper or 0.0)
    return JointLimits(**values)


def _mimics(joints: Mapping[str, Joint]) -> dict[str, MimicSource]:
    found = {}
    for name, joint in joints.items():
        multiplier, offset, current, seen = 1.0, 0.0, joint, {name}
        while current.mimic is not None and current.mimic.joint in joints:
            step = current.mimic
            factor = 1.0 if step.multiplier is None else step.multiplier
            multiplier, offset = multiplier * factor, offset + multiplier * (step.offset or 0.0)
            current = joints[step.joint]
            if current.name in seen:
                break
            seen.add(current.name)
        if current is not joint:
            found[name] = MimicSource(current.name, multiplier, offset)
    return found


def _matrix(origin: Origin | None) -> FloatArray:
    matrix = np.eye(4)
    if origin is not None:
        matrix[:3, 3] = origin.xyz
        r, p, y = origin.rpy or (0.0, 0.0, 0.0)
        cr, sr, cp, sp, cy, sy = math.cos(r), math.sin(r), math.cos(p), math.sin(p), math.cos(y), math.sin(y)
        matrix[:3, :3] = [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    return _read_only(matrix)


def _read_only(array: FloatArray) -> FloatArray:
    array.setflags(write=False)
    return array
