"""`robot_semantics collisions`: make, audit and compare self-collision matrices."""

from __future__ import annotations

from robot_semantics.cli import (
    collisions_check,
    collisions_diff,
    collisions_edit,
    collisions_generate,
    collisions_table,
    collisions_witness,
)
from robot_semantics.cli.command import Command

COMMAND = Command(
    operations={
        "generate": collisions_generate.COMMAND,
        "check": collisions_check.COMMAND,
        "table": collisions_table.COMMAND,
        "enable": collisions_edit.ENABLE,
        "disable": collisions_edit.DISABLE,
        "witness": collisions_witness.COMMAND,
        "diff": collisions_diff.COMMAND,
    },
    examples=(
        "robot_semantics collisions generate robot.urdf --srdf robot.srdf -o new.srdf --samples 500 --json why.json",
        "robot_semantics collisions check robot.urdf robot.srdf --samples 500",
    ),
)
