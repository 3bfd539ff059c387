"""Links and pictures of Markdown with their addresses beside them, as text in styles.

rich hides the addresses of pictures, and says those of bare links twice. The same pass makes what
character references stand for as harmless as the rest of the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from markdown_it.token import Token

from hrns.cli.printing import plain

__all__ = ["LINK", "URL", "spelled_out"]

LINK, URL = "link", "link_url"
"""The tags of the words of a link, and of its address."""


def spelled_out(tokens: Iterable[Token]) -> Iterator[Token]:
    """The tokens; those of links and pictures as text, in pairs of the tags above."""
    for token in tokens:
        if token.children is not None and token.type == "inline":
            token.children = [*_inline(token.children)]
        yield token


def _inline(tokens: Iterable[Token]) -> Iterator[Token]:
    addresses: list[str] = []
    words: list[list[str]] = []
    for token in tokens:
        if token.type == "link_open":
            addresses.append(str(token.attrs.get("href", "")))
            words.append([])
            yield Token("words_open", LINK, 1)
        elif token.type == "link_close":
            yield Token("words_close", LINK, -1)
            yield from _address(addresses.pop(), "".join(words.pop()))
        elif token.type == "image":
            yield from _picture(token, words)
        else:
            token.content = plain(token.content)
            for each in words:
                each.append(token.content)
            yield token


def _picture(token: Token, words: list[list[str]]) -> Iterator[Token]:
    said = plain("".join(child.content for child in token.children or ())) or "picture"
    for each in words:
        each.append(said)
    yield from (Token("words_open", LINK, 1), _text(said), Token("words_close", LINK, -1))
    yield from _address(str(token.attrs.get("src", "")), said)


def _address(url: str, words: str) -> Iterator[Token]:
    """The address behind the words, unless they are the address."""
    url = plain(url)
    bare = unquote(url).removeprefix("mailto:")
    if url and unquote(words) not in (bare, unquote(url)):
        yield from (_text(" ("), Token("url_open", URL, 1), _text(url))
        yield from (Token("url_close", URL, -1), _text(")"))


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)
