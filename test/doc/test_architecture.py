# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The page of the architecture shows the rooms as the imports make them, and names files that are there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "doc" / "architecture.md").read_text()


def test_the_picture_of_the_rooms_is_as_the_imports_are() -> None:
    done = subprocess.run([sys.executable, ROOT / "tools" / "rooms.py", "--check"], check=False)
    assert done.returncode == 0, "run tools/rooms.py"


def test_every_room_has_a_line() -> None:
    rooms = {path.parent.name for path in (ROOT / "robot_semantics").glob("*/__init__.py")}
    first_columns = re.findall(r"^\|[ \w]* \| ((?:`\w+`(?:, )?)+) \|", PAGE, flags=re.MULTILINE)
    assert rooms <= {room for column in first_columns for room in re.findall(r"\w+", column)}


def test_every_file_that_the_page_names_is_there() -> None:
    named = set(re.findall(r"`([\w/-]+(?:/|\.(?:py|md|json|txt|svg)))`", PAGE))
    assert len(named) > 15
    places = [ROOT, ROOT / "robot_semantics"]
    assert [name for name in named if not any((place / name).exists() for place in places)] == []


def test_every_error_type_is_on_the_page() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "robot_semantics").rglob("*.py"))
    types = set(re.findall(r"^class ([A-Z]\w+Error)\b", sources, flags=re.MULTILINE))
    assert len(types) > 10
    assert types == set(re.findall(r"`(\w+Error)`", PAGE)) - {"KeyError", "ValueError", "ImportError"}
