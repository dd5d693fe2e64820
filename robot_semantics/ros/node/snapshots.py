"""The node's snapshots: save, restore, list and delete the state of the whole world as USDF files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from robot_semantics_interfaces import srv

from robot_semantics.base.errors import ArrayError, UnknownNameError
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.ros.messages.world_messages import time_message
from robot_semantics.ros.node.parameters import Parameter, ParameterError, declare
from robot_semantics.ros.node.snapshot_state import (
    RobotValues,
    StaleStateError,
    counterpart,
    joint_ages,
    merged,
    values_of,
    world_of,
)
from robot_semantics.ros.node.world_frames import Standing, WorldFrames
from robot_semantics.ros.simulators.simulator_client import RemoteSimulator, SimulatorClient, SimulatorError
from robot_semantics.simulation.magnitudes import check_sizes
from robot_semantics.state.samples import WorldSample
from robot_semantics.state.snapshot_ages import ValueAge, with_ages
from robot_semantics.state.snapshot_store import SnapshotError, SnapshotStore
from robot_semantics.usdf.poses import pose_from_quaternion
from robot_semantics.usdf.world_state import WORLD, Frame, ModelState, WorldState
from robot_semantics.usdf.writer import write_world

ENTITIES = "simulation_interfaces:"
"""What stands before the name of a simulator that has the services of simulation_interfaces."""
DEFAULT_FOLDER = "~/.ros/robot_semantics/snapshots"


def _text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise ParameterError(f"parameter '{name}' must be a text, not {value!r}")


def _flag(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise ParameterError(f"parameter '{name}' must be true or false, not {value!r}")


def _at_least(least: float) -> Callable[[str, Any], None]:
    def check(name: str, value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value < float("inf"):
            raise ParameterError(f"parameter '{name}' must be a number, at least {least:g}, not {value!r}")

    return check


TABLE: tuple[Parameter, ...] = (
    Parameter("snapshots.directory", DEFAULT_FOLDER, "Folder of the snapshots.", _text, True),
    Parameter(
        "snapshots.allow_paths", False, "Take paths for names, outside the folder and through links.", _flag, True
    ),
    Parameter("snapshots.max_bytes", 64_000_000, "Largest snapshot saved or read.", _at_least(1), True),
    Parameter(
        "snapshots.max_age",
        0.0,
        "Refuse to save where a value is older than this against the newest one [s]; 0: any age.",
        _at_least(0.0),
        True,
    ),
    Parameter("snapshots.frames", True, "Save the TF frames outside the robots, too.", _flag, True),
    Parameter("snapshots.autosave_period", 0.0, "Save by itself so often [s]; 0: never.", _at_least(0.0), True),
    Parameter("snapshots.autosave_keep", 10, "Number of automatic snapshots that are kept.", _at_least(1), True),
)


@dataclass(frozen=True, slots=True)
class _Taken:
    """A state taken from the world, what it lacks, and how old the node's own values in it are."""

    state: WorldState
    missing: tuple[str, ...]
    ages: tuple[ValueAge, ...] = ()


class Snapshots:
    """Offers ``~/save_snapshot``, ``~/restore_snapshot``, ``~/list_snapshots`` and ``~/delete_snapshot``."""

    def __init__(self, core: Any) -> None:
        """Declare the parameters and offer the services of a `Core`.

        Raises:
            ParameterError: a parameter means nothing.
        """
        self._core = core
        node = self._node = core.node
        values = declare(node, TABLE)
        self._store = SnapshotStore(
            _folder(values["snapshots.directory"] or DEFAULT_FOLDER),
            allow_paths=values["snapshots.allow_paths"],
            max_bytes=int(values["snapshots.max_bytes"]),
        )
        self._max_age_ns = int(values["snapshots.max_age"] * 1e9)
        self._keep = int(values["snapshots.autosave_keep"])
        # A callback waits here for simulators, whose answers come by callbacks of the same node.
        self._group = ReentrantCallbackGroup()
        self._clients: dict[str, RemoteSimulator] = {}
        self._frames = WorldFrames(node, self._own_frames, core.looks) if values["snapshots.frames"] else None
        services = (
            (srv.SaveSnapshot, "save_snapshot", self._save),
            (srv.RestoreSnapshot, "restore_snapshot", self._restore),
            (srv.ListSnapshots, "list_snapshots", self._list),
            (srv.DeleteSnapshot, "delete_snapshot", self._delete),
        )
        self._services = [
            node.create_service(kind, f"~/{name}", answer, callback_group=self._group)
            for kind, name, answer in services
        ]
        period = float(values["snapshots.autosave_period"])
        self._timer = None
        if period > 0.0:
            clock = Clock(clock_type=ClockType.STEADY_TIME)
            self._timer = node.create_timer(period, self._autosave, self._group, clock, what="not saved automatically")

    def destroy(self) -> None:
        """Take everything away again."""
        for service in self._services:
            self._node.destroy_service(service)
        for client in self._clients.values():
            client.destroy()
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
        if self._frames is not None:
            self._frames.destroy()

    # --- the services

    async def _save(self, request: Any, response: Any) -> Any:
        taken = await self._take()
        name = request.name or _name_by_time(taken.state)
        path = self._store.save(name, taken.state, request.comment, overwrite=request.overwrite)
        response.path, response.missing = str(path), list(taken.missing)
        response.stamp = time_message(taken.state.time_ns or 0)
        response.success = True
        return response

    async def _restore(self, request: Any, response: Any) -> Any:
        if bool(request.name) == bool(request.text):
            raise SnapshotError("give the name of a snapshot or a text, one of the two")
        if request.text:
            state = self._store.parse(request.text, "<text>")
        else:
            state, _ = self._store.load(request.name)
        check_sizes(state)
        models = tuple(request.models)
        for model in models:
            if model not in {stated.name for stated in state.models}:
                raise UnknownNameError("model of the snapshot", model, [stated.name for stated in state.models])
        plan = _Plan(self, state, models, partial=request.partial, dry_run=request.dry_run)
        await plan.carry_out()
        response.success, response.message = plan.success, plan.message
        response.restored, response.not_restored = plan.done, plan.failed
        return response

    async def _list(self, _request: Any, response: Any) -> Any:
        for info in self._store.infos():
            response.names.append(info.name)
            response.comments.append(info.comment)
            response.stamps.append(_stamp(info.time_ns))
        response.success = True
        return response

    async def _delete(self, request: Any, response: Any) -> Any:
        self._store.delete(request.name)
        response.success = True
        return response

    async def _autosave(self) -> None:
        taken = await self._take()
        self._store.autosave(taken.state, self._keep)

    # --- the world

    def simulators(self) -> list[RemoteSimulator]:
        """Return the simulators that the parameters name now."""
        names = self._core.settings.simulators
        for name in set(self._clients) - set(names):
            self._clients.pop(name).destroy()
        for name in names:
            if name not in self._clients:
                self._clients[name] = self._simulator(name)
        return [self._clients[name] for name in names]

    def _simulator(self, name: str) -> RemoteSimulator:
        """Return the client of a simulator; the prefix tells which services it has.

        Raises:
            SimulatorError: simulation_interfaces is not installed.

        """
        if not name.startswith(ENTITIES):
            return SimulatorClient(self._node, name, self._group)
        try:
            from robot_semantics.ros.simulators.entity_simulator import EntitySimulator
        except ImportError as error:
            raise SimulatorError(f"simulator '{name}' needs the ROS package '{error.name}'") from error
        return EntitySimulator(self._node, name.removeprefix(ENTITIES), self._group)

    @property
    def core(self) -> Any:
        """The node's robots."""
        return self._core

    def forget_frames(self) -> None:
        """Forget what TF has said: time has been set back."""
        if self._frames is not None:
            self._frames.forget()

    async def _take(self) -> _Taken:
        """Return the state of the whole world: the simulators' where they answer, the node's own for the rest."""
        simulated: dict[str, WorldState] = {}
        missing: list[str] = []
        for client in self.simulators():
            try:
                simulated[client.name] = self._store.parse(await client.get(), f"<{client.name}>")
            except SimulatorError as error:
                missing.append(
                    f"{error}; its robots are saved as the node sees them, without the simulator's own state"
                )
        sample = self._core.coherent_state()
        robots = {
            robot.name
            for robot in sample.robots
            if any(_knows_joints(counterpart(state, robot)) for state in simulated.values())
        }
        own = self._own_state(sample, robots)
        missing += own.missing
        return _Taken(with_ages(merged(own.state, simulated), own.ages), tuple(missing))

    def _own_state(self, sample: WorldSample, simulated: set[str]) -> _Taken:
        unsimulated = replace(sample, robots=tuple(robot for robot in sample.robots if robot.name not in simulated))
        frames: dict[str, Frame] = {}
        stamps: dict[str, int] = {}
        if self._frames is not None:
            heard, stamps = self._frames.frames(_standing(sample))
            frames = {frame.name: frame for frame in heard}
            for name, stamp_ns in stamps.items():
                age_ns = sample.stamp_ns - stamp_ns
                if self._max_age_ns and age_ns > self._max_age_ns:
                    raise StaleStateError(f"frame '{name}' is {age_ns * 1e-9:.3f} s older than the newest value")
        for robot in sample.robots:
            parent = robot.parent_frame
            if parent and parent != WORLD and parent not in frames:
                frames[parent] = Frame(parent, WORLD, pose_from_quaternion((0.0,) * 3, (0.0, 0.0, 0.0, 1.0)))
        node_state = world_of(unsimulated, frames.values(), self._max_age_ns)
        of_frames = (ValueAge(None, name, sample.stamp_ns - at) for name, at in stamps.items())
        return _Taken(node_state.state, node_state.missing, (*joint_ages(unsimulated), *of_frames))

    def _own_frames(self) -> frozenset[str]:
        robots = [slot.robot for slot in self._core.slots if slot.robot is not None]
        return frozenset().union(*(robot.child_frames for robot in robots)) if robots else frozenset()


class _Plan:
    """One restore: the simulators first, all or nothing, then the node's own robots and TF."""

    def __init__(
        self, snapshots: Snapshots, state: WorldState, models: tuple[str, ...], *, partial: bool, dry_run: bool
    ) -> None:
        self.snapshots = snapshots
        self.state = state
        self.models = models
        self.partial = partial
        self.dry_run = dry_run
        self.done: list[str] = []
        self.failed: list[str] = []
        self.success = False
        self.message = ""

    async def carry_out(self) -> None:
        """Restore, or with `dry_run` find out what a restore would do."""
        core = self.snapshots.core
        sample = core.coherent_state()
        chosen = self.models or tuple(model.name for model in self.state.models)
        own: dict[str, RobotValues] = {}
        known: set[str] = set()
        for robot in sample.robots:
            model = counterpart(self.state, robot)
            values = values_of(self.state, robot)
            if model is not None and values is not None and model.name in chosen:
                own[robot.name] = values
                known.add(model.name)
        clients = self.snapshots.simulators()
        for value in own.values():
            self.failed += value.failed
        if not clients:
            self.failed += [f"model '{name}': the node has no such robot" for name in chosen if name not in known]
        if self.failed and not self.partial:
            self._refuse()
            return
        # Every simulator is asked before any is changed: what one of several cannot do, none does.
        if not await self._push(clients, dry_run=True) and not self.partial:
            self._refuse()
            return
        if self.dry_run:
            self.done += [item for value in own.values() for item in value.done if item not in self.done]
            self.success = self.partial or not self.failed
            return
        self.done.clear()
        self.failed = [item for value in own.values() for item in value.failed]
        pushed = await self._push(clients, dry_run=False)
        if not pushed and not self.partial:
            self._refuse()
            return
        stamp_ns = self.state.time_ns if clients and self.state.time_ns is not None else core.now_ns()
        for name, value in own.items():
            core.restore(name, value.positions, value.velocities, stamp_ns)
            self.done += [f"node: {item}" for item in value.done]
        self.snapshots.forget_frames()
        self.success = bool(self.done)
        if not self.success:
            self._refuse()

    async def _push(self, clients: list[RemoteSimulator], *, dry_run: bool) -> bool:
        """Push the state to the simulators; return whether each took it."""
        text = write_world(self.state)
        taken = True
        for client in clients:
            request = srv.SetWorldState.Request(
                text=text, models=list(self.models), partial=self.partial, dry_run=dry_run
            )
            try:
                answer = await client.set(request)
            except SimulatorError as error:
                self.failed.append(str(error))
                taken = False
                continue
            subject = f"simulator '{client.name}'"
            taken = taken and answer.success
            self.done += [f"{subject}: {item}" for item in answer.set]
            self.failed += [f"{subject}: {item}" for item in answer.not_set]
            if not answer.success and not answer.not_set:
                self.failed.append(f"{subject}: {answer.message or 'refused'}")
            self.done += [f"{subject}: {note}" for note in answer.notes]
            if answer.exact:
                self.done.append(f"{subject}: exact, it continues bit for bit")
        return taken

    def _refuse(self) -> None:
        self.done = []
        self.success = False
        first, *more = self.failed or ["it states nothing that a robot here has"]
        others = f" (and {len(more)} more)" if more else ""
        self.message = f"nothing restored, because not everything could be: {first}{others}"


def _folder(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise ParameterError(f"parameter 'snapshots.directory' must be a folder, not '{name}': {error}") from None


def _standing(sample: WorldSample) -> Standing:
    """Return where every link of the robots is in its model's frame."""
    standing = {}
    for robot in sample.robots:
        poses = ForwardKinematics(robot.model).link_poses(robot.positions)
        for name, T_model_link in zip(robot.model.link_names, poses, strict=True):
            standing[robot.frame_prefix + name] = (robot.name, T_model_link)
    return standing


def _knows_joints(model: ModelState | None) -> bool:
    return model is not None and bool(model.joints)


def _stamp(time_ns: int | None) -> Any:
    """Return the message of a time; 0 where none is stated, or one that ROS cannot say."""
    try:
        return time_message(time_ns or 0)
    except ArrayError:
        return time_message(0)


def _name_by_time(state: WorldState) -> str:
    seconds, nanoseconds = divmod(state.time_ns or 0, 1_000_000_000)
    return f"snapshot-{seconds}.{nanoseconds:09}"
