"""What every part of the URDF reader shares: numbering, problems with places, attributes, and what is kept verbatim."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from lxml import etree

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.urdf.outline import Remark, Stray, outline_of
from robot_semantics.urdf.tree import Extra, Origin
from robot_semantics.xml.numbers import shown
from robot_semantics.xml.reader import UNDECLARED_NAMESPACE, XmlDocument, is_macro
from robot_semantics.xml.schema import BadValueError

Result = TypeVar("Result")

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


class Later(NamedTuple):
    """Where an element stands that is read when its parent has been: in the outline, and in what the parent keeps."""

    here: int
    next: int
    extra: int


class Part:
    """A composite element while it is read.

    Attributes:
        tag: its tag.
        at: its number in document order.
        values: its attributes, and what its children gave.
        good: whether nothing that the part cannot do without is in error.
        seen: tags of the known children met so far.
        order: tags of the children taken into the tree so far.
        extras: what is kept verbatim.
    """

    __slots__ = ("at", "extras", "good", "order", "seen", "tag", "values")

    def __init__(self, tag: str, at: int) -> None:
        self.tag = tag
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


Child = Callable[["Scanner", Part], bool]
"""Reads the child element that the scanner has come to into its part's values; tells whether it is in the tree now."""


class Scanner:
    """One reading of a document's outline: how far it has come, the diagnostics, the version.

    Whoever reads an element finds `marks[here]` at its beginning, and leaves `here` behind its end.

    Attributes:
        marks: what begins, stands between and ends, in the order of the text.
        here: the place in `marks` that has been come to.
        next: the number of the next element that begins.
        texts: the attributes of every element as they stand, by its number.
        complete: whether every link and joint so far can stand in a tree with its motion known.
        namespaces: prefix and URI of the declarations that verbatim parts need.
        child_origins: of joints in an older dialect, by child link: the joint frame in that link's frame.
        older: whether anything so far is in an older dialect.
    """

    def __init__(self, document: XmlDocument, diagnostics: Diagnostics) -> None:
        self.document = document
        self.diagnostics = diagnostics
        self.version: Version = (1, 0)
        self.outline = outline_of(document.root)
        # Which kind of mark is next is looked at where it matters; elsewhere it is a tag.
        self.marks: list[Any] = self.outline.marks
        self.texts = self.outline.attributes
        self.here = 0
        self.next = 0
        self.complete = True
        self.child_origins: dict[str, Origin] = {}
        self.older = False
        declared = self.outline.namespaces.items()
        own = {prefix: uri for prefix, uri in declared if not uri.startswith(UNDECLARED_NAMESPACE)}
        self.namespaces: dict[str, str] = own
        self._declared_below = document.places.text.count(b"xmlns") > len(own)

    def enter(self) -> int:
        """Go on to what is in the element; return its number."""
        at = self.next
        self.next = at + 1
        self.here += 1
        return at

    def error(
        self,
        code: str,
        message: str,
        at: int,
        attribute: str | None = None,
        *,
        name: str | None = None,
        valid: Collection[str] = (),
    ) -> None:
        """Report an error at an element or its attribute."""
        self.diagnostics.error(code, message, self.document.places.place(at, attribute), name=name, valid=valid)

    def warning(
        self,
        code: str,
        message: str,
        at: int,
        attribute: str | None = None,
        *,
        name: str | None = None,
        valid: Collection[str] = (),
    ) -> None:
        """Report a warning at an element or its attribute."""
        self.diagnostics.warning(code, message, self.document.places.place(at, attribute), name=name, valid=valid)

    def in_older_dialect(self, message: str, at: int) -> None:
        """Warn of what is read from an older dialect and written in the current form."""
        self.older = True
        self.warning("older-dialect", message, at)

    def composite(
        self, attributes: Attributes, children: Mapping[str, Child], repeated: frozenset[str] = frozenset()
    ) -> Part:
        """Read an element that has children; of those not in `repeated` the first counts."""
        marks, at = self.marks, self.next
        part = Part(marks[self.here], at)
        self.next = at + 1
        self.here += 1
        values, seen, order = part.values, part.seen, part.order
        try:
            for key, text in self.texts[at].items():
                values[key] = attributes[key](text)
        except (KeyError, ValueError):
            values.clear()
            part.good = self.attributes(part, part.tag, at, attributes, values)
        while (tag := marks[self.here]) is not None:
            read = children.get(tag)
            if read is None:
                self.keep(part, valid=children)
            elif tag in seen and tag not in repeated:
                self.keep_duplicate(part)
            else:
                seen.add(tag)
                if read(self, part):
                    order.append(tag)
        self.here += 1
        return part

    def leaf(
        self, part: Part, attributes: Attributes, within: str, required: Iterable[str] = ()
    ) -> tuple[dict[str, Any], int, bool]:
        """Read an element that has attributes only; return them, its number, and whether all are there and good."""
        # The common case is written out here: this runs for most elements of a document.
        at, here = self.next, self.here
        self.next = at + 1
        values: dict[str, Any] = {}
        good = True
        try:
            for key, text in self.texts[at].items():
                values[key] = attributes[key](text)
        except (KeyError, ValueError):
            values.clear()
            good = self.attributes(part, self.marks[here], at, attributes, values, within)
        for name in required:
            if name not in values:
                # An attribute that is there but in error has been reported already.
                if name not in self.texts[at]:
                    self.error("missing-attribute", f"<{self.marks[here]}> has no attribute '{name}'", at)
                good = False
        self.here = here + 1
        if self.marks[here + 1] is None:
            self.here = here + 2
        else:
            self.keep_rest(part, self.marks[here], at, within)
        return values, at, good

    def attributes(
        self, part: Part, tag: str, at: int, known: Attributes, values: dict[str, Any], within: str = ""
    ) -> bool:
        """Put the converted attributes of element `at` into `values`; return whether all could be converted.

        Unknown ones are kept with a warning.
        """
        good = True
        for key, text in self.texts[at].items():
            try:
                values[key] = known[key](text)
            except KeyError:
                self._keep_attribute(part, tag, at, key, text, known, within)
            except BadValueError as error:
                good = False
                self.error(error.code, f"attribute '{key}' of <{tag}> {error}", at, key)
        return good

    def named(self, tag: str, values: Mapping[str, Any], at: int, attribute: str = "name") -> bool:
        """Report a missing or empty name; tell whether there is one, which may be empty."""
        name = values.get(attribute)
        if name is None:
            self.error("missing-attribute", f"<{tag}> has no attribute '{attribute}'", at)
        elif not name:
            self.error("empty-name", f"attribute '{attribute}' of <{tag}> is empty", at, attribute)
        return name is not None

    def keep_rest(self, part: Part, tag: str, at: int, within: str) -> None:
        """Keep everything in the element that has been entered, which should be empty, up to its end."""
        while self.marks[self.here] is not None:
            self.keep(part, within, position=0, owner=(tag, at))
        self.here += 1

    def keep(
        self,
        part: Part,
        within: str = "",
        valid: Collection[str] = (),
        position: int | None = None,
        owner: tuple[str, int] | None = None,
    ) -> None:
        """Keep a comment or an element without a field verbatim; warn about an unknown tag, and about text.

        `owner` is the tag and number of the element it stands in, where that is not the part itself.
        """
        mark = self.marks[self.here]
        if isinstance(mark, Stray):
            tag, at = owner or (part.tag, part.at)
            self.warning("stray-text", f"the text '{shown(mark.text, 40)}' in <{tag}> is not used", at)
            self.here += 1
            return
        if isinstance(mark, Remark):
            # What it says is all there is to it, so it need not be looked up in the document.
            part.extras.append(Extra(len(part.order) if position is None else position, mark.xml, "", within))
            self.here += 1
            return
        tag = str(mark)
        at = self._keep_element(part, tag, within, position)
        if tag.startswith("{") and is_macro(self.document.elements[at]):
            message = f"<xacro:{tag.rpartition('}')[2]}> is a macro that was not carried out; it is kept but not used"
            self.warning("xacro-not-expanded", message, at)
        elif not tag.startswith("{") and tag not in FOREIGN_TAGS:
            self.warn_of_unknown(tag, at, within.rpartition("/")[2] or part.tag, valid)

    def warn_of_unknown(self, tag: str, at: int, holder: str, valid: Iterable[str]) -> None:
        """Warn of an element that `holder` does not have."""
        message = f"<{tag}> is not known in <{holder}>; it is kept but not used"
        self.warning("unknown-element", message, at, name=tag, valid=(*valid, *SUGGESTED_TAGS))

    def keep_duplicate(self, part: Part, within: str = "", what: str = "", position: int | None = None) -> None:
        """Keep an element verbatim that may stand only once in `part`, and has stood there already.

        `what` says what there may be only one of, where that is not the tag.
        """
        tag = str(self.marks[self.here])
        at = self._keep_element(part, tag, within, position)
        holder, thing = within or part.tag, what or f"<{tag}>"
        message = f"<{holder}> has more than one {thing}; the first counts, this one is kept but not used"
        self.warning("duplicate-element", message, at)

    def keep_for_later(self, part: Part) -> Later:
        """Keep an element verbatim of which only the end of `part` tells what it is."""
        later = Later(self.here, self.next, len(part.extras))
        self._keep_element(part, str(self.marks[self.here]), "", None)
        return later

    def read_later(self, later: Later, read: Callable[[], Result]) -> Result:
        """Read an element that has been kept for later."""
        back = self.here, self.next
        self.here, self.next = later.here, later.next
        result = read()
        self.here, self.next = back
        return result

    def skip(self) -> None:
        """Go behind the end of the element that has been come to."""
        depth = 0
        while True:
            mark = self.marks[self.here]
            self.here += 1
            if mark is None:
                depth -= 1
                if depth == 0:
                    break
            elif type(mark) is str:
                depth += 1
                self.next += 1

    def _keep_element(self, part: Part, tag: str, within: str, position: int | None) -> int:
        at = self.next
        self.skip()
        name, xml = tag, None
        if tag.startswith("{"):
            prefix = self.document.elements[at].prefix
            local = tag.rpartition("}")[2]
            name = f"{prefix}:{local}" if prefix else local
        if self._declared_below:
            element = self.document.elements[at]
            outside = element.getparent()
            scope = {prefix or "": uri for prefix, uri in (outside.nsmap if outside is not None else {}).items()}
            for prefix, uri in scope.items():
                if self.namespaces.setdefault(prefix, uri) != uri:
                    # Two meanings of one prefix cannot both move to the root: this element takes its own along.
                    xml = etree.tostring(element, encoding="unicode", with_tail=False)
        nth = len(part.order) if position is None else position
        part.extras.append(Extra(nth, xml, name, within, at, self.document.places))
        return at

    def _keep_attribute(
        self, part: Part, tag: str, at: int, key: str, text: str, known: Attributes, within: str
    ) -> None:
        name = key
        if key.startswith("{"):
            uri, _, local = key[1:].partition("}")
            scope = self.document.elements[at].nsmap
            prefix = next((prefix for prefix, value in scope.items() if value == uri), "xml")
            name = f"{prefix}:{local}"
        part.extras.append(Extra(-1, text, f"@{name}", within))
        if name != key:
            return
        since = NEWER_ATTRIBUTES.get((tag, key))
        if since is not None:
            message = f"attribute '{key}' of <{tag}> needs version {since} of <robot>; it is kept but not used"
            self.warning("newer-version", message, at, key)
        else:
            message = f"attribute '{key}' is not known in <{tag}>; it is kept but not used"
            self.warning("unknown-attribute", message, at, key, name=key, valid=known)


NEWER_ATTRIBUTES: dict[tuple[str, str], str] = {
    ("origin", "quat_xyzw"): "1.1",
    ("limit", "acceleration"): "1.2",
    ("limit", "deceleration"): "1.2",
    ("limit", "jerk"): "1.2",
}
"""Attributes that are known only from a later version on; peers ignore them in an earlier one, and so do we."""
