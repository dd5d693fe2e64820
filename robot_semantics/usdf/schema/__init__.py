"""The RELAX NG schema of USDF, ready to validate with."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lxml import etree

SCHEMA_PATH = Path(__file__).parent / "usdf.rng"
"""The schema as a file, for other tools (``xmllint --relaxng``)."""

_RELAX_NG = "{http://relaxng.org/ns/structure/1.0}"
_NUMBER_LISTS = ("six-numbers", "four-numbers", "numbers")


@cache
def full_schema() -> etree.RelaxNG:
    """Return the schema as it is published."""
    return etree.RelaxNG(etree.parse(SCHEMA_PATH))


@cache
def structure_schema() -> etree.RelaxNG:
    """Return the schema without foreign content, and with any text allowed where numbers stand.

    The reader judges the numbers when it reads them, more strictly than the schema (finite, in range); to have libxml2
    read each of them before that would double the time of reading. Foreign content it takes out first.
    """
    tree = etree.parse(SCHEMA_PATH)
    for define in tree.iter(f"{_RELAX_NG}define"):
        if define.get("name") in _NUMBER_LISTS:
            define[:] = [etree.Element(f"{_RELAX_NG}text")]
    for reference in list(tree.iter(f"{_RELAX_NG}ref")):
        owner = reference.getparent()
        if owner is not None and str(reference.get("name")).startswith("foreign-"):
            owner.remove(reference)
    for define in list(tree.iter(f"{_RELAX_NG}define")):
        if str(define.get("name")).startswith("foreign-"):
            tree.getroot().remove(define)
    return etree.RelaxNG(tree)
