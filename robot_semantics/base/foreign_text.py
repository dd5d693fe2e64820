# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Safe printing of text from outside: names in files and messages may have any characters and any length."""

from __future__ import annotations

from collections.abc import Iterable


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
