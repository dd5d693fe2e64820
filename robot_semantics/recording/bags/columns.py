# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The numbers of a recording as columns: one group of arrays for all messages with the same joints or frames.

Groups grow block by block. Above a limit they are written to files and mapped into memory, so a long recording needs no
more memory than a short one.
"""

from __future__ import annotations

import enum
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robot_semantics.transforms.arrays import BoolArray, IntArray

Array = npt.NDArray[Any]

NONSENSE = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    AssertionError,
    ArithmeticError,
    RuntimeError,
    MemoryError,
    EOFError,
    zlib.error,
)
"""Errors that readers raise for corrupt files."""

IN_MEMORY_BYTES = 256 * 2**20
"""How much a recording may take in memory before its columns go to files."""


class Stream(str, enum.Enum):
    """What the messages of a topic say; a text where it is printed."""

    JOINTS = "joints"
    TF = "tf"
    TF_STATIC = "tf_static"
    ODOMETRY = "odometry"
    MULTI_DOF = "multi_dof"
    SERIES = "series"
    """An array of the series that is written, not of messages."""
    TIMES = "times"
    """Only the stamps, of topics whose content is not used."""

    __str__ = str.__str__


class GroupKey(NamedTuple):
    """Key of messages that share their columns.

    Attributes:
        kind: what the messages say.
        topic: their topic.
        names: joint names, or child frames.
        parents: parent frames, one for each child frame; for `Stream.MULTI_DOF` the one frame of all joints.
        has: the optional fields of the messages.
    """

    kind: Stream
    topic: str
    names: tuple[str, ...]
    parents: tuple[str, ...] = ()
    has: tuple[str, ...] = ()


Part = dict[str, Array]
"""Columns of one group from one stretch of a bag: ``log`` and ``stamp`` [ns], and the values of the messages."""

Pieces = dict[GroupKey, list[Part]]


def stamps_of(part: Part) -> IntArray:
    """Return one stamp for each message (n,): the first if it has several."""
    stamps = part["stamp"]
    return np.asarray(stamps[:, 0] if stamps.ndim == 2 else stamps)


def in_order(parts: Sequence[Part]) -> tuple[IntArray, IntArray, IntArray]:
    """Return the log times and stamps (n,) of the messages of some parts [ns], and their order (n,) of arrival."""
    logs = np.concatenate([np.asarray(part["log"]) for part in parts])
    return logs, np.concatenate([stamps_of(part) for part in parts]), np.argsort(logs, kind="stable")


def by_part(parts: Sequence[Part], values: Array) -> Iterator[tuple[Part, Array]]:
    """Split the values (n,) of all parts: yield each part with its own values."""
    return zip(parts, np.split(values, np.cumsum([len(part["log"]) for part in parts])[:-1]), strict=True)


def kept_rows(parts: Sequence[Part], kept: BoolArray) -> list[Part]:
    """Return the parts with only the kept ones of all rows (n,)."""
    return [
        part if mine.all() else {name: take_rows(array, np.flatnonzero(mine)) for name, array in part.items()}
        for part, mine in by_part(parts, kept)
    ]


def take_rows(values: Array, rows: IntArray) -> Array:
    """Return ``values[rows]``, as a slice if the rows are consecutive, which is faster for mapped files."""
    if len(rows) > 1 and rows[-1] - rows[0] == len(rows) - 1 and bool((np.diff(rows) == 1).all()):
        return np.asarray(values[int(rows[0]) : int(rows[-1]) + 1])
    return np.asarray(values[rows])


class _StoredArray:
    """One growing array: the newest blocks are in memory, older ones in its file."""

    def __init__(self) -> None:
        self.blocks: list[Array] = []
        self.spilled = 0

    def write(self, path: Path) -> int:
        """Append the blocks to a file and return the number of freed bytes."""
        freed = 0
        with path.open("ab") as file:
            for block in self.blocks:
                file.write(np.ascontiguousarray(block).data)
                self.spilled += len(block)
                freed += block.nbytes
        self.blocks = [block[:0] for block in self.blocks[:1]]
        return freed


class Columns:
    """Groups that grow; `finish` gives the whole arrays.

    Attributes:
        folder: folder of the files; None keeps everything in memory.
    """

    def __init__(self, folder: Path | None = None, in_memory_bytes: int = IN_MEMORY_BYTES) -> None:
        self.folder = folder
        self._limit = in_memory_bytes
        self._held = 0
        self._groups: dict[GroupKey, dict[str, _StoredArray]] = {}

    def add_rows(self, key: GroupKey, arrays: Mapping[str, Array]) -> None:
        """Add a block of rows to a group; all arrays have the same length, and all blocks the same names."""
        columns = self._groups.setdefault(key, {name: _StoredArray() for name in arrays})
        for name, array in arrays.items():
            columns[name].blocks.append(array)
            self._held += array.nbytes
        if self.folder is not None and self._held > self._limit:
            self._spill(self.folder)

    def _spill(self, folder: Path) -> None:
        for number, columns in enumerate(self._groups.values()):
            for name, column in columns.items():
                self._held -= column.write(folder / f"{number}.{name}")

    def finish(self) -> dict[GroupKey, dict[str, Array]]:
        """Return the arrays of every group, mapped if they are in files."""
        spilled = self.folder is not None and any(c.spilled for g in self._groups.values() for c in g.values())
        if spilled and self.folder is not None:
            self._spill(self.folder)
        return {key: dict(self._arrays(number, columns)) for number, (key, columns) in enumerate(self._groups.items())}

    def _arrays(self, number: int, columns: Mapping[str, _StoredArray]) -> Iterator[tuple[str, Array]]:
        for name, column in columns.items():
            if not column.spilled or self.folder is None:
                yield name, column.blocks[0] if len(column.blocks) == 1 else np.concatenate(column.blocks)
            else:
                like = column.blocks[0]
                shape = (column.spilled, *like.shape[1:])
                # An empty file cannot be mapped, but arrays without columns are common.
                empty = 0 in shape
                path = self.folder / f"{number}.{name}"
                yield name, np.empty(shape, like.dtype) if empty else np.memmap(path, like.dtype, "r", shape=shape)
