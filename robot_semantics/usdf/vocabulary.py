"""The words of USDF: the extension namespace, and for each element which children and attributes it takes."""

from __future__ import annotations

from typing import NamedTuple

NAMESPACE = "urn:robot-semantics:usdf:1"
"""The one extension namespace; a reader that does not know it still reads the rest."""

PREFIX = "rs"

RS_TIME = f"{{{NAMESPACE}}}time"
RS_QUATERNION = f"{{{NAMESPACE}}}quaternion"
RS_DESCRIPTION = f"{{{NAMESPACE}}}description"
RS_SEMANTIC = f"{{{NAMESPACE}}}semantic"
RS_HASH = f"{{{NAMESPACE}}}hash"
RS_ENGINE = f"{{{NAMESPACE}}}engine"
RS_ARRAY = f"{{{NAMESPACE}}}array"
RS_PROPERTY = f"{{{NAMESPACE}}}property"

ROOT = "world_state"
OTHER_ROOT = "world"
"""The root of the founding document's own example; read with a note, never written."""


class Element(NamedTuple):
    """What one element may hold.

    Attributes:
        many: children that may stand any number of times.
        once: children that may stand at most once.
        required: attributes that must be there.
        optional: attributes that may be there.
        text: the element holds text and no children.
    """

    many: frozenset[str] = frozenset()
    once: frozenset[str] = frozenset()
    required: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    text: bool = False


_NAME = frozenset({"name"})
_VALUES = Element(text=True)
_POSE = Element(text=True, optional=frozenset({RS_QUATERNION}))
_WORLD = Element(many=frozenset({"model_state", "frame", RS_ENGINE}), optional=frozenset({"name", RS_TIME}))

ELEMENTS: dict[str, Element] = {
    ROOT: _WORLD,
    OTHER_ROOT: _WORLD,
    "model_state": Element(
        many=frozenset({"link_state", "joint_state"}),
        once=frozenset({"parent", "pose", "twist"}),
        required=_NAME,
        optional=frozenset({RS_DESCRIPTION, RS_SEMANTIC, RS_HASH}),
    ),
    "frame": Element(once=frozenset({"parent", "pose", "twist"}), required=_NAME),
    "link_state": Element(once=frozenset({"pose", "twist", "wrench"}), required=_NAME),
    "joint_state": Element(once=frozenset({"positions", "velocities", "torques"}), required=_NAME),
    "parent": _VALUES,
    "pose": _POSE,
    "twist": _VALUES,
    "wrench": _VALUES,
    "positions": _VALUES,
    "velocities": _VALUES,
    "torques": _VALUES,
    RS_ENGINE: Element(many=frozenset({RS_ARRAY, RS_PROPERTY}), required=frozenset({"name", "version"})),
    RS_ARRAY: Element(required=_NAME, text=True),
    RS_PROPERTY: Element(required=frozenset({"name", "value"})),
}

SIX_NUMBERS = frozenset({"pose", "twist", "wrench"})
"""Elements that hold exactly six numbers; the other number elements hold any count."""


def written(tag: str) -> str:
    """Return an element's or attribute's name as a document writes it: ``rs:time``, ``pose``."""
    return tag.replace(f"{{{NAMESPACE}}}", f"{PREFIX}:")
