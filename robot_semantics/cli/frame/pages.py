# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Options of the commands that serve a page."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from robot_semantics.cli.frame.argument_values import port
from robot_semantics.cli.frame.command import UsageError
from robot_semantics.cli.frame.printing import print_note

if TYPE_CHECKING:
    from robot_semantics.viewer.server import PageOptions

TOKEN_VARIABLE = "ROBOT_SEMANTICS_TOKEN"
"""Environment variable with the token of pages; unlike ``--token``, other users cannot see it."""


def add_page_arguments(parser: argparse._ActionsContainer) -> None:
    """Add the options of a command that serves a page."""
    parser.add_argument("--port", type=port, default=0, metavar="N", help="port of the page (any free port)")
    parser.add_argument("--no-browser", action="store_true", help="print the page's address only")
    parser.add_argument("--token", metavar="TOKEN", help="token in the page's address (random), or --no-token")
    # A help has one screen; the page about views explains it.
    parser.add_argument("--no-token", action="store_true", help=argparse.SUPPRESS)


def page_options(arguments: argparse.Namespace) -> PageOptions:
    """Return how the page is served; warn about a page without a token.

    Raises:
        UsageError: the token is empty, or given with ``--no-token``.
    """
    # Import here: only these commands need the page framework.
    from robot_semantics.viewer.server import PageOptions

    if arguments.no_token:
        if arguments.token is not None:
            raise UsageError("give --token or --no-token")
        print_note("warning: --no-token: every user of this machine can control this page")
        return PageOptions(arguments.port, not arguments.no_browser, None)
    token = os.environ.get(TOKEN_VARIABLE) or None if arguments.token is None else arguments.token
    if token is None:
        return PageOptions(arguments.port, not arguments.no_browser)
    if not token:
        raise UsageError("--token is empty; leave it out for a random token")
    return PageOptions(arguments.port, not arguments.no_browser, token)
