# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Change the code in small ways, one change at a time, and list the changes that no test notices.

The changes are taken at random from the rooms where most data is decided, or from the named files. cosmic-ray makes
the changes; those that only make the code fail or mean the same are left out. A change is decided by the tests of its
room and by the sweeps; 95 % of the changes must be noticed.

Each test is run once without a change, to record its time and the lines that it executes. All tests are collected
once. For each change, a fork of that process replaces the changed function, and runs only the tests that execute the
changed lines, of a test with many cases only some of them. A change that these quick tests do not notice, or that is
outside functions, is made in a copy of the checkout. There a new process runs all cases of all tests of the room, but
not those that fail in an unchanged copy.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import gc
import hashlib
import importlib
import json
import os
import pickle
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice, pairwise
from operator import attrgetter
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple, TypeVar

import coverage
import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "mutants"
PYTHON = ROOT / "build" / "mutants-env" / "bin" / "python"
"""Python with cosmic-ray."""
LEFT_OUT = ("BitAnd", "BitOr", "BitXor", "Shift", "Invert", "MatMul", "FloorDiv", "Mod", "Pow", "RemoveDecorator")
"""Almost all numbers are floats, for which these operators raise an error."""
SAME_MEANING = ("_Eq_Is", "_NotEq_IsNot", "_Is_Eq", "_IsNot_NotEq")
"""Equal names, small numbers and members of an enumeration are the same object."""
WITH_EQUAL = ("_Lt_LtE", "_LtE_Lt", "_Gt_GtE", "_GtE_Gt")
TOLERANCES = ("TOLERANCE", "ROUNDING")
"""A computed number is equal to a constant with such a name only by accident: a comparison may include it or not."""
ROOMS = ("live", "usdf", "kinematics", "comparison", "bringup", "collision")
"""Rooms whose code decides data."""
SWEEPS = (
    "test/test_one_state.py",
    "test/test_one_mimic.py",
    "test/test_every_joint_type.py",
    "test/test_every_pair.py",
)
"""Tests of every joint type, state and pair against every consumer."""
BY_COMMANDS = {
    "bringup": ("check", "check_folders", "fix"),
    "collision": ("collisions", "collisions_spheres"),
    "comparison": ("states_on_robots",),
    "kinematics": ("fk",),
    "usdf": ("states_on_robots", "usdf", "usdf_new"),
}
"""Tests of commands that are tests of a room."""
LEAST_NOTICED = 0.95
"""Smallest share of the changes that the tests must notice."""
LAST_FAILED = Path(".pytest_cache/v/cache/lastfailed")
"""The tests that failed in a copy, by pytest."""
LARGE = 100_000
"""No test needs to notice a change of a larger number by 1."""
MOST_GROUPS, MOST_CASES = 5, 30
"""The cases of a parametrized test are recorded in so many groups of so many cases; of more, some are left out."""
SIDE_BY_SIDE = 2
"""Changes that are tested at the same time."""
LONGEST_S = 30
"""A test that needs more time of the processor is left out [s]."""
LONGER, MORE_S = 5, 10
"""A changed test ends after LONGER times its normal time of the processor, and MORE_S seconds [s]."""
WAITING = 10
"""A changed test also ends after this multiple of that time: it waits for ever, for example for a pipe."""
MOST_MEMORY = 8 << 30
"""Memory of a changed test [bytes]."""
NOTICED, UNNOTICED, UNDECIDED = 1, 0, 3
"""Exit codes of the process that tests a change."""
T = TypeVar("T")


def files_of(rooms: Sequence[str]) -> list[str]:
    """Return the modules of some rooms."""
    paths = (path for room in rooms for path in sorted((ROOT / "robot_semantics" / room).rglob("*.py")))
    return [str(path.relative_to(ROOT)) for path in paths if path.name != "__init__.py"]


def tests_of(room: str) -> tuple[str, ...]:
    """Return the tests of a room and the sweeps; all tests where the room has no tests."""
    commands = (f"test/cli/test_{name}.py" for name in BY_COMMANDS.get(room, ()))
    return (f"test/{room}", *commands, *SWEEPS) if (ROOT / "test" / room).is_dir() else ("test",)


class Change(NamedTuple):
    """A change of the code.

    Attributes:
        file: the module.
        operator: name of the operator of cosmic-ray.
        occurrence: place in the module, as the number of places before it.
        row, column: where the place begins.
    """

    file: str
    operator: str
    occurrence: int
    row: int
    column: int


LIST = """
import json, sys
from pathlib import Path
from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.plugins import get_operator, operator_names
left_out, files = json.load(sys.stdin)
names = [name for name in operator_names() if not any(word in name for word in left_out)]
operators = {name: get_operator(name)() for name in names if not get_operator(name).arguments()}
for file in files:
    nodes = list(ast_nodes(get_ast_from_path(Path(file))))
    for name, operator in operators.items():
        for occurrence, place in enumerate(place for node in nodes for place, _ in operator.mutation_positions(node)):
            print(json.dumps([file, name, occurrence, *place]))
"""
CHANGE = """
import json, sys
from pathlib import Path
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
for file, name, occurrence, *_ in json.load(sys.stdin):
    print(json.dumps(mutate_code(Path(file).read_text(encoding="utf-8"), get_operator(name)(), occurrence)))
"""


def by_cosmic_ray(program: str, data: object) -> list[Any]:
    """Run a program beside cosmic-ray; return the values that it prints."""
    command = [str(PYTHON), "-c", program]
    lines = subprocess.run(command, cwd=ROOT, input=json.dumps(data), check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in lines.stdout.splitlines()]


def chosen_changes(files: Sequence[str], most: int, seed: int) -> list[Change]:
    """Choose changes of some modules at random, of those that can differ in meaning."""
    changes = [Change(*row) for row in by_cosmic_ray(LIST, (LEFT_OUT, files))]
    random.Random(seed).shuffle(changes)
    differing = (
        change
        for change in changes
        if not change.operator.endswith(SAME_MEANING)
        and not has_no_effect(nodes := around(change))
        and not (change.operator.endswith(WITH_EQUAL) and has_tolerance(nodes[-1]))
    )
    return sorted(islice(differing, most))


def around(change: Change) -> list[Any]:
    """Return the nodes around a change, the outermost first."""
    tree = ast.parse((ROOT / change.file).read_text(encoding="utf-8"))
    nodes: Iterable[Any] = (node for node in ast.walk(tree) if hasattr(node, "lineno"))
    begin, end = attrgetter("lineno", "col_offset"), attrgetter("end_lineno", "end_col_offset")
    return [node for node in nodes if begin(node) <= (change.row, change.column) < end(node)]


def has_no_effect(nodes: Sequence[Any]) -> bool:
    """Return True for a change without effect on a result.

    It is in a place that no run evaluates, the size of a cache or of a chunk, the seed of random numbers, a large
    number, which changes by 1, or in `strict` of `zip`, which like an assertion notices a fault elsewhere. It is the
    size of letters in a picture, or -1 in `reshape`, for which numpy takes every negative number. It is `frozen` of
    `record`, which only the type checker reads, or `slots`, which only saves memory.
    """
    if isinstance(nodes[-1], ast.Constant) and isinstance(nodes[-1].value, int) and nodes[-1].value > LARGE:
        return True
    for outer, inner in zip(nodes, [*nodes[1:], None], strict=True):
        if inner is not None and inner in (getattr(outer, "annotation", None), getattr(outer, "returns", None)):
            return True
        if isinstance(outer, ast.If) and ast.unparse(outer.test) == "TYPE_CHECKING":
            return True
        if isinstance(outer, ast.Assign) and ast.unparse(outer.targets[0]) in ("__all__", "CHUNK"):
            return True
        if isinstance(outer, ast.keyword) and outer.arg in ("strict", "fontsize"):
            return True
        if isinstance(outer, ast.Call) and ast.unparse(outer.func) == "record":
            return getattr(inner, "arg", "") in ("frozen", "slots")
        if isinstance(outer, ast.Call) and ast.unparse(outer.func).endswith("reshape"):
            # The number behind the sign; without the sign, the length is wrong.
            return isinstance(nodes[-1], ast.Constant) and isinstance(inner, ast.UnaryOp)
        if isinstance(outer, ast.Call) and ast.unparse(outer.func).endswith(("lru_cache", "default_rng")):
            return True
    return False


def has_tolerance(node: Any) -> bool:
    """Return True if a tolerance is in an expression."""
    names = (part.id for part in ast.walk(node) if isinstance(part, ast.Name))
    return any(name.endswith(TOLERANCES) for name in names)


def function_of(nodes: Sequence[Any]) -> str:
    """Return the name of the function whose body contains a place, or an empty text."""
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inner = nodes[nodes.index(functions[-1]) + 1 :] if functions else []
    return functions[-1].name if inner and inner[0] in functions[-1].body else ""


def lines_of(nodes: Sequence[Any]) -> set[int]:
    """Return the lines of the innermost statement around a place; of `if`, `for` and such, without their bodies."""
    node: Any = [node for node in nodes if isinstance(node, ast.stmt | ast.ExceptHandler)][-1]
    body = getattr(node, "body", None)
    return set(range(node.lineno, max(body[0].lineno if body else node.end_lineno + 1, node.lineno + 1)))


def groups_of(cases: list[T]) -> list[list[T]]:
    """Return the cases of one test in `MOST_GROUPS` groups of up to `MOST_CASES` cases, evenly spread."""
    used = cases[:: -(-len(cases) // (MOST_GROUPS * MOST_CASES))]
    return [used[first::MOST_GROUPS] for first in range(min(MOST_GROUPS, len(used)))]


class Run(NamedTuple):
    """A test, or a group of its cases, without a change.

    Attributes:
        key: hash of the test and of the modules that it executes, after the number of cases.
        passed: False if a case failed.
        seconds: time of the processor [s].
        starts_processes: True if a case starts processes, whose lines are unknown.
        lines: executed lines of each module.
    """

    key: str
    passed: bool
    seconds: float
    starts_processes: bool
    lines: dict[str, set[int]]


def in_child(work: Callable[[], int]) -> int:
    """Start a fork without output that exits with the returned code; return its process number."""
    process = os.fork()
    if process:
        return process
    code = UNDECIDED
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        log = os.open(FOLDER / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for old, new in ((null, 0), (log, 1), (log, 2)):
            os.dup2(old, new)
        code = work()
    except Exception:  # noqa: BLE001 - A fork must not return.
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def side_by_side(jobs: Iterable[T], work: Callable[[T], int]) -> Iterator[tuple[T, int]]:
    """Do jobs in forks; yield each with its exit code, which is negative for a signal."""
    running: dict[int, T] = {}
    waiting = list(jobs)[::-1]
    while waiting or running:
        while waiting and len(running) < SIDE_BY_SIDE:
            job = waiting.pop()
            running[in_child(lambda job=job: work(job))] = job  # type: ignore[misc]
        process, status = os.wait()
        if process in running:
            with suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)
            yield running.pop(process), os.waitstatus_to_exitcode(status)


@cache
def content_hash(path: Path) -> str:
    """Return the hash of a file; of an absent file, an empty text."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


class Mutants:
    """A plugin of pytest that tests changes instead of running the collected tests once.

    Attributes:
        changes: the changes.
        outcomes: NOTICED, UNNOTICED or UNDECIDED for each change.
    """

    def __init__(self, changes: Sequence[Change], *, quick: bool = False) -> None:
        self.changes, self.quick = changes, quick
        self.outcomes: dict[int, int] = {}
        self.groups: dict[str, list[pytest.Item]] = {}
        self.runs: dict[str, Run] = {}
        self.texts: list[str] = by_cosmic_ray(CHANGE, changes)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Record the tests, then test the changes."""
        self.session = session
        for file in sorted({change.file for change in self.changes}):
            with suppress(ImportError):
                importlib.import_module(file.removesuffix(".py").replace("/", "."))
        self.functions = [value for value in gc.get_objects() if isinstance(value, FunctionType)]
        # The garbage collector of a fork does not visit, and thus not copy, the memory of this process.
        gc.freeze()
        cases = defaultdict(list)
        for item in session.items:
            cases[item.nodeid.partition("[")[0]].append(item)
        self.groups = {group[0].nodeid: group for test in cases.values() for group in groups_of(test)}
        self.runs = self.recorded()
        for nodeid in [nodeid for nodeid, run in self.runs.items() if not run.passed]:
            print(f"left out, because it fails or takes too long without a change: {nodeid}")
            del self.runs[nodeid]
        survivors = self.unnoticed(range(len(self.changes)), self.test_change, "quick tests")
        if not self.quick:
            self.unnoticed(survivors, self.test_in_copy, "all tests")
        return True

    def unnoticed(self, numbers: Sequence[int], test: Callable[[int], int], name: str) -> list[int]:
        """Test some changes; return and print those that the tests do not notice."""
        survivors = []
        for number, code in side_by_side(numbers, test):
            self.outcomes[number] = code if code in (UNNOTICED, UNDECIDED) else NOTICED
            if code == UNNOTICED:
                survivors.append(number)
                print(f"not noticed by {name}: {self.described(number)}", flush=True)
        return survivors

    def recorded(self) -> dict[str, Run]:
        """Return the record of each test; record those that are new or depend on a changed file."""
        path = FOLDER / "record.pickle"
        stored = pickle.loads(path.read_bytes()) if path.exists() else {}
        known = {nodeid: Run(*values) for nodeid, values in stored.items()}
        missing = [
            nodeid
            for nodeid in self.groups
            if nodeid not in known or known[nodeid].key != self.key(nodeid, known[nodeid].lines)
        ]
        print(f"mutants: {len(missing)} of {len(self.groups)} groups of tests are recorded", flush=True)
        for number, (nodeid, code) in enumerate(side_by_side(missing, self.record)):
            part = self.part(nodeid)
            result = pickle.loads(part.read_bytes()) if part.exists() and code == 0 else (False, 0.0, False, {})
            part.unlink(missing_ok=True)
            known[nodeid] = Run(self.key(nodeid, result[-1]), *result)
            if number % 50 == 49 or number == len(missing) - 1:
                path.write_bytes(pickle.dumps({nodeid: tuple(run) for nodeid, run in known.items()}))
        return {nodeid: known[nodeid] for nodeid in self.groups}

    def key(self, nodeid: str, modules: Iterable[str]) -> str:
        """Return the key of the record of a test that executes some modules."""
        group = self.groups[nodeid]
        files = [group[0].path, *(ROOT / "test/support").glob("*.py"), *(ROOT / module for module in modules)]
        return f"{len(group)} {' '.join(content_hash(file) for file in sorted(files))}"

    @staticmethod
    def part(nodeid: str) -> Path:
        """Return the file for the record of one test."""
        return FOLDER / hashlib.sha256(nodeid.encode()).hexdigest()

    def record(self, nodeid: str) -> int:
        """Run a test and write what it executes."""
        started: list[str] = []
        starting = {"subprocess.Popen", "os.fork", "os.posix_spawn"}
        sys.addaudithook(lambda event, _: started.append(event) if event in starting else None)
        tracer = coverage.Coverage(data_file=None, config_file=False, include=[f"{ROOT}/robot_semantics/*"])
        tracer.set_option("run:disable_warnings", ["no-data-collected"])
        begin = time.process_time()
        tracer.start()
        passed = self.passes([nodeid])
        tracer.stop()
        seconds, data = time.process_time() - begin, tracer.get_data()
        lines = {os.path.relpath(file, ROOT): set(data.lines(file) or ()) for file in data.measured_files()}
        self.part(nodeid).write_bytes(pickle.dumps((passed, seconds, bool(started), lines)))
        return 0

    def passes(self, nodeids: Sequence[str]) -> bool:
        """Run tests until one fails; return True if all passed."""
        for nodeid, following in pairwise([*nodeids, ""]):
            seconds = LONGER * self.runs[nodeid].seconds + MORE_S if self.runs else LONGEST_S
            limit_s = int(time.process_time() + seconds)
            resource.setrlimit(resource.RLIMIT_CPU, (limit_s, resource.RLIM_INFINITY))
            signal.alarm(WAITING * int(seconds))
            items = self.groups[nodeid]
            last = self.groups[following][0] if following else None
            for item, next_item in zip(items, [*items[1:], last], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=next_item)
                if self.session.testsfailed:
                    print(f"fails: {item.nodeid}", flush=True)
                    return False
        return True

    def test_change(self, number: int) -> int:
        """Return whether quick tests notice a change: those in this process that execute the changed lines."""
        change, text = self.changes[number], self.texts[number]
        try:
            compile(text, change.file, "exec")
        except SyntaxError:
            return UNDECIDED
        print(f"change {number}: {self.described(number)}", flush=True)
        own, nodes = self.tests_of_change(number), around(change)
        if not (function_of(nodes) and replace_code(self.functions, change.file, text)):
            return UNDECIDED if self.quick else UNNOTICED
        lines = lines_of(nodes)
        execute = {
            nodeid: run
            for nodeid, run in self.runs.items()
            if nodeid.startswith(own) and lines & run.lines.get(change.file, set())
        }
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
        return UNNOTICED if self.passes(in_order(execute)) else NOTICED

    def tests_of_change(self, number: int) -> tuple[str, ...]:
        """Return the tests that decide a change."""
        return tests_of(Path(self.changes[number].file).parts[1])

    def test_in_copy(self, number: int) -> int:
        """Return whether all tests of the room and the sweeps notice a change, in a changed copy of the checkout."""
        change, work = self.changes[number], FOLDER / f"work-{os.getpid()}"
        shutil.copytree(FOLDER / "work", work, symlinks=True, ignore=shutil.ignore_patterns(".pytest_cache"))
        (work / change.file).write_text(self.texts[number], encoding="utf-8")
        seconds, lines = defaultdict[str, float](float), Counter[str]()
        for nodeid, run in self.runs.items():
            if nodeid.startswith(self.tests_of_change(number)):
                file = nodeid.partition("::")[0]
                seconds[file] += run.seconds
                lines[file] += len(run.lines.get(change.file, ()))
        # First the files that execute most of the changed module in the shortest time.
        ordered = sorted(seconds, key=lambda file: -lines[file] / (1.0 + seconds[file]))
        timeout_s = WAITING * (MORE_S + sum(seconds.values()))
        left_out = set[str]()
        try:
            while run_in_copy(work, ["-x", *(f"--deselect={nodeid}" for nodeid in left_out), *ordered], timeout_s):
                failed = json.loads((work / LAST_FAILED).read_text(encoding="utf-8")).keys() - left_out
                if run_in_copy(work, failed, timeout_s) and not run_in_copy(FOLDER / "work", failed, timeout_s):
                    print(f"change {number} fails: {' '.join(failed)}", flush=True)
                    return NOTICED
                left_out |= failed
        except subprocess.TimeoutExpired:
            return UNDECIDED
        finally:
            shutil.rmtree(work)
        return UNNOTICED

    def described(self, number: int) -> str:
        """Return the place of a change and the lines that differ."""
        change, text = self.changes[number], (ROOT / self.changes[number].file).read_text(encoding="utf-8")
        name = function_of(around(change)) or "the module"
        diff = difflib.unified_diff(text.splitlines(), self.texts[number].splitlines(), n=0, lineterm="")
        lines = [line for line in diff if not line.startswith(("---", "+++", "@@"))]
        return "\n".join((f"{change.file}:{change.row} in {name}", *lines))


def in_order(runs: dict[str, Run]) -> list[str]:
    """Order tests: short tests first, but the first case of every test before the second case of any."""
    cases: Counter[str] = Counter()
    ranks = {}
    for nodeid, run in sorted(runs.items(), key=lambda pair: pair[1].seconds):
        test = nodeid.partition("[")[0]
        ranks[nodeid] = (cases[test], run.seconds)
        cases[test] += 1
    return sorted(runs, key=ranks.__getitem__)


def replace_code(functions: Iterable[FunctionType], file: str, text: str) -> bool:
    """Replace the code of the changed functions of an imported module; return False if that is not possible."""
    path, replacements = str(ROOT / file), {}
    pairs = [(compile((ROOT / file).read_text(encoding="utf-8"), path, "exec"), compile(text, path, "exec"))]
    while pairs:
        old, new = pairs.pop()
        inner_old, inner_new = ([c for c in code.co_consts if isinstance(c, CodeType)] for code in (old, new))
        if [c.co_name for c in inner_old] != [c.co_name for c in inner_new] or old.co_freevars != new.co_freevars:
            return False
        pairs += zip(inner_old, inner_new, strict=True)
        if old != new:
            replacements[old] = new
    changed = [one for one in functions if one.__code__.co_filename == path and one.__code__ in replacements]
    for function in changed:
        function.__code__ = replacements[function.__code__]
    return bool(changed)


def run_in_copy(work: Path, arguments: Iterable[str], timeout_s: float) -> int:
    """Run tests in a copy of the checkout; return the exit code of pytest."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-o", f"cache_dir={work}/.pytest_cache", *arguments]
    return subprocess.run(
        command, cwd=work, check=False, env={**os.environ, "PYTHONPATH": str(work)}, timeout=timeout_s
    ).returncode


def copy_checkout() -> None:
    """Copy all files that git knows, for the changes that need new processes."""
    for old in FOLDER.glob("work*"):
        shutil.rmtree(old)
    for name in subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0"):
        if name and (ROOT / name).is_file():
            (FOLDER / "work" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, FOLDER / "work" / name)


def main() -> int:
    """Print every change that no test notices; return 1 if too many are not noticed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help=f"modules of the package; by default all of {', '.join(ROOMS)}")
    parser.add_argument("--most", type=int, default=300, help="number of changes")
    parser.add_argument("--seed", type=int, default=0, help="other changes for another number")
    parser.add_argument(
        "--quick", action="store_true", help="only quick tests; leave changes outside functions undecided"
    )
    arguments = parser.parse_args()
    for file in arguments.files:
        if not ((ROOT / file).is_file() and Path(file).match("robot_semantics/*/*.py")):
            parser.error(f"{file} is not a module of a room; name a file such as {files_of(ROOMS)[0]}")
    os.nice(10)
    FOLDER.mkdir(parents=True, exist_ok=True)
    copy_checkout()
    changes = chosen_changes(arguments.files or files_of(ROOMS), arguments.most, arguments.seed)
    rooms = sorted({Path(change.file).parts[1] for change in changes})
    mutants = Mutants(changes, quick=arguments.quick)
    tests = sorted({test for room in rooms for test in tests_of(room)})
    os.chdir(ROOT)
    pytest.main(["-q", "-s", "-n", "0", "-p", "no:cacheprovider", *tests], plugins=[mutants])
    for room in (*rooms, ""):
        codes = Counter(code for number, code in mutants.outcomes.items() if f"/{room}" in changes[number].file)
        decided = codes[NOTICED] + codes[UNNOTICED]
        share = codes[NOTICED] / decided if decided else 1.0
        print(f"{room or 'mutants'}: {codes[NOTICED]} of {decided} changes are noticed: {100 * share:.1f} %")
    return int(share < LEAST_NOTICED or len(mutants.outcomes) < len(changes))


if __name__ == "__main__":
    sys.exit(main())
