"""Signals that Python would handle too late.

Python takes note of a signal and handles it when the main thread looks. One that comes between the
last look and the system call that waits, or that another thread gets, interrupts nothing, and
would be handled when the wait is over.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

__all__ = ["none_missed"]

AGAIN_S = 0.1
"""Seconds after a signal when it is sent again if it was not handled."""


@contextmanager
def none_missed(numbers: Iterable[int], is_handled: Callable[[], bool]) -> Iterator[None]:
    """Inside the block the first of the signals is handled also if it comes as a wait begins.

    A thread hears of it too, and interrupts the main thread until `is_handled()`. On Windows, where
    nothing waits for long, and outside the main thread, which has the signals, this does nothing.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or not hasattr(signal, "pthread_kill"):
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    earlier = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(
        target=_pass_on,
        args=(reading, frozenset(numbers), is_handled),
        name="hrns signals",
        daemon=True,
    ).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(earlier)
        os.close(writing)


def _pass_on(reading: int, numbers: frozenset[int], is_handled: Callable[[], bool]) -> None:
    """Send what is read there to the main thread; to be ended by closing the other end."""
    main = threading.main_thread().ident
    assert main is not None, "it runs"  # noqa: S101
    while heard := os.read(reading, 1):
        time.sleep(AGAIN_S)
        if heard[0] in numbers and not is_handled():
            signal.pthread_kill(main, heard[0])  # which is heard, too
    os.close(reading)
