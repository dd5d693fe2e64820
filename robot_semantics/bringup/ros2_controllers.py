# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Rules of the controllers of ros2_control: ``CONTROLLER: {ros__parameters: {joints: [...], ...}}``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from robot_semantics.base.diagnostic import Severity
from robot_semantics.base.names import did_you_mean, is_near
from robot_semantics.base.yaml_reader import YamlNode
from robot_semantics.bringup.configuration import Configuration, ConfigurationProblem, Rule, SectionKind, substitutions
from robot_semantics.bringup.decimal_numbers import doubles
from robot_semantics.bringup.name_checks import (
    ConfiguredName,
    by_name,
    joints_left_out,
    keys_of,
    last_name,
    severity_of,
    texts_of,
    unknown_names,
)

JOINT_KEYS = ("joints", "joint", "command_joints", "left_wheel_names", "right_wheel_names")
GROUP_CONTROLLERS = {
    "position_controllers/JointGroupPositionController": "position",
    "velocity_controllers/JointGroupVelocityController": "velocity",
    "effort_controllers/JointGroupEffortController": "effort",
}
"""Controllers whose only command interface is fixed by their type."""

OF_JOINTS = ("JointTrajectoryController", "GripperActionController", "DiffDriveController")
"""Ends of the types of further controllers that move joints of the URDF."""

MANAGER = "controller_manager"


class RosController(NamedTuple):
    """A controller.

    Attributes:
        type: its type; empty if unknown.
        severity: of a name that the robot does not have: an error, or a warning if several files describe the
            controller, of which a launch file uses one.
        controllers: names of all controllers: ``CONTROLLER/JOINT`` is an interface of another one, in a chain.
    """

    name: str
    type: str
    parameters: YamlNode
    severity: Severity
    controllers: frozenset[str] = frozenset()

    def own(self, *keys: str) -> list[ConfiguredName]:
        """Return the names under these keys, without those of other controllers in a chain."""
        uses = (use for key in keys for use in texts_of(self.parameters.get(key)))
        return [use for use in uses if use.name.partition("/")[0] not in self.controllers or "/" not in use.name]

    @property
    def moves_joints(self) -> bool:
        """True if its names are surely joints; other controllers also use interfaces that only their driver knows."""
        return self.type in GROUP_CONTROLLERS or self.type.endswith(OF_JOINTS)

    @property
    def is_trajectory_controller(self) -> bool:
        """True for the joint trajectory controller and those derived from it."""
        return self.type.endswith("JointTrajectoryController")

    @property
    def commanded(self) -> list[ConfiguredName]:
        """The joints that get commands, without those of other controllers in a chain."""
        return self.own("command_joints" if "command_joints" in self.parameters.entries else "joints")

    @property
    def commands(self) -> list[ConfiguredName]:
        """The command interfaces that the controller needs for each joint."""
        if self.type in GROUP_CONTROLLERS:
            return [ConfiguredName(GROUP_CONTROLLERS[self.type], self.parameters.key_place)]
        if self.type.startswith("forward_command_controller/"):
            return texts_of(self.parameters.get("interface_name"))
        return texts_of(self.parameters.get("command_interfaces")) if self.is_trajectory_controller else []

    @property
    def states(self) -> list[ConfiguredName]:
        """The state interfaces that the controller needs for each joint."""
        return texts_of(self.parameters.get("state_interfaces")) if self.is_trajectory_controller else []


def parameters_by_node(configuration: Configuration) -> Iterator[tuple[str, YamlNode]]:
    """Yield the names of nodes, as they are written, and their parameters."""
    for name, node in configuration.entries(SectionKind.CONTROLLERS):
        parameters = node.get("ros__parameters")
        if parameters is not None:
            yield name, parameters


def _controllers(configuration: Configuration) -> Iterator[RosController]:
    types = _types(configuration)
    found = [(last_name(name), parameters) for name, parameters in parameters_by_node(configuration)]
    alternatives = by_name(found)
    names = frozenset((*types, *alternatives))
    for name, parameters in found:
        yield RosController(name, types.get(name, ""), parameters, severity_of(alternatives[name]), names)


def _types(configuration: Configuration) -> Mapping[str, str]:
    """Return the type of each controller that a controller manager lists."""
    managers = (parameters for name, parameters in parameters_by_node(configuration) if name.endswith(MANAGER))
    listed = (item for parameters in managers for item in parameters.entries.items())
    return {name: kind.text for name, entry in listed if (kind := entry.get("type")) is not None}


def _joints_exist(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    if not configuration.joint_names:
        return
    valid = {*configuration.joint_names, *(part.name for block in configuration.blocks for part in block.components)}
    uses: list[tuple[ConfiguredName, Severity]] = []
    for controller in _controllers(configuration):
        # Without a block, the name may be of a GPIO or sensor.
        severity = controller.severity if configuration.blocks and controller.moves_joints else Severity.WARNING
        for use in controller.own(*JOINT_KEYS):
            is_misspelt = use.name not in valid and is_near(use.name, valid)
            if controller.moves_joints or not controller.type or is_misspelt:
                uses.append((use, severity))
    yield from unknown_names(uses, valid, "joint")


def _interfaces_exist(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    components = {part.name: part for block in configuration.blocks for part in block.components}
    commands = {name: tuple(interface.name for interface in part.commands) for name, part in components.items()}
    states = {name: tuple(interface.name for interface in part.states) for name, part in components.items()}
    for controller in _controllers(configuration):
        joints = controller.own("joints")
        for kind, wanted, on, known_names in (
            ("command", controller.commands, controller.commanded, commands),
            ("state", controller.states, joints, states),
        ):
            for use in wanted:
                lacking = [joint.name for joint in on if use.name not in known_names.get(joint.name, (use.name,))]
                if lacking:
                    more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
                    message = f"<ros2_control> has no {kind} interface '{use.name}' for joint '{lacking[0]}'{more}"
                    problem = ConfigurationProblem(controller.severity, "unknown-interface", message, use.place)
                    yield problem._replace(name=use.name, valid=known_names[lacking[0]])


def _joints_are_controlled(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    if not configuration.blocks:
        return
    controlled = {part.name for block in configuration.blocks for part in block.components}
    for controller in _controllers(configuration):
        for use in controller.commanded if controller.commands else ():
            if use.name in configuration.joints and use.name not in controlled:
                message = f"joint '{use.name}' of controller '{controller.name}' is in no <ros2_control>"
                yield ConfigurationProblem(controller.severity, "uncontrolled-joint", message, use.place)


def _joints_are_listed_once(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for controller in _controllers(configuration):
        seen: set[str] = set()
        for use in texts_of(controller.parameters.get("joints")):
            if use.name in seen:
                message = f"controller '{controller.name}' has joint '{use.name}' twice"
                yield ConfigurationProblem(Severity.ERROR, "listed-twice", message, use.place)
            seen.add(use.name)


def _interfaces_have_one_controller(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    first: dict[tuple[str, str], str] = {}
    reported: set[tuple[str, str]] = set()
    for controller in _controllers(configuration):
        for joint in controller.commanded:
            for use in controller.commands:
                other = first.setdefault((joint.name, use.name), controller.name)
                if other == controller.name or (other, controller.name) in reported:
                    continue
                reported.add((other, controller.name))
                message = (
                    f"controllers '{other}' and '{controller.name}' both command '{joint.name}/{use.name}'; "
                    "only one of them can be active"
                )
                yield ConfigurationProblem(Severity.NOTE, "controllers-overlap", message, joint.place)


def _alternatives_have_the_same_joints(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    controllers = ((controller.name, controller.parameters) for controller in _controllers(configuration))
    return joints_left_out(controllers, configuration.joints)


GAINS = (
    *("p", "i", "d", "i_clamp", "i_clamp_max", "i_clamp_min", "u_clamp_max", "u_clamp_min"),
    *("ff_velocity_scale", "feedforward_gain", "tracking_time_constant"),
)
"""Gains that must be doubles; the others are switches and names."""


def _tuned_values_are_doubles(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for controller in _controllers(configuration):
        if controller.is_trajectory_controller or controller.type.endswith("PidController"):
            yield from doubles(_tuned_numbers(controller))


def _tuned_numbers(controller: RosController) -> Iterator[tuple[str, YamlNode]]:
    for word in ("constraint", "gain"):
        entries = controller.parameters.get(f"{word}s")
        for key, node in entries.entries.items() if entries is not None else ():
            for name, number in (node.entries or {"": node}).items():
                if word == "constraint" or name in GAINS:
                    yield f"{word} {f'{key}.{name}'.rstrip('.')} of controller '{controller.name}'", number


def _tuned_joints_are_of_the_controller(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    for controller in _controllers(configuration):
        joints = {use.name for use in controller.own("joints", "command_joints", "dof_names")}
        listed = [controller.parameters.get(key) for key in ("joints", "command_joints", "dof_names")]
        if not joints or any(found for node in filter(None, listed) for found in substitutions(node)):
            continue
        for word in ("constraints", "gains"):
            node = controller.parameters.get(word)
            for use in keys_of(node) if node is not None else ():
                is_joint = word == "gains" or (node is not None and bool(node.entries[use.name].entries))
                if is_joint and use.name not in joints:
                    message = (
                        f"controller '{controller.name}' has {word} for '{use.name}', which is not one of its joints"
                    )
                    code = "unknown-joint"
                    yield ConfigurationProblem(Severity.WARNING, code, message, use.place, use.name, tuple(joints))


def _parameters_have_a_controller(configuration: Configuration) -> Iterator[ConfigurationProblem]:
    types = _types(configuration)
    for section in configuration.of(SectionKind.CONTROLLERS):
        for key, node in section.node.entries.items():
            name = last_name(key)
            known = name in types or did_you_mean(name, types) in section.node.entries
            if not known and is_near(name, types):
                message = f"the controller manager has no controller '{name}'"
                code = "unknown-controller"
                yield ConfigurationProblem(Severity.WARNING, code, message, node.key_place, name, tuple(types))


RULES: tuple[Rule, ...] = (
    _joints_exist,
    _joints_are_controlled,
    _interfaces_exist,
    _joints_are_listed_once,
    _interfaces_have_one_controller,
    _alternatives_have_the_same_joints,
    _tuned_values_are_doubles,
    _tuned_joints_are_of_the_controller,
    _parameters_have_a_controller,
)
