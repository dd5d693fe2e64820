# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Pages served to this machine's own browser, and to nobody else: not another site's, whatever its browser sends.

What they show of files is made anew when these change.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import webbrowser
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import uvicorn
from fastapi import FastAPI
from fastapi.responses import Response
from nicegui import app, run, ui

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.viewer.element import ViewerElement
from robot_semantics.viewer.page import ASSETS

Content = TypeVar("Content")


class FreshContent(Generic[Content]):
    """The newest content that could be made of some files.

    Attributes:
        version: a number that changes with the content.
        problem: why the newest files cannot be shown; empty while they can.
    """

    def __init__(self, paths: Sequence[Path], make: Callable[[], Content]) -> None:
        """Make it for the first time; whatever `make` raises is raised."""
        self._paths, self._make = paths, make
        self._lock = threading.Lock()
        self._stamps = self._stamped()
        self.version, self.problem = 0, ""
        self._content = make()

    def __call__(self) -> Content:
        """Return the content."""
        return self._content

    def look(self) -> None:
        """Look whether a file has changed, and make the content anew if so; it stays as it was where that fails."""
        with self._lock:
            stamps = self._stamped()
            # A file that is missing is about to be replaced.
            if stamps == self._stamps or 0 in stamps:
                return
            self._stamps = stamps
            try:
                self._content = self._make()
            except (RobotSemanticsError, OSError) as error:
                self.problem = str(error)
                return
            self.problem = ""
            self.version += 1

    def _stamped(self) -> tuple[int, ...]:
        return tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in self._paths)


Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

REFUSED = b"only for this machine's own page\n"


class OwnPageOnly:
    """An ASGI application around another that lets requests and websockets through only if they are the page's own.

    A foreign ``Host`` is another name for this machine that somebody's name server made up; a foreign ``Origin`` is the
    page of another site. Browsers send the latter with every websocket, and there it must not be missing.
    """

    def __init__(self, application: Application, port: int) -> None:
        self._application = application
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self._origins = {f"http://{host}" for host in self._hosts}
        sources = "'self' 'unsafe-inline' 'unsafe-eval' data: blob:"
        # Pages of the framework compile their templates; nothing is ever fetched from elsewhere.
        self._headers = [
            (b"content-security-policy", f"default-src {sources}; frame-ancestors 'none'".encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or refuse one request."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
        elif self._own(scope) and "\0" not in scope["path"]:
            # No file has such a name; the framework would look for it, and fall.
            await self._application(scope, receive, self._guarded(send) if scope["type"] == "http" else send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(REFUSED)).encode())]
            await send({"type": "http.response.start", "status": 403, "headers": headers})
            await send({"type": "http.response.body", "body": REFUSED})

    def _own(self, scope: Scope) -> bool:
        values: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            values.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        origins = values.get("origin", [])
        return (
            len(values.get("host", [])) == 1
            and values["host"][0] in self._hosts
            and all(origin in self._origins for origin in origins)
            and (scope["type"] == "http" or len(origins) == 1)
            and all(site in ("none", "same-origin") for site in values.get("sec-fetch-site", []))
        )

    def _guarded(self, send: Send) -> Send:
        async def sent(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self._headers]
            await send(message)

        return sent


LOOPBACK = "127.0.0.1"
SCENE = "/scene"
"""Where the pages find what they show."""
LOOK_S = 0.5
"""How often a page looks whether the files have changed [s]."""
PAGE_STYLE = """
body { font-family: system-ui, sans-serif; }
.body--dark .text-primary { color: #6db3f0 !important; }
.nicegui-content { padding: 0; height: 100vh; overflow: hidden; }
"""


def serve_viewer(
    title: str,
    content: Callable[[], bytes],
    *,
    beside: Callable[[ViewerElement], object] = lambda viewer: None,
    port: int = 0,
    open_browser: bool = True,
) -> None:
    """Serve a page with the viewer until interrupted; its address is printed.

    Args:
        title: of the page.
        content: what is shown, `scene_bytes`, asked for by each page anew; pages follow a `FreshContent` as it changes.
        beside: builds for each page what stands to the right of the viewer.
        port: where; 0 takes any free one.
        open_browser: show it in the browser.

    Raises:
        OSError: the port is taken.
    """
    style = (ASSETS / "style.css").read_text(encoding="utf-8")

    def scene() -> Response:
        return Response(content(), media_type="application/octet-stream", headers={"Cache-Control": "no-store"})

    def page() -> None:
        ui.page_title(title)
        ui.dark_mode(None)
        ui.colors(primary="#1f6fb2")
        ui.add_css(style + PAGE_STYLE)
        with ui.element("div").classes("page"):
            with ui.element("div").classes("main"):
                viewer = ViewerElement(SCENE)
            beside(viewer)
        if isinstance(content, FreshContent):
            _follow(viewer, content)

    app.add_api_route(SCENE, scene)
    ui.page("/", response_timeout=30.0)(page)
    _serve(port=port, open_browser=open_browser)


def _follow(viewer: ViewerElement, content: FreshContent[bytes]) -> None:
    """Let a page show the content anew when it changes, and say when the files cannot be shown."""
    seen, told = content.version, ""

    async def look() -> None:
        nonlocal seen, told
        await run.io_bound(content.look)
        if content.version != seen:
            seen = content.version
            viewer.run_method("reload")
        if content.problem != told:
            told = content.problem
            viewer.tell("message", told)

    ui.timer(LOOK_S, look)


def _serve(*, port: int, open_browser: bool) -> None:
    """Serve the pages that were declared until interrupted.

    Raises:
        OSError: the port is taken.
    """
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen(64)
        port = listener.getsockname()[1]
        outer = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
        ui.run_with(outer, title="robot_semantics", show_welcome_message=False, tailwind=True)
        config = uvicorn.Config(
            OwnPageOnly(outer, port),
            log_level="error",
            timeout_graceful_shutdown=1,
            ws_max_size=64 * 1024 * 1024,
        )
        address = f"http://{LOOPBACK}:{port}/"
        print(f"{address}  (Ctrl-C ends)", flush=True)
        if open_browser:
            webbrowser.open(address)
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))
