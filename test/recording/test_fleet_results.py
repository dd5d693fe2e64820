# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Results of fleets: names, what a finished bag depends on, links, interruptions, one table, times of each bag."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from robot_semantics.base import files, version
from robot_semantics.recording import fleet as fleet_module

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ARM = """<robot name="arm"{space}>
 <link name="base"/><link name="tip"/>
 <joint name="hinge" type="revolute"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/>
  <origin xyz="{x} 0 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
</robot>"""


def arm_bag(tools: Any, path: Path, seconds: float = 2.0, kind: str = "bare mcap", offset: float = 0.0) -> Path:
    """Write a bag of the arm: one joint at 10 Hz, position = time + offset."""
    path.parent.mkdir(parents=True, exist_ok=True)
    tape = tools.Tape()
    for i in range(int(seconds * 10) + 1):
        tape.joints(tools.START + i * tools.S // 10, ["hinge"], [i / 10 + offset])
    written: Path = tape.write(path, kind)
    return written


def write_arm(path: Path, x: str = "1", space: str = "") -> Path:
    path.write_text(ARM.format(x=x, space=space), encoding="utf-8")
    return path


def rows(out: Path) -> dict[str, dict[str, Any]]:
    """Return the rows of the index by the name of the result, or of the bag where there is no result."""
    return {row["result"] or row["bag"]: row for row in pq.read_table(out / "index.parquet").to_pylist()}


def counts(text: str) -> tuple[int, int, int]:
    """Return how many bags were exported, done before, and failed."""
    numbers = re.search(r"(\d+) exported, (\d+) were done before, (\d+) failed", text)
    assert numbers, text
    return int(numbers[1]), int(numbers[2]), int(numbers[3])


# Names of results.


def test_results_keep_the_folders_as_written_and_a_new_bag_renames_no_other(
    tools: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tools.folder)
    for day in ("mon", "tue"):
        arm_bag(tools, Path(day) / "run1")
    command = ("export", "--each", "mon", "tue", "--to", "parquet", "-o", "out")
    assert tools.run(*command)[0] == 0
    assert set(rows(Path("out"))) == {"mon/run1.parquet", "tue/run1.parquet"}
    before = Path("out/mon/run1.parquet").read_bytes()
    arm_bag(tools, Path("apr/run1"), seconds=4.0)
    code, stdout, _ = tools.run("export", "--each", "apr", "mon", "tue", "--to", "parquet", "-o", "out")
    assert (code, counts(stdout)) == (0, (1, 2, 0))
    assert Path("out/mon/run1.parquet").read_bytes() == before
    assert set(rows(Path("out"))) == {"apr/run1.parquet", "mon/run1.parquet", "tue/run1.parquet"}


@pytest.mark.parametrize(
    ("written", "result"),
    [
        ("mon", "mon/run1.parquet"),
        ("./mon/", "mon/run1.parquet"),
        ("mon/run1.mcap", "mon/run1.parquet"),
        ("../{here}/mon", "{here}/mon/run1.parquet"),
        ("{absolute}/mon", "{absolute}/mon/run1.parquet"),
        (".", "mon/run1.parquet"),
    ],
)
def test_the_name_is_the_path_as_written_without_root_and_dots(
    tools: Any, monkeypatch: pytest.MonkeyPatch, written: str, result: str
) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("mon/run1"))
    places = {"here": tools.folder.name, "absolute": str(tools.folder)}
    code, stdout, stderr = tools.run(
        "export", "--each", written.format(**places), "--to", "parquet", "-o", tools.folder.parent / "elsewhere"
    )
    assert code == 0, stdout + stderr
    expected = result.format(**places).lstrip("/")
    assert set(rows(tools.folder.parent / "elsewhere")) == {expected}
    assert (tools.folder.parent / "elsewhere" / expected).is_file()
    shutil.rmtree(tools.folder.parent / "elsewhere")


def test_a_rosbag2_folder_gives_the_name_of_its_folder(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("mon/run1"), kind="mcap")
    arm_bag(tools, Path("mon/v1.2"), kind="mcap")
    assert tools.run("export", "--each", "mon", "--to", "npz", "-o", "out")[0] == 0
    assert set(rows(Path("out"))) == {"mon/run1.npz", "mon/v1.2.npz"}


def test_two_bags_of_one_name_are_both_refused_and_the_others_exported(
    tools: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("mon/run1"))
    arm_bag(tools, Path("mon/run1"), kind="ros1")
    arm_bag(tools, Path("mon/run2"))
    code, stdout, stderr = tools.run("export", "--each", "mon", "--to", "npz", "-o", "out")
    assert (code, counts(stdout)) == (1, (1, 0, 2))
    assert "mon/run1.bag" in stderr
    assert "mon/run1.mcap" in stderr
    assert "mon/run1.npz" in stderr
    assert not Path("out/mon/run1.npz").exists()


@pytest.mark.parametrize("form", ["usdf", "parquet"])
def test_a_bag_beside_a_folder_of_its_name_never_deletes_the_results_inside(
    tools: Any, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("mon"))
    arm_bag(tools, Path("mon/run1"))
    options = ("--every", "1", "--to", form, "-o", "out")
    for bags in (("mon",), ("mon.mcap",), ("mon", "mon.mcap")):
        tools.run("export", "--each", *bags, *options)
        inner = Path("out/mon/run1.parquet") if form == "parquet" else Path("out/mon/run1/index.json")
        assert inner.is_file(), bags


def test_a_bag_called_index_keeps_its_result(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("index"))
    for done in ((1, 0, 0), (0, 1, 0)):
        options = ("--every", "1", "--to", "parquet", "-o", "out")
        code, stdout, _ = tools.run("export", "--each", "index.mcap", *options)
        assert (code, counts(stdout)) == (0, done)
        (row,) = pq.read_table("out/index.parquet").to_pylist()
        assert (row["bag"], row["states"]) == ("index.mcap", 3)
        assert len(pq.read_table(Path("out") / row["result"])) == 3


@pytest.mark.parametrize("content", ["table", "text", "cut"])
def test_an_index_of_another_program_is_kept_without_force(
    tools: Any, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("mon/run1"))
    Path("out").mkdir()
    index = Path("out/index.parquet")
    pq.write_table(pa.table({"bag": ["x"], "result": ["y"]}), index)
    if content != "table":
        index.write_bytes(b"notes" if content == "text" else index.read_bytes()[:60])
    before = index.read_bytes()
    command = ("export", "--each", "mon", "--to", "npz", "-o", "out")
    for more in ((), ("--dry-run",)):
        code, _, stderr = tools.run(*command, *more)
        assert (code, "'out/index.parquet' exists and is not the index" in stderr) == (1, True), stderr
        assert [path.name for path in Path("out").iterdir()] == ["index.parquet"]
        assert index.read_bytes() == before
    code, stdout, _ = tools.run(*command, "--force")
    assert (code, counts(stdout)) == (0, (1, 0, 0))
    assert set(rows(Path("out"))) == {"mon/run1.npz"}


def test_force_exports_finished_bags_again(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("mon/run1"))
    command = ("export", "--each", "mon", "--to", "npz", "-o", "out")
    assert counts(tools.run(*command)[1]) == (1, 0, 0)
    made = Path("out/mon/run1.npz").stat().st_mtime_ns
    assert counts(tools.run(*command)[1]) == (0, 1, 0)
    assert Path("out/mon/run1.npz").stat().st_mtime_ns == made
    assert counts(tools.run(*command, "--force")[1]) == (1, 0, 0)
    assert Path("out/mon/run1.npz").stat().st_mtime_ns > made


def test_without_its_rows_a_fleet_continues_from_the_index(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("mon/run1"))
    arm_bag(tools, Path("mon/run2"))
    command = ("export", "--each", "mon", "--to", "npz", "-o", "out")
    assert counts(tools.run(*command)[1]) == (2, 0, 0)
    arm_bag(tools, Path("mon/run2"), seconds=4.0)
    for done in ((1, 1, 0), (0, 2, 0)):
        shutil.rmtree("out/.rows")
        code, stdout, stderr = tools.run(*command)
        assert (code, counts(stdout)) == (0, done), stderr
        assert {name: row["states"] for name, row in rows(Path("out")).items()} == {
            "mon/run1.npz": 1,
            "mon/run2.npz": 1,
        }
    # The rows are there again, and are enough without the index.
    Path("out/index.parquet").unlink()
    assert counts(tools.run(*command)[1]) == (0, 2, 0)


@pytest.mark.parametrize("name", ["UP.MCAP", "Up.Db3", "up.BAG"])
def test_endings_in_capital_letters_are_bags(tools: Any, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tools.folder)
    kind = {"m": "bare mcap", "d": "sqlite3", "b": "ros1"}[name.rpartition(".")[2][0].lower()]
    bag = arm_bag(tools, Path("run"), kind=kind)
    file = next(path for path in (*bag.glob("*.db3"), bag) if path.is_file())
    Path("mon").mkdir()
    file.rename(Path("mon") / name)
    code, stdout, stderr = tools.run("export", "--each", "mon", "--to", "npz", "-o", "out")
    assert (code, counts(stdout)) == (0, (1, 0, 0)), stderr
    assert set(rows(Path("out"))) == {f"mon/{name.partition('.')[0]}.npz"}
    code, _, stderr = tools.run("export", Path("mon") / name, "-o", "x.npz")
    assert code == 0, stderr
    assert "read record by record" not in stderr


# What a finished bag depends on.


def xacro_fleet(tools: Any) -> tuple[Path, Path]:
    """Return the file that a xacro includes, and the xacro."""
    inner = tools.folder / "size.xacro"
    inner.write_text(
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="dx" value="1.0"/></robot>'
    )
    outer = tools.folder / "arm.urdf.xacro"
    write_arm(outer, "${dx}", ' xmlns:xacro="http://www.ros.org/wiki/xacro"')
    include = '<xacro:include filename="size.xacro"/><link name="base"/>'
    outer.write_text(outer.read_text().replace('<link name="base"/>', include))
    return inner, outer


def test_a_changed_include_of_a_xacro_is_another_request(tools: Any) -> None:
    arm_bag(tools, tools.folder / "bags" / "run1")
    inner, outer = xacro_fleet(tools)
    options = ("--urdf", outer, "--links", "--to", "parquet", "-o", tools.folder / "out")
    command = ("export", "--each", tools.folder / "bags", *options)
    assert counts(tools.run(*command)[1]) == (1, 0, 0)
    assert counts(tools.run(*command)[1]) == (0, 1, 0)
    inner.write_text(inner.read_text().replace("1.0", "2.0"))
    assert counts(tools.run(*command)[1]) == (1, 0, 0)
    (row,) = rows(tools.folder / "out").values()
    table = pq.read_table(tools.folder / "out" / row["result"])
    assert set(table["arm/tip/x"].to_pylist()) == {2.0}


def test_a_changed_yaml_of_a_xacro_and_a_changed_variable_are_other_requests(
    tools: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm_bag(tools, tools.folder / "bags" / "run1")
    (tools.folder / "size.yaml").write_text("dx: 1.0\n")
    outer = tools.folder / "arm.urdf.xacro"
    write_arm(outer, "${xacro.load_yaml('size.yaml')['dx']}", ' xmlns:xacro="http://www.ros.org/wiki/xacro"')
    outer.write_text(outer.read_text().replace('name="tip"/>', 'name="tip"/><link name="$(optenv TOOL none)"/>', 1))
    outer.write_text(
        outer.read_text().replace(
            "</robot>",
            '<joint name="f" type="fixed"><parent link="tip"/><child link="$(optenv TOOL none)"/></joint></robot>',
        )
    )
    options = ("--urdf", outer, "--to", "npz", "-o", tools.folder / "out")
    command = ("export", "--each", tools.folder / "bags", *options)
    assert counts(tools.run(*command)[1]) == (1, 0, 0)
    assert counts(tools.run(*command)[1]) == (0, 1, 0)
    (tools.folder / "size.yaml").write_text("dx: 2.0\n")
    assert counts(tools.run(*command)[1]) == (1, 0, 0)
    monkeypatch.setenv("TOOL", "gripper")
    assert counts(tools.run(*command)[1]) == (1, 0, 0)


def test_changed_loops_are_another_request(tools: Any) -> None:
    arm_bag(tools, tools.folder / "bags" / "run1")
    urdf, loops = write_arm(tools.folder / "arm.urdf"), tools.folder / "robot.yaml"
    loops.write_text("closed_loop: []\n")
    options = ("--urdf", urdf, "--loops", loops, "--to", "npz", "-o", tools.folder / "out")
    command = ("export", "--each", tools.folder / "bags", *options)
    assert counts(tools.run(*command)[1])[2] == 0
    assert counts(tools.run(*command)[1]) == (0, 1, 0)
    loops.write_text("closed_loop: []\n# another\ntype: []\n")
    assert counts(tools.run(*command)[1])[1] == 0


def test_changed_metadata_is_another_bag(tools: Any) -> None:
    bag = arm_bag(tools, tools.folder / "bags" / "run1", kind="sqlite3")
    command = ("export", "--each", tools.folder / "bags", "--to", "npz", "-o", tools.folder / "out")
    assert counts(tools.run(*command)[1]) == (1, 0, 0)
    assert counts(tools.run(*command)[1]) == (0, 1, 0)
    content = YAML(typ="safe").load((bag / "metadata.yaml").read_text())
    content["rosbag2_bagfile_information"]["custom_data"] = {"note": "repaired"}
    with (bag / "metadata.yaml").open("w") as file:
        YAML().dump(content, file)
    assert counts(tools.run(*command)[1]) == (1, 0, 0)


def test_another_version_of_the_package_exports_again(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    arm_bag(tools, tools.folder / "bags" / "run1")
    command = ("export", "--each", tools.folder / "bags", "--to", "npz", "-o", tools.folder / "out")
    assert counts(tools.run(*command)[1]) == (1, 0, 0)
    monkeypatch.setattr(version, "__version__", "99.0")
    assert counts(tools.run(*command)[1]) == (1, 0, 0)
    assert counts(tools.run(*command)[1]) == (0, 1, 0)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _one_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("damage", [_empty, _one_bit, Path.unlink])
@pytest.mark.parametrize("form", ["usdf folder", "usdf", "jsonl", "npz", "csv", "parquet"])
def test_a_damaged_result_is_made_again_without_force(tools: Any, form: str, damage: Callable[[Path], None]) -> None:
    tape = tools.Tape()
    tape.text("/robot_description", ARM.format(x="1", space=""))
    for i in range(20):
        tape.joints(tools.START + i * tools.S // 10, ["hinge"], [i / 10])
    (tools.folder / "bags").mkdir()
    tape.write(tools.folder / "bags" / "run1", "bare mcap")
    every = ("--every", "1") if form != "usdf" else ()
    options = (*every, "--to", form.split()[0], "-o", tools.folder / "out")
    command = ("export", "--each", tools.folder / "bags", *options)
    assert counts(tools.run(*command)[1]) == (1, 0, 0)
    out = tools.folder / "out"
    results = [path for path in out.rglob("*") if path.is_file() and path.name != "index.parquet"]
    results = [path for path in results if ".rows" not in path.parts]
    assert results
    before = {path: path.read_bytes() for path in results}
    for path in results:
        damage(path)
        code, stdout, stderr = tools.run(*command)
        assert (code, counts(stdout)) == (0, (1, 0, 0)), (path, stderr)
        assert {path: path.read_bytes() for path in results} == before
    assert counts(tools.run(*command)[1]) == (0, 1, 0)


# Links and folders.


def test_links_neither_multiply_nor_rename_bags(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("runs/run7"))
    arm_bag(tools, Path("runs/deep/run8"), kind="mcap")
    Path("runs/latest.mcap").symlink_to("run7.mcap")
    Path("runs/a_link").symlink_to("deep/run8")
    Path("runs/deep/up").symlink_to("..")
    Path("runs/deep/top").symlink_to("../..")
    code, stdout, _ = tools.run("export", "--each", "runs", "--to", "npz", "-o", "out")
    assert (code, counts(stdout)) == (0, (2, 0, 0))
    assert set(rows(Path("out"))) == {"runs/run7.npz", "runs/deep/run8.npz"}


def test_a_bag_that_only_a_link_reaches_is_exported_under_the_name_of_the_link(
    tools: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("store/run7"))
    Path("runs").mkdir()
    Path("runs/mine").symlink_to("../store")
    Path("runs/self").symlink_to("self")
    code, stdout, _ = tools.run("export", "--each", "runs", "--to", "npz", "-o", "out")
    assert (code, counts(stdout)) == (0, (1, 0, 0))
    assert set(rows(Path("out"))) == {"runs/mine/run7.npz"}


def test_a_folder_that_cannot_be_listed_is_a_row(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("runs/run1"))
    Path("runs/closed").mkdir()
    usual = os.scandir

    def scandir(path: Any = ".") -> Any:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return usual(path)

    def iterdir(self: Path) -> Any:
        with scandir(self) as entries:
            return iter([self / entry.name for entry in entries])

    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.setattr(Path, "iterdir", iterdir)
    code, stdout, stderr = tools.run("export", "--each", "runs", "--to", "npz", "-o", "out")
    assert (code, counts(stdout)) == (1, (1, 0, 1))
    assert "runs/closed: Permission denied" in stderr
    assert set(rows(Path("out"))) == {"runs/run1.npz", "runs/closed"}


def test_a_pipe_with_the_name_of_a_bag_is_a_row(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("runs/run1"))
    os.mkfifo("runs/pipe.mcap")
    code, stdout, stderr = tools.run("export", "--each", "runs", "--to", "npz", "-o", "out")
    assert (code, counts(stdout)) == (1, (1, 0, 1))
    assert "runs/pipe.mcap: is not a regular file" in stderr


# Full disks and kills.


@pytest.mark.parametrize("before_result", [True, False])
def test_a_full_disk_at_a_row_is_not_the_end_and_the_next_run_continues(
    tools: Any, monkeypatch: pytest.MonkeyPatch, before_result: bool
) -> None:
    monkeypatch.chdir(tools.folder)
    for number in range(3):
        arm_bag(tools, Path(f"runs/run{number}"))
    usual, calls = files.save_bytes, []

    def full(data: bytes, path: Path) -> None:
        if b"run1" in data:
            calls.append(path)
            if before_result or len(calls) > 1:
                raise OSError(28, "No space left on device", str(path))
        usual(data, path)

    monkeypatch.setattr(fleet_module, "save_bytes", full)
    command = ("export", "--each", "runs", "--to", "npz", "-o", "out")
    code, stdout, stderr = tools.run(*command)
    assert (code, counts(stdout)) == (1, (2, 0, 1))
    assert "No space left on device" in stderr
    monkeypatch.setattr(fleet_module, "save_bytes", usual)
    code, stdout, stderr = tools.run(*command)
    assert (code, counts(stdout)) == (0, (1, 2, 0)), stderr


def test_a_kill_between_a_result_and_its_row_needs_no_force(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("runs/run1"))
    usual = files.save_bytes

    class Killed(BaseException):
        """The process ends here."""

    def killed(data: bytes, path: Path) -> None:
        if json.loads(data).get("digest"):
            raise Killed
        usual(data, path)

    monkeypatch.setattr(fleet_module, "save_bytes", killed)
    command = ("export", "--each", "runs", "--to", "npz", "-o", "out")
    with pytest.raises(Killed):
        tools.run(*command)
    assert Path("out/runs/run1.npz").is_file()
    monkeypatch.setattr(fleet_module, "save_bytes", usual)
    code, stdout, stderr = tools.run(*command)
    assert (code, counts(stdout)) == (0, (1, 0, 0)), stderr


# A plan, one table, times.


def test_a_dry_run_of_a_fleet_writes_nothing_and_says_what_it_would_write(
    tools: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("mon/run1"))
    arm_bag(tools, Path("mon/run2"), seconds=4.0)
    Path("mon/bad.mcap").write_bytes(b"no bag")
    options = ("export", "--each", "mon", "--every", "1", "--to", "parquet")
    for target in ((), ("-o", "out")):
        code, stdout, stderr = tools.run(*options, *target, "--dry-run")
        assert code == 1
        assert "mon/run1.mcap: would write 3 states to mon/run1.parquet" in stdout
        assert "mon/run2.mcap: would write 5 states to mon/run2.parquet" in stdout
        assert "mon/bad.mcap: error:" in stderr
        assert sorted(path.name for path in tools.folder.iterdir()) == ["mon"]
    Path("mon/bad.mcap").unlink()
    found = tools.json(*options, "--dry-run")
    assert [(row["bag"], row["states"]) for row in found["bags"]] == [("mon/run1.mcap", 3), ("mon/run2.mcap", 5)]
    tools.run(*options, "-o", "out")
    code, stdout, _ = tools.run(*options, "-o", "out", "--dry-run")
    assert (code, "mon/run1.mcap: was done before" in stdout) == (0, True)


def test_a_parquet_output_is_one_table_with_the_bag_of_each_row(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("mon/run1"))
    tape = tools.Tape()
    tape.joints(tools.START, ["other"], [0.5])
    tape.joints(tools.START + tools.S, ["other"], [0.7])
    Path("tue").mkdir()
    tape.write(Path("tue/run1"), "mcap")
    code, _, stderr = tools.run("export", "--each", "mon", "tue", "--every", "1", "-o", "all.parquet")
    assert code == 0, stderr
    table = pq.read_table("all.parquet")
    assert table["bag"].to_pylist() == ["mon/run1.mcap"] * 3 + ["tue/run1"] * 2
    assert table["robot/hinge/position"].to_pylist() == [0.0, 1.0, 2.0, None, None]
    assert table["robot/other/position"].to_pylist() == [None, None, None, 0.5, 0.7]
    assert sorted(path.name for path in tools.folder.iterdir()) == ["all.parquet", "mon", "tue"]
    for reader in (("plot", "all.parquet", "-o", "x.svg"), ("bag", "all.parquet", "-o", "x")):
        code, _, stderr = tools.run(*reader)
        assert (code, "several bags" in stderr) == (1, True), stderr


def test_one_table_of_a_failed_bag_has_the_others_and_fails(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("mon/run1"))
    Path("mon/bad.mcap").write_bytes(b"no bag")
    code, stdout, stderr = tools.run("export", "--each", "mon", "--every", "1", "-o", "all.parquet")
    assert (code, counts(stdout)) == (1, (1, 0, 1))
    assert "mon/bad.mcap: error" in stderr
    assert pq.read_table("all.parquet")["bag"].to_pylist() == ["mon/run1.mcap"] * 3


def test_a_fleet_of_which_every_bag_fails_leaves_an_earlier_table(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("mon/run1"))
    assert tools.run("export", "--each", "mon", "--every", "1", "-o", "all.parquet")[0] == 0
    made = Path("all.parquet").read_bytes()
    Path("bad").mkdir()
    Path("bad/run1.mcap").write_bytes(b"no bag")
    assert tools.run("export", "--each", "bad", "--every", "1", "-o", "all.parquet")[0] == 1
    assert Path("all.parquet").read_bytes() == made
    assert tools.run("export", "--each", "bad", "--every", "1", "-o", "new.parquet")[0] == 1
    assert not Path("new.parquet").exists()


@pytest.mark.parametrize("out", ["all.npz", "all.csv", "all.usdf", "all.jsonl"])
def test_other_files_hold_no_several_bags(tools: Any, monkeypatch: pytest.MonkeyPatch, out: str) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("mon/run1"))
    code, _, stderr = tools.run("export", "--each", "mon", "-o", out)
    assert code in (1, 2)
    assert ".parquet" in stderr
    assert not Path(out).exists()


def test_a_time_outside_one_bag_skips_that_time_and_is_named_in_the_index(
    tools: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("mon/long"), seconds=10.0)
    arm_bag(tools, Path("mon/short"), seconds=2.0)
    command = ("export", "--each", "mon", "--at", "1", "--at", "5", "--to", "parquet", "-o", "out")
    code, stdout, stderr = tools.run(*command)
    assert (code, counts(stdout)) == (0, (2, 0, 0)), stderr
    found = rows(Path("out"))
    assert found["mon/long.parquet"]["skipped_times"] == []
    assert found["mon/short.parquet"]["skipped_times"] == ["5"]
    assert len(pq.read_table("out/mon/long.parquet")) == 2
    assert len(pq.read_table("out/mon/short.parquet")) == 1
    assert "mon/short.mcap" in stderr
    assert "'5'" in stderr


def test_a_bag_without_any_of_the_times_fails_alone(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("mon/long"), seconds=10.0)
    arm_bag(tools, Path("mon/short"), seconds=2.0)
    code, stdout, stderr = tools.run("export", "--each", "mon", "--at", "5", "--to", "parquet", "-o", "out")
    assert (code, counts(stdout)) == (1, (1, 0, 1))
    assert "mon/short.mcap: error: " in stderr
    assert rows(Path("out"))["mon/short.mcap"]["skipped_times"] == ["5"]


def test_times_come_from_a_file(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("mon/long"), seconds=10.0)
    Path("times.csv").write_text("time\n1\n2.5\n@1700000003\nend\n")
    code, _, stderr = tools.run("export", "mon/long.mcap", "--at-file", "times.csv", "-o", "x.parquet")
    assert code == 0, stderr
    assert [(t - tools.START) / 1e9 for t in pq.read_table("x.parquet")["time_ns"].to_pylist()] == [1.0, 2.5, 3.0, 10.0]


def test_times_of_each_bag_come_from_a_file(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("mon/a"), seconds=10.0)
    arm_bag(tools, Path("mon/b"), seconds=10.0)
    Path("times.csv").write_text("bag,time\nmon/a.mcap,1\nmon/b.mcap,2\nmon/b.mcap,3\n")
    command = ("export", "--each", "mon", "--at-file", "times.csv", "--to", "parquet", "-o", "out")
    code, stdout, stderr = tools.run(*command)
    assert (code, counts(stdout)) == (0, (2, 0, 0)), stderr
    assert len(pq.read_table("out/mon/a.parquet")) == 1
    assert len(pq.read_table("out/mon/b.parquet")) == 2
    Path("times.csv").write_text("bag,time\nmon/a.mcap,1\nmon/b.mcap,4\nmon/b.mcap,3\n")
    assert counts(tools.run(*command)[1]) == (1, 1, 0)
    Path("times.csv").write_text("bag,time\nmon/a.mcap,1\nmon/c.mcap,4\n")
    code, _, stderr = tools.run(*command)
    assert (code, "mon/c.mcap" in stderr) == (1, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time\n1\nsoon\n", "times.csv:3: 'soon' is not a time"),
        ("", "times.csv: there are no times"),
        ("time\n", "times.csv: there are no times"),
        ("stamp,x\n1,2\n", "times.csv:1: there is no column 'time'"),
        ("bag,time\na,1\nb\n", "times.csv:3: "),
        (b"time\n\xff\n", "times.csv: "),
    ],
)
def test_a_bad_file_of_times_is_refused_with_its_line(
    tools: Any, monkeypatch: pytest.MonkeyPatch, text: str | bytes, message: str
) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("a"))
    Path("times.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    code, _, stderr = tools.run("export", "a.mcap", "--at-file", "times.csv", "-o", "x.parquet")
    assert code == 1
    assert message in stderr
    assert not Path("x.parquet").exists()


# Past the end of a recording.


def test_every_ends_at_the_last_message_and_says_so(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("a"), seconds=2.0)
    command = ("export", "a.mcap", "--start", "1.5", "--stop", "10.5", "--every", "0.1", "-o", "x.parquet")
    code, _, stderr = tools.run(*command)
    assert code == 0
    times = [(t - tools.START) / 1e9 for t in pq.read_table("x.parquet")["time_ns"].to_pylist()]
    assert times == pytest.approx([1.5, 1.6, 1.7, 1.8, 1.9, 2.0])
    assert "10.5" in stderr
    assert "last message" in stderr
    assert tools.run(*command, "--strict")[0] == 1
    code, _, stderr = tools.run("export", "a.mcap", "--start", "3", "--stop", "4", "--every", "0.1", "-o", "y.parquet")
    assert code == 1
    assert "after the last message" in stderr
    assert not Path("y.parquet").exists()


def test_an_end_at_the_last_message_is_no_complaint(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("a"), seconds=2.0)
    for words in (("--stop", "2"), ("--stop", "end"), ()):
        code, _, stderr = tools.run("export", "a.mcap", *words, "--every", "0.5", "-o", "x.parquet")
        assert (code, "last message" in stderr) == (0, False)
        assert len(pq.read_table("x.parquet")) == 5


def test_messages_of_a_topic_after_the_end_give_no_states_and_are_named(
    tools: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tools.folder)
    tape = tools.Tape()
    for i in range(11):
        tape.joints(tools.START + i * tools.S // 10, ["hinge"], [i / 10])
    for i in range(20):
        tape.text("/marks", "x", tools.START + i * tools.S // 10)
    tape.write(Path("a"), "bare mcap")
    for words in ((), ("--stop", "5")):
        code, _, stderr = tools.run("export", "a.mcap", "--at-topic", "/marks", *words, "-o", "x.parquet")
        assert code == 0
        assert len(pq.read_table("x.parquet")) == 11
        assert "9 messages of '/marks'" in stderr
        assert "last message" in stderr


@pytest.mark.parametrize("words", [("--at", "2.1"), ("--at", "1", "--at", "9"), ("--at=-1",)])
def test_a_time_outside_one_bag_is_refused(tools: Any, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    monkeypatch.chdir(tools.folder)
    arm_bag(tools, Path("a"), seconds=2.0)
    code, _, stderr = tools.run("export", "a.mcap", *words, "-o", "x.parquet")
    assert (code, "outside the recording" in stderr) == (1, True)
    assert not Path("x.parquet").exists()


@pytest.mark.parametrize("step", ["4e-10", "0.0000000001"])
def test_a_step_below_a_nanosecond_is_said_to_be_too_small(tools: Any, step: str) -> None:
    bag = arm_bag(tools, tools.folder / "a")
    code, _, stderr = tools.run("export", bag, "--every", step, "-o", tools.folder / "x.parquet")
    assert code in (1, 2)
    assert "too small" in stderr
    assert "positive" not in stderr
