# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Child process that expands one xacro file for `robot_semantics.xml.xacro`, within its limits.

The two processes exchange lines of JSON. The child requests files and packages on standard output, reads the answers
from standard input, and finally sends the result. It needs only xacro, psutil and Python's library, to start quickly.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any, TypedDict
from xml.dom import minidom
from xml.parsers import expat

from robot_semantics.base.pattern import pattern
from robot_semantics.base.system import limit_this_process, unlimit_this_process

MARK = "robot_semantics_came_from"
_CLASS = pattern(r"<class '[^']*'>:? ?")
_NO_VALUE = pattern(r"Undefined substitution argument (\w+)")
_OF_AN_ELEMENT = ("eval_all", "grab_macro", "grab_property", "handle_macro_call", "process_include")
_CHECKS = ("check_attrs", "reqd_attrs")


class RefusedError(Exception):
    """The parent process could not read a file; it knows the reason."""


class ParentConnection:
    """The connection to the parent process."""

    def __init__(self) -> None:
        # Prints of expressions must not mix with messages: they go to standard error.
        self._in: IO[str] = os.fdopen(os.dup(0), "r", encoding="utf-8")
        self._out: IO[str] = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)

    def receive(self) -> dict[str, Any]:
        """Return the next message."""
        line = self._in.readline()
        if not line:
            # The parent process has ended, or has given up.
            os._exit(0)
        message: dict[str, Any] = json.loads(line)
        return message

    def send(self, message: Mapping[str, object]) -> None:
        """Send a message."""
        self._out.write(json.dumps(message) + "\n")
        self._out.flush()

    def request(self, what: str, name: str) -> dict[str, Any]:
        """Send a request; return the answer."""
        self.send({what: name})
        return self.receive()


class XacroFailure(TypedDict):
    """Why xacro failed, and where: ``mark`` names an element, ``line_column`` a place in the innermost file."""

    reason: str
    refused: bool
    mark: str
    attribute: str | None
    line_column: tuple[int, int] | tuple[()]
    macros: list[str]
    macro_file: str | None
    stack: list[str]


class XacroPosition:
    """The element that xacro is processing; after a failure it is the failed element."""

    def __init__(self, xacro: Any) -> None:
        self.element: minidom.Node | None = None
        self.around: minidom.Node | None = None
        # The outermost text that is being evaluated.
        self.text: object = None
        self._depth = 0
        for name in _OF_AN_ELEMENT:
            setattr(xacro, name, self._followed(getattr(xacro, name), whole=name == "eval_all"))
        for name in _CHECKS:
            setattr(xacro, name, self._noticed(getattr(xacro, name)))
        xacro.eval_text = self._evaluating(xacro.eval_text)

    def _followed(self, function: Callable[..., object], whole: bool) -> Callable[..., object]:
        def follow(element: minidom.Node, *rest: object, **options: object) -> object:
            before = self.element, self.around
            self.element = element
            if whole:
                self.around = element
            result = function(element, *rest, **options)
            self.element, self.around = before
            return result

        return follow

    def _noticed(self, function: Callable[..., object]) -> Callable[..., object]:
        def notice(element: minidom.Node, *rest: object) -> object:
            self.element = element
            return function(element, *rest)

        return notice

    def _evaluating(self, function: Callable[..., object]) -> Callable[..., object]:
        def evaluate(text: object, symbols: object) -> object:
            if not self._depth:
                self.text = text
            self._depth += 1
            try:
                value = function(text, symbols)
            finally:
                self._depth -= 1
            if not self._depth:
                self.text = None
            return value

        return evaluate

    def found(self) -> tuple[str, str | None]:
        """Return the mark of the current element, and the attribute that is evaluated, if any."""
        element, around = self.element, self.around
        if element is not around and around is not None and self._is_text_of(around):
            element = around
        while element is not None and not isinstance(element, minidom.Element):
            element = element.parentNode
        attribute = None
        if element is not None and element is around:
            attribute = next((name for name, value in element.attributes.items() if value == self.text), None)
        mark = "" if element is None else element.getUserData(MARK) or element.getAttribute(MARK)
        return mark, attribute

    def _is_text_of(self, element: minidom.Node) -> bool:
        return any(isinstance(node, minidom.Text) and node.data == self.text for node in element.childNodes)


class _Inherited:
    """DOM handler that gives copies of a node, as in a macro's body, the data of the node."""

    def handle(self, operation: int, key: str, data: object, source: object, copy: minidom.Node | None) -> None:
        """Copy the data; the DOM calls this for every copy."""
        if copy is not None:
            copy.setUserData(key, data, self)


def main() -> None:
    """Expand the file that the first message names."""
    channel = ParentConnection()
    request = channel.receive()
    import xacro
    import xacro.substitution_args

    position = XacroPosition(xacro)
    _read_through(channel, xacro)
    if request["find"]:
        _find_through(channel, xacro.substitution_args)
    if not limit_this_process(request["seconds"], request["bytes"]):
        channel.request("watch", "memory")
    try:
        arguments = _Arguments(request["arguments"])
        text = xacro.process_file(request["path"], mappings=arguments).toxml()
        result = {"done": text, "asked": sorted(arguments.used_names)}
    except BaseException as error:  # noqa: BLE001  # An expression may raise anything: a problem of the document.
        unlimit_this_process()
        result = {"memory": True} if _is_of(error, MemoryError) else {"failed": _failure(error, xacro, position)}
    channel.send(result)


class _Arguments(dict[str, str]):
    """The given arguments; xacro adds arguments with a default.

    Attributes:
        used_names: the names that the file declares or uses.
    """

    def __init__(self, given: dict[str, str]) -> None:
        super().__init__(given)
        self.used_names: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.used_names.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.used_names.add(name)
        return super().__getitem__(name)


def _read_through(channel: ParentConnection, xacro: Any) -> None:
    """Let the parent process read files and mark their elements."""
    own = xacro.parse

    def parse(given: object, filename: str | None = None) -> object:
        if given is not None or filename is None:
            return own(given, filename)
        answer = channel.request("read", filename)
        if "refused" in answer:
            if not answer["unreadable"]:
                raise RefusedError(answer["refused"])
            # An optional include may be missing; xacro removes such a file from its list itself.
            xacro.filestack.pop()
            raise xacro.XacroException(exc=_MissingError(answer["refused"]))
        dom = minidom.parseString(answer["text"].encode())
        for number, element in enumerate(dom.getElementsByTagName("*")):
            if element.tagName.startswith("xacro:"):
                element.setUserData(MARK, f"{answer['file']}:{number}", _Inherited())
        return dom

    xacro.parse = parse


class _MissingError(OSError, RefusedError):
    """A file that cannot be read at all."""


def _find_through(channel: ParentConnection, substitution: Any) -> None:
    """Let the parent process find packages."""

    def find(package: str) -> str:
        answer = channel.request("find", package)
        if "refused" in answer:
            raise LookupError(answer["refused"])
        return str(answer["folder"])

    substitution._eval_find = substitution._eval_dict["find"] = find


def _failure(error: BaseException, xacro: Any, position: XacroPosition) -> XacroFailure:
    macros = list(reversed(xacro.macrostack or []))
    mark, attribute = position.found()
    is_syntax = isinstance(error, expat.ExpatError)
    return {
        "reason": _reason(error),
        "refused": _is_of(error, RefusedError),
        "mark": "" if is_syntax else mark,
        "attribute": attribute,
        "line_column": (error.lineno, error.offset + 1) if isinstance(error, expat.ExpatError) else (),
        "macros": [macro.body.getAttribute("name") for macro in macros],
        "macro_file": next((str(macro.history[-1][-1]) for macro in macros if macro.history), None),
        "stack": list(xacro.filestack or []),
    }


def _is_of(error: BaseException | None, kind: type[BaseException]) -> bool:
    """Return True if an error, or an error that it wraps, is of this type."""
    while error is not None:
        if isinstance(error, kind):
            return True
        error = getattr(error, "exc", None)
    return False


def _reason(error: BaseException) -> str:
    """Return the text of an error in one line, without repetition: xacro's errors repeat the errors that they wrap."""
    texts = dict.fromkeys(_CLASS.sub("", " ".join(text.split())) for text in _parts(error))
    said = " ".join(filter(None, texts)) or type(error).__name__
    return _NO_VALUE.sub(r"argument '\1' has neither a value nor a default: give \1:=VALUE", said)


def _parts(error: BaseException) -> Iterator[str]:
    """Yield the texts of an error and of the errors that it wraps."""
    if not (hasattr(error, "exc") and hasattr(error, "suffix")):
        yield str(error)
        return
    for part in (*error.args, error.exc, error.suffix):
        if isinstance(part, BaseException):
            yield from _parts(part)
        elif part is not None:
            yield str(part)
