# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Documents, files and messages of strangers: nothing of them runs, blocks or ends the server."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from support.editor import Editor, position

TINY = '<robot name="tiny"><link name="base"/></robot>'
GROUP = '<robot name="tiny"><group name="all"><link name="bas"/></group></robot>'
XACRO = """<robot name="made" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:include filename="part.xacro"/>
  <link name="base"/>
  <xacro:tool parent="base"/>
</robot>
"""
PART = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="tool" params="parent">
    <link name="${parent}_tool"/>
    <joint name="${parent}_joint" type="fixed">
      <parent link="${parent}"/>
      <child link="${parent}_tol"/>
    </joint>
  </xacro:macro>
</robot>
"""


def alive(editor: Editor) -> None:
    """Check that the server answers about a new document."""
    editor.open("alive.urdf", TINY.replace("base", "base" * 2).replace("<link", "<lnk"))
    assert [problem.code for problem in editor.problems("alive.urdf")]


@pytest.mark.parametrize(
    "text",
    ["", " ", "{}", "\x00", "<", "<robot", "<!--", "<!DOCTYPE a [<!ENTITY b 'c'>]><robot/>", "\ud800<robot/>", "<a/>",
     "<robot name='&#x202e;evil'/>", "<robot>" * 3000, "\ufeff" + TINY,
     '<?xml version="1.0" encoding="latin-1"?>' + TINY,
     "a: [1", '<robot name="x">' + "<link name='a' " * 500 + "/></robot>"],
)  # fmt: skip
def test_no_text_ends_the_server(editor: Editor, folder: Path, text: str) -> None:
    (folder / "other.srdf").write_text(GROUP)
    editor.open("a.urdf", text)
    editor.problems("a.urdf")
    zero = types.Position(0, min(len(text), 5))
    here: dict[str, Any] = {"text_document": editor.identifier("a.urdf"), "position": zero}
    everywhere = types.Range(zero, types.Position(2**31 - 1, 2**31 - 1))
    for method, params in {
        "textDocument/hover": types.HoverParams(**here),
        "textDocument/completion": types.CompletionParams(**here),
        "textDocument/definition": types.DefinitionParams(**here),
        "textDocument/prepareRename": types.PrepareRenameParams(**here),
        "textDocument/documentSymbol": types.DocumentSymbolParams(editor.identifier("a.urdf")),
        "textDocument/foldingRange": types.FoldingRangeParams(editor.identifier("a.urdf")),
        "textDocument/codeAction": types.CodeActionParams(
            editor.identifier("a.urdf"), everywhere, types.CodeActionContext([])
        ),
    }.items():
        editor.ask(method, params)
    alive(editor)


def test_a_byte_order_mark_counts_as_a_character_and_positions_outside_are_moved_inside(
    editor: Editor, folder: Path
) -> None:
    text = "\ufeff" + TINY.replace("<link", "<lnk")
    editor.open("a.urdf", text)
    (unknown,) = [problem for problem in editor.problems("a.urdf") if problem.code == "unknown-element"]
    assert unknown.range.start == position(text, text.index("<lnk"))
    editor.change("a.urdf", text[: text.index("<lnk") + 1])
    for outside in (types.Position(0, 2**31 - 1), types.Position(2**31 - 1, 0)):
        params = types.CompletionParams(editor.identifier("a.urdf"), outside)
        found = editor.ask("textDocument/completion", params)
        assert "link" in {item.text_edit.new_text for item in found}
        assert {item.text_edit.range.end.character for item in found} == {text.index("<lnk") + 1}


def test_direction_marks_in_names_are_shown_as_codes(editor: Editor, folder: Path) -> None:
    text = (
        '<robot name="a"><link name="x\u202ey"/><joint name="j" type="fixed"><parent link="x\u202ez"/></joint></robot>'
    )
    editor.open("a.urdf", text)
    assert all("\u202e" not in problem.message for problem in editor.problems("a.urdf"))
    (link, _) = editor.ask("textDocument/documentSymbol", types.DocumentSymbolParams(editor.identifier("a.urdf")))
    assert link.name == "x\\u202ey"


def test_pipes_links_and_folders_of_the_workspace_are_not_read(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    for each in (outside, inside, inside / "folder.urdf", inside / "build"):
        each.mkdir()
    for each in (outside, inside / "build"):
        (each / "tiny.urdf").write_text(TINY)
    os.mkfifo(inside / "pipe.urdf")
    (inside / "link.urdf").symlink_to(outside / "tiny.urdf")
    (inside / "loop").symlink_to(inside)
    (inside / "elsewhere").symlink_to(outside)
    (inside / "not.urdf").write_bytes(b"\xff\xfe\x00" * 100)
    with Editor(inside) as editor:
        editor.open("a.srdf", GROUP)
        (note,) = editor.problems("a.srdf")
        assert note.message.startswith("no URDF of robot 'tiny' is open or in the workspace")


def test_a_xacro_runs_only_if_the_settings_permit_it(tmp_path: Path) -> None:
    for name, text in (("made.urdf.xacro", XACRO), ("part.xacro", PART)):
        (tmp_path / name).write_text(text)
    for options in (None, {"xacro": False}):
        with Editor(tmp_path, options) as editor:
            editor.open("made.urdf.xacro")
            editor.open("part.xacro")
            assert editor.problems("made.urdf.xacro") == editor.problems("part.xacro") == []
            editor.change("made.urdf.xacro", XACRO.replace("</robot>", ""))
            assert editor.problems("made.urdf.xacro", bool)
    with Editor(tmp_path, {"xacro": True}) as editor:
        editor.open("part.xacro")
        editor.open("made.urdf.xacro")
        # While only the part is open, its problem is that nothing calls its macro.
        found = editor.problems("part.xacro", lambda found: any(one.code == "unknown-link" for one in found))
        (unknown,) = [problem for problem in found if problem.code == "unknown-link"]
        assert unknown.range.start == position(PART, PART.index('link="${parent}_tol"'))
        assert not any(problem.code == "unknown-link" for problem in editor.problems("made.urdf.xacro"))
        editor.change("part.xacro", PART.replace("_tol", "_tool"))
        editor.save("part.xacro")
        assert editor.problems("part.xacro", lambda found: not found) == []
        at = position(XACRO, XACRO.index('"base"') + 1)
        params = types.RenameParams(new_name="foot", text_document=editor.identifier("made.urdf.xacro"), position=at)
        with pytest.raises(JsonRpcException, match="is a xacro"):
            editor.ask("textDocument/rename", params)


def test_wrong_settings_are_reported(tmp_path: Path) -> None:
    with Editor(tmp_path, {"xcaro": True}) as editor:
        alive(editor)
        assert "unknown setting 'xcaro'" in editor.messages[0]


def test_a_message_that_is_no_message_does_not_end_the_server(editor: Editor, folder: Path) -> None:
    assert editor.process is not None
    assert editor.process.stdin is not None
    for body in (
        *(b"\xff\xfe\xf0", b"[]", b"{", '"😀"'.encode()[:3], b'{"jsonrpc": "2.0"}'),
        b'{"jsonrpc": "2.0", "method": "no/such", "id": 99}',
        b'{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"a": 1}}',
    ):
        editor.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    alive(editor)


def test_a_request_about_a_closed_document_and_a_cancelled_request_are_answered(editor: Editor, folder: Path) -> None:
    params = types.FoldingRangeParams(editor.identifier("closed.urdf"))
    with pytest.raises(JsonRpcException, match="is not open"):
        editor.ask("textDocument/foldingRange", params)
    editor.open("a.urdf", TINY)

    async def cancelled() -> None:
        here = types.FoldingRangeParams(editor.identifier("a.urdf"))
        waiting = editor.client.protocol.send_request_async("textDocument/foldingRange", here, msg_id="cancelled")
        editor.client.cancel_request(types.CancelParams(id="cancelled"))
        # The answer is a result or the cancellation, as it comes.
        with suppress(JsonRpcException):
            await waiting

    editor.run(cancelled())
    alive(editor)


def test_twenty_thousand_links_are_checked_and_outlined(editor: Editor, folder: Path) -> None:
    links = "".join(f'<link name="l{number}"/>\n' for number in range(20_000))
    joint = '<joint name="j{0}" type="fixed"><parent link="l0"/><child link="l{0}"/></joint>\n'
    text = f'<robot name="long">{links}{"".join(joint.format(number) for number in range(1, 20_000))}</robot>'
    editor.open("a.urdf", text)
    assert editor.problems("a.urdf") == []
    editor.change("a.urdf", text.replace('child link="l19999"', 'child link="lx"'))
    assert "unknown-link" in {problem.code for problem in editor.problems("a.urdf")}
    found = editor.ask("textDocument/documentSymbol", types.DocumentSymbolParams(editor.identifier("a.urdf")))
    assert len(found) == 39_999


def test_the_server_ends_with_its_editor(tmp_path: Path) -> None:
    editor = Editor(tmp_path)
    editor.open("a.urdf", TINY)
    editor.problems("a.urdf")
    assert editor.process is not None
    assert editor.process.stdin is not None
    editor.process.stdin.close()
    assert editor.run(asyncio.wait_for(editor.process.wait(), 20.0)) is not None
    editor.run(editor.client.stop())  # type: ignore[no-untyped-call]  # pygls
