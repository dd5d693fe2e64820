# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics explain`: the pages of explanations.md, one for each problem code."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

from robot_semantics.base.errors import UnknownNameError
from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.frame.printing import add_json_argument, print_result

PAGES = Path(__file__).with_name("explanations.md")
_PAGE = re.compile(r"^## (?P<code>[a-z0-9-]+)\n(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


_PART = re.compile(r"^(?P<name>Why|Fix|Before|After):(?P<text>.*?)(?=^(?:Why|Fix|Before|After):|\Z)", re.M | re.S)


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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the codes argument."""
    parser.add_argument("codes", metavar="CODE", nargs="*", help="code of a problem (default: list all)")
    add_json_argument(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print the pages.

    Raises:
        UnknownNameError: a code does not exist.
    """
    pages = explanations()
    for code in arguments.codes:
        if code not in pages:
            raise UnknownNameError("code", code, pages)
    if arguments.json:
        rows = [page._asdict() for page in pages.values()]
        chosen = set(arguments.codes or pages)
        print_result({"codes": [row for row in rows if row["code"] in chosen]})
        return
    if not arguments.codes:
        width = max(map(len, pages))
        for page in pages.values():
            print(f"{page.code:{width}}  {page.what}")
    print("\n\n".join(f"{code}\n{'-' * len(code)}\n{pages[code].text}" for code in arguments.codes), end="")
    if arguments.codes:
        print()


COMMAND = Command(add_arguments, run, examples=("robot_semantics explain unknown-link", "robot_semantics explain"))
