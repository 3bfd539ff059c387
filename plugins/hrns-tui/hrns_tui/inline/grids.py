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
        for longest in (options.max_width, _WORD):
            columns = zip(head, *rows, strict=False)
            least = [max(_least(cell, longest) for cell in column) for column in columns]
            if sum(width + _BETWEEN for width in least) <= options.max_width:
                yield _table(head, rows, least)
                return
        yield from _listed(head, rows, console, options)


def _least(cell: Text, longest: int) -> int:
    """Columns below which a cell is not to be squeezed: words stay whole up to some length."""
    word = max(map(cell_len, cell.plain.split()), default=0)
    return max(1, min(cell.cell_len, max(_LEAST, min(word, longest))))


def _table(head: list[Text], rows: list[list[Text]], least: list[int]) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False, collapse_padding=True)
    for cell, width in zip(head, least, strict=True):
        heading = cell.copy()
        heading.stylize("markdown.table.header")
        table.add_column(heading, overflow="fold", min_width=width)
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
