"""Rows as lines, the columns one below the other."""

from __future__ import annotations

from collections.abc import Sequence

from .cells import cells, padded

__all__ = ["marked", "table"]


def marked(name: str, current: str) -> str:
    """The name, with a mark if it is the current one."""
    return f"* {name}" if name == current else f"  {name}"


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """The rows as lines; "" if there are none."""
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    lines = ("   ".join(map(padded, row, widths)).rstrip() for row in rows)
    return "\n".join(lines)
