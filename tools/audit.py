# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Compare the locked versions with the lists of known vulnerabilities; a known one fails.

The lists are on the network. Where they cannot be reached, the audit is skipped, and a message says so.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PIP_AUDIT = ROOT / "build" / "audit-env" / "bin" / "pip-audit"
OPTIONS = ("--format", "json", "--progress-spinner", "off", "--disable-pip", "--require-hashes", "--timeout", "15")
TIMEOUT_S = 300.0


class UnreachableError(Exception):
    """The lists of known vulnerabilities cannot be reached."""


def vulnerabilities(lock: Path, program: Sequence[str] = (str(PIP_AUDIT),)) -> Iterator[str]:
    """Yield the known vulnerabilities of the versions in a lock: package, version, number, and the fixed versions.

    Raises:
        UnreachableError: pip-audit gives no answer.
    """
    command = [*program, *OPTIONS, "--requirement", str(lock)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        packages = json.loads(done.stdout)["dependencies"]
    except subprocess.TimeoutExpired:
        raise UnreachableError(f"no answer within {TIMEOUT_S:g} s") from None
    except (ValueError, KeyError, TypeError):
        lines = done.stderr.strip().splitlines() or ["no answer"]
        raise UnreachableError(lines[-1][:300]) from None
    if packages and all("skip_reason" in package for package in packages):
        raise UnreachableError(packages[0]["skip_reason"])
    for package in packages:
        if "skip_reason" in package:
            print(f"{lock.name}: note: {package['skip_reason']}")
        for found in package.get("vulns", ()):
            fixed = ", ".join(found.get("fix_versions", ())) or "no version"
            yield f"{package['name']} {package['version']}: {found['id']}; fixed in {fixed}"


def main() -> int:
    """Print the known vulnerabilities; return 1 if there is one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("locks", nargs="*", type=Path, default=sorted((ROOT / "requirements").glob("*.lock")))
    locks = parser.parse_args().locks
    count = 0
    for lock in locks:
        try:
            lines = list(vulnerabilities(lock))
        except UnreachableError as error:
            print(f"audit: skipped at {lock.name}: the lists of known vulnerabilities cannot be read: {error}")
            return int(count > 0)
        count += len(lines)
        for line in lines:
            print(f"{lock.name}: {line}")
    print(f"audit: {len(locks)} locks, {count} known vulnerabilities")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
