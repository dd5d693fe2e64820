# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

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
