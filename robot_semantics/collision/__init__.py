"""The self-collision matrix: which pairs of links need no checking, with the evidence. Needs the extra `collision`."""

from robot_semantics.errors import MissingExtraError

try:
    import mujoco  # noqa: F401 - every module of this room builds on it
except ImportError as error:
    raise MissingExtraError("mujoco", "collision", "collision checking") from error
