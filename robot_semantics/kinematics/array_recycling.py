# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Memory for large results that is used again once nobody holds the result any more.

Memory fresh from the system costs more to be mapped and cleared, page by page, than a whole batch of poses to compute:
100,000 configurations of 82 links take 0.16 to 0.19 s with this and 0.24 to 0.25 s without.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from robot_semantics.transforms.arrays import FloatArray

_LINE = 8
"""Numbers in a cache line."""


class Recycler:
    """Hands out arrays; the memory of one whose last view is gone goes to the next that is asked for with its shape.

    At most two are kept, which is what a loop needs that still holds one result while the next is made. Contents are
    kept as well: what every result has in common need only be written once.
    """

    def __init__(self, make: Callable[[tuple[int, ...]], FloatArray]) -> None:
        """Prepare to hand out what `make` returns for a shape."""
        self._make = make
        self._free: deque[FloatArray] = deque(maxlen=2)

    def take(self, shape: tuple[int, ...]) -> FloatArray:
        """Return an array of `shape`, with the contents it had when it was last let go, or new."""
        for _ in range(len(self._free)):
            try:
                memory = self._free.pop()
            except IndexError:  # another thread was faster
                break
            if memory.shape == shape:
                return np.asarray(_Lease(memory, self._free))
            self._free.appendleft(memory)
        return np.asarray(_Lease(self._make(shape), self._free))


class _Lease:
    """Owns memory for as long as an array that numpy made of it, or a view of that array, is alive."""

    def __init__(self, memory: FloatArray, free: deque[FloatArray]) -> None:
        self._memory = memory
        self._free = free
        self.__array_interface__ = memory.__array_interface__

    def __del__(self) -> None:
        self._free.append(self._memory)


def aligned(shape: tuple[int, ...]) -> FloatArray:
    """Return zeros that start at a cache line, which numpy's own need not: unaligned, every wide access touches two."""
    size = int(np.prod(shape, dtype=np.intp))
    memory = np.zeros(size + _LINE)
    skip = -(memory.__array_interface__["data"][0] // memory.itemsize) % _LINE
    return memory[skip : skip + size].reshape(shape)


def whole_lines(count: int) -> int:
    """Return `count` rounded up to a number that fills whole cache lines."""
    return -(-count // _LINE) * _LINE
