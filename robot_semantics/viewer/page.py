"""One page that shows a stage and needs nothing else: no network, no installation, no server."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from robot_semantics.viewer.scene_data import scene_bytes
from robot_semantics.viewer.stage import Stage

ASSETS = Path(__file__).parent / "assets"
SCRIPTS = ("math.js", "robot.js", "gl.js", "world_text.js", "panel.js", "app.js")

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; connect-src 'self'"
)
"""What the page may do: run what is in it, and talk to the server that it came from."""


def page(
    stage: Stage,
    *,
    groups: Sequence[str] = (),
    witnesses: Sequence[Mapping[str, Any]] = (),
    live: bool = False,
) -> str:
    """Return the page as HTML text; arguments as for `scene_bytes`."""
    data = scene_bytes(stage, groups=groups, witnesses=witnesses, live=live)
    scripts = "\n".join((ASSETS / name).read_text(encoding="utf-8") for name in SCRIPTS)
    template = (ASSETS / "page.html").read_text(encoding="utf-8")
    replacements = {
        "@POLICY@": POLICY,
        "@TITLE@": html.escape(stage.title),
        "@STYLE@": (ASSETS / "style.css").read_text(encoding="utf-8"),
        "@SCRIPTS@": scripts,
        "@DATA@": base64.b64encode(data).decode(),
    }
    for mark, text in replacements.items():
        template = template.replace(mark, text)
    return template
