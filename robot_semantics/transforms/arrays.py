# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Checks of array arguments: real numbers of the right shape, or an error that names the argument and the reason."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import ArrayError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.int32] | npt.NDArray[np.int64]
"""Indices of our own, or of a library that has 32 bits."""


def checked_array(argument: str, value: npt.ArrayLike, *shape: int) -> FloatArray:
    """Return `value` as float64 (..., *shape), without a copy if possible.

    Raises:
        ArrayError: not numeric, a shape that does not end in `shape`, or a NaN or infinity; it names `argument`.
    """
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"of {array.dtype} values, not of real numbers")
        array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise ArrayError(argument, f"not an array of numbers ({error})") from None
    ending = array.shape[array.ndim - len(shape) :] if array.ndim >= len(shape) else None
    if ending != shape:
        expected = ", ".join(("...", *map(str, shape)))
        raise ArrayError(argument, f"expected shape ({expected}), got {array.shape}")
    finite = np.isfinite(array)
    if not finite.all():
        index = tuple(int(i) for i in np.argwhere(~finite)[0])
        raise ArrayError(argument, f"not finite: {array[index]}" + (f" at index {index}" if index else ""))
    return array


def normalized(argument: str, vectors: FloatArray) -> FloatArray:
    """Return (..., n) finite `vectors` scaled to length 1, for any magnitude.

    Raises:
        ArrayError: a vector is zero.
    """
    largest = np.abs(vectors).max(axis=-1, keepdims=True)
    if not largest.all():
        index = tuple(int(i) for i in np.argwhere(largest[..., 0] == 0.0)[0])
        raise ArrayError(argument, "all components are zero" + (f" at index {index}" if index else ""))
    # Scaling by frexp's power of two is exact, and squares neither overflow nor underflow.
    scaled = np.ldexp(vectors, -np.frexp(largest)[1])
    result: FloatArray = scaled / np.sqrt((scaled * scaled).sum(axis=-1, keepdims=True))
    return result
