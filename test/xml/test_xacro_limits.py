# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Limits of an xacro: no run without the user's request, no endless run, limited memory, no remaining process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from robot_semantics import DescriptionError, Diagnostics
from robot_semantics.cli.main import main
from robot_semantics.model.loading import load_robot, robot_from_text
from robot_semantics.xml.xacro import XacroOptions

NAMESPACE = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
# A generator's frame leads from the names that xacro allows in an expression to all of Python.
GENERATOR = (
    "${{[g for t in [[]] for _ in [t.append((x.gi_frame.f_back.f_back.f_back.f_builtins for x in t))] "
    "for g in t[0]][0]['open']('{mark}', 'w')}}"
)
DOUBLING = "".join(f'<xacro:macro name="m{n}"><xacro:m{n - 1}/><xacro:m{n - 1}/></xacro:macro>' for n in range(1, 60))


def robot(inside: str) -> str:
    return f'<robot name="r" {NAMESPACE}><link name="base"/>{inside}</robot>'


def hostile(mark: Path) -> str:
    return robot(f'<link name="{GENERATOR.format(mark=mark)}"/>')


def test_the_escape_is_real_where_a_user_names_a_xacro(tmp_path: Path) -> None:
    # Otherwise the tests below would prove nothing.
    mark = tmp_path / "mark"
    path = tmp_path / "r.urdf.xacro"
    path.write_text(hostile(mark))
    main(["expand", str(path)])
    assert mark.exists()


@pytest.mark.parametrize("command", [["check"], ["show"], ["fk"], ["expand"], ["upgrade"]])
def test_a_urdf_does_not_run_what_is_in_it(tmp_path: Path, command: list[str]) -> None:
    mark = tmp_path / "mark"
    path = tmp_path / "r.urdf"
    path.write_text(hostile(mark))
    main([*command, str(path)])
    assert not mark.exists()


def test_a_user_can_ask_for_expansion_whatever_the_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(robot('<xacro:if value="${2 > 1}"><link name="${1 + 1}"/></xacro:if>'))
    main(["expand", str(path)])
    plain, note = capsys.readouterr()
    assert "${1 + 1}" in plain
    assert "--xacro carries them out" in note
    assert main(["expand", "--xacro", str(path)]) == 0
    assert 'name="2"' in capsys.readouterr().out
    path.write_text(robot('<xacro:if value="${1 > 2}"><link name="other"/></xacro:if>'))
    assert [link.name for link in load_robot(path, xacro=True).links] == ["base"]


def test_macros_left_in_a_urdf_are_kept_and_ignored_with_a_warning(tmp_path: Path) -> None:
    text = robot('<xacro:macro name="m"><link name="l"/></xacro:macro><xacro:m/>')
    path = tmp_path / "r.urdf"
    path.write_text(text)
    found = Diagnostics()
    model = load_robot(path, diagnostics=found)
    assert [link.name for link in model.links] == ["base"]
    assert {problem.code for problem in found} == {"xacro-not-expanded"}
    assert [link.name for link in robot_from_text(text).links] == ["base"]


def test_an_include_of_a_pipe_is_an_error_with_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    path = tmp_path / "r.urdf.xacro"
    path.write_text(robot('<xacro:include filename="pipe"/>'))
    assert main(["expand", str(path)]) == 1
    text = capsys.readouterr().err
    assert f"{tmp_path / 'pipe'}" in text
    assert "is not a regular file" in text


READERS = (
    "<link name=\"${{xacro.load_yaml('{file}')['name']}}\"/>",
    '<xacro:include filename="{file}"/>',
    '<xacro:property name="p" value="${{open(\'{file}\').read()}}"/><link name="${{p}}"/>',
)


@pytest.mark.parametrize("reader", READERS, ids=["load_yaml", "include", "open"])
def test_other_files_are_read_only_for_a_xacro_that_a_user_names(
    reader: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    # A reader of this pipe waits for a writer, and there is none.
    os.mkfifo(other)
    text = robot(reader.format(file=other))
    (tmp_path / "r.urdf").write_text(text)
    (tmp_path / "w.usdf").write_text(
        '<world_state xmlns:rs="urn:robot-semantics:usdf:1"><model_state name="m" rs:description="r.urdf">'
        "<pose>0 0 0 0 0 0</pose></model_state></world_state>"
    )
    for words in (
        ["check", "r.urdf"],
        ["show", "r.urdf"],
        ["check", "w.usdf"],
        ["diff", "w.usdf", "w.usdf"],
    ):
        main([str(tmp_path / word) if "." in word else word for word in words])
    other.unlink()
    other.write_text(robot('<link name="secret"/>') if "include" in reader else "name: secret")
    capfd.readouterr()
    (tmp_path / "r.urdf.xacro").write_text(text)
    main(["expand", str(tmp_path / "r.urdf.xacro")])
    # `open` is none of the names that xacro gives an expression.
    assert ("secret" in capfd.readouterr().out) == ("open(" not in reader)


@pytest.mark.parametrize("name", ["l${x}", "$(arg l)"])
def test_an_expression_left_in_a_urdf_gets_a_warning_at_its_place(name: str) -> None:
    found = Diagnostics()
    robot_from_text(f'<robot name="r">\n<link name="{name}"/></robot>', diagnostics=found)
    (problem,) = found.warnings
    assert (problem.code, problem.place.line, problem.place.column) == ("xacro-not-expanded", 2, 7)
    assert name in problem.message


@pytest.mark.parametrize("suffix", [".urdf", ".urdf.xacro"])
def test_what_a_world_state_names_is_never_expanded(
    tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    mark = tmp_path / "mark"
    (tmp_path / f"r{suffix}").write_text(hostile(mark))
    world = tmp_path / "w.usdf"
    world.write_text(
        '<world_state xmlns:rs="urn:robot-semantics:usdf:1"><model_state name="r" '
        f'rs:description="r{suffix}"><pose>0 0 0 0 0 0</pose></model_state></world_state>'
    )
    main(["check", str(world)])
    main(["usdf", "resolve", str(world)])
    main(["diff", str(world), str(world)])
    assert not mark.exists()
    if suffix == ".urdf.xacro":
        assert "it is expanded only if a user names it" in capsys.readouterr().out


def test_nor_is_it_in_a_simulation(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    mark = tmp_path / "mark"
    (tmp_path / "r.urdf.xacro").write_text(hostile(mark))
    world = tmp_path / "w.usdf"
    world.write_text(
        '<world_state xmlns:rs="urn:robot-semantics:usdf:1"><model_state name="r" '
        'rs:description="r.urdf.xacro"><pose>0 0 0 0 0 0</pose></model_state></world_state>'
    )
    assert main(["sim", "run", str(world), "--steps", "1"]) == 1
    assert not mark.exists()


@pytest.mark.parametrize(
    ("inside", "limits", "limit"),
    [
        ('<link name="${9**9**9}"/>', XacroOptions(seconds=1.0), "1 s"),
        (
            DOUBLING + '<xacro:macro name="m0"><link name="l"/></xacro:macro><xacro:m59/>',
            XacroOptions(seconds=1.0),
            "1 s",
        ),
        ("<link name=\"${len('x' * 10**9)}\"/>", XacroOptions(megabytes=100), "100 MB"),
        ('<link name="${[0] * 10**9}"/>', XacroOptions(megabytes=100), "100 MB"),
    ],
)
def test_an_expansion_that_goes_on_and_on_is_ended_at_its_limit(
    tmp_path: Path, inside: str, limits: XacroOptions, limit: str
) -> None:
    path = tmp_path / "r.xacro"
    path.write_text(robot(inside))
    started = time.monotonic()
    with pytest.raises(DescriptionError) as caught:
        load_robot(path, xacro=limits)
    assert time.monotonic() - started < 20.0
    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.place.source) == ("xacro-limit", str(path))
    assert limit in problem.message


def test_environment_variables_set_the_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.xacro"
    path.write_text(robot('<link name="${9**9**9}"/>'))
    monkeypatch.setenv("ROBOT_SEMANTICS_XACRO_SECONDS", "0.5")
    assert main(["check", str(path)]) == 1
    assert "not expanded after 0.5 s" in capsys.readouterr().out
    path.write_text(robot("<link name=\"${len('x' * 10**8)}\"/>"))
    monkeypatch.delenv("ROBOT_SEMANTICS_XACRO_SECONDS")
    monkeypatch.setenv("ROBOT_SEMANTICS_XACRO_MEMORY_MB", "50")
    assert main(["check", str(path)]) == 1
    assert "more than 50 MB" in capsys.readouterr().out
    for wrong in ("0", "x", "nan"):
        monkeypatch.setenv("ROBOT_SEMANTICS_XACRO_SECONDS", wrong)
        assert main(["check", str(path)]) == 1
        message = f"ROBOT_SEMANTICS_XACRO_SECONDS must be a positive number, not '{wrong}'"
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("expression", ["exit()", "quit(3)", "[].append(print('x'))"])
def test_an_expression_can_neither_end_nor_confuse_the_talk(tmp_path: Path, expression: str) -> None:
    path = tmp_path / "r.xacro"
    path.write_text(robot(f'<link name="${{{expression}}}"/>'))
    with pytest.raises(DescriptionError, match="xacro: "):
        load_robot(path)


def test_an_include_that_is_optional_may_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "r.xacro"
    path.write_text(robot('<xacro:include filename="nowhere.xacro" optional="true"/>'))
    assert len(load_robot(path).links) == 1


def test_ctrl_c_ends_the_expansion_and_leaves_no_process(tmp_path: Path) -> None:
    path = tmp_path / "r.xacro"
    path.write_text(robot('<link name="${9**9**9}"/>'))
    command = subprocess.Popen(
        [sys.executable, "-m", "robot_semantics.cli.main", "check", str(path)],
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 30.0
    while not (children := children_of(command.pid)) and time.monotonic() < deadline:
        time.sleep(0.02)
    (child,) = children
    # It is at work by now.
    time.sleep(1.0)
    command.send_signal(signal.SIGINT)
    _, errors = command.communicate(timeout=20)
    assert (command.returncode, errors) == (130, "interrupted\n")
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def children_of(process: int) -> list[int]:
    text = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(word) for word in text.split()]
