# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""An editor for tests: pygls' client on the standard input and output of `robot_semantics lsp`."""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient
from support.patience import PATIENCE_S

_Value = TypeVar("_Value")
Problems = list[types.Diagnostic]
SERVER = ["-m", "robot_semantics.cli.main", "lsp", "--stdio"]


class Editor:
    """A workspace with a running server; files are named relative to the workspace."""

    def __init__(
        self,
        folder: Path,
        options: Mapping[str, Any] | None = None,
        encodings: list[types.PositionEncodingKind | str] | None = None,
    ) -> None:
        self.folder = folder
        self.published: dict[str, types.PublishDiagnosticsParams] = {}
        self.messages: list[str] = []
        self.texts: dict[str, str] = {}
        self._versions: dict[str, int] = {}
        self._numbers = itertools.count(1)
        self._loop = asyncio.new_event_loop()
        self.client = LanguageClient("tests", "1")
        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(
            lambda params: self.published.update({params.uri: params})
        )
        self.client.feature(types.WINDOW_SHOW_MESSAGE)(lambda params: self.messages.append(params.message))
        self.run(self.client.start_io(sys.executable, *SERVER))
        self.process = self.client._server
        general = types.GeneralClientCapabilities(position_encodings=encodings)
        started = self.run(
            self.client.initialize_async(
                types.InitializeParams(
                    types.ClientCapabilities(general=general),
                    root_uri=folder.as_uri(),
                    workspace_folders=[types.WorkspaceFolder(folder.as_uri(), "tests")],
                    initialization_options=options,
                )
            )
        )
        self.capabilities = started.capabilities
        self.client.initialized(types.InitializedParams())

    def __enter__(self) -> Editor:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.process is not None and self.process.returncode is None:
            self.run(self.client.shutdown_async(None))
            self.client.exit(None)
            assert self.run(asyncio.wait_for(self.process.wait(), PATIENCE_S)) == 0
        self.run(self.client.stop())  # type: ignore[no-untyped-call]  # pygls
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, _Value]) -> _Value:
        return self._loop.run_until_complete(asyncio.wait_for(work, PATIENCE_S))

    # --- documents

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def identifier(self, name: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri(name))

    def open(self, name: str, text: str | None = None) -> None:
        self.texts[name] = (self.folder / name).read_text() if text is None else text
        self._versions[name] = next(self._numbers)
        item = types.TextDocumentItem(self.uri(name), "xml", self._versions[name], self.texts[name])
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, name: str, text: str) -> None:
        self.texts[name] = text
        self._versions[name] = next(self._numbers)
        identifier = types.VersionedTextDocumentIdentifier(self._versions[name], self.uri(name))
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [whole]))

    def save(self, name: str) -> None:
        (self.folder / name).write_text(self.texts[name])
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(self.identifier(name)))

    def close_all(self) -> None:
        for name in list(self._versions):
            self.close(name)

    def close(self, name: str) -> None:
        self._versions.pop(name)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(self.identifier(name)))

    # --- answers

    def problems(self, name: str, until: Callable[[Problems], bool] | None = None) -> Problems:
        """Return the problems of the newest text; with `until`, wait until they fulfil it."""

        async def wait() -> Problems:
            while True:
                found = self.published.get(self.uri(name))
                if found is not None and found.version == self._versions[name]:
                    items = list(found.diagnostics)
                    if until is None or until(items):
                        return items
                await asyncio.sleep(0.002)

        return self.run(wait())

    def at(self, name: str, mark: str, offset: int = 0) -> types.Position:
        """Return the position of a piece of text that occurs once, in UTF-16."""
        text = self.texts[name]
        assert text.count(mark) == 1, (mark, text.count(mark))
        return position(text, text.index(mark) + offset)

    def ask(self, method: str, params: Any) -> Any:
        async def answer() -> Any:
            return await self.client.protocol.send_request_async(method, params)

        return self.run(answer())


def position(text: str, offset: int, unit: str = "utf-16-le") -> types.Position:
    """Return the position of a character, counted without the code under test."""
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    line = before.rpartition("\n")[2]
    size = {"utf-16-le": 2, "utf-8": 1, "utf-32-le": 4}[unit]
    return types.Position(before.count("\n"), len(line.encode(unit)) // size)


def text_at(text: str, place: types.Range) -> str:
    """Return the characters of a range in UTF-16."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def offset(where: types.Position) -> int:
        line = lines[where.line].encode("utf-16-le")[: 2 * where.character].decode("utf-16-le")
        return sum(len(each) + 1 for each in lines[: where.line]) + len(line)

    return "\n".join(lines)[offset(place.start) : offset(place.end)]
