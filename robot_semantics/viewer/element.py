# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The viewer as an element of a served page."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from robot_semantics.viewer.page import ASSETS, three_js


class ViewerElement(
    ui.element,
    component=str(ASSETS / "component.js"),
    esm={"nicegui-scene": str(three_js().parent), "robot-semantics-viewer": str(ASSETS)},
):
    """Shows what it finds at an address.

    It tells ``ready``; ``picked`` (actor, link, joint, shift); ``posed`` (actor, q) when a person has moved a joint;
    ``dragged`` (actor, T: 16 numbers of T_world_gizmo row by row, done).
    """

    def __init__(self, source: str) -> None:
        """Show what `source` on this server answers: `scene_bytes`."""
        super().__init__()
        self._props["source"] = source
        self.style("width: 100%; height: 100%")

    def tell(self, what: str, *values: Any) -> None:
        """Call the function `what` of the viewer's JavaScript application, without waiting."""
        self.run_method("tellViewer", what, *values)
