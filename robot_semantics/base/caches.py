# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Bounded cache: foreign input cannot fill the memory; the least recently used entry is dropped first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from functools import wraps
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LruCache(Generic[Key, Value]):
    """Values by key, limited in number and, with `most_weight`, in weight; the newest value always stays."""

    def __init__(
        self, most: int, most_weight: int | None = None, forgotten: Callable[[Value], None] | None = None
    ) -> None:
        """`forgotten` is called with each dropped value."""
        self._most, self._most_weight, self._forgotten = most, most_weight, forgotten
        self._items: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._weight = 0

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Value]:
        """Iterate over the values, the most recently used first."""
        return iter([value for value, _ in reversed(self._items.values())])

    def get(self, key: Key) -> Value | None:
        """Return a value and make it the newest; None if the key is unknown."""
        found = self._items.get(key)
        if found is None:
            return None
        self._items.move_to_end(key)
        return found[0]

    def put(self, key: Key, value: Value, weight: int = 0) -> None:
        """Store a value as the newest."""
        _, before = self._items.pop(key, (None, 0))
        self._items[key] = value, weight
        self._weight += weight - before
        while len(self._items) > self._most or (
            self._most_weight is not None and self._weight > self._most_weight and len(self._items) > 1
        ):
            _, (old, its_weight) = self._items.popitem(last=False)
            self._weight -= its_weight
            if self._forgotten is not None:
                self._forgotten(old)

    def add(self, key: Key, value: Value) -> bool:
        """Store a value; return True if the key is new."""
        if self.get(key) is not None:
            return False
        self.put(key, value)
        return True


# Cache of results for each object, freed with the object.


Object = TypeVar("Object")
Result = TypeVar("Result")


def cached_per_object(function: Callable[[Object], Result]) -> Callable[[Object], Result]:
    """Decorator: compute the result once for each object; the result must not refer to the object."""
    results: WeakKeyDictionary[Object, Result] = WeakKeyDictionary()

    @wraps(function)
    def answer(subject: Object) -> Result:
        try:
            return results[subject]
        except KeyError:
            value = results[subject] = function(subject)
            return value

    return answer
