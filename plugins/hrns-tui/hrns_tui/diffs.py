"""A change of a file as the lines of a unified diff, bounded."""

from __future__ import annotations

from difflib import unified_diff
from itertools import islice

from hrns.messages import Diff

__all__ = ["diff_lines"]

_COMPARED_LIMIT = 200_000
"""Characters of two files beyond which they are not compared: that takes too long."""


def diff_lines(change: Diff, limit: int = 80) -> list[str]:
    """The first lines of the diff, and how many more there are."""
    old, new = change.old or "", change.new or ""
    if len(old) + len(new) > _COMPARED_LIMIT:
        return [f"({change.path}: {len(old)} characters become {len(new)})"]
    lines = unified_diff(old.splitlines(), new.splitlines(), change.path, change.path, lineterm="")
    shown = list(islice(lines, limit))
    left_out = sum(1 for _ in lines)
    return [*shown, f"(and {left_out} more lines)"] if left_out else shown
