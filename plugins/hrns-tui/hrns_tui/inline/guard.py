"""Which key may answer a question: one that a hand pressed on purpose.

A key counts only on an empty line, a moment after the question appeared and after the key before
it, and if no other follows at once. All else is typing, and goes to the line.
"""

from __future__ import annotations

from time import monotonic

__all__ = ["FOLLOWED_S", "KeyGuard"]

_SETTLE_S = 0.4
FOLLOWED_S = 0.08
"""How long it takes until no other key followed."""


class KeyGuard:
    """Remembers when keys were pressed, and the one that is waited with."""

    def __init__(self) -> None:
        self.waiting = ""
        self._last = 0.0
        self._before = 0.0

    def pressed(self) -> str:
        """A key was pressed, whichever; returns the one that is waited with, which was typing."""
        self._before, self._last = self._last, monotonic()
        held, self.waiting = self.waiting, ""
        return held

    def may_answer(self, shown_at: float) -> bool:
        """Whether the key that was pressed last may answer a question shown at that time."""
        now = monotonic()
        return min(now - shown_at, now - self._before) >= _SETTLE_S
