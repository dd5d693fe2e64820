"""Documents with a mark where a problem is expected, so that its place comes from no code under test."""

from __future__ import annotations


def unmarked(text: str) -> tuple[str, tuple[int, int]]:
    """Return the text without its mark, and line and column (from 1, in characters) of where the mark stood.

    So the expected place comes from no code under test.
    """
    before, mark, after = text.partition("§")
    assert mark, "the document has no mark"
    assert "§" not in after, "the document has two marks"
    return before + after, (before.count("\n") + 1, len(before) - before.rfind("\n"))
