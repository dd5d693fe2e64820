# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Documents with a mark where a problem is expected, so that its place comes from no code under test."""

from __future__ import annotations


def unmarked(text: str) -> tuple[str, tuple[int, int]]:
    """Return the text without its mark, and line and column (from 1, in characters) of the mark.

    The expected place is then independent of the code under test.
    """
    before, mark, after = text.partition("§")
    assert mark, "the document has no mark"
    assert "§" not in after, "the document has two marks"
    return before + after, (before.count("\n") + 1, len(before) - before.rfind("\n"))
