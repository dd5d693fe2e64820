# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Nothing but this machine's own page may talk to the server: not another site's, whatever its browser sends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

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
