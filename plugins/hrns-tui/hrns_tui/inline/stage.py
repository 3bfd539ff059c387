"""Between the thread that works and the thread that draws: text that is finished, and the tail.

The worker puts finished text and says that the tail changed; the drawing thread takes all of it
at most twenty times a second, so that a block and the tail that it came from change in one write.
A tail that takes long to draw is drawn less often.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from threading import Lock
from time import monotonic, sleep, thread_time

from .drawing import Frame
from .live import Live

__all__ = ["Stage"]

_TICK_S = 0.05
_COST_FACTOR = 8
"""A tail is drawn again after so many times what it took to draw it, if that is later."""
_AWAY_S = 0.1
_AT_ONCE = 16 * 1024
_WAITING_LIMIT = 64 * 1024
"""Characters of finished text that may wait to be written before the worker has to."""


class Stage:
    """What is shown above the prompt.

    `lock` is held while finished text leaves the tail: whoever holds it sees both or neither.
    `snapshot` gives the tail as it is now; it is called in the drawing thread, under the lock.
    `drawn_at` is when it was drawn last.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.live = Live()
        self.snapshot: Callable[[], Live] = Live
        self._frame: Frame | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._texts: deque[str] = deque()
        self._waiting = 0
        self._woken = False
        self._cost_s = 0.0
        self._ticked_at = 0.0
        self.drawn_at = 0.0

    def open(self, frame: Frame) -> None:
        """Begin to draw, in the thread that calls."""
        self._frame = frame
        self._loop = asyncio.get_running_loop()
        self.wake()

    def close(self) -> None:
        """Write what is left, above where the frame was; nothing is drawn from here on."""
        if self._frame is not None and self._texts:
            self._frame.commit(self._take(None))
        self._frame = None

    def call(self, function: Callable[[], object]) -> None:
        """Have the drawing thread do something soon, behind what was put; from any thread."""
        if self._loop is not None and self._frame is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._call, function)

    def _call(self, function: Callable[[], object]) -> None:
        frame = self._frame
        if frame is None or frame.context is None:
            return
        if self._texts and not frame.has_to_wait:
            self._draw(frame)
        # prompt_toolkit finds its application through a context variable.
        frame.context.copy().run(function)

    def put(self, text: str) -> None:
        """Write whole lines for good, or a control sequence; `pause` keeps them from piling up."""
        for piece in _pieces(text):
            self._waiting += len(piece)
            self._texts.append(piece)
        self.wake()

    def pause(self) -> None:
        """Wait while the drawing thread is behind."""
        while self._waiting > _WAITING_LIMIT and self._frame is not None:
            sleep(_TICK_S / 10)

    def wake(self) -> None:
        """Say that there is something to draw; callable from any thread."""
        if not self._woken and self._loop is not None and not self._loop.is_closed():
            self._woken = True
            self._loop.call_soon_threadsafe(self._schedule)

    def _schedule(self) -> None:
        loop = asyncio.get_running_loop()
        rest = self._ticked_at + max(_TICK_S, _COST_FACTOR * self._cost_s) - monotonic()
        if self._frame is not None and self._frame.has_to_wait:
            rest = _AWAY_S
        if rest > 0:
            loop.call_later(rest, self._tick)
        else:
            self._tick()

    def _tick(self) -> None:
        self._woken = False
        if self._frame is None:
            return
        if self._frame.has_to_wait:
            self._schedule()
            return
        self._draw(self._frame)
        if self._texts:
            self.wake()

    def _draw(self, frame: Frame) -> None:
        with self.lock:
            text = self._take(_AT_ONCE)
            before, self.live = self.live, self.snapshot()
        if text or self.live != before:
            began = thread_time()
            frame.commit(text)
            self._cost_s = thread_time() - began
            self.drawn_at = monotonic()
        self._ticked_at = monotonic()

    def _take(self, limit: int | None) -> str:
        taken: list[str] = []
        size = 0
        while self._texts and (limit is None or size < limit):
            taken.append(self._texts.popleft())
            size += len(taken[-1])
        self._waiting -= size
        return "".join(taken)


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces that are each written at once.

    The frame is drawn between them, below what was written: so each ends a line, however long.
    """
    start = 0
    while start < len(text):
        behind = text.rfind("\n", start, start + _AT_ONCE) + 1
        behind = behind or text.find("\n", start + _AT_ONCE) + 1 or len(text)
        yield text[start:behind]
        start = behind
