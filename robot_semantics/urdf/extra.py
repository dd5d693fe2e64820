# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Content without a field in the tree of a URDF: comments, instructions, foreign elements and attributes."""

from __future__ import annotations

from robot_semantics.xml.source_map import SourceMap


class Extra:
    """Content without a field in the tree, verbatim: a comment, a processing instruction, a foreign element or
    attribute.

    Two are equal if position, xml, tag and within are equal.

    Attributes:
        position: number of the parent's child elements in the tree before it; -1 for an attribute.
        tag: a foreign element's tag as written; ``@name`` for an attribute; empty for comments and instructions.
        within: the element that contains it, if this has no `extras` of its own: ``limit``, ``geometry/box``.
        at: a foreign element's number in the document.
    """

    __slots__ = ("_places", "_xml", "at", "position", "tag", "within")

    def __init__(
        self,
        position: int,
        xml: str | None = None,
        tag: str = "",
        within: str = "",
        at: int = -1,
        places: SourceMap | None = None,
    ) -> None:
        """Take the text as `xml`, or from `places` at element `at` when it is first needed."""
        self.position = position
        self.tag = tag
        self.within = within
        self.at = at
        self._xml = xml
        self._places = places

    @property
    def xml(self) -> str:
        """The text as in the document; for an attribute, its value."""
        if self._xml is None:
            # To find the element's end takes a pass over the whole text, which most readers never need.
            self._xml = self._places.verbatim(self.at) if self._places is not None else ""
        return self._xml

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Extra) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Extra({self.position}, {self.xml!r}, {self.tag!r}, {self.within!r})"

    def behind_more_children(self, by: int) -> Extra:
        """Return a copy whose position is `by` higher, because more child elements are before it.

        Content with another kind of position, such as an attribute, is returned unchanged.
        """
        if self.within or self.tag.startswith("@"):
            return self
        return Extra(self.position + by, self._xml, self.tag, self.within, self.at, self._places)

    def _key(self) -> tuple[int, str, str, str]:
        return self.position, self.tag, self.within, self.xml
