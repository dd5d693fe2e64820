# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Pictures as PNG files."""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt

from robot_semantics.base.errors import MissingExtraError


def png_bytes(image: npt.NDArray[np.uint8]) -> bytes:
    """Return an (height, width, 3) picture as the content of a PNG file.

    Raises:
        MissingExtraError: Pillow is not installed.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError("PIL", "view", "writing pictures") from error
    content = io.BytesIO()
    Image.fromarray(image).save(content, "PNG", optimize=True)
    return content.getvalue()
