# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics doctor`: check the installation, the connection of nodes, and typical mistakes in running robots."""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import platform
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from robot_semantics.base.errors import RobotSemanticsError, install_hint
from robot_semantics.base.system import missing_abilities
from robot_semantics.base.version import __version__
from robot_semantics.cli.frame.argument_values import wait
from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.frame.node_inputs import AskedNode, add_node_argument, asked_node, ros_needed
from robot_semantics.cli.frame.printing import add_json_argument, print_line, print_result

if TYPE_CHECKING:
    from robot_semantics.base.json_value import JsonObject
    from robot_semantics.live.health import SenderRow

EXTRAS: dict[str, tuple[tuple[str, ...], str]] = {
    "view": (("nicegui", "trimesh", "PIL", "collada"), "pages, pictures, mesh files"),
    "mujoco": (("mujoco", "trimesh", "scipy", "collada"), "simulation, bit-exact restarts"),
    "drake": (("pydrake", "mujoco", "trimesh", "scipy", "collada"), "simulation in Drake"),
    "collision": (("mujoco", "fcl", "trimesh", "networkx", "collada", "scipy"), "self-collision matrices"),
    "decomposition": (("coacd",), "meshes as convex parts"),
    "spheres": (
        ("morphit_rs", "mujoco", "fcl", "trimesh", "networkx", "collada", "scipy"),
        "fits of spheres",
    ),
    "bag": (("rosbags", "mcap", "mcap_protobuf"), "recordings"),
    "plot": (("matplotlib",), "plots of series"),
    "parquet": (("pyarrow",), "series as Parquet tables"),
    "cluster": (("dask", "distributed"), "export on a cluster"),
    "fast": (("msgspec",), "faster world states"),
    "lsp": (("pygls",), "language server for editors"),
}
"""For each extra: the modules that its commands import directly or indirectly, and their purpose."""

_DISTRIBUTIONS = {"PIL": "pillow", "morphit_rs": "morphit-rs", "collada": "pycollada", "pydrake": "drake"}

Row = tuple[str, str]
_SIGNS = {"ok": "ok     ", "note": "note   ", "problem": "PROBLEM"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--listen", type=wait, default=3.0, metavar="S", help="time to watch running robots (3)")
    add_node_argument(parser, "list the senders of a running node")
    parser.add_argument("--no-ros", action="store_true", help="check only the installation")
    add_json_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the findings; return 1 if one is a problem."""
    node = asked_node(arguments)
    if node is not None:
        return _print_senders(arguments, node)
    all_findings = []
    for level, text in _findings(arguments):
        all_findings.append((level, text))
        if not arguments.json:
            print_line(f"{_SIGNS[level]}  {text}", flush=True)
    if arguments.json:
        findings = [{"level": level, "text": text} for level, text in all_findings]
        print_result({"findings": findings})
    return int(any(level == "problem" for level, _ in all_findings))


def _print_senders(arguments: argparse.Namespace, node: AskedNode) -> int:
    """Print the senders of a running node."""
    with ros_needed("--node"):
        from robot_semantics.ros.tools.running_node import read_senders

    rows = read_senders(*node)
    if arguments.json:
        print_result({"senders": [_sender_json(row) for row in rows]})
        return 0
    if not rows:
        print_line("no message has arrived yet")
        return 0
    print_line("topic (publishers), names, rate, clock or latency against the reference, last heard, state")
    for row in rows:
        print_line(row.text())
    reference = rows[0].node_offset_s
    print_line(f"the clock of the reference is {reference:+.3f} s from the clock of the node")
    return 0


def _sender_json(row: SenderRow) -> JsonObject:
    return {
        "model": row.model,
        "kind": row.kind,
        "topic": row.topic,
        "names": list(row.names),
        "publishers": list(row.publishers),
        "messages": row.messages,
        "rate_hz": None if row.rate_hz != row.rate_hz else row.rate_hz,
        "offset_s": row.offset_s,
        "node_offset_s": row.node_offset_s,
        "last_heard_s": row.last_heard_s,
        "state": row.state,
    }


def _findings(arguments: argparse.Namespace) -> Iterator[Row]:
    yield "ok", f"robot_semantics {__version__}, Python {platform.python_version()} in {sys.prefix}"
    for lack in missing_abilities():
        yield "note", f"{platform.system()}: {lack}; see doc/security.md"
    if sys.platform != "linux":
        yield "note", f"{platform.system()}: nodes and live page need Linux"
    for extra, (modules, purpose) in EXTRAS.items():
        missing = [name for name in modules if importlib.util.find_spec(name) is None]
        if missing:
            yield "note", f"{extra}: {purpose}: missing {', '.join(missing)}; get it by {install_hint(extra)}"
        else:
            yield "ok", f"{extra}: {purpose}: {', '.join(f'{name} {_version(name)}' for name in modules)}"
    if arguments.no_ros:
        return
    if importlib.util.find_spec("rclpy") is None:
        yield "note", "ROS 2: rclpy is not found; source a ROS 2 installation, or run 'make setup' in the source folder"
        return
    for name in ("robot_semantics_interfaces", "tf2_msgs", "tf2_ros"):
        if importlib.util.find_spec(name) is None:
            yield "problem", f"ROS 2: the package {name} is not found; build the workspace, and source its setup file"
    try:
        from robot_semantics.ros.tools.doctor import examine_ros
    except ImportError as error:
        yield "problem", f"ROS 2: cannot be loaded: {error}"
        return
    try:
        yield from examine_ros(arguments.listen)
    except RobotSemanticsError as error:
        yield "problem", str(error)


def _version(module: str) -> str:
    try:
        return importlib.metadata.version(_DISTRIBUTIONS.get(module, module))
    except importlib.metadata.PackageNotFoundError:
        return "(version unknown)"


COMMAND = Command(add_arguments, run, examples=("robot_semantics doctor", "robot_semantics doctor --node"))
