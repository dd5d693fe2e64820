# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Reading of a document's bytes and decoding to UTF-8 from any encoding."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics, SourcePlace
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.files import read_bounded

MAX_BYTES = 64 * 1024 * 1024
"""Longest text that is read [bytes]; the largest known real robot description is under 2 MB."""

_NO_CHARACTER_SETS = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape"})
"""Encodings of Python that no XML document uses; to decode a long text from them may take hours."""


def read_text(path: str | Path, *, foreign: bool = False) -> bytes:
    """Return a file's bytes; of a file that is too long, `MAX_BYTES` + 1 bytes, so that the caller detects it.

    Args:
        path: a file that the user names; it may be a pipe.
        foreign: True if another file names it; then only a regular file is read.

    Raises:
        DescriptionError: the file cannot be read.

    """
    try:
        if foreign:
            return read_bounded(path, MAX_BYTES)
        with Path(path).open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise refusal("unreadable", f"cannot be read: {reason}", SourcePlace(str(path))) from None


def utf8_of(text: str | bytes, source: str) -> bytes:
    """Return the text as UTF-8 without a byte-order mark, from any encoding.

    Raises:
        DescriptionError: the text is too large, empty or not decodable.

    """
    if len(text) > MAX_BYTES:
        raise too_large(source)
    utf8 = _as_utf8(text, source)
    if not utf8 or utf8.isspace():
        raise refusal("empty-document", "the text is empty", SourcePlace(source, 1, 1))
    return utf8


def _as_utf8(text: str | bytes, source: str) -> bytes:
    """Return the text as UTF-8 without a byte-order mark, from any encoding."""
    encoding = "utf-8"
    try:
        if isinstance(text, str):
            return text.removeprefix("\ufeff").encode()
        if text.startswith((b"\xff\xfe", b"\xfe\xff")):
            return text.decode("utf-16").encode()
        declared = re.match(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""", text)
        if declared:
            encoding = declared.group(1).decode()
        if text.isascii() and encoding.lower() in ("utf-8", "us-ascii", "ascii"):
            # Return the bytes unchanged: this saves two copies of a large file.
            return bytes(text)
        name = codecs.lookup(encoding).name.replace("-", "_")
        if name in _NO_CHARACTER_SETS:
            raise LookupError
        if name.startswith(("utf_16", "utf_32")):
            # The XML declaration was readable as single bytes, so the text is not in the declared encoding.
            message = f"the text is declared to be {encoding}, but it is not"
            raise refusal("not-decodable", message, SourcePlace(source, 1, 1))
        return text.decode(encoding).removeprefix("\ufeff").encode()
    except UnicodeDecodeError as error:
        line = column = 1
        if isinstance(text, bytes):
            before = text[: error.start].decode(error.encoding, "replace").removeprefix("\ufeff")
            line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        message = f"the text is not {error.encoding}: {error.reason}"
        raise refusal("not-decodable", message, SourcePlace(source, line, column)) from None
    except LookupError:
        message = f"the text is declared to be {encoding}, which is an unknown encoding"
        raise refusal("not-decodable", message, SourcePlace(source, 1, 1)) from None
    except UnicodeError as error:
        raise refusal("not-decodable", f"the text cannot be decoded: {error}", SourcePlace(source, 1, 1)) from None


def too_large(source: str) -> DescriptionError:
    """Return the error for a text longer than `MAX_BYTES`."""
    return refusal("too-large", f"the text is longer than {MAX_BYTES:,} bytes, the limit", SourcePlace(source))


def refusal(code: str, message: str, place: SourcePlace) -> DescriptionError:
    """Return the error for a text that cannot be read at all."""
    diagnostics = Diagnostics()
    diagnostics.error(code, message, place)
    return DescriptionError(diagnostics)
