# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Requests of odd content to every service that a node has: each is answered, and the node and its log bear it."""

from __future__ import annotations

import array
import importlib
from typing import Any

import pytest
from support.nodes import Client, NodeProcess

from robot_semantics.examples import example

pytestmark = pytest.mark.ros

NODE = "/robot_semantics"
URDF, SRDF = (example(f"rover_arm.{kind}").read_text() for kind in ("urdf", "srdf"))
NAN, ESC = float("nan"), "a\x1b[31m\x9b2J\u202e\nFORGED [INFO] line"
ODD: dict[str, tuple[str, float, int, int]] = {
    # a text, a number, a whole number, the length of lists
    "nothing": ("", 0.0, 0, 0),
    "not a number": ("arm", NAN, 1, 3),
    "huge": ("arm", 1e300, 2**31 - 1, 7),
    "signs that steer a terminal": (ESC, 1.0, 1, 2),
    "a name of a megabyte": ("n" * 1_000_000, 0.0, 1, 1),
    "a hundred thousand": ("elbow_joint", 0.5, 1, 100_000),
    "paths": ("../../../etc/passwd", -1.0, 1, 2),
}


def filled(kind: Any, text: str, number: float, whole: int, length: int) -> Any:
    """Return a message in which every field is odd in the same way."""
    message = kind()
    for name, field in kind.get_fields_and_field_types().items():
        now = getattr(message, name)
        if isinstance(now, str):
            setattr(message, name, text)
        elif isinstance(now, bool):
            setattr(message, name, True)
        elif isinstance(now, float):
            setattr(message, name, number)
        elif isinstance(now, int):
            setattr(message, name, min(whole, 100))
        elif isinstance(now, (list, array.array)):
            inner = field.removeprefix("sequence<").removesuffix(">")
            if inner == "string":
                setattr(message, name, [text] * length)
            elif inner in ("double", "float"):
                setattr(message, name, [number] * length)
            elif "/" in inner:
                setattr(
                    message, name, [filled(_message(inner), text, number, whole, min(length, 50))] * min(length, 50)
                )
        elif hasattr(now, "get_fields_and_field_types"):
            setattr(message, name, filled(type(now), text, number, whole, length))
    return message


def _message(name: str) -> Any:
    package, kind = name.split("/")
    return getattr(importlib.import_module(f"{package}.msg"), kind)


PARAMETERS: dict[str, Any] = {"robot_description": URDF, "robot_description_semantic": SRDF}


def own_services(client: Client) -> dict[str, str]:
    node = client.node
    client.until(lambda: ("robot_semantics", "/") in node.get_node_names_and_namespaces(), "the name of the node")
    found = node.get_service_names_and_types_by_node("robot_semantics", "/")
    return {
        name: kinds[0]
        for name, kinds in found
        if "/_action/" not in name and kinds[0].startswith(("robot_semantics_interfaces/srv/", "std_srvs/"))
    }


@pytest.mark.parametrize("odd", ODD)
def test_every_service_answers_what_is_odd_and_the_node_and_its_log_bear_it(
    odd: str, node: NodeProcess, client: Client
) -> None:
    services = own_services(client)
    assert len(services) > 10
    before = len(node.output)
    for name, of in services.items():
        package, _, kind = of.split("/")
        service = getattr(importlib.import_module(f"{package}.srv"), kind)
        answer = client.call(service, name, filled(service.Request, *ODD[odd]))
        if getattr(answer, "success", True) is False:
            assert answer.message, name
            assert "unexpected" not in answer.message, name
    said = node.output[before:]
    assert "Traceback" not in said
    assert not {"\x1b", "\x9b", "\u202e"} & set(
        said.replace("\x1b[0m", "").replace("\x1b[33m", "").replace("\x1b[31m", "")
    )
    assert not [line for line in said.splitlines() if line.startswith("FORGED")]
    assert len(said) < 100_000
    assert node.process.poll() is None
