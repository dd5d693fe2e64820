# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Export of many bags: one result for each bag, and an index of all bags.

A bag with the same content and the same request as in an earlier export is skipped. The failure of one bag is a row of
the index; the other bags continue.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import MissingExtraError, RobotSemanticsError
from robot_semantics.base.files import save_bytes, temporary_beside
from robot_semantics.recording.bags.source import ENDINGS, BagError, storage_files, write_ahead_log
from robot_semantics.recording.export import ExportRequest, export
from robot_semantics.recording.parallel import Workers
from robot_semantics.recording.read.plan import RequestError

if TYPE_CHECKING:
    from types import ModuleType

    import pyarrow

INDEX = "index.parquet"
ROWS = ".rows"
"""Folder with one row for each finished bag, so that an interrupted export can continue."""


@dataclass(frozen=True)
class FleetTask:
    """One bag.

    Attributes:
        request: the export, without its output.
        name: the name of the result.
        folder: folder of results and rows.
        wanted: digest of the request.
    """

    request: ExportRequest
    name: str
    folder: Path
    wanted: str


@dataclass(frozen=True)
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
        content: digest of the bag.
        wanted: digest of the request.
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
    content: str = ""
    wanted: str = ""
    skipped: bool = False


def find_bags(paths: Iterable[Path]) -> list[Path]:
    """Return the bags among files and folders; folders that are not bags are searched for bags.

    Raises:
        RequestError: there is none in a folder.
        OSError: a folder cannot be read.
    """
    found: list[Path] = []
    for path in paths:
        here = list(_bags_in(path))
        if not here:
            raise RequestError(f"'{path}' has no bag")
        found += here
    return list(dict.fromkeys(found))


def _bags_in(path: Path) -> Iterator[Path]:
    if not path.is_dir() or (path / "metadata.yaml").exists():
        yield path
        return
    for inner in sorted(path.iterdir()):
        if inner.is_dir():
            yield from _bags_in(inner)
        elif inner.name.endswith(ENDINGS):
            yield inner


def export_each(
    request: ExportRequest, workers: Workers, bags: Sequence[Path], folder: Path, ending: str
) -> Iterator[FleetRow]:
    """Export each bag into a folder, and write the index at the end.

    Args:
        request: the options for each bag.
        workers: the processes that do the work; they must have access to the folder.
        bags: the bags.
        folder: the output folder; it is made.
        ending: of the results, ``""`` for folders of USDF files.

    Yields:
        One row for each bag, in the order of the bags.

    Raises:
        MissingExtraError: pyarrow is not installed.
        OSError: the folder cannot be written.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", "the index of many bags") from None
    (folder / ROWS).mkdir(parents=True, exist_ok=True)
    asked = hashlib.sha256(repr(replace(request, bags=(), out=None, jobs=1, dask=None, force=False)).encode())
    for robot in request.robots:
        for path in (robot.urdf, robot.srdf):
            asked.update(b"" if path is None else path.read_bytes())
    wanted = asked.hexdigest()
    tasks = [
        FleetTask(replace(request, bags=(bag,), jobs=1, dask=None), f"{name}{ending}", folder, wanted)
        for bag, name in zip(bags, _names(bags), strict=True)
    ]
    rows = []
    # Rows are small, so results of later bags may wait for a slow one.
    for row in workers.map(export_bag, tasks, ahead=len(tasks)):
        rows.append(row)
        yield row
    table = pa.Table.from_pylist([asdict(row) for row in rows], schema=_schema(pa))
    with temporary_beside(folder / INDEX) as temporary:
        pq.write_table(table, temporary)
        temporary.replace(folder / INDEX)


def export_bag(task: FleetTask) -> FleetRow:
    """Export one bag, unless an earlier export did; errors are in the returned row."""
    (bag,) = task.request.bags
    kept = task.folder / ROWS / f"{task.name}.json"
    out = task.folder / task.name
    try:
        content = content_digest(bag)
    except (OSError, BagError) as error:
        return FleetRow(str(bag), error=_reason(error), wanted=task.wanted)
    before = _kept_row(kept)
    # Never overwrite files that are not results of an earlier run.
    ours = before is not None and before.result == task.name and out.exists()
    if before is not None and ours and (before.content, before.wanted) == (content, task.wanted):
        return replace(before, bag=str(bag), skipped=True)
    row = _exported(task, bag, out, content, force=ours or task.request.force)
    if row.error and ours:
        shutil.rmtree(out) if out.is_dir() else out.unlink(missing_ok=True)
    save_bytes(json.dumps(asdict(row)).encode(), kept)
    return row


def _exported(task: FleetTask, bag: Path, out: Path, content: str, *, force: bool) -> FleetRow:
    problems = Diagnostics()
    row = FleetRow(str(bag), content=content, wanted=task.wanted)
    try:
        if out.exists() and not force:
            raise RequestError(f"'{out}' exists; --force replaces it")
        report = export(replace(task.request, out=out, force=True), problems)
    except (RobotSemanticsError, OSError) as error:
        return replace(row, error=_reason(error), problems=tuple(map(str, problems)))
    # An error in one bag must never stop the others.
    except Exception as error:  # noqa: BLE001
        return replace(row, error=f"{type(error).__name__}: {error}")
    found = (*problems, *report.description_problems)
    severities = [problem.severity.value for problem in found]
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
        problems=tuple(map(str, found)),
    )


def _reason(error: RobotSemanticsError | OSError) -> str:
    """Return the reason why nothing was written, in words."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def content_digest(bag: Path) -> str:
    """Return the digest of a bag's content.

    Raises:
        BagError: it holds nothing.
        OSError: it cannot be read.
    """
    digest = hashlib.blake2b(digest_size=20)
    files = storage_files(bag)
    for path in (*files, *filter(None, map(write_ahead_log, files))):
        with path.open("rb") as file:
            while block := file.read(2**20):
                digest.update(block)
        digest.update(b"\0")
    return digest.hexdigest()


def _kept_row(path: Path) -> FleetRow | None:
    try:
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        row: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in values.items()}
        return FleetRow(**row)
    except (OSError, ValueError, TypeError):
        return None


def _names(bags: Sequence[Path]) -> list[str]:
    """Return a name for each bag: the file name without its ending, with a number if several bags have it."""
    names: list[str] = []
    for bag in bags:
        endings = (ending for ending in sorted(ENDINGS, key=len, reverse=True) if bag.name.endswith(ending))
        own = bag.name.removesuffix(next(endings, ""))
        name, number = own or "bag", 2
        while name in names:
            name, number = f"{own}_{number}", number + 1
        names.append(name)
    return names


def _schema(pa: ModuleType) -> pyarrow.Schema:
    kinds = {"str": pa.string(), "int": pa.int64(), "int | None": pa.int64(), "bool": pa.bool_()}
    kinds |= {"tuple[str, ...]": pa.list_(pa.string()), "exit_code": pa.int32()}
    units = {"start_ns": {"unit": "ns"}, "end_ns": {"unit": "ns"}}
    types = {item.name: kinds.get(item.name, kinds.get(str(item.type))) for item in fields(FleetRow)}
    return pa.schema([pa.field(name, kind, metadata=units.get(name)) for name, kind in types.items()])
