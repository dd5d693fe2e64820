# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Texts are readable and groups distinguishable, for people with any colour vision."""

from __future__ import annotations

import re

import numpy as np
import pytest

from robot_semantics.viewer.page import ASSETS
from robot_semantics.viewer.shading import GROUP_COLOURS

# How linear colours look to people without one of the three kinds of cones: Machado, Oliveira and Fernandes (2009).
SIGHTS = {
    "all cones": np.eye(3),
    "no long ones": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no middle ones": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "no short ones": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]])
WHITE = XYZ.sum(axis=1)


def linear(srgb: np.ndarray) -> np.ndarray:
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def lab(colours: np.ndarray) -> np.ndarray:
    """Return CIE L*a*b* of linear colours."""
    ratio = colours @ XYZ.T / WHITE
    f = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=-1)


@pytest.mark.parametrize("sight", SIGHTS)
def test_twelve_groups_are_told_apart(sight: str) -> None:
    colours = np.array(GROUP_COLOURS)[:, :3]
    assert len(colours) == 12
    seen = lab(np.clip(linear(colours) @ np.array(SIGHTS[sight]).T, 0.0, 1.0))
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=-1) + 1e3 * np.eye(12)
    # A difference of 2.3 is just noticed; lit surfaces need much more.
    assert apart.min() > 15.0


def luminance(hexadecimal: str) -> float:
    digits = hexadecimal.lstrip("#")
    digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    return float(XYZ[1] @ linear(np.array([int(digits[k : k + 2], 16) for k in (0, 2, 4)]) / 255.0))


@pytest.mark.parametrize("selector", [".viewer", ".viewer.dark"])
@pytest.mark.parametrize(
    ("ink", "paper"),
    [
        *((ink, paper) for ink in ("ink", "soft", "blue", "red") for paper in ("paper", "field")),
        *(("ink", paper) for paper in ("sky", "ground")),  # names before the picture
    ],
)
def test_text_has_the_contrast_that_accessibility_asks_for(selector: str, ink: str, paper: str) -> None:
    style = (ASSETS / "style.css").read_text()
    (block,) = re.findall(rf"^{re.escape(selector)} {{(.*?)}}", style, re.MULTILINE | re.DOTALL)
    values = dict(re.findall(r"--(\w+): (#\w+);", block))
    dark, light = sorted((luminance(values[ink]), luminance(values[paper])))
    assert (light + 0.05) / (dark + 0.05) >= 4.5
