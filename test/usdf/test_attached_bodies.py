# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""What MoveIt says is attached to a link, a world state says is carried by it, and back."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from robot_semantics.base.errors import ArrayError
from robot_semantics.convert.attached_bodies import attached_of, models_of_attached
from robot_semantics.usdf.frames import resolve
from robot_semantics.usdf.poses import pose_from_quaternion
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.world_state import LinkState, ModelState, WorldState
from robot_semantics.usdf.writer import write_world


def message() -> Any:
    """Return an empty message with the fields of moveit_msgs/AttachedCollisionObject that say where a body is."""
    pose = SimpleNamespace(
        position=SimpleNamespace(x=0.0, y=0.0, z=0.0), orientation=SimpleNamespace(x=0.0, y=0.0, z=0.0, w=1.0)
    )
    return SimpleNamespace(
        link_name="", object=SimpleNamespace(id="", header=SimpleNamespace(frame_id=""), pose=pose), touch_links=[]
    )


def cup(frame: str = "hand") -> Any:
    body = message()
    body.link_name, body.object.id, body.object.header.frame_id = "hand", "cup", frame
    body.object.pose.position.z = 0.1
    turn = body.object.pose.orientation
    turn.z, turn.w = 0.6, 0.8
    return body


def test_an_attached_body_is_carried_by_its_link_and_is_the_same_message_again() -> None:
    hand = LinkState("hand", pose_from_quaternion((1.0, 0.0, 0.0), (0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5))))
    arm = ModelState("arm", pose=pose_from_quaternion((0.0, 2.0, 0.0), (0.0, 0.0, 0.0, 1.0)), links=(hand,))
    (carried,) = models_of_attached([cup()], "arm")
    state = parse_world(write_world(WorldState(models=(arm, carried))))
    # The hand's z is the world's x after a quarter turn about y.
    np.testing.assert_allclose(resolve(state).pose("cup")[:3, 3], (1.1, 2.0, 0.0), atol=1e-12)
    assert attached_of(state, "arm", message) == [cup()]
    assert attached_of(state, "leg", message) == []


def test_a_body_whose_pose_is_in_another_frame_or_none_is_refused() -> None:
    with pytest.raises(ArrayError, match="its pose is in 'world', not in its link 'hand'"):
        models_of_attached([cup("world")], "arm")
    flat = cup()
    flat.object.pose.orientation = SimpleNamespace(x=0.0, y=0.0, z=0.0, w=0.0)
    with pytest.raises(ArrayError, match="all zeros"):
        models_of_attached([flat], "arm")
    bare = WorldState(models=(ModelState("arm"), ModelState("cup", parent="arm", parent_link="hand")))
    with pytest.raises(ArrayError, match=r"'cup'.*not stated"):
        attached_of(bare, "arm", message)
