# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Poses in which links collide, from the report of a generated collision matrix."""

from __future__ import annotations

import json
from pathlib import Path

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.viewer.scene import Scene
from robot_semantics.viewer.scene_data import CollisionWitness


def witnesses(scene: Scene, path: Path) -> tuple[CollisionWitness, ...]:
    """Return the colliding pairs of a report, each in its deepest known collision, rarest first.

    Args:
        scene: the scene; the first robot with the links is the colliding one.
        path: the report of ``robot_semantics collisions generate --json``.

    Raises:
        RobotSemanticsError: the file is of another kind, or no robot has its links.
        OSError: it cannot be read.
    """
    found: list[tuple[float, CollisionWitness]] = []
    try:
        for pair in json.loads(path.read_text(encoding="utf-8"))["pairs"]:
            witness = pair.get("deepest") or pair.get("first")
            if witness is None:
                continue
            positions = {str(name): float(value) for name, value in witness["positions"].items()}
            text = f"{pair['hits']} of {pair['samples']} samples, {pair['reason'] or 'checked'}"
            item: CollisionWitness = {
                "actor": "",
                "link1": str(pair["link1"]),
                "link2": str(pair["link2"]),
                "positions": positions,
                "text": text,
            }
            found.append((pair["fraction"] or 0.0, item))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        what = f"{type(error).__name__}: {error}"
        raise RobotSemanticsError(f"{path}: not a report of a collision matrix ({what})") from None
    links = {name for _, item in found for name in (item["link1"], item["link2"])}
    variables = {name for _, item in found for name in item["positions"]}
    for actor in scene.actors:
        if links <= set(actor.model.link_index) and variables <= set(actor.kinematics.space.index):
            found.sort(key=lambda item: item[0])
            return tuple({**item, "actor": actor.name} for _, item in found)
    raise RobotSemanticsError(f"{path}: no shown robot has the links and joints of this report")
