# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Reading and writing URDF: 50 and 2,000 links, compared with bare lxml and other readers; and the robots of the
corpus.

Run: python -m benchmark.bench_urdf [--repeats N]
"""

from __future__ import annotations

import argparse
import gc
import io
import os
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pinocchio
import urchin
import yourdfpy
from lxml import etree
from rich.console import Console
from rich.table import Table
from urdf_parser_py.urdf import URDF

from robot_semantics.base.diagnostic import Diagnostic
from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.model.loading import robot_from_text
from robot_semantics.urdf.reader import parse_urdf
from robot_semantics.urdf.writer import write_urdf
from tools.urdf_corpus import CORPUS, files, silenced


def robot_text(links: int, *, typo: bool = False) -> str:
    """Return a typical exported robot: every link has inertial, visual and collision, with different numbers."""
    rng = np.random.default_rng(links)

    def numbers(count: int) -> str:
        return " ".join(f"{value:.6g}" for value in rng.uniform(0.01, 1, count))

    lines = [
        '<?xml version="1.0"?>',
        '<robot name="bench">',
        '  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>',
    ]
    for index in range(links):
        lines.append(f"""  <link name="link_{index}">
    <inertial>
      <origin xyz="{numbers(3)}" rpy="0 0 0"/>
      <mass value="{numbers(1)}"/>
      <inertia ixx="1.{index}" ixy="0" ixz="0" iyy="1.5" iyz="0" izz="2"/>
    </inertial>
    <visual>
      <origin xyz="{numbers(3)}" rpy="{numbers(3)}"/>
      <geometry>
        <mesh filename="package://bench/meshes/link_{index}.dae"/>
      </geometry>
      <material name="grey"/>
    </visual>
    <collision>
      <origin xyz="0 0 0" rpy="0 0 0"/>
      <geometry>
        <cylinder radius="{numbers(1)}" length="{numbers(1)}"/>
      </geometry>
    </collision>
  </link>""")
        if index:
            # Chains of ten links, so that the readers' recursion is not measured.
            parent = index - 1 if index % 10 else 0
            lines.append(f"""  <joint name="joint_{index}" type="revolute">
    <origin xyz="{numbers(3)}" rpy="{numbers(3)}"/>
    <parent link="link_{parent}"/>
    <child link="link_{index}"/>
    <axis xyz="0 0 1"/>
    <limit lower="-{numbers(1)}" upper="{numbers(1)}" effort="100" velocity="2"/>
    <dynamics damping="0.1" friction="0"/>
  </joint>""")
    return "\n".join([*lines, "  <lonk/>" if typo else "", "</robot>\n"])


def check_equal(text: str, links: int) -> None:
    """Check that all readers find the same robot."""
    model = robot_from_text(text)
    assert len(model.links) == links
    joints = {joint.name: joint.limits for joint in model.joints[1:]}
    peer = quiet(lambda: pinocchio.buildModelFromXML(text))
    assert set(peer.names[1:]) == set(joints)
    for index, name in enumerate(peer.names[1:]):
        assert (peer.lowerPositionLimit[index], peer.upperPositionLimit[index]) == (
            joints[name].lower,
            joints[name].upper,
        )
    python = URDF.from_xml_string(text.encode())
    assert {joint.name for joint in python.joints} == set(joints)
    assert {link.name for link in python.links} == set(model.link_names)
    meshless = yourdfpy.URDF(robot=yourdf(text.encode()).robot, build_scene_graph=False, load_meshes=False)
    assert {joint.name for joint in meshless.robot.joints} == set(joints)
    assert {joint.name for joint in urchin_robot(text.encode()).joints} == set(joints)
    assert parse_urdf(write_urdf(model.urdf)) == model.urdf


def yourdf(text: bytes) -> Any:
    """Parse with yourdfpy, without scene and meshes."""
    return yourdfpy.URDF.load(io.BytesIO(text), build_scene_graph=False, load_meshes=False)


def urchin_robot(text: bytes) -> Any:
    """Parse with urchin, without meshes; it only reads files, so use its parser for a tree."""
    return urchin.URDF._from_xml(etree.parse(io.BytesIO(text)).getroot(), "", lazy_load_meshes=True)


def warned(text: str) -> list[Diagnostic]:
    """Parse with our own reader and read its warnings."""
    found = Diagnostics()
    parse_urdf(text, diagnostics=found)
    return list(found)


def quiet(call: Callable[[], Any]) -> Any:
    """Hide the terminal output of C++."""
    kept = os.dup(2)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        return call()
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def median_time(call: Callable[[], object], repeats: int) -> float:
    """Return the median processor time of a call [s]; garbage of one call is collected before the next."""
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return statistics.median(times)


def readers(text: str, with_typo: str) -> list[tuple[str, Callable[[], object]]]:
    """Return the measured functions, bare lxml first."""
    utf8 = text.encode()
    robot, root, peer = parse_urdf(text), etree.fromstring(utf8), URDF.from_xml_string(utf8)
    return [
        ("bare lxml: etree.fromstring", lambda: etree.fromstring(utf8)),
        ("parse_urdf: the text as a tree", lambda: parse_urdf(text)),
        ("robot_from_text: the checked robot", lambda: robot_from_text(text)),
        ("parse_urdf, one warning read with its place", lambda: warned(with_typo)),
        ("yourdfpy (no meshes, no scene)", lambda: yourdf(utf8)),
        ("urdf_parser_py", lambda: URDF.from_xml_string(utf8)),
        ("urchin (no meshes)", lambda: urchin_robot(utf8)),
        ("pinocchio (urdfdom, C++)", lambda: quiet(lambda: pinocchio.buildModelFromXML(text))),
        ("write_urdf: the tree as a text", lambda: write_urdf(robot)),
        ("bare lxml: etree.tostring", lambda: etree.tostring(root)),
        ("urdf_parser_py: to_xml_string", peer.to_xml_string),
    ]


def bench_corpus(repeats: int, console: Console) -> None:
    """Measure each reader on every robot of the corpus that it reads; use the shortest time for each file."""
    ours: dict[str, Callable[[bytes], Any]] = {
        "parse_urdf": lambda text: parse_urdf(text, diagnostics=Diagnostics()),
        "robot_from_text": lambda text: robot_from_text(text.decode(), strict=False),
    }
    peers = {"yourdfpy": yourdf, "urdf_parser_py": URDF.from_xml_string, "urchin": urchin_robot}
    rows: list[dict[str, float]] = []
    with silenced():
        for _, _, path in files():
            text = path.read_bytes()
            row: dict[str, float] = {}
            for name, read in {**ours, **peers}.items():
                # Files that a reader refuses are not measured.
                with suppress(Exception):
                    row[name] = min(_once(read, text) for _ in range(repeats))
            rows.append(row)
    table = Table(title=f"{len(rows)} robots of the corpus, processor time, the least of {repeats}")
    for column in ("reader", "robots", "ms in all", *(f"{name} ahead / ms for those" for name in ours)):
        table.add_column(column, justify="left" if column == "reader" else "right")
    for name in (*ours, *peers):
        read_by = [row for row in rows if name in row]
        cells = [name, str(len(read_by)), f"{sum(row[name] for row in read_by) * 1e3:.0f}"]
        for own in ours if name in peers else ():
            both = [row for row in read_by if own in row]
            ahead = sum(row[own] < row[name] for row in both)
            cells.append(f"{ahead} of {len(both)} / {sum(row[own] for row in both) * 1e3:.0f}")
        table.add_row(*cells)
    console.print(table)


def _once(read: Callable[[bytes], Any], text: bytes) -> float:
    start = time.process_time()
    result = read(text)
    seconds = time.process_time() - start
    del result
    return seconds


def main() -> None:
    """Check, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=15, help="timed calls of each reader")
    repeats = parser.parse_args().repeats
    for links in (50, 2000):
        text, with_typo = robot_text(links), robot_text(links, typo=True)
        check_equal(text, links)
        rows = readers(text, with_typo)
        table = Table(title=f"{links} links, {len(text) / 1000:,.0f} kB, processor time, median of {repeats}")
        for column in ("reader", "ms", "times bare lxml"):
            table.add_column(column, justify="left" if column == "reader" else "right")
        bare = 0.0
        for name, call in rows:
            seconds = median_time(call, repeats if "py" not in name or links < 100 else max(3, repeats // 4))
            bare = bare or seconds
            table.add_row(name, f"{seconds * 1e3:.2f}", f"{seconds / bare:.1f}")
        Console().print(table)
    if CORPUS.is_dir():
        bench_corpus(max(3, repeats // 2), Console(width=140))


if __name__ == "__main__":
    main()
