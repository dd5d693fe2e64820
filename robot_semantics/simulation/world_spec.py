# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Specification of a simulated world: its robots, their names, and the settings of the world."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from robot_semantics.base.errors import ArrayError, RobotSemanticsError
from robot_semantics.base.record import record
from robot_semantics.model.apply_semantics import ROOT_TYPES
from robot_semantics.model.joint_types import Z_AXIS, JointType, frames_of_root
from robot_semantics.model.omissions import refuse_omissions
from robot_semantics.model.robot_model import JointModel, RobotModel
from robot_semantics.transforms.pose import Pose
from robot_semantics.transforms.rows import LARGEST
from robot_semantics.usdf.fields import fields_of, walk
from robot_semantics.usdf.table import NUMERIC
from robot_semantics.usdf.world_state import WorldState

if TYPE_CHECKING:
    import mujoco

    from robot_semantics.kinematics.loops import ClosedLoops


LONGEST_TIMESTEP = 1e9
"""Longest time step [s]. With a longer one, the time overflows in a world state."""


class WorldSpecError(RobotSemanticsError):
    """A world cannot be built; the message gives the reason."""


def no_meshes(uri: str) -> Path:
    """Refuse every mesh: the mesh finder of a robot whose files are not known.

    Raises:
        WorldSpecError: always.

    """
    raise WorldSpecError(f"no mesh finder was given for '{uri}'")


def file_uri(path: Path) -> str:
    """Return the URI of an absolute path as Gazebo and Drake read it: without percent-encoding, which they keep."""
    name = path.as_posix()
    return f"file://{name}" if name.startswith("/") else f"file:///{name}"


@record(frozen=True, slots=True)
class BuildNote:
    """A change or an omission in a simulated robot: the model, the part, and the message."""

    model: str
    part: str
    message: str

    def __str__(self) -> str:
        return f"model '{self.model}': {self.part} {self.message}"


@record(frozen=True, eq=False)
class ModelSpec:
    """One robot or object of a world.

    Attributes:
        name: name of the model in the world; the robot's name may differ.
        robot: the checked robot; its virtual joint connects the root link to the world.
        find_mesh: returns the file of a mesh's URI.
        base: type of the root joint if the SRDF has no virtual joint: fixed, planar or floating.
        description: path or URI of the URDF, for captured world states.
        semantic: path or URI of the SRDF.

    """

    name: str
    robot: RobotModel
    find_mesh: Callable[[str], Path] = no_meshes
    base: JointType = JointType.FIXED
    description: str | None = None
    semantic: str | None = None

    @property
    def has_fixed_base(self) -> bool:
        """Whether the root link cannot move in its parent frame."""
        return self.root_type is JointType.FIXED

    @property
    def has_planar_base(self) -> bool:
        """Whether the root link moves in a plane of its parent frame."""
        return self.root_type is JointType.PLANAR

    @property
    def has_floating_base(self) -> bool:
        """Whether the root link is a free body."""
        return self.root_type is JointType.FLOATING

    @property
    def root_type(self) -> JointType:
        """Type of the joint above the root link: fixed, planar or floating."""
        return self.root_joint.type

    @property
    def root_joint(self) -> JointModel:
        """The joint above the root link: the SRDF's virtual joint, or a joint of the type `base`."""
        root = self.robot.root_joint
        if self.robot.has_virtual_joint or self.base is root.type:
            return root
        return replace(root, type=self.base, frames=frames_of_root(Z_AXIS))

    @cached_property
    def loops(self) -> ClosedLoops | None:
        """The closed loops of the robot, also with a problem; None without loops."""
        if not self.robot.constraints:
            return None
        # Import here: few robots have loops.
        from robot_semantics.kinematics.loops import ClosedLoops

        return ClosedLoops(self.robot)

    @property
    def carries_weight(self) -> bool:
        """Whether the root link cannot fall, so that motors may hold the weight of the links.

        This holds for a fixed base and for a level planar base.
        """
        return self.has_fixed_base or (self.has_planar_base and abs(float(self.root_joint.axis[2])) == 1.0)

    @property
    def parent_frame(self) -> str:
        """The parent frame of the root link; ``world`` if the SRDF names none."""
        return self.robot.root_joint.parent_link or "world"


@record(frozen=True, slots=True, eq=False)
class WorldSpec:
    """A world to be simulated.

    Attributes:
        models: robots and objects, names unique.
        timestep: [s].
        gravity: [m/s²], along z.
        ground: whether there is a floor at z = 0.
        edit: function that changes the simulator's model before compiling (MuJoCo: the MjSpec), or None.

    """

    models: tuple[ModelSpec, ...]
    timestep: float = 0.002
    gravity: float = -9.81
    ground: bool = True
    edit: Callable[[mujoco.MjSpec], None] | None = None

    def __post_init__(self) -> None:
        """Check the specification without a simulator.

        Raises:
            WorldSpecError: a duplicate or empty name, an impossible base, a time step that is not positive.
            DescriptionError: a part of a robot was left out, so that it would move or collide in another way.

        """
        refuse_omissions(*(model.robot for model in self.models))
        names = [model.name for model in self.models]
        for model in self.models:
            if not model.name or "/" in model.name:
                raise WorldSpecError(f"model name '{model.name}': it must not be empty or contain '/'")
            if names.count(model.name) > 1:
                raise WorldSpecError(f"two models are called '{model.name}'")
            if model.base not in ROOT_TYPES:
                raise WorldSpecError(
                    f"model '{model.name}': a base must be fixed, planar or floating, not {model.base.value}"
                )
            if model.parent_frame in names:
                raise WorldSpecError(
                    f"model '{model.name}' has the parent frame '{model.parent_frame}', which is the name of a model"
                )
        if not 0.0 < self.timestep <= LONGEST_TIMESTEP:
            raise WorldSpecError(f"the time step must be positive and at most 1e9 s, not {self.timestep}")


def check_numbers(what: str, numbers: Iterable[float]) -> None:
    """Refuse numbers that are not finite or too large.

    Raises:
        ArrayError: a number is refused; `what` names its place.
    """
    for number in numbers:
        if not abs(number) <= LARGEST:
            raise ArrayError(what, f"{number:g} is beyond {LARGEST:g}, the limit of a simulator")


def check_magnitudes(state: WorldState) -> None:
    """Refuse a state with numbers that are not finite or too large. Arrays of engine states are not checked.

    Raises:
        ArrayError: a number is too large; the message has the element's path.
    """
    for item in walk(state):
        for field in fields_of(item.element):
            value = getattr(item.value, field.name) if field.quantity.form in NUMERIC else None
            if value is not None:
                check_numbers(f"{item.xml_path}/{field.tag}", value.xyz_rpy if isinstance(value, Pose) else value)
