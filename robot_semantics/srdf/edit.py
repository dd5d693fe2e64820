# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Edits of an SRDF in place: the rest keeps every byte, with comments, order and indentation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.base.names import LinkPair
from robot_semantics.srdf import tree
from robot_semantics.srdf.table import SRDF_REFERENCES, read_semantic
from robot_semantics.xml.edit import Edit, NewElement, XmlText
from robot_semantics.xml.numbers import number_text
from robot_semantics.xml.reader import read_text
from robot_semantics.xml.schema import Reference
from robot_semantics.xml.schema_reader import mentions

GENERATED_REASONS = ("Adjacent", "Never", "Default", "Always")
"""Reasons that the collision matrix generator writes; a person wrote all others."""

ORDER = (
    "virtual_joint",
    "group",
    "group_state",
    "end_effector",
    "passive_joint",
    "joint_property",
    "link_sphere_approximation",
    "disable_default_collisions",
    "enable_collisions",
    "disable_collisions",
)
"""Position of a new element: after the last element of its kind, else after the last of the preceding kinds here."""

PARTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "virtual joint": ("virtual_joints", ("name",)),
    "passive joint": ("passive_joints", ("name",)),
    "group": ("groups", ("name",)),
    "end effector": ("end_effectors", ("name",)),
    "state": ("states", ("group", "name")),
    "joint property": ("joint_properties", ("joint_name", "property_name")),
    "link disabled by default": ("default_disabled_links", ("name",)),
    "link with spheres": ("link_spheres", ("link",)),
}
"""Removable parts by kind: their field in the tree, and the fields that form their name."""


class Use(NamedTuple):
    """A place of a text that names a part.

    Attributes:
        words: the part that has the place, in words.
        ordinal: number of the element.
        attribute: the attribute with the name.
    """

    words: str
    ordinal: int
    attribute: str


def _is_inside(edit: Edit, other: Edit) -> bool:
    return other.start <= edit.start and edit.end <= other.end and (edit.start, edit.end) != (other.start, other.end)


class SrdfText:
    """An SRDF text as a value: each change returns a new one; without a change, every byte is as read.

    Attributes:
        semantic: the tree of the text.
        reading: the problems that reading the tree has found.
    """

    def __init__(self, text: str | bytes, source: str = "<robot_description_semantic>") -> None:
        """Keep the text unchanged.

        Raises:
            DescriptionError: it is not well-formed XML, or not an SRDF.
        """
        self._take(XmlText(text, source))

    @classmethod
    def of(cls, xml: XmlText) -> SrdfText:
        """Return the SRDF of an XML text.

        Raises:
            DescriptionError: it is not an SRDF.
        """
        made = cls.__new__(cls)
        made._take(xml)
        return made

    @classmethod
    def from_file(cls, path: str | Path) -> SrdfText:
        """Read a file.

        Raises:
            DescriptionError: it cannot be read, or is not an SRDF.
        """
        return cls(read_text(path), str(path))

    @classmethod
    def empty(cls, robot: str, source: str = "<robot_description_semantic>") -> SrdfText:
        """Return an empty SRDF for the robot of this name."""
        (element,) = NewElement("robot", (("name", robot),)).lines("", "")
        return cls(f'<?xml version="1.0"?>\n{element}\n', source)

    def _take(self, xml: XmlText) -> None:
        self.xml = xml
        self.reading = Diagnostics()
        self.semantic = read_semantic(xml.document, self.reading)

    def __bytes__(self) -> bytes:
        """Return the text in its original encoding."""
        return self.xml.original

    def __str__(self) -> str:
        return self.xml.utf8.decode()

    def edited(self, edits: Iterable[Edit]) -> SrdfText:
        """Return the text with `edits`; the same object if there are none."""
        xml = self.xml.edited(edits)
        return self if xml is self.xml else SrdfText.of(xml)

    # --- adding

    def add(self, elements: Sequence[NewElement]) -> SrdfText:
        """Return the text with new elements at robot level, each after the last of its kind."""
        text = self
        for tag in dict.fromkeys(element.tag for element in elements):
            text = text._insert([element for element in elements if element.tag == tag], tag)
        return text

    def extend_group(self, name: str, members: Sequence[NewElement]) -> SrdfText:
        """Return the text with further members of a group, after the existing ones.

        Raises:
            UnknownNameError: the group does not exist.
        """
        found = next((group for group in self.semantic.groups if group.name == name), None)
        if found is None:
            raise UnknownNameError("group", name, [group.name for group in self.semantic.groups])
        named = (*found.joints, *found.links, *found.subgroups)
        last = max((*(item.ordinal for item in named), *(chain.ordinal for chain in found.chains)), default=None)
        return self.edited([self.xml.insertion(members, found.ordinal, last)])

    def _insert(self, elements: Sequence[NewElement], tag: str) -> SrdfText:
        children = [(self._tag(child), child) for child in self.xml.root.iterchildren("*")]
        before = ORDER[: ORDER.index(tag) + 1] if tag in ORDER else ORDER
        same = [child for name, child in children if name == tag]
        earlier = same or [child for name, child in children if name in before]
        root = self.xml.document.ordinal(self.xml.root)
        if earlier or not children:
            after = self.xml.document.ordinal(earlier[-1]) if earlier else None
            return self.edited([self.xml.insertion(elements, root, after)])
        return self.edited([self.xml.insertion_at_start(elements, root)])

    # --- removing

    def remove(self, kind: str, *name: str) -> SrdfText:
        """Return the text without a part of a kind in `PARTS`; references to the part stay.

        The name of a state is its group and its own name. The name of a joint property is the joint and its own name.
        Spheres and links with collisions disabled by default are named by the link.

        Raises:
            UnknownNameError: the part does not exist.
        """
        of_tree, fields = PARTS[kind]
        named = [
            (tuple(getattr(item, field) for field in fields), item.ordinal) for item in getattr(self.semantic, of_tree)
        ]
        found = [at for known, at in named if known == name]
        if not found:
            raise UnknownNameError(kind, "/".join(name), ["/".join(known) for known, _ in named])
        return self.edited([self.xml.removal(at) for at in found])

    def uses(self, kind: str, *name: str) -> tuple[Use, ...]:
        """Return the places that name a part, except the part itself: a group, a virtual joint."""
        references = SRDF_REFERENCES[{"group": "group", "virtual joint": "joint"}[kind]]
        own = [self.xml.places.span(item.ordinal) for item in self._part(kind, name)]
        found: list[Use] = []
        for mention in mentions(self.xml.document, references):
            start, _ = self.xml.places.span(mention.ordinal)
            if mention.name == name[-1] and not any(first <= start < last for first, last in own):
                found.append(Use(self._place_words(mention.ordinal), mention.ordinal, mention.attribute))
        return tuple(found)

    def remove_uses(self, kind: str, *name: str) -> SrdfText:
        """Return the text without all that names a part, see `uses`; an optional attribute is removed alone."""
        edits = [
            self.xml.attribute_removal(use.ordinal, use.attribute)
            if use.attribute == "parent_group"
            else self.xml.removal(use.ordinal)
            for use in self.uses(kind, *name)
        ]
        # An end effector may name one group twice: its removal includes its attribute.
        return self.edited(edit for edit in edits if not any(_is_inside(edit, other) for other in edits))

    def _part(self, kind: str, name: tuple[str, ...]) -> list[Any]:
        of_tree, fields = PARTS[kind]
        return [item for item in getattr(self.semantic, of_tree) if tuple(getattr(item, f) for f in fields) == name]

    def _place_words(self, at: int) -> str:
        """Return the part at robot level that has the element `at`, in words."""
        element = self.xml.document.elements[at]
        while (above := element.getparent()) is not None and above.getparent() is not None:
            element = above
        name = element.get("name", element.get("joint_name", ""))
        if self._tag(element) == "group_state":
            return f"state {element.get('group', '')}/{name}"
        return f"{self._tag(element).replace('_', ' ')} {name}"

    def remove_member(self, group: str, kind: str, *name: str) -> SrdfText:
        """Return the text without a member of a group: a joint, link or group by name, or a chain by both links.

        Raises:
            UnknownNameError: the group or the member does not exist.
        """
        (of_group,) = self._part("group", (group,)) or [None]
        if of_group is None:
            raise UnknownNameError("group", group, [item.name for item in self.semantic.groups])
        members: dict[str, list[tuple[tuple[str, ...], int]]] = {
            "joint": [((item.name,), item.ordinal) for item in of_group.joints],
            "link": [((item.name,), item.ordinal) for item in of_group.links],
            "group": [((item.name,), item.ordinal) for item in of_group.subgroups],
            "chain": [((item.base_link, item.tip_link), item.ordinal) for item in of_group.chains],
        }
        found = [at for known, at in members[kind] if known == name]
        if not found:
            raise UnknownNameError(f"{kind} of the group", " ".join(name), [" ".join(one) for one, _ in members[kind]])
        return self.edited([self.xml.removal(at) for at in found])

    # --- changing

    def set_attribute(self, kind: str, name: tuple[str, ...], attribute: str, value: str | None) -> SrdfText:
        """Return the text with another value of an attribute of a part; None removes the attribute.

        Raises:
            UnknownNameError: the part does not exist.
        """
        parts = self._part(kind, name)
        if not parts:
            of_tree, fields = PARTS[kind]
            known = ["/".join(getattr(item, f) for f in fields) for item in getattr(self.semantic, of_tree)]
            raise UnknownNameError(kind, "/".join(name), known)
        if value is None:
            return self.edited([self.xml.attribute_removal(item.ordinal, attribute) for item in parts])
        return self.edited([self.xml.attribute(item.ordinal, attribute, value) for item in parts])

    def set_state_value(self, group: str, state: str, joint: str, values: Sequence[float]) -> SrdfText:
        """Return the text with other values of a joint in a state [rad, m, quaternion x y z w].

        Raises:
            UnknownNameError: the state does not exist, or does not have the joint.
        """
        found = [item for item in self.semantic.states if (item.group, item.name) == (group, state)]
        joints = [item for part in found for item in part.joints if item.name == joint]
        if not joints:
            known = [item.name for part in found for item in part.joints]
            raise UnknownNameError("joint of the state", joint, known)
        text = " ".join(number_text(value) for value in values)
        return self.edited([self.xml.attribute(item.ordinal, "value", text) for item in joints])

    # --- collision pairs

    def disable_collisions(self, pairs: Mapping[LinkPair, str | None]) -> SrdfText:
        """Return the text that disables all `pairs` with their reasons, and enables none of them; other pairs stay.

        A pair without a reason (None) keeps its old reason; a new pair gets the reason User.
        """
        enabled = [pair for _, pair in self._pairs("enable_collisions") if pair in pairs]
        return self.remove_pairs("enable_collisions", enabled)._with_pairs("disable_collisions", pairs, "User")

    def enable_collisions(self, pairs: Mapping[LinkPair, str | None]) -> SrdfText:
        """Return the text that enables all `pairs`, with optional reasons, and disables none of them."""
        disabled = [pair for _, pair in self._pairs("disable_collisions") if pair in pairs]
        return self.remove_pairs("disable_collisions", disabled)._with_pairs("enable_collisions", pairs, None)

    def remove_pairs(self, tag: str, pairs: Collection[LinkPair]) -> SrdfText:
        """Return the text without elements `tag` (disable_collisions or enable_collisions) for `pairs`.

        Raises:
            UnknownNameError: a pair has no such element.
        """
        stated = self._pairs(tag)
        known = {pair for _, pair in stated}
        for pair in pairs:
            if pair not in known:
                raise UnknownNameError(f"<{tag}> pair", " ".join(pair), [" ".join(other) for other in known])
        return self.edited([self.xml.removal(item.ordinal) for item, pair in stated if pair in pairs])

    def _pairs(self, tag: str) -> list[tuple[tree.CollisionPair, LinkPair]]:
        disabled = tag == "disable_collisions"
        items = self.semantic.disabled_collisions if disabled else self.semantic.enabled_collisions
        return [(item, item.pair) for item in items]

    def replace_disabled(
        self, pairs: Mapping[LinkPair, str], replaced: Collection[str] = GENERATED_REASONS
    ) -> SrdfText:
        """Return the text whose generated pairs are exactly `pairs` (pair → reason); new pairs keep their order.

        A pair is generated if its reason is one of `replaced`; all other pairs were written by a person and never
        change. Generated pairs that stay keep their position and comments. A repeated generated pair is written once.
        """
        stated = self._pairs("disable_collisions")
        seen = {pair for item, pair in stated if item.reason not in replaced}
        edits: list[Edit] = []
        for item, pair in stated:
            if item.reason not in replaced:
                continue
            if pair not in pairs or pair in seen:
                edits.append(self.xml.removal(item.ordinal))
            elif item.reason != pairs[pair]:
                edits.append(self.xml.attribute(item.ordinal, "reason", pairs[pair]))
            seen.add(pair)
        new = {pair: pairs[pair] for pair in pairs if pair not in seen}
        return self.edited(edits).disable_collisions(new)

    def _with_pairs(self, tag: str, pairs: Mapping[LinkPair, str | None], default: str | None) -> SrdfText:
        """Return the text with an element `tag` for each pair, with its reason if it has one."""
        stated = self._pairs(tag)
        edits = [
            self.xml.attribute(item.ordinal, "reason", reason)
            for item, pair in stated
            if (reason := pairs.get(pair)) is not None and item.reason != reason
        ]
        known = {pair for _, pair in stated}
        new: list[NewElement] = []
        for pair in pairs:
            if pair not in known:
                reason = pairs[pair] if pairs[pair] is not None else default
                links = (("link1", pair.first), ("link2", pair.second))
                new.append(NewElement(tag, links if reason is None else (*links, ("reason", reason))))
        return self.edited(edits).add(new)

    # --- renaming

    def rename(self, kind: str, old: str, new: str) -> SrdfText:
        """Return the text with the name `old` replaced by `new` in every reference.

        `kind` is one of `SRDF_REFERENCES`: link, joint, group, end_effector, frame.

        Raises:
            RobotSemanticsError: the new name is empty.
        """
        return self.edited(rename_edits(self.xml, SRDF_REFERENCES[kind], old, new))

    def mentioned(self, kind: str) -> tuple[str, ...]:
        """Return every name of a kind (as in `rename`) in the text, in byte order."""
        return tuple(sorted({mention.name for mention in mentions(self.xml.document, SRDF_REFERENCES[kind])}))

    def rename_state(self, group: str, old: str, new: str) -> SrdfText:
        """Return the text with the state `old` of a group renamed to `new`.

        Raises:
            UnknownNameError: the state does not exist.
            RobotSemanticsError: the new name is empty.
        """
        found = [state for state in self.semantic.states if (state.group, state.name) == (group, old)]
        if not found:
            raise UnknownNameError(
                "state", f"{group}/{old}", [f"{state.group}/{state.name}" for state in self.semantic.states]
            )
        return self.edited([self.xml.attribute(state.ordinal, "name", checked_name(new)) for state in found])

    @staticmethod
    def _tag(element: etree._Element) -> str:
        return etree.QName(element).localname


def checked_name(name: str) -> str:
    """Return a new name without surrounding white space.

    Raises:
        RobotSemanticsError: the name is empty.
    """
    if not name.strip():
        raise RobotSemanticsError("the new name is empty")
    return name.strip()


def rename_edits(xml: XmlText, references: Iterable[Reference], old: str, new: str) -> list[Edit]:
    """Return the edits that replace `old` by `new` in all `references`.

    Raises:
        RobotSemanticsError: the new name is empty.
    """
    new = checked_name(new)
    return [
        xml.attribute(mention.ordinal, mention.attribute, new)
        for mention in mentions(xml.document, references)
        if mention.name == old
    ]
