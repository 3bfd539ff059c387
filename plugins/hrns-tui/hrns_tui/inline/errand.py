"""Work that can be left behind: a command that waits for a server, and nobody waits with it."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread, local

from hrns.cancel import Cancel

__all__ = ["check_wanted", "run_errand"]

_here = local()


def run_errand(run: Callable[[], object], cancel: Cancel) -> None:
    """Run it in a thread of its own, to its end or until the flag is set.

    Raises:
        KeyboardInterrupt: the flag was set; the thread ends at its next `check_wanted`.
    """
    outcome: SimpleQueue[BaseException | None] = SimpleQueue()

    def work() -> None:
        _here.cancel = cancel
        try:
            run()
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            outcome.put(error)
        else:
            outcome.put(None)

    with cancel.waker(lambda: outcome.put(KeyboardInterrupt())):
        Thread(target=work, daemon=True, name="hrns-errand").start()
        error = outcome.get()
    if error is not None:
        raise error


def check_wanted() -> None:
    """Raise KeyboardInterrupt in a thread that nobody waits for any more."""
    cancel: Cancel | None = getattr(_here, "cancel", None)
    if cancel is not None and cancel.is_set():
        raise KeyboardInterrupt
