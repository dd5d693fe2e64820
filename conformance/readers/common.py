# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Shared by the readers: read lines, answer each with one JSON object, and redirect the library's output."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Answer = dict[str, Any]
Read = Callable[[str, str, Mapping[str, Any]], Answer]


def pose(T: Any) -> list[float]:
    """Return x y z qx qy qz qw of a (4, 4) transform."""
    # The quaternion is the eigenvector of this matrix with the largest eigenvalue.
    R = np.asarray(T, dtype=float)[:3, :3]
    twist = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    K = np.zeros((4, 4))
    K[:3, :3] = R + R.T - np.eye(3) * np.trace(R)
    K[3, :3] = K[:3, 3] = twist
    K[3, 3] = np.trace(R)
    quaternion = np.linalg.eigh(K)[1][:, -1]
    return [*np.asarray(T, dtype=float)[:3, 3].tolist(), *quaternion.tolist()]


def serve(readers: Mapping[str, Read]) -> None:
    """Answer every line; a reader gets the file, the robot's file (or "") and joint positions by name."""
    # Libraries also print to standard output from C++: redirect this to standard error.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        name, file, robot, positions = line.rstrip("\n").split("\t")
        read = readers.get(name)
        try:
            answer = {"unsupported": True} if read is None else read(file, robot, json.loads(positions or "{}"))
        except Exception as error:  # noqa: BLE001  # any exception: the reader refuses the file
            answer = {"refused": True, "reason": f"{type(error).__name__}: {error}"[:500]}
        print(json.dumps(answer), file=answers, flush=True)
