"""Texts with `*` in them, and how names are compared where files have no case."""

from __future__ import annotations

import sys
import unicodedata
from typing import Literal, TypeAlias

__all__ = ["Match", "Pieces", "comparable", "matches"]

Match: TypeAlias = Literal["yes", "maybe", "no"]
"""Whether a pattern speaks of something, as far as that is known."""

Pieces: TypeAlias = tuple[str, ...]
"""A pattern, cut at its stars: `a*b` is `("a", "b")`, a text without a star is itself alone."""


def matches(pieces: Pieces, text: str) -> bool:
    """Whether a text is the pieces with anything between them; in linear time."""
    first, *middle = pieces
    if not middle:
        return text == first
    last = middle.pop()
    at, end = len(first), len(text) - len(last)
    if at > end or not (text.startswith(first) and text.endswith(last)):
        return False
    for piece in middle:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def comparable(name: str) -> str:
    """The name of a file as this system compares it: macOS and Windows do not see case."""
    if sys.platform in ("darwin", "win32"):
        return unicodedata.normalize("NFC", name).casefold()
    return name
