"""Work done here, in several processes, or on a Dask cluster: the same functions, results in the order of the work."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from types import TracebackType
from typing import Any, Protocol, TypeVar

from robot_semantics.base.errors import MissingExtraError, RobotSemanticsError

Item = TypeVar("Item")
Result = TypeVar("Result")


class ClusterError(RobotSemanticsError):
    """A cluster cannot be reached."""


class WorkerError(RobotSemanticsError):
    """A process that worked for this one ended before its time."""


class Workers(Protocol):
    """Those who do the work; use it in a `with`.

    Attributes:
        count: how many things they do at the same time.
        share_files: whether they see this machine's files, so that results may be files.
    """

    count: int
    share_files: bool

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield ``function(item)`` of every item, in order; only a few are under way at a time."""

    def __enter__(self) -> Workers:
        """Make ready."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go; after an error without waiting."""


class Here:
    """Work done in this process alone."""

    count = 1
    share_files = True

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield ``function(item)`` of every item."""
        for item in items:
            yield function(item)

    def __enter__(self) -> Here:
        """Do nothing."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Do nothing."""


class Processes:
    """Several processes on this machine, kept while they are needed.

    What a process was at that ended before its time, as when the system has no memory left, is done again once.
    """

    share_files = True

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool: ProcessPoolExecutor | None = None

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield ``function(item)`` of every item, in order; only a few are under way at a time.

        Raises:
            WorkerError: a process ended, and did so again.
        """
        waiting: deque[tuple[Item, Future[Result]]] = deque()
        left, more, broken = iter(items), True, 0
        while more or waiting:
            while more and len(waiting) < 2 * self.count:
                try:
                    item = next(left)
                except StopIteration:
                    more = False
                else:
                    waiting.append((item, self._submit(function, item)))
            if not waiting:
                return
            try:
                result = waiting[0][1].result()
            except BrokenProcessPool:
                broken += 1
                if broken > MOST_ENDED:
                    raise WorkerError("worker processes ended before their time, and did so again") from None
                self._start()
                waiting = deque((item, self._submit(function, item)) for item, _ in waiting)
                continue
            waiting.popleft()
            yield result

    def _submit(self, function: Callable[[Item], Result], item: Item) -> Future[Result]:
        assert self._pool is not None
        try:
            return self._pool.submit(_guarded, function, item)
        except BrokenProcessPool as error:
            # Found out now, told to who waits for it.
            future: Future[Result] = Future()
            future.set_exception(error)
            return future

    def _start(self) -> None:
        # Not by fork: threads, such as the progress display's, do not survive one.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["robot_semantics.recording.render", "robot_semantics.recording.parts"])
        self._pool = ProcessPoolExecutor(self.count, context, _ignore_interrupts)

    def __enter__(self) -> Processes:
        """Make ready; the processes start when there is work."""
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the processes; after an error at once, so that none writes on into what is being cleared away."""
        assert self._pool is not None
        if kind is not None:
            for process in multiprocessing.active_children():
                process.kill()
        self._pool.shutdown(cancel_futures=True)


MOST_ENDED = 2
"""How often worker processes may end before their time in one piece of work."""


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the process that all others work for."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _guarded(function: Callable[[Item], Result], item: Item) -> Result:
    """Call a function; errors with fields do not travel between processes, so only their text does."""
    try:
        return function(item)
    except RobotSemanticsError as error:
        raise RobotSemanticsError(str(error)) from None
    except OSError as error:
        raise OSError(error.errno, error.strerror, error.filename) from None


class Dask:
    """A Dask cluster, by the address of its scheduler; its workers must see the bags at the same paths."""

    share_files = False

    def __init__(self, address: str) -> None:
        self._address = address
        self._client: Any = None
        self.count = 1

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield ``function(item)`` of every item, in order; what a worker was at that died is done again by another.

        Raises:
            ClusterError: all workers are gone for `WORKERLESS_S`.
        """
        waiting: deque[Any] = deque()
        for item in items:
            waiting.append(self._client.submit(_guarded, function, item, pure=False, retries=MOST_ENDED))
            if len(waiting) >= 2 * self.count:
                yield self._result(waiting.popleft())
        while waiting:
            yield self._result(waiting.popleft())

    def _result(self, future: Any) -> Any:
        seen = time.monotonic()
        while True:
            try:
                return future.result(timeout=1.0)
            # Dask's own TimeoutError is asyncio's, which is another class up to Python 3.10.
            except (TimeoutError, asyncio.TimeoutError):
                if future.done():
                    raise
                if self._client.nthreads():
                    seen = time.monotonic()
                elif time.monotonic() - seen > WORKERLESS_S:
                    raise ClusterError(
                        f"the Dask cluster at '{self._address}' has had no workers for {WORKERLESS_S:g} s"
                    ) from None

    def __enter__(self) -> Dask:
        """Connect.

        Raises:
            MissingExtraError: Dask is not installed.
            ClusterError: the scheduler does not answer, or has no workers.
        """
        try:
            from distributed import Client
        except ImportError:
            raise MissingExtraError("distributed", "cluster", "work on a Dask cluster") from None
        try:
            connect: Any = Client
            self._client = connect(self._address, timeout="10s", set_as_default=False)
        except (OSError, ValueError) as error:
            raise ClusterError(f"no Dask scheduler answers at '{self._address}' ({error})") from None
        self.count = sum(self._client.nthreads().values())
        if not self.count:
            self._client.close()
            raise ClusterError(f"the Dask cluster at '{self._address}' has no workers")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Disconnect; what is still under way is given up."""
        self._client.close()


WORKERLESS_S = 20.0
"""How long a cluster may be without any worker before the work is given up [s]."""


def choose_workers(jobs: int, dask: str | None) -> Workers:
    """Return the workers that were asked for."""
    if dask is not None:
        return Dask(dask)
    return Processes(jobs) if jobs > 1 else Here()
