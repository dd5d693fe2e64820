# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics schema`: the grammar of a format, for editors and other programs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from robot_semantics.base.errors import UnknownNameError
from robot_semantics.cli.argument_values import UsageError
from robot_semantics.cli.command import Command
from robot_semantics.cli.running import all_commands
from robot_semantics.cli.shared_files import shared
from robot_semantics.srdf.table import SRDF
from robot_semantics.urdf.table import URDF
from robot_semantics.usdf import schema as usdf_schema
from robot_semantics.usdf.table import USDF
from robot_semantics.xml.other_schemas import Names, json_schema, xsd
from robot_semantics.xml.relax_ng import relax_ng
from robot_semantics.xml.schema import Table


class _Format(NamedTuple):
    table: Table
    about: str
    names: Mapping[str, Sequence[Names]]


_XSD = """

  XML Schema 1.0 says less than RELAX NG of extensions (a schema has one namespace, so what is in another may stand
  everywhere) and of elements with more than four children that stand once (a URDF's joint), which may stand at will.
  It says more of names: which must differ, and in a URDF which must be those of links and joints."""


FORMATS = {
    "usdf": _Format(
        USDF,
        usdf_schema.ABOUT,
        {
            "world_state": (Names("models-and-frames", "model_state|frame"),),
            "model_state": (Names("link-states", "link_state"), Names("joint-states", "joint_state")),
        },
    ),
    "urdf": _Format(
        URDF,
        "  URDF 1.2, what a robot is, as a schema; the two older forms are not in it.\n\n"
        "  Whether a name is known, a schema cannot say. Readers pass over what is not known, with a warning.",
        {
            "robot": (
                Names("links", "link"),
                Names("joints", "joint"),
                Names("materials", "material"),
                Names("parents", "joint/parent", ("@link",), among="links"),
                Names("children", "joint/child", ("@link",), among="links"),
                Names("one-parent", "joint/child", ("@link",)),
                Names("leaders", "joint/mimic", ("@joint",), among="joints"),
            )
        },
    ),
    "srdf": _Format(
        SRDF,
        "  SRDF 1.0, what the parts of a robot mean, as a schema.\n\n"
        "  Whether a name is known, a schema cannot say. Readers pass over what is not known, with a warning.",
        {
            "robot": (
                Names("virtual-joints", "virtual_joint"),
                Names("groups", "group"),
                Names("states", "group_state", ("@group", "@name")),
                Names("end-effectors", "end_effector"),
            )
        },
    ),
}


def schema(name: str, *, as_xsd: bool = False) -> str:
    """Return the text of a format's schema; ``json`` is the JSON form of USDF, ``check`` what check prints as JSON."""
    if name == "check":
        return (shared("spec") / "check-1.schema.json").read_text(encoding="utf-8")
    if name == "json":
        about = "The JSON form of USDF 1.0, the state of a world of robots"
        return json.dumps(json_schema(USDF, about), indent=2) + "\n"
    table, about, names = FORMATS[name]
    return xsd(table, about + _XSD, names) if as_xsd else relax_ng(table, about)


def command_schema(words: str) -> str:
    """Return the text of the JSON Schema of what a command, as ``collisions check``, prints with ``--json=1``.

    Raises:
        UnknownNameError: there is no such command, or it prints no JSON.
    """
    if words in ("check", "usdf check"):
        return schema("check")
    if words == "usdf show":
        return schema("json")
    known = [name for name, command in all_commands() if command.run is not None and not command.serves]
    if words not in known:
        raise UnknownNameError("command with JSON", words, known)
    shapes = json.loads((shared("spec") / "commands-1.schema.json").read_text(encoding="utf-8"))
    problem = json.loads(schema("check"))["properties"]["diagnostics"]["items"]
    shape = {**shapes["commands"].get(words, shapes["commands"]["*"]), "$defs": {**shapes["$defs"], "problem": problem}}
    identity = {"$schema": shapes["$schema"], "$id": f"{shapes['$id']}:{words.replace(' ', '-')}"}
    return json.dumps({**identity, **shape}, indent=2) + "\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "format",
        choices=(*FORMATS, "json", "check"),
        help="a format; JSON Schema of the JSON form of USDF, or of what check prints",
    )
    parser.add_argument(
        "words",
        metavar="COMMAND",
        nargs="*",
        help="with json: of what this command, as 'usdf diff', prints by --json=1",
    )
    parser.add_argument("--xsd", action="store_true", help="XML Schema 1.0, which says less, in the place of RELAX NG")


def run(arguments: argparse.Namespace) -> None:
    """Print the schema.

    Raises:
        UsageError: XSD of what is no XML, or a command with another word than json.
        UnknownNameError: there is no such command.
    """
    if arguments.words:
        if arguments.format != "json":
            raise UsageError(f"a command has JSON, and no {arguments.format}: schema json {' '.join(arguments.words)}")
        sys.stdout.write(command_schema(" ".join(arguments.words)))
        return
    if arguments.format not in FORMATS and arguments.xsd:
        raise UsageError("--xsd: JSON has none")
    sys.stdout.write(schema(arguments.format, as_xsd=arguments.xsd))


COMMAND = Command(
    add_arguments,
    run,
    examples=(
        "robot_semantics schema urdf",
        "robot_semantics schema srdf --xsd",
        "robot_semantics schema json usdf diff",
    ),
)
