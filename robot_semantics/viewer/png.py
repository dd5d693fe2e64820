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
