"""What is shown: lines that scroll, and stay as they are once they are finished.

Nothing but the styles of this module steers the terminal: every text from elsewhere (a model, a
tool, an error, a file's name) goes through `plain`. Colour never carries meaning alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TextIO, TypeAlias

from hrns.chunks import (
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
from hrns.cli.printing import plain

from .paint import Theme
from .terminal import is_capable
from .wording import failure, how_it_went, one_line, told

__all__ = ["Screen", "wants_colour"]

Style: TypeAlias = Literal["", "dim", "bold", "red", "yellow"]

_CODES: Mapping[Style, str] = {"dim": "2", "bold": "1", "red": "31", "yellow": "33"}


def wants_colour(out: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether text there may be styled: a terminal that can, and nobody who would rather not."""
    return out.isatty() and is_capable(environ) and not environ.get("NO_COLOR")


class Screen:
    """Writes to a terminal.

    Parameters:
        out: where to.
        colour: whether escape sequences of colour and weight may be used.
    """

    def __init__(self, out: TextIO, *, colour: bool) -> None:
        self._out = out
        self._colour = colour
        self._block = ""
        self._open_line = ""
        self._held = ""
        self._titles: dict[str, str] = {}

    def show(self, chunk: Chunk) -> None:
        """Show one chunk of a run."""
        match chunk:
            case MessageChunk(text):
                self._flow("answer", text)
            case ReasoningChunk(text):
                self._flow("thinking", text, "dim")
            case MessageDoneChunk():
                self._end_line()
            case ToolCallStartChunk():
                self._start_call(chunk)
            case ToolCallErrorChunk() | ToolCallResultChunk():
                self._end_call(chunk)
            case ErrorChunk():
                self.error(failure(chunk))
            case EndChunk():
                self._end(chunk)
            case NoticeChunk() | DiscardChunk() | RetryChunk():
                self.notice(told(chunk))
            case _:
                pass

    def say(self, text: str) -> None:
        """Show plain text, on lines of its own."""
        self._lines("said", text)

    def notice(self, text: str) -> None:
        """Show what a person should know and that is no error."""
        self._lines("notice", f"note: {text}", "yellow")

    def error(self, text: str) -> None:
        """Show that something went wrong."""
        self._lines("error", f"error: {text}", "red")

    def gap(self) -> None:
        """End what is open, with a blank line below it: a prompt follows."""
        self._end_line()
        if self._block:
            self._write("\n")
        self._block = ""

    def prompted(self, text: str) -> None:  # noqa: ARG002 - it stands there as it was typed
        """A person wrote a line below what is shown."""
        self._block = "prompt"

    def recall(self, text: str) -> None:
        """Show what the person said before."""
        self._lines("prompt", f"> {text}")

    def clear(self) -> None:
        """Begin a conversation anew: nothing to do for lines that scroll."""

    def wipe(self) -> None:
        """What was written to a plain terminal stays there."""

    def copy(self, text: str) -> None:
        """A plain terminal has no clipboard: it is shown, to be copied from there."""
        self.say(text)

    def use_theme(self, theme: Theme) -> None:
        """Lines look the same on any background."""

    def _end(self, end: EndChunk) -> None:
        self._end_line()
        self._titles.clear()
        if end.reason == "cancelled":
            self.notice(end.text or "interrupted")
        elif end.reason in ("limit", "refused") and end.text:
            self.notice(end.text)

    def _flow(self, block: str, text: str, style: Style = "") -> None:
        """More of a text that comes in pieces; line breaks around the whole are left out."""
        text = plain(text)
        if self._open_line != block:
            text = text.lstrip("\n")
            if not text:
                return
            self._begin(block)
            self._open_line = block
            if block == "thinking":
                text = f"thinking: {text}"
        shown = (self._held + text).rstrip("\n")
        self._held = (self._held + text)[len(shown) :]
        self._write(shown, style)

    def _start_call(self, chunk: ToolCallStartChunk) -> None:
        title = one_line(chunk.title or chunk.tool_name)
        self._titles[chunk.call_id] = title
        self._begin("tools")
        self._write(f"* {title}", "bold")
        self._open_line = f"call {chunk.call_id}"

    def _end_call(self, chunk: ToolCallErrorChunk | ToolCallResultChunk) -> None:
        """Say on the line of the call how it went; on a line of its own if that is not open."""
        status = chunk.result.status
        title = self._titles.pop(chunk.call_id, "")
        if self._open_line != f"call {chunk.call_id}":
            self._begin("tools")
            self._write(f"  {title}" if title else f"* {one_line(chunk.tool_name)}")
        if status == "ok":
            self._write(" - ok\n")
        else:
            self._write(f" - {how_it_went(status, chunk.text)}\n", "red")
        self._open_line = ""

    def _lines(self, block: str, text: str, style: Style = "") -> None:
        self._begin(block)
        self._write(plain(text).rstrip("\n"), style)
        self._write("\n")

    def _begin(self, block: str) -> None:
        """Begin a line; a blank one above it where another kind of text stands there."""
        self._end_line()
        if self._block not in ("", block):
            self._write("\n")
        self._block = block

    def _end_line(self) -> None:
        if self._open_line:
            self._write("\n")
            self._open_line = self._held = ""

    def _write(self, text: str, style: Style = "") -> None:
        if self._colour and style and text:
            text = f"\x1b[{_CODES[style]}m{text}\x1b[0m"
        self._out.write(text)
        self._out.flush()
