# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The tables of the three formats and the values that are made by them."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from robot_semantics.srdf.table import SRDF
from robot_semantics.urdf.table import URDF
from robot_semantics.usdf.table import USDF
from robot_semantics.xml.schema import Element, FormatTable

MADE = [
    pytest.param(table, element, id=f"{table.root.tag}-{element.tag}")
    for table in (URDF, SRDF, USDF)
    for element in table.root.all()
    if dataclasses.is_dataclass(element.make)
]


@pytest.mark.parametrize(("table", "element"), MADE)
def test_a_value_has_every_field_of_its_table_and_no_other_is_missing(
    table: FormatTable[object], element: Element
) -> None:
    made = element.make
    assert dataclasses.is_dataclass(made)
    fields = {field.name: field for field in dataclasses.fields(made)}
    given = {attribute.field: attribute.required for attribute in element.attributes.values()}
    given |= {child.field: child.required for child in element.children.values()}
    given |= {child.ordinal: False for child in element.children.values() if child.ordinal}
    given |= {element.text_field: True} if element.text is not None else {}
    assert given.keys() <= fields.keys()
    for name, field in fields.items():
        has_default = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        assert has_default or given[name], name


@pytest.mark.parametrize(("table", "element"), MADE)
def test_a_value_cannot_be_changed(table: FormatTable[object], element: Element) -> None:
    made = element.make
    assert isinstance(made, type)
    value: Any = object.__new__(made)
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.ordinal = 3
