# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""An interrupt is neither lost in a library that catches everything, nor taken from one who handles it otherwise."""

from __future__ import annotations

import faulthandler
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from robot_semantics.base.deferred_interrupt import deferred_interrupt


@pytest.fixture(autouse=True)
def _handler() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@deferred_interrupt()
def catching_everything(came: list[str]) -> None:
    try:
        signal.raise_signal(signal.SIGINT)
        came.append("the work was done")
    except BaseException:  # noqa: BLE001 - as such libraries do
        came.append("the interrupt was caught")


def test_it_is_raised_when_the_work_is_done() -> None:
    came: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        catching_everything(came)
    assert came == ["the work was done"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_another_handler_stays() -> None:
    heard: list[int] = []

    def own(number: int, _frame: Any) -> None:
        heard.append(number)

    signal.signal(signal.SIGINT, own)
    catching_everything([])
    assert heard == [signal.SIGINT]
    assert signal.getsignal(signal.SIGINT) is own


def test_a_handler_below_python_stays(tmp_path: Path) -> None:
    # Such as those of rclpy; faulthandler has its own, too.
    with (tmp_path / "heard").open("w+") as heard:
        faulthandler.register(signal.SIGINT, heard, chain=False)
        try:
            with deferred_interrupt():
                pass
            signal.raise_signal(signal.SIGINT)
        finally:
            faulthandler.unregister(signal.SIGINT)
        heard.seek(0)
        assert "test_a_handler_below_python_stays" in heard.read()


def test_other_threads_change_nothing() -> None:
    seen: list[Any] = []

    @deferred_interrupt()
    def look() -> None:
        seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
