# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics schema` and `example`: files that ship with the package."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from robot_semantics.base.errors import RobotSemanticsError, UnknownNameError
from robot_semantics.base.files import make_folder
from robot_semantics.cli.frame.command import Command, UsageError
from robot_semantics.cli.frame.outputs import write_files
from robot_semantics.cli.frame.printing import add_json_argument, print_document, print_output
from robot_semantics.cli.running import all_commands
from robot_semantics.examples import FILES, example

# Files installed beside the package, in ``share/robot_semantics``: schemas and conformance cases.


def shared_folder(name: str) -> Path:
    """Return the folder `name`: in the source tree if the package is in one, else in the installation.

    Raises:
        RobotSemanticsError: it is not installed.
    """
    package = Path(__file__).parents[1]
    for above in package.parents:
        for folder in (above / name, above / "share" / "robot_semantics" / name):
            if folder.is_dir() and any(folder.glob("*.*")):
                return folder
    raise RobotSemanticsError(f"share/robot_semantics/{name} is not installed above {package}")


VERSIONS = {"usdf": "1.0", "urdf": "1.2", "srdf": "1.0"}
"""The formats and the versions of their specifications."""


def schema(name: str) -> str:
    """Return the text of a shipped schema.

    Args:
        name: a format; ``json`` for the JSON form of USDF, ``check`` for the JSON of check.
    """
    others = {"check": "check-2.schema.json", "json": f"usdf-{VERSIONS['usdf']}.schema.json"}
    file = others.get(name) or f"{name}-{VERSIONS[name]}.rng"
    return (shared_folder("spec") / file).read_text(encoding="utf-8")


def command_schema(words: str) -> str:
    """Return the JSON Schema of the ``--json`` output of a command, such as ``collisions check``.

    Raises:
        UsageError: the command does not exist, or has no JSON output.
    """
    if words == "check":
        return schema("check")
    if words == "usdf show":
        return schema("json")
    shapes = json.loads((shared_folder("spec") / "commands-2.schema.json").read_text(encoding="utf-8"))
    known = [name for name, _ in all_commands() if name in shapes["commands"]]
    if words not in known:
        raise UsageError(str(UnknownNameError("command with JSON", words, known)))
    problem = json.loads(schema("check"))["properties"]["diagnostics"]["items"]
    shape = {**shapes["commands"][words], "$defs": {**shapes["$defs"], "problem": problem}}
    identity = {"$schema": shapes["$schema"], "$id": f"{shapes['$id']}:{words.replace(' ', '-')}"}
    return json.dumps({**identity, **shape}, indent=2) + "\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "name",
        metavar="FORMAT",
        choices=(*VERSIONS, "json", "check"),
        help="format, or json or check for JSON Schema",
    )
    parser.add_argument(
        "words",
        metavar="COMMAND",
        nargs="*",
        help="with json: command whose output is described",
    )


def run(arguments: argparse.Namespace) -> None:
    """Print the schema.

    Raises:
        UsageError: a command with another word than json, or one that does not exist.
    """
    if arguments.words:
        if arguments.name != "json":
            raise UsageError(f"a command has JSON, and no {arguments.name}: schema json {' '.join(arguments.words)}")
        print_document(command_schema(" ".join(arguments.words)))
        return
    print_document(schema(arguments.name))


SCHEMA = Command(
    add_arguments,
    run,
    examples=(
        "robot_semantics schema urdf",
        "robot_semantics schema srdf",
        "robot_semantics schema json usdf resolve",
    ),
)


# `robot_semantics example`: write an example robot for first steps.


WORLD = "rover_arm.usdf"


def add_example_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("folder", metavar="DIR", nargs="?", help="folder for the files (.)")
    parser.add_argument(
        "--path", nargs="?", const=WORLD, metavar="FILE", help=f"print the path of one file only ({WORLD})"
    )
    parser.add_argument("--force", action="store_true", help="overwrite files that differ")
    parser.add_argument("--dry-run", action="store_true", help="write nothing; print what would change")
    add_json_argument(parser)


def write_example(arguments: argparse.Namespace) -> None:
    """Write the example robot, its SRDF and a world, without overwriting files; or print the path of one file.

    Raises:
        UsageError: no example has the name of `--path`, or what it does not take is there.
    """
    if arguments.path is not None:
        if arguments.folder is not None or arguments.force:
            raise UsageError("--path writes nothing: give it without DIR and --force")
        try:
            path = example(arguments.path)
        except UnknownNameError as error:
            raise UsageError(str(error)) from None
        print_output(arguments, {"files": [str(path)]}, [path])
        return
    folder = Path(arguments.folder or ".")
    contents = {folder / path.name: path.read_text(encoding="utf-8") for path in FILES}
    for path, content in contents.items():
        if path.exists() and not arguments.force and path.read_bytes() != content.encode():
            raise RobotSemanticsError(
                f"{path} exists with other content, so nothing was written; --force overwrites it"
            )
    if not arguments.dry_run:
        make_folder(folder)
    written = write_files(arguments, {path: content.encode() for path, content in contents.items()})
    print_output(arguments, {"files": [*map(str, contents)]}, contents if written else ())


EXAMPLE = Command(
    add_example_arguments, write_example, examples=("robot_semantics example .", "robot_semantics example --path")
)
