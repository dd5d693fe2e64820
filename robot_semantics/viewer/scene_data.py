# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A scene as data for the page: JSON, followed by arrays for surfaces and series of numbers."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from robot_semantics.base.diagnostic import Diagnostic
from robot_semantics.base.json_value import JsonObject
from robot_semantics.base.nanoseconds import seconds_text
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.model.mesh_files import Surface
from robot_semantics.model.robot_model import JointModel
from robot_semantics.transforms import rotation_from_z
from robot_semantics.viewer.link_surfaces import PLAIN, LinkSurface
from robot_semantics.viewer.scene import Actor, Moment, Scene, Stance
from robot_semantics.viewer.shading import GROUP_COLOURS, corner_normals

MAGIC = b"RSV1"


class _Arrays:
    """The arrays of one document, one after the other, each at a multiple of four bytes."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, array: npt.NDArray[Any]) -> list[int]:
        """Add an array; return its offset and its number of elements."""
        content = np.ascontiguousarray(array).tobytes()
        start = self._size
        padded = content + b"\0" * (-len(content) % 4)
        self._parts.append(padded)
        self._size += len(padded)
        return [start, array.size]

    def content(self) -> bytes:
        return b"".join(self._parts)


class CollisionWitness(TypedDict):
    """Two links that collide at ``positions``, by variable; ``text`` has the frequency and the reason of the pair."""

    actor: str
    link1: str
    link2: str
    positions: dict[str, float]
    text: str


class PageContent(TypedDict):
    """What a page shows besides its scene; see `scene_bytes`."""

    groups: Sequence[str]
    witnesses: Sequence[CollisionWitness]
    problems: Iterable[Diagnostic]
    collision: bool
    spheres: bool


class Positions(TypedDict):
    """Positions ``q`` of a robot."""

    q: list[float]


class LiveStance(Positions, total=False):
    """Positions and, if it is given, the pose ``T`` (16 numbers, row by row) of a robot."""

    T: list[float]


class LiveMoment(TypedDict):
    """A moment for a page that follows a running robot."""

    label: str
    time: None
    stances: dict[str, LiveStance]
    frames: dict[str, list[float]]


class SliderState(NamedTuple):
    """Sliders that publish joint states of one robot.

    Attributes:
        topic: of the joint states.
        values: positions by variable [rad, m].
        held: joints that the sliders do not move, each with its publisher.
    """

    topic: str
    values: Mapping[str, float]
    held: Mapping[str, str]


def scene_bytes(
    scene: Scene,
    *,
    groups: Sequence[str] = (),
    witnesses: Sequence[CollisionWitness] = (),
    problems: Iterable[Diagnostic] = (),
    collision: bool = False,
    live: bool = False,
    spheres: bool = False,
) -> bytes:
    """Return the scene for the page, compressed (zlib): a mark, the length of the JSON, the JSON, the arrays.

    Args:
        scene: the scene.
        groups: groups that have colours at the start.
        witnesses: colliding pairs: see `CollisionWitness`.
        problems: problems of the files; each kind is shown once, with its fix.
        collision: show collision geometry at the start.
        live: positions come from a running robot, so that sliders do not move it.
        spheres: show the spheres of links at the start.
    """
    arrays = _Arrays()
    surfaces: dict[int, int] = {}
    shapes: list[JsonObject] = []
    for actor in scene.actors:
        for shown in actor.surfaces:
            if id(shown.surface) not in surfaces:
                surfaces[id(shown.surface)] = len(shapes)
                shapes.append(_surface(shown.surface, arrays))
    document = {
        "title": scene.title,
        "palette": [list(colour[:3]) for colour in GROUP_COLOURS],
        "groups": list(groups),
        "collision": collision,
        "live": live,
        "spheres": spheres,
        "surfaces": shapes,
        "actors": [_actor(actor, surfaces) for actor in scene.actors],
        "moments": [_moment(moment, scene.actors, arrays) for moment in scene.moments],
        "witnesses": list(witnesses),
        "problems": _problems(problems),
    }
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    return zlib.compress(MAGIC + len(text).to_bytes(4, "little") + text + arrays.content(), 6)


def _surface(surface: Surface, arrays: _Arrays) -> JsonObject:
    """Return a surface as triangles of numbered corners; equal corners have one number, and coordinates keep float32
    precision.
    """
    faces = surface.faces.size
    corners = np.zeros((faces, 4 if surface.colours is None else 5), dtype=np.uint32)
    corners[:, :3] = surface.vertices[surface.faces].reshape(-1, 3).astype(np.float32).view(np.uint32)
    corners[:, 3:4].view(np.int8)[:, :3] = np.round(corner_normals(surface).reshape(-1, 3) * 127.0)
    if surface.colours is not None:
        corners[:, 4:] = np.repeat(surface.colours, 3, axis=0).view(np.uint32)
    rows = corners.view(np.dtype((np.void, corners.itemsize * corners.shape[1]))).ravel()
    _, first, same = np.unique(rows, return_index=True, return_inverse=True)
    # In the order of the file, in which neighbours are near each other: it compresses better.
    order = np.argsort(first)
    number = np.empty(len(order), dtype=np.uint32)
    number[order] = np.arange(len(order))
    kept = corners[first[order]]
    return {
        "corners": arrays.add(kept[:, :3].copy().view(np.float32)),
        "normals": arrays.add(kept[:, 3].copy().view(np.int8)),
        "colours": None if surface.colours is None else arrays.add(kept[:, 4].copy().view(np.uint8)),
        "faces": arrays.add(number[same.ravel()]),
    }


def _actor(actor: Actor, surfaces: Mapping[int, int]) -> JsonObject:
    model, space = actor.model, actor.kinematics.space
    return {
        "name": actor.name,
        "robot": model.name,
        "parent": actor.parent,
        "description": actor.description,
        "semantic": actor.semantic,
        "links": [{"name": link.name, "parent": link.parent} for link in model.links],
        "joints": [_joint(actor, joint) for joint in model.joints],
        "variables": list(space.names),
        "neutral": space.neutral().tolist(),
        "parts": [_part(shown, surfaces) for shown in actor.surfaces if shown.kind != "sphere"],
        **semantics_of(actor.kinematics),
    }


def semantics_of(kinematics: ForwardKinematics) -> JsonObject:
    """Return the semantics of a robot for the page: the part that an edit of the SRDF may change."""
    model, loops = kinematics.model, kinematics.solvable_loops
    semantics = model.semantics
    return {
        "groups": {
            group.name: {
                "links": [model.link_index[name] for name in group.links],
                "joints": list(group.joints),
                "active": list(group.active_joints),
                "chain": [group.base_link, group.tip_link] if group.is_chain else None,
            }
            for group in semantics.groups.values()
        },
        "states": [
            {"group": state.group, "name": state.name, "joints": {name: list(v) for name, v in state.positions.items()}}
            for state in semantics.states.values()
        ],
        "endEffectors": [
            {"name": item.name, "group": item.group, "parentLink": item.parent_link, "parentGroup": item.parent_group}
            for item in semantics.end_effectors.values()
        ],
        "passive": list(semantics.passive_joints),
        "dependent": [] if loops is None else list(loops.dependent),
        "spheres": {
            link: [[*sphere.center, sphere.radius] for sphere in spheres]
            for link, spheres in semantics.link_spheres.items()
        },
        "properties": {joint: dict(values) for joint, values in semantics.joint_properties.items()},
        "frame": model.root_joint.parent_link,
        "disabled": [[*pair, reason] for pair, reason in semantics.disabled_collisions.items()],
        "enabled": sorted(semantics.enabled_collisions),
        "offByDefault": sorted(semantics.default_disabled_links),
    }


def _joint(actor: Actor, joint: JointModel) -> JsonObject:
    model, space = actor.model, actor.kinematics.space
    positions, mimics, mimic = space.positions_of(joint) if joint.position_count else slice(0, 0), space.mimics, None
    if joint.mimic is not None and positions.start in mimics.followers:
        parts = (mimics.source, mimics.factor, mimics.offset)
        mimic = {"leader": joint.mimic.joint, "parts": np.stack([part[positions] for part in parts], axis=1).tolist()}
    return {
        "name": joint.name,
        "type": joint.type.value,
        "virtual": joint.virtual,
        "passive": joint.passive,
        "T": joint.T_parent_joint.ravel().tolist(),
        "axis": joint.axis.tolist(),
        "plane": rotation_from_z(joint.axis).ravel().tolist() if joint.motion.is_planar else None,
        "at": positions.start,
        "count": joint.position_count,
        "lower": joint.limits.lower if math.isfinite(joint.limits.lower) else None,
        "upper": joint.limits.upper if math.isfinite(joint.limits.upper) else None,
        "range": list(model.usable_range(joint)) if joint.motion.limited else None,
        "mimic": mimic,
    }


def _part(shown: LinkSurface, surfaces: Mapping[int, int]) -> JsonObject:
    has_own_colours = shown.rgba is None and shown.surface.colours is not None
    return {
        "link": shown.link,
        "surface": surfaces[id(shown.surface)],
        "T": shown.T_link_surface.ravel().tolist(),
        "rgba": None if has_own_colours else list(shown.rgba or PLAIN),
        "own": has_own_colours,
        "kind": shown.kind,
        "yUp": shown.surface.y_up,
    }


def _moment(moment: Moment, actors: Sequence[Actor], arrays: _Arrays) -> JsonObject:
    named = {actor.name for actor in actors}
    return {
        "label": moment.label,
        "time": None if moment.time_ns is None else seconds_text(moment.time_ns),
        "stances": {name: _stance(stance, arrays) for name, stance in moment.stances.items() if name in named},
        "frames": {name: T.ravel().tolist() for name, T in moment.frames.items()},
        "wrenches": {
            name: {link: list(wrench) for link, wrench in of_model.items()}
            for name, of_model in moment.wrenches.items()
            if name in named
        },
        "parents": {name: T.ravel().tolist() for name, T in moment.T_world_parent.items()},
    }


def _stance(stance: Stance, arrays: _Arrays) -> JsonObject:
    return {"q": arrays.add(stance.q.astype(np.float64)), "T": stance.T_world_base.ravel().tolist()}


def live_moment(moment: Moment) -> LiveMoment:
    """Return a moment for a page that follows a running robot."""
    return {
        "label": moment.label,
        "time": None,
        "stances": {
            name: {"q": stance.q.tolist(), "T": stance.T_world_base.ravel().tolist()}
            for name, stance in moment.stances.items()
        },
        "frames": {name: T.ravel().tolist() for name, T in moment.frames.items()},
    }


REMEDIES = {
    "unshown-mesh": "name the folder with the packages of the meshes: --package-path DIR",
    "unshown-texture": "put the pictures into the folder of the mesh, and give the mesh texture coordinates",
    "y-up-mesh": "where that looks wrong: choose 'turn Y_UP' above; better, export the meshes with z up",
}
"""Remedy of a kind of problem, by its code."""


def _problems(problems: Iterable[Diagnostic]) -> list[JsonObject]:
    by_code: dict[str, list[Diagnostic]] = {}
    for problem in problems:
        by_code.setdefault(problem.code, []).append(problem)
    return [
        {
            "code": code,
            "count": len(equal_problems),
            "text": equal_problems[0].message,
            "place": f"{Path(equal_problems[0].place.source).name}:{equal_problems[0].place.line or 1}",
            "whole": str(equal_problems[0]),
            "remedy": REMEDIES.get(code),
        }
        for code, equal_problems in sorted(by_code.items(), key=lambda item: -len(item[1]))
    ]
