# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""World states as TFMessage and back: models, links and frames as transforms.

A model is the frame of its root link if its robot is known, else a frame with the model's name. With its robot, a
link's parent is its parent link, as in robot_state_publisher; without its robot, the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from geometry_msgs.msg import TransformStamped
from tf2_msgs.msg import TFMessage

from robot_semantics.base.errors import ArrayError
from robot_semantics.base.names import duplicates, frame_name
from robot_semantics.base.nanoseconds import stamp_ns
from robot_semantics.cdr.fill import TransformMessage
from robot_semantics.cdr.layout import CdrError
from robot_semantics.convert.conversion import Converted
from robot_semantics.convert.messages import Transform
from robot_semantics.live.frames import TransformRows
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.ros.messages.maker import MAKER, deserialized, matrix_from_message
from robot_semantics.transforms import invert, xyz_quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.transforms.pose import Pose, pose_from_matrix, pose_matrix
from robot_semantics.usdf.frames import without_parent_links
from robot_semantics.usdf.robot import complete_model, with_carriers
from robot_semantics.usdf.world_state import WORLD, Frame, LinkState, ModelState, WorldState


def to_transforms(
    state: WorldState,
    *,
    robots: Mapping[str, RobotModel] | None = None,
    prefixes: Mapping[str, str] | None = None,
) -> Converted[TFMessage]:
    """Return the transforms of a world state, and the data that transforms cannot hold.

    Args:
        state: the state.
        robots: the robots by their models' names.
        prefixes: the frame prefix of each model's links, by model; empty by default.

    Raises:
        ArrayError: two transforms would have one child frame.
        NotStatedError: the pose of a carrying link is not stated and cannot be computed.
    """
    robots = robots or {}
    prefixes = {name: frame_name(prefix) for name, prefix in (prefixes or {}).items()}
    links = {name: robot.link_index for name, robot in robots.items()}
    on_links = {body.name for body in state.bodies if body.parent_link in links.get(body.parent, ())}
    state = without_parent_links(with_carriers(state, robots), but=on_links)
    roots = {model.name: _root_frame(model.name, robots, prefixes) for model in state.models}
    omissions: list[str] = []
    MAKER.time(state.time_ns or 0)  # refuses values outside of ROS's range
    transforms: list[Transform] = []

    def add(parent: str, child: str, T: FloatArray) -> None:
        transforms.append(Transform(parent, child, xyz_quat_from_matrix(T).tolist()))

    for body in state.bodies:
        if body.pose is not None:
            add(_above(body, roots, prefixes), roots.get(body.name, body.name), pose_matrix(body.pose))
        omissions += _lost_of(body)
    for model in state.models:
        prefix, root = prefixes.get(model.name, ""), roots[model.name]
        for parent, name, T in _link_transforms(model, robots.get(model.name)):
            add(root if parent is None else prefix + parent, prefix + name, T)
        if any(link.twist is not None or link.wrench is not None for link in model.links):
            omissions.append(f"the twists and wrenches of the links of '{model.name}'")
    if twice := duplicates(row.child for row in transforms):
        raise ArrayError("prefixes", f"more than one transform has the child frame {', '.join(twice)}")
    return Converted(MAKER.transforms(state.time_ns or 0, transforms), tuple(omissions))


def _root_frame(model: str, robots: Mapping[str, RobotModel], prefixes: Mapping[str, str]) -> str:
    return prefixes.get(model, "") + robots[model].root_link if model in robots else model


def _link_transforms(model: ModelState, robot: RobotModel | None) -> Iterator[tuple[str | None, str, FloatArray]]:
    """Yield (parent, link, T_parent_link) of a model's links; without a parent link, the pose is in the model's
    frame.
    """
    whole = model if robot is None else complete_model(model, robot)
    poses = {link.name: pose_matrix(link.pose) for link in whole.links if link.pose is not None}
    for name, T in poses.items():
        parent = _parent_link(robot, name)
        if parent in poses:
            yield parent, name, invert(poses[parent]) @ T
        elif robot is None or name != robot.root_link:
            yield None, name, T


def _parent_link(robot: RobotModel | None, link: str) -> str:
    """Return a link's parent link; empty for the root link, and for a link that the robot does not have."""
    index = -1 if robot is None else robot.link_index.get(link, -1)
    return robot.links[robot.links[index].parent].name if robot is not None and index > 0 else ""


def _lost_of(body: ModelState | Frame) -> Iterator[str]:
    """Yield the data of a body that transforms cannot hold."""
    if body.pose is None:
        yield f"'{body.name}', as its pose in '{body.parent}' is not stated"
    if body.twist is not None:
        yield f"the twist of '{body.name}'"


def _above(body: ModelState | Frame, roots: Mapping[str, str], prefixes: Mapping[str, str]) -> str:
    """Return the frame of a body's pose."""
    if body.parent_link is not None:
        return prefixes.get(body.parent, "") + body.parent_link
    return roots.get(body.parent, body.parent)


def from_transforms(
    transforms: Sequence[TransformStamped],
    *,
    robots: Mapping[str, RobotModel] | None = None,
    prefixes: Mapping[str, str] | None = None,
) -> Converted[WorldState]:
    """Return the world state of transforms; of several with one child frame, the last one is used.

    Links of `robots` become links of their models; all other names become frames. A frame or robot on a link has this
    link as its parent link. If no transforms give the link's pose, its parent is the model, and it has no pose. A frame
    without any transform is in the world without a stated pose.

    Raises:
        ArrayError: a transform is not finite, or the transforms form a cycle.
    """
    graph = _Graph(transforms, robots or {}, prefixes or {})
    models = tuple(graph.model(name) for name in graph.robots)
    frames = [graph.frame(child) for child in graph.parents if child not in graph.owners]
    known = {WORLD, *(frame.name for frame in frames), *graph.robots}
    parents = (*(model.parent for model in models), *(frame.parent for frame in frames))
    tops = dict.fromkeys(parent for parent in parents if parent not in known)
    if len(graph.stamps) > 1:
        graph.losses.append(f"{len(graph.stamps)} different stamps")
    stamp = next(iter(graph.stamps), 0) if len(graph.stamps) == 1 else 0
    state = WorldState(models=models, frames=(*frames, *map(Frame, tops)), time_ns=stamp or None)
    return Converted(state, tuple(graph.losses))


class _Graph:
    """Transforms by their child frames, and the frames that are links of robots."""

    def __init__(
        self, transforms: Sequence[TransformStamped], robots: Mapping[str, RobotModel], prefixes: Mapping[str, str]
    ) -> None:
        self.robots = robots
        prefixes = {name: frame_name(prefix) for name, prefix in prefixes.items()}
        self.parents: dict[str, str] = {}
        self.stamps: set[int] = set()
        self.losses: list[str] = []
        self._local: dict[str, FloatArray] = {}
        for message in transforms:
            child = frame_name(message.child_frame_id)
            self.parents[child] = frame_name(message.header.frame_id)
            self._local[child] = matrix_from_message(message.transform)
            self.stamps.add(stamp_ns(message.header.stamp))
        self.owners = {prefixes.get(name, "") + link: name for name in robots for link in robots[name].link_names}
        self._roots = {name: prefixes.get(name, "") + robot.root_link for name, robot in robots.items()}
        self._prefixes = prefixes
        self._refuse_circles()

    def model(self, name: str) -> ModelState:
        """Return a robot's state: the root link's pose, and the links that transforms connect to the root link."""
        root, prefix = self._roots[name], self._prefixes.get(name, "")
        links = []
        for link in self.robots[name].link_names:
            T = self._to_root(prefix + link, root)
            if T is not None:
                links.append(LinkState(link, pose_from_matrix(T)))
        parent, carrier, pose = self._place(root)
        return ModelState(name, parent, pose, links=tuple(links), parent_link=carrier)

    def frame(self, child: str) -> Frame:
        """Return a frame."""
        parent, link, pose = self._place(child)
        return Frame(child, parent, pose, parent_link=link)

    def _place(self, child: str) -> tuple[str, str | None, Pose | None]:
        """Return the parent of a frame or root link, its carrying link, if any, and the pose."""
        if child not in self.parents:
            return WORLD, None, None
        parent, pose = self.parents[child], pose_from_matrix(self._local[child])
        owner = self.owners.get(parent)
        if owner is None:
            return parent, None, pose
        root = self._roots[owner]
        if parent == root:
            return owner, None, pose
        if self._to_root(parent, root) is None:
            self.losses.append(f"the pose of '{child}', as transforms do not lead from its link '{parent}' to '{root}'")
            return owner, None, None
        return owner, parent.removeprefix(self._prefixes.get(owner, "")), pose

    def _to_root(self, child: str, root: str) -> FloatArray | None:
        """Return (4, 4) the pose of `child` in `root`; None without transforms between them."""
        T = np.eye(4)
        while child != root:
            if child not in self.parents:
                return None
            T = self._local[child] @ T
            child = self.parents[child]
        return T

    def _refuse_circles(self) -> None:
        done: set[str] = set()
        for start in self.parents:
            trail: list[str] = []
            frame = start
            while frame in self.parents and frame not in done:
                if frame in trail:
                    raise ArrayError("transforms", f"'{frame}' is its own ancestor: {' → '.join((*trail, frame))}")
                trail.append(frame)
                frame = self.parents[frame]
            done.update(trail)


def rows_message(rows: TransformRows) -> TFMessage:
    """Return the message of transforms as rows of numbers."""
    named = zip(rows.frames, rows.values.tolist(), strict=True)
    return MAKER.transforms(rows.stamp_ns, [Transform(parent, child, row) for (parent, child), row in named])


def raw_transforms_agree() -> bool:
    """Return True if the middleware reads our CDR bytes of transforms correctly."""
    frames = [("a", "bc"), ("def", "ghij"), ("klmno", "p")]
    rows = TransformRows(frames, np.arange(21, dtype=np.float64).reshape(3, 7) / 7.0, 1_234_567_890_123_456_789)
    try:
        read = deserialized(TransformMessage(frames).write(rows.stamp_ns, rows.values), TFMessage)
    except CdrError:
        return False
    return bool(read == rows_message(rows))
