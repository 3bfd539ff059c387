"""Styles by what they mean, as escape sequences of the terminal's own sixteen colours.

Every text goes through `plain` on its way, so nothing but these styles steers the terminal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from attrs import frozen

from hrns.cli.printing import plain

__all__ = ["THEMES", "Paint", "Style", "Theme", "theme_of"]

Style: TypeAlias = Literal["", "dim", "bold", "accent", "good", "bad", "warning"]
Theme: TypeAlias = Literal["dark", "light"]

THEMES: tuple[Theme, ...] = ("dark", "light")

_WEIGHTS: Mapping[Style, str] = {"dim": "2", "bold": "1"}
_COLOURS: Mapping[Theme, Mapping[Style, str]] = {
    "dark": {"accent": "36", "good": "32", "bad": "31", "warning": "33"},
    "light": {"accent": "34", "good": "32", "bad": "31", "warning": "35"},
}


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
        """The lines of a unified diff; the signs at their heads say the same as the colours."""
        return "\n".join(self(line, _diff_style(line)) for line in lines)


def theme_of(environ: Mapping[str, str], wanted: object = None) -> Theme:
    """The theme that is wanted, or else what the terminal says of its background (`COLORFGBG`)."""
    for theme in THEMES:
        if wanted == theme:
            return theme
    background = environ.get("COLORFGBG", "").rpartition(";")[2]
    return "light" if background in ("7", "15") else "dark"


def _diff_style(line: str) -> Style:
    if line.startswith(("+++", "---")):
        return "bold"
    if line.startswith("@@"):
        return "accent"
    return "good" if line.startswith("+") else "bad" if line.startswith("-") else ""
