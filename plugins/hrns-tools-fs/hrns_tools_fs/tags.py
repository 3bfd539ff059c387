"""HTML cut into tags and text (HTML Standard, section 13.2.5), each sign looked at but a few times.

The parser of the standard library needs hours for a page such as `<a <a <a ...`, in which nothing
can stop it, and gives up on others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import TypeAlias

from attrs import frozen

__all__ = ["Data", "End", "Start", "Token", "tokens"]

_BLANK = r"[ \t\n\f\r]"
_TEXT = re.compile(r"(?:[^<]++|<(?![A-Za-z/!?]))++")
_NAME = re.compile(r"[A-Za-z][^ \t\n\f\r/>]*+")
_ATTRIBUTE = re.compile(
    rf"(?:{_BLANK}|/)*+(?:(?P<end>>)"
    rf"|(?P<name>[^ \t\n\f\r/>][^ \t\n\f\r/>=]*+)(?P<equals>{_BLANK}*+={_BLANK}*+)?)"
)
_UNQUOTED = re.compile(r"[^ \t\n\f\r>]*+")
_RAW = {
    name: re.compile(rf"</{name}(?=[ \t\n\f\r/>])", re.IGNORECASE) for name in ("script", "style")
}
"""Elements whose content is no markup, up to their end tags."""


@frozen
class Start:
    """A start tag; the name and those of the attributes are in small letters."""

    name: str
    attributes: tuple[tuple[str, str], ...] = ()


@frozen
class End:
    """An end tag."""

    name: str


@frozen
class Data:
    """Text, without references."""

    text: str


Token: TypeAlias = Start | End | Data


def tokens(html: str) -> Iterator[Token]:
    """The tags and the text of a page. What begins and does not end goes to the end of the page."""
    at = 0
    while at < len(html):
        if text := _TEXT.match(html, at):
            yield Data(unescape(text[0]))
            at = text.end()
        elif name := _NAME.match(html, at + 1):
            start, at = _start(html, name)
            if at < 0:
                return
            yield start
            if raw := _RAW.get(start.name):
                found = raw.search(html, at)
                at = found.start() if found else len(html)
        elif (name := _NAME.match(html, at + 2)) and html[at + 1] == "/":
            yield End(name[0].lower())
            at = _past(html, ">", name.end())
        elif html.startswith("<!--", at):
            at = at + 5 if html.startswith("<!-->", at) else _past(html, "-->", at + 4)
        else:
            at = _past(html, ">", at)


def _past(html: str, mark: str, at: int) -> int:
    """Behind the next mark, or the end."""
    found = html.find(mark, at)
    return found + len(mark) if found >= 0 else len(html)


def _start(html: str, name: re.Match[str]) -> tuple[Start, int]:
    """The start tag with a name, and where it ends; -1 if it does not."""
    attributes: list[tuple[str, str]] = []
    at = name.end()
    while found := _ATTRIBUTE.match(html, at):
        at = found.end()
        if found["end"]:
            return Start(name[0].lower(), tuple(attributes)), at
        value = ""
        if found["equals"]:
            value, at = _value(html, at)
            if at < 0:
                break
        attributes.append((found["name"].lower(), unescape(value)))
    return Start(name[0].lower()), -1


def _value(html: str, at: int) -> tuple[str, int]:
    """The value of an attribute, and where it ends; -1 if it does not."""
    quote = html[at : at + 1]
    if quote in ('"', "'"):
        end = html.find(quote, at + 1)
        return (html[at + 1 : end], end + 1) if end >= 0 else ("", -1)
    found = _UNQUOTED.match(html, at)
    assert found is not None  # noqa: S101 - it takes nothing as well
    return found[0], found.end()
