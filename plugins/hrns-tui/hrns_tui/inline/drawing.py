"""The frame at the bottom of the terminal, and what scrolls away above it.

prompt_toolkit draws the frame; finished text is put where the frame was, and the frame below it,
in one write. This is the only module that reaches into its renderer, and why:

- a frame that got smaller has to be erased first, or its old height stays;
- a terminal that got narrower has wrapped the frame's rows anew, so the cursor is not where the
  renderer left it;
- erase, text and frame have to be one write, or a half of it is seen.
"""

from __future__ import annotations

import os
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Point
from prompt_toolkit.layout.screen import Screen

from .output import HeldOutput

__all__ = ["Frame"]


class Frame(Application[int]):
    """The application that is drawn below the scrolling text."""

    def __init__(self, output: HeldOutput, **options: Any) -> None:
        super().__init__(
            output=output,
            full_screen=False,
            erase_when_done=True,
            **options,
        )
        self.terminal = output
        self.before_render += self._shrink
        self.after_render += lambda _: output.release()
        self.ttimeoutlen = self.timeoutlen = 0.05  # Esc alone counts soon; Alt-Enter still works

    @property
    def is_away(self) -> bool:
        """Whether another program has the terminal now: an editor, or the shell after Ctrl-Z."""
        return self._running_in_terminal

    def commit(self, text: str) -> None:
        """Write lines for good, and the frame below them."""
        with self.terminal.held():
            if text:
                self.renderer.erase(leave_alternate_screen=False)
                self.terminal.write_raw(text.replace("\n", "\r\n"))
            self._redraw()

    def _shrink(self, _: object) -> None:
        """Hold what is drawn from here on, and erase the frame if it is higher than it should."""
        self.terminal.holds += 1
        last, size = self.renderer._last_screen, self.output.get_size()  # noqa: SLF001
        wanted = self.layout.container.preferred_height(size.columns, size.rows).preferred
        if last is not None and wanted < last.height:
            self.renderer.erase(leave_alternate_screen=False)

    def _on_resize(self) -> None:
        if not os.environ.get("HRNS_NO_REFLOW"):
            columns = self.output.get_size().columns
            screen, cursor = self.renderer._last_screen, self.renderer._cursor_pos  # noqa: SLF001
            if screen is not None:
                self.renderer._cursor_pos = _reflowed(screen, cursor, columns)  # noqa: SLF001
        with self.terminal.held():
            super()._on_resize()


def _reflowed(screen: Screen, cursor: Point, columns: int) -> Point:
    """Where the cursor is after the terminal wrapped the rows above it to so many columns."""
    above = sum(_rows(_width(screen, y), columns) for y in range(cursor.y))
    return Point(x=cursor.x % columns, y=above + cursor.x // columns)


def _width(screen: Screen, y: int) -> int:
    cells = screen.data_buffer[y]
    return 1 + max((x for x, cell in cells.items() if cell.char != " "), default=-1)


def _rows(width: int, columns: int) -> int:
    return max(1, -(-width // columns))
