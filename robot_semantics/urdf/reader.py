"""URDF text to a plain tree, with every problem of the text at its place."""

from __future__ import annotations

from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.urdf.dialects import move_link_frames
from robot_semantics.urdf.geometry import read_material
from robot_semantics.urdf.joints import read_joint
from robot_semantics.urdf.links import read_link
from robot_semantics.urdf.scanner import VERSIONS, Part, Scanner
from robot_semantics.urdf.tree import Joint, Link, Material, Robot
from robot_semantics.xml.reader import XmlDocument, parse_xml, read_xml
from robot_semantics.xml.xacro import report_oddities


def parse_urdf(text: str | bytes, source: str = "<robot_description>", diagnostics: Diagnostics | None = None) -> Robot:
    """Read a URDF text, called `source` in every message.

    Joints in one of the two older forms are read and the tree is brought to the current form, with a warning. Problems
    are added to `diagnostics`; parts in error are left out of the tree.

    Raises:
        DescriptionError: the text is no XML or no robot; or, without `diagnostics`, there is any error.
    """
    return read_robot(parse_xml(text, source, forgiving=True), diagnostics)


def urdf_from_file(path: str | Path, diagnostics: Diagnostics | None = None) -> Robot:
    """Read a URDF file.

    Raises:
        DescriptionError: as `parse_urdf`, and when the file cannot be read.
    """
    return read_robot(read_xml(path, forgiving=True), diagnostics)


def read_robot(document: XmlDocument, diagnostics: Diagnostics | None = None) -> Robot:
    """Read the robot of a document that has been parsed; otherwise as `parse_urdf`.

    Raises:
        DescriptionError: as `parse_urdf`.
    """
    own = Diagnostics() if diagnostics is None else diagnostics
    robot = _read(Scanner(document, own))
    if diagnostics is None:
        own.raise_if_failed()
    return robot


def _read(scanner: Scanner) -> Robot:
    document, marks = scanner.document, scanner.marks
    if marks[0] != "robot":
        own = Diagnostics()
        own.error("wrong-root", f"the root element should be <robot>, not <{marks[0]}>", document.places.place(0))
        raise DescriptionError(own)
    report_oddities(document, scanner.diagnostics)
    part = Part("robot", scanner.enter())
    scanner.attributes(part, "robot", 0, {"name": str, "version": str}, part.values)
    _read_version(scanner, part)
    scanner.named("robot", part.values, 0)
    content: list[Link | Joint | Material] = []
    while (tag := marks[scanner.here]) is not None:
        if tag == "link":
            link, nested = read_link(scanner)
            if link is not None:
                content.append(link)
            content += nested
        elif tag == "joint":
            joint = read_joint(scanner)
            if joint is not None:
                content.append(joint)
        elif tag == "material":
            content.append(read_material(scanner))
        else:
            scanner.keep(part, valid=("link", "joint", "material"), position=len(content))
    robot = Robot(
        part.values.get("name", ""),
        part.values.get("version"),
        tuple(content),
        tuple(part.extras),
        # Those of the root, and those further down that verbatim parts need: they move to the root.
        tuple(sorted(scanner.namespaces.items())),
        scanner.complete,
        scanner.older,
        scanner.outline.prolog,
        scanner.outline.epilog,
        document.places,
        0,
    )
    if scanner.child_origins and scanner.complete:
        robot = move_link_frames(robot, scanner.child_origins, scanner.diagnostics)
    return robot


def _read_version(scanner: Scanner, part: Part) -> None:
    text = part.values.get("version")
    if text is None:
        return
    if text not in VERSIONS:
        message = f"version '{text}' of URDF is not known; known are {', '.join(VERSIONS)}"
        scanner.error("unknown-version", message, 0, "version")
        del part.values["version"]
        return
    scanner.version = VERSIONS[text]
