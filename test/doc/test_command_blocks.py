# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Every block of README.md and doc/ marked ``bash`` or ``python`` runs; others are only shown."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.documents import DOCUMENTS, FENCE, ROOT, blocks, name, put_examples

RUNNERS = {"bash": ("bash", "-euo", "pipefail", "-c"), "python": (sys.executable, "-c")}
SHOWN = {"", "console", "sh", "py", "text", "xml", "yaml", "json", "diff", "cmake", "toml", "ini"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_runnable_blocks_run_in_order(document: Path, tmp_path: Path) -> None:
    """All of a document in one folder, which has the example robots in it, also as robot and world."""
    put_examples(tmp_path)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    python = ""
    for block in blocks(document):
        if block.language in RUNNERS:
            # Python goes on where the block before it ended.
            python += block.text if block.language == "python" else ""
            done = subprocess.run(
                [*RUNNERS[block.language], python if block.language == "python" else block.text],
                cwd=tmp_path,
                env={**os.environ, "PATH": path, "COLUMNS": "120"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=100,
                check=False,
            )
            assert done.returncode == 0, f"{name(document)}:{block.line}:\n{block.text}\n{done.stdout[-3000:]}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_block_says_what_it_is(document: Path) -> None:
    wrong = [
        f"line {block.line}: '{block.language}'"
        for block in blocks(document)
        if block.language not in {*RUNNERS, *SHOWN}
    ]
    assert not wrong, "mark what is to be run 'bash' or 'python', what is shown 'console' or 'text'"


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"[a-z]+:", target) and not target.startswith("#"):
            path = document.parent / target.partition("#")[0]
            if not path.exists():
                broken.append(target)
    assert not broken


def test_the_index_names_every_document() -> None:
    index = ROOT / "doc" / "index.md"
    text = index.read_text(encoding="utf-8")
    pages = [page for page in (ROOT / "doc").glob("*.md") if page != index]
    assert [page.name for page in pages if f"({page.name})" not in text] == []
    assert len(pages) > 4
