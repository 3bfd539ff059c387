"""Bytes to real servers on the loopback and back, and every way in which that fails."""

from __future__ import annotations

import gzip
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hrns.cancel import Cancel
from hrns.errors import BrokenStream, Cancelled, ConfigError, ProviderError, Unreachable
from hrns.proxies import place, proxy_for
from hrns.testing import Answer, Cut, LoopbackServer, Raw, Wait
from hrns.transport import Response, Transport

PROXY_NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXY_NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def transport() -> Iterator[Transport]:
    transport = Transport(connect_s=40, idle_s=40)
    yield transport
    transport.close()


def whole(response: Response) -> bytes:
    body = b"".join(response.blocks())
    response.close()
    return body


@contextmanager
def soon() -> Iterator[None]:
    """Inside the block something is woken that would otherwise wait for 40 seconds or longer."""
    started = time.monotonic()
    yield
    assert time.monotonic() - started < 20


def test_request_and_response_arrive_whole(transport: Transport) -> None:
    answer = Answer([b"one", b"two"], status=201, headers=[("X-A", "1"), ("X-A", "2")])
    with LoopbackServer(answer) as server:
        response = transport.open(
            "POST", f"{server.url}/path?q=1", headers=[("X-Own", "yes")], body=b"body"
        )
        assert (response.status, response.headers["x-a"]) == (201, "1, 2")
        assert response.place == f"127.0.0.1:{server.port}"
        assert whole(response) == b"onetwo"
        (request,) = server.requests
        assert (request.method, request.path, request.body) == ("POST", "/path?q=1", b"body")
        assert request.headers["x-own"] == "yes"
        assert request.headers["accept-encoding"] == "identity"


def test_connection_is_kept_when_the_body_was_read(transport: Transport) -> None:
    with LoopbackServer(Answer(b"x")) as server:
        for _ in range(3):
            whole(transport.open("GET", server.url))
        assert [request.connection for request in server.requests] == [1, 1, 1]


def test_connection_is_dropped_when_the_body_was_left_unread(transport: Transport) -> None:
    with LoopbackServer(Answer([b"x" * 100, Wait(0.2), b"y"])) as server:
        transport.open("GET", server.url).close()
        whole(transport.open("GET", server.url))
        assert [request.connection for request in server.requests] == [1, 2]


def test_two_responses_at_once_have_a_connection_each(transport: Transport) -> None:
    with LoopbackServer(lambda request: request.path.encode()) as server:
        first = transport.open("GET", f"{server.url}/1")
        second = transport.open("GET", f"{server.url}/2")
        assert (whole(second), whole(first)) == (b"/2", b"/1")
        assert {request.connection for request in server.requests} == {1, 2}


def test_connection_that_the_server_gave_up_is_replaced_unseen(transport: Transport) -> None:
    # the head comes and the connection goes: the second request on it gets no answer at all
    with LoopbackServer([Answer(b"1"), Raw([Cut()]), Answer(b"2")]) as server:
        assert whole(transport.open("POST", server.url, body=b"a")) == b"1"
        assert whole(transport.open("POST", server.url, body=b"b")) == b"2"
        assert [request.body for request in server.requests] == [b"a", b"b", b"b"]


def test_compressed_body_is_read_although_none_was_asked_for(transport: Transport) -> None:
    packed = gzip.compress(b"plain" * 100)
    with LoopbackServer(
        Answer([packed[:30], packed[30:]], headers={"Content-Encoding": "gzip"})
    ) as s:
        assert whole(transport.open("GET", s.url)) == b"plain" * 100


def test_broken_compression_is_a_broken_stream(transport: Transport) -> None:
    with LoopbackServer(Answer(b"no gzip", headers={"Content-Encoding": "gzip"})) as server:
        response = transport.open("GET", server.url)
        with pytest.raises(BrokenStream, match="compression"):
            whole(response)


def test_body_longer_than_the_limit_is_cut(transport: Transport) -> None:
    with LoopbackServer(Answer([b"x" * 1000] * 100)) as server:
        response = transport.open("GET", server.url)
        assert response.read(1500) == b"x" * 1500
        response.close()


@pytest.mark.parametrize(
    "answer",
    [
        Answer([b"some", Cut()]),
        Answer([b"some", Cut(reset=True)]),
        Answer([b"some", Cut(), b"more"], framing="length"),
        Raw([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nsome\r\nzz\r\n"]),
    ],
)
def test_body_that_is_cut_off_is_a_broken_stream(transport: Transport, answer: Answer) -> None:
    with LoopbackServer(answer) as server:
        blocks = transport.open("GET", server.url).blocks()
        assert next(blocks) == b"some"
        with pytest.raises(BrokenStream, match=r"^127\.0\.0\.1:\d+ broke off in the middle"):
            next(blocks)


def test_silence_inside_a_body_ends_after_the_idle_time() -> None:
    transport = Transport(idle_s=1.5)
    with LoopbackServer(Answer([b"some", Wait()])) as server:
        response = transport.open("GET", server.url)
        with soon(), pytest.raises(BrokenStream, match=r"silent .* for 1\.5 s"):
            whole(response)
        response.close()
    transport.close()


def test_silence_before_the_response_ends_after_the_idle_time() -> None:
    transport = Transport(idle_s=0.2)
    with (
        LoopbackServer(Raw([Wait()])) as server,
        soon(),
        pytest.raises(Unreachable, match=r"did not answer within 0\.2 s"),
    ):
        transport.open("GET", server.url)


def test_bytes_within_the_idle_time_keep_a_slow_body_alive() -> None:
    transport = Transport(idle_s=3)
    with LoopbackServer(Answer([b"a", Wait(0.4)] * 8)) as server:
        assert whole(transport.open("GET", server.url)) == b"a" * 8
    transport.close()


def test_end_within_takes_an_open_body_as_ended(transport: Transport) -> None:
    for framing in ("chunked", "close"):
        with LoopbackServer(Answer([b"all", Wait()], framing=framing)) as server:
            response = transport.open("GET", server.url)
            blocks = response.blocks()
            assert next(blocks) == b"all"
            response.end_within(0.1)
            with soon():
                assert list(blocks) == []
            response.close()


def test_end_within_does_not_reach_the_next_user_of_the_connection(transport: Transport) -> None:
    # head and body come as one piece, so that nothing is waited for before the time is over
    first = Raw([b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"])
    with LoopbackServer([first, Answer([b"2", Wait(1.5), b"3"])]) as server:
        response = transport.open("GET", server.url)
        response.end_within(1)
        assert whole(response) == b"1"
        assert whole(transport.open("GET", server.url)) == b"23"
        assert [request.connection for request in server.requests] == [1, 1]


@contextmanager
def later(action: Callable[[], object], after: Callable[[], object] = bool) -> Iterator[None]:
    """Do it in the middle of the block: a moment after `after` has returned."""

    def act() -> None:
        after()
        time.sleep(0.1)
        action()

    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    yield
    thread.join()


def test_cancel_wakes_a_wait_for_the_response(transport: Transport) -> None:
    cancel = Cancel()
    with LoopbackServer(Raw([Wait()])) as server:
        asked = partial(server.wait_for, lambda s: s.requests)
        with (
            later(lambda: cancel.set("stopped"), asked),
            soon(),
            pytest.raises(Cancelled, match="stopped"),
        ):
            transport.open("GET", server.url, cancel=cancel)
        assert server.wait_for(lambda s: s.aborted)


def test_cancel_wakes_a_wait_for_the_response_on_a_kept_connection(transport: Transport) -> None:
    cancel = Cancel()
    with LoopbackServer([Answer(b"1"), Raw([Wait()])]) as server:
        whole(transport.open("GET", server.url))
        asked = partial(server.wait_for, lambda s: len(s.requests) == 2)
        with later(cancel.set, asked), soon(), pytest.raises(Cancelled):
            transport.open("GET", server.url, cancel=cancel)
        assert server.wait_for(lambda s: s.aborted)


@pytest.mark.parametrize("framing", ["chunked", "length", "close"])
def test_cancel_wakes_a_blocked_read(transport: Transport, framing: str) -> None:
    cancel = Cancel()
    with LoopbackServer(Answer([b"some", Wait(), b"more"], framing=framing)) as server:  # type: ignore[arg-type]
        response = transport.open("GET", server.url, cancel=cancel)
        with later(cancel.set), soon(), pytest.raises(Cancelled):
            whole(response)
        response.close()
        assert server.wait_for(lambda s: s.aborted)


def test_cancel_between_two_blocks_stops_the_next(transport: Transport) -> None:
    cancel = Cancel()
    with LoopbackServer(Answer([b"some", Wait(0.05), b"more"])) as server:
        blocks = transport.open("GET", server.url, cancel=cancel).blocks()
        assert next(blocks) == b"some"
        cancel.set()
        with pytest.raises(Cancelled):
            next(blocks)


def test_cancel_wakes_a_connection_that_does_not_come_about(transport: Transport) -> None:
    cancel = Cancel()
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        port = listener.getsockname()[1]
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:  # the backlog is full: a further connection gets no answer
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
        with later(cancel.set), soon(), pytest.raises(Cancelled):
            transport.open("GET", f"http://127.0.0.1:{port}", cancel=cancel)
        for filler in fillers:
            filler.close()


def test_cancelled_before_it_begins_sends_nothing(transport: Transport) -> None:
    cancel = Cancel()
    cancel.set()
    with LoopbackServer(Answer(b"x")) as server:
        with pytest.raises(Cancelled):
            transport.open("GET", server.url, cancel=cancel)
        assert server.requests == []


@contextmanager
def running(program: str, url: str, **more: Any) -> Iterator[subprocess.Popen[str]]:
    """A process with a Python program, which is ended with the block if it did not end before."""
    command = [sys.executable, "-c", program, url]
    with subprocess.Popen(command, text=True, **more) as process:
        try:
            yield process
        finally:
            process.kill()


WAKING = """
import signal, sys, time
from hrns.cancel import Cancel
from hrns.errors import Cancelled
from hrns.transport import Transport

cancel = Cancel()
at = []

def interrupt(*_):
    at.append(time.monotonic())
    cancel.set()

signal.signal(signal.SIGINT, interrupt)
try:
    list(Transport().open("GET", sys.argv[1], cancel=cancel).blocks())
except Cancelled:
    print(time.monotonic() - at[0] < 20)
"""


@pytest.mark.parametrize("answer", [Raw([Wait()]), Answer([b"x", Wait()])])
def test_signal_wakes_the_main_thread_out_of_a_wait_and_a_read(answer: Answer | Raw) -> None:
    with (
        LoopbackServer(answer) as server,
        running(WAKING, server.url, stdout=subprocess.PIPE) as process,
    ):
        assert server.wait_for(lambda s: s.requests)
        while process.poll() is None:
            time.sleep(0.2)  # so that it waits again
            process.send_signal(signal.SIGINT)  # and again where it came just as the wait began
        assert process.communicate()[0] == "True\n"


INTERRUPTED = """
import sys
from hrns.transport import Transport

try:
    Transport().open("GET", sys.argv[1])
except KeyboardInterrupt:
    sys.stdin.read()
"""


def test_keyboard_interrupt_hangs_up() -> None:
    with (
        LoopbackServer(Raw([Wait()])) as server,
        running(INTERRUPTED, server.url, stdin=subprocess.PIPE) as process,
    ):
        assert server.wait_for(lambda s: s.requests)
        time.sleep(0.5)  # so that it waits
        process.send_signal(signal.SIGINT)
        if not server.wait_for(lambda s: s.aborted, timeout_s=10):
            process.send_signal(signal.SIGINT)  # it came just as the wait began
        assert server.wait_for(lambda s: s.aborted)
        assert process.poll() is None
        process.communicate()
        assert process.returncode == 0


def fault_of(url: str, transport: Transport) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        transport.open("GET", url)
    return caught.value


def test_nothing_listening_says_so(transport: Transport, closed_port: int) -> None:
    error = fault_of(f"http://127.0.0.1:{closed_port}/v1?key=secret", transport)
    assert type(error) is Unreachable
    assert error.message == f"127.0.0.1:{closed_port} cannot be reached: nothing listens there"
    assert error.hint == "Is the server started, and is the port right?"
    assert not error.retryable  # what is not started on this machine is not waited for


def test_unknown_name_says_so(transport: Transport) -> None:
    error = fault_of("http://no-such-host.invalid/v1", transport)
    assert type(error) is Unreachable
    assert error.message.startswith("no-such-host.invalid cannot be reached")


@pytest.mark.parametrize("bytes_", [b"SSH-2.0-OpenSSH\r\n", b"\x00\x01\x02", b""])
def test_server_that_speaks_something_else_says_so(transport: Transport, bytes_: bytes) -> None:
    with LoopbackServer(Raw([bytes_, Cut()])) as server:
        error = fault_of(server.url, transport)
    assert type(error) is Unreachable
    assert "does not speak HTTP" in error.message


def test_header_that_cannot_be_sent_is_a_fault_of_the_configuration(transport: Transport) -> None:
    with LoopbackServer(Answer(b"x")) as server:
        with pytest.raises(ConfigError, match="malformed"):
            transport.open("GET", server.url, headers=[("X-Name", "käse ☃")])
        with pytest.raises(ProviderError, match="cannot be asked"):
            transport.open("GET", server.url, headers=[("X-Name", "a\r\nb: c")])


def test_certificate_that_is_not_trusted_is_refused(server_tls: ssl.SSLContext) -> None:
    with LoopbackServer(Answer(b"x"), tls=server_tls) as server:
        error = fault_of(server.url, Transport())
    assert type(error) is Unreachable
    assert not error.retryable
    assert error.message == (
        f"the TLS certificate of 127.0.0.1:{server.port} is not trusted: self-signed certificate"
    )
    assert "skipVerify" in error.hint


def test_certificate_of_a_given_authority_is_trusted(
    server_tls: ssl.SSLContext, certificate: Path
) -> None:
    transport = Transport(ca_file=str(certificate / "cert.pem"))
    with LoopbackServer(Answer(b"x"), tls=server_tls) as server:
        assert whole(transport.open("GET", server.url)) == b"x"
        assert whole(transport.open("GET", server.url)) == b"x"
    transport.close()


def test_certificate_named_by_the_environment_is_trusted(
    server_tls: ssl.SSLContext, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    transport = Transport()
    with LoopbackServer(Answer(b"x"), tls=server_tls) as server:
        assert whole(transport.open("GET", server.url)) == b"x"
    transport.close()


def test_certificates_are_not_checked_without_verify(server_tls: ssl.SSLContext) -> None:
    transport = Transport(verify=False)
    with LoopbackServer(Answer(b"x"), tls=server_tls) as server:
        assert whole(transport.open("GET", server.url)) == b"x"
    transport.close()


def test_cancel_wakes_a_blocked_read_under_tls(server_tls: ssl.SSLContext) -> None:
    cancel = Cancel()
    transport = Transport(verify=False)
    with LoopbackServer(Answer([b"some", Wait()]), tls=server_tls) as server:
        response = transport.open("GET", server.url, cancel=cancel)
        with later(cancel.set), soon(), pytest.raises(Cancelled):
            whole(response)
        response.close()
    transport.close()


def test_plain_server_behind_an_https_url_says_so() -> None:
    def answer(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer, args=(listener,), daemon=True)
        thread.start()
        port = listener.getsockname()[1]
        error = fault_of(f"https://127.0.0.1:{port}/v1", Transport())
        thread.join()
    assert error.message == f"127.0.0.1:{port} does not speak TLS"
    assert not error.retryable


def test_plain_server_that_waits_for_more_than_a_handshake_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        error = fault_of(f"https://127.0.0.1:{port}/v1", Transport(connect_s=0.5))
    assert error.message == f"127.0.0.1:{port} did not answer the TLS handshake within 0.5 s"
    assert error.hint == "Does it speak https? Write http:// in the URL if not."
    assert not error.retryable


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_file_of_authorities_that_is_none_is_a_fault_of_the_configuration(
    tmp_path: Path, content: str | None
) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConfigError, match=r"ca\.pem cannot be used"):
        Transport(ca_file=str(path)).open("GET", "https://127.0.0.1:1")


def test_proxy_of_the_environment_is_asked(
    transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LoopbackServer(Answer(b"through")) as proxy:
        monkeypatch.setenv("http_proxy", f"127.0.0.1:{proxy.port}")
        assert whole(transport.open("GET", "http://model.invalid/v1/models")) == b"through"
        assert [request.path for request in proxy.requests] == ["http://model.invalid/v1/models"]


def test_proxy_that_is_not_there_is_named_without_its_password(
    transport: Transport, monkeypatch: pytest.MonkeyPatch, closed_port: int
) -> None:
    monkeypatch.setenv("ALL_PROXY", f"http://me:hunter2@127.0.0.1:{closed_port}")
    error = fault_of("http://model.invalid/v1", transport)
    assert type(error) is Unreachable
    assert f"through the proxy 127.0.0.1:{closed_port}: nothing listens there" in error.message
    assert "hunter2" not in str(error)
    assert error.retryable


def test_proxy_that_refuses_is_named(transport: Transport, monkeypatch: pytest.MonkeyPatch) -> None:
    with LoopbackServer(Answer(b"", status=403)) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        error = fault_of("https://model.invalid/v1", transport)
    assert error.message.startswith(
        f"the proxy 127.0.0.1:{proxy.port} does not reach model.invalid: 403"
    )


def test_socks_proxy_without_its_package_says_what_to_install(
    transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "socksio", None)
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1080")
    with pytest.raises(ConfigError) as caught:
        transport.open("GET", "http://model.invalid/v1")
    assert 'pip install "httpx[socks]"' in caught.value.hint


def test_socks_proxy_does_no_harm_to_servers_on_this_machine(
    transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1080")
    monkeypatch.setenv("NO_PROXY", "localhost")
    with LoopbackServer(Answer(b"x")) as server:
        assert whole(transport.open("GET", server.url)) == b"x"


@pytest.mark.parametrize("value", ["gopher://127.0.0.1:1", "socks4://127.0.0.1:1"])
def test_proxy_that_is_no_url_is_a_fault_of_the_configuration(
    transport: Transport, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", value)
    with pytest.raises(ConfigError):
        transport.open("GET", "http://model.invalid/v1")


@pytest.mark.parametrize(
    ("url", "no_proxy", "proxy"),
    [
        ("http://host/v1", "", "http://plain:1"),
        ("https://host/v1", "", "http://secure:2"),
        ("http://localhost:8080", "", None),
        ("http://127.0.0.9:8080", "", None),
        ("http://[::1]:8080", "", None),
        ("http://app.localhost", "", None),
        ("http://host/v1", "other, host", None),
        ("http://a.host.example/v1", ".host.example", None),
        ("http://a.host.example/v1", "host.example", None),
        ("http://host.example.org/v1", "host.example", "http://plain:1"),
        ("http://host:81/v1", "host:81", None),
        ("http://host:82/v1", "host:81", "http://plain:1"),
        ("http://10.1.2.3/v1", "10.0.0.0/8", None),
        ("http://11.1.2.3/v1", "10.0.0.0/8", "http://plain:1"),
        ("https://me:x@host/v1", "host", None),
        ("https://host/v1", "*", None),
    ],
)
def test_proxy_is_chosen_as_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, url: str, no_proxy: str, proxy: str | None
) -> None:
    monkeypatch.setenv("http_proxy", "http://plain:1")
    monkeypatch.setenv("HTTPS_PROXY", "http://secure:2")
    monkeypatch.setenv("no_proxy", no_proxy)
    assert proxy_for(url) == proxy


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://me:secret@host:8443/v1?key=secret", "host:8443"),
        ("https://host/v1", "host"),
        ("http://[::1]:80", "[::1]:80"),
        ("", "?"),
    ],
)
def test_place_has_nothing_but_host_and_port(url: str, name: str) -> None:
    assert place(url) == name


def test_httpx_is_imported_for_the_first_request_and_without_its_command_line() -> None:
    program = (
        "import sys, hrns.transport\n"
        "assert 'httpx' not in sys.modules\n"
        "from hrns.transport import Transport\n"
        "try: Transport().open('GET', 'http://127.0.0.1:9')\n"
        "except Exception: pass\n"
        "print('httpx' in sys.modules, sorted({'rich', 'click', 'pygments'} & set(sys.modules)))\n"
        "print('httpx._main' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=True
    )
    assert done.stdout == "True []\nFalse\n"
