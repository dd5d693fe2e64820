# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Work in this process, in several processes, or on a Dask cluster: same functions, results in the order of the
items.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from robot_semantics.base.deferred_interrupt import deferred_interrupt
from robot_semantics.base.errors import MissingExtraError, RobotSemanticsError
from robot_semantics.base.system import blocked_interrupt, end_this_process_after, reused_memory

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

# The classes import their libraries: work in this process, the usual case, needs none of them.

Item = TypeVar("Item")
Result = TypeVar("Result")


class ClusterError(RobotSemanticsError):
    """A cluster cannot be reached."""


class WorkerError(RobotSemanticsError):
    """A worker process ended before its work was done."""


class Workers:
    """Work in this process, one item after the other; use it in a `with`.

    Attributes:
        count: number of items in work at the same time.
        share_files: True if the workers can read this machine's files, so that results may be files.
    """

    count = 1
    share_files = True

    def map(self, function: Callable[[Item], Result], items: Iterable[Item], ahead: int = 0) -> Iterator[Result]:
        """Yield ``function(item)`` of every item, in order.

        Args:
            function: the work.
            items: the arguments.
            ahead: limit of items in work or waiting as results; 0: two for each worker, because results may be large.
        """
        yield from map(function, items)

    def __enter__(self) -> Workers:
        """Make ready."""
        return self

    def __exit__(self, *error: object) -> None:
        """Release the workers; after an error, do not wait."""


class Processes(Workers):
    """Several processes on this machine, kept while they are needed.

    If a process dies, for example without free memory, another process repeats its item.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool: ProcessPoolExecutor | None = None
        self._earlier_children: set[BaseProcess] = set()

    def map(self, function: Callable[[Item], Result], items: Iterable[Item], ahead: int = 0) -> Iterator[Result]:
        """Yield ``function(item)`` of every item, in order.

        Raises:
            WorkerError: processes ended more than `MOST_ENDED` times.
        """
        from concurrent.futures.process import BrokenProcessPool

        waiting: deque[tuple[Item, Future[Result]]] = deque()
        left, broken = iter(items), 0
        while True:
            for item in islice(left, (ahead or 2 * self.count) - len(waiting)):
                waiting.append((item, self._submit(function, item)))
            if not waiting:
                return
            try:
                result = waiting[0][1].result()
            except BrokenProcessPool:
                broken += 1
                if broken > MOST_ENDED:
                    raise WorkerError("worker processes ended unexpectedly twice") from None
                self._start()
                waiting = deque((item, self._submit(function, item)) for item, _ in waiting)
                continue
            waiting.popleft()
            yield result

    def _submit(self, function: Callable[[Item], Result], item: Item) -> Future[Result]:
        from concurrent.futures import Future
        from concurrent.futures.process import BrokenProcessPool

        assert self._pool is not None
        try:
            # A process that is starting during Ctrl-C would have no owner. It inherits the blocked signal, because
            # Ctrl-C must not end its imports with a traceback.
            with deferred_interrupt(), blocked_interrupt():
                return self._pool.submit(_guarded, function, item)
        except BrokenProcessPool as error:
            # Store the error; the reader of the result raises it.
            future: Future[Result] = Future()
            future.set_exception(error)
            return future

    def _start(self) -> None:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        # Do not fork: threads, such as the progress display, do not exist in the child.
        context: BaseContext
        try:
            context = multiprocessing.get_context("forkserver")
        except ValueError:  # Windows
            context = multiprocessing.get_context("spawn")
        else:
            # Import once before the fork, not in each process: the imports take as long as a bag of two minutes.
            context.set_forkserver_preload(["robot_semantics.recording.fleet", "rosbags.highlevel"])
        self._pool = ProcessPoolExecutor(self.count, context, _begin_work)

    def __enter__(self) -> Processes:
        """Make ready; the processes start when there is work."""
        import multiprocessing

        self._earlier_children = set(multiprocessing.active_children())
        self._start()
        return self

    def __exit__(self, *error: object) -> None:
        """Stop the processes. After an error, they stop immediately and delete unfinished files."""
        import multiprocessing

        assert self._pool is not None
        if error[0] is not None:
            # Do not kill them: the pool would wait forever for the rest of a result.
            for process in set(multiprocessing.active_children()) - self._earlier_children:
                process.terminate()
        self._pool.shutdown(cancel_futures=True)


MOST_ENDED = 2
"""How often worker processes may end before their time in one piece of work."""

GRACE_S = 10
"""How long a worker process that is to end may take for it [s]."""


_at_work, _told_to_end = threading.Event(), threading.Event()


def _begin_work() -> None:
    """Prepare a worker process: it ignores Ctrl-C, SIGTERM interrupts its work, and it ends with its parent."""
    import multiprocessing

    def end(_number: int, _frame: Any) -> None:
        end_this_process_after(GRACE_S)
        _told_to_end.set()
        if _at_work.is_set():
            raise KeyboardInterrupt

    def end_with_parent() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, end)
    threading.Thread(target=end_with_parent, daemon=True).start()


def _guarded(function: Callable[[Item], Result], item: Item) -> Result:
    """Call a function; reduce errors to their text, because errors with fields cannot be sent between processes."""
    try:
        _at_work.set()
        if _told_to_end.is_set():
            raise KeyboardInterrupt
        return function(item)
    except RobotSemanticsError as error:
        raise RobotSemanticsError(str(error)) from None
    except OSError as error:
        raise OSError(error.errno, error.strerror, error.filename) from None
    except KeyboardInterrupt:
        raise WorkerError("the work was interrupted") from None
    finally:
        _at_work.clear()


def _guarded_on_cluster(function: Callable[[Item], Result], item: Item) -> Result:
    with reused_memory():
        return _guarded(function, item)


class Dask(Workers):
    """A Dask cluster, by the address of its scheduler; its workers must see the bags at the same paths."""

    share_files = False

    def __init__(self, address: str) -> None:
        self._address = address
        self._client: Any = None

    def map(self, function: Callable[[Item], Result], items: Iterable[Item], ahead: int = 0) -> Iterator[Result]:
        """Yield ``function(item)`` of every item, in order; if a worker dies, another one repeats its item.

        Raises:
            ClusterError: all workers are gone for `WORKERLESS_S`.
        """
        waiting: deque[Any] = deque()
        for item in items:
            waiting.append(self._client.submit(_guarded_on_cluster, function, item, pure=False, retries=MOST_ENDED))
            if len(waiting) >= (ahead or 2 * self.count):
                yield self._result(waiting.popleft())
        while waiting:
            yield self._result(waiting.popleft())

    def _result(self, future: Any) -> Any:
        import asyncio

        seen = time.monotonic()
        while True:
            # Ask before the wait: the work may end between the timeout and a later question.
            failed = future.status == "error"
            try:
                return future.result(timeout=1.0)
            # Dask's own TimeoutError is asyncio's, which is another class up to Python 3.10.
            except (TimeoutError, asyncio.TimeoutError):
                if failed:
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

    def __exit__(self, *error: object) -> None:
        """Disconnect; unfinished items are cancelled."""
        self._client.close()


WORKERLESS_S = 20.0
"""How long a cluster may be without any worker before the work is given up [s]."""


def choose_workers(jobs: int, dask: str | None) -> Workers:
    """Return the requested workers."""
    if dask is not None:
        return Dask(dask)
    return Processes(jobs) if jobs > 1 else Workers()
