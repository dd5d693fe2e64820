# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Run every benchmark, or the named ones: ``python -m benchmark [TOPIC...]``; each in its own process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOPICS = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))


def main() -> int:
    """Run the benchmarks one after the other; return 1 if one failed."""
    chosen = sys.argv[1:] or TOPICS
    unknown = [topic for topic in chosen if topic not in TOPICS]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are {', '.join(TOPICS)}", file=sys.stderr)
        return 2
    failed = []
    for topic in chosen:
        print(f"\n=== {topic}", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmark.bench_{topic}"], check=False).returncode:
            failed.append(topic)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
