# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Coverage-guided fuzzing: ``python test/fuzz [TARGET ...] --seconds 60``; failing inputs are kept in build/fuzz/.

Without targets all are run, each in its own process, as many in parallel as there are processors.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build" / "fuzz"
LONGEST, SLOWEST_S, MEMORY_MB = 32768, 20, 2048
ENGINE = "--engine"


def fuzz(name: str, seconds: int) -> None:
    """Fuzz one target in this process, which ends with it."""
    import atheris

    with atheris.instrument_imports(include=["robot_semantics"]):
        from targets import TARGETS  # type: ignore[import-not-found]  # imported anew, to be instrumented
    found, seeds = BUILD / name, HERE / "corpus" / name
    found.mkdir(parents=True, exist_ok=True)
    options = (
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST}",
        f"-timeout={SLOWEST_S}",
        f"-rss_limit_mb={MEMORY_MB}",
    )
    atheris.Setup([name, *options, f"-artifact_prefix={BUILD}/{name}-", str(found), str(seeds)], TARGETS[name])
    atheris.Fuzz()


def run(name: str, seconds: int) -> int:
    """Fuzz one target in a separate process; return its exit code and print its output if the code is not 0."""
    command = [sys.executable, str(HERE), name, "--seconds", str(seconds), ENGINE]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE.parents[1])
    last = next((line for line in reversed(done.stderr.splitlines()) if line.startswith("Done ")), "")
    print(f"fuzz: {name}: {last or 'FAILED'}", flush=True)
    if done.returncode:
        print("\n".join(done.stderr.splitlines()[-40:]), flush=True)
    return done.returncode


def main() -> int:
    """Run the targets; 1 where one of them has failed."""
    names = sorted(path.name for path in (HERE / "corpus").iterdir())
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", choices=[*names, []], help=", ".join(names))
    parser.add_argument("--seconds", type=int, default=60, help="how long each is run")
    parser.add_argument(ENGINE, action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.engine:
        fuzz(options.targets[0], options.seconds)
        return 0
    BUILD.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        codes = list(pool.map(lambda name: run(name, options.seconds), options.targets or names))
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
