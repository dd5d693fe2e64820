# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A picture of a robot with its groups in colours, without a display."""

from __future__ import annotations

import sys
from pathlib import Path

from robot_semantics import Diagnostics
from robot_semantics.examples import example
from robot_semantics.viewer.opening import Opening, open_files
from robot_semantics.viewer.picture import View, png_bytes, render
from robot_semantics.viewer.scene import posed

scene = open_files([example("rover_arm.urdf"), example("rover_arm.srdf")], Opening(), Diagnostics())
image = render(posed(scene, scene.actor(), [("arm", "reach")]), View(size=(320, 240), groups=("arm", "gripper")))
if len(sys.argv) > 1:
    Path(sys.argv[1]).write_bytes(png_bytes(image))
print("a picture of", image.shape[1], "x", image.shape[0])
