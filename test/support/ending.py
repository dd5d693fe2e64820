# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Work for worker processes that does not end well."""

from __future__ import annotations

import os
from pathlib import Path


def ends_once(folder: Path) -> str:
    """End the process without a word the first time, and do the work afterwards."""
    try:
        (folder / "was here").touch(exist_ok=False)
    except FileExistsError:
        return "done"
    os._exit(9)
