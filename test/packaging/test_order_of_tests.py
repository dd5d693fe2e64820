# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The longest files of tests exist, and begin first; `--cases` takes cases of every kind."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from support.order import LONGEST, TESTS, chosen, first_longest


def test_every_long_file_exists() -> None:
    assert [file for file in LONGEST if not (TESTS / file).is_file()] == []


def test_long_files_come_first_and_all_other_tests_keep_their_order() -> None:
    paths = [Path("b.py"), TESTS / LONGEST[1], Path("a.py"), TESTS / LONGEST[0], TESTS / LONGEST[1]]
    items: list[Any] = [SimpleNamespace(path=path, number=number) for number, path in enumerate(paths)]
    first_longest(items)
    assert [item.number for item in items] == [3, 1, 4, 0, 2]


def test_few_cases_are_one_of_each_kind_and_then_others() -> None:
    cases: list[Any] = [
        SimpleNamespace(callspec=SimpleNamespace(params={"kind": kind, "seed": seed}))
        for kind, seeds in (("a", 6), ("b", 1), ("c", 2))
        for seed in range(seeds)
    ]

    def few(most: int) -> list[tuple[str, int]]:
        taken: list[Any] = chosen(cases, most)
        return [tuple(case.callspec.params.values()) for case in taken]

    assert few(2) == [("a", 0), ("b", 0)]
    assert few(5) == [("a", 0), ("b", 0), ("c", 0), ("a", 1), ("a", 4)]
    assert few(20) == [("a", 0), ("b", 0), ("c", 0), *(("a", seed) for seed in range(1, 6)), ("c", 1)]
