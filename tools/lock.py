"""Work the lock files out anew, for maintainers: needs uv on the PATH.

`demo.lock` and `test.lock` share no line: the second holds what the tests need beyond the first, in versions that
go together.
"""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "requirements"
OPTIONS = ("--universal", "--python-version=3.10", "--no-emit-index-url", "--no-annotate", "--no-header", "--quiet")


def compiled(source: str, *options: str) -> list[str]:
    """The lines of the lock of one .in file."""
    command = ["uv", "pip", "compile", *OPTIONS, *options, str(FOLDER / source)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def write(lock: str, says: str, lines: list[str]) -> None:
    """Write a lock file with a line that says what it is."""
    (FOLDER / lock).write_text("\n".join([f"# {says} Made by `make lock` from the .in files.", *lines, ""]))


def main() -> None:
    """Write both locks; what is locked stays as it is where --upgrade is not given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    locks = [FOLDER / "demo.lock", FOLDER / "test.lock"]
    kept = [] if parser.parse_args().upgrade else [f"--constraint={lock}" for lock in locks if lock.exists()]
    everything = compiled("test.in", *kept)
    whole = FOLDER / "whole.tmp"
    whole.write_text("\n".join(everything))
    try:
        demo = compiled("demo.in", f"--constraint={whole}")
    finally:
        whole.unlink()
    write("demo.lock", "What the node, the command line and the demo need.", demo)
    write(
        "test.lock",
        "What the tests and benchmarks need beyond demo.lock.",
        [line for line in everything if line not in set(demo)],
    )


if __name__ == "__main__":
    main()
