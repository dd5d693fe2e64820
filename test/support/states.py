# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Random world states, and the founding document's own example."""

from __future__ import annotations

import math
import random
import struct
from types import MappingProxyType

import numpy as np
from scipy.spatial.transform import Rotation

from robot_semantics import WorldState
from robot_semantics.transforms.pose import Pose, Vec6
from robot_semantics.usdf.world_state import EngineState, Frame, JointState, LinkState, ModelState

# Verbatim: an unclosed quote, and <wrench> closed by </twist>.
FOUNDING_EXAMPLE = """\
<world name="world_1">
  <model_state name="pr2">
    <parent>odom</parent>
    <pose>0 0 0 0 0 0</pose>
    <twist>0 0 0 0 0 0</twist>
    <link_state name="r_shoulder_pan_link>
      <pose>1 0 1 0 0 0</pose>
      <twist>0 0 0 0 0 0</twist>
      <wrench>0 0 0 0 0 0</twist>
    </link_state>
  </model_state>
  <frame name="odom">
    <parent>world</parent>
    <pose>0 0 0 0 0 0</pose>
    <twist>0 0 0 0 0 0</twist>
  </frame>
</world>
"""

REPAIRED_EXAMPLE = FOUNDING_EXAMPLE.replace("pan_link>", 'pan_link">').replace(
    "0</twist>\n    </link", "0</wrench>\n    </link"
)

EDGES = (
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    2.2250738585072014e-308,
    2.225073858507201e-308,
    1e308,
    -1.7976931348623157e308,
    1e22,
    1e16,
    9007199254740993.0,
    0.1,
    1e-5,
    1e-7,
    math.pi / 2,
    -math.pi / 2,
    math.nextafter(math.pi / 2, 0.0),
    math.pi,
)
NAMES = (
    "pr2",
    "l",
    "a b",
    "größe",
    "<&\"'>",
    "x|y,z",
    "a::b",
    "tab\there",
    "line\nbreak",
    "cr\rhere",
    "名前",
    "]",
    "_" * 40,
)


class Chance:
    """A reproducible source of world states, the awkward values among them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def number(self) -> float:
        """Return an edge case, any finite float of 64 random bits, or an everyday number."""
        kind = self.random.random()
        if kind < 0.2:
            return self.random.choice(EDGES)
        if kind < 0.5:
            value = struct.unpack("<d", self.random.randbytes(8))[0]
            return value if math.isfinite(value) else 1.0
        return self.random.uniform(-10, 10)

    def six(self) -> Vec6 | None:
        """Return six numbers, or that nothing is stated."""
        return None if self.random.random() < 0.3 else tuple(self.number() for _ in range(6))  # type: ignore[return-value]

    def row(self) -> tuple[float, ...] | None:
        """Return some numbers, or that nothing is stated."""
        return None if self.random.random() < 0.3 else tuple(self.number() for _ in range(self.random.randint(0, 7)))

    def pose(self) -> Pose | None:
        """Return a pose; where it has a quaternion, that is scipy's of its rpy, with either sign."""
        six = self.six()
        if six is None or self.random.random() < 0.5:
            return None if six is None else Pose(six)
        rpy = [math.remainder(angle, math.tau) for angle in six[3:]]
        quat = Rotation.from_euler("xyz", rpy).as_quat() * self.random.choice((1, -1))
        return Pose((*six[:3], *rpy), tuple(quat.tolist()))  # type: ignore[arg-type]

    def names(self, count: int) -> list[str]:
        """Return different names."""
        return [f"{self.random.choice(NAMES)}{at}" for at in range(count)]

    def foreign(self) -> tuple[str, ...]:
        """Return foreign content, mostly none."""
        if self.random.random() < 0.9:
            return ()
        return ("<!-- said -->", '<x:y xmlns:x="urn:x" b="2">text<z>&lt;</z></x:y>')

    def world(self, models: int = 2, frames: int = 2, links: int = 2, joints: int = 2) -> WorldState:
        """Return a world whose parents are a random forest."""
        pick = self.random
        names = self.names(pick.randint(0, models + frames))
        parents = {name: pick.choice(["world", *names[:at]]) for at, name in enumerate(names)}
        pick.shuffle(names)
        split = pick.randint(0, len(names))
        return WorldState(
            name=pick.choice([None, "", "world_1", "<&>"]),
            models=tuple(
                ModelState(
                    name,
                    parents[name],
                    self.pose(),
                    self.six(),
                    tuple(
                        LinkState(link, self.pose(), self.six(), self.six(), self.foreign())
                        for link in self.names(pick.randint(0, links))
                    ),
                    tuple(
                        JointState(joint, self.row(), self.row(), self.row(), self.foreign())
                        for joint in self.names(pick.randint(0, joints))
                    ),
                    description=pick.choice([None, "package://a/b.urdf", "<&>\n"]),
                    urdf_sha256=pick.choice([None, "0123456789abcdef" * 4]),
                    foreign=self.foreign(),
                )
                for name in names[:split]
            ),
            frames=tuple(Frame(name, parents[name], self.pose(), self.six(), self.foreign()) for name in names[split:]),
            time_ns=pick.choice([None, 0, 1, -1, 1_700_000_000_123_456_789, -1_500_000_000]),
            engines=tuple(
                EngineState(
                    name,
                    "1.0",
                    MappingProxyType({"q": tuple(self.number() for _ in range(3)), "empty": ()}),
                    MappingProxyType({"note": "a\n<b>\t"}),
                )
                for name in self.names(pick.randint(0, 1))
            ),
            foreign=self.foreign(),
        )

    def tame_world(self, models: int = 3, frames: int = 3, links: int = 3) -> WorldState:
        """Return a world of everyday numbers with everything stated: what frames are resolved in."""
        rng = np.random.default_rng(self.random.randrange(2**32))

        def six() -> Vec6:
            return tuple(rng.uniform(-2, 2, size=6).tolist())

        names = [f"b{at}" for at in range(models + frames)]
        parents = {name: self.random.choice(["world", *names[:at]]) for at, name in enumerate(names)}
        self.random.shuffle(names)
        return WorldState(
            models=tuple(
                ModelState(
                    name,
                    parents[name],
                    Pose(six()),
                    six(),
                    tuple(LinkState(f"l{at}", Pose(six()), six(), six()) for at in range(links)),
                )
                for name in names[:models]
            ),
            frames=tuple(Frame(name, parents[name], Pose(six()), six()) for name in names[models:]),
        )


def same_bits(first: object, second: object) -> bool:
    """Tell whether two states are equal and every float has the same sign, -0.0 too."""
    return first == second and repr(first) == repr(second)
