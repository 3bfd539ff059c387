"""Runs as async iterators, for programs that are async themselves.

The run goes on in a thread of its own, and its chunks come through the event loop::

    async for chunk in aio.run(loop, messages, model="..."):
        ...

    async for chunk in aio.send(session, "hello"):
        ...

Whoever stops to listen (`break`, a cancelled task, a time-out around it) ends the run, and waits
until it has ended: within a second, whatever a tool does.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator, Iterable

from .cancel import Cancel
from .chunks import Chunk
from .loop import Loop
from .messages import Message, UserMessage
from .session import Session

__all__ = ["run", "send"]

AHEAD = 256
"""Chunks that a run may be ahead of its consumer."""


def run(loop: Loop, messages: Iterable[Message], model: str = "") -> AsyncGenerator[Chunk, None]:
    """`Loop.run` as an async iterator; it raises what that raises."""
    cancel = Cancel()
    return _listen(loop.run(messages, model, cancel=cancel), cancel)


def send(session: Session, text: str | UserMessage) -> AsyncGenerator[Chunk, None]:
    """`Session.send` as an async iterator; it raises what that raises."""
    cancel = Cancel()
    return _listen(session.send(text, cancel=cancel), cancel)


class _Pump:
    """The thread that a run goes on in, and the way of its chunks to the event loop."""

    def __init__(self, chunks: Generator[Chunk, None, None]) -> None:
        self.came: asyncio.Queue[Chunk | BaseException | None] = asyncio.Queue()
        self.room = threading.Semaphore(AHEAD)
        self._chunks = chunks
        self._event_loop = asyncio.get_running_loop()
        self._listening = True
        self.thread = threading.Thread(target=self._run, name="hrns run", daemon=True)
        self.thread.start()

    def stop_listening(self) -> None:
        """Let the run go to its end without anybody to take its chunks."""
        self._listening = False
        self.room.release()

    def _run(self) -> None:
        ended: BaseException | None = None
        try:
            for chunk in self._chunks:
                if self._listening:
                    self.room.acquire()
                    self._tell(chunk)
        except BaseException as error:  # noqa: BLE001 - it belongs to who listens
            ended = error
        self._tell(ended)

    def _tell(self, what: Chunk | BaseException | None) -> None:
        try:
            self._event_loop.call_soon_threadsafe(self.came.put_nowait, what)
        except RuntimeError:  # the event loop is closed: nobody listens any more
            self._listening = False


async def _listen(
    chunks: Generator[Chunk, None, None], cancel: Cancel
) -> AsyncGenerator[Chunk, None]:
    pump = _Pump(chunks)
    try:
        while True:
            what = await pump.came.get()
            pump.room.release()
            if what is None:
                return
            if isinstance(what, BaseException):
                raise what
            yield what
    finally:
        cancel.set()
        pump.stop_listening()
        await asyncio.shield(asyncio.to_thread(pump.thread.join))
