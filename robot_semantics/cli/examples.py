"""What `--help` shows as examples, command by command; a test runs them in a folder with the example robot's files."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "check": (
        "robot_semantics check robot.urdf robot.srdf",
        "robot_semantics check world.usdf --urdf robot.urdf --srdf robot.srdf",
    ),
    "show": (
        "robot_semantics show robot.urdf --srdf robot.srdf",
        "robot_semantics show robot.urdf --srdf robot.srdf --svg robot.svg",
    ),
    "view": (
        "robot_semantics view robot.urdf robot.srdf",
        "robot_semantics view robot.urdf robot.srdf --group arm --state arm/reach --png arm.png",
        "robot_semantics view world.usdf --html world.html",
        "robot_semantics view --live",
    ),
    "fk": ("robot_semantics fk robot.urdf --srdf robot.srdf --state arm/reach --positions lift_joint=0.1",),
    "group": ("robot_semantics group robot.urdf robot.srdf arm",),
    "groups": ("robot_semantics groups robot.urdf robot.srdf --json",),
    "states": (
        "robot_semantics states robot.urdf robot.srdf arm",
        "robot_semantics states robot.urdf robot.srdf gripper --positions left_finger_joint=0.04",
    ),
    "find": (
        "robot_semantics find robot.urdf robot.srdf palm_link",
        "robot_semantics find robot.urdf robot.srdf --pair palm_link base_link",
    ),
    "srdf": (
        "robot_semantics srdf new robot.urdf -o a.srdf --chain arm=base_link..wrist_link --state arm/up lift_joint=0",
        "robot_semantics srdf rename a.srdf state arm/up rest --urdf robot.urdf",
    ),
    "expand": ("robot_semantics expand robot.urdf",),
    "upgrade": ("robot_semantics upgrade robot.urdf --diff",),
    "collisions": (
        "robot_semantics collisions generate robot.urdf --srdf robot.srdf -o new.srdf --samples 500 --json why.json",
        "robot_semantics collisions check robot.urdf robot.srdf --samples 500",
    ),
    "export": (
        "robot_semantics export recording/ --urdf robot.urdf --srdf robot.srdf --every 0.1 -o states/",
        "robot_semantics export drive.mcap --urdf robot.urdf --at 12.5 -o world.usdf",
    ),
    "bag": ("robot_semantics bag world.usdf -o recording --force",),
    "plot": ("robot_semantics plot states/ --joint elbow_joint -o elbow.png",),
    "sim": ("robot_semantics sim run world.usdf --steps 10 -o later.usdf",),
    "snapshot": (
        "robot_semantics snapshot save before_lunch",
        "robot_semantics snapshot restore before_lunch",
    ),
    "usdf": (
        "robot_semantics usdf resolve world.usdf",
        "robot_semantics usdf diff world.usdf world.usdf",
        "robot_semantics usdf edit world.usdf --joint rover_arm/elbow_joint 1.2 -o changed.usdf",
    ),
    "completion": ("robot_semantics completion bash > ~/.local/share/bash-completion/completions/robot_semantics",),
    "doctor": ("robot_semantics doctor",),
    "example": ("robot_semantics example .",),
}


OPERATIONS: dict[str, tuple[str, ...]] = {
    "srdf new": (
        "robot_semantics srdf new robot.urdf -o new.srdf --virtual-joint planar --chain arm=base_link..wrist_link",
        "robot_semantics srdf new robot.urdf --joints hand=left_finger_joint --end-effector grip=hand,wrist_link",
    ),
    "srdf add": ("robot_semantics srdf add robot.srdf --urdf robot.urdf --state arm/low lift_joint=0 -o more.srdf",),
    "srdf remove": ("robot_semantics srdf remove robot.srdf --urdf robot.urdf --state arm/reach -o less.srdf",),
    "srdf rename": (
        "robot_semantics srdf rename robot.srdf group arm limb --urdf robot.urdf -o limb.srdf",
        "robot_semantics srdf rename rover_arm.srdf joint elbow_joint elbow --urdf rover_arm.urdf --in-urdf",
    ),
    "collisions generate": (
        "robot_semantics collisions generate robot.urdf --srdf robot.srdf -o new.srdf --samples 500",
    ),
    "collisions check": ("robot_semantics collisions check robot.urdf robot.srdf --samples 500",),
    "collisions diff": ("robot_semantics collisions diff robot.srdf robot.srdf",),
    "collisions witness": ("robot_semantics collisions witness robot.urdf base_link palm_link",),
    "sim run": ("robot_semantics sim run world.usdf --steps 10 -o later.usdf",),
    "sim example": ("robot_semantics sim example",),
    "snapshot save": ("robot_semantics snapshot save before_lunch --comment 'all stowed'",),
    "snapshot restore": ("robot_semantics snapshot restore before_lunch --dry-run",),
    "snapshot list": ("robot_semantics snapshot list",),
    "snapshot delete": ("robot_semantics snapshot delete before_lunch",),
    "usdf check": ("robot_semantics usdf check world.usdf --urdf robot.urdf --srdf robot.srdf",),
    "usdf show": ("robot_semantics usdf show world.usdf --json",),
    "usdf resolve": (
        "robot_semantics usdf resolve world.usdf rover_arm::tool_frame",
        "robot_semantics usdf resolve world.usdf rover_arm::tool_frame --relative-to block_1",
    ),
    "usdf diff": ("robot_semantics usdf diff world.usdf world.usdf --tolerance 1e-6",),
    "usdf merge": ("robot_semantics usdf merge world.usdf world.usdf --prefix a_ --prefix b_ -o both.usdf",),
    "usdf split": ("robot_semantics usdf split world.usdf -o models",),
    "usdf interpolate": ("robot_semantics usdf interpolate world.usdf world.usdf --share 0.5 -o between.usdf",),
    "usdf convert": ("robot_semantics usdf convert world.usdf -o world.json",),
    "usdf edit": (
        "robot_semantics usdf edit world.usdf --joint rover_arm/elbow_joint 1.2 -o bent.usdf",
        "robot_semantics usdf edit world.usdf --pose rover_arm '1 0 0 0 0 1.57' -o moved.usdf",
        "robot_semantics usdf edit world.usdf --state rover_arm arm/reach -o reaching.usdf",
    ),
}
"""The same for the operations of a command."""


def epilog(command: str) -> str:
    """Return the last lines of the help of a command, or of one of its operations."""
    lines = EXAMPLES.get(command) or OPERATIONS.get(command, ())
    return "\n".join([f"example{'s' if len(lines) > 1 else ''}:", *(f"  {line}" for line in lines)]) if lines else ""
