# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A robot with its kinematics, groups, collisions and TF messages in one object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache, cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np
import numpy.typing as npt

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import ArrayError, DescriptionError, RobotSemanticsError
from robot_semantics.base.names import frame_name, shown
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.kinematics.joint_space import JointSpace, with_state
from robot_semantics.kinematics.local import LocalTransforms
from robot_semantics.kinematics.loops import close_loops
from robot_semantics.model import loading
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.transforms import invert
from robot_semantics.transforms.arrays import FloatArray, checked_array
from robot_semantics.xml.document_kind import refuse_wrong_kinds

if TYPE_CHECKING:
    from robot_semantics.collision.audit import AuditRow
    from robot_semantics.collision.matrix import CollisionMatrix

P = ParamSpec("P")


class Robot(RobotModel):
    """A robot model with methods for common tasks; create it with `load_robot` or `robot_from_text`.

    Joint positions are arrays ``q`` (..., n) with one number for each of `names` [rad, m]. Leading axes are a batch.
    """

    @classmethod
    def of(cls, model: RobotModel) -> Robot:
        """Return `model` as a `Robot`."""
        return cls(**{field.name: getattr(model, field.name) for field in fields(model)})

    @cached_property
    def kinematics(self) -> ForwardKinematics:
        """The forward kinematics of all links."""
        return ForwardKinematics(self)

    @property
    def space(self) -> JointSpace:
        """The joint space: names, limits and order of the position and velocity variables."""
        return self.kinematics.space

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the n position variables, in the order of q."""
        return self.space.names

    def q(self, *values: str | Mapping[str, npt.ArrayLike], **more: npt.ArrayLike) -> FloatArray:
        """Return joint positions (..., n): the defaults, overwritten by the values in their order.

        Without values these are the default positions: 0, or the middle of limits that exclude 0. A value is

        - a named state, as ``"arm/reach"``, or
        - positions by joint or variable name, as ``{"base/x": 1.0}`` or ``elbow_joint=0.5``: a number or, for a joint
          with k variables, (..., k) [rad, m, quaternion x y z w].

        The passive joints of closed loops follow from the others.

        Raises:
            UnknownNameError: the group, state or joint does not exist; the error has the nearest names.
            ArrayError: a value has the wrong shape or is not finite.
            LoopError, OpenLoopError: the loops of the robot are not determined, or do not close at these positions.
        """
        q = self.space.neutral()
        given_joints: set[str] = set()
        for value in (*values, more):
            if isinstance(value, str):
                state = self.semantics.state_from_path(value)
                q = with_state(self.space, state.group, state.name, q)
            elif not isinstance(value, Mapping):
                raise ArrayError("q", "an array has no names: use it as it is, or robot.with_group_q(...) for a group")
            elif value:
                q = self.space.pack(value, q)
                given_joints |= value.keys()
        return close_loops(self.kinematics.loops, q, given_joints)

    def random_q(self, shape: int | tuple[int, ...] = (), *, seed: int | None = None) -> FloatArray:
        """Return ``(*shape, n)`` random joint positions within the limits; mimic joints follow.

        Args:
            shape: number of configurations, or shape of the batch; by default one configuration.
            seed: the same seed gives the same positions.
        """
        return self.space.random(np.random.default_rng(seed), (shape,) if isinstance(shape, int) else shape)

    def fk(self, q: npt.ArrayLike, link: str, *, relative_to: str | None = None) -> FloatArray:
        """Return (..., 4, 4) poses ``T_root_link`` of a link in the root link [m], or in the link `relative_to`.

        `kinematics.link_poses(q)` has the poses of all links.

        Args:
            q: (..., n) joint positions [rad, m].
            link: name of the link.
            relative_to: name of another link.

        Raises:
            UnknownNameError: the link does not exist; the error has the nearest names.
            ArrayError: `q` has the wrong shape, is not finite, or has a quaternion of zeros.
        """
        if not isinstance(link, str):
            raise ArrayError("link", "the name of a link is needed, as in robot.fk(q, 'tool_frame')")
        links = (self.link(link).name,) if relative_to is None else (self.link(link).name, self.link(relative_to).name)
        poses: FloatArray = self._kinematics_of(links).link_poses(q)
        T_root_link: FloatArray = poses[..., 0, :, :]
        return T_root_link if relative_to is None else invert(poses[..., 1, :, :]) @ T_root_link

    def group_q(self, q: npt.ArrayLike, group: str) -> FloatArray:
        """Return (..., k) positions of the variables of a group, in the order of its `variable_names`, as in MoveIt.

        Raises:
            UnknownNameError: the group does not exist.
            ArrayError: `q` has the wrong shape or is not finite.
        """
        return self.space.checked_positions(q)[..., self._variables_of(group)]

    def with_group_q(self, q: npt.ArrayLike, group: str, positions: npt.ArrayLike) -> FloatArray:
        """Return a copy of `q` (..., n) with the group's variables set to `positions` (..., k); mimic joints follow.

        Raises:
            UnknownNameError: the group does not exist.
            ArrayError: an array has the wrong shape or is not finite.
        """
        variables = self._variables_of(group)
        before, positions_given = self.space.checked_positions(q), checked_array("positions", positions, len(variables))
        try:
            shape = np.broadcast_shapes(before.shape[:-1], positions_given.shape[:-1])
        except ValueError as error:
            raise ArrayError("positions", f"its batch axes do not fit those of q ({error})") from None
        after = np.array(np.broadcast_to(before, (*shape, self.space.size)))
        after[..., variables] = positions_given
        return self.space.with_mimics(after)

    def generate_collisions(
        self,
        *,
        samples: int = 10_000,
        seed: int = 0,
        jobs: int = 1,
        resolver: PackageResolver | None = None,
        diagnostics: Diagnostics | None = None,
    ) -> CollisionMatrix:
        """Sample configurations and return the pairs of links that never, always or sometimes collide.

        Args:
            samples: number of random configurations.
            seed: the same seed gives the same result, for any `jobs`.
            jobs: number of processes.
            resolver: finds the packages of the meshes; by default in the usual places.
            diagnostics: receives warnings about meshes.

        Raises:
            DescriptionError: a collision geometry cannot be used.
            MissingExtraError: the collision libraries are not installed.
        """
        from robot_semantics.collision.matrix import Settings, generate_matrix
        from robot_semantics.collision.pieces import pieces_of

        own = Diagnostics() if diagnostics is None else diagnostics
        pieces = pieces_of(self, resolver or PackageResolver(), own)
        own.raise_if_failed()
        return generate_matrix(self, pieces, Settings(samples=samples, seed=seed, jobs=jobs))

    def audit_collisions(self, matrix: CollisionMatrix) -> tuple[AuditRow, ...]:
        """Return the problems of the SRDF's collision pairs by the result of `generate_collisions`, worst first."""
        from robot_semantics.collision.audit import audit

        return audit(self, matrix)

    def tf_message(
        self, q: npt.ArrayLike, time_ns: int, types: Mapping[str, Any] | None = None, *, frame_prefix: str = ""
    ) -> Any:
        """Return a ``tf2_msgs/msg/TFMessage`` with the transforms of all joints, including fixed joints.

        It includes the virtual joint if the SRDF has one.

        Args:
            q: (n,) joint positions [rad, m].
            time_ns: stamp [ns].
            types: message classes by name, as ``typestore.types`` of rosbags; by default the classes of rclpy.
            frame_prefix: prefix of the names of the robot's links.

        Raises:
            ArrayError: `q` has the wrong shape or is not finite, or the stamp is not an integer or beyond ROS's 32 bits
                of seconds.
        """
        from robot_semantics.convert.messages import MessageMaker, Transform

        if types is None:
            from robot_semantics.ros.messages.maker import MAKER

            maker = MAKER
        else:
            maker = MessageMaker(types)
        frame_prefix = frame_name(frame_prefix)
        transforms = self._local.transforms(q)
        if transforms.ndim != 2:
            raise ArrayError("q", f"expected shape ({self.space.size},), got {np.shape(q)}")
        return maker.transforms(
            time_ns,
            [
                Transform(
                    joint.parent_link if joint.virtual else frame_prefix + joint.parent_link,
                    frame_prefix + joint.child_link,
                    row,
                )
                for joint, row in zip(self._local.joints, transforms, strict=True)
                if self.has_virtual_joint or joint is not self.root_joint
            ],
        )

    @cached_property
    def _local(self) -> LocalTransforms:
        return LocalTransforms(self)

    @cached_property
    def _kinematics_of(self) -> Any:
        return cache(lambda links: ForwardKinematics(self, links))

    def _variables_of(self, group: str) -> list[int]:
        return [self.space.index[name] for name in self.semantics.group(group).variable_names]


def _as_robot(load: Callable[P, RobotModel], explain: Callable[P, None]) -> Callable[P, Robot]:
    """Return `load` with the same arguments and docstring, but a `Robot` as its result; `explain` raises mix-ups."""

    @wraps(load)
    def loaded(*args: P.args, **options: P.kwargs) -> Robot:
        try:
            return Robot.of(load(*args, **options))
        except DescriptionError:
            explain(*args, **options)
            raise

    return loaded


def _explain_files(urdf_path: str | Path, srdf_path: str | Path | None = None, **_: Any) -> None:
    refuse_wrong_kinds(urdf_path, srdf_path)


def _explain_texts(urdf_text: str, srdf_text: str | None = None, **_: Any) -> None:
    for text in (urdf_text, srdf_text or "<"):
        if "<" not in text:
            raise RobotSemanticsError(f"'{shown(text)}' is not the text of a document: load_robot(...) reads files")


load_robot = _as_robot(loading.load_robot, _explain_files)
robot_from_text = _as_robot(loading.robot_from_text, _explain_texts)
