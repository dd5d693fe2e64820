"""Which robot a state belongs to: the SHA-256 of its URDF's canonical XML (``rs:hash``)."""

from __future__ import annotations

import hashlib

from lxml import etree

from robot_semantics.model.robot_model import RobotModel
from robot_semantics.xml.reader import parse_xml


def urdf_digest(robot: RobotModel) -> str | None:
    """Return the SHA-256, in hexadecimal, of the canonical XML (C14N, without comments) of a robot's URDF.

    None for a robot that was made without a text. Attribute order, quotes and comments do not matter; indentation does.
    """
    places = robot.urdf.places
    if not places.text.strip():
        return None
    document = parse_xml(places.text, places.source, forgiving=True)
    return hashlib.sha256(etree.tostring(document.root, method="c14n", with_comments=False)).hexdigest()
