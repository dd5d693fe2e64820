# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Description files beside the snapshots that name them; each file is named by the hash of its content."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote

from lxml import etree

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.files import declared_utf8, read_bounded
from robot_semantics.base.pattern import pattern
from robot_semantics.model.resources import PackageResolver, ResourceNotFoundError
from robot_semantics.usdf.identity import sha256_of
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.xml.xacro import is_xacro

_DIGITS = 16
_HASH_NAME = pattern(rf"[0-9a-f]{{{_DIGITS}}}\.(urdf|srdf)")


class DamagedDescriptionError(RobotSemanticsError):
    """The content of a description file is not the content that its name states."""


class Texts(NamedTuple):
    """A robot's URDF and its SRDF; the SRDF is empty if the robot has none."""

    urdf: str
    srdf: str


def hash_name(text: str, suffix: str) -> str:
    """Return the file name of a description: 16 digits of the SHA-256 of its content, then `suffix`."""
    return f"{_hash(declared_utf8(text).encode())}{suffix}"


def is_hash_name(name: str) -> bool:
    """Return whether a file name is one that `hash_name` makes."""
    return _HASH_NAME.fullmatch(name) is not None


def check_content(path: Path, max_bytes: int) -> None:
    """Compare the content of a description file with the hash in its name; a file with another name is not read.

    Raises:
        DamagedDescriptionError: they differ. The message has both hashes.
        OSError: the file cannot be read, is not a regular file, or has more than `max_bytes`.
    """
    if is_hash_name(path.name) and (found := _hash(read_bounded(path, max_bytes))) != path.stem:
        raise DamagedDescriptionError(
            f"{path}: the content was changed after the file was saved: its hash is {found}, "
            f"its name states {path.stem}; save the snapshot again, or restore the file from a backup"
        )


def check_descriptions(state: WorldState, file: Path, max_bytes: int) -> None:
    """Compare the description files that the state of a file names by their hash with these hashes.

    A file that does not exist passes: its reader reports it.

    Raises:
        DamagedDescriptionError: a content has another hash.
        OSError: a file cannot be read, is not a regular file, or has more than `max_bytes`.
    """
    named = {name for model in state.models for name in (model.description, model.semantic) if name is not None}
    resolver = PackageResolver()
    for uri in sorted(uri for uri in named if is_hash_name(_file_name(uri))):
        with suppress(ResourceNotFoundError):
            check_content(resolver.resolve(uri, file), max_bytes)


def _file_name(uri: str) -> str:
    """Return the last part of a path or URI. A URI may have escapes, such as ``%61`` for ``a``."""
    return PurePosixPath(unquote(uri)).name


def described_beside(state: WorldState, texts: Mapping[str, Texts]) -> tuple[WorldState, dict[str, bytes]]:
    """Return a state whose models name their description files, and the contents of these files by name.

    A model that already names a description keeps it.
    """
    models = []
    files: dict[str, bytes] = {}
    for model in state.models:
        found = texts.get(model.name)
        if found is None or model.description is not None:
            models.append(model)
            continue
        names = []
        for text, suffix in ((found.urdf, ".urdf"), (found.srdf, ".srdf")):
            name = hash_name(text, suffix) if text.strip() else None
            names.append(name)
            if name is not None:
                files[name] = declared_utf8(text).encode()
        models.append(replace(model, description=names[0], semantic=names[1]))
    return replace(state, models=tuple(models)), files


def copied_beside(state: WorldState, max_bytes: int) -> tuple[WorldState, dict[str, bytes]]:
    """Return a state whose absolute paths of descriptions are replaced by names of copies, and the copies.

    A model keeps a path if the file cannot be read, is not well-formed XML, is xacro, or has relative paths of meshes.
    """
    models = []
    files: dict[str, bytes] = {}
    for model in state.models:
        names = []
        for uri, suffix in ((model.description, ".urdf"), (model.semantic, ".srdf")):
            content = _portable_content(uri, max_bytes)
            names.append(uri if content is None else f"{_hash(content)}{suffix}")
            if content is not None:
                files[str(names[-1])] = content
        models.append(replace(model, description=names[0], semantic=names[1]))
    return replace(state, models=tuple(models)), files


def _portable_content(uri: str | None, max_bytes: int) -> bytes | None:
    """Return the content of a description with an absolute path; None if its meaning depends on its place."""
    if uri is None or not Path(uri).is_absolute() or is_xacro(uri):
        return None
    try:
        content = read_bounded(uri, max_bytes)
    except OSError:
        return None
    attributes = _attributes(content)
    if attributes is None or any(name == "filename" and not _is_absolute(value) for name, value in attributes):
        return None
    return content


def _is_absolute(uri: str) -> bool:
    return "://" in uri or uri.startswith("/") or Path(uri).is_absolute() or not uri.strip()


def named_descriptions(text: bytes) -> set[str] | None:
    """Return the hash names in the attributes of a USDF text, without folders; None if the text is not well-formed."""
    attributes = _attributes(text)
    return None if attributes is None else {name for _, value in attributes if is_hash_name(name := _file_name(value))}


def _attributes(text: bytes) -> list[tuple[str, str]] | None:
    """Return names and values of all attributes of an XML text; None if it is not well-formed."""
    attributes: list[tuple[str, str]] = []
    try:
        for _, element in etree.iterparse(BytesIO(text), events=("start",), resolve_entities=False, no_network=True):
            attributes.extend((str(name), str(value)) for name, value in element.attrib.items())
    except etree.XMLSyntaxError:
        return None
    return attributes


def _hash(content: bytes) -> str:
    return sha256_of(content)[:_DIGITS]
