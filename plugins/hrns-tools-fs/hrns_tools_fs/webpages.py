"""Bytes from the web as text for a model."""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from email.message import Message
from typing import TYPE_CHECKING

from .markup import plain_page

if TYPE_CHECKING:
    from bs4 import Tag

__all__ = ["SNIFF_BYTES", "decoded", "is_html", "is_text", "media_type", "to_markdown"]

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_META = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]+)|"""
    rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9_:.-]+)""",
    re.IGNORECASE,
)
_META_BYTES = 4096
_MARKUP_SHARE = 3
"""A page's plain HTML is hardly longer than so many times its Markdown."""
SNIFF_BYTES = 1024
_TEXT_TYPES = re.compile(
    r"text/.*|.*\+(json|xml|yaml)|application/(.*json.*|.*xml.*|.*javascript|ecmascript|yaml|x-yaml|"
    r"toml|sql|graphql|x-sh|x-www-form-urlencoded|x-ndjson|rtf)|message/.*|image/svg\+xml",
)
_UNTOLD = ("", "application/octet-stream", "binary/octet-stream", "application/unknown")
_BINARY_STARTS = (
    b"%PDF-",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"BZh",
    b"7z\xbc\xaf",
    b"\xfd7zXZ",
    b"\x7fELF",
    b"wOFF",
    b"wOF2",
    b"ID3",
    b"OggS",
)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
"""What no text holds (the binary data bytes of the MIME Sniffing Standard, section 3)."""

_ALIASES = {
    "iso-8859-1": "cp1252",
    "latin-1": "cp1252",
    "latin1": "cp1252",
    "ascii": "cp1252",
    "us-ascii": "cp1252",
}
"""Who writes these names means this (the Encoding Standard, section 4.2)."""

_NO_CHARSETS = re.compile(r"idna|punycode|.*escape|undefined|palmos|utf_?7|unicode_1_1_utf_7")
"""Codecs that no page is written in; the time that one of them takes grows with the square."""


def media_type(content_type: str) -> tuple[str, str]:
    """The type, in lower case, and the charset that a Content-Type names, or ""."""
    message = Message()
    message["Content-Type"] = content_type or "application/octet-stream"
    charset = message.get_param("charset", "")
    kind = message.get_content_type() if content_type else ""
    return kind, charset if isinstance(charset, str) else ""


def is_text(kind: str, start: bytes) -> bool:
    """Whether a body is text, by its type and, whatever that says, by how it begins."""
    if kind not in _UNTOLD and not _TEXT_TYPES.fullmatch(kind):
        return False
    start = start[:SNIFF_BYTES]
    if any(start.startswith(mark) for mark, _ in _MARKS):
        return True
    return not (start.startswith(_BINARY_STARTS) or _CONTROL.search(start))


def is_html(kind: str, start: bytes) -> bool:
    """Whether a text is HTML, by its type, or by how it begins if there is none."""
    if kind in ("text/html", "application/xhtml+xml"):
        return True
    beginning = start[:SNIFF_BYTES].lstrip().lower()
    return kind in _UNTOLD and beginning.startswith((b"<!doctype html", b"<html"))


def decoded(data: bytes, charset: str) -> str:
    """The text: by its byte order mark, the header's charset, its own word, or a guess."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace").removeprefix("\ufeff")
    declared = _META.search(data[:_META_BYTES])
    inner = (declared.group(1) or declared.group(2)).decode("ascii") if declared else ""
    for name in (charset, inner):
        with suppress(LookupError, ValueError):  # no codec has that name, or not for text
            return data.decode(_codec(name), "replace")
    with suppress(UnicodeDecodeError):
        return data.decode("utf-8")
    return data.decode("cp1252", "replace")


def _codec(name: str) -> str:
    """The codec for a charset.

    Raises:
        LookupError, ValueError: there is none.
    """
    codec = codecs.lookup(_ALIASES.get(name.lower(), name) or "?").name
    if _NO_CHARSETS.fullmatch(codec.replace("-", "_")):
        raise LookupError(f"{name} is no charset of pages")
    return codec


def to_markdown(html: str, base: str, limit: int) -> tuple[str, bool]:
    """A page as Markdown (its title, its text, its links whole), and whether it is cut off.

    Parameters:
        base: the page's URL.
        limit: characters of text after which it is cut off.
    """
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    page = plain_page(html, base, _MARKUP_SHARE * limit)
    converter = MarkdownConverter(
        heading_style="ATX",
        bullets="-",
        escape_asterisks=False,
        escape_underscores=False,
        code_language_callback=_code_language,
    )
    text = converter.convert_soup(BeautifulSoup(page.html, "html.parser"))
    text = re.sub(r"[ \t]+\n", "\n", text)
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    if page.title and not text.startswith(f"# {page.title}\n"):
        text = f"# {page.title}\n\n{text}"
    return text, page.cut


def _code_language(element: Tag) -> str:
    """The language of a `pre`, as highlighters write it into a class."""
    inner = element.find("code")
    classes = [
        name
        for each in (element, inner)
        if each is not None
        for name in each.get_attribute_list("class")
    ]
    return next((str(name)[9:] for name in classes if str(name).startswith("language-")), "")
