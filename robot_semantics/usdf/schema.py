# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The RELAX NG schema of USDF, made from its table; `robot_semantics schema usdf` prints it."""

from __future__ import annotations

from functools import cache

from lxml import etree

from robot_semantics.usdf.table import USDF
from robot_semantics.xml.relax_ng import relax_ng, schema_of

ABOUT = """\
  USDF 1.0, the state of a world of robots, as a schema.

  A schema cannot check all rules: unique and known names, cycles of parents, a quaternion that agrees with its rpy,
  finite numbers. The reader checks these. Content of other namespaces, and unknown content of the own namespace, may be
  everywhere and is kept."""


@cache
def full_schema() -> etree.RelaxNG:
    """Return the schema as a validator."""
    return schema_of(relax_ng(USDF, ABOUT))
