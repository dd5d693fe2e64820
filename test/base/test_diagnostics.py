# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Many problems: the first are kept, all are counted."""

from __future__ import annotations

import pytest

from robot_semantics import DescriptionError, Diagnostics, Severity, SourcePlace
from robot_semantics.base.diagnostics import MAX_KEPT


def many(errors: int, warnings: int) -> Diagnostics:
    found = Diagnostics()
    for line in range(1, warnings + 1):
        found.warning("w", f"warning {line}", SourcePlace("f", line, 1))
    for line in range(1, errors + 1):
        found.error("e", f"error {line}", SourcePlace("f", line, 1))
    return found


@pytest.mark.parametrize("errors", [0, 1, MAX_KEPT - 1, MAX_KEPT, MAX_KEPT + 1, 5 * MAX_KEPT])
def test_all_problems_are_counted_and_the_first_thousand_of_each_severity_kept(errors: int) -> None:
    found = many(errors, 3000)
    assert (len(found), found.count(Severity.ERROR), found.count(Severity.WARNING)) == (errors + 3000, errors, 3000)
    kept = [problem for problem in found.errors if problem.count == 1 and problem.code == "e"]
    assert [problem.place.line for problem in kept] == list(range(1, min(errors, MAX_KEPT) + 1))
    assert sum(problem.count for problem in found.errors) == errors
    assert found.failed() is (errors > 0)
    assert found.failed(strict=True)


def test_one_problem_stands_for_the_rest_and_comes_last() -> None:
    last = list(many(1500, 0))[-1]
    assert str(last) == "f:1001:1: error: and 500 more errors from here on"


def test_the_count_goes_with_the_problems_into_an_error_and_another_collection() -> None:
    with pytest.raises(DescriptionError) as caught:
        many(1700, 0).raise_if_failed()
    found = many(800, 0)
    found.extend(caught.value.diagnostics)
    assert found.count(Severity.ERROR) == 2500
    assert len(found.errors) == MAX_KEPT + 1
    assert sum(problem.count for problem in found.errors) == 2500
