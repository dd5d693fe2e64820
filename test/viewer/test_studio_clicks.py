# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""No click is lost: neither while a page starts, nor while it waits for a slow server, nor if it comes again."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from support.browser import Browser
from support.patience import PATIENCE_S
from support.person import Person
from support.served import Served

from robot_semantics.examples import example
from robot_semantics.viewer.server import KEPT_S, RECONNECT_S

DELAY_MS = 400
"""How long each message travels in both directions."""
SLOW = f"""
window.WebSocket = class extends WebSocket {{
  set onmessage(answer) {{ super.onmessage = (event) => setTimeout(() => answer(event), {DELAY_MS}); }}
  send(message) {{ setTimeout(() => super.send(message), {DELAY_MS}); }}
}};
// The first control that can be seen is clicked in the same moment.
const looking = setInterval(() => {{
  const tab = document.querySelector("[data-tab=groups]");
  if (!tab?.checkVisibility({{ visibilityProperty: true }})) return;
  clearInterval(looking);
  window.seenInert = tab.closest("[inert]") !== null;
  if (!sessionStorage.getItem("test")) {{ sessionStorage.setItem("test", "clicked"); tab.click(); }}
}}, 1);
"""
"""A script for a page whose server is far away."""
TELLING = """
import signal, sys
from pathlib import Path
from robot_semantics.cli.main import main
def tell(*_):
    Path(sys.argv[-1], "part").write_text("\\n".join(sys.modules))
    Path(sys.argv[-1], "part").rename(Path(sys.argv[-1], "modules"))
signal.signal(signal.SIGUSR1, tell)
main(sys.argv[1:-1])
"""
"""A program that serves the studio, and writes the names of its modules into a folder at a signal."""


def modules(served: Served, folder: Path) -> set[str]:
    """Return the names of the modules that a server has imported."""
    (folder / "modules").unlink(missing_ok=True)
    served.process.send_signal(signal.SIGUSR1)
    end = time.monotonic() + PATIENCE_S
    while not (folder / "modules").exists():
        assert time.monotonic() < end, "the server does not answer"
        time.sleep(0.02)
    return set((folder / "modules").read_text().split())


def opened(name: str) -> str:
    return f"document.querySelector('[data-panel={name}]') !== null"


@pytest.mark.timeout(300)
def test_no_click_is_lost_on_a_slow_connection_or_when_the_page_comes_again(browser: Browser, tmp_path: Path) -> None:
    out = tmp_path / "new.srdf"
    command = ("-c", TELLING, "studio", str(example("rover_arm.urdf")), "-o", str(out), "--no-browser", str(tmp_path))
    with Served(*command) as served, browser.on_each_page(SLOW):
        person = Person(browser, served)
        person.sees(opened("groups"))
        assert browser.run("window.seenInert") is False
        # The page comes again before its message about the click is on its way.
        browser.run("window.isOld = true; document.querySelector('[data-tab=states]').click(); location.reload()")
        person.sees(f"!window.isOld && !document.querySelector('[inert]') && {opened('states')}")
        person.tab("start")
        person.sees("document.querySelector('[data-accept^=\"group arm\"]') !== null")
        known = modules(served, tmp_path)
        # At the second click the server has built another button in its place, and the page does not know it yet.
        browser.run(
            "new Promise((done) => {"
            " const add = (name) => document.querySelector(`[data-accept^='${name}']`).click();"
            f" add('group arm'); setTimeout(() => {{ add('group hand'); done(); }}, {1.3 * DELAY_MS}); }})"
        )
        person.sees("Object.keys(viewer.robots[0].groups).sort().join() === 'arm,hand'")
        # Two clicks on one button are one step.
        browser.run("for (const _ of [1, 2]) document.querySelector('[data-accept^=\"end effector hand\"]').click()")
        person.sees("viewer.robots[0].endEffectors.length === 1")
        person.press("undo")
        person.sees("viewer.robots[0].endEffectors.length === 0 && Object.keys(viewer.robots[0].groups).length === 2")
        person.accept("pose home of arm")
        person.save()
        # Nothing was imported by the first suggestion, step, pose and save: their answers do not wait for it.
        assert modules(served, tmp_path) == known
        assert browser.complaints == []


def test_a_page_that_is_silent_for_a_minute_is_kept() -> None:
    # Lost connections are found within 1.2 times this time.
    assert RECONNECT_S <= 10.0
    assert KEPT_S >= 60.0
