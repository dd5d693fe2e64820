# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Twenty thousand mutated SRDFs: each is read or refused with the package's own error, and nothing else happens."""

from __future__ import annotations

import random
import re
from collections import Counter

from support.moveit_cases import CASES

from robot_semantics import DescriptionError, Diagnostic, Diagnostics, RobotModel
from robot_semantics.model.apply_semantics import apply_semantics, check_alone
from robot_semantics.model.loading import load_robot
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.srdf.table import parse_srdf

DOCUMENTS = 6_000
# Words that take a document to the edges of the format.
WORDS = (
    "", " ", "nope", "é☃", "0", "-1", "1e999", "nan", "0x10", "1 2 3", "a b", "fixed", "planar", "world", "base",
    "tool", "j1", "g", "arm", "${x}", "&lt;", "&#0;", "&amp;", "x" * 300, "ASSUMED_FIXED_ROOT_JOINT", "name", "\u0130",
)  # fmt: skip
TAGS = (
    "robot", "group", "joint", "link", "chain", "group_state", "end_effector", "virtual_joint", "passive_joint",
    "disable_collisions", "enable_collisions", "disable_default_collisions", "link_sphere_approximation", "sphere",
    "joint_property", "grop", "x:y",
)  # fmt: skip
ELEMENT = re.compile(r"<(?!robot|\?)(\w+)[^<>]*?/>")
VALUE = re.compile(r'"[^"<]*"')
NAME = re.compile(r"(?<=[<\s/])\w+(?=[\s=>/])")


def mutated(text: str, others: list[str], rng: random.Random) -> str:
    """Return the text with one to four changes, most of which leave it well-formed."""
    for _ in range(rng.randint(1, 4)):
        kind = rng.random()
        if kind < 0.45:
            text = replaced(text, VALUE, f'"{rng.choice(WORDS)}"', rng)
        elif kind < 0.6:
            donors = VALUE.findall(text)
            text = replaced(text, VALUE, rng.choice(donors) if donors else "", rng)
        elif kind < 0.7:
            text = replaced(text, NAME, rng.choice(TAGS), rng)
        elif kind < 0.8:
            donor = [found.group() for found in ELEMENT.finditer(rng.choice(others))]
            text = replaced(text, ELEMENT, 2 * rng.choice(donor) if donor else "", rng)
        elif kind < 0.86:
            text = replaced(text, ELEMENT, "", rng)
        elif kind < 0.92:
            start = rng.randrange(len(text) + 1)
            text = text[:start] + text[start + rng.randint(1, 20) :]
        else:
            start = rng.randrange(len(text) + 1)
            text = text[:start] + rng.choice("<>&\"'/\x00\u2028ß=") + text[start:]
    return text


def replaced(text: str, pattern: re.Pattern[str], new: str, rng: random.Random) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return text
    where = rng.choice(found)
    return text[: where.start()] + new + text[where.end() :]


def check_invariants(model: RobotModel, text: str) -> None:
    """Check what must hold of every robot, whatever the text was."""
    semantics = model.semantics
    for group in semantics.groups.values():
        assert group.joints
        assert set(group.joints) <= set(model.joint_index)
        assert set(group.links) <= set(model.link_index)
        assert [model.joint_index[name] for name in group.joints] == sorted(model.joint_index[n] for n in group.joints)
        for state in group.states:
            for joint, values in semantics.states[group.name, state].joints.items():
                assert len(values) == model.joint(joint).position_count
    for effector in semantics.end_effectors.values():
        assert effector.group in semantics.groups
        assert effector.parent_group in ("", *semantics.groups)
    assert str(SrdfText(text)) == text.removeprefix("\ufeff")


def test_mutated_documents_are_read_or_refused_and_nothing_else() -> None:
    rng = random.Random(4)
    texts = {path.stem: path.read_text() for path in sorted(CASES.glob("moveit-*.srdf"))}
    robots: dict[str, RobotModel] = {}
    for name in texts:
        try:
            robots[name] = load_robot(CASES / f"{name}.urdf", strict=False)
        except DescriptionError:
            continue
    names, sources = [name for name in texts if name in robots], list(texts.values())
    outcomes: Counter[str] = Counter()
    codes: Counter[str] = Counter()
    unplaced: list[Diagnostic] = []
    for at in range(DOCUMENTS):
        name = rng.choice(names)
        text = mutated(texts[name], sources, rng)
        diagnostics = Diagnostics()
        try:
            semantic = parse_srdf(text, "fuzz.srdf", diagnostics)
        except DescriptionError as error:
            outcomes["refused"] += 1
            unplaced += [item for item in error.diagnostics if item.place.line < 1]
            continue
        model = apply_semantics(robots[name], semantic, diagnostics)
        found = list(diagnostics)
        unplaced += [item for item in found if item.place.line < 1 or item.place.column < 1]
        outcomes["with problems" if found else "clean"] += 1
        codes.update(item.code for item in found)
        if at % 10 == 0:
            check_invariants(model, text)
            check_alone(semantic, Diagnostics())
            edited = SrdfText(text).rename("link", "base", "naQQQme").rename("joint", "j1", "naQQQme")
            assert not {"base"}.intersection(edited.mentioned("link"))
    assert not unplaced
    assert outcomes["with problems"] >= 2_400
    assert outcomes["refused"] >= 300
    assert outcomes["clean"] >= 30
    assert len(codes) >= 30, sorted(codes)
