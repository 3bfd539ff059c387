"""What a turn takes: time, calls, tokens."""

from __future__ import annotations

from collections.abc import Callable

from hrns.messages import Usage

__all__ = ["Tally", "short_count"]

_WORTH_TELLING_S = 5.0


class Tally:
    """Counts for one turn after the other; the time of a person's answers is not counted.

    Parameters:
        clock: gives the seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._waits_since: float | None = None
        self.begin()

    def begin(self) -> None:
        """A turn begins."""
        self._since = self._clock()
        self._calls = 0
        self._tokens = 0

    def call(self) -> None:
        """A tool was called."""
        self._calls += 1

    def count(self, usage: Usage) -> None:
        """A request ended."""
        self._tokens += usage.input + usage.output

    def wait(self) -> None:
        """A person is asked."""
        self._waits_since = self._clock()

    def go_on(self) -> None:
        """The person answered."""
        if self._waits_since is not None:
            self._since += self._clock() - self._waits_since
            self._waits_since = None

    def told(self) -> str:
        """What it took; "" after a short turn."""
        seconds = self._clock() - self._since
        if seconds < _WORTH_TELLING_S:
            return ""
        parts = [_time(int(seconds))]
        parts += [f"{self._calls} call{'s' * (self._calls != 1)}"] if self._calls else []
        parts += [f"{short_count(self._tokens)} tokens"] if self._tokens else []
        return " · ".join(parts)


def short_count(tokens: int) -> str:
    """A number of tokens in few characters."""
    if tokens < 1000:
        return str(tokens)
    return f"{tokens / 1000:.1f}k" if tokens < 100_000 else f"{tokens // 1000}k"


def _time(seconds: int) -> str:
    return f"{seconds // 60} min {seconds % 60} s" if seconds >= 60 else f"{seconds} s"
