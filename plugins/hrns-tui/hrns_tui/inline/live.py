"""What is shown of a turn before it is finished: the end of it, above the prompt."""

from __future__ import annotations

import re
from time import monotonic

from attrs import frozen

from hrns.cli.printing import plain

from ..paint import Paint

__all__ = ["Live", "RunningCall", "live_lines", "without_ansi"]

_OUTPUT_ROWS = 5
_THOUGHT_ROWS = 4
_SOURCE_LIMIT = 6000
_ANSI = re.compile(r"\x1b\[[0-9;:?<>=]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


@frozen
class RunningCall:
    """A tool call that is not answered yet: since when, and the end of its output."""

    title: str
    since: float
    output: str = ""


@frozen
class Live:
    """A turn as far as it is not finished.

    Parameters:
        gap: whether a blank line belongs above it.
        thought: what the model thinks now.
        answer: Markdown that is not closed yet.
        calls: the tool calls that run.
    """

    gap: bool = False
    thought: str = ""
    answer: str = ""
    calls: tuple[RunningCall, ...] = ()


def live_lines(live: Live, width: int, rows: int, paint: Paint) -> list[str]:
    """The last rows, in escape sequences of colour and weight."""
    lines = [""] if live.gap else []
    if live.thought.strip():
        lines += _thought(live.thought, width, paint)
    if live.answer.strip():
        lines += _answer(live.answer, width, paint)
    for call in live.calls:
        lines += _call(call, width, paint)
    return lines[-rows:] if any(lines) else []


def without_ansi(text: str) -> str:
    """The text without whole escape sequences, as programs colour their output with."""
    return _ANSI.sub("", text)


def _thought(text: str, width: int, paint: Paint) -> list[str]:
    end = plain(text[-width * _THOUGHT_ROWS * 2 :]).strip()
    wrapped = [line[at : at + width] for line in end.splitlines() for at in _starts(line, width)]
    return [paint(line, "dim") for line in ["thinking:", *wrapped[-_THOUGHT_ROWS:]]]


def _starts(line: str, width: int) -> range:
    return range(0, max(len(line), 1), max(width, 1))


def _answer(source: str, width: int, paint: Paint) -> list[str]:
    from .markdown import render_markdown

    rows = render_markdown(_end_of(source), width, paint).split("\n")
    # Blocks that are printed have one blank line between them; those rendered in one, some more.
    return [row for row, above in zip(rows, ["", *rows], strict=False) if row or above]


def _end_of(source: str) -> str:
    """The end of a long block, below its first line if that opens a fence."""
    if len(source) <= _SOURCE_LIMIT:
        return source
    first = source[: source.find("\n") + 1]
    end = source[-_SOURCE_LIMIT:]
    end = end[end.find("\n") + 1 :]
    return first + end if first.lstrip().startswith(("```", "~~~")) else end


def _call(call: RunningCall, width: int, paint: Paint) -> list[str]:
    seconds = monotonic() - call.since
    head = paint(f"* {call.title}"[: width - 10], "bold") + paint(f"  {seconds:.0f} s", "dim")
    output = plain(without_ansi(call.output).replace("\t", "    ")).rstrip().splitlines()
    return [head, *(paint(f"  {line}"[:width], "dim") for line in output[-_OUTPUT_ROWS:])]
