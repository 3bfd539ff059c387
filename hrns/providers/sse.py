"""Framing of server-sent events (WHATWG HTML, section 9.2): bytes in any pieces in, events out.

Nearly all bytes that arrive are whole events of a `data: ...` line, perhaps with an `event: ...`
line before it, and an empty line behind it: those are split at once. Everything else (other line
ends, comments, other fields, events cut by a read) goes through the line by line reader. Lines are
kept as bytes, so a character that is cut by a read needs no care, and U+2028, which ends a line
elsewhere, does not here.
"""

from __future__ import annotations

from typing import TypeAlias

from ..errors import BrokenStream

__all__ = ["LIMIT_BYTES", "Event", "EventReader"]

Event: TypeAlias = tuple[str, bytes]
"""The name of an event ("" if it has none) and its data."""

LIMIT_BYTES = 32 * 1024 * 1024
"""The most bytes of one event: a line that never ends must not fill the memory."""

_BOM = b"\xef\xbb\xbf"


class EventReader:
    """Reads one stream of server-sent events.

    Parameters:
        limit_bytes: the most bytes of one event.
    """

    __slots__ = (
        "_data",
        "_limit",
        "_name",
        "_pending",
        "_pieces",
        "_plain",
        "_size",
        "_skip_lf",
        "_started",
    )

    def __init__(self, limit_bytes: int = LIMIT_BYTES) -> None:
        self._limit = limit_bytes
        self._started = False  # whether the first line was read
        self._pieces: list[bytes] = []  # of the line that has not ended
        self._pending = 0  # their bytes
        self._data: list[bytes] = []  # lines of the event that has not ended
        self._name = b""
        self._size = 0  # the bytes of those lines
        self._skip_lf = False  # the last byte was a CR, so a LF belongs to it
        self._plain = False  # an event is about to begin

    def feed(self, block: bytes) -> list[Event]:
        """The events that these bytes complete.

        Raises:
            BrokenStream: an event is longer than the limit.
        """
        if self._plain and block[-2:] == b"\n\n" and b"\r" not in block:
            line_ends = block.count(b"\n")
            if block[:6] == b"data: ":
                if line_ends == 2:
                    return [("", block[6:-2])]
                texts = block[6:-2].split(b"\n\ndata: ")
                if line_ends == 2 * len(texts):
                    return [("", text) for text in texts]
            elif block[:7] == b"event: ":
                events = [text.partition(b"\ndata: ") for text in block[7:-2].split(b"\n\nevent: ")]
                if line_ends == 3 * len(events) and all(mark for _, mark, _ in events):
                    return [(name.decode("utf-8", "replace"), data) for name, _, data in events]
        return self._read(block)

    def end(self) -> list[Event]:
        """The last event, if no empty line came after it."""
        return self._read(b"\n\n")

    def _read(self, block: bytes) -> list[Event]:
        """What `feed` does, line by line."""
        events: list[Event] = []
        for line in self._lines(self._with_lf(block)):
            if not line:
                self._end_event(events)
                continue
            self._field(line)
            if len(self._data) == 2 and _are_two(*self._data):
                last = self._data.pop()
                self._end_event(events)
                self._data, self._size = [last], len(last) + 1
        if self._size + self._pending > self._limit:
            raise BrokenStream(f"an event of the stream is longer than {self._limit} bytes")
        self._plain = self._started and not (
            self._pieces or self._data or self._name or self._skip_lf
        )
        return events

    def _end_event(self, events: list[Event]) -> None:
        if self._data:
            events.append((self._name.decode("utf-8", "replace"), b"\n".join(self._data)))
        self._data, self._name, self._size = [], b"", 0

    def _with_lf(self, block: bytes) -> bytes:
        """The bytes with LF for every line end."""
        if self._skip_lf and block:
            self._skip_lf = False
            block = block[1:] if block[0] == 0x0A else block
        if b"\r" in block:
            self._skip_lf = block[-1] == 0x0D
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return block

    def _lines(self, block: bytes) -> list[bytes]:
        """The lines that are complete; the rest is kept."""
        lines = block.split(b"\n")
        rest = lines.pop()
        if lines:
            lines[0] = b"".join((*self._pieces, lines[0]))
            self._pieces, self._pending = [], 0
        if rest:
            self._pieces.append(rest)
            self._pending += len(rest)
        if lines and not self._started:
            lines[0] = lines[0].removeprefix(_BOM)
            self._started = True
        return lines

    def _field(self, line: bytes) -> None:
        """Take a line with something on it: a field, or a comment, which begins with a colon."""
        name, _, value = line.partition(b":")
        value = value[1:] if value[:1] == b" " else value
        if name == b"data":
            self._data.append(value)
            self._size += len(value) + 1
        elif name == b"event":
            self._name = value
        elif name == b"error":  # no field of the standard, but servers put their errors there
            self._name, self._data = b"error", [value]
        elif line[:1] == b"{":  # an object that was written into the stream without any framing
            self._data.append(line)
            self._size += len(line) + 1


def _are_two(first: bytes, second: bytes) -> bool:
    """Whether two lines of data are two events: some servers put no empty line between them.

    No JSON value has a line break between one object and another.
    """
    return (
        first[:1] == b"{"
        and first.rstrip()[-1:] == b"}"
        and (second[:1] == b"{" or second.strip() == b"[DONE]")
    )
