# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A record behaves as a frozen dataclass of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field
from typing import Any

import pytest

from robot_semantics.base.record import record

MAKERS: dict[str, Callable[..., Any]] = {"dataclass": dataclass, "record": record}


def classes(maker: Callable[..., Any], slots: bool) -> dict[str, Any]:
    """Return classes of the forms that the package has, made by a decorator."""

    @maker(frozen=True, slots=slots)
    class Two:
        name: str
        values: tuple[float, ...] = ()
        hidden: int = field(default=3, compare=False, repr=False)

    @maker(frozen=True, slots=slots)
    class One:
        name: str

    @maker(frozen=True, slots=slots)
    class Nothing:
        pass

    @maker(frozen=True, slots=slots)
    class Child(Two):
        last: list[int] = field(default_factory=list, kw_only=True)

    @maker(frozen=True, slots=slots)
    class Named:
        name: str

        def __repr__(self) -> str:
            return self.name

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

    return {"Two": Two, "One": One, "Nothing": Nothing, "Child": Child, "Named": Named}


ARGUMENTS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    *(("Two", (name, values, hidden), {}) for name in "ab" for values in ((), (1.0, -0.0)) for hidden in (3, 4)),
    *(("One", (name,), {}) for name in "ab"),
    ("Nothing", (), {}),
    *(("Child", (name,), options) for name in "ab" for options in ({}, {"last": [1]})),
    *(("Named", (name,), {}) for name in "ab"),
]


def seen(made: dict[str, Any]) -> list[Any]:
    """Return what can be seen of the values of `ARGUMENTS`."""
    values = [made[name](*words, **options) for name, words, options in ARGUMENTS]
    texts = [repr(value) for value in values]
    pairs = [first == second for first in values for second in values]
    lists = {
        id(value) for value, (_, _, options) in zip(values, ARGUMENTS, strict=True) if type(value) is made["Child"]
    }
    hashes = [hash(value) for value in values if id(value) not in lists]
    copies = [repr(copy.copy(value)) for value in values] + [copy.deepcopy(value) == value for value in values]
    replaced = [repr(dataclasses.replace(value, name="c")) for value in values if hasattr(value, "name")]
    names = [[item.name for item in dataclasses.fields(value)] for value in values]
    return [texts, pairs, hashes, copies, replaced, names, [value.__match_args__ for value in values]]


@pytest.mark.parametrize("slots", [False, True])
def test_a_record_looks_compares_and_hashes_as_a_dataclass(slots: bool) -> None:
    results = {name: seen(classes(maker, slots)) for name, maker in MAKERS.items()}
    assert results["record"] == results["dataclass"]


@pytest.mark.parametrize("slots", [False, True])
def test_a_record_cannot_change_and_refuses_wrong_arguments(slots: bool) -> None:
    made = classes(record, slots)
    value = made["Two"]("a")
    with pytest.raises(FrozenInstanceError):
        value.name = "b"
    with pytest.raises(FrozenInstanceError):
        del value.name
    with pytest.raises(TypeError, match="missing"):
        made["Two"]()
    with pytest.raises(TypeError, match="unhashable"):
        hash(made["Child"]("a"))
    assert value != ("a", (), 3)
    assert value.__eq__(3) is NotImplemented


@record(frozen=True, slots=True)
class Slotted:
    """A record that pickle can name."""

    name: str
    values: tuple[float, ...] = ()


@record(frozen=True)
class Plain:
    """The same with a dictionary."""

    name: str
    values: tuple[float, ...] = ()


@pytest.mark.parametrize("cls", [Slotted, Plain])
def test_a_record_survives_pickle(cls: Any) -> None:
    value = cls("a", (1.0,))
    back = pickle.loads(pickle.dumps(value))
    assert back == value
    assert repr(back) == f"{cls.__name__}(name='a', values=(1.0,))"
