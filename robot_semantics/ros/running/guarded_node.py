# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A node that checks its parameters and survives every error of a callback: errors are answered or logged."""

from __future__ import annotations

import inspect
import time
import traceback
from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping
from functools import partial, wraps
from typing import Any

from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.client import Client
from rclpy.clock import Clock, ClockType
from rclpy.executors import Executor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from rclpy.service import Service
from rclpy.subscription import Subscription
from rclpy.task import Future
from rclpy.timer import Timer

from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.base.names import shown, suggestion
from robot_semantics.base.throttle import Throttle
from robot_semantics.cdr.generated_types import ActionType, RosMessage, ServiceType
from robot_semantics.ros.running import qos
from robot_semantics.ros.running.parameter_table import Check, Parameter, ParameterError, Values, as_type
from robot_semantics.ros.running.spinning import is_up

# The services that set parameters, with a reason for each parameter that is not set.


Callback = Callable[[RosMessage, RosMessage], RosMessage]
Explain = Callable[[str, Exception], str]
"""Returns the reason of a failed call; its arguments are the name of the call and the error."""

_TYPES = {type_.value for type_ in RosParameter.Type}


def _set_each(callback: Callback, explain: Explain) -> Callback:
    def answer(request: RosMessage, response: RosMessage) -> RosMessage:
        for parameter in request.parameters:
            try:
                _check_type(parameter)
                one = callback(SetParameters.Request(parameters=[parameter]), SetParameters.Response())
                response.results.extend(one.results)
            except Exception as error:  # noqa: BLE001 - the caller gets the error, and the node continues
                response.results.append(_failure(explain, error))
        return response

    return answer


def _set_all(callback: Callback, explain: Explain) -> Callback:
    def answer(request: RosMessage, response: RosMessage) -> RosMessage:
        try:
            for parameter in request.parameters:
                _check_type(parameter)
            return callback(request, response)
        except Exception as error:  # noqa: BLE001 - the caller gets the error, and the node continues
            response.result = _failure(explain, error)
            return response

    return answer


def _failure(explain: Explain, error: Exception) -> SetParametersResult:
    return SetParametersResult(successful=False, reason=explain("parameters", error))


def _check_type(parameter: ParameterMessage) -> None:
    # rclpy raises an error for these, and its answer has no result for any parameter.
    if parameter.value.type not in _TYPES:
        raise ParameterError(f"parameter '{parameter.name}' has an unknown type, {parameter.value.type}")


ANSWER_WITH_REASONS: dict[type[ServiceType], Callable[[Callback, Explain], Callback]] = {
    SetParameters: _set_each,
    SetParametersAtomically: _set_all,
}
"""For the type of a service: returns its callback with the reasons."""


Answer = Callable[..., Any]

_STEPS_OF_ANSWERS = 4
"""Steps of the executor from the end of a callback until its answer is sent, at most."""
_PAUSE_S = 0.005
"""Time between two looks at callbacks that come to their end [s]."""
_DELIVERY_S = 0.5
"""Time for the delivery of answers before their service is removed [s]."""

_REMOVALS = (
    *("destroy_timer", "destroy_service", "destroy_client", "destroy_subscription", "destroy_publisher"),
    *("destroy_guard_condition", "destroy_action_server"),
)
"""The methods that remove one entity of a node."""

_EXPECTED = (RobotSemanticsError, rclpy_implementation.RCLError)
"""Errors whose text says all; of any other the traceback is wanted."""


class CleanupError(RobotSemanticsError):
    """The node is cleaned up while a callback waits."""


class _CleanupBegan(BaseException):
    """Ends a callback that waits; its `finally` blocks may wait again."""


class _NextStep:
    """Awaits the next step of the executor."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def __await__(self) -> Generator[None, None, None]:
        self._executor.wake()
        yield


class _EntityRecord:
    """The time between `keep_entities` and `destroy_entities`.

    Attributes:
        is_over: True after `destroy_entities`; callbacks that wait end at their next step.
        callbacks: those that wait.
        has_ended_any: True if a callback was ended, so that its answer is on its way.
        is_answered: True if all answers are sent, and only their delivery is awaited.
        removals: functions that remove the entities that these callbacks still need.

    """

    def __init__(self, node: GuardedNode) -> None:
        self._node = node
        self.is_over = False
        self.callbacks: set[_Interruptible] = set()
        self.has_ended_any = self.is_answered = False
        self.removals: list[Callable[[], object]] = []

    def end(self) -> None:
        """End the callbacks that wait, and then remove the rest."""
        self.is_over = True
        for callback in tuple(self.callbacks):
            callback.resume()
        executor = self._node.executor
        if executor is None:
            self.remove()
        elif is_up(self._node.context):
            # At the end of the program the middleware removes the entities, and no executor runs a task.
            executor.create_task(self._remove_later, executor)

    async def _remove_later(self, executor: Executor) -> None:
        steps = 0
        while self.callbacks or steps < _STEPS_OF_ANSWERS:
            if self.callbacks and steps:
                # One of them waits for a simulator.
                time.sleep(_PAUSE_S)
            steps += 1
            await _NextStep(executor)
        for _ in range(_STEPS_OF_ANSWERS):
            await _NextStep(executor)
        if self.has_ended_any and self.removals:
            # The middleware repeats an answer that was lost on the way only while its service exists.
            self.is_answered = True
            timer = self._node.create_timer(_DELIVERY_S, self.remove, clock=Clock(clock_type=ClockType.STEADY_TIME))
            # The end of the next configuration must not remove it.
            self._node.keep_entity(timer)
            self.removals.append(partial(self._node.destroy_timer, timer))
        else:
            self.remove()

    def remove(self) -> None:
        """Remove the entities now."""
        removals, self.removals = self.removals, []
        for remove in removals:
            remove()


class _Interruptible:
    """Awaits a coroutine; if the configuration is over, `_CleanupBegan` ends it."""

    def __init__(self, configuration: _EntityRecord, coroutine: Coroutine[object, None, object]) -> None:
        self._configuration, self._coroutine = configuration, coroutine
        self._awaited: object = None

    def __await__(self) -> Generator[object, None, object]:
        configuration, is_told = self._configuration, False
        configuration.callbacks.add(self)
        try:
            while True:
                if configuration.is_over and not is_told:
                    is_told = configuration.has_ended_any = True
                    self._awaited = self._coroutine.throw(_CleanupBegan())
                else:
                    self._awaited = self._coroutine.send(None)
                yield self._awaited
        except StopIteration as end:
            return end.value
        finally:
            configuration.callbacks.remove(self)
            self._coroutine.close()

    def resume(self) -> None:
        """Let the executor take the next step; newer versions of rclpy wait for the awaited future before."""
        if isinstance(self._awaited, Future):
            self._awaited.cancel()


def guarded(callback: Answer, instead: Answer, configuration: _EntityRecord | None = None) -> Answer:
    """Return a function that calls `callback`; if it raises, the result is `instead(error, *arguments)`.

    A callback that waits ends with its `configuration`, with a `CleanupError`.
    """
    if inspect.iscoroutinefunction(callback):

        @wraps(callback)
        async def call_later(*arguments: object) -> object:
            coroutine = callback(*arguments)
            try:
                return await (coroutine if configuration is None else _Interruptible(configuration, coroutine))
            except _CleanupBegan:
                return instead(CleanupError("the node is being cleaned up"), *arguments)
            except Exception as error:  # noqa: BLE001 - whatever it is, it must not end the node
                return instead(error, *arguments)

        return call_later

    @wraps(callback)
    def call(*arguments: object) -> object:
        try:
            return callback(*arguments)
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not end the node
            return instead(error, *arguments)

    return call


class GuardedNode(Node):  # type: ignore[misc]  # rclpy is typed in part
    """Guards every callback when it is registered, also callbacks of rclpy's own services.

    A service that fails answers with `success` false, a `message`, and the `nearest` names if a name was unknown. An
    action aborts with the same fields in its result. If a check of changed parameters fails, the change is refused.
    Errors of timers and topics are logged. An error of another package is logged with its traceback. New values of the
    parameters of `declare_table` are checked before rclpy checks them, because our messages say more.

    Attributes:
        frozen: parameters that cannot be changed, with the reason.

    """

    def __init__(self, name: str, **options: object) -> None:
        """Make the node; `options` are rclpy's."""
        self._checks: dict[str, Check] = {}
        self.frozen: dict[str, str] = {}
        self._reports = Throttle()
        self._guarded_callbacks: dict[Answer, Answer] = {}
        self._kept_entities: list[object] | None = None
        self._configuration = self._configuration_before = _EntityRecord(self)
        self._is_ending = False
        super().__init__(name, **options)
        for service in self.services:
            # rclpy makes these services without `create_service`.
            if not is_guarded(service.callback):
                service.callback = self._guarded_service(service.callback, service.srv_name)

    def keep_entities(self) -> None:
        """Remember the existing topics, services, clients and timers; `destroy_entities` does not remove them."""
        if self._configuration_before.is_answered:
            # Two services of one name would both answer.
            self._configuration_before.remove()
        self._kept_entities = [entity for entities, _ in self._entities() for entity in entities]
        self._configuration = _EntityRecord(self)

    def keep_entity(self, entity: object) -> None:
        """Keep one more entity, as `keep_entities`."""
        if self._kept_entities is not None:
            self._kept_entities.append(entity)

    def destroy_entities(self) -> None:
        """Remove the later ones, except those that rclpy made for /clock; no thread may use them.

        Callbacks that wait end, and pending requests are answered, before services, actions and clients are removed.
        """
        if self._kept_entities is None:
            return
        kept_ids = set(map(id, self._kept_entities))
        configuration = self._configuration_before = self._configuration
        self._configuration = _EntityRecord(self)
        for entities, destroy in self._entities():
            for entity in entities:
                if id(entity) not in kept_ids and getattr(entity, "topic_name", "") != "/clock":
                    if isinstance(entity, (Service, Client)) and not self._is_ending:
                        configuration.removals.append(partial(destroy, entity))
                    else:
                        destroy(entity)
        configuration.end()

    def destroy_action_server(self, server: ActionServer) -> None:
        """Remove an action; its running goals end first."""
        if self._is_ending:
            server.destroy()
        else:
            self._configuration.removals.append(server.destroy)

    def close(self) -> None:
        """Stop the threads and remove what was made after the start; a node with such parts overrides this."""

    def close_for_exit(self) -> None:
        """Stop the threads, but keep topics and services: the process ends, and with it all of them."""
        self._is_ending = True
        for name in _REMOVALS:
            setattr(self, name, lambda _entity: True)
        self.close()

    def entity_count(self) -> int:
        """Return the number of timers, services, clients, subscriptions and publishers."""
        return sum(len(entities) for entities, _ in self._entities())

    def destroy_node(self) -> None:
        """Close the node and remove it now: nothing answers a pending request any more."""
        self._is_ending = True
        self.close()
        super().destroy_node()

    def _entities(self) -> list[tuple[list[object], Callable[[Any], object]]]:
        return [
            (list(self.timers), self.destroy_timer),
            (list(self.services), self.destroy_service),
            (list(self.clients), self.destroy_client),
            (list(self.subscriptions), self.destroy_subscription),
            (list(self.publishers), self.destroy_publisher),
        ]

    def report(self, what: str, error: Exception) -> str:
        """Log an error at a limited rate, with a traceback if another package raised it; return the reason."""
        text = _reason(error)
        # After a shutdown nothing can be published; this is not an error.
        line = self._reports.admit_sentence((what, type(error)), shown(text, 1000)) if is_up(self.context) else None
        if line is not None and isinstance(error, _EXPECTED):
            self.get_logger().warning(f"{what}: {line}")
        elif line is not None:
            trace = "".join(traceback.format_exception(error)).rstrip()
            self.get_logger().error(f"{what}: {line}\n{trace}")
        return text

    def explain(self, what: str, error: Exception) -> str:
        """Return the reason of a failure, never empty. Only errors that no callback should raise are logged."""
        return _reason(error) if isinstance(error, RobotSemanticsError) else self.report(what, error)

    def guarded(self, callback: Answer, what: str) -> Answer:
        """Return a callback without a result; errors are logged."""

        def instead(error: Exception, *_: object) -> None:
            if not isinstance(error, CleanupError):
                self.report(what, error)

        return guarded(callback, instead, self._configuration)

    def create_service(
        self, srv_type: type[ServiceType], srv_name: str, callback: Answer, **options: object
    ) -> Service:
        """Offer a service; see rclpy."""
        options.setdefault("qos_profile", qos.fresh(qos.SERVICES))
        if srv_type in ANSWER_WITH_REASONS:
            callback = ANSWER_WITH_REASONS[srv_type](callback, self.explain)
        return super().create_service(srv_type, srv_name, self._guarded_service(callback, srv_name), **options)

    def create_client(self, srv_type: type[ServiceType], srv_name: str, **options: object) -> Client:
        """Call a service; see rclpy."""
        options.setdefault("qos_profile", qos.fresh(qos.SERVICES))
        return super().create_client(srv_type, srv_name, **options)

    def create_subscription(
        self, msg_type: type[RosMessage], topic: str, callback: Answer, qos_profile: QoSProfile, **options: object
    ) -> Subscription:
        """Listen to a topic; see rclpy."""
        self._check_overrides(topic, "subscription", options)
        return super().create_subscription(
            msg_type, topic, self.guarded(callback, f"topic {topic}"), qos_profile, **options
        )

    def create_publisher(
        self, msg_type: type[RosMessage], topic: str, qos_profile: QoSProfile, **options: object
    ) -> Publisher:
        """Publish on a topic; see rclpy."""
        self._check_overrides(topic, "publisher", options)
        return super().create_publisher(msg_type, topic, qos_profile, **options)

    def _check_overrides(self, topic: str, kind: str, options: Mapping[str, object]) -> None:
        """Check the given parameters qos_overrides of a topic with these options; rclpy's errors do not name them.

        Raises:
            ParameterError: a value is invalid.
        """
        if options.get("qos_overriding_options") is None:
            return
        overrides, name = self.overrides, f"qos_overrides.{self.resolve_topic_name(topic)}.{kind}"
        for policy, check in qos.OVERRIDES.items():
            if f"{name}.{policy}" in overrides:
                check(f"{name}.{policy}", overrides[f"{name}.{policy}"])

    def create_timer(
        self, timer_period_sec: float, callback: Answer, *arguments: object, what: str = "timer", **options: object
    ) -> Timer:
        """Call a function periodically; see rclpy. `what` is its name in the log."""
        return super().create_timer(timer_period_sec, self.guarded(callback, what), *arguments, **options)

    def create_action_server(
        self, kind: type[ActionType], name: str, execute: Answer, goal: Answer, cancel: Answer
    ) -> ActionServer:
        """Offer an action: whether a `goal` is taken, whether it may be cancelled, and its execution."""

        def abort(error: Exception, handle: ServerGoalHandle) -> RosMessage:
            if is_up(self.context):
                handle.abort()
            return kind.Result(success=False, message=self.explain(f"action {name}", error))

        def refuse(answer: GoalResponse | CancelResponse) -> Answer:
            def instead(error: Exception, _subject: object) -> GoalResponse | CancelResponse:
                self.explain(f"action {name}", error)
                return answer

            return instead

        return ActionServer(
            self,
            kind,
            name,
            guarded(execute, abort, self._configuration),
            goal_callback=guarded(goal, refuse(GoalResponse.REJECT)),
            cancel_callback=guarded(cancel, refuse(CancelResponse.REJECT)),
        )

    def add_on_set_parameters_callback(self, callback: Answer) -> None:
        """Add a check of changed parameters; see rclpy."""

        def refuse(error: Exception, _changes: object) -> SetParametersResult:
            return SetParametersResult(successful=False, reason=self.explain("parameters", error))

        super().add_on_set_parameters_callback(self._guarded_callbacks.setdefault(callback, guarded(callback, refuse)))

    def remove_on_set_parameters_callback(self, callback: Answer) -> None:
        """Remove such a check; see rclpy."""
        super().remove_on_set_parameters_callback(self._guarded_callbacks.pop(callback))

    def add_post_set_parameters_callback(self, callback: Answer) -> None:
        """Add a callback for changed parameters; see rclpy."""
        guard = self._guarded_callbacks.setdefault(callback, self.guarded(callback, "parameters"))
        super().add_post_set_parameters_callback(guard)

    def remove_post_set_parameters_callback(self, callback: Answer) -> None:
        """Remove such a callback; see rclpy."""
        super().remove_post_set_parameters_callback(self._guarded_callbacks.pop(callback))

    def _guarded_service(self, callback: Answer, name: str) -> Answer:
        def refuse(error: Exception, _request: object, response: RosMessage) -> RosMessage:
            # The response of the callback is incomplete: start with a new one.
            refusal = type(response)()
            if hasattr(refusal, "message"):
                refusal.message = self.explain(f"service {name}", error)
            else:
                self.report(f"service {name}", error)
            if hasattr(refusal, "nearest") and isinstance(error, UnknownNameError):
                refusal.nearest = list(error.nearest)
            return refusal

        return guarded(callback, refuse, self._configuration)

    # --- parameters

    @property
    def overrides(self) -> Values:
        """The parameters that were given in a file or an argument; rclpy shows them only by declaring all of them."""
        given: Mapping[str, RosParameter] = getattr(self, "_parameter_overrides", {})
        return {name: parameter.value for name, parameter in given.items()}

    def set_parameters(self, parameter_list: list[RosParameter]) -> list[SetParametersResult]:
        """Set parameters one after the other."""
        return [self.set_parameters_atomically([parameter]) for parameter in parameter_list]

    def set_parameters_atomically(self, parameter_list: list[RosParameter]) -> SetParametersResult:
        """Set all parameters or no parameter; refused values are logged as well as returned."""
        try:
            for parameter in parameter_list:
                if parameter.name in self.frozen:
                    raise ParameterError(self.frozen[parameter.name])
                if not self.has_parameter(parameter.name):
                    near = suggestion(parameter.name, self.list_parameters([], 0).names)
                    raise ParameterError(f"parameter '{parameter.name}' does not exist{near}")
                if parameter.name in self._checks:
                    self._checks[parameter.name](parameter.name, parameter.value)
        except ParameterError as error:
            self.get_logger().error(f"parameters are not changed: {error}")
            return SetParametersResult(successful=False, reason=str(error))
        return super().set_parameters_atomically([self._in_its_type(parameter) for parameter in parameter_list])

    def _in_its_type(self, given: RosParameter) -> RosParameter:
        if given.name not in self._checks:
            return given
        value = as_type(self.get_parameter(given.name).type_, given.value)
        return given if value is given.value else RosParameter(given.name, value=value)

    def declare_table(
        self,
        table: Iterable[Parameter],
        prefix: str = "",
        defaults: Values | None = None,
        *,
        skip_invalid: bool = False,
    ) -> dict[str, Any]:
        """Declare every parameter of `table` as ``PREFIX.NAME``; return the checked values by full name.

        Args:
            table: the parameters.
            prefix: prefix of the names.
            defaults: defaults by NAME that replace those of the table.
            skip_invalid: do not declare parameters with invalid values.

        Raises:
            ParameterError: a value is invalid, and `skip_invalid` is False.

        """
        values: dict[str, Any] = {}
        for parameter in table:
            name = f"{prefix}.{parameter.name}" if prefix else parameter.name
            try:
                values[name] = self._declared(parameter, name, (defaults or {}).get(parameter.name, parameter.default))
            except ParameterError:
                if not skip_invalid:
                    raise
        return values

    def _declared(self, parameter: Parameter, name: str, default: Any) -> Any:
        """Return the value of a parameter; declare the parameter if it is new."""
        if not self.has_parameter(name):
            # Check first: rclpy's message is shorter, and rclpy refuses 20 for a parameter of type double.
            value = default
            if name in self.overrides:
                parameter.check(name, self.overrides[name])
                value = as_type(RosParameter.Type.from_parameter_value(parameter.default), self.overrides[name])
            self.declare_parameter(name, value, parameter.descriptor(), ignore_override=True)
            self._checks[name] = parameter.check
        value = self.get_parameter(name).value
        if isinstance(default, list) and value is not None and not isinstance(value, str):
            value = list(value)
        parameter.check(name, value)
        return value

    def undeclare_parameter(self, name: str) -> None:
        """Remove a parameter; see rclpy."""
        super().undeclare_parameter(name)
        self._checks.pop(name, None)

    def unknown_overrides(self, waiting: bool = False) -> dict[str, str]:
        """Return a sentence for each given parameter that the node never reads.

        With `waiting`, parameters below ``virtual_joints.`` are not reported, because a description may still name the
        joint.
        """
        given = [name for name in self.overrides if not name.startswith("qos_overrides.")]
        unknown = [name for name in given if not self.has_parameter(name)]
        declared = sorted(self.list_parameters([], 0).names)
        overrides = {}
        for name in unknown:
            if not (waiting and "virtual_joints." in name):
                near = suggestion(name, declared)
                overrides[name] = f"parameter '{name}' has no effect: the node has no parameter of this name{near}"
        return overrides


def _reason(error: Exception) -> str:
    if isinstance(error, _EXPECTED):
        return str(error) or type(error).__name__
    return f"internal error: {type(error).__name__}: {error}"


def is_guarded(callback: Answer) -> bool:
    """Return True if a callback is guarded."""
    return hasattr(callback, "__wrapped__")
