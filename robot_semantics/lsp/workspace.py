# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The open documents, the files of the workspace, and the robot that belongs to a document."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from pygls.workspace import PositionCodec

from robot_semantics.base.errors import DescriptionError, RobotSemanticsError
from robot_semantics.base.files import read_bounded
from robot_semantics.base.names import quoted, shown
from robot_semantics.base.record import record
from robot_semantics.bringup.checking import ENDINGS as YAML_ENDINGS
from robot_semantics.bringup.checking import is_yaml
from robot_semantics.bringup.package_files import SETUP_ASSISTANT
from robot_semantics.lsp.document import Document
from robot_semantics.xml.document_kind import DocumentKind
from robot_semantics.xml.reader import MAX_BYTES, utf8_of

MOST_ENTRIES = 20_000
"""Largest number of files and folders of a workspace that are looked at."""

MOST_FILES = 500
"""Largest number of files of a workspace that are read."""

ENDINGS = frozenset({".urdf", ".srdf", ".usdf", ".xacro", *YAML_ENDINGS})
"""Endings of the files of a workspace that are read."""

MOST_BYTES = 64 * 1024 * 1024
"""Largest sum of the sizes of these files [bytes]."""

MOST_YAML_BYTES = 1024 * 1024
"""Largest sum of the sizes of YAML files [bytes]: to read 100 kB takes half a second."""

_LEFT_OUT = frozenset({"build", "install", "log", "node_modules", "__pycache__"})
_READ_TIMEOUT_S = 5.0


@record(frozen=True)
class EditorSettings:
    """What the editor passes as initialization options.

    Attributes:
        urdf, srdf: files of the robot of all documents; empty: found by the name of the robot.
        package_path: packages, or folders with packages.
        xacro: True if open xacro files may be expanded, which runs what is in them.
    """

    urdf: str = ""
    srdf: str = ""
    package_path: tuple[str, ...] = ()
    xacro: bool = False

    @classmethod
    def parse(cls, options: Any, root: Path) -> EditorSettings:
        """Return the settings of the options; relative files are in `root`.

        Raises:
            RobotSemanticsError: an option is unknown, or has a value of another kind.
        """
        values: Mapping[str, Any] = options if isinstance(options, Mapping) else {}
        known = {"urdf": str, "srdf": str, "packagePath": list, "xacro": bool}
        for name, value in values.items():
            if name not in known or not isinstance(value, known[name]):
                names = ", ".join(f"{key} ({kind.__name__})" for key, kind in known.items())
                raise RobotSemanticsError(f"unknown setting {quoted([name])} with value {value!r}; known: {names}")
        urdf, srdf = (str(root / values[name]) if values.get(name) else "" for name in ("urdf", "srdf"))
        packages = tuple(str(root / str(name)) for name in values.get("packagePath", ()))
        return cls(urdf, srdf, packages, values.get("xacro", False))


class DescriptionDocuments(NamedTuple):
    """The URDF and the SRDF that belong to a document."""

    urdf: Document | None = None
    srdf: Document | None = None


class Workspace:
    """Documents by path; an open text replaces the file of its name.

    Attributes:
        is_stale: True if the files may have changed since the last `walk`.
        walks_itself: True if `documents` walks when the files may have changed; False if another thread does it.
    """

    def __init__(self, folders: Iterable[str], settings: EditorSettings, codec: PositionCodec) -> None:
        self.folders = [Path(folder) for folder in folders]
        self.settings, self.codec = settings, codec
        self.open: dict[str, Document] = {}
        self._closed: dict[str, tuple[object, Document | None]] = {}
        self._paths: list[str] = []
        self.is_stale, self.walks_itself = True, True

    # --- documents

    def put(self, path: str, text: str, version: int | None) -> None:
        """Take the text of an open document."""
        before = self.open.get(path)
        self.open[path] = Document(path, text, self.codec, version, before)
        if before is None:
            self.refresh()

    def refresh(self) -> None:
        """Look at the files again when they are needed: a file may have changed."""
        self.is_stale = True

    def walk(self) -> None:
        """Find and read the files of the workspace; this may take seconds, and may run in another thread."""
        self.is_stale = False
        self._paths = list(self._found())

    def documents(self) -> Iterator[Document]:
        """Yield the open documents, then those of other files."""
        yield from self.open.values()
        if self.is_stale and self.walks_itself:
            self.walk()
        for path in self._paths:
            if path not in self.open and (document := self._closed[path][1]) is not None:
                yield document

    def _found(self) -> Iterator[str]:
        """Yield and read the workspace's files."""
        files, bytes_left = 0, {True: MOST_YAML_BYTES, False: MOST_BYTES}
        for path in self._regular_files():
            with suppress(OSError):
                size = path.lstat().st_size
                if files < MOST_FILES and size <= bytes_left[is_yaml(path.name)]:
                    files += 1
                    bytes_left[is_yaml(path.name)] -= size
                    self.saved(str(path))
                    yield str(path)

    def _regular_files(self) -> Iterator[Path]:
        """Yield the regular files with a known ending, of the first entries of the workspace.

        Links, hidden folders and results of builds are left out.
        """
        entries_left, waiting = MOST_ENTRIES, [str(folder) for folder in reversed(self.folders)]
        while waiting and entries_left:
            folder = waiting.pop()
            names, below = [], []
            with suppress(OSError), os.scandir(folder) as entries:
                for entry in islice(entries, entries_left):
                    entries_left -= 1
                    if Path(entry.name).suffix in ENDINGS and entry.is_file(follow_symlinks=False):
                        names.append(entry.name)
                    elif entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                        below.append(entry.name)
            waiting += [str(Path(folder, name)) for name in sorted(below, reverse=True) if name not in _LEFT_OUT]
            yield from (Path(folder, name) for name in sorted(names))

    def saved(self, path: str) -> Document | None:
        """Return the document of a file as it is saved, read again if it has changed; None if it cannot be read."""
        sign, document = None, None
        with suppress(OSError, DescriptionError):
            status = Path(path).stat()
            sign = (status.st_mtime_ns, status.st_size, status.st_ino)
            if self._closed.get(path, (None,))[0] == sign:
                return self._closed[path][1]
            data = read_bounded(path, MAX_BYTES, timeout_s=_READ_TIMEOUT_S)
            document = Document(path, utf8_of(data, path).decode(), self.codec)
        self._closed[path] = (sign, document)
        return document

    def of_kind(self, kind: DocumentKind) -> list[Document]:
        """Return the files of a kind; a xacro only if it may be expanded. Texts without a file are left out."""
        found = (each for each in self.documents() if each.kind is kind and Path(each.path).is_absolute())
        return [each for each in found if not each.is_xacro or self.may_expand(each)]

    def may_expand(self, document: Document) -> bool:
        """Return True if the user permits the expansion of a xacro by the setting, and opened or named the file."""
        return self.settings.xacro and (document.path in self.open or document.path == self.settings.urdf)

    # --- robots

    def urdf_of(self, document: Document, robot: str, *, or_only: bool = True) -> tuple[Document | None, str]:
        """Return the URDF of a robot in a document, or the reason why there is not exactly one.

        The first of these that exists: the file in the settings; the only URDF with the robot's name, or the only such
        URDF in the document's package; with `or_only`, the only URDF of the workspace.
        """
        return self._one(DocumentKind.URDF, document, robot, self.settings.urdf, or_only=or_only)

    def _one(
        self, kind: DocumentKind, document: Document, robot: str, path: str, *, or_only: bool
    ) -> tuple[Document | None, str]:
        """Return the document of a kind, or the reason why there is not exactly one."""
        setting = kind.value.lower()
        if path:
            named = self.open.get(path) or self.saved(path)
            return named, "" if named else f"the setting '{setting}' names '{path}', which cannot be read"
        every = self.of_kind(kind)
        documents = [each for each in every if each.robot_name == robot] or (
            every if or_only and len(every) == 1 else []
        )
        if len(documents) > 1:
            beside = self._in_package(document, documents)
            documents = beside if len(beside) == 1 else documents
        if len(documents) == 1:
            return documents[0], ""
        if not documents:
            return None, f"no {kind.value} of robot '{shown(robot)}' is open or in the workspace"
        files = quoted((each.path for each in documents), 5)
        return None, f"several {kind.value} files have robot '{shown(robot)}': {files}; name one in '{setting}'"

    def robots_of_models(self, world: Document) -> dict[str, tuple[Document | None, str]]:
        """Return the URDF of each model of a USDF, by the model's name, or the reason as in `urdf_of`."""
        models = () if world.xml is None else world.xml.root.iterchildren("model_state")
        names = [(model.get("name") or "").strip() for model in models]
        return {name: self.urdf_of(world, name, or_only=len(names) == 1) for name in names}

    def robot_of(self, document: Document, model: str | None = None) -> DescriptionDocuments:
        """Return the robot of a document; of a USDF, the robot of a model, or the only robot of its models."""
        urdfs = [document] if document.kind is DocumentKind.URDF else []
        if document.kind is DocumentKind.SRDF:
            return DescriptionDocuments(self.urdf_of(document, document.robot_name)[0], document)
        if document.kind is DocumentKind.USDF:
            models = self.robots_of_models(document).items()
            urdfs = list({urdf: None for name, (urdf, _) in models if urdf is not None and model in (None, name)})
        elif document.is_yaml:
            # The robot of the only SRDF, else of the only URDF, of its package, else the only robot.
            for kind in (DocumentKind.SRDF, DocumentKind.URDF) if not self.settings.urdf else ():
                beside = self._in_package(document, self.of_kind(kind))
                if len(beside) == 1:
                    return self.robot_of(beside[0])
            urdfs = list(filter(None, [self.urdf_of(document, "")[0]]))
        if len(urdfs) != 1:
            return DescriptionDocuments()
        one_robot = len(self.of_kind(DocumentKind.URDF)) == 1
        (urdf,) = urdfs
        found = self._one(DocumentKind.SRDF, urdf, urdf.robot_name, self.settings.srdf, or_only=one_robot)
        return DescriptionDocuments(urdf, found[0])

    def family(self, document: Document, model: str | None = None) -> list[Document]:
        """Return the documents of the robot as in `robot_of`: its URDF and SRDF first, or only the document."""
        urdf, srdf = self.robot_of(document, model)
        others = self.documents() if urdf is not None else ()
        return list(dict.fromkeys([*filter(None, (urdf, srdf)), document, *(d for d in others if self.is_of(d, urdf))]))

    def is_of(self, document: Document, urdf: Document | None) -> bool:
        """Return True if a document is about the robot of a URDF."""
        if document.kind is DocumentKind.USDF:
            return any(found is urdf for found, _ in self.robots_of_models(document).values())
        return (document.kind is not None or document.is_yaml) and self.robot_of(document).urdf is urdf

    def yaml_beside(self, document: Document) -> list[Document]:
        """Return the YAML files of a document's package, which are checked together."""
        return self._in_package(document, (each for each in self.documents() if each.is_yaml))

    @staticmethod
    def _in_package(document: Document, others: Iterable[Document]) -> list[Document]:
        package = package_of(document.path)
        return [each for each in others if package_of(each.path) == package]


def package_of(path: str) -> Path:
    """Return the folder of the package that has a file, or the file's own folder."""
    marks = (SETUP_ASSISTANT, "package.xml")
    found = (folder for folder in Path(path).parents if any((folder / mark).exists() for mark in marks))
    return next(found, Path(path).parent)
