# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Server of pages for browsers on this machine; pages of other sites are refused.

The pages reload files that change.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import secrets
import socket
import threading
import webbrowser
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import uvicorn
from fastapi import FastAPI
from fastapi.responses import Response
from nicegui import Client, app, run, ui

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.kinematics.forward import ForwardKinematics
from robot_semantics.viewer.element import ViewerElement
from robot_semantics.viewer.page import ASSETS

Content = TypeVar("Content")


class FreshContent(Generic[Content]):
    """The newest valid content from some files.

    Attributes:
        version: a number that changes with the content.
        problem: the reason why the newest files cannot be shown; empty without a problem.
    """

    def __init__(self, paths: Sequence[Path], make: Callable[[], Content]) -> None:
        """Make the content for the first time; errors of `make` are raised."""
        self._paths, self._make = paths, make
        self._lock = threading.Lock()
        self._stamps = self._stamped()
        self.version, self.problem = 0, ""
        self._content = make()

    def __call__(self) -> Content:
        """Return the content."""
        return self._content

    def refresh(self) -> None:
        """Make the content again if a file has changed; after an error, keep the old content."""
        with self._lock:
            stamps = self._stamped()
            # A missing file is usually being replaced.
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


AsgiMessage = MutableMapping[str, Any]
Scope = AsgiMessage
Receive = Callable[[], Awaitable[AsgiMessage]]
Send = Callable[[AsgiMessage], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = "; ".join(
    [
        "default-src 'none'",
        # The framework compiles its templates and evaluates its own messages: 'unsafe-eval' has to stay.
        "script-src 'self' 'nonce-{nonce}' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
"""Content security policy: scripts of this server and with the nonce of the answer; requests to this server only."""

HEADERS = [(b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer")]

REFUSED = b"only for this machine's own page\n"


class OwnPageOnly:
    """ASGI middleware that accepts only requests and websockets of its own pages.

    A foreign ``Host`` comes from DNS rebinding: a name of another site that resolves to this machine. A foreign
        ``Origin`` is the page of another site. Browsers send ``Origin`` with every websocket, so a websocket without it
        is refused.
    """

    def __init__(self, application: Application, port: int) -> None:
        self._application = application
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or refuse one request."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
        elif self._own(scope) and "\0" not in scope["path"]:
            # No file can have this name; the framework would look for it and fail.
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
        nonce = secrets.token_urlsafe(18)
        headers = [*HEADERS, (b"content-security-policy", POLICY.format(nonce=nonce).encode())]
        start: AsgiMessage = {}
        page: list[bytes] = []

        async def sent(message: AsgiMessage) -> None:
            # The page's own scripts get the nonce; the page is sent as a whole.
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *headers]
                start.update(message)
                if not _is_html(message):
                    await send(message)
            elif message["type"] == "http.response.body" and _is_html(start):
                page.append(message.get("body", b""))
                if not message.get("more_body", False):
                    content = b"".join(page).replace(b"<script", f'<script nonce="{nonce}"'.encode())
                    length = (b"content-length", str(len(content)).encode())
                    kept = [(name, value) for name, value in start["headers"] if name.lower() != b"content-length"]
                    await send({**start, "headers": [*kept, length]})
                    await send({**message, "body": content})
            else:
                await send(message)

        return sent


def _is_html(start: AsgiMessage) -> bool:
    return any(name.lower() == b"content-type" and value.startswith(b"text/html") for name, value in start["headers"])


LOOPBACK = "127.0.0.1"
SCENE = "/scene"
"""Address of the scene."""
MAX_UNCONNECTED = 16
"""Pages that wait for their browser's websocket; older ones are deleted."""
RECONNECT_S = 10.0
"""Time that a page without connection is kept; a browser on a busy machine may be silent for seconds [s]."""
TAB_S = 60.0
"""Time that the framework keeps its storage of a tab, which these pages do not use; by default 30 days [s]."""
COLLECT_S = 1.0
"""Time from the end of a page to a garbage collection [s]."""
OBJECTS_PER_COLLECTION = 700
"""Python's default; commands that end soon collect less often."""
LOOK_S = 0.5
"""How often a page looks whether the files have changed [s]."""
VIEWER_STYLE = ASSETS / "style.css"
PAGE_STYLE = ASSETS / "served.css"
WIDTH_COOKIE = "robot_semantics_panel"
"""Remembers how wide a person made the panel [pixels]; a cookie, because every start has another port."""
WIDTHS = (280, 1600)
"""Of the panel, at least and at most [pixels]."""


def serve_viewer(
    title: str,
    content: Callable[[], bytes],
    *,
    robot: Callable[[str], ForwardKinematics] | None = None,
    beside: Callable[[ViewerElement], object] | None = None,
    beside_width: int = 440,
    port: int = 0,
    open_browser: bool = True,
) -> None:
    """Serve a page with the viewer until interrupted; its address is printed.

    Args:
        title: of the page.
        content: returns the scene of a page (`scene_bytes`); pages follow the changes of a `FreshContent`.
        robot: returns a robot of the scene by its name; its loops are closed when a person moves its joints.
        beside: builds for each page the panel to the right of the viewer.
        beside_width: width of the panel until the user drags its edge [pixels].
        port: the port; 0 means any free port.
        open_browser: show it in the browser.

    Raises:
        OSError: the port is taken.
    """

    def scene() -> Response:
        return Response(content(), media_type="application/octet-stream", headers={"Cache-Control": "no-store"})

    unconnected = _UnconnectedPages()

    def page() -> None:
        unconnected.add(ui.context.client)
        ui.page_title(title)
        dark = ui.dark_mode(None)
        ui.colors(primary="#1a5f9a")
        ui.add_css(VIEWER_STYLE)
        ui.add_css(PAGE_STYLE)
        root, viewer = _page(beside, beside_width)
        viewer.on("dark", lambda event: dark.set_value(bool(event.args["on"])))
        if robot is not None:
            viewer.close_loops(robot)
        # Clicks before the connection reach the server late and in any order.
        ui.context.client.on_connect(lambda: root.props(remove="inert"))
        if isinstance(content, FreshContent):
            _follow(viewer, content)

    # The progress bar for requests is useless here: answers come over the websocket.
    app.config.quasar_config["loadingBar"]["skipHijack"] = True
    app.add_api_route(SCENE, scene)
    ui.page("/", response_timeout=30.0)(page)
    _serve(port=port, open_browser=open_browser)


def _page(beside: Callable[[ViewerElement], object] | None, width: int) -> tuple[ui.element, ViewerElement]:
    """Build the viewer and the panel beside it; return the element around both, and the viewer."""
    if beside is None:
        with ui.element("div").classes("page").props("inert") as root, ui.element("div").classes("main"):
            return root, ViewerElement(SCENE)
    with contextlib.suppress(ValueError):
        width = int(ui.context.client.request.cookies.get(WIDTH_COOKIE, ""))
    width = min(max(width, WIDTHS[0]), WIDTHS[1])
    with ui.splitter(reverse=True, limits=WIDTHS, value=width).classes("page").props("inert unit=px") as split:
        with split.before, ui.element("div").classes("main"):
            viewer = ViewerElement(SCENE)
        with split.after:
            beside(viewer)
    split.on_value_change(lambda event: viewer.run_method("remember", WIDTH_COOKIE, event.value))
    return split, viewer


class _UnconnectedPages:
    """Pages whose browsers have not connected yet; only the newest are kept.

    The framework keeps a page without a websocket for a minute. A program that loads pages and never connects would
    fill the memory meanwhile.
    """

    def __init__(self) -> None:
        self._clients: deque[Client] = deque()

    def add(self, client: Client) -> None:
        """Add a page, and delete the oldest if there are more than `MAX_UNCONNECTED`."""
        self._clients.append(client)
        client.on_connect(lambda: self._remove(client))
        client.on_delete(lambda: self._remove(client))
        if len(self._clients) > MAX_UNCONNECTED:
            self._clients.popleft().delete()

    def _remove(self, client: Client) -> None:
        if client in self._clients:
            self._clients.remove(client)


def _follow(viewer: ViewerElement, content: FreshContent[bytes]) -> None:
    """Reload the content of a page when it changes; show a message if the files cannot be shown."""
    seen, told = content.version, ""

    async def poll() -> None:
        nonlocal seen, told
        await run.io_bound(content.refresh)
        if content.version != seen:
            seen = content.version
            viewer.run_method("reload")
        if content.problem != told:
            told = content.problem
            viewer.call("message", told)

    ui.timer(LOOK_S, poll)


def _serve(*, port: int, open_browser: bool) -> None:
    """Serve the declared pages until interrupted.

    Raises:
        OSError: the port is taken.
    """
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen(64)
        app.storage.max_tab_storage_age = TAB_S
        # A closed page is a cycle of objects. The robots stay: without them a full collection takes 5 ms.
        gc.collect()
        gc.freeze()
        gc.set_threshold(OBJECTS_PER_COLLECTION)
        app.on_delete(lambda: asyncio.get_running_loop().call_later(COLLECT_S, gc.collect))
        port = listener.getsockname()[1]
        outer = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
        ui.run_with(
            outer,
            title="robot_semantics",
            language="en-US",
            reconnect_timeout=RECONNECT_S,
            show_welcome_message=False,
            gzip_middleware_factory=None,
            tailwind=False,
        )
        config = uvicorn.Config(
            OwnPageOnly(outer, port),
            log_level="error",
            timeout_graceful_shutdown=1,
            ws_max_size=64 * 1024 * 1024,
        )
        address = f"http://{LOOPBACK}:{port}/"

        class Server(uvicorn.Server):
            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                """Start, then print the address: from now on a signal ends the server in order."""
                await super().startup(sockets)
                print(f"{address}  (Ctrl-C ends)", flush=True)
                if open_browser:
                    webbrowser.open(address)

        asyncio.run(Server(config).serve(sockets=[listener]))
