"""Results that are remembered for as long as what they were computed from is there."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

Object = TypeVar("Object")
Value = TypeVar("Value")


def remembered(function: Callable[[Object], Value]) -> Callable[[Object], Value]:
    """Return `function`, which computes its result once for each object; the result must not refer to the object."""
    known: WeakKeyDictionary[Object, Value] = WeakKeyDictionary()

    @wraps(function)
    def answer(subject: Object) -> Value:
        try:
            return known[subject]
        except KeyError:
            value = known[subject] = function(subject)
            return value

    return answer
