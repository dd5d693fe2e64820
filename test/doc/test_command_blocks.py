# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Every block of README.md and doc/ is marked; test/packaging runs the blocks marked ``bash`` or ``python``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.documents import DOCUMENTS, FENCE, LINKED, ROOT, anchors, blocks, name

RUN = {"bash", "python"}
SHOWN = {"", "console", "sh", "py", "text", "xml", "yaml", "json", "diff", "cmake", "toml", "ini", "js", "lua", "elisp"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_block_says_what_it_is(document: Path) -> None:
    wrong = [
        f"line {block.line}: '{block.language}'" for block in blocks(document) if block.language not in RUN | SHOWN
    ]
    assert not wrong, "mark what is to be run 'bash' or 'python', what is shown 'console' or 'text'"


@pytest.mark.parametrize("document", LINKED, ids=name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        page = document.parent / path if path else document
        if not page.exists() or (anchor and (page.suffix != ".md" or anchor not in anchors(page))):
            broken.append(target)
    assert not broken


def test_headings_that_sources_name_exist() -> None:
    missing = []
    for path in (ROOT / "robot_semantics").rglob("*.py"):
        text = " ".join(path.read_text(encoding="utf-8").split())
        for page, heading in re.findall(r'(doc/\w+\.md), "([^"]+)"', text):
            if not re.search(rf"^#+ {re.escape(heading)}$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE):
                missing.append(f"{path.name}: {page}, {heading}")
    assert not missing


def test_the_index_names_every_document() -> None:
    index = ROOT / "doc" / "index.md"
    text = index.read_text(encoding="utf-8")
    pages = [page for page in (ROOT / "doc").glob("*.md") if page != index]
    assert [page.name for page in pages if f"({page.name})" not in text] == []
    assert len(pages) > 4
