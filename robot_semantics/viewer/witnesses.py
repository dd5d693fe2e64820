# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Poses in which links collide: from the report of a collision matrix, and found during the work on an SRDF."""

from __future__ import annotations

import errno
import json
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple
from weakref import WeakKeyDictionary, proxy

from robot_semantics.base.diagnostic import Severity, SourcePlace
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.files import read_bounded, read_named, save_bytes
from robot_semantics.base.names import LinkPair
from robot_semantics.collision.poses import PoseCollisions
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.kinematics.joint_space import JointSpace, with_state
from robot_semantics.model.queries import PairCause, PairStatus, pair_status
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.viewer.edit_session import EditSession
from robot_semantics.viewer.scene import Scene, closed_pose
from robot_semantics.viewer.scene_data import CollisionWitness
from robot_semantics.xml.reader import MAX_BYTES

if TYPE_CHECKING:
    from robot_semantics.collision.matrix import CollisionMatrix
    from robot_semantics.collision.shapes import Piece


def witnesses(scene: Scene, path: Path) -> tuple[CollisionWitness, ...]:
    """Return the colliding pairs of a report, each in its deepest known collision, rarest first.

    Args:
        scene: the scene; the first robot with the links is the colliding one.
        path: the report of ``robot_semantics collisions generate --report``.

    Raises:
        RobotSemanticsError: the file is of another kind, or no robot has its links.
        OSError: it cannot be read.
    """
    candidates: list[tuple[float, CollisionWitness]] = []
    try:
        for pair in json.loads(read_named(path, 8 * MAX_BYTES))["pairs"]:
            witness = pair.get("deepest") or pair.get("first")
            if witness is None:
                continue
            positions = {str(name): float(value) for name, value in witness["positions"].items()}
            text = f"{pair['hits']} of {pair['samples']} samples, {pair['reason'] or 'checked'}"
            item: CollisionWitness = {
                "actor": "",
                "link1": str(pair["link1"]),
                "link2": str(pair["link2"]),
                "positions": positions,
                "text": text,
            }
            candidates.append((pair["fraction"] or 0.0, item))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        what = f"{type(error).__name__}: {error}"
        raise RobotSemanticsError(f"{path}: not a report of a collision matrix ({what})") from None
    links = {name for _, item in candidates for name in (item["link1"], item["link2"])}
    variables = {name for _, item in candidates for name in item["positions"]}
    for actor in scene.actors:
        if links <= set(actor.model.link_index) and variables <= set(actor.kinematics.space.index):
            candidates.sort(key=lambda item: item[0])
            return tuple({**item, "actor": actor.name} for _, item in candidates)
    raise RobotSemanticsError(f"{path}: no shown robot has the links and joints of this report")


# Work on collisions that belongs to the session: all pages see it, and a page that is reloaded finds it again.


class PoseProblem(NamedTuple):
    """A named state in which a pair of links collides: a message for the list of problems."""

    severity: Severity
    message: str
    place: SourcePlace


class StoppedError(RobotSemanticsError):
    """A person has stopped the generation."""


class CollisionWork:
    """The geometry of the robot, the run that generates the matrix, and the check of named states.

    Attributes:
        version: a number that changes with each change of what is shown.
        problem: the reason why the last run gave no evidence.
        pose_problems: the named states that collide.
        done, total: samples of the present run; `total` is 0 without a run.
    """

    _of_sessions: ClassVar[WeakKeyDictionary[EditSession, CollisionWork]] = WeakKeyDictionary()

    @classmethod
    def of(cls, session: EditSession, pieces: Callable[[], tuple[Piece, ...]]) -> CollisionWork:
        """Return the work of a session; `pieces` reads the robot's geometry."""
        if session not in cls._of_sessions:
            cls._of_sessions[session] = cls(proxy(session), pieces)
        return cls._of_sessions[session]

    def __init__(self, session: EditSession, pieces: Callable[[], tuple[Piece, ...]]) -> None:
        self._session, self._pieces = session, pieces
        self._lock = threading.Lock()
        self._poses: tuple[RobotModel, PoseCollisions] | None = None
        self._stop = threading.Event()
        self._began = 0.0
        self._checked = -1
        self.version = 0
        self.done = self.total = 0
        self._matrix: tuple[RobotModel, CollisionMatrix] | None = None
        self.problem = ""
        self.pose_problems: tuple[PoseProblem, ...] = ()
        self._read_report()

    # --- single poses

    @property
    def is_ready(self) -> bool:
        """True if the geometry of the present robot is read."""
        return self._poses is not None and self._poses[0] is self._session.bare

    def poses(self) -> PoseCollisions:
        """Return the test of single poses; the first call reads the geometry.

        Raises:
            RobotSemanticsError: the geometry cannot be read, or the extra is not installed.
        """
        with self._lock:
            bare = self._session.bare
            if self._poses is None or self._poses[0] is not bare or self._is_other_root(self._poses[1]):
                self._poses = bare, PoseCollisions(self._session.robot, self._pieces())
            return self._poses[1]

    def _is_other_root(self, poses: PoseCollisions) -> bool:
        return poses.space_names != JointSpace.of(self._session.robot).names

    def free_pose(self, robot: RobotModel, q: FloatArray, joints: Collection[str]) -> FloatArray:
        """Return the pose free of collision that is nearest to q (size,); only `joints` move.

        Without the extra for collisions, or without readable geometry, this is q.

        Raises:
            RobotSemanticsError: no such pose was found.
        """
        try:
            poses = self.poses()
        except RobotSemanticsError:
            return q
        pose = poses.free_positions(robot, q, joints)
        if pose is None:
            raise RobotSemanticsError("no pose free of collision was found; move the joints and save a pose")
        return pose

    def check_states(self) -> None:
        """Find the named states that collide, if the document has changed since the last check."""
        session, version = self._session, self._session.version
        if version == self._checked:
            return
        robot, text = session.robot, session.text
        problems: list[PoseProblem] = []
        if text.semantic.states:
            with suppress(RobotSemanticsError):
                poses, space = self.poses(), JointSpace.of(robot)
                kinematics = ForwardKinematics(robot)
                for state in text.semantic.states:
                    with suppress(RobotSemanticsError):
                        q, _ = closed_pose(kinematics, with_state(space, state.group, state.name))
                        place = text.semantic.places.place(state.ordinal)
                        pairs = poses.unusual(q, [joint.name for joint in state.joints])
                        problems += _pose_problems(robot, pairs, f"{state.group}/{state.name}", place)
        self._checked = version
        if tuple(problems) != self.pose_problems:
            self.pose_problems = tuple(problems)
            self.version += 1

    # --- the matrix

    @property
    def matrix(self) -> CollisionMatrix | None:
        """The newest evidence about the present robot; None without."""
        return self._matrix[1] if self._matrix is not None and self._matrix[0] is self._session.bare else None

    @property
    def is_running(self) -> bool:
        """True while a matrix is generated."""
        return self.total > 0

    @property
    def seconds_left(self) -> float | None:
        """Time until all samples are done [s]; None if it is not known."""
        if not 0 < self.done < self.total:
            return None
        return (time.monotonic() - self._began) * (self.total - self.done) / self.done

    def stop(self) -> None:
        """Stop the run."""
        self._stop.set()

    def generate(self, samples: int, default: Sequence[tuple[str, str]] = ()) -> None:
        """Generate the matrix, and keep it beside the file; a run that is under way continues instead.

        Args:
            samples: number of samples.
            default: group and name of the states that are the default pose; other joints are in default positions.
        """
        from robot_semantics.collision.matrix import NO_PAIRS, Settings, generate_matrix

        settings = Settings(samples=samples, jobs=os.cpu_count() or 1)
        with self._lock:
            if self.is_running:
                return
            self._stop.clear()
            self._began, self.done, self.total = time.monotonic(), 0, settings.total
        self.problem = ""
        self.version += 1

        def advance(count: int) -> None:
            self.done += count
            if self._stop.is_set():
                raise StoppedError("stopped: the former evidence stays")

        try:
            robot = self._session.robot
            space = JointSpace.of(robot)
            q = space.neutral()
            for group, name in default:
                q = with_state(space, group, name, q)
            matrix = generate_matrix(robot, self._pieces(), settings, default_q=q, progress=advance)
            if not matrix.pairs:
                raise RobotSemanticsError(NO_PAIRS)
            self._matrix = self._session.bare, matrix
            self._write_report(robot, matrix)
        except RobotSemanticsError as error:
            self.problem = str(error)
        finally:
            self.done = self.total = 0
            self.version += 1

    @property
    def report_path(self) -> Path:
        """The file with the evidence, beside the SRDF."""
        return self._session.output.with_suffix(".collisions.json")

    def _write_report(self, robot: RobotModel, matrix: CollisionMatrix) -> None:
        """Keep the evidence, as ``collisions generate --report`` writes it; another file of this name stays."""
        from robot_semantics.collision.report import matrix_json

        path = self.report_path
        report = {"version": REPORT_VERSION, **matrix_json(matrix, JointSpace.of(robot))}
        try:
            if path.exists() and not is_report(path):
                raise FileExistsError(errno.EEXIST, "is another file", str(path))
            save_bytes(f"{json.dumps(report, indent=1, allow_nan=False)}\n".encode(), path)
        except OSError as error:
            self.problem = f"the evidence is not kept in '{path}': {error.strerror}"

    def _read_report(self) -> None:
        """Read the evidence of an earlier session, if it is about this robot."""
        with suppress(OSError, RobotSemanticsError, ImportError):
            from robot_semantics.collision.report import matrix_from_json

            if is_report(self.report_path):
                content = read_bounded(self.report_path, MAX_BYTES)
                self._matrix = self._session.bare, matrix_from_json(content, self._session.robot)


REPORT_VERSION = 2
"""Version of the report's form, as of all JSON of the commands."""


def is_report(path: Path) -> bool:
    """Return True if a file is a report of a collision matrix."""
    try:
        content = json.loads(read_bounded(path, MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and {"pairs", "seed", "sampler"} <= content.keys()


def _pose_problems(robot: RobotModel, pairs: Iterable[LinkPair], state: str, place: SourcePlace) -> list[PoseProblem]:
    """Return a message for each pair that collides in a state."""
    problems = []
    for pair in pairs:
        status = pair_status(robot, *pair)
        about = "which is checked" if status.checked else f"which is not checked ({status_word(status)})"
        message = f"state '{state}' collides: '{pair.first}' with '{pair.second}', {about}"
        problems.append(PoseProblem(Severity.WARNING, message, place))
    return problems


def status_word(status: PairStatus) -> str:
    """Return the SRDF's reason for a disabled pair, otherwise its state."""
    if status.cause is PairCause.DISABLED:
        return status.reason or "not checked"
    if status.cause is PairCause.DEFAULT_DISABLED:
        return "disabled by default"
    return "enabled" if status.enabled else "checked"
