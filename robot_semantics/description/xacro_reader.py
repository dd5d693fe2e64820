"""xacro in: a file with macros to the XML document it stands for, with places in the files it was written in.

The `xacro` package does the work. It forgets where elements come from; so each element gets an attribute with its file
and number before the macros are carried out, and loses it afterwards.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.dom import minidom
from xml.parsers import expat

from lxml import etree

from robot_semantics.description.xml_reader import SourceMap, XmlDocument, parse_xml, read_text, read_xml
from robot_semantics.diagnostics import Diagnostics, Place
from robot_semantics.errors import DescriptionError

FindPackage = Callable[[str], str]

_MARK = "robot_semantics_came_from"
_CLASS = re.compile(r"<class '[^']*'>:? ?")
_NAMESPACE = "{http://www.ros.org/"
# xacro keeps its state in module variables.
_LOCK = threading.Lock()


class ExpandedPlaces(SourceMap):
    """Where each element of an expanded text was written."""

    def __init__(self, source: str, text: bytes, origins: list[tuple[int, int] | None], files: list[SourceMap]) -> None:
        super().__init__(source, text)
        self._origins = origins
        self._files = files

    def place(self, at: int, attribute: str | None = None) -> Place:
        """Return the place of element number `at` in the file it was written in, its path in the expanded text."""
        expanded = super().place(at, attribute)
        origin = self._origins[at] if 0 <= at < len(self._origins) else None
        if origin is None:
            return Place(self.source, path=expanded.path)
        file, number = origin
        written = self._files[file].place(number, attribute)
        return Place(written.source, written.line, written.column, expanded.path)


def is_xacro(document: XmlDocument, path: str | Path | None = None) -> bool:
    """Tell whether a document has macros to be carried out: it is called ``.xacro`` or has an element of xacro's."""
    if path is not None and Path(path).suffix == ".xacro":
        return True
    return b"xacro" in document.places.text and any(
        str(element.tag).startswith(_NAMESPACE) and "xacro" in str(element.tag) for element in document.root.iter("*")
    )


def read_document(
    path: str | Path, arguments: Mapping[str, str] | None = None, find_package: FindPackage | None = None
) -> XmlDocument:
    """Read an XML file; when it is a xacro, what it stands for.

    Raises:
        DescriptionError: as `expand_xacro`.
    """
    document = read_xml(path, forgiving=True)
    return expand_xacro(path, arguments, find_package) if is_xacro(document, path) else document


def expand_xacro(
    path: str | Path, arguments: Mapping[str, str] | None = None, find_package: FindPackage | None = None
) -> XmlDocument:
    """Return the document that the xacro file at `path` stands for.

    `arguments` are the values of its ``<xacro:arg>``; `find_package` answers ``$(find name)``, by default from the
    ament index.

    Raises:
        DescriptionError: a file cannot be read or is not well-formed, or a macro fails; the one diagnostic names the
            file in question.
    """
    # Imported here: most robots are no xacro, and it brings yaml and more along.
    import xacro
    import xacro.substitution_args

    with _LOCK:
        files: list[SourceMap] = []
        with _patched(xacro, files, find_package):
            try:
                expanded: str = xacro.process_file(str(path), mappings=dict(arguments or {})).toxml()
            except DescriptionError as error:
                raise _included(xacro, error) from None
            # Expressions are Python: whatever they raise is a problem of the document.
            except Exception as error:  # noqa: BLE001
                raise _refusal(xacro, path, error) from None
    return _without_marks(parse_xml(expanded, str(path), forgiving=True), files)


@contextmanager
def _patched(xacro: Any, files: list[SourceMap], find_package: FindPackage | None) -> Iterator[None]:
    """Let xacro read through us, so that elements can be marked, and find packages as we do."""
    substitution = xacro.substitution_args
    kept = (xacro.parse, substitution._eval_find, substitution._eval_dict["find"])

    def parse(inp: Any, filename: str | None = None) -> Any:
        if inp is not None or filename is None:
            return kept[0](inp, filename)
        return _marked(filename, files)

    def find(package: str) -> str:
        return find_package(package) if find_package is not None else str(kept[1](package))

    xacro.parse = parse
    substitution._eval_find = substitution._eval_dict["find"] = find
    try:
        yield
    finally:
        xacro.parse, substitution._eval_find, substitution._eval_dict["find"] = kept


def _marked(path: str, files: list[SourceMap]) -> minidom.Document:
    """Return a file's DOM with a mark on each element that is not xacro's own."""
    document = parse_xml(read_text(path), path, forgiving=True)
    text = document.places.text
    pieces = []
    last = 0
    for number, offset in enumerate(document.places.offsets):
        name = re.compile(rb"<([^\s/>]+)").match(text, offset)
        if name is None or name.group(1).startswith(b"xacro:"):
            continue
        pieces += [text[last : name.end()], f' {_MARK}="{len(files)}:{number}"'.encode()]
        last = name.end()
    files.append(document.places)
    # `parse_xml` has let no entity pass, so there is nothing for this parser to expand.
    marked = b"".join([*pieces, text[last:]])
    return minidom.parseString(re.sub(rb"^\s*<\?xml[^>]*\?>", b"", marked))


def _without_marks(document: XmlDocument, files: list[SourceMap]) -> XmlDocument:
    origins: list[tuple[int, int] | None] = []
    for element in document.root.iter("*"):
        mark = str(element.attrib.pop(_MARK, ""))
        if mark:
            file, number = mark.split(":")
            origins.append((int(file), int(number)))
        else:
            # Made by a macro: where its parent was written is the nearest that is known.
            parent = element.getparent()
            origins.append(origins[document.at(parent)] if parent is not None else None)
    text = etree.tostring(document.root.getroottree(), encoding="utf-8")
    places = ExpandedPlaces(document.places.source, text, origins, files)
    return XmlDocument(document.root, places, document.undeclared_prefixes)


def _included(xacro: Any, error: DescriptionError) -> DescriptionError:
    """Return the error that refused a file, with the files that include it."""
    (problem,) = error.diagnostics
    stack = [name for name in xacro.filestack or [] if name and name != problem.place.source]
    included = "".join(f", included from {name}" for name in reversed(stack))
    return DescriptionError([replace(problem, message=problem.message + included)])


def _refusal(xacro: Any, path: str | Path, error: Exception) -> DescriptionError:
    stack = [name for name in xacro.filestack or [] if name]
    macros = list(reversed(xacro.macrostack or []))
    # The innermost macro stands in the file that defines it, whatever file is being read.
    file = next((str(macro.history[-1][-1]) for macro in macros if macro.history), str(stack[-1] if stack else path))
    included = "".join(f", included from {name}" for name in reversed(stack) if name != file)
    within = "".join(f", in macro '{macro.body.getAttribute('name')}'" for macro in macros)
    reason = _CLASS.sub("", " ".join(str(error).split())) or type(error).__name__
    line, column = (error.lineno, error.offset + 1) if isinstance(error, expat.ExpatError) else (0, 0)
    diagnostics = Diagnostics()
    diagnostics.error("xacro", f"xacro: {reason}{within}{included}", Place(file, line, column))
    return DescriptionError(diagnostics)
