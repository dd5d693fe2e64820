# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Whether JSON is as its schema says, to the last key."""

from __future__ import annotations

from typing import Any

import pytest


def closed(shape: Any) -> Any:
    """Return a schema that allows only the named keys: an undocumented key fails."""
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
