# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Baselines of `check`: known problems of an old repository, which are left out."""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from robot_semantics.base.diagnostics import Diagnostic
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.files import read_bounded, resolved, save_text

VERSION = 1
_MAX_BYTES = 1 << 26


class KnownProblem(NamedTuple):
    """A problem without its line, which changes with every edit above it; `file` is relative to the baseline."""

    file: str
    code: str
    path: str
    message: str


def add_baseline_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--baseline`` and ``--write-baseline``."""
    parser.add_argument("--baseline", metavar="FILE", help="leave out the problems in this file")
    parser.add_argument("--write-baseline", metavar="FILE", help="write all problems as a baseline")


def _known(item: Diagnostic, folder: Path) -> KnownProblem:
    file = os.path.relpath(resolved(item.place.source), folder) if item.place.source else ""
    return KnownProblem(Path(file).as_posix(), item.code, item.place.path, item.message)


def write_baseline(found: Iterable[Diagnostic], path: str) -> int:
    """Write the problems to a file, which may be an older baseline; return their number.

    Raises:
        RobotSemanticsError: the file exists and is not a baseline.
    """
    if Path(path).exists():
        _read(path)
    folder = resolved(path).parent
    counts = Counter(_known(item, folder) for item in found)
    rows = [{**problem._asdict(), "count": count} for problem, count in sorted(counts.items())]
    save_text(json.dumps({"version": VERSION, "problems": rows}, indent=1, ensure_ascii=False) + "\n", path)
    return sum(counts.values())


def without_known(found: Sequence[Diagnostic], path: str) -> tuple[list[Diagnostic], int]:
    """Return the problems that the baseline does not have, and the number of its problems that no longer exist.

    Raises:
        RobotSemanticsError: the file is not a baseline.
    """
    folder, known = resolved(path).parent, _read(path)
    new = []
    for item in found:
        problem = _known(item, folder)
        if known[problem] > 0:
            known[problem] -= 1
        else:
            new.append(item)
    return new, sum(known.values())


def _read(path: str) -> Counter[KnownProblem]:
    try:
        content: Any = json.loads(read_bounded(path, _MAX_BYTES))
        if content["version"] != VERSION:
            raise RobotSemanticsError(f"'{path}' is a baseline of version {content['version']}, not {VERSION}")
        rows = [
            (KnownProblem(*(str(row[key]) for key in KnownProblem._fields)), row["count"])
            for row in content["problems"]
        ]
        return Counter({problem: int(count) for problem, count in rows})
    except OSError as error:
        raise RobotSemanticsError(f"'{path}' cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise RobotSemanticsError(f"'{path}' is not a baseline; --write-baseline writes one") from None
