"""Where a state's models and frames are in the world, and how they move there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.transforms import compose_twists
from robot_semantics.usdf.poses import pose_matrix
from robot_semantics.usdf.world_state import WORLD, Frame, ModelState, WorldState

FloatArray = npt.NDArray[np.float64]


class PlacementError(RobotSemanticsError):
    """A state's frames do not lead to the world; the message says which."""


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """Pose and motion of something in the world.

    Attributes:
        T: (4, 4) pose in the world.
        twist: (6,) motion relative to the world, in the world's axes; None where it is not stated.
        on_model: whether a model carries it.

    """

    T: FloatArray
    twist: FloatArray | None
    on_model: bool = False


AT_REST = Motion(np.eye(4), np.zeros(6))


def place_all(state: WorldState, standing: Mapping[str, Motion] | None = None) -> dict[str, Motion]:
    """Return where every frame and model of `state` is.

    A frame that states no twist is taken to be at rest; a model that states none moves in an unknown way.

    Args:
        state: the state.
        standing: frames and models that the state may name as parents without stating them.

    Raises:
        PlacementError: an unknown parent or a cycle.

    """
    items: dict[str, Frame | ModelState] = {frame.name: frame for frame in state.frames}
    items |= {model.name: model for model in state.models}
    placed: dict[str, Motion] = {WORLD: AT_REST}
    for name in items:
        chain: list[str] = []
        at = name
        while at not in placed:
            item = items.get(at)
            if item is None:
                if standing is None or at not in standing:
                    raise PlacementError(f"'{chain[-1]}' stands in '{at}', which is neither stated nor in the world")
                placed[at] = standing[at]
                break
            if at in chain:
                raise PlacementError(f"'{at}' stands in itself: {' → '.join([*chain, at])}")
            chain.append(at)
            at = item.parent or WORLD
        for step in reversed(chain):
            placed[step] = _place(items[step], placed[items[step].parent or WORLD])
    return placed


def _place(item: Frame | ModelState, parent: Motion) -> Motion:
    T_parent_item = pose_matrix(item.pose)
    on_model = parent.on_model or isinstance(item, ModelState)
    T = parent.T @ T_parent_item
    stated = item.twist if item.twist is not None or isinstance(item, ModelState) else (0.0,) * 6
    if parent.twist is None or stated is None:
        return Motion(T, None, on_model)
    # The stated twist belongs to the item's own origin, in the parent's axes.
    return Motion(T, compose_twists(parent.T, parent.twist, T_parent_item, np.asarray(stated)), on_model)
