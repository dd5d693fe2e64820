"""SRDF text to its tree: every element, every number, and all that is wrong with the text by itself.

What a name refers to is not looked at here; `robot_semantics.model.apply_semantics` does that. An element that lacks
an attribute it needs is reported and left out of the tree, as srdfdom leaves it out; foreign elements stay in the
text, where the editor of `robot_semantics.srdf.edit` keeps them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from lxml import etree

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.srdf import tree
from robot_semantics.srdf.elements import HOMES, ROBOT, VIRTUAL_JOINT_TYPES, ElementSpec
from robot_semantics.urdf.numbers import words
from robot_semantics.xml.reader import XmlDocument, is_macro, parse_xml
from robot_semantics.xml.xacro import FindPackage, read_document, report_expressions
from robot_semantics.xml.xacro_options import Xacro

_SPACE = " \t\n\v\f\r"
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)

_Item = TypeVar("_Item")


def parse_srdf(
    text: str | bytes, source: str = "<robot_description_semantic>", diagnostics: Diagnostics | None = None
) -> tree.Semantic:
    """Read the text of an SRDF, called `source` in every message.

    Problems go to `diagnostics`; without one they are raised, all together.

    Raises:
        DescriptionError: the text is not well-formed XML or its root is not ``<robot>``; without `diagnostics`, also
            any other error.
    """
    return _read(parse_xml(text, source, forgiving=True), diagnostics)


def srdf_from_file(
    path: str | Path,
    diagnostics: Diagnostics | None = None,
    *,
    xacro: Xacro | bool | None = None,
    xacro_arguments: Mapping[str, str] | None = None,
    find_package: FindPackage | None = None,
) -> tree.Semantic:
    """Read an SRDF file, plain or xacro, as `load_robot` does; `find_package` answers a xacro's ``$(find name)``.

    Raises:
        DescriptionError: as `parse_srdf`, and when the file cannot be read.
    """
    return _read(read_document(path, Xacro.of(xacro, xacro_arguments), find_package), diagnostics)


def _read(document: XmlDocument, diagnostics: Diagnostics | None) -> tree.Semantic:
    found = Diagnostics()
    report_expressions(document, found)
    semantic = _Reader(document, found).read()
    if diagnostics is None:
        found.raise_if_failed()
    else:
        diagnostics.extend(found)
    return semantic


def parse_numbers(text: str) -> tuple[float, ...] | None:
    """Return the whitespace-separated finite decimal numbers of `text`, None where it has none or anything else."""
    pieces = words(text)
    if not pieces or not all(_NUMBER.fullmatch(piece) for piece in pieces):
        return None
    values = tuple(float(piece) for piece in pieces)
    return values if all(math.isfinite(value) for value in values) else None


class _Reader:
    """Reads one document."""

    def __init__(self, document: XmlDocument, diagnostics: Diagnostics) -> None:
        self._document = document
        self._diagnostics = diagnostics
        # A default namespace on the root is the document's own: the peers' XML readers know no namespaces.
        self._namespace: str | None = None

    def read(self) -> tree.Semantic:
        """Return the tree."""
        root = self._document.root
        self._report_oddities()
        if root.prefix or etree.QName(root).localname != "robot":
            self._diagnostics.error(
                "wrong-root", f"the root element is <{_tag_text(root)}>, not <robot>", self._document.place(root)
            )
            self._diagnostics.raise_if_failed()
        self._namespace = etree.QName(root).namespace
        self._check(root, ROBOT)
        children = self._children(root, ROBOT)

        def all_of(tag: str, build: Callable[[etree._Element], _Item]) -> tuple[_Item, ...]:
            return tuple(build(element) for element in children.get(tag, ()))

        return tree.Semantic(
            name=_attribute(root, "name"),
            virtual_joints=all_of("virtual_joint", self._virtual_joint),
            passive_joints=all_of("passive_joint", self._named),
            groups=all_of("group", self._group),
            states=all_of("group_state", self._state),
            end_effectors=all_of("end_effector", self._end_effector),
            disabled_collisions=all_of("disable_collisions", self._pair),
            enabled_collisions=all_of("enable_collisions", self._pair),
            default_disabled_links=all_of("disable_default_collisions", self._default_disabled),
            link_spheres=all_of("link_sphere_approximation", self._spheres),
            joint_properties=all_of("joint_property", self._property),
            places=self._document.places,
            at=self._document.at(root),
        )

    def _report_oddities(self) -> None:
        """Report what the peers' XML readers let pass, and XML does not."""
        document = self._document
        if document.odd_declaration is not None:
            message = "the XML declaration should be '<?xml version=\"1.0\"?>' at the very start; it is passed over"
            self._diagnostics.warning("odd-declaration", message, document.odd_declaration)
        for place in document.odd_comments:
            self._diagnostics.warning("odd-comment", "'--' may not stand inside a comment; it is passed over", place)
        for prefix, at in document.undeclared_prefixes.items():
            message = f"the namespace prefix '{prefix}' is not declared"
            self._diagnostics.warning("undeclared-prefix", message, document.places.place(at))

    # --- what is common to all elements

    def _children(self, parent: etree._Element, spec: ElementSpec) -> dict[str, list[etree._Element]]:
        """Return the complete, known child elements by tag; report every other one."""
        found: dict[str, list[etree._Element]] = {}
        for element, tag in self._own_elements(parent):
            child_spec = spec.children.get(tag)
            if child_spec is None:
                self._report_unknown(element, tag, parent, spec.children)
            elif self._check(element, child_spec):
                found.setdefault(tag, []).append(element)
        return found

    def _own_elements(self, parent: etree._Element) -> Iterator[tuple[etree._Element, str]]:
        """Yield the child elements of the document's own namespace with their tags; text between them is reported."""
        if parent.text and parent.text.strip(_SPACE):
            self._report_text(parent, parent.text)
        for node in parent:
            if node.tail and node.tail.strip(_SPACE):
                self._report_text(parent, node.tail)
        for element in parent.iterchildren("*"):
            name = etree.QName(element)
            if not element.prefix and name.namespace == self._namespace:
                yield element, name.localname
            elif is_macro(element):
                message = f"<xacro:{name.localname}> is a macro that was not carried out; it is kept but not used"
                self._diagnostics.warning("xacro-not-expanded", message, self._document.place(element))

    def _check(self, element: etree._Element, spec: ElementSpec) -> bool:
        """Report the element's missing and unknown attributes and unknown children; return whether it is complete."""
        tag = _tag_text(element)
        present = element.attrib
        missing = [name for name in spec.required if name not in present]
        for name in missing:
            self._diagnostics.error(
                "missing-attribute", f"<{tag}> has no attribute '{name}'", self._document.place(element)
            )
        for key in present:
            name = str(key)
            if name not in spec.attributes and not name.startswith("{"):
                self._diagnostics.warning(
                    "unknown-attribute",
                    f"<{tag}> has no attribute '{name}' that means anything; known are {', '.join(spec.attributes)}",
                    self._document.place(element, name),
                    name=name,
                    valid=spec.attributes,
                )
        for name in ("name", "joint_name", "property_name"):
            if name in spec.required and name in present and not _attribute(element, name):
                self._diagnostics.error(
                    "empty-name", f"the {name} of <{tag}> is empty", self._document.place(element, name)
                )
        if not spec.children:
            self._children(element, spec)
        return not missing

    def _report_unknown(
        self, element: etree._Element, tag: str, parent: etree._Element, known: Mapping[str, ElementSpec]
    ) -> None:
        place, inside = self._document.place(element), _tag_text(parent)
        if tag in HOMES:
            homes = " or ".join(f"<{home}>" for home in dict.fromkeys(HOMES[tag]))
            self._diagnostics.error(
                "misplaced-element", f"<{tag}> has no meaning inside <{inside}>; it belongs into {homes}", place
            )
        else:
            self._diagnostics.warning(
                "unknown-element", f"<{tag}> inside <{inside}> is not known", place, name=tag, valid=list(known)
            )

    def _report_text(self, parent: etree._Element, text: str) -> None:
        shown = " ".join(text.split())
        shown = shown if len(shown) <= 40 else f"{shown[:37]}..."
        self._diagnostics.warning(
            "stray-text",
            f"<{_tag_text(parent)}> holds text that has no meaning: '{shown}'",
            self._document.place(parent),
        )

    def _not_numbers(self, element: etree._Element, attribute: str, expected: str) -> None:
        self._diagnostics.error(
            "bad-number",
            f"'{element.get(attribute)}' is not {expected}",
            self._document.place(element, attribute),
        )

    # --- one method an element

    def _named(self, element: etree._Element) -> tree.Named:
        return tree.Named(_attribute(element, "name"), self._document.at(element))

    def _default_disabled(self, element: etree._Element) -> tree.Named:
        return tree.Named(_attribute(element, "link"), self._document.at(element))

    def _virtual_joint(self, element: etree._Element) -> tree.VirtualJoint:
        written = _attribute(element, "type")
        kind = written.lower()
        if kind not in VIRTUAL_JOINT_TYPES:
            self._diagnostics.error(
                "unknown-joint-type",
                f"'{written}' is no type of virtual joint; there are {', '.join(VIRTUAL_JOINT_TYPES)}",
                self._document.place(element, "type"),
                name=kind,
                valid=VIRTUAL_JOINT_TYPES,
            )
        return tree.VirtualJoint(
            _attribute(element, "name"),
            kind,
            _attribute(element, "parent_frame"),
            _attribute(element, "child_link"),
            self._document.at(element),
        )

    def _group(self, element: etree._Element) -> tree.Group:
        children = self._children(element, ROBOT.children["group"])
        return tree.Group(
            _attribute(element, "name"),
            joints=tuple(map(self._named, children.get("joint", ()))),
            links=tuple(map(self._named, children.get("link", ()))),
            chains=tuple(
                tree.Chain(_attribute(chain, "base_link"), _attribute(chain, "tip_link"), self._document.at(chain))
                for chain in children.get("chain", ())
            ),
            subgroups=tuple(map(self._named, children.get("group", ()))),
            at=self._document.at(element),
        )

    def _state(self, element: etree._Element) -> tree.GroupState:
        children = self._children(element, ROBOT.children["group_state"])
        return tree.GroupState(
            _attribute(element, "name"),
            _attribute(element, "group"),
            tuple(map(self._joint_value, children.get("joint", ()))),
            self._document.at(element),
        )

    def _joint_value(self, element: etree._Element) -> tree.JointValue:
        text = element.get("value", "")
        values = parse_numbers(text)
        if values is None:
            self._not_numbers(element, "value", "one or several finite numbers")
        return tree.JointValue(_attribute(element, "name"), values, text, self._document.at(element))

    def _end_effector(self, element: etree._Element) -> tree.EndEffector:
        return tree.EndEffector(
            _attribute(element, "name"),
            _attribute(element, "group"),
            _attribute(element, "parent_link"),
            _attribute(element, "parent_group") if "parent_group" in element.attrib else None,
            self._document.at(element),
        )

    def _pair(self, element: etree._Element) -> tree.CollisionPair:
        return tree.CollisionPair(
            _attribute(element, "link1"),
            _attribute(element, "link2"),
            element.get("reason", ""),
            self._document.at(element),
        )

    def _spheres(self, element: etree._Element) -> tree.LinkSpheres:
        children = self._children(element, ROBOT.children["link_sphere_approximation"])
        spheres = [self._sphere(sphere) for sphere in children.get("sphere", ())]
        return tree.LinkSpheres(
            _attribute(element, "link"),
            tuple(sphere for sphere in spheres if sphere is not None),
            self._document.at(element),
        )

    def _sphere(self, element: etree._Element) -> tree.Sphere | None:
        center = parse_numbers(element.get("center", ""))
        radius = parse_numbers(element.get("radius", ""))
        if center is None or len(center) != 3:
            self._not_numbers(element, "center", "three finite numbers")
        if radius is None or len(radius) != 1 or radius[0] < 0.0:
            self._not_numbers(element, "radius", "one finite number that is not negative")
            return None
        if center is None or len(center) != 3:
            return None
        return tree.Sphere((center[0], center[1], center[2]), radius[0], self._document.at(element))

    def _property(self, element: etree._Element) -> tree.JointProperty:
        return tree.JointProperty(
            _attribute(element, "joint_name"),
            _attribute(element, "property_name"),
            element.get("value", ""),
            self._document.at(element),
        )


def _attribute(element: etree._Element, name: str) -> str:
    """Return an attribute's text without the white space around it, which the peers trim too."""
    return (element.get(name) or "").strip(_SPACE)


def _tag_text(element: etree._Element) -> str:
    local = etree.QName(element).localname
    return f"{element.prefix}:{local}" if element.prefix else local
