"""Runs: the stretches of a recording between which its clock was set back, as a simulation that is reset does.

Stamps of different runs say nothing about each other, so one run is looked at at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from robot_semantics.recording.columns import Array, GroupKey
from robot_semantics.recording.timeline import IntArray, take_rows

RESET_NS = 1_000_000_000
"""A stamp this much before the newest one, with its successors after it, means that the clock was set back."""

JUMP_NS = 10_000_000_000
"""Stamps that run ahead by this much more than the time of recording are told."""

TOGETHER_NS = 2_000_000_000
"""Resets seen on several topics within this much log time are one."""

Pieces = dict[GroupKey, list[dict[str, Array]]]


class Reset(NamedTuple):
    """A clock that was set back.

    Attributes:
        log_ns: log time of the first message after it.
        by_ns: how far back.
        topic: where it was seen first.
    """

    log_ns: int
    by_ns: int
    topic: str


class Jump(NamedTuple):
    """A clock that ran ahead of the time of recording.

    Attributes:
        log_ns: log time of the first message after it.
        by_ns: how far.
    """

    log_ns: int
    by_ns: int
    topic: str


def stamps_of(arrays: dict[str, Array]) -> IntArray:
    """Return one stamp a message (n,), the first where a message has several."""
    stamps = arrays["stamp"]
    return np.asarray(stamps[:, 0] if stamps.ndim == 2 else stamps)


def find_resets(pieces: Pieces) -> tuple[list[Reset], list[Jump]]:
    """Return the resets of a recording, those of all topics gathered, and the jumps ahead, in order of log time."""
    resets: list[tuple[Reset, int]] = []
    jumps: list[Jump] = []
    for number, (key, parts) in enumerate(pieces.items()):
        if key.kind == "tf_static" or not parts:
            continue
        logs = np.concatenate([np.asarray(part["log"]) for part in parts])
        stamps = np.concatenate([stamps_of(part) for part in parts])
        order = np.argsort(logs, kind="stable")
        logs, stamps = logs[order], stamps[order]
        resets += [(Reset(int(logs[i]), by, key.topic), number) for i, by in _resets(stamps)]
        ahead = np.diff(stamps) - np.diff(logs)
        jumps += [Jump(int(logs[i + 1]), int(ahead[i]), key.topic) for i in np.flatnonzero(ahead > JUMP_NS).tolist()]
    return _gathered(resets), sorted(jumps)


def _resets(stamps: IntArray) -> Iterator[tuple[int, int]]:
    """Yield (index, how far back) of every reset; a single late message is none."""
    highest: int | None = None
    last = 0
    for i in (np.flatnonzero(np.diff(stamps) < -RESET_NS) + 1).tolist():
        before = int(stamps[last:i].max())
        highest = before if highest is None else max(highest, before)
        stays = i + 1 >= len(stamps) or stamps[i + 1] < highest - RESET_NS
        if stays:
            yield i, highest - int(stamps[i])
            highest, last = None, i
        else:
            last = i


def _gathered(resets: Sequence[tuple[Reset, int]]) -> list[Reset]:
    """Return resets that several groups of messages saw as one; what one group sees twice is two."""
    result: list[Reset] = []
    seen: set[int] = set()
    for reset, group in sorted(resets):
        if not result or group in seen or reset.log_ns - result[-1].log_ns > TOGETHER_NS:
            result.append(reset)
            seen = set()
        seen.add(group)
    return result


def take_run(pieces: Pieces, resets: Sequence[Reset], run: int) -> Pieces:
    """Return the rows of the run with index `run`, of ``len(resets) + 1``; static transforms belong to all."""
    if not resets:
        return pieces
    result: Pieces = {}
    for key, parts in pieces.items():
        if key.kind == "tf_static":
            result[key] = parts
            continue
        chosen = ((part, rows) for part, rows in _rows(parts, resets, run) if len(rows))
        kept = [{name: take_rows(array, rows) for name, array in part.items()} for part, rows in chosen]
        if kept:
            result[key] = kept
    return result


def _rows(
    parts: list[dict[str, Array]], resets: Sequence[Reset], run: int
) -> Iterator[tuple[dict[str, Array], IntArray]]:
    logs = np.concatenate([np.asarray(part["log"]) for part in parts])
    stamps = np.concatenate([stamps_of(part) for part in parts])
    order = np.argsort(logs, kind="stable")
    borders = np.array([reset.log_ns for reset in resets])
    number = np.searchsorted(borders, logs, side="right")
    # A topic learns of a reset a little later than another; its own step back tells when.
    for i, _ in _resets(stamps[order]):
        at = logs[order[i]]
        nearest = int(np.argmin(np.abs(borders - at)))
        between = (logs >= borders[nearest]) & (logs <= at) & (np.arange(len(logs)) != order[i])
        old = np.flatnonzero(between & (stamps > stamps[order[i]] + RESET_NS))
        number[old] = nearest
    offset = 0
    for part in parts:
        count = len(part["log"])
        yield part, np.flatnonzero(number[offset : offset + count] == run)
        offset += count
