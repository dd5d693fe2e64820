# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What every kind of problem means: one page for each code, read from explanations.md."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

PAGES = Path(__file__).with_name("explanations.md")
_PAGE = re.compile(r"^## (?P<code>[a-z0-9-]+)\n(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


class Explanation(NamedTuple):
    """A page: its code, the first sentence, and all of it as text."""

    code: str
    what: str
    text: str


@lru_cache(1)
def explanations() -> Mapping[str, Explanation]:
    """Return the pages by code, in byte order of the codes."""
    found = {}
    for match in _PAGE.finditer(PAGES.read_text(encoding="utf-8")):
        text = match["text"].strip()
        what = " ".join(text.partition("\n\n")[0].split())
        found[match["code"]] = Explanation(match["code"], what, text)
    return dict(sorted(found.items()))
