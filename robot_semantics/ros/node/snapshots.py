# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The node's snapshots: save, restore, list and delete the state of the whole world as USDF files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from builtin_interfaces.msg import Time
from rclpy.clock import Clock, ClockType
from robot_semantics_interfaces import srv
from robot_semantics_interfaces.msg import SnapshotInfo

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import ArrayError, RobotSemanticsError, UnknownNameError
from robot_semantics.base.nanoseconds import whole_nanoseconds
from robot_semantics.live.samples import RobotSample, RootSource
from robot_semantics.live.world import AT_ORIGIN, LiveWorld
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.ros.messages.maker import MAKER
from robot_semantics.ros.messages.world_messages import item_messages, note_messages
from robot_semantics.ros.node.background import in_background
from robot_semantics.ros.node.parameters import SNAPSHOTS
from robot_semantics.ros.node.world import World, WorldCapture
from robot_semantics.ros.running.parameter_table import ParameterError
from robot_semantics.ros.simulators.simulator_client import RemoteReport, RemoteSimulator
from robot_semantics.simulation.world_spec import check_magnitudes
from robot_semantics.transforms import transform_distance
from robot_semantics.usdf.apply import AppliedState, Base, apply_model_state, resolve_with
from robot_semantics.usdf.check import match_models
from robot_semantics.usdf.descriptions import FileFinder, RobotSources, beside, robots_for
from robot_semantics.usdf.frames import resolve_frames, root_frame, without_unplaced
from robot_semantics.usdf.identity import appearance_digest, is_of
from robot_semantics.usdf.restore_report import TOLERANCE, RestoreItem, RestoreLog, RestoreReport
from robot_semantics.usdf.robot import with_carriers
from robot_semantics.usdf.saved_descriptions import Texts
from robot_semantics.usdf.snapshots import SnapshotError, SnapshotStore
from robot_semantics.usdf.world_state import SEPARATOR, WORLD, Frame, ModelState, WorldState, carrier_of

# One restore: the simulators first, all or nothing, then the node's own robots and TF; item by item.


class Restore:
    """Restores a world state in simulators and the node's robots, or reports the result without a change (dry run)."""

    def __init__(
        self,
        world: World,
        state: WorldState,
        models: Sequence[str] = (),
        *,
        partial: bool = False,
        dry_run: bool = False,
        find: FileFinder | None = None,
    ) -> None:
        """`models` are the requested ones, by default all; `find` gives the files that the state names."""
        self.world, self.robots, self.states = world, world.robots, world.states
        self.state, self.find = state, find
        self.partial, self.dry_run = partial, dry_run
        self.requested_models = tuple(models) or tuple(model.name for model in state.models)
        self.chosen = tuple(models)
        self.placed_state = state
        """The state, in which links that carry something are where their robots' joints put them."""
        self.unplaced: Mapping[str, str] = {}
        """Why the state does not place these models and frames."""
        self.log = RestoreLog()

    async def carry_out(self) -> RestoreReport:
        """Restore, or with `dry_run` only report. Without `partial`, change nothing if any part is impossible.

        Raises:
            DescriptionError: the frames of the state and of TF do not lead to the world.
            DescriptionChangedError: a robot got another description meanwhile.

        """
        sample = self.states.sample()
        live = self.world.own(sample)
        applied = await in_background(self.robots.node, self._apply, sample.robots, live)
        clients = self.world.simulators()
        # Ask every simulator before any is changed: if one simulator refuses, no simulator is changed.
        reports = await self._push(clients, dry_run=True)
        report = await in_background(self.robots.node, self._report, applied, reports, live)
        if self.dry_run or not (report.complete or self.partial):
            return report
        reports = await self._push(clients, dry_run=False)
        report = await in_background(self.robots.node, self._report, applied, reports, live)
        if not (report.complete or self.partial):
            return replace(report, applied=any(told is not None and told.success for told in reports.values()))
        stamp_ns = self.state.time_ns if clients and self.state.time_ns is not None else self.robots.now_ns()
        for robot in sample.robots:
            if robot.name in applied:
                _, state = applied[robot.name]
                self.states.restore(robot.name, robot.model, state, stamp_ns)
        if clients:
            # The time may have been set back.
            self.world.frames.forget()
        return replace(report, applied=bool(report.restored) or report.complete)

    # --- the node's robots

    def _apply(self, robots: Sequence[RobotSample], live: LiveWorld) -> dict[str, tuple[str, AppliedState]]:
        """Return the model's name and the applied state of each requested robot."""
        models = {robot.name: robot.model for robot in robots}
        match = match_models(self.state.models, models)
        self.likely = match.likely
        model_of = {robot: model for model, robot in match.robot_of.items()}
        bases = {robot.name: _base(robot, live, model_of) for robot in robots}
        carriers = {base.frame.split(SEPARATOR)[0] for base in bases.values() if SEPARATOR in base.frame}
        known = {model: models[robot] for model, robot in match.robot_of.items()}
        carriers |= {frame.parent for frame in live.state.frames if frame.parent_link is not None}
        self.placed_state, self.unplaced = without_unplaced(with_carriers(self.state, known, carriers))
        world = resolve_with(self.placed_state, _standing(self.placed_state, live))
        applied = {}
        for robot in robots:
            name = model_of.get(robot.name)
            if name is None or name not in self.requested_models:
                continue
            model = self.state.model(name)
            if name in self.unplaced:
                model = replace(model, parent=WORLD, parent_link=None, pose=None, twist=None)
            applied[robot.name] = (
                name,
                apply_model_state(model, world, robot.model, base=bases[robot.name], positions=robot.positions),
            )
            self._compare_looks(model, robot.model)
        return applied

    def _compare_looks(self, model: ModelState, robot: RobotModel) -> None:
        """Note that the robot had another appearance when the state was saved; this changes nothing else."""
        if model.description is None or self.find is None or not is_of(model.urdf_sha256, robot):
            return
        saved = robots_for(replace(self.state, models=(model,)), RobotSources(find=self.find)).get(model.name)
        if saved is not None and appearance_digest(saved) != appearance_digest(robot):
            self.log.note(f"model '{model.name}': its look has changed since the snapshot; nothing else differs")

    # --- the simulators

    async def _push(self, clients: Sequence[RemoteSimulator], *, dry_run: bool) -> dict[str, RemoteReport | None]:
        """Return each simulator's report; None for a simulator that is not running, which is logged."""
        reports: dict[str, RemoteReport | None] = {}
        state = self.world.as_entities(self.state)
        settings = self.robots.settings
        robot_of, entity_of = settings.simulated_entities, settings.entity_of
        models = [entity_of.get(name, name) for name in self.chosen]
        self.log.items.clear()
        for client in clients:
            try:
                report = await client.set(state, models, partial=self.partial, dry_run=dry_run)
            except RobotSemanticsError as error:
                self.log.failed("simulator", client.name, str(error), "unreachable")
                reports[client.name] = None
                continue
            items = tuple(replace(item, model=robot_of.get(item.model, item.model)) for item in report.items)
            reports[client.name] = report._replace(items=items)
        return reports

    # --- the report

    def _report(
        self,
        applied: Mapping[str, tuple[str, AppliedState]],
        reports: Mapping[str, RemoteReport | None],
        live: LiveWorld,
    ) -> RestoreReport:
        """Return the result of each item; for a model in a simulator, the simulator's result."""
        log = RestoreLog()
        log.extend(self.log.items, self.log.notes)
        available_reports = {name: report for name, report in reports.items() if report is not None}
        unknown: dict[str, dict[str, RestoreItem]] = {name: {} for name in available_reports}
        for name, report in available_reports.items():
            log.extend((item for item in report.items if not _is_unknown(item)), report.notes)
            for item in filter(_is_unknown, report.items):
                unknown[name].setdefault(item.model, item)
            if report.exact:
                exact = "exact, it continues bit for bit"
                log.items.append(RestoreItem("simulator", "", name, True, exact, code="exact"))
        own_reports = dict(applied.values())
        for model in self.requested_models:
            # The items of the simulators, if none of them has the model.
            lacking = [items[model] for items in unknown.values() if model in items]
            if len(lacking) < len(unknown):
                continue
            if model in own_reports:
                log.extend(own_reports[model].items, (*own_reports[model].notes, *own_reports[model].kept_motion))
                # Perhaps a simulator has it by another name, and it would not move there.
                log.extend((), map(str, lacking))
            else:
                log.items.append(lacking[0] if lacking else self._unknown(model))
            if model in self.unplaced:
                log.items.append(RestoreItem("pose", model, "", False, self.unplaced[model], code="not_stated"))
        self._frames(live, bool(available_reports), log)
        if self.state.engines and not reports:
            log.note("no simulator can use the state of an engine")
        return log.report(exact=bool(available_reports) and all(report.exact for report in available_reports.values()))

    def _unknown(self, model: str) -> RestoreItem:
        """Return the item of a model that is not among the node's robots."""
        likely = self.likely.get(model)
        hint = f"; it is very like its robot '{likely}'" if likely else ""
        return RestoreItem("model", model, "", False, f"the node has no such robot{hint}", code="unknown")

    def _frames(self, live: LiveWorld, simulated: bool, log: RestoreLog) -> None:
        """Report the parent frames of models whose pose differs from the state; the node cannot move them."""
        present, before = resolve_frames(live.state), None
        # A root frame without a pose on TF is treated as the world.
        roots = {frame.name for frame in live.state.frames if frame == root_frame(frame.name)}
        told = {item.name for item in log.items if item.kind == "frame"} if simulated else set()
        for frame in self._frames_wanted():
            if frame.name in told:
                continue
            if frame.name in self.unplaced:
                log.failed("frame", frame.name, self.unplaced[frame.name], "not_stated")
                continue
            parent = carrier_of(frame)
            if frame.name not in present.index or parent not in present.index:
                log.note(f"frame '{frame.name}': no node publishes it")
                continue
            before = before or resolve_frames(self.placed_state)
            off_m, off_rad = map(
                float, transform_distance(*(world.pose(frame.name, parent) for world in (before, present)))
            )
            if max(off_m, off_rad) <= TOLERANCE:
                log.items.append(RestoreItem("frame", "", frame.name, True, "it is there"))
                continue
            distance = f"{off_m:.3g} m and {off_rad:.3g} rad away from there"
            if frame.name in roots:
                log.note(f"frame '{frame.name}': the root of TF, which the node treats as the world, is {distance}")
            else:
                reason = f"on TF it is {distance}, and this node cannot move it"
                log.failed("frame", frame.name, reason, "elsewhere")

    def _frames_wanted(self) -> list[Frame]:
        frames = {frame.name: frame for frame in self.state.frames}
        if not self.chosen:
            return [frame for frame in frames.values() if frame.pose is not None]
        parents = {body.name: body.parent for body in self.state.bodies}
        needed: set[str] = set()
        for model in self.chosen:
            here = parents.get(model)
            while here is not None and here not in needed:
                needed.add(here)
                here = parents.get(here)
        return [frame for name, frame in frames.items() if name in needed and frame.pose is not None]


def _is_unknown(item: RestoreItem) -> bool:
    return item.kind == "model" and not item.done


def _base(robot: RobotSample, live: LiveWorld, called: Mapping[str, str]) -> Base:
    """Return the frame of a robot's root link, and whether the node can move it."""
    root, joint = live.roots[robot.name], robot.model.root_joint
    model, separator, link = live.parents[robot.name].partition(SEPARATOR)
    frame = f"{called.get(model, model)}{separator}{link}"
    xyz_quat = None if root.statement is None else root.statement.xyz_quat
    source = None if root.statement is None else root.statement.candidate.source
    name = robot.root_frame
    if robot.source is robot.source.TF or source in (RootSource.TF, RootSource.ODOMETRY):
        by = "odometry" if source is RootSource.ODOMETRY else "another node's transforms"
        return Base(joint, frame, xyz_quat=xyz_quat, held_by=f"{by} move '{name}'")
    if not robot.parent_frame and root.statement is None:
        # The parent of a robot without a virtual joint is the world.
        return Base(joint, WORLD, xyz_quat=AT_ORIGIN, held_by=f"'{name}' has no virtual joint that the node could move")
    if robot.source is robot.source.FIXED:
        return Base(joint, frame, xyz_quat=xyz_quat, held_by=f"a parameter holds '{name}' in '{root.parent}'")
    return Base(joint, frame, xyz_quat=xyz_quat)


def _standing(state: WorldState, live: LiveWorld) -> list[Frame]:
    """Return the TF frames that are not in a state and are connected to the world or to a frame of the state."""
    connected = {body.name for body in state.bodies} | {WORLD}
    frames: list[Frame] = []
    links = {(model.name, link.name) for model in state.models for link in model.links if link.pose is not None}
    unconnected = [
        frame
        for frame in live.state.frames
        if frame.pose is not None
        and frame.name not in connected
        and (frame.parent_link is None or (frame.parent, frame.parent_link) in links)
    ]
    while unconnected:
        next_ = [frame for frame in unconnected if frame.parent in connected]
        if not next_:
            break
        frames += next_
        connected |= {frame.name for frame in next_}
        unconnected = [frame for frame in unconnected if frame.name not in connected]
    return frames


class Snapshots:
    """Offers ``~/save_snapshot``, ``~/restore_snapshot``, ``~/list_snapshots`` and ``~/delete_snapshot``."""

    def __init__(self, world: World) -> None:
        """Declare the parameters and offer the services.

        Raises:
            ParameterError: a parameter is invalid.
        """
        self._world, self._robots = world, world.robots
        node = world.robots.node
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
        capture = await self._world.take(max_age_ns=self._max_age_ns)
        name, texts = request.name or self._store.name_by_time(capture.state), self._texts(capture)
        path = await in_background(
            self._robots.node,
            self._store.save,
            name,
            capture.state,
            request.comment,
            overwrite=request.overwrite,
            texts=texts,
        )
        response.path, response.missing = str(path), item_messages(capture.missing)
        response.stamp = MAKER.time(capture.state.time_ns or 0)
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
            self._world,
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
                texts[model] = Texts(served.description.model.urdf_text, served.description.texts.srdf)
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
