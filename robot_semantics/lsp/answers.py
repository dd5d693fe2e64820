# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Answers to the requests of an editor about one position or one document."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from os.path import commonprefix
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers import expat

from lsprotocol import types
from lxml import etree
from pygls.uris import from_fs_path, to_fs_path

from robot_semantics.base.diagnostic import Diagnostic, Severity, SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import quoted, shown
from robot_semantics.base.pattern import pattern
from robot_semantics.base.yaml_reader import YamlNode
from robot_semantics.lsp.checking import Checker
from robot_semantics.lsp.document import REFERENCES, TABLES, Document, NameOccurrence, kinds_at
from robot_semantics.lsp.workspace import Workspace
from robot_semantics.model.authoring import rename_in_urdf
from robot_semantics.model.joint_types import JointType
from robot_semantics.model.queries import groups_with_joint
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.edit import checked_name
from robot_semantics.srdf.table import VIRTUAL_JOINT_TYPES
from robot_semantics.usdf.table import USDF
from robot_semantics.xml.document import makes_names
from robot_semantics.xml.document_kind import DocumentKind
from robot_semantics.xml.edit import escape
from robot_semantics.xml.schema import Child, Element
from robot_semantics.xml.source_map import SKIPPED

# The outline of a document: symbols and foldable ranges.


_KINDS = {
    "link": types.SymbolKind.Object,
    "joint": types.SymbolKind.Function,
    "virtual_joint": types.SymbolKind.Function,
    "group": types.SymbolKind.Module,
    "group_state": types.SymbolKind.Constant,
    "end_effector": types.SymbolKind.Interface,
    "model_state": types.SymbolKind.Class,
    "controller": types.SymbolKind.Interface,
}
_END = pattern(rb"[\r\n]|\Z")


def symbols(document: Document) -> list[types.DocumentSymbol]:
    """Return the named elements, or the keys of a YAML text, as a tree."""
    if document.is_yaml:
        names = {use.start: use.kinds[0] for use in document.uses}
        return [] if document.sections.root is None else list(_keys(document, document.sections.root, names))
    top: list[types.DocumentSymbol] = []
    inside: dict[etree._Element | None, list[types.DocumentSymbol]] = {None: top}
    for at, element in enumerate(document.xml.document.elements if document.xml is not None else ()):
        above, name = element.getparent(), (element.get("name") or "").strip()
        span = document.xml.places.value_span(at, "name") if document.xml is not None and name else None
        if document.xml is not None and span is not None and above is not None:
            inside[element], tag = [], etree.QName(element).localname
            made = _symbol(document, tag, name, document.xml.places.span(at), span, inside[element])
            inside[above].append(made)
        else:
            # An element without a symbol is left out of the tree.
            inside[element] = inside[above]
    return top


def _symbol(
    document: Document,
    tag: str,
    name: str,
    whole: tuple[int, int],
    short: tuple[int, int],
    children: Sequence[types.DocumentSymbol],
) -> types.DocumentSymbol:
    kind, ranges = _KINDS.get(tag, types.SymbolKind.Property), (document.range(*whole), document.range(*short))
    return types.DocumentSymbol(shown(name) or " ", kind, *ranges, tag, children=children)


def _keys(document: Document, node: YamlNode, names: Mapping[int, str]) -> Iterator[types.DocumentSymbol]:
    """Yield the keys below a value of YAML, with the kinds of things that they name."""
    for item in node.items:
        yield from _keys(document, item, names)
    for key, entry in node.entries.items():
        start, children = document.place_offset(entry.key_place), list(_keys(document, entry, names))
        short = (start, start + len(key.encode()))
        whole = (start, max(_end(document, entry), short[1]))
        yield _symbol(document, names.get(start, ""), key, whole, short, children)


def _end(document: Document, node: YamlNode) -> int:
    """Return the end of the last line of a value of YAML."""
    line = node.place.line + node.text.count("\n")
    found = _END.search(document.utf8, document.place_offset(SourcePlace("", line, 1)))
    below = [_end(document, each) for each in (*node.items, *node.entries.values())]
    return max([found.start() if found else 0, *below])


def folds(document: Document) -> list[types.FoldingRange]:
    """Return the ranges of elements, comments and YAML keys on several lines."""
    ranges: list[tuple[types.Range, types.FoldingRangeKind | None]]
    ranges = [(each.range, None) for each in _all(symbols(document))] if document.is_yaml else []
    if document.xml is not None:
        places, count = document.xml.places, len(document.xml.document.elements)
        ranges = [(document.range(*places.span(at)), None) for at in range(count)]
        comments = SKIPPED.finditer(document.utf8)
        ranges += [(document.range(*found.span()), types.FoldingRangeKind.Comment) for found in comments]
    lines = dict.fromkeys((each.start.line, each.end.line, kind) for each, kind in ranges)
    return [types.FoldingRange(start, end, kind=kind) for start, end, kind in lines if end > start]


def _all(found: Sequence[types.DocumentSymbol]) -> Iterator[types.DocumentSymbol]:
    for symbol in found:
        yield symbol
        yield from _all(symbol.children or ())


# Completion of names, attributes and elements at a position of a text that need not be well-formed.


_NAME = r"""[^\s=<>"'/]"""
_WHOLE = rf"""({_NAME}+)\s*=\s*(?:"[^"<]*"|'[^'<]*')"""
_TAG = pattern(
    rf"""<(?P<tag>{_NAME}*)(?P<given>(?:\s+{_WHOLE})*)"""
    rf"""(?:\s+(?:(?P<name>{_NAME}+)\s*=\s*["'](?P<value>[^"'<]*)|(?P<attribute>{_NAME}*)))?\Z"""
)
"""A start tag that ends in its name, in the value of an attribute, or in the name of an attribute."""

_CHOICES: Mapping[tuple[str, str], Collection[str]] = {
    ("joint", "type"): [kind.value for kind in JointType],
    ("virtual_joint", "type"): VIRTUAL_JOINT_TYPES,
}
_LONGEST_TAG = 4_000
"""Longest start tag that is completed [characters]."""


class Completion(NamedTuple):
    """Possible words at a position, and the start of the word that is already written."""

    words: Iterable[str]
    written: str
    kind: types.CompletionItemKind


def completion(document: Document, text: str, names: Mapping[str, Collection[str]]) -> Completion | None:
    """Return the possible words behind `text`, the start of the document; `names` has the names by kind of thing."""

    def names_of(kinds: Iterable[str]) -> list[str]:
        return sorted({name for kind in kinds for name in names.get(kind, ())})

    if document.is_yaml:
        kinds, written = kinds_at(text)
        return Completion(names_of(kinds), written, types.CompletionItemKind.Reference)
    opened = text.rfind("<")
    tag = _TAG.match(text, opened) if 0 <= opened >= len(text) - _LONGEST_TAG else None
    path = None if tag is None or text.rfind("<!--") > text.rfind("-->") else _open_elements(text[:opened])
    if tag is None or path is None:
        return None
    kind = _likely_kind(document)
    above, element = (_element(TABLES[kind].root, each) for each in (path, [*path, tag["tag"]]))
    if tag["name"]:
        here = (path[-1] if path else "", tag["tag"], tag["name"])
        words = _CHOICES.get(here[1:]) or names_of(each for each, known in REFERENCES[kind].items() if here in known)
        return Completion(words, tag["value"], types.CompletionItemKind.Reference)
    if tag["attribute"] is not None:
        given = {found[1] for found in re.finditer(_WHOLE, tag["given"])}
        words = [name for name in element.attributes if name not in given]
        return Completion(words, tag["attribute"], types.CompletionItemKind.Property)
    return Completion(() if tag["given"] else above.children, tag["tag"], types.CompletionItemKind.Class)


def _likely_kind(document: Document) -> DocumentKind:
    """Return the kind of a document; of an unknown kind, the one of the ending."""
    by_ending = {f".{kind.value.lower()}": kind for kind in DocumentKind}
    endings = (by_ending.get(suffix) for suffix in Path(document.path).suffixes)
    return next(filter(None, (document.kind, *endings)), DocumentKind.URDF)


def _open_elements(text: str) -> list[str] | None:
    """Return the tags of the elements that are open at the end of a text; None if the text is not well-formed."""
    path: list[str] = []
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = lambda tag, _: path.append(tag)
    parser.EndElementHandler = lambda _: path.pop()
    try:
        parser.Parse(text.encode(errors="replace"), False)
    except expat.ExpatError:
        return None
    return path


def _element(root: Element, path: list[str]) -> Element:
    """Return the element of a format at a path of tags; an empty one if the format has none there."""
    found = Element("", children={root.tag: Child("", root)})
    for tag in path:
        found = found.children[tag].element if tag in found.children else Element("")
    return found


# Names across the documents of a robot: declarations, references, renaming, and facts about the named thing.


_PLAIN = pattern(r"(?!(?:true|false|yes|no|on|off|null|y|n)\Z)[A-Za-z_][\w./-]*", re.IGNORECASE | re.ASCII)
"""Names that YAML reads as a text, with quotes and without."""

_MOST_NAMES = 12


class Named(NamedTuple):
    """The thing that a position names, and all documents of its robot."""

    kind: str
    use: NameOccurrence
    family: list[Document]


def named_at(workspace: Workspace, document: Document, position: types.Position) -> Named | None:
    """Return the thing that is named at a position."""
    use = document.use_at(position)
    if use is None:
        return None
    family = workspace.family(document, _model_of(document, use))
    declared = names_by_kind(family)
    kind = next((kind for kind in use.kinds if use.name in declared.get(kind, ())), use.kinds[0])
    return Named(kind, use, family)


def uses_of(workspace: Workspace, named: Named) -> Iterator[tuple[Document, NameOccurrence]]:
    """Yield every occurrence of the thing in the documents of its robot."""
    for document in named.family:
        for use in document.uses:
            if use.name == named.use.name and named.kind in use.kinds:
                model = _model_of(document, use)
                if model is None or workspace.robot_of(document, model).urdf in named.family:
                    yield document, use


def _model_of(document: Document, use: NameOccurrence) -> str | None:
    """Return the model of a world state to which an occurrence belongs; None in other documents."""
    if document.kind is not DocumentKind.USDF or document.xml is None:
        return None
    element = document.xml.document.elements[use.ordinal]
    if element.get(USDF.key("rs:parent_link")) is not None:
        return (element.findtext("parent") or "").strip()
    above = element.getparent()
    return "" if above is None else (above.get("name") or "").strip()


def names_by_kind(family: list[Document]) -> dict[str, set[str]]:
    """Return the names that the documents declare, by kind of thing."""
    found: dict[str, set[str]] = {}
    for use in (use for document in family for use in document.uses if use.declares):
        for kind in use.kinds:
            found.setdefault(kind, set()).add(use.name)
    return found


def rename(
    workspace: Workspace, named: Named, new: str, notes: Diagnostics
) -> Iterator[tuple[Document, types.TextEdit]]:
    """Yield the changes of a new name; a place where the old name stays, because it may mean something else, is added
    to `notes`.

    Raises:
        RobotSemanticsError: the new name is empty or used, or a document that has the name is a xacro.
    """
    new = checked_name(new)
    if new in names_by_kind(named.family).get(named.kind, ()):
        raise RobotSemanticsError(f"{named.kind} '{shown(new)}' already exists")
    uses = list(uses_of(workspace, named))
    for document in dict.fromkeys(document for document, _ in uses):
        if document.xml is not None and (document.is_xacro or makes_names(document.xml.document)):
            raise RobotSemanticsError(f"'{shown(document.path)}' is a xacro: macros make its names; rename by hand")
        if document.is_yaml and not _PLAIN.fullmatch(new):
            raise RobotSemanticsError(f"'{shown(new)}' cannot be written in '{shown(document.path)}' without quotes")
        if document.xml is not None and document.kind is DocumentKind.URDF:
            rename_in_urdf(document.xml, named.kind, named.use.name, new, notes)
    text = escape(new).replace("'", "&apos;")
    for document, use in uses:
        yield document, types.TextEdit(document.range(use.start, use.end), new if document.is_yaml else text)


def facts(robot: RobotModel, kind: str, name: str) -> Iterator[str]:
    """Yield lines about a joint or a group of a robot; none about other things."""
    facts_found: Mapping[str, object] = {}
    if kind == "joint" and name in robot.joint_index:
        joint = robot.joint(name)
        yield f"{joint.type.value} joint '{shown(name)}': {shown(joint.parent_link)} → {shown(joint.child_link)}"
        lower, upper = joint.limits.bounds
        if joint.motion.limited:
            yield f"bounds {lower:g} to {upper:g}, velocity {joint.limits.velocity:g}, effort {joint.limits.effort:g}"
        if joint.mimic is not None:
            yield f"= {joint.mimic.multiplier:g} * {shown(joint.mimic.joint)} {joint.mimic.offset:+g}"
        facts_found = {"groups": groups_with_joint(robot, name)}
    elif kind == "group" and name in robot.semantics.groups:
        yield f"group '{shown(name)}'"
        facts_found = robot.semantics.groups[name].as_dict()
    for field, value in facts_found.items():
        if field != "name" and value:
            words = quoted(value, _MOST_NAMES) if isinstance(value, tuple) else shown(str(value))
            yield f"{field.replace('_', ' ')}: {words}"


SOURCE = "robot_semantics"
"""Name of the server in messages of an editor."""

FIX_ALL = types.CodeActionKind.SourceFixAll

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}


class CommandParts(NamedTuple):
    """Functions of the commands `check` and `explain`.

    Attributes:
        fixed: returns a text with the fixes of its problems, from its bytes, its name and the problems; None without
            a fix.
        page: returns the explanation of the code of a problem; empty if there is none.
        selection: returns, for a folder, the function that selects the problems to show by the settings of its project;
            raises `RobotSemanticsError` for wrong settings.
    """

    fixed: Callable[[bytes, str, Sequence[Diagnostic]], bytes | None]
    page: Callable[[str], str]
    selection: Callable[[Path], Callable[[Sequence[Diagnostic]], Sequence[Diagnostic]]]


def document_name(uri: str) -> str:
    """Return the name of a document in messages: the path of its file, or the URI."""
    return to_fs_path(uri) or uri if uri.startswith("file:") else uri


def uri_of(path: str) -> str:
    """Return the URI of a document."""
    return from_fs_path(path) or path if Path(path).is_absolute() else path


class Answers:
    """The answers for the documents that a checker has."""

    def __init__(self, checker: Checker, parts: CommandParts) -> None:
        self.checker, self.workspace, self.parts = checker, checker.workspace, parts
        self.selected: Callable[[Sequence[Diagnostic]], Sequence[Diagnostic]] = list

    def document(self, params: Any) -> Document:
        """Return the open document of a request.

        Raises:
            RobotSemanticsError: it is not open.
        """
        path = document_name(params.text_document.uri)
        if path not in self.workspace.open:
            raise RobotSemanticsError(f"'{shown(path)}' is not open")
        return self.workspace.open[path]

    # --- problems

    def problems(self, document: Document) -> Sequence[Diagnostic]:
        """Return the problems of a document that the settings of the project select."""
        return self.selected(self.checker.problems(document))

    def diagnostic(self, document: Document, problem: Diagnostic) -> types.Diagnostic:
        """Return a problem for the editor; one in another file is shown at the start of the document."""
        message, where = f"{problem.place}: {problem.sentence}", document.range(0, 0)
        if problem.place.source == document.path:
            message, where = problem.sentence, document.place_range(problem.place)
        return types.Diagnostic(where, message, _SEVERITIES[problem.severity], problem.code, source=SOURCE)

    def _shown(self, document: Document, where: types.Range) -> list[tuple[Diagnostic, types.Diagnostic]]:
        """Return the problems of a text that overlap a range, with their form for the editor."""
        own = [problem for problem in self.problems(document) if problem.place.source == document.path]
        shapes = [(problem, self.diagnostic(document, problem)) for problem in own]
        return [each for each in shapes if each[1].range.start <= where.end and where.start <= each[1].range.end]

    def code_actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """Return the fixes of `check --fix`: of each problem in the range, and of all problems."""
        document, actions, only = self.document(params), [], tuple(params.context.only or ("",))
        if types.CodeActionKind.QuickFix.startswith(only):
            for problem, shape in self._shown(document, params.range):
                title = f"Change to '{shown(problem.suggestion)}'" if problem.suggestion else f"Fix {problem.code}"
                edit, kind = self._fix(document, [problem]), types.CodeActionKind.QuickFix
                actions.append(types.CodeAction(title, kind, [shape], is_preferred=True, edit=edit))
        if FIX_ALL.startswith(only):
            edit = self._fix(document, self.problems(document))
            actions.append(types.CodeAction("Fix all problems that have one solution", FIX_ALL, edit=edit))
        return [action for action in actions if action.edit is not None]

    def _fix(self, document: Document, problems: Sequence[Diagnostic]) -> types.WorkspaceEdit | None:
        """Return the change that fixes problems of a document, if there is one."""
        own = [problem for problem in problems if problem.place.source == document.path]
        mended = self.parts.fixed(document.data, document.path, own) if own else None
        if mended is None:
            return None
        old, new = document.text, mended.removeprefix(codecs.BOM_UTF8).decode()
        start = len(commonprefix([old, new]))  # noqa: RUF071  # characters, not folders
        kept = len(commonprefix([old[start:][::-1], new[start:][::-1]]))  # noqa: RUF071
        where = document.range(len(old[:start].encode()), len(old[: len(old) - kept].encode()))
        return _workspace_edit([(document, types.TextEdit(where, new[start : len(new) - kept]))])

    # --- names

    def _named(self, params: Any) -> Named | None:
        return named_at(self.workspace, self.document(params), params.position)

    def _places(self, params: Any, wanted: Callable[[NameOccurrence], bool]) -> list[types.Location]:
        named = self._named(params)
        uses = uses_of(self.workspace, named) if named is not None else ()
        return [types.Location(uri_of(each.path), each.range(use.start, use.end)) for each, use in uses if wanted(use)]

    def definition(self, params: types.DefinitionParams) -> list[types.Location]:
        """Return where the named thing is declared."""
        return self._places(params, lambda use: use.declares)

    def references(self, params: types.ReferenceParams) -> list[types.Location]:
        """Return every occurrence of a name in the documents of its robot."""
        return self._places(params, lambda use: params.context.include_declaration or not use.declares)

    def prepare_rename(self, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        """Return the name that would be renamed."""
        document, named = self.document(params), self._named(params)
        if named is None:
            return None
        return types.PrepareRenamePlaceholder(document.range(named.use.start, named.use.end), named.use.name)

    def rename(self, params: types.RenameParams) -> tuple[types.WorkspaceEdit | None, Diagnostics]:
        """Return the changes of a new name in the documents of the robot, and places where the old name stays.

        Raises:
            RobotSemanticsError: as `naming.rename`.
        """
        named, notes = self._named(params), Diagnostics()
        if named is None:
            return None, notes
        return _workspace_edit(rename(self.workspace, named, params.new_name, notes)), notes

    def hover(self, params: types.HoverParams) -> types.Hover | None:
        """Return the explanation of the problems at a position, and the facts of the thing that it names."""
        document, named = self.document(params), self._named(params)
        found = self._shown(document, types.Range(params.position, params.position))
        parts = [f"{problem.code}: {self.parts.page(problem.code)}" for problem, _ in found]
        robot = self.checker.robot(named.family[0]) if named is not None else None
        if named is not None and robot is not None:
            parts.append("\n".join(facts(robot, named.kind, named.use.name)))
        text = "\n\n".join(filter(None, dict.fromkeys(parts)))
        return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, text)) if text else None

    def completion(self, params: types.CompletionParams) -> list[types.CompletionItem]:
        """Return the words that fit at a position."""
        document = self.document(params)
        end = document.offset(params.position)
        text = document.utf8[:end].decode(errors="surrogatepass")
        items = completion(document, text, self._known_names(document.readable))
        if items is None:
            return []
        where = document.range(end - len(items.written.encode()), end)
        return [
            types.CompletionItem(shown(word), kind=items.kind, filter_text=word, text_edit=types.TextEdit(where, word))
            for word in items.words
        ]

    def _known_names(self, document: Document) -> dict[str, set[str]]:
        """Return the names of a document's robot by kind: those of the texts, and those that only macros make."""
        names = names_by_kind([each.readable for each in self.workspace.family(document)])
        robot = self.checker.robot(document)
        if robot is not None:
            names.setdefault("link", set()).update(robot.link_names)
            names.setdefault("joint", set()).update(joint.name for joint in robot.joints if joint.urdf)
        return names

    # --- structure

    def symbols(self, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        """Return the outline of a document."""
        return symbols(self.document(params))

    def folds(self, params: types.FoldingRangeParams) -> list[types.FoldingRange]:
        """Return the foldable ranges of a document."""
        return folds(self.document(params))


def _workspace_edit(changes: Iterable[tuple[Document, types.TextEdit]]) -> types.WorkspaceEdit:
    """Return the changes by document."""
    found: dict[str, list[types.TextEdit]] = {}
    for document, change in changes:
        found.setdefault(uri_of(document.path), []).append(change)
    return types.WorkspaceEdit(found)
