"""Containers of prompt_toolkit that cost little to draw again: lines, and what is below them.

Its own windows scroll, wrap and highlight, and take each line apart each time. These lines are
short, mostly those of the time before, and are drawn twenty times a second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from prompt_toolkit.application import get_app
from prompt_toolkit.formatted_text import ANSI, to_formatted_text
from prompt_toolkit.layout import AnyContainer, Container, Dimension, to_container
from prompt_toolkit.layout.mouse_handlers import MouseHandlers
from prompt_toolkit.layout.screen import Char, Screen, WritePosition

__all__ = ["Rows", "Stack"]


class Rows(Container):
    """Lines in escape sequences, cut off at the right; of too many the last are shown."""

    def __init__(self, lines: Callable[[], list[str]]) -> None:
        self._lines = lines
        self._shown: list[str] = []

    def reset(self) -> None:
        """Do nothing: nothing here scrolls."""

    def preferred_width(self, max_available_width: int) -> Dimension:
        """As wide as there is room."""
        return Dimension.exact(max_available_width)

    def preferred_height(self, width: int, max_available_height: int) -> Dimension:  # noqa: ARG002 - no line is wrapped
        """As high as there are lines; these are drawn, even if there are others by then."""
        self._shown = self._lines()
        return Dimension.exact(len(self._shown))

    def write_to_screen(  # noqa: PLR0917 - as prompt_toolkit has it
        self,
        screen: Screen,
        mouse_handlers: MouseHandlers,  # noqa: ARG002 - the mouse is the terminal's own
        write_position: WritePosition,
        parent_style: str,  # noqa: ARG002 - lines bring their styles along
        erase_bg: bool,  # noqa: ARG002 - nothing is below them
        z_index: int | None,  # noqa: ARG002 - and nothing above
    ) -> None:
        """Put the cells where they belong."""
        height, width = write_position.height, write_position.width
        lines = self._shown[-height:] if height else []
        for y, line in enumerate(lines, write_position.ypos):
            screen.data_buffer[y].update(_cells(line, width))
        screen.width = max(screen.width, write_position.xpos + width)
        screen.height = max(screen.height, write_position.ypos + height)

    def get_children(self) -> list[Container]:
        """None."""
        return []


class Stack(Container):
    """Lines, and below them containers, each as high as it wants to be.

    Where all of it does not fit, the first lines are left out.
    """

    def __init__(self, lines: Rows, below: Sequence[AnyContainer]) -> None:
        self._children = [lines, *map(to_container, below)]
        self._heights: list[int] = []
        self._measured: tuple[int, ...] = ()

    def reset(self) -> None:
        """Reset what it consists of."""
        for child in self._children:
            child.reset()

    def preferred_width(self, max_available_width: int) -> Dimension:
        """As wide as there is room."""
        return Dimension.exact(max_available_width)

    def preferred_height(self, width: int, max_available_height: int) -> Dimension:
        """What all of it takes; measured once for each time that it is drawn."""
        wanted = (get_app().render_counter, width, max_available_height)
        if self._measured != wanted:
            self._measured = wanted
            self._heights = [
                child.preferred_height(width, max_available_height).preferred
                for child in self._children
            ]
        return Dimension.exact(sum(self._heights))

    def write_to_screen(  # noqa: PLR0917 - as prompt_toolkit has it
        self,
        screen: Screen,
        mouse_handlers: MouseHandlers,
        write_position: WritePosition,
        parent_style: str,
        erase_bg: bool,
        z_index: int | None,
    ) -> None:
        """Draw one below the other."""
        lines, *below = self._heights
        y, end = write_position.ypos, write_position.ypos + write_position.height
        first = max(0, min(lines, write_position.height - sum(below)))
        for child, wanted in zip(self._children, [first, *below], strict=True):
            height = min(wanted, end - y)
            part = WritePosition(write_position.xpos, y, write_position.width, height)
            child.write_to_screen(screen, mouse_handlers, part, parent_style, erase_bg, z_index)
            y += height

    def get_children(self) -> list[Container]:
        """The lines, and what is below them."""
        return self._children


@lru_cache(maxsize=128)
def _cells(line: str, width: int) -> Mapping[int, Char]:
    """The cells of a line: a wide character takes two, one of no width goes with that before it."""
    cells: dict[int, Char] = {}
    x = last = 0
    for style, text, *_ in to_formatted_text(ANSI(line)):
        for character in text:
            cell = Char(character, style)
            if cell.width == 0 and cells:
                before = cells[last]
                cells[last] = Char(before.char + character, before.style)
                continue
            if x + cell.width > width:
                return cells
            cells[x] = cell
            last, x = x, x + cell.width
            if cell.width > 1:
                cells[x - 1] = _COVERED
    return cells


_COVERED = Char("")
"""What a wide character covers. It differs from all else, so whatever comes there is drawn."""
