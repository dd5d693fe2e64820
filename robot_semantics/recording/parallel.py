"""Work done here, in several processes, or on a Dask cluster: the same functions, results in the order of the work."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from types import TracebackType
from typing import Any, Protocol, TypeVar

from robot_semantics.errors import MissingExtraError, RobotSemanticsError

Item = TypeVar("Item")
Result = TypeVar("Result")


class ClusterError(RobotSemanticsError):
    """A cluster cannot be reached, or lost the work."""


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
    """Several processes on this machine."""

    share_files = True

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool: ProcessPoolExecutor | None = None

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield ``function(item)`` of every item, in order."""
        pool = self._pool
        if pool is None:
            raise RobotSemanticsError("the processes are not running")
        yield from _in_order(lambda item: pool.submit(function, item), items, 2 * self.count)

    def __enter__(self) -> Processes:
        """Start the processes as they are needed."""
        # Not by fork: threads, such as the progress display's, do not survive one.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["robot_semantics.recording.render", "robot_semantics.recording.parts"])
        self._pool = ProcessPoolExecutor(self.count, mp_context=context, initializer=_leave_interrupts_to_parent)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the processes; after an error at once, so that none writes on into what is being cleared away."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        if kind is not None:
            for process in list((getattr(pool, "_processes", None) or {}).values()):
                process.terminate()
        pool.shutdown(wait=True, cancel_futures=True)


class Dask:
    """A Dask cluster, by the address of its scheduler; its workers must see the bags at the same paths."""

    share_files = False

    def __init__(self, address: str) -> None:
        self._address = address
        self._client: Any = None
        self.count = 1

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield ``function(item)`` of every item, in order."""
        client = self._client
        yield from _in_order(lambda item: client.submit(function, item, pure=False), items, 2 * self.count)

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


class _Future(Protocol):
    def result(self) -> Any:
        """Return the result, or raise what the work raised."""


def _in_order(submit: Callable[[Any], _Future], items: Iterable[Any], most: int) -> Iterator[Any]:
    under_way: deque[_Future] = deque()
    for item in items:
        under_way.append(submit(item))
        if len(under_way) >= most:
            yield under_way.popleft().result()
    while under_way:
        yield under_way.popleft().result()


def _leave_interrupts_to_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def choose_workers(jobs: int, dask: str | None) -> Workers:
    """Return the workers that were asked for."""
    if dask is not None:
        return Dask(dask)
    return Processes(jobs) if jobs > 1 else Here()
