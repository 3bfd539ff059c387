"""Stopping a run: a flag with wakers.

`threading.Event` takes a lock that is not re-entrant, so setting one in a signal handler can hang
the very thread that waits on it. Here is no lock: lists append and remove atomically, and
`queue.SimpleQueue.put` may be called from a signal handler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue

from .errors import Cancelled

__all__ = ["Cancel"]


class Cancel:
    """A flag that is raised once, from any thread or signal handler, and wakes who waits."""

    __slots__ = ("_reason", "_wakers")

    def __init__(self) -> None:
        self._reason: str | None = None
        self._wakers: list[Callable[[], object]] = []

    def __repr__(self) -> str:
        return f"Cancel({self._reason!r})"

    def set(self, reason: str = "interrupted") -> None:
        """Raise the flag and call every waker; the first reason stays."""
        if self._reason is None:
            self._reason = reason
            for wake in self._wakers.copy():
                wake()

    def is_set(self) -> bool:
        """Whether the flag is raised."""
        return self._reason is not None

    @property
    def reason(self) -> str:
        """Why it was raised, or "" while it is not."""
        return self._reason or ""

    def check(self) -> None:
        """Raise `Cancelled` if the flag is raised."""
        if self._reason is not None:
            raise Cancelled(self._reason)

    @contextmanager
    def waker(self, wake: Callable[[], object]) -> Iterator[None]:
        """Inside the block `wake` is called when the flag is raised (at once if it is already).

        `wake` runs in the thread or signal handler that raises the flag: it must be quick, take
        no lock, and bear being called twice.
        """
        self._wakers.append(wake)
        try:
            if self._reason is not None:
                wake()
            yield
        finally:
            self._wakers.remove(wake)

    def wait(self, seconds: float) -> bool:
        """Sleep for some seconds, or less if the flag is raised; returns whether it is."""
        bell: SimpleQueue[None] = SimpleQueue()

        def ring() -> None:
            bell.put(None)

        with self.waker(ring), suppress(Empty):
            bell.get(timeout=max(0.0, seconds))
        return self.is_set()
