# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A matrix as text, as JSON and as a picture."""

from __future__ import annotations

import json
import math
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import TypedDict

import numpy as np

from robot_semantics.base.errors import MissingExtraError, RobotSemanticsError
from robot_semantics.base.files import save_bytes
from robot_semantics.base.names import LinkPair, shown
from robot_semantics.collision.matrix import CollisionMatrix, PairEvidence, PairReason, Witness
from robot_semantics.collision.statistics import rounded_up
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel


def matrix_json(matrix: CollisionMatrix, space: JointSpace) -> dict[str, object]:
    """Return the matrix as JSON-ready values. ``rare`` lists the rarest pair first; ``unlimited_joints`` have the
    range in which they are sampled.
    """
    return {
        "samples": matrix.samples,
        "seed": matrix.seed,
        "sampler": matrix.sampler,
        "always_fraction": matrix.always_fraction,
        "counts": reason_counts(matrix),
        "contradicted": [
            {"link1": pair.first, "link2": pair.second, "reason": reason.value if reason else None}
            for pair, reason in matrix.contradicted().items()
        ],
        "rare": [list(pair) for pair in matrix.rare()],
        "unlimited_joints": [
            {"joint": joint.name, "lower": low, "upper": high}
            for joint in space.model.unlimited_joints
            for low, high in (space.model.usable_range(joint),)
        ],
        "pairs": [pair_json(matrix, evidence, space) for evidence in matrix.pairs.values()],
    }


def matrix_from_json(text: bytes, robot: RobotModel) -> CollisionMatrix:
    """Return the matrix of a report, see `matrix_json`, for a robot; the evidence by triangles is that of the matrix.

    Raises:
        RobotSemanticsError: it has another form, or is about a robot with other links or joints.
    """
    space = JointSpace.of(robot)
    try:
        content, pairs = json.loads(text), {}
        for item in content["pairs"]:
            pair = LinkPair.of(str(item["link1"]), str(item["link2"]))
            if not {*pair} <= robot.link_index.keys():
                raise ValueError("other links")
            pairs[pair] = PairEvidence(
                pair,
                None if item["hits"] is None else int(item["hits"]),
                int(item["samples"]),
                item["default_hit"],
                item["default_depth"],
                item["hull_hits"],
                tuple(str(name) for name in item["adjacency"]),
                bool(item["rigid"]),
                _witness(item["first"], space),
                _witness(item["deepest"], space),
            )
        evidence = MappingProxyType(pairs)
        settings = int(content["seed"]), str(content["sampler"]), float(content["always_fraction"])
        return CollisionMatrix(evidence, evidence, int(content["samples"]), *settings)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise RobotSemanticsError(f"the report is not about this robot ({error})") from None


def _witness(stated: WitnessJson | None, space: JointSpace) -> Witness | None:
    if stated is None:
        return None
    positions = stated["positions"]
    if positions.keys() != set(space.names):
        raise ValueError("other joints")
    q = np.array([float(positions[name]) for name in space.names])
    return Witness(stated["sample"], q, stated["depth"])


def reason_counts(matrix: CollisionMatrix) -> dict[str, int]:
    """Return the number of pairs by reason, and of the pairs that stay checked."""
    reasons = [matrix.reason(pair) for pair in matrix.pairs]
    counts = {reason.value: reasons.count(reason) for reason in PairReason if reason is not PairReason.USER}
    return {**counts, "checked": reasons.count(None)}


def pair_json(matrix: CollisionMatrix, evidence: PairEvidence, space: JointSpace) -> dict[str, object]:
    """Return the evidence on one pair as JSON-ready values."""
    reason = matrix.reason(evidence.pair)
    return {
        "link1": evidence.pair.first,
        "link2": evidence.pair.second,
        "reason": reason.value if reason else None,
        "hits": evidence.hits,
        "samples": evidence.samples,
        "fraction": evidence.hits / evidence.samples if evidence.hits is not None and evidence.samples else None,
        "hull_hits": evidence.hull_hits,
        "default_hit": evidence.default_hit,
        "default_depth": evidence.default_depth,
        "adjacency": list(evidence.adjacency),
        "rigid": evidence.rigid,
        "found": evidence.found_by_search,
        "never_bound": evidence.never_bound,
        "first": witness_json(evidence.first, space),
        "deepest": witness_json(evidence.deepest, space),
    }


class WitnessJson(TypedDict):
    """A configuration at which two links collide: number of the sample, depth [m], positions by variable name."""

    sample: int
    depth: float | None
    positions: dict[str, float]


def witness_json(witness: Witness | None, space: JointSpace) -> WitnessJson | None:
    """Return a witness with its positions by variable name; mimic joints follow their leaders."""
    if witness is None:
        return None
    q = space.with_mimics(witness.q)
    return {
        "sample": witness.sample,
        "depth": witness.depth,
        "positions": {name: float(value) for name, value in zip(space.names, q, strict=True)},
    }


def evidence_words(matrix: CollisionMatrix, evidence: PairEvidence) -> str:
    """Return the evidence as text: ``12 of 10,000``, ``0 of 10,000, probability below 0.0003``."""
    if evidence.hits is None:
        return "adjacent: " + " - ".join(evidence.adjacency)
    if evidence.rigid:
        return "rigid: collides" if evidence.hits else "rigid: does not collide"
    words = f"{evidence.hits:,} of {evidence.samples:,}"
    if evidence.found_by_search:
        words += ", but a search found a collision"
    bound = evidence.never_bound
    if bound is not None:
        bound = rounded_up(bound)
        digits = max(0, 1 - math.floor(math.log10(bound)))
        words += f", probability below {bound:.{digits}f}"
    if evidence.default_depth is not None:
        words += f", and in the default pose, by {1000.0 * evidence.default_depth:.3g} mm"
    return words


_LETTER = {PairReason.ADJACENT: "A", PairReason.ALWAYS: "!", PairReason.DEFAULT: "D", PairReason.NEVER: "·"}

MAX_SIZE = 60.0
"""Largest width and height of the picture [inches]. Without it, 1,000 links would take 5 GB of pixels."""


def save_heat_map(matrix: CollisionMatrix, robot: RobotModel, path: Path) -> None:
    """Write a picture of the matrix; the ending of `path` gives its format (png, svg, pdf).

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
    position = {name: at for at, name in enumerate(links)}
    share = np.full((len(links), len(links)), np.nan)
    side = min(max(5.0, 0.28 * len(links) + 2.5), MAX_SIZE)
    figure = Figure(figsize=(side, side), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for pair, evidence in matrix.pairs.items():
        row, column = sorted((position[pair.first], position[pair.second]), reverse=True)
        if evidence.hits is not None and evidence.samples:
            share[row, column] = evidence.hits / evidence.samples
        reason = matrix.reason(pair)
        if reason is not None:
            axes.text(column, row, _LETTER[reason], ha="center", va="center", fontsize=7, color="#555555")
    # Logarithmic: the difference between rarely and never matters most.
    scale = LogNorm(1.0 / max(matrix.samples, 2), 1.0)
    image = axes.imshow(np.where(share > 0.0, share, np.nan), cmap="YlOrRd", norm=scale)
    # A name with dollar signs must not be shown as a formula.
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
    picture = BytesIO()
    figure.savefig(picture, format=path.suffix[1:].lower() or None, dpi=130)
    save_bytes(picture.getvalue(), path)
