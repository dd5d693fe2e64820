# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Files as a scene: descriptions, semantics, world states, series and recordings, recognized by their content."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from robot_semantics.base.diagnostic import SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError, RobotSemanticsError, UnknownNameError
from robot_semantics.base.nanoseconds import float_seconds, short_seconds
from robot_semantics.base.record import record
from robot_semantics.kinematics.motions import JointMotion, joint_motion
from robot_semantics.model.loading import RobotOptions, robot_from_text
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.recording.bags.source import is_recording
from robot_semantics.recording.series.formats import SUFFIXES
from robot_semantics.recording.series.input import load_states
from robot_semantics.transforms import invert, xyz_quat_from_matrix
from robot_semantics.transforms.arrays import FloatArray
from robot_semantics.usdf.apply import AppliedState, Base, apply_model_state, resolve_with
from robot_semantics.usdf.descriptions import RobotSources, robots_for
from robot_semantics.usdf.frames import ResolvedWorld
from robot_semantics.usdf.reader import read_world
from robot_semantics.usdf.validity import element_path
from robot_semantics.usdf.world_state import ModelState, WorldState
from robot_semantics.viewer.link_surfaces import Kind, LinkSurface, link_surfaces
from robot_semantics.viewer.scene import Actor, Moment, Scene, Stance, alone
from robot_semantics.xml import document_kind
from robot_semantics.xml.other_formats import other_format
from robot_semantics.xml.reader import read_xml

MOST_MOMENTS = 300
"""Largest number of states of a recording that are shown, evenly over its length."""

SHORTEST_STEP_S = 0.02


class FileKind(enum.Enum):
    """Kind of a file."""

    URDF = "URDF"
    SRDF = "SRDF"
    USDF = "USDF"
    SERIES = "series"
    BAG = "recording"


class DescriptionPaths(NamedTuple):
    """The files of the robot of a model, and how they are read."""

    name: str
    urdf: str
    srdf: str | None
    options: RobotOptions


@record(frozen=True)
class Opening:
    """How files are opened.

    Attributes:
        kinds: visuals, collision geometry, or both, for a page with a choice.
        strict: refuse descriptions with any problem.
        options: how the given URDF and SRDF are read; files named in a world state are never expanded.
        robots: the files of the robots of models.
    """

    kinds: tuple[Kind, ...] = ("visual",)
    strict: bool = False
    options: RobotOptions = field(default_factory=RobotOptions)
    robots: tuple[DescriptionPaths, ...] = ()


def viewed_kind(path: Path) -> FileKind:
    """Return the kind of a file or folder, by its content and not by its name.

    Raises:
        RobotSemanticsError: it cannot be read, or its kind is unknown.
    """
    if is_recording(path):
        return FileKind.BAG
    if path.is_dir() or SUFFIXES.get(path.suffix.lower(), "usdf") != "usdf":
        return FileKind.SERIES
    try:
        document = read_xml(path, forgiving=True)
    except DescriptionError as error:
        first = error.diagnostics[0]
        raise RobotSemanticsError(f"{first.place}: neither URDF, SRDF nor USDF: {first.sentence}") from None
    kind = document_kind.document_kind(document.root, str(path))
    if kind is None:
        what = other_format(document.places.text, str(path))
        raise RobotSemanticsError(f"{path}: neither URDF, SRDF nor USDF{what and f': {what}'}")
    return FileKind[kind.name]


def open_files(paths: Sequence[Path], opening: Opening, diagnostics: Diagnostics) -> Scene:
    """Return the scene of the files: a robot with its semantics, several robots over each other, or worlds, one moment
    for each state.

    A URDF beside world states is the robot of the model with its name, or of the only model.

    Raises:
        RobotSemanticsError: a file has nothing to show, or there are two descriptions.
        DescriptionError: a description gives no tree, or a state has errors.
        SeriesError: a series cannot be read.
        MissingExtraError: there are meshes, and trimesh is not installed.
        OSError: a file cannot be read.
    """
    kinds = [(viewed_kind(path), path) for path in paths]
    if _are_robots(kinds, opening):
        return _together(paths, opening, diagnostics)
    files, opening = _given(kinds, opening)
    urdf, srdf = (Path(file) if file else None for file in (files.urdf, files.srdf))
    if urdf is None and files.options.loops is not None:
        raise RobotSemanticsError("--loops needs the URDF of the robot with these loops")
    robot = None if urdf is None else _robot(files, opening.strict, opening.options.resolver(), diagnostics)
    worlds = [source for kind, path in kinds for source in _sources(kind, path, files, opening, diagnostics)]
    actors = _Actors(opening, diagnostics, robot, urdf, srdf)
    states = [state for source in worlds for state in source.states]
    for given in opening.robots:
        known = [model.name for state in states for model in state.models]
        if given.name not in known:
            raise UnknownNameError("model", given.name, known)
        actors.give(given)
    if worlds:
        return _worlds(worlds, actors, diagnostics)
    if robot is None or urdf is None:
        raise RobotSemanticsError(f"{srdf}: an SRDF has nothing to show without its URDF: give both")
    return alone(actors.of(robot, None, urdf))


def _are_robots(kinds: Sequence[tuple[FileKind, Path]], opening: Opening) -> bool:
    """Return True if the files are several URDFs and nothing else."""
    return len(kinds) > 1 and {kind for kind, _ in kinds} == {FileKind.URDF} and not opening.robots


def _together(paths: Sequence[Path], opening: Opening, diagnostics: Diagnostics) -> Scene:
    """Return robots without semantics at one place; robots of one name get the names of their files."""
    if opening.options.loops is not None:
        raise RobotSemanticsError("--loops needs one URDF: the robot with these loops")
    resolver = opening.options.resolver()
    files = [DescriptionPaths("", str(path), None, opening.options) for path in paths]
    robots = [_robot(of, opening.strict, resolver, diagnostics) for of in files]
    names = [robot.name for robot in robots]
    if len({*names}) < len(names):
        names = [path.stem for path in paths]
    if len({*names}) < len(names):
        names = [str(path) for path in paths]
    scenes = []
    for name, robot, path in zip(names, robots, paths, strict=True):
        actor = _Actors(opening, diagnostics, robot, path, None).of(robot, None, path)
        scenes.append(alone(replace(actor, name=name)))
    stances = {name: stance for scene in scenes for name, stance in scene.moments[0].stances.items()}
    if len(stances) < len(paths):
        raise RobotSemanticsError(f"{paths[-1]}: this file is given twice")
    title = " and ".join(names)
    return Scene(title, tuple(actor for scene in scenes for actor in scene.actors), (Moment("", stances),))


def _sources(
    kind: FileKind, path: Path, files: DescriptionPaths, opening: Opening, diagnostics: Diagnostics
) -> Iterator[_OpenedFile]:
    """Yield the states of a file; none for a description. `files`: the files of the robot of a recording."""
    if kind is FileKind.USDF:
        yield _OpenedFile(path, (read_world(path, diagnostics),), {})
    elif kind is FileKind.SERIES:
        yield _loaded(path, opening.options, diagnostics)
    elif kind is FileKind.BAG:
        yield _recorded(path, files, diagnostics)


def _given(kinds: Sequence[tuple[FileKind, Path]], opening: Opening) -> tuple[DescriptionPaths, Opening]:
    """Return the files of the robot without a name, and the other options.

    Beside one recording alone, the only robot with a name is this robot: the name may be that of its URDF.
    """
    urdf, srdf = (_only(kind, kinds) for kind in (FileKind.URDF, FileKind.SRDF))
    if urdf is None and len(opening.robots) == 1 and opening.robots[0].options.loops is None:
        # Loops without a name are of the only robot.
        robot = opening.robots[0]._replace(options=opening.options)
        opening = replace(opening, robots=(robot,), options=replace(opening.options, loops=None))
    if len(opening.robots) == 1 and [kind for kind, _ in kinds] == [FileKind.BAG]:
        return opening.robots[0], replace(opening, robots=())
    return DescriptionPaths("", str(urdf or ""), None if srdf is None else str(srdf), opening.options), opening


def _robot(given: DescriptionPaths, strict: bool, resolver: PackageResolver, diagnostics: Diagnostics) -> RobotModel:
    """Return the robot of the given files."""
    found = Diagnostics()
    robot = given.options.load(given.urdf, given.srdf, resolver=resolver, diagnostics=found)
    if strict:
        found.raise_if_failed(strict=True)
    diagnostics.extend(found)
    return robot


class _OpenedFile(NamedTuple):
    """World states to show.

    Attributes:
        path: the file to which names of robot files are relative.
        states: in the order in which they are shown.
        robots: the robots whose descriptions come with the states, by model.
    """

    path: Path
    states: Sequence[WorldState]
    robots: Mapping[str, RobotModel]


def _recorded(path: Path, files: DescriptionPaths, problems: Diagnostics) -> _OpenedFile:
    """Return states of a recording, evenly over its length; `files`: those of its robot, with its name in options.

    Raises:
        MissingExtraError: the libraries that read recordings are not installed.
        RobotSemanticsError: it cannot be read at all, or it has nothing to show.
        OSError: it cannot be read.
    """
    # Only recordings need this extra.
    from robot_semantics.recording.notebook import read_requested
    from robot_semantics.recording.read.plan import RobotRequest
    from robot_semantics.recording.sample.world import Sampling

    robot = RobotRequest(
        urdf=Path(files.urdf) if files.urdf else None,
        srdf=Path(files.srdf) if files.srdf else None,
        options=files.options,
        option_names=(files.name,) if files.name else (),
    )
    world = read_requested([path], [robot], Sampling())
    step_s = max(float_seconds(world.end_ns - world.start_ns) / MOST_MOMENTS, SHORTEST_STEP_S)
    series = world.series(every=f"{step_s:.9f}")
    world.report_gaps(series)
    problems.extend_new(world.problems)
    robots = {robot.name: robot.model for robot in world.recording.robots if robot.model is not None}
    return _OpenedFile(path, tuple(series.states()), robots)


def _loaded(path: Path, options: RobotOptions, problems: Diagnostics) -> _OpenedFile:
    """Return the states of a series in the order of time."""
    loaded = load_states([path], problems)
    # Description files are read from their own folder, because their meshes may be beside them.
    inside = {
        m.name for state in loaded.states for m in state.models if m.description is None and m.name in loaded.urdf
    }
    robots: dict[str, RobotModel] = {}
    for name in sorted(name for name in inside if loaded.urdf[name]):
        texts = loaded.urdf[name], loaded.srdf.get(name)
        try:
            robots[name] = robot_from_text(
                *texts, strict=False, implicit_links=options.implicit_links, diagnostics=problems
            )
        except DescriptionError as error:
            problems.extend(error.diagnostics)
    return _OpenedFile(path / "states" if path.is_dir() else path, loaded.states, robots)


def _only(kind: FileKind, kinds: Sequence[tuple[FileKind, Path]]) -> Path | None:
    found = [path for of_path, path in kinds if of_path is kind]
    if len(found) > 1:
        raise RobotSemanticsError(f"{found[1]}: there is another {kind.value}, {found[0]}: give one")
    return found[0] if found else None


class _Actors:
    """The robots of worlds by their models' names; the surfaces of each robot are read once.

    Attributes:
        by_name: the known robots.
        said: models and items whose difference from the state was already reported.
    """

    def __init__(
        self, opening: Opening, diagnostics: Diagnostics, robot: RobotModel | None, urdf: Path | None, srdf: Path | None
    ) -> None:
        self._opening, self._diagnostics = opening, diagnostics
        self._robot, self._urdf, self._srdf = robot, urdf, srdf
        self._resolver = opening.options.resolver()
        self._surfaces: dict[int, tuple[LinkSurface, ...]] = {}
        self._named: dict[str, RobotModel] = {}
        self._files: dict[int, tuple[Path | None, Path | None]] = {} if robot is None else {id(robot): (urdf, srdf)}
        self.by_name: dict[str, Actor] = {}
        self.reported_models: set[str] = set()

    def give(self, given: DescriptionPaths) -> None:
        """Read the robot of a model."""
        robot = _robot(given, self._opening.strict, self._resolver, self._diagnostics)
        srdf = None if given.srdf is None else Path(given.srdf)
        self._named[given.name], self._files[id(robot)] = robot, (Path(given.urdf), srdf)

    def take(self, state: WorldState, source: _OpenedFile) -> None:
        """Add the models of a state that are not known yet."""
        path = source.path
        models = [model for model in state.models if model.name not in self.by_name]
        if not models:
            return
        find = partial(self._resolver.resolve, relative_to=path)
        given = () if self._robot is None else (self._robot,)
        files = RobotSources(given, find, self._opening.options, source.robots, self._named)
        known = robots_for(state, files, diagnostics=self._diagnostics)
        for model in models:
            robot = known.get(model.name)
            if robot is not None:
                self.by_name[model.name] = self.of(robot, model, path)
            elif model.description is None and model.name not in self.reported_models:
                # A description that cannot be used already has a message.
                self.reported_models.add(model.name)
                message = f"model '{model.name}' is shown only as a frame: its description is not known"
                self._diagnostics.warning("not-shown", message, SourcePlace(str(path), path=element_path(model)))

    def of(self, robot: RobotModel, model: ModelState | None, path: Path) -> Actor:
        """Return a robot as the model of a state in the file `path`, or alone."""
        urdf, srdf = self._files.get(id(robot), (self._urdf, self._srdf))
        stated = model.description if model is not None else None
        source = urdf if id(robot) in self._files or stated is None else self._resolver.resolve(stated, path)
        if id(robot) not in self._surfaces:
            self._surfaces[id(robot)] = link_surfaces(
                robot, self._resolver, source, self._diagnostics, kinds=self._opening.kinds
            )
        files = [None if file is None else str(file) for file in (urdf, srdf)]
        if model is None:
            return Actor(robot.name, robot, self._surfaces[id(robot)], "world", *files)
        named = model.description or files[0], model.semantic or files[1]
        return Actor(model.name, robot, self._surfaces[id(robot)], model.parent, *named)


def _worlds(sources: Sequence[_OpenedFile], actors: _Actors, diagnostics: Diagnostics) -> Scene:
    first = sources[0].path
    moments = []
    for source in sources:
        for state in source.states:
            actors.take(state, source)
            moments.append(moment_of(source.path, state, actors.by_name, diagnostics, actors.reported_models))
    if not moments:
        raise RobotSemanticsError(f"{first}: the series is empty")
    if not actors.by_name and not any(moment.frames for moment in moments):
        raise RobotSemanticsError(
            f"{first}: the descriptions of its models are not known: give the URDF, or name it in rs:description"
        )
    name = next(state.name for source in sources for state in source.states)
    return Scene(name or first.stem, tuple(actors.by_name.values()), tuple(moments))


def moment_of(
    path: Path, state: WorldState, actors: Mapping[str, Actor], diagnostics: Diagnostics, noted: set[str]
) -> Moment:
    """Return a state of `path` as a moment. Each difference from the state gives one message; `noted` has the names
    that were reported.
    """
    world = resolve_with(state, robots={name: actor.model for name, actor in actors.items()})
    stances: dict[str, Stance] = {}
    parents: dict[str, FloatArray] = {}
    for model in state.models:
        actor = actors.get(model.name)
        if actor is None:
            continue
        stances[model.name], applied = _stance(actor, model, world)
        place = SourcePlace(str(path), path=element_path(model))
        for item in applied.items:
            if item.subject not in noted and (item.derived or not item.done):
                noted.add(item.subject)
                tell = diagnostics.note if item.done else diagnostics.warning
                tell("derived" if item.done else "not-shown", str(item), place)
        parents[model.name] = world.pose(model.parent)
    label = path.name if state.time_ns is None else short_seconds(state.time_ns)
    frames = {frame.name: world.pose(frame.name) for frame in state.frames}
    frames |= {model.name: world.pose(model.name) for model in state.models if model.name not in actors}
    wrenches = {
        model.name: {link.name: link.wrench for link in model.links if link.wrench is not None}
        for model in state.models
    }
    return Moment(label, stances, state.time_ns, frames, parents, {name: of for name, of in wrenches.items() if of})


def _stance(actor: Actor, model: ModelState, world: ResolvedWorld) -> tuple[Stance, AppliedState]:
    """Return the stance of a robot: the root link has the stated pose, and the virtual joint the nearest possible
    position.
    """
    base = Base.of(actor.model)
    # A picture does not need a frame without a stated pose.
    frame = base.frame if base.frame in world.index else model.parent
    applied = apply_model_state(model, world, actor.model, base=replace(base, frame=frame, placeable=True))
    q = applied.positions
    if base.joint.position_count and applied.base_positions is None:
        nearest = joint_motion(base.joint, xyz_quat_from_matrix(world.pose(model.name, frame)), None)
        if isinstance(nearest, JointMotion):
            q[actor.kinematics.space.positions_of(base.joint)] = nearest.positions
    return Stance(q, world.pose(model.name) @ invert(actor.kinematics.T_parent_root(q))), applied
