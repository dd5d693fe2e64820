# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Answers to the requests of an editor about one position or one document."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Sequence
from os.path import commonprefix
from pathlib import Path
from typing import Any, NamedTuple

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

from robot_semantics.base.diagnostics import Diagnostic, Diagnostics, Severity
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.foreign_text import shown
from robot_semantics.lsp.checking import Checker
from robot_semantics.lsp.completing import completion
from robot_semantics.lsp.document import Document, NameOccurrence
from robot_semantics.lsp.naming import Named, declared_names, facts, named_at, rename, uses_of
from robot_semantics.lsp.outline import folds, symbols

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


def path_of(uri: str) -> str:
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
        path = path_of(params.text_document.uri)
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
        document, found, only = self.document(params), [], tuple(params.context.only or ("",))
        if types.CodeActionKind.QuickFix.startswith(only):
            for problem, shape in self._shown(document, params.range):
                title = f"Change to '{shown(problem.suggestion)}'" if problem.suggestion else f"Fix {problem.code}"
                edit, kind = self._fix(document, [problem]), types.CodeActionKind.QuickFix
                found.append(types.CodeAction(title, kind, [shape], is_preferred=True, edit=edit))
        if FIX_ALL.startswith(only):
            edit = self._fix(document, self.problems(document))
            found.append(types.CodeAction("Fix all problems that have one solution", FIX_ALL, edit=edit))
        return [action for action in found if action.edit is not None]

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
        found = completion(document, text, self._known_names(document.readable))
        if found is None:
            return []
        where = document.range(end - len(found.written.encode()), end)
        return [
            types.CompletionItem(shown(word), kind=found.kind, filter_text=word, text_edit=types.TextEdit(where, word))
            for word in found.words
        ]

    def _known_names(self, document: Document) -> dict[str, set[str]]:
        """Return the names of a document's robot by kind: those of the texts, and those that only macros make."""
        names = declared_names([each.readable for each in self.workspace.family(document)])
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
