# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Expansion of xacro files to XML documents, with places in the original files.

The `xacro` package runs in a separate process (`robot_semantics.xml.xacro_child`), which is killed if it needs too much
time or memory: xacro expressions are Python and can do everything that the user can. For this reason only files that
the user names are expanded, never files that another document names.

xacro forgets the origin of elements. Each element gets an attribute with its file and number before the expansion and
loses it afterwards.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lxml import etree

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import refusal
from robot_semantics.base.errors import DescriptionError, RobotSemanticsError
from robot_semantics.base.json_value import JsonObject
from robot_semantics.base.names import did_you_mean, quoted
from robot_semantics.base.pattern import pattern
from robot_semantics.base.record import record
from robot_semantics.xml.document import OddBytes, XmlDocument, is_macro
from robot_semantics.xml.numbers import number
from robot_semantics.xml.reader import parse_xml, read_xml
from robot_semantics.xml.source_map import SourceMap

if TYPE_CHECKING:
    import subprocess

    from robot_semantics.xml.xacro_child import XacroFailure

# Options of xacro expansion, as a value that every file reader takes.


SECONDS_VARIABLE = "ROBOT_SEMANTICS_XACRO_SECONDS"
"""Environment variable: time limit of an expansion [s]."""
MEMORY_VARIABLE = "ROBOT_SEMANTICS_XACRO_MEMORY_MB"
"""Environment variable: memory limit of an expansion [MB]."""


def _seconds() -> float:
    return _positive(SECONDS_VARIABLE, 60.0)


def _megabytes() -> int:
    return int(_positive(MEMORY_VARIABLE, 1024.0))


def _positive(variable: str, default: float) -> float:
    text = os.environ.get(variable, "")
    try:
        value = number(text) if text else default
    except ValueError:
        value = 0.0
    if value <= 0.0:
        raise RobotSemanticsError(f"the environment variable {variable} must be a positive number, not '{text}'")
    return value


@record(frozen=True, slots=True)
class XacroOptions:
    """Options of xacro expansion.

    Attributes:
        expand: True: expand; False: do not expand, and refuse a file called ``.xacro``; None: the file name decides.
        arguments: values of ``<xacro:arg>``.
        seconds: time limit [s]; by default 60, or the value of `SECONDS_VARIABLE`.
        foreign: True if another file names the file; then only a regular file is read.
        megabytes: memory limit beyond the needs of Python itself [MB]; by default 1024, or the value of
            `MEMORY_VARIABLE`.
        argument_names: the arguments that the expanded files have declared or used.
    """

    expand: bool | None = None
    arguments: Mapping[str, str] = field(default_factory=dict)
    seconds: float = field(default_factory=_seconds)
    megabytes: int = field(default_factory=_megabytes)
    foreign: bool = False
    argument_names: set[str] = field(default_factory=set, compare=False)

    @classmethod
    def of(cls, xacro: XacroOptions | bool | None, arguments: Mapping[str, str] | None = None) -> XacroOptions:
        """Return the options from a caller's value: options, or only a flag, with arguments."""
        return xacro if isinstance(xacro, XacroOptions) else cls(xacro, arguments or {})


NO_XACRO = XacroOptions(expand=False, seconds=60.0, megabytes=1024, foreign=True)
"""For files that another document names: their expressions must not run."""


FindPackage = Callable[[str], str]

_TAG_NAME = pattern(rb"<([^\s/>]+)")
_CHILD = "import sys; sys.path[:] = sys.argv[1:]; from robot_semantics.xml.xacro_child import main; main()"


_PYTHON_BYTES = 100_000_000
"""The memory that Python and xacro need themselves, where only the whole memory of a process is known."""
_WATCH_S = 0.05

_DEFINITIONS = {"macro", "property", "arg", "include"}
"""Elements of xacro that make nothing."""


class ExpandedPlaces(SourceMap):
    """Places of the elements of an expanded text in the original files."""

    def __init__(self, source: str, text: bytes, origins: list[tuple[int, int] | None], files: list[SourceMap]) -> None:
        super().__init__(source, text)
        self._origins = origins
        self._files = files

    def place(self, ordinal: int, attribute: str | None = None) -> SourcePlace:
        """Return the place of element number `ordinal` in its original file, with its path in the expanded text."""
        expanded = super().place(ordinal, attribute)
        origin = self._origins[ordinal] if 0 <= ordinal < len(self._origins) else None
        if origin is None:
            return SourcePlace(self.source, path=expanded.path)
        file, number = origin
        written = self._files[file].place(number, attribute)
        return SourcePlace(written.source, written.line, written.column, expanded.path)


def is_xacro(path: str | Path) -> bool:
    """Return True if a file is a xacro by its name."""
    return Path(path).suffix == ".xacro"


def read_expanded(
    path: str | Path,
    xacro: XacroOptions | None = None,
    find_package: FindPackage | None = None,
    *,
    streamed: bool = False,
) -> XmlDocument:
    """Read an XML file and expand it if requested; with `streamed`, a long file that is not expanded gets no tree.

    Raises:
        DescriptionError: as `expand_xacro`; or the file is called ``.xacro`` and expansion is off.
    """
    how = xacro or XacroOptions()
    by_name = is_xacro(path)
    if by_name if how.expand is None else how.expand:
        return expand_xacro(path, how, find_package)
    if by_name:
        reason = "a xacro can run code, so it is expanded only if a user names it: name the expanded file"
        raise refusal("xacro-not-expanded", reason, SourcePlace(str(path)))
    return read_xml(path, forgiving=True, foreign=how.foreign, streamed=streamed)


def expand_xacro(
    path: str | Path, xacro: XacroOptions | None = None, find_package: FindPackage | None = None
) -> XmlDocument:
    """Return the expanded document of the xacro file at `path`.

    `find_package` answers ``$(find name)``, by default from the ament index.

    Raises:
        DescriptionError: a file cannot be read or is not well-formed, a macro fails, the file only defines macros, or a
            limit is reached; the only diagnostic names the file.
    """
    how = xacro or XacroOptions()
    expansion = _Expansion(str(path), find_package)
    text = expansion.run(how)
    how.argument_names.update(expansion.argument_names)
    unused = {
        name: did_you_mean(name, expansion.argument_names) for name in sorted(set(how.arguments) - how.argument_names)
    }
    expanded = parse_xml(text, str(path), forgiving=True)
    if next(expanded.root.iterchildren("*"), None) is None:
        _refuse_definitions(expansion.files)
    document = _without_marks(expanded, expansion.files, unused)
    document.odd_bytes = expansion.odd_bytes
    return document


def _refuse_definitions(files: Sequence[SourceMap]) -> None:
    """Refuse a file, the first of `files`, that with those that it includes only defines macros for others to call.

    Raises:
        DescriptionError: it is one.
    """
    documents = [parse_xml(file.text, file.source, forgiving=True) for file in files]
    if not all(map(_makes_nothing, documents[0].root.iterchildren("*"))):
        return
    for document in documents:
        macros = [element for element in document.root.iter("*") if _xacro_tag(element) == "macro"]
        if macros:
            names = quoted((str(macro.get("name", "")) for macro in macros), 3)
            message = f"the file only defines macros, {names}; give the file that includes it and calls them"
            raise refusal("xacro", message, document.place(macros[0]))


def _makes_nothing(element: etree._Element) -> bool:
    """Return True for a definition of xacro, also one with a condition."""
    tag = _xacro_tag(element)
    return tag in _DEFINITIONS or (tag in ("if", "unless") and all(map(_makes_nothing, element.iterchildren("*"))))


def _xacro_tag(element: etree._Element) -> str:
    return etree.QName(element).localname if is_macro(element) else ""


class _Expansion:
    """One run of the child process, and the answers to its requests: marked files, and packages.

    Attributes:
        files: the files read.
        odd_bytes: the bytes in them that no XML has.
        argument_names: the arguments that these files declare or use.
    """

    def __init__(self, path: str, find_package: FindPackage | None) -> None:
        self.files: list[SourceMap] = []
        self.odd_bytes: tuple[OddBytes, ...] = ()
        self.argument_names: frozenset[str] = frozenset()
        self._path = path
        self._find_package = find_package
        self._refused: DescriptionError | None = None

    def run(self, how: XacroOptions) -> str:
        """Return the expanded text."""
        # Import here what only an expansion needs.
        import subprocess

        from robot_semantics.base.system import end_processes, ended_by_time, memory_of

        process = subprocess.Popen(
            [sys.executable, "-c", _CHILD, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Own session: Ctrl-C reaches only this process, and the child's own children can be killed with it.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        late, large = threading.Event(), threading.Event()

        def end() -> None:
            late.set()
            end_processes(process.pid)

        def watch_memory() -> None:
            while process.poll() is None and not large.is_set():
                if memory_of(process.pid) > how.megabytes * 1_000_000 + _PYTHON_BYTES:
                    large.set()
                    end_processes(process.pid)
                time.sleep(_WATCH_S)

        timer = threading.Timer(how.seconds, end)
        timer.daemon = True
        timer.start()
        try:
            result = self._talk(process, how, watch_memory)
        finally:
            timer.cancel()
            end_processes(process.pid)
            for pipe in (process.stdin, process.stdout):
                # Data for a child that has ended is useless.
                with suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]  # both are pipes
            process.wait()
        if "done" in result:
            self.argument_names = frozenset(result["asked"])
            return str(result["done"])
        code, reason, place = "xacro-limit", "", SourcePlace(self._path)
        if late.is_set() or ended_by_time(process.returncode):
            reason = f"not expanded after {how.seconds:g} s; {SECONDS_VARIABLE}=SECONDS raises this limit"
        elif large.is_set() or result.get("memory"):
            reason = f"it takes more than {how.megabytes} MB; {MEMORY_VARIABLE}=MB raises this limit"
        elif "failed" in result:
            code, (reason, place) = "xacro", self._failure(result["failed"])
        else:
            code, reason = "xacro", f"it ended with code {process.returncode}"
        raise refusal(code, f"xacro: {reason}", place)

    def _talk(
        self, process: subprocess.Popen[bytes], how: XacroOptions, watch_memory: Callable[[], None]
    ) -> dict[str, Any]:
        """Answer the child's requests until it has a result; return the result, empty if the child ends without one."""
        assert process.stdin is not None
        assert process.stdout is not None
        message: JsonObject = {
            "path": self._path,
            "arguments": dict(how.arguments),
            "seconds": how.seconds,
            "bytes": how.megabytes * 1_000_000,
            "find": self._find_package is not None,
        }
        while True:
            try:
                process.stdin.write(json.dumps(message).encode() + b"\n")
                process.stdin.flush()
                line = process.stdout.readline()
            except OSError:
                return {}
            request: dict[str, Any] = json.loads(line) if line.endswith(b"\n") else {}
            if "read" in request:
                message = self._read(str(request["read"]))
            elif "find" in request:
                message = self._find(str(request["find"]))
            elif "watch" in request:
                threading.Thread(target=watch_memory, daemon=True).start()
                message = {}
            else:
                return request

    def _read(self, file: str) -> JsonObject:
        try:
            document = read_xml(file, forgiving=True, foreign=file != self._path)
        except DescriptionError as error:
            self._refused = error
            return {"refused": str(error), "unreadable": error.diagnostics[0].code == "unreadable"}
        self.odd_bytes += document.odd_bytes
        # Import here what only an expanded file needs.
        from robot_semantics.xml.xacro_child import MARK

        text = document.places.text
        pieces = []
        last = 0
        for index, offset in enumerate(document.places.offsets):
            name = _TAG_NAME.match(text, offset)
            if name is None or name.group(1).startswith(b"xacro:"):
                continue
            pieces += [text[last : name.end()], f' {MARK}="{len(self.files)}:{index}"'.encode()]
            last = name.end()
        self.files.append(document.places)
        marked = b"".join([*pieces, text[last:]]).decode()
        return {"text": re.sub(r"^\s*<\?xml[^>]*\?>", "", marked), "file": len(self.files) - 1}

    def _find(self, name: str) -> JsonObject:
        assert self._find_package is not None
        try:
            return {"folder": self._find_package(name)}
        except (RobotSemanticsError, OSError) as error:
            return {"refused": str(error)}

    def _failure(self, failed: XacroFailure) -> tuple[str, SourcePlace]:
        """Return the reason and the place of a failure.

        Raises:
            DescriptionError: a file was refused.
        """
        stack = [name for name in failed["stack"] if name]
        if failed["refused"] and self._refused is not None:
            (problem,) = self._refused.diagnostics
            files = [name for name in reversed(stack) if name != problem.place.source]
            raise DescriptionError([replace(problem, message=problem.message + _included(files))])
        # The innermost macro is in the file that defines it, which may not be the file being read.
        place = SourcePlace(failed["macro_file"] or (stack[-1] if stack else self._path), *failed["line_column"])
        if failed["mark"]:
            file, number = map(int, failed["mark"].split(":"))
            place = self.files[file].place(number, failed["attribute"])
        # A recursive macro is on the stack a hundred times.
        within = "".join(f", in macro '{name}'" for name in dict.fromkeys(failed["macros"]))
        files = [name for name in dict.fromkeys(reversed(stack)) if name != place.source]
        return f"{failed['reason']}{within}{_included(files)}", place


def _included(files: list[str]) -> str:
    return "".join(f", included from {name}" for name in files)


def _without_marks(document: XmlDocument, files: list[SourceMap], unused: Mapping[str, str | None]) -> XmlDocument:
    from robot_semantics.xml.xacro_child import MARK

    origins: list[tuple[int, int] | None] = []
    for element in document.root.iter("*"):
        mark = str(element.attrib.pop(MARK, ""))
        if mark:
            file, number = mark.split(":")
            origins.append((int(file), int(number)))
        else:
            # Elements made by a macro have no place: use the place of the parent.
            parent = element.getparent()
            origins.append(origins[document.ordinal(parent)] if parent is not None else None)
    text = etree.tostring(document.root.getroottree(), encoding="utf-8")
    places = ExpandedPlaces(document.places.source, text, origins, files)
    return XmlDocument(document.root, places, document.undeclared_prefixes, unused_arguments=unused)
