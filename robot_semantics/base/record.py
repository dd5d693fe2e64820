# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Frozen dataclasses that are made in 60 % of the time: a command makes 60 to 80 of them before it works."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["record"]

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    from dataclasses import dataclass, fields
    from operator import attrgetter

    def record(*, frozen: bool, slots: bool = False) -> object:
        """Return the decorator of a frozen dataclass; the class behaves as one of `dataclass`.

        `dataclass` compiles six functions for each class. Comparison, hash and `repr` are shared functions here.
        """

        def made(plain: type) -> type:
            shared = {"__eq__": _is_equal, "__hash__": _hash, "__repr__": _text}
            shared = {name: method for name, method in shared.items() if name not in vars(plain)}
            cls = dataclass(frozen=frozen, slots=slots, eq=False, repr=False)(plain)
            for name, method in shared.items():
                setattr(cls, name, method)
            names = [item.name for item in fields(cls) if item.compare]
            # For one name, attrgetter returns no tuple.
            values = attrgetter(*names) if len(names) > 1 else lambda self: tuple(getattr(self, name) for name in names)
            cls._compared = staticmethod(values)
            return cls

        return made

    def _is_equal(self: object, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return self._compared(self) == self._compared(other)

    def _hash(self: object) -> int:
        return hash(self._compared(self))

    def _text(self: object) -> str:
        values = (f"{item.name}={getattr(self, item.name)!r}" for item in fields(self) if item.repr)
        return f"{type(self).__qualname__}({', '.join(values)})"
