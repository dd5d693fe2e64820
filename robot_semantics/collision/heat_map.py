# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A picture of a matrix: every pair of links a square, coloured by how often it collides, or why it is not checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robot_semantics.base.errors import MissingExtraError
from robot_semantics.base.foreign_text import shown
from robot_semantics.collision.matrix import CollisionMatrix, Reason
from robot_semantics.model.robot_model import RobotModel

_LETTER = {Reason.ADJACENT: "A", Reason.ALWAYS: "!", Reason.DEFAULT: "D", Reason.NEVER: "·"}

LARGEST = 60.0
"""How wide and high a picture is at most [inches]; with 1,000 links its pixels would take 5 GB."""


def save_heat_map(matrix: CollisionMatrix, robot: RobotModel, path: Path) -> None:
    """Write the picture; its format follows the ending of `path` (png, svg, pdf).

    Raises:
        MissingExtraError: matplotlib is not installed.
        OSError: the file cannot be written.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.colors import LogNorm
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plot", "drawing the heat map") from error
    links = [name for name in robot.link_names if any(name in pair for pair in matrix.pairs)]
    where = {name: at for at, name in enumerate(links)}
    share = np.full((len(links), len(links)), np.nan)
    side = min(max(5.0, 0.28 * len(links) + 2.5), LARGEST)
    figure: Any = Figure(figsize=(side, side), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for pair, evidence in matrix.pairs.items():
        row, column = sorted((where[pair.first], where[pair.second]), reverse=True)
        if evidence.hits is not None and evidence.samples:
            share[row, column] = evidence.hits / evidence.samples
        reason = matrix.reason(pair)
        if reason is not None:
            axes.text(column, row, _LETTER[reason], ha="center", va="center", fontsize=7, color="#555555")
    # Logarithmic: what matters most is whether a pair collides rarely or not at all.
    scale = LogNorm(1.0 / max(matrix.samples, 2), 1.0)
    image = axes.imshow(np.where(share > 0.0, share, np.nan), cmap="YlOrRd", norm=scale)
    # A name with dollars is no formula.
    labels = [shown(link) for link in links]
    axes.set_xticks(range(len(links)), labels, rotation=90, fontsize=7, parse_math=False)
    axes.set_yticks(range(len(links)), labels, fontsize=7, parse_math=False)
    axes.set_title(
        f"{shown(robot.name)}: self-collisions in {matrix.samples:,} configurations", fontsize=10, parse_math=False
    )
    axes.set_xlabel("not checked because:  A adjacent   ! always   D default pose   · never", fontsize=8)
    for side_name in ("top", "right"):
        axes.spines[side_name].set_visible(False)
    figure.colorbar(image, ax=axes, shrink=0.5, label="share of configurations in collision")
    figure.savefig(path, dpi=130)
