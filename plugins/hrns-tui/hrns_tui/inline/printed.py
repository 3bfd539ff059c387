"""What other code prints while the terminal is drawn: tools, plugins, warnings.

It would be written into the frame, and steer the terminal; it is shown as lines instead.
"""

from __future__ import annotations

import io
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import TextIO

__all__ = ["Printed", "shown_lines"]


@contextmanager
def shown_lines(
    call: Callable[[Callable[[], object]], object], show: Callable[[str], object]
) -> Iterator[None]:
    """Inside the block, what is printed on standard output and error is shown.

    Parameters:
        call: has the drawing thread do something soon; it may be called from any thread.
        show: shows lines; it is called in the drawing thread.
    """
    out, err = Printed(sys.stdout, call, show), Printed(sys.stderr, call, show)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            yield
    finally:
        out.print_rest()
        err.print_rest()


class Printed(io.TextIOBase):
    """A stream whose lines are shown when they are whole.

    Nothing is locked here: the interpreter itself may print, in any thread and at any moment.

    Parameters:
        stream: the stream in whose place this one is.
        call: as for `shown_lines`.
        show: likewise.
    """

    def __init__(
        self,
        stream: TextIO,
        call: Callable[[Callable[[], object]], object],
        show: Callable[[str], object],
    ) -> None:
        self._stream = stream
        self._call = call
        self._show = show
        self._texts: deque[str] = deque()
        self._called = False

    def write(self, text: str) -> int:
        """Take text."""
        self._texts.append(text)
        if "\n" in text and not self._called:
            self._called = True
            self._call(self._hand_on)
        return len(text)

    def _hand_on(self) -> None:
        self._called = False
        lines, newline, rest = self._take().rpartition("\n")
        if rest:
            self._texts.appendleft(rest)
        if newline:
            self._show(lines)

    def _take(self) -> str:
        return "".join(self._texts.popleft() for _ in range(len(self._texts)))

    def print_rest(self) -> None:
        """Print what was not shown any more."""
        with suppress(OSError, ValueError):  # the terminal has gone
            self._stream.write(self._take())
            self._stream.flush()

    def writable(self) -> bool:
        """Whether text is taken: it is."""
        return True

    def isatty(self) -> bool:
        """What the stream says that this one stands for."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """The descriptor of that stream."""
        return self._stream.fileno()
