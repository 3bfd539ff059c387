"""Texts with marks in place of their quoted parts, so that no rule has to look inside quotes."""

from __future__ import annotations

import re

from attrs import frozen

__all__ = ["MARK", "Marked"]

MARK = "[\ue000-\uf8ff]"
"""A regular expression for one mark: a character of the private use area of Unicode."""

_MARKS = range(0xE000, 0xF900)
_QUOTED = re.compile(
    r"```[^\s`]*[ \t]*\n(?P<block>.*?)\n?```"
    r"|```(?P<bare>[^`]+)```"
    r"|`(?P<code>[^`]+)`"
    r'|"(?P<double>[^"]*)"'
    r"|“(?P<curly>[^”]*)”"
    r"|(?<!\w)'(?P<single>[^'\n]*)'(?!\w)"
    rf"|(?P<mark>{MARK})",
    re.DOTALL,
)


@frozen
class Marked:
    """A text whose parts in quotes, backticks and code blocks are one mark each.

    Parameters:
        text: the text with the marks.
        written: the marked parts as they were written.
        quoted: the marked parts without their quotes.
    """

    text: str
    written: tuple[str, ...]
    quoted: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Marked:
        """Mark the quoted parts of a text."""
        found = list(_QUOTED.finditer(text))[: len(_MARKS)]
        pieces, end = [], 0
        for mark, match in zip(_MARKS, found, strict=False):
            pieces += [text[end : match.start()], chr(mark)]
            end = match.end()
        return cls(
            "".join([*pieces, text[end:]]),
            tuple(match[0] for match in found),
            tuple(match[match.lastgroup or 0] for match in found),
        )

    def as_written(self, part: str) -> str:
        """A part of the text as it was written."""
        return re.sub(MARK, lambda mark: self.written[ord(mark[0]) - _MARKS.start], part)

    def value(self, part: str) -> str:
        """What a part means: without its quotes if it is one quoted part and nothing else."""
        part = part.strip()
        if re.fullmatch(MARK, part):
            return self.quoted[ord(part) - _MARKS.start]
        return self.as_written(part)
