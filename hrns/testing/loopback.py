"""A real HTTP/1.1 server on 127.0.0.1 that sends given bytes in given pieces.

Theory of operation: one thread accepts, one thread serves each connection, request after request.
A pause waits for the socket to become readable, so it ends when the client goes away and, since
`close` shuts every socket down, when the server is closed. Nothing outlives `close`.
"""

from __future__ import annotations

import json
import math
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from attrs import field, frozen

from .scripted import Cut, ScriptExhausted, Wait

if TYPE_CHECKING:
    from ssl import SSLContext

__all__ = ["Answer", "LoopbackServer", "Raw", "Received", "json_answer"]

Piece: TypeAlias = bytes | Wait | Cut


def _pieces(given: bytes | Iterable[Piece]) -> tuple[Piece, ...]:
    return (given,) if isinstance(given, bytes) else tuple(given)


def _pairs(given: Mapping[str, str] | Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(given.items() if isinstance(given, Mapping) else given)


@frozen
class Answer:
    """An HTTP response. Each piece of bytes is written on its own, and is a chunk of its own.

    A client may still read two pieces at once, unless a `Wait` stands between them.

    ::

        Answer(chat_stream("Hello."))
        Answer([sse(first), Wait(0.05), sse(second), Cut()])      # a stream that breaks
        Answer([sse(first), Wait()])                              # a stream that stalls
        Answer([b'{"id', Cut(), b'": 1}'], framing="length")      # shorter than announced
        Answer(b"slow down", status=429, headers={"Retry-After": "1"}, content_type="text/plain")

    Parameters:
        body: bytes, or pieces of it with `Wait` and `Cut` among them.
        status: the HTTP status.
        headers: more headers, as a mapping or pairs; they may repeat.
        content_type: that header; "" leaves it out.
        framing: `chunked`; `length`, which counts also what stands behind a `Cut`; or `close`,
            where only the end of the connection ends the body.
    """

    body: tuple[Piece, ...] = field(default=(), converter=_pieces)
    status: int = 200
    headers: tuple[tuple[str, str], ...] = field(default=(), converter=_pairs)
    content_type: str = "text/event-stream"
    framing: Literal["chunked", "length", "close"] = "chunked"

    @property
    def wire(self) -> Iterator[Piece]:
        """What is sent: the head, the body in its framing, the end of it."""
        yield self._head()
        for piece in self.body:
            if isinstance(piece, bytes) and self.framing == "chunked":
                if piece:  # an empty chunk would end the body
                    yield b"%x\r\n%b\r\n" % (len(piece), piece)
            else:
                yield piece
        if self.framing == "chunked":
            yield b"0\r\n\r\n"
        elif self.framing == "close":
            yield Cut()

    def _head(self) -> bytes:
        size = sum(len(piece) for piece in self.body if isinstance(piece, bytes))
        framing = {
            "chunked": ("Transfer-Encoding", "chunked"),
            "length": ("Content-Length", str(size)),
            "close": ("Connection", "close"),
        }[self.framing]
        content_type = [("Content-Type", self.content_type)] if self.content_type else []
        lines = [f"HTTP/1.1 {self.status} {_phrase(self.status)}"]
        lines += [f"{name}: {value}" for name, value in (*content_type, framing, *self.headers)]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


@frozen
class Raw:
    r"""Bytes in place of an HTTP response, and nothing added to them.

    ::

        Raw([Wait()])                                       # a server that never answers
        Raw([Cut()])                                        # one that hangs up
        Raw([b"HTTP/1.0 200 OK\r\n\r\nhello", Cut()])       # one of another age
    """

    body: tuple[Piece, ...] = field(converter=_pieces)

    @property
    def wire(self) -> Iterator[Piece]:
        """What is sent."""
        return iter(self.body)


@frozen
class Received:
    """A request as it arrived.

    Parameters:
        method: such as `POST`.
        path: the target as it was sent, query included.
        headers: by lower-case name; the values of a repeated one are joined by commas.
        body: the body, unframed.
        connection: 1 for the requests on the first connection, and so on.
    """

    method: str
    path: str
    headers: Mapping[str, str] = field(hash=False)
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)


def json_answer(
    value: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Answer:
    """An answer whose body is this value as JSON."""
    body = json.dumps(value, ensure_ascii=False).encode()
    return Answer(body, status, headers or {}, "application/json", "length")


Reaction: TypeAlias = Answer | Raw | bytes
Answers: TypeAlias = Reaction | Sequence[Reaction] | Callable[[Received], Reaction]


class LoopbackServer:
    """A server for one test; use it as a context manager.

    ::

        with LoopbackServer([Raw([Cut()]), chat_stream("Hello.")]) as server:
            ...  # a client of server.url
        assert [request.path for request in server.requests] == ["/v1/chat/completions"] * 2

    Parameters:
        answers: one answer for every request; or a sequence, one for each in order of arrival; or
            a function from the request to the answer. Bytes stand for `Answer(bytes)`.
        tls: wraps each connection if it is given; `url` then begins with https.

    A request beyond the sequence is answered with status 500, and `close` raises.

    Attributes:
        url: without a slash at the end.
        port: the port in it.
        requests: what arrived, in order.
        aborted: those whose client went away before the answer was complete.
    """

    def __init__(self, answers: Answers, *, tls: SSLContext | None = None) -> None:
        self.requests: list[Received] = []
        self.aborted: list[Received] = []
        self._answer = _chooser(answers)
        self._faults: list[Exception] = []
        self._tls = tls
        self._changed = threading.Condition()
        self._closed = False
        self._serving: list[tuple[_Connection, threading.Thread]] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self._acceptor = _started(self._accept)

    def wait_for(self, happened: Callable[[LoopbackServer], object], timeout_s: float = 20) -> bool:
        """Wait until `happened(server)` is true; returns whether it is.

        It is asked again whenever a request arrives or is aborted::

            assert server.wait_for(lambda server: server.aborted)
        """
        with self._changed:
            return self._changed.wait_for(lambda: bool(happened(self)), timeout_s)

    def close(self) -> None:
        """Close every connection, end every thread; the second time it does nothing.

        Raises:
            ScriptExhausted: a request came that no answer was left for.
            Exception: what the function that chooses answers raised.
        """
        if self._closed:
            return
        self._closed = True
        with suppress(OSError):  # a connection of our own wakes `accept` on every system
            socket.create_connection(("127.0.0.1", self.port)).close()
        self._acceptor.join()
        self._listener.close()
        for connection, thread in self._serving:
            connection.shut()
            thread.join()
        if self._faults:
            raise self._faults[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self.close()
        except Exception as fault:
            if error is None:
                raise
            error.add_note(f"The loopback server: {fault}")

    def _accept(self) -> None:
        while True:
            accepted, _ = self._listener.accept()
            if self._closed:
                accepted.close()
                return
            try:
                connection = _Connection(accepted, self._tls, number=len(self._serving) + 1)
            except OSError:  # the client is gone already
                accepted.close()
            else:
                self._serving.append((connection, _started(self._serve, connection)))

    def _serve(self, connection: _Connection) -> None:
        with connection, suppress(_Gone):
            keep_alive = True
            while keep_alive:
                received = connection.read_request()
                position = self._note(self.requests, received)
                try:
                    keep_alive = connection.play(self._react(position, received).wire)
                except _Gone:
                    if not self._closed:
                        self._note(self.aborted, received)
                    raise
                keep_alive = keep_alive and received.headers.get("connection") != "close"

    def _note(self, log: list[Received], received: Received) -> int:
        """Keep it, and return its position."""
        with self._changed:
            log.append(received)
            self._changed.notify_all()
            return len(log) - 1

    def _react(self, position: int, received: Received) -> Answer | Raw:
        try:
            answer = self._answer(position, received)
        except Exception as fault:  # noqa: BLE001 - the test's own function; `close` raises it
            self._faults.append(fault)
            return Answer(str(fault).encode(), status=500, content_type="text/plain")
        return Answer(answer) if isinstance(answer, bytes) else answer


class _Gone(Exception):
    """The other side of a connection is no longer there."""


class _Connection:
    """One connection: reads requests, plays answers, closes."""

    def __init__(self, accepted: socket.socket, tls: SSLContext | None, number: int) -> None:
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._number = number
        self._buffer = bytearray()
        self._socket = accepted
        if tls:  # the first read shakes hands, in the thread of the connection
            self._socket = tls.wrap_socket(
                accepted, server_side=True, do_handshake_on_connect=False
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def shut(self) -> None:
        """Wake the thread of the connection, wherever it waits; close() would not."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def read_request(self) -> Received:
        """The next request; raises `_Gone` if there is none, or if this is not HTTP."""
        while not self._buffer:
            self._fill()
        if not self._buffer[:1].isalpha():  # TLS, perhaps, which would wait for us as we for it
            raise _Gone
        line, *fields = self._until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        method, path, _version = line.split(" ", 2)
        headers = _headers(fields)
        if headers.get("transfer-encoding") == "chunked":
            body = b"".join(self._chunks())
        else:
            body = self._exactly(int(headers.get("content-length", "0")))
        return Received(method, path, headers, body, self._number)

    def play(self, pieces: Iterable[Piece]) -> bool:
        """Send the pieces; False if one of them ended the connection."""
        for piece in pieces:
            match piece:
                case Wait(seconds):
                    self._wait(seconds)
                case Cut(reset):
                    if reset:  # no lingering: the kernel drops the connection with an RST
                        linger = struct.pack("ii", 1, 0)
                        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    return False
                case _:
                    self._write(piece)
        return True

    def _write(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise _Gone from error

    def _wait(self, seconds: float) -> None:
        """Let the time pass; what arrives meanwhile is kept, `_Gone` is raised at once."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._socket.settimeout(None if math.isinf(left) else left)
            with suppress(TimeoutError):
                self._fill()
        self._socket.settimeout(None)

    def _fill(self) -> None:
        try:
            data = self._socket.recv(65536)
        except TimeoutError:
            raise
        except OSError as error:
            raise _Gone from error
        if not data:
            raise _Gone
        self._buffer += data

    def _exactly(self, size: int) -> bytes:
        while len(self._buffer) < size:
            self._fill()
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def _until(self, mark: bytes) -> bytes:
        """Everything before the mark, which is dropped."""
        while (end := self._buffer.find(mark)) < 0:
            self._fill()
        return self._exactly(end + len(mark))[:end]

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self._until(b"\r\n"), 16):
            yield self._exactly(size)
            self._until(b"\r\n")
        self._until(b"\r\n")


def _started(target: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=target, args=arguments, name="loopback server", daemon=True)
    thread.start()
    return thread


def _headers(fields: Iterable[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for each in fields:
        name, _, value = each.partition(":")
        key, value = name.lower(), value.strip()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return headers


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:  # such as 529
        return "Unknown"


def _chooser(answers: Answers) -> Callable[[int, Received], Reaction]:
    """The answer to the request that arrived at a position, counted from 0."""
    if isinstance(answers, Answer | Raw | bytes):
        return lambda _position, _received: answers
    if callable(answers):
        return lambda _position, received: answers(received)
    in_order = tuple(answers)

    def answer_at(position: int, received: Received) -> Reaction:
        if position < len(in_order):
            return in_order[position]
        raise ScriptExhausted(f"no answer is left for {received.method} {received.path}")

    return answer_at
