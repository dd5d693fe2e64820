"""World states as plain values for JSON and back: nothing is lost either way, what is not stated has no key."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from math import isfinite
from types import MappingProxyType
from typing import Any, TypeVar

from robot_semantics.base.diagnostics import Diagnostics, Place
from robot_semantics.usdf.validity import problems
from robot_semantics.usdf.vocabulary import NAMESPACE
from robot_semantics.usdf.walk import parse_time
from robot_semantics.usdf.world_state import (
    WORLD,
    EngineState,
    Frame,
    JointState,
    LinkState,
    ModelState,
    Pose,
    WorldState,
)
from robot_semantics.usdf.writer import format_time

FORMAT = NAMESPACE
"""Value of the key ``format``, by which a reader knows what it has."""

_TIME_DIGITS = 9

Values = dict[str, Any]
_T = TypeVar("_T")


def world_to_json(state: WorldState) -> Values:
    """Return the plain values of a state; ``json.dumps`` of them is exact."""
    return _stated(
        format=FORMAT,
        name=state.name,
        time=None if state.time_ns is None else format_time(state.time_ns),
        models=[_model(model) for model in state.models],
        frames=[_placed(frame, foreign=frame.foreign) for frame in state.frames],
        engines=[_engine(engine) for engine in state.engines] or None,
        foreign=list(state.foreign) or None,
    )


def _model(model: ModelState) -> Values:
    return _placed(
        model,
        links=[
            _stated(
                name=link.name,
                pose=_pose(link.pose),
                twist=_row(link.twist),
                wrench=_row(link.wrench),
                foreign=list(link.foreign) or None,
            )
            for link in model.links
        ],
        joints=[
            _stated(
                name=joint.name,
                positions=_row(joint.positions),
                velocities=_row(joint.velocities),
                torques=_row(joint.torques),
                foreign=list(joint.foreign) or None,
            )
            for joint in model.joints
        ],
        description=model.description,
        semantic=model.semantic,
        urdf_sha256=model.urdf_sha256,
        foreign=model.foreign,
    )


def _placed(item: ModelState | Frame, *, foreign: tuple[str, ...], **more: Any) -> Values:
    return _stated(
        name=item.name,
        parent=item.parent,
        pose=_pose(item.pose),
        twist=_row(item.twist),
        **more,
        foreign=list(foreign) or None,
    )


def _engine(engine: EngineState) -> Values:
    return {
        "name": engine.name,
        "version": engine.version,
        "arrays": {name: list(row) for name, row in engine.arrays.items()},
        "attributes": dict(engine.attributes),
    }


def _pose(pose: Pose | None) -> Values | None:
    return None if pose is None else _stated(xyz_rpy=_row(pose.xyz_rpy), quat_xyzw=_row(pose.quat_xyzw))


def _row(row: tuple[float, ...] | None) -> list[float] | None:
    return None if row is None else list(row)


def _stated(**values: Any) -> Values:
    return {name: value for name, value in values.items() if value is not None}


def parse_json(text: str | bytes, source: str = "<json>") -> WorldState:
    """Return the state of a JSON text.

    Raises:
        DescriptionError: the text is no JSON, or no world state; all problems are carried, each with its path.
    """
    found = Diagnostics()
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        found.error("not-json", f"not JSON: {error.msg}", Place(source, error.lineno, error.colno))
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        found.error("not-json", f"not JSON: {error}", Place(source, 1, 1))
    found.raise_if_failed()
    return world_from_json(values, source)


def world_from_json(values: Any, source: str = "<json>") -> WorldState:
    """Return the state of plain values as `world_to_json` makes them.

    Raises:
        DescriptionError: they are no world state; all problems are carried, each with its path.
    """
    found = Diagnostics()
    state = _Reader(source, found).world(values)
    found.raise_if_failed()
    for problem in problems(state):
        place = Place(source, path=problem.path)
        found.error(problem.code, problem.message, place, name=problem.name, valid=problem.valid)
    found.raise_if_failed()
    return state


class _Reader:
    """Reads plain values; what is wrong is reported and left out."""

    def __init__(self, source: str, found: Diagnostics) -> None:
        self._source = source
        self._found = found

    def world(self, values: Any) -> WorldState:
        """Return the world."""
        keys = ("format", "name", "time", "models", "frames", "engines", "foreign")
        values = self._object(values, "", keys)
        if values.get("format", FORMAT) != FORMAT:
            self._error("/format", f"the format is {values['format']!r}; it must be {FORMAT!r}")
        return WorldState(
            name=self._text(values, "name", ""),
            models=self._list(values, "models", "", self._model),
            frames=self._list(values, "frames", "", self._frame),
            time_ns=self._time(values),
            engines=self._list(values, "engines", "", self._engine),
            foreign=self._texts(values, ""),
        )

    def _model(self, values: Any, path: str) -> ModelState:
        keys = ("description", "semantic", "urdf_sha256")
        values = self._object(values, path, (*_PLACED_KEYS, "links", "joints", *keys))
        description, semantic, urdf_sha256 = (self._text(values, key, path) for key in keys)
        return ModelState(
            name=self._name(values, path),
            parent=self._text(values, "parent", path) or WORLD,
            pose=self._pose(values, path),
            twist=self._row(values, "twist", path, 6),
            links=self._list(values, "links", path, self._link),
            joints=self._list(values, "joints", path, self._joint),
            description=description,
            semantic=semantic,
            urdf_sha256=urdf_sha256,
            foreign=self._texts(values, path),
        )

    def _frame(self, values: Any, path: str) -> Frame:
        values = self._object(values, path, _PLACED_KEYS)
        return Frame(
            name=self._name(values, path),
            parent=self._text(values, "parent", path) or WORLD,
            pose=self._pose(values, path),
            twist=self._row(values, "twist", path, 6),
            foreign=self._texts(values, path),
        )

    def _link(self, values: Any, path: str) -> LinkState:
        values = self._object(values, path, ("name", "pose", "twist", "wrench", "foreign"))
        return LinkState(
            name=self._name(values, path),
            pose=self._pose(values, path),
            twist=self._row(values, "twist", path, 6),
            wrench=self._row(values, "wrench", path, 6),
            foreign=self._texts(values, path),
        )

    def _joint(self, values: Any, path: str) -> JointState:
        keys = ("positions", "velocities", "torques")
        values = self._object(values, path, ("name", *keys, "foreign"))
        positions, velocities, torques = (self._row(values, key, path, None) for key in keys)
        return JointState(self._name(values, path), positions, velocities, torques, self._texts(values, path))

    def _engine(self, values: Any, path: str) -> EngineState:
        values = self._object(values, path, ("name", "version", "arrays", "attributes"))
        arrays = self._object(values.get("arrays", {}), f"{path}/arrays", None)
        attributes = self._object(values.get("attributes", {}), f"{path}/attributes", None)
        return EngineState(
            name=self._name(values, path),
            version=self._text(values, "version", path) or "",
            arrays=MappingProxyType({key: self._row(arrays, key, f"{path}/arrays", None) or () for key in arrays}),
            attributes=MappingProxyType(
                {key: self._text(attributes, key, f"{path}/attributes") or "" for key in attributes}
            ),
        )

    def _pose(self, values: Mapping[str, Any], path: str) -> Pose | None:
        if "pose" not in values:
            return None
        path = f"{path}/pose"
        pose = self._object(values["pose"], path, ("xyz_rpy", "quat_xyzw"))
        if "xyz_rpy" not in pose:
            self._error(path, "there is no xyz_rpy")
            return None
        xyz_rpy = self._row(pose, "xyz_rpy", path, 6)
        return None if xyz_rpy is None else Pose(xyz_rpy, self._row(pose, "quat_xyzw", path, 4))

    def _row(self, values: Mapping[str, Any], key: str, path: str, count: int | None) -> Any:
        """Return a row of numbers as a tuple, None where there is none or it is faulty."""
        if key not in values:
            return None
        path, row = f"{path}/{key}", values[key]
        if not isinstance(row, list) or not all(_is_number(value) for value in row):
            self._error(path, "it is not a list of finite numbers")
            return None
        if count is not None and len(row) != count:
            self._error(path, f"it has {len(row)} numbers; it must have {count}")
            return None
        return tuple(float(value) for value in row)

    def _list(self, values: Mapping[str, Any], key: str, path: str, read: Callable[[Any, str], _T]) -> tuple[_T, ...]:
        items = values.get(key, [])
        path = f"{path}/{key}"
        if not isinstance(items, list):
            self._error(path, "it is not a list")
            return ()
        return tuple(read(item, f"{path}/{at}") for at, item in enumerate(items))

    def _object(self, values: Any, path: str, keys: tuple[str, ...] | None) -> Mapping[str, Any]:
        """Return `values` if they are an object, else an empty one; keys that are not among `keys` are errors."""
        if not isinstance(values, dict):
            self._error(path, "it is not an object")
            return {}
        for key in values:
            if keys is not None and key not in keys:
                place = Place(self._source, path=f"{path}/{key}")
                self._found.error("unknown-key", f"the key '{key}' is not known", place, name=key, valid=keys)
        return values

    def _name(self, values: Mapping[str, Any], path: str) -> str:
        name = self._text(values, "name", path)
        if name is None:
            self._error(path, "there is no name")
        return name or ""

    def _text(self, values: Mapping[str, Any], key: str, path: str) -> str | None:
        value = values.get(key)
        if value is not None and not isinstance(value, str):
            self._error(f"{path}/{key}", "it is not a text")
            return None
        return value

    def _texts(self, values: Mapping[str, Any], path: str) -> tuple[str, ...]:
        texts = values.get("foreign", [])
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            self._error(f"{path}/foreign", "it is not a list of texts")
            return ()
        return tuple(texts)

    def _time(self, values: Mapping[str, Any]) -> int | None:
        time = self._text(values, "time", "")
        if time is None:
            return None
        seconds, point, nanoseconds = time.removeprefix("-").partition(".")
        digits = seconds + nanoseconds
        if not point or len(nanoseconds) != _TIME_DIGITS or not seconds or not (digits.isascii() and digits.isdigit()):
            self._error("/time", f"the time '{time[:40]}' is not seconds, a point and nine digits of nanoseconds")
            return None
        return parse_time(time)

    def _error(self, path: str, message: str) -> None:
        self._found.error("bad-json", message, Place(self._source, path=path or "/"))


_PLACED_KEYS = ("name", "parent", "pose", "twist", "foreign")


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return isfinite(value)
    except OverflowError:
        return False
