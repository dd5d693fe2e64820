"""A tree as one list of what opens, stands between and closes, which the scanner goes through once."""

from __future__ import annotations

from typing import NamedTuple

from lxml import etree

from robot_semantics.xml.foreign import attribute_items


class Remark(NamedTuple):
    """A comment or processing instruction, verbatim."""

    xml: str


class Stray(NamedTuple):
    """Text between tags that is more than white space, references resolved."""

    text: str


Mark = str | Remark | Stray | None
"""The tag of an element that begins; what stands between tags; None where an element ends."""


class Outline(NamedTuple):
    """A document in the order in which it is written.

    Attributes:
        marks: from the root's beginning to its end; tags are without the root's default namespace, which some
            exporters state.
        attributes: those of every element, by its number.
        namespaces: prefix and URI of the declarations on the root; the default one's prefix is "".
        prolog: comments and processing instructions before the root, verbatim.
        epilog: those after it.
    """

    marks: list[Mark]
    attributes: list[dict[str, str]]
    namespaces: dict[str, str]
    prolog: tuple[str, ...]
    epilog: tuple[str, ...]


def outline_of(root: etree._Element) -> Outline:
    """Return the outline of a tree."""
    marks: list[Mark] = []
    attributes: list[dict[str, str]] = []
    default = root.nsmap.get(None)
    dropped = f"{{{default}}}" if default and str(root.tag).startswith("{") else None

    def go(element: etree._Element) -> None:
        tag = str(element.tag)
        if dropped is not None and tag.startswith(dropped) and not element.prefix:
            tag = tag[len(dropped) :]
        marks.append(tag)
        attributes.append(dict(attribute_items(element)))
        if (text := element.text) and not text.isspace():
            marks.append(Stray(text))
        for child in element:
            # Comments and instructions have their maker for a tag.
            kind: object = child.tag
            if isinstance(kind, str):
                go(child)
            else:
                marks.append(Remark(_verbatim(child)))
            if (text := child.tail) and not text.isspace():
                marks.append(Stray(text))
        marks.append(None)

    go(root)
    return Outline(
        marks,
        attributes,
        {prefix or "": uri for prefix, uri in root.nsmap.items()},
        tuple(map(_verbatim, reversed(list(root.itersiblings(preceding=True))))),
        tuple(map(_verbatim, root.itersiblings())),
    )


def _verbatim(node: etree._Element) -> str:
    text = node.text or ""
    target: str | None = getattr(node, "target", None)
    if target is None:
        return f"<!--{text}-->"
    return f"<?{target} {text}?>" if text else f"<?{target}?>"
