"""Tells reasoning in `<think>` tags and the like from the text around it, however it is cut up."""

from __future__ import annotations

from typing import Literal, TypeAlias

__all__ = ["Piece", "ThinkTags"]

Piece: TypeAlias = tuple[Literal["text", "reasoning"], str]

_TAGS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<seed:think>": "</seed:think>",
    "[THINK]": "[/THINK]",
    "\u25c1think\u25b7": "\u25c1/think\u25b7",
}
"""The tags that models think in, each with the one that closes it."""


class ThinkTags:
    """Reads the text of one reply.

    Only a tag at the head of the text counts: what comes behind visible text is text, also if it
    looks like a tag. A closing tag at the head belongs to reasoning that came another way, and is
    dropped. A text is held back only while it may still become a tag.

    Attributes:
        plain: whether all further text is visible text, so that `feed` need not be asked.
    """

    __slots__ = ("_close", "_held", "_later", "plain")

    def __init__(self) -> None:
        self._held = ""
        self._close = ""  # the tag that ends the reasoning, while it goes on
        self._later = False  # behind a tag: white space at the head is not part of the text
        self.plain = False

    def feed(self, text: str) -> list[Piece]:
        """The pieces that are certain by now."""
        if self.plain:
            return [("text", text)] if text else []
        self._held += text
        pieces: list[Piece] = []
        while self._step(pieces):
            pass
        return pieces

    def end(self) -> list[Piece]:
        """What was held back."""
        held, self._held = self._held, ""
        if self._later and not self._close:
            held = held.lstrip()
        return [("reasoning" if self._close else "text", held)] if held else []

    def _step(self, pieces: list[Piece]) -> bool:
        """Take one tag or stretch of text off what is held; False if more must come first."""
        return self._inner(pieces) if self._close else self._head(pieces)

    def _head(self, pieces: list[Piece]) -> bool:
        head = self._held.lstrip()
        for tag in (*_TAGS, *_TAGS.values()):
            if head.startswith(tag):
                self._close = _TAGS.get(tag, "")
                self._held = head[len(tag) :]
                self._later = True
                return bool(self._held)
        if any(tag.startswith(head) for tag in (*_TAGS, *_TAGS.values())):
            return False
        pieces.append(("text", head if self._later else self._held))
        self._held = ""
        self.plain = True
        return False

    def _inner(self, pieces: list[Piece]) -> bool:
        thought, tag, rest = self._held.partition(self._close)
        if tag:
            self._close = ""
            self._held = rest
        else:
            kept = _overlap(thought, self._close)
            thought, self._held = thought[: len(thought) - kept], thought[len(thought) - kept :]
        if thought:
            pieces.append(("reasoning", thought))
        return bool(tag and rest)


def _overlap(text: str, tag: str) -> int:
    """The length of the longest end of the text that the tag begins with."""
    return next(
        (size for size in range(min(len(text), len(tag) - 1), 0, -1) if text.endswith(tag[:size])),
        0,
    )
