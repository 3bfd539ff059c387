"""Output that reaches its reader within a blink, and not in a system call a word.

A stream of small deltas costs its reader a wake-up for each write. Here writes are gathered and
handed on by a thread, every `PACE_S` while there are any: nothing that was written waits longer,
also when nothing follows it.
"""

from __future__ import annotations

import threading
from contextlib import nullcontext, suppress
from queue import SimpleQueue
from time import sleep
from typing import TextIO

__all__ = ["PACE_S", "PacedOutput"]

PACE_S = 0.02
"""Seconds that written text may wait."""


class PacedOutput:
    """Gathers writes to a stream. What the stream raises is raised by the next call.

    Parameters:
        stream: where the text goes; nobody else writes to it meanwhile.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._pieces: list[str] = []
        self._bell: SimpleQueue[bool] = SimpleQueue()
        self._lock = threading.Lock()
        self._fault: OSError | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> PacedOutput:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with suppress(OSError) if kind else nullcontext():
            self.close()

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self._stream.isatty()

    def write(self, text: str) -> None:
        """Take the text; it is on its way within `PACE_S`.

        Raises:
            OSError: an earlier text could not be written.
        """
        if self._fault is not None:
            raise self._fault
        self._pieces.append(text)
        if len(self._pieces) == 1:
            self._wake()

    def flush(self) -> None:
        """Hand on everything now.

        Raises:
            OSError: it could not be written, or an earlier text could not.
        """
        self._hand_on()
        if self._fault is not None:
            raise self._fault

    def close(self) -> None:
        """Hand on everything and end the thread; the stream stays open."""
        self._bell.put(False)
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self.flush()

    def _wake(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="hrns output", daemon=True)
            self._thread.start()
        self._bell.put(True)

    def _run(self) -> None:
        while self._bell.get():
            sleep(PACE_S)
            self._hand_on()

    def _hand_on(self) -> None:
        with self._lock:
            # What is appended meanwhile is behind what is taken: nothing is lost, or out of order.
            taken = len(self._pieces)
            text = "".join(self._pieces[:taken])
            del self._pieces[:taken]
            if self._pieces:
                self._bell.put(True)
            try:
                self._stream.write(text)
                self._stream.flush()
            except OSError as error:
                self._fault = error
