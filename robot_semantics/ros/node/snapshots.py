# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The node's snapshots: save, restore, list and delete the state of the whole world as USDF files."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from rclpy.clock import Clock, ClockType
from robot_semantics_interfaces import srv
from robot_semantics_interfaces.msg import SnapshotInfo

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import ArrayError, UnknownNameError
from robot_semantics.base.nanoseconds import whole_nanoseconds
from robot_semantics.ros.messages.maker import MAKER
from robot_semantics.ros.messages.world_messages import item_messages, note_messages
from robot_semantics.ros.node.background import in_background
from robot_semantics.ros.node.parameters import SNAPSHOTS
from robot_semantics.ros.node.restore import Restore
from robot_semantics.ros.node.robot_states import RobotStates
from robot_semantics.ros.node.robots import Robots
from robot_semantics.ros.node.world import World, WorldCapture
from robot_semantics.ros.node.world_frames import WorldFrames
from robot_semantics.ros.running.parameter_table import ParameterError
from robot_semantics.simulation.magnitudes import check_magnitudes
from robot_semantics.state.report import RestoreReport
from robot_semantics.state.snapshot_store import SnapshotError, SnapshotStore
from robot_semantics.usdf.descriptions import FileFinder, beside
from robot_semantics.usdf.saved_descriptions import Texts
from robot_semantics.usdf.world_state import WorldState


class Snapshots:
    """Offers ``~/save_snapshot``, ``~/restore_snapshot``, ``~/list_snapshots`` and ``~/delete_snapshot``."""

    def __init__(self, robots: Robots, states: RobotStates, world: World, frames: WorldFrames) -> None:
        """Declare the parameters and offer the services.

        Raises:
            ParameterError: a parameter is invalid.
        """
        self._robots, self._states, self._world, self._frames = robots, states, world, frames
        node = robots.node
        values = node.declare_table(SNAPSHOTS)
        try:
            self._store = SnapshotStore.of_node(
                node.get_fully_qualified_name(),
                values["snapshots.directory"],
                allow_paths=values["snapshots.allow_paths"],
                max_bytes=int(values["snapshots.max_bytes"]),
            )
        except SnapshotError as error:
            raise ParameterError(f"parameter 'snapshots.directory' must be a folder: {error}") from None
        self._max_age_ns = whole_nanoseconds(values["snapshots.max_age"])
        self._keep = int(values["snapshots.autosave_keep"])
        self._autosaving = False
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
        name, texts = request.name or self._store.name_by_time(taken.state), self._texts(taken)
        path = await in_background(
            self._robots.node,
            self._store.save,
            name,
            taken.state,
            request.comment,
            overwrite=request.overwrite,
            texts=texts,
        )
        response.path, response.missing = str(path), item_messages(taken.missing)
        response.stamp = MAKER.time(taken.state.time_ns or 0)
        response.success = True
        return response

    async def _restore(
        self, request: srv.RestoreSnapshot.Request, response: srv.RestoreSnapshot.Response
    ) -> srv.RestoreSnapshot.Response:
        if bool(request.name) == bool(request.text):
            raise SnapshotError("give either the name of a snapshot or a text")
        diagnostics = Diagnostics()
        state, find = await in_background(self._robots.node, self._read, request, diagnostics)
        restore = Restore(
            self._robots,
            self._states,
            self._world,
            self._frames,
            state,
            tuple(request.models),
            partial=request.partial,
            dry_run=request.dry_run,
            find=find,
        )
        report = await restore.carry_out()
        return await in_background(self._robots.node, _restore_response, report, request.partial, diagnostics)

    def _read(
        self, request: srv.RestoreSnapshot.Request, diagnostics: Diagnostics
    ) -> tuple[WorldState, FileFinder | None]:
        """Return the state of a request, and the finder of the files that the state names.

        Raises:
            RobotSemanticsError: the state cannot be read, or has none of the requested models.
        """
        find = None
        if request.text:
            state = self._store.parse(request.text, "<text>", diagnostics)
        else:
            state, path = self._store.load(request.name, diagnostics)
            self._store.check_descriptions(state, path)
            find = beside(path)
        check_magnitudes(state)
        stated = {model.name for model in state.models}
        for model in request.models:
            if model not in stated:
                raise UnknownNameError("model of the snapshot", model, stated)
        return state, find

    async def _list(
        self, _request: srv.ListSnapshots.Request, response: srv.ListSnapshots.Response
    ) -> srv.ListSnapshots.Response:
        for info in await in_background(self._robots.node, self._store.infos):
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
        await in_background(self._robots.node, self._store.delete, request.name)
        response.success = True
        return response

    async def _autosave(self) -> None:
        if self._autosaving:
            return
        self._autosaving = True
        try:
            taken = await self._world.take(max_age_ns=self._max_age_ns)
            await in_background(
                self._robots.node, self._store.autosave, taken.state, self._keep, texts=self._texts(taken)
            )
        finally:
            self._autosaving = False

    def _texts(self, taken: WorldCapture) -> dict[str, Texts]:
        """Return the descriptions of those models that are the node's robots."""
        by_name = {served.name: served for served in self._robots.served}
        texts = {}
        for model, robot in taken.robots.items():
            served = by_name.get(robot)
            if served is not None and served.description is not None:
                texts[model] = Texts(served.description.model.urdf_text, served.description.srdf)
        return texts


def _restore_response(report: RestoreReport, partial: bool, diagnostics: Diagnostics) -> srv.RestoreSnapshot.Response:
    success = report.complete or (partial and bool(report.restored))
    return srv.RestoreSnapshot.Response(
        success=success,
        message=report.message,
        restored=item_messages(report.restored) if success else [],
        not_restored=item_messages(report.not_restored),
        notes=note_messages([*map(str, diagnostics.warnings), *report.notes]),
    )


def _stamp(time_ns: int | None) -> Time | None:
    """Return the message of a time; None if the time is not stated or too large for ROS."""
    try:
        return None if time_ns is None else MAKER.time(time_ns)
    except ArrayError:
        return None
