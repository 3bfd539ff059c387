"""Large pastes, folded into a marker in the prompt and unfolded when it is sent."""

from __future__ import annotations

import re

__all__ = ["Pastes"]

_LINES = 10
_CHARACTERS = 1500
_MARKER = re.compile(r"\[paste (\d+): [^\]\n]*\]")


class Pastes:
    """What was pasted, by the numbers in the markers."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def fold(self, text: str) -> str:
        """The text, or its marker if it is large."""
        lines = text.count("\n") + (not text.endswith("\n"))
        if lines <= _LINES and len(text) <= _CHARACTERS:
            return text
        number = len(self._texts) + 1
        self._texts[number] = text
        return f"[paste {number}: {lines} lines, {len(text)} characters]"

    def unfold(self, text: str) -> str:
        """The text with what its markers stand for."""
        return _MARKER.sub(lambda found: self._texts.get(int(found[1]), found[0]), text)
