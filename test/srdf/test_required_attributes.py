# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Each attribute of SRDF is required or not, as the founding document and MoveIt's reader have it."""

from __future__ import annotations

import pytest
from lxml import etree
from support.every_element import SRDF_TEXT, Row, rows

from robot_semantics import Diagnostics
from robot_semantics.srdf.table import parse_srdf

OPTIONAL = {
    "robot@version",
    "robot/end_effector@parent_group",
    "robot/disable_collisions@reason",
    "robot/enable_collisions@reason",
}
"""The attributes that may be missing."""


@pytest.mark.parametrize("row", rows("srdf"), ids=str)
def test_a_missing_attribute_is_reported_at_its_element(row: Row) -> None:
    root = etree.fromstring(SRDF_TEXT.encode())
    path = row.path.partition("/")[2]
    element = root.find(path) if path else root
    assert element is not None
    line = int(str(element.sourceline))
    del element.attrib[row.name]
    found = Diagnostics()
    parse_srdf(etree.tostring(root), "r.srdf", found)
    missing = [(item.code, item.place.line) for item in found if f"'{row.name}'" in item.message]
    assert missing == ([] if str(row) in OPTIONAL else [("missing-attribute", line)]), list(found)
