"""Cutting Markdown that still grows into blocks that are finished.

Only the rules of CommonMark for blocks are run, on what is not finished yet: of its top-level
blocks every one but the last is closed, whatever comes.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

__all__ = ["BlockSplitter", "split_blocks"]

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
"""A line, as the parser counts them: it is not ended by all that ends one for `splitlines`."""
_SMALL = 4096
_GROWTH = 1.25
"""A long open block is looked at again when it has grown so much: the whole stays linear."""


class BlockSplitter:
    """Markdown that comes in pieces."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._size = 0
        self._new: list[str] = []
        self._fresh_line = False
        self._open_line = ""
        self._fence = ""
        self._look_at = 0

    @property
    def rest(self) -> str:
        """What is not finished."""
        return "".join(list(self._pieces))

    def feed(self, text: str) -> None:
        """Add a piece."""
        self._pieces.append(text)
        self._new.append(text)
        self._size += len(text)
        self._fresh_line = self._fresh_line or "\n" in text

    def finished(self) -> list[str]:
        """The blocks that are closed now, which stay until `drop`; each with its line breaks."""
        if not self._fresh_line or self._size < self._look_at:
            return []
        lines = self._completed_lines()
        if self._fence and not _closes(f"\n{lines}", self._fence):
            return []
        if lines.isspace():
            return []  # a blank line begins no block, so none is closed for sure
        rest = self.rest
        blocks = split_blocks(rest[: rest.rfind("\n") + 1])
        self._fence = _open_fence(blocks[-1]) if blocks else ""
        self._look_at = 0
        if len(blocks) == 1 and self._size > _SMALL and not _FENCE.match(blocks[0]):
            self._look_at = int(self._size * _GROWTH)
        return blocks[:-1]

    def _completed_lines(self) -> str:
        """The lines that were completed since they were asked for last."""
        lines, newline, self._open_line = "".join([self._open_line, *self._new]).rpartition("\n")
        self._new.clear()
        self._fresh_line = False
        return lines + newline

    def drop(self, length: int) -> None:
        """Forget so many characters at the beginning."""
        rest = self.rest[length:]
        self._pieces = [rest]
        self._size = len(rest)


def split_blocks(text: str) -> list[str]:
    """The top-level blocks, which joined are the text again."""
    lines = _LINE.findall(text)
    starts = [
        token.map[0]
        for token in _parser().parse(text)
        if token.level == 0 and token.map and token.nesting >= 0
    ]
    if not starts:
        return [text] if text else []
    edges = [0, *starts[1:], len(lines)]
    return ["".join(lines[a:b]) for a, b in pairwise(edges)]


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _open_fence(block: str) -> str:
    """The fence that the block begins with and that a later line may close, or ""."""
    found = _FENCE.match(block)
    return found[1] if found and not _closes(block, found[1]) else ""


def _closes(text: str, fence: str) -> bool:
    """Whether one of the lines below the first is a closing fence."""
    closing = rf"\n {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*\n"
    return re.search(closing, text) is not None
