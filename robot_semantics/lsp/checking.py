# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The checks of documents in memory: the problems of each text, and the robots that the other answers need."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from robot_semantics.base.caches import LruCache
from robot_semantics.base.diagnostic import Diagnostic, SourcePlace
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import DescriptionError
from robot_semantics.bringup.checking import check_sections
from robot_semantics.bringup.description import CheckedDescription, check_description, report_not_compared
from robot_semantics.lsp.document import Document
from robot_semantics.lsp.workspace import ENDINGS, Workspace
from robot_semantics.model.resolve import resolve_urdf
from robot_semantics.model.resources import PackageResolver
from robot_semantics.model.robot_model import RobotModel
from robot_semantics.srdf.table import read_semantic
from robot_semantics.urdf.reader import read_urdf_robot
from robot_semantics.usdf.check import check_world_file
from robot_semantics.usdf.table import USDF
from robot_semantics.xml.document import XmlDocument
from robot_semantics.xml.document_kind import DocumentKind, report_unknown_root
from robot_semantics.xml.xacro import XacroOptions, expand_xacro

_Value = TypeVar("_Value")
_KEPT = 32
"""Largest number of checks that are kept."""


class Checked(NamedTuple):
    """The result of a check."""

    description: CheckedDescription
    problems: tuple[Diagnostic, ...]
    semantic_problems: tuple[Diagnostic, ...]


class Checker:
    """Checks of the documents of a workspace; texts are checked again only if one of them has changed."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._resolver = PackageResolver(workspace.settings.package_path)
        self.forget()

    def forget(self) -> None:
        """Check everything again: a file that a document names may have changed."""
        self._checked: LruCache[tuple[Document | None, ...], Checked] = LruCache(_KEPT)
        self._expanded: dict[Document, XmlDocument | tuple[Diagnostic, ...]] = {}

    # --- xacro

    def needs_expansion(self, document: Document) -> bool:
        """Return True for a saved xacro that may be expanded and is not yet."""
        if not document.is_xacro or not self.workspace.may_expand(document) or document in self._expanded:
            return False
        saved = self.workspace.saved(document.path)
        return saved is not None and saved.text == document.text

    def expand(self, document: Document) -> None:
        """Expand a xacro file; its robot is used from now on. This runs what is in the file, in another process."""
        # A result is dropped if a file has changed since the start.
        expanded, find = self._expanded, partial(self._resolver.package, relative_to=document.path)
        try:
            found = expand_xacro(document.path, XacroOptions(expand=True), lambda name: str(find(name)))
            has_robot = document.kind is not DocumentKind.URDF or found.root.find("link") is not None
            expanded[document] = found if has_robot else ()
        except DescriptionError as error:
            expanded[document] = error.diagnostics
        self._checked = LruCache(_KEPT)

    # --- problems

    def problems(self, document: Document) -> tuple[Diagnostic, ...]:
        """Return every problem of a document, checked with its robot."""
        if document.is_yaml:
            return self._configuration(document)
        if isinstance(document.parsed, tuple):
            return document.parsed
        if document.kind is DocumentKind.URDF:
            return self._description(document, self.workspace.robot_of(document).srdf).problems
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
        """Return the robot of a document, from the last texts that were well-formed."""
        urdf, srdf = (each and each.readable for each in self.workspace.robot_of(document))
        return self._description(urdf, srdf).description.robot

    def _once(
        self,
        documents: tuple[Document | None, ...],
        check: Callable[[Diagnostics, Diagnostics], CheckedDescription | None],
    ) -> Checked:
        """Return the result of the check of some documents."""
        checked = self._checked.get(documents)
        if checked is None:
            problems, of_srdf, result = Diagnostics(), Diagnostics(), None
            try:
                result = check(problems, of_srdf)
            except DescriptionError as error:
                problems.extend_new(error.diagnostics)
            checked = Checked(result or CheckedDescription(None), tuple(problems), tuple(of_srdf))
            self._checked.put(documents, checked)
        return checked

    def _description(self, urdf: Document | None, srdf: Document | None) -> Checked:
        """Check a URDF and an SRDF together."""

        def check(found: Diagnostics, of_srdf: Diagnostics) -> CheckedDescription:
            content = self._read(urdf, found, lambda source: read_urdf_robot(source, found))
            robot = None if content is None else resolve_urdf(content, found)
            semantic = self._read(srdf, of_srdf, lambda source: read_semantic(source, of_srdf))
            file, semantics = None if urdf is None else urdf.path, () if semantic is None else (semantic,)
            return check_description(robot, semantics, found, of_srdf, resolver=self._resolver, file=file, urdf=content)

        return self._once((urdf, srdf), check)

    def _read(
        self, document: Document | None, diagnostics: Diagnostics, read: Callable[[XmlDocument], _Value]
    ) -> _Value | None:
        """Return the value of a document; None if there is no text of it, or if the text is refused."""
        source: XmlDocument | tuple[Diagnostic, ...] = ()
        if document is not None and document.is_xacro:
            source = self._expanded.get(document, ())
        elif document is not None:
            source = document.parsed if isinstance(document.parsed, tuple) else document.parsed.document
        try:
            if isinstance(source, XmlDocument):
                return read(source)
            diagnostics.extend(source)
        except DescriptionError as error:
            diagnostics.extend_new(error.diagnostics)
        return None

    def _world(self, document: Document) -> tuple[Diagnostic, ...]:
        robots_found = self.workspace.robots_of_models(document)
        pairs = {name: self.workspace.robot_of(urdf) for name, (urdf, _) in robots_found.items() if urdf is not None}

        def check(diagnostics: Diagnostics, _: Diagnostics) -> None:
            robots = {name: self._description(*pair).description.robot for name, pair in pairs.items()}
            named = {name: robot for name, robot in robots.items() if robot is not None}
            # The settings say that their robot is in the world.
            given_robot = next(iter(named.values()), None) if self.workspace.settings.urdf else None
            path, by_name = Path(document.path), named if given_robot is None else {}
            find = partial(self._resolver.resolve, relative_to=path)
            refused = (urdf.path for name, (urdf, _) in pairs.items() if urdf is not None and robots[name] is None)
            for other in dict.fromkeys(refused):
                report_not_compared([document.path], other, diagnostics)
            check_world_file(path, diagnostics, text=document.data, robot=given_robot, named=by_name, find=find)

        problems = self._once((document, *(each for pair in pairs.values() for each in pair)), check).problems
        models = () if document.xml is None else document.xml.root.iterchildren("model_state")
        described = {(model.get("name") or "").strip() for model in models if model.get(USDF.key("rs:description"))}
        reasons = (reason for name, (_, reason) in robots_found.items() if name not in described)
        return (*problems, *(note for reason in dict.fromkeys(reasons) for note in _note(document, reason)))

    def _configuration(self, document: Document) -> tuple[Diagnostic, ...]:
        """Return the problems of a YAML file, checked together with the others of its package."""
        own_sections, pair = document.sections, self.workspace.robot_of(document)
        if not own_sections.sections:
            return own_sections.problems
        checked = self._description(*pair).description if pair.urdf is not None else CheckedDescription(None)
        robot, blocks, names = checked
        files = self.workspace.yaml_beside(document)

        def check(diagnostics: Diagnostics, _: Diagnostics) -> None:
            sections = (section for file in files for section in file.sections.sections)
            check_sections(sections, robot, blocks, diagnostics, names)
            if robot is None and pair.urdf is not None:
                report_not_compared([document.path], pair.urdf.path, diagnostics, names=names is not None)

        problems = self._once((*pair, *sorted(files, key=lambda file: file.path)), check).problems
        note = (
            () if robot is not None or pair.urdf is not None else _note(document, "the robot of this file is unknown")
        )
        return (
            *own_sections.problems,
            *(problem for problem in problems if problem.place.source == document.path),
            *note,
        )


def _note(document: Document, reason: str) -> tuple[Diagnostic, ...]:
    """Return the note that names of links and joints are not checked, for a reason."""
    found = Diagnostics()
    if reason:
        place = SourcePlace(document.path, 1, 1) if document.xml is None else document.xml.places.place(0)
        found.note("unknown-robot", f"{reason}: names of links and joints are not checked", place)
    return tuple(found)
