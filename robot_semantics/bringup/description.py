# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""All checks of a robot description: the URDF, its elements for other programs, its SRDFs and its closed loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from robot_semantics.base.diagnostics import NOT_COMPARED, Diagnostics, SourcePlace
from robot_semantics.bringup.control_checks import check_control
from robot_semantics.model.apply_semantics import apply_semantics, check_alone
from robot_semantics.model.declared_names import DeclaredNames, check_names_of, declared_names
from robot_semantics.model.foreign_checks import check_foreign
from robot_semantics.model.resources import PackageResolver, check_files
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.tree import SrdfDocument
from robot_semantics.urdf.control_tree import ControlBlock
from robot_semantics.urdf.tree import UrdfRobot


class CheckedDescription(NamedTuple):
    """A checked robot.

    Attributes:
        robot: the robot with the semantics of its SRDF; None without a valid tree.
        blocks: its ``<ros2_control>`` blocks.
        names: the names of a URDF without a valid tree, and of its SRDF.
    """

    robot: RobotModel | None
    blocks: tuple[ControlBlock, ...] = ()
    names: DeclaredNames | None = None


def report_not_compared(sources: Iterable[str], other: str, diagnostics: Diagnostics, *, names: bool = False) -> None:
    """Report files that were not compared with another file, or only by `names`, because of the errors in it."""
    for source in dict.fromkeys(sources):
        what = "only the names in this file are compared" if names else "this file is not compared"
        message = f"{what} with '{other}', which has errors"
        diagnostics.warning(NOT_COMPARED, message, SourcePlace(source, 1, 1))


def check_description(
    robot: RobotModel | None,
    semantics: Sequence[SrdfDocument],
    diagnostics: Diagnostics,
    semantic_diagnostics: Diagnostics | None = None,
    *,
    resolver: PackageResolver | None = None,
    file: str | None = None,
    urdf: UrdfRobot | None = None,
    implicit_links: bool = False,
) -> CheckedDescription:
    """Report the problems of a URDF and of its SRDFs that their readers do not report.

    Args:
        robot: the URDF's robot; None if it has no valid tree or is unknown.
        semantics: the SRDFs; each is checked with the URDF alone. The loops are checked with the last one.
        diagnostics: gets the problems of the URDF.
        semantic_diagnostics: gets the problems of the SRDFs (default: `diagnostics`).
        resolver: finds the files that the URDF names; without it, they are not checked.
        file: the URDF's own file.
        urdf: the content of a URDF without a valid tree; the names in the SRDFs are compared with it.
        implicit_links: whether joints declare links in it.
    """
    of_srdf = diagnostics if semantic_diagnostics is None else semantic_diagnostics
    if robot is None:
        names = None if urdf is None else declared_names(urdf, implicit_links=implicit_links)
        for semantic in semantics:
            check_alone(semantic, of_srdf)
            if names is not None:
                check_names_of(semantic, names, of_srdf)
                names = names._replace(groups=frozenset(group.name for group in semantic.groups))
            if file is not None:
                report_not_compared([semantic.places.source], file, of_srdf, names=names is not None)
        if urdf is not None and resolver is not None:
            check_files(urdf, resolver, diagnostics, file)
        return CheckedDescription(None, names=names)
    if resolver is not None:
        check_files(robot.urdf, resolver, diagnostics, file)
    check_foreign(robot, diagnostics)
    blocks = check_control(robot, diagnostics)
    complete = robot
    for semantic in semantics:
        complete = apply_semantics(robot, semantic, of_srdf)
    if complete.constraints:
        # Import here: few robots have loops.
        from robot_semantics.kinematics.loop_freedom import check_loops

        check_loops(complete, diagnostics)
    return CheckedDescription(complete, blocks)


class DescriptionChoice(NamedTuple):
    """The robot of the other files of a check, and the URDF of each of its SRDFs, as names of files.

    Attributes:
        urdf: the URDF of the other files; None if it is not certain.
        srdf: the SRDF of the other files; None if it is not certain.
        urdf_by_srdf: the URDF of each SRDF that has one.
    """

    urdf: str | None
    srdf: str | None
    urdf_by_srdf: Mapping[str, str]


def choose_descriptions(
    urdfs: Mapping[str, str],
    srdfs: Mapping[str, str],
    urdf: str | None = None,
    srdf: str | None = None,
    *,
    by_name: bool = False,
) -> DescriptionChoice:
    """Return which of the files of a check belong together; nothing is guessed.

    Args:
        urdfs: the robot name of each URDF.
        srdfs: the robot name of each SRDF.
        urdf: the URDF of all other files (default: the only one).
        srdf: the SRDF of the other files (default: the only one, or the only one with the robot name of the URDF).
        by_name: do not use the defaults. Then, as with several URDFs, an SRDF belongs to the only URDF of its name.
    """
    if not by_name:
        urdf = urdf or _only(urdfs)
        srdf = srdf or _only(srdfs) or _only(file for file, name in srdfs.items() if urdf and name == urdfs.get(urdf))
    if urdf:
        return DescriptionChoice(urdf, srdf, dict.fromkeys([*srdfs, *filter(None, [srdf])], urdf))
    count = Counter(urdfs.values())
    named = {name: file for file, name in urdfs.items() if count[name] == 1}
    return DescriptionChoice(None, srdf, {file: named[name] for file, name in srdfs.items() if name in named})


def _only(files: Iterable[str]) -> str | None:
    found = list(files)
    return found[0] if len(found) == 1 else None


def check_chosen(
    choice: DescriptionChoice,
    robots: Mapping[str, RobotModel | None],
    semantics: Mapping[str, SrdfDocument | None],
    diagnostics: Diagnostics,
    *,
    resolver: PackageResolver | None = None,
    urdfs: Mapping[str, UrdfRobot | None] = MappingProxyType({}),
    implicit_links: bool = False,
) -> CheckedDescription:
    """Check every URDF with its SRDFs, and return the robot of the other files.

    Args:
        choice: which files belong together.
        robots: the robot of each URDF; None if it has no valid tree.
        urdfs: the content of each URDF; None if it is refused.
        implicit_links: as in `check_description`.
        semantics: the tree of each SRDF; None if it is refused.
        diagnostics: gets the problems.
        resolver: as in `check_description`.
    """
    own: dict[str | None, list[SrdfDocument]] = {None: [], **{file: [] for file in robots}}
    # The semantics of the other files come last.
    for file in sorted(semantics, key=lambda file: file == choice.srdf):
        semantic, urdf = semantics[file], choice.urdf_by_srdf.get(file)
        if semantic is not None:
            own[urdf].append(semantic)
    chosen = CheckedDescription(None)
    for own_urdf, trees in own.items():
        robot = robots[own_urdf] if own_urdf else None
        checked = check_description(
            robot,
            trees,
            diagnostics,
            resolver=resolver,
            file=own_urdf,
            urdf=urdfs.get(own_urdf) if own_urdf else None,
            implicit_links=implicit_links,
        )
        if own_urdf and own_urdf == choice.urdf:
            is_certain = choice.srdf is not None and semantics.get(choice.srdf) is not None
            chosen = checked if is_certain or robot is None else checked._replace(robot=robot)
    return chosen
