"""A well-formed text as one list of what opens, stands between and closes: what a reader that goes once through needs.

lxml's parser calls back for each tag. That takes as long as making its tree; asking the tree for its elements, tags and
attributes, each of which becomes a Python object first, would take as long again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from lxml import etree

MAX_PLAIN_BYTES = 10_000_000
"""Longest text that is read without a tree [bytes]: in a longer one, libxml2's limits hold for a tree alone."""

SAFE_DEPTH = 250
"""How deep elements may be nested for libxml2 to let it pass for sure, with a tree and without."""


class Remark(NamedTuple):
    """A comment or processing instruction, verbatim."""

    xml: str


class Stray(NamedTuple):
    """Text between tags that is more than white space, references resolved."""

    text: str


Mark = str | Remark | Stray | None
"""The tag of an element that begins; what stands between tags; None where an element ends."""


_NONE: dict[str, str] = {}


class Events(NamedTuple):
    """A document in the order in which it is written.

    Attributes:
        marks: from the root's beginning to its end.
        attributes: those of every element, by its number.
        namespaces: prefix and URI of the declarations on the root; the default one's prefix is "".
        prolog: comments and processing instructions before the root, verbatim.
        epilog: those after it.
    """

    marks: list[Mark]
    attributes: list[Mapping[str, str]]
    namespaces: dict[str, str]
    prolog: tuple[str, ...]
    epilog: tuple[str, ...]


def events_of_text(utf8: bytes, options: Mapping[str, Any]) -> Events | None:
    """Return the events of a text that lxml reads with these `options` of its parser.

    None where only a tree can tell what the text means or what is wrong with it: it is not well-formed, or there is
    more to it than tags and text. The caller has seen that there is no document type.
    """
    # References in attributes are resolved, and identifiers (xml:id) checked, in a tree alone.
    if len(utf8) > MAX_PLAIN_BYTES or b"&" in utf8 or b"xml:" in utf8:
        return None
    target: Any = _WithText() if _may_have_text(utf8) else _Target()
    parser = etree.XMLParser(target=target, **options)
    try:
        events: Events = etree.fromstring(utf8, parser)  # type: ignore[assignment]  # what the target's close returns
    except etree.XMLSyntaxError:
        return None
    # Without a tree, problems of namespaces are only noted. A default namespace goes by the elements' prefixes.
    return None if len(parser.error_log) or "" in events.namespaces else events


def events_of_tree(root: etree._Element) -> Events:
    """Return the events of a tree, tags without the root's default namespace: some exporters state one."""
    target = _Target()
    marks = target.marks
    default = root.nsmap.get(None)
    dropped = f"{{{default}}}" if default and str(root.tag).startswith("{") else None

    def text(value: str | None) -> None:
        if value and not value.isspace():
            marks.append(Stray(value))

    def go(element: etree._Element) -> None:
        tag = str(element.tag)
        if dropped is not None and tag.startswith(dropped) and not element.prefix:
            tag = tag[len(dropped) :]
        target.start(tag, dict(element.attrib), {})  # type: ignore[arg-type]  # lxml keys are text
        text(element.text)
        for child in element:
            # Comments and instructions have their maker for a tag.
            kind: object = child.tag
            if isinstance(kind, str):
                go(child)
            else:
                marks.append(_remark(child))
            text(child.tail)
        target.end(tag)

    for node in reversed(list(root.itersiblings(preceding=True))):
        marks.append(_remark(node))
    go(root)
    for node in root.itersiblings():
        marks.append(_remark(node))
    events = target.close()
    return events._replace(namespaces={prefix or "": uri for prefix, uri in root.nsmap.items()})


class _Target:
    """What lxml's parser calls."""

    def __init__(self) -> None:
        self.marks: list[Mark] = []
        self.attributes: list[Mapping[str, str]] = []
        self.namespaces: dict[str, str] = {}
        # Looked up once: these run for every tag.
        self._mark, self._attribute = self.marks.append, self.attributes.append

    def start(self, tag: str, attributes: Mapping[str, str], namespaces: Mapping[str, str]) -> None:
        if namespaces and not self.attributes:
            self.namespaces = dict(namespaces)
        self._mark(tag)
        # lxml's own empty mapping is slow to go over.
        self._attribute(attributes or _NONE)

    def end(self, tag: str) -> None:
        self._mark(None)

    def comment(self, text: str) -> None:
        self.marks.append(Remark(f"<!--{text}-->"))

    def pi(self, target: str, data: str | None) -> None:
        self.marks.append(Remark(f"<?{target} {data}?>" if data else f"<?{target}?>"))

    def close(self) -> Events:
        """Give away what has been collected: the parser keeps this object until the garbage collector comes by."""
        marks, attributes = self.marks, self.attributes
        self.marks, self.attributes = [], []
        del self._mark, self._attribute
        prolog: list[str] = []
        epilog: list[str] = []
        for mark in marks:
            if not isinstance(mark, Remark):
                break
            prolog.append(mark.xml)
        del marks[: len(prolog)]
        while marks and isinstance(marks[-1], Remark):
            epilog.append(marks.pop().xml)  # type: ignore[union-attr]  # told by the line above
        epilog.reverse()
        return Events(marks, attributes, self.namespaces, tuple(prolog), tuple(epilog))


class _WithText(_Target):
    """The same for a text that may have more than white space between its tags."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[str] = []

    def data(self, text: str) -> None:
        self._pieces.append(text)

    def start(self, tag: str, attributes: Mapping[str, str], namespaces: Mapping[str, str]) -> None:
        self._text_ends()
        super().start(tag, attributes, namespaces)

    def end(self, tag: str) -> None:
        self._text_ends()
        super().end(tag)

    def comment(self, text: str) -> None:
        self._text_ends()
        super().comment(text)

    def pi(self, target: str, data: str | None) -> None:
        self._text_ends()
        super().pi(target, data)

    def _text_ends(self) -> None:
        text = "".join(self._pieces)
        self._pieces.clear()
        if text and not text.isspace():
            self.marks.append(Stray(text))


def _may_have_text(utf8: bytes) -> bool:
    """Tell whether more than white space stands behind any ">", be it in a comment or an attribute."""
    dense = utf8.translate(None, b" \t\r\n")
    return dense.count(b"><") < dense.count(b">") - 1 or b"<![CDATA[" in dense


def _remark(node: etree._Element) -> Remark:
    text = node.text or ""
    target: str | None = getattr(node, "target", None)
    if target is None:
        return Remark(f"<!--{text}-->")
    return Remark(f"<?{target} {text}?>" if text else f"<?{target}?>")
