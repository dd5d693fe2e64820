"""The part of tf2_ros that Python nodes use, for environments without a ROS 2 installation.

Names and behaviour are those of the real package: code that imports this one runs unchanged with that one. Left out are
the action client and the conversions between message types (`Buffer.transform`).
"""

from tf2_ros.buffer import Buffer
from tf2_ros.buffer_core import BufferCore
from tf2_ros.buffer_interface import BufferInterface
from tf2_ros.exceptions import (
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
    TimeoutException,
    TransformException,
)
from tf2_ros.static_transform_broadcaster import StaticTransformBroadcaster
from tf2_ros.transform_broadcaster import TransformBroadcaster
from tf2_ros.transform_listener import TransformListener

__all__ = [
    "Buffer",
    "BufferCore",
    "BufferInterface",
    "ConnectivityException",
    "ExtrapolationException",
    "InvalidArgumentException",
    "LookupException",
    "StaticTransformBroadcaster",
    "TimeoutException",
    "TransformBroadcaster",
    "TransformException",
    "TransformListener",
]
