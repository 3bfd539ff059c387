"""Bytes to a server and back: the only module that imports httpx.

Theory of operation. A `Transport` keeps lanes; a lane is a httpx transport with one connection, so
whoever holds the lane knows its socket. Connecting, sending and waiting for the response head
happen on a daemon thread, as looking up a name cannot be interrupted; the caller waits for that
thread or for the cancel flag, whichever comes first. The body is read on the caller's thread. To
wake a blocked read the socket is shut down: closing the response would wait for the same read.

Every fault of httpx, httpcore, ssl and the operating system leaves as one of ours, and names the
host and port: never a key, a query or a user.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from socket import SHUT_RDWR, socket
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from .cancel import Cancel
from .errors import BrokenStream, ConfigError, ProviderError, Unreachable
from .proxies import is_loopback, place, proxy_for
from .workers import Workers

if TYPE_CHECKING:
    from ssl import SSLContext

    import httpx

__all__ = ["Response", "Transport"]

LOOPBACK_HANDSHAKE_S = 4.0
"""The most seconds for TLS with a server of this machine, which has no network to wait for."""

KEEP_ALIVE_S = 60.0
"""How long an unused connection is kept; past it a middle box may have forgotten it silently."""


class Transport:
    """Sends requests and keeps connections open between them. It may be used by many threads.

    Parameters:
        verify: whether TLS certificates are checked.
        ca_file: a file of certificate authorities to trust as well, or "".
        connect_s: the most seconds that connecting may take; TLS on a loopback address gets
            `LOOPBACK_HANDSHAKE_S` at most.
        idle_s: the most seconds without a byte, before the response as well as inside it.
    """

    def __init__(
        self,
        *,
        verify: bool = True,
        ca_file: str = "",
        connect_s: float = 15.0,
        idle_s: float = 300.0,
    ) -> None:
        self.verify = verify
        self.ca_file = ca_file
        self.connect_s = connect_s
        self.idle_s = idle_s
        self._context: SSLContext | None = None
        self._idle: dict[str, list[_Lane]] = {}
        self._finalizer = weakref.finalize(self, _close_lanes, self._idle)

    def open(
        self,
        method: str,
        url: str,
        *,
        headers: Sequence[tuple[str, str]] = (),
        body: bytes = b"",
        cancel: Cancel | None = None,
    ) -> Response:
        """Send a request and return the response as soon as its head has come.

        Redirects are not followed. A kept connection that the server has given up in the meantime
        is replaced unseen.

        Raises:
            Unreachable: there is no connection, or no response came.
            ConfigError: the URL, the proxy or the file of authorities cannot be used.
            Cancelled: `cancel` was set, before or while waiting.
        """
        cancel = cancel or Cancel()
        while True:
            cancel.check()
            lane, kept = self._lane(url)
            request = self._request(method, url, headers, body, lane)
            try:
                return Response(self, lane, lane.send(request, cancel), url, cancel)
            except _Unanswered as fault:
                if not (kept and fault.is_hang_up):
                    raise self._unreachable(fault, lane, url) from fault.cause

    def close(self) -> None:
        """Close the connections that are not in use. The transport stays usable."""
        _close_lanes(self._idle)

    def _lane(self, url: str) -> tuple[_Lane, bool]:
        """A lane to the server, and whether it was used before."""
        with suppress(KeyError, IndexError):
            return self._idle[_origin(url)].pop(), True
        return self._new_lane(url), False

    def _new_lane(self, url: str) -> _Lane:
        _load_httpx()
        import httpx

        proxy = proxy_for(url)
        secure = url.startswith("https:") or (proxy or "").startswith("https:")
        try:
            transport = httpx.HTTPTransport(
                # a context with all authorities costs 20 ms, so plain http goes without
                verify=self._tls() if secure else False,
                trust_env=False,
                proxy=proxy,
                limits=httpx.Limits(max_connections=1, keepalive_expiry=KEEP_ALIVE_S),
            )
        except ImportError as error:
            raise ConfigError(
                f"the proxy {place(proxy or '')} speaks SOCKS, which needs one more package",
                hint='Run `pip install "httpx[socks]"`, or list the server in NO_PROXY.',
            ) from error
        except (ValueError, httpx.InvalidURL) as error:
            raise ConfigError(
                "the proxy that the environment names is not a URL that can be used",
                hint="Look at HTTP_PROXY, HTTPS_PROXY and ALL_PROXY.",
            ) from error
        return _Lane(transport)

    def _tls(self) -> SSLContext:
        if self._context is None:
            self._context = _tls_context(self.verify, self.ca_file)
        return self._context

    def _unreachable(self, fault: _Unanswered, lane: _Lane, url: str) -> ProviderError:
        if lane.shaking_hands and fault.is_time_out:
            return Unreachable(
                f"{place(url)} did not answer the TLS handshake within {self._connect_s(url):g} s",
                hint="Does it speak https? Write http:// in the URL if not.",
                retryable=not _is_here(url),
            )
        return _unreachable(fault.cause, url, self)

    def _connect_s(self, url: str) -> float:
        is_quick = url.startswith("https:") and _is_here(url)
        return min(self.connect_s, LOOPBACK_HANDSHAKE_S) if is_quick else self.connect_s

    def _request(
        self, method: str, url: str, headers: Sequence[tuple[str, str]], body: bytes, lane: _Lane
    ) -> httpx.Request:
        timeout = {
            "connect": self._connect_s(url),
            "read": self.idle_s,
            "write": self.idle_s,
            "pool": None,
        }
        import httpx

        try:
            return httpx.Request(
                method,
                url,
                headers=[("Accept-Encoding", "identity"), *headers],
                content=body or None,
                extensions={"timeout": timeout, "trace": lane.trace},
            )
        except (httpx.InvalidURL, UnicodeError, ValueError) as error:
            raise ConfigError(
                f"a request to {place(url)} cannot be written: its URL or a header is malformed",
                hint="URLs and headers take printable ASCII only.",
            ) from error

    def _give_back(self, lane: _Lane, url: str) -> None:
        if self._finalizer.alive:
            self._idle.setdefault(_origin(url), []).append(lane)


class Response:
    """A response whose head has come.

    Attributes:
        status: the HTTP status.
        headers: by lower-case name; the values of a repeated one are joined by commas.
        place: host and port, for messages.
    """

    def __init__(
        self, transport: Transport, lane: _Lane, head: httpx.Response, url: str, cancel: Cancel
    ) -> None:
        self.status: int = head.status_code
        self.headers: Mapping[str, str] = {k.lower(): v for k, v in head.headers.items()}
        self.place = place(url)
        self._transport = transport
        self._lane: _Lane | None = lane
        self._head = head
        self._url = url
        self._cancel = cancel
        self._over: threading.Event | None = None
        self._shutting = threading.Lock()

    def blocks(self) -> Iterator[bytes]:
        """The body in blocks as they come, uncompressed; to be called once.

        Raises:
            BrokenStream: the connection broke, or nothing came for `idle_s` seconds.
            Cancelled: the flag was set; also while waiting for a block.
        """
        if self._lane is None:
            return
        import httpx

        source: Iterable[bytes] = (
            self._head.iter_bytes()
            if "content-encoding" in self.headers  # although we asked for none
            else cast("httpx.SyncByteStream", self._head.stream)  # iter_raw, without its counting
        )
        is_cancelled = self._cancel.is_set
        with self._cancel.waker(self._lane.shut):
            try:
                for block in source:
                    if is_cancelled():
                        break
                    yield block
            except (httpx.HTTPError, OSError) as error:
                self._cancel.check()
                if self._over is None:
                    raise self._broken(error) from error
        self._cancel.check()

    def read(self, limit_bytes: int) -> bytes:
        """The whole body, or its first bytes if it is longer.

        Raises:
            BrokenStream: the connection broke, or nothing came for `idle_s` seconds.
            Cancelled: the flag was set.
        """
        blocks: list[bytes] = []
        size = 0
        for block in self.blocks():
            blocks.append(block)
            size += len(block)
            if size >= limit_bytes:
                break
        return b"".join(blocks)[:limit_bytes]

    def end_within(self, seconds: float) -> None:
        """From now on the body may end at any time, and ends when these seconds are over.

        So a connection that breaks is no error any more. What counts is the first call.
        """
        if self._over is None and self._lane is not None:
            self._over = over = threading.Event()
            self._lane.workers.start("hrns timer", partial(self._expire, over, seconds))

    def close(self) -> None:
        """Give the connection back, or close it if the body was not read to its end."""
        import httpx

        with self._shutting:  # the timer must not shut the socket of the lane's next user
            lane, self._lane = self._lane, None
        if lane is None:
            return
        if self._over is not None:
            self._over.set()
        with suppress(httpx.HTTPError, OSError):
            self._head.close()
        self._transport._give_back(lane, self._url)  # noqa: SLF001 - the two are one concept

    def _expire(self, over: threading.Event, seconds: float) -> None:
        if not over.wait(seconds):
            with self._shutting:
                if self._lane is not None:
                    self._lane.shut()

    def _broken(self, error: Exception) -> BrokenStream:
        import httpx

        if isinstance(error, httpx.TimeoutException):
            waited = f"{self._transport.idle_s:g} s"
            return BrokenStream(f"{self.place} went silent in the middle of a reply for {waited}")
        if isinstance(error, httpx.DecodingError):
            return BrokenStream(f"{self.place} sent a reply whose compression is broken")
        return BrokenStream(f"{self.place} broke off in the middle of a reply")


class _Unanswered(Exception):
    """A request that got no response head."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(cause)
        self.cause = cause

    @property
    def is_hang_up(self) -> bool:
        """Whether the connection was closed, rather than refused or silent."""
        import httpx

        hang_ups = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)
        return isinstance(self.cause, hang_ups)

    @property
    def is_time_out(self) -> bool:
        """Whether nothing came in time."""
        import httpx

        return isinstance(self.cause, httpx.TimeoutException)


class _Lane:
    """A httpx transport with one connection, and the socket of it."""

    def __init__(self, transport: httpx.HTTPTransport) -> None:
        self._transport = transport
        self.workers = Workers()
        self._socket: socket | None = None
        self._abandoned = False
        self.shaking_hands = False

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Called by httpcore at each step of a request: keeps the newest socket."""
        if ".start_tls." in event:
            self.shaking_hands = not event.endswith(".complete")
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._socket = info["return_value"].get_extra_info("socket")
            if self._abandoned:
                self.shut()

    def shut(self) -> None:
        """Shut the socket, so that whoever is blocked on it wakes. Safe in a signal handler."""
        if self._socket is not None:
            with suppress(OSError):
                # not SSLSocket.shutdown, which would pull TLS from under a blocked read
                socket.shutdown(self._socket, SHUT_RDWR)

    def send(self, request: httpx.Request, cancel: Cancel) -> httpx.Response:
        """The response head.

        Raises:
            _Unanswered: there was none.
            Cancelled: the flag was set; the lane is of no use any more.
        """
        outbox: SimpleQueue[httpx.Response | Exception | None] = SimpleQueue()
        try:
            self.workers.start("hrns request", partial(self._send, request, outbox.put))
            with cancel.waker(lambda: outbox.put(None)):
                answer = outbox.get()
        except BaseException:  # a KeyboardInterrupt, where nobody turns it into a cancel
            self._abandon(None)
            raise
        if cancel.is_set():
            self._abandon(answer)
        cancel.check()
        if isinstance(answer, Exception):
            self.close()
            raise _Unanswered(answer)
        assert answer is not None, "only the waker puts None"  # noqa: S101
        return answer

    def _send(
        self, request: httpx.Request, answered: Callable[[httpx.Response | Exception], object]
    ) -> Callable[[], object]:
        answer: httpx.Response | Exception
        try:
            answer = self._transport.handle_request(request)
        except Exception as error:  # noqa: BLE001 - handed over to who waits
            answer = error

        def tell() -> None:
            answered(answer)
            if self._abandoned:
                self.close()

        return tell

    def _abandon(self, answer: httpx.Response | Exception | None) -> None:
        """Leave the sending thread to itself: it ends soon, and then closes the lane."""
        self._abandoned = True
        self.shut()
        if answer is not None:
            self.close()

    def close(self) -> None:
        """Close the connection."""
        self.shut()
        self._transport.close()
        self.workers.close()


def _close_lanes(idle: dict[str, list[_Lane]]) -> None:
    for lanes in list(idle.values()):
        with suppress(IndexError):
            while True:
                lanes.pop().close()


def _is_here(url: str) -> bool:
    """Whether the server is on this machine; then no proxy stands between."""
    return is_loopback(urlsplit(url).hostname or "")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _load_httpx() -> None:
    """Import httpx without the command line program that its package loads if it can.

    That one pulls in rich, pygments and click; without it, the import takes a third.
    """
    if "httpx" in sys.modules:
        return
    sys.modules["httpx._main"] = None  # type: ignore[assignment]  # makes its import fail
    try:
        import httpx  # noqa: F401
    finally:
        sys.modules.pop("httpx._main", None)


def _tls_context(verify: bool, ca_file: str) -> SSLContext:
    """A context that trusts certifi, the system (SSL_CERT_FILE and SSL_CERT_DIR) and `ca_file`."""
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    import certifi

    context.load_verify_locations(certifi.where())
    context.load_default_certs()
    if ca_file:
        try:
            context.load_verify_locations(ca_file)
        except OSError as error:  # ssl.SSLError is one
            raise ConfigError(
                f"the file of certificate authorities {ca_file} cannot be used: {error}",
                hint="It must hold certificates in PEM form.",
            ) from error
    return context


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _unreachable(error: Exception, url: str, transport: Transport) -> ProviderError:
    """What a request that got no response stands for."""
    import ssl

    import httpx

    where = place(url)
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLError):
            return _tls_fault(cause, where)
    if isinstance(error, httpx.ProxyError):
        return Unreachable(
            f"the proxy {place(proxy_for(url) or '')} does not reach {where}: {error}",
            hint="Look at HTTP_PROXY, HTTPS_PROXY and ALL_PROXY; NO_PROXY lists exceptions.",
        )
    if isinstance(error, httpx.ConnectTimeout):
        return Unreachable(
            f"{where} cannot be reached: no connection within {transport.connect_s:g} s"
        )
    if isinstance(error, httpx.TimeoutException):
        return Unreachable(f"{where} did not answer within {transport.idle_s:g} s")
    if isinstance(error, httpx.ConnectError):
        return _no_connection(error, url)
    if _Unanswered(error).is_hang_up:
        return Unreachable(
            f"{where} closed the connection without an answer, or does not speak HTTP",
            hint="Is it the right port, and is it http or https?",
        )
    return Unreachable(f"{where} cannot be asked: {type(error).__name__}: {error}")


def _no_connection(error: Exception, url: str) -> Unreachable:
    from socket import gaierror

    where = place(url)
    proxy = proxy_for(url)
    through = f" through the proxy {place(proxy)}" if proxy else ""
    for cause in _causes(error):
        if isinstance(cause, gaierror):
            return Unreachable(
                f"{where} cannot be reached{through}: there is no such name",
                hint="Is the host in the URL spelt right, and is the network there?",
            )
        if isinstance(cause, ConnectionRefusedError):
            is_here = _is_here(url)
            return Unreachable(
                f"{where} cannot be reached{through}: nothing listens there",
                hint=f"Is the server {'started' if is_here else 'running'}, and is the port right?",
                retryable=not is_here,
            )
    reason = str(error).partition("] ")[2] or str(error)
    return Unreachable(f"{where} cannot be reached{through}: {reason}")


def _tls_fault(error: Exception, where: str) -> Unreachable:
    text = str(error)
    if "CERTIFICATE_VERIFY_FAILED" in text:
        reason = getattr(error, "verify_message", "") or "it does not verify"
        return Unreachable(
            f"the TLS certificate of {where} is not trusted: {reason}",
            hint='Name its authority as "caFile", or set "skipVerify" if you know the server.',
            retryable=False,
        )
    if "WRONG_VERSION_NUMBER" in text or "RECORD_LAYER_FAILURE" in text:
        return Unreachable(
            f"{where} does not speak TLS",
            hint="Write http:// in the URL if that is what it speaks.",
            retryable=False,
        )
    return Unreachable(f"no TLS connection to {where}: {text}")
