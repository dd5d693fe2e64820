# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics usdf from-series`: one state of a recorded series, to start a simulation from."""

from __future__ import annotations

import argparse
from pathlib import Path

from robot_semantics.base.diagnostics import Diagnostics
from robot_semantics.cli import inputs
from robot_semantics.cli.lines import say
from robot_semantics.cli.outputs import add_output


def add_from_series_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `from-series`."""
    parser.add_argument("series", metavar="SERIES", help="a folder, .parquet, .npz or .jsonl from export")
    parser.add_argument(
        "--at", metavar="T", default="end", help="seconds since the first state, absolute (since 1970, or @T), or end"
    )
    add_output(parser, "-o", "--output", metavar="OUT", required=True, help="the .usdf file to write")


def run_from_series(arguments: argparse.Namespace) -> int:
    """Write the state and, beside it, its robots' descriptions."""
    from robot_semantics.recording.from_series import save_state, state_at

    problems = Diagnostics()
    state, texts = state_at(Path(arguments.series), arguments.at, problems)
    inputs.print_diagnostics(problems)
    save_state(state, texts, Path(arguments.output))
    say(f"wrote the state at {arguments.at} with {len(state.models)} models to {arguments.output}")
    return 0
