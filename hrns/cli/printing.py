"""Printing chunks: the answer on standard output, everything else on standard error."""

from __future__ import annotations

from typing import Protocol, TextIO

from ..chunks import (
    Chunk,
    DiscardChunk,
    EndChunk,
    ErrorChunk,
    MessageChunk,
    MessageDoneChunk,
    NoticeChunk,
    ReasoningChunk,
    RetryChunk,
    ToolCallErrorChunk,
    ToolCallResultChunk,
    ToolCallStartChunk,
)
from ..messages import AssistantMessage
from .streams import plain, steady_streams

__all__ = [
    "JsonLinesPrinter",
    "Narrator",
    "Output",
    "Printer",
    "TextPrinter",
    "plain",
    "steady_streams",
]


class Output(Protocol):
    """Where text goes: a stream, or a `PacedOutput`."""

    def write(self, text: str, /) -> object:
        """Take the text."""

    def flush(self) -> None:
        """Hand on what was taken."""

    def isatty(self) -> bool:
        """Whether a person sees it at once."""


class Printer(Protocol):
    """Shows the chunks of a run."""

    def show(self, chunk: Chunk) -> None:
        """Show one chunk; raises BrokenPipeError when the reader has gone."""


class Narrator:
    """What a person wants to know beside the answer: errors, notices, tool calls.

    Parameters:
        err: where it goes.
        progress: whether tool calls are told.
        quiet: whether only errors are told.
    """

    def __init__(self, err: TextIO, *, progress: bool, quiet: bool) -> None:
        self._err = err
        self._progress = progress and not quiet
        self._quiet = quiet
        self._said_why = False
        self._empty = False

    def show(self, chunk: Chunk) -> None:
        """Tell one chunk, if it is one to be told."""
        if isinstance(chunk, MessageChunk | ReasoningChunk):
            return  # as most are
        if isinstance(chunk, MessageDoneChunk) and isinstance(chunk.message, AssistantMessage):
            self._empty = not chunk.message.text.strip()
        for line in self._lines(chunk):
            self._err.write(f"{plain(line)}\n")
            self._err.flush()

    def _lines(self, chunk: Chunk) -> list[str]:
        match chunk:
            case ErrorChunk(text):
                self._said_why = True
                return [f"hrns: error: {text}"]
            case EndChunk():
                return self._ended(chunk)
            case NoticeChunk(text) | DiscardChunk(text) if not self._quiet:
                return [f"hrns: {text}"]
            case RetryChunk(delay_s=delay_s, text=text) if not self._quiet:
                return [f"hrns: {text}; trying again in {delay_s:.1f} s"]
            case ToolCallStartChunk() if self._progress:
                return [f"* {chunk.title or chunk.tool_name}"]
            case ToolCallErrorChunk(tool_name=name, text=text) if self._progress:
                return [_failed_call(name, text)]
            case ToolCallResultChunk(tool_name=name, text=text) if self._progress:
                return [] if chunk.status == "ok" else [_failed_call(name, text)]
            case _:
                return []

    def _ended(self, end: EndChunk) -> list[str]:
        if end.reason in ("limit", "refused", "cancelled") and not self._said_why:
            return [f"hrns: {end.text}"]
        unsaid = end.reason == "done" and self._empty and self._quiet  # else a notice says it
        return ["hrns: the model gave no answer"] if unsaid else []


def _failed_call(name: str, text: str) -> str:
    first = text.strip().partition("\n")[0]
    return f"  {name}: {first[:200]}"


class TextPrinter:
    """The assistant's text as it comes, and the rest beside it.

    Parameters:
        out: where the text goes; it is flushed where the text pauses.
        err: where the rest goes.
        progress: whether tool calls are told.
        quiet: whether only errors are told.
    """

    def __init__(self, out: Output, err: TextIO, *, progress: bool, quiet: bool) -> None:
        self._out = out
        self._narrator = Narrator(err, progress=progress, quiet=quiet)
        self._is_terminal = out.isatty()
        self._open_line = False

    def show(self, chunk: Chunk) -> None:
        """Show one chunk."""
        match chunk:
            case MessageChunk(text):
                self._write(plain(text) if self._is_terminal else text)
                return
            case ReasoningChunk():
                return
            case MessageDoneChunk(AssistantMessage()) | ErrorChunk() | EndChunk():
                self._end_line()
            case NoticeChunk() | RetryChunk() | DiscardChunk() if self._is_terminal:
                self._end_line()
            case _:
                pass
        self._out.flush()
        self._narrator.show(chunk)

    def _write(self, text: str) -> None:
        if text:
            self._out.write(text)
            self._open_line = text[-1] != "\n"

    def _end_line(self) -> None:
        if self._open_line:
            self._write("\n")


class JsonLinesPrinter:
    """Every chunk as one line of JSON.

    Parameters:
        out: where the lines go.
        head: the first line: `{"type": "start", ...}`.
    """

    def __init__(self, out: Output, head: str) -> None:
        from ..serial import dumps

        self._dumps = dumps
        self._out = out
        self._line(head)

    def show(self, chunk: Chunk) -> None:
        """Write one chunk."""
        self._line(self._dumps(chunk))

    def _line(self, text: str) -> None:
        self._out.write(f"{text}\n")
