# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Parsing of SRDF text to its tree, by the table of SRDF; every problem has its place.

Names are not resolved here; `robot_semantics.model.apply_semantics` does that. An element without a required attribute
is reported and left out of the tree, as in srdfdom. Foreign elements stay in the text, where the editor of
`robot_semantics.srdf.edit` keeps them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.srdf.table import SRDF
from robot_semantics.srdf.tree import SrdfDocument
from robot_semantics.xml.document import XmlDocument, report_oddities
from robot_semantics.xml.reader import parse_xml
from robot_semantics.xml.schema_reader import read_table
from robot_semantics.xml.xacro import FindPackage, XacroOptions, read_document


def parse_srdf(
    text: str | bytes, source: str = "<robot_description_semantic>", diagnostics: Diagnostics | None = None
) -> SrdfDocument:
    """Parse the text of an SRDF; every message calls it `source`.

    Problems are added to `diagnostics`; without it, they are raised together.

    Raises:
        DescriptionError: the text is not well-formed XML or its root is not ``<robot>``; without `diagnostics`, also
            for any other error.
    """
    return read_semantic(parse_xml(text, source, forgiving=True), diagnostics)


def srdf_from_file(
    path: str | Path,
    diagnostics: Diagnostics | None = None,
    *,
    xacro: XacroOptions | bool | None = None,
    xacro_arguments: Mapping[str, str] | None = None,
    find_package: FindPackage | None = None,
) -> SrdfDocument:
    """Read an SRDF file, plain or xacro, as `load_robot` does; `find_package` answers ``$(find name)`` of xacro.

    Raises:
        DescriptionError: as `parse_srdf`, or the file cannot be read.
    """
    return read_semantic(read_document(path, XacroOptions.of(xacro, xacro_arguments), find_package), diagnostics)


def read_semantic(document: XmlDocument, diagnostics: Diagnostics | None = None) -> SrdfDocument:
    """Read the SRDF of a parsed document, as `parse_srdf` does.

    Raises:
        DescriptionError: as `parse_srdf`.
    """
    found = Diagnostics()
    document = document.in_no_namespace()
    report_oddities(document, found)
    semantic = replace(read_table(document, SRDF, found), places=document.places)
    if diagnostics is None:
        found.raise_if_failed()
    else:
        diagnostics.extend(found)
    return semantic
