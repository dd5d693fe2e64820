"""The program `mujoco_world`: a headless MuJoCo simulation of the robots of a USDF world."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from robot_semantics.ros.program import run

if TYPE_CHECKING:
    from robot_semantics.ros.simulators.world_node import MujocoWorld


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node; return the exit code: 1 where the world cannot be simulated."""
    return run("mujoco_world", _load, lambda node: node.run(), arguments)


def _load() -> Callable[[], MujocoWorld]:
    from robot_semantics.ros.simulators.world_node import MujocoWorld

    return MujocoWorld


if __name__ == "__main__":
    sys.exit(main())
