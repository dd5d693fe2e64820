"""What the node makes when it is configured and takes away again when it is cleaned up."""

from __future__ import annotations

from typing import Protocol


class Destroyable(Protocol):
    """Something that `configure` made and `cleanup` takes away."""

    def destroy(self) -> None:
        """Take topics, services and timers away."""
