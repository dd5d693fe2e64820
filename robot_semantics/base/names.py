# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The nearest known name to a misspelt one, the unordered pair of links, and names on a terminal of any encoding."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TextIO

from robot_semantics.base.pattern import pattern

if TYPE_CHECKING:
    from io import TextIOWrapper

STANDARD_INPUT = "-"
"""Name that means standard input on the command line."""

LONGEST_LINE = 2000
"""Longest printed line [characters]."""

MAX_COMPARISONS = 20_000
"""Limit on comparisons between misspelt and known names in one document: a second or two of work."""

_MOST_EDITS = 2
"""Largest number of letters that a certain suggestion adds, removes or swaps."""

_SHORT = 2
"""Longest word [letters] that distinguishes similar parts: l, fr."""

_PARTS = pattern(r"[^\W\d_a-z]+(?![a-z])|[^\W\d_]?[^\W\d_A-Z]+|\d+|[\W_]+")
"""Words of letters, also inside ``wheelFL``; numbers; everything between."""


def nearest_names(name: str, valid: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Return up to `limit` of the `valid` names that resemble `name`, best first."""
    # Imported here: most runs need no suggestion.
    import difflib

    known = sorted(set(valid))
    folded: dict[str, list[str]] = {}
    for candidate in known:
        folded.setdefault(candidate.casefold(), []).append(candidate)
    close = difflib.get_close_matches(name.casefold(), list(folded), n=limit, cutoff=0.6)
    return tuple(candidate for key in close for candidate in folded[key])[:limit]


def did_you_mean(name: str, valid: Iterable[str]) -> str | None:
    """Return the best suggestion for a misspelt `name`; None if no valid name resembles it."""
    found = nearest_names(name, valid, limit=1)
    return found[0] if found else None


def suggestion(name: str, valid: Iterable[str]) -> str:
    """Return the end of a sentence, "did you mean ...?"; empty if no valid name resembles `name`."""
    nearest = did_you_mean(name, valid)
    return f"; did you mean '{nearest}'?" if nearest else ""


class NameComparisons:
    """Limit on look-ups of nearest names; without it a document with only wrong names takes minutes."""

    def __init__(self, limit: int = MAX_COMPARISONS) -> None:
        """`limit` is the largest number of comparisons with known names."""
        self._budget = limit

    def allow(self, valid: Collection[str]) -> bool:
        """Return True if one more name may be compared with the `valid` ones, and count these comparisons."""
        if len(valid) > self._budget:
            return False
        self._budget -= len(valid)
        return True


def duplicates(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once, sorted."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def is_certain(name: str, meant: str, valid: Iterable[str]) -> bool:
    """Return True if only `meant` can be meant by a misspelt `name`.

    It comes from `name` by adding or removing one or two letters, or by swapping two neighbours, inside words. The
    first and last letter of each word, words of one or two letters, numbers and separators are equal. No other of the
    `valid` names is as near. No letter is replaced, because sides, axes and motions differ by a letter.
    """
    words, others = _PARTS.findall(name), _PARTS.findall(meant)
    if len(words) != len(others):
        return False
    edits = 0
    for word, other in zip(words, others, strict=True):
        number = _edits_inside(word, other)
        if number is None:
            return False
        edits += number
    if not 0 < edits <= _MOST_EDITS:
        return False
    distance = _distance(name, meant)
    near = (other for other in valid if other != meant and abs(len(other) - len(name)) <= distance)
    return all(_distance(name, other) > distance for other in near)


def is_near(name: str, valid: Iterable[str]) -> bool:
    """Return True if a valid name differs from `name` by one or two letters and no number: a reason for a warning."""
    meant = did_you_mean(name, valid)
    if meant is None or re.findall(r"\d+", name) != re.findall(r"\d+", meant):
        return False
    return _distance(name, meant) <= min(_MOST_EDITS, len(name) // 3)


def _edits_inside(word: str, other: str) -> int | None:
    """Return how many letters are added, removed or swapped inside a word; None if it differs in another way."""
    if word == other:
        return 0
    shorter, longer = sorted((word, other), key=len)
    if not (word.isalpha() and other.isalpha()) or len(shorter) <= _SHORT:
        return None
    if (word[0], word[-1]) != (other[0], other[-1]):
        return None
    if len(shorter) == len(longer):
        first, *rest = (at for at, letters in enumerate(zip(word, other, strict=True)) if letters[0] != letters[1])
        swapped = rest == [first + 1] and word[first : first + 2] == other[first : first + 2][::-1]
        return 2 if swapped else None
    letters = iter(longer)
    return len(longer) - len(shorter) if all(letter in letters for letter in shorter) else None


def _distance(name: str, other: str) -> int:
    """Return the number of letters to change, add or remove, or of neighbours to swap."""
    above: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(name, 1):
        last, above, row = above, row, [at]
        for place, wanted in enumerate(other, 1):
            best = min(above[place - 1] + (letter != wanted), above[place] + 1, row[place - 1] + 1)
            if at > 1 and place > 1 and letter == other[place - 2] and wanted == name[at - 2]:
                best = min(best, last[place - 2] + 1)
            row.append(best)
    return row[-1]


class PrefixChange(NamedTuple):
    """The change that makes a set of names known: ``lack`` or ``should not have`` one of the `prefixes`."""

    verb: str
    prefixes: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.verb} the prefix {' or '.join(repr(prefix) for prefix in self.prefixes)}"


def common_prefix(names: Sequence[str], valid: Collection[str]) -> PrefixChange | None:
    """Return the change by which all `names` become `valid`: a prefix that all lack or have; None without one.

    Of a robot with two arms, two prefixes may fit.
    """
    first = names[0]
    ends = {known[: len(known) - len(first)] for known in valid if known.endswith(first) and known != first}
    lacking = tuple(sorted(start for start in ends if all(start + name in valid for name in names)))
    if lacking:
        return PrefixChange("lack", lacking)
    starts = {first[: len(first) - len(known)] for known in valid if first.endswith(known) and known != first}
    extra = tuple(
        sorted(
            start for start in starts if all(name.startswith(start) and name[len(start) :] in valid for name in names)
        )
    )
    return PrefixChange("should not have", extra) if extra else None


def frame_name(written: str) -> str:
    """Return the name of a frame as tf2 reads it: without ONE leading slash.

    Every reader of frame names calls it: TF, odometry, SRDF, USDF, parameters, options, live and recorded.
    """
    return written.removeprefix("/")


class LinkPair(NamedTuple):
    """An unordered pair of link names; create it with `LinkPair.of`, which sorts the names."""

    first: str
    second: str

    @classmethod
    def of(cls, link1: str, link2: str) -> LinkPair:
        """Return the pair with its names in byte order, so that (a, b) and (b, a) are equal."""
        return cls(link1, link2) if link1 <= link2 else cls(link2, link1)


# Safe printing of text from outside: names in files and messages may have any characters and any length.


def print_line(text: object, *, file: TextIO | None = None, flush: bool = False, most: int = LONGEST_LINE) -> None:
    """Print a text as one line of at most `most` characters; no name in it can control the terminal."""
    print(shown(str(text), most), file=file, flush=flush)


def use_ascii_forms(stream: TextIOWrapper) -> None:
    """Let a stream write characters that its encoding lacks in a similar ASCII form, others by their number."""
    codecs.register_error(_ASCII_FORMS, _in_ascii)
    stream.reconfigure(errors=_ASCII_FORMS)


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(_SIMILAR.get(mark) or _line_form(mark) or ascii(mark)[1:-1] for mark in text), error.end


def _line_form(mark: str) -> str:
    """Return the ASCII form of a part of a drawn line, box or bar; empty for other characters."""
    if "\u2580" <= mark <= "\u259f":
        return "#"
    if not "\u2500" <= mark <= "\u257f":
        return ""
    return "-" if mark in "─━┄┅┈┉╌╍═╴╶╸╺╼╾" else "|" if mark in "│┃┆┇┊┋╎╏║╵╷╹╻╽╿" else "+"


_ASCII_FORMS = "robot_semantics.ascii_forms"
_SIMILAR = {
    "→": "->",
    "←": "<-",
    "↔": "<->",
    "⇒": "=>",
    "…": "...",
    "·": ".",
    "•": "*",
    "×": "x",
    "−": "-",
    "–": "-",
    "—": "-",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "≈": "~",
    "±": "+-",
    "°": " deg",
    "¹": "^1",
    "²": "^2",
    "³": "^3",
    "⚠": "!",
    "π": "pi",
    "∞": "inf",
    "√": "sqrt",
    "µ": "u",
    "μ": "u",
    "\N{NO-BREAK SPACE}": " ",
}


def shown(text: str, most: int = 80) -> str:
    """Return a text as one line that cannot move a terminal's cursor or reverse its text direction.

    Characters that are not printable (control characters, C1, line ends, direction marks) are escaped. A text longer
    than `most` characters is cut and ends in "…".
    """
    if len(text) > most:
        return f"{shown(text[:most], 10 * most)[: most - 1]}…"
    if text.isprintable():
        return text
    return "".join(mark if mark.isprintable() else ascii(mark)[1:-1] for mark in text)


def quoted(names: Iterable[str], most: int | None = None) -> str:
    """Return names for a sentence: ``'a', 'b'``; after `most` names only the number of the others."""
    all_names = list(names)
    more = len(all_names) - len(all_names[:most])
    return ", ".join(f"'{shown(name)}'" for name in all_names[:most]) + (f" and {more} more" if more else "")
