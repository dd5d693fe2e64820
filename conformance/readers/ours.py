"""The package itself as a reader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from common import Answer, serve

from robot_semantics.base.diagnostics import Diagnostic
from robot_semantics.base.errors import DescriptionError
from robot_semantics.convert.json_form import world_to_json
from robot_semantics.transforms import xyz_quat_from_matrix
from robot_semantics.usdf.frames import resolve
from robot_semantics.usdf.reader import examine
from robot_semantics.usdf.validity import without_faults


def problems(found: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Return problems as an answer has them."""
    return [
        {"severity": item.severity.value, "code": item.code}
        | ({"line": item.place.line, "column": item.place.column} if item.place.line else {})
        for item in found
    ]


def usdf(file: str, _robot: str, _positions: Mapping[str, Any]) -> Answer:
    """Read a world state."""
    try:
        state, places, found = examine(Path(file))
    except DescriptionError as error:
        return {"refused": True, "problems": problems(error.diagnostics)}
    if found.failed():
        return {"problems": problems(found), "state": world_to_json(without_faults(state))}
    answer = {"state": world_to_json(state)}
    try:
        world = resolve(state, diagnostics=found, places=places)
    except DescriptionError as error:
        return answer | {"problems": problems((*found, *error.diagnostics))}
    poses = xyz_quat_from_matrix(world.T_world_body).tolist()
    twists = world.twists.tolist()
    resolved = {
        name: {"pose": pose} | ({"twist": twist} if all(value == value for value in twist) else {})
        for name, pose, twist in zip(world.names, poses, twists, strict=True)
    }
    return answer | {"problems": problems(found), "resolved": resolved}


if __name__ == "__main__":
    serve({"usdf": usdf})
