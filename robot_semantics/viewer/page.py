# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""One page that shows a scene without network, installation or server."""

from __future__ import annotations

import base64
import html
import importlib.util
import re
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from robot_semantics.base.diagnostic import Diagnostic
from robot_semantics.base.errors import MissingExtraError
from robot_semantics.viewer.scene import Scene
from robot_semantics.viewer.scene_data import CollisionWitness, scene_bytes

ASSETS = Path(__file__).parent / "assets"
SCRIPTS = ("math.js", "robot.js", "link_facts.js", "world_text.js", "scene.js", "gizmo.js", "panel.js", "app.js")

POLICY = "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; img-src data: blob:"
"""Content security policy: the page runs its own scripts only."""


def three_js() -> Path:
    """Return three.js of the page framework as one module.

    Raises:
        MissingExtraError: the page framework is not installed.
    """
    found = importlib.util.find_spec("nicegui")
    if found is None or not found.submodule_search_locations:
        raise MissingExtraError("nicegui", "view", "a page")
    return Path(found.submodule_search_locations[0], "elements", "scene", "dist", "index.js")


def page(
    scene: Scene,
    *,
    groups: Sequence[str] = (),
    witnesses: Sequence[CollisionWitness] = (),
    problems: Iterable[Diagnostic] = (),
    collision: bool = False,
    spheres: bool = False,
) -> str:
    """Return the page as HTML text; arguments as for `scene_bytes`.

    Raises:
        MissingExtraError: the page framework is not installed.
    """
    data = scene_bytes(
        scene, groups=groups, witnesses=witnesses, problems=problems, collision=collision, spheres=spheres
    )
    template = (ASSETS / "page.html").read_text(encoding="utf-8")
    replacements = {
        "@POLICY@": POLICY,
        "@TITLE@": html.escape(scene.title),
        "@STYLE@": (ASSETS / "style.css").read_text(encoding="utf-8"),
        "@SCRIPTS@": "\n".join(_inlined(name) for name in SCRIPTS),
        "@THREE@": base64.b64encode(zlib.compress(three_js().read_bytes(), 9)).decode(),
        "@DATA@": base64.b64encode(data).decode(),
    }
    # In one pass, so that marks inside names and scripts stay as they are.
    return re.sub("|".join(replacements), lambda mark: replacements[mark[0]], template)


def _inlined(name: str) -> str:
    """Return one of our modules as part of a single script with one scope."""
    text = (ASSETS / name).read_text(encoding="utf-8")
    return re.sub(r"^(import .*\n|export )", "", text, flags=re.MULTILINE)
