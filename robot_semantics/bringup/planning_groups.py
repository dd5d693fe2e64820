# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rules of files that configure groups of the SRDF: kinematics solvers and planners."""

from __future__ import annotations

import re
from collections.abc import Iterator

from robot_semantics.base.diagnostics import Severity
from robot_semantics.bringup.configuration import Configuration, ConfigurationProblem, Rule, SectionKind
from robot_semantics.bringup.decimal_numbers import doubles_of_entries

SOLVER_DOUBLES = ("kinematics_solver_search_resolution", "kinematics_solver_timeout")
_OF_CHAINS = re.compile(r"kdl|trac|lma|ikfast|srv", re.IGNORECASE)
"""Names of the solvers that only accept a chain."""


def _solved_group_is_a_chain(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for name, entry in configuration.entries(SectionKind.KINEMATICS):
        group, solver = configuration.groups.get(name), entry.get("kinematics_solver")
        if group is None or solver is None or group.is_chain or not _OF_CHAINS.search(solver.text):
            continue
        message = f"group '{name}' is not a chain, so the solver '{solver.text}' does not accept it"
        yield ConfigurationProblem(Severity.WARNING, "group-not-chain", message, entry.key_place)


def _solver_has_doubles(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    return doubles_of_entries(configuration, SectionKind.KINEMATICS, "group", SOLVER_DOUBLES)


RULES: tuple[Rule, ...] = (_solved_group_is_a_chain, _solver_has_doubles)
