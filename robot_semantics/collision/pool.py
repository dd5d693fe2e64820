# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Work shared out to threads, a few items at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def results_of(
    work: Callable[[Item], Result], items: Iterable[Item], jobs: int, stop: threading.Event
) -> Iterator[Result]:
    """Yield what `work` makes of each item, on `jobs` threads in the order in which they are done; then set `stop`."""
    if jobs == 1:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(max_workers=jobs)
    waiting = iter(items)
    try:
        # A few at a time: an interruption has nothing to clear away, however much was asked for.
        pending = {pool.submit(work, item) for item in islice(waiting, 2 * jobs)}
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
                pending |= {pool.submit(work, item) for item in islice(waiting, 1)}
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)
