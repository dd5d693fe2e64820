# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The served pages: for this machine's own browser, and for no other site's page."""

from __future__ import annotations

import contextlib
import http.client
import importlib.util
import json
import re
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from support.browser import Browser
from support.served import Served
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect
from websockets.typing import Origin

from robot_semantics.examples import example
from robot_semantics.viewer.scene import Scene, Stance, link_poses

LIVE = """
import json, sys, threading
from dataclasses import replace
from pathlib import Path
import numpy as np
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.examples import example
from robot_semantics.viewer.live_page import LivePanel
from robot_semantics.viewer.opening import Opening, open_files
from robot_semantics.viewer.scene_data import scene_bytes
from robot_semantics.viewer.server import PageOptions, serve_viewer
from robot_semantics.viewer.scene import Stance

scene = open_files([example("rover_arm.urdf"), example("rover_arm.srdf")], Opening(), Diagnostics())
folder = Path(sys.argv[1])

class Puppet:
    # Moves once the file "moved" says where to.
    def __init__(self):
        self.saved = [("old", "1.000 s")]
    def wait(self, seen, timeout):
        moved = (folder / "moved").exists()
        if seen >= moved + 1:
            return None
        q = scene.actors[0].kinematics.space.pack(json.loads((folder / "moved").read_text()) if moved else {})
        stances = {"rover_arm": Stance(q, np.eye(4))}
        return moved + 1, replace(scene.moments[0], label=f"{12.5 * moved:.3f} s", stances=stances)
    def ask(self, what, name):
        if name == "bad":
            raise RobotSemanticsError("no such snapshot")
        if what == "save":
            self.saved.insert(0, (name, "2.000 s"))
        if what == "delete":
            self.saved = [item for item in self.saved if item[0] != name]
        return [f"did {what} {name}", "missing: nothing"]
    def snapshots(self):
        return self.saved
    def snapshot(self, name):
        q = scene.actors[0].kinematics.space.pack({"elbow_joint": -0.25})
        return replace(scene.moments[0], stances={"rover_arm": Stance(q, np.eye(4))})
    def can_jog(self):
        return (folder / "simulator").exists()
    def jog(self, robot, positions):
        (folder / "commanded").write_text(json.dumps(positions))
    def sliders(self):
        return {}

puppet = Puppet()
content = scene_bytes(scene, live=True)
is_described = lambda: (folder / "described").exists()
panel = lambda viewer: LivePanel(viewer, puppet, "/node, domain 7", is_described=is_described)
serve_viewer("live", lambda: content, beside=panel, options=PageOptions(open_browser=False))
"""


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """The example robot's page, as the command line serves it."""
    files = [str(example(f"rover_arm.{kind}")) for kind in ("urdf", "srdf")]
    found = Served("-m", "robot_semantics.cli.main", "view", *files, "--no-browser")
    yield found
    assert found.end() == 130, found.rest()


def test_it_listens_on_the_loopback_interface_only(served: Served) -> None:
    with socket.socket() as other:
        other.settimeout(5)
        with pytest.raises(OSError, match=r".*"):
            other.connect(("127.0.0.2", served.port))


FOREIGN = [
    {"Host": "evil.example"},
    {"Host": "evil.example:{port}", "Origin": "http://evil.example:{port}"},
    {"Host": "127.0.0.1"},
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": "https://127.0.0.1:{port}"},
    {"Sec_Fetch_Site": "cross-site"},
    {"Sec_Fetch_Site": "same-site"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
@pytest.mark.parametrize("path", ["/", "/scene", "/_nicegui_ws/socket.io/?EIO=4&transport=polling", "/nothing"])
def test_other_sites_are_refused(served: Served, path: str, headers: dict[str, str]) -> None:
    given = {name: value.format(port=served.port) for name, value in headers.items()}
    assert served.ask(path, **given) == (403, b"only for this machine's own page\n")


def test_the_page_s_own_requests_are_answered(served: Served) -> None:
    own = {"Origin": f"http://127.0.0.1:{served.port}", "Sec_Fetch_Site": "same-origin"}
    assert served.ask("/")[0] == 200
    assert served.ask("/", Host=f"localhost:{served.port}")[0] == 200
    assert served.ask("/scene", **own)[0] == 200
    assert served.ask(f"/?token={token(served)}")[0] == 200
    assert served.ask("/../setup.py")[0] == 404


ABOVE = ("../" * 8, "%2e%2e/" * 8, "..%2f" * 8, "%252e%252e%252f" * 8, "..\\" * 8, "%5c.." * 8 + "%5c", "/", "%00")


def test_no_route_of_files_leads_out_of_its_folder(served: Served) -> None:
    page = served.ask("/")[1].decode()
    folders = {path.rpartition("/")[0] for path in re.findall(r"""["'](/_nicegui/[^"'<> ]+)["']""", page)}
    assert len(folders) > 3
    for folder in sorted(folders):
        for above in ABOVE:
            status, content = served.ask(f"{folder}/{above}etc/passwd")
            assert status in (403, 404), (folder, above)
            assert b"root:" not in content


@pytest.mark.parametrize(
    "origin", [None, "http://evil.example", "null", "http://localhost:1", "https://127.0.0.1:{port}"]
)
def test_websockets_of_other_sites_are_refused(served: Served, origin: str | None) -> None:
    address = f"ws://127.0.0.1:{served.port}/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    given = None if origin is None else Origin(origin.format(port=served.port))
    cookie = {"Cookie": served.cookie}
    with pytest.raises(WebSocketException), connect(address, origin=given, additional_headers=cookie, open_timeout=20):
        pass
    own = Origin(f"http://127.0.0.1:{served.port}")
    with connect(address, origin=own, additional_headers=cookie, open_timeout=20) as socket_:
        assert json.loads(str(socket_.recv(20))[1:])["sid"]


NO_TOKEN = b"open the address that the program printed: it has the token of this page\n"
WRONG_COOKIES = [
    "",
    "robot_semantics_{port}=",
    "robot_semantics_{port}=" + "0" * 64,
    "robot_semantics_{port}={token}",
    "robot_semantics_1={value}",
    "robot_semantics={value}",
]


@pytest.mark.parametrize("cookie", WRONG_COOKIES)
@pytest.mark.parametrize(
    "path",
    ["/", "/?token=", "/?token=x", "/?Token={token}", "/scene", "/_nicegui_ws/socket.io/?EIO=4&transport=polling"],
)
def test_other_users_of_the_machine_are_refused(served: Served, path: str, cookie: str) -> None:
    words = {"port": served.port, "token": token(served), "value": served.cookie.partition("=")[2]}
    wrong = cookie.format(**words)
    assert served.ask(path.format(token=words["token"]), Cookie=wrong) == (403, NO_TOKEN)


def test_every_route_of_the_framework_asks_for_the_token(served: Served) -> None:
    page = served.ask("/")[1].decode()
    routes = set(re.findall(r"""["'](/_nicegui/[^"'<> ]+)["']""", page))
    assert len(routes) > 10
    for path in routes:
        assert served.ask(path, Cookie="")[0] == 403, path
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS"):
        connection.request(method, "/_nicegui/client/1/upload/2", body=b"x" * 10)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 403, method
    connection.close()


def test_a_websocket_needs_the_cookie(served: Served) -> None:
    address = f"ws://127.0.0.1:{served.port}/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    with (
        pytest.raises(WebSocketException),
        connect(address, origin=Origin(f"http://127.0.0.1:{served.port}"), open_timeout=20),
    ):
        pass


def token(served: Served) -> str:
    return served.address.partition("token=")[2]


def test_the_first_request_has_the_token_and_gets_the_page_with_a_strict_cookie(served: Served) -> None:
    # A link in a terminal or in a mail: the browser names another site, or none.
    for headers in ({}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
        connection.request("GET", f"/?token={token(served)}", headers=headers)
        answer = connection.getresponse()
        assert answer.status == 200
        assert b"<html" in answer.read()
        cookies = [cookie.split("; ") for cookie in answer.headers.get_all("Set-Cookie") or []]
        connection.close()
        assert [sorted(cookie[1:]) for cookie in cookies] == [["HttpOnly", "Path=/", "SameSite=Strict"]]
        name, _, value = cookies[0][0].partition("=")
        # Two pages on one host share their cookies: the port is in the name.
        assert name == f"robot_semantics_{served.port}"
        assert token(served) not in value
    # Only the page itself is for requests from elsewhere, and a foreign name of this machine stays refused.
    assert served.ask(f"/scene?token={token(served)}", Sec_Fetch_Site="cross-site")[0] == 403
    assert served.ask(f"/?token={token(served)}", Host=f"evil.example:{served.port}")[0] == 403


def test_a_page_without_a_token_is_served_on_request_with_a_warning() -> None:
    arguments = ("view", str(example("rover_arm.urdf")), "--no-browser", "--no-token")
    with Served("-m", "robot_semantics.cli.main", *arguments) as open_page:
        assert open_page.told.startswith("warning: --no-token: every user of this machine")
        assert open_page.address == f"http://127.0.0.1:{open_page.port}/"
        assert open_page.ask("/scene")[0] == 200
        assert open_page.ask("/scene", Origin="http://evil.example")[0] == 403


@pytest.mark.parametrize("by", ["--token", "ROBOT_SEMANTICS_TOKEN"])
def test_a_token_can_be_chosen(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = "a b&c/é"
    arguments = ["view", str(example("rover_arm.urdf")), "--no-browser"]
    if by == "--token":
        arguments += [by, chosen]
    else:
        monkeypatch.setenv(by, chosen)
    with Served("-m", "robot_semantics.cli.main", *arguments) as served:
        assert served.address.endswith("/?token=a%20b%26c%2F%C3%A9")
        assert served.ask("/scene")[0] == 200
        assert served.ask("/scene", Cookie="")[0] == 403


def test_the_command_line_of_the_browser_does_not_show_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, told = tmp_path / "browser", tmp_path / "told"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {told}.part && mv {told}.part {told}\n')
    program.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(program))
    with Served("-m", "robot_semantics.cli.main", "view", str(example("rover_arm.urdf"))) as served:
        while not told.exists():
            time.sleep(0.02)
        (opened,) = told.read_text().split()
        assert token(served) not in opened
        file = Path(urlsplit(opened).path)
        assert file.stat().st_mode & 0o077 == 0
        assert f'href="{served.address}"' in file.read_text()
    assert not file.exists()


def test_a_page_that_another_site_opened_works(served: Served, browser: Browser, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.html"
    elsewhere.write_text(f'<meta http-equiv="refresh" content="0; url={served.address}">')
    browser.open(elsewhere.as_uri())
    browser.drawn()
    assert browser.run("viewer.robots.length") == 1
    assert browser.run("document.cookie").count("robot_semantics_") == 0
    # The cookie alone opens the page from now on.
    browser.open(served.address.partition("?")[0])
    assert browser.complaints == []


IMPATIENT = """
from robot_semantics.cli.main import main
from robot_semantics.viewer import server
server.REQUEST_S = 1.0
main()
"""

UNENDING = {
    "nothing": b"",
    "half a head": b"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n",
    "half a body": b"POST /_nicegui_ws/socket.io/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 9\r\n\r\nx",
    "half an own body": b"POST /_nicegui_ws/socket.io/?EIO=4&transport=polling HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    b"Cookie: {cookie}\r\nContent-Length: 9\r\n\r\nx",
    "an answer that is not read": b"GET /scene HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n\r\n" * 400,
}


@pytest.fixture(scope="module")
def impatient() -> Iterator[Served]:
    """A page whose server waits 1 s for a client, not 30 s."""
    with Served("-c", IMPATIENT, "view", str(example("rover_arm.urdf")), "--no-browser") as served:
        yield served


@pytest.mark.parametrize("request_", UNENDING.values(), ids=UNENDING)
def test_requests_that_never_end_are_closed(impatient: Served, request_: bytes) -> None:
    words = {b"{port}": str(impatient.port).encode(), b"{cookie}": impatient.cookie.encode()}
    for word, value in words.items():
        request_ = request_.replace(word, value)
    with socket.create_connection(("127.0.0.1", impatient.port)) as client:
        with contextlib.suppress(OSError):
            client.sendall(request_)
        began = time.monotonic()
        while sockets_of(impatient):
            # A byte now and then does not help.
            with contextlib.suppress(OSError):
                client.send(b"x" if request_ else b"")
            assert time.monotonic() - began < 20.0
            time.sleep(0.1)
        assert time.monotonic() - began > 0.5
    assert impatient.ask("/scene")[0] == 200


def sockets_of(served: Served) -> list[str]:
    """Return the connections of a server by their other ends."""
    port = f":{served.port:04X}"
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [row[2] for row in rows if row[1].endswith(port) and row[3] == "01"]


def test_a_server_has_at_most_64_connections_and_the_owner_always_gets_one(served: Served) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(socket.create_connection(("127.0.0.1", served.port)))
            assert len(sockets_of(served)) <= 64 + 100  # the kernel's queue of connections that are not accepted yet
        for _ in range(5):
            assert served.ask("/scene")[0] == 200
        assert len(sockets_of(served)) <= 64
    address = f"ws://127.0.0.1:{served.port}/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    own = {"origin": Origin(f"http://127.0.0.1:{served.port}"), "additional_headers": {"Cookie": served.cookie}}
    with contextlib.ExitStack() as stack:
        opened = 0
        for _ in range(80):
            with contextlib.suppress(OSError, WebSocketException):
                stack.enter_context(connect(address, **own, open_timeout=20))  # type: ignore[arg-type]
                opened += 1
        assert 60 <= opened <= 64


def memory_mb(served: Served) -> float:
    """Resident memory of the server [MB]."""
    status = Path(f"/proc/{served.process.pid}/status").read_text()
    return int(re.findall(r"VmRSS:\s*(\d+) kB", status)[0]) / 1024


@pytest.mark.timeout(400)
@pytest.mark.parametrize(("command", "pages", "most_mb"), [("studio", 60, 20), ("view", 150, 8)])
def test_pages_that_nobody_looks_at_are_freed(command: str, pages: int, most_mb: int) -> None:
    files = [str(example(f"rover_arm.{kind}")) for kind in ("urdf", "srdf")]
    with Served("-m", "robot_semantics.cli.main", command, *files, "--no-browser") as served:
        # The first pages fill memory that the later ones use again.
        for _ in range(pages):
            served.ask("/")
        before = memory_mb(served)
        for _ in range(pages):
            assert served.ask("/")[0] == 200
        # A page of the studio takes more than 1 MB, one of the viewer 0.2 MB.
        assert memory_mb(served) - before < most_mb


def test_the_page_shows_the_robot_without_complaint(served: Served, browser: Browser) -> None:
    browser.open(served.address)
    browser.drawn()
    assert browser.run("viewer.robots.map((robot) => robot.name)") == ["rover_arm"]
    assert browser.run("viewer.drawn.length") > 5
    # A phone shows all of it, one part below the other.
    browser.resize(390, 844)
    browser.wait("[...document.querySelectorAll('#panel, #stage')].every((part) => part.offsetWidth === 390)")
    total = "[...document.querySelectorAll('#panel, #stage')].reduce((sum, part) => sum + part.offsetHeight, 0)"
    assert browser.run(total) == 844
    addresses = browser.run("performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert all(address.startswith((served.address.partition("?")[0], "blob:", "data:")) for address in addresses)
    assert browser.complaints == []


def test_a_changed_file_is_shown_anew_and_what_was_chosen_stays(browser: Browser, tmp_path: Path) -> None:
    urdf, srdf = (Path(shutil.copy(example(f"rover_arm.{kind}"), tmp_path)) for kind in ("urdf", "srdf"))
    with Served("-m", "robot_semantics.cli.main", "view", str(urdf), str(srdf), "--no-browser") as served:
        browser.open(served.address)
        browser.run("document.querySelector('[data-group=arm]').click()")
        browser.run("viewer.setPosition(viewer.robots[0], 'elbow_joint', 0.5)")
        browser.run("viewer.scene.camera.position.set(1, 2, 3)")
        text = srdf.read_text()
        srdf.write_text(text.replace("</robot>", '<group name="late"><link name="palm_link"/></group></robot>'))
        browser.wait("'late' in viewer.robots[0].groups")
        assert browser.run("viewer.groups") == ["arm"]
        assert browser.run("viewer.q(viewer.robots[0])[viewer.robots[0].variableIndex.get('elbow_joint')]") == 0.5
        assert browser.run("viewer.scene.camera.position.toArray()") == pytest.approx([1, 2, 3])
        # Content that cannot be shown is reported, and the old display stays.
        urdf.write_text("<robot")
        browser.wait("document.getElementById('message').innerText.includes('rover_arm.urdf')")
        assert browser.run("viewer.groups") == ["arm"]
        assert browser.complaints == []


def test_what_is_equal_as_printed_is_no_difference_and_names_are_in_one_line(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "moved").write_text(json.dumps({"elbow_joint": -0.25000001}))
    live = Served("-c", LIVE, str(tmp_path))
    try:
        browser.open(live.address)
        difference = "document.querySelector('[data-snapshot=old] .difference')?.innerText"
        browser.wait(f"{difference} === 'as now'")
        name = "document.querySelector('[data-snapshot=old] > *')"
        assert browser.run(f"[{name}.title, getComputedStyle({name}).whiteSpace]") == ["old", "nowrap"]
        assert browser.complaints == []
    finally:
        live.end()


def test_a_live_page_follows_and_its_buttons_ask(browser: Browser, rover: Scene, tmp_path: Path) -> None:
    live = Served("-c", LIVE, str(tmp_path))
    try:
        browser.open(live.address)
        assert "/node, domain 7" in browser.run("document.body.innerText")
        # No update comes: the page says so over the whole scene.
        browser.wait("document.getElementById('lost')?.hidden === false")
        assert browser.run("document.getElementById('lost').innerText").startswith("No update for ")
        assert browser.run("document.getElementById('lost').innerText").endswith("Is the node running?")
        (tmp_path / "described").touch()
        browser.wait("document.getElementById('lost').innerText.endsWith('The node runs, but no joint states come.')")
        size = "(id) => { const box = document.getElementById(id); return [box.clientWidth, box.clientHeight]; }"
        assert browser.run(f"({size})('lost')") == browser.run(f"({size})('stage')")
        browser.run(
            "(() => { const box = document.getElementById('lost');"
            " new MutationObserver(() => { window.wasFound ||= box.hidden; }).observe(box, {attributes: true}); })()"
        )
        (actor,) = rover.actors
        values = {"elbow_joint": 0.625, "world_joint/x": 1.5}
        (tmp_path / "moved").write_text(json.dumps(values))
        browser.wait("document.getElementById('live-state').textContent === '12.500 s'")
        browser.wait("window.wasFound === true")
        # The state of a page and the poses of its links come in two messages.
        browser.wait("viewer.poses(viewer.robots[0])[0][3] === 1.5")
        told = browser.run("viewer.poses(viewer.robots[0])")
        stance = Stance(actor.kinematics.space.pack(values), np.eye(4))
        np.testing.assert_allclose(np.array(told).reshape(-1, 4, 4), link_poses(actor, stance), atol=1e-12)
        assert browser.run(
            "[...document.querySelectorAll('.row input[type=range]')].every((slider) => slider.disabled)"
        )
        browser.run("document.getElementById('snapshot-name').focus()")
        browser.type("one")
        browser.run("document.getElementById('snapshot-save').click()")
        browser.wait("document.getElementById('report').innerText.includes('did save one')")
        assert "missing: nothing" in browser.run("document.getElementById('report').innerText")
        browser.wait("document.querySelector('[data-restore=one]') !== null")
        browser.run("document.querySelector('[data-compare=one]').same = true")
        # The list shows each snapshot with a picture and its difference from now.
        row = "document.querySelector('[data-snapshot=one]').parentElement"
        browser.wait(f"{row}.querySelector('.thumbnail').naturalWidth > 0")
        browser.wait(f"{row}.innerText.includes('rover_arm/')")
        # A restore first shows what would move, as a ghost and as numbers.
        browser.run("document.querySelector('[data-restore=one]').click()")
        question = "document.getElementById('restore-question')"
        browser.wait(f"{question}.innerText.includes('rover_arm/elbow_joint: 0.625 → -0.25 rad')")
        browser.wait("viewer.drawn.some(({ghost}) => ghost)")
        for dark in (False, True):
            browser.run(f"viewer.show('dark', {json.dumps(dark)})")
            browser.wait(f"document.body.classList.contains('body--dark') === {json.dumps(dark)}")
            if importlib.util.find_spec("axe_core_python") is not None:
                assert browser.audit() == []
        browser.run("document.querySelector('[data-do=cancel-restore]').click()")
        browser.wait(f"{question}.innerText === '' && !viewer.drawn.some(({{ghost}}) => ghost)")
        assert "did restore" not in browser.run("document.getElementById('report').innerText")
        browser.run("document.querySelector('[data-restore=one]').click()")
        browser.wait("document.querySelector('[data-do=really-restore]') !== null")
        browser.run("document.querySelector('[data-do=really-restore]').click()")
        browser.wait("document.getElementById('report').innerText.includes('did restore one')")
        # The saved state is a ghost in the live view, and differences are listed.
        browser.run("document.querySelector('[data-compare=one]').click()")
        browser.wait("document.getElementById('differences')?.innerText.includes('rover_arm/elbow_joint')")
        (row,) = browser.run(
            "[...document.querySelectorAll('#differences tr')].map((tr) => tr.innerText.split('\\t'))"
            ".filter(([name]) => name.endsWith('elbow_joint'))"
        )
        assert [float(value) for value in row[1:3]] == [0.625, -0.25]
        browser.wait("viewer.drawn.some(({ghost}) => ghost)")
        # Elements that restoring does not change are not rebuilt: a user who is about to click hits the visible one.
        assert browser.run("document.querySelector('[data-compare=one]').same") is True
        # If a simulator listens, the sliders command joints; the display moves when the robot does.
        assert browser.run("document.getElementById('jog').offsetParent") is None
        (tmp_path / "simulator").touch()
        browser.wait("document.getElementById('jog').offsetParent !== null")
        browser.run("document.getElementById('jog').click()")
        elbow = "document.querySelector('input[aria-label=elbow_joint]')"
        browser.wait(f"!{elbow}.disabled")
        browser.run(f"{elbow}.value = 1.1; {elbow}.dispatchEvent(new Event('input'))")
        while not (tmp_path / "commanded").exists():
            browser.drawn()
        commanded = json.loads((tmp_path / "commanded").read_text())
        assert commanded == {"elbow_joint": pytest.approx(1.1, abs=0.01)}
        assert browser.run(f"Number({elbow}.value)") == pytest.approx(1.1, abs=0.01)
        index = "viewer.robots[0].variableIndex.get('elbow_joint')"
        assert browser.run(f"viewer.q(viewer.robots[0])[{index}]") == 0.625
        assert browser.run("document.querySelector('input[aria-label=\"world_joint/x\"]').disabled")
        browser.run("document.querySelector('[data-delete=one]').click()")
        browser.wait("document.querySelector('[data-restore=one]') === null")
        assert browser.complaints == []
    finally:
        live.end()
