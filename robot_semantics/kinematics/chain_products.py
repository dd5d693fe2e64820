# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Products of poses along chains of links, with few numpy calls."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def doublings(parents: list[int]) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Return steps (links, above): each step multiplies the poses of the links from the left by those of the links
    above.

    After step k every product spans 2^k joints. The root link is the identity and is left out.
    """
    above = np.array(parents)
    steps = []
    while (links := np.flatnonzero(above > 0)).size:
        steps.append((links, above[links]))
        above = np.where(above > 0, above[above], 0)
    return steps
