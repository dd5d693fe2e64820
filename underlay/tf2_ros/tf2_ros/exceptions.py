"""What a look-up can raise."""


class TransformException(Exception):
    """Root of all exceptions of this package."""


class LookupException(TransformException):
    """A frame is unknown, or the frames form a loop."""


class ConnectivityException(TransformException):
    """Two frames are in trees that are not connected."""


class ExtrapolationException(TransformException):
    """The time asked for lies outside of what was received."""


class InvalidArgumentException(TransformException):
    """A frame name is empty or starts with a slash."""


class TimeoutException(TransformException):
    """An answer did not come in time."""
