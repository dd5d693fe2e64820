"""A picture of a robot with its groups in colours, without a display."""

from __future__ import annotations

import sys
from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.examples import example
from robot_semantics.viewer.opening import Opening, open_files
from robot_semantics.viewer.picture import View, render
from robot_semantics.viewer.png import png_bytes
from robot_semantics.viewer.posing import posed

stage = open_files([example("rover_arm.urdf"), example("rover_arm.srdf")], Opening(), Diagnostics())
image = render(posed(stage, ["arm/reach"], []), View(size=(320, 240), groups=("arm", "gripper")))
if len(sys.argv) > 1:
    Path(sys.argv[1]).write_bytes(png_bytes(image))
print("a picture of", image.shape[1], "x", image.shape[0])
