# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Run a node as a program that ends cleanly on a signal at any moment, also during its imports.

ROS is imported only after the signal handlers are set. Until then, only modules that Python itself imports at start are
used: imports are the larger part of a start.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType
    from typing import Any

_HANDLED = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}

_SWITCH_S = 0.0005

_LONGEST_REASON = 300
"""The longest part of rcl's reasons [characters], which contain the whole value."""

_MANY_ENTITIES = 200
"""A node with more topics and services leaves the graph in one step."""

_HELP = """\
usage: ros2 run robot_semantics {program} [--ros-args [-p NAME:=VALUE] [--params-file FILE] [-r NAME:=NAME]]

{about}

The page doc/reference.md lists the parameters with their defaults.
`ros2 param describe NODE NAME` explains a parameter of a running node."""


class Interrupts:
    """Handles SIGINT and SIGTERM without an exception, at any moment and any number of times.

    Before the node exists, a signal ends the process immediately. Later, rclpy shuts its context down on a signal. A
    KeyboardInterrupt in the middle of a start or an end would leave it incomplete. Two signals are common: launch sends
    a second SIGINT after the terminal's, and users press Ctrl-C twice.

    Attributes:
        come: True after a signal; before rclpy has its own handler, only this attribute records it.

    """

    def __init__(self) -> None:
        self.come = False
        self._begun = False
        for number, default in _HANDLED.items():
            # Keep ignored signals, such as SIGINT with nohup.
            if signal.getsignal(number) == default:
                _handle(number, self._note)

    def begin(self) -> None:
        """Record signals from now on instead of ending the process, because the node must be removed first."""
        self._begun = True

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Ignore signals in the ``with`` block and afterwards, until the process ends."""
        _handle(signal.SIGTERM, self._note)
        yield
        # rclpy removed its handlers with its context. Python also removes its own when it ends.
        for number in _HANDLED:
            _handle(number, signal.SIG_IGN)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.come = True
        if not self._begun:
            os._exit(0)


def run(
    program: str,
    node_class: str,
    about: str,
    file_argument: str,
    args: Sequence[str] | None = None,
    serve: Callable[[Any], None] | None = None,
) -> int:
    """Create a node and serve it until SIGINT, SIGTERM or a shutdown of the context; with ``--help``, print the help.

    Args:
        program: name of the program, for the help and for error messages.
        node_class: the class of the node as ``MODULE:CLASS``, imported only here.
        about: the description in the help.
        file_argument: the command that starts the node with a file, up to the file's name.
        args: arguments of the command line; default: those of the process.
        serve: serves the node until the context is shut down; default: spin.

    Returns:
        The exit code: 1 after an error that prevented the node.

    """
    if {"-h", "--help"} & set(sys.argv[1:] if args is None else args):
        sys.stdout.write(_HELP.format(program=program, about=about) + "\n")
        return 0
    interrupts = Interrupts()
    import gc
    from importlib import import_module

    from robot_semantics.base.errors import MissingExtraError, RobotSemanticsError
    from robot_semantics.base.names import print_line, shown

    try:
        module, _, name_of_class = node_class.partition(":")
        make = getattr(import_module(module), name_of_class)
        import rclpy
    except MissingExtraError as error:
        print_line(f"{program}: {error}", file=sys.stderr)
        return 1
    except ModuleNotFoundError as error:
        if str(error.name).startswith("robot_semantics."):
            raise
        print_line(f"{program}: {error}: source a ROS 2 workspace that has it", file=sys.stderr)
        return 1
    from rclpy.exceptions import ParameterException
    from rclpy.impl.implementation_singleton import rclpy_implementation
    from rclpy.logging import get_logger

    from robot_semantics.ros.running.spinning import spin

    bad_arguments = (rclpy_implementation.RCLInvalidROSArgsError, rclpy_implementation.UnknownROSArgsError)
    expected = (RobotSemanticsError, OSError, rclpy_implementation.RCLError, *bad_arguments, ParameterException)
    interrupts.begin()
    try:
        rclpy.init(args=None if args is None else list(args))
    except expected as error:
        if interrupts.come:
            return 0
        # ROS reads a value on the command line as YAML, which many descriptions are not.
        in_text = "robot_description" in str(error)
        hint = f"; to start the node with a description, use '{file_argument}FILE'" if in_text else ""
        print_line(f"{program}: {shown(str(error), _LONGEST_REASON)}{hint}", file=sys.stderr)
        return 1
    node = None
    try:
        if interrupts.come:
            return 0
        unexpected = _unexpected_argument([program, *args] if args is not None else sys.argv, file_argument)
        if unexpected:
            get_logger(program).fatal(unexpected)
            return 2
        node = make()
        # Freeze the existing objects, which stay until the end: the pauses of the garbage collector stay short.
        gc.collect()
        gc.freeze()
        # A joint state waits this long for the interpreter while a description is read. With Python's 5 ms, 2,004 of
        # 6,667 messages took more, with this 1,479 (benchmark.soak, a new description a second, three pairs, busy
        # machine).
        sys.setswitchinterval(_SWITCH_S)
        if serve is None:
            spin(node, lambda: interrupts.come)
        else:
            serve(node)
    except Exception as error:
        if interrupts.come or not rclpy.ok():
            # A signal during the start: any error is a consequence of it.
            return 0
        if not isinstance(error, expected):
            raise
        get_logger(program).fatal(str(error))
        return 1
    finally:
        with interrupts.ending():
            if node is not None:
                _remove(node, at_once=interrupts.come or not rclpy.ok())
            rclpy.try_shutdown()
    return 0


def _unexpected_argument(arguments: Sequence[str], file_argument: str) -> str:
    """Return what is wrong with the arguments that ROS does not use, or nothing."""
    from rclpy.utilities import remove_ros_args

    others = remove_ros_args(list(arguments))[1:]
    if not others:
        return ""
    return f"unexpected argument '{others[0]}': to start the node with a file, use '{file_argument}{others[0]}'"


def _remove(node: Any, *, at_once: bool) -> None:
    """Remove a node; with `at_once`, after a signal, end the process with a node of many topics and services.

    rclpy removes them one by one, and each removal announces all the others to the graph: 3,000 take 8 s, on a busy
    machine 54 s. The end of rcl's node removes the participant with all of them, which takes 1 s.
    """
    if not at_once or node.entity_count() <= _MANY_ENTITIES:
        node.destroy_node()
        return
    import ctypes

    from rclpy.impl.implementation_singleton import rclpy_implementation

    node.close_for_exit()
    ctypes.CDLL("librcl.so").rcl_node_fini(ctypes.c_void_p(node.handle.pointer))
    # Writes the last lines of the log file.
    rclpy_implementation.rclpy_logging_fini()
    sys.stdout.flush()
    sys.stderr.flush()
    # The topics and services still exist in Python, and their end would use the removed node.
    os._exit(0)


def _handle(number: int, handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> None:
    # Python allows signal handlers only in the main thread; in other threads (tests), ignore the error.
    with suppress(ValueError):
        signal.signal(number, handler)
