# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The colours of groups: distinguishable also with colour blindness, and different from the colour of warnings."""

from __future__ import annotations

GROUP_COLOURS: tuple[tuple[float, float, float, float], ...] = (
    (0.90, 0.44, 0.13, 1.0),  # orange
    (0.13, 0.50, 0.78, 1.0),  # blue
    (0.98, 0.76, 0.10, 1.0),  # yellow
    (0.02, 0.90, 0.46, 1.0),  # green
    (0.50, 0.03, 0.97, 1.0),  # violet
    (0.57, 0.78, 0.99, 1.0),  # sky
    (0.58, 0.16, 0.02, 1.0),  # rust
    (0.27, 0.21, 0.71, 1.0),  # indigo
    (0.70, 0.38, 0.50, 1.0),  # rose
    (0.57, 0.46, 0.27, 1.0),  # tan
    (0.58, 0.02, 0.51, 1.0),  # magenta
    (0.41, 0.22, 0.19, 1.0),  # brown
)

FADED: tuple[float, float, float, float] = (0.82, 0.83, 0.85, 1.0)
"""Colour of a link outside of the chosen groups."""


def group_colour(number: int) -> tuple[float, float, float, float]:
    """Return the colour of group number `number`; after the last colour the first one follows."""
    return GROUP_COLOURS[number % len(GROUP_COLOURS)]
