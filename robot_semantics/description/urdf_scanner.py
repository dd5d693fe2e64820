"""What every part of the URDF reader shares: numbering, problems with places, attributes, and what is kept verbatim."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from lxml import etree

from robot_semantics.description.urdf_numbers import shown
from robot_semantics.description.urdf_tree import Extra, Origin
from robot_semantics.description.xml_reader import UNDECLARED_NAMESPACE, XmlDocument, is_macro
from robot_semantics.diagnostics import Diagnostics

Version = tuple[int, int]
Attributes = Mapping[str, Callable[[str], Any]]
"""The attributes of an element: name → conversion of the text, which raises ValueError with the reason."""

VERSIONS: dict[str, Version] = {"1.0": (1, 0), "1.1": (1, 1), "1.2": (1, 2)}

FOREIGN_TAGS = frozenset(
    {
        "contact",
        "contact_coefficient",
        "drake",
        "force_torque_sensor",
        "frame",
        "gazebo",
        "loop_joint",
        "mujoco",
        "ros2_control",
        "self_collision_checking",
        "sensor",
        "transmission",
        "verbose",
    }
)
"""Tags that other programs read from a URDF; they are kept verbatim without a word."""

SUGGESTED_TAGS = ("gazebo", "ros2_control", "sensor", "transmission")
"""Those of them that a misspelt tag may be meant to be."""


class Part:
    """A composite element while it is read.

    Attributes:
        element: the XML element.
        at: its number in document order.
        values: its attributes, and what its children gave.
        good: whether nothing that the part cannot do without is in error.
        seen: tags of the known children met so far.
        order: tags of the children taken into the tree so far.
        extras: what is kept verbatim.
    """

    __slots__ = ("at", "element", "extras", "good", "order", "seen", "values")

    def __init__(self, element: etree._Element, at: int) -> None:
        self.element = element
        self.at = at
        self.values: dict[str, Any] = {}
        self.good = True
        self.seen: set[str] = set()
        self.order: list[str] = []
        self.extras: list[Extra] = []

    def insert(self, tag: str, index: int) -> None:
        """Let a child stand at `index` that the text does not have; what is kept verbatim stays where it is."""
        self.order.insert(index, tag)
        self.extras = [extra.moved(1) if extra.position >= index else extra for extra in self.extras]

    def remove(self, tag: str) -> None:
        """Take out a child that the text has; what is kept verbatim stays where it is."""
        index = self.order.index(tag)
        del self.order[index]
        self.extras = [extra.moved(-1) if extra.position > index else extra for extra in self.extras]


Child = Callable[["Scanner", Part, Any], bool]
"""Reads one child element into its part's values; tells whether it is taken into the tree."""


class Scanner:
    """The state of one reading: the next element's number, the diagnostics, the version.

    Elements must be visited in document order, each exactly once: that is what makes their numbers right without a
    second pass over the document.

    Attributes:
        complete: whether every link and joint so far can stand in a tree with its motion known.
        has_text: whether the document may have text that is more than white space between its tags.
        namespaces: prefix and URI of the declarations that verbatim parts need.
        child_origins: of joints in an older dialect, by child link: the joint frame in that link's frame.
    """

    def __init__(self, document: XmlDocument, diagnostics: Diagnostics) -> None:
        self.document = document
        self.diagnostics = diagnostics
        self.version: Version = (1, 0)
        self.next = 0
        self.complete = True
        self.has_text = _TEXT.search(document.places.text) is not None
        self.child_origins: dict[str, Origin] = {}
        root = document.root
        own = {prefix or "": uri for prefix, uri in root.nsmap.items() if not uri.startswith(UNDECLARED_NAMESPACE)}
        self.namespaces: dict[str, str] = own
        self._declared_below = document.places.text.count(b"xmlns") > len(own)

    def enter(self) -> int:
        """Return the number of the element that is entered now."""
        at = self.next
        self.next = at + 1
        return at

    def error(
        self,
        code: str,
        message: str,
        at: int,
        attribute: str | None = None,
        *,
        name: str | None = None,
        valid: Iterable[str] = (),
    ) -> None:
        """Report an error at an element or its attribute."""
        self.diagnostics.error(code, message, self.document.places.place(at, attribute), name=name, valid=tuple(valid))

    def warning(
        self,
        code: str,
        message: str,
        at: int,
        attribute: str | None = None,
        *,
        name: str | None = None,
        valid: Iterable[str] = (),
    ) -> None:
        """Report a warning at an element or its attribute."""
        self.diagnostics.warning(
            code, message, self.document.places.place(at, attribute), name=name, valid=tuple(valid)
        )

    def composite(
        self,
        element: etree._Element,
        attributes: Attributes,
        children: Mapping[str, Child],
        repeated: frozenset[str] = frozenset(),
    ) -> Part:
        """Read an element that has children; of those not in `repeated` the first counts."""
        at = self.next
        self.next = at + 1
        part = Part(element, at)
        values, seen, order = part.values, part.seen, part.order
        try:
            for key, text in element.items():
                values[key] = attributes[key](text)  # type: ignore[index, arg-type]  # lxml keys are text
        except (KeyError, ValueError):
            values.clear()
            part.good = self.attributes(part, element, at, attributes, values)
        if self.has_text:
            self.check_text(element, at)
        for child in element:
            tag = child.tag
            read = children.get(tag)
            if read is None:
                self.keep(part, child, valid=children)
            elif tag in seen and tag not in repeated:
                self.keep_duplicate(part, child)
            else:
                seen.add(tag)
                if read(self, part, child):
                    order.append(tag)
        return part

    def leaf(
        self, part: Part, element: etree._Element, attributes: Attributes, within: str, required: Iterable[str] = ()
    ) -> tuple[dict[str, Any], int, bool]:
        """Read an element that has attributes only; return them, its number, and whether all are there and good."""
        # The common case is written out here: this runs for most elements of a document.
        at = self.next
        self.next = at + 1
        values: dict[str, Any] = {}
        good = True
        try:
            for key, text in element.items():
                values[key] = attributes[key](text)  # type: ignore[index, arg-type]  # lxml keys are text
        except (KeyError, ValueError):
            values.clear()
            good = self.attributes(part, element, at, attributes, values, within)
        for name in required:
            if name not in values:
                # An attribute that is there but in error has been reported already.
                if element.get(name) is None:
                    self.error("missing-attribute", f"<{element.tag}> has no attribute '{name}'", at)
                good = False
        if self.has_text:
            self.check_text(element, at)
        if len(element):
            for child in element:
                self.keep(part, child, within, position=0)
        return values, at, good

    def check_text(self, element: etree._Element, at: int) -> None:
        """Warn of text in an element that should have none."""
        for text in (element.text, *[child.tail for child in element]):
            if text and not text.isspace():
                self.warning("stray-text", f"the text '{shown(text, 40)}' in <{element.tag}> is not used", at)

    def attributes(
        self,
        part: Part,
        element: etree._Element,
        at: int,
        known: Attributes,
        values: dict[str, Any],
        within: str = "",
    ) -> bool:
        """Put the element's converted attributes into `values`; return whether all could be converted.

        Unknown ones are kept with a warning.
        """
        good = True
        for key, text in cast("list[tuple[str, str]]", element.items()):
            try:
                values[key] = known[key](text)
            except KeyError:
                self._keep_attribute(part, element, at, key, text, known, within)
            except ValueError as error:
                good = False
                self.error("bad-number", f"attribute '{key}' of <{element.tag}> {error}", at, key)
        return good

    def named(self, tag: str, values: Mapping[str, Any], at: int, attribute: str = "name") -> bool:
        """Report a missing or empty name; tell whether there is one, which may be empty."""
        name = values.get(attribute)
        if name is None:
            self.error("missing-attribute", f"<{tag}> has no attribute '{attribute}'", at)
        elif not name:
            self.error("empty-name", f"attribute '{attribute}' of <{tag}> is empty", at, attribute)
        return name is not None

    def keep(
        self,
        part: Part,
        element: etree._Element,
        within: str = "",
        valid: Iterable[str] = (),
        position: int | None = None,
    ) -> None:
        """Keep a comment or an element without a field verbatim; warn about an unknown tag."""
        tag = element.tag
        if type(tag) is not str:
            # The text of a comment or instruction is all there is to it, so it need not be looked up in the document.
            part.extras.append(Extra(len(part.order) if position is None else position, verbatim(element), "", within))
            return
        at = self._keep_element(part, element, tag, within, position)
        if is_macro(element):
            message = f"<xacro:{tag.rpartition('}')[2]}> is a macro that was not carried out; it is kept but not used"
            self.warning("xacro-not-expanded", message, at)
        elif not tag.startswith("{") and tag not in FOREIGN_TAGS:
            holder = within.rpartition("/")[2] or str(part.element.tag)
            message = f"<{tag}> is not known in <{holder}>; it is kept but not used"
            self.warning("unknown-tag", message, at, name=tag, valid=(*valid, *SUGGESTED_TAGS))

    def keep_duplicate(
        self, part: Part, element: etree._Element, within: str = "", what: str = "", position: int | None = None
    ) -> None:
        """Keep an element verbatim that may stand only once in `part`, and has stood there already.

        `what` says what there may be only one of, where that is not the tag.
        """
        tag = str(element.tag)
        at = self._keep_element(part, element, tag, within, position)
        holder, thing = within or part.element.tag, what or f"<{tag}>"
        message = f"<{holder}> has more than one {thing}; the first counts, this one is kept but not used"
        self.warning("duplicate-element", message, at)

    def _keep_element(self, part: Part, element: etree._Element, tag: str, within: str, position: int | None) -> int:
        at = self.next
        self.next += sum(1 for _ in element.iter("*"))
        name = tag
        if tag.startswith("{"):
            local = tag.rpartition("}")[2]
            name = f"{element.prefix}:{local}" if element.prefix else local
        nth = len(part.order) if position is None else position
        xml = None
        if self._declared_below:
            outside = element.getparent()
            scope = {prefix or "": uri for prefix, uri in (outside.nsmap if outside is not None else {}).items()}
            for prefix, uri in scope.items():
                if self.namespaces.setdefault(prefix, uri) != uri:
                    # Two meanings of one prefix cannot both move to the root: this element takes its own along.
                    xml = etree.tostring(element, encoding="unicode", with_tail=False)
        part.extras.append(Extra(nth, xml, name, within, at, self.document.places))
        return at

    def _keep_attribute(
        self, part: Part, element: etree._Element, at: int, key: str, text: str, known: Attributes, within: str
    ) -> None:
        name = key
        if key.startswith("{"):
            uri, _, local = key[1:].partition("}")
            prefix = next((prefix for prefix, value in element.nsmap.items() if value == uri), "xml")
            name = f"{prefix}:{local}"
        part.extras.append(Extra(-1, text, f"@{name}", within))
        if name != key:
            return
        since = NEWER_ATTRIBUTES.get((str(element.tag), key))
        if since is not None:
            message = f"attribute '{key}' of <{element.tag}> needs version {since} of <robot>; it is kept but not used"
            self.warning("newer-version", message, at, key)
        else:
            message = f"attribute '{key}' is not known in <{element.tag}>; it is kept but not used"
            self.warning("unknown-attribute", message, at, key, name=key, valid=known)


# Text that is more than white space after a tag; what it finds may be in a comment or a foreign element.
_TEXT = re.compile(rb">\s*[^<\s]")


def verbatim(node: etree._Element) -> str:
    """Return the text of a comment or processing instruction."""
    text = node.text or ""
    target: str | None = getattr(node, "target", None)
    if target is None:
        return f"<!--{text}-->"
    return f"<?{target} {text}?>" if text else f"<?{target}?>"


NEWER_ATTRIBUTES: dict[tuple[str, str], str] = {
    ("origin", "quat_xyzw"): "1.1",
    ("limit", "acceleration"): "1.2",
    ("limit", "deceleration"): "1.2",
    ("limit", "jerk"): "1.2",
}
"""Attributes that are known only from a later version on; peers ignore them in an earlier one, and so do we."""
