# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""An SRDF during editing: every change is checked, is a step that can be undone, and is kept in a draft file."""

from __future__ import annotations

import base64
import binascii
import difflib
import errno
import hashlib
import json
import os
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from robot_semantics.base.diagnostic import Diagnostic
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.files import lock_of, read_bounded, resolved, save_bytes
from robot_semantics.base.system import held_lock, user_id
from robot_semantics.model.apply_semantics import apply_semantics
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.xml.reader import MAX_BYTES


class FileChangedError(RobotSemanticsError):
    """The file has changed since it was read: another program wrote, created or deleted it."""


def text_hash(content: bytes | None) -> str:
    """Return the SHA-256 of a content; an empty text if there is no file."""
    return "" if content is None else hashlib.sha256(content).hexdigest()


# Drafts: unsaved work in a file beside the SRDF.


class TypedText(NamedTuple):
    """A text that a person has typed and not applied.

    Attributes:
        text: the whole text.
        base: hash of the document on which it was typed.
    """

    text: str
    base: str


class Draft(NamedTuple):
    """Unsaved work.

    Attributes:
        text: the SRDF with the unsaved steps.
        base: content of the file on which it was made; None if there was no file.
        titles: the unsaved steps.
        typed: texts that were typed and not applied.
        time: when it was written [s since 1970].
    """

    text: bytes
    base: bytes | None
    titles: tuple[str, ...] = ()
    typed: tuple[TypedText, ...] = ()
    time: float = 0.0


class DraftError(RobotSemanticsError):
    """A draft file is damaged."""


_MARK = b"\n<!-- robot_semantics draft "
_SLOTS = 9
"""Largest number of draft files of one SRDF: one for each studio that edits it, or was killed."""
_MODE = 0o600


def draft_bytes(draft: Draft) -> bytes:
    """Return a draft as a file: the SRDF itself, and a comment with the rest behind it."""
    base = None if draft.base is None else base64.b64encode(zlib.compress(draft.base)).decode()
    rest = {"made_on": text_hash(draft.base), "base": base, "steps": draft.titles, "typed": draft.typed}
    # Two hyphens would end the comment.
    return draft.text + _MARK + json.dumps(rest).replace("--", "-\\u002d").encode() + b" -->\n"


def read_draft(content: bytes, time: float = 0.0) -> Draft:
    """Return the draft of `draft_bytes`.

    Raises:
        DraftError: the content has another form.
        DescriptionError: its text is not an SRDF.
    """
    text, mark, rest = content.rpartition(_MARK)
    try:
        stated = json.loads(rest.removesuffix(b" -->\n")) if mark else {}
        base = None
        if stated["base"] is not None:
            reader = zlib.decompressobj()
            base = reader.decompress(base64.b64decode(stated["base"]), MAX_BYTES)
        if text_hash(base) != stated["made_on"]:
            raise ValueError("the hash is wrong")
        titles = tuple(str(title) for title in stated["steps"])
        typed = tuple(TypedText(str(words), str(of)) for words, of in stated["typed"])
    except (ValueError, TypeError, LookupError, binascii.Error, zlib.error) as error:
        raise DraftError(f"the draft is damaged ({error})") from None
    SrdfText(text)
    return Draft(text, base, titles, typed, time)


class DraftFile:
    """The draft file of one SRDF in one process: ``.NAME.draft`` beside it, or in ``$XDG_STATE_HOME``.

    A lock, which the kernel frees when the process ends, shows the drafts of other running studios.

    Attributes:
        path: the file with the draft; None without a draft.
        problem: the reason why no draft can be kept, or why an existing one cannot be read.
    """

    def __init__(self, output: Path) -> None:
        """Keep drafts for the SRDF `output`."""
        target = resolved(output)
        state = Path(os.environ.get("XDG_STATE_HOME", ""))
        if not state.is_absolute():
            state = Path("~/.local/state").expanduser()
        folder = f"{hashlib.sha256(os.fsencode(target)).hexdigest()[:16]}"
        self._folders = (target.parent, state / "robot_semantics" / folder)
        self._name = target.name
        self._lock = ExitStack()
        self.path: Path | None = None
        self.problem = ""

    def take_newest(self) -> Draft | None:
        """Take the newest draft that no running studio keeps, and return it; None without such a draft."""
        drafts: list[tuple[float, Path, ExitStack, Draft]] = []
        for path in self._paths():
            if not os.path.lexists(path):
                continue
            with suppress(OSError), ExitStack() as stack:
                stack.enter_context(held_lock(lock_of(path)))
                about = path.lstat()
                if user_id() in (None, about.st_uid):
                    try:
                        draft = read_draft(read_bounded(path, 8 * MAX_BYTES, follow_links=False), about.st_mtime)
                    except RobotSemanticsError as error:
                        self.problem = f"{path}: {error}"
                    else:
                        drafts.append((about.st_mtime, path, stack.pop_all(), draft))
        newest = max(drafts, default=None, key=lambda item: item[0])
        for item in drafts:
            if item is not newest:
                item[2].close()
        if newest is None:
            return None
        _, self.path, self._lock, draft = newest
        return draft

    def write(self, draft: Draft) -> None:
        """Write the draft; where no place can be written, `problem` has the reason."""
        content = draft_bytes(draft)
        self.problem = ""
        for path in [self.path] if self.path is not None else self._free_paths():
            try:
                if path.parent != self._folders[0]:
                    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                if path.is_symlink() or path.is_dir():
                    raise FileExistsError(errno.EEXIST, "is not a regular file", str(path))
                with ExitStack() as stack:
                    if path != self.path:
                        stack.enter_context(held_lock(lock_of(path)))
                    save_bytes(content, path, _MODE)
                    if path != self.path:
                        self._release()
                        self.path, self._lock = path, stack.pop_all()
            except OSError as error:
                self.problem = f"unsaved changes cannot be kept in '{path}': {error.strerror}"
                continue
            self.problem = ""
            return
        if self.path is not None:
            # The folder has become unwritable, or the disk is full: another place may do.
            self._release()
            self.write(draft)

    def remove(self) -> None:
        """Delete the draft, if there is one."""
        if self.path is not None:
            try:
                self.path.unlink(missing_ok=True)
            except OSError as error:
                self.problem = f"'{self.path}' cannot be deleted: {error.strerror}"
            self._release()

    def _release(self) -> None:
        self._lock.close()
        self.path = None

    def _paths(self) -> Iterator[Path]:
        for folder in self._folders:
            for slot in range(1, _SLOTS + 1):
                yield folder / f".{self._name}.{'' if slot == 1 else f'{slot}.'}draft"

    def _free_paths(self) -> list[Path]:
        """Return the first unused name in each folder."""
        paths = [path for path in self._paths() if not any(map(os.path.lexists, (path, lock_of(path))))]
        return [next(path for path in paths if path.parent == folder) for folder in {path.parent: 0 for path in paths}]


# The session.


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
        offered: unsaved work of an earlier session; None after `answer_offer`.
        typed: the texts that were typed and not applied, by their page.
    """

    def __init__(self, bare: RobotModel, text: SrdfText, output: Path, drafts: DraftFile | None = None) -> None:
        """Begin with a text; with `drafts`, unsaved work is kept there, and the newest draft there is offered."""
        self.bare, self.output = bare, output
        # The title of each step, and the whole SRDF after it.
        self._steps = [("as it was read", text)]
        self._step = self._saved_at = 0
        self.version = 0
        self._folder = resolved(output.parent)
        # Content of the file when it was last read or saved; None: no file.
        self._file_content = self._content()
        self.written: SrdfText | None = None
        self.typed: dict[str, TypedText] = {}
        self._drafts, self._is_draft_old = drafts, False
        self.offered = None if drafts is None else drafts.take_newest()
        if self.offered is not None and self.offered.text == bytes(text) and not self.offered.typed:
            self.answer_offer(take=False)
        self._renew()

    @property
    def text(self) -> SrdfText:
        """The present text."""
        return self._steps[self._step][1]

    @property
    def undoable(self) -> str | None:
        """Title of the step that `undo` would undo; None without a step."""
        return self._steps[self._step][0] if self._step else None

    @property
    def redoable(self) -> str | None:
        """Title of the step that `redo` would repeat; None without a step."""
        return self._steps[self._step + 1][0] if self._step + 1 < len(self._steps) else None

    def change(self, title: str, edit: Callable[[SrdfText], SrdfText]) -> bool:
        """Make a change; return True if the text has changed. Undone steps are lost.

        Raises:
            RobotSemanticsError: the edit is impossible, or a draft is offered and not answered; nothing has changed.
        """
        if self.offered is not None:
            raise RobotSemanticsError("decide first about the unsaved changes of the last session")
        text = edit(self.text)
        if bytes(text) == bytes(self.text):
            return False
        self._steps[self._step + 1 :] = [(title, text)]
        if self._saved_at > self._step:
            self._saved_at = 0
        self._go(1)
        return True

    def undo(self) -> None:
        """Go back one step, if there is one."""
        if self._step:
            self._go(-1)

    def redo(self) -> None:
        """Repeat the step that was undone last, if there is one."""
        if self.redoable is not None:
            self._go(1)

    def diff(self) -> str:
        """Return the changes that `save` would make in the file, as a unified diff; empty without changes."""
        name = self.output.name
        return unified_diff(self._content(), bytes(self.text), f"{name} (file)", f"{name} (edited)")

    @property
    def file_content(self) -> bytes | None:
        """Content of the file when it was last read or saved; None if there was no file."""
        return self._file_content

    @property
    def is_deleted(self) -> bool:
        """True if the file was there and is not any more."""
        return self._file_content is not None and not self.output.exists()

    @property
    def is_saved(self) -> bool:
        """True if the file has the present text, and nothing is typed and not applied."""
        return self._content() == bytes(self.text) and not self.typed

    def save(self, output: Path | None = None, *, overwrite: bool = False, text: SrdfText | None = None) -> None:
        """Write the file atomically; with `output`, write another file and use it from then on.

        Args:
            output: another file, which must not exist, in the folder of the first file or below it.
            overwrite: write also if another program changed the session's file since it was read or saved.
            text: the text to write; by default the present one.

        Raises:
            FileChangedError: another program changed or deleted the session's file, or no version is
                chosen yet; nothing is written.
            OSError: the file cannot be written, is a folder, is another file that exists, or is outside of the folder.
        """
        saved = bytes(self.text if text is None else text)
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
            if content is None and self._file_content is not None:
                raise FileChangedError(f"{target}: the file no longer exists")
            if self.written is not None or content not in (self._file_content, saved):
                raise FileChangedError(f"{target}: another program has changed the file since it was read")
        save_bytes(saved, target)
        if self._drafts is not None and resolved(target) != resolved(self.output):
            self._drafts.remove()
            self._drafts = DraftFile(target)
        self.output, self._file_content, self.written = target, saved, None
        matching = [at for at, (_, step) in enumerate(self._steps) if bytes(step) == saved and at <= self._step]
        self._saved_at = matching[-1] if matching else 0
        self.version += 1
        self.keep_draft()

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
        content, before = self._content(), self._file_content
        # A missing file is usually being replaced; if it stays missing, `is_deleted` tells it, and `save` asks.
        if content in (before, None, b"") or self.offered is not None:
            return
        text = SrdfText(content, str(self.output))
        self._file_content = content
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

    # --- typed text

    def type(self, page: str, typed: TypedText | None) -> None:
        """Keep what a page has typed and not applied; None: nothing."""
        if typed is None:
            if self.typed.pop(page, None) is None:
                return
        elif self.typed.get(page) == typed:
            return
        else:
            self.typed[page] = typed
        self._is_draft_old = True
        self.version += 1

    def adopt_typed(self, page: str, pages: Collection[str]) -> TypedText | None:
        """Return what `page` has typed, else what a page typed that is not one of the open `pages`."""
        if page not in self.typed:
            lost = next((other for other in self.typed if other not in pages), None)
            if lost is not None:
                self.typed[page] = self.typed.pop(lost)
        return self.typed.get(page)

    def apply_typed(self, page: str, *, replace: bool = False) -> bool:
        """Make the typed text of a page a step; return True if the text has changed.

        Raises:
            FileChangedError: the document has changed since the person began to type, and `replace` is False.
            DescriptionError: the text is not well-formed XML, or not an SRDF.
        """
        typed = self.typed.get(page)
        if typed is None:
            return False
        if typed.base != text_hash(bytes(self.text)) and not replace:
            raise FileChangedError("the document has changed since you began to type")

        def edited(text: SrdfText) -> SrdfText:
            has_mark = bytes(text).startswith(BOM_UTF8)
            return SrdfText(BOM_UTF8 + typed.text.encode() if has_mark else typed.text, text.xml.source)

        changed = self.change("edit the text", edited)
        self.type(page, None)
        return changed

    # --- drafts

    def keep_draft(self) -> None:
        """Write the draft file if there is unsaved work, otherwise delete it."""
        self._is_draft_old = False
        if self._drafts is None or self.offered is not None:
            return
        content = bytes(self.text)
        titles = tuple(title for title, _ in self._steps[self._saved_at + 1 : self._step + 1])
        is_new = content != self._file_content and (self._step > 0 or self._file_content is not None)
        if is_new or self.typed:
            self._drafts.write(Draft(content, self._file_content, titles, tuple(self.typed.values())))
        else:
            self._drafts.remove()

    def keep_typed(self) -> None:
        """Write the draft file if something was typed since it was written."""
        if self._is_draft_old:
            self.keep_draft()

    @property
    def draft_path(self) -> Path | None:
        """The file with the unsaved work; None without unsaved work."""
        return None if self._drafts is None else self._drafts.path

    @property
    def draft_problem(self) -> str:
        """The reason why unsaved work is not kept in a file; empty without a problem."""
        return "" if self._drafts is None else self._drafts.problem

    def offer(self, draft: Draft) -> None:
        """Offer unsaved work that a page has kept without its server, unless it is known."""
        texts = {bytes(text) for _, text in self._steps}
        if self.offered is None and draft.text not in texts:
            SrdfText(draft.text)
            self.offered = draft
            self.version += 1

    def answer_offer(self, *, take: bool) -> None:
        """Take the offered work, as a step, or throw it away."""
        draft, self.offered = self.offered, None
        if draft is None:
            return
        self.version += 1
        if take:
            count = len(draft.titles)
            title = "the unsaved changes of the last session" + f" ({count} steps)" * (count > 1)
            self.change(title, lambda text: SrdfText(draft.text, text.xml.source))
            for number, typed in enumerate(draft.typed):
                self.type(f"draft {number}", typed)
        self.keep_draft()

    def offered_diffs(self) -> list[tuple[str, str]]:
        """Return what the offered work would change: a title and a unified diff each.

        If the file has changed since, the changes of both are returned.
        """
        draft = self.offered
        if draft is None:
            return []
        name, file = self.output.name, bytes(self.text)
        if draft.base == self._file_content:
            diffs = [("Unsaved changes", unified_diff(file, draft.text, f"{name} (file)", f"{name} (unsaved)"))]
        else:
            base = draft.base or b""
            diffs = [
                ("Your unsaved changes", unified_diff(base, draft.text, f"{name} (then)", f"{name} (unsaved)")),
                ("Changes of the file since then", unified_diff(base, file, f"{name} (then)", f"{name} (file now)")),
            ]
        for typed in draft.typed:
            diffs.append(
                ("Typed and not applied", unified_diff(draft.text, typed.text.encode(), "unsaved", "typed")),
            )
        return [(title, diff) for title, diff in diffs if diff]

    # --- inside

    def _content(self) -> bytes | None:
        """Return the content of the file; None if it is not a regular file."""
        return self.output.read_bytes() if self.output.is_file() else None

    def _go(self, steps: int) -> None:
        self._step += steps
        self._renew()
        self.keep_draft()

    def _renew(self) -> None:
        self.version += 1
        found = Diagnostics()
        found.extend(self.text.reading)
        self.robot = apply_semantics(self.bare, self.text.semantic, found)
        self.problems = list(found)


def unified_diff(before: bytes | None, after: bytes, name: str, other: str) -> str:
    """Return the difference of two texts as a unified diff; empty without a difference."""
    old, new = ((text or b"").decode("utf-8", "replace").splitlines() for text in (before, after))
    return "\n".join(difflib.unified_diff(old, new, name, other, lineterm=""))
