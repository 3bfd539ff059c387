"""What a command prints: kept within bounds, and made readable."""

from __future__ import annotations

import codecs
import re
from collections import deque

from attrs import define, field, frozen

from hrns.context import Cleaner

__all__ = ["HeadAndTail", "Kept", "Live", "WithoutSecrets", "clean"]

_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]?"  # control sequence: colours, cursor (ECMA-48 section 5.4)
    r"|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # operating system command: titles, links
    r"|[ -/]*[0-~])"  # any other
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\n]*\x1b?|[ -/]*)\Z|\r\Z")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")
_HELD_LIMIT = 256


def clean(text: str) -> str:
    """The text as it would stand on a screen: no escape sequences, nothing overwritten."""
    if not _CONTROL.search(text):
        return text
    text = _ESCAPE.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(_last_written(line) for line in text.split("\n"))
    if "\b" in text:
        text = _without_overstruck(text)
    return _CONTROL.sub("", text)


def _last_written(line: str) -> str:
    """What is seen of a line that was written again and again, as progress is."""
    return line.rstrip("\r").rpartition("\r")[2]


def _without_overstruck(text: str) -> str:
    """Without what was taken back: manual pages write bold as x, back, x."""
    seen: list[str] = []
    for character in text:
        if character != "\b":
            seen.append(character)
        elif seen and seen[-1] != "\n":
            seen.pop()
    return "".join(seen)


@frozen
class Kept:
    """The beginning and the end of an output, and what lies between.

    Parameters:
        head: the beginning; all of it if `dropped` is 0.
        tail: the end.
        dropped: bytes between the two.
        total: bytes in all.
    """

    head: bytes
    tail: bytes
    dropped: int
    total: int


@define(eq=False)
class HeadAndTail:
    """Takes any number of bytes, keeps the first and the last of them; each piece costs O(1).

    Parameters:
        head_bytes: how many of the first.
        tail_bytes: how many of the last, at least.
    """

    head_bytes: int
    tail_bytes: int
    total: int = 0
    _head: bytearray = field(factory=bytearray)
    _tail: deque[bytes] = field(factory=deque)
    _tail_size: int = 0

    def add(self, piece: bytes) -> None:
        """One more piece."""
        self.total += len(piece)
        if room := self.head_bytes - len(self._head):
            self._head += piece[:room]
            piece = piece[room:]
        if piece:
            self._tail.append(piece[-self.tail_bytes :])
            self._tail_size += len(self._tail[-1])
        while self._tail_size - len(self._tail[0] if self._tail else b"") >= self.tail_bytes:
            self._tail_size -= len(self._tail.popleft())

    def kept(self) -> Kept:
        """What is there now; where something was dropped, cut at line ends if they are near."""
        tail = b"".join(self._tail)
        if self.total == len(self._head) + len(tail):
            return Kept(bytes(self._head) + tail, b"", 0, self.total)
        head, tail = _to_line_end(bytes(self._head)), _from_line_start(tail[-self.tail_bytes :])
        return Kept(head, tail, self.total - len(head) - len(tail), self.total)


def _to_line_end(data: bytes) -> bytes:
    end = data.rfind(b"\n", len(data) // 2)
    return data[: end + 1] if end >= 0 else data


def _from_line_start(data: bytes) -> bytes:
    start = data.find(b"\n", 0, len(data) // 2)
    return data[start + 1 :]


def _decoder() -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder("utf-8")("replace")


@define(eq=False)
class Live:
    """Output on its way to people: in readable pieces, and no more of it than can be looked at.

    Parameters:
        limit_bytes: how much is kept from one `take` to the next.
    """

    limit_bytes: int
    _pending: bytearray = field(factory=bytearray)
    _skipped: int = 0
    _held: str = ""
    _decoder: codecs.IncrementalDecoder = field(factory=_decoder)

    def add(self, piece: bytes) -> bool:
        """One more piece; whether it is the first since the last `take`."""
        first = not self._pending
        room = self.limit_bytes - len(self._pending)
        self._pending += piece[:room]
        self._skipped += max(0, len(piece) - room)
        return first

    def take(self, *, last: bool = False) -> str:
        """What can be shown now; an escape sequence that is not complete waits for its end."""
        text = self._held + self._decoder.decode(bytes(self._pending), last)
        self._pending.clear()
        if text.startswith("\r") and not text.startswith("\r\n"):
            text = "\n" + text[1:]  # it was held: what it overwrites has been shown
        held = _UNFINISHED.search(text)
        cut = (
            held.start()
            if held and not last and len(text) - held.start() < _HELD_LIMIT
            else len(text)
        )
        self._held = text[cut:]
        skipped, self._skipped = self._skipped, 0
        return clean(text[:cut]) + (f"\n[... {skipped} bytes not shown ...]\n" if skipped else "")


class WithoutSecrets:
    """Takes secrets out of bytes that come in pieces; what is no text stays as it is."""

    def __init__(self, cleaner: Cleaner) -> None:
        self._cleaner = cleaner
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def feed(self, data: bytes) -> bytes:
        """The bytes that are complete with these."""
        return _encoded(self._cleaner.feed(self._decoder.decode(data)))

    def end(self) -> bytes:
        """What was held back."""
        rest = self._cleaner.feed(self._decoder.decode(b"", final=True))
        return _encoded(rest + self._cleaner.end())


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
