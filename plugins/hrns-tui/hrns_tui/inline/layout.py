"""What the frame consists of, from top to bottom."""

from __future__ import annotations

from collections.abc import Callable

from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    Dimension,
    Layout,
    Window,
)
from prompt_toolkit.layout.processors import (
    ConditionalProcessor,
    PasswordProcessor,
)
from prompt_toolkit.widgets import SearchToolbar

from hrns.cli.printing import plain

from ..cells import cells, padded
from ..paint import Paint, Style
from .desk import Desk
from .rows import Rows, Stack

__all__ = ["Panels", "build_layout", "typed_rows"]

_INPUT_ROWS = 6
_MENU_ROWS = 8

Lines = Callable[[], list[str]]


class Panels:
    """What each part shows now, as lines in escape sequences."""

    def __init__(self, live: Lines, aside: Lines, form: Lines, status: Lines) -> None:
        self.live = live
        self.aside = aside
        self.form = form
        self.status = status


def build_layout(desk: Desk, panels: Panels, paint: Callable[[], Paint]) -> Layout:
    """The tail, what is queued, the question, the status line, the prompt, and its menu."""
    search = SearchToolbar(ignore_case=True)
    prompt = _input(desk, search)
    answer = _answer(desk)
    return Layout(
        Stack(
            Rows(lambda: [*panels.live(), *panels.aside(), *panels.form(), *panels.status()]),
            [
                ConditionalContainer(answer, desk.types_answer),
                ConditionalContainer(prompt, ~desk.types_answer),
                search,
                ConditionalContainer(
                    Rows(lambda: _menu(desk, paint())),
                    Condition(lambda: desk.draft.complete_state is not None) & ~is_searching,
                ),
            ],
        ),
        focused_element=prompt,
    )


def typed_rows(typed: str, columns: int) -> int:
    """The rows that are taken by what is typed."""
    rows = sum(-(-(cells(line) + 3) // columns) for line in typed.split("\n"))
    return min(rows, _INPUT_ROWS)


def _input(desk: Desk, search: SearchToolbar) -> Window:
    control = BufferControl(
        desk.draft,
        search_buffer_control=search.control,
        preview_search=True,
    )
    return Window(
        control,
        height=lambda: Dimension(min=1, max=_INPUT_ROWS),
        wrap_lines=True,
        dont_extend_height=True,
        get_line_prefix=lambda line, wrapped: "> " if line == wrapped == 0 else "  ",
    )


def _answer(desk: Desk) -> Window:
    secret = Condition(lambda: desk.form is not None and desk.form.secret)
    control = BufferControl(
        desk.entry, input_processors=[ConditionalProcessor(PasswordProcessor(), secret)]
    )

    def prefix(line: int, wrapped: int) -> str:
        return plain(desk.form.label) if desk.form and line == wrapped == 0 else "  "

    return Window(
        control,
        height=lambda: Dimension(min=1, max=_INPUT_ROWS),
        wrap_lines=True,
        dont_extend_height=True,
        get_line_prefix=prefix,
    )


def _menu(desk: Desk, paint: Paint) -> list[str]:
    """The completions around the chosen one, each with its help."""
    state = desk.draft.complete_state
    if state is None or not state.completions:
        return []
    chosen = state.complete_index
    count = len(state.completions)
    first = max(0, min((chosen or 0) - _MENU_ROWS // 2, count - _MENU_ROWS))
    rows = list(enumerate(state.completions))[first : first + _MENU_ROWS]
    width = max(cells(each.display_text) for _, each in rows)
    return [
        paint(
            f"{'>' if number == chosen else ' '} {padded(each.display_text, width)}",
            _of(number, chosen),
        )
        + paint(f"  {each.display_meta_text}" if each.display_meta_text else "", "dim")
        for number, each in rows
    ]


def _of(number: int, chosen: int | None) -> Style:
    return "accent" if number == chosen else ""
