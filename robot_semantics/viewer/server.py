"""The page served to this machine's own browser, and to nobody else."""

from __future__ import annotations

import json
import threading
import webbrowser
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.viewer.page import POLICY, page
from robot_semantics.viewer.scene_data import live_message
from robot_semantics.viewer.stage import Moment, Stage

LOOPBACK = "127.0.0.1"
LARGEST_REQUEST = 100_000
UPDATE_PERIOD = 1.0 / 30.0
"""Shortest time between two updates of a live page [s]."""


class LiveRobots(Protocol):
    """Robots that move by themselves: what a live page follows, and whom it asks."""

    def wait(self, seen: int, timeout: float) -> tuple[int, Moment] | None:
        """Return the newest moment and its number once that is above `seen`; None if none came in `timeout` seconds."""

    def ask(self, what: str, name: str) -> str:
        """Save or restore (`what`) a snapshot; return what to tell, or raise a `RobotSemanticsError`."""


class PageServer(ThreadingHTTPServer):
    """Serves one page on the loopback interface; requests that another site's page makes are refused.

    Attributes:
        address: where the page is.
    """

    daemon_threads = True
    # Two servers on one port would answer by turns.
    allow_reuse_port = False

    def __init__(
        self,
        stage: Stage,
        *,
        groups: Sequence[str] = (),
        witnesses: Sequence[Mapping[str, Any]] = (),
        port: int = 0,
        live: LiveRobots | None = None,
    ) -> None:
        """Prepare; `port` 0 takes any free one.

        Raises:
            OSError: the port is taken.
        """
        self.content = page(stage, groups=groups, witnesses=witnesses, live=live is not None).encode()
        self.live = live
        self.stopping = threading.Event()
        super().__init__((LOOPBACK, port), _Handler)
        self.hosts = frozenset(f"{host}:{self.server_port}" for host in (LOOPBACK, "localhost"))
        self.address = f"http://{LOOPBACK}:{self.server_port}/"

    def shutdown(self) -> None:
        """Stop serving; pages that follow are let go."""
        self.stopping.set()
        super().shutdown()


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        """Answer with the page, or with what the robots do."""
        if not self._welcome():
            return
        path = self.path.partition("?")[0]
        if path == "/":
            self._answer(HTTPStatus.OK, "text/html; charset=utf-8", self.server.content)
        elif path == "/events" and self.server.live is not None:
            self._events(self.server.live)
        else:
            self._tell(HTTPStatus.NOT_FOUND, "there is nothing here")

    def do_POST(self) -> None:
        """Save or restore a snapshot."""
        if not self._welcome():
            return
        what = self.path[1:]
        if self.server.live is None or what not in ("save", "restore"):
            self._tell(HTTPStatus.NOT_FOUND, "there is nothing here")
            return
        # A form of another site cannot send this kind, and no request without an origin comes from a page.
        if self.headers.get_content_type() != "application/json" or "Origin" not in self.headers:
            self._tell(HTTPStatus.FORBIDDEN, "only the page itself may ask for this")
            return
        try:
            length = int(self.headers.get("Content-Length", "0"))
            name = json.loads(self.rfile.read(min(max(length, 0), LARGEST_REQUEST)))["name"]
            if not isinstance(name, str):
                raise TypeError("the name is no text")
        except (ValueError, LookupError, TypeError) as error:
            self._tell(HTTPStatus.BAD_REQUEST, f"the request cannot be understood: {error}")
            return
        try:
            self._tell(HTTPStatus.OK, self.server.live.ask(what, name))
        except RobotSemanticsError as error:
            self._tell(HTTPStatus.CONFLICT, str(error))

    def _welcome(self) -> bool:
        """Whether the request comes from this machine's browser and from this page, not from another site's."""
        origin = self.headers.get("Origin")
        own = self.headers.get("Host") in self.server.hosts
        own = own and (origin is None or origin in {f"http://{host}" for host in self.server.hosts})
        own = own and self.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin")
        if not own:
            self.close_connection = True
            self._tell(HTTPStatus.FORBIDDEN, "only for this machine's own page")
        return own

    def _events(self, live: LiveRobots) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        seen = -1
        try:
            while not self.server.stopping.wait(UPDATE_PERIOD):
                found = live.wait(seen, 1.0)
                if found is None:
                    self.wfile.write(b": nothing new\n\n")
                else:
                    seen, moment = found
                    self.wfile.write(f"data: {live_message(moment)}\n\n".encode())
                self.wfile.flush()
        except OSError:
            # The page was closed.
            return

    def _tell(self, status: HTTPStatus, message: str) -> None:
        self._answer(status, "application/json", json.dumps({"message": message}).encode())

    def _answer(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", f"{POLICY}; frame-ancestors 'none'")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the page's own messages are for people."""


def serve(server: PageServer, *, open_browser: bool = True) -> None:
    """Serve until interrupted; the page's address is printed."""
    print(f"{server.address}  (Ctrl-C ends)", flush=True)
    if open_browser:
        webbrowser.open(server.address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.stopping.set()
        server.server_close()
