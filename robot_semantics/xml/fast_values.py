"""Making frozen values fast, for readers that make tens of thousands of them.

A frozen dataclass sets each field through `object.__setattr__`, which takes most of a reader's time. Here a twin with
the same slots is filled by ordinary assignment and then becomes an instance of the frozen class: four times as fast,
and nobody can tell the difference afterwards.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, TypeVar, cast

Value = TypeVar("Value")


def fast(cls: type[Value]) -> type[Value]:
    """Return a function that takes what the frozen, slotted dataclass `cls` takes, and makes the same value faster."""
    names = [field.name for field in fields(cls)]  # type: ignore[arg-type]  # only dataclasses come here
    twin = type(f"_{cls.__name__}", (), {"__slots__": tuple(names)})
    scope: dict[str, Any] = {"Twin": twin, "Frozen": cls}
    parameters = []
    for field in fields(cls):  # type: ignore[arg-type]  # only dataclasses come here
        if field.default is not MISSING:
            scope[f"default_{field.name}"] = field.default
            parameters.append(f"{field.name}=default_{field.name}")
        elif field.default_factory is MISSING:
            parameters.append(field.name)
        else:
            raise TypeError(f"{cls.__name__}.{field.name} has a default factory")
    body = "\n".join(f"    self.{name} = {name}" for name in names)
    source = (
        f"def make({', '.join(parameters)}):\n    self = Twin()\n{body}\n    self.__class__ = Frozen\n    return self"
    )
    exec(source, scope)
    return cast("type[Value]", scope["make"])
