"""The frame at the bottom of the terminal, and what scrolls away above it.

prompt_toolkit draws the frame; finished text is put where the frame was, and the frame below it,
in one write. This is the only module that reaches into its renderer, and why:

- a frame that got smaller has to be erased first, or its old height stays;
- a terminal that got narrower has wrapped the frame's rows anew, so the cursor is not where the
  renderer left it;
- erase, text and frame have to be one write, or a half of it is seen;
- while a window is dragged, or a multiplexer tells its sizes late, the terminal's rows are wrapped
  otherwise than the last size says, and what is erased would be finished text: nothing is drawn
  until the size stays.
"""

from __future__ import annotations

import asyncio
import os
from threading import current_thread, main_thread
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Point
from prompt_toolkit.layout.screen import Screen

from .output import HeldOutput

__all__ = ["Frame"]

_POLL_S = 0.5
_SETTLE_S = 0.3
"""How long a size has to stay: tmux tells of the last one up to 250 ms late."""


class Frame(Application[int]):
    """The application that is drawn below the scrolling text."""

    def __init__(self, output: HeldOutput, **options: Any) -> None:
        signalled = current_thread() is main_thread()  # of each new size
        super().__init__(
            output=output,
            full_screen=False,
            erase_when_done=True,
            terminal_size_polling_interval=None if signalled else _POLL_S,
            **options,
        )
        self._settling: asyncio.TimerHandle | None = None
        self.terminal = output
        self.before_render += self._shrink
        self.after_render += lambda _: output.release()
        self.ttimeoutlen = self.timeoutlen = 0.05  # Esc alone counts soon; Alt-Enter still works

    @property
    def is_away(self) -> bool:
        """Whether another program has the terminal now: an editor, or the shell after Ctrl-Z."""
        return self._running_in_terminal

    @property
    def has_to_wait(self) -> bool:
        """Whether nothing can be drawn now: another program has the terminal, or it is resized."""
        return self.is_away or self._settling is not None

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

    def _redraw(self, render_as_done: bool = False) -> None:
        if render_as_done:
            self._settle()
        if self._settling is None:
            super()._redraw(render_as_done)

    def _on_resize(self) -> None:
        if self._settling is not None:
            self._settling.cancel()
        self._settling = asyncio.get_running_loop().call_later(_SETTLE_S, self._settle)

    def _settle(self) -> None:
        """Draw anew, if the size has changed since it was drawn."""
        if self._settling is None:
            return
        self._settling.cancel()
        self._settling = None
        if not self._running_in_terminal:
            self._draw_resized()

    def _draw_resized(self) -> None:
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
