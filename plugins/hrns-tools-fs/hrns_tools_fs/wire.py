"""One GET over HTTP/1.1 to an address that was chosen before (RFC 9110, RFC 9112).

The caller names the addresses; nothing here looks a name up. Each phase has a time limit of its
own, and `Line.cut` ends all of it from another thread.
"""

from __future__ import annotations

import http.client
import re
import socket
import ssl
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TypeAlias
from urllib.parse import quote, unquote, urlsplit

from attrs import field, frozen

from hrns import __version__
from hrns.errors import ToolFailure

__all__ = ["Dial", "Line", "Proxy", "Response", "Target", "dial", "get"]

CONNECT_S = 10.0
HEAD_S = 30.0
READ_S = 20.0
PIECE_BYTES = 64 * 1024

_PORTS = {"http": 80, "https": 443}
_HEADERS = {
    "User-Agent": f"hrns/{__version__}",
    "Accept": "text/markdown, text/html;q=0.9, text/plain;q=0.9, */*;q=0.5",
    "Accept-Encoding": "gzip",
    "Connection": "close",
}
_OTHER_PACKING = re.compile(r"\b(?:br|compress|deflate|gzip|zstd)\b")
_SAFE = "/%:@!$&'()*+,;=-._~?"

Dial: TypeAlias = Callable[[str, int, float], socket.socket]
"""`(address, port, timeout_s)` gives a connected socket."""


def dial(address: str, port: int, timeout_s: float) -> socket.socket:
    """A connection to an address, which is no name."""
    return socket.create_connection((address, port), timeout_s)


class Line:
    """The connection that is open now, to be cut from any thread."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._cut = False

    def take(self, connected: socket.socket) -> None:
        """The connection is this one now; it ends at once if the line was cut before."""
        self._socket = connected
        if self._cut:
            self.cut()

    def cut(self) -> None:
        """End what is under way: a read that waits returns."""
        self._cut = True
        if self._socket is not None:
            with suppress(OSError):  # it ended by itself
                # Not SSLSocket.shutdown, which forgets that the connection was encrypted.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


@frozen
class Target:
    """Where a GET goes.

    Parameters:
        url: the whole URL.
        secure: whether over TLS.
        host: the name or address, as ASCII, without brackets.
        port: the port.
        path: path and query, as they are sent.
    """

    url: str
    secure: bool
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, url: str) -> Target:
        """The target that a URL names.

        Raises:
            ToolFailure: it is no URL that can be fetched.
        """
        try:
            parts = urlsplit(url)
            port = parts.port
            host = (parts.hostname or "").encode("idna").decode("ascii")
        except ValueError as error:
            raise ToolFailure(f"{url!r} is no URL: {error}") from error
        if parts.scheme not in _PORTS:
            raise ToolFailure(f"only http:// and https:// URLs are fetched, not {url[:200]!r}")
        if not host or "\\" in parts.netloc or parts.username is not None:
            raise ToolFailure(
                f"{url!r} names no host that can be fetched"
                + (" (user names and passwords are not sent)" if parts.username else "")
            )
        path = quote(parts.path or "/", _SAFE) + (
            f"?{quote(parts.query, _SAFE)}" if parts.query else ""
        )
        return cls(url, parts.scheme == "https", host, port or _PORTS[parts.scheme], path)

    @property
    def authority(self) -> str:
        """Host and port as the Host field has them: the port only if it is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = _PORTS["https" if self.secure else "http"]
        return host if self.port == usual else f"{host}:{self.port}"


@frozen
class Proxy:
    """An HTTP proxy, which finds hosts itself.

    Parameters:
        host: its name or address.
        port: its port.
        authorization: what it is to be told of who asks, or "".
    """

    host: str
    port: int
    authorization: str

    @classmethod
    def parse(cls, url: str) -> Proxy:
        """The proxy that a URL of the environment names.

        Raises:
            ToolFailure: it is none, or of a kind that is not known here.
        """
        parts = urlsplit(url)
        if parts.scheme != "http" or not parts.hostname:
            raise ToolFailure("the proxy that the environment names is no http:// URL")
        user = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        basic = f"Basic {b64encode(user.encode()).decode()}" if parts.username else ""
        return cls(parts.hostname, parts.port or _PORTS["http"], basic)

    @property
    def headers(self) -> dict[str, str]:
        """What a request to it carries."""
        return {"Proxy-Authorization": self.authorization} if self.authorization else {}


@frozen
class Response:
    """The head of an answer, and its body to be read once."""

    status: int
    reason: str
    headers: http.client.HTTPMessage = field(repr=False)
    _message: http.client.HTTPResponse = field(repr=False)
    _socket: socket.socket = field(repr=False)

    def body(self) -> Iterator[bytes]:
        """The body in pieces, unpacked.

        Raises:
            ToolFailure: it breaks off, or cannot be unpacked.
        """
        try:
            yield from _unpacked(self._pieces(), self.headers.get("Content-Encoding", ""))
        except (OSError, http.client.HTTPException, zlib.error) as error:
            what = str(error) or type(error).__name__
            raise ToolFailure(f"the answer broke off: {what}") from error

    def close(self) -> None:
        """The rest is not wanted."""
        self._message.close()
        self._socket.close()

    def _pieces(self) -> Iterator[bytes]:
        while piece := self._message.read1(PIECE_BYTES):
            yield piece
        if self._message.length:
            raise http.client.IncompleteRead(b"", self._message.length)


def get(
    target: Target, addresses: Sequence[str], line: Line, dialler: Dial, proxy: Proxy | None
) -> Response:
    """Ask one of the addresses, the first that takes the connection; or the proxy.

    Raises:
        ToolFailure: there is no connection, or no answer, or none that can be read.
    """
    connected = _connected(target, addresses, line, dialler, proxy)
    plainly_proxied = proxy is not None and not target.secure
    path = f"http://{target.authority}{target.path}" if plainly_proxied else target.path
    headers = {**_HEADERS, **(proxy.headers if proxy and plainly_proxied else {})}
    connection = http.client.HTTPConnection(target.host, target.port)
    connection.sock = connected
    try:
        connected.settimeout(HEAD_S)
        connection.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", target.authority)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        message = connection.getresponse()
        connected.settimeout(READ_S)
    except (OSError, http.client.HTTPException) as error:
        connected.close()
        what = str(error) or type(error).__name__
        raise ToolFailure(f"{target.authority} gave no answer: {what}") from error
    return Response(message.status, message.reason, message.msg, message, connected)


def _connected(
    target: Target, addresses: Sequence[str], line: Line, dialler: Dial, proxy: Proxy | None
) -> socket.socket:
    faults = []
    port = proxy.port if proxy else target.port
    for address in [proxy.host] if proxy else addresses:
        try:
            connected = dialler(address, port, CONNECT_S)
        except OSError as error:
            faults.append(f"{address}: {error}")
            continue
        line.take(connected)
        try:
            if proxy and target.secure:
                _tunnel(connected, target, proxy)
            return _secured(connected, target, line) if target.secure else connected
        except OSError as error:  # ssl.SSLError is one
            connected.close()
            faults.append(f"{address}: {error}")
    raise ToolFailure(f"{target.authority} cannot be reached: {'; '.join(faults)}")


def _tunnel(connected: socket.socket, target: Target, proxy: Proxy) -> None:
    """Have the proxy connect us to the target (RFC 9110 section 9.3.6)."""
    host = f"[{target.host}]" if ":" in target.host else target.host
    place = f"{host}:{target.port}"
    lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}"]
    lines += [f"{name}: {value}" for name, value in proxy.headers.items()]
    connected.sendall("\r\n".join([*lines, "", ""]).encode("ascii"))
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = connected.recv(1)  # what follows the head is not ours to take
        if not byte or len(head) > PIECE_BYTES:
            raise OSError("the proxy gave no answer")
        head += byte
    status = head.split(b"\r\n")[0].decode("latin-1")
    if status.split()[1:2] != ["200"]:
        raise OSError(f"the proxy refused: {status}")


def _secured(connected: socket.socket, target: Target, line: Line) -> socket.socket:
    context = ssl.create_default_context()
    if not context.get_ca_certs() and (bundle := _bundle()):
        context.load_verify_locations(bundle)
    wrapped = context.wrap_socket(
        connected, server_hostname=target.host, do_handshake_on_connect=False
    )
    line.take(wrapped)
    try:
        wrapped.do_handshake()
    except BaseException:
        wrapped.close()
        raise
    return wrapped


def _bundle() -> str:
    """The authorities that httpx brings, for a system that has none of its own."""
    import certifi

    return certifi.where()


def _unpacked(pieces: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """The pieces, unpacked if they are packed; each at most `PIECE_BYTES` long."""
    encoding = encoding.strip().lower()
    if encoding in ("gzip", "x-gzip"):
        yield from _gunzipped(pieces)
    elif _OTHER_PACKING.search(encoding):
        raise ToolFailure(f"the answer is packed by {encoding}, which nobody asked for")
    else:
        yield from pieces


def _gunzipped(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces of a file of gzip, which may consist of several (RFC 1952 section 2.2)."""
    unpacker = None
    for piece in pieces:
        packed = piece
        while packed:
            if unpacker is not None and unpacker.eof and packed[:1] != b"\x1f":
                return  # some pad the end
            if unpacker is None or unpacker.eof:
                unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
            yield unpacker.decompress(packed, PIECE_BYTES)
            packed = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
    if unpacker is not None and not unpacker.eof:
        raise zlib.error("the packed body is not complete")
