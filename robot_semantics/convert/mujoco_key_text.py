# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A MuJoCo keyframe as values; reads it from MJCF text and writes it as MJCF text."""

from __future__ import annotations

from dataclasses import field, replace

import numpy as np
from lxml import etree

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import UnknownNameError
from robot_semantics.base.record import record
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.xml.numbers import numbers, shortest
from robot_semantics.xml.reader import parse_xml
from robot_semantics.xml.schema import BadValueError

MAX_TIME = 1e10
"""Limit of the time of a world state [s]: it has at most ten digits of seconds."""

_ROWS = ("qpos", "qvel", "act", "ctrl", "mpos", "mquat")


@record(frozen=True, eq=False)
class Keyframe:
    """One keyframe.

    Attributes:
        qpos: (nq,) MuJoCo positions; quaternions are w x y z. Empty: the model's reference configuration.
        qvel: (nv,) MuJoCo velocities. Empty: rest.
        time: [s].
        name: its name; may be empty.
        ctrl: (nu,) controls. Empty: zeros.
        act: (na,) activations.
        mpos: (nmocap, 3) or flat, positions of mocap bodies [m]. Empty: the model's.
        mquat: (nmocap, 4) or flat, their quaternions w x y z.
    """

    qpos: FloatArray
    qvel: FloatArray
    time: float = 0.0
    name: str = ""
    ctrl: FloatArray = field(default_factory=lambda: np.zeros(0))
    act: FloatArray = field(default_factory=lambda: np.zeros(0))
    mpos: FloatArray = field(default_factory=lambda: np.zeros(0))
    mquat: FloatArray = field(default_factory=lambda: np.zeros(0))

    def as_mjcf(self) -> str:
        """Return the keyframe as a separate MJCF document, which a model can include."""
        root = etree.Element("mujoco")
        etree.SubElement(root, "keyframe").append(self._element())
        etree.indent(root)
        return etree.tostring(root, encoding="unicode") + "\n"

    def as_key(self) -> str:
        """Return the keyframe as a document with the root ``<key>``, for the start of mujoco_ros2_control."""
        return etree.tostring(self._element(), encoding="unicode") + "\n"

    def at_full_size(self, controls: int, activations: int) -> Keyframe:
        """Return the keyframe with zeros for controls and activations that it does not have."""
        ctrl = self.ctrl if np.size(self.ctrl) else np.zeros(controls)
        return replace(self, ctrl=ctrl, act=self.act if np.size(self.act) else np.zeros(activations))

    def _element(self) -> etree._Element:
        key = etree.Element("key")
        if self.name:
            key.set("name", self.name)
        key.set("time", shortest(self.time))
        for word in _ROWS:
            row = np.ravel(getattr(self, word)).tolist()
            if row or word in ("qpos", "qvel"):
                key.set(word, " ".join(map(shortest, row)))
        return key


def parse_keyframe(text: str | bytes, name: str | None = None, source: str = "<keyframe>") -> Keyframe:
    """Return a keyframe of an MJCF text, or of a document that is one ``<key>``: the one called `name`, or the first.

    Raises:
        DescriptionError: the text is not well-formed, has no keyframe, or a keyframe has values that are not numbers.
        UnknownNameError: no keyframe has that name.
    """
    document = parse_xml(text, source)
    diagnostics = Diagnostics()
    keys = [key for frames in document.root.iter("keyframe") for key in frames.iter("key")]
    if document.root.tag == "key":
        keys = [document.root]
    if not keys:
        diagnostics.error("no-keyframe", "there is no <key> element", document.place(document.root))
    diagnostics.raise_if_failed()
    named = {key.get("name", ""): key for key in reversed(keys)}
    if name is not None and name not in named:
        raise UnknownNameError("keyframe", name, named)
    key = keys[0] if name is None else named[name]
    rows: dict[str, tuple[float, ...]] = {}
    for word in (*_ROWS, "time"):
        try:
            rows[word] = numbers(key.get(word, "0" if word == "time" else ""))
        except BadValueError as error:
            diagnostics.error(error.code, f"{word} {error}", document.place(key, word))
    time = rows.get("time", (0.0,))
    if len(time) != 1:
        diagnostics.error("wrong-count", "time must be one number", document.place(key, "time"))
    elif not abs(time[0]) < MAX_TIME:
        message = f"time is {time[0]:g} s; a world state has ten digits of seconds"
        diagnostics.error("bad-value", message, document.place(key, "time"))
    diagnostics.raise_if_failed()
    values = {word: np.array(rows[word]) for word in _ROWS}
    return Keyframe(time=rows["time"][0], name=key.get("name", ""), **values)
