# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The pages of explanations.md, one for each problem code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

from robot_semantics.base.pattern import pattern

PAGES = Path(__file__).with_name("explanations.md")
_PAGE = pattern(r"^## (?P<code>[a-z0-9-]+)\n(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


_PART = pattern(r"^(?P<name>Why|Fix|Before|After):(?P<text>.*?)(?=^(?:Why|Fix|Before|After):|\Z)", re.M | re.S)


class Explanation(NamedTuple):
    """Page of one problem code.

    Attributes:
        code: problem code.
        what: meaning, in one sentence.
        text: whole page.
        why: why it matters; empty if the page has no such part.
        fix: how to fix it, likewise.
        before: example that has the problem, likewise.
        after: the example without the problem, likewise.
    """

    code: str
    what: str
    text: str
    why: str
    fix: str
    before: str
    after: str

    @classmethod
    def parse(cls, code: str, text: str) -> Explanation:
        """Split the text of a page into its parts."""
        parts = {part["name"]: part["text"] for part in _PART.finditer(text)}
        why, fix = (" ".join(parts.get(name, "").split()) for name in ("Why", "Fix"))
        before, after = (dedent(parts.get(name, "")).strip() for name in ("Before", "After"))
        return cls(code, " ".join(text.partition("\n\n")[0].split()), text, why, fix, before, after)


@lru_cache(1)
def explanations() -> Mapping[str, Explanation]:
    """Return the pages by code, in byte order of the codes."""
    found = {}
    for match in _PAGE.finditer(PAGES.read_text(encoding="utf-8")):
        found[match["code"]] = Explanation.parse(match["code"], match["text"].strip())
    return dict(sorted(found.items()))
