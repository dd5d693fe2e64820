# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A world state as values: models with links and joints, and frames (founding document: USDF).

Poses are ``[x, y, z, roll, pitch, yaw]`` in m and rad, with an exact quaternion if stated. Twists are linear then
angular velocity vectors [m/s, rad/s]. Wrenches are force then torque [N, N m]. None means "not stated", never zero.

`foreign` has content of other namespaces, unknown content of the format's own namespace, and comments, as entries of
`robot_semantics.xml.foreign`. `ordinal` is the number of the element in its document; comparisons ignore it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from types import MappingProxyType
from typing import TypeVar

from robot_semantics.base.errors import UnknownNameError
from robot_semantics.base.names import frame_name
from robot_semantics.base.record import record
from robot_semantics.transforms.pose import Pose, Vec6

WORLD = "world"
"""The keyword for the absolute inertial frame."""

SEPARATOR = "::"
"""Between a model's and a link's name where one name means a link: ``pr2::base_link``."""


@record(frozen=True)
class JointState:
    """A joint's state: one number per degree of freedom; a planar joint's are x y theta.

    A floating joint's positions are x y z qx qy qz qw or x y z roll pitch yaw; its velocities and torques are linear,
    then angular. `age_ns`, if stated, is the time between its measurement and the world's time.
    """

    name: str
    positions: tuple[float, ...] | None = None
    velocities: tuple[float, ...] | None = None
    torques: tuple[float, ...] | None = None
    foreign: tuple[str, ...] = ()
    ordinal: int = field(default=-1, compare=False)
    age_ns: int | None = None


@record(frozen=True)
class LinkState:
    """A link's state: pose ``T_model_link``; twist and wrench at the link's origin, in the link's own axes."""

    name: str
    pose: Pose | None = None
    twist: Vec6 | None = None
    wrench: Vec6 | None = None
    foreign: tuple[str, ...] = ()
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class Frame:
    """A frame: pose ``T_parent_frame``; twist relative to the parent, in the parent's axes.

    For `age_ns` and `parent_link`, see `ModelState`.
    """

    name: str
    parent: str = WORLD
    pose: Pose | None = None
    twist: Vec6 | None = None
    foreign: tuple[str, ...] = ()
    ordinal: int = field(default=-1, compare=False)
    age_ns: int | None = None
    parent_link: str | None = None


@record(frozen=True)
class ModelState:
    """A model's state: pose ``T_parent_model`` of its root link; twist relative to the parent, in the parent's axes.

    Attributes:
        description: path of its URDF (package:// or relative to the file), if stated.
        semantic: path of its SRDF, if stated.
        urdf_sha256: SHA-256 of the model that the URDF gives, if stated.
        age_ns: time between the measurement of pose and twist and the world's time, if stated.
        parent_link: the link of the parent model to which pose and twist are relative, for example for an object in a
            gripper; the twist is then in the link's axes. None: the parent itself.
    """

    name: str
    parent: str = WORLD
    pose: Pose | None = None
    twist: Vec6 | None = None
    links: tuple[LinkState, ...] = ()
    joints: tuple[JointState, ...] = ()
    description: str | None = None
    semantic: str | None = None
    urdf_sha256: str | None = None
    foreign: tuple[str, ...] = ()
    ordinal: int = field(default=-1, compare=False)
    age_ns: int | None = None
    parent_link: str | None = None

    def link(self, name: str) -> LinkState:
        """Return the state of the link called `name`.

        Raises:
            UnknownNameError: the name is unknown; the error has the nearest names.
        """
        return _named(self.links, "link", name)

    def joint(self, name: str) -> JointState:
        """Return the state of the joint called `name`.

        Raises:
            UnknownNameError: the name is unknown; the error has the nearest names.
        """
        return _named(self.joints, "joint", name)


def carrier_of(body: ModelState | Frame) -> str:
    """Return the name of the reference of a pose and twist: the parent, or ``model::link``."""
    return body.parent if body.parent_link is None else f"{body.parent}{SEPARATOR}{body.parent_link}"


@record(frozen=True)
class EngineState:
    """Additional data of one simulator, to continue bit for bit.

    Attributes:
        name: the simulator.
        version: its version; another version may have other arrays.
        arrays: numbers by name.
        attributes: short texts by name.
    """

    name: str
    version: str
    arrays: Mapping[str, tuple[float, ...]] = field(default_factory=lambda: MappingProxyType({}))
    attributes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    ordinal: int = field(default=-1, compare=False)
    foreign: tuple[str, ...] = ()


@record(frozen=True)
class WorldState:
    """The state of a world at one time; `time_ns` is in integer nanoseconds, None if not stated.

    `comment` is a person's text about the state; `version` is that of the extensions, if stated.
    """

    name: str | None = None
    models: tuple[ModelState, ...] = ()
    frames: tuple[Frame, ...] = ()
    time_ns: int | None = None
    engines: tuple[EngineState, ...] = ()
    foreign: tuple[str, ...] = ()
    ordinal: int = field(default=-1, compare=False)
    comment: str | None = None
    version: str | None = None

    def __post_init__(self) -> None:
        """Drop one leading slash of the frames' names and of the parents; a model keeps its name, also as a parent."""
        if all(body.parent[:1] != "/" for body in self.bodies) and all(frame.name[:1] != "/" for frame in self.frames):
            return
        models = {model.name for model in self.models}

        def parent(body: ModelState | Frame) -> str:
            return body.parent if body.parent in models else frame_name(body.parent)

        object.__setattr__(self, "models", tuple(replace(model, parent=parent(model)) for model in self.models))
        frames = tuple(replace(frame, name=frame_name(frame.name), parent=parent(frame)) for frame in self.frames)
        object.__setattr__(self, "frames", frames)

    def body_name(self, written: str) -> str:
        """Return the name of a model or frame as the state has it: a frame may be written with a leading slash."""
        return written if any(body.name == written for body in self.bodies) else frame_name(written)

    @property
    def bodies(self) -> tuple[ModelState | Frame, ...]:
        """All models and frames; each may be a parent."""
        return (*self.models, *self.frames)

    def model(self, name: str) -> ModelState:
        """Return the model called `name`.

        Raises:
            UnknownNameError: the name is unknown; the error has the nearest names.
        """
        return _named(self.models, "model", name)

    def frame(self, name: str) -> Frame:
        """Return the frame called `name`.

        Raises:
            UnknownNameError: the name is unknown; the error has the nearest names.
        """
        return _named(self.frames, "frame", name)


_Named = TypeVar("_Named", ModelState, Frame, LinkState, JointState)


def _named(items: tuple[_Named, ...], kind: str, name: str) -> _Named:
    for item in items:
        if item.name == name:
            return item
    raise UnknownNameError(kind, name, [item.name for item in items])
