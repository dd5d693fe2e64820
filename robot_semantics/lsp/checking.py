# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The checks of documents in memory: the problems of each text, and the robots that the other answers need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from robot_semantics.base.diagnostics import Diagnostic, Diagnostics, SourcePlace
from robot_semantics.base.errors import DescriptionError
from robot_semantics.bringup.checking import check_sections
from robot_semantics.bringup.description import CheckedDescription, check_description
from robot_semantics.lsp.document import Document
from robot_semantics.lsp.workspace import ENDINGS, Workspace
from robot_semantics.model.resolve import resolve_urdf
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.reader import read_semantic
from robot_semantics.srdf.tree import SrdfDocument
from robot_semantics.state.check import check_world_file
from robot_semantics.urdf.reader import read_robot
from robot_semantics.usdf.table import USDF
from robot_semantics.xml.document_kind import DocumentKind, report_unknown_root
from robot_semantics.xml.reader import XmlDocument
from robot_semantics.xml.xacro import expand_xacro
from robot_semantics.xml.xacro_options import XacroOptions


class Checked(NamedTuple):
    """The result of a check, and what it used: the check is made again if an input has changed."""

    inputs: Sequence[object]
    found: CheckedDescription
    problems: tuple[Diagnostic, ...]
    semantic_problems: tuple[Diagnostic, ...]


class Checker:
    """Checks of the documents of a workspace; a text is checked again only if it or its robot has changed."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._resolver = PackageResolver(workspace.settings.package_path)
        self._checked: dict[tuple[str, ...], Checked] = {}
        self._expanded: dict[str, tuple[str, XmlDocument | tuple[Diagnostic, ...]]] = {}
        self._last: dict[str, RobotModel] = {}
        self._generation = 0

    # --- xacro

    def needs_expansion(self, document: Document) -> bool:
        """Return True for a saved xacro that may be expanded and is not yet."""
        if not document.is_xacro or not self.workspace.may_expand(document) or self._expansion(document) is not None:
            return False
        saved = self.workspace.saved(document.path)
        return saved is not None and saved.text == document.text

    def expand(self, document: Document) -> None:
        """Expand a xacro file; its robot is used from now on. This runs what is in the file, in another process."""
        generation = self._generation
        try:
            found: XmlDocument | tuple[Diagnostic, ...] = expand_xacro(
                document.path,
                XacroOptions(expand=True),
                lambda name: str(self._resolver.package(name, document.path)),
            )
        except DescriptionError as error:
            found = error.diagnostics
        # A file may have changed since the start.
        if generation == self._generation:
            self._expanded[document.path] = (document.text, found)
            self._checked.clear()

    def forget(self) -> None:
        """Check everything again: a file that a document names may have changed."""
        self._generation += 1
        self._checked.clear()
        self._expanded.clear()

    def _expansion(self, document: Document) -> XmlDocument | tuple[Diagnostic, ...] | None:
        text, found = self._expanded.get(document.path, (None, None))
        return found if text == document.text else None

    def _source(self, document: Document) -> XmlDocument | tuple[Diagnostic, ...] | None:
        """Return the document to read, or the problems that refuse it; None for a xacro that is not expanded."""
        if document.is_xacro:
            return self._expansion(document)
        return document.parsed if isinstance(document.parsed, tuple) else document.parsed.document

    # --- problems

    def problems(self, document: Document) -> tuple[Diagnostic, ...]:
        """Return every problem of a document, checked with its robot."""
        if document.is_yaml:
            return self._yaml(document)
        if isinstance(document.parsed, tuple):
            return document.parsed
        if document.kind is DocumentKind.URDF:
            return (*self._urdf(document).problems, *self._with_semantics(document).problems)
        if document.kind is DocumentKind.SRDF:
            urdf, reason = self.workspace.urdf_of(document, document.robot_name)
            return (*self._description(urdf, document).semantic_problems, *_note(document, reason))
        if document.kind is DocumentKind.USDF:
            return self._world(document)
        found = Diagnostics()
        if Path(document.path).suffix in ENDINGS:
            report_unknown_root(document.parsed.document, found)
        return tuple(found)

    def robot(self, document: Document) -> RobotModel | None:
        """Return the robot of a document; if its text has no valid tree at the moment, the last one that had one."""
        found = self.workspace.robot_of(document)
        if found.urdf is None:
            return None
        robot = self._with_semantics(found.urdf).found.robot
        if robot is not None:
            self._last[found.urdf.path] = robot
        return robot or self._last.get(found.urdf.path)

    def _with_semantics(self, urdf: Document) -> Checked:
        """Return the check of a URDF with its SRDF, as the texts are at the moment."""
        return self._description(urdf, self.workspace.robot_of(urdf).srdf)

    def _once(
        self, check: Callable[[Diagnostics, Diagnostics], CheckedDescription], inputs: Sequence[object], *key: str
    ) -> Checked:
        """Return the result of a check; `key` has its name and its documents."""
        known = self._checked.get(key)
        if known is not None and list(map(id, known.inputs)) == list(map(id, inputs)):
            return known
        diagnostics, of_srdf, found = Diagnostics(), Diagnostics(), CheckedDescription(None)
        try:
            found = check(diagnostics, of_srdf)
        except DescriptionError as error:
            diagnostics.extend_new(error.diagnostics)
        self._checked[key] = checked = Checked(inputs, found, tuple(diagnostics), tuple(of_srdf))
        return checked

    def _urdf(self, document: Document) -> Checked:
        """Read a URDF."""

        def check(diagnostics: Diagnostics, _: Diagnostics) -> CheckedDescription:
            source = self._source(document)
            if not isinstance(source, XmlDocument):
                diagnostics.extend(source or ())
                return CheckedDescription(None)
            if document.is_xacro and source.root.find("link") is None:
                # A file with macros only.
                return CheckedDescription(None)
            return CheckedDescription(resolve_urdf(read_robot(source, diagnostics), diagnostics))

        return self._once(check, [document], "urdf", document.path)

    def _description(self, urdf: Document | None, srdf: Document | None) -> Checked:
        """Check a URDF and an SRDF together."""
        robot = None if urdf is None else self._urdf(urdf).found.robot
        file = "" if urdf is None else urdf.path

        def check(diagnostics: Diagnostics, of_srdf: Diagnostics) -> CheckedDescription:
            semantics = [] if srdf is None else self._semantic(srdf, of_srdf)
            return check_description(robot, semantics, diagnostics, of_srdf, resolver=self._resolver, file=file)

        return self._once(check, [robot, srdf], "description", file, "" if srdf is None else srdf.path)

    def _semantic(self, document: Document, diagnostics: Diagnostics) -> list[SrdfDocument]:
        """Return the tree of an SRDF; an empty list if it is refused."""
        try:
            source = self._source(document)
            if isinstance(source, XmlDocument):
                return [read_semantic(source, diagnostics)]
            diagnostics.extend(source or ())
        except DescriptionError as error:
            diagnostics.extend_new(error.diagnostics)
        return []

    def _world(self, document: Document) -> tuple[Diagnostic, ...]:
        found = self.workspace.robots_of_models(document)
        robots = {name: self._with_semantics(urdf).found.robot for name, (urdf, _) in found.items() if urdf is not None}
        named = {name: robot for name, robot in robots.items() if robot is not None}
        # The settings say that their robot is in the world.
        given = next(iter(named.values()), None) if self.workspace.settings.urdf else None

        def check(diagnostics: Diagnostics, _: Diagnostics) -> CheckedDescription:
            path = Path(document.path)
            find = partial(self._resolver.resolve, relative_to=path)
            by_name = {} if given is not None else named
            check_world_file(path, diagnostics, text=document.data, robot=given, named=by_name, find=find)
            return CheckedDescription(None)

        problems = self._once(check, [document, *map(robots.get, found)], "world", document.path).problems
        models = () if document.xml is None else document.xml.root.iterchildren("model_state")
        described = {(model.get("name") or "").strip() for model in models if model.get(USDF.key("rs:description"))}
        reasons = (reason for name, (_, reason) in found.items() if name not in described)
        return (*problems, *(note for reason in dict.fromkeys(reasons) for note in _note(document, reason)))

    def _yaml(self, document: Document) -> tuple[Diagnostic, ...]:
        """Return the problems of a YAML file, checked together with the others of its package."""
        own = document.sections
        if not own.sections:
            return own.problems
        urdf, _ = self.workspace.robot_of(document)
        robot, blocks = CheckedDescription(None) if urdf is None else self._with_semantics(urdf).found
        package = self.workspace.package_of(document.path)
        others = [each for each in self.workspace.documents() if each.is_yaml and each is not document]
        together = [each for each in others if self.workspace.package_of(each.path) == package]

        def check(diagnostics: Diagnostics, _: Diagnostics) -> CheckedDescription:
            sections = [section for each in (document, *together) for section in each.sections.sections]
            check_sections(sections, robot, blocks, diagnostics)
            return CheckedDescription(None)

        found = self._once(check, [document, robot, *together], "yaml", document.path).problems
        note = () if robot is not None else _note(document, "the robot of this file is unknown")
        return (*own.problems, *(problem for problem in found if problem.place.source == document.path), *note)


def _note(document: Document, reason: str) -> tuple[Diagnostic, ...]:
    """Return the note that names of links and joints are not checked, for a reason."""
    found = Diagnostics()
    if reason:
        place = SourcePlace(document.path, 1, 1) if document.xml is None else document.xml.places.place(0)
        found.note("unknown-robot", f"{reason}: names of links and joints are not checked", place)
    return tuple(found)
