# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Joint positions and named states on the command line: ``--joint NAME=NUMBERS``, ``--state [MODEL/]GROUP/NAME``.

A name has several readings, because names may contain slashes and the model may be left out: the reading that exists is
used, and two that exist are an error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from robot_semantics.base.errors import ArrayError, RobotSemanticsError, UnknownNameError, UsageError
from robot_semantics.cli.frame.argument_values import assignment, readings
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.model.semantics import NamedState
from robot_semantics.usdf.joint_values import position_counts, stated_positions
from robot_semantics.usdf.world_state import JointState

STATE_FORM = "[MODEL/]GROUP/NAME"


class JointReading(NamedTuple):
    """A joint or position variable of a model; `variable` is None for the whole joint."""

    model: str
    joint: str
    variable: str | None = None

    def __str__(self) -> str:
        """Return the reading in words."""
        what = f"joint '{self.joint}'" if self.variable is None else f"variable '{self.variable}'"
        return f"{what} of model '{self.model}'"


JointNames = Mapping[str, Mapping[str, Sequence[str]]]
"""For each model, its joints with the names of their position variables."""


def state_word(word: str, option: str = "--state") -> str:
    """Argparse type: ``[MODEL/]GROUP/NAME``; the model, group and state are found later.

    Raises:
        UsageError: the word has another form.
    """
    if not all(word.partition("/")):
        raise UsageError(f"{option} takes {STATE_FORM}, not '{word}'")
    return word


def parent_word(word: str) -> str:
    """Argparse type: ``NAME=PARENT``; the names are found later.

    Raises:
        UsageError: the word has another form.
    """
    named_value("--parent", word, (), "NAME=PARENT")
    return word


def names_of(space: JointSpace) -> dict[str, tuple[str, ...]]:
    """Return the moving joints of a robot with their position variables."""
    return {joint.name: joint.variable_names for joint in space.joints}


def read_joint(name: str, models: JointNames) -> JointReading:
    """Return the joint or variable of a name: a joint, a variable (``world_joint/x``), or ``MODEL/`` and one of these.

    Raises:
        UnknownNameError: there is none.
        RobotSemanticsError: there are two.
    """
    found = list(dict.fromkeys(_readings(name, models)))
    if len(found) > 1:
        raise RobotSemanticsError(f"--joint '{name}' can be {found[0]} or {found[1]}: write MODEL/NAME")
    if found:
        return found[0]
    owners = [model for model in models if name.startswith(f"{model}/")]
    part, owner = (name.removeprefix(f"{owners[0]}/"), f"model '{owners[0]}'") if len(owners) == 1 else (name, "")
    among = models if not owner else {owners[0]: models[owners[0]]}
    valid = [known for joints in among.values() for joint, names in joints.items() for known in (joint, *names)]
    raise UnknownNameError("joint variable", part, dict.fromkeys(valid), owner if len(models) > 1 else "")


def _readings(name: str, models: JointNames) -> Iterator[JointReading]:
    for model, joints in models.items():
        for part in _parts(name, model):
            if part in joints:
                yield JointReading(model, part)
            for joint, variables in joints.items():
                if joint != part and part in variables:
                    yield JointReading(model, joint, part)


def _parts(name: str, model: str) -> Iterator[str]:
    """Yield a name as it stands, and without ``MODEL/``."""
    yield name
    if name.startswith(f"{model}/"):
        yield name.removeprefix(f"{model}/")


def read_assignments(words: Iterable[str], models: JointNames) -> dict[JointReading, tuple[float, ...]]:
    """Return the numbers of the words of ``--joint``; all wrong words are reported together.

    Raises:
        UsageError: a word has another form, or a name is given twice.
        RobotSemanticsError: a name does not exist, or has two readings.
    """
    assignments: dict[JointReading, tuple[float, ...]] = {}
    problems: list[RobotSemanticsError] = []
    for word in words:
        try:
            name, numbers = assignment("--joint", word)
            reading = read_joint(name, models)
            if reading in assignments:
                raise UsageError(f"--joint {name} is given twice")
            assignments[reading] = numbers
        except RobotSemanticsError as error:
            problems.append(error)
    if problems:
        kind = UsageError if any(isinstance(problem, UsageError) for problem in problems) else RobotSemanticsError
        raise kind("\nerror: ".join(map(str, problems))) if len(problems) > 1 else problems[0]
    return assignments


def positions_by_variable(words: Iterable[str], model: str, space: JointSpace) -> dict[str, float]:
    """Return the positions of the words of ``--joint`` for one robot, by position variable [rad, m].

    Raises:
        UsageError, RobotSemanticsError: as `read_assignments`.
        ArrayError: a joint has another number of positions.
    """
    return positions_by_model(words, {model: space})[model]


def positions_by_model(words: Iterable[str], spaces: Mapping[str, JointSpace]) -> dict[str, dict[str, float]]:
    """Return the positions of the words of ``--joint`` for several robots, as `positions_by_variable`."""
    positions: dict[str, dict[str, float]] = {model: {} for model in spaces}
    models = {model: names_of(space) for model, space in spaces.items()}
    for reading, numbers in read_assignments(words, models).items():
        joint = spaces[reading.model].model.joint(reading.joint)
        values = positions[reading.model]
        if reading.variable is not None:
            if len(numbers) != 1:
                raise ArrayError(reading.variable, f"a variable has 1 position, not {len(numbers)}")
            named = {reading.variable: numbers[0]}
        else:
            if len(numbers) not in position_counts(joint):
                counts = " or ".join(map(str, position_counts(joint)))
                raise ArrayError(joint.name, f"a {joint.type.value} joint has {counts} positions, not {len(numbers)}")
            row = stated_positions(joint, JointState(joint.name, numbers))
            if row is None:
                raise ArrayError(joint.name, "its quaternion is all zeros")
            named = dict(zip(joint.variable_names, row.tolist(), strict=True))
        if twice := values.keys() & named.keys():
            raise UsageError(f"--joint gives '{min(twice)}' twice")
        values.update(named)
    return positions


def named_state(word: str, robots: Mapping[str, RobotModel], option: str = "--state") -> tuple[str, NamedState]:
    """Return the model and the state of ``[MODEL/]GROUP/NAME``.

    Raises:
        UsageError: the word has another form.
        UnknownNameError: the group, or the state in it, does not exist.
        RobotSemanticsError: two states have this name.
    """
    state_word(word, option)
    states: dict[tuple[str, str, str], NamedState] = {}
    for model, robot in robots.items():
        for part in _parts(word, model):
            for group, name in _splits(part):
                if (group, name) in robot.semantics.states:
                    states[model, group, name] = robot.semantics.states[group, name]
    if len(states) > 1:
        first, second = (
            f"state '{name}' of group '{group}' of model '{model}'" for model, group, name in [*states][:2]
        )
        raise RobotSemanticsError(f"{option} '{word}' can be {first} or {second}: write MODEL/GROUP/NAME")
    for (model, _, _), state in states.items():
        return model, state
    owners = [model for model in robots if word.startswith(f"{model}/")] or list(robots)
    if len(owners) == 1:
        # The error names the group, or the state in it.
        part = [*_parts(word, owners[0])][-1]
        return owners[0], robots[owners[0]].semantics.state_from_path(part if "/" in part else word)
    valid = [f"{model}/{'/'.join(key)}" for model, robot in robots.items() for key in robot.semantics.states]
    raise UnknownNameError("state", word, valid)


def _splits(word: str) -> Iterator[tuple[str, str]]:
    yield from ((word[:at], word[at + 1 :]) for at, letter in enumerate(word) if letter == "/")


def named_value(option: str, word: str, names: Collection[str], form: str) -> tuple[str, str]:
    """Return the name and the value of ``NAME=VALUE``; both may contain ``=``, so the name that exists is used.

    Raises:
        UsageError: the word has another form.
        RobotSemanticsError: two names that exist begin the word.
    """
    ways = [(name, value) for name, value in readings(word) if name and value]
    existing = [way for way in ways if way[0] in names]
    if len(existing) > 1:
        raise RobotSemanticsError(
            f"{option} '{word}' can be of '{existing[0][0]}' or of '{existing[1][0]}': rename one"
        )
    if not ways:
        raise UsageError(f"{option} takes {form}, not '{word}'")
    return (existing or ways)[0]
