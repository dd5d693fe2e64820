# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Output of checks for people and for programs, and the selection of problems."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands import RunCommand

import robot_semantics
from robot_semantics import Diagnostic, Severity, SourcePlace
from robot_semantics.cli.frame.explanations import Explanation, explanations
from robot_semantics.cli.frame.problems import as_github, line_of_each_kind

PACKAGE = Path(robot_semantics.__file__).parent
ODD = """<robot name="r">
  <link name="a"/>
  <link name="b"><vizual/><colision/></link>
  <joint name="j" type="continuous" speed="1"><parent link="a"/><child link="b"/></joint>
</robot>
"""
BROKEN = ODD.replace('parent link="a"', 'parent link="c"')


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "odd.urdf"
    file.write_text(ODD)
    return file


def kinds(out: str) -> list[str]:
    return re.findall(r" \(([a-z-]+)(?:, \d+ times)?\)$", out, re.MULTILINE)


def test_each_kind_of_problem_is_one_line_with_its_first_place_and_its_count(run: RunCommand, odd: Path) -> None:
    result = run("check", odd)
    first, second, last = result.out.splitlines()
    assert first.startswith(f"{odd}:3:18: warning: <vizual> is not known in <link>")
    assert first.endswith("(unknown-element, 2 times)")
    assert second.startswith(f"{odd}:4:37: warning: attribute 'speed' is not known")
    assert second.endswith("(unknown-attribute)")
    assert last == "3 warnings: --all shows every one"


def test_all_shows_every_problem(run: RunCommand, odd: Path) -> None:
    result = run("check", odd, "--all")
    assert kinds(result.out) == ["unknown-element", "unknown-element", "unknown-attribute"]
    assert result.out.endswith("\n3 warnings\n")


def test_quiet_shows_errors_alone_and_nothing_where_there_is_none(run: RunCommand, odd: Path) -> None:
    assert (run("check", odd, "--quiet").code, run("check", odd, "--quiet").out) == (0, "")
    odd.write_text(BROKEN)
    result = run("check", odd, "--quiet")
    assert (result.code, kinds(result.out)) == (1, ["unknown-link", "several-roots"][: len(kinds(result.out))])
    assert "warning" not in result.out


def test_kinds_are_ignored_or_become_errors(run: RunCommand, odd: Path) -> None:
    ignored = run("check", odd, "--ignore", "unknown-element")
    assert (ignored.code, kinds(ignored.out)) == (0, ["unknown-attribute"])
    assert run("check", odd, "--ignore", "unknown-element,unknown-attribute", "--strict").out.endswith("no problems\n")
    worse = run("check", odd, "--error", "unknown-element")
    assert worse.code == 1
    assert ": error: <vizual>" in worse.out
    assert worse.out.endswith("2 errors, 1 warning: --all shows every one\n")
    odd.write_text(BROKEN)
    assert run("check", odd, "--ignore", "unknown-link,several-roots").code == 0


@pytest.mark.parametrize("option", ["--ignore", "--error"])
def test_a_kind_that_does_not_exist_is_wrong_usage(run: RunCommand, odd: Path, option: str) -> None:
    result = run("check", odd, option, "unknown-elemnet")
    assert result.code == 2
    assert result.err == f"error: {option}: unknown problem code 'unknown-elemnet'; did you mean 'unknown-element'?\n"


@pytest.mark.parametrize(
    ("name", "before"),
    [(".robot_semantics.toml", ""), ("pyproject.toml", "[tool.other]\nx = 1\n[tool.robot_semantics]\n")],
)
def test_a_project_settles_which_problems_count(
    run: RunCommand, odd: Path, monkeypatch: pytest.MonkeyPatch, name: str, before: str
) -> None:
    pytest.importorskip("tomllib")
    (odd.parent / name).write_text(f'{before}ignore = ["unknown-element"]\nerror = ["unknown-attribute"]\n')
    below = odd.parent / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    result = run("check", odd)
    assert (result.code, kinds(result.out)) == (1, ["unknown-attribute"])
    (odd.parent / name).write_text(f"{before}strict = true\n")
    assert run("check", odd).code == 1
    (odd.parent / name).write_text(f'{before}ignroe = ["unknown-element"]\n')
    wrong = run("check", odd)
    assert wrong.code == 2
    assert "unknown setting 'ignroe'; did you mean 'ignore'?" in wrong.err


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (".robot_semantics.toml", "ignore = [oops", "cannot be read"),
        (
            ".robot_semantics.toml",
            'ignore = "unknown-element"',
            "ignore must be a list of codes, not 'unknown-element'",
        ),
        (".robot_semantics.toml", 'error = ["unknown-elemnt"]', "did you mean 'unknown-element'?"),
        (".robot_semantics.toml", 'strict = "yes"', "strict must be true or false, not 'yes'"),
        ("pyproject.toml", "[tool]\nrobot_semantics = 3", "robot_semantics must be a table, not 3"),
        ("pyproject.toml", "[tool.robot_semantics]\nstrict = true\n[oops", "cannot be read"),
    ],
)
def test_settings_that_are_wrong_are_named_with_their_file(
    run: RunCommand, odd: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, said: str
) -> None:
    pytest.importorskip("tomllib")
    monkeypatch.chdir(odd.parent)
    (odd.parent / name).write_text(text)
    wrong = run("check", odd)
    assert wrong.code == 2
    assert str(odd.parent / name) in wrong.err
    assert said in wrong.err


def test_a_project_file_of_other_tools_is_none_of_ours(
    run: RunCommand, odd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(odd.parent)
    for text in ("tool = 3", "[broken", "[tool.other]\nstrict = true"):
        (odd.parent / "pyproject.toml").write_text(text)
        assert run("check", odd).code == 0


def test_the_command_line_counts_more_than_the_project(
    run: RunCommand, odd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("tomllib")
    monkeypatch.chdir(odd.parent)
    (odd.parent / ".robot_semantics.toml").write_text('ignore = ["unknown-element"]\nerror = ["unknown-attribute"]\n')
    result = run("check", odd, "--error", "unknown-element", "--ignore", "unknown-attribute")
    assert (result.code, kinds(result.out)) == (1, ["unknown-element"])


def test_json_has_every_problem_and_a_version(run: RunCommand, odd: Path) -> None:
    result = run("check", odd, "--json", "--error", "unknown-attribute")
    report = json.loads(result.out)
    assert (report["version"], report["ok"], report["errors"], report["warnings"]) == (2, False, 1, 2)
    assert [item["code"] for item in report["diagnostics"]] == [
        "unknown-element",
        "unknown-element",
        "unknown-attribute",
    ]
    assert json.loads(run("check", odd, "--format", "json", "--ignore", "unknown-element").out)["warnings"] == 1


def test_sarif_names_each_rule_once_and_every_place(run: RunCommand, odd: Path) -> None:
    log = json.loads(run("check", odd, "--format", "sarif").out)
    (one,) = log["runs"]
    assert log["version"] == "2.1.0"
    rules = one["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["unknown-element", "unknown-attribute"]
    assert [rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in one["results"]] == [True] * 3
    assert {result["level"] for result in one["results"]} == {"warning"}
    place = one["results"][0]["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == str(odd)
    assert place["physicalLocation"]["region"] == {"startLine": 3, "startColumn": 18}
    assert place["logicalLocations"][0]["fullyQualifiedName"] == "/robot/link[@name='b']/vizual"


def test_github_gets_a_command_for_each_problem() -> None:
    found = [
        Diagnostic(Severity.ERROR, "unknown-link", "100 % wrong: 'a'", SourcePlace("dir,a:b.urdf", 3, 7), "b"),
        Diagnostic(Severity.NOTE, "other-root", "x", SourcePlace("w.usdf")),
    ]
    assert as_github(found) == [
        "::error file=dir%2Ca%3Ab.urdf,title=unknown-link,line=3,col=7::100 %25 wrong: 'a'; did you mean 'b'?",
        "::notice file=w.usdf,title=other-root::x",
    ]


def test_problems_that_a_collection_has_not_kept_are_counted() -> None:
    many = Diagnostic(Severity.WARNING, "more-problems", "and 500 more", SourcePlace("a"), None, 500)
    assert line_of_each_kind([many]) == [f"{many} (more-problems, 500 times)"]


def test_usdf_check_reports_as_check_does(run: RunCommand, odd: Path) -> None:
    world = odd.parent / "w.usdf"
    world.write_text("<world_state><model_state name='a'/><model_state name='b'/></world_state>")
    assert "(missing-pose, 2 times)" in run("check", world).out
    assert run("check", world, "--ignore", "missing-pose").out == "1 file checked: no problems\n"


def test_other_commands_have_one_line_for_all_warnings(run: RunCommand, odd: Path) -> None:
    assert run("show", odd).err == "3 warnings: see 'robot_semantics check'\n"


def test_what_check_does_not_tell_is_told_by_the_command_itself(run: RunCommand, odd: Path, tmp_path: Path) -> None:
    lost = '<visual><geometry><mesh filename="package://nowhere/a.stl"/></geometry></visual>'
    odd.write_text(ODD.replace('<link name="a"/>', f'<link name="a">{lost}{lost}</link>'))
    first, last = run("view", odd, "--html", tmp_path / "out.html").err.splitlines()
    assert "warning: not shown: 'package://nowhere/a.stl' is not found" in first
    assert first.endswith("(unshown-mesh, 2 times)")
    assert last == "3 warnings: see 'robot_semantics check'"
    assert len(run("check", odd, "--all", "--ignore", "missing-mesh").out.splitlines()) == 4


def test_explain_prints_a_page_and_lists_them(run: RunCommand) -> None:
    page = run("explain", "unknown-link", "zero-axis")
    assert page.code == 0
    assert page.out.startswith("unknown-link\n------------\nA file names a link that the robot does not have.\n")
    assert "\nzero-axis\n---------\n" in page.out
    listed = run("explain").out.splitlines()
    assert [line.split()[0] for line in listed] == list(explanations())
    wrong = run("explain", "unknown-lnk")
    assert wrong.code == 2
    assert "did you mean 'unknown-link'" in wrong.err


MADE = [
    ("duplicate", "joint"),
    ("duplicate", "link"),
    ("missing", "mesh"),
    ("missing", "texture"),
    ("unknown", "group"),
]
"""Codes that are put together from two words where they are reported."""


def reported(path: Path) -> Iterator[str]:
    """Yield the codes that a module's calls of `error`, `warning` and `note` state."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            first = node.args[0]
            code = first.value if isinstance(first, ast.Constant) else None
            if (
                node.func.attr in ("error", "warning", "note")
                and isinstance(code, str)
                and re.fullmatch("[a-z-]+", code)
            ):
                yield code


def test_every_kind_of_problem_has_its_page_and_every_page_its_kind() -> None:
    sources = list(PACKAGE.rglob("*.py"))
    codes = {code for path in sources if path.parent.name not in ("ros", "node", "tools") for code in reported(path)}
    assert len(codes) > 100
    assert sorted(codes - set(explanations())) == []
    texts = "".join(path.read_text(encoding="utf-8") for path in sources)
    made = [f"{code}-{kind}" for code, kind in MADE]
    assert [code for code in explanations() if f'"{code}"' not in texts and code not in made] == []


@pytest.mark.parametrize("page", explanations().values(), ids=lambda page: page.code)
def test_a_page_says_what_it_is_in_a_sentence_and_what_to_do(page: Explanation) -> None:
    assert re.fullmatch(r"[A-Z`].*\.", page.what)
    assert len(page.text.split("\n\n")) >= 2


@pytest.mark.parametrize("page", explanations().values(), ids=lambda page: page.code)
def test_a_page_has_meaning_reason_and_fix_in_short_sentences(page: Explanation) -> None:
    for part in (page.what, page.why, page.fix):
        assert part.endswith(".")
        assert [sentence for sentence in re.split(r"(?<=[.]) ", part) if len(sentence.split()) > 25] == []
    assert page.before != page.after or not page.before


def test_explain_prints_the_parts_as_text_and_as_json(run: RunCommand) -> None:
    printed = run("explain", "duplicate-name").out
    assert '\nBefore:\n\n    <link name="finger"/>\n' in printed
    (row,) = json.loads(run("explain", "duplicate-name", "--json").out)["codes"]
    assert row["what"] == "Two elements of the same kind have the same name."
    assert row["fix"].startswith("Rename one.")
    assert row["before"] == '<link name="finger"/>\n<link name="finger"/>'
    assert row["after"] == '<link name="left_finger"/>\n<link name="right_finger"/>'
