# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics check` knows the formats by their root, finds everything, and says where."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lxml import etree
from support.commands import RunCommand

from robot_semantics.xml.document_kind import DocumentKind, document_kind

BROKEN_URDF = """<robot name="r">
  <link name="base"/>
  <link name="arm"/>
  <joint name="elbow" type="revolute">
    <parent link="baze"/>
    <child link="arm"/>
    <limit lower="1" upper="-1" effort="1" velocity="1"/>
  </joint>
</robot>
"""


def test_a_clean_pair_has_no_problems(run: RunCommand, rover: tuple[Path, Path]) -> None:
    result = run("check", *rover)
    assert (result.code, result.err) == (0, "")
    assert result.out == "2 files checked: no problems\n"


def test_all_errors_are_reported_at_once_with_file_line_and_column(run: RunCommand, tmp_path: Path) -> None:
    file = tmp_path / "broken.urdf"
    file.write_text(BROKEN_URDF)
    result = run("check", file)
    assert result.code == 1
    lines = result.out.splitlines()
    assert any(line.startswith(f"{file}:5:13: error: ") and "did you mean 'base'?" in line for line in lines)
    assert any(line.startswith(f"{file}:7:12: error: ") and "lower" in line for line in lines)


def test_json_carries_every_field_of_a_problem(run: RunCommand, tmp_path: Path) -> None:
    file = tmp_path / "broken.urdf"
    file.write_text(BROKEN_URDF)
    result = run("check", file, "--json")
    report = json.loads(result.out)
    assert result.code == 1
    assert report["ok"] is False
    assert report["errors"] == sum(item["severity"] == "error" for item in report["diagnostics"])
    unknown = next(item for item in report["diagnostics"] if item["suggestion"] == "base")
    assert (unknown["file"], unknown["line"], unknown["column"]) == (str(file), 5, 13)
    assert unknown["path"] == "/robot/joint[@name='elbow']/parent/@link"


def test_an_srdf_is_checked_against_the_urdf_beside_it(
    run: RunCommand, rover: tuple[Path, Path], tmp_path: Path
) -> None:
    srdf = tmp_path / "wrong.srdf"
    srdf.write_text('<robot name="rover_arm">\n  <group name="g"><link name="no_such_link"/></group>\n</robot>\n')
    beside = run("check", rover[0], srdf)
    named = run("check", srdf, "--urdf", rover[0])
    assert beside.code == named.code == 1
    assert f"{srdf}:2:25: error: " in beside.out
    assert beside.out == named.out


def test_an_srdf_without_its_urdf_is_checked_by_itself(run: RunCommand, tmp_path: Path) -> None:
    srdf = tmp_path / "alone.srdf"
    srdf.write_text(
        '<robot name="r">\n  <group name="g"><link name="l"/></group>\n'
        '  <group name="g"><link name="m"/></group>\n</robot>'
    )
    result = run("check", srdf)
    assert result.code == 1
    assert f"{srdf}:3:10: error: " in result.out
    assert result.err == "note: without --urdf, names of links and joints are not checked\n"
    assert json.loads(run("check", srdf, "--json").out)["errors"] == 1


@pytest.mark.parametrize(
    ("text", "place"),
    [("", ":1:1: error: "), ("<robot", ":1:7: error: "), ("<sdf/>", ":1:1: error: "), ("\0\1\2", ":1:4: error: ")],
)
def test_what_is_no_description_is_one_error(run: RunCommand, tmp_path: Path, text: str, place: str) -> None:
    file = tmp_path / "file.xml"
    file.write_text(text)
    result = run("check", file)
    assert result.code == 1
    assert result.out.startswith(f"{file}{place}")
    assert result.out.endswith("1 error\n")


def test_a_missing_file_is_an_error_that_names_it(run: RunCommand, tmp_path: Path) -> None:
    result = run("check", tmp_path / "nothing.urdf")
    assert result.code == 1
    assert result.out.startswith(f"{tmp_path / 'nothing.urdf'}: error: cannot be read: ")


def test_strict_fails_on_warnings(run: RunCommand, tmp_path: Path) -> None:
    file = tmp_path / "odd.urdf"
    file.write_text('<robot name="r"><link name="a"><vizual/></link></robot>')
    assert run("check", file).code == 0
    result = run("check", file, "--strict")
    assert result.code == 1
    assert "did you mean 'visual'?" in result.out


@pytest.mark.parametrize(
    ("words", "meant"),
    [(["chek", "x"], "check"), (["srdf", "renam", "x"], "rename"), (["srdf", "rename", "x", "lnk", "a", "b"], "link")],
)
def test_a_misspelt_command_is_recognised(run: RunCommand, words: list[str], meant: str) -> None:
    result = run(*words)
    assert result.code == 2
    # Newer Pythons have a guess of their own.
    assert f"; did you mean '{meant}'?" in result.err or f", maybe you meant '{meant}'" in result.err


def test_wrong_usage_exits_with_2(run: RunCommand) -> None:
    assert run("check").code == 2
    assert run("no-such-command").code == 2
    assert run().code == 2


def test_a_missing_mesh_is_a_warning_that_lists_what_was_tried(run: RunCommand, tmp_path: Path) -> None:
    file = tmp_path / "robot.urdf"
    mesh = '<geometry><mesh filename="package://some_arm/meshes/link.stl"/></geometry>'
    file.write_text(f'<robot name="r"><link name="a">\n<visual>{mesh}</visual></link></robot>')
    result = run("check", file, "--package-path", tmp_path / "elsewhere")
    assert result.code == 0
    assert f"{file}:2:25: warning: mesh " in result.out
    assert str(tmp_path / "elsewhere") in result.out
    (tmp_path / "some_arm" / "meshes").mkdir(parents=True)
    (tmp_path / "some_arm" / "meshes" / "link.stl").touch()
    assert run("check", file, "--package-path", tmp_path).out == "1 file checked: no problems\n"


@pytest.mark.parametrize("command", [("check",)])
def test_a_world_is_held_against_robots_of_packages_that_the_line_names(
    command: tuple[str, ...], tmp_path: Path, run: RunCommand
) -> None:
    package = tmp_path / "packages" / "some_robot"
    package.mkdir(parents=True)
    (package / "package.xml").write_text('<package format="3"><name>some_robot</name></package>')
    (package / "r.urdf").write_text('<robot name="r"><link name="base"/></robot>')
    world = tmp_path / "w.usdf"
    world.write_text(
        '<world_state xmlns:rs="urn:robot-semantics:usdf:1">'
        '<model_state name="r" rs:description="package://some_robot/r.urdf"><pose>0 0 0 0 0 0</pose>'
        '<joint_state name="lift"><positions>1</positions></joint_state></model_state></world_state>'
    )
    result = run(*command, world, "--package-path", tmp_path / "packages")
    assert result.code == 1
    assert "robot 'r' has no joint 'lift'" in result.out


def test_a_world_is_checked_against_its_robot(run: RunCommand, rover: tuple[Path, Path], tmp_path: Path) -> None:
    world = tmp_path / "world.usdf"
    world.write_text(
        '<world_state>\n  <model_state name="rover_arm"><pose>0 0 0 0 0 0</pose>\n'
        '    <joint_state name="no_such_joint"><positions>0</positions></joint_state>\n'
        "  </model_state>\n</world_state>\n"
    )
    assert run("check", world).code == 0
    result = run("check", world, "--urdf", f"{rover[0]},{rover[1]}")
    assert result.code == 1
    assert f"{world}:3:" in result.out
    assert "no_such_joint" in result.out


def test_an_srdf_with_a_default_namespace_is_an_srdf(run: RunCommand, tmp_path: Path) -> None:
    file = tmp_path / "semantics.xml"
    file.write_text('<robot name="r" xmlns="http://example.org/ns"><group name="g"><joint name="j"/></group></robot>')
    result = run("check", file)
    assert (result.code, result.out) == (0, "1 file checked: no problems\n")


def test_a_message_is_one_line(run: RunCommand, tmp_path: Path) -> None:
    file = tmp_path / "wide.urdf"
    file.write_bytes('<?xml version="1.0" encoding="UTF-16"?><robot/>'.encode("utf-16-le"))
    result = run("check", file)
    assert result.code == 1
    assert len(result.out.splitlines()) == 2


def test_what_a_terminal_cannot_show_is_escaped(tmp_path: Path) -> None:
    joints = "".join(
        f'<joint name="j{a}" type="fixed"><parent link="{a}"/><child link="{b}"/></joint>' for a, b in ("ab", "ba")
    )
    file = tmp_path / "loop.urdf"
    file.write_text(f'<robot name="r"><link name="a"/><link name="b"/>{joints}</robot>')
    command = [sys.executable, "-m", "robot_semantics.cli.main", "check", str(file)]
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=60)
    assert done.returncode == 1
    assert "a -> b -> a" in done.stdout
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the machine has no /dev/full")
def test_a_full_disk_is_one_message(rover: tuple[Path, Path]) -> None:
    command = [sys.executable, "-m", "robot_semantics.cli.main", "show", *map(str, rover)]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (1, "error: No space left on device\n")


def test_a_pipe_is_checked_under_its_own_name(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "robot_semantics.cli.main", "check", str(pipe)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        pipe.write_text(BROKEN_URDF)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"{pipe}:5:13: error: joint 'elbow': parent link 'baze' does not exist" in out


@pytest.mark.parametrize(
    ("name", "body", "kind"),
    [
        ("a.srdf", '<link name="l"/><group name="g"/>', "srdf"),
        ("a.urdf", '<link name="l"/><group name="g"/>', "urdf"),
        ("a.xml", '<link name="l"/><group name="g"/>', "urdf"),
        ("a.xml", '<group name="g"/><link name="l"/>', "srdf"),
        ("a.urdf", '<group name="g"/>', "srdf"),
        ("a.srdf", '<link name="g"/>', "urdf"),
        ("a.srdf.xacro", "", "srdf"),
    ],
)
def test_where_the_elements_do_not_tell_the_kind_the_ending_does(name: str, body: str, kind: str) -> None:
    root = etree.fromstring(f'<robot name="r">{body}</robot>')
    assert document_kind(root, name) is DocumentKind[kind.upper()]


def test_json_is_json_whatever_characters_standard_output_takes(tmp_path: Path) -> None:
    file = tmp_path / "r.urdf"
    file.write_text('<robot name="é😀"><lonk/></robot>', encoding="utf-8")
    for encoding in ("ascii", "latin-1", "utf-8"):
        done = subprocess.run(
            [sys.executable, "-m", "robot_semantics.cli.main", "check", "--json", str(file)],
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": encoding},
            check=False,
        )
        assert json.loads(done.stdout.decode(encoding))["diagnostics"][0]["path"] == "/robot"
        done = subprocess.run(
            [sys.executable, "-m", "robot_semantics.cli.main", "show", "--json", "/dev/stdin"],
            input='<robot name="é😀"><link name="ö"/></robot>'.encode(),
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": encoding},
            check=True,
        )
        assert json.loads(done.stdout.decode(encoding))["name"] == "é😀"


def test_an_srdf_among_files_of_several_robots_is_held_against_the_urdf_of_its_name(
    run: RunCommand, tmp_path: Path
) -> None:
    files = {}
    for name, link in (("one", "a"), ("two", "b")):
        files[name] = tmp_path / f"{name}.urdf"
        files[name].write_text(f'<robot name="{name}"><link name="{link}"/></robot>')
    srdf = tmp_path / "two.srdf"
    srdf.write_text('<robot name="two"><disable_default_collisions link="b"/></robot>')
    checked = run("check", *files.values(), srdf)
    assert (checked.code, checked.err) == (0, "")
    assert run("check", files["one"], srdf).code == 1
    alone = run("check", files["one"], srdf, "--by-name")
    assert (alone.code, alone.err) == (0, "note: without --urdf, names of links and joints are not checked\n")
    srdf.write_text('<robot name="two"><disable_default_collisions link="a"/></robot>')
    assert "unknown link 'a'" in run("check", *files.values(), srdf, "--by-name").out


def test_swapped_options_are_said_in_one_sentence(run: RunCommand, tmp_path: Path) -> None:
    urdf, srdf = tmp_path / "r.urdf", tmp_path / "r.srdf"
    urdf.write_text('<robot name="r"><link name="a"/></robot>')
    srdf.write_text('<robot name="r"><group name="g"><link name="a"/></group></robot>')
    result = run("check", urdf, "--urdf", f"{srdf},{urdf}")
    assert (result.code, result.out) == (1, "")
    assert result.err == f"error: '{srdf}' is an SRDF and '{urdf}' a URDF: exchange the two files\n"


# Documents beside a URDF without a valid tree.

LINKS = '<link name="a"/><link name="b"/><link name="c"/>'
REVOLUTE = '<joint name="{}" type="revolute"><parent link="{}"/><child link="{}"/>{}</joint>'
FULL = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
MESH = '<link name="m"><visual><geometry><mesh filename="package://nowhere/m.stl"/></geometry></visual></link>'
REFUSED = {
    "missing-limit": LINKS + REVOLUTE.format("j", "a", "b", "") + REVOLUTE.format("k", "a", "c", FULL),
    "unknown-joint-type": LINKS
    + REVOLUTE.format("j", "a", "b", "").replace("revolute", "hinge")
    + REVOLUTE.format("k", "a", "c", FULL),
    "unknown-link": LINKS + REVOLUTE.format("j", "a", "b", FULL) + REVOLUTE.format("k", "a", "zz", FULL),
    "duplicate-name": LINKS
    + '<link name="c"/>'
    + REVOLUTE.format("j", "a", "b", FULL)
    + REVOLUTE.format("k", "a", "c", FULL),
    "several-roots": LINKS
    + '<link name="d"/>'
    + REVOLUTE.format("j", "a", "b", FULL)
    + REVOLUTE.format("k", "a", "c", FULL),
    "missing-attribute": LINKS + REVOLUTE.format("j", "a", "b", FULL).replace(' type="revolute"', ""),
}


@pytest.fixture(params=REFUSED)
def refused(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, list[Path]]:
    """The code of the error of a URDF, and the files: the URDF, an SRDF and a YAML file that name unknown joints."""
    files = [tmp_path / name for name in ("r.urdf", "r.srdf", "limits.yaml")]
    files[0].write_text(f'<robot name="r">{REFUSED[request.param]}</robot>')
    files[1].write_text(
        '<robot name="r"><virtual_joint name="v" type="fixed" parent_frame="w" child_link="a"/>'
        '<group name="g"><joint name="j"/><joint name="jj"/><link name="b"/></group>'
        '<disable_collisions link1="a" link2="nolink"/><passive_joint name="v"/></robot>'
    )
    files[2].write_text(
        "joint_limits:\n  j: {}\n  j_x: {}\ng:\n  kinematics_solver: a\nnogroup:\n  kinematics_solver: a\n"
    )
    return request.param, files


def test_names_are_compared_with_a_urdf_that_gives_no_tree(
    run: RunCommand, refused: tuple[str, list[Path]], tmp_path: Path
) -> None:
    code, files = refused
    baseline = tmp_path / "known.json"
    assert run("check", files[0], "--write-baseline", baseline).code == 0
    for words in (("--ignore", code), ("--baseline", baseline), ()):
        result = run("check", *files, "--format", "json", *words)
        assert result.code == 1
        problems = json.loads(result.out)["diagnostics"]
        found = {(Path(item["file"]).name, item["code"], item["message"]) for item in problems}
        only = "only the names in this file are compared with"
        expected = {
            ("r.srdf", "unknown-joint", "unknown joint 'jj' in <joint>"),
            ("r.srdf", "unknown-link", "unknown link 'nolink' in <disable_collisions>"),
            ("r.srdf", "not-compared", f"{only} '{files[0]}', which has errors"),
            ("limits.yaml", "unknown-joint", "joint 'j_x' does not exist in the robot"),
            ("limits.yaml", "unknown-group", "group 'nogroup' does not exist in the robot"),
            ("limits.yaml", "not-compared", f"{only} '{files[0]}', which has errors"),
        }
        assert {item for item in found if item[0] != "r.urdf"} == {
            item for item in expected if words != ("--ignore", item[1])
        }
        assert (code in {item[1] for item in found if item[0] == "r.urdf"}) == (not words)


def test_files_that_could_not_be_compared_are_named(run: RunCommand, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("r.urdf", "r.srdf", "limits.yaml", "w.usdf")]
    files[0].write_text("<robot name='r'><link name='a'></robot>")
    files[1].write_text("<robot name='r'><group name='g'><link name='b'/></group></robot>")
    files[2].write_text("joint_limits: {j: {}}\n")
    files[3].write_text("<world_state><model_state name='r'><pose>0 0 0 0 0 0</pose></model_state></world_state>")
    baseline = tmp_path / "known.json"
    run("check", *files, "--urdf", files[0], "--write-baseline", baseline)
    for words in (("--baseline", baseline), ("--ignore", "not-well-formed")):
        result = run("check", *files, "--urdf", files[0], *words, "--all")
        for file in files[1:]:
            assert f"{file}:1:1: warning: this file is not compared with '{files[0]}', which has errors" in result.out
        assert run("check", *files, "--urdf", files[0], *words, "--strict").code == 1
    files[0].write_text("<robot name='r'><link name='a'/></robot>")
    files[1].write_text("<robot name='r'><group name='g'/>")
    files[2].write_text("g: {kinematics_solver: a}\n")
    result = run("check", *files, "--ignore", "not-well-formed", "--all", "--urdf", f"{files[0]},{files[1]}")
    assert f"{files[2]}:1:1: warning: this file is not compared with '{files[1]}', which has errors" in result.out


def test_missing_meshes_are_reported_beside_the_other_errors(run: RunCommand, tmp_path: Path) -> None:
    file = tmp_path / "r.urdf"
    for content in REFUSED.values():
        file.write_text(f'<robot name="r">{content}{MESH}</robot>')
        result = run("check", file, "--all")
        assert result.out.count("(missing-mesh)") == 1, content
        assert "error" in result.out


USES = {
    "simulation": {"no-mass", "no-inertia", "zero-limit", "huge-link", "no-collision"},
    "moveit": {"no-collision", "zero-limit", "huge-link", "no-group"},
    "gazebo": {"no-mass", "no-inertia", "zero-limit", "huge-link", "sdf-name"},
}


@pytest.mark.parametrize("use", USES)
def test_what_a_program_would_say_is_added_for_it_only(use: str, tmp_path: Path, run: RunCommand) -> None:
    pytest.importorskip("trimesh")
    corners = ("0 0 0", "400 0 0", "0 300 0", "0 0 100")
    triangle = "facet normal 0 0 1\nouter loop\nvertex {}\nvertex {}\nvertex {}\nendloop\nendfacet\n"
    faces = "".join(triangle.format(*(corner for corner in corners if corner != out)) for out in corners)
    (tmp_path / "part.stl").write_text(f"solid part\n{faces}endsolid part\n")
    (tmp_path / "r.urdf").write_text(
        '<robot name="r"><link name="base"/><link name="a::b"><visual><geometry><mesh filename="part.stl"/></geometry>'
        '</visual><inertial><mass value="1200"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>'
        '</link><link name="tip"/><joint name="j" type="revolute"><parent link="base"/><child link="a::b"/>'
        '<limit lower="-1" upper="1" effort="3" velocity="0"/></joint>'
        '<joint name="k" type="continuous"><parent link="a::b"/><child link="tip"/></joint></robot>'
    )
    plain = json.loads(run("check", tmp_path / "r.urdf", "--json").out)["diagnostics"]
    found = json.loads(run("check", tmp_path / "r.urdf", "--for", use, "--json").out)["diagnostics"]
    before = {item["code"] for item in plain}
    assert before.isdisjoint(set().union(*USES.values()))
    assert {item["code"] for item in found} - before == USES[use]
    assert all(item["severity"] == "warning" and item["line"] == 1 for item in found)
    (huge,) = (item for item in found if item["code"] == "huge-link")
    assert "400 m" in huge["message"]
