# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Simulators with the services of simulation_interfaces (Gazebo, Isaac Sim, O3DE): entities, their poses and twists.

These services have no joints and links: they are reported as not restored. Joint positions in a snapshot come from the
node's own topics. Imported only if the interfaces are installed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from simulation_interfaces.msg import EntityState, Result, SimulationState, SimulatorFeatures
from simulation_interfaces.srv import (
    GetEntitiesStates,
    GetSimulationState,
    GetSimulatorFeatures,
    SetEntityState,
    SetSimulationState,
)

from robot_semantics.base.names import frame_name, suggestion
from robot_semantics.base.nanoseconds import stamp_ns
from robot_semantics.ros.messages.maker import MAKER, pose_from_message, pose_message, row_of_pose, row_of_twist
from robot_semantics.ros.simulators.simulator_client import UNKNOWN, RemoteReport, RemoteSimulator, SimulatorError
from robot_semantics.transforms.pose import pose_from_matrix
from robot_semantics.usdf.frames import ResolvedWorld, resolve_frames
from robot_semantics.usdf.restore_report import RestoreItem, RestoreLog
from robot_semantics.usdf.world_state import WORLD, ModelState, WorldState

_GET, _SET = SimulatorFeatures.ENTITY_STATE_GETTING, SimulatorFeatures.ENTITY_STATE_SETTING
_PAUSE = SimulatorFeatures.SIMULATION_STATE_PAUSE


class _Order(NamedTuple):
    """A request to set one entity, and the names of the stated values."""

    request: SetEntityState.Request
    stated: tuple[str, ...]


class EntitySimulator(RemoteSimulator):
    """One simulator; its features are requested before each use, because plugins may be loaded or removed."""

    def __init__(self, node: Node, name: str, group: ReentrantCallbackGroup) -> None:
        """`name` is the namespace of the simulator's services."""
        super().__init__(node, name, group)
        self._features = self._client(GetSimulatorFeatures, "get_simulator_features")
        self._get_states = self._client(GetEntitiesStates, "get_entities_states")
        self._set_state = self._client(SetEntityState, "set_entity_state")
        self._get_simulation = self._client(GetSimulationState, "get_simulation_state")
        self._set_simulation = self._client(SetSimulationState, "set_simulation_state")
        # Before version 2, a request always has pose and twist together.
        self._sets_parts = "set_pose" in SetEntityState.Request.get_fields_and_field_types()

    async def get(self, *, hold: bool = True) -> WorldState:
        """Return all entities as models, with their poses and twists.

        Raises:
            SimulatorError: it is not there, does not answer, or cannot give states.

        """
        features = await self._probe(_GET)
        resume = hold and await self._pause(features)
        try:
            return _world(self.name, await self._entities())
        finally:
            await self._resume(resume)

    async def set(
        self, state: WorldState, models: Sequence[str] = (), *, partial: bool = False, dry_run: bool = False
    ) -> RemoteReport:
        """Pause, set poses and twists of entities, and resume; without `partial`, undo all if one entity is refused.

        Raises:
            SimulatorError: it is not there, does not answer, or cannot set states.
            DescriptionError: the state's frames do not lead to the world.

        """
        target_world = resolve_frames(state)
        features = await self._probe(_GET, _SET)
        before = await self._entities()
        log = RestoreLog()
        log.note("this simulator restores only poses and twists, so it does not continue exactly as before")
        chosen = [model for model in state.models if not models or model.name in models]
        plan = self._plan(chosen, target_world, before, log)
        if dry_run or not (partial or log.complete):
            return self._report(log, partial or log.complete)
        resume = await self._pause(features)
        try:
            success = await self._carry_out(plan, before, partial, log)
        finally:
            await self._resume(resume)
        return self._report(log, success)

    def _plan(
        self,
        chosen: Sequence[ModelState],
        target_world: ResolvedWorld,
        present: Mapping[str, EntityState],
        log: RestoreLog,
    ) -> list[_Order]:
        """Return the requests for the models; log the values that cannot be set, and the values to set."""
        plan = []
        present_world = None if self._sets_parts else resolve_frames(_world(self.name, present))
        for model in chosen:
            log.model = model.name
            if model.name not in present:
                near = suggestion(model.name, present)
                log.failed("model", "", f"the simulator has no such entity{near}", UNKNOWN)
                continue
            if model.joints:
                log.failed("joints", "", _left_out(len(model.joints), "joint"))
            if model.links:
                log.failed("links", "", _left_out(len(model.links), "link"))
            # A twist relative to a parent without a stated motion cannot be converted to the world's axes.
            twist = target_world.relative_twists((model.name,))[0]
            there = model.pose is not None or model.parent == WORLD
            moves = model.twist is not None and there and bool(np.isfinite(twist).all())
            if model.twist is not None and not moves:
                log.failed("twist", "", f"the motion of its parent '{model.parent}' is not stated")
            poses = model.pose is not None
            if poses and model.twist is None:
                log.note(f"model '{model.name}': its twist is not stated, and is kept")
            stated = (*["pose"] * poses, *["twist"] * moves)
            if stated:
                plan.append(
                    _Order(self._request(model.name, target_world, present_world, poses=poses, moves=moves), stated)
                )
                for kind in stated:
                    log.done(kind, "", "set")
        return plan

    async def _carry_out(
        self, plan: list[_Order], before: Mapping[str, EntityState], partial: bool, log: RestoreLog
    ) -> bool:
        """Send the planned requests; return True if all (with `partial`: any) succeed. Failures are logged."""
        done: list[str] = []
        for order in plan:
            entity = order.request.entity
            result = (await self._call(self._set_state, order.request, once=True)).result
            if result.result == Result.RESULT_OK:
                done.append(entity)
                continue
            reason = result.error_message or f"refused with code {result.result}"
            for at, item in enumerate(log.items):
                if item.model == entity and item.kind in order.stated:
                    log.items[at] = RestoreItem(item.kind, entity, "", False, reason)
            if not partial:
                for name in done:
                    undo = self._setting(name, before[name], poses=True, moves=True)
                    await self._call(self._set_state, undo, once=True)
                return False
        return bool(done) or not plan

    def _request(
        self, name: str, target_world: ResolvedWorld, present_world: ResolvedWorld | None, *, poses: bool, moves: bool
    ) -> SetEntityState.Request:
        """Return the request for an entity; values that it needs and that are not stated come from its present state
        `present_world`.
        """
        state = EntityState()
        state.header.frame_id = WORLD
        state.pose = pose_message(
            pose_from_matrix((target_world if poses else present_world or target_world).pose(name))
        )
        twist = (target_world if moves else present_world or target_world).relative_twists((name,))[0]
        if np.isfinite(twist).all() and (moves or present_world is not None):
            state.twist = MAKER.twist(twist)
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


def _left_out(count: int, part: str) -> str:
    states = f"1 {part} state is" if count == 1 else f"{count} {part} states are"
    return f"{states} left out: simulation_interfaces has no {part} states"


def _world(simulator: str, entities: Mapping[str, EntityState]) -> WorldState:
    models = []
    stamps = []
    for name, state in entities.items():
        frame = state.header.frame_id if state.header.frame_id in entities else frame_name(state.header.frame_id)
        if frame not in ("", WORLD, *entities):
            raise SimulatorError(
                f"simulator '{simulator}' gives '{name}' in the frame '{state.header.frame_id}', which it does not "
                "place"
            )
        if not row_of_pose(state.pose.position, state.pose.orientation)[3:].any():
            state.pose.orientation.w = 1.0
        models.append(ModelState(name, frame or WORLD, pose_from_message(state.pose), row_of_twist(state.twist)))
        stamps.append(stamp_ns(state.header.stamp))
    return WorldState(models=tuple(models), time_ns=max(stamps, default=None))
