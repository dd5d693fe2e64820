# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Names, the order of elements and the order of a constraint's ends never decide the branch of a closed loop.

The mechanisms are random, and open at the default positions: the search for a closed configuration starts far away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.loops import FloatArray, numbers

from robot_semantics.kinematics.loop_freedom import LoopError
from robot_semantics.kinematics.loops import ClosedLoops
from robot_semantics.model.loading import robot_from_text

Z, X = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)


class Joint(NamedTuple):
    name: str
    kind: str
    parent: str
    xyz: Sequence[float]
    rpy: Sequence[float]
    axis: Sequence[float]
    limits: tuple[float, float]


class End(NamedTuple):
    joint: str
    xyz: Sequence[float]


class Loop(NamedTuple):
    kind: str
    ends: tuple[End, End]
    axis: Sequence[float] = Z


class Mechanism(NamedTuple):
    """Joints, each with a link of its name; the first is driven, the others are passive."""

    joints: tuple[Joint, ...]
    loops: tuple[Loop, ...]

    def texts(
        self, names: Mapping[str, str], order: Sequence[int] | None = None, *, swap: bool = False
    ) -> tuple[str, str]:
        joints = self.joints if order is None else [self.joints[at] for at in order]
        names = {"base": "base", **names}
        text = '<robot name="m"><link name="base"/>' + "".join(f'<link name="{names[j.name]}"/>' for j in joints)
        for j in joints:
            bounds = f'<limit lower="{j.limits[0]!r}" upper="{j.limits[1]!r}" effort="1" velocity="1"/>'
            text += (
                f'<joint name="{names[j.name]}" type="{j.kind}"><parent link="{names[j.parent]}"/>'
                f'<child link="{names[j.name]}"/><origin xyz="{numbers(j.xyz)}" rpy="{numbers(j.rpy)}"/>'
                f'<axis xyz="{numbers(j.axis)}"/>{"" if j.kind == "continuous" else bounds}</joint>'
            )
        for number, loop in enumerate(self.loops if order is None else self.loops[::-1]):
            a, b = loop.ends[::-1] if swap else loop.ends
            axis = "" if loop.kind == "spherical" else f'<parent_axis xyz="{numbers(loop.axis)}"/>'
            text += (
                f'<constraint name="c{number}" type="{loop.kind}"><parent link="{names[a.joint]}"/>'
                f'<parent_origin xyz="{numbers(a.xyz)}"/><child link="{names[b.joint]}"/>'
                f'<child_origin xyz="{numbers(b.xyz)}"/>{axis}</constraint>'
            )
        passive = "".join(f'<passive_joint name="{names[j.name]}"/>' for j in self.joints[1:])
        return f"{text}</robot>", f'<robot name="m">{passive}</robot>'


def mechanism(kind: str, rng: np.random.Generator) -> Mechanism:
    """Return a random mechanism of a kind."""

    def between(low: float, high: float) -> float:
        return float(rng.uniform(low, high))

    def joint(name: str, parent: str, xyz: Sequence[float], axis: Sequence[float] = Z, sort: str = "") -> Joint:
        limits = (-between(0.5, 3.0), between(0.5, 3.0)) if rng.random() < 0.6 else (-3.1, 3.1)
        turning = "revolute" if rng.random() < 0.5 else "continuous"
        return Joint(name, sort or turning, parent, xyz, tilt if parent == "base" else (0.0, 0.0, 0.0), axis, limits)

    tilt: Sequence[float] = (0.0, 0.0, 0.0)
    joints: tuple[Joint, ...]
    if kind == "spatial":
        axes = rng.normal(size=(4, 3)).tolist()
        joints = (
            joint("a", "base", (0, 0, 0), axes[0]),
            joint("b", "a", (between(0.1, 0.3), 0, 0), axes[1]),
            joint("c", "b", (between(0.0, 0.2), between(0.0, 0.2), 0), axes[2]),
            joint("d", "base", rng.uniform(0.1, 0.4, 3).tolist(), axes[3]),
        )
        ends = End("c", (between(0.2, 0.5), 0, 0)), End("d", (between(0.2, 0.5), 0, 0))
        return Mechanism(joints, (Loop("spherical", ends),))
    if kind == "two loops":
        joints = (
            joint("a", "base", (0, 0, 0)),
            joint("b", "a", (between(0.1, 0.4), 0, 0)),
            joint("c", "base", (between(0.2, 0.5), 0, 0)),
            joint("d", "b", (between(0.1, 0.3), between(-0.2, 0.2), 0)),
            joint("e", "base", (between(-0.4, -0.1), between(-0.2, 0.2), 0)),
        )
        loops = [
            Loop("revolute", (End("b", (between(0.2, 0.5), 0, 0)), End("c", (between(0.2, 0.5), 0, 0)))),
            Loop("revolute", (End("d", (between(0.2, 0.6), 0, 0)), End("e", (between(0.2, 0.6), 0, 0)))),
        ]
        return Mechanism(joints, tuple(loops))
    rotation = Rotation.random(random_state=int(rng.integers(1 << 30)))
    tilt = rotation.as_euler("xyz").tolist()
    ground = rotation.apply((between(0.2, 0.5), 0.0, 0.0)).tolist()
    other = joint("c", "base", ground, X, "prismatic") if kind == "slider" else joint("c", "base", ground)
    joints = (joint("a", "base", (0, 0, 0)), joint("b", "a", (between(0.1, 0.5), between(-0.1, 0.1), 0)), other)
    if kind == "slot":
        ends = End("c", (0, between(-0.1, 0.1), 0)), End("b", (0, between(-0.1, 0.1), 0))
        return Mechanism(joints, (Loop("prismatic", ends, X),))
    ends = End("b", (between(0.2, 0.5), 0, 0)), End("c", (0 if kind == "slider" else between(0.2, 0.5), 0, 0))
    return Mechanism(joints, (Loop("revolute", ends),))


def solutions(texts: tuple[str, str], names: Mapping[str, str], driven: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (n,) which configurations close, and (n, joints) their positions in the order of `names`."""
    loops = ClosedLoops.of(robot_from_text(*texts))
    assert loops is not None
    space = loops.space
    q = np.tile(space.neutral(), (len(driven), 1))
    q[:, space.index[names["a"]]] = driven
    found = (loops.home, loops.close(q), loops.near(q), loops.close_series(q[np.argsort(driven)]))
    columns = [space.index[name] for name in names.values()]
    return np.concatenate([part.closed for part in found]), np.concatenate([part.q[:, columns] for part in found])


@pytest.mark.parametrize("kind", ["four bars", "slider", "slot", "two loops", "spatial"])
def test_names_and_order_do_not_choose_the_branch(kind: str) -> None:
    closed_ones = 0
    for seed in range(6):
        rng = np.random.default_rng([seed, *kind.encode()])
        robot, driven = mechanism(kind, rng), rng.uniform(-3.0, 3.0, 8)
        plain = {joint.name: joint.name for joint in robot.joints}
        shuffled = dict(zip(plain, rng.permutation(list("pqrst"[: len(plain)])).tolist(), strict=True))
        order = rng.permutation(len(plain)).tolist()
        try:
            closed, q = solutions(robot.texts(plain), plain, driven)
        except LoopError:
            # It cannot close, by whatever names.
            with pytest.raises(LoopError):
                solutions(robot.texts(shuffled, order, swap=True), shuffled, driven)
            continue
        closed_ones += int(closed.sum())
        one_change = (
            (plain, robot.texts(plain, swap=True)),
            (plain, robot.texts(plain, order)),
            (shuffled, robot.texts(shuffled)),
        )
        for names, texts in (one_change[seed % 3], (shuffled, robot.texts(shuffled, order, swap=True))):
            other_closed, other_q = solutions(texts, names, driven)
            np.testing.assert_array_equal(other_closed, closed, err_msg=f"seed {seed}")
            np.testing.assert_allclose(other_q[closed], q[closed], atol=1e-6, err_msg=f"seed {seed}")
    assert closed_ones > 30
