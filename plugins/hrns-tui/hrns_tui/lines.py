"""A prompt of plain lines, for terminals that can do no more (`TERM=dumb`, output to a file).

Each line is a message. Lines are read from the descriptor, not through `input()`: a read that
must also end when a flag is set cannot wait inside a buffered stream.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from hrns.cancel import Cancel
from hrns.cli.printing import plain
from hrns.session import Session

from .dialogue import Meanwhile, Typed
from .signals import turn_signals
from .terminal import drop_typed, echo

__all__ = ["LinePrompt"]

_POLL_S = 0.1


class LinePrompt:
    """Reads lines of a terminal, or of any file.

    Parameters:
        source: where they come from.
        out: where labels are written.
    """

    hint = "Each line is a message. Ctrl-C interrupts, Ctrl-D leaves, /help"
    keys = (
        ("Enter", "sends the line"),
        ("Ctrl-C", "interrupts"),
        ("Ctrl-D", "leaves"),
        ("!command", "runs it; its output goes along with the next message"),
    )

    def __init__(self, source: TextIO, out: TextIO) -> None:
        self._source = source
        self._out = out
        self._read = b""
        self._attached: list[str] = []

    def message(self, session: Session) -> Typed:  # noqa: ARG002 - nothing is completed here
        """The next line, and what goes along with it."""
        text = self._next_line("> ")
        if not text.strip() or text.startswith(("/", "!")):
            return Typed(text, text)
        parts = [text, *self._attached]
        self._attached.clear()
        return Typed("\n\n".join(parts), text)

    @contextmanager
    def working(
        self,
        session: Session | None = None,  # noqa: ARG002 - nothing is queued here
        meanwhile: Meanwhile | None = None,  # noqa: ARG002 - nor typed
    ) -> Iterator[Cancel]:
        """Inside the block signals set the flag, and nothing is echoed."""
        cancel = Cancel()
        with turn_signals(cancel), echo(self._source, on=False):
            yield cancel

    def interruptible(self, run: Callable[[], object]) -> None:
        """Run a command, which SIGINT interrupts by itself."""
        run()

    def attach(self, label: str, text: str) -> None:
        """Have text go along with the next message."""
        self._attached.append(text)
        self._write(f"{label} goes along with your next message.\n")

    def delivered(self, text: str) -> None:
        """Nothing is queued here."""

    def edit(self) -> None:
        """There is nothing to edit with."""
        self._write("There is no editor on this terminal.\n")

    def refill(self, text: str) -> None:
        """A line that is not typed yet cannot hold it: it is shown, to be copied from there."""
        self._write(f"{plain(text)}\n")

    def line(self, label: str, *, secret: bool = False) -> str:
        """The next line; a secret one is not echoed."""
        if not secret:
            return self._next_line(f"{label}: ")
        with echo(self._source, on=False):
            text = self._next_line(f"{label}: ")
        self._write("\n")
        return text

    def answer(self, label: str, cancel: Cancel) -> str:
        """The next line that is typed from now on."""
        drop_typed(self._source)
        self._read = b""
        with echo(self._source, on=True):
            return self._next_line(f"{label} ", cancel)

    def _next_line(self, label: str, cancel: Cancel | None = None) -> str:
        self._write(label)
        while b"\n" not in self._read:
            self._wait(cancel)
            data = os.read(self._source.fileno(), 65536)
            if not data:
                break
            self._read += data
        line, newline, self._read = self._read.partition(b"\n")
        if not line and not newline:
            self._write("\n")
            raise EOFError
        return line.decode("utf-8", "replace").rstrip("\r")

    def _wait(self, cancel: Cancel | None) -> None:
        """Wait for something to read; EOFError if the flag is set before that."""
        if cancel is None or sys.platform == "win32":  # only sockets can be waited for there
            return
        while not select.select([self._source], [], [], _POLL_S)[0]:
            if cancel.is_set():
                self._write("\n")
                raise EOFError

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
