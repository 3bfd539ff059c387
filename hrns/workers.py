"""Daemon threads that are kept for the next piece of work.

Starting a thread costs several times what handing work to a waiting one does, and a turn would
start three. A piece of work that never comes back keeps its thread; the next gets another.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from contextvars import Context
from queue import SimpleQueue
from typing import TypeAlias

__all__ = ["Workers"]

_Work: TypeAlias = Callable[[], Callable[[], object] | None]
_Inbox: TypeAlias = SimpleQueue[tuple[str, _Work] | None]


class Workers:
    """Threads for the pieces of work of one owner, as many as are busy at once.

    They end when they are closed or nobody holds them any more. Each piece begins with empty
    context variables, as it would on a thread of its own.
    """

    def __init__(self) -> None:
        self._idle = _Idle()
        self._finalizer = weakref.finalize(self, _dismiss, self._idle)
        self._finalizer.atexit = False  # daemon threads hold nothing up

    def start(self, name: str, work: _Work) -> None:
        """Run `work` on a thread of this name, and then what it returned, if that tells of its end.

        When the end is told, the thread may already be asked to do the next piece: so telling must
        not block. Neither may raise.
        """
        try:
            inbox = self._idle.inboxes.pop()
        except IndexError:
            inbox = SimpleQueue()
            threading.Thread(
                target=_serve, args=(inbox, self._idle), name=name, daemon=True
            ).start()
        inbox.put((name, work))

    def close(self) -> None:
        """Let the threads end: the waiting ones now, the others when their work is done."""
        self._finalizer()


class _Idle:
    """The threads that wait, by what they wait for. Lists append and pop atomically."""

    __slots__ = ("closed", "inboxes")

    def __init__(self) -> None:
        self.inboxes: list[_Inbox] = []
        self.closed = False


def _dismiss(idle: _Idle) -> None:
    idle.closed = True
    while True:
        try:
            inbox = idle.inboxes.pop()
        except IndexError:
            return
        inbox.put(None)


def _serve(inbox: _Inbox, idle: _Idle) -> None:
    while (job := inbox.get()) is not None:
        name, work = job
        threading.current_thread().name = name
        tell = Context().run(work)
        idle.inboxes.append(inbox)
        if tell is not None:
            tell()
        del job, work, tell  # what they hold must not live as long as the thread
        if idle.closed:
            _dismiss(idle)
