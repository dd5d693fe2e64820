# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A headless Chromium, driven over its DevTools protocol."""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import itertools
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from support.patience import PATIENCE_S
from websockets.sync.client import ClientConnection, connect

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--remote-debugging-port=0",
    "--remote-allow-origins=*",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--window-size=1300,850",
)

KEYS = {
    "Enter": ("Enter", 13),
    "Escape": ("Escape", 27),
    "Tab": ("Tab", 9),
    "Backspace": ("Backspace", 8),
    "ArrowUp": ("ArrowUp", 38),
    "ArrowDown": ("ArrowDown", 40),
    "ArrowLeft": ("ArrowLeft", 37),
    "ArrowRight": ("ArrowRight", 39),
    "/": ("Slash", 191),
    "?": ("Slash", 191),
    " ": ("Space", 32),
    "F8": ("F8", 119),
}
"""Code and number of keys that are not letters."""


def executable() -> str | None:
    """Return the browser's path, None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class PageError(Exception):
    """The page threw."""


class PageGoneError(PageError):
    """The page was replaced by another one before it answered."""


class Browser:
    """One browser with one page; use it as a context.

    Attributes:
        complaints: errors and warnings on the page's console, and its exceptions.
    """

    def __init__(self, folder: Path) -> None:
        path = executable()
        assert path is not None
        self.complaints: list[str] = []
        self._numbers = itertools.count(1)
        self._process = subprocess.Popen(
            [path, *OPTIONS, f"--user-data-dir={folder}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        told = folder / "DevToolsActivePort"
        end = time.monotonic() + 40.0
        while not told.exists() or len(told.read_text().splitlines()) < 2:
            assert time.monotonic() < end, "the browser does not start"
            assert self._process.poll() is None, "the browser has ended"
            time.sleep(0.05)
        port, way = told.read_text().split()[:2]
        # No keep-alive: a browser that draws without a graphics card may be silent for long on a busy machine.
        self._socket: ClientConnection = connect(
            f"ws://127.0.0.1:{port}{way}", max_size=None, compression=None, ping_interval=None
        )
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session: str | None = None
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")
        self._size: list[int] = self.run("[innerWidth, innerHeight]")

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)

    def open(self, address: str) -> None:
        """Show a page as large as at first and wait until it is ready."""
        self.resize(*self._size)
        # The previous page may still call a stopped server; its messages do not belong to this page.
        self._call("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank' && document.readyState === 'complete'")
        self.complaints.clear()
        self._call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && Boolean(window.viewer) && !document.querySelector('[inert]')")

    @contextlib.contextmanager
    def on_each_page(self, script: str) -> Iterator[None]:
        """Run a script in each page before the scripts of the page."""
        name = self._call("Page.addScriptToEvaluateOnNewDocument", source=script)["identifier"]
        try:
            yield
        finally:
            self._call("Page.removeScriptToEvaluateOnNewDocument", identifier=name)

    def run(self, script: str) -> Any:
        """Return the value of a JavaScript expression; for a promise, the resolved value."""
        answer = self._call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True
        )
        if "exceptionDetails" in answer:
            raise PageError(json.dumps(answer["exceptionDetails"])[:1000])
        return answer["result"].get("value")

    def wait(self, condition: str, seconds: float = PATIENCE_S) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while not self._is_true(condition):
            assert time.monotonic() < end, f"it never came about that {condition}; the page says {self.complaints}"
            time.sleep(0.03)

    def _is_true(self, condition: str) -> bool:
        try:
            return self.run(condition) is True
        except PageGoneError:
            return False

    def drawn(self) -> None:
        """Wait until what changed is drawn."""
        self.run(
            "new Promise((done) => { viewer.redraw(); requestAnimationFrame(() => requestAnimationFrame(done)); })"
        )

    def resize(self, width: int, height: int) -> None:
        """Let the page have that many pixels, until another is opened."""
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=0, mobile=False)

    def picture(self) -> bytes:
        """Return the page as a PNG file."""
        return base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"])

    def click(self, x: float, y: float) -> None:
        """Press and release the mouse at a place of the page."""
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def move(self, x: float, y: float) -> None:
        """Move the mouse to a place of the page."""
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def drag(self, x: float, y: float, to_x: float, to_y: float, steps: int = 10) -> None:
        """Press the mouse at one place, move it in steps, and release it at another."""
        self._call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", buttons=1, clickCount=1)
        for step in range(1, steps + 1):
            at = {"x": x + (to_x - x) * step / steps, "y": y + (to_y - y) * step / steps}
            self._call("Input.dispatchMouseEvent", type="mouseMoved", **at, button="left", buttons=1)
        self._call("Input.dispatchMouseEvent", type="mouseReleased", x=to_x, y=to_y, button="left", clickCount=1)

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self._call("Input.insertText", text=text)

    def press(self, key: str, *, ctrl: bool = False, shift: bool = False, alt: bool = False) -> None:
        """Press and release a key: a letter, or the name of another one, such as Enter."""
        code, number = KEYS.get(key, (key, ord(key[0].upper())))
        named = {"key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": alt + 2 * ctrl + 8 * shift}
        text = "\r" if key == "Enter" else key if len(key) == 1 and not (ctrl or alt) else ""
        self._call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **named)
        self._call("Input.dispatchKeyEvent", type="keyUp", **named)

    def still(self) -> None:
        """Wait until nothing fades or moves."""
        self.wait("document.getAnimations().every((one) => one.playState !== 'running')")

    def audit(self, part: str = "html") -> list[str]:
        """Return what axe-core finds wrong for people who use a keyboard or a screen reader, or see little contrast, in
        the part of the page with a CSS selector.
        """
        # Elements that fade in have low contrast for a moment.
        self.still()
        package = importlib.util.find_spec("axe_core_python")
        assert package is not None
        assert package.origin is not None
        if not self.run("Boolean(window.axe)"):
            self.run(Path(package.origin).with_name("axe.min.js").read_text(encoding="utf-8") + "; 1")
        found: list[str] = self.run(
            f"axe.run({json.dumps(part)}, {{resultTypes: ['violations']}}).then((found) => "
            "found.violations.flatMap(({id, nodes}) =>"
            " nodes.map(({html, failureSummary}) => `${id}: ${html.slice(0, 200)}: ${failureSummary.slice(0, 300)}`)))"
        )
        return found

    def _call(self, method: str, **parameters: Any) -> Any:
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if getattr(self, "_session", None):
            message["sessionId"] = self._session
        self._socket.send(json.dumps(message))
        while True:
            told = json.loads(self._socket.recv(timeout=PATIENCE_S))
            if told.get("id") == number:
                if "navigated" in told.get("error", {}).get("message", ""):
                    raise PageGoneError(told["error"]["message"])
                assert "error" not in told, told
                return told["result"]
            self._note(told)

    def _note(self, told: dict[str, Any]) -> None:
        parameters = told.get("params", {})
        if told.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(parameters["exceptionDetails"])[:500])
        elif told.get("method") == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            # A slow machine's graphics driver says that it is slow; the page can do nothing about it.
            if "GL Driver Message (OpenGL, Performance" not in parameters["entry"]["text"]:
                self.complaints.append(parameters["entry"]["text"])
        elif told.get("method") == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(parameters["args"])[:500])
