# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""An editor with a running server, shared by the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.editor import Editor


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    from support.editor import Editor

    with Editor(tmp_path_factory.mktemp("workspace")) as editor:
        yield editor


@pytest.fixture
def folder(editor: Editor) -> Iterator[Path]:
    """The workspace, empty and with nothing open."""
    from lsprotocol import types

    yield editor.folder
    editor.close_all()
    for path in editor.folder.iterdir():
        path.unlink()
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([]))
