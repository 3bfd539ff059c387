"""The scripted provider, the loopback server and the fixtures, as a plugin author uses them."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hrns.cancel import Cancel
from hrns.errors import BrokenStream, Cancelled, RateLimited
from hrns.messages import Usage, UserMessage
from hrns.providers.base import (
    Delta,
    Finish,
    ModelInfo,
    ModelRequest,
    PartNative,
    PartStart,
    PartText,
    Provider,
)
from hrns.testing import (
    Answer,
    Call,
    Cut,
    Fail,
    LoopbackServer,
    Raw,
    Received,
    Say,
    ScriptedProvider,
    ScriptExhausted,
    Wait,
    chat_body,
    chat_events,
    chat_stream,
    in_pieces,
    json_answer,
    sse,
)

ASK = ModelRequest("scripted", (UserMessage("Hello?"),))


def ask(provider: Provider, request: ModelRequest = ASK) -> list[Delta]:
    return list(provider.reply(request, Cancel()))


# The scripted provider


def test_reply_of_several_steps_becomes_numbered_parts() -> None:
    provider = ScriptedProvider(
        [[Say("Hello you", reasoning="hm", pieces=2), Call("read", {"a": 1}, pieces=3), Call("x")]]
    )
    assert ask(provider) == [
        PartStart(0, "reasoning"),
        PartText(0, "h"),
        PartText(0, "m"),
        PartStart(1, "text"),
        PartText(1, "Hello"),
        PartText(1, " you"),
        PartStart(2, "tool_call", "call_1", "read"),
        PartText(2, '{"a'),
        PartText(2, '": '),
        PartText(2, "1}"),
        PartStart(3, "tool_call", "call_2", "x"),
        PartText(3, "{}"),
        Finish("tool_calls"),
    ]
    assert provider.requests == [ASK]


def test_single_step_is_a_reply_and_ids_count_on_over_replies() -> None:
    provider = ScriptedProvider([Call("a"), Call("b", "not json", id="mine"), Call("c"), Say("x")])
    assert [ask(provider) for _ in range(4)] == [
        [PartStart(0, "tool_call", "call_1", "a"), PartText(0, "{}"), Finish("tool_calls")],
        [PartStart(0, "tool_call", "mine", "b"), PartText(0, "not json"), Finish("tool_calls")],
        [PartStart(0, "tool_call", "call_2", "c"), PartText(0, "{}"), Finish("tool_calls")],
        [PartStart(0, "text"), PartText(0, "x"), Finish("done")],
    ]


def test_raw_deltas_stand_as_they_are_and_no_second_finish_is_added() -> None:
    deltas: list[PartStart | PartNative | Usage] = [
        PartStart(4, "reasoning"),
        PartNative(4, '{"signature": "s"}'),
        Usage(input=3, output=2),
    ]
    provider = ScriptedProvider([[*deltas, Say("x"), Finish("length")]])
    assert ask(provider) == [*deltas, PartStart(5, "text"), PartText(5, "x"), Finish("length")]


def test_fail_raises_its_error_after_the_deltas_before_it() -> None:
    error = RateLimited("slow down", retry_after_s=0)
    provider = ScriptedProvider([[Say("ab"), Fail(error)], Say("c")])
    deltas = provider.reply(ASK, Cancel())
    assert [next(deltas), next(deltas)] == [PartStart(0, "text"), PartText(0, "ab")]
    with pytest.raises(RateLimited) as caught:
        next(deltas)
    assert caught.value is error
    assert ask(provider)[1] == PartText(0, "c")


def test_cut_is_a_broken_stream() -> None:
    deltas = ScriptedProvider([[Say("ab"), Cut()]]).reply(ASK, Cancel())
    assert [next(deltas), next(deltas)] == [PartStart(0, "text"), PartText(0, "ab")]
    with pytest.raises(BrokenStream):
        next(deltas)


def test_wait_passes_time_and_wakes_on_cancel() -> None:
    start = time.monotonic()
    assert ask(ScriptedProvider([[Wait(0.05), Say("late")]]))[1] == PartText(0, "late")
    assert time.monotonic() - start >= 0.04
    cancel = Cancel()
    timer = threading.Timer(0.05, cancel.set)
    timer.start()
    with pytest.raises(Cancelled):  # it would wait for ever
        list(ScriptedProvider([Wait()]).reply(ASK, cancel))
    timer.join()


def test_cancel_is_heeded_between_pieces() -> None:
    cancel = Cancel()
    deltas = ScriptedProvider([Say("ab", pieces=2)]).reply(ASK, cancel)
    assert next(deltas) == PartStart(0, "text")
    cancel.set()
    with pytest.raises(Cancelled):
        next(deltas)


def test_request_past_the_end_of_the_script_fails_clearly() -> None:
    provider = ScriptedProvider([Say("one")])
    ask(provider)
    with pytest.raises(ScriptExhausted, match=r"request 2 came, but the script has 1 .*Hello\?"):
        ask(provider)
    assert issubclass(ScriptExhausted, AssertionError)


def test_script_may_be_a_function_of_the_request_or_endless() -> None:
    echo = ScriptedProvider(lambda request: Say(request.model))
    assert [ask(echo)[1] for _ in range(3)] == [PartText(0, "scripted")] * 3
    endless = ScriptedProvider(repeat(Say("yes")))
    assert [ask(endless)[1] for _ in range(3)] == [PartText(0, "yes")] * 3


def test_origin_and_models_are_told() -> None:
    provider: Provider = ScriptedProvider([])
    assert (provider.api, provider.endpoint) == ("scripted", "scripted")
    assert provider.models() == (ModelInfo("scripted"),)
    other = ScriptedProvider([], api="a", endpoint="e", models=("m", "n"))
    assert (other.api, other.endpoint) == ("a", "e")
    assert other.models() == (ModelInfo("m"), ModelInfo("n"))


@given(st.text(min_size=1), st.integers(1, 9))
@settings(max_examples=50)
def test_pieces_join_to_the_text(text: str, pieces: int) -> None:
    deltas = ask(ScriptedProvider([Say(text, pieces=pieces)]))
    parts = [delta.text for delta in deltas if isinstance(delta, PartText)]
    assert "".join(parts) == text
    assert all(parts)
    assert len(parts) <= pieces


# The loopback server


def fetch(server: LoopbackServer, path: str = "/", body: bytes | None = None) -> bytes:
    with urlopen(Request(server.url + path, body)) as response:  # noqa: S310 - loopback
        return bytes(response.read())


def fetch_or_raise(server: LoopbackServer, path: str) -> None:
    client = connection_to(server)
    client.request("GET", path)
    status = client.getresponse().status
    client.close()
    if status != 200:
        raise http.client.HTTPException(str(status))


def connection_to(server: LoopbackServer) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)


def test_answers_go_out_in_order_and_requests_are_kept() -> None:
    with LoopbackServer([b"one", json_answer({"two": 2})]) as server:
        assert fetch(server, "/v1/a?b=c", b'{"x": 1}') == b"one"
        assert json.loads(fetch(server)) == {"two": 2}
    first, second = server.requests
    assert (first.method, first.path, first.json) == ("POST", "/v1/a?b=c", {"x": 1})
    assert (first.headers["content-length"], first.connection) == ("8", 1)
    assert (second.method, second.path, second.body, second.connection) == ("GET", "/", b"", 2)
    assert server.aborted == []


def test_one_answer_serves_every_request_and_a_function_chooses() -> None:
    with LoopbackServer(b"same") as server:
        assert [fetch(server) for _ in range(3)] == [b"same"] * 3
    with LoopbackServer(lambda request: request.path.encode()) as server:
        assert fetch(server, "/x") == b"/x"


def test_connection_stays_open_between_requests() -> None:
    with LoopbackServer([Answer(b"a"), Answer(b"b", framing="length")]) as server:
        client = connection_to(server)
        bodies = []
        for _ in range(2):
            client.request("GET", "/")
            bodies.append(client.getresponse().read())
        client.close()
    assert bodies == [b"a", b"b"]
    assert [request.connection for request in server.requests] == [1, 1]


def test_status_and_headers_are_sent() -> None:
    answer = Answer(
        b"slow down", 429, [("Retry-After", "1"), ("X-A", "1"), ("X-A", "2")], "text/plain"
    )
    with LoopbackServer([answer, Answer(status=529)]) as server:
        client = connection_to(server)
        client.request("GET", "/")
        response = client.getresponse()
        assert (response.status, response.reason) == (429, "Too Many Requests")
        assert response.headers["Retry-After"] == "1"
        assert response.headers.get_all("X-A") == ["1", "2"]
        assert response.headers["Content-Type"] == "text/plain"
        assert response.read() == b"slow down"
        client.request("GET", "/")
        assert client.getresponse().status == 529
        client.close()


def test_pieces_are_written_one_by_one_with_the_pauses() -> None:
    # that a piece arrives before a pause is over is seen where a pause never ends
    with LoopbackServer(Answer([b"a", Wait(0.1), b"", b"b"])) as server:
        start = time.monotonic()
        with urlopen(server.url) as response:  # noqa: S310 - loopback
            assert response.read1() == b"a"
            assert response.read() == b"b"
    assert time.monotonic() - start >= 0.09


@pytest.mark.parametrize("framing", ["chunked", "length"])
def test_cut_leaves_the_body_incomplete(framing: str) -> None:
    answer = Answer([b"abc", Cut(), b"def"], framing=framing)  # type: ignore[arg-type]
    with LoopbackServer(answer) as server, pytest.raises(http.client.IncompleteRead) as caught:
        fetch(server)
    assert caught.value.partial == b"abc"


def test_cut_with_reset_resets_the_connection() -> None:
    server = LoopbackServer(Answer([b"abc", Cut(reset=True)]))
    with server, pytest.raises(ConnectionResetError):
        fetch(server)


def test_close_framing_ends_with_the_connection() -> None:
    with LoopbackServer(Answer([b"a", b"b"], framing="close")) as server:
        assert fetch(server) == b"ab"


def test_raw_bytes_are_all_that_is_sent() -> None:
    with LoopbackServer([Raw([b"garbage\r\n", Cut()]), Raw([Cut()])]) as server:
        with pytest.raises(http.client.BadStatusLine, match="garbage"):
            fetch(server)
        with pytest.raises(http.client.RemoteDisconnected):
            fetch(server)


def test_client_that_leaves_is_noted_during_a_wait() -> None:
    with LoopbackServer(Answer([b"a", Wait()])) as server:
        client = connection_to(server)
        client.request("GET", "/slow")
        response = client.getresponse()
        assert response.read1() == b"a"
        assert server.aborted == []
        response.close()
        client.close()
        assert server.wait_for(lambda server: server.aborted)
    assert [request.path for request in server.aborted] == ["/slow"]


def test_client_that_leaves_is_noted_during_a_write() -> None:
    with LoopbackServer(Answer([bytes(1 << 20)] * 64)) as server:
        client = connection_to(server)
        client.request("GET", "/")
        client.getresponse().close()
        client.close()
        assert server.wait_for(lambda server: server.aborted)


def test_wait_for_gives_up_in_time() -> None:
    with LoopbackServer(b"") as server:
        assert not server.wait_for(lambda server: server.requests, timeout_s=0.01)


def test_close_wakes_everything_and_leaves_nothing() -> None:
    before = set(threading.enumerate())
    with LoopbackServer([Raw([Wait()]), Answer([bytes(1 << 20)] * 64)]) as server:
        clients = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(3)]
        # The first waits for an answer, the second does not read its own, the third is idle.
        for number, client in enumerate(clients[:2], 1):
            client.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert server.wait_for(lambda server: len(server.requests) == number)  # noqa: B023
    assert set(threading.enumerate()) <= before
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port))
    assert clients[0].recv(1) == b""
    assert server.aborted == []
    for client in clients:
        client.close()
    server.close()


def test_request_beyond_the_answers_is_an_error_at_the_end() -> None:
    server = LoopbackServer([])
    client = connection_to(server)
    client.request("GET", "/more")
    response = client.getresponse()
    assert (response.status, response.read()) == (500, b"no answer is left for GET /more")
    client.close()
    with pytest.raises(ScriptExhausted, match="GET /more"):
        server.close()


def test_fault_of_the_server_is_a_note_on_the_error_of_the_test() -> None:
    with pytest.raises(http.client.HTTPException) as caught, LoopbackServer([]) as server:
        fetch_or_raise(server, "/more")
    assert caught.value.__notes__ == ["The loopback server: no answer is left for GET /more"]


def test_function_that_raises_is_heard_at_the_end() -> None:
    def choose(request: Received) -> bytes:
        raise KeyError(request.path)

    server = LoopbackServer(choose)
    with pytest.raises(http.client.HTTPException, match="500"):
        fetch_or_raise(server, "/x")
    with pytest.raises(KeyError, match="/x"):
        server.close()


def test_chunked_request_is_read() -> None:
    def body() -> Iterator[bytes]:
        yield b"ab"
        yield b"cde"

    with LoopbackServer(b"ok") as server:
        client = connection_to(server)
        for _ in range(2):
            client.request("POST", "/", body(), encode_chunked=True)
            assert client.getresponse().read() == b"ok"
        client.close()
    assert [request.body for request in server.requests] == [b"abcde", b"abcde"]


def test_tls_wraps_each_connection(server_tls: ssl.SSLContext) -> None:
    trusting = ssl._create_unverified_context()  # noqa: S323 - on purpose
    with LoopbackServer(Answer([b"a", Wait(0.01), b"b"]), tls=server_tls) as server:
        assert server.url.startswith("https://127.0.0.1:")
        for _ in range(2):
            with urlopen(server.url, context=trusting) as response:  # noqa: S310 - loopback
                assert response.read() == b"ab"
        with pytest.raises(URLError, match="CERTIFICATE_VERIFY_FAILED"):
            urlopen(server.url)  # noqa: S310 - loopback
        idle = socket.create_connection(("127.0.0.1", server.port))
    idle.close()
    assert len(server.requests) == 2


def test_client_that_speaks_no_http_is_hung_up_on() -> None:
    with LoopbackServer(b"") as server:
        with pytest.raises(URLError, match=r"EOF|reset"):
            urlopen(server.url.replace("http:", "https:"), timeout=30)  # noqa: S310 - loopback
        assert server.requests == []


# The bytes of chat completions


def test_sse_frames_mappings_and_text() -> None:
    assert sse({"a": "é"}, "[DONE]") == 'data: {"a": "é"}\n\ndata: [DONE]\n\n'.encode()


def test_chat_stream_holds_reasoning_text_calls_finish_and_usage() -> None:
    call = Call("read", {"a": 1}, pieces=2)
    stream = chat_stream(["He", "y"], [call, Call("x", "", id="c9")], reasoning="hm",
                         usage=Usage(5, 2, cache_read=1, reasoning=1))  # fmt: skip
    *events, done = stream.decode().removesuffix("\n\n").split("\n\n")
    parsed = [json.loads(event.removeprefix("data: ")) for event in events]
    deltas = [event["choices"][0]["delta"] for event in parsed[:-1]]
    assert deltas == [
        {"role": "assistant", "content": ""},
        {"reasoning_content": "hm"},
        {"content": "He"},
        {"content": "y"},
        {"tool_calls": [{"index": 0, "id": "call_1", "type": "function",
                         "function": {"name": "read", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"a"'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]},
        {"tool_calls": [{"index": 1, "id": "c9", "type": "function",
                         "function": {"name": "x", "arguments": ""}}]},
        {},
    ]  # fmt: skip
    finishes = [event["choices"][0]["finish_reason"] for event in parsed[:-1]]
    assert finishes == [None] * 8 + ["tool_calls"]
    assert parsed[-1]["choices"] == []
    assert parsed[-1]["usage"] == {
        "prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 1},
    }  # fmt: skip
    assert done == "data: [DONE]"


def test_chat_events_end_with_the_finish_that_is_given() -> None:
    assert chat_events("x", finish="length")[-1]["choices"] == [
        {"index": 0, "delta": {}, "finish_reason": "length"}
    ]
    assert chat_events("x")[-1]["choices"][0]["finish_reason"] == "stop"


def test_chat_body_is_the_reply_as_one_object() -> None:
    body = chat_body("Hi", [Call("read", {"a": 1})], reasoning="hm")
    assert body == {
        "object": "chat.completion",
        "choices": [{
            "index": 0,
            "message": {
                "role": "assistant", "content": "Hi", "reasoning_content": "hm",
                "tool_calls": [{"id": "call_1", "type": "function",
                                "function": {"name": "read", "arguments": '{"a": 1}'}}],
            },
            "finish_reason": "tool_calls",
        }],
    }  # fmt: skip


def test_in_pieces_cuts_evenly() -> None:
    assert in_pieces(b"abcde", 2) == (b"ab", b"cd", b"e")
    assert in_pieces(b"", 2) == ()


# With and without pytest

PLUGIN_TEST = """
from hrns.cancel import Cancel
from hrns.journal import Journal
from hrns.messages import AssistantMessage, Text, UserMessage
from hrns.providers.base import ModelRequest, PartText
from hrns.testing import Say
from urllib.request import urlopen

def test_both_fixtures(scripted, loopback_server):
    provider = scripted(Say("one"), Say("two"))
    request = ModelRequest("m", (UserMessage("?"),))
    replies = [list(provider.reply(request, Cancel()))[1] for _ in range(2)]
    assert replies == [PartText(0, "one"), PartText(0, "two")]
    server = loopback_server(b"bytes")
    with urlopen(server.url) as response:
        assert response.read() == b"bytes"

def test_session_file_is_replayed(replayed, tmp_path):
    journal = Journal.create(tmp_path, "x", tmp_path)
    journal.append("message", message=UserMessage("hi"))
    journal.append("message", message=AssistantMessage([Text("hello")]))
    journal.append("end", reason="done", text="")
    assert [chunk.type for chunk in replayed(journal.path)] == ["message", "message_done", "end"]
"""


def test_one_line_in_conftest_brings_the_fixtures(tmp_path: Path) -> None:
    conftest = 'import hrns.testing\npytest_plugins = ["hrns.testing"]\n'
    (tmp_path / "conftest.py").write_text(conftest)
    (tmp_path / "test_plugin.py").write_text(PLUGIN_TEST)
    command = [sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, "2 passed" in done.stdout) == (0, True), done.stdout + done.stderr


def test_import_needs_neither_pytest_nor_a_network_client() -> None:
    script = "import sys, hrns.testing; print({'pytest', 'httpx', 'ssl'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"
