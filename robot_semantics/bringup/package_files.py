# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The URDF, SRDF and YAML files of a folder, as MoveIt finds them in its configuration packages."""

from __future__ import annotations

import ntpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import islice
from pathlib import Path
from posixpath import normpath

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError, RobotSemanticsError
from robot_semantics.base.files import read_bounded, resolved
from robot_semantics.base.names import shown
from robot_semantics.base.pattern import pattern
from robot_semantics.base.record import record
from robot_semantics.base.yaml_reader import YamlNode, parse_yaml
from robot_semantics.bringup.checking import ENDINGS
from robot_semantics.model.resources import PackageResolver, ResourceNotFoundError, packages_below
from robot_semantics.xml.xacro import is_xacro

SETUP_ASSISTANT = ".setup_assistant"
MAX_FILES = 1_000
"""Largest number of YAML files of a folder."""

_FOLDERS = ("config", "urdf", "srdf", "robots")
_SUFFIX = "_moveit_config"
_MACROS = "_macro"
_PACKAGE_NAME = pattern(r"[A-Za-z0-9_-]+")
_SETUP_BYTES = 1 << 20


@record(frozen=True)
class FolderFiles:
    """Files of a folder; a URDF may be in another package.

    Attributes:
        xacro_arguments: of the URDF, from the ``.setup_assistant`` file.
        notes: reasons why a file is missing.
    """

    urdf: Path | None = None
    srdf: Path | None = None
    yaml: tuple[Path, ...] = ()
    xacro_arguments: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def files_of_folder(folder: Path, resolver: PackageResolver, *, expand: bool) -> FolderFiles:
    """Return the files of a MoveIt configuration package, or of a folder with configuration.

    A xacro runs code, so it is only taken if `expand` is True. Then the ``.urdf.xacro`` of the package, which has the
    additions for ros2_control, is taken before the URDF that ``.setup_assistant`` names.

    Raises:
        RobotSemanticsError: the folder has more than `MAX_FILES` YAML files.
    """
    setup = _setup(folder)
    named = _named(setup, "urdf")
    notes: list[str] = []
    stated = _stated_urdf(named, folder, resolver, notes)
    names = (folder.name.removesuffix(_SUFFIX), _stem(stated))
    urdfs, srdfs = list(_candidates(folder, "urdf", notes)), list(_candidates(folder, "srdf", notes))
    extended = _chosen([path for path in urdfs if is_xacro(path)], names) if expand else None
    urdf = extended or _usable(stated, expand) or _chosen([path for path in urdfs if _usable(path, expand)], names)
    stated_srdf = _inside(folder, _text(_named(setup, "srdf"), "relative_path"), notes)
    usable = [path for path in srdfs if _usable(path, expand)]
    srdf = _usable(stated_srdf, expand) or _chosen(usable, (*names, _stem(urdf)))
    if urdf is None:
        notes += _not_taken("URDF", [*urdfs, *filter(None, [stated])], expand)
    if srdf is None:
        notes += _not_taken("SRDF", srdfs, expand)
    words = (word.partition(":=") for word in _text(named, "xacro_args").split() if ":=" in word)
    arguments = {name: value for name, _, value in words} if urdf == stated else {}
    yaml = tuple(_yaml_files(folder, notes))
    return FolderFiles(urdf, srdf, yaml, arguments, tuple(notes))


def _usable(path: Path | None, expand: bool) -> Path | None:
    return path if path is not None and (expand or not is_xacro(path)) else None


def _not_taken(what: str, known: Sequence[Path], expand: bool) -> Iterator[str]:
    """Yield the reason why none of the known files is taken."""
    if known:
        is_refused = not expand and all(map(is_xacro, known))
        advice = "add --xacro to expand it" if is_refused else f"name the {what} to check"
        yield f"no {what} of {', '.join(path.name for path in known)} is taken: {advice}"


def _setup(folder: Path) -> YamlNode | None:
    """Return the content of the Setup Assistant's file; None if it does not exist or cannot be read."""
    try:
        text = read_bounded(folder / SETUP_ASSISTANT, _SETUP_BYTES)
        # The Setup Assistant writes some keys twice.
        return parse_yaml(text, SETUP_ASSISTANT, warnings=Diagnostics()).get("moveit_setup_assistant_config")
    except (OSError, DescriptionError):
        return None


def _named(setup: YamlNode | None, key: str) -> YamlNode | None:
    return None if setup is None else setup.get(key) or setup.get(key.upper())


def _text(node: YamlNode | None, key: str) -> str:
    found = None if node is None else node.get(key)
    return "" if found is None else found.text


def _stated_urdf(named: YamlNode | None, folder: Path, resolver: PackageResolver, notes: list[str]) -> Path | None:
    """Return the URDF that the Setup Assistant's file names: a file of this package or of another one."""
    package, inside = _text(named, "package"), _text(named, "relative_path")
    if not inside:
        return None
    if package and not _PACKAGE_NAME.fullmatch(package):
        notes.append(f"package '{shown(package)}' in {SETUP_ASSISTANT} is not the name of a package")
        return None
    try:
        root = _package(package, folder, resolver) if package else folder
    except RobotSemanticsError:
        notes.append(
            f"package '{shown(package)}' with the URDF '{shown(inside)}' is not found; --package-path names its folder"
        )
        return None
    path = _inside(root, inside, notes)
    if path is None:
        notes.append(f"the URDF '{shown(inside)}' does not exist in package '{shown(package)}'")
    return path


def _package(name: str, folder: Path, resolver: PackageResolver) -> Path:
    """Return the folder of a package: one that the resolver knows, or one beside `folder`.

    Raises:
        ResourceNotFoundError: there is no such package.
    """
    try:
        return resolver.package(name)
    except ResourceNotFoundError:
        for parent in (folder.absolute().parent, resolved(folder).parent):
            beside = parent / name if (parent / name).is_dir() else packages_below(str(parent), 1).get(name)
            if beside is not None:
                return Path(beside)
        raise


def _inside(folder: Path, relative: str, notes: list[str]) -> Path | None:
    """Return an existing file below a folder; None for a path that leaves the folder.

    A symbolic link is followed to any place: ``colcon build --symlink-install`` fills packages with links.
    """
    path = normpath(relative)
    # By the rules of Windows too, on every system: packages are shared.
    drive, rest = ntpath.splitdrive(ntpath.normpath(relative))
    if relative and (drive or rest.startswith("\\") or ".." in (path.split("/")[0], rest.split("\\")[0])):
        notes.append(f"the path '{shown(relative)}' in {SETUP_ASSISTANT} leaves its package")
        return None
    return folder / path if relative and (folder / path).is_file() else None


def _is_read(path: Path, notes: list[str]) -> bool:
    """Return True for a regular file; a pipe or a device of a folder is not read, and `notes` says so."""
    if path.is_file():
        return True
    if path.exists() and not path.is_dir():
        notes.append(f"'{path}' is a pipe or a device, so it is not read; name it to read it")
    return False


def _candidates(folder: Path, kind: str, notes: list[str]) -> Iterator[Path]:
    """Yield the files of a kind in a folder and in its usual folders, plain and xacro, but no files of macros."""
    for place in (folder, *(folder / name for name in _FOLDERS)):
        yield from (path for path in sorted(place.glob(f"*.{kind}")) if _is_read(path, notes))
        xacros = (path for path in sorted(place.glob(f"*.{kind}.xacro")) if _is_read(path, notes))
        yield from (path for path in xacros if not _stem(path).endswith(_MACROS))


def _chosen(paths: Sequence[Path], names: Sequence[str]) -> Path | None:
    """Return the only path, or the only one with one of the names."""
    if len(paths) == 1:
        return paths[0]
    for name in filter(None, names):
        fitting = [path for path in paths if _stem(path) == name]
        if len(fitting) == 1:
            return fitting[0]
    return None


def _stem(path: Path | None) -> str:
    return "" if path is None else path.name.partition(".")[0]


def _yaml_files(folder: Path, notes: list[str]) -> Iterator[Path]:
    """Yield the YAML files of a folder: of a package, those in its folder ``config``."""
    config = folder / "config"
    root = config if config.is_dir() else folder
    found = (path for ending in ENDINGS for path in root.rglob(f"*{ending}"))
    inside = (path for path in found if not any(part.startswith(".") for part in path.relative_to(root).parts))
    files = list(islice((path for path in inside if _is_read(path, notes)), MAX_FILES + 1))
    if len(files) > MAX_FILES:
        raise RobotSemanticsError(f"'{root}' has more than {MAX_FILES:,} YAML files; name the files to check")
    yield from sorted(files)
