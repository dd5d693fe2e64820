# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The world at this moment, from simulators, the node's robots and TF together.

Snapshots, autosave, ``~/get_world_state`` and ``~/world_state`` all use it.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from rclpy.callback_groups import ReentrantCallbackGroup

from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.base.record import record
from robot_semantics.live.samples import WorldSample
from robot_semantics.live.world import LiveWorld, live_world
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.ros.node.robot_states import StateSampler
from robot_semantics.ros.node.robots import RobotRegistry
from robot_semantics.ros.node.world_frames import WorldFrames
from robot_semantics.ros.simulators.simulator_client import RemoteSimulator, SimulatorClient, SimulatorError
from robot_semantics.simulation.world_spec import check_magnitudes
from robot_semantics.usdf.check import match_models
from robot_semantics.usdf.combine import renamed
from robot_semantics.usdf.fields import with_ages
from robot_semantics.usdf.restore_report import RestoreItem
from robot_semantics.usdf.world_state import SEPARATOR, EngineState, Frame, ModelState, WorldState

ENTITIES = "simulation_interfaces:"
"""Prefix of the name of a simulator with the services of simulation_interfaces."""
CONTROLLED = "mujoco_ros2_control:"
"""Prefix of the name of a simulation node of mujoco_ros2_control."""


@record(frozen=True, slots=True)
class WorldCapture:
    """The world at one moment.

    Attributes:
        state: its state.
        missing: items that the state does not have.
        robots: for each model that is one of the node's robots, the robot's name.

    """

    state: WorldState
    missing: tuple[RestoreItem, ...]
    robots: Mapping[str, str]


class World:
    """Takes the state of the whole world, and knows its simulators.

    Attributes:
        robots: the robots of the node.
        states: samples and restores their values.
        frames: the transforms of other nodes.
        group: the callback group of the services that wait for simulators.

    """

    def __init__(self, robots: RobotRegistry, states: StateSampler, frames: WorldFrames) -> None:
        self.robots, self.states, self.frames = robots, states, frames
        # A callback waits here for simulators, whose answers come by callbacks of the same node.
        self.group = ReentrantCallbackGroup()
        self._clients: dict[str, RemoteSimulator] = {}

    def simulators(self) -> list[RemoteSimulator]:
        """Return the simulators in the parameters."""
        names = self.robots.settings.simulators
        for name in set(self._clients) - set(names):
            self._clients.pop(name).destroy()
        for name in names:
            if name not in self._clients:
                self._clients[name] = self._simulator(name)
        return [self._clients[name] for name in names]

    def _simulator(self, name: str) -> RemoteSimulator:
        """Return the client of a simulator; its services have this prefix.

        Raises:
            SimulatorError: its interfaces are not installed.

        """
        if not name.startswith((ENTITIES, CONTROLLED)):
            return SimulatorClient(self.robots.node, name, self.group)
        try:
            if name.startswith(CONTROLLED):
                from robot_semantics.ros.simulators.controlled_simulator import ControlledSimulator

                bare = name.removeprefix(CONTROLLED)
                return ControlledSimulator(self.robots.node, bare, self.group, self._robots_as_entities)
            from robot_semantics.ros.simulators.entity_simulator import EntitySimulator
        except ImportError as error:
            raise SimulatorError(f"simulator '{name}' needs the ROS package '{error.name}'") from error
        return EntitySimulator(self.robots.node, name.removeprefix(ENTITIES), self.group)

    def _robots_as_entities(self) -> dict[str, RobotModel]:
        """Return the robots by their names in simulators."""
        entity_of = self.robots.settings.entity_of
        return {entity_of.get(robot.name, robot.name): robot.model for robot in self.states.sample().robots}

    def own(
        self,
        sample: WorldSample,
        *,
        elsewhere: Collection[str] = (),
        simulated_models: Mapping[str, ModelState] | None = None,
        link_names: Collection[str] = (),
        max_age_ns: int = 0,
    ) -> LiveWorld:
        """Return the node's own data: its robots and TF. Arguments and errors are those of `live_world`."""
        return live_world(
            sample,
            self.frames.received(),
            elsewhere=elsewhere,
            other_models=simulated_models,
            left_out=self.frames.left_out(),
            link_names=link_names,
            publishers=self.frames.publishers,
            all_frames=bool(self.robots.node.get_parameter("snapshots.frames").value),
            max_age_ns=max_age_ns,
        )

    async def take(self, names: Sequence[str] = (), *, max_age_ns: int = 0, hold: bool = True) -> WorldCapture:
        """Return the state of the whole world: the simulators' where they answer, the node's own for the rest.

        Args:
            names: only these models and their parents.
            max_age_ns: the greatest age of a value of the node's own; 0 for no limit.
            hold: have running simulators wait meanwhile.

        Raises:
            UnknownNameError: the model does not exist.
            StaleStateError: a value is older.

        """
        simulated, missing, arrived_ns = await self._simulated(hold=hold)
        sample = self.states.sample()
        if arrived_ns is not None:
            # The time of the whole world is the simulator's. Its clock is another one: ages are differences of arrival.
            sample = replace(sample, received_ns=arrived_ns)
        elsewhere = {body.name for state in simulated.values() for body in state.bodies}
        robots = {robot.name: robot.model for robot in sample.robots}
        matches = [match_models(state.models, robots) for state in simulated.values()]
        whole = {
            robot: state.model(model)
            for state, match in zip(simulated.values(), matches, strict=True)
            for model, robot in match.robot_of.items()
            if state.model(model).joints and state.model(model).pose is not None
        }
        link_names = _link_names(simulated.values())
        own_world = self.own(
            sample, elsewhere=elsewhere, simulated_models=whole, link_names=link_names, max_age_ns=max_age_ns
        )
        missing += own_world.missing
        for match in matches:
            missing += [_perhaps(model, robot) for model, robot in match.likely.items() if robot not in whole]
        state = _merged(own_world, simulated)
        owners = {robot.name: robot.name for robot in sample.robots}
        owners |= {model: robot for match in matches for model, robot in match.robot_of.items()}
        present = {model.name for model in state.models}
        taken = WorldCapture(
            state, tuple(missing), {model: robot for model, robot in owners.items() if model in present}
        )
        return _restricted(taken, names) if names else taken

    async def _simulated(self, *, hold: bool) -> tuple[dict[str, WorldState], list[RestoreItem], int | None]:
        """Return the states of the simulators that answer, one item for each other one, and when the first state with a
        time arrived, on the steady clock.
        """
        simulated: dict[str, WorldState] = {}
        missing: list[RestoreItem] = []
        arrived_ns: int | None = None
        for client in self.simulators():
            try:
                state = self.as_robots(await client.get(hold=hold))
                check_magnitudes(state)
                simulated[client.name] = state
                if arrived_ns is None and state.time_ns is not None:
                    arrived_ns = time.monotonic_ns()
            except RobotSemanticsError as error:
                reason = f"{error}; its robots are as the node sees them, without the simulator's own state"
                missing.append(RestoreItem("simulator", "", client.name, False, reason, code="unreachable"))
        return simulated, missing, arrived_ns

    def as_robots(self, state: WorldState) -> WorldState:
        """Return a simulator's state with its entities renamed to the robots' names."""
        return _renamed(state, self.robots.settings.simulated_entities)

    def as_entities(self, state: WorldState) -> WorldState:
        """Return a state with its robots renamed to the entities' names."""
        return _renamed(state, self.robots.settings.entity_of)


def _link_names(states: Iterable[WorldState]) -> set[str]:
    """Return the names ``model::link`` of all links in some states."""
    models = [model for state in states for model in state.models]
    return {f"{model.name}{SEPARATOR}{link.name}" for model in models for link in model.links}


def _renamed(state: WorldState, names: Mapping[str, str]) -> WorldState:
    present = {body.name for body in state.bodies}
    return renamed(state, {old: new for old, new in names.items() if old in present})


def _perhaps(model: str, robot: str) -> RestoreItem:
    reason = (
        f"it is very like robot '{robot}', but not called so, and is taken for another: if it is the same, "
        f"add '{model}:={robot}' to the parameter simulated_entities"
    )
    return RestoreItem("model", model, "", False, reason, code="perhaps_the_same")


def _completed(first: ModelState, other: ModelState) -> ModelState:
    """Return a model's first state, completed with values that only the other states have."""
    if not first.joints:
        # A simulator of entities has the robot's pose, the node has its joints.
        return replace(first, joints=other.joints, links=other.links, urdf_sha256=other.urdf_sha256)
    if first.pose is None:
        # Or the simulator has the joints, and the node has the pose, because the base does not move.
        return replace(first, parent=other.parent, pose=other.pose, twist=other.twist)
    return first


def _merged(live: LiveWorld, simulated: Mapping[str, WorldState]) -> WorldState:
    """Merge the states of the simulators with the values that only the node knows.

    For a model or frame, a simulator has priority over the node, and the first simulator over the others. The time is
    that of the first simulator.
    """
    times = [state.time_ns for state in simulated.values() if state.time_ns is not None]
    time_ns = times[0] if times else live.state.time_ns
    own = with_ages(live.state, live.ages)
    models: dict[str, ModelState] = {}
    frames: dict[str, Frame] = {}
    engines: list[EngineState] = []
    for state in (*simulated.values(), own):
        for model in state.models:
            models[model.name] = _completed(models[model.name], model) if model.name in models else model
        for frame in state.frames:
            if frame.name not in frames or frames[frame.name].pose is None:
                frames[frame.name] = frame
        engines += state.engines
    return WorldState(
        name=next((state.name for state in simulated.values() if state.name), None),
        models=tuple(models.values()),
        frames=tuple(frame for name, frame in frames.items() if name not in models),
        time_ns=time_ns,
        engines=tuple(engines),
    )


def _restricted(capture: WorldCapture, names: Sequence[str]) -> WorldCapture:
    """Keep only the named models, with the models and frames above them.

    Raises:
        UnknownNameError: the model does not exist.
    """
    bodies = {body.name: body for body in capture.state.bodies}
    models = [model.name for model in capture.state.models]
    kept_names: set[str] = set()
    for name in names:
        if name not in models:
            raise UnknownNameError("model", name, models)
        here = name
        while here in bodies and here not in kept_names:
            kept_names.add(here)
            here = bodies[here].parent
    state = replace(
        capture.state,
        models=tuple(model for model in capture.state.models if model.name in kept_names),
        frames=tuple(frame for frame in capture.state.frames if frame.name in kept_names),
        engines=(),
    )
    missing = tuple(
        item for item in capture.missing if (item.model or item.name) in kept_names or item.kind == "simulator"
    )
    return WorldCapture(
        state, missing, {model: robot for model, robot in capture.robots.items() if model in kept_names}
    )
