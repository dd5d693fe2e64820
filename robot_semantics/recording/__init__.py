"""Recordings and world states: bags in and out, histories, series and their pictures."""

from robot_semantics.errors import MissingExtraError

try:
    import rosbags.interfaces  # noqa: F401 - only to see that it is there
except ImportError as error:
    raise MissingExtraError("rosbags", "bag", "reading and writing recordings") from error
