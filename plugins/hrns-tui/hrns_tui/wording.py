"""How chunks are put in words, whatever shows them."""

from __future__ import annotations

from textwrap import fill

from hrns.chunks import DiscardChunk, NoticeChunk, RetryChunk
from hrns.cli.printing import plain

__all__ = ["one_line", "reason_of", "told", "wrapped"]

_LINE_LIMIT = 200
"""Characters that are shown of a title, or of the first line of a tool's error."""


def one_line(text: str, limit: int = _LINE_LIMIT) -> str:
    """The first line of a text, without what could steer a terminal, at a bounded length."""
    lines = plain(text).strip().splitlines() or [""]
    first = lines[0]
    if len(lines) > 1 or len(first) > limit:
        return f"{first[:limit]} ..."
    return first


def wrapped(text: str, width: int) -> str:
    """The text with lines that are too long broken between words, indented as they began."""
    return "\n".join(
        _broken(line, width) if len(line) > width else line for line in text.split("\n")
    )


def _broken(line: str, width: int) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    return fill(
        line,
        max(width, len(indent) + 10),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def reason_of(text: str) -> str:
    """What is left of a result's text where its status is told beside it."""
    return text.removeprefix("ERROR: ").removeprefix("this call was denied: ")


def told(chunk: NoticeChunk | DiscardChunk | RetryChunk) -> str:
    """What to tell a person."""
    match chunk:
        case NoticeChunk(text):
            return text
        case DiscardChunk(text):
            return f"what was shown of this reply is void: {text}"
        case RetryChunk(_, delay_s, text):
            return f"{text}; trying again in {delay_s:.1f} s"
