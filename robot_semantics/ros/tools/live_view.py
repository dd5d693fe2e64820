# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A running robot for the viewer: its descriptions from their topics, its joints and its place from TF."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import rclpy
from rcl_interfaces.srv import GetParameters
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.kinematics.local import LocalTransforms
from robot_semantics.kinematics.observe import JointObserver
from robot_semantics.model.loading import robot_from_text
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.ros.messages.maker import matrix_of
from robot_semantics.ros.node import qos
from robot_semantics.ros.tools.service_caller import ServiceCaller
from robot_semantics.ros.tools.snapshot_client import call_snapshot_service
from robot_semantics.state.cdr import stamp_ns
from robot_semantics.state.snapshot_store import SnapshotStore
from robot_semantics.transforms import invert
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.viewer.opening import moment_of
from robot_semantics.viewer.parts import VISUALS, Kind, robot_parts
from robot_semantics.viewer.stage import Actor, Moment, Stage, Stance

THIS_CENTURY_NS = 978_307_200 * 1_000_000_000

SEMANTIC_PATIENCE_S = 1.0
"""How long an SRDF may come after the URDF [s]."""


class LiveRobot:
    """Follows the robot that a running node publishes; use it in a ``with`` statement.

    Whatever publishes the description and TF will do: this package's node, robot_state_publisher, a simulator.

    Attributes:
        stage: the robot as it stood at first.
        heard: the position variables of which TF has told something.
    """

    def __init__(
        self,
        node: str,
        timeout_s: float,
        package_paths: Sequence[str],
        diagnostics: Diagnostics,
        kinds: Sequence[Kind] = VISUALS,
    ) -> None:
        """Wait for the robot's description, at most `timeout_s` [s].

        Args:
            node: the node whose snapshot services are asked.
            timeout_s: how long to wait, and how long a snapshot may take.
            package_paths: folders of packages with meshes.
            diagnostics: takes the problems of the descriptions.
            kinds: what is shown of it, as for `robot_parts`.

        Raises:
            RobotSemanticsError: no description came.
            DescriptionError: the URDF gives no tree.
        """
        self._asked, self._timeout_s = node, timeout_s
        self._news = threading.Condition()
        self._transforms: dict[str, tuple[str, FloatArray]] = {}
        self._number, self._stamp_ns = 0, 0
        self._texts: dict[str, str] = {}
        self._commands: dict[str, Any] = {}
        self._context = Context()
        rclpy.init(args=[], context=self._context)
        self._node = Node("robot_semantics_view", context=self._context, enable_rosout=False)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        try:
            for topic, profile in (("/tf", qos.TF), ("/tf_static", qos.STATIC_LISTENER)):
                self._node.create_subscription(TFMessage, topic, self._heard, qos.fresh(profile))
            model = self._model(diagnostics)
            parts = robot_parts(model, PackageResolver(package_paths), None, diagnostics, kinds=kinds)
            self._actor = Actor(model.name, model, parts, model.root_joint.parent_link or "world")
            self._neutral = LocalTransforms(model).matrices(self._actor.kinematics.space.neutral())
            self._observer = JointObserver(model)
            self._q = self._actor.kinematics.space.neutral()
            self.heard: frozenset[str] = frozenset()
            self.stage = Stage(model.name, (self._actor,), (self._moment(),))
        except BaseException:
            self._close()
            raise
        self._stopping = False
        self._thread = threading.Thread(target=self._spin, name="live_view", daemon=True)
        self._thread.start()

    def __enter__(self) -> LiveRobot:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping = True
        self._executor.wake()
        self._thread.join(5.0)
        self._close()

    def wait(self, seen: int, timeout: float) -> tuple[int, Moment] | None:
        """Return the newest moment and its number once that is above `seen`; None if none came in `timeout` seconds."""
        with self._news:
            if not self._news.wait_for(lambda: self._number > seen, timeout):
                return None
            return self._number, self._moment()

    def ask(self, what: str, name: str) -> list[str]:
        """Save, restore or delete a snapshot by the node's services; without a name the newest is restored.

        Raises:
            RobotSemanticsError: the node is not there, or says that it failed.
        """
        request: dict[str, Any] = {"name": name or ("last" if what == "restore" else "")}
        answer = call_snapshot_service(self._asked, what, self._timeout_s, **request)
        if what == "save":
            return [f"saved {answer.answer.path}", *(f"missing: {item}" for item in answer.missing)]
        if what == "delete":
            return [f"deleted {name}"]
        return [answer.message, *(f"not restored: {item}" for item in answer.not_restored)]

    def snapshots(self) -> list[tuple[str, str]]:
        """Return the node's snapshots, the newest first: name, and time with comment.

        Raises:
            RobotSemanticsError: the node is not there.
        """
        infos = call_snapshot_service(self._asked, "list", self._timeout_s).answer.snapshots
        store = self._store()
        return [(info.name, _about(info, store)) for info in reversed(infos)]

    def snapshot(self, name: str) -> Moment:
        """Return what a snapshot states of the robot; it is read from its file.

        Raises:
            RobotSemanticsError: the node is not there, or the file is not on this machine or cannot be read.
        """
        state, path = self._store().load(name)
        return moment_of(path, state, {self._actor.name: self._actor}, Diagnostics(), set())

    def can_jog(self) -> bool:
        """Tell whether anything subscribes to the commands of the robot's joints."""
        return self._command_topic() is not None

    def jog(self, positions: Mapping[str, float]) -> None:
        """Command joints to positions [rad, m], by name; nothing happens where nobody listens."""
        topic = self._command_topic()
        if topic is None:
            return
        if topic not in self._commands:
            self._commands[topic] = self._node.create_publisher(JointState, topic, 10)
        message = JointState(name=list(positions), position=[float(value) for value in positions.values()])
        self._commands[topic].publish(message)

    def _command_topic(self) -> str | None:
        names = (f"{self._actor.name}/joint_command", "joint_command")
        return next((name for name in names if self._node.count_subscribers(name)), None)

    def _store(self) -> SnapshotStore:
        """Return the node's snapshots as this machine has them."""
        with ServiceCaller(self._timeout_s) as caller:
            answer = caller.call(
                GetParameters, f"{self._asked.rstrip('/')}/get_parameters", names=["snapshots.directory"]
            )
        folder = answer.values[0].string_value if answer.values else ""
        return SnapshotStore(Path(folder).expanduser())

    def _model(self, diagnostics: Diagnostics) -> RobotModel:
        for topic in ("robot_description", "robot_description_semantic"):
            self._node.create_subscription(String, topic, self._taker(topic), qos.fresh(qos.LATCHED))
        end = time.monotonic() + self._timeout_s
        while "robot_description" not in self._texts:
            if time.monotonic() > end:
                raise RobotSemanticsError(
                    f"no robot_description came within {self._timeout_s:g} s: is a node running? see 'doctor'"
                )
            self._executor.spin_once(timeout_sec=0.1)
        end = time.monotonic() + SEMANTIC_PATIENCE_S
        while "robot_description_semantic" not in self._texts and time.monotonic() < end:
            self._executor.spin_once(timeout_sec=0.1)
        urdf, srdf = self._texts["robot_description"], self._texts.get("robot_description_semantic")
        return robot_from_text(urdf, srdf or None, strict=False, diagnostics=diagnostics)

    def _taker(self, topic: str) -> Any:
        return lambda message: self._texts.update({topic: message.data})

    def _heard(self, message: Any) -> None:
        with self._news:
            for transform in message.transforms:
                self._stamp_ns = max(self._stamp_ns, stamp_ns(transform.header.stamp))
                T = matrix_of(transform.transform)
                if np.isfinite(T).all():
                    self._transforms[transform.child_frame_id] = (transform.header.frame_id, T)
            self._number += 1
            self._news.notify_all()

    def _spin(self) -> None:
        while not self._stopping and self._context.ok():
            self._executor.spin_once(timeout_sec=0.5)

    def _moment(self) -> Moment:
        """Return where everything is by the transforms heard so far; a joint not heard of stays where it was."""
        model, space = self._actor.model, self._actor.kinematics.space
        prefix = self._prefix()
        T = np.array(self._neutral)
        heard: list[slice] = []
        for joint in model.joints:
            parent, found = self._transforms.get(prefix + joint.child_link, (None, None))
            own = joint.parent_link if joint.virtual else prefix + joint.parent_link
            if found is not None and parent == own:
                T[joint.index] = found
                if joint.position_count:
                    heard.append(space.positions_of(joint))
        observed = self._observer.observe(T, self._q).q
        q = np.array(self._q)
        for where in heard:
            q[where] = observed[where]
        self._q = q
        self.heard = frozenset(name for where in heard for name in space.names[where])
        T_world_root = self._in_world(prefix + model.root_link)
        base = T_world_root @ invert(self._actor.kinematics.T_parent_root(q))
        links = {prefix + name for name in model.link_names}
        frames = {name: self._in_world(name) for name in self._transforms if name not in links}
        parent_frame = model.root_joint.parent_link
        T_world_parent = self._in_world(parent_frame) if parent_frame else np.eye(4)
        label = _when(self._stamp_ns)
        return Moment(
            label, {self._actor.name: Stance(q, base)}, self._stamp_ns, frames, {self._actor.name: T_world_parent}
        )

    def _in_world(self, frame: str) -> FloatArray:
        """Return the pose of a frame in the top of its tree; a circle ends where it closes."""
        T = np.eye(4)
        passed: set[str] = set()
        while frame in self._transforms and frame not in passed:
            passed.add(frame)
            frame, T_parent_frame = self._transforms[frame]
            T = T_parent_frame @ T
        return T

    def _prefix(self) -> str:
        """Return what stands before the robot's link names on TF: what most frames say."""
        links = set(self._actor.model.link_names[1:])
        votes = Counter(
            frame[: len(frame) - len(link)]
            for frame in self._transforms
            for link in ((frame,) if frame in links else [name for name in links if frame.endswith(name)])
        )
        return votes.most_common(1)[0][0] if votes else ""

    def _close(self) -> None:
        self._executor.shutdown()
        self._node.destroy_node()
        self._context.try_shutdown()


def _when(time_ns: int) -> str:
    """Return a time in words: day and hour where it is one of this century, else seconds, as simulations count."""
    if time_ns < THIS_CENTURY_NS:
        return f"{time_ns / 1e9:.3f} s"
    at = datetime.fromtimestamp(time_ns // 1_000_000_000).astimezone()
    return f"{at:%Y-%m-%d %H:%M:%S}.{time_ns // 1_000_000 % 1000:03d}"


def _about(info: Any, store: SnapshotStore) -> str:
    """Return in words what is known of a snapshot: time, comment, and where its file is here models and size."""
    parts = [_when(stamp_ns(info.stamp)) if info.has_stamp else "no time"]
    try:
        state, path = store.load(info.name)
        parts.append(", ".join(model.name for model in state.models[:3]) + " …" * (len(state.models) > 3))
        parts.append(f"{path.stat().st_size / 1e3:.1f} kB")
    except (RobotSemanticsError, OSError):
        parts.append("its file is not on this machine")
    return " · ".join([*parts, *([info.comment] if info.comment else [])])


def joint_positions(timeout_s: float) -> dict[str, float]:
    """Return where the joints of the running robot stand on TF [rad, m], by variable, those that it tells of.

    Raises:
        RobotSemanticsError: no robot tells of any joint within `timeout_s` [s].
    """
    end = time.monotonic() + timeout_s
    with LiveRobot("", timeout_s, (), Diagnostics(), kinds=()) as robot:
        (actor,) = robot.stage.actors
        space = actor.kinematics.space
        wanted = {name for joint in space.joints if not joint.virtual for name in joint.variable_names}
        seen = -1
        while time.monotonic() < end:
            found = robot.wait(seen, 0.2)
            if found is None:
                continue
            seen, moment = found
            if robot.heard >= wanted or (robot.heard and time.monotonic() > end - 0.5 * timeout_s):
                q = moment.stances[actor.name].q
                return {name: float(q[space.index[name]]) for name in robot.heard}
    raise RobotSemanticsError(f"no transform of a joint came within {timeout_s:g} s")
