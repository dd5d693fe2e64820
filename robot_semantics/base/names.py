"""Names: the nearest known one to a misspelt one, and the unordered pair of links."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import NamedTuple


def nearest_names(name: str, valid: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Return up to `limit` of the `valid` names that resemble `name`, best first."""
    known = sorted(set(valid))
    folded: dict[str, list[str]] = {}
    for candidate in known:
        folded.setdefault(candidate.casefold(), []).append(candidate)
    close = difflib.get_close_matches(name.casefold(), list(folded), n=limit, cutoff=0.6)
    return tuple(candidate for key in close for candidate in folded[key])[:limit]


def did_you_mean(name: str, valid: Iterable[str]) -> str | None:
    """Return the one best suggestion for a misspelt `name`, or None when nothing resembles it."""
    found = nearest_names(name, valid, limit=1)
    return found[0] if found else None


class LinkPair(NamedTuple):
    """An unordered pair of link names; make it with `LinkPair.of`, which sorts."""

    first: str
    second: str

    @classmethod
    def of(cls, link1: str, link2: str) -> LinkPair:
        """Return the pair with its names in byte order, so that (a, b) and (b, a) are equal."""
        return cls(link1, link2) if link1 <= link2 else cls(link2, link1)
