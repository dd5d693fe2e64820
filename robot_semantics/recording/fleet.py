# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Export of many bags, each on its own: one result and one row for each bag, and an index of all rows."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, fields, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from robot_semantics.base import version
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import MissingExtraError, RobotSemanticsError
from robot_semantics.base.files import (
    make_folder,
    open_bounded,
    relative_path,
    save_bytes,
    scratch_folder,
    temporary_beside,
)
from robot_semantics.base.names import quoted
from robot_semantics.base.record import record
from robot_semantics.base.system import replace_file
from robot_semantics.recording.bags.source import (
    ENDINGS,
    BagError,
    RequestError,
    is_bag_name,
    storage_files,
    write_ahead_log,
)
from robot_semantics.recording.export import ExportReport, ExportRequest, export
from robot_semantics.recording.parallel import Workers
from robot_semantics.recording.read.plan import ResolvedRequest, RobotRequest
from robot_semantics.recording.read.times import NoTimeError
from robot_semantics.recording.target import check_target, whole_or_nothing

if TYPE_CHECKING:
    from types import ModuleType

    import pyarrow

INDEX = "index.parquet"
ROWS = ".rows"
"""Folder with one row for each finished bag, so that an interrupted export can continue."""

RESERVED = (ROWS, INDEX)
"""Names in the output folder that are not results."""

RESULT_PATTERNS = ("index.json", "*.usdf", "*.urdf", "*.srdf")
"""The files of a result that is a folder."""


@record(frozen=True)
class FleetBag:
    """One bag of a fleet.

    Attributes:
        path: its path, below the one that was named.
        error: the reason why its folder cannot be searched; "" for a bag.
        times: the requested times, if each bag has its own.
    """

    path: Path
    error: str = ""
    times: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        """The name of its result: its path as it was written, without root, ``..`` and the ending of a bag."""
        parts = [part for part in self.path.parts if part not in (self.path.anchor, "..")]
        if not parts:
            return "bag"
        endings = (ending for ending in sorted(ENDINGS, key=len, reverse=True) if parts[-1].lower().endswith(ending))
        return "/".join([*parts[:-1], parts[-1][: len(parts[-1]) - len(next(endings, ""))] or "bag"])


@record(frozen=True)
class FleetTask:
    """One bag to export.

    Attributes:
        request: the export, without its output.
        name: path of the result in the folder.
        folder: folder of results and rows.
        options: digest of the options.
        wanted: digest of the options and descriptions.
        error: the reason why it is not exported.
        before: its row in the index of an earlier export, for a folder whose rows are lost.
    """

    request: ExportRequest
    name: str
    folder: Path
    options: str
    wanted: str
    error: str = ""
    before: FleetRow | None = None

    @property
    def out(self) -> Path:
        """Path of the result."""
        return self.folder / self.name

    @property
    def row_file(self) -> Path:
        """File of the row."""
        return row_file(self.folder, self.name)


@record(frozen=True)
class FleetRow:
    """Result of one bag.

    Attributes:
        bag: its path.
        result: path of the output, relative to the index; empty without an output.
        exit_code: 0 success; 1 failure, or errors in the recording.
        error: the reason if nothing was written.
        states: their number.
        start_ns: of the recording [ns].
        end_ns: of the recording [ns].
        robots: names of the models.
        frames: names of the frames.
        gaps: old or unknown values, as ``kind name``.
        errors: number of errors.
        warnings: number of warnings.
        problems: all problems.
        skipped_times: the requested times outside of the recording.
        content: digest of the bag.
        wanted: digest of the options and descriptions.
        digest: digest of the result; empty until it is complete.
        beside: names of the description files beside the result.
        skipped: an earlier export has made it.
    """

    bag: str
    result: str = ""
    exit_code: int = 1
    error: str = ""
    states: int = 0
    start_ns: int | None = None
    end_ns: int | None = None
    robots: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    errors: int = 0
    warnings: int = 0
    problems: tuple[str, ...] = ()
    skipped_times: tuple[str, ...] = ()
    content: str = ""
    wanted: str = ""
    digest: str = ""
    beside: tuple[str, ...] = ()
    skipped: bool = False


def find_bags(paths: Sequence[Path]) -> list[FleetBag]:
    """Return the bags among files and folders; folders that are not bags are searched for bags.

    Each bag and folder is visited once, by its real path. A bag behind a symbolic link is only returned if no path
    without this link reaches it, so that a link never changes the name of a result. A folder that cannot be listed is
    returned with its error.

    Raises:
        RequestError: there is no bag in a folder.
    """
    bags: dict[str, FleetBag] = {}
    folders: set[str] = set()
    origins: set[Path] = set()
    links: list[tuple[Path, Path]] = []
    places: list[tuple[Path, Path]] = []
    for path in paths:
        (links if path.is_symlink() else places).append((path, path))
    places.reverse()
    links.reverse()
    while places or links:
        path, origin = places.pop() if places else links.pop()
        real = os.path.realpath(path)
        try:
            if not path.is_dir() or (path / "metadata.yaml").exists():
                origins.add(origin)
                bags.setdefault(real, FleetBag(path))
            elif real not in folders:
                folders.add(real)
                inner = [entry for entry in sorted(path.iterdir()) if entry.is_dir() or is_bag_name(entry.name)]
                places += [(entry, origin) for entry in reversed(inner) if not entry.is_symlink()]
                links[:0] = [(entry, origin) for entry in reversed(inner) if entry.is_symlink()]
        except OSError as error:
            origins.add(origin)
            bags.setdefault(real, FleetBag(path, reason(error, path)))
    for path in paths:
        if path not in origins:
            raise RequestError(f"'{path}' has no bag")
    return list(bags.values())


def fleet_tasks(request: ExportRequest, bags: Sequence[FleetBag], folder: Path, ending: str) -> list[FleetTask]:
    """Return the task of each bag; the name of a result depends on its own bag only.

    Args:
        request: the options for each bag.
        bags: the bags.
        folder: the output folder.
        ending: of the results, ``""`` for folders of USDF files.

    Raises:
        DescriptionError: a file of a robot cannot be read, or gives no robot.
    """
    robots = tuple(_asked_nothing(robot) for robot in request.robots)
    options = replace(
        request, bags=(), out=None, jobs=1, dask=None, force=False, dry_run=False, robots=robots, skip_outside=True
    )
    planned = [robot.load() for robot in robots]
    results = [_result_name(bag.name, ending) for bag in bags]
    errors = _clashes(results, bags)
    tasks = []
    for bag, result in zip(bags, results, strict=True):
        own = options if bag.times is None else replace(options, times=options.times._replace(at=bag.times))
        # A state names the files of its robots relative to its own folder.
        names = [relative_path(path, (folder / result).parent) for r in robots for path in (r.urdf, r.srdf) if path]
        digest = hashlib.sha256(repr((version.__version__, own, names)).encode()).hexdigest()
        whole = replace(own, bags=(bag.path,), force=request.force, dry_run=request.dry_run)
        wanted = _wanted(digest, planned)
        tasks.append(FleetTask(whole, result, folder, digest, wanted, bag.error or errors.get(result, "")))
    return tasks


def _result_name(name: str, ending: str) -> str:
    first, slash, rest = name.partition("/")
    if first in RESERVED or f"{name}{ending}" in RESERVED:
        first = f"{first}_bag"
    return f"{first}{slash}{rest}{ending}"


def _clashes(results: Sequence[str], bags: Sequence[FleetBag]) -> dict[str, str]:
    """Return the reason for each result that cannot be written: of several bags, or a folder with another's result."""
    paths: dict[str, list[str]] = {}
    for name, bag in zip(results, bags, strict=True):
        paths.setdefault(name, []).append(str(bag.path))
    errors = {
        name: f"{quoted(several, 9)} have one result, '{name}'; export them into different folders"
        for name, several in paths.items()
        if len(several) > 1
    }
    known = set(results)
    for name in results:
        for parent in (above.as_posix() for above in PurePosixPath(name).parents):
            if parent in known:
                text = f"the result '{name}' is inside the result '{parent}'; export them into different folders"
                errors.setdefault(name, text)
                errors.setdefault(parent, text)
    return errors


def _asked_nothing(robot: RobotRequest) -> RobotRequest:
    """Return a request with its own record of used xacro arguments."""
    xacro = replace(robot.options.xacro, argument_names=set())
    return replace(robot, options=replace(robot.options, xacro=xacro))


def _wanted(options: str, robots: Iterable[ResolvedRequest]) -> str:
    """Return the digest of the options and of the descriptions, with the files that a xacro includes and loads."""
    texts = set()
    for robot in robots:
        semantics = None if robot.model is None else robot.model.semantics.srdf
        file = robot.request.options.loops
        loops = b"" if file is None else Path(file).read_bytes()
        urdf = "" if robot.model is None else robot.model.urdf_text
        srdf = (robot.srdf_text or "").encode() if semantics is None else semantics.places.text
        texts.add((urdf.encode(), bytes(srdf), loops))
    texts.discard((b"", b"", b""))
    return hashlib.sha256(repr((options, sorted(texts))).encode()).hexdigest()


def export_each(tasks: Sequence[FleetTask], workers: Workers) -> Iterator[FleetRow]:
    """Export each bag into the folder of the tasks, and write the index at the end; a dry run writes nothing.

    Args:
        tasks: the bags.
        workers: the processes that do the work; they must have access to the folder.

    Yields:
        One row for each bag, in the order of the bags.

    Raises:
        MissingExtraError: pyarrow is not installed.
        RequestError: the folder cannot be written, or has a file with the name of the index that no export has written.
        OSError: the folder or the index cannot be written.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", "the index of many bags") from None
    dry = not tasks or tasks[0].request.dry_run
    # A dry run without an output has the working folder here.
    if tasks and not (dry and tasks[0].folder == Path()):
        for place in (tasks[0].folder, tasks[0].folder / ROWS):
            check_target(place, folder=True, force=True)
        earlier = _earlier_rows(tasks[0].folder / INDEX, force=tasks[0].request.force)
        tasks = [replace(task, before=earlier.get(task.name)) for task in tasks]
    if not dry:
        make_folder(tasks[0].folder / ROWS)
    rows = []
    # Rows are small, so results of later bags may wait for a slow one.
    for row in workers.map(export_bag, tasks, ahead=len(tasks)):
        rows.append(row)
        yield row
    if dry:
        return
    index = tasks[0].folder / INDEX
    table = pa.Table.from_pylist([asdict(row) for row in rows], schema=_schema(pa))
    with temporary_beside(index) as temporary:
        pq.write_table(table, temporary)
        replace_file(temporary, index)


def _earlier_rows(index: Path, *, force: bool) -> dict[str, FleetRow]:
    """Return the rows of an earlier index by the names of their results.

    Raises:
        RequestError: the file is not an index, and `force` is not given.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not index.exists():
        return {}
    try:
        table = pq.read_table(open_bounded(index, MAX_INDEX_BYTES))
        if not table.schema.equals(_schema(pa)):
            raise pa.ArrowInvalid("other columns")
        rows = [_row_from(values) for values in table.to_pylist()]
    except (pa.ArrowException, ValueError, TypeError) as error:
        if force:
            return {}
        raise RequestError(f"'{index}' exists and is not the index of an export; --force overwrites it") from error
    return {row.result: row for row in rows if row.result}


MAX_INDEX_BYTES = 2**30


def export_table(request: ExportRequest, workers: Workers, bags: Sequence[FleetBag], out: Path) -> Iterator[FleetRow]:
    """Export all bags into one Parquet table with a column `bag`; arguments and errors as of `export_each`.

    Raises:
        RequestError: the file exists and no export has written it.
    """
    from robot_semantics.recording.series.parquet import write_bags

    check_target(out, folder=False, force=request.force, inputs=[bag.path for bag in bags])
    with scratch_folder(out.absolute().parent) as scratch:
        # Numbers as names: several bags of one name do not clash in a table.
        numbers = [f"{number:06d}.parquet" for number in range(len(bags))]
        tasks = [
            replace(task, name=name, error=bag.error)
            for task, name, bag in zip(fleet_tasks(request, bags, scratch, ".parquet"), numbers, bags, strict=True)
        ]
        rows = []
        for row in export_each(tasks, workers):
            rows.append(replace(row, result=out.name if row.result else ""))
            yield rows[-1]
        if request.dry_run:
            return
        parts = [(row.bag, scratch / name) for row, name in zip(rows, numbers, strict=True) if row.result]
        if not parts:
            # Every bag failed: an earlier table is worth more than an empty one.
            return
        with temporary_beside(out) as temporary:
            write_bags(parts, temporary)
            replace_file(temporary, out)


def export_bag(task: FleetTask) -> FleetRow:
    """Export one bag, unless an earlier export did; errors are in the returned row."""
    (bag,) = task.request.bags
    row = FleetRow(bag.as_posix(), wanted=task.wanted)
    if task.error:
        return replace(row, error=task.error)
    begun = False
    try:
        row = replace(row, content=content_digest(bag))
        before = _kept_row(task.row_file) or task.before
        is_ours = before is not None and before.result == task.name and task.out.exists()
        done = None if task.request.force else _done_before(task, row, before if is_ours else None)
        if done is not None:
            return done
        _check_result(task, is_ours=is_ours)
        if task.request.dry_run:
            return _exported(task, row)
        make_folder(task.out.parent)
        # If this process ends before the row is complete, the next run knows that the result is its own.
        save_bytes(json.dumps(asdict(replace(row, result=task.name))).encode(), task.row_file)
        begun = True
        row = _exported(task, row)
        if row.error and is_ours:
            _remove(task.out)
        _save_row(task, row)
    except (RobotSemanticsError, OSError) as error:
        if begun:
            with suppress(OSError):
                _remove(task.out)
        return replace(row, result="", exit_code=1, error=reason(error, bag))
    return row


def _done_before(task: FleetTask, row: FleetRow, before: FleetRow | None) -> FleetRow | None:
    """Return the row of a finished bag, or of one that was moved; None without one; `before`: the row of its result."""
    (bag,) = task.request.bags
    if before is not None and _is_done(before, row, task.out):
        if not task.request.dry_run and not task.row_file.exists():
            _save_row(task, replace(before, skipped=False))
        return replace(before, bag=bag.as_posix(), skipped=True)
    return None if task.out.exists() else _moved_result(task, row)


def _check_result(task: FleetTask, *, is_ours: bool) -> None:
    """Refuse to overwrite files that are not results of an earlier run, or to write inside another result."""
    if task.out.exists() and not (is_ours or task.request.force):
        raise RequestError(f"'{task.out}' exists; --force replaces it")
    check_target(task.out.parent, folder=True, force=True)
    for parent in Path(task.name).parents:
        above = _kept_row(row_file(task.folder, parent.as_posix()))
        if above is not None and above.result:
            raise RequestError(f"'{task.folder / parent}' is the result of another bag")


def _save_row(task: FleetTask, row: FleetRow) -> None:
    """Write the row, under the name of its result and under the bag's content, for a bag that is moved later."""
    for name in (task.name, f"{row.content} {row.wanted}"):
        save_bytes(json.dumps(asdict(row)).encode(), row_file(task.folder, name))


def _moved_result(task: FleetTask, row: FleetRow) -> FleetRow | None:
    """Copy the result of a bag that was moved from its old place; None without one."""
    before = _kept_row(row_file(task.folder, f"{row.content} {row.wanted}"))
    if before is None or not before.result or Path(before.bag).exists() or task.request.dry_run:
        return None
    old = task.folder / before.result
    if not _is_done(before, row, old):
        return None
    with whole_or_nothing(task.out, folder=old.is_dir()) as temporary:
        if old.is_dir():
            shutil.copytree(old, temporary, dirs_exist_ok=True)
        else:
            shutil.copyfile(old, temporary)
        for name in before.beside:
            shutil.copyfile(old.parent / name, task.out.parent / name)
    moved = replace(before, bag=row.bag, result=task.name, digest=result_digest(task.out, before.beside))
    _save_row(task, moved)
    return replace(moved, skipped=True)


def _remove(out: Path) -> None:
    if out.is_dir():
        shutil.rmtree(out)
    else:
        out.unlink(missing_ok=True)


def _is_done(before: FleetRow, row: FleetRow, out: Path) -> bool:
    """Return True if a result is complete and unchanged, of the same bag and the same request."""
    same = (before.content, before.wanted) == (row.content, row.wanted)
    return same and before.digest != "" and before.digest == result_digest(out, before.beside)


def _exported(task: FleetTask, row: FleetRow) -> FleetRow:
    (bag,) = task.request.bags
    problems = Diagnostics()
    try:
        report = export(replace(task.request, out=task.out, force=True), problems)
    except NoTimeError as error:
        return replace(row, error=reason(error, bag), skipped_times=task.request.times.at)
    except (RobotSemanticsError, OSError) as error:
        return replace(row, error=reason(error, bag), problems=tuple(map(str, problems)))
    # An error in one bag must never stop the others.
    except Exception as error:  # noqa: BLE001
        return replace(row, error=f"{type(error).__name__}: {error}")
    return _row_of(task, row, report, problems)


def _row_of(task: FleetTask, row: FleetRow, report: ExportReport, problems: Diagnostics) -> FleetRow:
    everything = (*problems, *report.description_problems)
    severities = [problem.severity.value for problem in everything]
    return replace(
        row,
        result=task.name,
        exit_code=1 if problems.failed() else 0,
        states=len(report.times_ns),
        start_ns=report.recording.start_ns,
        end_ns=report.recording.end_ns,
        robots=tuple(robot.name for robot in report.recording.robots),
        frames=report.frames,
        gaps=tuple(f"{kind} {name}" for kind, name in report.gaps),
        errors=severities.count("error"),
        warnings=severities.count("warning"),
        problems=tuple(map(str, everything)),
        skipped_times=report.skipped_times,
        # The descriptions may have changed since the start of the fleet.
        wanted=_wanted(task.options, report.recording.plan.robots),
        digest="" if task.request.dry_run else result_digest(task.out, report.beside),
        beside=report.beside,
    )


def reason(error: RobotSemanticsError | OSError, path: Path) -> str:
    """Return an error in words, without the name of the bag `path`, which stands before it."""
    if isinstance(error, BagError) and error.path == path:
        return error.reason
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def row_file(folder: Path, name: str) -> Path:
    """Return the file of the row of a result. Its name has one length, however long the result's is."""
    return folder / ROWS / f"{hashlib.sha256(name.encode(errors='surrogateescape')).hexdigest()[:32]}.json"


def content_digest(bag: Path) -> str:
    """Return the digest of a bag's content, with its metadata.

    Raises:
        BagError: it holds nothing.
        OSError: it cannot be read, or is not a regular file.
    """
    files = storage_files(bag)
    metadata = [bag / "metadata.yaml"] if (bag / "metadata.yaml").exists() else []
    return _digest([*files, *filter(None, map(write_ahead_log, files)), *metadata])


def result_digest(out: Path, beside: Sequence[str]) -> str:
    """Return the digest of a result and of the description files beside it; "" if a file is missing."""
    files = [out]
    if out.is_dir():
        files = sorted(path for pattern in RESULT_PATTERNS for path in out.glob(pattern))
    try:
        return _digest([*files, *(out.parent / name for name in beside)])
    except OSError:
        return ""


def _digest(files: Sequence[Path]) -> str:
    digest = hashlib.blake2b(digest_size=20)
    for path in files:
        with open_bounded(path, BLOCK_BYTES) as file:
            while block := file.read(BLOCK_BYTES):
                digest.update(block)
        digest.update(b"\0")
    return digest.hexdigest()


BLOCK_BYTES = 2**20


def _kept_row(path: Path) -> FleetRow | None:
    try:
        return _row_from(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def _row_from(values: dict[str, Any]) -> FleetRow:
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    return FleetRow(**values)


def _schema(pa: ModuleType) -> pyarrow.Schema:
    kinds = {"str": pa.string(), "int": pa.int64(), "int | None": pa.int64(), "bool": pa.bool_()}
    kinds |= {"tuple[str, ...]": pa.list_(pa.string()), "exit_code": pa.int32()}
    units = {"start_ns": {"unit": "ns"}, "end_ns": {"unit": "ns"}}
    types = {item.name: kinds.get(item.name, kinds.get(str(item.type))) for item in fields(FleetRow)}
    return pa.schema([pa.field(name, kind, metadata=units.get(name)) for name, kind in types.items()])
