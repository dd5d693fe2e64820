# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Destination of an output: checks for existing files, and an atomic write of a file or folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from robot_semantics.base.files import check_file_name, make_folder, replace_folder, resolved, temporary_beside
from robot_semantics.base.system import replace_file
from robot_semantics.recording.bags.source import RequestError
from robot_semantics.recording.series.formats import looks_written_here


def check_target(target: Path, *, folder: bool, force: bool = False, inputs: Iterable[Path] = ()) -> None:
    """Check that a file or folder can be written as `target`.

    Raises:
        RequestError: the target exists and must not be replaced, or it is one of `inputs`.
        OSError: Windows cannot hold its name.
    """
    check_file_name(target)
    for path in inputs:
        mine, other = resolved(target), resolved(path)
        if mine == other or (folder and mine in other.parents):
            raise RequestError(f"'{target}' would be written over '{path}', which is an input")
    if target.is_dir() and (not folder or (any(target.iterdir()) and not force)):
        what = "exists and is not empty; --force replaces it" if folder else "is a folder, but the output is a file"
        raise RequestError(f"'{target}' {what}")
    above = next(parent for parent in target.absolute().parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise RequestError(f"'{target}' cannot be written: '{above}' is not a writable folder")
    if folder and target.exists() and not target.is_dir():
        raise RequestError(f"'{target}' is a file, but the output is a folder")
    if target.is_file() and not (force or looks_written_here(target)):
        raise RequestError(f"'{target}' exists already and is not the output of an export; --force overwrites it")


@contextmanager
def whole_or_nothing(target: Path, *, folder: bool, force: bool = False) -> Iterator[Path]:
    """Yield a temporary path beside `target`; rename it to the target at the end, or delete it after an error.

    Raises:
        RequestError: the target exists and `force` is not given.
    """
    check_target(target, folder=folder, force=force)
    make_folder(target.parent)
    try:
        with temporary_beside(target, folder=folder) as temporary:
            yield temporary
            if folder and target.exists():
                replace_folder(temporary, target)
            else:
                replace_file(temporary, target)
    except OSError as error:
        if error.filename is None and error.errno is not None:
            # The error of a full disk does not name the file.
            raise OSError(error.errno, error.strerror, str(target)) from None
        raise
