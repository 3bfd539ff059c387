"""SIGINT, SIGTERM and SIGHUP: each ends a command in good order, at any moment.

While a command gets ready (plugins are imported, standard input is read) a signal raises, since
whatever blocks there knows of no flag. While a model is at work it only raises the run's flag: no
exception may land between a tool's result and the transcript.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from attrs import define

from ..cancel import Cancel
from ..missed import none_missed

__all__ = ["Interrupted", "Signals", "handled"]

PATIENCE_S = 1.0
"""Seconds after which a second signal ends the process at once.

Earlier ones are the same wish: a terminal and a wrapper that passes signals on both send them.
"""

LAST_S = 5.0
"""Seconds after a signal when the process ends whatever it does: nobody may read its output."""

_REASONS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "terminated"}


class Interrupted(KeyboardInterrupt):
    """A signal came while a command was getting ready."""


@define
class Signals:
    """What the signals did so far.

    Parameters:
        cancel: the flag that they raise.
        number: the signal that came first, or 0.
        raising: whether they also raise `Interrupted`.
    """

    cancel: Cancel
    number: int = 0
    raising: bool = True
    _first_s: float = 0.0

    @property
    def status(self) -> int:
        """The exit status that the first signal stands for."""
        return 128 + (self.number or signal.SIGINT)

    def handle(self, number: int, _frame: FrameType | None) -> None:
        """Take note of a signal."""
        if self.number:
            if time.monotonic() - self._first_s > PATIENCE_S:
                os._exit(128 + number)
            return
        self.number = number
        self._first_s = time.monotonic()
        self._end_at_last()
        if number == getattr(signal, "SIGHUP", None):
            _leave_the_terminal()
        self.cancel.set(_REASONS[signal.Signals(number).name])
        if self.raising:
            raise Interrupted

    def _end_at_last(self) -> None:
        """Have the process end in `LAST_S`; a thread could not be started in a signal handler."""
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, lambda *_: os._exit(self.status))
            signal.setitimer(signal.ITIMER_REAL, LAST_S)


@contextmanager
def handled(cancel: Cancel) -> Iterator[Signals]:
    """Inside the block the signals are handled; outside the main thread they are left alone."""
    signals = Signals(cancel)
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return
    known = [getattr(signal, name) for name in _REASONS if hasattr(signal, name)]
    # `nohup` has the hang-up ignored, and means it.
    numbers = [one for one in known if one == signal.SIGINT or _is_heeded(one)]
    before = {number: signal.signal(number, signals.handle) for number in numbers}
    try:
        with none_missed(numbers, lambda: bool(signals.number)):
            yield signals
    finally:
        # After a first signal the program is about to end: a second one is not to change how.
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if signals.number else handler)
        if signals.number and hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)


def _is_heeded(number: signal.Signals) -> bool:
    return signal.getsignal(number) is not signal.SIG_IGN


def _leave_the_terminal() -> None:
    """After a hang-up nobody reads what is written to the terminal, and writing would fail."""
    for stream in (sys.stdout, sys.stderr):
        if stream.isatty():
            devnull = os.open(os.devnull, os.O_WRONLY)
            os.dup2(devnull, stream.fileno())
            os.close(devnull)
