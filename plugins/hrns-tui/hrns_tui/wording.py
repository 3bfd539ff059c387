"""How chunks are put in words, whatever shows them."""

from __future__ import annotations

from collections.abc import Mapping

from hrns.chunks import DiscardChunk, ErrorChunk, NoticeChunk, RetryChunk
from hrns.cli.printing import plain

from .cells import cells, cut

__all__ = ["failure", "how_it_went", "one_line", "told"]

_LINE_LIMIT = 200
"""Columns that are shown of a title, or of the first line of a tool's error."""

_ADVICE: Mapping[int | str, str] = {
    404: "/models lists what there is, /model goes on with another.",
    "authentication": "/connect asks for another key.",
    "context_overflow": "/fork goes back in the conversation, /new begins another.",
    "rate_limited": "Say it again later, or go on with another: /model, /provider.",
    "server_fault": "Say it again later, or go on with another: /model, /provider.",
    "broken_stream": "Say it again.",
    "length": "Say `go on`, or ask for less at once.",
}
"""What to try, by the status of the answer or the code of the error."""


def one_line(text: str, limit: int = _LINE_LIMIT) -> str:
    """The first line of a text, without what could steer a terminal, at a bounded length."""
    lines = plain(text).strip().splitlines() or [""]
    first = lines[0]
    if len(lines) > 1 or cells(first) > limit:
        return f"{cut(first, limit).rstrip()} ..."
    return first


def _reason_of(text: str) -> str:
    """What is left of a result's text where its status is told beside it."""
    return text.removeprefix("ERROR: ").removeprefix("this call was denied: ")


def how_it_went(status: str, text: str) -> str:
    """How a call went that did not go well: its status and the reason, no word of it twice."""
    reason = one_line(_reason_of(text))
    said = reason == status or reason.startswith((f"{status} ", f"{status}: "))
    return reason if said else f"{status}: {reason}"


def failure(chunk: ErrorChunk) -> str:
    """What went wrong, and what can be done about it at a prompt."""
    advice = _ADVICE.get(chunk.http_status) or _ADVICE.get(chunk.reason)
    return f"{chunk.text}\n{advice}" if advice else chunk.text


def told(chunk: NoticeChunk | DiscardChunk | RetryChunk) -> str:
    """What to tell a person."""
    match chunk:
        case NoticeChunk(text):
            return text
        case DiscardChunk(text):
            return f"what was shown of this reply is void: {text}"
        case RetryChunk(_, delay_s, text):
            return f"{text}; trying again in {delay_s:.1f} s"
