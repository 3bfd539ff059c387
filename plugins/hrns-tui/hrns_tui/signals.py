"""What the signals do: end the turn that runs, or the program.

No exception is raised inside a turn: a signal sets the turn's flag, and the turn ends by itself
with everything in its place. Between turns a signal raises, where whatever blocks should end.
"""

from __future__ import annotations

import os
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Any

from hrns.cancel import Cancel
from hrns.missed import none_missed

__all__ = ["ENDING", "handled", "leaving_on_signals", "let_go", "turn_signals"]

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""The signals that end the program."""


@contextmanager
def leaving_on_signals() -> Iterator[None]:
    """Inside the block SIGTERM and SIGHUP end the program in good order: 128 + their number."""

    def leave(number: int, _frame: FrameType | None) -> None:
        let_go(number)
        raise SystemExit(128 + number)

    with handled(leave, ENDING):
        yield


@contextmanager
def turn_signals(cancel: Cancel) -> Iterator[None]:
    """Inside the block SIGINT sets `cancel`; so do SIGTERM and SIGHUP, which then end the program.

    Raises:
        SystemExit: at the end of the block, after SIGTERM or SIGHUP.
    """
    ending: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        let_go(number)
        if number in ENDING:
            ending.append(number)
        cancel.set("interrupted" if number == signal.SIGINT else "terminated")

    numbers = (signal.SIGINT, *ENDING)
    try:
        with handled(stop, numbers), none_missed(numbers, cancel.is_set):
            yield
    finally:
        if ending:
            raise SystemExit(128 + ending[0])


@contextmanager
def handled(
    handler: Callable[[int, FrameType | None], Any], numbers: tuple[int, ...]
) -> Iterator[None]:
    """Inside the block the signals go to the handler. Only the main thread can have them."""
    # `nohup` has the hang-up ignored, and means it.
    heeded = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]
    heeded = heeded if current_thread() is main_thread() else []
    before = {number: signal.signal(number, handler) for number in heeded}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def let_go(number: int) -> None:
    """After a hang-up nobody reads what is written to the terminal, and writing it would fail.

    Where it was only the signal, the terminal is still there, and to be left in order.
    """
    if number != getattr(signal, "SIGHUP", None):
        return
    devnull = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that is gone is a device, but says that it is no terminal.
        if stat.S_ISCHR(os.fstat(stream.fileno()).st_mode) and not os.isatty(stream.fileno()):
            os.dup2(devnull, stream.fileno())
    os.close(devnull)
