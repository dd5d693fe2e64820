"""`robot_semantics fk`: the pose of every link in the root link's frame."""

from __future__ import annotations

import argparse
import sys

import numpy as np

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.foreign_text import shown
from robot_semantics.cli import inputs
from robot_semantics.cli.command import Command
from robot_semantics.cli.words import numbers_by_name, pair_of
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.kinematics.joint_space import JointSpace
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import xyz_quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    inputs.add_robot_arguments(parser)
    parser.add_argument(
        "--positions",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=VALUE",
        help="position of a joint [rad or m], or of a variable of a planar or floating one (base/x=1.5); others 0",
    )
    parser.add_argument("--state", metavar="GROUP/STATE", help="start from a named state of the SRDF")
    inputs.add_json_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Compute and print ``T_root_link`` of every link."""
    model = inputs.load(arguments)
    space = JointSpace.of(model)
    q = zero_positions(space, model)
    if arguments.state:
        _set_state(q, space, model, arguments.state)
    values = numbers_by_name(arguments.positions, "--positions", space.index)
    given = {space.index[name]: value for name, value in values.items()}
    for index, value in given.items():
        q[index] = value
    _warn_of_overruled_mimics(q, given, space)
    with np.errstate(over="ignore", invalid="ignore"):
        T_root_link = ForwardKinematics(model).link_poses(q)
    too_far = ~np.isfinite(T_root_link).all(axis=(1, 2))
    if too_far.any():
        raise RobotSemanticsError(f"the pose of link '{model.link_names[too_far.argmax()]}' is beyond 64-bit floats")
    poses = xyz_quat_from_matrix(T_root_link)
    table = dict(zip(model.link_names, poses.tolist(), strict=True))
    if arguments.json:
        inputs.print_json(table)
        return 0
    width = max(len(shown(name)) for name in table)
    print(
        f"{'link':<{width}}  {'x':>10} {'y':>10} {'z':>10}  {'qx':>9} {'qy':>9} {'qz':>9} {'qw':>9}   "
        f"(in {shown(model.root_link)})"
    )
    for name, pose in table.items():
        xyz = " ".join(f"{value:10.6f}" for value in pose[:3])
        quat = " ".join(f"{value:9.6f}" for value in pose[3:])
        print(f"{shown(name):<{width}}  {xyz}  {quat}")
    return 0


def zero_positions(space: JointSpace, model: RobotModel) -> FloatArray:
    """Return (n,) positions that are all zero, quaternions the identity, limits or not."""
    q = np.zeros(space.size)
    for joint in model.joints:
        if joint.position_count == 7:
            q[space.joint_positions[joint.name].stop - 1] = 1.0
    return q


def _set_state(q: FloatArray, space: JointSpace, model: RobotModel, text: str) -> None:
    group, name = pair_of(text, "/", "--state", "GROUP/STATE")
    for joint, values in model.semantics.state(group, name).joints.items():
        q[space.joint_positions[joint]] = values


def _warn_of_overruled_mimics(q: FloatArray, given: dict[int, float], space: JointSpace) -> None:
    followed = space.with_mimics(q)
    for index, value in given.items():
        if abs(followed[index] - value) > 1e-6:
            print(
                f"warning: '{shown(space.names[index])}' mimics another joint, "
                f"which puts it at {followed[index]:.6g}, not {value:.6g}",
                file=sys.stderr,
            )


COMMAND = Command(
    arguments=add_arguments,
    run=run,
    examples=("robot_semantics fk robot.urdf --srdf robot.srdf --state arm/reach --positions lift_joint=0.1",),
)
