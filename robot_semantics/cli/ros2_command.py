# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Plugin of the ros2 command line: ``ros2 semantics check robot.urdf`` is ``robot_semantics check robot.urdf``.

ros2cli finds it by its entry point and calls its methods by name; no ROS module is imported.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from robot_semantics.cli.main import main
from robot_semantics.cli.running import COMMANDS


class SemanticsCommand:
    """Check, show, compare and convert robot descriptions, semantics and world states."""

    NAME = "semantics"
    EXTENSION_POINT_VERSION = "0.1"
    _parser: argparse.ArgumentParser

    def add_arguments(
        self, parser: argparse.ArgumentParser, _cli_name: str, *, argv: Sequence[str] | None = None
    ) -> None:
        """Pass all words unchanged: the command's own parser reads them."""
        self._parser = parser
        names = "\n".join(f"  {name:14}{summary}" for name, summary in COMMANDS.items())
        parser.epilog = f"commands (each has a --help):\n{names}"
        parser.add_argument(
            "words", metavar="COMMAND ...", nargs=argparse.REMAINDER, help="a command and its arguments"
        )

    def main(self, *, parser: argparse.ArgumentParser, args: argparse.Namespace) -> int:
        """Run the command; return its exit code."""
        if not args.words:
            self._parser.print_help()
            return 2
        return main(args.words)
