"""Styles by what they mean, as escape sequences of the terminal's own sixteen colours.

Every text goes through `plain` on its way, so nothing but these styles steers the terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Literal, TypeAlias

from attrs import frozen

from hrns.cli.printing import plain

from .cells import wrapped

__all__ = ["THEMES", "Paint", "Style", "Theme", "theme_of"]

Style: TypeAlias = Literal["", "dim", "bold", "accent", "good", "bad", "warning"]
Theme: TypeAlias = Literal["dark", "light"]

THEMES: tuple[Theme, ...] = ("dark", "light")

_WEIGHTS: Mapping[Style, str] = {"dim": "2", "bold": "1"}
_COLOURS: Mapping[Theme, Mapping[Style, str]] = {
    "dark": {"accent": "36", "good": "32", "bad": "31", "warning": "33"},
    "light": {"accent": "34", "good": "32", "bad": "31", "warning": "35"},
}
_CHANGED = re.compile(r" *\d+ ([+-])")
_BETWEEN = re.compile(r" +\.\.\.\Z|\+\d+ lines \(")


@frozen
class Paint:
    """Makes text plain and styles it.

    Parameters:
        theme: whether the terminal's background is dark or light.
        colour: whether colours may be used; weights are used either way.
    """

    theme: Theme = "dark"
    colour: bool = True

    def __call__(self, text: str, style: Style = "") -> str:
        """The text, styled line by line, so that a line stands for itself wherever it is cut."""
        text = plain(text)
        code = _WEIGHTS.get(style) or (_COLOURS[self.theme].get(style) if self.colour else None)
        if not code:
            return text
        return "\n".join(f"\x1b[{code}m{line}\x1b[0m" if line else "" for line in text.split("\n"))

    def diff(self, lines: list[str]) -> str:
        """The lines of `diff_lines`; the signs behind the numbers say the same as the colours."""
        return "\n".join(self(line, _diff_style(line)) for line in lines)

    def wrapped(self, parts: list[tuple[str, Style]], width: int) -> str:
        """Parts of one line, each in its style, broken between words where that is too long."""
        parts = [(plain(text), style) for text, style in parts]
        rows = wrapped("".join(text for text, _ in parts), width, whole_words=False).split("\n")
        styles = (style for text, style in parts for each in text if not each.isspace())
        return "\n".join("".join(self._runs(row, styles)) for row in rows)

    def _runs(self, row: str, styles: Iterator[Style]) -> Iterator[str]:
        """The row; each character but blanks takes the next style."""
        style: Style = ""
        cells: list[tuple[str, Style]] = []
        for character in row:
            style = style if character.isspace() else next(styles)
            cells.append((character, style))
        for style, run in groupby(cells, key=lambda cell: cell[1]):
            yield self("".join(character for character, _ in run), style)


def theme_of(environ: Mapping[str, str], wanted: object = None) -> Theme:
    """The theme that is wanted, or else what the terminal says of its background (`COLORFGBG`)."""
    for theme in THEMES:
        if wanted == theme:
            return theme
    background = environ.get("COLORFGBG", "").rpartition(";")[2]
    return "light" if background in ("7", "15") else "dark"


def _diff_style(line: str) -> Style:
    found = _CHANGED.match(line)
    if found is None:
        return "dim" if _BETWEEN.match(line) else ""
    return "good" if found[1] == "+" else "bad"
