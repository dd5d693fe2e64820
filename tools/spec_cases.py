# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Write the list of conformance cases below each rule in spec/*.md. `--check` returns 1 if a list is not current."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_OLD = re.compile(r"^Cases: .*\n\n", re.MULTILINE)
_RULE = re.compile(r"^\*\*(?P<rule>[A-Z]\d+\.\d+)\*\*.*?\n(?=\n(?!- |[^\n]*\n- ))", re.MULTILINE | re.DOTALL)


def with_cases(text: str, folder: Path) -> str:
    """Return the text of a specification with the names of the cases in `folder` below each rule."""
    names = sorted(path.stem for path in folder.glob("*.json"))

    def listed(match: re.Match[str]) -> str:
        rule = match["rule"]
        cases = ", ".join(f"`{name.removeprefix(f'{rule}-')}`" for name in names if name.startswith(f"{rule}-"))
        return f"{match[0]}\nCases: {cases}.\n"

    return _RULE.sub(listed, _OLD.sub("", text))


def main() -> int:
    """Write the lists, or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only check that the lists are current")
    options = parser.parse_args()
    code = 0
    for path in sorted((ROOT / "spec").glob("*.md")):
        old = path.read_text(encoding="utf-8")
        new = with_cases(old, ROOT / "conformance" / path.name.partition("-")[0])
        if options.check:
            code |= old != new
        else:
            path.write_text(new, encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())
