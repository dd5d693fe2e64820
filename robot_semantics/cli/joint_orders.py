# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics show --order` and `--map`: which number is which joint in other programs."""

from __future__ import annotations

from typing import Any

from robot_semantics.base.foreign_text import shown
from robot_semantics.cli.console import console_for_output, table
from robot_semantics.cli.printing import print_line, print_result
from robot_semantics.kinematics.joint_orders import (
    Component,
    free_position,
    free_velocity,
    has_free_base,
    joint_order,
    ordered_joints,
    permutation,
    position_components,
    velocity_components,
)
from robot_semantics.model.robot_model import JointModel, RobotModel


def show_order(model: RobotModel, name: str, *, as_json: bool) -> None:
    """Print the joints of a robot in the order of a program, with their places in its state vectors."""
    value = order_as_json(model, name)
    if as_json:
        print_result(value)
        return
    order = joint_order(name)
    rows = table("number", "joint", "type", "positions", "velocities", "unit")
    at_q, at_v = (7, 6) if value["base"]["in_vector"] else (0, 0)
    for number, joint in enumerate(ordered_joints(model, order)):
        q, v = position_components(joint, order), velocity_components(joint, order)
        units = " ".join(dict.fromkeys(part.unit for part in q))
        rows.add_row(str(number), shown(joint.name), joint.type.value, _range(at_q, q), _range(at_v, v), units)
        at_q, at_v = at_q + len(q), at_v + len(v)
    console_for_output().print(rows)
    print_line(f"order: {value['rule']}")
    base = value["base"]
    where = "in front of the joints" if base["in_vector"] else "not in the vectors"
    print_line(f"base: {where}; {' '.join(base['position'])}; {' '.join(base['velocity'])}")
    print_line(f"base velocity: linear in the axes of the {base['linear_axes']}, angular of the {base['angular_axes']}")
    for joint_name in value["unsupported"]:
        print_line(f"joint '{joint_name}': the URDF reader of {name} does not have its type")
    if not order.tested:
        print_line(f"source: documentation and reports of users; {name} was not run")


def _range(start: int, parts: list[Component]) -> str:
    return str(start) if len(parts) == 1 else f"{start}-{start + len(parts) - 1}"


def order_as_json(model: RobotModel, name: str) -> dict[str, Any]:
    """Return the joints of a robot in the order of a program as JSON-ready values."""
    order = joint_order(name)
    joints = ordered_joints(model, order)
    free = order.base_in_vector and has_free_base(model)
    parts: tuple[JointModel, ...] = (model.root_joint, *joints) if free else joints
    siblings = "by name" if order.by_name else "as in the file"
    return {
        "order": name,
        "rule": "as in the file" if order.walk == "document" else f"{order.walk}, children of one link {siblings}",
        "tested": order.tested,
        "quaternion": order.quaternion,
        "base": {
            "in_vector": free,
            "position": [part.name for part in free_position("", order)],
            "velocity": [part.name for part in free_velocity("", order)],
            "linear_axes": "base" if order.linear_in_child else "world",
            "angular_axes": "base" if order.angular_in_child else "world",
        },
        "joints": [joint.name for joint in joints],
        "unsupported": [joint.name for joint in joints if joint.type in order.missing],
        "positions": [part._asdict() for joint in parts for part in position_components(joint, order)],
        "velocities": [part._asdict() for joint in parts for part in velocity_components(joint, order)],
    }


def show_map(model: RobotModel, source: str, target: str, *, as_json: bool) -> None:
    """Print the indices that convert a list of joint values from the order of one program to the order of another."""
    numbers = permutation(model, joint_order(source), joint_order(target))
    joints = [joint.name for joint in ordered_joints(model, joint_order(target))]
    if as_json:
        print_result({"from": source, "to": target, "joints": joints, "permutation": numbers})
        return
    rows = table(target, "joint", source)
    for at, (name, number) in enumerate(zip(joints, numbers, strict=True)):
        rows.add_row(str(at), shown(name), str(number))
    console_for_output().print(rows)
    print_line(
        f"values in the order of {target} = [values[i] for i in {numbers}], with values in the order of {source}"
    )
