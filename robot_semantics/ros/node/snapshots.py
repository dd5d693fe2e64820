# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The node's snapshots: save, restore, list and delete the state of the whole world as USDF files."""

from __future__ import annotations

from pathlib import Path

from builtin_interfaces.msg import Time
from rclpy.clock import Clock, ClockType
from robot_semantics_interfaces import srv
from robot_semantics_interfaces.msg import SnapshotInfo

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import ArrayError, UnknownNameError
from robot_semantics.ros.messages.maker import MAKER
from robot_semantics.ros.messages.world_messages import item_messages, note_messages
from robot_semantics.ros.node import parameter_table as checks
from robot_semantics.ros.node.parameter_table import Parameter, ParameterError
from robot_semantics.ros.node.restore import Restore
from robot_semantics.ros.node.robot_states import RobotStates
from robot_semantics.ros.node.robots import Robots
from robot_semantics.ros.node.world import Taken, World
from robot_semantics.ros.node.world_frames import WorldFrames
from robot_semantics.simulation.magnitudes import check_sizes
from robot_semantics.state.snapshot_store import SnapshotError, SnapshotStore, Texts
from robot_semantics.usdf.descriptions import beside
from robot_semantics.usdf.world_state import WorldState

DEFAULT_FOLDER = "~/.ros/robot_semantics/snapshots"


TABLE: tuple[Parameter, ...] = (
    Parameter("snapshots.directory", DEFAULT_FOLDER, "Folder of the snapshots.", checks.text, True),
    Parameter(
        "snapshots.allow_paths", False, "Take paths for names, outside the folder and through links.", checks.flag, True
    ),
    Parameter("snapshots.max_bytes", 64_000_000, "Largest snapshot saved or read.", checks.Numbers(least=1), True),
    Parameter(
        "snapshots.max_age",
        0.0,
        "Refuse to save where a value is older than this against the newest one [s]; 0: any age.",
        checks.not_negative,
        True,
    ),
    Parameter("snapshots.frames", True, "Save the TF frames outside the robots, too.", checks.flag, True),
    Parameter("snapshots.autosave_period", 0.0, "Save by itself so often [s]; 0: never.", checks.not_negative, True),
    Parameter(
        "snapshots.autosave_keep", 10, "Number of automatic snapshots that are kept.", checks.Numbers(least=1), True
    ),
)


class Snapshots:
    """Offers ``~/save_snapshot``, ``~/restore_snapshot``, ``~/list_snapshots`` and ``~/delete_snapshot``."""

    def __init__(self, robots: Robots, states: RobotStates, world: World, frames: WorldFrames) -> None:
        """Declare the parameters and offer the services.

        Raises:
            ParameterError: a parameter means nothing.
        """
        self._robots, self._states, self._world, self._frames = robots, states, world, frames
        node = robots.node
        values = node.declare_table(TABLE)
        self._store = SnapshotStore(
            _folder(values["snapshots.directory"] or DEFAULT_FOLDER),
            allow_paths=values["snapshots.allow_paths"],
            max_bytes=int(values["snapshots.max_bytes"]),
        )
        self._max_age_ns = int(values["snapshots.max_age"] * 1e9)
        self._keep = int(values["snapshots.autosave_keep"])
        for kind, name, answer in (
            (srv.SaveSnapshot, "save_snapshot", self._save),
            (srv.RestoreSnapshot, "restore_snapshot", self._restore),
            (srv.ListSnapshots, "list_snapshots", self._list),
            (srv.DeleteSnapshot, "delete_snapshot", self._delete),
        ):
            node.create_service(kind, f"~/{name}", answer, callback_group=world.group)
        period = float(values["snapshots.autosave_period"])
        if period > 0.0:
            clock, what = Clock(clock_type=ClockType.STEADY_TIME), "not saved automatically"
            node.create_timer(period, self._autosave, world.group, clock, what=what)

    async def _save(
        self, request: srv.SaveSnapshot.Request, response: srv.SaveSnapshot.Response
    ) -> srv.SaveSnapshot.Response:
        taken = await self._world.take(max_age_ns=self._max_age_ns)
        name = request.name or _name_by_time(taken.state)
        path = self._store.save(
            name, taken.state, request.comment, overwrite=request.overwrite, texts=self._texts(taken)
        )
        response.path, response.missing = str(path), item_messages(taken.missing)
        response.stamp = MAKER.time(taken.state.time_ns or 0)
        response.success = True
        return response

    async def _restore(
        self, request: srv.RestoreSnapshot.Request, response: srv.RestoreSnapshot.Response
    ) -> srv.RestoreSnapshot.Response:
        if bool(request.name) == bool(request.text):
            raise SnapshotError("give the name of a snapshot or a text, one of the two")
        find, diagnostics = None, Diagnostics()
        if request.text:
            state = self._store.parse(request.text, "<text>", diagnostics)
        else:
            state, path = self._store.load(request.name, diagnostics)
            find = beside(path)
        check_sizes(state)
        models = tuple(request.models)
        for model in models:
            if model not in {stated.name for stated in state.models}:
                raise UnknownNameError("model of the snapshot", model, [stated.name for stated in state.models])
        restore = Restore(
            self._robots,
            self._states,
            self._world,
            self._frames,
            state,
            models,
            partial=request.partial,
            dry_run=request.dry_run,
            find=find,
        )
        report = await restore.carry_out()
        response.success = report.complete or (request.partial and bool(report.restored))
        response.message = report.message
        response.restored = item_messages(report.restored) if response.success else []
        response.not_restored = item_messages(report.not_restored)
        response.notes = note_messages([*map(str, diagnostics.warnings), *report.notes])
        return response

    async def _list(
        self, _request: srv.ListSnapshots.Request, response: srv.ListSnapshots.Response
    ) -> srv.ListSnapshots.Response:
        for info in self._store.infos():
            stamp = _stamp(info.time_ns)
            saved = MAKER.time(info.saved_ns)
            response.snapshots.append(
                SnapshotInfo(
                    name=info.name,
                    comment=info.comment,
                    has_stamp=stamp is not None,
                    stamp=stamp or Time(),
                    saved=saved,
                )
            )
        response.success = True
        return response

    async def _delete(
        self, request: srv.DeleteSnapshot.Request, response: srv.DeleteSnapshot.Response
    ) -> srv.DeleteSnapshot.Response:
        self._store.delete(request.name)
        response.success = True
        return response

    async def _autosave(self) -> None:
        taken = await self._world.take(max_age_ns=self._max_age_ns)
        self._store.autosave(taken.state, self._keep, texts=self._texts(taken))

    def _texts(self, taken: Taken) -> dict[str, Texts]:
        """Return the descriptions of those models that are the node's robots."""
        by_name = {served.name: served for served in self._robots.served}
        texts = {}
        for model, robot in taken.robots.items():
            served = by_name.get(robot)
            if served is not None and served.description is not None:
                texts[model] = Texts(served.description.model.urdf_text, served.description.srdf)
        return texts


def _folder(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise ParameterError(f"parameter 'snapshots.directory' must be a folder, not '{name}': {error}") from None


def _stamp(time_ns: int | None) -> Time | None:
    """Return the message of a time; None where none is stated, or one that ROS cannot say."""
    try:
        return None if time_ns is None else MAKER.time(time_ns)
    except ArrayError:
        return None


def _name_by_time(state: WorldState) -> str:
    seconds, nanoseconds = divmod(state.time_ns or 0, 1_000_000_000)
    return f"snapshot-{seconds}.{nanoseconds:09}"
