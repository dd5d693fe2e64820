"""The inputs of MoveIt's golden answers: conformance cases, but for one that MoveIt dies on."""

from __future__ import annotations

from pathlib import Path

_ROOT = Path(__file__).parent.parent.parent
CASES = _ROOT / "conformance" / "srdf"


def moveit_case(name: str, kind: str) -> Path:
    """Return the ``urdf`` or ``srdf`` of a case."""
    path = CASES / f"moveit-{name}.{kind}"
    return path if path.exists() else _ROOT / "test" / "data" / "moveit" / "cases" / f"{name}.{kind}"
