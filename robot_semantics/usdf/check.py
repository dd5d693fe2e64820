# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Checks of a world state against its robots: names, counts, limits, and agreement of links with joints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.base.names import nearest_names
from robot_semantics.base.record import record
from robot_semantics.kinematics.forward import kinematics_of
from robot_semantics.kinematics.joint_space import followings
from robot_semantics.kinematics.loop_freedom import LoopError
from robot_semantics.model.loading import NAMED_FILES, RobotOptions
from robot_semantics.model.robot_model import MIMIC_TOLERANCE, JointModel, RobotModel
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.apply import apply_model_state, resolve_with
from robot_semantics.usdf.descriptions import FileFinder, RobotSources, beside, place_of, robots_for
from robot_semantics.usdf.frames import NotStatedError, ResolvedWorld, taken_as_world
from robot_semantics.usdf.identity import describes_another_robot, is_of
from robot_semantics.usdf.joint_values import JointFault, faults, joint_values, stated_positions
from robot_semantics.usdf.reader import read_leniently, read_text_leniently
from robot_semantics.usdf.restore_report import RestoreItem
from robot_semantics.usdf.robot import complete_model
from robot_semantics.usdf.validity import SOURCE, element_path, name_clashes
from robot_semantics.usdf.world_state import Frame, JointState, LinkState, ModelState, WorldState, carrier_of
from robot_semantics.xml.source_map import SourceMap


def check_world_file(
    path: Path,
    diagnostics: Diagnostics,
    *,
    text: bytes | None = None,
    robot: RobotModel | None = None,
    named: Mapping[str, RobotModel] = MappingProxyType({}),
    find: FileFinder | None = None,
    look: bool = True,
    options: RobotOptions = NAMED_FILES,
) -> WorldState:
    """Read and check a USDF file; problems are added to `diagnostics`. With `text`, this text is checked instead of the
    file's content: an editor has not saved it yet.

    `robot` is checked against the model of its name, or the only model; the `named` robots against the models of these
    names. Other models are checked against the files that they name. `find` finds these files; by default, paths are
    relative to the USDF file, and packages are those of ROS. Without `look`, no file is searched. The
    `options` say how these files are read.

    Raises:
        DescriptionError: the file has errors; the exception has them, and the problems that the robots show.
    """
    state, places, problems = read_leniently(path) if text is None else read_text_leniently(text, str(path))
    failed = problems.failed()
    finder = (find or beside(path)) if look else None
    files = RobotSources(() if robot is None else (robot,), finder, options, named=named)
    robots = robots_for(state, files, diagnostics=problems, places=places)
    if failed:
        # Parts omitted because of errors would seem to be missing: check only the existing parts.
        check_joints_and_links(state, robots, problems, places=places)
        raise DescriptionError(problems)
    diagnostics.extend(problems)
    try:
        check_world(state, robots, diagnostics, places=places)
    except LoopError as error:
        # The check of the robot reports its loops as well, but this state may name another robot.
        message = f"the links and joints of this world are not compared with the robot: {error}"
        diagnostics.warning("not-compared", message, SourcePlace(str(path), 1, 1))
    return state


def check_joints_and_links(
    state: WorldState, robots: Mapping[str, RobotModel], diagnostics: Diagnostics, *, places: SourceMap | None = None
) -> None:
    """Add to `diagnostics` the links and joints that the robots do not have, and values that their joints cannot
    take.
    """
    for model in state.models:
        if model.name in robots:
            _ModelCheck(model, robots[model.name], diagnostics, places).names()


def check_world(
    state: WorldState,
    robots: Mapping[str, RobotModel] | None,
    diagnostics: Diagnostics,
    *,
    places: SourceMap | None = None,
) -> None:
    """Add the problems of a read state to `diagnostics`: omitted poses, and all problems that its robots show.

    Args:
        state: the state.
        robots: the robots by their models' names; models without a robot are checked alone.
        diagnostics: collects the problems.
        places: places of the state's elements in its document, if it has one.
    """
    _check_poses(state, diagnostics, places)
    for name in robots or {}:
        state.model(name)
    if not robots or _report_clashes(state, robots, diagnostics, places):
        return
    try:
        world = resolve_with(state, robots=robots)
    except NotStatedError:
        _check_carriers(state, robots, diagnostics, places)
        check_joints_and_links(state, robots, diagnostics, places=places)
        return
    for model in state.models:
        if model.name in robots:
            _ModelCheck(model, robots[model.name], diagnostics, places).run(world)


def _check_poses(state: WorldState, diagnostics: Diagnostics, places: SourceMap | None) -> None:
    """Report missing poses, and angles larger than a full turn."""
    for body in state.bodies:
        if body.pose is None:
            message = f"'{body.name}' has no pose in '{body.parent}'; the identity is used"
            diagnostics.warning("missing-pose", message, place_of(places, body, element_path(body)))
    posed: list[tuple[ModelState | Frame | LinkState, str]] = [(body, element_path(body)) for body in state.bodies]
    posed += [(link, element_path(link, element_path(model))) for model in state.models for link in model.links]
    for item, path in posed:
        angle = 0.0 if item.pose is None else max(item.pose.xyz_rpy[3:], key=abs)
        if abs(angle) > 2.0 * np.pi:
            message = f"the pose of '{item.name}' has the angle {angle:g}, more than a full turn: angles are in radians"
            diagnostics.warning("large-angle", message, place_of(places, item, path))


def _report_clashes(
    state: WorldState, robots: Mapping[str, RobotModel], diagnostics: Diagnostics, places: SourceMap | None
) -> bool:
    """Report names that belong both to the state and to a robot's link; return True if there is one."""
    links = {name: robot.link_names for name, robot in robots.items()}
    stated = {problem.message for problem in name_clashes(state)}
    clashes = [problem for problem in name_clashes(state, links) if problem.message not in stated]
    for problem in clashes:
        place = (
            SourcePlace(SOURCE, path=problem.path)
            if places is None
            else places.place(problem.ordinal, problem.attribute)
        )
        diagnostics.error(problem.code, problem.message, place)
    return bool(clashes)


def _check_carriers(
    state: WorldState, robots: Mapping[str, RobotModel], diagnostics: Diagnostics, places: SourceMap | None
) -> None:
    """Report the carrying links without a known pose; no state can be applied to a robot then."""
    for body in state.bodies:
        if body.parent_link is None:
            continue
        place = (
            SourcePlace(SOURCE, path=element_path(body))
            if places is None
            else places.place(body.ordinal, "rs:parent_link")
        )
        carrier, robot = state.model(body.parent), robots.get(body.parent)
        if robot is not None and body.parent_link not in robot.link_index:
            message = f"robot '{robot.name}' has no link '{body.parent_link}'"
            diagnostics.error("unknown-link", message, place, name=body.parent_link, valid=robot.link_names)
            continue
        whole = carrier if robot is None else complete_model(carrier, robot)
        if not any(link.name == body.parent_link and link.pose is not None for link in whole.links):
            message = (
                f"the pose of link '{body.parent_link}' of '{body.parent}' is neither stated nor follows from joints"
            )
            diagnostics.error("unplaced-link", message, place)


_REFUSED = {"pose": "pose-refused", "twist": "twist-refused"}


class _ModelCheck:
    """One model state against its robot."""

    def __init__(
        self,
        state: ModelState,
        robot: RobotModel,
        diagnostics: Diagnostics,
        places: SourceMap | None,
    ) -> None:
        self._state = state
        self._robot = robot
        self._diagnostics = diagnostics
        self._places = places
        self._path = element_path(state)
        self._kinematics = kinematics_of(robot)

    def run(self, world: ResolvedWorld) -> None:
        """Make every check, in the world around the model."""
        self._identity()
        self.names()
        self._mimics()
        self._parent(world)
        self._on_the_robot(world)

    def _parent(self, world: ResolvedWorld) -> None:
        """Report a parent that is not the virtual joint's parent frame; a pose that cannot be taken is refused
        later.
        """
        root, parent = self._robot.root_joint, carrier_of(self._state)
        if not self._robot.has_virtual_joint or parent == root.parent_link:
            return
        if root.parent_link not in world.index:
            message = f"model '{self._state.name}': {taken_as_world(root.parent_link)}"
            self._diagnostics.note("unplaced-frame", message, place_of(self._places, self._state, self._path))
        elif root.parent_link:
            message = (
                f"the parent of '{self._state.name}' is '{parent}', but its virtual joint '{root.name}' moves in "
                f"'{root.parent_link}': the pose is converted through the frames between"
            )
            self._diagnostics.note("other-parent", message, place_of(self._places, self._state, self._path))

    def names(self) -> None:
        """Check each joint and each link."""
        for joint in self._state.joints:
            self._joint(joint)
        for link in self._state.links:
            if link.name not in self._robot.link_index:
                message = f"robot '{self._robot.name}' has no link '{link.name}'"
                self._diagnostics.error(
                    "unknown-link", message, self._at(link), name=link.name, valid=self._robot.link_names
                )

    def _at(self, item: JointState | LinkState) -> SourcePlace:
        return place_of(self._places, item, element_path(item, self._path))

    def _identity(self) -> None:
        if describes_another_robot(self._state, self._robot):
            message = f"the state is of another version of '{self._robot.name}': rs:hash differs from that of its URDF"
            self._diagnostics.warning("other-robot", message, place_of(self._places, self._state, self._path))

    def _joint(self, state: JointState) -> None:
        index = self._robot.joint_index.get(state.name)
        if index is None:
            message = f"robot '{self._robot.name}' has no joint '{state.name}'"
            self._diagnostics.error(
                "unknown-joint", message, self._at(state), name=state.name, valid=self._robot.joint_names
            )
            return
        for fault in faults(self._robot.joints[index], state):
            self._report(fault, self._robot.joints[index], state)

    def _report(self, fault: JointFault, joint: JointModel, state: JointState) -> None:
        if fault.limits is not None and state.positions is not None:
            what, lower, upper = fault.limits[1:]
            message = (
                f"joint '{joint.name}' is at {state.positions[0]:.9g}, outside its {what} {lower:.9g} to {upper:.9g}"
            )
            self._diagnostics.warning(fault.code, message, self._at(state))
        elif fault.code == "quaternion-length":
            message = f"the quaternion of floating joint '{joint.name}' has length {fault.length:.9g}; it is normalised"
            self._diagnostics.warning(fault.code, message, self._at(state))
        else:
            must = " or ".join(map(str, fault.allowed))
            messages = {
                "virtual-joint-state": f"'{joint.name}' is a virtual joint: its state is the model's <parent>, <pose> "
                "and <twist>",
                "wrong-count": f"{joint.type.value} joint '{joint.name}' has {fault.stated} {fault.what}; it must have "
                f"{must}",
                "zero-quaternion": f"the quaternion of floating joint '{joint.name}' is all zeros",
            }
            self._diagnostics.error(fault.code, messages[fault.code], self._at(state))

    def _mimics(self) -> None:
        stated = {joint.name: joint for joint in self._state.joints if joint.positions is not None}
        space = self._kinematics.space
        values = joint_values(self._state, space)
        differences = space.leader_differences(values.q)
        for joint, leader, _ in followings(self._robot):
            if not {joint.name, leader.name} <= stated.keys() & values.positions_of:
                continue
            where = space.positions_of(joint)
            off, at = float(np.abs(differences[where]).max()), values.q[where]
            if not off <= MIMIC_TOLERANCE:
                expected, found = (" ".join(f"{x:.9g}" for x in row) for row in (at - differences[where], at))
                message = f"joint '{joint.name}' mimics '{leader.name}' and should be at {expected}; it is at {found}"
                self._diagnostics.warning("mimic-disagrees", message, self._at(stated[joint.name]))

    def _on_the_robot(self, world: ResolvedWorld) -> None:
        """Report the values that the robot cannot take, and the joints whose values are computed from other values."""
        with np.errstate(all="ignore"):
            applied = apply_model_state(self._state, world, self._kinematics.model)
        self._loops(applied.positions)
        links = {link.name: link for link in self._state.links}
        whole = place_of(self._places, self._state, self._path)
        for item in applied.refused:
            code = item.code or _REFUSED.get(item.kind)
            if code:
                link = item.name if item.kind == "link" else self._child_of(item)
                place = self._at(links[link]) if link in links else whole
                self._diagnostics.warning(code, str(item), place)
        derived = [item.name for item in applied.items if item.derived]
        if derived:
            joints = "1 joint" if len(derived) == 1 else f"{len(derived)} joints"
            values = f"the values of {joints} of '{self._state.name}'"
            message = f"{values} are computed from other stated values: {_names(derived)}"
            self._diagnostics.note("derived-joints", message, whole)
        active = [joint.name for joint in self._robot.joints if joint.is_active and not joint.virtual]
        refused = {joint.name for joint in self._state.joints if joint.positions is not None}
        missing = [name for name in active if name in applied.kept_joints and name not in refused]
        if missing:
            message = (
                f"{len(missing)} of {len(active)} joints of '{self._state.name}' have no position: {_names(missing)}"
            )
            self._diagnostics.warning("missing-joint-state", message, whole)

    def _loops(self, closed: FloatArray) -> None:
        """Report stated positions that differ from those at which the loops close."""
        for state in self._state.joints if self._robot.constraints else ():
            joint = self._robot.joint(state.name) if state.name in self._robot.joint_index else None
            position = None if joint is None else stated_positions(joint, state)
            if joint is None or position is None:
                continue
            expected = closed[self._kinematics.space.positions_of(joint)]
            if not joint.motion.difference(position.tolist(), expected.tolist()) <= MIMIC_TOLERANCE:
                needs = " ".join(f"{value:.9g}" for value in expected)
                message = f"joint '{joint.name}' is in a closed loop and should be at {needs}"
                self._diagnostics.warning("loop-disagrees", message, self._at(state))

    def _child_of(self, item: RestoreItem) -> str:
        return self._robot.joint(item.name).child_link if item.name in self._robot.joint_index else ""


def _names(names: list[str]) -> str:
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")


# Matching of a state's models with robots: by name, by hash, and by likeness.


@record(frozen=True, slots=True)
class Matches:
    """Models and robots that belong together.

    Attributes:
        robot_of: model → robot.
        likely: model → the robot that it resembles, with another name and ``rs:hash``; the user decides.

    """

    robot_of: Mapping[str, str]
    likely: Mapping[str, str]


def match_models(models: Sequence[ModelState], robots: Mapping[str, RobotModel]) -> Matches:
    """Return the robot of each model, by the robots' names.

    A model is the robot of its name. Otherwise it is the only other robot with its ``rs:hash``, if no other remaining
    model has that hash. A remaining model with the joints or links of one robot, or with a similar name, is *likely*
    that robot.
    """
    matches = {model.name: model.name for model in models if model.name in robots}
    unmatched = [model for model in models if model.name not in matches]
    free = {name: robot for name, robot in robots.items() if name not in matches}
    counts = Counter(model.urdf_sha256 for model in unmatched)
    for model in unmatched:
        same = [name for name, robot in free.items() if is_of(model.urdf_sha256, robot)]
        if len(same) == 1 and counts[model.urdf_sha256] == 1:
            matches[model.name] = same[0]
    taken = set(matches.values())
    free = {name: robot for name, robot in free.items() if name not in taken}
    likely = {}
    for model in unmatched:
        robot = None if model.name in matches else _likeness(model, free)
        if robot is not None:
            likely[model.name] = robot
    return Matches(matches, likely)


def _likeness(model: ModelState, robots: Mapping[str, RobotModel]) -> str | None:
    """Return the only robot that a model resembles; None if there is none."""
    if model.joints or model.links:
        alike = [name for name, robot in robots.items() if _has_its_parts(model, robot)]
        return alike[0] if len(alike) == 1 else None
    alike = [name for name in robots if name.lower() in model.name.lower() or model.name.lower() in name.lower()]
    near = alike or nearest_names(model.name, robots, 1)
    return near[0] if len(near) == 1 else None


def _has_its_parts(model: ModelState, robot: RobotModel) -> bool:
    joints = [joint.name for joint in model.joints]
    links = [link.name for link in model.links]
    return _all_in(joints, robot.joint_index) and _all_in(links, robot.link_index)


def _all_in(names: Sequence[str], known: Collection[str]) -> bool:
    return all(name in known for name in names)
