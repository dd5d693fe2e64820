"""A document to the value that its format's table says it is: every problem at its place, parts in error left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lxml import etree

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.names import did_you_mean
from robot_semantics.xml.foreign import attribute_entry, attribute_items, element_entry
from robot_semantics.xml.reader import XmlDocument
from robot_semantics.xml.schema import TEXT, BadValueError, Child, Element, Kind, Table

_SPACE = " \t\r\n"


def read_table(document: XmlDocument, table: Table, found: Diagnostics) -> Any:
    """Return the value of a document's root; problems are added to `found`.

    Raises:
        DescriptionError: the root is not the format's, or cannot be read at all.
    """
    root = document.root
    if root.tag not in (table.root.tag, *table.other_roots):
        message = f"the root element is <{table.name(str(root.tag))}>; it must be <{table.root.tag}>"
        found.error("wrong-root", message, document.places.place(0))
        raise DescriptionError(found)
    reader = _Reader(document, table, found)
    value = reader.read(root, reader.root, [])
    if value is None:
        raise DescriptionError(found)
    return value


class _Plan:
    """An element of the table with its names as lxml has them, and the values that are known of its texts."""

    def __init__(self, element: Element, table: Table, known: Mapping[Kind, Mapping[str, Any]]) -> None:
        self.element = element
        self.tag, self.make, self.text = element.tag, element.make, element.text
        self.keeps, self.numbered = element.keeps, element.numbered
        self.attributes = {
            table.key(name): (
                attribute.field,
                attribute.kind,
                None if attribute.kind is TEXT else known[attribute.kind],
            )
            for name, attribute in element.attributes.items()
        }
        self.required = [
            (name, attribute.field) for name, attribute in element.attributes.items() if attribute.required
        ]
        self.known_texts = known[element.text] if element.text is not None else {}
        # Of children with nothing but a text, those texts' values.
        self.leaves = {
            table.key(tag): (child.field, known[child.element.text])
            for tag, child in element.children.items()
            if child.element.text is not None and child.element.make is None and not child.many
        }
        self.children: dict[str, tuple[Child, _Plan]] = {}
        self.valid_attributes, self.valid_children = tuple(element.attributes), tuple(element.children)


class _Reader:
    """One walk over a tree, in document order."""

    def __init__(self, document: XmlDocument, table: Table, found: Diagnostics) -> None:
        self._document = document
        self._table = table
        self._found = found
        self._next = 0
        self._known = self._parse_all()
        plans = {id(element): _Plan(element, table, self._known) for element in table.root.all()}
        for plan in plans.values():
            plan.children = {
                table.key(tag): (child, plans[id(child.element)]) for tag, child in plan.element.children.items()
            }
        self.root = plans[id(table.root)]
        self._tags = {table.key(element.tag) for element in table.root.all()}

    def _parse_all(self) -> dict[Kind, dict[str, Any]]:
        """Parse all texts of a kind in one go where the kind can; what is faulty is looked at one by one."""
        root, key = self._document.root, self._table.key
        texts: dict[Kind, list[str]] = {}
        tags: dict[Kind, list[str]] = {}
        extended = self._table.namespace.encode() in self._document.places.text
        for element in self._table.root.all():
            if element.text is not None:
                tags.setdefault(element.text, []).append(key(element.tag))
            for name, attribute in element.attributes.items():
                of_kind = texts.setdefault(attribute.kind, [])
                if attribute.kind.parse_all is not None and (extended or ":" not in name):
                    values = (node.get(key(name)) for node in root.iter(key(element.tag)))
                    of_kind += [value for value in values if value is not None]
        for kind, its_tags in tags.items():
            of_kind = texts.setdefault(kind, [])
            if kind.parse_all is not None:
                of_kind += [node.text or "" for node in root.iter(*its_tags)]
        known: dict[Kind, dict[str, Any]] = {}
        for kind, of_it in texts.items():
            parsed = kind.parse_all(of_it) if kind.parse_all is not None and of_it else None
            known[kind] = {} if parsed is None else dict(zip(of_it, parsed, strict=True))
        return known

    def read(self, node: etree._Element, plan: _Plan, above: list[str]) -> Any:
        """Return the value of an element, None where it cannot be used; what it cannot keep is added to `above`."""
        at = self._next
        self._next = at + 1
        values: dict[str, Any] = {}
        foreign: list[str] = []
        good = self._attributes(node, plan, at, values, foreign)
        if plan.text is None:
            self._children(node, plan, at, values, foreign)
        elif not self._text(node, plan, at, values, foreign):
            good = False
        if foreign:
            if plan.keeps:
                # As they come when what is written is read again: what children cannot keep stands last.
                values["foreign"] = tuple(sorted(foreign, key=lambda entry: entry.startswith("@")))
            else:
                above += foreign
        if not good:
            return None
        if plan.make is None:
            return values[""]
        if plan.numbered:
            values["at"] = at
        return plan.make(**values)

    def _attributes(
        self, node: etree._Element, plan: _Plan, at: int, values: dict[str, Any], foreign: list[str]
    ) -> bool:
        """Read the attributes; tell whether none that is required is missing."""
        attributes = plan.attributes
        unknown: dict[str, str] = {}
        for key, text in attribute_items(node):
            if key not in attributes:
                unknown[key] = text
                continue
            field, kind, known = attributes[key]
            if known is None:
                values[field] = text
            elif text in known:
                values[field] = known[text]
            else:
                self._value(values, field, kind, text, at, self._table.name(key))
        if unknown:
            self._unknown_attributes(node, plan, at, unknown, foreign)
        good = True
        for name, field in plan.required:
            if field not in values:
                self._error("missing-attribute", f"<{plan.tag}> has no {name}", at)
                good = False
        return good

    def _value(self, values: dict[str, Any], field: str, kind: Kind, text: str, at: int, attribute: str) -> bool:
        """Put the value of a text into its field; tell whether there is one."""
        try:
            values[field] = kind.parse(text, attribute or f"<{self._tag(at)}>")
        except BadValueError as error:
            self._error(error.code, str(error), at, attribute or None)
            return False
        return True

    def _children(self, node: etree._Element, plan: _Plan, at: int, values: dict[str, Any], foreign: list[str]) -> None:
        children, leaves = plan.children, plan.leaves
        late: list[str] = []
        many: dict[str, list[Any]] = {}
        if (text := node.text) and text.strip(_SPACE):
            self._stray(plan, text, at)
        for child in node:
            tag = child.tag
            if tag in leaves and not len(child) and not child.keys():
                # The common case: a row of numbers, which is known.
                field, known = leaves[tag]
                value = known.get(child.text or "")
                if value is not None and field not in values:
                    values[field] = value
                    self._next += 1
                else:
                    self._child(child, plan, values, late)
            elif tag not in children:
                self._unknown_child(child, plan, foreign)
            elif (repeated := children[tag])[0].many:
                here = self._next
                value = self.read(child, repeated[1], late)
                if value is None:
                    pass
                elif not repeated[0].keyed:
                    many.setdefault(repeated[0].field, []).append(value)
                elif value.name in (entries := values.setdefault(repeated[0].field, {})):
                    message = f"a second <{repeated[1].tag}> is called '{value.name}'"
                    self._error("duplicate-name", message, here, "name")
                else:
                    entries[value.name] = value.value
            else:
                self._child(child, plan, values, late)
            if (tail := child.tail) and tail.strip(_SPACE):
                self._stray(plan, tail, at)
        foreign += late
        for field, items in many.items():
            values[field] = tuple(items)

    def _child(self, child: etree._Element, plan: _Plan, values: dict[str, Any], late: list[str]) -> None:
        """Read a child that may stand only once."""
        known, below = plan.children[child.tag]
        if known.field in values:
            self._error("duplicate-element", f"a second <{below.tag}> in one <{plan.tag}>", self._next)
            self._skip(child)
        else:
            value = self.read(child, below, late)
            values[known.field] = known.default if value is None else value

    # -- what the table does not have ----------------------------------------------------------------------------------

    def _unknown_attributes(
        self, node: etree._Element, plan: _Plan, at: int, values: Mapping[str, str], foreign: list[str]
    ) -> None:
        tag = plan.element.tag
        kept = {key: text for key, text in values.items() if key.startswith("{")}
        for key in values:
            if not key.startswith("{"):
                message = f"the attribute '{key}' is not known in <{tag}>"
                place = self._document.places.place(at, key)
                self._found.error("unknown-attribute", message, place, name=key, valid=plan.valid_attributes)
        if not kept:
            return
        entry = attribute_entry(node, kept, self._table.namespace, self._table.prefix)
        foreign.append(entry if plan.element.keeps else f"@{tag} {entry}")
        for key in kept:
            namespace, _, local_name = key[1:].partition("}")
            if namespace == self._table.namespace:
                name = self._table.name(key)
                message = f"the attribute '{name}' is not known in <{tag}>; it is kept but not used"
                place = self._document.places.place(at, name)
                self._found.warning("unknown-attribute", message, place, name=name, valid=plan.valid_attributes)
            else:
                message = f"the attribute '{local_name}' of <{tag}> is of another namespace; it is kept but not used"
                self._found.warning("foreign-content", message, self._document.places.place(at))

    def _unknown_child(self, child: etree._Element, plan: _Plan, foreign: list[str]) -> bool:
        """Keep what can be kept; tell whether it may stand here."""
        tag: object = child.tag
        at = self._next
        if not isinstance(tag, str):
            foreign.append(element_entry(child, self._table.namespace))
            return True
        self._skip(child)
        name, inside = self._table.name(tag), plan.element.tag
        if not tag.startswith("{"):
            elsewhere = tag in self._tags and did_you_mean(name, plan.valid_children) is None
            reason = "does not belong in" if elsewhere else "is not known in"
            place = self._document.places.place(at)
            message = f"<{name}> {reason} <{inside}>"
            self._found.error("unknown-element", message, place, name=name, valid=plan.valid_children)
            return False
        try:
            foreign.append(element_entry(child, self._table.namespace))
        except etree.C14NError:
            message = "this cannot be kept: it has a namespace that is a relative URI"
            self._error("relative-namespace", message, at)
            return False
        namespace = tag[1:].partition("}")[0]
        place = self._document.places.place(at)
        if namespace == self._table.namespace:
            message = f"<{name}> is not known in <{inside}>; it is kept but not used"
            self._found.warning("unknown-element", message, place, name=name, valid=plan.valid_children)
        elif namespace not in self._table.silent_namespaces:
            message = f"<{etree.QName(tag).localname}> is of another namespace; it is kept but not used"
            self._found.warning("foreign-content", message, place)
        return True

    def _text(self, node: etree._Element, plan: _Plan, at: int, values: dict[str, Any], foreign: list[str]) -> bool:
        """Read the text of an element that holds one, what else may stand in it taken out; tell whether it is good."""
        pieces = [node.text or ""]
        good = True
        for child in node:
            good = self._unknown_child(child, plan, foreign) and good
            pieces.append(child.tail or "")
        text = "".join(pieces)
        if good and text in plan.known_texts:
            values[plan.element.text_field] = plan.known_texts[text]
            return True
        assert plan.text is not None
        return good and self._value(values, plan.element.text_field, plan.text, text, at, "")

    def _stray(self, plan: _Plan, text: str, at: int) -> None:
        message = f"the text '{text.strip(_SPACE)[:40]}' does not belong in <{plan.element.tag}>"
        self._error("stray-text", message, at)

    def _skip(self, node: etree._Element) -> None:
        """Go past an element that is not read."""
        self._next += sum(1 for _ in node.iter("*"))

    def _tag(self, at: int) -> str:
        return self._table.name(str(self._document.elements[at].tag))

    def _error(self, code: str, message: str, at: int, attribute: str | None = None) -> None:
        self._found.error(code, message, self._document.places.place(at, attribute))
