"""Code in the colours of its language, line by line.

What rich makes of code is the same, but it looks the language up among six hundred for each block,
and lays out every line as if it were prose.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from attrs import frozen
from pygments.lexers import find_lexer_class, get_all_lexers
from pygments.token import Text as TextToken
from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text

__all__ = ["CodeLine", "coloured_lines"]

_TAB_COLUMNS = 4


@frozen
class CodeLine:
    """One line of code, and how many columns it takes."""

    segments: list[Segment]
    width: int

    def wrapped(self, console: Console, width: int) -> list[list[Segment]]:
        """The rows of the line where it is too long."""
        text = Text.assemble(*((part.text, part.style or "") for part in self.segments))
        options = console.options.update(width=width, justify="left")
        return console.render_lines(text, options, pad=False)


def coloured_lines(code: str, language: str, theme: str) -> Iterator[CodeLine]:
    """The lines; plain ones if nobody knows the language."""
    style_of = Syntax.get_theme(theme).get_style_for_token
    line: list[Segment] = []
    for kind, text in _tokens(code.rstrip().expandtabs(_TAB_COLUMNS) + "\n", language):
        first, *others = text.split("\n")
        style = style_of(kind)
        _append(line, first, style)
        for other in others:
            yield _line(line)
            line = []
            _append(line, other, style)
    if line:
        yield _line(line)


def _append(line: list[Segment], text: str, style: Style) -> None:
    if text:
        line.append(Segment(text, style))


def _line(segments: list[Segment]) -> CodeLine:
    return CodeLine(segments, cell_len("".join(segment.text for segment in segments)))


def _tokens(code: str, language: str) -> Iterator[tuple[Any, str]]:
    """The pieces of the code, each with the kind of token that it is."""
    lexer = _lexer(language)
    if lexer is None:
        yield TextToken, code
    else:
        yield from lexer(stripnl=False, ensurenl=True, tabsize=_TAB_COLUMNS).get_tokens(code)


@lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    name = _languages().get(language.lower())
    return find_lexer_class(name) if name else None


@cache
def _languages() -> dict[str, str]:
    """By what languages are called: the full name of the lexer."""
    return {
        alias: name for name, aliases, _, _ in get_all_lexers(plugins=False) for alias in aliases
    }
