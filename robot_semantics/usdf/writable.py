"""What keeps a state from being written: numbers, counts and texts that no document can hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite

from robot_semantics.base.diagnostics import Diagnostics, Place
from robot_semantics.usdf.numbers import Row
from robot_semantics.usdf.validity import path_of, problems
from robot_semantics.usdf.world_state import Pose, WorldState

SOURCE = "<world state>"
"""What a state that comes from no document is called in messages."""

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SHA256 = re.compile("[0-9a-f]{64}")
_MAX_SECONDS = 10_000_000_000


def check_meaning(state: WorldState, texts: list[str], found: Diagnostics) -> None:
    """Report everything but the numbers; `texts` are all of the state's `strings`."""
    for problem in problems(state):
        place = Place(SOURCE, path=problem.path)
        found.error(problem.code, problem.message, place, name=problem.name, valid=problem.valid)
    if _NOT_XML.search("\n".join(texts)):
        for text in filter(_NOT_XML.search, texts):
            found.error("not-xml", f"{text!r} has a character that no XML document can hold", Place(SOURCE))
    _check_attributes(state, found)


def strings(state: WorldState) -> Iterator[str]:
    """Yield every string of a state that is written as a name or a text."""
    yield state.name or ""
    for model in state.models:
        yield model.name
        yield model.parent
        yield model.description or ""
        yield model.semantic or ""
        yield from [link.name for link in model.links]
        yield from [joint.name for joint in model.joints]
    for frame in state.frames:
        yield frame.name
        yield frame.parent
    for engine in state.engines:
        yield engine.name
        yield engine.version
        for name in engine.arrays:
            yield name
        for name, value in engine.attributes.items():
            yield name
            yield value


def _check_attributes(state: WorldState, found: Diagnostics) -> None:
    """Report a time and hashes that the schema refuses."""
    if state.time_ns is not None and abs(state.time_ns) >= _MAX_SECONDS * 1_000_000_000:
        message = f"the time is {state.time_ns} ns; at most ten digits of seconds are written"
        found.error("bad-value", message, Place(SOURCE, path="/world_state/@rs:time"))
    for model in state.models:
        if model.urdf_sha256 is not None and not _SHA256.fullmatch(model.urdf_sha256):
            message = f"rs:hash is '{model.urdf_sha256}'; it must be 64 hexadecimal digits in lower case (SHA-256)"
            found.error("bad-value", message, Place(SOURCE, path=f"{path_of(model)}/@rs:hash"))


def report_numbers(state: WorldState, found: Diagnostics) -> None:
    """Report every wrong count and every value that is no finite number."""

    def check(path: str, row: Row | None, count: int | None) -> None:
        if row is None:
            return
        place = Place(SOURCE, path=path)
        if count is not None and len(row) != count:
            found.error("wrong-count", f"there are {len(row)} numbers; there must be {count}", place)
        for position, value in enumerate(row, 1):
            try:
                if isfinite(value):
                    continue
            except TypeError:
                found.error("bad-number", f"number {position}, {value!r}, is not a number", place)
            else:
                found.error("bad-number", f"number {position}, {value}, is not finite", place)

    def check_pose(path: str, pose: Pose | None) -> None:
        if pose is not None:
            check(f"{path}/pose", pose.xyz_rpy, 6)
            check(f"{path}/pose/@rs:quaternion", pose.quat_xyzw, 4)

    for item in state.bodies:
        check_pose(path_of(item), item.pose)
        check(f"{path_of(item)}/twist", item.twist, 6)
    for model in state.models:
        for link in model.links:
            path = path_of(link, path_of(model))
            check_pose(path, link.pose)
            check(f"{path}/twist", link.twist, 6)
            check(f"{path}/wrench", link.wrench, 6)
        for joint in model.joints:
            path = path_of(joint, path_of(model))
            for word in ("positions", "velocities", "torques"):
                check(f"{path}/{word}", getattr(joint, word), None)
    for engine in state.engines:
        for name, row in engine.arrays.items():
            check(f"{path_of(engine)}/rs:array[@name='{name}']", row, None)


def has_foreign(state: WorldState) -> bool:
    """Tell whether any part of a state carries foreign content."""
    if state.foreign or any(frame.foreign for frame in state.frames):
        return True
    return any(
        model.foreign or any(link.foreign for link in model.links) or any(joint.foreign for joint in model.joints)
        for model in state.models
    )
