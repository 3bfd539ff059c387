from __future__ import annotations

import gzip
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hrns_tools_fs.fetching import Fetching

from hrns.context import SessionContext, ToolContext
from hrns.errors import Cancelled, ToolFailure
from hrns.messages import ToolResult
from hrns.permissions import Access, Prepared
from hrns.testing import Answer, Cut, LoopbackServer, Raw, Received, Wait
from hrns.testing.loopback import Answers

pytest_plugins = ["hrns.testing"]

PUBLIC = "93.184.216.34"

Serve = Callable[[Answers], LoopbackServer]


def fetch(
    url: str, fetching: Fetching | None = None, *, allow: object = (), **options: Any
) -> ToolResult:
    """What the model gets, by default with nothing allowed but public addresses."""
    (tool,) = (fetching or Fetching()).tools()
    session = SessionContext(config={"webFetch": {"allow": allow}})
    try:
        return tool.run(tool.structure({"url": url, **options}), ToolContext(session=session))
    except ToolFailure as failure:
        return ToolResult(f"ERROR: {failure}", status="error")


def locally(url: str, **options: Any) -> ToolResult:
    return fetch(url, allow=["127.0.0.1"], **options)


def page(body: bytes | str, content_type: str = "text/html; charset=utf-8", **more: Any) -> Answer:
    data = body.encode() if isinstance(body, str) else body
    return Answer(data, content_type=content_type, framing="length", **more)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_the_call_says_which_url_it_fetches() -> None:
    (tool,) = Fetching().tools()
    assert tool.prepare({"url": "https://example.com/a"}, ToolContext()) == Prepared(
        [Access("network", "https://example.com/a")], title="web_fetch https://example.com/a"
    )


def test_a_page_comes_as_markdown(loopback_server: Serve) -> None:
    server = loopback_server(page("<title>T</title><h2>Hi</h2><p>a <a href='b?c#d'>link</a>"))
    assert locally(f"{server.url}/dir/") == ToolResult(
        f"# T\n\n## Hi\n\na [link]({server.url}/dir/b?c#d)"
    )
    (request,) = server.requests
    assert (request.method, request.path) == ("GET", "/dir/")
    assert request.headers["host"] == f"127.0.0.1:{server.port}"
    assert request.headers["user-agent"].startswith("hrns/")


def test_a_page_comes_as_it_is_when_that_is_asked(loopback_server: Serve) -> None:
    server = loopback_server(page("<h2>Hi</h2>"))
    assert locally(server.url, raw=True).text == "<h2>Hi</h2>"


def test_a_text_comes_as_it_is(loopback_server: Serve) -> None:
    server = loopback_server(page('{"a": 1}', "application/json"))
    assert locally(f"{server.url}/a b/\u00e4?q=\u00fc&x=%20#part").text == '{"a": 1}'
    assert server.requests[0].path == "/a%20b/%C3%A4?q=%C3%BC&x=%20"


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("caf\u00e9".encode("latin-1"), "text/plain; charset=iso-8859-1", "caf\u00e9"),
        ("\u20ac".encode("cp1252"), "text/plain; charset=ISO-8859-1", "\u20ac"),
        ("\ufeffcaf\u00e9".encode("utf-16"), "text/plain; charset=utf-8", "caf\u00e9"),
        ("\ufeffcaf\u00e9".encode(), "text/plain; charset=latin1", "caf\u00e9"),
        (b'<meta charset="koi8-r"><p>\xcd\xc9\xd2', "text/html", "\u043c\u0438\u0440"),
        ("\u4f60\u597d".encode("gb18030"), 'text/plain; charset="gb18030"', "\u4f60\u597d"),
        ("caf\u00e9".encode(), "text/plain; charset=nonsense", "caf\u00e9"),
        ("caf\u00e9".encode(), "text/plain; charset=idna", "caf\u00e9"),
        ("caf\u00e9".encode(), "text/plain; charset=hex", "caf\u00e9"),
        (b"a" * 400_000, "text/plain; charset=punycode", "a" * 400_000),
        (b"+AGE-\\x41", "text/plain; charset=utf-7", "+AGE-\\x41"),
        (b"+AGE-\\x41", "text/plain; charset=unicode_escape", "+AGE-\\x41"),
        ("caf\u00e9".encode("cp1252"), "text/plain", "caf\u00e9"),
        ("caf\u00e9".encode(), "", "caf\u00e9"),
    ],
)
def test_a_text_is_read_in_its_encoding(
    loopback_server: Serve, body: bytes, content_type: str, text: str
) -> None:
    server = loopback_server(page(body, content_type))
    assert locally(server.url, maxBytes=1_000_000).text == text


@pytest.mark.parametrize(
    ("body", "packing", "text"),
    [
        (gzip.compress(b"one ") + gzip.compress(b"two"), "gzip", "one two"),
        (gzip.compress(b"one") + bytes(100), "x-gzip", "one"),
        (b"", "gzip", "[the page is empty]"),
        (b"plain", "utf-8", "plain"),
        (b"x", "br", "ERROR: the answer is packed by br, which nobody asked for"),
        (b"x", "gzip, gzip", "ERROR: the answer is packed by gzip, gzip, which nobody asked for"),
        (b"\x1f\x8bx", "gzip", "ERROR: the answer broke off: the packed body is not complete"),
    ],
    # gzip writes the time, which in a name would differ between the processes of the tests
    ids=["two members", "padded", "empty", "no packing", "br", "twice", "cut"],
)
def test_a_packed_text_is_unpacked_whole(
    loopback_server: Serve, body: bytes, packing: str, text: str
) -> None:
    server = loopback_server(page(body, "text/plain", headers={"Content-Encoding": packing}))
    assert locally(server.url).text == text


@pytest.mark.parametrize(
    ("body", "content_type", "words"),
    [
        (b"%PDF-1.7 ...", "application/pdf", "application/pdf, 12 bytes"),
        (b"\x89PNG\r\n\x1a\n", "image/png", "image/png, 8 bytes"),
        (b"\0\1\2\3", "text/html", "text/html, 4 bytes"),
        (b"PK\x03\x04zip", "text/plain", "text/plain, 7 bytes"),
        (b"\x7fELF", "", "no type given, 4 bytes"),
    ],
)
def test_what_is_binary_is_told_by_kind_and_size(
    loopback_server: Serve, body: bytes, content_type: str, words: str
) -> None:
    url = loopback_server(page(body, content_type)).url
    assert locally(url) == ToolResult(
        f"ERROR: {url} is binary ({words}) and is not shown", status="error"
    )


def test_text_that_is_called_a_stream_of_octets_is_shown(loopback_server: Serve) -> None:
    server = loopback_server(page("plain", "application/octet-stream"))
    assert locally(server.url).text == "plain"


def test_a_packed_page_is_unpacked_within_bounds(loopback_server: Serve) -> None:
    packed = {"Content-Encoding": "gzip"}
    bomb = gzip.compress(b"hello\n" * 20_000_000)
    # the rest never comes: who wants more than the bytes that are shown waits in vain
    endless = Answer([bomb[:50_000], Wait()], headers=packed, content_type="text/plain")
    server = loopback_server([page(gzip.compress(b"hi"), "text/plain", headers=packed), endless])
    assert locally(server.url).text == "hi"
    text = locally(server.url, maxBytes=600).text
    assert text == "hello\n" * 100 + "\n[the first 600 bytes are shown; see maxBytes]"


def test_an_endless_page_is_cut(loopback_server: Serve) -> None:
    server = loopback_server(Answer([b"0123456789" * 1000] * 1000, content_type="text/plain"))
    text = locally(server.url, maxBytes=20).text
    assert text == "01234567890123456789\n[the first 20 bytes are shown; see maxBytes]"


def test_a_long_page_is_cut(loopback_server: Serve) -> None:
    server = loopback_server(page("<p>" + "<p>word <b>bold</b>" * 100_000))
    text = locally(server.url, maxBytes=5000).text
    assert (4900 < len(text) < 5100, text[:29]) == (True, "word **bold**\n\nword **bold**\n")
    assert text.endswith("[the first 5000 bytes are shown; see maxBytes]")


def test_an_error_of_the_server_is_told_with_its_words(loopback_server: Serve) -> None:
    server = loopback_server(page("<h1>Gone</h1>" + "x" * 9000, status=404))
    result = locally(server.url)
    assert result.status == "error"
    assert result.text.startswith("ERROR: HTTP 404 Not Found\n# Gone\n\nxxx")
    assert len(result.text) < 2200


def test_redirects_are_followed_and_told(loopback_server: Serve) -> None:
    server = loopback_server(
        [
            Answer(status=301, headers={"Location": "/b?x=1#y"}),
            Answer(status=307, headers={"Location": "c"}),
            page("there", "text/plain"),
        ]
    )
    assert locally(f"{server.url}/a").text == f"there\n[redirected to {server.url}/c]"
    assert [request.path for request in server.requests] == ["/a", "/b?x=1", "/c"]


def test_redirects_in_a_circle_end(loopback_server: Serve) -> None:
    server = loopback_server(lambda _request: Answer(status=302, headers={"Location": "/again"}))
    assert locally(server.url).text == (
        f"ERROR: more than 10 redirects, the last to {server.url}/again"
    )


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://h/",
        "data:text/plain,hi",
        "gopher://h/",
        "javascript:alert(1)",
        "example.com/page",
        "//example.com/",
        "",
    ],
)
def test_only_http_is_fetched(url: str) -> None:
    def nowhere(host: str, port: int) -> Sequence[str]:
        raise AssertionError(f"{host}:{port} was looked up")

    text = fetch(url, Fetching(resolver=nowhere)).text
    assert text == f"ERROR: only http:// and https:// URLs are fetched, not {url!r}"


@pytest.mark.parametrize(
    "url",
    [
        "http://",
        "http://:80/",
        "http://user:secret@example.com/",
        "http://a\\@b/",
        "http://h:99999/",
        "http://[::1/",
    ],
)
def test_what_names_no_host_is_refused(url: str) -> None:
    def nowhere(host: str, port: int) -> Sequence[str]:
        raise AssertionError(f"{host}:{port} was looked up")

    text = fetch(url, Fetching(resolver=nowhere)).text
    assert text.startswith("ERROR: ")


LOCAL = [
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "0x7f000001",
    "2130706433",
    "017700000001",
    "0",
    "localhost",
    "LOCALHOST",
    "\u2460\u2461\u2466.0.0.1",
    "127\u30020\u30020\u30021",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "169.254.169.254",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.0.1",
    "100.100.100.200",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "[ff02::1]",
    "192.0.2.1",
    "[2001:db8::1]",
]


@pytest.mark.parametrize("host", LOCAL)
def test_an_address_that_is_not_public_is_refused_however_it_is_spelled(host: str) -> None:
    def nobody(address: str, port: int, timeout_s: float) -> socket.socket:
        raise AssertionError(f"{address}:{port} was connected to within {timeout_s} s")

    text = fetch(f"http://{host}:9/", Fetching(dialler=nobody)).text
    assert "is not a public address, and is not fetched" in text


def by_name(names: dict[str, list[str]], server: LoopbackServer, dialled: list[str]) -> Fetching:
    """A fetch that knows these hosts, and whose every address leads to a server of this machine."""

    def resolver(host: str, _port: int) -> Sequence[str]:
        return [names[host].pop(0)] if host in names else [host]

    def dialler(address: str, _port: int, timeout_s: float) -> socket.socket:
        dialled.append(address)
        return socket.create_connection(("127.0.0.1", server.port), timeout_s)

    return Fetching(resolver, dialler)


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("http://169.254.169.254/latest/meta-data/", "169.254.169.254 is not a public address"),
        ("http://127.0.0.1:9/", "127.0.0.1 is not a public address"),
        ("//inside.test/", "inside.test is at 10.1.2.3, which is not a public address"),
        ("file:///etc/passwd", "only http:// and https:// URLs are fetched"),
        ("http://[::ffff:7f00:1]/", "is not a public address"),
    ],
)
def test_a_redirect_is_checked_as_the_first_url_was(
    loopback_server: Serve, location: str, words: str
) -> None:
    server = loopback_server(Answer(status=302, headers={"Location": location}))
    dialled: list[str] = []
    names = {"pub.test": [PUBLIC], "inside.test": ["10.1.2.3"]}
    text = fetch("http://pub.test/", by_name(names, server, dialled)).text
    assert words in text
    assert dialled == [PUBLIC]


def test_the_address_that_was_checked_is_the_one_connected_to(loopback_server: Serve) -> None:
    server = loopback_server(page("hi", "text/plain"))
    dialled: list[str] = []
    names = {"pub.test": [PUBLIC, "127.0.0.1"]}
    fetching = by_name(names, server, dialled)
    assert fetch("http://pub.test/", fetching).text == "hi"
    assert (dialled, server.requests[0].headers["host"]) == ([PUBLIC], "pub.test")
    assert (
        "is at 127.0.0.1, which is not a public address" in fetch("http://pub.test/", fetching).text
    )
    assert dialled == [PUBLIC]


def test_a_host_with_one_address_inside_is_refused() -> None:
    fetching = Fetching(resolver=lambda _host, _port: [PUBLIC, "10.0.0.1"])
    assert "is at 10.0.0.1, which is not a public address" in fetch("http://h/", fetching).text


@pytest.mark.parametrize(
    ("allow", "fetched"),
    [
        (["127.0.0.1"], True),
        (["127.0.0.0/8"], True),
        (["box.test"], True),
        (["*.TEST."], True),
        (["10.0.0.0/8", "other.test", "test", 7, None], False),
        ("127.0.0.1", False),
        (None, False),
    ],
)
def test_the_configuration_allows_hosts_and_ranges(
    loopback_server: Serve, allow: object, fetched: bool
) -> None:
    server = loopback_server(page("hi", "text/plain"))
    fetching = Fetching(resolver=lambda _host, _port: ["127.0.0.1"])
    text = fetch(f"http://box.test:{server.port}/", fetching, allow=allow).text
    assert (text == "hi") == fetched


def test_an_unknown_host_is_told() -> None:
    assert fetch("http://no-such-host.invalid/").text.startswith(
        "ERROR: the host no-such-host.invalid is not known: "
    )


def test_a_server_that_is_not_there_is_told() -> None:
    with socket.socket() as bound:  # so nobody else gets the port, but it does not listen
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        text = locally(f"http://127.0.0.1:{port}/").text
    assert text.startswith(f"ERROR: 127.0.0.1:{port} cannot be reached: 127.0.0.1: ")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ([Cut()], "gave no answer"),
        ([b"garbage\r\n\r\n", Cut()], "gave no answer"),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", Cut()], "broke off"),
        ([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nsh", Cut()], "broke off"),
    ],
)
def test_an_answer_that_breaks_off_is_told(
    loopback_server: Serve, raw: list[bytes | Cut], words: str
) -> None:
    assert words in locally(loopback_server(Raw(raw)).url).text


def test_an_old_server_is_understood(loopback_server: Serve) -> None:
    server = loopback_server(
        Raw([b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nold", Cut()])
    )
    assert locally(server.url).text == "old"


@pytest.mark.parametrize(
    "answer",
    [
        Raw([Wait()]),
        Answer([b"slow", Wait()], content_type="text/plain"),
        Answer(chain(*[(b"b", Wait(0.05))] * 1000), content_type="text/plain"),
    ],
)
def test_a_fetch_that_is_interrupted_ends_at_once_and_hangs_up(
    loopback_server: Serve, answer: Answer | Raw
) -> None:
    server = loopback_server(answer)
    session = SessionContext(config={"webFetch": {"allow": ["127.0.0.1"]}})
    (tool,) = Fetching().tools()

    def stop() -> None:
        server.wait_for(lambda server: server.requests)
        time.sleep(0.2)
        session.cancel.set()

    threading.Thread(target=stop, daemon=True).start()
    started = time.monotonic()
    with pytest.raises(Cancelled):
        tool.run({"url": server.url}, ToolContext(session=session, cancel=session.cancel))
    assert time.monotonic() - started < 15  # nothing else would end it before 20 seconds
    assert server.wait_for(lambda server: server.aborted)


def test_a_name_that_is_looked_up_for_ever_can_be_interrupted() -> None:
    never = threading.Event()

    def resolver(_host: str, _port: int) -> Sequence[str]:
        never.wait()
        return []

    session = SessionContext()
    (tool,) = Fetching(resolver).tools()
    threading.Timer(0.1, session.cancel.set).start()
    with pytest.raises(Cancelled):
        tool.run({"url": "http://h/"}, ToolContext(session=session, cancel=session.cancel))
    never.set()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of the host `box.test`, and its key, in one file."""
    path = tmp_path_factory.mktemp("tls") / "box.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=box.test", "-addext", "subjectAltName=DNS:box.test"]
    try:
        made = subprocess.run(
            [*command, "-keyout", "-", "-out", "-"], capture_output=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("openssl makes no certificate here")
    path.write_bytes(made.stdout)
    return path


@pytest.mark.parametrize("trusted", [True, False])
def test_a_certificate_is_checked_against_the_name_not_the_address(
    certificate: Path, monkeypatch: pytest.MonkeyPatch, *, trusted: bool
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with LoopbackServer(lambda _request: page("safe", "text/plain"), tls=context) as server:
        dialled: list[str] = []
        names = {"box.test": [PUBLIC], "other.test": [PUBLIC]}
        fetching = by_name(names, server, dialled)
        answers = [fetch(f"https://{host}/", fetching).text for host in names]
    if trusted:
        assert answers[0] == "safe"
    assert ["CERTIFICATE_VERIFY_FAILED" in answer for answer in answers] == [not trusted, True]
    assert dialled == [PUBLIC, PUBLIC]


def test_a_proxy_is_asked_where_the_environment_names_one(
    loopback_server: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(request: Received) -> Answer:
        return page(f"{request.method} {request.path}", "text/plain")

    proxy = loopback_server(answer)
    monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//me:pw%21@"))

    def resolver(host: str, _port: int) -> Sequence[str]:
        if host == "metadata.test":
            return ["169.254.169.254"]
        raise OSError("only the proxy knows")

    fetching = Fetching(resolver)
    assert fetch("http://far.test/x?y", fetching).text == "GET http://far.test/x?y"
    assert proxy.requests[0].headers["proxy-authorization"] == "Basic bWU6cHch"
    assert "is not a public address" in fetch("http://metadata.test/", fetching).text
    assert len(proxy.requests) == 1


def test_a_proxy_is_asked_for_a_tunnel(
    loopback_server: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = loopback_server(Answer(status=403, content_type=""))
    monkeypatch.setenv("https_proxy", proxy.url)
    fetching = Fetching(resolver=lambda _host, _port: [PUBLIC])
    assert fetch("https://far.test/x", fetching).text == (
        "ERROR: far.test cannot be reached: 127.0.0.1: the proxy refused: HTTP/1.1 403 Forbidden"
    )
    assert (proxy.requests[0].method, proxy.requests[0].path) == ("CONNECT", "far.test:443")
