# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics explain`: print the pages of problem codes."""

from __future__ import annotations

import argparse

from robot_semantics.base.errors import UnknownNameError
from robot_semantics.cli.frame.command import Command
from robot_semantics.cli.frame.explanations import explanations
from robot_semantics.cli.frame.printing import add_json_argument, print_document, print_line, print_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the codes argument."""
    parser.add_argument("codes", metavar="CODE", nargs="*", help="code of a problem (default: list all)")
    add_json_argument(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print the pages.

    Raises:
        UnknownNameError: a code does not exist.
    """
    pages = explanations()
    for code in arguments.codes:
        if code not in pages:
            raise UnknownNameError("code", code, pages)
    if arguments.json:
        rows = [page._asdict() for page in pages.values()]
        chosen = set(arguments.codes or pages)
        print_result({"codes": [row for row in rows if row["code"] in chosen]})
        return
    if not arguments.codes:
        width = max(map(len, pages))
        for page in pages.values():
            print_line(f"{page.code:{width}}  {page.what}")
    print_document("\n\n".join(f"{code}\n{'-' * len(code)}\n{pages[code].text}" for code in arguments.codes))
    if arguments.codes:
        print_document("\n")


COMMAND = Command(add_arguments, run, examples=("robot_semantics explain unknown-link", "robot_semantics explain"))
