"""Long text in pages: what fits is shown, what does not is told."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import islice

from attrs import frozen

__all__ = ["PAGE_BYTES", "PAGE_LINES", "page", "shortened"]

PAGE_LINES = 2000
PAGE_BYTES = 50 * 1024
LINE_CHARACTERS = 2000


@frozen
class _Shown:
    lines: list[str]
    more: bool


def page(lines: Iterable[str], offset: int, limit: int, total: int | None) -> str:
    """Some lines, and a footer that says which, and how to go on.

    Parameters:
        lines: all lines, without their ends; they are read no further than needed.
        offset: the first line to show, from 1.
        limit: how many lines at most; `PAGE_BYTES` bound them as well.
        total: how many there are, or None if nobody counted.
    """
    shown = _fitting(islice(lines, min(offset - 1, sys.maxsize), None), limit)
    if not shown.lines:
        return f"[the file has fewer than {offset} lines]"
    last = offset - 1 + len(shown.lines)
    of = "" if total is None else f" of {total}"
    how = f"go on with offset={last + 1}" if shown.more else "the end of the file"
    return "\n".join([*shown.lines, f"[lines {offset} to {last}{of}; {how}]"])


def shortened(line: str, limit: int = LINE_CHARACTERS) -> str:
    """The line, or its beginning and that it goes on."""
    return line if len(line) <= limit else f"{line[:limit]} [... this line is longer]"


def _fitting(lines: Iterable[str], limit: int) -> _Shown:
    shown: list[str] = []
    room = PAGE_BYTES
    for line in lines:
        short = shortened(line)
        room -= len(short.encode("utf-8", "replace")) + 1
        if len(shown) == limit or (room < 0 and shown):
            return _Shown(shown, more=True)
        shown.append(short)
    return _Shown(shown, more=False)
