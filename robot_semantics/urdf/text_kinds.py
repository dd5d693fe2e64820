# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The texts of URDF: how each kind of text becomes a value and back."""

from __future__ import annotations

from functools import partial

from robot_semantics.xml.numbers import (
    finite_text,
    finite_texts,
    not_negative,
    number,
    numbers,
    positive,
    quaternion,
    vec3,
)
from robot_semantics.xml.schema import TEXT, BadValueError, ValueKind

VERSIONS = ("1.0", "1.1", "1.2")
BOUNDED_TYPES = ("revolute", "prismatic")
"""Types of joints whose ``<limit>`` bounds the position."""
TYPES_WITHOUT_AXIS = ("fixed", "floating")


def _name(text: str) -> str:
    if not text:
        raise BadValueError("empty-name", "is empty", "")
    return text


def _link_name(text: str) -> str:
    if not text:
        raise BadValueError("empty-name", "is empty")
    return text


def _version(text: str) -> str:
    if text not in VERSIONS:
        raise BadValueError("unknown-version", f"is '{text}'; known are {', '.join(VERSIONS)}")
    return text


_DOUBLE = '<data type="double"/>'
NAME = ValueKind("name", "<text/>", _name, TEXT.write)
LINK_NAME = ValueKind("link-name", "<text/>", _link_name, TEXT.write)
VERSION = ValueKind("version", "<text/>", _version, TEXT.write)
NUMBER = ValueKind("number", _DOUBLE, number, finite_text)
POSITIVE = ValueKind("positive", _DOUBLE, positive, finite_text)
NOT_NEGATIVE = ValueKind("not-negative", _DOUBLE, not_negative, finite_text)
VEC3 = ValueKind("vec3", f"<list>{_DOUBLE * 3}</list>", vec3, finite_texts)
RGBA = ValueKind("rgba", f"<list>{_DOUBLE * 4}</list>", partial(numbers, count=4), finite_texts)
QUATERNION = ValueKind("quaternion", f"<list>{_DOUBLE * 4}</list>", quaternion, finite_texts)
