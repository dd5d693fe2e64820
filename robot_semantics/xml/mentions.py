# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The places in a document where names occur, by a format's table of references."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lxml import etree

from robot_semantics.xml.document import XmlDocument
from robot_semantics.xml.schema import Reference


class Mention(NamedTuple):
    """One occurrence of a name.

    Attributes:
        reference: the place in the format's table.
        at: number of the element in its document.
        name: the value of the attribute, without surrounding white space.
    """

    reference: Reference
    at: int
    name: str

    @property
    def attribute(self) -> str:
        """The attribute, as the text has it."""
        return self.reference[2]


def mentions(document: XmlDocument, references: Iterable[Reference]) -> Iterator[Mention]:
    """Yield every name at the `references`, in document order; elements of a namespace unlike the root's are ignored.

    An attribute may have the usual prefix of its format, as in ``rs:parent_link``.
    """
    by_tags: dict[tuple[str, str], list[Reference]] = {}
    for reference in dict.fromkeys(references):
        by_tags.setdefault(reference[:2], []).append(reference)
    own = etree.QName(document.root).namespace
    for at, element in enumerate(document.elements):
        tag, above = etree.QName(element), element.getparent()
        if tag.namespace != own:
            continue
        for reference in by_tags.get(("" if above is None else etree.QName(above).localname, tag.localname), ()):
            prefix, _, local = reference[2].rpartition(":")
            value = element.get(f"{{{element.nsmap.get(prefix)}}}{local}" if prefix else local)
            if value is not None and value.strip():
                yield Mention(reference, at, value.strip())
