"""What every part of the URDF reader shares: numbering, problems with places, attributes, and what is kept verbatim."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from lxml import etree

from robot_semantics.description.urdf_tree import Extra
from robot_semantics.description.xml_reader import XmlDocument
from robot_semantics.diagnostics import Diagnostics

T = TypeVar("T")
Convert = Callable[[str], Any]

FOREIGN_TAGS = frozenset(
    {
        "transmission",
        "gazebo",
        "sensor",
        "ros2_control",
        "self_collision_checking",
        "frame",
        "loop_joint",
        "mujoco",
        "drake",
    }
)
"""Tags that other programs read from a URDF; they are kept verbatim without a word."""


class Unreadable(Exception):
    """A part has no meaning as written; the diagnostics already say why."""


@dataclass(slots=True)
class Part:
    """A composite element while it is read.

    Attributes:
        element: the XML element.
        at: its number in document order.
        extras: what is kept verbatim.
        order: tags of the children taken into the tree so far.
    """

    element: etree._Element
    at: int
    extras: list[Extra] = field(default_factory=list)
    order: list[str] = field(default_factory=list)


class Scanner:
    """The state of one reading: the next element's number, the diagnostics, the version.

    Elements must be visited in document order, each exactly once: that is what makes their numbers right without a
    second pass over the document.
    """

    def __init__(self, document: XmlDocument, diagnostics: Diagnostics) -> None:
        self.document = document
        self.diagnostics = diagnostics
        self.version = (1, 0)
        self.next = 0

    def number(self) -> int:
        """Return the number of the element that is entered now."""
        at = self.next
        self.next += 1
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

    def keep(self, part: Part, element: etree._Element, within: str = "", valid: Iterable[str] = ()) -> None:
        """Keep a comment or an element without a field verbatim; warn about an unknown tag."""
        tag = element.tag
        if not isinstance(tag, str):
            part.extras.append(Extra(len(part.order), _xml(element), "", within))
            return
        at = self.next
        self.next += sum(1 for _ in element.iter("*"))
        if not tag.startswith("{") and ":" not in tag and tag not in FOREIGN_TAGS:
            place = f"<{part.element.tag}>" if not within else f"<{within.rpartition('/')[2]}>"
            self.warning(
                "unknown-tag", f"<{tag}> is not known in {place}; it is kept but not used", at, name=tag, valid=valid
            )
        part.extras.append(Extra(len(part.order), _xml(element), tag, within, at))

    def attributes(
        self, part: Part, element: etree._Element, at: int, convert: Mapping[str, Convert | None], within: str = ""
    ) -> tuple[dict[str, Any], bool]:
        """Return the element's attributes, converted, and whether all of them could be.

        `convert` has every known attribute; None stands for text as it is. Unknown attributes are kept with a warning.
        """
        values: dict[str, Any] = {}
        good = True
        for key, text in element.items():
            try:
                function = convert[key]
            except KeyError:
                part.extras.append(Extra(-1, text, f"@{key}", within))
                if not key.startswith("{"):
                    self.warning(
                        "unknown-attribute",
                        f"attribute '{key}' is not known in <{element.tag}>; it is kept but not used",
                        at,
                        key,
                        name=key,
                        valid=tuple(convert),
                    )
                continue
            if function is None:
                values[key] = text
                continue
            try:
                values[key] = function(text)
            except ValueError as error:
                good = False
                self.error("bad-number", f"attribute '{key}' of <{element.tag}> {error}", at, key)
        return values, good

    def leaf(
        self, part: Part, element: etree._Element, convert: Mapping[str, Convert | None], within: str
    ) -> tuple[dict[str, Any], int, bool]:
        """Read an element that has attributes only; return them, its number, and whether all are good."""
        at = self.number()
        values, good = self.attributes(part, element, at, convert, within)
        if len(element):
            for child in element:
                self.keep(part, child, within)
        return values, at, good

    def require(self, values: Mapping[str, Any], names: Iterable[str], tag: str, at: int, good: bool) -> bool:
        """Report each missing attribute of `names`; return whether `good` and none is missing."""
        missing = [name for name in names if name not in values]
        if not missing:
            return good
        if good:
            for name in missing:
                self.error("missing-attribute", f"<{tag}> has no attribute '{name}'", at)
        return False


class Once(Generic[T]):
    """A child element of which the first counts; further ones are kept verbatim with a warning."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: T | None = None


def _xml(element: etree._Element) -> str:
    return etree.tostring(element, encoding="unicode", with_tail=False)
