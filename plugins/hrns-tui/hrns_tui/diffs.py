"""A change of a file line by line, each with its number, bounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice
from pathlib import PurePath

from hrns.messages import Diff

__all__ = ["MORE", "diff_lines"]

MORE = "+{} lines (Ctrl-O)"
"""How many lines are not shown, and the key that shows them."""

_COMPARED_LIMIT = 200_000
"""Characters of two files beyond which they are not compared: that takes too long."""
_TAB_COLUMNS = 4


def diff_lines(change: Diff, title: str, limit: int | None = None, more: str = MORE) -> list[str]:
    """The first lines of the change, and how many more there are.

    A line that goes has its old number and a minus, one that comes its new one and a plus.

    Parameters:
        title: what stands above; the path comes first if its name is not in that.
        limit: how many lines; None for all.
        more: says how many are left out, and where they are.
    """
    path = [] if PurePath(change.path).name in title else [change.path]
    old, new = change.old or "", change.new or ""
    if len(old) + len(new) > _COMPARED_LIMIT:
        return [*path, f"({len(old)} characters become {len(new)})"]
    lines = _numbered(_lines(old), _lines(new))
    shown = list(islice(lines, limit))
    left_out = list(lines)
    if len(left_out) == 1:  # it takes no more room than to say so
        return [*path, *shown, *left_out]
    if not shown and old != new:
        shown = ["(nothing but line ends)"]
    return [*path, *shown, *([more.format(len(left_out))] if left_out else [])]


def _lines(text: str) -> list[str]:
    """The lines as editors count them, without their ends."""
    lines = text.split("\n")
    whole = lines if lines[-1] else lines[:-1]
    return [line.rstrip("\r").expandtabs(_TAB_COLUMNS) for line in whole]


def _numbered(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """The lines that change and three around them; dots stand for what lies between."""
    width = len(str(max(len(old), len(new))))
    for count, group in enumerate(SequenceMatcher(None, old, new).get_grouped_opcodes()):
        if count:
            yield f"{'':{width}} ..."
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (f"{n:{width}}  {line}" for n, line in enumerate(new[j1:j2], j1 + 1))
                continue
            yield from (f"{n:{width}} -{line}" for n, line in enumerate(old[i1:i2], i1 + 1))
            yield from (f"{n:{width}} +{line}" for n, line in enumerate(new[j1:j2], j1 + 1))
