# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A user of the studio: presses, types and chooses visible elements."""

from __future__ import annotations

import json

from support.browser import Browser
from support.served import Served


class Person:
    """Sits before the studio of a robot."""

    def __init__(self, browser: Browser, served: Served) -> None:
        self.browser = browser
        browser.open(served.address)
        browser.wait("document.querySelector('[data-do=save]') !== null")

    def press(self, name: str) -> None:
        """Press a button by its label."""
        self.browser.wait(f"document.querySelector('[data-do={name}]') !== null")
        # The button of a dialog that is going away does nothing any more.
        self.browser.wait("document.querySelector('[class*=leave-active]') === null")
        self.browser.wait(f"document.querySelector('[data-do={name}]') !== null")
        self.browser.run(f"[...document.querySelectorAll('[data-do={name}]')].at(-1).click()")

    def tab(self, name: str) -> None:
        self.browser.run(f"document.querySelector('[data-tab={name}]').click()")
        self.browser.wait(f"document.querySelector('[data-panel={name}]') !== null")

    def type(self, field: str, text: str) -> None:
        """Type into an empty field."""
        self.browser.wait(f"document.getElementById('{field}') !== null")
        self.browser.run(f"document.getElementById('{field}').focus()")
        self.browser.run(f"document.getElementById('{field}').select()")
        self.browser.type(text)
        self.browser.wait(f"document.getElementById('{field}').value === {json.dumps(text)}")

    def choose(self, field: str, text: str) -> None:
        """Choose one of a field's names by typing most of it and clicking it: a whole name closes the list."""
        self.browser.wait(f"document.getElementById('{field}') !== null")
        self.browser.run(f"document.getElementById('{field}').focus()")
        self.browser.type(text[:-1])
        item = f"[...document.querySelectorAll('.q-menu .q-item')].find((item) => item.textContent.trim() === '{text}')"
        self.browser.wait(f"Boolean({item})")
        self.browser.run(f"{item}.click()")
        self.browser.wait("document.querySelector('.q-menu') === null")

    def toggle(self, text: str) -> None:
        """Choose one of a few kinds."""
        button = f"[...document.querySelectorAll('.q-btn-toggle button')].find((b) => b.innerText.trim() === '{text}')"
        self.browser.wait(f"Boolean({button})")
        self.browser.run(f"{button}.click()")

    def accept(self, suggestion: str) -> None:
        """Accept a suggestion by words of its label."""
        button = f"document.querySelector('[data-accept*=\"{suggestion}\"]')"
        self.sees(f"Boolean({button})")
        self.browser.run(f"{button}.click()")
        self.sees(f"{button} === null")

    def click_link(self, name: str, actor: int = 0) -> None:
        """Click a link, as the viewer tells it."""
        robot = f"viewer.robots[{actor}]"
        self.browser.run(f"viewer.pickLink({{robot: {robot}, link: {robot}.linkIndex.get('{name}')}})")

    def sees(self, condition: str) -> None:
        """Wait until the condition holds; rebuilt elements may be missing for a moment."""
        self.browser.wait(f"(() => {{ try {{ return {condition}; }} catch {{ return false; }} }})()")

    def text(self) -> str:
        return str(self.browser.run("document.querySelector('.studio').innerText"))

    def save(self) -> None:
        self.press("save")
        self.press("really-save")
        self.sees("document.querySelector('[data-saved]').innerText === 'saved'")
