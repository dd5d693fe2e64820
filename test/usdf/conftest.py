"""Random world states, and the founding document's own example."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.states import Chance


@pytest.fixture
def chance() -> Callable[[int], Chance]:
    """Return the maker of sources of world states, by seed."""
    return Chance
