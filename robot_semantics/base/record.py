# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Frozen dataclasses whose parts are made when they are needed: a command makes 60 to 130 classes before it works."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["record"]

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
    from operator import attrgetter
    from reprlib import recursive_repr

    def record(*, frozen: bool, slots: bool = False, eq: bool = True) -> object:
        """Return the decorator of a frozen dataclass; the class behaves as one of `dataclass`.

        `dataclass` compiles up to eight functions for each class, and these take half the time of an import. Here all
        classes share them but `__init__`, which is compiled for the first value of the class; the description of the
        fields is made when `fields`, `replace` and such ask for it.
        """

        def made(plain: type) -> type:
            stated = {
                name: (text, vars(plain).get(name, MISSING))
                for name, text in plain.__annotations__.items()
                if not text.startswith("ClassVar")
            }
            shared = {"__repr__": _text, "__setattr__": _refuse, "__delattr__": _refuse}
            if eq:
                shared |= {"__eq__": _is_equal, "__hash__": _hash}
            if slots:
                shared |= {"__getstate__": _state, "__setstate__": _set_state}
            shared = {name: method for name, method in shared.items() if name not in vars(plain)}
            cls = _slotted(plain, stated) if slots else _without_fields(plain, stated)
            cls._stated = stated
            for name, method in shared.items():
                setattr(cls, name, method)
            for name, make in _LATE.items():
                setattr(cls, name, _Late(cls, name, make))
            return cls

        return made

    class _Late:
        """A part of a class that is made when it is first asked for, and then takes the place of this object."""

        def __init__(self, owner: type, name: str, make: object) -> None:
            self.owner, self.name, self.make = owner, name, make

        def __get__(self, value: object, cls: type) -> object:
            setattr(self.owner, self.name, self.make(self.owner))
            return getattr(cls if value is None else value, self.name)

    def _slotted(plain: type, stated: dict[str, tuple[str, object]]) -> type:
        """Return the class with a slot for each of its own fields; slots exist only from the creation of a class."""
        left_out = {*stated, "__dict__", "__weakref__"}
        parts = {name: value for name, value in vars(plain).items() if name not in left_out}
        inherited = {name for base in plain.__mro__[1:] for name in vars(base).get("__slots__", ())}
        parts["__slots__"] = tuple(name for name in stated if name not in inherited)
        cls = type(plain)(plain.__name__, plain.__bases__, parts)
        cls.__qualname__ = plain.__qualname__
        return cls

    def _without_fields(plain: type, stated: dict[str, tuple[str, object]]) -> type:
        """Replace each `field(...)` of a class by its default."""
        for name, (_, default) in stated.items():
            if isinstance(default, Field):
                if default.default is MISSING:
                    delattr(plain, name)
                else:
                    setattr(plain, name, default.default)
        return plain

    def _items(cls: type) -> dict[str, tuple[str, Field]]:
        """Return the type and the options of each field, inherited ones first."""
        items = {}
        for base in reversed(cls.__mro__):
            own = vars(base)
            if "__dataclass_fields__" in own and "_stated" not in own:
                raise TypeError(f"{cls.__name__} is a record, but its base {base.__name__} is a dataclass")
            items |= own.get("_stated", {})
        return {
            name: (text, default if isinstance(default, Field) else field(default=default))
            for name, (text, default) in items.items()
        }

    def _init(cls: type) -> object:
        """Return the `__init__` of a class whose fields are all arguments."""
        known: dict[str, object] = {"_set": object.__setattr__, "_missing": MISSING}
        words, only_words, lines = ["self"], [], []
        items = _items(cls)
        for name, (_, item) in items.items():
            default, value = "", name
            if item.default is not MISSING:
                known[f"_of_{name}"] = item.default
                default = f"=_of_{name}"
            elif item.default_factory is not MISSING:
                known[f"_of_{name}"] = item.default_factory
                default, value = "=_missing", f"_of_{name}() if {name} is _missing else {name}"
            (only_words if item.kw_only is True else words).append(f"{name}{default}")
            lines.append(f"    _set(self, {name!r}, {value})")
        if hasattr(cls, "__post_init__"):
            lines.append("    self.__post_init__()")
        arguments = ", ".join([*words, *(["*", *only_words] if only_words else [])])
        exec("\n".join([f"def __init__({arguments}):", *lines, "    return None"]), known)
        init = known["__init__"]
        init.__qualname__ = f"{cls.__qualname__}.__init__"
        init.__module__ = cls.__module__
        init.__annotations__ = {**{name: text for name, (text, _) in items.items()}, "return": None}
        return init

    def _described(cls: type) -> type:
        """Return a dataclass with the fields of a class."""
        parts = {
            name: value for name, value in vars(cls).items() if name in ("__module__", "__doc__", "__orig_bases__")
        }
        parts |= {name: default for name, (_, default) in cls._stated.items() if default is not MISSING}
        parts["__annotations__"] = {name: text for name, (text, _) in cls._stated.items()}
        return dataclass(init=False, repr=False, eq=False)(type(cls.__name__, cls.__bases__, parts))

    def _compared(cls: type) -> object:
        """Return the function that returns the compared values of a value as a tuple."""
        names = [name for name, (_, item) in _items(cls).items() if item.compare]
        # For one name, attrgetter returns no tuple.
        values = attrgetter(*names) if len(names) > 1 else lambda self: tuple(getattr(self, name) for name in names)
        return staticmethod(values)

    _LATE = {
        "__init__": _init,
        "__dataclass_fields__": lambda cls: _described(cls).__dataclass_fields__,
        "__dataclass_params__": lambda cls: _described(cls).__dataclass_params__,
        "__match_args__": lambda cls: _described(cls).__match_args__,
        "_compared": _compared,
    }

    def _refuse(self: object, name: str, *_: object) -> None:
        raise FrozenInstanceError(f"cannot change field {name!r}")

    def _is_equal(self: object, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return self._compared(self) == self._compared(other)

    def _hash(self: object) -> int:
        return hash(self._compared(self))

    @recursive_repr()
    def _text(self: object) -> str:
        values = (f"{item.name}={getattr(self, item.name)!r}" for item in fields(self) if item.repr)
        return f"{type(self).__qualname__}({', '.join(values)})"

    def _state(self: object) -> list[object]:
        return [getattr(self, item.name) for item in fields(self)]

    def _set_state(self: object, state: list[object]) -> None:
        for item, value in zip(fields(self), state, strict=True):
            object.__setattr__(self, item.name, value)
