# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The language server: messages of an editor on standard input and output, by pygls."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.version import __version__
from robot_semantics.lsp.answers import FIX_ALL, SOURCE, Answers, CommandParts, document_name, uri_of
from robot_semantics.lsp.checking import Checker
from robot_semantics.lsp.document import Document
from robot_semantics.lsp.workspace import ENDINGS, EditorSettings, Workspace

QUIET_S = 0.01
"""Time from a change to the check of the documents [s]: one check serves several quick changes."""

REQUEST_FAILED = -32803
"""Code of the protocol for a valid request that cannot be fulfilled."""

REQUESTS: Sequence[tuple[str, Callable[[Answers, Any], Any], Any]] = (
    (
        types.TEXT_DOCUMENT_CODE_ACTION,
        Answers.code_actions,
        types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL]),
    ),
    (types.TEXT_DOCUMENT_COMPLETION, Answers.completion, types.CompletionOptions(["<", '"', "'", " "])),
    (types.TEXT_DOCUMENT_DEFINITION, Answers.definition, None),
    (types.TEXT_DOCUMENT_REFERENCES, Answers.references, None),
    (types.TEXT_DOCUMENT_PREPARE_RENAME, Answers.prepare_rename, None),
    (types.TEXT_DOCUMENT_HOVER, Answers.hover, None),
    (types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, Answers.symbols, None),
    (types.TEXT_DOCUMENT_FOLDING_RANGE, Answers.folds, None),
)
"""Requests with their answers and options."""


class EditorConnection:
    """A connection with an editor, and the texts that the editor has open."""

    def __init__(self, parts: CommandParts) -> None:
        self.server = LanguageServer(SOURCE, __version__, types.TextDocumentSyncKind.Full)
        self._parts = parts
        self._waiting: asyncio.TimerHandle | None = None
        self._walk: asyncio.Task[None] | None = None
        self._expansions: dict[str, asyncio.Task[None]] = {}
        self._sent: dict[str, types.PublishDiagnosticsParams] = {}
        events: Sequence[tuple[str, Callable[[Any], Any], Any]] = (
            (types.INITIALIZE, self._initialize, None),
            (types.INITIALIZED, self._initialized, None),
            (types.TEXT_DOCUMENT_DID_OPEN, self._did_change, None),
            (types.TEXT_DOCUMENT_DID_CHANGE, self._did_change, None),
            (types.TEXT_DOCUMENT_DID_CLOSE, self._did_close, None),
            (types.TEXT_DOCUMENT_DID_SAVE, self._files_changed, None),
            (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, self._files_changed, None),
        )
        requests: Sequence[tuple[str, Callable[[Any], Any], Any]] = (
            (types.TEXT_DOCUMENT_RENAME, self._rename, types.RenameOptions(prepare_provider=True)),
            *((name, partial(self._answer, method), options) for name, method, options in REQUESTS),
        )
        for name, answer, options in events:
            self._serve(name, answer, options, needs_files=False)
        for name, answer, options in requests:
            self._serve(name, answer, options, needs_files=True)

    def _answer(self, method: Callable[[Answers, Any], Any], params: Any) -> Any:
        return method(self._answers, params)

    def _serve(self, name: str, answer: Callable[[Any], Any], options: Any, *, needs_files: bool) -> None:
        def handler(params: Any) -> Any:
            try:
                return answer(params)
            except RobotSemanticsError as error:
                raise JsonRpcException(str(error), REQUEST_FAILED) from None

        async def handler_after_walk(params: Any) -> Any:
            # The walk is in another thread: other messages are taken meanwhile.
            if self._walk is not None:
                await asyncio.shield(self._walk)
            return handler(params)

        self.server.feature(name, options)(handler_after_walk if needs_files else handler)

    def _initialize(self, params: types.InitializeParams) -> None:
        """Take the folders and the settings; wrong settings are reported and not used."""
        uris = [folder.uri for folder in params.workspace_folders or ()] or [params.root_uri or ""]
        folders = [folder for uri in uris if uri.startswith("file:") and (folder := to_fs_path(uri))]
        settings = EditorSettings()
        try:
            settings = EditorSettings.parse(params.initialization_options, Path(*folders[:1]))
        except RobotSemanticsError as error:
            self._warn(str(error))
        self._workspace = Workspace(folders, settings, self.server.workspace.position_codec)
        self._workspace.walks_itself = False
        self._checker = Checker(self._workspace)
        self._answers = Answers(self._checker, self._parts)
        self._select()
        self._look_at_files()

    def _select(self) -> None:
        """Read which problems the project selects; wrong settings are reported and not used."""
        try:
            for folder in self._workspace.folders[:1]:
                self._answers.selected = self._parts.selection(folder)
        except RobotSemanticsError as error:
            self._warn(str(error))

    def _initialized(self, _: types.InitializedParams) -> None:
        """Ask for messages about changed files."""
        workspace = self.server.client_capabilities.workspace
        files = workspace.did_change_watched_files if workspace is not None else None
        if files is not None and files.dynamic_registration:
            watchers = [types.FileSystemWatcher(f"**/*{ending}") for ending in sorted(ENDINGS)]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            wanted = types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            self.server.client_register_capability(types.RegistrationParams([wanted]))

    def _did_change(self, params: types.DidOpenTextDocumentParams | types.DidChangeTextDocumentParams) -> None:
        """Take the text of a document that was opened or changed."""
        text = self.server.workspace.get_text_document(params.text_document.uri)
        self._workspace.put(document_name(params.text_document.uri), text.source, text.version)
        self._check_soon()

    def _did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget the text of a document; its file remains in the workspace."""
        path = document_name(params.text_document.uri)
        self._workspace.open.pop(path, None)
        self._workspace.refresh()
        self._sent.pop(path, None)
        self.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(params.text_document.uri, []))
        self._check_soon()

    def _files_changed(self, _: Any) -> None:
        """Read the files of the workspace again."""
        self._workspace.refresh()
        self._checker.forget()
        self._select()
        self._check_soon()

    def _rename(self, params: types.RenameParams) -> types.WorkspaceEdit | None:
        """Return the changes of a new name; a message has the places where the old name stays."""
        edit, notes = self._answers.rename(params)
        for note in notes:
            self._warn(str(note))
        return edit

    def _warn(self, text: str) -> None:
        self.server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, text))

    def _look_at_files(self) -> None:
        """Walk the workspace in another thread if its files may have changed."""
        if self._walk is None and self._workspace.is_stale:
            self._walk = asyncio.get_running_loop().create_task(self._walk_in_thread())

    async def _walk_in_thread(self) -> None:
        try:
            await asyncio.to_thread(self._workspace.walk)
        finally:
            self._walk = None
        self._publish()
        # A file may have changed meanwhile.
        self._look_at_files()

    def _check_soon(self) -> None:
        self._look_at_files()
        if self._waiting is None:
            self._waiting = asyncio.get_running_loop().call_later(QUIET_S, self._check)

    def _check(self) -> None:
        """Check all open documents; during a walk, its end does so."""
        self._waiting = None
        if self._walk is None:
            self._publish()

    def _publish(self) -> None:
        """Check all open documents and send the problems that are new."""
        documents = dict(self._workspace.open)
        found = {path: self._answers.problems(document) for path, document in documents.items()}
        for path, document in documents.items():
            # A problem in a file that is open belongs to this file.
            own = [problem for problem in found[path] if problem.place.source not in documents]
            here = [problem for problems in found.values() for problem in problems if problem.place.source == path]
            items = [self._answers.diagnostic(document, problem) for problem in dict.fromkeys((*here, *own))]
            message = types.PublishDiagnosticsParams(uri_of(path), items, document.version)
            if self._sent.get(path) != message:
                self._sent[path] = message
                self.server.text_document_publish_diagnostics(message)
            if path not in self._expansions and self._checker.needs_expansion(document):
                self._expansions[path] = asyncio.get_running_loop().create_task(self._expand(document))

    async def _expand(self, document: Document) -> None:
        try:
            await asyncio.to_thread(self._checker.expand, document)
        finally:
            del self._expansions[document.path]
        self._check_soon()


def serve(parts: CommandParts) -> None:
    """Serve an editor on standard input and output until it ends the connection."""
    # pygls closes its output at the end; standard output stays open for the command.
    EditorConnection(parts).server.start_io(stdout=os.fdopen(os.dup(sys.stdout.fileno()), "wb"))
