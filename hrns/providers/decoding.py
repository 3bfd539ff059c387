"""What the decoders of all protocols share: framing, whole bodies, half characters, call ids."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from json import JSONDecoder
from typing import Any, Protocol

from ..errors import BrokenStream, ProviderError
from .base import Delta, Finish, PartText, ProviderNotice
from .faults import Report, fault, read_report
from .jsontext import compact, loads
from .sse import LIMIT_BYTES, Event, EventReader

__all__ = [
    "CallIds",
    "EventDecoder",
    "HalfCharacters",
    "Reader",
    "is_end_mark",
    "no_call",
    "no_reply",
    "stray_fault",
]

_MISFITS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What JSON of another shape than expected raises where it is taken apart."""

_BOM = b"\xef\xbb\xbf"

_SHOWN = 200
"""How much of what cannot be read is quoted, in bytes or characters."""

_KEEP_ALIVES = ("ping", "heartbeat", "keepalive", "keep-alive", "keep_alive")
"""What events without JSON are called, or say, that only keep a connection open."""


class Reader(Protocol):
    """Cuts bytes in any pieces into events."""

    def feed(self, block: bytes) -> list[Event]:
        """The events that these bytes complete."""

    def end(self) -> list[Event]:
        """The last event, if nothing ended it."""


class EventDecoder:
    """Reads a reply that comes as server-sent events, or as one JSON body all the same.

    A protocol overrides `take`, `body` and `complete`.

    Parameters:
        reader: cuts the bytes into events, where they are no server-sent ones.

    Attributes:
        finishing: whether the provider has said how the reply ends. What may still come is usage
            and the mark of the end, so it need not be waited for long.
        left: what came before the event that `feed` raised for, in the same bytes.
        stray: an event that is no part of a reply but says something: if the reply is not
            complete, this is why.
    """

    def __init__(self, reader: Reader | None = None) -> None:
        self.finishing = False
        self.left: list[Delta] = []
        self.stray: dict[str, Any] | None = None
        self._events = reader or EventReader()
        self._streaming = reader is not None  # whether it is certain that this is a stream
        self._head = b""  # the beginning
        self._has_events = False
        self._whole: list[bytes] = []  # a body that is no stream
        self._whole_size = 0
        self._ended = False
        self._parts = 0  # how many have begun

    def feed(self, data: bytes) -> list[Delta]:
        """The deltas that these bytes complete.

        Raises:
            ProviderError: the server reports an error, or these are not bytes of the protocol.
        """
        if not self._streaming:
            data = self._begin(data)
            if not self._streaming:
                return []
        self._head = self._head or data[:200]
        events = self._events.feed(data)
        return self._taken(events) if events else []

    def end(self) -> list[Delta]:
        """What was held back, `Finish` last; nothing if that was given already.

        Raises:
            BrokenStream: the provider never said that the reply is complete.
        """
        if self._ended:
            return []
        if self._whole:
            return self._read_whole(b"".join(self._whole))
        events = self._events.end()
        deltas = self._taken(events) if events else []
        if deltas and isinstance(deltas[-1], Finish):
            return deltas
        if not self.finishing:
            raise self._cut_off()
        return [*deltas, *self._finished()]

    def take(self, events: Iterable[Event], deltas: list[Delta]) -> bool:
        """Append what events stand for; returns whether the mark of the end was among them."""
        raise NotImplementedError

    def body(self, value: dict[str, Any], deltas: list[Delta]) -> None:
        """Append what a whole JSON body stands for.

        Raises:
            ProviderError: it is an error, or no reply.
        """
        raise NotImplementedError

    def complete(self, deltas: list[Delta]) -> Finish:
        """Append what was held back; returns how the reply ended."""
        raise NotImplementedError

    def parse(self, name: str, data: bytes) -> dict[str, Any] | None:
        """The JSON object of an event; None if there is none in it.

        Raises:
            ProviderError: the event is an error, or not JSON.
        """
        try:
            value = loads(_without_prefixes(data))
        except ValueError as error:
            if not data.strip() or _is_keep_alive(name, data):
                return None
            if name == "error":
                raise fault(Report(data.decode("utf-8", "replace"))) from None
            raise BrokenStream(
                f"the stream has an event that is not JSON: {error}: {_excerpt(data)!r}"
            ) from error
        if name == "error":
            raise fault(read_report(value), body=data.decode("utf-8", "replace"))
        if value is not None and not isinstance(value, dict):
            raise BrokenStream(f"the stream has an event that is no JSON object: {_excerpt(data)}")
        return value

    def _cut_off(self) -> ProviderError:
        if self.stray is not None:
            return stray_fault(self.stray)
        said = _excerpt(self._head)
        if said and not self._has_events:
            return BrokenStream(f"the server answered with something that is no reply: {said!r}")
        if said and not self._parts:
            return BrokenStream(f"the stream ended before a reply began; it says {said!r}")
        return BrokenStream(
            "the reply broke off: the server closed it without saying that it is complete"
        )

    def _taken(self, events: list[Event]) -> list[Delta]:
        deltas: list[Delta] = []
        self._has_events = True
        if self._ended:
            return deltas
        try:
            if self.take(events, deltas):
                deltas += self._finished()
        except ProviderError:
            self.left = deltas
            raise
        except _MISFITS as error:
            self.left = deltas
            raise BrokenStream("an event of the stream does not fit the protocol") from error
        return deltas

    def _finished(self) -> list[Delta]:
        deltas: list[Delta] = []
        finish = self.complete(deltas)
        self._ended = self.finishing = True
        return [*deltas, finish]

    def _begin(self, data: bytes) -> bytes:
        """Keep the data of a whole body; the data itself as soon as this must be a stream."""
        if self._whole:
            self._keep(data)
            return b""
        data = self._head + data
        start = b"" if _BOM.startswith(data) else data.removeprefix(_BOM).lstrip()[:1]
        if start in (b"{", b"["):
            self._keep(data)
        else:
            self._streaming = bool(start)
            self._head = data[:200]
        return data

    def _keep(self, data: bytes) -> None:
        self._whole.append(data)
        self._whole_size += len(data)
        if self._whole_size > LIMIT_BYTES:
            raise BrokenStream(f"the reply is longer than {LIMIT_BYTES} bytes")

    def _read_whole(self, data: bytes) -> list[Delta]:
        data = data.removeprefix(_BOM)
        try:
            value = loads(data)
        except ValueError as error:
            events = _objects(data)
            if len(events) < 2:
                raise BrokenStream(f"the reply is cut off, or is not JSON: {error}") from error
        else:
            return self.read(value)
        deltas = self._taken(events)
        if not self._ended:
            if not self.finishing:
                raise self._cut_off()
            deltas += self._finished()
        return deltas

    def read(self, value: Any) -> list[Delta]:
        """The deltas of a whole JSON body.

        Raises:
            ProviderError: it is an error, or no reply.
        """
        if not isinstance(value, dict):
            raise fault(read_report(value))
        deltas: list[Delta] = []
        try:
            self.body(value, deltas)
            return [*deltas, *self._finished()]
        except _MISFITS as error:
            raise BrokenStream("the reply does not fit the protocol") from error


def no_reply(value: Any) -> BrokenStream:
    """The error for a whole JSON body that is neither a reply nor an error."""
    shown = compact(value)[:_SHOWN]
    return BrokenStream(f"the server answered with JSON that is no reply: {shown}")


def no_call() -> ProviderNotice:
    """What a person is told of a reply that ended for a call which is not in it."""
    return ProviderNotice(
        "the server says that a tool is called, but there is no call in its reply"
    )


def stray_fault(value: Mapping[str, Any]) -> ProviderError:
    """The error that an event stands for which is no part of a reply."""
    report = read_report(value)
    text = compact(value)
    return fault(report if report.message else report._replace(message=text[:_SHOWN]), body=text)


def is_end_mark(data: bytes) -> bool:
    """Whether data is the mark of the end, `[DONE]`, however it is written."""
    return _without_prefixes(data).strip(b' "').upper() in (b"[DONE]", b"DONE")


def _without_prefixes(data: bytes) -> bytes:
    """Data without a second `data:`, which is there where a stream was framed twice."""
    while data[:5] == b"data:":
        data = data[5:].lstrip()
    return data


def _is_keep_alive(name: str, data: bytes) -> bool:
    return name in _KEEP_ALIVES or data.strip(b' ":').decode("utf-8", "replace") in _KEEP_ALIVES


def _excerpt(data: bytes) -> str:
    """The beginning of data as one line of text, to be quoted."""
    return " ".join(data[:_SHOWN].decode("utf-8", "replace").split())


def _objects(data: bytes) -> list[Event]:
    """The objects that stand one behind another where one was expected, and what events follow."""
    text = data.decode("utf-8", "replace")
    found: list[Event] = []
    at = 0
    while text.startswith("{", at):
        try:
            _, end = JSONDecoder().raw_decode(text, at)
        except (ValueError, RecursionError):
            return []
        found.append(("", text[at:end].encode()))
        while text[end : end + 1].isspace():
            end += 1
        at = end
    reader = EventReader()
    rest = text[at:].encode()
    return [*found, *reader.feed(rest), *reader.end()] if found else []


class HalfCharacters:
    r"""Joins characters whose two halves (`\ud83d`, `\ude00`) came in different events.

    A half that finds no other becomes U+FFFD.
    """

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: dict[int, str] = {}

    def join(self, index: int, text: str) -> str:
        """More text of a part, without the half character at its end."""
        text = self._held.pop(index, "") + text
        if text and "\ud800" <= text[-1] <= "\udbff":
            self._held[index] = text[-1]
            text = text[:-1]
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def end(self) -> list[Delta]:
        """What was held back."""
        held, self._held = self._held, {}
        return [PartText(index, "\ufffd") for index in held]


class CallIds:
    """Gives each tool call of a reply an id that no other call of the conversation has.

    Parameters:
        known: gives the ids of the conversation that the reply continues.
    """

    __slots__ = ("_known", "_own", "reply_id")

    def __init__(self, known: Callable[[], Container[str]] = tuple) -> None:
        self._known = known
        self._own: set[str] = set()
        self.reply_id = ""

    def claim(self, wanted: str) -> str:
        """The id that was wanted, if it is free; else one made from the id of the reply."""
        known = self._known()
        free = wanted
        while not free or free in self._own or free in known:
            free = self._made(len(self._own))
        self._own.add(free)
        return free

    def _made(self, number: int) -> str:
        import hashlib
        import os

        if not self.reply_id:
            self.reply_id = os.urandom(12).hex()
        seed = f"{self.reply_id}/{number}".encode()
        self.reply_id += "+"  # another one, should this be taken as well
        return "call_" + hashlib.sha256(seed).hexdigest()[:24]
