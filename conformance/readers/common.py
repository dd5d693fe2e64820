"""What the readers share: lines in, one JSON object a line out, whatever the library prints."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

Answer = dict[str, Any]
Read = Callable[[str, str, Mapping[str, Any]], Answer]


def serve(readers: Mapping[str, Read]) -> None:
    """Answer every line; a reader is given the file, the robot's file (or "") and joint positions by name."""
    # Libraries print to standard output, from C++ too: what they print goes to standard error.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        name, file, robot, positions = line.rstrip("\n").split("\t")
        read = readers.get(name)
        try:
            answer = {"unsupported": True} if read is None else read(file, robot, json.loads(positions or "{}"))
        except Exception as error:  # noqa: BLE001  # whatever a reader raises, it has refused the file
            answer = {"refused": True, "reason": f"{type(error).__name__}: {error}"[:500]}
        print(json.dumps(answer), file=answers, flush=True)
