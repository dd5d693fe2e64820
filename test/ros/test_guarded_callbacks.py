# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""No callback ends a node: each callback of each node, found by introspection, raises an unexpected error."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import rclpy
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.event_handler import EventHandler
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.task import Future
from std_srvs.srv import Trigger

from robot_semantics.examples import example
from robot_semantics.ros.node import nodes
from robot_semantics.ros.node.nodes import RobotSemanticsLifecycleNode, RobotSemanticsNode
from robot_semantics.ros.running.guarded_node import GuardedNode, is_guarded

pytestmark = pytest.mark.ros

FAULT = "a planted fault"
ROBOT = {
    "robot_description": example("rover_arm.urdf").read_text(),
    "robot_description_semantic": example("rover_arm.srdf").read_text(),
    "robot_description_semantic_topic": "another_semantic",
    "virtual_joints.base_joint.source": "odometry",
    "snapshots.autosave_period": 3600.0,
}


class PlantedError(Exception):
    """No error of the package, nor of rclpy."""


class Faulty(GuardedNode):
    """Every callback that the node registers raises when `raises` is set."""

    raises = False

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.planted: dict[Any, Any] = {}
        super().__init__(*arguments, **options)

    def _planted(self, callback: Callable[..., Any]) -> Callable[..., Any]:
        def check() -> None:
            if self.raises:
                raise PlantedError(FAULT)

        async def later(*arguments: Any) -> Any:
            check()
            return await callback(*arguments)

        def now(argument: Any = None, *more: Any) -> Any:
            check()
            return callback(argument, *more)

        return later if inspect.iscoroutinefunction(callback) else now

    def create_service(self, srv_type: Any, srv_name: str, callback: Any, **options: Any) -> Any:
        return super().create_service(srv_type, srv_name, self._planted(callback), **options)

    def create_subscription(self, msg_type: Any, topic: str, callback: Any, qos_profile: Any, **options: Any) -> Any:
        return super().create_subscription(msg_type, topic, self._planted(callback), qos_profile, **options)

    def create_timer(self, timer_period_sec: float, callback: Any, *arguments: Any, **options: Any) -> Any:
        return super().create_timer(timer_period_sec, self._planted(callback), *arguments, **options)

    def create_action_server(self, kind: Any, name: str, execute: Any, goal: Any, cancel: Any) -> Any:
        return super().create_action_server(kind, name, *map(self._planted, (execute, goal, cancel)))

    def add_on_set_parameters_callback(self, callback: Any) -> None:
        self.planted[callback] = self._planted(callback)
        super().add_on_set_parameters_callback(self.planted[callback])

    def remove_on_set_parameters_callback(self, callback: Any) -> None:
        super().remove_on_set_parameters_callback(self.planted[callback])

    def add_post_set_parameters_callback(self, callback: Any) -> None:
        self.planted[callback] = self._planted(callback)
        super().add_post_set_parameters_callback(self.planted[callback])

    def remove_post_set_parameters_callback(self, callback: Any) -> None:
        super().remove_post_set_parameters_callback(self.planted[callback])


class FaultyPlainNode(Faulty, RobotSemanticsNode):
    pass


class FaultyLifecycleNode(Faulty, RobotSemanticsLifecycleNode):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.trigger_configure()
        self.trigger_activate()


def faulty_mujoco_world(**options: Any) -> Faulty:
    pytest.importorskip("mujoco", reason="MuJoCo is not installed (pip install '.[mujoco]')")
    from robot_semantics.ros.simulators.world_node import MujocoWorld

    class FaultyMujocoWorld(Faulty, MujocoWorld):
        pass

    return FaultyMujocoWorld(**options)


NODES: dict[str, tuple[Callable[..., Faulty], dict[str, Any]]] = {
    "plain": (FaultyPlainNode, ROBOT),
    "lifecycle": (FaultyLifecycleNode, ROBOT),
    "mujoco_world": (faulty_mujoco_world, {"world": str(example("rover_arm.usdf")), "start_paused": True}),
}


@pytest.fixture(params=NODES)
def node(request: pytest.FixtureRequest, domain: int) -> Iterator[Faulty]:
    make, parameters = NODES[request.param]
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain, args=[])
    node = make(
        context=context, parameter_overrides=[Parameter(name, value=value) for name, value in parameters.items()]
    )
    yield node
    node.raises = False
    node.destroy_node()
    context.try_shutdown()


def called(callback: Callable[..., Any], *arguments: Any) -> Any:
    """Return the callbacks for the executor."""
    result = callback(*arguments)
    if not inspect.iscoroutine(result):
        return result
    try:
        result.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits for something")


def test_every_service_answers_what_went_wrong(node: Faulty) -> None:
    services = list(node.services)
    assert len(services) >= 11
    node.raises = True
    for service in services:
        assert is_guarded(service.callback), service.srv_name
        if not inspect.unwrap(service.callback).__qualname__.startswith("Faulty"):
            continue  # rclpy's own, made without `create_service`
        answer = called(service.callback, service.srv_type.Request(), service.srv_type.Response())
        assert isinstance(answer, service.srv_type.Response), service.srv_name
        if hasattr(answer, "success"):
            assert not answer.success
            assert FAULT in answer.message, service.srv_name


def test_no_topic_timer_or_guard_condition_raises(node: Faulty) -> None:
    entities = [*node.subscriptions, *node.timers, *node.guards]
    assert entities
    node.raises = True
    for entity in entities:
        assert is_guarded(entity.callback), entity
        called(entity.callback, *([None] if entity in node.subscriptions else []))


def test_every_action_refuses_or_aborts(node: Faulty) -> None:
    class Handle:
        aborted = False

        def abort(self) -> None:
            self.aborted = True

    node.raises = True
    for server in node.waitables:
        if isinstance(server, EventHandler):
            # rclpy's own, which logs that somebody's quality of service does not fit.
            assert server.callback.__module__ == "rclpy.event_handler"
            continue
        assert isinstance(server, ActionServer), server
        assert called(server._goal_callback, None) == GoalResponse.REJECT
        assert called(server._cancel_callback, None) == CancelResponse.REJECT
        handle = Handle()
        result = called(server._execute_callback, handle)
        assert handle.aborted
        assert not result.success
        assert FAULT in result.message


def test_a_change_of_parameters_is_refused_and_what_follows_one_is_logged(node: Faulty) -> None:
    node.raises = True
    checks, followers = node._on_set_parameters_callbacks, node._post_set_parameters_callbacks
    for callback in checks:
        answer = called(callback, [])
        assert not answer.successful
        assert FAULT in answer.reason
    for callback in followers:
        assert is_guarded(callback)
        called(callback, [])
    assert checks
    assert bool(followers) == hasattr(node, "core")


def test_a_refusal_carries_the_nearest_names_and_leaves_out_what_was_half_written(node: Faulty) -> None:
    from robot_semantics_interfaces.srv import FindGroups

    from robot_semantics import UnknownNameError

    def half(_request: Any, response: Any) -> Any:
        response.groups = ["half"]
        raise UnknownNameError("group", "arn", ["arm", "hand"])

    service = node.create_service(FindGroups, "half", half)
    answer = called(service.callback, FindGroups.Request(), FindGroups.Response())
    assert not answer.success
    assert not answer.groups
    assert answer.message == "unknown group 'arn'; did you mean 'arm'?"
    assert answer.nearest == ["arm"]


def test_no_node_puts_something_else_in_the_place_of_what_rclpy_keeps(node: Faulty) -> None:
    bare = rclpy.create_node("bare", context=node.context)
    for name, value in vars(bare).items():
        mine = vars(node)[name]
        assert value is None or mine is None or isinstance(mine, type(value)), name
    bare.destroy_node()
    assert node.set_parameters_atomically([Parameter("use_sim_time", value=False)]).successful


def test_parameter_services_are_seen_only_when_the_node_is_active(domain: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    monkeypatch.setattr(nodes, "ParameterService", lambda node: seen.append(node.core.active))
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain, args=[])
    overrides = [Parameter("robot_description", value=ROBOT["robot_description"])]
    node = RobotSemanticsNode(context=context, parameter_overrides=overrides)
    assert not [service for service in node.services if "parameters" in service.srv_name]
    assert seen == [True]
    node.destroy_node()
    context.try_shutdown()


class Yielding:
    """Awaits a future as newer versions of rclpy do: the executor sees the future itself."""

    def __init__(self, future: Future) -> None:
        self._future = future

    def __await__(self) -> Iterator[Future]:
        while not self._future.done():
            yield self._future


@pytest.mark.parametrize("awaitable", [lambda future: future, Yielding], ids=["polled", "yielded"])
def test_a_callback_that_waits_ends_at_a_cleanup_with_what_it_must_still_do(
    ros_domain: int, awaitable: Callable[[Future], Any]
) -> None:
    """A simulator that a request holds goes on: the answer of its service is still taken."""
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=ros_domain)
    node, other = GuardedNode("one", context=context), rclpy.create_node("other", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    executor.add_node(other)
    done: list[str] = []
    never = Future()
    try:
        node.keep_entities()
        group = ReentrantCallbackGroup()
        resume = node.create_client(Trigger, "resume", callback_group=group)

        def answer_resume(_request: Any, response: Any) -> Any:
            done.append("resumed")
            return response

        other.create_service(Trigger, "resume", answer_resume)

        async def hold(_request: Any, response: Any) -> Any:
            try:
                done.append("held")
                await awaitable(never)
            except Exception:  # noqa: BLE001 - a cleanup is no error that a callback may catch
                done.append("caught")
            finally:
                await resume.call_async(Trigger.Request())
                done.append("answered")
            return response

        node.create_service(Trigger, "hold", hold, callback_group=group)
        client = other.create_client(Trigger, "hold")

        def until(condition: Callable[[], Any]) -> None:
            end = time.monotonic() + 20.0
            while not condition():
                assert time.monotonic() < end, done
                executor.spin_once(0.05)

        until(lambda: client.service_is_ready() and resume.service_is_ready())
        answer = client.call_async(Trigger.Request())
        until(lambda: done)
        node.destroy_entities()
        until(answer.done)
        assert not answer.result().success
        assert answer.result().message == "the node is being cleaned up"
        assert done == ["held", "resumed", "answered"]
        until(lambda: not list(node.clients) and "/hold" not in [service.srv_name for service in node.services])
    finally:
        executor.shutdown()
        node.destroy_node()
        other.destroy_node()
        context.shutdown()
