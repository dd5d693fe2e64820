# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Cache of results for each object, freed with the object."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

Object = TypeVar("Object")
Value = TypeVar("Value")


def cached_per_object(function: Callable[[Object], Value]) -> Callable[[Object], Value]:
    """Decorator: compute the result once for each object; the result must not refer to the object."""
    known: WeakKeyDictionary[Object, Value] = WeakKeyDictionary()

    @wraps(function)
    def answer(subject: Object) -> Value:
        try:
            return known[subject]
        except KeyError:
            value = known[subject] = function(subject)
            return value

    return answer
