# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""One node over real DDS as a place to put world states: restored by its service, and given back by the others."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any

from geometry_msgs.msg import TransformStamped
from robot_semantics_interfaces.srv import GetWorldState, RestoreSnapshot, SaveSnapshot
from support.domains import Domain
from support.nodes import LATCHED, Client, NodeProcess
from tf2_msgs.msg import TFMessage

from robot_semantics import WorldState, read_world, write_world
from robot_semantics.ros.messages.maker import pose_message
from robot_semantics.transforms.pose import Pose
from robot_semantics.usdf.reader import parse_world

NODE = "/robot_semantics"

# The domain of the client that is kept: without its lock, later tests would take it, and hear that client.
_held: list[Domain] = []


@lru_cache(maxsize=1)
def shared_client() -> Client:
    """Return a client in a domain of its own, kept for the rest of the process."""
    _held.append(Domain())
    return Client(_held[-1].number)


def transform(parent: str, child: str, pose: Pose, stamp_ns: int | None = None) -> TransformStamped:
    """Return a transform, stamped with the time now by default."""
    item = TransformStamped(child_frame_id=child)
    item.header.frame_id = parent
    stamp = divmod(time.time_ns() if stamp_ns is None else stamp_ns, 1_000_000_000)
    item.header.stamp.sec, item.header.stamp.nanosec = stamp
    message = pose_message(pose)
    at, item.transform.rotation = item.transform.translation, message.orientation
    at.x, at.y, at.z = message.position.x, message.position.y, message.position.z
    return item


class OneNode:
    """One node with some robots, each with its name and a slash before its frames, and foreign transforms on
    /tf_static.

    Args:
        robots: URDF and SRDF texts by name.
        folder: for snapshots and logs.
        static: transforms that another node publishes.
        parameters: further parameters of the node.
    """

    def __init__(
        self,
        robots: Mapping[str, tuple[str, str | None]],
        folder: Path,
        static: Sequence[TransformStamped] = (),
        client: Client | None = None,
        **parameters: Any,
    ) -> None:
        self.client = client or shared_client()
        self.folder = folder / "snapshots"
        values: dict[str, Any] = {"models": list(robots), "snapshots.directory": str(self.folder), **parameters}
        for name, (urdf, srdf) in robots.items():
            values[f"{name}.robot_description"] = urdf
            values[f"{name}.robot_description_semantic"] = srdf or ""
            values.setdefault(f"{name}.frame_prefix", f"{name}/")
        self._static = self.client.node.create_publisher(TFMessage, "/tf_static", LATCHED)
        if static:
            self._static.publish(TFMessage(transforms=list(static)))
        self.process = NodeProcess(folder / "node", self.client.domain, values)
        try:
            self._wait_for(static)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> OneNode:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the node."""
        self.client.node.destroy_publisher(self._static)
        self.process.stop()

    def _wait_for(self, static: Sequence[TransformStamped]) -> None:
        """Wait until the node has received the foreign transforms; parent frames of robots come first."""

        def heard() -> bool:
            placed = {body.name: body.pose for body in self.state().bodies if body.pose is not None}
            for item in static:
                # A root link's transform places the model.
                pose = placed.get(item.child_frame_id.removeprefix("/").split("/")[0])
                if pose is None or pose.xyz_rpy[0] != item.transform.translation.x:
                    return False
            return True

        self.client.until(heard, "the frames of others in the world state")

    def restore(self, state: WorldState | str, **fields: Any) -> Any:
        """Return the answer to a restore of a state."""
        text = state if isinstance(state, str) else write_world(state)
        request = RestoreSnapshot.Request(text=text, **fields)
        return self.client.call(RestoreSnapshot, f"{NODE}/restore_snapshot", request)

    def saved(self, name: str = "saved") -> tuple[WorldState, Any]:
        """Return the content of the file of `~/save_snapshot`, and the answer."""
        answer = self.client.call(
            SaveSnapshot, f"{NODE}/save_snapshot", SaveSnapshot.Request(name=name, overwrite=True)
        )
        assert answer.success, answer.message
        return read_world(answer.path), answer

    def state(self) -> WorldState:
        """Return what `~/get_world_state` says."""
        answer = self.client.call(GetWorldState, f"{NODE}/get_world_state", GetWorldState.Request(with_text=True))
        assert answer.success, answer.message
        return parse_world(answer.text)


def without_files(state: WorldState) -> WorldState:
    """Return a state without what only a file has: descriptions, comment, ages."""
    models = tuple(
        replace(
            model,
            description=None,
            semantic=None,
            age_ns=None,
            joints=tuple(replace(joint, age_ns=None) for joint in model.joints),
        )
        for model in state.models
    )
    frames = tuple(replace(frame, age_ns=None) for frame in state.frames)
    return replace(state, models=models, frames=frames, foreign=())
