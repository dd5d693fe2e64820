# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Simulator of URDF and SRDF robots in Drake. Its state is a USDF world state."""

from __future__ import annotations

import hashlib
import logging
import platform
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from robot_semantics.base.errors import MissingExtraError
from robot_semantics.base.nanoseconds import whole_nanoseconds

try:
    import mujoco  # noqa: F401  needed by the geometry reader
    import pydrake  # noqa: F401
except ImportError as error:  # pragma: no cover - depends on the installation
    raise MissingExtraError("drake", "drake", "simulating with Drake") from error

from robot_semantics.simulation.drake_builder import build_world, rigid_transform
from robot_semantics.simulation.drake_directives import FLOATING_Q
from robot_semantics.simulation.joint_state_simulator import JointStateSimulator
from robot_semantics.simulation.restoring import TIME_DIFFERS
from robot_semantics.simulation.robot_motion import LinkMotion, RobotMotion, normalized
from robot_semantics.simulation.simulator import DivergedError, SimulationError
from robot_semantics.simulation.world_spec import BuildNote, WorldSpec
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.world_state import EngineState, WorldState

if TYPE_CHECKING:
    from pydrake.multibody.tree import Joint

VERSION = version("drake")

FLOATING_V = (3, 4, 5, 0, 1, 2)
"""Columns of linear before angular velocities in Drake, which has angular velocities first."""

_CONTRADICTION = 1e-9
"""Largest rounding difference [m, rad and their rates] between stated values and the engine's. More is an edit."""
_PARTS = tuple(field.name for field in fields(RobotMotion))
_STATED = {
    "base": "poses of robots",
    "root_positions": "positions",
    "root_velocities": "velocities",
    "positions": "positions",
    "velocities": "velocities",
    "targets": "commands",
}


class DrakeSimulator(JointStateSimulator):
    """A Drake world of robots.

    Drake's discrete plant starts every step from positions and velocities alone. To continue bit for bit, it needs
    these, the targets of the servos and the poses of the bases.
    """

    ENGINE, TITLE = "drake", "Drake"

    def __init__(self, spec: WorldSpec) -> None:
        """Build and start a world, at time 0, its joints at their default positions.

        Raises:
            WorldSpecError: the world cannot be built.
        """
        self._world = build_world(spec)
        self._context = self._world.diagram.CreateDefaultContext()
        self._inner = self._world.plant.GetMyMutableContextFromRoot(self._context)
        super().__init__(spec)
        said = (sorted((name, str(digest)) for name, digest in self._digests.items()), spec.timestep, spec.gravity)
        self._digest = hashlib.sha256(repr((*said, spec.ground, self._world.digest)).encode()).hexdigest()

    @property
    def notes(self) -> tuple[BuildNote, ...]:
        """Changes and omissions that the engine made necessary."""
        return self._world.notes

    def _advance(self) -> None:
        try:
            following = self._world.diagram.EvalUniquePeriodicDiscreteUpdate(self._context)
        except RuntimeError as error:
            raise SimulationError(f"Drake cannot continue: {error}") from error
        if not np.isfinite(following.get_vector(0).value()).all():
            raise DivergedError("the simulation diverged")
        self._context.SetDiscreteState(following)

    # --- motion of robots

    def _read(self, name: str, last: RobotMotion) -> RobotMotion:
        plant, model = self._world.plant, self._world.models[name]
        q, v = plant.GetPositions(self._inner), plant.GetVelocities(self._inner)
        space = self._robots[name].kinematics.space
        positions, velocities = last.positions.copy(), last.velocities.copy()
        for joint_name, joint in model.joints.items():
            positions[space.joint_positions[joint_name]] = q[_indices(joint, "position")]
            velocities[space.joint_velocities[joint_name]] = v[_indices(joint, "velocity")]
        root = q[_indices(model.root, "position")], v[_indices(model.root, "velocity")]
        return RobotMotion(last.base, *root, positions, velocities, last.targets)

    def _write(self, motions: Mapping[str, RobotMotion]) -> None:
        plant = self._world.plant
        q, v = np.array(plant.GetPositions(self._inner)), np.array(plant.GetVelocities(self._inner))
        for name, model in self._world.models.items():
            motion, space = motions[name], self._robots[name].kinematics.space
            q[_indices(model.root, "position")] = motion.root_positions
            v[_indices(model.root, "velocity")] = motion.root_velocities
            for joint_name, joint in model.joints.items():
                q[_indices(joint, "position")] = motion.positions[space.joint_positions[joint_name]]
                v[_indices(joint, "velocity")] = motion.velocities[space.joint_velocities[joint_name]]
        plant.SetPositions(self._inner, q)
        plant.SetVelocities(self._inner, v)

    def _hold(self, name: str, motion: RobotMotion) -> None:
        model = self._world.models[name]
        if model.base is not None:
            model.base.SetPoseInParentFrame(self._inner, rigid_transform(motion.base))
        if model.driven:
            # The targets have the order of the plant's motors: both follow the order of creation.
            port = self._world.plant.get_desired_state_input_port(model.instance)
            port.FixValue(self._inner, np.concatenate([motion.targets, np.zeros(len(motion.targets))]))

    def _links(self, name: str) -> LinkMotion:
        plant, bodies = self._world.plant, self._world.models[name].bodies
        poses = [plant.EvalBodyPoseInWorld(self._inner, body) for body in bodies]
        motion = [plant.EvalBodySpatialVelocityInWorld(self._inner, body) for body in bodies]
        twists = [np.concatenate((velocity.translational(), velocity.rotational())) for velocity in motion]
        return LinkMotion(np.array([T.GetAsMatrix4() for T in poses]), np.array(twists))

    # --- the engine's own state

    def _engine_states(self) -> tuple[EngineState, ...]:
        return (self._engine_state(self._present_motions()), *super()._engine_states())

    def _engine_state(self, motions: Mapping[str, RobotMotion]) -> EngineState:
        arrays = {part: _concatenated(motions, part) for part in _PARTS} | {"time": np.array([self._time])}
        said = {"world": self._digest, "machine": platform.machine()}
        return EngineState(self.ENGINE, VERSION, {k: tuple(v.tolist()) for k, v in arrays.items()}, said)

    def _continue_exactly(self, state: WorldState, names: tuple[str, ...] | None) -> str | None:
        engine, like = self._matching_engine_state(state, names, VERSION), self._engine_state(self._trial)
        if isinstance(engine, str):
            return engine
        if engine.attributes != like.attributes:
            return "the engine state belongs to another world"
        if {k: len(values) for k, values in engine.arrays.items()} != {k: len(v) for k, v in like.arrays.items()}:
            return "the engine state's arrays have other sizes"
        beside = dict(self._trial)
        for part in _PARTS:
            stated = [getattr(motion, part) for motion in self._trial.values()]
            ends = np.cumsum([values.size for values in stated])[:-1]
            for name, old, new in zip(beside, stated, np.split(np.array(engine.arrays[part]), ends), strict=True):
                beside[name] = replace(beside[name], **{part: new.reshape(old.shape)})
        ours, theirs = (
            {name: normalized(self._robots[name], motion) for name, motion in motions.items()}
            for motions in (self._trial, beside)
        )
        for part in _PARTS:
            if not np.abs(_concatenated(ours, part) - _concatenated(theirs, part)).max(initial=0.0) <= _CONTRADICTION:
                return f"its {_STATED[part]} differ from the engine's state in the same file"
        (time,) = engine.arrays["time"]
        if state.time_ns not in (None, whole_nanoseconds(time)):
            return TIME_DIFFERS
        self._trial, self._trial_time = beside, time
        return None


def _concatenated(motions: Mapping[str, RobotMotion], part: str) -> FloatArray:
    return np.concatenate([np.zeros(0), *(getattr(motion, part).ravel() for motion in motions.values())])


def _indices(joint: Joint, kind: str) -> list[int]:
    """Return the indices of a joint, in our order, in all positions or velocities of the plant."""
    start = getattr(joint, f"{kind}_start")()
    count = joint.num_positions() if kind == "position" else joint.num_velocities()
    return [start + at for at in {7: FLOATING_Q, 6: FLOATING_V}.get(count, range(count))]


def start(spec: WorldSpec, warn: Callable[[str], None]) -> DrakeSimulator:
    """Return a world in Drake.

    Raises:
        WorldSpecError: the world cannot be built.
    """
    del warn
    # Drake warns only about unused features: deformable bodies on half spaces.
    logging.getLogger("drake").setLevel(logging.ERROR)
    return DrakeSimulator(spec)
