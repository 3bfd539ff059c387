"""How many columns a text takes, and what fits: wide characters take two."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["cells", "cut", "padded", "wrapped"]

_ROW = re.compile(r".*\S {3,}(?=\S)")
_WORD = re.compile(r"\s*\S+")
_LEAST = 20
"""Columns below which no text is squeezed beside what stands before it."""


def cells(text: str) -> int:
    """The columns that a line takes in a terminal."""
    if text.isascii():
        return len(text)
    from prompt_toolkit.utils import get_cwidth

    return get_cwidth(text)


def cut(text: str, width: int) -> str:
    """The beginning of a line, as much as fits."""
    if cells(text) <= width:
        return text
    return next(_pieces(text, width)) if width > 0 else ""


def padded(text: str, width: int) -> str:
    """The line, filled up with blanks."""
    return text + " " * (width - cells(text))


def wrapped(text: str, width: int, *, whole_words: bool = True) -> str:
    """The text with lines that are too long broken between words.

    A line goes on where it began; a row of a table, in the column that it ends with. Text without
    any blanks, as in Chinese or Japanese, is broken anywhere.

    Parameters:
        whole_words: whether other words stay whole though they are longer than a line, so that a
            URL or a path can be copied; where all of a line has to be seen, they must not.
    """
    return "\n".join(
        line if cells(line) <= width else _broken(line, width, whole_words)
        for line in text.split("\n")
    )


def _broken(line: str, width: int, whole_words: bool) -> str:
    indent = len(line) - len(line.lstrip())
    if row := _ROW.match(line):
        column = cells(row[0])
        indent = column if width - column >= _LEAST else indent + 4
    indent = min(indent, max(0, width - _LEAST))
    lines = [""]
    for word in _WORD.findall(line):
        stays = whole_words and cells(word) == len(word)
        pieces = [word] if stays else _fitting(word, cells(lines[-1]), width, indent)
        for piece in pieces:
            if cells(lines[-1] + piece) <= width or not lines[-1].strip():
                lines[-1] += piece
            else:
                lines.append(" " * indent + piece.lstrip())
    return "\n".join(lines)


def _fitting(word: str, taken: int, width: int, indent: int) -> Iterator[str]:
    """A word with the blanks before it, in pieces if it is to be broken."""
    if taken + cells(word) <= width:
        yield word
        return
    if word.isascii() and cells(word.lstrip()) <= width - indent:
        yield word  # on the next line
        return
    first = cut(word, width - taken)
    if first.strip():
        yield first
        word = word[len(first) :]
    yield from _pieces(word, width - indent)


def _pieces(text: str, width: int) -> Iterator[str]:
    """The text in pieces of at most so many columns, each of one character at least."""
    piece, taken = "", 0
    for character in text:
        wide = cells(character)
        if piece and taken + wide > width:
            yield piece
            piece, taken = "", 0
        piece, taken = piece + character, taken + wide
    if piece:
        yield piece
