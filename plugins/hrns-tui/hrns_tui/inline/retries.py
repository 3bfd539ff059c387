"""What is told of requests that failed and are made again."""

from __future__ import annotations

from collections.abc import Callable

from hrns.chunks import DiscardChunk, RetryChunk

from ..cells import cells, cut
from ..wording import one_line

__all__ = ["Retries"]

_COLUMNS = (80, 60, 40, 20)
"""How much is told of a reason where there is no room for all of it."""


class Retries:
    """Those of one reply: told in place while they go on, and in one line when that is over.

    Parameters:
        clock: gives the seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.tries = 0
        self._going: tuple[int, float, str] | None = None
        self._reason = ""
        self._void = ""
        self._stands = False

    def put(self) -> None:
        """A part of the reply was printed."""
        self._stands = True

    def discard(self, chunk: DiscardChunk) -> None:
        """The reply broke off; what was printed of it stays there, and is void."""
        if self._stands:
            self._void, self._stands = chunk.text, False

    def retry(self, chunk: RetryChunk) -> None:
        """The request will be made again."""
        self.tries = chunk.attempt
        self._reason = chunk.text
        self._going = (chunk.attempt, self._clock() + chunk.delay_s, one_line(chunk.text))

    def answered(self) -> None:
        """Something came of it."""
        self._going = None

    def state(self, limit: int) -> list[str]:
        """What goes on now, and why, the longest words first; empty if nothing is asked again.

        Parameters:
            limit: how often it is made again at most.
        """
        if self._going is None:
            return []
        attempt, until, reason = self._going
        left = until - self._clock()
        when = f" in {left:.0f} s" if left >= 0.5 else ""
        head = f"retry {attempt}/{max(limit, attempt)}{when}"
        cuts = [f"{cut(reason, room).rstrip()} ..." for room in _COLUMNS if cells(reason) > room]
        return [*(f"{head}: {why}" for why in [reason, *cuts]), head]

    def over(self, *, failed: bool = False) -> str:
        """What to say of them, once, before something else is printed.

        Parameters:
            failed: whether no reply came at last, of which the error tells.
        """
        tries, reason, void = self.tries, self._reason, self._void
        self.done()
        if void:
            return f"what stands above of this reply is void, it broke off: {one_line(void)}"
        if not tries or failed:
            return ""
        return f"asked again{f' {tries} times' if tries > 1 else ''}: {one_line(reason)}"

    def done(self) -> None:
        """The reply is complete."""
        self.tries, self._void, self._stands, self._going = 0, "", False, None
