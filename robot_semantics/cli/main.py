# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The program `robot_semantics`; SIGINT and SIGTERM end it with one word, even during its imports."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from io import TextIOWrapper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

EXIT_PROBLEMS, EXIT_INTERRUPTED, EXIT_TERMINATED = 1, 130, 143


class Terminated(KeyboardInterrupt):  # a request to end, not an error
    """SIGTERM was received: clean up and end, as after SIGINT."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code: 0 done, 1 problems in the input, 2 wrong usage."""
    if sys.stdout is None:  # it was closed before the start
        print("error: standard output is closed", file=sys.stderr)
        return EXIT_PROBLEMS
    words = list(sys.argv[1:] if argv is None else argv)
    _prepare_streams()
    try:
        if words == ["--version"]:
            # argparse would triple the time.
            from robot_semantics.base.version import __version__

            return 0 if _is_written_out(f"robot_semantics {__version__}\n") else EXIT_PROBLEMS
        from robot_semantics.base.deferred_interrupt import deferred_interrupt

        with _sigterm_as_exception():
            # Compiled modules convert an interrupt during their imports to an ImportError.
            with deferred_interrupt(below=False):
                from robot_semantics.cli.running import run

            code = run(words)
    except Terminated:
        print("terminated", file=sys.stderr)
        code = EXIT_TERMINATED
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = EXIT_INTERRUPTED
    except SystemExit:
        # argparse has printed a help or an error.
        if not _is_written_out():
            return EXIT_PROBLEMS
        raise
    if not _is_written_out():
        return EXIT_PROBLEMS
    if code not in (EXIT_INTERRUPTED, EXIT_TERMINATED):
        # The command has imported it.
        from robot_semantics.cli.frame.printing import print_last_notes

        print_last_notes()
    if argv is None:
        # At the end of the program, the garbage collector would search all objects in vain: 7 % of a small check.
        import gc

        gc.freeze()
    return code


def _prepare_streams() -> None:
    """Let output never fail on an encoding, and end lines with one byte on every system."""
    for stream in (sys.stdout, sys.stderr):
        # Tests replace the streams by others.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(newline="\n", errors="backslashreplace")
            if not stream.encoding.lower().startswith("utf"):
                from robot_semantics.base.names import use_ascii_forms

                use_ascii_forms(stream)


@contextmanager
def _sigterm_as_exception() -> Iterator[None]:
    """Raise `Terminated` at the first SIGTERM, so that unfinished output is removed; ignore further ones.

    A handler that was set before stays. Outside the main thread no handler is set.
    """

    def terminate(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Terminated

    before = signal.getsignal(signal.SIGTERM)
    try:
        if before == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, terminate)
    except ValueError:
        before = None
    try:
        yield
    finally:
        if before == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, before)


def _is_written_out(text: str = "") -> bool:
    """Write a text and flush standard output; print an error once and return False if this fails."""
    try:
        if text:
            sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # The interpreter must not report the error again when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"error: standard output: {error.strerror}", file=sys.stderr)
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
