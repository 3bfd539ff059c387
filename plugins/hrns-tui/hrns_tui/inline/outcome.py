"""What stays of a tool call: how it went, how long it ran, the end of its output, its change."""

from __future__ import annotations

import re

from hrns.chunks import ToolCallErrorChunk, ToolCallResultChunk
from hrns.cli.printing import plain
from hrns.messages import Diff, Terminal

from ..cells import cells, cut, wrapped
from ..diffs import MORE, diff_lines
from ..paint import Paint, Style
from ..wording import how_it_went
from .live import RunningCall, without_ansi

__all__ = ["outcome_rows"]

_DIFF_ROWS = 40
_COMMAND_ROWS = 4
_SHELL_ROWS = 200
_TIMED = re.compile(r" after \d+(\.\d+)? s\b")
"""How a tool tells itself how long it ran."""
_SHELL = "!"
"""The name under which a person's own commands run."""


def outcome_rows(
    call: RunningCall,
    chunk: ToolCallErrorChunk | ToolCallResultChunk,
    now: float,
    width: int,
    paint: Paint,
) -> list[str]:
    """The rows, in escape sequences of colour and weight; none is longer than the width."""
    status = chunk.result.status
    how: tuple[str, Style] = ("  ok", "good")
    if status != "ok":
        how = (f"  {how_it_went(status, chunk.text)}", "bad")
    said: list[tuple[str, Style]] = [(f"* {call.title}", "bold"), how]
    took = _time(call, now) if status != "denied" and not _TIMED.search(how[0]) else ""
    last = wrapped("".join(text for text, _ in said), width, whole_words=False).split("\n")[-1]
    gap = "  " if cells(f"{last}  {took}") <= width else "\n"  # a number and its unit stay together
    line = paint.wrapped(said, width) + (f"{gap}{paint(took, 'dim')}" if took else "")
    return [line, *_below(call, chunk, width, paint)]


def _time(call: RunningCall, now: float) -> str:
    """How long the call ran; "" if it did not, or nobody knows."""
    return f"{now - call.since:.1f} s" if call.timed and call.since is not None else ""


def _below(
    call: RunningCall, chunk: ToolCallErrorChunk | ToolCallResultChunk, width: int, paint: Paint
) -> list[str]:
    match chunk.result.display:
        case Diff() as diff:
            return [paint.diff(diff_lines(diff, call.title, _DIFF_ROWS))]
        case Terminal(output=output) if chunk.tool_name == _SHELL:
            return [paint(f"  {line}") for line in _end(output, _SHELL_ROWS)]
        case Terminal(output=output):
            return [paint(_fitted(f"  {row}", width), "dim") for row in _end(output, _COMMAND_ROWS)]
        case _:
            return []


def _end(output: str, rows: int) -> list[str]:
    """The last rows of what a command printed, below how many there are before them."""
    text = plain(without_ansi(output).expandtabs()).strip("\n").rstrip()
    lines = text.split("\n") if text else []
    left_out = len(lines) - rows
    return lines if left_out <= 1 else [MORE.format(left_out), *lines[-rows:]]


def _fitted(row: str, width: int) -> str:
    return row if cells(row) <= width else f"{cut(row, width - 4)} ..."
