"""Bytes as text and back, without a byte lost.

What `decode` gives, `encode` turns into the same bytes again, whatever they were: bytes that fit no
encoding travel as lone surrogates (PEP 383), a byte order mark travels beside the text.
"""

from __future__ import annotations

import codecs
import re

from attrs import evolve, frozen

__all__ = ["Decoded", "decode", "image_type", "is_binary"]

_MARKS = (  # the longer first: the mark of UTF-32 begins with that of UTF-16
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SNIFF_BYTES = 8192
_WELL_FORMED = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_NOT_ASCII = re.compile(rb"[\x80-\xff]")


@frozen
class Decoded:
    """A file's text, and what it takes to write it back.

    Parameters:
        text: without the byte order mark; line ends as they are.
        encoding: the name of a codec.
        mark: the byte order mark, or b"".
    """

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""

    @property
    def shown(self) -> str:
        """The text for people and models: line ends as LF, U+FFFD for bytes that are none."""
        text = self.text.replace("\r\n", "\n")
        if text.isascii() or self.encoding != "utf-8":
            return text
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

    def with_text(self, text: str) -> Decoded:
        """The same file with another text."""
        return evolve(self, text=text)

    def encode(self) -> bytes:
        """The file's bytes.

        Raises:
            UnicodeEncodeError: the text has a character that the encoding has not.
        """
        errors = "surrogateescape" if self.encoding == "utf-8" else "strict"
        return self.mark + self.text.encode(self.encoding, errors)


def decode(data: bytes, known: str | None = None) -> Decoded | None:
    """The text that bytes stand for; None if they are no text.

    Parameters:
        known: the encoding that the file had before, for bytes that do not tell.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _marked(data[len(mark) :], encoding, mark)
    if is_binary(data):
        return None
    if known and data.isascii():
        return Decoded(data.decode("ascii"), known)
    encoding = "utf-8" if _mostly_utf8(data) else "latin-1"
    return Decoded(data.decode(encoding, "surrogateescape"), encoding)


def is_binary(data: bytes) -> bool:
    """Whether bytes without a byte order mark are no text: they hold a NUL near the start."""
    return b"\0" in data[:_SNIFF_BYTES] or data.startswith(b"%PDF-")


def image_type(data: bytes) -> str | None:
    """The media type of an image that models can look at, or None."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def _marked(data: bytes, encoding: str, mark: bytes) -> Decoded | None:
    errors = "surrogateescape" if encoding == "utf-8" else "strict"
    try:
        return Decoded(data.decode(encoding, errors), encoding, mark)
    except UnicodeDecodeError:
        return None


def _mostly_utf8(data: bytes) -> bool:
    """Whether what is not ASCII is rather UTF-8 with a fault than another encoding."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return 2 * len(_WELL_FORMED.findall(data)) > len(
            _NOT_ASCII.findall(_WELL_FORMED.sub(b"", data))
        )
    return True
