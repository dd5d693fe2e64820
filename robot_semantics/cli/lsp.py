# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics lsp`: the language server for editors, on standard input and output."""

from __future__ import annotations

import argparse

from robot_semantics.cli.frame.command import Command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--stdio", action="store_true", help="use standard input and output, as always")


def run(_: argparse.Namespace) -> None:
    """Serve an editor until it ends the connection."""
    # Import here: the help needs none of them.
    from robot_semantics.cli.frame.explanations import explanations
    from robot_semantics.cli.frame.fixing import mended_text
    from robot_semantics.cli.frame.problems import policy_of_folder
    from robot_semantics.lsp.answers import CommandParts
    from robot_semantics.lsp.server import serve

    page = {code: explanation.text for code, explanation in explanations().items()}
    serve(CommandParts(mended_text, lambda code: page.get(code, ""), lambda folder: policy_of_folder(folder).of))


COMMAND = Command(add_arguments, run, examples=("robot_semantics lsp",))
