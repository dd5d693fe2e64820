# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""A language server that is killed at any file operation changes nothing, and leaves no process."""

from __future__ import annotations

import json
import os
import random
import signal
from contextlib import suppress
from pathlib import Path

import pytest
from support.editor import Editor
from support.killed_writers import content
from support.processes import descendants
from support.templates import start_module

from robot_semantics.examples import example

KILLS = int(os.environ.get("KILLS", "20"))
"""How often a server is killed."""
XACRO = (
    '<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="n" value="a"/>'
    '<link name="${n}"/></robot>'
)


def framed(method: str, number: int | None = None, **params: object) -> bytes:
    """Return a message of the protocol."""
    message = {"jsonrpc": "2.0", "method": method, "params": params, **({} if number is None else {"id": number})}
    text = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(text), text)


def session(folder: Path) -> list[bytes]:
    """Return the messages of an editor that opens, changes and saves every file again and again."""
    files = sorted(folder.iterdir())
    messages = [
        framed(
            "initialize",
            1,
            processId=None,
            rootUri=folder.as_uri(),
            capabilities={},
            initializationOptions={"xacro": True},
        ),
        framed("initialized"),
    ]
    for path in files:
        document = {"uri": path.as_uri(), "languageId": "xml", "version": 1, "text": path.read_text()}
        messages.append(framed("textDocument/didOpen", textDocument=document))
    for version in range(2, 40):
        for path in files:
            identifier = {"uri": path.as_uri(), "version": version}
            text = path.read_text().replace("</robot>", f"<!-- {version} --></robot>")
            messages.append(framed("textDocument/didChange", textDocument=identifier, contentChanges=[{"text": text}]))
            messages.append(framed("textDocument/didSave", textDocument={"uri": path.as_uri()}))
            symbols = {"textDocument": {"uri": path.as_uri()}}
            messages.append(framed("textDocument/documentSymbol", 1000 * version + len(messages), **symbols))
    return messages


@pytest.mark.timeout(60 + 10 * KILLS)
def test_a_killed_server_loses_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, folder, scratch = random.Random(50), tmp_path / "workspace", tmp_path / "tmp"
    folder.mkdir()
    scratch.mkdir()
    for kind in ("urdf", "srdf"):
        (folder / f"r.{kind}").write_bytes(example(f"rover_arm.{kind}").read_bytes())
    (folder / "x.urdf.xacro").write_text(XACRO)
    before, messages = content(folder), session(folder)
    environment = {
        **os.environ,
        "KILLED_IN": str(folder),
        "KILLED_READS": "1",
        "KILLED_MODULE": "robot_semantics.cli.main",
        "TMPDIR": str(scratch),
    }
    for _ in range(KILLS):
        environment["KILLED_BEFORE"] = str(rng.randrange(1, 60))
        source, end = os.pipe()
        program = ("support.killed_writers", ["lsp", "--stdio"])
        with Path(os.devnull).open("wb") as output:
            server = start_module(*program, environment, output.fileno(), "robot_semantics.lsp.server", source=source)
        os.close(source)
        with suppress(BrokenPipeError), os.fdopen(end, "wb") as pipe:
            for message in messages:
                pipe.write(message)
                pipe.flush()
            # An editor keeps its end open.
            assert server.wait(60) == -signal.SIGKILL
        assert server.wait(60) == -signal.SIGKILL
        assert content(folder) == before
        # The process that expands a xacro ends with the server.
        while expanding := [child for child in descendants(os.getpid()) if is_expanding(child)]:
            assert len(expanding) < 10
    monkeypatch.setenv("TMPDIR", str(scratch))
    with Editor(folder, {"xacro": True}) as editor:
        editor.open("r.srdf")
        assert editor.problems("r.srdf") == []
    assert content(folder) == before
    assert list(scratch.iterdir()) == []


def is_expanding(process: int) -> bool:
    """Return True for a running process that expands a xacro."""
    with suppress(OSError):
        return b"xacro_child" in Path(f"/proc/{process}/cmdline").read_bytes()
    return False
