# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Server of pages for their owner's browser on this machine; other users and pages of other sites are refused.

The pages reload files that change.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import hashlib
import hmac
import html
import os
import secrets
import socket
import tempfile
import threading
import webbrowser
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Generic, TypeVar
from urllib.parse import parse_qs, quote

import uvicorn
from fastapi import FastAPI
from fastapi.responses import Response
from nicegui import Client, app, events, run, ui
from uvicorn.protocols.http.h11_impl import H11Protocol

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.names import print_line
from robot_semantics.base.record import record
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

FOREIGN = b"only for this machine's own page\n"
NO_TOKEN = b"open the address that the program printed: it has the token of this page\n"


@record(frozen=True)
class PageOptions:
    """How a page is served.

    Attributes:
        port: the port; 0 means any free port.
        open_browser: show the page in the browser.
        token: secret in the address of the page, by default a random one; None: every user of this machine can open and
            control the page.
    """

    port: int = 0
    open_browser: bool = True
    token: str | None = field(default_factory=lambda: secrets.token_urlsafe(32))


class PageToken:
    """Secret of a served page: in the address at first, then in a cookie.

    Attributes:
        cookie: the cookie as text of a header. Its name has the port: a browser sends a cookie to all ports of a host.
    """

    def __init__(self, token: str, port: int) -> None:
        self._digest = _digest(token)
        self._name, self._value = f"robot_semantics_{port}", _digest(f"cookie {token}")
        self.cookie = f"{self._name}={self._value}; Path=/; HttpOnly; SameSite=Strict"

    def is_in_query(self, query: bytes) -> bool:
        """Return True if the query of an address has the token."""
        tokens = parse_qs(query.decode("latin-1"), errors="surrogateescape").get("token", [])
        return len(tokens) == 1 and hmac.compare_digest(_digest(tokens[0]), self._digest)

    def is_in_cookies(self, headers: Sequence[str]) -> bool:
        """Return True if one of the ``Cookie`` headers has the cookie."""
        cookies = (cookie.strip().partition("=") for header in headers for cookie in header.split(";"))
        values = [value for name, _, value in cookies if name == self._name]
        return any(hmac.compare_digest(value.encode("latin-1"), self._value.encode()) for value in values)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


class OwnPageOnly:
    """ASGI middleware that accepts only requests and websockets of its own pages, from the owner's browser.

    A foreign ``Host`` comes from DNS rebinding: a name of another site that resolves to this machine. A foreign
        ``Origin`` is the page of another site. Browsers send ``Origin`` with every websocket, so a websocket without it
        is refused. A request without the token comes from another user of this machine. The first request for the page
        has the token in its address, and may come from anywhere, such as a link in a terminal.
    """

    def __init__(self, application: Application, port: int, token: PageToken | None) -> None:
        self._application, self._token = application, token
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or refuse one request."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        values: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            values.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        in_query = self._token is not None and self._token.is_in_query(scope["query_string"])
        is_known = self._token is None or self._token.is_in_cookies(values.get("cookie", []))
        if not self._is_own(scope, values, is_opened=in_query):
            refusal = FOREIGN
        elif not (in_query or is_known):
            refusal = NO_TOKEN
        else:
            connection = scope.get("state", {}).get(CONNECTION)
            if connection is not None:
                connection.is_owners = True
            cookie = self._token.cookie if self._token is not None and not is_known else None
            await self._application(scope, receive, _guarded(send, cookie) if scope["type"] == "http" else send)
            return
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(refusal)).encode())]
            await send({"type": "http.response.start", "status": 403, "headers": headers})
            await send({"type": "http.response.body", "body": refusal})

    def _is_own(self, scope: Scope, values: Mapping[str, list[str]], *, is_opened: bool) -> bool:
        """Return True if a request comes from an own page, or opens the page with the token."""
        hosts, origins = values.get("host", []), values.get("origin", [])
        if len(hosts) != 1 or hosts[0] not in self._hosts or "\0" in scope["path"]:
            # No file can have a name with NUL; the framework would look for it and fail.
            return False
        if is_opened and scope["type"] == "http" and scope["method"] == "GET" and scope["path"] == "/":
            return True
        return (
            all(origin in self._origins for origin in origins)
            and (scope["type"] == "http" or len(origins) == 1)
            and all(site in ("none", "same-origin") for site in values.get("sec-fetch-site", []))
        )


def _guarded(send: Send, cookie: str | None) -> Send:
    """Return `send` with the security headers, with a nonce for each script of a page, and with the cookie."""
    nonce = secrets.token_urlsafe(18)
    headers = [*HEADERS, (b"content-security-policy", POLICY.format(nonce=nonce).encode())]
    if cookie is not None:
        headers.append((b"set-cookie", cookie.encode()))
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


CONNECTION = "robot_semantics_connection"
"""Key of the connection in the state of a request."""
REQUEST_S = 30.0
"""Longest time that a client may take to send a request, or to read the next part of an answer [s]."""
MAX_CONNECTIONS = 64
"""Largest number of connections of a server."""


MAX_HEADERS_BYTES = 2**16
"""Longest head of a request: a browser sends the cookies of all programs of this machine [bytes]."""


class BoundedConnection(H11Protocol):
    """An HTTP connection that no client can hold without end.

    Attributes:
        is_owners: True after a request with the token: such a connection is not closed for another one.
    """

    def __init__(self, *, app_state: dict[str, Any], **options: Any) -> None:
        super().__init__(app_state={**app_state, CONNECTION: self}, **options)
        self.is_owners = False
        self._began = self.loop.time()
        self._timeout: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Begin; if there are too many connections, close the oldest of another user, or this one."""
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            others = [other for other in self.connections if isinstance(other, BoundedConnection)]
            closed = min((other for other in others if not other.is_owners), key=lambda other: other._began)
            self.connections.discard(closed)
            closed.transport.abort()
        self._wait_for_client()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        if self._has_whole_request() or self.transport.get_protocol() is not self:
            self._end_wait()

    def pause_writing(self) -> None:
        """Wait for a client that reads too slowly."""
        super().pause_writing()
        self._wait_for_client()

    def resume_writing(self) -> None:
        """Continue after the client has read."""
        super().resume_writing()
        if self._has_whole_request():
            self._end_wait()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._wait_for_client()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._end_wait()
        super().connection_lost(exc)

    def _has_whole_request(self) -> bool:
        cycle = vars(self)["cycle"]  # None before the first request
        return cycle is not None and not cycle.more_body and not cycle.response_complete

    def _wait_for_client(self) -> None:
        self._end_wait()
        self._timeout = self.loop.call_later(REQUEST_S, self.transport.abort)

    def _end_wait(self) -> None:
        if self._timeout is not None:
            self._timeout.cancel()
            self._timeout = None


LOOPBACK = "127.0.0.1"
SCENE = "/scene"
"""Address of the scene."""
MAX_UNCONNECTED = 16
"""Pages that wait for their browser's websocket; older ones are deleted."""
RECONNECT_S = 10.0
"""A page that is silent for 1.2 of this time has lost its connection, and connects again [s]."""
KEPT_S = 90.0
"""Time that a page without connection is kept: a click that waits in a silent page is not lost meanwhile [s]."""
TAB_S = 60.0
"""Time that the framework keeps its storage of a tab, which these pages do not use; by default 30 days [s]."""
COLLECT_S = 1.0
"""Time from the end of a page to a garbage collection [s]."""
OBJECTS_PER_COLLECTION = 700
"""Python's default; commands that end soon collect less often."""
LOOK_S = 0.5
"""How often a page looks whether the files have changed [s]."""
REDIRECTION = """<!doctype html>
<meta http-equiv="refresh" content="0; url={address}">
<a href="{address}">robot_semantics</a>
"""
"""Page that opens an address."""
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
    options: PageOptions | None = None,
) -> None:
    """Serve a page with the viewer until interrupted; its address is printed.

    Args:
        title: of the page.
        content: returns the scene of a page (`scene_bytes`); pages follow the changes of a `FreshContent`.
        robot: returns a robot of the scene by its name; its loops are closed when a person moves its joints.
        beside: builds for each page the panel to the right of the viewer.
        beside_width: width of the panel until the user drags its edge [pixels].
        options: port, token, and whether the browser is opened; by default any port, a random token and the browser.

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
        # Clicks before the connection reach the server late and in any order: until then, the page shows no control.
        ui.context.client.on_connect(lambda: root.props(remove="inert"))
        if isinstance(content, FreshContent):
            _follow(viewer, content)

    # The progress bar for requests is useless here: answers come over the websocket.
    app.config.quasar_config["loadingBar"]["skipHijack"] = True
    app.add_api_route(SCENE, scene)
    ui.page("/", response_timeout=30.0, reconnect_timeout=KEPT_S)(page)
    _serve(options or PageOptions())


def _page(beside: Callable[[ViewerElement], object] | None, width: int) -> tuple[ui.element, ViewerElement]:
    """Build the viewer and the panel beside it; return the element around both, and the viewer."""
    if beside is None:
        with ui.element("div").classes("page").props("inert") as root, ui.element("div").classes("main"):
            return root, ViewerElement(SCENE)
    is_chosen = False
    with contextlib.suppress(ValueError):
        width = int(ui.context.client.request.cookies.get(WIDTH_COOKIE, ""))
        is_chosen = True
    width = needed = min(max(width, WIDTHS[0]), WIDTHS[1])
    with ui.splitter(reverse=True, limits=WIDTHS, value=width).classes("page").props("inert unit=px") as split:
        with split.before, ui.element("div").classes("main"):
            viewer = ViewerElement(SCENE)
        with split.after:
            beside(viewer)

    def changed(event: events.ValueChangeEventArguments[float | None]) -> None:
        nonlocal is_chosen
        if event.value != needed:
            is_chosen = True
            viewer.run_method("remember", WIDTH_COOKIE, event.value)

    def widen(pixels: int) -> None:
        nonlocal needed
        if not is_chosen:
            needed = min(max(pixels, width), WIDTHS[1])
            split.set_value(needed)

    split.on_value_change(changed)
    viewer.widen_panel = widen
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
    seen, last_text = content.version, ""

    async def poll() -> None:
        nonlocal seen, last_text
        await run.io_bound(content.refresh)
        if content.version != seen:
            seen = content.version
            viewer.run_method("reload")
        if content.problem != last_text:
            last_text = content.problem
            viewer.call("message", last_text)

    ui.timer(LOOK_S, poll)


def _serve(options: PageOptions) -> None:
    """Serve the declared pages until interrupted.

    Raises:
        OSError: the port is taken.
    """
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, options.port))
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
        token = None if options.token is None else PageToken(options.token, port)
        config = uvicorn.Config(
            OwnPageOnly(outer, port, token),
            http=BoundedConnection,
            h11_max_incomplete_event_size=MAX_HEADERS_BYTES,
            log_level="error",
            timeout_graceful_shutdown=1,
            ws_max_size=64 * 1024 * 1024,
        )
        address = f"http://{LOOPBACK}:{port}/"
        if options.token is not None:
            address += f"?token={quote(options.token, safe='')}"

        with contextlib.ExitStack() as opened:

            class Server(uvicorn.Server):
                async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                    """Start, then print the address: from now on a signal ends the server in order."""
                    await super().startup(sockets)
                    print_line(f"{address}  (Ctrl-C ends)", flush=True)
                    if options.open_browser:
                        webbrowser.open(opened.enter_context(_redirection(address)))

            asyncio.run(Server(config).serve(sockets=[listener]))


@contextlib.contextmanager
def _redirection(address: str) -> Iterator[str]:
    """Yield the address of a file that only this user can read; in a browser it opens `address`.

    Other users see the command line of the browser, so it must not have the token.
    """
    folder = None
    with contextlib.suppress(RuntimeError):
        # A browser from a snap reads neither hidden files nor the folder for temporary files.
        if Path("/snap/bin").is_dir() and os.access(Path.home(), os.W_OK):
            folder = Path.home()
    descriptor, name = tempfile.mkstemp(prefix="robot_semantics-", suffix=".html", dir=folder)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(REDIRECTION.format(address=html.escape(address)))
        yield Path(name).as_uri()
    finally:
        Path(name).unlink(missing_ok=True)
