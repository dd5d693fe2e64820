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

from robot_semantics.base.diagnostics import Diagnostics, Place
from robot_semantics.base.errors import DescriptionError
from robot_semantics.xml.reader import (
    SourceMap,
    XmlDocument,
    is_macro,
    parse_xml,
    read_text,
    read_xml,
    scan_xml,
)

FindPackage = Callable[[str], str]

_MARK = "robot_semantics_came_from"
_CLASS = re.compile(r"<class '[^']*'>:? ?")
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
    if b"xacro" not in document.places.text:
        return False
    # The tree, which need not have been made yet, is only looked at where a tag has a prefix at all.
    prefixed = any(type(mark) is str and mark.startswith("{") for mark in document.events.marks)
    return prefixed and any(map(is_macro, document.root.iter("*")))


def read_document(
    path: str | Path,
    arguments: Mapping[str, str] | None = None,
    find_package: FindPackage | None = None,
    *,
    as_tree: bool = True,
) -> XmlDocument:
    """Read an XML file; when it is a xacro, what it stands for. `as_tree`: its tree will be asked for, not its events.

    Raises:
        DescriptionError: as `expand_xacro`.
    """
    document = read_xml(path, forgiving=True) if as_tree else scan_xml(read_text(path), str(path))
    return expand_xacro(path, arguments, find_package, document) if is_xacro(document, path) else document


def expand_xacro(
    path: str | Path,
    arguments: Mapping[str, str] | None = None,
    find_package: FindPackage | None = None,
    document: XmlDocument | None = None,
) -> XmlDocument:
    """Return the document that the xacro file at `path` stands for.

    `arguments` are the values of its ``<xacro:arg>``; `find_package` answers ``$(find name)``, by default from the
    ament index; `document` is the file as read before, for files that can be read only once.

    Raises:
        DescriptionError: a file cannot be read or is not well-formed, or a macro fails; the one diagnostic names the
            file in question.
    """
    # Imported here: most robots are no xacro, and it brings yaml and more along.
    import xacro
    import xacro.substitution_args

    with _LOCK:
        files: list[SourceMap] = []
        with _patched(xacro, files, find_package, {} if document is None else {str(path): document}):
            try:
                expanded: str = xacro.process_file(str(path), mappings=dict(arguments or {})).toxml()
            except DescriptionError as error:
                raise _included(xacro, error) from None
            # Expressions are Python: whatever they raise is a problem of the document.
            except Exception as error:  # noqa: BLE001
                raise _refusal(xacro, path, error, files) from None
    return _without_marks(parse_xml(expanded, str(path), forgiving=True), files)


@contextmanager
def _patched(
    xacro: Any, files: list[SourceMap], find_package: FindPackage | None, known: Mapping[str, XmlDocument]
) -> Iterator[None]:
    """Let xacro read through us, so that elements can be marked, and find packages as we do."""
    substitution = xacro.substitution_args
    kept = (xacro.parse, substitution._eval_find, substitution._eval_dict["find"])

    def parse(inp: Any, filename: str | None = None) -> Any:
        if inp is not None or filename is None:
            return kept[0](inp, filename)
        return _marked(known.get(filename) or read_xml(filename, forgiving=True), files)

    def find(package: str) -> str:
        return find_package(package) if find_package is not None else str(kept[1](package))

    xacro.parse = parse
    substitution._eval_find = substitution._eval_dict["find"] = find
    try:
        yield
    finally:
        xacro.parse, substitution._eval_find, substitution._eval_dict["find"] = kept


def _marked(document: XmlDocument, files: list[SourceMap]) -> minidom.Document:
    """Return a file's DOM with a mark on each element that is not xacro's own, and data on those that are."""
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
    dom = minidom.parseString(re.sub(rb"^\s*<\?xml[^>]*\?>", b"", marked))
    for number, element in enumerate(dom.getElementsByTagName("*")):
        if element.tagName.startswith("xacro:"):
            element.setUserData(_MARK, (len(files) - 1, number), _Inherited())
    return dom


class _Inherited:
    """Gives the copies of a node, as a macro's body gets, the data of the node."""

    def handle(self, operation: int, key: str, data: object, source: Any, copy: Any) -> None:
        """Be called by the DOM for every copy that it makes."""
        if copy is not None:
            copy.setUserData(key, data, self)


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


def _refusal(xacro: Any, path: str | Path, error: Exception, files: list[SourceMap]) -> DescriptionError:
    stack = [name for name in xacro.filestack or [] if name]
    macros = list(reversed(xacro.macrostack or []))
    # The innermost macro stands in the file that defines it, whatever file is being read.
    file = next((str(macro.history[-1][-1]) for macro in macros if macro.history), str(stack[-1] if stack else path))
    place = Place(file)
    if isinstance(error, expat.ExpatError):
        place = Place(file, error.lineno, error.offset + 1)
    elif (found := _place_of(error, files)) is not None:
        place = found
    # A macro that calls itself is in itself a hundred times.
    names = dict.fromkeys(macro.body.getAttribute("name") for macro in macros)
    within = "".join(f", in macro '{name}'" for name in names)
    included = "".join(f", included from {name}" for name in dict.fromkeys(reversed(stack)) if name != place.source)
    diagnostics = Diagnostics()
    diagnostics.error("xacro", f"xacro: {_reason(error)}{within}{included}", place)
    return DescriptionError(diagnostics)


def _reason(error: Exception) -> str:
    """Return what an error says, in one line and once: xacro's own errors repeat those that they wrap."""
    texts = dict.fromkeys(_CLASS.sub("", " ".join(text.split())) for text in _parts(error))
    return " ".join(filter(None, texts)) or type(error).__name__


def _parts(error: Exception) -> Iterator[str]:
    """Yield what an error and those that it wraps say."""
    if not (hasattr(error, "exc") and hasattr(error, "suffix")):
        yield str(error)
        return
    for part in (*error.args, error.exc, error.suffix):
        if isinstance(part, Exception):
            yield from _parts(part)
        elif part is not None:
            yield str(part)


def _place_of(error: Exception, files: list[SourceMap]) -> Place | None:
    """Return where the element stands that xacro was at, the innermost of those that are known."""
    found: Place | None = None
    trace = error.__traceback__
    while trace is not None:
        frame, trace = trace.tb_frame, trace.tb_next
        node = frame.f_locals.get("node") or frame.f_locals.get("elt")
        # In `eval_all`, an element's attributes come before its children.
        in_attribute = frame.f_code.co_name == "eval_all" and "next" not in frame.f_locals
        attribute = frame.f_locals.get("name") if in_attribute else None
        if isinstance(node, minidom.Text):
            node, attribute = node.parentNode, None
        if isinstance(node, minidom.Element):
            mark = node.getUserData(_MARK) or node.getAttribute(_MARK).partition(":")[::2]
            if all(mark) or isinstance(mark[0], int):
                found = files[int(mark[0])].place(int(mark[1]), attribute)
    return found
