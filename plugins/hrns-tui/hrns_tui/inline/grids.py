"""Tables of Markdown, of which nothing is lost in a narrow window."""

from __future__ import annotations

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import TableElement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

__all__ = ["Grid"]

_LEAST = 8
"""Columns that a cell has at least, unless it needs fewer."""
_WORD = 16
"""Columns of a word beyond which it may be broken, if the table fits by that."""
_BETWEEN = 2
"""Columns that a column of the table takes beside its cells."""


class Grid(TableElement):
    """A table whose cells are wrapped; where they would be too narrow, `name: value` for each."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        top = self.header.row if self.header else None
        head = [cell.content for cell in top.cells] if top else []
        rows = [[cell.content for cell in row.cells] for row in self.body.rows] if self.body else []
        columns = [*zip(head, *rows, strict=False)]
        room = options.max_width - _BETWEEN * len(columns)
        wanted = [max(1, *(cell.cell_len for cell in column)) for column in columns]
        for longest in (room, _WORD):
            least = [max(_least(cell, longest) for cell in column) for column in columns]
            if sum(least) <= room:
                yield _table(head, rows, _widened(least, wanted, room))
                return
        yield from _listed(head, rows, console, options)


def _least(cell: Text, longest: int) -> int:
    """Columns below which a cell is not to be squeezed: words stay whole up to some length."""
    word = max(map(cell_len, cell.plain.split()), default=0)
    return max(1, min(cell.cell_len, max(_LEAST, min(word, longest))))


def _widened(least: list[int], wanted: list[int], room: int) -> list[int]:
    """Widths that take the room, or what is wanted if that is less; most for those most in need."""
    widths = [*least]
    for _ in range(min(room, sum(wanted)) - sum(least)):
        neediest = max(range(len(widths)), key=lambda at: wanted[at] / widths[at])
        widths[neediest] += 1
    return widths


def _table(head: list[Text], rows: list[list[Text]], widths: list[int]) -> Table:
    # Not left to rich: where there is too little room it cuts off what it measured itself.
    table = Table(box=box.SIMPLE, pad_edge=False, collapse_padding=True)
    for cell, width in zip(head, widths, strict=True):
        heading = cell.copy()
        heading.stylize("markdown.table.header")
        table.add_column(heading, overflow="fold", width=width)
    for row in rows:
        table.add_row(*row)
    return table


def _listed(
    head: list[Text], rows: list[list[Text]], console: Console, options: ConsoleOptions
) -> RenderResult:
    """Each row as lines of its own, a blank one between two rows."""
    yield Segment.line()
    for number, row in enumerate(rows or [[Text() for _ in head]]):
        if number:
            yield Segment.line()
        for name, value in zip(head, row, strict=False):
            heading = name.copy()
            heading.stylize("markdown.table.header")
            text = Text.assemble(heading, ": ", value) if name.plain else value
            text.justify, text.overflow = "left", "fold"
            for line in console.render_lines(text, options, pad=False):
                yield from line
                yield Segment.line()
    yield Segment.line()
