"""The served page: for this machine's own browser, and for no other site's page."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.viewer.server import PageServer
from robot_semantics.viewer.stage import Moment, Stage, Stance, link_poses

if TYPE_CHECKING:
    from viewer.conftest import Browser
else:
    Browser = Any


class Puppet:
    """Robots that move when they are told to."""

    def __init__(self, moment: Moment) -> None:
        self.moment, self.number = moment, 1
        self.asked: list[tuple[str, str]] = []

    def wait(self, seen: int, timeout: float) -> tuple[int, Moment] | None:
        if seen >= self.number:
            threading.Event().wait(min(timeout, 0.05))
            return None
        return self.number, self.moment

    def ask(self, what: str, name: str) -> str:
        if name == "bad":
            raise RobotSemanticsError("no such snapshot")
        self.asked.append((what, name))
        return f"did {what} {name}"


@pytest.fixture
def puppet(rover: Stage) -> Puppet:
    return Puppet(rover.moments[0])


@pytest.fixture
def server(rover: Stage, puppet: Puppet) -> Iterator[PageServer]:
    found = PageServer(rover, live=puppet)
    thread = threading.Thread(target=found.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield found
    found.shutdown()
    found.server_close()


def ask(server: PageServer, method: str, path: str, body: str | None = None, **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, given)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


def test_it_listens_on_the_loopback_interface_only(server: PageServer) -> None:
    assert server.socket.getsockname()[0] == "127.0.0.1"
    with socket.socket() as other:
        other.settimeout(2)
        with pytest.raises(OSError, match=r".*"):
            other.connect(("127.0.0.2", server.server_port))


def test_the_page_is_there_and_nothing_else(server: PageServer) -> None:
    status, content = ask(server, "GET", "/")
    assert status == 200
    assert content == server.content
    assert ask(server, "GET", "/etc/passwd")[0] == 404
    assert ask(server, "GET", "/../setup.py")[0] == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:80", "Origin": "http://evil.example:80"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
@pytest.mark.parametrize("path", ["/", "/events", "/save"])
def test_other_sites_are_refused(server: PageServer, puppet: Puppet, path: str, headers: dict[str, str]) -> None:
    method, body = ("POST", '{"name": "x"}') if path == "/save" else ("GET", None)
    status, content = ask(server, method, path, body, Content_Type="application/json", **headers)
    assert (status, json.loads(content)) == (403, {"message": "only for this machine's own page"})
    assert puppet.asked == []


def test_only_a_page_may_ask_and_only_with_sense(server: PageServer, puppet: Puppet) -> None:
    own = {"Origin": server.address.rstrip("/"), "Content_Type": "application/json"}
    assert ask(server, "POST", "/save", '{"name": "x"}', Content_Type="application/json")[0] == 403
    assert ask(server, "POST", "/save", '{"name": "x"}', Origin=own["Origin"], Content_Type="text/plain")[0] == 403
    for body in ("", "{", "[]", '{"name": 3}', "{}", '"name"'):
        assert ask(server, "POST", "/save", body, **own)[0] == 400
    assert ask(server, "POST", "/delete", '{"name": "x"}', **own)[0] == 404
    assert puppet.asked == []
    assert ask(server, "POST", "/restore", '{"name": "x"}', **own) == (200, b'{"message": "did restore x"}')
    assert ask(server, "POST", "/save", '{"name": "bad"}', **own) == (409, b'{"message": "no such snapshot"}')


def test_a_page_follows_what_moves_and_its_buttons_ask(
    browser: Browser, server: PageServer, puppet: Puppet, rover: Stage
) -> None:
    browser.open(server.address)
    (actor,) = rover.actors
    q = actor.kinematics.space.pack({"elbow_joint": 0.625, "world_joint/x": 1.5})
    puppet.moment = replace(puppet.moment, label="12.500 s", stances={"rover_arm": Stance(q, np.eye(4))})
    puppet.number = 2
    browser.wait("document.getElementById('live-state').textContent === '12.500 s'")
    told = browser.run("viewer.poses(viewer.robots[0])")
    np.testing.assert_allclose(
        np.array(told).reshape(-1, 4, 4), link_poses(actor, puppet.moment.stances["rover_arm"]), atol=1e-12
    )
    browser.run("document.getElementById('snapshot-name').value = 'one'")
    browser.run("document.getElementById('snapshot-save').click()")
    browser.wait("document.getElementById('message').textContent === 'did save one'")
    assert puppet.asked == [("save", "one")]
    assert browser.complaints == []
