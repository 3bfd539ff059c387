"""What of a run is written down, and when: the loop's chunks in, journal entries out.

The loop yields `message_done` before it runs a tool, and `tool_call_start` before the tool runs;
it goes on when its consumer asks for more. So what is written when a chunk comes is in the file
before what the chunk announces can happen.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from .chunks import (
    Chunk,
    EndChunk,
    ErrorChunk,
    MessageDoneChunk,
    ToolCallErrorChunk,
    ToolCallResultChunk,
    ToolCallStartChunk,
)
from .errors import SessionError
from .journal import Journal
from .messages import UserMessage

__all__ = ["Recorder"]


_SHARED = (
    "another hrns is at work in this session. What is said in either stays in its file; "
    "the one that writes last is gone on with"
)


class Recorder:
    """Writes a session down, from its first message on. If it cannot, it says so once.

    Parameters:
        start: gives the journal; called for the first message, if there is none yet.
        warn: is told why nothing is written.
        journal: the journal of a session that is gone on with.
    """

    def __init__(
        self,
        start: Callable[[], Journal],
        warn: Callable[[str], None],
        journal: Journal | None = None,
    ) -> None:
        self._start = start
        self._warn = warn
        self._journal = journal
        self._broken = False
        self._told = False
        self._facts: dict[str, str] = {}
        self._written: dict[str, str] = {}

    @property
    def journal(self) -> Journal | None:
        """The journal, once something was said."""
        return self._journal

    def switch(self, **facts: str) -> None:
        """What the session goes on with: provider, model, agent; written before a message."""
        self._facts = facts

    def rewind(self, leaf: str, **facts: str) -> None:
        """Go on behind an earlier entry of the journal: a fork, which is written down at once.

        Parameters:
            leaf: the entry, or "" for none.
            facts: what the session went on with there, as for `switch`: what it goes on with now
                is written into the new branch where it is something else.
        """
        if self._journal is not None:
            self._journal.leaf = leaf
            self._append("fork")  # else the file still ended in what is left
        self._written = facts

    def said(self, message: UserMessage) -> None:
        """Write down what the user said."""
        if self._facts != self._written:
            self._append("switch", **self._facts)
            self._written = self._facts
        self._append("message", message=message)

    def saw(self, chunk: Chunk, changing: Collection[str]) -> None:
        """Write down what a chunk announces.

        Parameters:
            changing: the names of the tools that change something: that one of them was started
                must be known also after a power cut.
        """
        match chunk:
            case MessageDoneChunk(message):
                self._append("message", message=message)
            case ToolCallStartChunk(call_id, name, arguments, title):
                self._append(
                    "started", call_id=call_id, name=name, arguments=arguments, title=title
                )
                if name in changing:
                    self._sync()
            case ToolCallResultChunk(tool_args=arguments, result=result):
                self._append("result", result=result, arguments=arguments)
            case ToolCallErrorChunk(tool_args=arguments, result=result):
                self._append("result", result=result, arguments=arguments, error=True)
            case ErrorChunk(text, reason, http_status):
                self._append("error", text=text, reason=reason, http_status=http_status)
            case EndChunk(reason, text):
                self._append("end", reason=reason, text=text)
                self._sync()
            case _:
                pass

    def close(self) -> None:
        """Close the file."""
        if self._journal is not None:
            self._journal.close()

    def _append(self, kind: str, **fields: object) -> None:
        if self._broken:
            return
        try:
            if self._journal is None:
                self._journal = self._start()
            self._journal.append(kind, **fields)
            if self._journal.shared and not self._told:
                self._told = True
                self._warn(_SHARED)
        except SessionError as error:
            self._broken = True
            self._warn(f"this session is not saved from here on: {error}")

    def _sync(self) -> None:
        if self._journal is not None and not self._broken:
            try:
                self._journal.sync()
            except OSError as error:
                self._broken = True
                self._warn(f"this session is not saved from here on: {error}")
