# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""One word for one thing: every parser has the same words for robots, values, outputs and exit codes."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.commands import RunCommand

from robot_semantics.base.errors import RobotSemanticsError, UsageError
from robot_semantics.cli.frame.argument_values import recorded_robot_argument, robot_argument
from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.running import all_commands
from robot_semantics.usdf.reader import read_world

# The commands that stay; the words that are gone are in the table of old words.
COMMANDS = {
    *("check", "explain", "show", "groups", "states", "fk", "diff", "upgrade", "expand", "compose", "export", "bag"),
    *("view", "plot", "studio", "doctor", "example", "lsp", "schema", "completion", "info", "help"),
    *(f"srdf {name}" for name in ("new", "add", "remove", "rename")),
    *(f"collisions {name}" for name in ("generate", "check", "table", "enable", "disable", "witness")),
    *(f"collisions spheres {name}" for name in ("check", "generate", "convert")),
    *(f"usdf {name}" for name in ("new", "show", "resolve", "edit", "merge", "split", "interpolate", "convert")),
    *("sim run", "sim export"),
    *(f"snapshot {name}" for name in ("save", "restore", "list", "delete")),
}

PAIR = "LINK1 LINK2"
FORMS: dict[str, set[str]] = {
    "--joint": {"NAME=NUMBERS", "NAME", "JOINT"},  # sets; selects
    "--loops": {"[NAME=]FILE", "FILE"},  # several robots; one robot
    "--model": {"NAME", "NAME[:NAMESPACE]"},  # selects; export
    "--output": {"FILE", "DIR"},
    "-o": {"FILE", "DIR"},
    "--group": {"NAME", "GROUP"},
    # Kinds of other things: world states, series, pictures, spheres, simulated worlds.
    "--to": {"TO"},
    "--from": {"SOURCE", "KIND"},
    # Parts that `srdf new` and `add` define, and `srdf remove` names.
    "--state": {"[MODEL/]GROUP/NAME", "GROUP/NAME", "GROUP/NAME JOINT=VALUE"},
    "--disable-collisions": {"LINK", PAIR},
    "--enable-collisions": {"LINK", PAIR},
    "--end-effector": {"NAME=GROUP,PARENT_LINK[,PARENT_GROUP]", "NAME"},
    "--joint-property": {"JOINT PROPERTY VALUE", "JOINT PROPERTY"},
    "--virtual-joint": {"TYPE", "NAME"},
    "--spheres": {"LINK X,Y,Z,R", "LINK", "FILE", ""},
    # One word, and another thing that its command cannot confuse with the first.
    "--at": {"T", "LINK"},
    "--every": {"DT", "S"},
    "--ignore": {"CODE", "KIND"},
    "--links": {"NAME=L1,L2", "", "MODEL"},
    "--tolerance": {"TOLERANCE", "[KIND=]X", "M"},
}
"""Options with more than one form: every other option has one form in all commands."""


def parser_of(command: Command) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    command.declare(parser)
    return parser


NONE = argparse.Action([], "")
PARSERS = {words: parser_of(command) for words, command in all_commands() if command.run is not None}


def form(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    metavar = action.metavar or action.dest.upper()
    return " ".join(metavar) if isinstance(metavar, tuple) else metavar


def told(run: RunCommand, *words: str) -> tuple[int, str, str]:
    result = run(*words)
    return result.code, result.out, result.err


def options(words: str) -> dict[str, argparse.Action]:
    return PARSERS[words]._option_string_actions


def test_the_commands_are_those_of_the_list() -> None:
    assert set(PARSERS) == COMMANDS


def test_an_option_has_one_form_in_all_commands() -> None:
    found: dict[str, set[str]] = {}
    for words in PARSERS:
        for option, action in options(words).items():
            found.setdefault(option, set()).add(form(action))
    assert {
        option: forms for option, forms in found.items() if len(forms) > 1 and not forms <= FORMS.get(option, set())
    } == {}
    assert {option for option in FORMS if len(found.get(option, ())) == 0} == set()


# Rule 1: a robot.

ONE_ROBOT = {
    *("show", "fk", "groups", "states", "studio"),
    *(f"collisions {name}" for name in ("generate", "check", "table", "witness", "spheres check", "spheres generate")),
}
OF_MODELS = {
    *("check", "diff", "export", "bag", "plot", "view", "sim run", "sim export"),
    *(f"usdf {name}" for name in ("resolve", "edit", "merge", "split", "interpolate", "convert")),
}
OF_ONE_SRDF = {"srdf add", "srdf remove", "srdf rename", "collisions enable", "collisions disable"}
NEEDS_SRDF = {"groups", "states", "collisions check", "collisions table"}
ROBOT = "[NAME=]URDF[,SRDF]"


def test_a_robot_is_given_in_one_way() -> None:
    for words in PARSERS:
        places = [action for action in PARSERS[words]._actions if not action.option_strings]
        forms = [form(action) for action in places]
        assert not {"--srdf", "--srdf-a", "--srdf-b"} & options(words).keys(), words
        assert ("--urdf" in options(words)) == (words in OF_MODELS | OF_ONE_SRDF), words
        if "--urdf" in options(words):
            action = options(words)["--urdf"]
            assert form(action) == ROBOT, words
            assert isinstance(action, argparse._AppendAction) == (words in OF_MODELS), words
        if words in ONE_ROBOT:
            assert forms[:2] == ["URDF", "SRDF"], words
            assert (places[1].nargs is None) == (words in NEEDS_SRDF), words
    assert [form(action) for action in PARSERS["usdf new"]._actions if not action.option_strings] == [ROBOT]
    for words in (
        ONE_ROBOT | OF_MODELS | OF_ONE_SRDF | {"srdf new", "usdf new", "compose", "collisions spheres convert"}
    ):
        assert {"--loops", "--package-path"} <= options(words).keys(), words


def test_an_srdf_beside_the_urdf_is_offered_and_not_read(folder: Path, run: RunCommand) -> None:
    alone = run("show", "robot.urdf", "--json")
    assert json.loads(alone.out)["groups"] == {}
    assert alone.err == (
        "note: robot.srdf lies beside robot.urdf and is not read; give it as in robot.urdf robot.srdf\n"
    )
    new = run("usdf", "new", "a=robot.urdf")
    assert "rs:semantic" not in new.out
    assert "give it as in a=robot.urdf,robot.srdf" in new.err
    for words in NEEDS_SRDF:
        code, out, err = told(run, *words.split(), "robot.urdf")
        assert (code, out) == (2, ""), words
        assert "error: missing: SRDF; robot.srdf lies beside robot.urdf\n" in err


@pytest.mark.parametrize("name", ["a=b.urdf", "a,b.urdf", "a=b,c.urdf", "=.urdf", "x=y=z.urdf"])
def test_a_path_may_have_an_equals_sign_and_a_comma(name: str, folder: Path, run: RunCommand) -> None:
    (folder / name).write_bytes((folder / "robot.urdf").read_bytes())
    models = (("", "rover_arm"), ("m=", "m"))
    for start, model in models:
        for end in ("", ",robot.srdf"):
            out = run("usdf", "new", f"{start}{name}{end}", "--quiet").out
            assert f'<model_state name="{model}"' in out
            assert ('rs:semantic="robot.srdf"' in out) == bool(end)


def test_two_readings_of_a_robot_that_exist_are_an_error_which_names_both(folder: Path, run: RunCommand) -> None:
    (folder / "m=robot.urdf").write_bytes((folder / "robot.urdf").read_bytes())
    code, out, err = told(run, "usdf", "new", "m=robot.urdf")
    assert (code, out) == (1, "")
    assert "can be the URDF 'm=robot.urdf', or model 'm' with the URDF 'robot.urdf'" in err


def test_a_robot_on_windows_is_split_at_its_signs_only() -> None:
    assert robot_argument(r"arm=C:\r.urdf,C:\r.srdf") == ("arm", r"C:\r.urdf", r"C:\r.srdf")
    assert robot_argument(r"C:\r.urdf,C:\r.srdf") == (None, r"C:\r.urdf", r"C:\r.srdf")


def test_robots_of_several_models_are_given_by_name(folder: Path, run: RunCommand) -> None:
    assert run("usdf", "new", "a=robot.urdf", "b=block.urdf", "--pose", "b=2 0 0 0 0 0", "-o", "two.usdf").code == 0
    text = re.sub(r' rs:(description|semantic|hash)="[^"]*"', "", (folder / "two.usdf").read_text())
    (folder / "bare.usdf").write_text(text)
    robots = ("--urdf", "a=robot.urdf,robot.srdf", "--urdf", "b=block.urdf")
    for words in ("usdf resolve bare.usdf a::palm_link", "check bare.usdf", "sim run bare.usdf --steps 1"):
        assert run(*words.split(), *robots).code == 0, words
    for words in (
        "usdf resolve bare.usdf",
        "sim run bare.usdf --steps 1",
        "bag bare.usdf -o b",
        "plot bare.usdf -o p.svg",
    ):
        code, _, err = told(run, *words.split(), "--urdf", "c=robot.urdf")
        assert (code, "unknown model 'c'" in err) == (1, True), (words, err)


def of_robots() -> Iterator[tuple[str, argparse.Action]]:
    """Yield every word and option ``[NAME=]VALUE``, with its command."""
    for words, parser in PARSERS.items():
        for action in parser._actions:
            if form(action).startswith("[NAME=]") or action.type in (robot_argument, recorded_robot_argument):
                yield words, action


def reading(action: argparse.Action, word: str) -> tuple[str | None, tuple[str, ...]]:
    assert callable(action.type)
    value: Any = action.type(word)
    return value.name, value.files


def test_a_named_value_is_read_in_one_way_in_all_commands(folder: Path) -> None:
    for file in ("plain", "a=b", "b", "x=y=z"):
        (folder / file).touch()
    (folder / "folder").mkdir()
    absolute = str(folder / "a=b")
    files = {
        "plain": (None, "plain"),
        "m=plain": ("m", "plain"),
        "x=y=plain": ("x=y", "plain"),
        "x=y=z": (None, "x=y=z"),
        "m=x=y=z": ("m", "x=y=z"),
        "./a=b": (None, "./a=b"),
        "m=./a=b": ("m", "./a=b"),
        absolute: (None, absolute),
        f"m={absolute}": ("m", absolute),
        "-": (None, "-"),
        "m=-": ("m", "-"),
        # What is not there is data, so the error is for a later step; a path with a slash is whole.
        "missing": (None, "missing"),
        "m=missing": ("m", "missing"),
        "m=a=missing": ("m", "a=missing"),
        "./a=missing": (None, "./a=missing"),
        "/a=missing": (None, "/a=missing"),
        "m=./a=missing": ("m", "./a=missing"),
        "folder": (None, "folder"),
        "m=folder": ("m", "folder"),
        "package://p/a=b": (None, "package://p/a=b"),
    }
    plain = {"plain": (None, "plain"), "m=plain": ("m", "plain"), "m=a=b": ("m", "a=b"), "m=/a": ("m", "/a")}
    count = 0
    for words, action in of_robots():
        is_file = form(action) not in ("[NAME=]TOPIC", "[NAME=]NAME")
        for word, (name, file) in (files if is_file else plain).items():
            assert reading(action, word) == (name, (file,)), (words, form(action), word)
        for wrong in ("", " ", "m=", "=plain", "=", "m= "):
            with pytest.raises(UsageError):
                reading(action, wrong)
        if is_file:
            with pytest.raises(RobotSemanticsError, match=r"can be .*'a=b'.*, or .*'b'.*these files exist") as error:
                reading(action, "a=b")
            assert not isinstance(error.value, UsageError)
        count += 1
    assert count > 40


# For each command with `--loops [NAME=]FILE`: a line that reads the robot with these loops.
LOOPS = {
    "check": "robot.urdf",
    "diff": "m=robot.urdf robot.urdf",
    "compose": "m=robot.urdf block.urdf --at palm_link --prefix l_ -o c.urdf",
    "bag": "world.usdf -o b --urdf rover_arm=robot.urdf",
    "plot": "world.usdf -o p.svg --urdf rover_arm=robot.urdf",
    "view": "robot.urdf --html p.html",
    "sim run": "world.usdf --steps 1",
    "sim export": "world.usdf -o m.xml",
    "usdf new": "m=robot.urdf",
    "usdf resolve": "world.usdf --urdf robot.urdf",
    "usdf edit": "world.usdf --urdf robot.urdf --joint elbow_joint=1",
    "usdf merge": "world.usdf --urdf robot.urdf",
    "usdf split": "world.usdf --urdf robot.urdf -o d",
    "usdf interpolate": "world.usdf world.usdf --share 0.5 --urdf robot.urdf",
    "usdf convert": "world.usdf --to sdformat --urdf robot.urdf",
}


SEVERAL = {"diff", "bag", "plot", "sim run", "sim export"}
"""The lines of `LOOPS` with several models, so that a value needs its name."""


def test_loops_of_several_robots_are_tried_below() -> None:
    several = {words for words in PARSERS if form(options(words).get("--loops", NONE)) == "[NAME=]FILE"}
    # An export needs a recording, and `test_loops_option` makes one.
    assert several == {*LOOPS, "export"}


@pytest.mark.parametrize("words", LOOPS)
def test_loops_are_read_for_their_robot_in_all_commands(words: str, folder: Path, run: RunCommand) -> None:
    (folder / "a=b.yaml").write_text("closed_loop: [[palm_link, nowhere]]\ntype: [3d]\n")
    (folder / "none.yaml").write_text("closed_loop: []\ntype: []\n")
    name = re.search(r"\bm(?==robot)", LOOPS[words])
    model = name[0] if name else "rover_arm"
    for start in ("", f"{model}=") if words not in SEVERAL else (f"{model}=",):
        for file in ("a=b.yaml", "./a=b.yaml", str(folder / "a=b.yaml")):
            code, out, err = told(run, *words.split(), *LOOPS[words].split(), "--loops", f"{start}{file}")
            assert (code, "a=b.yaml:1:27: error" in out + err) == (1, True), (start, file, out + err)
        code, out, err = told(run, *words.split(), *LOOPS[words].split(), "--loops", f"{start}./missing=x.yaml")
        assert (code, "missing=x.yaml" in out + err) == (1, True), out + err
        assert "unknown robot" not in err
    code, _, err = told(run, *words.split(), *LOOPS[words].split(), "--loops", "rovr=none.yaml")
    assert (code in (1, 2), "unknown" in err and "'rovr'" in err) == (True, True), err
    assert told(run, *words.split(), *LOOPS[words].split(), "--loops", f"{model}=")[0] == 2
    twice = ("--loops", f"{model}=a=b.yaml") * 2
    code, _, err = told(run, *words.split(), *LOOPS[words].split(), *twice)
    assert (code, "--loops is given twice for one robot" in err) == (2, True), err


# Rule 2: values.


def test_a_value_is_given_in_one_way() -> None:
    for words in PARSERS:
        assert "--positions" not in options(words)
    for words in ("fk", "states", "view", "usdf new", "usdf edit"):
        assert form(options(words)["--joint"]) == "NAME=NUMBERS"
        assert isinstance(options(words)["--joint"], argparse._AppendAction)
    for option in ("--pose", "--twist", "--parent"):
        for words in ("usdf new", "usdf edit"):
            assert form(options(words)[option]).startswith("NAME=")
    lists = {"+", "*", argparse.REMAINDER}
    several = {words: option for words in PARSERS for option, action in options(words).items() if action.nargs in lists}
    assert set(several) <= {"srdf new", "srdf add"}


def test_a_joint_is_a_joint_a_variable_or_either_with_its_model(folder: Path, run: RunCommand) -> None:
    fk = ("fk", "robot.urdf", "robot.srdf", "--json")
    for start in ("", "rover_arm/"):
        whole = run(*fk, "--joint", f"{start}world_joint=1 2 0.5")
        parts = run(
            *fk, *(f"--joint={start}world_joint/{name}={value}" for name, value in (("x", 1), ("y", 2), ("theta", 0.5)))
        )
        assert whole.code == parts.code == 0
        assert json.loads(whole.out) == json.loads(parts.out)
    for word, code in (
        ("elbow_joint", 2),
        ("elbow_joint=", 2),
        ("elbow_joint=1,2", 2),
        ("elbow_joint=1 2", 1),
        ("nope=1", 1),
    ):
        assert run(*fk, "--joint", word).code == code, word
    assert run(*fk, "--joint", "elbow_joint=1", "--joint", "rover_arm/elbow_joint=1").code == 2


def test_a_joint_of_two_models_needs_its_model(folder: Path, run: RunCommand) -> None:
    new = ("usdf", "new", "a=robot.urdf,robot.srdf", "b=robot.urdf,robot.srdf")
    for option, word in (("--joint", "elbow_joint=1"), ("--state", "arm/reach")):
        code, out, err = told(run, *new, option, word)
        assert (code, out) == (1, ""), err
        assert "'a'" in err
        assert "'b'" in err
        assert run(*new, option, f"a/{word}").code == 0
    assert run("usdf", "new", "a=robot.urdf", "b=block.urdf", "--joint", "elbow_joint=1").code == 0


def test_a_variable_of_a_virtual_joint_moves_only_its_direction(folder: Path, run: RunCommand) -> None:
    new = ("usdf", "new", "robot.urdf,robot.srdf", "--pose", "rover_arm=1 2 0 0 0 0.5")
    assert run(*new, "-o", "w.usdf").code == 0
    assert run("usdf", "edit", "w.usdf", "--joint", "world_joint/x=5", "--in-place").code == 0
    x, *others = read_world(folder / "w.usdf").models[0].pose.xyz_rpy  # type: ignore[union-attr]
    assert [x, *others] == pytest.approx([5.0, 2.0, 0.0, 0.0, 0.0, 0.5])


# Rule 3: output.

PRINTED = {
    "srdf new": "robot.urdf",
    "srdf add": "robot.srdf --passive-joint elbow_joint",
    "srdf remove": "robot.srdf --state arm/reach",
    "srdf rename": "robot.srdf group arm limb",
    "collisions enable": "robot.srdf palm_link base_link",
    "collisions disable": "robot.srdf palm_link base_link",
    "upgrade": "robot.urdf",
    "usdf new": "robot.urdf",
    "usdf edit": "world.usdf --time 3",
    "usdf merge": "world.usdf",
    "usdf interpolate": "world.usdf world.usdf --share 0.5",
    "usdf convert": "world.usdf --to json",
    "sim run": "world.usdf --steps 1",
}
NEEDED = {
    "compose": "robot.urdf robot.urdf --at palm_link --prefix l_ --samples 20",
    "collisions generate": "robot.urdf robot.srdf --samples 20",
    "collisions spheres generate": "block.urdf --count 1",
    "collisions spheres convert": "robot.urdf robot.srdf --group arm --to xrdf",
    "bag": "world.usdf",
    "plot": "world.usdf",
    "sim export": "world.usdf",
    "usdf split": "world.usdf",
}
CHANGES_INPUT = {
    *("srdf add", "srdf remove", "srdf rename", "collisions enable", "collisions disable", "usdf edit", "upgrade"),
    *("collisions generate", "collisions spheres generate"),
}
SECOND_OUTPUTS = {
    "show --svg a.svg": "robot.urdf",
    "view --html a.html": "world.usdf",
    "view --png a.png": "world.usdf",
}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_command_that_writes_a_file_can_be_tried_and_forced() -> None:
    writes = {words for words in PARSERS if {"-o", "--svg", "--html", "--usdf"} & options(words).keys()}
    assert writes == {*PRINTED, *NEEDED, "show", "view", "export", "studio", "collisions witness"}
    for words in writes - {"studio"}:
        assert {"--dry-run", "--force"} <= options(words).keys(), words
    assert {"--dry-run", "--force"} <= options("example").keys()
    assert {words for words in PARSERS if "--in-place" in options(words)} == CHANGES_INPUT
    gone = {"--update", "--overwrite", "--diff", "--output-folder"}
    assert {words for words in PARSERS if gone & options(words).keys()} == set()
    assert {words for words in PARSERS if "--format" in options(words)} == {"check"}
    for words in PARSERS:
        assert options(words).get("--json", argparse.Action([], "")).nargs in (0, None), words


@pytest.mark.parametrize("words", PRINTED)
def test_without_an_output_a_document_is_printed(words: str, folder: Path, run: RunCommand) -> None:
    before = contents(folder)
    code, out, err = told(run, *words.split(), *PRINTED[words].split())
    assert code == 0, err
    assert out.lstrip().startswith(("<", "{"))
    assert contents(folder) == before


@pytest.mark.parametrize("words", NEEDED)
def test_an_output_or_a_dry_run_is_needed(words: str, folder: Path, run: RunCommand) -> None:
    before = contents(folder)
    code, out, err = told(run, *words.split(), *NEEDED[words].split())
    assert (code, out) == (2, "")
    assert "missing: -o" in err
    assert contents(folder) == before


@pytest.mark.parametrize("line", [*PRINTED, *NEEDED, *SECOND_OUTPUTS])
def test_a_dry_run_says_what_would_change_and_writes_nothing(line: str, folder: Path, run: RunCommand) -> None:
    before = contents(folder)
    words = {**PRINTED, **NEEDED, **SECOND_OUTPUTS}[line].split()
    code, out, err = told(run, *line.split(), *words, "--dry-run")
    assert code == 0, err
    assert re.search(r"would (write|draw)|no change|^--- ", out, re.MULTILINE), out
    assert contents(folder) == before


@pytest.mark.parametrize("words", sorted(CHANGES_INPUT - {"collisions spheres generate"}))
def test_the_input_is_changed_only_if_asked(words: str, folder: Path, run: RunCommand) -> None:
    before = contents(folder)
    line = [*words.split(), *({**PRINTED, **NEEDED}[words].split())]
    changed = next(word for word in reversed(line) if word.endswith((".srdf", ".usdf", ".urdf")))
    printed = run(*line) if words in PRINTED else None
    assert contents(folder) == before
    assert run(*line, "--in-place", "-o", "other.srdf").code == 2
    assert run(*line, "--in-place").code == 0
    after = contents(folder)
    assert {name for name in after if after[name] != before.get(name)} <= {changed}
    if printed is not None:
        assert printed.out.encode() == after[changed]


@pytest.mark.parametrize("words", sorted({*PRINTED, *NEEDED} - {"usdf split", "bag", "usdf convert"}))
def test_an_unknown_ending_is_wrong_usage_and_to_overrides_it(words: str, folder: Path, run: RunCommand) -> None:
    before = contents(folder)
    line = [word for word in ({**PRINTED, **NEEDED}[words].split()) if word not in ("--to", "xrdf")]
    code, out, err = told(run, *words.split(), *line, "-o", "x.blend")
    assert (code, out) == (2, "")
    assert "has the ending '.blend'; known is " in err
    assert contents(folder) == before
    if "--to" in options(words):
        kind = list(options(words)["--to"].choices or ())[-1]
        assert run(*words.split(), *line, "-o", "x.blend", "--to", kind).code == 0
        assert (folder / "x.blend").is_file()


def test_a_series_of_the_simulation_needs_a_folder(folder: Path, run: RunCommand) -> None:
    words = ("sim", "run", "world.usdf", "--steps", "10", "--every", "0.01")
    assert run(*words).code == 2
    assert run(*words, "-o", "x.usdf").code == 2
    assert run(*words, "-o", "states").code == 0


# Rules 4, 6 and 7: what every command has. `test_conventions` tries it.


def test_every_command_has_what_every_command_has() -> None:
    for words in PARSERS:
        assert "--quiet" in options(words), words
        if "--node" in options(words):
            assert "--timeout" in options(words), words


# Rule 5: exit codes.


@pytest.mark.parametrize("words", sorted(PARSERS))
def test_a_wrong_option_is_named_before_a_missing_word(words: str, folder: Path, run: RunCommand) -> None:
    code, out, err = told(run, *words.split(), "--no-such-option")
    assert (code, out) == (2, "")
    assert "unexpected '--no-such-option'" in err


WRONG = {
    "NAME=NUMBERS": ("x", "=1", "x=", "x=1,2", "x=nan"),
    "NAME=PARENT": ("x", "x=", "=y"),
    "[MODEL/]GROUP/NAME": ("x", "/x", "x/"),
    "GROUP/NAME": ("x", "/x", "x/"),
    "GROUP/NAME JOINT=VALUE": ("x", "x/"),
    "[NAME=]FILE": ("m=", "=x"),
    "[NAME=]URDF[,SRDF]": ("m=", "=x", "x,", "x,y,z"),
    "[NAME=]TOPIC": ("m=", "=t"),
    "[NAME=]NAME": ("m=", "=t"),
    "[KIND=]X": ("x", "nothing=1", "-1"),
    "NAME=BASE..TIP": ("x", "x=a", "x=a..", "=a..b"),
    "NAME=J1,J2": ("x", "x=", "x=a,"),
    "NAME=G1,G2": ("x", "x=", "x=a,"),
    "NAME=GROUP,PARENT_LINK[,PARENT_GROUP]": ("x", "x=a", "x=a,b,c,d"),
    "T": ("x", "nan"),
    "DT": ("x", "0", "-1"),
    "S": ("x",),
    "DEG": ("x",),
    "WxH": ("x", "1x1"),
    "N": ("x", "1.5"),
    "M": ("x",),
}
"""Wrong values by the form of an option. The command line itself shows them: no file needs to be read."""


def line_with_missing_files(words: str, without: str) -> list[str]:
    """Return a command line with all that the command needs but the option `without`; its files do not exist."""
    line = words.split()
    for action in PARSERS[words]._actions:
        if not action.option_strings and action.nargs not in ("?", "*"):
            line.append(str(next(iter(action.choices))) if action.choices else "missing.urdf")
        elif action.option_strings and action.required and without not in action.option_strings:
            value = str(next(iter(action.choices))) if action.choices else "1"
            line += [action.option_strings[-1], *[value] * (action.nargs if isinstance(action.nargs, int) else 1)]
    return line


def test_a_wrong_value_is_named_before_a_missing_file(folder: Path, run: RunCommand) -> None:
    tried: set[str] = set()
    for words in PARSERS:
        for option, action in options(words).items():
            wrong = WRONG.get(form(action), ()) if option.startswith("--") else ()
            # `srdf remove --state` and others take names.
            tried.update([form(action)] * bool(wrong))
            for value in wrong:
                code, out, err = told(run, *line_with_missing_files(words, option), f"{option}={value}")
                assert code == 2, (words, option, value, err)
                assert not out
    assert tried == set(WRONG)


def test_an_empty_value_is_wrong_usage(folder: Path, run: RunCommand) -> None:
    for words in PARSERS:
        for option, action in options(words).items():
            if action.nargs != 0 and option.startswith("--") and form(action) not in ("TEXT", "P"):
                count = action.nargs if isinstance(action.nargs, int) else 1
                values = [f"{option}="] if count == 1 else [option, *[""] * count]
                code, out, err = told(run, *line_with_missing_files(words, option), *values)
                assert (code, out) == (2, ""), (words, option, err)
        line = line_with_missing_files(words, "")
        for place, word in enumerate(line):
            if word == "missing.urdf":
                code, out, err = told(run, *line[:place], "", *line[place + 1 :])
                assert (code, out) == (2, ""), (words, err)
                assert re.search("the value is empty|missing: ", err), (words, err)
        # A word that may be missing is not dropped if it is empty: it is often an unset variable of a shell.
        if any(not action.option_strings and action.nargs == "?" for action in PARSERS[words]._actions):
            code, out, err = told(run, *line, "")
            assert (code, out) == (2, ""), (words, err)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("usdf edit missing.usdf --keep-place", "--keep-place needs --parent"),
        ("usdf new missing.urdf --degrees", "--degrees needs --pose, --twist or --joint"),
        ("usdf merge missing.usdf missing.usdf --prefix a_", "--prefix: 1 are given for 2 files"),
        ("usdf convert missing.usdf --loops x", "--loops needs --urdf"),
        ("usdf resolve missing.usdf --loops x", "--loops needs --urdf"),
        ("bag missing.usdf -o b --loops x", "--loops needs --urdf"),
        ("plot missing.usdf -o p.svg --loops x", "--loops needs --urdf"),
        ("plot missing.usdf -o p.svg --urdf x --urdf y", "name the model as in NAME=..."),
        ("export missing -o x --loops x", "--loops needs --urdf"),
        ("srdf add missing.srdf --passive-joint x --loops x", "--loops needs --urdf"),
        ("srdf rename missing.srdf group a b --loops x", "--loops needs --urdf"),
        ("srdf rename missing.srdf state a b", "takes GROUP/NAME, not 'a'"),
        ("srdf new missing.urdf --parent-frame map", "need --virtual-joint TYPE"),
        ("collisions enable missing.srdf a b --loops x", "--loops needs --urdf"),
        ("check missing.urdf --force", "--force needs --write-baseline"),
        ("check missing.urdf --write-baseline -", "'-' is standard output; give a file"),
        ("check missing.urdf --json --format sarif", "--json is --format json"),
        ("usdf edit missing.usdf --urdf m=x --urdf m=y", "--urdf is given twice for one robot, 'm'"),
        ("view missing.usdf --urdf m=x --urdf m=y", "--urdf is given twice for one robot, 'm'"),
        ("sim run missing.usdf --steps 1 --loops m=x --loops m=y", "--loops is given twice for one robot, 'm'"),
        ("help fk extra", "unexpected 'extra'"),
        ("usdf convert missing.usdf", "--to: give the kind of the result"),
        ("usdf edit missing.usdf --pose a=1,0,0,0,0,0", "--pose takes NAME=NUMBERS"),
        ("fk missing.urdf -- missing.srdf --json", "unexpected '--json'"),
    ],
)
def test_what_the_command_line_shows_is_named_before_a_missing_file(
    line: str, message: str, folder: Path, run: RunCommand
) -> None:
    code, out, err = told(run, *line.split())
    assert (code, message in err) == (2, True), err
    assert not out.strip() or "--json" in line


def test_a_pose_is_given_once_for_each_name(folder: Path, run: RunCommand) -> None:
    for option in ("--pose", "--twist"):
        twice = (option, "block_1=1 0 0 0 0 0", option, "block_1=2 0 0 0 0 0")
        code, out, err = told(run, "usdf", "edit", "world.usdf", *twice)
        assert (code, out) == (2, "")
        assert f"{option} block_1 is given twice" in err
        assert run("usdf", "edit", "world.usdf", *twice[:3], "block_2=2 0 0 0 0 0").code == 0


@pytest.mark.parametrize("words", ["fk", "usdf new", "check", "srdf new", "usdf show", "info"])
def test_a_file_whose_name_begins_with_a_dash_follows_two_dashes(words: str, folder: Path, run: RunCommand) -> None:
    kind = "world.usdf" if words == "usdf show" else "robot.urdf"
    (folder / f"-{kind}").write_bytes((folder / kind).read_bytes())
    assert told(run, *words.split(), "--", f"-{kind}")[0] == 0
    assert told(run, *words.split(), "--quiet", "--", f"-{kind}")[0] == 0
    assert told(run, *words.split(), f"./-{kind}")[0] == 0


MISSING = {
    words: re.sub(r"\b(robot|world|block)\.(urdf|srdf|usdf)", r"missing.\2", line, count=1)
    for words, line in {**PRINTED, **NEEDED}.items()
}


@pytest.mark.parametrize("words", MISSING)
def test_a_file_that_is_not_there_is_data(words: str, folder: Path, run: RunCommand) -> None:
    target = {"bag": "b", "usdf split": "d", "plot": "p.svg", "sim export": "m.xml", "compose": "c.urdf"}.get(words)
    if words in NEEDED and target is None:
        target = "x.xrdf" if words.endswith("convert") else "x.srdf"
    code, out, err = told(run, *words.split(), *MISSING[words].split(), *([] if target is None else ["-o", target]))
    assert (code, out) == (1, ""), err
    assert "missing." in err
