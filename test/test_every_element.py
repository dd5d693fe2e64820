# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Every element and attribute of the tables, and every YAML section, in every operation: used, kept, or listed why not.

A cell is used or kept if another value gives another result. Each other cell is in `NOT_USED` with a sentence, and the
page of the operation has this sentence. A new attribute fails until its document has it, and each operation uses it.
"""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from lxml import etree
from PIL import Image
from pygls.workspace import PositionCodec
from scipy.spatial.transform import Rotation
from support.every_element import (
    AXES_TEXT,
    CUP_TEXT,
    SRDF_TEXT,
    TEXTS,
    URDF_TEXT,
    USDF_TEXT,
    Row,
    changed,
    rows,
    text_of,
)

from robot_semantics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import LinkPair
from robot_semantics.bringup import checking, ros2_controllers
from robot_semantics.bringup.checking import check_texts
from robot_semantics.bringup.configuration import SectionKind
from robot_semantics.cli.main import main
from robot_semantics.lsp.answers import Answers, CommandParts, facts, symbols
from robot_semantics.lsp.checking import Checker
from robot_semantics.lsp.workspace import EditorSettings, Workspace
from robot_semantics.model.loading import load_robot
from robot_semantics.srdf.edit import SrdfText
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.saved_descriptions import Texts
from robot_semantics.usdf.snapshots import SnapshotStore
from robot_semantics.usdf.table import NAMESPACE
from robot_semantics.viewer.edit_session import EditSession
from robot_semantics.viewer.opening import Opening, open_files
from robot_semantics.viewer.scene_data import scene_bytes

ROOT = Path(__file__).parent.parent
TRIANGLES = ("0 0 0", "{0} 0 0", "0 {0} 0"), ("0 0 {0}", "0 0 0", "{0} 0 0"), ("0 0 {0}", "{0} 0 0", "0 {0} 0")
FACET = "facet normal 0 0 1\nouter loop\nvertex {}\nvertex {}\nvertex {}\nendloop\nendfacet\n"
STL = f"solid s\n{''.join(FACET.format(*corners) for corners in TRIANGLES)}endsolid s\n"


def without_noise(result: str) -> str:
    """Return a result without what is no use of a value: a digest in a message, and the speed of a simulation."""
    return re.sub(r"[0-9a-f]{12}…|[\d.]+ times real time", "", result)


class Files(NamedTuple):
    """A folder with the documents of one robot and its world."""

    folder: Path

    @property
    def urdf(self) -> Path:
        return self.folder / "r.urdf"

    @property
    def srdf(self) -> Path:
        return self.folder / "r.srdf"

    @property
    def usdf(self) -> Path:
        return self.folder / "w.usdf"

    def run(self, *words: str | Path, output: str = "") -> str:
        """Run a command; return its exit code, its texts and the content of its output file, without the folder."""
        out, err = io.StringIO(), io.StringIO()
        path = self.folder / output
        if output:
            path.unlink(missing_ok=True)
            words = (*words, "-o", path)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(list(map(str, words)))
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 1
        text = path.read_text() if output and path.is_file() else ""
        result = f"{code}\n{out.getvalue()}\n{err.getvalue()}\n{text}".replace(str(self.folder), "FOLDER")
        return without_noise(result)


def robot_of(files: Files) -> tuple[str | Path, ...]:
    return "--urdf", f"{files.urdf},{files.srdf}"


def check(files: Files) -> str:
    return files.run("check", files.urdf, files.srdf, files.usdf, "--all")


OLDER = (
    '<link name="old"/><joint name="old" type="fixed"><parent link="e"><origin xyz="0 0 1"/></parent>'
    '<child link="old"/></joint></robot>'
)


def upgrade(files: Files) -> str:
    old = files.folder / "old.urdf"
    old.write_text(files.urdf.read_text().replace("</robot>", OLDER))
    return files.run("upgrade", old)


def diff(files: Files) -> str:
    """Compare with the unchanged documents."""
    if files.usdf.read_text() != USDF_TEXT:
        return files.run("diff", files.folder / "first.usdf", files.usdf)
    first = f"{files.folder / 'first.urdf'},{files.folder / 'first.srdf'}"
    return files.run("diff", first, f"{files.urdf},{files.srdf}")[0]


def compose(files: Files) -> str:
    base = files.folder / "base.urdf"
    base.write_text('<robot name="base" version="1.2"><link name="root"/></robot>')
    (files.folder / "base.srdf").write_text('<robot name="base"/>')
    words = ("--at", "root", "--prefix", "p_", "--force")
    robots = f"{base},{files.folder / 'base.srdf'}", f"{files.urdf},{files.srdf}"
    text = files.run("compose", *robots, *words, "--samples", "20", output="both.urdf")
    return text + (files.folder / "both.srdf").read_text() if text.startswith("0") else text


def rename(files: Files) -> str:
    urdf, srdf = files.folder / "renamed.urdf", files.folder / "renamed.srdf"
    urdf.write_text(files.urdf.read_text())
    srdf.write_text(files.srdf.read_text())
    said = files.run("srdf", "rename", srdf, "link", "d", "new", "--urdf", urdf, "--in-urdf", "--in-place")
    return said + urdf.read_text() + srdf.read_text()


def new(files: Files) -> str:
    words = ("usdf", "new", f"{files.urdf},{files.srdf}", "--state", "r/arm/home")
    # The type of the virtual joint decides which poses it takes.
    lifted = files.run(*words, "--pose", "r=0 0 0.5 0 0 0", output="lifted.usdf")
    return files.run(*words, output="new.usdf") + lifted


def edit(files: Files) -> str:
    words = ("usdf", "edit", files.usdf, "--joint", "r/j=0.7", *robot_of(files))
    return files.run(*words, output="edited.usdf")


def resolve(files: Files) -> str:
    return files.run("usdf", "resolve", files.usdf, *robot_of(files), "--json")


def merge(files: Files) -> str:
    other = files.folder / "other.usdf"
    other.write_text("<world_state><frame name='q'><pose>0 0 0 0 0 0</pose></frame></world_state>")
    return files.run("usdf", "merge", files.usdf, other, "--any-time", output="merged.usdf")


def split(files: Files) -> str:
    text = files.run("usdf", "split", files.usdf, "-o", files.folder / "parts", "--force", *robot_of(files))
    return text + "".join(path.read_text() for path in sorted((files.folder / "parts").glob("*.usdf")))


def convert(files: Files) -> str:
    return files.run("usdf", "convert", files.usdf, "--to", "json") + files.run(
        "usdf", "convert", files.usdf, "--to", "sdformat", *robot_of(files)
    )


SAVED: list[str] = []
"""The documents of the last folder of snapshots."""


def snapshot(files: Files) -> str:
    SAVED.clear()
    store = SnapshotStore(files.folder / "snapshots")
    urdf, srdf = files.urdf.read_text(), files.srdf.read_text()
    try:
        state = parse_world(files.usdf.read_text())
        store.save("stated", state, overwrite=True)
        models = tuple(replace(model, description=None, semantic=None, urdf_sha256=None) for model in state.models)
        texts = {model.name: Texts(urdf, srdf) for model in models}
        store.save("described", replace(state, models=models), overwrite=True, texts=texts)
    except RobotSemanticsError as error:
        return repr(error)
    paths = sorted((path.name, path) for path in (files.folder / "snapshots").rglob("*") if path.is_file())
    found = "".join(name + path.read_text() for name, path in paths)
    SAVED.extend(path.read_text() for name, path in paths if not name.endswith(".json"))
    shutil.rmtree(files.folder / "snapshots")
    return found


def sim_run(files: Files) -> str:
    """Restore the state into a simulator, and go on from there."""
    return files.run("sim", "run", files.usdf, "--steps", "2", "--partial", output="end.usdf")


def drake(files: Files) -> str:
    return files.run("sim", "run", files.usdf, "--engine", "drake", "--steps", "2", "--partial", output="end.usdf")


def bag_export(files: Files) -> str:
    """Record the world, and read it from the recording."""
    bag = files.folder / "bag"
    return files.run("bag", files.usdf, "-o", bag, "--force") + files.run("export", bag, output="back.usdf")


def studio(files: Files) -> str:
    """Make a step on the SRDF; return the problems and the robot that the page shows, and the saved text."""
    saved_text = files.folder / "saved.srdf"
    saved_text.unlink(missing_ok=True)
    try:
        session = EditSession(load_robot(files.urdf, strict=False), SrdfText.from_file(files.srdf), saved_text)
        session.change("a pair", lambda text: text.disable_collisions({LinkPair.of("a", "d"): "User"}))
        session.save()
        scene = open_files([files.urdf, saved_text], Opening(kinds=("visual", "collision")), Diagnostics())
    except RobotSemanticsError as error:
        return repr(error)
    said = "\n".join(map(str, session.problems))
    return f"{said}{zlib.decompress(scene_bytes(scene))!r}{saved_text.read_text()}".replace(str(files.folder), "FOLDER")


def language_server(files: Files) -> str:
    """Return the problems and the outline of the open documents, and what the server says about each name."""
    workspace = Workspace([str(files.folder)], EditorSettings(), PositionCodec())
    paths = (files.urdf, files.srdf, files.usdf)
    for path in paths:
        workspace.put(str(path), path.read_text(), 1)
    workspace.is_stale = False
    answers = Answers(Checker(workspace), CommandParts(lambda *_: None, str, lambda _: list))
    said: list[object] = []
    for path in paths:
        document = workspace.open[str(path)]
        said += [*map(str, answers.problems(document)), symbols(document)]
        robot = answers.checker.robot(document)
        said += [list(facts(robot, use.kinds[0], use.name)) for use in document.uses if robot is not None]
    return repr(said).replace(str(files.folder), "FOLDER")


def sim_export(files: Files) -> str:
    return files.run("sim", "export", files.usdf, "--partial", "--force", output="model.xml")


def view(files: Files) -> str:
    try:
        scene = open_files([files.usdf], Opening(kinds=("visual", "collision")), found := Diagnostics())
    except RobotSemanticsError as error:
        return repr(error)
    return repr(zlib.decompress(scene_bytes(scene, problems=found)))


OPERATIONS: dict[str, tuple[Callable[[Files], str], str]] = {
    "check": (check, "urdf srdf usdf"),
    "upgrade": (upgrade, "urdf"),
    "diff": (diff, "urdf srdf usdf"),
    "compose": (compose, "urdf srdf"),
    "rename": (rename, "urdf srdf"),
    "new": (new, "urdf srdf"),
    "edit": (edit, "urdf srdf usdf"),
    "resolve": (resolve, "urdf srdf usdf"),
    "merge": (merge, "usdf"),
    "split": (split, "usdf"),
    "convert": (convert, "usdf"),
    "snapshot": (snapshot, "urdf srdf usdf"),
    "sim_run": (sim_run, "urdf srdf usdf"),
    "sim_export": (sim_export, "urdf srdf usdf"),
    "view": (view, "urdf srdf usdf"),
    "bag_export": (bag_export, "urdf srdf usdf"),
    "studio": (studio, "urdf srdf"),
    "drake": (drake, "urdf srdf usdf"),
    "language_server": (language_server, "urdf srdf usdf"),
}
ONE_OF_EACH = ("sim_run", "drake", "language_server")
"""Operations that look at one row of each element only; with `--cases`, all do."""

PAGES = {
    "check": "check.md",
    "diff": "diff.md",
    "compose": "compose.md",
    "new": "usdf.md",
    "edit": "usdf.md",
    "resolve": "usdf.md",
    "split": "usdf.md",
    "sim_run": "simulation.md",
    "sim_export": "simulation.md",
    "view": "view.md",
    "bag_export": "bags.md",
    "drake": "simulation.md",
    "studio": "view.md",
    "language_server": "editors.md",
}

LOOKS = ("robot/link/visual/*", "robot/link/visual@name", "robot/link/collision@name", "robot/material*")
CALIBRATION = ("robot/joint/calibration@*",)
BODIES = ("robot/link/inertial/*", "robot/link/collision/*", "robot/joint/dynamics@*", "robot/joint/limit@*")
SAFETY = ("robot/joint/safety_controller@*",)
ENGINES = ("world_state/rs:engine*",)
STATES = ("robot/group*", "robot/end_effector*")
PAIRS = ("robot/*able_*collisions*", "robot/link_sphere_approximation*", "robot/joint_property*", "robot@version")

_NO_POSE = (
    "Looks, names of visual and collision elements, masses, inertias, collision geometry, calibration, "
    "dynamics, limits and gains change no pose."
)
_NO_STATE = "Looks, names of visual and collision elements, and calibration are not part of a state."
_OF_SRDF = (
    "Of an SRDF, a state uses the virtual joint, the passive joints and, for `--state`, the groups and their "
    "states; end effectors, collision pairs, spheres, joint properties and the version change nothing."
)
_WORLD_TEXT = (
    "The name, the time, the comment, ages, efforts, the robot's files and engine states of a world change no pose."
)
_NOT_SIMULATED = (
    "Looks, names of visual and collision elements, calibration, gains of the safety controller, and limits of "
    "velocity, acceleration and jerk are not simulated."
)
_SRDF_SIMULATED = (
    "Of an SRDF, a simulation uses the virtual joint, the passive joints and the collision pairs; groups, "
    "states, end effectors, spheres, joint properties and reasons change nothing."
)
_WORLD_SIMULATED = (
    "Wrenches, torques, the name, the comment, the hash, ages of frames, and engine states of other programs "
    "change no simulation."
)
_NOT_DRAWN = (
    "The page has no calibration, names of visual and collision elements and of materials, twists, velocities, "
    "efforts, ages, comments and engine states; of an SRDF, it has neither name and version nor the reasons of "
    "enabled pairs."
)

Reasons = dict[str, tuple[str, ...]]
NOT_USED: dict[str, Reasons] = {
    "check": {
        "Free texts have no wrong value: names of visual and collision elements, the version of an SRDF, the reasons "
        "of pairs, the values of joint properties, the name and the comment of a world, and the content of engine "
        "states.": (
            *("robot@version", "*collisions@reason", "robot/joint_property@value"),
            *("robot/link/visual@name", "robot/link/collision@name"),
            *("world_state@name", "world_state/rs:comment/text()", *ENGINES),
        )
    },
    "diff": {
        "looks: visual geometry, materials, colours and textures": LOOKS,
        "the name and version of the robot, and the names of visual and collision elements": (
            *("robot@name", "robot@version", "robot/link/collision@name"),
        ),
        "other names of links, joints and constraints": ("robot/constraint@name",),
        "the reasons of collision pairs": ("*collisions@reason",),
        "another way to list the same members of a group": ("robot/group/*",),
    },
    "compose": {
        "The name of the part's robot and the version of its SRDF are left out.": ("robot@name", "robot@version"),
        "Virtual joints of the part are left out, because the fixed joint replaces them.": ("robot/virtual_joint@*",),
    },
    "new": {_NO_STATE: (*LOOKS, *CALIBRATION), _OF_SRDF: (*STATES, *PAIRS)},
    "edit": {
        _NO_POSE: (*LOOKS, *CALIBRATION, *BODIES, *SAFETY, "robot/constraint@name"),
        _OF_SRDF: (*STATES, *PAIRS, "robot/virtual_joint@parent_frame"),
        "A pose that is stated is taken as it is stated, whatever the virtual joint's type.": (
            "robot/virtual_joint@type",
        ),
        "**edit** moves the stated links behind a changed joint.": ("world_state/model_state/link_state/*",),
        "It drops the age of the joint and the engine states": ("world_state/model_state/joint_state@rs:age", *ENGINES),
    },
    "resolve": {
        _NO_POSE: (*LOOKS, *CALIBRATION, *BODIES, *SAFETY, "robot/constraint@name"),
        _OF_SRDF: (*STATES, *PAIRS, "robot/virtual_joint@parent_frame"),
        "A pose that is stated is taken as it is stated, whatever the virtual joint's type.": (
            "robot/virtual_joint@type",
        ),
        _WORLD_TEXT: (
            *("world_state@name", "world_state@rs:time", "world_state/rs:comment/text()", "*@rs:age", *ENGINES),
            *("*model_state@rs:description", "*model_state@rs:semantic", "*model_state@rs:hash", "*/torques/text()"),
        ),
    },
    "split": {"**split** leaves out engine states, which belong to the whole world.": ENGINES},
    "sim_run": {
        _NOT_SIMULATED: (*LOOKS, *CALIBRATION),
        _SRDF_SIMULATED: (*STATES, *PAIRS),
        _WORLD_SIMULATED: (
            *("world_state/rs:comment/text()", "*model_state@rs:hash", "*/wrench/text()", "*/torques/text()", *ENGINES),
        ),
    },
    "sim_export": {
        _NOT_SIMULATED: (*LOOKS, *CALIBRATION, *SAFETY, "robot/joint/limit@*"),
        _SRDF_SIMULATED: (*STATES, *PAIRS),
        _WORLD_SIMULATED: (
            *("world_state@name", "world_state/rs:comment/text()", "*model_state@rs:hash", "*/wrench/text()"),
            *("*/torques/text()", "world_state/frame@rs:*", *ENGINES),
        ),
    },
    "view": {
        _NOT_DRAWN: (
            *("robot/link/visual@name", "robot/link/visual/material@name"),
            *(
                "robot/link/visual@name",
                "robot/link/collision@name",
                *CALIBRATION,
                "robot@name",
                "robot@version",
                "robot/enable_collisions@reason",
            ),
            *(
                "robot/group/link@name",
                "world_state/rs:comment/text()",
                "*@rs:age",
            ),
            *("*/twist/text()", "*/velocities/text()", "*/torques/text()", *ENGINES),
        ),
        "A texture that is not drawn, as on a box, is a warning.": ("robot/link/visual/material/texture@filename",),
    },
    "bag_export": {
        "A recording has no name, version, comment and hash of a world, no twists of frames, no poses and twists of "
        "links beside those of the joints, no wrenches and no engine states.": (
            *("world_state@name", "world_state@rs:version", "world_state/rs:comment/text()", "*model_state@rs:hash"),
            *("*link_state/pose@rs:quaternion", "*link_state/twist/text()", "*/wrench/text()"),
            *("world_state/frame/twist/text()", *ENGINES),
        ),
    },
    "drake": {
        _NOT_SIMULATED: (*LOOKS, *CALIBRATION),
        _SRDF_SIMULATED: (*STATES, *PAIRS),
        _WORLD_SIMULATED: (
            *("world_state/rs:comment/text()", "*model_state@rs:hash", "*/wrench/text()", "*/torques/text()", *ENGINES),
        ),
        "Drake cannot continue with a universal constraint whose point cannot move, such as that of two shafts in "
        "fixed bearings.": ("robot/constraint/*_axis@xyz",),
    },
    "studio": {
        "The page has no masses, inertias, dynamics, gains, calibration, limits of velocity, effort, acceleration and "
        "jerk, and no names of visual and collision elements, materials and constraints.": (
            *("robot/link/inertial/*", "robot/joint/dynamics@*", "robot/joint/limit@*", *CALIBRATION),
            *("robot/joint/safety_controller@k_*", "robot@version", "robot/link/visual@name"),
            *("robot/link/collision@name", "robot/*material@name", "robot/constraint@name"),
        ),
        "A texture that is not drawn, as on a box, is a warning.": ("robot/*material/texture@filename",),
    },
    "language_server": {
        "The name and the comment of a world are free texts: they have no problems and are not in the outline.": (
            *("world_state/rs:comment/text()", "world_state@name"),
        ),
    },
}
"""For each operation: the sentence of its page, and the rows that it explains; a pattern may also fit used rows."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("every")
    for name, size in (("one.stl", 0.1), ("two.stl", 0.2)):
        (folder / name).write_text(STL.format(size))
    for name, colour in (("one.png", "red"), ("two.png", "blue")):
        Image.new("RGB", (2, 2), colour).save(folder / name)
    (folder / "cup.urdf").write_text(CUP_TEXT)
    return Files(folder)


def put(files: Files, kind: str, text: str) -> None:
    """Write the documents, one of them changed."""
    for other, path in (("urdf", files.urdf), ("srdf", files.srdf), ("usdf", files.usdf)):
        path.write_text(text if other == kind else TEXTS[other][1])


@pytest.fixture
def few_rows(request: pytest.FixtureRequest) -> bool:
    return request.config.getoption("--cases") is not None


def rows_of(kind: str, one_of_each: bool) -> list[Row]:
    """Return all rows of a kind, or the first of each element."""
    found = list(rows(kind))
    return list({row.path: row for row in reversed(found)}.values()) if one_of_each else found


def explained(operation: str, row: str) -> bool:
    patterns = [pattern for found in NOT_USED.get(operation, {}).values() for pattern in found]
    return any(fnmatchcase(row, pattern) for pattern in patterns)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_element_is_used_or_kept_or_listed(operation: str, files: Files, few_rows: bool) -> None:
    cells = Cells(operation, files)
    tried = [
        (kind, row)
        for kind in OPERATIONS[operation][1].split()
        for row in rows_of(kind, few_rows or operation in ONE_OF_EACH)
    ]
    unused = [str(row) for kind, row in tried if not explained(operation, str(row)) and cells.is_unused(kind, row)]
    assert unused == []
    # A sentence that explains no unused row is out of date; the first unused row of a sentence is enough.
    reasons: Reasons = {} if few_rows else NOT_USED.get(operation, {})
    for sentence, patterns in reasons.items():
        explaining = [(kind, row) for kind, row in tried if any(fnmatchcase(str(row), p) for p in patterns)]
        assert any(cells.is_unused(kind, row) for kind, row in explaining), sentence


class Cells:
    """The rows of the documents in one operation."""

    def __init__(self, operation: str, files: Files) -> None:
        self._operation = operation
        self._files = files
        self._results: dict[tuple[str, str], str] = {}

    def is_unused(self, kind: str, row: Row) -> bool:
        """Return True if the second value of a row gives the same result."""
        before = text_of(kind, row)
        for other, (_, text) in TEXTS.items():
            (self._files.folder / f"first.{other}").write_text(before if other == kind else text)
        if (kind, before) not in self._results:
            self._results[kind, before] = self._result(kind, before)
            assert self._result(kind, before) == self._results[kind, before], (
                "the operation has another result each time"
            )
        # `check` and the editor find values that are wrong.
        values = (None, "§", "") if self._operation in ("check", "language_server") else (None,)
        first = self._results[kind, before]
        return all(self._result(kind, changed(kind, row, value)) == first for value in values)

    def _result(self, kind: str, text: str) -> str:
        return _result(self._files, kind, text, self._operation)


DOCUMENTS: dict[tuple[str, str, str], list[str]] = {}
"""The documents that came out, by operation, kind and text, so that no operation runs twice."""


def _result(files: Files, kind: str, text: str, operation: str) -> str:
    put(files, kind, text)
    result = OPERATIONS[operation][0](files)
    if operation in KEEPING:
        DOCUMENTS[operation, kind, text] = KEEPING[operation][0](files, result)
    return result


@pytest.mark.parametrize("operation", NOT_USED)
def test_the_page_of_an_operation_says_what_it_does_not_use(operation: str) -> None:
    page = " ".join((ROOT / "doc" / PAGES[operation]).read_text(encoding="utf-8").split())
    assert [sentence for sentence in NOT_USED[operation] if sentence not in page] == []


# YAML: every section and key in `check` and in the editor.

_CONTROLLER = "c: {{type: FollowJointTrajectory, action_ns: a, joints: [j], {}}}"
YAML: dict[SectionKind, dict[str, str]] = {
    SectionKind.JOINT_LIMITS: {
        **{
            key: f"joint_limits: {{j: {{{key}: §}}}}"
            for key in checking.KEYS
            if key in checking.DOUBLES or "has_" in key
        },
        **{key: f"{key}: §\njoint_limits: {{j: {{}}}}" for key in checking.SCALING},
        "joint": "joint_limits: {§: {}}",
        "key": "joint_limits: {j: {§: 1.0}}",
    },
    SectionKind.CARTESIAN_LIMITS: {key: f"cartesian_limits: {{{key}: §}}" for key in checking.CARTESIAN},
    SectionKind.KINEMATICS: {
        **{key: f"arm: {{kinematics_solver: k/KDL, {key}: §}}" for key in checking.SOLVER_DOUBLES},
        "group": "§: {kinematics_solver: k/KDL}",
    },
    SectionKind.PLANNERS: {"group": "§: {planner_configs: [RRT]}"},
    SectionKind.MOVEIT_CONTROLLERS: {
        "controller_names": "m: {controller_names: [§], c: {type: GripperCommand, action_ns: a, joints: [j]}}",
        "type": "m: {controller_names: [c], c: {type: §, action_ns: a, joints: [j]}}",
        "action_ns": "m: {controller_names: [c], c: {type: GripperCommand, §: a, joints: [j]}}",
        "joints": "m: {controller_names: [c], c: {type: GripperCommand, action_ns: a, joints: [§]}}",
        "joints of controller_list": "controller_list: [{name: c, joints: [§]}]",
    },
    SectionKind.CONTROLLERS: {
        **{key: f"c: {{ros__parameters: {{{key}: [§]}}}}" for key in ros2_controllers.JOINT_KEYS},
        **{
            f"gains {key}": "controller_manager: {ros__parameters: {c: {type: a/JointTrajectoryController}}}\n"
            f"c: {{ros__parameters: {{joints: [j], gains: {{j: {{{key}: §}}}}}}}}"
            for key in ros2_controllers.GAINS
        },
        "gains": "c: {ros__parameters: {joints: [j], gains: {§: {p: 1.0}}}}",
        "constraints": "c: {ros__parameters: {joints: [j], constraints: {§: {goal: 1.0}}}}",
        "goal_time": "controller_manager: {ros__parameters: {c: {type: a/JointTrajectoryController}}}\n"
        "c: {ros__parameters: {joints: [j], constraints.goal_time: §}}",
    },
    SectionKind.INITIAL_POSITIONS: {"joint": "initial_positions: {§: 0.0}", "value": "initial_positions: {j: §}"},
    SectionKind.SENSORS: {"sensors": "sensors: [§]\nkinect: {sensor_plugin: a}"},
}
"""For each section and key, a text in which a value is wrong at the mark."""


def test_every_section_has_rows() -> None:
    assert YAML.keys() == set(SectionKind)


@pytest.mark.parametrize(("section", "key"), [(section, key) for section, found in YAML.items() for key in found])
def test_every_key_of_a_yaml_file_is_checked(section: SectionKind, key: str) -> None:
    text = YAML[section][key]
    line, column = (
        text[: text.index("§")].count("\n") + 1,
        text.index("§") - (text.rfind("\n", 0, text.index("§")) + 1) + 1,
    )
    found = check_texts({"r.urdf": URDF_TEXT, "r.srdf": SRDF_TEXT, "c.yaml": text.replace("§", "wrong")})
    rows = {(item.place.line, item.place.column) for item in found if item.place.source == "c.yaml"}
    assert (line, column) in rows or any(row[0] == line for row in rows), found


# Kept: the documents that come out have the value at its place.


def read(files: Files, *names: str) -> list[str]:
    """Return the texts of files that exist, and delete them."""
    paths = [files.folder / name for name in names if (files.folder / name).exists()]
    texts = [path.read_text() for path in paths]
    for path in paths:
        path.unlink()
    return texts


def upgraded(_: Files, result: str) -> list[str]:
    text = f"<robot{result.partition('<robot')[2].partition('</robot>')[0]}</robot>"
    return [text] if result.startswith("0") else []


def renamed(files: Files, result: str) -> list[str]:
    found = read(files, "renamed.urdf", "renamed.srdf")
    return found if result.startswith("0") else []


def parts(files: Files, _: str) -> list[str]:
    return read(files, *(f"parts/{path.name}" for path in sorted((files.folder / "parts").glob("*.usdf"))))


def saved(_: Files, __: str) -> list[str]:
    return list(SAVED)


KEEPING: dict[str, tuple[Callable[[Files, str], list[str]], str]] = {
    "upgrade": (upgraded, "urdf"),
    "compose": (lambda files, _: read(files, "both.urdf", "both.srdf"), "urdf srdf"),
    "rename": (renamed, "urdf srdf"),
    "edit": (lambda files, _: read(files, "edited.usdf"), "usdf"),
    "merge": (lambda files, _: read(files, "merged.usdf"), "usdf"),
    "split": (parts, "usdf"),
    "snapshot": (saved, "urdf srdf usdf"),
    "studio": (lambda files, _: read(files, "saved.srdf"), "srdf"),
}
"""Operations with documents as results, and the kinds of documents that come out as they were put in."""


def plain_value(value: str) -> str | tuple[float, ...]:
    """Return a text without the form of its numbers."""
    try:
        return tuple(map(float, value.split()))
    except ValueError:
        return value.strip()


def values_at(kind: str, row: Row, texts: list[str]) -> list[str | tuple[float, ...]]:
    """Return all values at a row of documents of a kind, by lxml."""
    found: list[str | tuple[float, ...]] = []
    for text in texts:
        root = etree.fromstring(text.encode())
        if etree.QName(root).localname != row.path.partition("/")[0]:
            continue
        path = row.path.partition("/")[2]
        for element in root.findall(path, {"rs": NAMESPACE}) if path else [root]:
            value = element.text if row.name == "text()" else element.get(TEXTS[kind][0].key(row.name))
            if value is not None:
                found.append(plain_value(value))
    return found


ALTERED = {
    # The prefix, and the group with the virtual joint of the part.
    "compose": ("robot/group/joint@name",),
    # The joint that the command sets.
    "edit": ("world_state/model_state/joint_state/positions/text()",),
    # The parent outside of a part is named as a frame of the world.
    "split": ("*model_state@rs:parent_link", "*model_state/parent/text()"),
}
"""Rows whose values an operation changes on purpose."""
OTHER_FORM = {"compose": "p_{}", "split": "../{}"}
"""Form in which an operation writes names: with the prefix of the part; of files, from the folder of the parts."""
RENAMED = {"rename": {"d": "new"}}


@pytest.mark.parametrize("operation", KEEPING)
def test_what_is_kept_comes_out_at_its_place(operation: str, files: Files, few_rows: bool) -> None:
    (_, kinds), lost, changes, tried = KEEPING[operation], list[str](), 0, 0
    for kind in kinds.split():
        for row in rows_of(kind, few_rows):
            if explained(operation, str(row)):
                continue
            tried += 1
            # A second value may be an error, and then nothing comes out.
            for text in (changed(kind, row), text_of(kind, row)):
                if (operation, kind, text) not in DOCUMENTS:
                    _result(files, kind, text, operation)
                if texts := DOCUMENTS[operation, kind, text]:
                    break
            changes += text != text_of(kind, row)
            if any(fnmatchcase(str(row), p) for p in ALTERED.get(operation, ())):
                continue
            left = Counter(values_at(kind, row, texts))
            for value in values_at(kind, row, [text]):
                forms = [value, RENAMED.get(operation, {}).get(str(value), value)]
                forms += [OTHER_FORM[operation].format(value)] if operation in OTHER_FORM else []
                found = next((form for form in forms if left[form]), None)
                if found is None:
                    lost.append(f"{row} {value}")
                else:
                    left[found] -= 1
    assert lost == []
    # Most second values are no error.
    assert changes > 0.5 * tried


# The axes of a universal constraint turn the shafts; the poses of the links by their definition.


@pytest.mark.parametrize("row", [row for row in rows("urdf") if "_axis" in row.path], ids=str)
@pytest.mark.parametrize("second", [False, True])
def test_the_axes_of_a_universal_constraint_stay_perpendicular(row: Row, second: bool, files: Files) -> None:
    text = changed("urdf", row) if second else AXES_TEXT
    put(files, "urdf", text)
    new(files)
    (model,) = parse_world((files.folder / "new.usdf").read_text()).models
    angles = {joint.name: joint.positions for joint in model.joints}
    assert angles["j"] == (0.5,)
    axis = np.array([0.0, 0.6, 0.8])
    turned = {
        link: Rotation.from_euler("x", tilt) * Rotation.from_rotvec(axis * np.array(angles[joint]))
        for joint, link, tilt in (("j", "b", 0.1), ("l", "d", 0.4), ("m", "e", -0.3))
    }
    constraints = etree.fromstring(text.encode()).findall("constraint")
    assert [constraint.get("type") for constraint in constraints] == ["universal", "universal"]
    for constraint in constraints:
        sides = []
        for side in ("parent", "child"):
            link, direction = constraint.find(side), constraint.find(f"{side}_axis")
            assert link is not None
            assert direction is not None
            sides.append(turned[link.get("link", "")].apply(np.fromstring(direction.get("xyz", ""), sep=" ")))
        assert sides[0] @ sides[1] == pytest.approx(0.0, abs=1e-9)
