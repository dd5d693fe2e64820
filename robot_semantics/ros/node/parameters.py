# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The node's parameters in one table, and the settings made from their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from robot_semantics.base.names import shown
from robot_semantics.base.nanoseconds import whole_nanoseconds
from robot_semantics.base.record import record
from robot_semantics.live.settings import Invalid, RobotSettings, Source, VirtualJointSettings
from robot_semantics.ros.running import parameter_table as checks
from robot_semantics.ros.running.parameter_table import Parameter, Values
from robot_semantics.transforms.pose import six
from robot_semantics.usdf.snapshots import DEFAULT_FOLDER
from robot_semantics.usdf.validity import name_fault


def _frame(name: str, value: object) -> None:
    """Check that a frame may have this name; it may be empty."""
    _check_frame(name, checks.text(name, value))


def _frame_prefix(name: str, value: object) -> None:
    """Check that the name of a frame may begin so."""
    text = checks.text(name, value)
    _check_frame(name, text + "f" if text else "")


def _check_frame(name: str, frame: str) -> None:
    fault = name_fault(frame) if frame else None
    if fault is not None:
        raise checks.ParameterError(f"parameter '{name}': the name of a frame, '{shown(frame)}', {fault}")


ROBOT: tuple[Parameter, ...] = (
    Parameter("robot_description", "", "The robot's URDF, as text.", checks.text),
    Parameter("robot_description_semantic", "", "The robot's SRDF, as text; empty: none.", checks.text),
    Parameter(
        "robot_description_loops", "", "Closed loops: a robot.yaml of Extended URDF, as text; empty: none.", checks.text
    ),
    Parameter(
        "robot_description_topic",
        "",
        "Latched std_msgs/String topic to read the URDF from instead; empty: from the parameter.",
        checks.topic_or_none,
        read_only=True,
    ),
    Parameter("robot_description_semantic_topic", "", "The same for the SRDF.", checks.topic_or_none, read_only=True),
    Parameter(
        "use_robot_description_topic",
        False,
        "Read the URDF from the topic robot_description, and do not publish it there, as in robot_state_publisher.",
        checks.flag,
        read_only=True,
    ),
    Parameter(
        "frame_prefix",
        "",
        "Put before the name of every link on TF; not before a virtual joint's parent.",
        _frame_prefix,
    ),
    Parameter("publish_frequency", 20.0, "Highest rate at which a joint's transform is sent [Hz].", checks.positive),
    Parameter("ignore_timestamp", False, "Publish every joint state, whatever its stamp and rate.", checks.flag),
    Parameter(
        "default_positions",
        "none",
        "Positions of joints that have not reported yet: none (not published), zero, mid, or GROUP/STATE of the SRDF.",
        checks.choice,
    ),
    Parameter(
        "complete_after",
        0.1,
        "A joint that has been silent for so long is repeated, at its last position, with other joints' messages [s].",
        checks.not_negative,
    ),
    Parameter(
        "stale_timeout", 5.0, "Report a joint that has been silent for so long [s]; 0: never.", checks.not_negative
    ),
    Parameter(
        "invalid_positions",
        "skip",
        "If a position is NaN or infinite: skip that joint, or refuse the whole message.",
        checks.one_word_of(*(word.value for word in Invalid)),
    ),
    Parameter("strict", False, "Refuse descriptions with any error; false: leave out the parts in error.", checks.flag),
    Parameter("implicit_links", False, "Let joints name links that no <link> element declares.", checks.flag),
)
"""Those of each robot; with `models` each also as MODEL.NAME, whose default is the value without MODEL."""

VIRTUAL_JOINTS = "virtual_joints"
VIRTUAL_JOINT: tuple[Parameter, ...] = (
    Parameter(
        "source",
        "auto",
        "Where the virtual joint's motion comes from: auto (joint_states or multi_dof), joint_states, multi_dof,"
        " odometry, tf (listens and does not publish), fixed.",
        checks.one_word_of(*(source.value for source in Source)),
    ),
    Parameter("topic", "odom", "nav_msgs/Odometry topic, with source odometry.", checks.topic),
    Parameter(
        "pose",
        [0.0] * 6,
        "x y z [m] roll pitch yaw [rad] of the root link in the parent frame, with source or type fixed.",
        checks.pose,
    ),
    Parameter("parent_frame", "", "TF name of the parent frame; empty: the SRDF's.", _frame),
    Parameter("base_frame", "", "Another name of the root link, in odometry and on TF; empty: none.", _frame),
)
"""Those below ``virtual_joints.NAME``, with `models` below ``MODEL.virtual_joints.NAME``."""

NODE: tuple[Parameter, ...] = (
    Parameter("models", [""], "Names of several robots in one node; empty: one robot.", checks.names, read_only=True),
    Parameter("simulators", [""], "Names of simulator nodes that a restored snapshot is pushed to.", checks.nodes),
    Parameter(
        "simulated_entities",
        [""],
        "Which robot each entity of a simulator is, where their names differ: ENTITY:=ROBOT.",
        checks.entities,
    ),
    Parameter("diagnostics_period", 1.0, "Time between two messages on /diagnostics [s]; 0: none.", checks.period),
    Parameter(
        "world_state_frequency", 1.0, "Rate of ~/world_state [Hz]; 0: only when asked.", checks.Numbers(most=100.0)
    ),
    Parameter("check_tf_authority", True, "Report other nodes that publish this node's frames.", checks.flag),
    Parameter(
        "state_tolerance",
        0.01,
        "Largest difference of any variable for a named state to match [rad or m].",
        checks.not_negative,
    ),
    Parameter(
        "raw_messages",
        True,
        "Read and write messages as raw bytes; false: as typed messages.",
        checks.flag,
        read_only=True,
    ),
)
"""Those of the node as a whole."""

SNAPSHOTS: tuple[Parameter, ...] = (
    Parameter(
        "snapshots.directory",
        "",
        f"Folder of the snapshots; empty: `{DEFAULT_FOLDER}/NODE`.",
        checks.text,
        True,
    ),
    Parameter(
        "snapshots.allow_paths", False, "Take paths for names, outside the folder and through links.", checks.flag, True
    ),
    Parameter("snapshots.max_bytes", 64_000_000, "Largest snapshot saved or read.", checks.Numbers(least=1), True),
    Parameter(
        "snapshots.max_age",
        0.0,
        "Refuse to save where a value is older than this against the newest one [s]; 0: any age.",
        checks.not_negative,
        True,
    ),
    Parameter("snapshots.frames", True, "Also save the TF frames outside the robots.", checks.flag, True),
    Parameter(
        "snapshots.autosave_period", 0.0, "Period of automatic snapshots [s]; 0: never.", checks.not_negative, True
    ),
    Parameter(
        "snapshots.autosave_keep",
        10,
        "Number of this node's automatic snapshots that are kept.",
        checks.Numbers(least=1),
        True,
    ),
)
"""Those of the snapshots."""

SIMULATED = "simulators.entities"
SIMULATED_ENTITY = Parameter(
    SIMULATED, "", "Which robot an entity of a simulator is: given at the start, as simulated_entities.", checks.text
)
"""Below its name one for each entity that is given when the node starts."""


def node_table(given: Iterable[str]) -> tuple[Parameter, ...]:
    """Return the parameters of the node, including one for each entity among the `given` names."""
    entities = [name for name in given if name.startswith(f"{SIMULATED}.")]
    return (*NODE, *(SIMULATED_ENTITY._replace(name=name) for name in entities))


@record(frozen=True, slots=True)
class NodeSettings:
    """The parameters of the node as a whole."""

    models: tuple[str, ...]
    simulators: tuple[str, ...]
    simulated_entities: Mapping[str, str]
    diagnostics_period_s: float
    world_state_frequency_hz: float
    check_tf_authority: bool
    state_tolerance: float
    raw_messages: bool

    @property
    def entity_of(self) -> dict[str, str]:
        """The entity of each robot, if their names differ."""
        return {robot: entity for entity, robot in self.simulated_entities.items()}


def node_settings(values: Values) -> NodeSettings:
    """Return the node's settings from the values of `node_table`.

    Raises:
        ParameterError: one entity belongs to two robots, or one robot to two entities.
    """
    pairs = [item for item in values["simulated_entities"] if item]
    pairs += [f"{name.removeprefix(f'{SIMULATED}.')}:={values[name]}" for name in values if name.startswith(SIMULATED)]
    checks.entities(SIMULATED, pairs)
    return NodeSettings(
        models=tuple(name for name in values["models"] if name),
        simulators=tuple(name for name in values["simulators"] if name),
        simulated_entities=dict(item.split(":=") for item in pairs),
        diagnostics_period_s=float(values["diagnostics_period"]),
        world_state_frequency_hz=float(values["world_state_frequency"]),
        check_tf_authority=values["check_tf_authority"],
        state_tolerance=float(values["state_tolerance"]),
        raw_messages=values["raw_messages"],
    )


def defaults_of_models(models: Iterable[str]) -> dict[str, str]:
    """Return the parameters that only give defaults to `models`, each with the reason why it cannot be changed."""
    reasons = {}
    for parameter in ROBOT:
        own = ", ".join(f"'{model}.{parameter.name}'" for model in models)
        reasons[parameter.name] = (
            f"parameter '{parameter.name}' was the robots' default at the start and has no effect any more: set {own}"
        )
    return reasons


def _nanoseconds(seconds: float) -> int:
    # Thirty years mean "never"; differences to other times fit into 64 bits.
    return whole_nanoseconds(min(seconds, 1e9))


def robot_settings(values: Values, prefix: str, virtual_joints: Iterable[str], raw: bool) -> RobotSettings:
    """Return one robot's settings from the values by full name, with the settings of the named virtual joints."""

    def value(name: str) -> Any:
        return values[f"{prefix}.{name}" if prefix else name]

    return RobotSettings(
        frame_prefix=value("frame_prefix"),
        publish_interval_ns=max(1, int(1e9 / max(value("publish_frequency"), 1e-9))),
        ignore_timestamp=value("ignore_timestamp"),
        default_positions=value("default_positions"),
        complete_after_ns=_nanoseconds(value("complete_after")),
        stale_timeout_ns=_nanoseconds(value("stale_timeout")),
        invalid=Invalid(value("invalid_positions")),
        strict=value("strict"),
        raw=raw,
        virtual_joints={
            name: VirtualJointSettings(
                source=Source(value(f"{VIRTUAL_JOINTS}.{name}.source")),
                topic=value(f"{VIRTUAL_JOINTS}.{name}.topic"),
                pose=six(value(f"{VIRTUAL_JOINTS}.{name}.pose")),
                parent_frame=value(f"{VIRTUAL_JOINTS}.{name}.parent_frame"),
                base_frame=value(f"{VIRTUAL_JOINTS}.{name}.base_frame"),
            )
            for name in virtual_joints
        },
    )
