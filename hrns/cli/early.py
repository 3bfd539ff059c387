"""Ctrl-C before a command is ready for it, and after.

Python raises KeyboardInterrupt wherever it is. While modules are imported that is often a callback
of the import system: there it is printed, lost, and may leave the import lock taken for ever. As
nothing was begun yet, the process ends at once instead. While Python shuts down it would only
print a traceback: everything is done by then, and the process ends at once as well.
"""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType

__all__ = ["end_at_once", "raise_again"]


def end_at_once(status: int = 128 + signal.SIGINT) -> None:
    """From here on Ctrl-C ends the process with a status, unless it is ignored or handled."""
    if _is_ours_to_change(signal.default_int_handler) or _is_ours_to_change(_end):
        _end.status = status
        signal.signal(signal.SIGINT, _end)


def raise_again() -> None:
    """From here on Ctrl-C raises KeyboardInterrupt, if `end_at_once` was why it did not."""
    if _is_ours_to_change(_end):
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_ours_to_change(handler: object) -> bool:
    in_main = threading.current_thread() is threading.main_thread()
    return in_main and signal.getsignal(signal.SIGINT) is handler


class _End:
    """The handler: ends the process with a status."""

    status = 0

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        os._exit(self.status)


_end = _End()
