"""Work done here, in several processes, or on a Dask cluster: the same functions, results in the order of the work."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
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
    """Several processes on this machine, each at the other end of a pipe.

    There are no threads in between, so that an interrupt at any moment can end all of it.
    """

    share_files = True

    def __init__(self, count: int) -> None:
        self.count = count
        self._workers: list[tuple[BaseProcess, Connection]] = []

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield ``function(item)`` of every item, in order.

        Raises:
            WorkerError: a process ended, as when the system has no memory left.
        """
        left = enumerate(items)
        idle = [pipe for _, pipe in self._workers]
        under_way: dict[Connection, int] = {}
        done: dict[int, Result] = {}
        following, more = 0, True
        while True:
            # Not far ahead of what is asked for, or finished work would pile up behind one slow piece.
            while more and idle and len(done) < 2 * self.count:
                number, item = next(left, (-1, None))
                if number < 0:
                    more = False
                else:
                    pipe = idle.pop()
                    under_way[pipe] = number
                    pipe.send((function, item))
            if following in done:
                yield done.pop(following)
                following += 1
                continue
            if not under_way:
                return
            for ready in wait(list(under_way)):
                pipe = next(pipe for pipe in under_way if pipe is ready)
                done[under_way.pop(pipe)] = self._received(pipe)
                idle.append(pipe)

    def _received(self, pipe: Connection) -> Any:
        try:
            good, result = pipe.recv()
        except (EOFError, OSError):
            process = next(process for process, other in self._workers if other is pipe)
            process.join(1.0)
            raise WorkerError(f"a worker process ended with exit code {process.exitcode}") from None
        if not good:
            raise result
        return result

    def __enter__(self) -> Processes:
        """Start the processes."""
        # Not by fork: threads, such as the progress display's, do not survive one.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["robot_semantics.recording.render", "robot_semantics.recording.parts"])
        for _ in range(self.count):
            here, there = context.Pipe()
            process = context.Process(target=_serve, args=(there,), daemon=True)
            process.start()
            there.close()
            self._workers.append((process, here))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the processes; after an error at once, so that none writes on into what is being cleared away."""
        for process, pipe in self._workers:
            if kind is not None:
                process.kill()
            pipe.close()
        for process, _ in self._workers:
            process.join()
        self._workers = []


def _serve(pipe: Connection) -> None:
    """Do what comes through the pipe until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            function, item = pipe.recv()
        except EOFError:
            return
        try:
            answer: tuple[bool, Any] = (True, _guarded(function, item))
        except RobotSemanticsError as error:
            answer = (False, error)
        except OSError as error:
            answer = (False, OSError(error.errno, error.strerror, error.filename))
        pipe.send(answer)


def _guarded(function: Callable[[Item], Result], item: Item) -> Result:
    """Call a function; errors with fields do not travel between processes, so only their text does."""
    try:
        return function(item)
    except RobotSemanticsError as error:
        raise RobotSemanticsError(str(error)) from None


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
        yield from _in_order(lambda item: client.submit(_guarded, function, item, pure=False), items, 2 * self.count)

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


def choose_workers(jobs: int, dask: str | None) -> Workers:
    """Return the workers that were asked for."""
    if dask is not None:
        return Dask(dask)
    return Processes(jobs) if jobs > 1 else Here()
