# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The inputs of MoveIt's golden answers: conformance cases, but for one that MoveIt dies on."""

from __future__ import annotations

from pathlib import Path

_ROOT = Path(__file__).parent.parent.parent
CASES = _ROOT / "conformance" / "srdf"


def moveit_case(name: str, kind: str) -> Path:
    """Return the ``urdf`` or ``srdf`` of a case."""
    path = CASES / f"moveit-{name}.{kind}"
    return path if path.exists() else _ROOT / "test" / "data" / "moveit" / "cases" / f"{name}.{kind}"
