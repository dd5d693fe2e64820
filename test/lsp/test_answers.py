# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Fixes, completion, places of names, renaming, hover and outline; expected places are found in the texts."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from lxml import etree
from pygls.exceptions import JsonRpcException
from support.editor import Editor, position, text_at
from support.similar_names import MEANT, MISSPELT, similar_names

import robot_semantics
from robot_semantics.cli.main import main
from robot_semantics.model.loading import load_robot

EXAMPLES = Path(robot_semantics.__file__).parent / "examples"
ROVER = ("rover_arm.urdf", "rover_arm.srdf", "rover_arm.usdf")


@pytest.fixture
def rover(editor: Editor, folder: Path) -> Editor:
    """The documents of one robot, open, with the robot of a block that is only on disk."""
    for name in (*ROVER, "block.urdf", "block.srdf"):
        shutil.copy(EXAMPLES / name, folder)
    for name in ROVER:
        editor.open(name)
    return editor


def here(editor: Editor, name: str, offset: int) -> dict[str, Any]:
    return {"text_document": editor.identifier(name), "position": position(editor.texts[name], offset)}


def occurrences(text: str, word: str) -> list[int]:
    """Return where a quoted word begins, in document order."""
    found, at = [], text.find(f'"{word}"')
    while at >= 0:
        found.append(at + 1)
        at = text.find(f'"{word}"', at + 1)
    return found


def edited(text: str, edits: list[types.TextEdit]) -> str:
    """Return a text with the changes of a server."""
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda edit: (edit.range.start.line, edit.range.start.character), reverse=True):
        start, end = edit.range.start, edit.range.end
        before = lines[start.line].encode("utf-16-le")[: 2 * start.character].decode("utf-16-le")
        after = lines[end.line].encode("utf-16-le")[2 * end.character :].decode("utf-16-le")
        lines[start.line : end.line + 1] = (before + edit.new_text + after).split("\n")
    return "\n".join(lines)


# --- fixes


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("rover_arm.srdf", ('joint name="elbow_joint"', 'joint name="elbw_joint"')),
        ("rover_arm.srdf", ("disable_collisions link1", "disable_colisions link1")),
        ("rover_arm.urdf", ('<parent link="base_link"/>', '<parent link="base_lnk"/>')),
        ("rover_arm.urdf", ("<limit lower", "<limit lowr")),
        ("rover_arm.urdf", ('<?xml version="1.0"?>', '<!-- 😀 -->\n<?xml version="1.0"?>')),
        ("rover_arm.usdf", ("<pose>0 0 0 0 0 0</pose>", "<poose>0 0 0 0 0 0</poose>")),
    ],
)
def test_the_fix_of_all_problems_is_that_of_check(
    rover: Editor, folder: Path, name: str, change: tuple[str, str]
) -> None:
    text = rover.texts[name].replace(*change, 1)
    assert text != rover.texts[name]
    rover.change(name, text)
    assert rover.problems(name, bool)
    whole = types.Range(types.Position(0, 0), types.Position(10_000, 0))
    only = types.CodeActionContext([], only=["source.fixAll"])
    (action,) = rover.ask("textDocument/codeAction", types.CodeActionParams(rover.identifier(name), whole, only))
    (folder / name).write_text(text)
    main(["check", *(str(folder / each) for each in ROVER), "--all", "--fix"])
    fixed = (folder / name).read_text()
    assert fixed != text
    assert edited(text, action.edit.changes[rover.uri(name)]) == fixed


def test_no_fix_changes_a_side_a_number_an_axis_or_a_word(editor: Editor, folder: Path) -> None:
    for name in ("r.urdf", "r.srdf", "r.yaml"):
        (folder / name).write_text("")
        editor.open(name)
    whole = types.Range(types.Position(0, 0), types.Position(10_000, 0))
    for pair in similar_names():
        editor.change("r.urdf", pair.urdf())
        for name, text in (("r.srdf", pair.srdf()), ("r.yaml", pair.yaml())):
            editor.change(name, text)
            asked = types.CodeActionParams(editor.identifier(name), whole, types.CodeActionContext([]))
            actions = editor.ask("textDocument/codeAction", asked)
            results = [edited(text, action.edit.changes[editor.uri(name)]) for action in actions]
            assert text.replace(MISSPELT, MEANT) in results, pair
            assert all(result.replace(MEANT, MISSPELT) == text for result in results), pair
            assert len(results) >= 2, pair


def test_a_fix_of_one_problem_leaves_the_others(rover: Editor) -> None:
    name = "rover_arm.srdf"
    start, rest = rover.texts[name].split("<group_state", 1)
    text = f"{start}<group_state{rest.replace('elbow_joint', 'elbw_joint', 1).replace('wrist_joint', 'wrst_joint', 1)}"
    rover.change(name, text)
    rover.problems(name, lambda found: len(found) > 1)
    at = position(text, text.index("elbw_joint"))
    quick = types.CodeActionContext([], only=["quickfix"])
    params = types.CodeActionParams(rover.identifier(name), types.Range(at, at), quick)
    (action,) = rover.ask("textDocument/codeAction", params)
    assert action.title == "Change to 'elbow_joint'"
    assert edited(text, action.edit.changes[rover.uri(name)]) == text.replace("elbw_joint", "elbow_joint")


# --- completion


@pytest.mark.parametrize(
    ("name", "text", "some", "none"),
    [
        (
            "new.urdf",
            '<robot name="r"><link name="a_link"/><joint name="j" type="§',
            {"revolute", "planar"},
            {"a_link"},
        ),
        ("rover_arm.urdf", '<robot name="rover_arm"><joint name="new"><parent link="§', {"base_link"}, {"elbow_joint"}),
        (
            "rover_arm.urdf",
            '<robot name="rover_arm"><joint name="elbow_joint"/><joint name="n"><mimic joint="el§"/></joint></robot>',
            {"elbow_joint"},
            {"base_link"},
        ),
        (
            "rover_arm.urdf",
            '<robot name="rover_arm"><joint name="n"><limit lower="1" §',
            {"upper", "effort"},
            {"lower"},
        ),
        ("rover_arm.urdf", '<robot name="rover_arm"><link name="n"><§', {"visual", "inertial"}, {"joint"}),
        ("rover_arm.srdf", '<robot name="rover_arm"><group name="g"><joint name="§"', {"elbow_joint"}, {"arm"}),
        ("rover_arm.srdf", '<robot name="rover_arm"><group name="g"><group name="§"', {"arm"}, {"elbow_joint"}),
        ("rover_arm.srdf", "<robot name='rover_arm'><disable_collisions link1='§", {"palm_link"}, {"arm"}),
        (
            "rover_arm.srdf",
            '<robot name="rover_arm"><!-- <x> --><group_state name="s" group="§',
            {"arm"},
            {"base_link"},
        ),
        ("rover_arm.srdf", '<robot name="rover_arm"><group_state §', {"name", "group"}, {"link1"}),
        ("rover_arm.srdf", '<robot name="rover_arm"><!-- <joint name="§', set(), {"arm", "elbow_joint"}),
        ("rover_arm.usdf", '<world_state><model_state name="rover_arm"><joint_state name="§', {"elbow_joint"}, {"arm"}),
        ("rover_arm.usdf", "<world_state><§", {"model_state", "frame"}, {"joint"}),
    ],
)
def test_words_that_fit_are_offered(rover: Editor, name: str, text: str, some: set[str], none: set[str]) -> None:
    offset = text.index("§")
    if name in rover.texts:
        rover.problems(name)
        rover.change(name, text.replace("§", ""))
    else:
        rover.open(name, text.replace("§", ""))
    found = rover.ask("textDocument/completion", types.CompletionParams(**here(rover, name, offset)))
    words = {item.text_edit.new_text for item in found}
    assert some <= words
    assert not none & words
    for item in found:
        assert text_at(rover.texts[name], item.text_edit.range) == ("el" if "el§" in text else "")


# --- names


def places(found: list[types.Location]) -> set[tuple[str, int, int]]:
    return {(place.uri, place.range.start.line, place.range.start.character) for place in found}


def expected_places(editor: Editor, word: str, *names: str) -> set[tuple[str, int, int]]:
    found = [(name, position(editor.texts[name], at)) for name in names for at in occurrences(editor.texts[name], word)]
    return {(editor.uri(name), at.line, at.character) for name, at in found}


@pytest.mark.parametrize(
    ("word", "name"),
    [("elbow_joint", name) for name in ROVER]
    + [(word, name) for word in ("base_link", "palm_link") for name in ROVER[:2]],
)
def test_a_name_leads_to_its_declaration_and_all_its_uses(rover: Editor, word: str, name: str) -> None:
    starts = occurrences(rover.texts[name], word)
    found = rover.ask("textDocument/definition", types.DefinitionParams(**here(rover, name, starts[-1] + 2)))
    urdf = rover.texts["rover_arm.urdf"]
    tag = "joint" if word.endswith("joint") else "link"
    declared = position(urdf, urdf.index(f'<{tag} name="{word}"') + len(tag) + 8)
    assert places(found) == {(rover.uri("rover_arm.urdf"), declared.line, declared.character)}
    everywhere = types.ReferenceContext(include_declaration=True)
    params = types.ReferenceParams(everywhere, **here(rover, name, starts[-1]))
    assert places(rover.ask("textDocument/references", params)) == expected_places(rover, word, *ROVER)


def test_the_declaration_of_a_group_is_in_the_srdf(rover: Editor) -> None:
    text = rover.texts["rover_arm.srdf"]
    state = text.index('group="arm"') + len('group="')
    (found,) = rover.ask("textDocument/definition", types.DefinitionParams(**here(rover, "rover_arm.srdf", state)))
    assert found.range.start == position(text, text.index('<group name="arm"') + len('<group name="'))


def test_renaming_a_joint_changes_all_documents_and_the_robot_is_the_same(rover: Editor, folder: Path) -> None:
    name = "rover_arm.srdf"
    at = occurrences(rover.texts[name], "elbow_joint")[0]
    shown = rover.ask("textDocument/prepareRename", types.PrepareRenameParams(**here(rover, name, at)))
    assert shown.placeholder == "elbow_joint"
    new = "knee & 'hip' 😀"
    change = rover.ask("textDocument/rename", types.RenameParams(new_name=new, **here(rover, name, at)))
    assert set(change.changes) == {rover.uri(each) for each in ROVER}
    for each in ROVER:
        (folder / each).write_text(edited(rover.texts[each], change.changes[rover.uri(each)]))
    before = load_robot(EXAMPLES / ROVER[0], EXAMPLES / ROVER[1])
    after = load_robot(folder / ROVER[0], folder / ROVER[1])
    assert after.joint(new).child_link == before.joint("elbow_joint").child_link
    arm = after.semantics.group("arm").joints
    assert set(arm) - {new} == set(before.semantics.group("arm").joints) - {"elbow_joint"}
    assert "elbow_joint" not in (folder / ROVER[2]).read_text()


@pytest.mark.parametrize(("new", "message"), [("wrist_joint", "joint 'wrist_joint' already exists"), (" ", "empty")])
def test_a_bad_new_name_is_refused(rover: Editor, new: str, message: str) -> None:
    at = occurrences(rover.texts["rover_arm.urdf"], "elbow_joint")[0]
    with pytest.raises(JsonRpcException, match=message):
        rover.ask("textDocument/rename", types.RenameParams(new_name=new, **here(rover, "rover_arm.urdf", at)))


def test_a_link_of_another_robot_in_a_world_keeps_its_name(editor: Editor, folder: Path) -> None:
    for robot in ("a", "b"):
        (folder / f"{robot}.urdf").write_text(f'<robot name="{robot}"><link name="base"/></robot>')
    model = '<model_state name="{0}"><pose>0 0 0 0 0 0</pose><link_state name="base"/></model_state>'
    held = '<frame name="cup" rs:parent_link="base"><parent>{0}</parent><pose>0 0 0 0 0 0</pose></frame>'
    world = f"<world_state xmlns:rs='urn:robot-semantics:usdf:1'>{model}{held}</world_state>"
    (folder / "w.usdf").write_text(world.replace(model, model.format("a") + model.format("b")).format("a"))
    editor.open("a.urdf")
    at = editor.texts["a.urdf"].index("base")
    change = editor.ask("textDocument/rename", types.RenameParams(new_name="foot", **here(editor, "a.urdf", at)))
    text = (folder / "w.usdf").read_text()
    after = edited(text, change.changes[editor.uri("w.usdf")])
    assert after == text.replace('"base"', '"foot"', 1).replace('parent_link="base"', 'parent_link="foot"')
    assert editor.uri("b.urdf") not in change.changes


def test_a_name_that_stays_in_an_unknown_place_is_reported(editor: Editor, folder: Path) -> None:
    plugin = '<gazebo><plugin name="p" filename="f"><frame>base</frame></plugin></gazebo>'
    editor.open("a.urdf", f'<robot name="a"><link name="base"/>{plugin}</robot>')
    at = editor.texts["a.urdf"].index("base")
    editor.ask("textDocument/rename", types.RenameParams(new_name="foot", **here(editor, "a.urdf", at)))
    assert any("'base' is not renamed in this element" in message for message in editor.messages)


# --- hover and outline


def test_hover_has_the_derived_facts(rover: Editor) -> None:
    text = rover.texts["rover_arm.srdf"]
    hover = rover.ask("textDocument/hover", types.HoverParams(**here(rover, "rover_arm.srdf", text.index('"arm"') + 1)))
    group = load_robot(EXAMPLES / ROVER[0], EXAMPLES / ROVER[1]).semantics.group("arm")
    for name in (*group.active_joints, group.tip_link, *group.states):
        assert f"{name}" in hover.contents.value
    urdf = rover.texts["rover_arm.urdf"]
    at = urdf.index('"elbow_joint"') + 1
    hover = rover.ask("textDocument/hover", types.HoverParams(**here(rover, "rover_arm.urdf", at)))
    assert "revolute joint 'elbow_joint': upper_arm_link → forearm_link" in hover.contents.value
    assert "'arm'" in hover.contents.value


def test_hover_explains_a_problem(rover: Editor) -> None:
    text = rover.texts["rover_arm.srdf"].replace("elbow_joint", "elbw_joint", 1)
    rover.change("rover_arm.srdf", text)
    hover = rover.ask(
        "textDocument/hover", types.HoverParams(**here(rover, "rover_arm.srdf", text.index("elbw_joint")))
    )
    assert hover.contents.value.startswith("unknown-joint: ")
    assert "Fix:" in hover.contents.value


def test_the_outline_has_the_named_elements_and_folds_have_their_lines(rover: Editor) -> None:
    name = "rover_arm.srdf"
    root = etree.fromstring(rover.texts[name].encode())
    expected = [(element.get("name"), element.tag) for element in root if element.get("name")]
    found = rover.ask("textDocument/documentSymbol", types.DocumentSymbolParams(rover.identifier(name)))
    assert [(symbol.name, symbol.detail) for symbol in found] == expected
    for symbol in found:
        assert text_at(rover.texts[name], symbol.selection_range) == symbol.name
        assert text_at(rover.texts[name], symbol.range).startswith(f"<{symbol.detail}")
    inner = [child.name for symbol in found for child in symbol.children or ()]
    assert inner == [
        child.get("name") for element in root if element.get("name") for child in element if child.get("name")
    ]
    folds = rover.ask("textDocument/foldingRange", types.FoldingRangeParams(rover.identifier(name)))
    lines = rover.texts[name].split("\n")
    assert {fold.start_line + 1 for fold in folds if fold.kind is None} == {
        element.sourceline for element in root.iter("*") if len(element)
    }
    assert all(lines[fold.end_line].strip().startswith(("</", "-->")) or fold.kind for fold in folds)
