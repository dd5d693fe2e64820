# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The simulated world as a complete MJCF document, with its present state as a keyframe."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

import mujoco
import numpy as np
from lxml import etree

from robot_semantics.convert.mujoco_key_text import Keyframe
from robot_semantics.simulation.mujoco import MujocoSimulator
from robot_semantics.simulation.world_spec import WorldSpecError
from robot_semantics.xml.numbers import number_text, numbers_or_none
from robot_semantics.xml.reader import parse_xml

DIGITS = 17
"""Significant digits that preserve each 64-bit float."""

TOLERANCE = 1e-9
"""Largest difference between the simulated model and the written one, relative to values above 1. It is not 0, because
MuJoCo moves and turns each mesh again when it compiles the text."""


def mjcf_of(simulator: MujocoSimulator, name: str = "state") -> str:
    """Return the MJCF text of the simulated world, with its present state as the keyframe `name`.

    Each number is the shortest text that reads back to the same 64-bit float. MuJoCo has compiled the text, and the
    compiled model is the simulated one.

    Raises:
        WorldSpecError: MuJoCo refuses its text, or reads another model from it.
    """
    model, data = simulator.model, simulator.data
    source: mujoco.MjSpec = simulator.built.source.copy()
    # Values that were set after compiling, and values that commands have changed.
    for index, actuator in enumerate(source.actuators):
        actuator.gainprm, actuator.biasprm = model.actuator_gainprm[index], model.actuator_biasprm[index]
    for index in range(model.nbody - 1):
        source.bodies[index + 1].gravcomp = model.body_gravcomp[index + 1]
    for geom in source.geoms:
        geom.solref = model.geom_solref[model.geom(geom.name).id]
    for option in ("timestep", "gravity"):
        setattr(source.option, option, getattr(model.opt, option))
    source.compile()
    with _all_digits():
        document = parse_xml(source.to_xml(), "<mjcf>").root
    _shorten_numbers(document)
    key = Keyframe(
        np.array(data.qpos),
        np.array(data.qvel),
        float(data.time),
        name,
        np.array(data.ctrl),
        np.array(data.act),
        np.array(data.mocap_pos),
        np.array(data.mocap_quat),
    )
    document.append(parse_xml(key.as_mjcf(), "<key>").root[0])
    etree.indent(document)
    text: str = etree.tostring(document, encoding="unicode")
    _check_readable(text, model)
    return text + "\n"


@contextmanager
def _all_digits() -> Iterator[None]:
    """Make MuJoCo write all digits of numbers if its library can. Otherwise it writes six."""
    library = ctypes.CDLL(mujoco._functions.__file__)
    try:
        digits, set_digits = library._mjPRIVATE__get_xml_precision, library._mjPRIVATE__set_xml_precision
    except AttributeError:
        yield
        return
    before = digits()
    set_digits(DIGITS)
    try:
        yield
    finally:
        set_digits(before)


def _shorten_numbers(document: etree._Element) -> None:
    """Write each number of a document as the shortest text of the same 64-bit float."""
    names = {element.get("name") for element in document.iter()}
    for element in document.iter():
        for word, value in element.items():
            text = str(value)
            row = None if text in names else numbers_or_none(text)
            if row is not None:
                element.set(word, " ".join(map(number_text, row)))


def _check_readable(text: str, model: mujoco.MjModel) -> None:
    """Compile a text and compare the result with its source model.

    Raises:
        WorldSpecError: MuJoCo refuses the text, or reads another model.
    """
    try:
        written = mujoco.MjModel.from_xml_string(text)
    except ValueError as error:
        raise WorldSpecError(
            f"MuJoCo {mujoco.__version__} refuses the MJCF that it wrote of this world: {error}"
        ) from error
    for word in dir(model):
        values = getattr(model, word)
        # The keyframe is new, and so is the table of names.
        if not isinstance(values, np.ndarray) or word.startswith(("_", "key_", "name", "paths")):
            continue
        read = getattr(written, word)
        if values.shape != read.shape or not np.allclose(values, read, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
            raise WorldSpecError(
                f"MuJoCo {mujoco.__version__} reads a different '{word}' from the MJCF that it wrote for this world"
            )
