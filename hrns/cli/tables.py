"""What the listing commands print: aligned columns, or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from .streams import plain

__all__ = ["pretty", "table"]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The rows under their head, the columns aligned; an empty cell is shown as `-`."""
    lines = [list(head), *([plain(cell) or "-" for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def pretty(value: object) -> str:
    """A value as indented JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False)
