# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A running system's robots and the TF frames around them as one world state, and what of it is not known.

Rules: doc/usdf.md, "Where a robot is"; doc/snapshots.md, "What is saved".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.foreign_text import quoted
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.state.model_states import (
    model_rows,
    model_state,
    pose_of,
    pose_rows,
    series_of,
    with_links,
)
from robot_semantics.state.report import RestoreItem
from robot_semantics.state.samples import (
    RobotSample,
    RootCandidate,
    RootChoice,
    RootSource,
    RootStatement,
    WorldSample,
    choose_root,
)
from robot_semantics.state.schedule import NEVER_NS
from robot_semantics.state.settings import Source
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.ages import ValueAge
from robot_semantics.usdf.frames import carried
from robot_semantics.usdf.poses import IDENTITY
from robot_semantics.usdf.world_state import SEPARATOR, WORLD, Frame, ModelState, WorldState

AT_ORIGIN = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


class StaleStateError(RobotSemanticsError):
    """The state is older than allowed; the message names the oldest value and its age."""


class HeardTransform(NamedTuple):
    """The newest transform that somebody else has published of a frame in one parent.

    Attributes:
        xyz_quat: (7,) T_parent_frame, x y z [m] and quaternion x y z w.
        stamp_ns: when it was true, None where it is static.
    """

    xyz_quat: FloatArray
    stamp_ns: int | None


Heard = Mapping[str, Mapping[str, HeardTransform]]
"""TF name of a frame → TF name of a parent → what was heard of it; not what the node itself publishes."""


class Root(NamedTuple):
    """Where a robot's root link is.

    Attributes:
        choice: who is believed, and who else has something to say.
        statement: what is said; None where nobody says anything.
        parent: TF name of the frame that it stands in, or would stand in; ``world`` where none is named.
    """

    choice: RootChoice
    statement: RootStatement | None
    parent: str


@dataclass(frozen=True)
class LiveWorld:
    """Robots and frames at one moment.

    Attributes:
        state: the world state.
        missing: what it lacks.
        ages: how old its values are against the sample's stamp.
        roots: where each robot's root link is, by the robot's name.
        place_of: TF frame → its name in the state: a frame, or of a robot's link ``model::link``.

    """

    state: WorldState
    missing: tuple[RestoreItem, ...]
    ages: tuple[ValueAge, ...]
    roots: Mapping[str, Root]
    place_of: Mapping[str, str]


def live_world(
    sample: WorldSample,
    heard: Heard,
    *,
    elsewhere: Collection[str] = (),
    given: Mapping[str, ModelState] | None = None,
    all_frames: bool = True,
    max_age_ns: int = 0,
) -> LiveWorld:
    """Return the state of robots and of the frames around them.

    Args:
        sample: the robots.
        heard: the frames that others publish.
        elsewhere: names of frames and models that another part of the world places.
        given: for each robot whose state comes from there, that state: things may stand on its links.
        all_frames: False: only the frames that the robots stand in, directly or not.
        max_age_ns: the greatest age of a value against the sample's stamp; 0 for no limit.

    Raises:
        StaleStateError: a value is older.

    """
    return _Making(sample, heard, frozenset(elsewhere), given or {}, all_frames, max_age_ns).made()


def root_of(robot: RobotSample, heard: Heard) -> Root:
    """Return where a robot's root link is, by the one rule."""
    said = list(robot.said)
    on_tf = heard.get(robot.root_frame, {})
    if robot.root_frame == WORLD:
        said.append(RootStatement(RootCandidate(RootSource.FIXED, f"the name of '{WORLD}'", WORLD), AT_ORIGIN))
    for parent, transform in on_tf.items() if robot.source in (Source.AUTO, Source.TF) else ():
        source = RootSource.CHOSEN if robot.source is Source.TF else RootSource.TF
        candidate = RootCandidate(source, f"TF in '{parent}'", parent)
        said.append(RootStatement(candidate, transform.xyz_quat, None, transform.stamp_ns))
    choice = choose_root(statement.candidate for statement in said)
    chosen = next((statement for statement in said if statement.candidate == choice.chosen), None)
    return Root(choice, chosen, (chosen.candidate.parent if chosen else robot.parent_frame) or WORLD)


class _Making:
    def __init__(
        self,
        sample: WorldSample,
        heard: Heard,
        elsewhere: frozenset[str],
        given: Mapping[str, ModelState],
        all_frames: bool,
        max_age_ns: int,
    ) -> None:
        self.sample, self.heard, self.elsewhere, self.given = sample, heard, elsewhere, given
        self.all_frames, self.max_age_ns = all_frames, max_age_ns
        self.missing: list[RestoreItem] = []
        self.ages: list[ValueAge] = []
        self.roots = {robot.name: root_of(robot, heard) for robot in sample.robots}
        self.links = {
            robot.frame_prefix + link: (robot.name, link) for robot in sample.robots for link in robot.model.link_names
        }
        self.bodies: dict[str, ModelState | Frame] = {}

    def made(self) -> LiveWorld:
        for robot in self.sample.robots:
            if robot.name not in self.given:
                self.bodies[robot.name] = self._model(robot)
        self._place_frames()
        on_links = {name: self.links[body.parent] for name, body in self.bodies.items() if body.parent in self.links}
        for name, (carrier, link) in on_links.items():
            self._put_on_link(name, carrier, link)
        self._break_cycles()
        self._root_frames()
        if not self.all_frames:
            self._keep_only_needed()
        models = tuple(body for body in self.bodies.values() if isinstance(body, ModelState))
        frames = sorted((body for body in self.bodies.values() if isinstance(body, Frame)), key=lambda one: one.name)
        state = WorldState(models=models, frames=tuple(frames), time_ns=self.sample.stamp_ns)
        place_of = {frame.name: frame.name for frame in frames} | {
            frame: f"{model}{SEPARATOR}{link}" for frame, (model, link) in self.links.items()
        }
        return LiveWorld(state, tuple(self.missing), tuple(self.ages), self.roots, place_of)

    def lacks(self, kind: str, model: str, name: str, code: str, reason: str) -> None:
        """Note something that is not known."""
        self.missing.append(RestoreItem(kind, model, name, False, reason, code=code))

    def lacks_place(self, name: str, code: str, reason: str) -> None:
        """Note that it is not known where a model or frame is."""
        kind, model, frame = ("pose", name, "") if isinstance(self.bodies[name], ModelState) else ("frame", "", name)
        self.lacks(kind, model, frame, code, reason)

    def take_out(self, name: str, code: str, reason: str) -> None:
        """Take a model or frame out of its parent, and note why."""
        self.lacks_place(name, code, reason)
        self.bodies[name] = replace(self.bodies[name], parent=WORLD, pose=None, twist=None)

    # --- robots

    def _model(self, robot: RobotSample) -> ModelState:
        self._joint_ages(robot)
        series = with_links(series_of(robot, self.sample.stamp_ns), _kinematics(robot.model))
        root = self.roots[robot.name]
        if root.statement is not None:
            twist = root.statement.twist
            series = replace(
                series,
                pose=root.statement.xyz_quat[np.newaxis],
                twist=np.full((1, 6), np.nan) if twist is None else twist[np.newaxis],
            )
            self._age(None, robot.name, root.statement.stamp_ns, f"the pose of '{robot.name}'")
        state = model_state(series, model_rows(series)[0].tolist(), root.parent)
        self._say_what_is_unknown(robot, state, root)
        return state

    def _say_what_is_unknown(self, robot: RobotSample, state: ModelState, root: Root) -> None:
        complaint = root.choice.complaint(robot.name)
        if complaint:
            self.lacks("pose", robot.name, "", "not_stated" if state.pose is None else "rivals", complaint)
        for joint, known in zip(robot.space.joints, robot.known, strict=True):
            if not known and not joint.virtual:
                self.lacks("joint", robot.name, joint.name, "not_stated", "its position has never been reported")
        still = [link.name for link in state.links if link.pose is not None and link.twist is None]
        if still:
            reason = f"not all velocities are known, so {len(still)} links have no twists"
            self.lacks("links", robot.name, "", "not_stated", reason)

    def _joint_ages(self, robot: RobotSample) -> None:
        """Note how old each joint's newest values are; nothing of joints never heard of."""
        for joint, at in zip(robot.space.joints, robot.stamps_ns.tolist(), strict=True):
            if at != NEVER_NS and not joint.virtual:
                self._age(robot.name, joint.name, at, f"robot '{robot.name}': joint '{joint.name}'")

    def _age(self, model: str | None, name: str, stamp_ns: int | None, what: str) -> None:
        """Note an age: of a model's joint; or of a frame or a model's pose, by its name.

        Raises:
            StaleStateError: it is greater than allowed.
        """
        if stamp_ns is None:
            return
        age_ns = self.sample.stamp_ns - stamp_ns
        if self.max_age_ns and age_ns > self.max_age_ns:
            raise StaleStateError(
                f"{what} is {age_ns * 1e-9:.3f} s older than the newest value, "
                f"more than max_age {self.max_age_ns * 1e-9:g} s"
            )
        self.ages.append(ValueAge(model, name, max(0, age_ns)))

    # --- frames

    def _place_frames(self) -> None:
        roots = {robot.root_frame for robot in self.sample.robots}
        for name, parents in self.heard.items():
            if name == WORLD or name in roots or name in self.links:
                continue
            if name in self.bodies:
                self.lacks("frame", "", name, "ambiguous", "a model has the name of this TF frame; it is left out")
                continue
            # Of several publishers the newest is what TF listeners see.
            parent = max(parents, key=lambda parent: (parents[parent].stamp_ns or 0, parent))
            transform = parents[parent]
            self.bodies[name] = Frame(name, parent, pose_of(pose_rows(transform.xyz_quat[np.newaxis])[0].tolist()))
            self._age(None, name, transform.stamp_ns, f"frame '{name}'")
            if len(parents) > 1:
                others = quoted(other for other in sorted(parents) if other != parent)
                reason = f"the newest transform has it in '{parent}'; others have it in {others}"
                self.lacks("frame", "", name, "rivals", reason)
        for name, body in tuple(self.bodies.items()):
            if isinstance(self.bodies.get(body.parent), ModelState) and body.parent not in self.links:
                self.take_out(name, "ambiguous", f"a model has the name of its parent frame '{body.parent}'")

    def _put_on_link(self, name: str, carrier: str, link: str) -> None:
        """Hang something that stands on a robot's link on that robot's model, where the link is at this moment."""
        if name == carrier:
            self.take_out(name, "cycle", f"TF has '{carrier}' standing on its own link '{link}'")
            return
        body, model = self.bodies[name], self.given.get(carrier) or self.bodies[carrier]
        assert isinstance(model, ModelState)
        placed = carried(body, model, link)
        if placed.pose is None and body.pose is not None:
            reason = f"it stands on link '{link}' of '{carrier}', and where that is is not known"
            self.lacks_place(name, "not_stated", reason)
        self.bodies[name] = placed

    def _break_cycles(self) -> None:
        """Take out of their parents those bodies that stand on themselves, frames before models."""
        for name in sorted(self.bodies, key=lambda name: isinstance(self.bodies[name], ModelState)):
            path, here = [name], self.bodies[name].parent
            while here in self.bodies and here not in path:
                path.append(here)
                here = self.bodies[here].parent
            if here == name:
                circle = " in ".join(f"'{one}'" for one in (*path, name))
                self.take_out(name, "cycle", f"TF goes round in a circle: {circle}")

    def _root_frames(self) -> None:
        """State the frames that nobody places: one alone is where the world is; of several nobody knows."""
        stated = {body.parent for body in self.bodies.values() if body.pose is not None or body.parent != WORLD}
        unplaced = stated - self.bodies.keys() - self.elsewhere
        alone = len(unplaced) == 1 and not self.elsewhere
        for name in sorted(unplaced - {WORLD}):
            self.bodies[name] = Frame(name, WORLD, IDENTITY if alone else None)
            if not alone:
                self.lacks("frame", "", name, "not_stated", f"nothing says where '{name}' is in the world")

    def _keep_only_needed(self) -> None:
        models = {name for name, body in self.bodies.items() if isinstance(body, ModelState)}
        needed = set(models)
        for name in models:
            here = self.bodies[name].parent
            while here in self.bodies and here not in needed:
                needed.add(here)
                here = self.bodies[here].parent
        self.bodies = {name: body for name, body in self.bodies.items() if name in needed}
        self.missing = [item for item in self.missing if item.kind != "frame" or item.name in needed - models]
        self.ages = [age for age in self.ages if age.model is not None or age.name in needed]


@lru_cache(maxsize=8)
def _kinematics(model: RobotModel) -> ForwardKinematics:
    return ForwardKinematics(model)
