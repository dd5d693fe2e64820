# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A person who uses the studio by the keyboard alone, with the actions counted."""

from __future__ import annotations

import json

from support.browser import Browser

TABS = 400
"""Tab presses after which an element counts as out of reach."""


class Keyboard:
    """Fills fields, chooses names and presses buttons, all by keys.

    Attributes:
        actions: number of filled fields, chosen names, pressed buttons and shortcuts, without moves of the focus.
    """

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.actions = 0

    def shortcut(
        self, key: str, focused: str = "", *, ctrl: bool = False, shift: bool = False, alt: bool = False
    ) -> None:
        """Press a shortcut, and wait until the element with the id `focused` has the focus."""
        self.actions += 1
        self._press(key, ctrl=ctrl, alt=alt)
        if focused:
            self.browser.wait(f"document.activeElement.id === {json.dumps(focused)}")

    def reach(self, selector: str, *, back: bool = False) -> None:
        """Press Tab (with `back` Shift+Tab) until the element of a CSS selector has the focus."""
        self.browser.wait(f"document.querySelector({json.dumps(selector)}) !== null")
        for _ in range(TABS):
            if self.browser.run(f"document.activeElement?.matches({json.dumps(selector)}) === true"):
                return
            self._press("Tab", shift=back)
        raise AssertionError(f"Tab does not reach {selector}")

    def fill(self, selector: str, text: str) -> None:
        """Type a text into a field; Tab has selected its old content."""
        self.reach(selector)
        self.actions += 1
        self.browser.type(text)
        self.browser.wait(f"document.activeElement.value === {json.dumps(text)}")

    def choose(self, name: str, text: str) -> None:
        """Type one of the names of a list, and take it by Enter."""
        self.reach(f"#{name}")
        self.actions += 1
        self.browser.type(text)
        self.browser.wait(f"document.activeElement.value === {json.dumps(text)}")
        self._press("Enter")
        # The list of a field for several names stays open.
        chips = "document.activeElement.closest('.q-field').querySelector('.q-chip') !== null"
        self.browser.wait(f"document.querySelector('.q-menu') === null || {chips}")

    def push(self, selector: str, *, back: bool = False) -> None:
        """Press a button; with `back`, it is before the element with the focus."""
        self.reach(selector, back=back)
        self.actions += 1
        self._press("Enter")

    def _press(self, key: str, **held: bool) -> None:
        """Press a key, and let the page draw what follows: no person is faster."""
        self.browser.press(key, **held)
        self.browser.run("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
