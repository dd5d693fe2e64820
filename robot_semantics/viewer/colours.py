"""The colours of groups: apart from each other for every kind of sight, and none the colour of warnings."""

from __future__ import annotations

GROUP_COLOURS: tuple[tuple[float, float, float, float], ...] = (
    (0.90, 0.44, 0.13, 1.0),  # orange
    (0.13, 0.50, 0.78, 1.0),  # blue
    (0.16, 0.64, 0.45, 1.0),  # green
    (0.72, 0.38, 0.66, 1.0),  # purple
    (0.93, 0.73, 0.18, 1.0),  # yellow
    (0.30, 0.74, 0.83, 1.0),  # cyan
    (0.83, 0.28, 0.34, 1.0),  # red
    (0.55, 0.43, 0.33, 1.0),  # brown
)

FADED: tuple[float, float, float, float] = (0.82, 0.83, 0.85, 1.0)
"""What belongs to no group that was asked for."""


def group_colour(number: int) -> tuple[float, float, float, float]:
    """Return the colour of the group that is number `number` of those asked for; the colours come round again."""
    return GROUP_COLOURS[number % len(GROUP_COLOURS)]
