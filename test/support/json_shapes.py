"""Whether JSON is as its schema says, to the last key."""

from __future__ import annotations

from typing import Any

import pytest


def closed(shape: Any) -> Any:
    """Return a schema that takes no key but those that it names: a key that nobody has described fails."""
    if isinstance(shape, list):
        return [closed(item) for item in shape]
    if not isinstance(shape, dict):
        return shape
    inner = {key: closed(value) for key, value in shape.items()}
    return {"additionalProperties": False, **inner} if isinstance(shape.get("properties"), dict) else inner


def validate(value: Any, shape: Any) -> None:
    """Fail where a value is not as a JSON Schema says; the test is skipped where nothing can tell."""
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(shape)
    jsonschema.Draft202012Validator(closed(shape)).validate(value)
