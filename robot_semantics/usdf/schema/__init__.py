"""The RELAX NG schema of USDF, made from its table; the same text lies beside this file for other tools."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lxml import etree

from robot_semantics.usdf.table import USDF
from robot_semantics.xml.relax_ng import relax_ng, schema_of

SCHEMA_PATH = Path(__file__).parent / "usdf.rng"
"""The schema as a file (``xmllint --relaxng``)."""

_ABOUT = """\
  USDF, the state of a world of robots, as a RELAX NG schema.

  Children interleave: they may stand in any order. What the schema cannot say (names that must be unique or known,
  parents that must not form a cycle, a quaternion that must agree with the rpy beside it, numbers that must be finite)
  is checked besides. What is of other namespaces, or not known in this one's own, may stand everywhere and is kept.

  Made from robot_semantics/usdf/table.py: python -m robot_semantics.usdf.schema"""


def schema_text() -> str:
    """Return the text of the schema."""
    return relax_ng(USDF, _ABOUT)


@cache
def full_schema() -> etree.RelaxNG:
    """Return the schema ready to validate with."""
    return schema_of(schema_text())
