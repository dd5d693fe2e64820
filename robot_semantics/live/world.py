# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The robots of a running system and the TF frames around them as one world state, with its unknown values.

Rules: doc/usdf.md, "Where a robot is"; doc/snapshots.md, "What is saved".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import frame_name, quoted, shown
from robot_semantics.base.nanoseconds import float_seconds, short_seconds
from robot_semantics.base.record import record
from robot_semantics.kinematics.forward import kinematics_of
from robot_semantics.live.model_series import model_rows, model_state, series_from_sample, with_links
from robot_semantics.live.samples import (
    RobotSample,
    RootCandidate,
    RootChoice,
    RootSource,
    RootStatement,
    WorldSample,
    choose_root,
    motion_of_root,
)
from robot_semantics.live.senders import NEVER_NS
from robot_semantics.live.settings import Source
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import invert, matrix_from_pose
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.pose import Pose, pose_from_matrix, pose_from_row, pose_matrix, pose_rows
from robot_semantics.transforms.rows import LARGEST, usable_poses
from robot_semantics.usdf.fields import ValueAge
from robot_semantics.usdf.frames import root_frame
from robot_semantics.usdf.restore_report import RestoreItem
from robot_semantics.usdf.validity import name_fault
from robot_semantics.usdf.world_state import SEPARATOR, WORLD, Frame, ModelState, WorldState

# Frames and root links in TF, and the pose of each robot's root link by the rule of doc/usdf.md.


AT_ORIGIN = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


class ReceivedTransform(NamedTuple):
    """The newest transform of a frame in one parent that another node has published.

    Attributes:
        xyz_quat: (7,) T_parent_frame, x y z [m] and quaternion x y z w.
        stamp_ns: its time; None if it is static.
        received_ns: when it arrived, on the steady clock; None if it is static.
    """

    xyz_quat: FloatArray
    stamp_ns: int | None
    received_ns: int | None = None


ReceivedFrames = Mapping[str, Mapping[str, ReceivedTransform]]
"""TF name of a frame → TF name of a parent → received transform, without the node's own ones."""


class LeftOutFrame(NamedTuple):
    """A frame on TF that is not in the world state.

    Attributes:
        name: TF name of the frame.
        reason: why, with the nodes that publish it.
    """

    name: str
    reason: str


def transform_fault(parent: str, child: str, xyz_quat: FloatArray) -> str | None:
    """Return why a transform, T_parent_child (7,), cannot be in a world state; None if it can.

    No file can hold such names, and the simulators do not use such poses.
    """
    for name, what in ((child, "its name"), (parent, "the name of its parent")):
        fault = name_fault(name)
        if fault is not None:
            return f"{what} {fault}" if fault.startswith("is ") else f"{what}, '{shown(name)}', {fault}"
    if usable_poses(xyz_quat):
        return None
    numbers = ", ".join(f"{number:g}" for number in xyz_quat)
    if not np.isfinite(xyz_quat).all():
        return f"its pose ({numbers}) is not finite"
    if usable_poses(np.concatenate([np.zeros(3), xyz_quat[3:]])):
        return f"its position ({numbers}) is farther away than {LARGEST:g} m"
    return f"its quaternion ({numbers}) is not a rotation: the square of its length must be 0.99 to 1.01"


class Root(NamedTuple):
    """Pose of a robot's root link, with its source.

    Attributes:
        choice: the source that is used, and the other sources.
        statement: the pose; None without a source.
        parent: TF name of its parent frame; ``world`` if no source names one.
        on_tf: True if the pose comes from a transform on TF.
    """

    choice: RootChoice
    statement: RootStatement | None
    parent: str
    on_tf: bool


def root_of(robot: RobotSample, heard: ReceivedFrames) -> Root:
    """Return the pose of a robot's root link by the rule of doc/usdf.md."""
    statements, of_tf = list(robot.statements), set[RootCandidate]()
    on_tf = _root_on_tf(robot, heard) if robot.source in (Source.AUTO, Source.TF) else {}
    for parent, transform in on_tf.items():
        source = RootSource.CHOSEN if robot.source is Source.TF else RootSource.TF
        candidate = RootCandidate(source, f"TF in '{parent}'", parent)
        of_tf.add(candidate)
        statements.append(RootStatement(candidate, transform.xyz_quat, None, transform.received_ns))
    if robot.root_frame == WORLD and not statements:
        # TF cannot have its pose in the frame `world`, because this link is the root of the TF tree.
        statements.append(RootStatement(RootCandidate(RootSource.FIXED, f"the name of '{WORLD}'", WORLD), AT_ORIGIN))
    choice = choose_root(statement.candidate for statement in statements)
    chosen = next((statement for statement in statements if statement.candidate == choice.chosen), None)
    parent = (chosen.candidate.parent if chosen else robot.parent_frame) or WORLD
    return Root(choice, chosen, parent, choice.chosen in of_tf)


def _root_on_tf(robot: RobotSample, received: ReceivedFrames) -> Mapping[str, ReceivedTransform]:
    """Return the transforms of the root link by parent: its own, else those of a link that is fixed to it.

    A link of the robot is not a parent of its root link.
    """
    if robot.root_frame in received:
        return received[robot.root_frame]
    links = {frame_name(robot.frame_prefix + link) for link in robot.model.link_names} | robot.base_frames.keys()
    root_first = sorted(robot.base_frames.items(), key=lambda item: item[1] != robot.model.root_link)
    for name, link in root_first:
        parents = received.get(name, {})
        if parents and not parents.keys() & links:
            unknown = np.full(6, np.nan)
            return {
                parent: item._replace(xyz_quat=motion_of_root(robot.model, link, item.xyz_quat, unknown)[0])
                for parent, item in parents.items()
            }
    return {}


def newest_of(parents: Mapping[str, ReceivedTransform]) -> tuple[str, ReceivedTransform]:
    """Return the transform of a frame that arrived last, and its parent."""
    parent = max(parents, key=lambda parent: (parents[parent].received_ns or 0, parent))
    return parent, parents[parent]


class StaleStateError(RobotSemanticsError):
    """The state is older than allowed; the message names the oldest value and its age."""


@record(frozen=True)
class LiveWorld:
    """Robots and frames at one moment.

    Attributes:
        state: the world state.
        missing: what it lacks.
        ages: how old its values are against the sample's stamp.
        roots: the root link's pose of each robot, by the robot's name.
        parents: parent of each robot's root link in the state: a frame, ``world``, or a robot's link as
            ``model::link``.

    """

    state: WorldState
    missing: tuple[RestoreItem, ...]
    ages: tuple[ValueAge, ...]
    roots: Mapping[str, Root]
    parents: Mapping[str, str]


def live_world(
    sample: WorldSample,
    received: ReceivedFrames,
    *,
    elsewhere: Collection[str] = (),
    other_models: Mapping[str, ModelState] | None = None,
    left_out: Iterable[LeftOutFrame] = (),
    link_names: Collection[str] = (),
    publishers: Callable[[], str] = lambda: "another node",
    all_frames: bool = True,
    max_age_ns: int = 0,
) -> LiveWorld:
    """Return the state of robots and of the frames around them.

    Args:
        sample: the robots.
        received: the frames that others publish.
        elsewhere: names of frames and models with another source.
        other_models: states of the robots with another source; bodies may be attached to their links.
        left_out: frames with a transform that cannot be used.
        link_names: names ``model::link`` of models with another source, which no frame can have.
        publishers: gives the nodes that publish the frames.
        all_frames: False: only the frames that the robots stand in, directly or not.
        max_age_ns: the largest allowed age of a value before the sample's stamp; 0 for no limit.

    Raises:
        StaleStateError: a value is older.

    """
    making = _Making(sample, received, frozenset(elsewhere), other_models or {}, all_frames, max_age_ns)
    making.leave_out(left_out, link_names, publishers)
    return making.made()


def world_link_names(models: Mapping[str, RobotModel]) -> frozenset[str]:
    """Return the names ``model::link`` of all links of models, which no frame of a world state can have."""
    return frozenset(f"{name}{SEPARATOR}{link}" for name, model in models.items() for link in model.link_names)


def _is_of_link(name: str) -> str:
    return f"'{shown(name)}' is a link of a model in a world state, so no frame can have this name"


class _Making:
    def __init__(
        self,
        sample: WorldSample,
        received: ReceivedFrames,
        elsewhere: frozenset[str],
        other_models: Mapping[str, ModelState],
        all_frames: bool,
        max_age_ns: int,
    ) -> None:
        self.sample, self.received, self.elsewhere, self.other_models = sample, received, elsewhere, other_models
        self.all_frames, self.max_age_ns = all_frames, max_age_ns
        self.missing: list[RestoreItem] = []
        self.ages: list[ValueAge] = []
        self.roots = {robot.name: root_of(robot, received) for robot in sample.robots}
        self.links = {
            frame_name(robot.frame_prefix + link): (robot.name, link)
            for robot in sample.robots
            for link in robot.model.link_names
        }
        for robot in sample.robots:
            for name, link in robot.base_frames.items():
                self.links.setdefault(name, (robot.name, link))
        self.model_of = {robot.name: robot.model for robot in sample.robots}
        self.bodies: dict[str, ModelState | Frame] = {}
        self.on_links: dict[str, tuple[str, str]] = {}
        """The models and frames that stand on a link, with its robot and its name."""

    def made(self) -> LiveWorld:
        for robot in self.sample.robots:
            if robot.name not in self.other_models:
                self.bodies[robot.name] = self._model(robot)
        self._place_frames()
        for name, (carrier, link) in self.on_links.items():
            self._put_on_link(name, carrier, link)
        self._turn_over()
        self._break_cycles()
        self._root_frames()
        if not self.all_frames:
            self._keep_only_needed()
        models = tuple(body for body in self.bodies.values() if isinstance(body, ModelState))
        frames = sorted((body for body in self.bodies.values() if isinstance(body, Frame)), key=lambda one: one.name)
        state = WorldState(models=models, frames=tuple(frames), time_ns=self.sample.stamp_ns)
        parents = {
            name: SEPARATOR.join(self.on_links[name]) if name in self.on_links else root.parent
            for name, root in self.roots.items()
        }
        return LiveWorld(state, tuple(self.missing), tuple(self.ages), self.roots, parents)

    def leave_out(
        self, left_out: Iterable[LeftOutFrame], link_names: Collection[str], publishers: Callable[[], str]
    ) -> None:
        """Note the frames that are left out, and leave out those with the name ``model::link`` of a model's link."""
        for frame in left_out:
            self.lacks("frame", "", frame.name, "left_out", frame.reason)
        names_in_use = world_link_names(self.model_of).union(link_names)
        usable = {
            name: {parent: item for parent, item in parents.items() if parent not in names_in_use}
            for name, parents in self.received.items()
            if name not in names_in_use
        }
        for name, parents in self.received.items():
            odd = next((item for item in (name, *parents) if item in names_in_use), None)
            if odd is not None:
                self.lacks("frame", "", name, "left_out", f"{_is_of_link(odd)} (published by {publishers()})")
        self.received = {name: parents for name, parents in usable.items() if parents}
        for robot in self.sample.robots:
            said = tuple(statement for statement in robot.statements if statement.candidate.parent not in names_in_use)
            for statement in set(robot.statements).difference(said):
                reason = f"{_is_of_link(statement.candidate.parent)} ('{statement.candidate.name}')"
                self.lacks("pose", robot.name, "", "left_out", reason)
            self.roots[robot.name] = root_of(replace(robot, statements=said), self.received)

    def lacks(self, kind: str, model: str, name: str, code: str, reason: str) -> None:
        """Note an unknown value."""
        self.missing.append(RestoreItem(kind, model, name, False, reason, code=code))

    def lacks_place(self, name: str, code: str, reason: str) -> None:
        """Note a model or frame with an unknown pose."""
        kind, model, frame = ("pose", name, "") if isinstance(self.bodies[name], ModelState) else ("frame", "", name)
        self.lacks(kind, model, frame, code, reason)

    def take_out(self, name: str, code: str, reason: str) -> None:
        """Take a model or frame out of its parent, and note why."""
        self.lacks_place(name, code, reason)
        self.bodies[name] = replace(self.bodies[name], parent=WORLD, pose=None, twist=None)

    # --- robots

    def _model(self, robot: RobotSample) -> ModelState:
        self._joint_ages(robot)
        series = with_links(series_from_sample(robot), kinematics_of(robot.model))
        root = self.roots[robot.name]
        if root.statement is not None:
            twist = root.statement.twist
            series = replace(
                series,
                pose=root.statement.xyz_quat[np.newaxis],
                twist=np.full((1, 6), np.nan) if twist is None else twist[np.newaxis],
            )
            self._age(None, robot.name, root.statement.received_ns, f"the pose of '{robot.name}'")
        # In the node's own inputs, `world` is the world frame, even if a link has this TF name.
        if root.parent in self.links and (root.on_tf or root.parent != WORLD):
            self.on_links[robot.name] = self.links[root.parent]
        state = model_state(series, model_rows(series)[0].tolist(), root.parent)
        self._list_unknown_values(robot, state, root)
        return state

    def _list_unknown_values(self, robot: RobotSample, state: ModelState, root: Root) -> None:
        complaint = root.choice.complaint(robot.name)
        if complaint:
            self.lacks("pose", robot.name, "", "not_stated" if state.pose is None else "rivals", complaint)
        for joint, measured in zip(robot.space.joints, robot.measured, strict=True):
            if not measured and not joint.virtual:
                self.lacks("joint", robot.name, joint.name, "not_stated", "its position has never been reported")
        still = [link.name for link in state.links if link.pose is not None and link.twist is None]
        if still:
            reason = f"not all velocities are known, so {len(still)} links have no twists"
            self.lacks("links", robot.name, "", "not_stated", reason)

    def _joint_ages(self, robot: RobotSample) -> None:
        """Note the age of each joint's newest values; joints without a value have none."""
        for joint, at in zip(robot.space.joints, robot.received_ns.tolist(), strict=True):
            if at != NEVER_NS and not joint.virtual:
                self._age(robot.name, joint.name, at, f"robot '{robot.name}': joint '{joint.name}'")

    def _age(self, model: str | None, name: str, received_ns: int | None, what: str) -> None:
        """Note the age of a model's joint, or of the pose of a frame or model.

        Raises:
            StaleStateError: it is greater than allowed.
        """
        if received_ns is None:
            return
        age_ns = self.sample.received_ns - received_ns
        if self.max_age_ns and age_ns > self.max_age_ns:
            raise StaleStateError(
                f"{what} is {short_seconds(age_ns)} older than the newest value, "
                f"more than max_age {float_seconds(self.max_age_ns):g} s"
            )
        self.ages.append(ValueAge(model, name, max(0, age_ns)))

    # --- frames

    def _place_frames(self) -> None:
        for name, parents in self.received.items():
            if name in self.links or name == WORLD:
                continue
            if name in self.bodies:
                self.lacks("frame", "", name, "ambiguous", "a model has the name of this TF frame; it is left out")
                continue
            parent, transform = newest_of(parents)
            if parent in self.links:
                self.on_links[name] = self.links[parent]
            self.bodies[name] = Frame(
                name, parent, pose_from_row(pose_rows(transform.xyz_quat[np.newaxis])[0].tolist())
            )
            self._age(None, name, transform.received_ns, f"frame '{name}'")
            if len(parents) > 1:
                others = quoted(other for other in sorted(parents) if other != parent)
                reason = f"the newest transform has it in '{parent}'; others have it in {others}"
                self.lacks("frame", "", name, "rivals", reason)
        for name, body in tuple(self.bodies.items()):
            if isinstance(self.bodies.get(body.parent), ModelState) and name not in self.on_links:
                self.take_out(name, "ambiguous", f"a model has the name of its parent frame '{body.parent}'")

    def _put_on_link(self, name: str, carrier: str, link: str) -> None:
        """Attach a body to the robot's link that carries it, or to the model if the link's pose is unknown."""
        if name == carrier:
            self.take_out(name, "cycle", f"TF has '{carrier}' standing on its own link '{link}'")
            return
        body = self.bodies[name]
        if link == self.model_of[carrier].root_link:
            self.bodies[name] = replace(body, parent=carrier)
        elif self._link_pose(carrier, link) is not None:
            self.bodies[name] = replace(body, parent=carrier, parent_link=link)
        else:
            if body.pose is not None:
                reason = f"it stands on link '{link}' of '{carrier}', and where that is is not known"
                self.lacks_place(name, "not_stated", reason)
            self.bodies[name] = replace(body, parent=carrier, pose=None, twist=None)

    def _link_pose(self, carrier: str, link: str) -> Pose | None:
        model = self.other_models.get(carrier) or self.bodies[carrier]
        assert isinstance(model, ModelState)
        return next((state.pose for state in model.links if state.name == link), None)

    def _turn_over(self) -> None:
        """Compute the poses of the frames and of the robot above the frame `world` on TF, by inversion, one after the
        other.
        """
        parents = {} if WORLD in self.links else self.received.get(WORLD, {})
        if not parents:
            return
        above, transform = newest_of(parents)
        link: str | None = None
        if above in self.links:
            above, link = self.links[above]
        child, T_above_child, seen = WORLD, matrix_from_pose(transform.xyz_quat), {WORLD}
        received_ns = transform.received_ns
        age_ns = None if received_ns is None else max(0, self.sample.received_ns - received_ns)
        while above not in seen and above not in self.elsewhere and above not in self.other_models:
            seen.add(above)
            body = self.bodies.get(above, Frame(above))
            if link is not None and link != self.model_of[above].root_link:
                pose = self._link_pose(above, link)
                if pose is None:
                    return
                T_above_child = pose_matrix(pose) @ T_above_child
            turned = pose_from_matrix(invert(T_above_child))
            self.bodies[above] = replace(body, parent=child, parent_link=None, pose=turned, twist=None)
            self.missing = [item for item in self.missing if (item.kind, item.model) != ("pose", above)]
            age_ns = self._exchange_age(above, age_ns)
            if body.pose is None:
                return
            T_above_child = pose_matrix(body.pose)
            child, above, link = above, body.parent, body.parent_link

    def _exchange_age(self, name: str, age_ns: int | None) -> int | None:
        """Set the age of a body's pose; return the age that it had."""
        older = [age for age in self.ages if age.model is None and age.name == name]
        self.ages = [age for age in self.ages if age not in older]
        if age_ns is not None:
            self.ages.append(ValueAge(None, name, age_ns))
        return older[0].age_ns if older else None

    def _break_cycles(self) -> None:
        """Remove the parents of bodies in a cycle, frames before models."""
        for name in sorted(self.bodies, key=lambda name: isinstance(self.bodies[name], ModelState)):
            path, here = [name], self.bodies[name].parent
            while here in self.bodies and here not in path:
                path.append(here)
                here = self.bodies[here].parent
            if here == name:
                circle = " in ".join(f"'{one}'" for one in (*path, name))
                self.take_out(name, "cycle", f"TF goes round in a circle: {circle}")

    def _root_frames(self) -> None:
        """Add the frames without a pose: a single one is the world; the poses of several are unknown."""
        stated = {body.parent for body in self.bodies.values() if body.pose is not None or body.parent != WORLD}
        unplaced = stated - self.bodies.keys() - self.elsewhere
        alone = len(unplaced) == 1 and not self.elsewhere
        for name in sorted(unplaced - {WORLD}):
            self.bodies[name] = root_frame(name) if alone else Frame(name)
            if not alone:
                self.lacks("frame", "", name, "not_stated", f"the pose of '{name}' in the world is unknown")

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
