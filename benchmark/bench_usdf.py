# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Reading and writing world states: 1,000 links compared with bare lxml, JSON and SDFormat; and a file of 100,000
links.

Run: python -m benchmark.bench_usdf [--repeats N] [--small]
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lxml import etree
from rich.console import Console
from rich.table import Table
from scipy.spatial.transform import Rotation

from robot_semantics.convert.json_form import world_from_json, world_to_json
from robot_semantics.convert.sdformat_input import from_sdformat
from robot_semantics.convert.sdformat_state import to_sdformat
from robot_semantics.transforms.pose import Pose, Vec6, six
from robot_semantics.usdf.compare import compare
from robot_semantics.usdf.frames import resolve_frames
from robot_semantics.usdf.reader import parse_world
from robot_semantics.usdf.world_state import JointState, LinkState, ModelState, WorldState
from robot_semantics.usdf.writer import write_world

VALUES = ("pose", "twist", "wrench", "positions", "velocities", "torques")


def world(models: int, links: int, *, full: bool) -> WorldState:
    """Return a world of random numbers: poses, twists and wrenches of links; `full`: also quaternions and joints."""
    chance = random.Random(models)
    rpys = [[chance.uniform(-3, 3), chance.uniform(-1.5, 1.5), chance.uniform(-3, 3)] for _ in range(links)]
    quats = Rotation.from_euler("xyz", rpys).as_quat().tolist()

    def six_numbers() -> Vec6:
        return six([chance.uniform(-3, 3) for _ in range(6)])

    def link(at: int) -> LinkState:
        x, y, z, *_ = six_numbers()
        roll, pitch, yaw = rpys[at]
        pose = Pose((x, y, z, roll, pitch, yaw), tuple(quats[at]) if full else None)
        return LinkState(f"link_{at}", pose, six_numbers(), six_numbers())

    def joint(at: int) -> JointState:
        position, velocity, effort, *_ = six_numbers()
        return JointState(f"joint_{at}", (position,), (velocity,), (effort,))

    return WorldState(
        name="bench",
        models=tuple(
            ModelState(
                f"robot_{model}",
                pose=Pose(six_numbers()),
                twist=six_numbers(),
                links=tuple(link(at) for at in range(links)),
                joints=tuple(joint(at) for at in range(links - 1)) if full else (),
            )
            for model in range(models)
        ),
        time_ns=1_700_000_000_123_456_789,
    )


def seconds(functions: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Return the median processor time of one call of each function [s]; called in turn, noise affects all equally."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            gc.collect()
            start = time.process_time()
            result = function()
            del result
            times[name].append(time.process_time() - start)
    return {name: statistics.median(row) for name, row in times.items()}


def prove_equal(state: WorldState, text: bytes, as_json: str, sdf: str) -> None:
    """Stop if two representations of the state differ."""
    assert parse_world(text) == state
    assert world_from_json(json.loads(as_json)) == state
    root = etree.fromstring(text)
    said = [float(word) for element in root.iter(*VALUES) for word in (element.text or "").split()]
    listed = []
    for model in state.models:
        listed += [*(model.pose.xyz_rpy if model.pose else ()), *(model.twist or ())]
        for link in model.links:
            listed += [*(link.pose.xyz_rpy if link.pose else ()), *(link.twist or ()), *(link.wrench or ())]
        for joint in model.joints:
            listed += [*(joint.positions or ()), *(joint.velocities or ()), *(joint.torques or ())]
    assert said == listed
    there, here = from_sdformat(sdf).value, resolve_frames(state)
    back = resolve_frames(there)
    for name in ("robot_0", "robot_0::link_1"):
        assert math.isclose(here.pose(name)[0, 3], back.pose(name)[0, 3], rel_tol=1e-12)
    assert compare(replace(state, models=()), replace(there, models=()), tolerance=1e-9) == []


def bench_thousand(title: str, state: WorldState, repeats: int, console: Console) -> None:
    """Measure a world of 1,000 links."""
    text = write_world(state).encode()
    as_json, sdf = json.dumps(world_to_json(state)), to_sdformat(state).value
    prove_equal(state, text, as_json, sdf)
    root, values = etree.fromstring(text), world_to_json(state)
    read = seconds(
        {
            "bare lxml: parse the same bytes": lambda: etree.fromstring(text),
            "robot_semantics: read, validate, check": lambda: parse_world(text),
            "JSON: json.loads alone": lambda: json.loads(as_json),
            "JSON: read and check": lambda: world_from_json(json.loads(as_json)),
            "SDFormat: read": lambda: from_sdformat(sdf),
        },
        repeats,
    )
    write = seconds(
        {
            "bare lxml: serialise the same tree": lambda: etree.tostring(root),
            "robot_semantics: check and write": lambda: write_world(state),
            "JSON: json.dumps alone": lambda: json.dumps(values),
            "JSON: write": lambda: json.dumps(world_to_json(state)),
            "SDFormat: write": lambda: to_sdformat(state),
        },
        repeats,
    )
    for verb, times in (("reading", read), ("writing", write)):
        table = Table(title=f"{verb} {title}: {len(text):,} bytes, processor time", title_justify="left")
        for column in ("", "median [ms]", "times bare lxml"):
            table.add_column(column, justify="left" if not column else "right")
        bare = next(iter(times.values()))
        for name, value in times.items():
            table.add_row(name, f"{value * 1e3:.2f}", f"{value / bare:.2f}")
        console.print(table)


def bench_large(console: Console) -> None:
    """Measure 2,000 models with 50 links in memory, with Python's garbage collector as commands set it."""
    state = world(2_000, 50, full=False)
    text = write_world(state).encode()
    assert parse_world(text) == state
    root = etree.fromstring(text)
    usual = gc.get_threshold()
    gc.set_threshold(100_000)
    times = seconds(
        {
            "bare read": lambda: etree.fromstring(text),
            "read": lambda: parse_world(text),
            "bare write": lambda: etree.tostring(root),
            "write": lambda: write_world(state),
        },
        3,
    )
    gc.set_threshold(*usual)
    table = Table(title=f"2,000 models of 50 links: {len(text) / 1e6:.1f} MB, processor time", title_justify="left")
    for column in ("", "read [s]", "write [s]"):
        table.add_column(column, justify="left" if not column else "right")
    table.add_row("bare lxml", f"{times['bare read']:.2f}", f"{times['bare write']:.2f}")
    table.add_row("robot_semantics", f"{times['read']:.2f}", f"{times['write']:.2f}")
    ratios = (f"{times[verb] / times[f'bare {verb}']:.1f}" for verb in ("read", "write"))
    table.add_row("ratio", *ratios)
    console.print(table)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=31)
    parser.add_argument("--small", action="store_true", help="leave out the large file")
    arguments = parser.parse_args()
    console = Console(width=100)
    repeats = arguments.repeats
    bench_thousand("1,000 links (pose, twist, wrench)", world(20, 50, full=False), repeats, console)
    bench_thousand("1,000 links, with quaternions, and 980 joints", world(20, 50, full=True), repeats, console)
    if not arguments.small:
        bench_large(console)


if __name__ == "__main__":
    main()
