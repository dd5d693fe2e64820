# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The node `mujoco_world`: a headless MuJoCo simulation of the robots of a USDF world.

One thread steps the simulation, publishes and serves, one after the other. So a state is never read or set within a
step.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

from rclpy.executors import ExternalShutdownException
from rclpy.publisher import Publisher
from robot_semantics_interfaces.srv import GetWorldState, SetWorldState, Step
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState, MultiDOFJointState
from std_srvs.srv import SetBool, Trigger

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.base.names import shown
from robot_semantics.base.nanoseconds import float_seconds
from robot_semantics.base.record import record
from robot_semantics.base.unpack_limit import DEFAULT_MB, VARIABLE, set_limit
from robot_semantics.convert.messages import topic_namespaces
from robot_semantics.model.loading import RobotOptions
from robot_semantics.ros.messages.maker import MAKER
from robot_semantics.ros.messages.world_messages import (
    base_state_message,
    item_messages,
    joint_state_message,
    note_messages,
    world_from_message,
    world_to_message,
)
from robot_semantics.ros.running import parameter_table as checks
from robot_semantics.ros.running.guarded_node import GuardedNode
from robot_semantics.ros.running.parameter_table import Parameter
from robot_semantics.ros.running.spinning import QuietExecutor, is_up
from robot_semantics.simulation.loading import ENGINES, ModelFiles, start_simulator, world_from_state
from robot_semantics.simulation.simulator import ControlMode, SimulationError, Simulator
from robot_semantics.simulation.world_spec import ModelSpec, check_magnitudes, check_numbers
from robot_semantics.usdf.reader import parse_world, read_world
from robot_semantics.usdf.restore_report import RestoreReport
from robot_semantics.usdf.world_state import WorldState
from robot_semantics.usdf.writer import check_writable, write_world

# The parameters of `mujoco_world`, declared, checked and described.


@record(frozen=True, slots=True)
class SimulationSettings:
    """Values of the parameters of `TABLE`."""

    world: str
    models: tuple[str, ...]
    package_paths: tuple[str, ...]
    timestep: float
    real_time_factor: float
    publish_frequency: float
    start_paused: bool
    ground: bool
    strict: bool
    implicit_links: bool
    main_model: str
    engine: str
    max_text_bytes: int
    max_unpacked: int


TABLE: tuple[Parameter, ...] = (
    Parameter(
        "world", "", "USDF file of the world's robots, objects and initial state; empty: none.", checks.text, True
    ),
    Parameter("models", [""], "NAME=URDF[,SRDF]: more models, or other files for the world's.", checks.texts, True),
    Parameter("package_paths", [""], "Folders in which the packages of package:// URIs lie.", checks.texts, True),
    Parameter("timestep", 0.002, "Time step [s].", checks.positive, True),
    Parameter(
        "real_time_factor",
        1.0,
        "Simulated seconds in a second; 0: as fast as possible.",
        checks.not_negative,
        True,
    ),
    Parameter("publish_frequency", 50.0, "Rate of states, in simulated time [Hz].", checks.positive, True),
    Parameter("start_paused", False, "Wait for ~/pause or ~/step.", checks.flag, True),
    Parameter("ground", True, "Whether there is a floor at z = 0.", checks.flag, True),
    Parameter("strict", False, "Refuse robots with any error.", checks.flag, True),
    Parameter("implicit_links", False, "Let joints name links that no <link> declares.", checks.flag, True),
    Parameter(
        "main_model", "", "Model whose topics have no prefix; empty: the only one with joints.", checks.text, True
    ),
    Parameter("engine", "mujoco", f"What simulates: {', '.join(ENGINES)}.", checks.one_word_of(*ENGINES), True),
    Parameter("max_text_bytes", 64_000_000, "Largest USDF text taken.", checks.Numbers(least=1), True),
    Parameter(
        "max_unpacked",
        0,
        f"Largest unpacked size of a mesh file [MB]; 0: {VARIABLE}, or {DEFAULT_MB}.",
        checks.Numbers(least=0),
        True,
    ),
)


def declare_simulation(node: GuardedNode) -> SimulationSettings:
    """Declare the parameters and return their values.

    Raises:
        ParameterError: a given value is invalid.

    """
    values = node.declare_table(TABLE)
    for name in ("models", "package_paths"):
        values[name] = tuple(text for text in values[name] if text)
    for name in ("timestep", "real_time_factor", "publish_frequency"):
        values[name] = float(values[name])
    if values["max_unpacked"]:
        set_limit(values["max_unpacked"])
    return SimulationSettings(**values)


NODE_NAME = "mujoco_world"
QUEUE = 10
"""Depth of every topic's queue; reliable, so that listeners of either kind match."""
LONGEST_BATCH_S = 0.02
"""Time [s] after which the simulation lets the services have their turn, however far it is behind."""
STEPS_AT_ONCE = 1000
"""Steps of a request after which the node looks whether it is told to stop."""
IDLE_PERIOD_S = 0.2
"""Time [s] between two messages of a paused simulation, which tell those that come late where it stands."""


class _Outlet(NamedTuple):
    """Publishers of one model's state."""

    spec: ModelSpec
    joint_states: Publisher | None
    base_state: Publisher | None


class MujocoWorld(GuardedNode):
    """The node; `run` does its work until the context is shut down."""

    def __init__(self, **arguments: object) -> None:
        """Load the world and make the topics and services.

        Raises:
            RobotSemanticsError: a parameter, the world or one of its robots cannot be used.

        """
        super().__init__(NODE_NAME, **arguments)
        try:
            self._set_up()
        except BaseException:
            # Destroy the node now: at the end of the interpreter, a message could crash it.
            self.destroy_node()
            raise

    # --- set-up

    def _set_up(self) -> None:
        self.settings: SimulationSettings = declare_simulation(self)
        diagnostics = Diagnostics()
        self._initial = self._initial_state(diagnostics)
        self.simulator = self._simulator(diagnostics)
        self.paused = self.settings.start_paused
        self._time_publisher = self.create_publisher(Clock, "/clock", QUEUE)
        spaces = topic_namespaces(self.simulator.model_names)
        self._outlets = [self._outlet(spec, spaces[spec.name]) for spec in self.simulator.spec.models]
        self.create_service(GetWorldState, "~/get_world_state", self._get_world_state)
        self.create_service(SetWorldState, "~/set_world_state", self._set_world_state)
        self.create_service(SetBool, "~/pause", self._pause)
        self.create_service(Step, "~/step", self._step)
        self.create_service(Trigger, "~/reset", self._reset)
        self._published_ns = -1
        self._published_wall = 0.0
        self._resync()

    def _initial_state(self, diagnostics: Diagnostics) -> WorldState:
        state = read_world(self.settings.world, diagnostics) if self.settings.world else WorldState()
        MAKER.time(state.time_ns or 0)  # refuses values outside of the range of the clock
        return state

    def _simulator(self, diagnostics: Diagnostics) -> Simulator:
        settings = self.settings
        spec = world_from_state(
            self._initial,
            Path(settings.world) if settings.world else None,
            overrides=dict(ModelFiles.parse(text) for text in settings.models),
            more_models=True,
            strict=settings.strict,
            options=RobotOptions(settings.implicit_links, package_paths=settings.package_paths),
            diagnostics=diagnostics,
            timestep=settings.timestep,
            ground=settings.ground,
        )
        for problem in diagnostics:
            self.get_logger().warning(str(problem))
        simulator = start_simulator(settings.engine, spec, lambda text: self.get_logger().warning(text))
        report = simulator.restore(self._initial, partial=True)
        self._log_report("initial state", report)
        for note in simulator.notes:
            self.get_logger().warning(str(note))
        names = ", ".join(simulator.model_names) or "nothing"
        self.get_logger().info(f"simulating {names}, time step {settings.timestep} s")
        return simulator

    def _outlet(self, spec: ModelSpec, namespace: str) -> _Outlet:
        prefix = "" if spec.name == self._plain_model() else f"{namespace}/"
        joint_states = base_state = None
        if _jointed(spec):
            joint_states = self.create_publisher(JointState, f"{prefix}joint_states", QUEUE)
        if not spec.has_fixed_base:
            topic = f"{prefix}multi_dof_joint_states"
            base_state = self.create_publisher(MultiDOFJointState, topic, QUEUE)
        if _jointed(spec) or spec.has_planar_base:
            self.create_subscription(
                JointState,
                f"{prefix}joint_command",
                lambda message, name=spec.name: self._command(name, message),
                QUEUE,
            )
        return _Outlet(spec, joint_states, base_state)

    def _plain_model(self) -> str:
        """Return the model whose topics have no prefix: the only one with joints, or the requested one."""
        if self.settings.main_model:
            name = self.settings.main_model
            if name not in self.simulator.model_names:
                raise UnknownNameError("model", name, self.simulator.model_names)
            return name
        jointed = [spec.name for spec in self.simulator.spec.models if _jointed(spec)]
        return jointed[0] if len(jointed) == 1 else ""

    # --- the loop

    def run(self) -> None:
        """Simulate, publish and serve until the context is shut down."""
        executor = QuietExecutor(context=self.context)
        executor.add_node(self)
        try:
            while is_up(self.context):
                waiting = self._advance()
                self._publish()
                executor.spin_once(timeout_sec=waiting)
        except ExternalShutdownException:
            pass
        finally:
            executor.shutdown()

    def _advance(self) -> float:
        """Step up to the wall clock; return the time until the next step [s]."""
        if self.paused:
            return IDLE_PERIOD_S
        simulator, factor = self.simulator, self.settings.real_time_factor
        started = time.monotonic()
        step_s = self.settings.timestep
        if factor <= 0.0:
            while time.monotonic() - started < LONGEST_BATCH_S and not self._due() and self._stepped():
                pass
            return 0.0
        while True:
            now = time.monotonic()
            target = self._synced_sim + (now - self._synced_wall) * factor
            ahead = float_seconds(simulator.time_ns) + step_s - target
            if ahead > 0.0:
                return min(ahead / factor, 1.0 / self.settings.publish_frequency)
            if self._due():
                return 0.0
            if now - started > LONGEST_BATCH_S:
                # Slower than the wall clock: continue from the present time instead of catching up.
                self._resync()
                return 0.0
            if not self._stepped():
                return 0.0

    def _stepped(self) -> bool:
        """Take a time step; if the simulation diverges, pause and report it."""
        try:
            self.simulator.step()
        except SimulationError as error:
            self._stop(error)
            return False
        return True

    def _stop(self, error: SimulationError) -> None:
        self.paused = True
        self.get_logger().error(f"{error}; paused: call ~/reset to reset the world")
        self._resync()
        self._publish(force=True)

    def _resync(self) -> None:
        self._synced_wall, self._synced_sim = time.monotonic(), float_seconds(self.simulator.time_ns)

    # --- publishing

    def _due(self) -> bool:
        return self.simulator.time_ns - self._published_ns >= 1e9 / self.settings.publish_frequency

    def _publish(self, *, force: bool = False) -> None:
        now = time.monotonic()
        idle = self.paused and now - self._published_wall >= IDLE_PERIOD_S
        if not (force or idle or self._due()):
            return
        self._published_ns, self._published_wall = self.simulator.time_ns, now
        state = self.simulator.capture(motion_only=True)
        stamp = MAKER.time(self.simulator.time_ns)
        self._time_publisher.publish(Clock(clock=stamp))
        for outlet, model in zip(self._outlets, state.models, strict=True):
            if outlet.joint_states is not None:
                message = joint_state_message(outlet.spec, model)
                message.header.stamp = stamp
                outlet.joint_states.publish(message)
            if outlet.base_state is not None:
                base = base_state_message(outlet.spec, model)
                base.header.stamp = stamp
                outlet.base_state.publish(base)

    # --- commands and services

    def _command(self, model: str, message: JointState) -> None:
        lists = [
            (mode, values)
            for mode, values in (
                (ControlMode.POSITION, message.position),
                (ControlMode.VELOCITY, message.velocity),
                (ControlMode.EFFORT, message.effort),
            )
            if len(values)
        ]
        if len(lists) != 1 or len(lists[0][1]) != len(message.name):
            raise RobotSemanticsError(
                "a command must have names and one list of as many positions, velocities or efforts"
            )
        mode, values = lists[0]
        check_numbers(f"a command for '{model}'", values)
        self.simulator.command(model, mode, dict(zip(message.name, values, strict=True)))

    def _get_world_state(
        self, request: GetWorldState.Request, response: GetWorldState.Response
    ) -> GetWorldState.Response:
        state = self.simulator.capture(list(request.models) or None)
        response.state = world_to_message(state)
        if request.with_text:
            response.text = write_world(state)
        response.success = True
        return response

    def _set_world_state(
        self, request: SetWorldState.Request, response: SetWorldState.Response
    ) -> SetWorldState.Response:
        if len(request.text) > self.settings.max_text_bytes:
            raise RobotSemanticsError(f"the text is longer than {self.settings.max_text_bytes} bytes")
        problems = Diagnostics()
        state = parse_world(request.text, "<text>", problems) if request.text else world_from_message(request.state)
        # The limits of the text form also hold for messages.
        check_writable(state)
        check_magnitudes(state)
        MAKER.time(state.time_ns or 0)  # refuses values outside of the range of the clock
        report = self.simulator.restore(
            state, models=list(request.models) or None, partial=request.partial, dry_run=request.dry_run
        )
        if not request.dry_run:
            self._log_report("set_world_state", report)
        response.success = report.applied or (request.dry_run and (request.partial or report.complete))
        response.exact = report.exact
        if not response.success:
            response.message = report.message or "nothing restored: it states nothing that this world has"
        response.set = item_messages(report.restored) if response.success else []
        response.not_set = item_messages(report.not_restored)
        response.notes = note_messages([*map(str, problems.warnings), *report.notes])
        if report.applied:
            self._resync()
            self._publish(force=True)
        return response

    def _pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self.paused = bool(request.data)
        self._resync()
        response.success, response.message = True, "paused" if self.paused else "running"
        return response

    def _step(self, request: Step.Request, response: Step.Response) -> Step.Response:
        response.success = self.paused
        if self.paused:
            try:
                count = request.steps
                while count > 0 and is_up(self.context):
                    self.simulator.step(min(count, STEPS_AT_ONCE))
                    count -= STEPS_AT_ONCE
            except SimulationError as error:
                response.success, response.message = False, str(error)
                self._stop(error)
            self._publish(force=True)
        else:
            response.message = "the simulation is running: pause it first"
        response.time = MAKER.time(self.simulator.time_ns)
        return response

    def _reset(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.simulator.reset()
        report = self.simulator.restore(self._initial, partial=True)
        self._resync()
        self._publish(force=True)
        response.success, response.message = True, report.message
        return response

    def _log_report(self, what: str, report: RestoreReport) -> None:
        for item in report.not_restored:
            self.get_logger().warning(shown(f"{what}: not restored: {item}", 1000))
        for note in report.notes:
            self.get_logger().info(shown(f"{what}: {note}", 1000))


def _jointed(spec: ModelSpec) -> bool:
    return any(joint.position_count for joint in spec.robot.joints[1:])
