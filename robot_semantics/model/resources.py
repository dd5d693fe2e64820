# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Search for the files that a description names by ``package://``, ``model://``, ``file://`` or a relative path.

The resolver is a replaceable object: every function that looks up files takes one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path, PurePath, PureWindowsPath
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from lxml import etree

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.files import read_bounded
from robot_semantics.base.names import NameComparisons, did_you_mean
from robot_semantics.base.pattern import pattern
from robot_semantics.urdf.tree import Mesh, UrdfRobot

_MANIFEST_BYTES = 2**20

CRAWL_DEPTH = 5
"""Depth below a search path to which packages are searched by their package.xml."""

MODEL_PATH_VARIABLES = ("GZ_SIM_RESOURCE_PATH", "IGN_GAZEBO_RESOURCE_PATH", "GAZEBO_MODEL_PATH")


_OF_WINDOWS = pattern(r"(file:/*)?[A-Za-z]:[\\/]|\\\\")
_DRIVE = pattern(r"/[A-Za-z]:(?:/|$)")
AnyPath = TypeVar("AnyPath", bound=PurePath)
_LARGE_FOLDER = 10_000
"""Entries of a folder in which no similar name is searched."""


class ResourceNotFoundError(RobotSemanticsError):
    """A file that a description names was not found.

    Attributes:
        uri: the requested file.
        tried: every path or search that failed, in order.
        nearest: `uri` with the letters of a file that exists; None without a similar file.
    """

    def __init__(self, uri: str, tried: Iterable[str], nearest: str | None = None) -> None:
        self.uri = uri
        self.tried = tuple(dict.fromkeys(tried))
        self.nearest = nearest
        places = f"tried {', '.join(self.tried) or 'nothing: no search path is set'}"
        if os.name != "nt" and _OF_WINDOWS.match(uri):
            places = "it is a Windows path; write package://PACKAGE/FILE, or a path relative to this file"
        elif nearest is not None:
            places = f"did you mean '{nearest}'?"
        super().__init__(f"'{uri}' is not found; {places}")


class PackageResolver:
    """Search for packages and files, in this order: given paths, ROS_PACKAGE_PATH, ament index, the description's
    folders.

    To search elsewhere, make a subclass that overrides `package_candidates` (or `resolve`).
    """

    def __init__(self, package_paths: Sequence[str | Path] = (), environment: Mapping[str, str] | None = None) -> None:
        """Take folders that are packages or contain packages, and the environment, by default of the process."""
        # Absolute paths: the results may be used from another folder, for example by an included xacro.
        self.package_paths = tuple(Path(path).absolute() for entry in package_paths for path in listed_paths(entry))
        self._environment = os.environ if environment is None else environment
        self._comparisons = NameComparisons()

    def resolve(self, uri: str, relative_to: str | Path | None = None) -> Path:
        """Return the file that `uri` names in a description at `relative_to`.

        Raises:
            ResourceNotFoundError: it does not exist; the error lists what was tried.
        """
        tried: list[str] = []
        paths: list[Path] = []
        slashed = uri
        for path in self._files(uri, None if relative_to is None else Path(relative_to), tried):
            if _exists(path.is_file):
                return path
            tried.append(str(path))
            paths.append(path)
        if "\\" in uri:
            slashed, paths = uri.replace("\\", "/"), [Path(str(path).replace("\\", "/")) for path in paths]
        nearest = (_with_letters_of(slashed, path, self._similar_file(path)) for path in paths)
        raise ResourceNotFoundError(uri, tried, next(filter(None, nearest), None))

    def _similar_file(self, path: Path) -> Path | None:
        """Return the file whose path differs in the case of letters, else that of a similar name in the same folder."""
        similar = Path(path.anchor or ".")
        for number, part in enumerate(path.parts[1 if path.anchor else 0 :], 1 if path.anchor else 0):
            is_last = number == len(path.parts) - 1
            if not _exists((similar / part).is_file if is_last else (similar / part).is_dir):
                names = _names_in(similar)
                same = [name for name in names if name.casefold() == part.casefold()]
                if not same and is_last:
                    same = self._similar_names(part, names)
                if len(same) != 1:
                    return None
                similar /= same[0]
            else:
                similar /= part
        return similar if _exists(similar.is_file) else None

    def _similar_names(self, file: str, names: list[str]) -> list[str]:
        """Return the name of a file that resembles another one with the same ending; empty without one."""
        ending = Path(file).suffix.casefold()
        files = {Path(name).stem: name for name in names if Path(name).suffix.casefold() == ending}
        nearest = did_you_mean(Path(file).stem, files) if self._comparisons.allow(files) else None
        return [] if nearest is None else [files[nearest]]

    def package(self, name: str, relative_to: str | Path | None = None) -> Path:
        """Return the folder of a package.

        Raises:
            ResourceNotFoundError: it does not exist; the error lists what was tried.
        """
        tried: list[str] = []
        for path in self.package_candidates(name, None if relative_to is None else Path(relative_to), tried):
            if _exists(path.is_dir):
                return path
            tried.append(str(path))
        raise ResourceNotFoundError(f"package://{name}", tried)

    def package_candidates(self, name: str, relative_to: Path | None, tried: list[str]) -> Iterator[Path]:
        """Yield folders that may be the package; add failed searches to `tried`."""
        for root in (*self.package_paths, *self._path_list("ROS_PACKAGE_PATH")):
            if root.name == name:
                yield root
            yield root / name
            package_folder = packages_below(str(root)).get(name)
            if package_folder is not None:
                yield Path(package_folder)
            else:
                tried.append(f"a package.xml of '{name}' below {root}")
        for prefix in self._path_list("AMENT_PREFIX_PATH"):
            yield prefix / "share" / name
        if relative_to is not None:
            for folder in relative_to.absolute().parents:
                if folder.name == name:
                    yield folder
                if folder != Path(folder.anchor):
                    yield folder / name
            # In a source checkout, a folder often has a different name than its package.
            above = relative_to.absolute().parents
            own_package = next((folder for folder in above if _exists((folder / "package.xml").is_file)), None)
            if own_package is not None and own_package.parent != Path(own_package.anchor):
                package_folder = packages_below(str(own_package.parent), 1).get(name)
                if package_folder is not None:
                    yield Path(package_folder)
                else:
                    tried.append(f"a package.xml of '{name}' beside {own_package}")

    def _files(self, uri: str, relative_to: Path | None, tried: list[str]) -> Iterator[Path]:
        try:
            parts = urlsplit(uri)
        except ValueError:
            tried.append("nothing: this is no URI")
            return
        inside = unquote(parts.path).lstrip("/")
        if parts.scheme in ("package", "model"):
            for folder in self.package_candidates(parts.netloc, relative_to, tried):
                yield folder / inside
            if parts.scheme == "model":
                for variable in MODEL_PATH_VARIABLES:
                    for folder in self._path_list(variable):
                        yield folder / parts.netloc / inside
        elif parts.scheme == "file":
            for path in paths_of_uri(unquote(parts.netloc), unquote(parts.path), Path):
                yield from _relative(path, relative_to)
        elif parts.scheme in ("http", "https", "ftp"):
            tried.append("nothing: the network is never used")
        else:
            yield from _relative(Path(uri), relative_to)

    def _path_list(self, variable: str) -> tuple[Path, ...]:
        return tuple(Path(entry).absolute() for entry in self._environment.get(variable, "").split(os.pathsep) if entry)


def listed_paths(entry: str | Path, separator: str = os.pathsep) -> list[str | Path]:
    """Return the folders of an entry: one, or a list with the separator of the system or, on every system, ``;``."""
    if isinstance(entry, Path) or _exists(Path(entry).exists):
        return [entry]
    return [path for part in entry.split(";") for path in part.split(separator) if path] or [entry]


def paths_of_uri(host: str, path: str, kind: Callable[[str], AnyPath]) -> Iterator[AnyPath]:
    """Yield the files that ``file://HOST/PATH`` may mean on the system of `kind`, percent-encoding removed."""
    on_windows = isinstance(kind("."), PureWindowsPath)
    if host in ("", "localhost"):
        # "/C:/robots/r.urdf": the slash belongs to the URI.
        yield kind(path[1:] if on_windows and _DRIVE.match(path) else path)
        return
    # "file://meshes/a.stl" is wrong but common: a relative path after the two slashes.
    yield kind(host + path)
    if on_windows and not host.endswith(":"):
        yield kind(f"//{host}{path}")


def check_resources(
    robot: UrdfRobot, resolver: PackageResolver, diagnostics: Diagnostics, relative_to: str | Path | None = None
) -> None:
    """Warn about each missing mesh and texture; `relative_to` is the description's own file."""

    def check(kind: str, filename: str, place: SourcePlace) -> None:
        try:
            resolver.resolve(filename, relative_to)
        except ResourceNotFoundError as error:
            diagnostics.warning(f"missing-{kind}", f"{kind} {error}", place)

    materials = list(robot.materials)
    for link in robot.links:
        materials += [visual.material for visual in link.visuals if visual.material is not None]
        geometries = [visual.geometry for visual in link.visuals] + [shape.geometry for shape in link.collisions]
        for mesh in geometries:
            if isinstance(mesh, Mesh):
                check("mesh", mesh.filename, robot.places.place(mesh.ordinal, "filename"))
    for material in materials:
        if material.texture is not None:
            check("texture", material.texture, robot.places.place(material.ordinal))


def _with_letters_of(uri: str, path: Path, similar: Path | None) -> str | None:
    """Return the URI of `path` with the names of a similar path; None without one."""
    if similar is None:
        return None
    for written, name in zip(reversed(path.parts), reversed(similar.parts), strict=False):
        before, found, after = uri.rpartition(written)
        if written != name and not found:
            return str(similar)
        if written != name:
            uri = f"{before}{name}{after}"
    return uri


def _names_in(folder: Path) -> list[str]:
    try:
        names = [entry.name for entry in folder.iterdir()]
    except (OSError, ValueError):
        return []
    return sorted(names) if len(names) <= _LARGE_FOLDER else []


def _exists(ask: Callable[[], bool]) -> bool:
    try:
        return ask()
    except (OSError, ValueError):
        # An impossible file name, or a folder without permission.
        return False


def _relative(path: Path, relative_to: Path | None) -> Iterator[Path]:
    if path.is_absolute() or relative_to is None:
        yield path
    else:
        yield relative_to.absolute().parent / path


@lru_cache(maxsize=32)
def packages_below(root: str, depth: int = CRAWL_DEPTH) -> Mapping[str, str]:
    """Return name → folder of packages to `depth` below `root`, without hidden, build and COLCON_IGNORE'd folders."""
    folder_of: dict[str, str] = {}
    base = len(Path(root).parts)
    for folder, folders, files in os.walk(root):
        if "package.xml" in files and (name := _package_name(Path(folder) / "package.xml")):
            folder_of.setdefault(name, folder)
            folders.clear()
            continue
        if "COLCON_IGNORE" in files or len(Path(folder).parts) - base >= depth:
            folders.clear()
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in ("build", "log"))
    return folder_of


def _package_name(manifest: Path) -> str | None:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        name = etree.fromstring(read_bounded(manifest, _MANIFEST_BYTES), parser).findtext("name")
    except (OSError, etree.XMLSyntaxError):
        return None
    return name.strip() if name else None
