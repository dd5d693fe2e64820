"""URDF text to a plain tree, with every problem of the text at its place."""

from __future__ import annotations

from pathlib import Path

from robot_semantics.description.urdf_joints import read_joint
from robot_semantics.description.urdf_links import read_link, read_material
from robot_semantics.description.urdf_scanner import Part, Scanner
from robot_semantics.description.urdf_tree import Joint, Link, Material, Robot
from robot_semantics.description.xml_reader import XmlDocument, parse_xml, read_xml
from robot_semantics.diagnostics import Diagnostics


def parse_urdf(text: str | bytes, source: str = "<robot_description>", diagnostics: Diagnostics | None = None) -> Robot:
    """Read a URDF text, called `source` in every message.

    Problems are added to `diagnostics`; parts in error are left out of the tree.

    Raises:
        DescriptionError: the text is no XML or no robot; or, without `diagnostics`, there is any error.
    """
    return _read(parse_xml(text, source), diagnostics)


def urdf_from_file(path: str | Path, diagnostics: Diagnostics | None = None) -> Robot:
    """Read a URDF file.

    Raises:
        DescriptionError: as `parse_urdf`, and when the file cannot be read.
    """
    return _read(read_xml(path), diagnostics)


def _read(document: XmlDocument, diagnostics: Diagnostics | None) -> Robot:
    own = Diagnostics() if diagnostics is None else diagnostics
    robot = _read_robot(Scanner(document, own))
    if diagnostics is None:
        own.raise_if_failed()
    return robot


def _read_robot(scanner: Scanner) -> Robot:
    root = scanner.document.root
    part = Part(root, scanner.number())
    if root.tag != "robot":
        fatal = Diagnostics()
        fatal.error(
            "no-robot", f"the root element should be <robot>, not <{root.tag}>", scanner.document.places.place(0)
        )
        fatal.raise_if_failed()
    values, _ = scanner.attributes(part, root, 0, {"name": None, "version": None})
    if not values.get("name"):
        scanner.error("missing-attribute", "<robot> has no attribute 'name'", 0)
    content: list[Link | Joint | Material] = []
    complete = True
    for child in root:
        tag = child.tag
        item: Link | Joint | Material | None
        if tag == "link":
            item = read_link(scanner, child)
            complete &= item is not None
        elif tag == "joint":
            item, good = read_joint(scanner, child)
            complete &= good
        elif tag == "material":
            item = read_material(scanner, child)
        else:
            scanner.keep(part, child, valid=("link", "joint", "material"))
            continue
        if item is not None:
            content.append(item)
            part.order.append(tag)
    return Robot(
        values.get("name", ""),
        values.get("version"),
        tuple(content),
        tuple(part.extras),
        complete,
        places=scanner.document.places,
        at=0,
    )
