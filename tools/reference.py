# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Write the reference pages: doc/reference.md, doc/commands.md and doc/codes.md.

Parameters come from their tables, topics and services from running nodes, interfaces from files, options from parsers.

Needs the environment of `make setup`. `--check` changes nothing and returns 1 if a page is not current.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import rclpy
from rclpy.context import Context
from rclpy.node import Node

from robot_semantics.cli.help import man_page
from robot_semantics.examples import FOLDER
from robot_semantics.ros.node import parameters
from robot_semantics.ros.running.parameter_table import Parameter
from robot_semantics.ros.simulators import world_node as simulation_parameters
from tools.command_reference import codes_page, commands_page

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "doc" / "reference.md"
INTERFACES = ROOT / "interfaces"
PATIENCE_S = 30.0
ACTION = "/_action/"

TABLES: tuple[tuple[str, Iterable[Parameter]], ...] = (
    (
        "The node",
        [*parameters.NODE, *parameters.node_table([f"{parameters.SIMULATED}.ENTITY"])[len(parameters.NODE) :]],
    ),
    ("The node: the robot; with `models`, each model has its own below its name", parameters.ROBOT),
    (
        "The node: a virtual joint of the name NAME",
        [item._replace(name=f"{parameters.VIRTUAL_JOINTS}.NAME.{item.name}") for item in parameters.VIRTUAL_JOINT],
    ),
    ("The node: snapshots", parameters.SNAPSHOTS),
    ("`mujoco_world`", simulation_parameters.TABLE),
)
# Topics and services of every node.
COMMON = re.compile(
    r"/(describe_parameters|get_parameters|get_parameter_types|list_parameters|set_parameters|set_parameters_atomically"
    r"|get_type_description)$|^/(rosout|parameter_events)$"
)


def reference(domain: int) -> str:
    """Return the page; nodes are started in the DDS domain `domain` and stopped again."""
    lines = [
        "# Parameters, topics, services",
        "",
        "This page is the reference of all parameters, topics, services and interface files. `tools/reference.py`",
        "makes it from the code, running nodes and the interface files, and a test checks that it is current. The",
        "rules are in [the node](node.md). Options of commands are in [Commands and options](commands.md).",
        "",
        "## Parameters",
        "",
    ]
    for title, table in TABLES:
        lines += [f"### {title}", "", "| parameter | default | |", "| --- | --- | --- |"]
        for item in table:
            about = item.about + (" Only at start." if item.read_only else "")
            lines.append(f"| `{item.name}` | `{_value(item.default)}` | {about} |")
        lines.append("")
    texts = [(FOLDER / f"rover_arm.{kind}").read_text() for kind in ("urdf", "srdf")]
    robot: dict[str, Any] = {"robot_description": texts[0], "robot_description_semantic": texts[1]}
    # The node subscribes to /tf only from time to time to look for conflicting publishers.
    robot["check_tf_authority"] = False
    lines += ["## Topics and services", "", "The topics and services of the nodes with the example robot.", ""]
    for program, name, given in (
        ("robot_semantics_node", "robot_semantics", robot),
        ("mujoco_world", "mujoco_world", {"world": str(FOLDER / "rover_arm.usdf")}),
    ):
        lines += [f"### `{name}`", "", *_graph(program, name, given, domain), ""]
    lines += ["## Interfaces", "", "All are in the package `robot_semantics_interfaces`.", ""]
    for kind in ("msg", "srv", "action"):
        for path in sorted((INTERFACES / kind).glob(f"*.{kind}")):
            lines += [f"### {path.stem}.{kind}", "", "```text", path.read_text().rstrip(), "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return '""' if value == "" else str(list(value)) if isinstance(value, (list, tuple)) else str(value)


def _graph(program: str, name: str, given: Mapping[str, Any], domain: int) -> Iterator[str]:
    """Yield the tables of a node's topics and services."""
    import yaml

    file = ROOT / "build" / f"reference_{name}.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(yaml.safe_dump({"/**": {"ros__parameters": dict(given)}}))
    command = [sys.executable, "-m", "robot_semantics.ros", program, "--ros-args", "--params-file", str(file)]
    environment = {**os.environ, "ROS_DOMAIN_ID": str(domain)}
    context = Context()
    rclpy.init(args=[], context=context, domain_id=domain)
    observer = Node("reference_observer", context=context, enable_rosout=False, start_parameter_services=False)
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        topics, services = _settled(observer, name, process)
    finally:
        process.terminate()
        process.wait(10)
        observer.destroy_node()
        context.try_shutdown()
        file.unlink()
    yield from ("| topic | type | |", "| --- | --- | --- |", *topics, "")
    yield from ("| service or action | type | |", "| --- | --- | --- |", *services)


def _settled(observer: Node, name: str, process: subprocess.Popen[bytes]) -> tuple[list[str], list[str]]:
    """Return the rows once they have stayed the same for two seconds."""
    end, since = time.monotonic() + PATIENCE_S, time.monotonic()
    last: tuple[list[str], list[str]] = ([], [])
    while True:
        if process.poll() is not None:
            raise RuntimeError(f"{name} ended with exit code {process.returncode}")
        if time.monotonic() > end:
            raise RuntimeError(f"the topics and services of {name} did not settle")
        now = _rows(observer, name)
        if now != last:
            last, since = now, time.monotonic()
        elif now[1] and time.monotonic() - since > 2.0:
            return now
        time.sleep(0.1)


def _rows(observer: Node, name: str) -> tuple[list[str], list[str]]:
    if name not in observer.get_node_names():
        return [], []
    rows = []
    for way, found in (
        ("out", observer.get_publisher_names_and_types_by_node(name, "/")),
        ("in", observer.get_subscriber_names_and_types_by_node(name, "/")),
    ):
        ends = observer.get_publishers_info_by_topic if way == "out" else observer.get_subscriptions_info_by_topic
        for topic, kinds in found:
            if not COMMON.search(topic) and ACTION not in topic:
                quality = next((_quality(end.qos_profile) for end in ends(topic) if end.node_name == name), "")
                rows.append(f"| `{_own(topic, name)}` | `{_type(kinds)}` | {way}; {quality} |")
    services, actions = [], []
    for service, kinds in observer.get_service_names_and_types_by_node(name, "/"):
        if service.endswith(f"{ACTION}send_goal"):
            kind = kinds[0].removesuffix("_SendGoal").replace("/action/", "/")
            actions.append(f"| `{_own(service, name).removesuffix(f'{ACTION}send_goal')}` | `{kind}` | action |")
        elif not COMMON.search(service) and ACTION not in service:
            services.append(f"| `{_own(service, name)}` | `{_type(kinds)}` | {_first_comment(kinds[0])} |")
    return sorted(rows), sorted(services) + sorted(actions)


def _quality(profile: Any) -> str:
    return f"{profile.reliability.name.lower().replace('_', ' ')}, {profile.durability.name.lower().replace('_', ' ')}"


def _own(topic: str, name: str) -> str:
    return topic.replace(f"/{name}/", "~/", 1) if topic.startswith(f"/{name}/") else topic


def _type(kinds: list[str]) -> str:
    return kinds[0].replace("/msg/", "/").replace("/srv/", "/")


def _first_comment(kind: str) -> str:
    package, _, name = kind.split("/")
    path = INTERFACES / "srv" / f"{name}.srv"
    if package != "robot_semantics_interfaces" or not path.exists():
        return ""
    first = path.read_text().splitlines()[0]
    return first.removeprefix("#").strip() if first.startswith("#") else ""


def main() -> int:
    """Write the pages, or check that they are current."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only check that the pages are current")
    options = parser.parse_args()
    pages = {
        PAGE: reference(int(os.environ.get("ROS_DOMAIN_ID", "87"))),
        PAGE.with_name("commands.md"): commands_page(),
        PAGE.with_name("codes.md"): codes_page(),
        PAGE.with_name("robot_semantics.1"): man_page(),
    }
    code = 0
    for page, new in pages.items():
        old = page.read_text() if page.exists() else ""
        if not options.check:
            page.write_text(new)
        elif old != new:
            code = 1
            sys.stdout.writelines(
                difflib.unified_diff(old.splitlines(True), new.splitlines(True), f"doc/{page.name}", "current")
            )
    return code


if __name__ == "__main__":
    sys.exit(main())
