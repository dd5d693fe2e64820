# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Which of a state's models is which robot."""

from __future__ import annotations

import time

from robot_semantics import RobotModel
from robot_semantics.model.loading import robot_from_text
from robot_semantics.usdf.check import match_models
from robot_semantics.usdf.identity import model_digest
from robot_semantics.usdf.world_state import JointState, ModelState

URDF = """<robot name="{name}"><link name="a"/><link name="b"/><joint name="{joint}" type="continuous">
  <parent link="a"/><child link="b"/></joint></robot>"""


def robot(name: str, joint: str = "wheel") -> RobotModel:
    return robot_from_text(URDF.format(name=name, joint=joint))


CAR, CRANE = robot("car"), robot("crane", "hook")
ROBOTS = {"car": CAR, "crane": CRANE}


def test_a_name_goes_before_a_hash() -> None:
    models = [ModelState("car", urdf_sha256=model_digest(CRANE)), ModelState("other")]
    assert match_models(models, ROBOTS).robot_of == {"car": "car"}


def test_a_hash_matches_where_it_is_one_of_each() -> None:
    one = ModelState("x", urdf_sha256=model_digest(CRANE))
    assert match_models([one], ROBOTS).robot_of == {"x": "crane"}
    assert not match_models([one, ModelState("y", urdf_sha256=model_digest(CRANE))], ROBOTS).robot_of
    assert not match_models([one], {"left": CRANE, "right": CRANE}).robot_of


def test_a_robot_that_is_there_by_name_is_not_matched_a_second_time() -> None:
    models = [ModelState("x", urdf_sha256=model_digest(CAR)), ModelState("car")]
    found = match_models(models, ROBOTS)
    assert (found.robot_of, found.likely) == ({"car": "car"}, {})


def test_the_same_joints_or_such_a_name_are_likely_the_same_robot() -> None:
    hook = ModelState("thing", joints=(JointState("hook", (0.0,)),))
    assert match_models([hook], ROBOTS).likely == {"thing": "crane"}
    assert match_models([ModelState("my_car_1")], ROBOTS).likely == {"my_car_1": "car"}
    assert match_models([ModelState("block")], ROBOTS).likely == {}
    # A model with unknown joints is another robot, with any name.
    assert match_models([ModelState("car_2", joints=(JointState("door"),))], ROBOTS).likely == {}


def test_many_unknown_models_take_linear_time() -> None:
    def seconds(count: int) -> float:
        models = [ModelState(f"block {number}") for number in range(count)]
        before = time.process_time()
        match_models(models, ROBOTS)
        return time.process_time() - before

    # Eight times as many models take 64 times as long if each is compared with all others.
    assert min(seconds(8_000) for _ in range(3)) < 24 * min(seconds(1_000) for _ in range(3))
