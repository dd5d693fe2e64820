# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The gate for robots of which a part was left out: such a robot proves nothing.

Lenient loading omits the parts in error. The node and views can use the rest. A collision matrix, a cover by spheres, a
simulation or a comparison would be wrong without a word: they call `refuse_omissions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from robot_semantics.base.diagnostics import MORE, Diagnostic, Severity
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.pattern import pattern
from robot_semantics.model.robot_model import RobotModel

NOT_PHYSICAL = frozenset({"visual", "material", "group", "group_state", "end_effector"})
"""Elements that prove nothing themselves: without them, motion, mass, collisions and collision pairs are the same."""

NOTHING_LOST = frozenset({"pair-with-itself"})
"""Errors about parts that have no meaning in any robot."""

_STEP = pattern(r"""/([^/\[\]@]+)((?:\[(?:"[^"]*"|'[^']*'|[^\]"'])*\])*)""")


def omitted_parts(problems: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the errors by which a part was left out that proofs need: all except those of `NOT_PHYSICAL` elements."""
    return tuple(problem for problem in problems if problem.severity is Severity.ERROR and _counts(problem))


def refuse_omissions(*robots: RobotModel) -> None:
    """Refuse robots of which a part was left out that proofs, simulations and comparisons need.

    Raises:
        DescriptionError: it has the error of each such part.
    """
    parts = dict.fromkeys(problem for robot in robots for problem in robot.omissions)
    if parts:
        raise DescriptionError(parts)


def _counts(problem: Diagnostic) -> bool:
    if problem.code == MORE:
        return True
    steps = list(_tags(problem.place.path))
    # A robot without a name has all its parts.
    is_name = steps == ["robot"] and problem.code in ("missing-attribute", "empty-name")
    return not is_name and problem.code not in NOTHING_LOST and NOT_PHYSICAL.isdisjoint(steps)


def _tags(path: str) -> Iterator[str]:
    """Yield the tags of an element path; names in it may have any characters."""
    at = 0
    while (step := _STEP.match(path, at)) is not None:
        yield step.group(1)
        at = step.end()
