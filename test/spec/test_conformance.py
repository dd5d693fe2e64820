# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The specifications, their cases, and the answers of readers."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance import reader_process
from conformance.__main__ import main
from conformance.comparison import cases, differences
from robot_semantics.cli.frame.explanations import explanations
from tools.spec_cases import with_cases

ROOT = Path(__file__).parent.parent.parent
CASES = ROOT / "conformance"
OURS = f"{sys.executable} {CASES / 'readers' / 'ours.py'}"
SPECIFICATIONS = {path.name.partition("-")[0]: path for path in sorted((ROOT / "spec").glob("*.md"))}


@pytest.mark.parametrize("name", SPECIFICATIONS)
def test_every_rule_has_a_case_that_keeps_it_and_one_that_breaks_it(name: str) -> None:
    rules = re.findall(r"^\*\*([A-Z]\d+\.\d+)\*\*", SPECIFICATIONS[name].read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rules) == len(set(rules)) > 20
    found = [case for case in cases(CASES, (name,)) if not case.rule.startswith("moveit")]
    assert {case.rule for case in found} == set(rules)
    for verb in ("accepts", "rejects"):
        assert {case.rule for case in found if f"-{verb}-" in case.name} == set(rules)
    for case in found:
        assert bool(case.answer["problems"]) or "-accepts-" in case.name, case.name


@pytest.mark.parametrize("name", SPECIFICATIONS)
def test_every_rule_says_what_must_be_and_lists_its_cases(name: str) -> None:
    text = SPECIFICATIONS[name].read_text(encoding="utf-8")
    rules = re.split(r"^\*\*(?=[A-Z]\d+\.\d+\*\*)", text, flags=re.MULTILINE)[1:]
    assert [rule[:6] for rule in rules if not re.search(r"\b(MUST|MAY)\b", rule.partition("\nCases: ")[0])] == []
    assert with_cases(text, CASES / name) == text, "run tools/spec_cases.py"


@pytest.mark.parametrize("name", SPECIFICATIONS)
def test_our_reader_passes_every_case(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    count = len(list(cases(CASES, (name,))))
    code = main(["--reader", OURS, "--format", name])
    assert capsys.readouterr().out.splitlines()[-1] == f"{count} of {count} cases passed"
    assert code == 0


@pytest.mark.parametrize("name", ["urdf", "srdf"])
def test_the_page_has_the_numbers_of_cases(name: str) -> None:
    found = list(cases(CASES, (name,)))
    verbs = [sum(f"-{verb}-" in case.name for case in found) for verb in ("accepts", "rejects")]
    chapters = [sum(case.rule.startswith(f"R{number}.") for case in found) for number in range(1, 6)]
    numbers = [len(found), *verbs, *(chapters if name == "urdf" else [len(found) - sum(verbs)])]
    lines = (ROOT / "doc" / "conformance.md").read_text().splitlines()
    head = next(line for line in lines if line.startswith(f"| {name.upper()} |"))
    ours = next(line for line in lines[lines.index(head) :] if line.startswith("| ours |"))
    assert [int(number) for number in re.findall(r"of (\d+)", head)] == numbers
    assert [int(number) for number in re.findall(r"\d+", ours)] == numbers


def test_each_file_beside_the_cases_belongs_to_one() -> None:
    for name in SPECIFICATIONS:
        used = {Path(field) for case in cases(CASES, (name,)) for field in case.fields[1:3] if field}
        # Semantics and meshes lie beside the URDF that they are of.
        used |= {path.with_suffix(ending) for path in used if path.suffix == ".urdf" for ending in (".srdf", ".obj")}
        assert {path for path in (CASES / name).iterdir() if path.suffix != ".json"} <= used


READER = """
import sys
for line in sys.stdin:
    {body}
    sys.stdout.flush()
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("sys.exit(3)", "the reader ended with exit code 3"),
        ("print('hello')", "this is no JSON object: hello"),
        ("import os, time; os.close(1); time.sleep(600)", "the reader ended with exit code -9"),
        ("sys.stdout.buffer.write(bytes([0xff, 27, 10]))", "this is no JSON object: \ufffd\\x1b"),
        ("print('[' * 100_000)", "this is no JSON object: [[["),
        ("print('{' + ' ' * 2 ** 25 + '}')", "the answer is longer than 16 MB"),
        ("print('{\"problems\": 5}')", "the answer has not the shape of one"),
        ('print(\'{"problems": [{"code": "a\\\\u001b"}]}\')', "not expected: None a\\x1b"),
        ('print(\'{"refused": false, "problems": []}\')', "missing: warning newer-version at 1:61"),
        ("print('{\"refused\": true}')", "it is refused"),
    ],
)
def test_a_reader_that_answers_otherwise_fails_and_the_page_says_how(
    body: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "usdf"
    folder.mkdir()
    for case in ("U9.8-accepts-version-1", "U9.8-rejects-version-1.1-with-a-warning-and-reads-it"):
        for ending in ("json", "usdf"):
            name = f"{case}.{ending}"
            (folder / name).write_bytes((CASES / "usdf" / name).read_bytes())
    reader = tmp_path / "reader.py"
    reader.write_text(READER.format(body=body))
    page = tmp_path / "report.html"
    command = ["--cases", str(tmp_path), "--reader", f"{sys.executable} {reader}", "--report", str(page)]
    assert main(command) == 1
    out = capsys.readouterr().out
    assert said in out
    assert re.search(r"^[01] of 2 cases passed$", out, re.MULTILINE)
    assert said in page.read_text()


def test_what_a_reader_does_not_do_is_counted_apart_and_doing_nothing_is_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reader = tmp_path / "reader.py"
    for answer, code in (("'{\"unsupported\": true}'", 1), ("ours(line)", 0)):
        body = f"print({answer} if line.startswith('write') else '{{\"unsupported\": true}}')"
        ours = "import json\ndef ours(line): return json.dumps({'written': '<world_state/>', 'problems': []})\n"
        reader.write_text(ours + READER.format(body=body))
        for old in tmp_path.glob("usdf/*"):
            old.unlink()
        (tmp_path / "usdf").mkdir(exist_ok=True)
        for name in ("U14.2-accepts-an-object-without-keys", "U9.8-accepts-version-1"):
            for path in (CASES / "usdf").glob(f"{name}.*"):
                (tmp_path / "usdf" / path.name).write_bytes(path.read_bytes())
        assert main(["--cases", str(tmp_path), "--reader", f"{sys.executable} {reader}"]) == code
        assert re.search(rf"{1 - code} of 2 cases passed, {1 + code} not supported$", capsys.readouterr().out.strip())


@pytest.mark.parametrize(
    ("expected", "written", "equal"),
    [
        ("<world_state><a/><b/></world_state>", "<world_state>\n <b></b> <a/></world_state>", True),
        ("<world_state><a><parent>world</parent></a></world_state>", "<world_state><a/></world_state>", True),
        ("<pose>1.0</pose>", "<pose>1</pose>", False),
        ("<pose>1.0</pose>", "<pose x='1'>1.0</pose>", False),
        ("<world_state><a/></world_state>", "<world_state><a/><a/></world_state>", False),
        ("<world_state/>", "<world_state>", False),
    ],
)
def test_documents_are_compared_by_what_they_say(expected: str, written: str, equal: bool) -> None:
    answer = {"problems": [], "written": expected}
    assert (differences(answer, {"problems": [], "written": written}) == ()) is equal


def test_a_reader_that_is_silent_is_ended_with_all_that_it_started_and_soon_not_asked_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reader_process, "PATIENCE_S", 0.5)
    monkeypatch.setattr(reader_process, "MOST_SILENT", 1)
    # Its own child process also keeps the output open.
    command = ["--reader", "sh -c 'sleep 600 & sleep 600'", "--format", "srdf"]
    assert main(command) == 1
    out = capsys.readouterr().out
    assert "the reader was silent for 0.5 s" in out
    assert out.count("not asked: the reader was silent for 0.5 s, 1 times") == len(list(cases(CASES, ("srdf",)))) - 1


@pytest.mark.parametrize(("words", "said"), [("a 'b", "--reader: No closing quotation"), (" ", "there is no command")])
def test_a_command_of_a_reader_that_is_none_is_wrong_usage(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--reader", words, "--format", "usdf"])
    assert stop.value.code == 2
    assert said in capsys.readouterr().err


def test_a_file_that_is_no_case_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "usdf").mkdir()
    (tmp_path / "usdf" / "U1.1-a.json").write_text('{"rule": "U1.1"}')
    assert main(["--reader", OURS, "--cases", str(tmp_path)]) == 1
    assert "U1.1-a.json: it is no case ('answer')" in capsys.readouterr().err


def test_a_reader_that_cannot_be_started_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--reader", "/nowhere/reader", "--format", "usdf"]) == 1
    assert "/nowhere/reader: No such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("expected", "given", "equal"),
    [
        ({"state": {"a": [0.0]}}, {"state": {"a": [-0.0]}}, False),
        ({"state": {"a": [0.1]}}, {"state": {"a": [0.1 + 1e-15]}}, False),
        ({"state": {"a": [1]}}, {"state": {"a": [1.0], "foreign": ["<x/>"]}}, True),
        ({"state": {"a": []}}, {"state": {}}, False),
        ({"state": {}}, {"state": {"twist": [0, 0, 0, 0, 0, 0]}}, False),
        ({"poses": {"a": [0, 0, 0, 0, 0, 0, 1]}}, {"poses": {"a": [0, 1e-12, 0, 0, 0, 0, -1], "b": []}}, True),
        ({"poses": {"a": [0, 0, 0, 0, 0, 0, 1]}}, {"poses": {"a": [0, 0, 0, 0, 0, 1e-6, 1]}}, False),
        ({"resolved": {"a": {"twist": None}}}, {"resolved": {"a": {}}}, True),
        ({"resolved": {"a": {"twist": None}}}, {"resolved": {"a": {"twist": [0]}}}, False),
    ],
)
def test_states_are_compared_bit_for_bit_and_poses_as_rotations(
    expected: dict[str, Any], given: dict[str, Any], equal: bool
) -> None:
    same = {"refused": False, "problems": []}
    assert (differences({**same, **expected}, {**same, **given}) == ()) is equal


def test_a_reader_without_problems_is_right_to_refuse_what_has_errors() -> None:
    error = {"refused": False, "problems": [{"severity": "error", "code": "bad-number"}], "state": {}}
    assert differences(error, {"refused": True}) == ()
    assert differences(error, {"state": {}}) == ("it is not refused",)


def test_answers_are_written_as_json_objects_of_the_documented_keys() -> None:
    documented = set(re.findall(r"^\| `(\w+)` \|", (CASES / "README.md").read_text(), re.MULTILINE))
    for path in CASES.glob("*/*.json"):
        case = json.loads(path.read_text(encoding="utf-8"))
        assert set(case["answer"]) <= documented, path.name
        assert case["answer"].keys() & {"refused", "problems"}, path.name


# Reasons why no case covers these codes, by their source; they have other tests.
OTHERWISE = {
    "changing or joining states": {
        "counts-differ", "left-out", "name-conflict", "name-kept", "parents-differ", "time-conflict", "world-name",
    },
    "an option, a configuration folder, or a xacro that is run": {
        "not-compared",
        "implicit-link", "unknown-configuration", "unused-argument", "xacro", "xacro-limit",
    },
    "a file that is not there or was changed, or beyond what a reader has to hold": {
        "damaged-description", "nested-too-deep", "odd-bytes", "too-large", "unreadable",
    },
    "the motion of a robot with its SRDF": {
        "loop-disagrees", "loop-freedom", "loop-open", "loop-overdetermined", "loop-underdetermined",
    },
    "our own mistake, or a list that was cut": {"more-problems", "schema"},
}  # fmt: skip
# Rooms that read no description and no state: their problems are about recordings, other programs, or shapes; and the
# list of the problems that every command shows.
OTHER_ROOMS = (
    *(
        "base/yaml_reader",
        "bringup",
        "cli/frame/inputs",
        "collision",
        "convert/mujoco",
        "convert/sdformat",
        "convert/planner",
    ),
    *("lsp", "recording", "simulation", "viewer"),
)


def test_every_code_that_a_document_can_have_is_made_by_a_case() -> None:
    made = {
        problem["code"]
        for path in CASES.glob("*/*.json")
        for problem in json.loads(path.read_text(encoding="utf-8"))["answer"].get("problems", ())
    }
    package = ROOT / "robot_semantics"
    sources = {str(path.relative_to(package)): path.read_text(encoding="utf-8") for path in package.rglob("*.py")}

    def is_of_another_room(code: str) -> bool:
        rooms = [name for name, text in sources.items() if f'"{code}"' in text]
        return bool(rooms) and all(name.startswith(OTHER_ROOMS) for name in rooms)

    exempt = set().union(*OTHERWISE.values())
    assert made <= set(explanations())
    assert exempt & made == set()
    assert {code for code in explanations() if not is_of_another_room(code)} - made == exempt
