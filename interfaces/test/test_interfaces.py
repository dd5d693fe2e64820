# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Every interface and every field has a description, and all names follow the rules of ROS."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted(path for kind in ("msg", "srv", "action") for path in (ROOT / kind).iterdir())
FIELD = re.compile(r"(?P<type>[\w/]+(?:\[[^\]]*\])?)\s+(?P<name>\w+)\s*(?P<constant>=[^#]*)?(?P<comment>#.*)?")


@pytest.fixture(params=FILES, ids=lambda path: path.name)
def lines(request: pytest.FixtureRequest) -> list[str]:
    """Return the lines of one file."""
    path: Path = request.param
    return path.read_text(encoding="utf-8").splitlines()


def fields(lines: list[str]) -> list[re.Match[str]]:
    found = [FIELD.fullmatch(line) for line in lines if line and not line.startswith(("#", "---"))]
    assert None not in found
    return [field for field in found if field is not None]


def test_there_are_interfaces() -> None:
    assert len(FILES) > 30


def test_files_are_named_in_camel_case() -> None:
    assert [path.name for path in FILES if not re.fullmatch(r"([A-Z][a-z0-9]+)+", path.stem)] == []


def test_a_file_begins_with_what_it_is_for(lines: list[str]) -> None:
    assert lines[0].startswith("# ")
    assert lines[0].endswith(".")


def test_every_field_is_documented(lines: list[str]) -> None:
    assert [field["name"] for field in fields(lines) if len(field["comment"] or "") < len("# what")] == []


def test_fields_are_in_snake_case_and_constants_in_capitals(lines: list[str]) -> None:
    for field in fields(lines):
        pattern = r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*" if field["constant"] else r"[a-z][a-z0-9]*(_[a-z0-9]+)*"
        assert re.fullmatch(pattern, field["name"]), field["name"]


def test_what_can_fail_says_why(lines: list[str]) -> None:
    names = [(field["type"], field["name"]) for field in fields(lines)]
    assert ("bool", "success") not in names or ("string", "message") in names
