# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Closed loops of a sampled robot: the passive joints follow from the driven ones along the series."""

from __future__ import annotations

import numpy as np

from robot_semantics.base.diagnostics import Diagnostics, SourcePlace
from robot_semantics.base.foreign_text import quoted
from robot_semantics.kinematics.loop_equations import IndexArray
from robot_semantics.kinematics.loop_freedom import LoopError
from robot_semantics.kinematics.loops import ClosedLoops
from robot_semantics.kinematics.mimics import followings
from robot_semantics.model.robot_model import MIMIC_TOLERANCE, RobotModel
from robot_semantics.state.model_states import ModelSeries
from robot_semantics.transforms import wrapped_angles
from robot_semantics.transforms.arrays import BoolArray, FloatArray


class LoopColumns:
    """The columns of a robot's series that belong to closed loops."""

    def __init__(self, loops: ClosedLoops, problems: Diagnostics, place: SourcePlace) -> None:
        self._loops, self._problems, self._place = loops, problems, place
        space = loops.space
        self._driven = [name for freedom in loops.freedoms for name in freedom.driven]
        followers = [
            joint.name for joint, leader, _ in followings(space.model) if leader.name in (*loops.dependent, *loops.held)
        ]
        self._solved = [*loops.dependent, *loops.held, *followers]
        self._last: FloatArray | None = None
        self._reported: set[str] = set()

    @classmethod
    def of(cls, model: RobotModel | None, problems: Diagnostics, place: SourcePlace) -> LoopColumns | None:
        """Return the columns of a robot; None without loops, or with a warning if its passive joints do not fit."""
        if model is None or not model.constraints:
            return None
        try:
            loops = ClosedLoops.of(model)
        except LoopError as error:
            problems.warning(error.freedoms[0].code or "loop-open", f"loops stay open: {error}", place)
            return None
        return None if loops is None else cls(loops, problems, place)

    def close(self, series: ModelSeries) -> None:
        """Fill the passive joints of `series` at all times at which the driven joints are known."""
        space = self._loops.space
        spans = {name: (where, rates) for name, where, rates in series.spans}
        q = np.tile(space.neutral(), (len(series.positions), 1))
        v = np.full((len(q), space.velocity_size), np.nan)
        for name, (where, rates) in spans.items():
            q[:, space.joint_positions[name]] = series.positions[:, where]
            v[:, space.joint_velocities[name]] = series.velocities[:, rates]
        inputs = np.concatenate([np.arange(q.shape[1])[space.joint_positions[name]] for name in self._driven])
        rows = np.flatnonzero(np.isfinite(q[:, inputs]).all(axis=1))
        if not rows.size:
            return
        measured = q[rows]
        known = np.where(np.isfinite(measured), measured, space.neutral())
        if self._last is None:
            first = self._loops.near(known[0])
            self._last = first.q if first.closed else self._loops.home.q[0]
        found = self._loops.close_series(known, self._last)
        self._last = found.q[-1]
        self._report(measured, found.q, found.closed, np.maximum(found.position_error, found.rotation_error))
        speeds, determined = self._loops.velocities(found.q, np.nan_to_num(v[rows]))
        rates_known = np.isfinite(v[rows])[:, np.concatenate([self._rates(name) for name in self._driven])].all(axis=1)
        ages = series.joint_age_ns[rows][:, [series.joints.index(name) for name in self._driven]].max(axis=1)
        for name in (*self._driven, *self._solved):
            series.positions[:, spans[name][0]][rows] = found.q[:, space.joint_positions[name]]
        for name in self._solved:
            own = space.joint_velocities[name]
            fine = determined[:, own] & (rates_known & found.closed)[:, np.newaxis]
            series.velocities[:, spans[name][1]][rows] = np.where(fine, speeds[:, own], np.nan)
            series.joint_age_ns[rows, series.joints.index(name)] = ages

    def _rates(self, name: str) -> IndexArray:
        return np.arange(self._loops.space.velocity_size)[self._loops.space.joint_velocities[name]]

    def _report(self, measured: FloatArray, closed: FloatArray, fine: BoolArray, residual: FloatArray) -> None:
        """Warn about loops that do not close, and about measured passive joints elsewhere; each kind once."""
        names = quoted([name for freedom in self._loops.freedoms for name in freedom.constraints], 9)
        if not fine.all() and "open" not in self._reported:
            self._reported.add("open")
            text = (
                f"the loops of {names} do not close at {int((~fine).sum())} times; they stay open by up to "
                f"{residual[~fine].max():.3g} m or rad, and their joints keep the last positions at which they close"
            )
            self._problems.warning("loop-open", text, self._place)
        space = self._loops.space
        for name in self._loops.dependent:
            joint, where = space.model.joint(name), space.joint_positions[name]
            if joint.position_count != 1 or name in self._reported:
                continue
            off = measured[:, where] - closed[:, where]
            worst = float(np.nanmax(np.abs(wrapped_angles(off) if joint.motion.wraps else off), initial=0.0))
            if worst > MIMIC_TOLERANCE:
                self._reported.add(name)
                text = f"passive joint '{name}' was measured up to {worst:.3g} away from its place in the closed loop"
                self._problems.warning("loop-disagrees", f"{text}; the closed position is used", self._place)
