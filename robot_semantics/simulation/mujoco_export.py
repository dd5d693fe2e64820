# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The simulated world as an MJCF document of its own, with its present state as a keyframe."""

from __future__ import annotations

from typing import Any

import numpy as np
from lxml import etree

from robot_semantics.convert.mujoco_key_text import Keyframe
from robot_semantics.simulation.mujoco import MujocoSimulator
from robot_semantics.xml.reader import parse_xml


def mjcf_of(simulator: MujocoSimulator, name: str = "state") -> str:
    """Return the MJCF text of the world that is simulated now, and where it stands as the keyframe `name`.

    MuJoCo writes the model's numbers with six digits; the keyframe's have all of theirs.
    """
    model, data = simulator.model, simulator.data
    source: Any = simulator.built.source.copy()
    # What was set after compiling, and what commands have changed since.
    for index, actuator in enumerate(source.actuators):
        actuator.gainprm, actuator.biasprm = model.actuator_gainprm[index], model.actuator_biasprm[index]
    for index in range(model.nbody - 1):
        source.bodies[index + 1].gravcomp = model.body_gravcomp[index + 1]
    for geom in source.geoms:
        geom.solref = model.geom_solref[model.geom(geom.name).id]
    for option in ("timestep", "gravity"):
        setattr(source.option, option, getattr(model.opt, option))
    source.compile()
    document = parse_xml(source.to_xml(), "<mjcf>").root
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
    return text + "\n"
