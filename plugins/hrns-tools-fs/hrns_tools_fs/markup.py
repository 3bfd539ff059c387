"""HTML as people write it, made plain: only what carries text, every element closed.

End tags may be left out in HTML (HTML Standard, section 13.1.2.4); the parsers behind the Markdown
converter take what follows for content of the open element then. Here the elements that an opening
tag ends are closed, links become whole, and what nobody reads (scripts, styles) goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import assert_never
from urllib.parse import urljoin

from attrs import frozen

from .tags import Data, End, Start, Token, tokens

__all__ = ["PlainPage", "plain_page"]

_DEEPEST = 100
"""Deeper elements are taken for their text alone: a converter recurses."""


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


_UNSEEN = _names(
    "script style noscript template svg math iframe object canvas audio video select head"
)
_INLINE = _names("a b strong em i code kbd samp del s sub sup q cite var")
_BLOCKS = _names(
    "address article aside blockquote center details dialog div dl fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hr main menu nav ol p pre section summary "
    "table ul"
)
_PARTS = _names("li dt dd tr td th thead tbody tfoot caption")
_EMPTY = _names("br hr img")
_KEPT = _INLINE | _BLOCKS | _PARTS | _EMPTY
_KEPT_ATTRIBUTES = _names("href src alt class colspan start")

_ROWS = _names("thead tbody tfoot tr td th caption")
_ENDED_BY = {
    "li": (frozenset({"li"}), frozenset({"ul", "ol", "menu"})),
    "dt": (frozenset({"dt", "dd"}), frozenset({"dl"})),
    "dd": (frozenset({"dt", "dd"}), frozenset({"dl"})),
    "tr": (frozenset({"tr", "td", "th", "caption"}), frozenset({"table"})),
    "td": (frozenset({"td", "th"}), frozenset({"tr", "table"})),
    "th": (frozenset({"td", "th"}), frozenset({"tr", "table"})),
    "thead": (_ROWS, frozenset({"table"})),
    "tbody": (_ROWS, frozenset({"table"})),
    "tfoot": (_ROWS, frozenset({"table"})),
    **dict.fromkeys(_BLOCKS, (frozenset({"p"}), (_BLOCKS | _PARTS) - {"p"})),
}
"""What an opening tag ends, and the elements within which that holds."""


@frozen
class PlainPage:
    """A page's title, its text as plain HTML, and whether that is cut off."""

    title: str
    html: str
    cut: bool


def plain_page(html: str, base: str, limit: int) -> PlainPage:
    """The page in plain HTML.

    Parameters:
        base: what its links are relative to.
        limit: characters after which it is cut off.
    """
    reader = _Reader(base, limit)
    for token in tokens(html):
        reader.take(token)
        if reader.room <= 0:
            break
    title = " ".join("".join(reader.title).split())
    return PlainPage(title, reader.finished(), reader.room <= 0)


class _Reader:
    def __init__(self, base: str, limit: int) -> None:
        self.title: list[str] = []
        self.room = limit
        self._base = base
        self._pieces: list[str] = []
        self._open: list[str] = []
        self._unseen: list[str] = []
        self._in_title = False

    def finished(self) -> str:
        self._close_from(0)
        return "".join(self._pieces)

    def take(self, token: Token) -> None:
        match token:
            case Start(tag, attributes):
                self._handle_start(tag, attributes)
            case End(tag):
                self._handle_end(tag)
            case Data(text):
                self._handle_data(text)
            case _:
                assert_never(token)

    def _handle_start(self, tag: str, attributes: Sequence[tuple[str, str]]) -> None:
        if tag == "body":
            self._unseen.clear()
        elif tag == "title" and not self.title:
            self._in_title = True
        elif tag in _UNSEEN:
            self._unseen.append(tag)
        elif not self._unseen and tag in _KEPT and self.room > 0:
            self._end_those_before(tag)
            self._start(tag, attributes)

    def _handle_end(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in self._unseen:
            del self._unseen[self._unseen.index(tag) :]
        elif not self._unseen and tag in self._open:
            self._close_from(len(self._open) - 1 - self._open[::-1].index(tag))

    def _handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif not self._unseen and self.room > 0:
            self._write(escape(data[: self.room], quote=False))

    def _end_those_before(self, tag: str) -> None:
        ended, within = _ENDED_BY.get(tag, (frozenset(), frozenset()))
        first = None
        for at in range(len(self._open) - 1, -1, -1):
            if self._open[at] in within:
                break
            if self._open[at] in ended:
                first = at
        if first is not None:
            self._close_from(first)

    def _start(self, tag: str, attributes: Sequence[tuple[str, str]]) -> None:
        written = "".join(self._attribute(name, value) for name, value in attributes)
        if tag == "img" and " src=" not in written:
            return
        if tag in _EMPTY:
            self._write(f"<{tag}{written}>")
        elif len(self._open) < _DEEPEST:
            self._write(f"<{tag}{written}>")
            self._open.append(tag)

    def _attribute(self, name: str, value: str) -> str:
        if name not in _KEPT_ATTRIBUTES or (name == "src" and value.startswith("data:")):
            return ""
        if name in ("href", "src"):
            value = _whole(self._base, value)
        return f' {name}="{escape(value)}"'

    def _write(self, piece: str) -> None:
        self._pieces.append(piece)
        self.room -= len(piece)

    def _close_from(self, first: int) -> None:
        self._pieces.extend(f"</{tag}>" for tag in reversed(self._open[first:]))
        del self._open[first:]


def _whole(base: str, link: str) -> str:
    try:
        return urljoin(base, link.strip())
    except ValueError:
        return link
