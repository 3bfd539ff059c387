"""Printing chunks: the answer on standard output, everything else on standard error."""

from __future__ import annotations

import re
import sys
from typing import Protocol, TextIO

from ..chunks import (
    Chunk,
    DiscardChunk,
    EndChunk,
    ErrorChunk,
    MessageChunk,
    MessageDoneChunk,
    NoticeChunk,
    RetryChunk,
    ToolCallErrorChunk,
    ToolCallResultChunk,
    ToolCallStartChunk,
)
from ..messages import AssistantMessage

__all__ = ["JsonLinesPrinter", "Printer", "TextPrinter", "plain"]

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def plain(text: str) -> str:
    """The text with every character that could steer a terminal made visible or left out."""
    return _CONTROL.sub(lambda match: "" if match[0] == "\r" else "\ufffd", text)


class Printer(Protocol):
    """Shows the chunks of a run."""

    def show(self, chunk: Chunk) -> None:
        """Show one chunk; raises BrokenPipeError when the reader has gone."""


class TextPrinter:
    """The assistant's text as it comes; progress, notices and errors beside it.

    Parameters:
        out: where the text goes.
        err: where the rest goes.
        progress: whether tool calls are told.
        quiet: whether only errors are told.
    """

    def __init__(self, out: TextIO, err: TextIO, *, progress: bool, quiet: bool) -> None:
        self._out = out
        self._err = err
        self._progress = progress
        self._quiet = quiet
        self._clean = out.isatty()
        self._open_line = False

    def show(self, chunk: Chunk) -> None:
        """Show one chunk."""
        match chunk:
            case MessageChunk(text):
                self._write(text)
            case MessageDoneChunk(AssistantMessage()) | EndChunk():
                self._end_line()
            case ErrorChunk(text):
                self._say(f"hrns: error: {text}")
            case NoticeChunk(text) | RetryChunk(text=text) | DiscardChunk(text):
                self._notice(chunk, text)
            case ToolCallStartChunk() | ToolCallErrorChunk() | ToolCallResultChunk():
                self._tool(chunk)
            case _:
                pass

    def _write(self, text: str) -> None:
        if self._clean:
            text = plain(text)
        if text:
            self._out.write(text)
            self._out.flush()
            self._open_line = text[-1] != "\n"

    def _end_line(self) -> None:
        if self._open_line:
            self._out.write("\n")
            self._out.flush()
            self._open_line = False

    def _notice(self, chunk: Chunk, text: str) -> None:
        if self._quiet:
            return
        if isinstance(chunk, RetryChunk):
            text = f"{text}; trying again in {chunk.delay_s:.1f} s"
        self._say(f"hrns: {text}")

    def _tool(self, chunk: ToolCallStartChunk | ToolCallErrorChunk | ToolCallResultChunk) -> None:
        if not self._progress or self._quiet:
            return
        if isinstance(chunk, ToolCallStartChunk):
            self._say(f"* {chunk.title or chunk.tool_name}")
        elif isinstance(chunk, ToolCallErrorChunk) or chunk.status != "ok":
            first = chunk.text.strip().partition("\n")[0]
            self._say(f"  {chunk.tool_name}: {first[:200]}")

    def _say(self, text: str) -> None:
        if self._open_line and self._out.isatty():
            self._end_line()
        self._err.write(f"{plain(text)}\n")
        self._err.flush()


class JsonLinesPrinter:
    """Every chunk as one line of JSON.

    Parameters:
        out: where the lines go.
        head: the first line: `{"type": "start", ...}`.
    """

    def __init__(self, out: TextIO, head: str) -> None:
        from ..serial import dumps

        self._dumps = dumps
        self._out = out
        self._line(head)

    def show(self, chunk: Chunk) -> None:
        """Write one chunk."""
        self._line(self._dumps(chunk))

    def _line(self, text: str) -> None:
        self._out.write(f"{text}\n")
        self._out.flush()


def steady_streams() -> None:
    """Let standard output and error take any text, whatever the locale's encoding is."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
