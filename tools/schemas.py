# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Write the schemas in spec/ that are made from the formats' tables. Run it after a change of a table.

Run: python tools/schemas.py
"""

from __future__ import annotations

from pathlib import Path

from robot_semantics.cli.schema import FORMATS, schema

SPEC = Path(__file__).resolve().parent.parent / "spec"


def main() -> None:
    """Write each."""
    for name in FORMATS:
        (page,) = SPEC.glob(f"{name}-*.md")
        page.with_suffix(".rng").write_text(schema(name), encoding="utf-8")
        page.with_suffix(".xsd").write_text(schema(name, as_xsd=True), encoding="utf-8")
    (page,) = SPEC.glob("usdf-*.md")
    page.with_suffix(".schema.json").write_text(schema("json"), encoding="utf-8")


if __name__ == "__main__":
    main()
