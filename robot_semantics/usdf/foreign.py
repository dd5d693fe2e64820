"""What other namespaces, comments and processing instructions say in a document, as text that stands on its own."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from lxml import etree

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.usdf.vocabulary import ELEMENTS, NAMESPACE, PREFIX
from robot_semantics.xml.reader import XmlDocument

_XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace"


def holds_remarks(root: etree._Element) -> bool:
    """Tell whether a tree holds comments, instructions or references to entities."""
    return next(root.iter(etree.Comment, etree.ProcessingInstruction, etree.Entity), None) is not None


def take_foreign(document: XmlDocument, found: Diagnostics) -> dict[int, tuple[str, ...]]:
    """Take all foreign content out of a document's tree; return it by the number of the element it stands in.

    Of comments and instructions inside a value (a pose, say) the value's own parent is taken for the place. Foreign
    attributes of elements without children stay, for the schema to refuse: there is no place to keep them.
    What has no canonical form is an error in `found`.
    """
    document.at(document.root)  # numbers the elements, before any is taken out
    taken: dict[int, list[str]] = {}
    for element in list(document.root.iter()):
        if is_foreign(element):
            continue
        owner = element.getparent() if _holds_text(element) else element
        if owner is None:
            continue
        entries = taken.setdefault(document.at(owner), [])
        if owner is element:
            entries.extend(_take_attributes(element))
        for child in list(element):
            if is_foreign(child) and not _is(child, etree.Entity):
                try:
                    entries.append(_canonical(child))
                except etree.C14NError:
                    message = "this cannot be kept: it has a namespace that is a relative URI"
                    found.error("relative-namespace", message, document.place(child))
                _remove(child)
    return {at: tuple(entries) for at, entries in taken.items() if entries}


def foreign_element(entry: str, tag: str) -> etree._Element | None:
    """Return an entry as an element if it is one with this tag, ``{namespace}name``."""
    namespace = tag[1:].partition("}")[0]
    if not entry.startswith("<") or namespace not in entry:
        return None
    try:
        element = etree.fromstring(entry, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return None
    return element if element.tag == tag else None


def is_foreign(node: etree._Element) -> bool:
    """Tell whether a node is a comment, an instruction, or an element of another namespace."""
    tag: object = node.tag
    return not isinstance(tag, str) or (tag[0] == "{" and not tag.startswith(f"{{{NAMESPACE}}}"))


def _is(node: etree._Element, kind: object) -> bool:
    """Tell whether a node is a comment, instruction or entity reference: these have their maker for a tag."""
    tag: object = node.tag
    return tag is kind


def _holds_text(element: etree._Element) -> bool:
    spec = ELEMENTS.get(str(element.tag))
    return spec is not None and spec.text


def _remove(node: etree._Element) -> None:
    """Remove a node but keep the text behind it."""
    parent, before = node.getparent(), node.getprevious()
    if parent is None:
        return
    if node.tail:
        if before is None:
            parent.text = (parent.text or "") + node.tail
        else:
            before.tail = (before.tail or "") + node.tail
    parent.remove(node)


def _canonical(node: etree._Element) -> str:
    """Return a node as self-contained text: exclusive canonical XML.

    Prefixes in scope that only stand in values (``xsi:type="x:thing"``) are declared too, or they would lose their
    meaning.
    """
    if _is(node, etree.Comment) or _is(node, etree.ProcessingInstruction):
        return etree.tostring(node, encoding="unicode", with_tail=False)
    values = "".join(
        text for part in node.iter() for text in (part.text, part.tail, *map(str, part.attrib.values())) if text
    )
    prefixes = [prefix for prefix, uri in node.nsmap.items() if prefix and uri != NAMESPACE and f"{prefix}:" in values]
    text = etree.tostring(
        node, method="c14n", exclusive=True, with_comments=True, with_tail=False, inclusive_ns_prefixes=prefixes
    )
    return text.decode()


def _take_attributes(element: etree._Element) -> list[str]:
    """Remove the foreign attributes; return them as one text of attributes with their declarations, sorted."""
    parts: list[str] = []
    declared: dict[str, str] = {}
    prefixes = {uri: prefix for prefix, uri in element.nsmap.items() if prefix and prefix != PREFIX}
    for key in sorted(map(str, element.attrib)):
        if not key.startswith("{") or key.startswith(f"{{{NAMESPACE}}}"):
            continue
        namespace, _, local_name = key[1:].partition("}")
        prefix = "xml"
        if namespace != _XML_NAMESPACE:
            prefix = prefixes.setdefault(namespace, f"ns{len(prefixes)}")
            declared[prefix] = namespace
        parts.append(f"{prefix}:{local_name}={quoted(str(element.attrib.pop(key)))}")
    declarations = [f"xmlns:{prefix}={quoted(uri)}" for prefix, uri in sorted(declared.items())]
    return [" ".join((*declarations, *parts))] if parts else []


def quoted(value: str) -> str:
    """Return an attribute's value in quotes, escaped so that it reads back to the same string."""
    return quoteattr(value, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
