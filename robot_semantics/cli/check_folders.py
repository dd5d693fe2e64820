# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Folders among the files of `check`: their URDF, SRDF and YAML files replace them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.files import resolved
from robot_semantics.bringup.checking import is_yaml
from robot_semantics.bringup.package_files import FolderFiles, files_of_folder
from robot_semantics.model.resources import PackageResolver
from robot_semantics.xml.document_kind import DocumentKind, kind_of


def without_folders(arguments: argparse.Namespace) -> None:
    """Replace each folder in ``files`` by its files, and say which.

    A folder adds a URDF (SRDF) only if none is given. Also set ``found_files``, the xacro arguments of each file that a
    folder has, and ``own_files``, the files that ``--fix`` may change: not a URDF of another package.

    Raises:
        RobotSemanticsError: a folder has no file to check.
    """
    named = [name for name in arguments.files if not Path(name).is_dir()]
    folders = [Path(name) for name in arguments.files if Path(name).is_dir()]
    kinds = {kind_of(name) for name in named if not is_yaml(name)} if folders else set()
    given = {
        "URDF": bool(arguments.urdf) or DocumentKind.URDF in kinds,
        "SRDF": bool(arguments.srdf) or DocumentKind.SRDF in kinds,
    }
    found: dict[str, Mapping[str, str]] = {}
    own = list(named)
    for folder in folders:
        files = files_of_folder(folder, PackageResolver(arguments.package_path), expand=arguments.xacro)
        taken = _taken(folder, files, given)
        known = {resolved(name) for name in (*named, *found)}
        for path in (path for paths in taken.values() for path in paths if resolved(path) not in known):
            found[str(path)] = files.xacro_arguments if path == files.urdf else {}
            if resolved(folder) in resolved(path).parents:
                own.append(str(path))
    arguments.files = [*named, *found]
    arguments.found_files, arguments.own_files = found, own


def _taken(folder: Path, files: FolderFiles, given: Mapping[str, bool]) -> dict[str, list[Path]]:
    """Return the files of a folder to check, by kind; print them, and why others are not checked."""
    taken = {
        "URDF": [] if given["URDF"] or files.urdf is None else [files.urdf],
        "SRDF": [] if given["SRDF"] or files.srdf is None else [files.srdf],
        "YAML": list(files.yaml),
    }
    if not any(taken.values()):
        reason = "; ".join(("it has no URDF, SRDF or YAML file", *files.notes))
        raise RobotSemanticsError(f"'{folder}' cannot be checked: {reason}")
    for kind, paths in taken.items():
        if paths:
            inside = [str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path) for path in paths]
            print(f"note: {folder}: {kind}: {', '.join(inside)}", file=sys.stderr)
    for note in files.notes if not all(given.values()) else ():
        print(f"note: {folder}: {note}", file=sys.stderr)
    return taken
