"""The self-collision matrix: which pairs of links need no checking, with the evidence. Needs the extra `collision`."""

import logging

from robot_semantics.base.errors import MissingExtraError

try:
    import mujoco
except ImportError as error:
    raise MissingExtraError("mujoco", "collision", "collision checking") from error

# MuJoCo's own way is a file MUJOCO_LOG.TXT in whatever folder the process stands in.
mujoco.set_mju_user_warning(logging.getLogger("mujoco").warning)
