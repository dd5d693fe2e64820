# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Write the maintainer and the addresses of `release.toml` into the files that need them.

`--check` changes nothing and returns 1 if a file is not current. `--check-filled` returns 1 if a value is missing, or
if the workflow says that a job has not run.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "release.toml"
WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"
NAMES = ("maintainer", "email", "repository", "bugtracker", "website")
MANIFESTS = (
    "package.xml",
    "interfaces/package.xml",
    *(
        f"underlay/{name}/package.xml"
        for name in ("controller_manager_msgs", "mujoco_ros2_control_msgs", "simulation_interfaces", "tf2_msgs")
    ),
)


def read_values(text: str) -> dict[str, str]:
    """Return the values of `release.toml`; Python 3.10 has no reader of TOML.

    Raises:
        ValueError: the file has other names than expected.
    """
    values = dict(re.findall(r'^(\w+) = "([^"\\]*)"$', text, re.MULTILINE))
    if tuple(values) != NAMES:
        raise ValueError(f"{SOURCE.name}: expected {', '.join(NAMES)}, found {', '.join(values)}")
    return values


def new_texts(values: Mapping[str, str], root: Path = ROOT) -> Iterator[tuple[Path, str]]:
    """Yield every file that contains a value, with its new text."""
    maintainer = values["maintainer"] or "robot_semantics maintainers"
    email = values["email"] or "maintainers@robot-semantics.invalid"
    repository = values["repository"] or "REPOSITORY"
    owner = "/".join(values["repository"].rstrip("/").removesuffix(".git").split("/")[-2:]) or "OWNER/robot_semantics"
    urls = "".join(f'  <url type="{name}">{escape(values[name])}</url>\n' for name in NAMES[2:] if values[name])
    code = f"repository-code: {values['repository']}\n" if values["repository"] else ""
    rules: dict[str, list[tuple[str, str]]] = {
        manifest: [
            (r"  <maintainer .*\n", f"  <maintainer email={quoteattr(email)}>{escape(maintainer)}</maintainer>\n"),
            (r"(  <license>.*\n)(?:  <url .*\n)*", rf"\1{urls}"),
        ]
        for manifest in MANIFESTS
    }
    rules["README.md"] = [(r"git clone \S+", f"git clone {repository}")]
    rules["doc/ci.md"] = [(r"- repo: .*", f"- repo: {repository}"), (r"uses: \S+@", f"uses: {owner}@")]
    rules["doc/conf.py"] = [(r'author = copyright = ".*"', f'author = copyright = "{maintainer}"')]
    rules["CITATION.cff"] = [
        (r"  - name: .*", f'  - name: "{maintainer}"'),
        (r"(license: .*\n)(?:repository-code: .*\n)?", rf"\1{code}"),
    ]
    for name, replacements in rules.items():
        text = (root / name).read_text(encoding="utf-8")
        for pattern, replacement in replacements:
            text, count = re.subn(pattern, replacement, text)
            if not count:
                raise ValueError(f"{name}: nothing matches {pattern!r}")
        yield root / name, text


def main(words: list[str] | None = None) -> int:
    """Write the files, or check them; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; 1 if a file is not current")
    parser.add_argument("--check-filled", action="store_true", help="change nothing; 1 if a value is missing")
    arguments = parser.parse_args(words)
    values = read_values(SOURCE.read_text(encoding="utf-8"))
    missing = [name for name, value in values.items() if not value]
    if arguments.check_filled and missing:
        print(f"error: {SOURCE.name}: a release needs {', '.join(missing)}", file=sys.stderr)
        return 1
    not_run = re.search(r"# (This job has not run .*?)\.", WORKFLOW.read_text(encoding="utf-8"))
    if arguments.check_filled and not_run:
        print(f"error: {WORKFLOW.name}: {not_run[1]}: run it, then remove the line that says so", file=sys.stderr)
        return 1
    stale = [(path, text) for path, text in new_texts(values) if path.read_text(encoding="utf-8") != text]
    if arguments.check or arguments.check_filled:
        for path, _ in stale:
            name = path.relative_to(ROOT)
            print(f"error: {name} differs from {SOURCE.name}: run python -m tools.release", file=sys.stderr)
        return int(bool(stale))
    for path, text in stale:
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
