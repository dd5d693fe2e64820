# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics example`: write an example robot for first steps."""

from __future__ import annotations

import argparse
from pathlib import Path

from robot_semantics.base.errors import RobotSemanticsError
from robot_semantics.base.files import make_folder, save_all
from robot_semantics.cli.frame.command import Command, UsageError
from robot_semantics.cli.frame.printing import add_json_argument, print_output
from robot_semantics.examples import FILES, example

WORLD = "rover_arm.usdf"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("folder", metavar="DIR", nargs="?", help="folder for the files (.)")
    parser.add_argument(
        "--path", nargs="?", const=WORLD, metavar="FILE", help=f"print the path of one file only ({WORLD})"
    )
    parser.add_argument("--force", action="store_true", help="overwrite files that differ")
    add_json_argument(parser)


def run(arguments: argparse.Namespace) -> None:
    """Write the example robot, its SRDF and a world, without overwriting files; or print the path of one file."""
    if arguments.path is not None:
        if arguments.folder is not None or arguments.force:
            raise UsageError("--path writes nothing: give it without DIR and --force")
        path = example(arguments.path)
        print_output(arguments, {"files": [str(path)]}, [path])
        return
    folder = Path(arguments.folder or ".")
    contents = {folder / path.name: path.read_text(encoding="utf-8") for path in FILES}
    for path, content in contents.items():
        if path.exists() and not arguments.force and path.read_bytes() != content.encode():
            raise RobotSemanticsError(
                f"{path} exists with other content, so nothing was written; --force overwrites it"
            )
    make_folder(folder)
    save_all({path: content.encode() for path, content in contents.items()})
    print_output(arguments, {"files": [*map(str, contents)]}, contents)


COMMAND = Command(add_arguments, run, examples=("robot_semantics example .", "robot_semantics example --path"))
