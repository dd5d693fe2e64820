"""Simulators with the services of simulation_interfaces (Gazebo, Isaac Sim, O3DE): entities, their poses and twists.

What these services have no place for, joints and links, is reported as not restored; joint positions in a snapshot come
from the node's own topics. Imported only where the interfaces are installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from robot_semantics_interfaces.srv import SetWorldState
from simulation_interfaces.msg import EntityState, Result, SimulationState, SimulatorFeatures
from simulation_interfaces.srv import (
    GetEntitiesStates,
    GetSimulationState,
    GetSimulatorFeatures,
    SetEntityState,
    SetSimulationState,
)

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import did_you_mean
from robot_semantics.ros.messages.world_messages import pose_message, twist_message
from robot_semantics.ros.simulators.simulator_client import RemoteSimulator, SimulatorError
from robot_semantics.state.cdr import stamp_ns
from robot_semantics.usdf.frames import ResolvedWorld, resolve
from robot_semantics.usdf.poses import pose_from_matrix, pose_from_quaternion
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.world_state import WORLD, ModelState, WorldState
from robot_semantics.usdf.writer import write_world

_GET, _SET = SimulatorFeatures.ENTITY_STATE_GETTING, SimulatorFeatures.ENTITY_STATE_SETTING
_PAUSE = SimulatorFeatures.SIMULATION_STATE_PAUSE


class _Order(NamedTuple):
    """A request to set one entity, and what of it is stated."""

    request: SetEntityState.Request
    stated: str


class EntitySimulator(RemoteSimulator):
    """One simulator; features are asked for before each use, because plugins come and go."""

    def __init__(self, node: Node, name: str, group: ReentrantCallbackGroup) -> None:
        """`name` is the namespace of the simulator's services."""
        super().__init__(node, name, group)
        self._features = self._client(GetSimulatorFeatures, "get_simulator_features")
        self._get_states = self._client(GetEntitiesStates, "get_entities_states")
        self._set_state = self._client(SetEntityState, "set_entity_state")
        self._get_simulation = self._client(GetSimulationState, "get_simulation_state")
        self._set_simulation = self._client(SetSimulationState, "set_simulation_state")
        # Before version 2 a request says pose and twist together, always.
        self._sets_parts = "set_pose" in SetEntityState.Request.get_fields_and_field_types()

    async def get(self) -> str:
        """Return all entities as models, with their poses and twists, as USDF text.

        Raises:
            SimulatorError: it is not there, does not answer, or cannot give states.

        """
        features = await self._probe(_GET)
        resume = await self._pause(features)
        try:
            return write_world(_world(self.name, await self._entities()))
        finally:
            await self._resume(resume)

    async def set(self, request: SetWorldState.Request) -> SetWorldState.Response:
        """Set poses and twists of entities: paused, set, resumed; what was set is put back where not all could be.

        Raises:
            SimulatorError: it is not there, does not answer, or cannot set states.

        """
        response = SetWorldState.Response()
        try:
            state = parse_world(request.text, "<text>")
            world = resolve(state)
        except RobotSemanticsError as error:
            response.message = str(error)
            return response
        features = await self._probe(_GET, _SET)
        before = await self._entities()
        plan = self._plan(world, before, request, response)
        complete = not response.not_set
        response.success = complete or request.partial
        response.notes = ["only poses and twists are set; this simulator does not continue bit for bit"]
        if not response.success:
            response.message = f"nothing set: {response.not_set[0]}"
            response.set = []
        if request.dry_run or not response.success:
            return response
        resume = await self._pause(features)
        try:
            await self._carry_out(plan, before, request, response)
        finally:
            await self._resume(resume)
        return response

    def _plan(
        self,
        world: ResolvedWorld,
        present: Mapping[str, EntityState],
        request: SetWorldState.Request,
        response: SetWorldState.Response,
    ) -> list[_Order]:
        """Return the requests that a state asks for, and say in the response what they set and what has no place."""
        plan = []
        standing = world if self._sets_parts else resolve(_world(self.name, present))
        for model in world.state.models:
            if request.models and model.name not in request.models:
                continue
            subject = f"model '{model.name}'"
            if model.name not in present:
                nearest = did_you_mean(model.name, present)
                hint = f"; did you mean '{nearest}'?" if nearest else ""
                response.not_set.append(f"{subject}: the simulator has no such entity{hint}")
                continue
            if model.joints:
                response.not_set.append(
                    f"{subject}: {len(model.joints)} joints: simulation_interfaces has no joint states"
                )
            if model.links:
                response.not_set.append(
                    f"{subject}: {len(model.links)} links: simulation_interfaces has no link states"
                )
            if model.pose is None and model.twist is None:
                continue
            # A twist that hangs on a motion nobody states cannot be turned into the world's axes.
            moves = model.twist is not None and _stated_twist(world, model.name) is not None
            if model.twist is not None and not moves:
                response.not_set.append(f"{subject}: twist: the motion of its parent '{model.parent}' is not stated")
            poses = model.pose is not None
            stated = " and ".join([*["pose"] * poses, *["twist"] * moves])
            if not stated:
                continue
            plan.append(_Order(self._request(model.name, world, standing, poses=poses, moves=moves), stated))
            response.set.append(f"{subject}: {stated} set")
        return plan

    async def _carry_out(
        self,
        plan: list[_Order],
        before: Mapping[str, EntityState],
        request: SetWorldState.Request,
        response: SetWorldState.Response,
    ) -> None:
        response.set = []
        done: list[str] = []
        for order in plan:
            result = (await self._call(self._set_state, order.request, once=True)).result
            subject = f"model '{order.request.entity}'"
            if result.result == Result.RESULT_OK:
                done.append(order.request.entity)
                response.set.append(f"{subject}: {order.stated} set")
                continue
            response.not_set.append(f"{subject}: {result.error_message or f'refused with code {result.result}'}")
            if not request.partial:
                for entity in done:
                    undo = self._setting(entity, before[entity], poses=True, moves=True)
                    await self._call(self._set_state, undo, once=True)
                response.success, response.set = False, []
                response.message = f"nothing set: {response.not_set[-1]}"
                return

    def _request(
        self, name: str, world: ResolvedWorld, standing: ResolvedWorld, *, poses: bool, moves: bool
    ) -> SetEntityState.Request:
        """Return the request for an entity; where it is, `standing`, fills in what it must say and nobody states."""
        state = EntityState()
        state.header.frame_id = WORLD
        state.pose = pose_message(pose_from_matrix((world if poses else standing).pose(name)))
        twist = _stated_twist(world if moves else standing, name)
        if twist is not None and (moves or not self._sets_parts):
            state.twist = twist_message(twist)
        return self._setting(name, state, poses=poses, moves=moves)

    def _setting(self, name: str, state: EntityState, *, poses: bool, moves: bool) -> SetEntityState.Request:
        flags = {"set_pose": poses, "set_twist": moves} if self._sets_parts else {}
        return SetEntityState.Request(entity=name, state=state, **flags)

    async def _probe(self, *needed: int) -> frozenset[int]:
        """Return the simulator's features.

        Raises:
            SimulatorError: one that is needed is missing.

        """
        answer = await self._call(self._features, GetSimulatorFeatures.Request())
        features = frozenset(int(feature) for feature in answer.features.features)
        for feature in needed:
            if feature not in features:
                what = "give" if feature == _GET else "set"
                raise SimulatorError(f"simulator '{self.name}' cannot {what} states of entities (feature {feature})")
        return features

    async def _entities(self) -> dict[str, EntityState]:
        answer = await self._call(self._get_states, GetEntitiesStates.Request())
        if answer.result.result != Result.RESULT_OK:
            raise SimulatorError(f"simulator '{self.name}': {answer.result.error_message}")
        return dict(zip(answer.entities, answer.states, strict=True))

    async def _pause(self, features: frozenset[int]) -> bool:
        """Pause the simulation if it can be and is running; return whether it has to be resumed."""
        if _PAUSE not in features:
            return False
        answer = await self._call(self._get_simulation, GetSimulationState.Request())
        if answer.state.state != SimulationState.STATE_PLAYING:
            return False
        await self._change(SimulationState.STATE_PAUSED)
        return True

    async def _resume(self, wanted: bool) -> None:
        if wanted:
            await self._change(SimulationState.STATE_PLAYING)

    async def _change(self, state: int) -> None:
        request = SetSimulationState.Request(state=SimulationState(state=state))
        result = (await self._call(self._set_simulation, request)).result
        already = SetSimulationState.Response.ALREADY_IN_TARGET_STATE
        if result.result not in (Result.RESULT_OK, already):
            raise SimulatorError(f"simulator '{self.name}' does not change its state: {result.error_message}")


def _stated_twist(world: ResolvedWorld, name: str) -> list[float] | None:
    """Return (6,) the twist in the world, None where it is not stated."""
    twist = world.twists[world.at(name)]
    return None if np.isnan(twist).any() else twist.tolist()


def _world(simulator: str, entities: Mapping[str, EntityState]) -> WorldState:
    models = []
    stamps = []
    for name, state in entities.items():
        if state.header.frame_id not in ("", WORLD, *entities):
            raise SimulatorError(
                f"simulator '{simulator}' gives '{name}' in the frame '{state.header.frame_id}', which it does not "
                "place"
            )
        at, turn = state.pose.position, state.pose.orientation
        linear, angular = state.twist.linear, state.twist.angular
        quat = np.array([turn.x, turn.y, turn.z, turn.w])
        models.append(
            ModelState(
                name,
                state.header.frame_id or WORLD,
                pose_from_quaternion((at.x, at.y, at.z), quat.tolist() if quat.any() else (0.0, 0.0, 0.0, 1.0)),
                (linear.x, linear.y, linear.z, angular.x, angular.y, angular.z),
            )
        )
        stamps.append(stamp_ns(state.header.stamp))
    return WorldState(models=tuple(models), time_ns=max(stamps, default=None))
