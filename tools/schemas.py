# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Make the schemas in spec/ from the formats' tables. Run it after a change of a table.

Run: python -m tools.schemas
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from robot_semantics.srdf.table import SRDF
from robot_semantics.urdf.table import URDF
from robot_semantics.usdf import writer as usdf_schema
from robot_semantics.usdf.table import USDF
from robot_semantics.xml.relax_ng import relax_ng
from robot_semantics.xml.schema import FormatTable
from tools.json_schema import json_schema

SPEC = Path(__file__).resolve().parent.parent / "spec"


class _Format(NamedTuple):
    table: FormatTable[object]
    about: str


FORMATS = {
    "usdf": _Format(
        USDF,
        usdf_schema.ABOUT,
    ),
    "urdf": _Format(
        URDF,
        "  Schema of URDF 1.2, the description of a robot, without the two older forms.\n\n"
        "  A schema cannot check references to names. Readers ignore unknown content with a warning.",
    ),
    "srdf": _Format(
        SRDF,
        "  Schema of SRDF 1.0, the semantics of the parts of a robot.\n\n"
        "  A schema cannot check references to names. Readers ignore unknown content with a warning.",
    ),
}


def schema(name: str) -> str:
    """Return the text of a format's schema; ``json`` is the JSON form of USDF."""
    if name == "json":
        about = "The JSON form of USDF 1.0, the state of a world of robots"
        return json.dumps(json_schema(USDF, about), indent=2) + "\n"
    table, about = FORMATS[name]
    return relax_ng(table, about)


def main() -> None:
    """Write all schemas."""
    for name in FORMATS:
        (page,) = SPEC.glob(f"{name}-*.md")
        page.with_suffix(".rng").write_text(schema(name), encoding="utf-8")
    (page,) = SPEC.glob("usdf-*.md")
    page.with_suffix(".schema.json").write_text(schema("json"), encoding="utf-8")


if __name__ == "__main__":
    main()
