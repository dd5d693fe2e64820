# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A `<ros2_control>` block as plain values: only the content of its text, names not resolved.

`ordinal` is the element's number in the block; the block itself has number 0. Comparisons ignore it.
"""

from __future__ import annotations

from dataclasses import field

from robot_semantics.base.record import record


@record(frozen=True)
class ControlParameter:
    """A `<param>`, whose meaning the driver defines."""

    name: str
    value: str = ""
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class ControlInterface:
    """A command or state interface of a joint, sensor or GPIO; `limited` is False if its limits are not enforced."""

    name: str
    data_type: str = "double"
    size: int = 1
    parameters: tuple[ControlParameter, ...] = ()
    limited: bool = True
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class ControlComponent:
    """A joint, sensor or GPIO; `mimic` is None if the attribute is missing."""

    name: str
    mimic: bool | None = None
    commands: tuple[ControlInterface, ...] = ()
    states: tuple[ControlInterface, ...] = ()
    parameters: tuple[ControlParameter, ...] = ()
    limited: bool = True
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class TransmissionPart:
    """A joint or actuator of a transmission; `offset` in [rad or m]."""

    name: str
    role: str
    read_only: bool = False
    reduction: float = 1.0
    offset: float = 0.0
    reduction_ordinal: int = field(default=-1, compare=False)
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class ControlTransmission:
    """A transmission between actuators and joints of a block."""

    name: str
    plugin: str
    joints: tuple[TransmissionPart, ...] = ()
    actuators: tuple[TransmissionPart, ...] = ()
    parameters: tuple[ControlParameter, ...] = ()
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class ControlHardware:
    """The driver of a block."""

    plugin: str
    group: str | None = None
    parameters: tuple[ControlParameter, ...] = ()
    ordinal: int = field(default=-1, compare=False)


@record(frozen=True)
class ControlThread:
    """The thread of a block that runs asynchronously."""

    affinity: str | None = None
    scheduling_policy: str | None = None
    thread_priority: int | None = None
    print_warnings: bool = True


@record(frozen=True)
class ControlBlock:
    """One hardware component: its driver, and the joints, sensors and GPIOs with their interfaces.

    Attributes:
        type: ``actuator``, ``sensor`` or ``system``; empty if it is missing or unknown.
        rw_rate: rate of its own [Hz]; 0 for the rate of the controller manager.
        hardware: the drivers; exactly one in a block without errors.
    """

    name: str
    type: str
    rw_rate: int = 0
    is_async: bool = False
    thread_priority: int | None = None
    hardware: tuple[ControlHardware, ...] = ()
    thread: ControlThread | None = None
    joints: tuple[ControlComponent, ...] = ()
    sensors: tuple[ControlComponent, ...] = ()
    gpios: tuple[ControlComponent, ...] = ()
    transmissions: tuple[ControlTransmission, ...] = ()
    ordinal: int = field(default=-1, compare=False)

    @property
    def components(self) -> tuple[ControlComponent, ...]:
        """Everything with interfaces."""
        return (*self.joints, *self.sensors, *self.gpios)
