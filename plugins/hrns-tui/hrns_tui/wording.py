"""How chunks are put in words, whatever shows them."""

from __future__ import annotations

from hrns.chunks import DiscardChunk, NoticeChunk, RetryChunk
from hrns.cli.printing import plain

from .cells import cells, cut

__all__ = ["one_line", "reason_of", "told"]

_LINE_LIMIT = 200
"""Columns that are shown of a title, or of the first line of a tool's error."""


def one_line(text: str, limit: int = _LINE_LIMIT) -> str:
    """The first line of a text, without what could steer a terminal, at a bounded length."""
    lines = plain(text).strip().splitlines() or [""]
    first = lines[0]
    if len(lines) > 1 or cells(first) > limit:
        return f"{cut(first, limit)} ..."
    return first


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
