# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Lines for people: whatever names they hold, they neither steer a terminal nor fill it."""

from __future__ import annotations

from typing import TextIO

from robot_semantics.base.foreign_text import shown

LONGEST_LINE = 2000
"""Characters of a line that are printed at most."""


def say(text: object, *, file: TextIO | None = None, flush: bool = False) -> None:
    """Print a text as one line, as the built-in `print` does."""
    print(shown(str(text), LONGEST_LINE), file=file, flush=flush)
