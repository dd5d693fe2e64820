# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Regular expressions that are compiled at their first use: a command imports about 60 and uses a few."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

__all__ = ["pattern"]


class _Pattern:
    """What behaves as a compiled regular expression; each of its methods is looked up once."""

    def __init__(self, text: Any, flags: int) -> None:
        self.pattern, self._flags = text, flags

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # asked by `copy` and `pickle`
            raise AttributeError(name)
        value = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, value)
        return value


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a regular expression that is compiled at its first use; it is not of the type `re.Pattern`."""
    return cast("re.Pattern[AnyStr]", _Pattern(text, flags))
