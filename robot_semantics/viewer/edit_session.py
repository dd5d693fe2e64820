# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""An SRDF during editing: every change is checked, and is a step that can be undone."""

from __future__ import annotations

import difflib
import errno
from collections.abc import Callable
from pathlib import Path

from robot_semantics.base.diagnostic import Diagnostic
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.files import resolved, save_bytes
from robot_semantics.model.apply_semantics import apply_semantics
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.srdf.reader import parse_srdf


class FileChangedError(RobotSemanticsError):
    """The file has changed since it was read: another program wrote, created or deleted it."""


class EditSession:
    """The steps from the text in the file to the present text.

    Attributes:
        bare: the robot without semantics.
        output: the file that `save` writes.
        version: a number that changes with every change.
        robot: the robot with the semantics of the text; invalid parts are omitted.
        problems: all problems of the text.
        written: text that another program wrote into the file while the session had unsaved changes; None after
            `choose_version` chose a version.
    """

    def __init__(self, bare: RobotModel, text: SrdfText, output: Path) -> None:
        """Begin with a text."""
        self.bare, self.output = bare, output
        # The title of each step, and the whole SRDF after it.
        self._steps = [("as it was read", text)]
        self._at = 0
        self.version = 0
        self._folder = resolved(output.parent)
        # Content of the file when it was last read or saved; None: no file.
        self._known = self._content()
        self.written: SrdfText | None = None
        self._renew()

    @property
    def text(self) -> SrdfText:
        """The present text."""
        return self._steps[self._at][1]

    @property
    def undoable(self) -> str | None:
        """Title of the step that `undo` would undo; None without a step."""
        return self._steps[self._at][0] if self._at else None

    @property
    def redoable(self) -> str | None:
        """Title of the step that `redo` would repeat; None without a step."""
        return self._steps[self._at + 1][0] if self._at + 1 < len(self._steps) else None

    def change(self, title: str, edit: Callable[[SrdfText], SrdfText]) -> bool:
        """Make a change; return True if the text has changed. Undone steps are lost.

        Raises:
            RobotSemanticsError: the edit is impossible; nothing has changed.
        """
        text = edit(self.text)
        if bytes(text) == bytes(self.text):
            return False
        self._steps[self._at + 1 :] = [(title, text)]
        self._go(1)
        return True

    def undo(self) -> None:
        """Go back one step, if there is one."""
        if self._at:
            self._go(-1)

    def redo(self) -> None:
        """Repeat the step that was undone last, if there is one."""
        if self.redoable is not None:
            self._go(1)

    def diff(self) -> str:
        """Return the changes that `save` would make in the file, as a unified diff; empty without changes."""
        before = (self._content() or b"").decode("utf-8", "replace").splitlines()
        after = bytes(self.text).decode("utf-8", "replace").splitlines()
        name = self.output.name
        return "\n".join(difflib.unified_diff(before, after, f"{name} (file)", f"{name} (edited)", lineterm=""))

    @property
    def is_saved(self) -> bool:
        """True if the file has the present text."""
        return self._content() == bytes(self.text)

    def save(self, output: Path | None = None, *, overwrite: bool = False) -> None:
        """Write the file atomically; with `output`, write another file and use it from then on.

        Args:
            output: another file, which must not exist, in the folder of the first file or below it.
            overwrite: write also if another program changed the session's file since it was read or saved.

        Raises:
            FileChangedError: another program changed or deleted the session's file, or no version is
                chosen yet; nothing is written.
            OSError: the file cannot be written, is a folder, is another file that exists, or is outside of the folder.
        """
        target = self.output if output is None else output
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a folder; choose a file", str(target))
        if resolved(target) != resolved(self.output):
            if not resolved(target).is_relative_to(self._folder):
                raise PermissionError(errno.EACCES, f"choose a file in '{self._folder}' or below", str(target))
            if target.exists():
                raise FileExistsError(errno.EEXIST, "exists already; choose another name", str(target))
        elif not overwrite:
            content = self._content()
            if content is None and self._known is not None:
                raise FileChangedError(f"{target}: the file no longer exists")
            if self.written is not None or content not in (self._known, bytes(self.text)):
                raise FileChangedError(f"{target}: another program has changed the file since it was read")
        save_bytes(bytes(self.text), target)
        self.output, self._known, self.written = target, bytes(self.text), None
        self.version += 1

    def take_robot(self, bare: RobotModel) -> None:
        """Replace the robot by a new description of it; the text does not change."""
        if bare is not self.bare:
            self.bare = bare
            self._renew()

    def read_changes(self) -> None:
        """Load the text that another program has written since the file was read or saved, as a step.

        If there are unsaved changes, the text becomes `written` instead.

        Raises:
            DescriptionError: the file is not an SRDF any more.
            OSError: the file cannot be read, or is a folder.
        """
        if self.output.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a folder now", str(self.output))
        content, before = self._content(), self._known
        # A missing file is usually being replaced; if it stays missing, `save` asks.
        if content in (before, None, b""):
            return
        text = SrdfText(content, str(self.output))
        self._known = content
        self.written = text
        if bytes(self.text) in (before, content):
            self.choose_version(take=True)

    def choose_version(self, *, take: bool) -> None:
        """Use the `written` text, as a step (`take`), or keep the unsaved changes."""
        text, self.written = self.written, None
        if take and text is not None:
            self.change("load the file that another program changed", lambda _: text)

    def about(self, *names: str) -> list[Diagnostic]:
        """Return the problems whose message or place names one of `names`."""
        return [
            problem
            for problem in self.problems
            if any(f"'{name}'" in problem.message or f"'{name}'" in problem.place.path for name in names)
        ]

    def _content(self) -> bytes | None:
        """Return the content of the file; None if it is not a regular file."""
        return self.output.read_bytes() if self.output.is_file() else None

    def _go(self, steps: int) -> None:
        self._at += steps
        self._renew()

    def _renew(self) -> None:
        self.version += 1
        found = Diagnostics()
        semantic = parse_srdf(str(self.text), self.text.xml.source, found)
        self.robot = apply_semantics(self.bare, semantic, found)
        self.problems = list(found)
