"""What is shown of a turn before it is finished: the end of it, above the prompt."""

from __future__ import annotations

import re
from functools import lru_cache
from time import monotonic

from attrs import frozen

from hrns.cli.printing import plain

from ..cells import cut, wrapped
from ..paint import Paint

__all__ = ["Live", "RunningCall", "live_lines", "without_ansi"]

_OUTPUT_ROWS = 5
_THOUGHT_ROWS = 4
_SOURCE_LIMIT = 6000
_CUT_EVERY = 1500
_CODE_ROWS = 40
_HEAD = re.compile(
    r"\s*(?:(?P<fence> {0,3}(?:```|~~~))[^\n]*\n"  # the line that opens a fence
    r"|[^\n]*\|[^\n]*\n[ :|-]*-[ :|-]*\n)"  # or the two above the rows of a table
)
_TOP_LINE = re.compile(r"\n(?=\S)")
_ANSI = re.compile(r"\x1b\[[0-9;:?<>=]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


@frozen
class RunningCall:
    """A tool call that is not answered yet.

    Parameters:
        title: what it does.
        since: when it began to run, or None if it does not: a person is asked about it.
        output: the end of what it printed.
        timed: whether its end is told of when it comes.
    """

    title: str
    since: float | None
    output: str = ""
    timed: bool = True


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
        lines += _answer(live.answer, width, rows, paint)
    for call in live.calls:
        lines += _call(call, width, paint)
    return lines[-rows:] if any(lines) else []


def without_ansi(text: str) -> str:
    """The text without whole escape sequences, as programs colour their output with."""
    return _ANSI.sub("", text)


def _thought(text: str, width: int, paint: Paint) -> list[str]:
    end = plain(text[-width * _THOUGHT_ROWS * 2 :]).strip()
    rows = wrapped(end, width, whole_words=False).split("\n")
    return [paint(line, "dim") for line in ["thinking:", *rows[-_THOUGHT_ROWS:]]]


def _answer(source: str, width: int, rows: int, paint: Paint) -> list[str]:
    """The blocks that are closed, which stay as they are until they leave, and the open one."""
    from .blocks import split_blocks

    *closed, last = split_blocks(source) if len(source) <= _SOURCE_LIMIT else [source]
    shown = [_closed(block, width, paint) for block in closed]
    shown.append(_rendered(_end_of(last, rows), width, paint))
    lines = "\n\n".join(text for text in shown if text).split("\n")
    # Blocks that are printed have one blank line between them; those rendered in one, some more.
    return [line for line, above in zip(lines, ["", *lines], strict=False) if line or above]


def _rendered(source: str, width: int, paint: Paint) -> str:
    from .markdown import render_markdown

    return render_markdown(source, width, paint)


_closed = lru_cache(maxsize=8)(_rendered)


def _end_of(block: str, rows: int) -> str:
    """As much of a long block as is shown, below the lines that say what it is."""
    found = _HEAD.match(block)
    head, rest = (found[0], block[found.end() :]) if found else ("", block)
    if found and found["fence"]:
        return head + _end_of_code(rest, rows)
    if len(block) <= _SOURCE_LIMIT:
        return block
    # It is cut at the same place for a while, or its lines would break anew with each word.
    start = (len(rest) - _SOURCE_LIMIT // 2) // _CUT_EVERY * _CUT_EVERY
    item = _TOP_LINE.search(rest, start)
    return head + rest[item.end() if item else start :]


def _end_of_code(code: str, rows: int) -> str:
    """The last rows; a little more, if that begins at a line that no string is likely to be in."""
    lines = code[-_SOURCE_LIMIT:].split("\n")
    first = max(0, len(lines) - rows - 1)
    for number in range(first, max(0, first - _CODE_ROWS), -1):
        if lines[number][:1].strip():
            return "\n".join(lines[number:])
    return "\n".join(lines[first:])


def _call(call: RunningCall, width: int, paint: Paint) -> list[str]:
    took = f"  {monotonic() - call.since:.0f} s" if call.since is not None else ""
    head = paint(cut(f"* {call.title}", width - 10), "bold") + paint(took, "dim")
    output = plain(without_ansi(call.output).replace("\t", "    ")).rstrip().splitlines()
    return [head, *(paint(cut(f"  {line}", width), "dim") for line in output[-_OUTPUT_ROWS:])]
