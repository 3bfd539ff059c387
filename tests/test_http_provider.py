"""A provider and a real server on the loopback: requests, replies, refusals, faults."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from hrns.cancel import Cancel
from hrns.chunks import EndChunk, RetryChunk
from hrns.errors import (
    AuthenticationFailed,
    BrokenStream,
    Cancelled,
    ConfigError,
    ContextOverflow,
    ProviderError,
    RateLimited,
    RequestRefused,
    ServerFault,
    ToolsRefused,
    Unreachable,
)
from hrns.loop import Loop
from hrns.messages import AssistantMessage, Text, ToolCall, Usage, UserMessage
from hrns.providers.base import (
    Delta,
    Finish,
    ModelInfo,
    ModelOptions,
    ModelRequest,
    PartText,
    ProviderNotice,
    ToolSpec,
)
from hrns.providers.http import GRACE_S, HttpProvider, build
from hrns.reply import fold
from hrns.retry import RetryPolicy
from hrns.testing import (
    Answer,
    Call,
    Cut,
    LoopbackServer,
    Raw,
    Wait,
    chat_body,
    chat_events,
    chat_stream,
    json_answer,
    sse,
)

REQUEST = ModelRequest("m", (UserMessage("hi"),))
KEY = "sk-planted-0123456789"


@contextmanager
def talking_to(*answers: Any, **more: Any) -> Iterator[tuple[HttpProvider, LoopbackServer]]:
    with LoopbackServer(answers) as server:
        provider = build(url=server.url, **{"key": KEY, **more})
        yield provider, server
        provider.close()


def reply(provider: HttpProvider, request: ModelRequest = REQUEST) -> AssistantMessage:
    return fold(provider.reply(request, Cancel()))


def error_of(*answers: Any, request: ModelRequest = REQUEST, **more: Any) -> ProviderError:
    with talking_to(*answers, **more) as (provider, _), pytest.raises(ProviderError) as caught:
        reply(provider, request)
    return caught.value


def test_reply_is_read_as_it_comes() -> None:
    events = [sse(event) for event in chat_events(["Hel", "lo"])]
    body = [part for event in events for part in (event, Wait(0.05))]
    with talking_to(Answer([*body, sse("[DONE]")])) as (provider, _):
        deltas = provider.reply(REQUEST, Cancel())
        found: list[Delta] = []
        for delta in deltas:
            found.append(delta)
            if isinstance(delta, PartText):
                break
        assert found[-1] == PartText(0, "Hel")
        assert [delta for delta in deltas if not isinstance(delta, PartText)] == [Finish("done")]


def test_whole_message_with_calls_and_usage() -> None:
    stream = chat_stream("Hi", [Call("read", {"path": "a"}, id="c1", pieces=3)], usage=Usage(3, 4))
    with talking_to(stream) as (provider, _):
        assert reply(provider) == AssistantMessage(
            [Text("Hi"), ToolCall("c1", "read", '{"path": "a"}')],
            stop="tool_calls",
            usage=Usage(3, 4),
        )


def test_reply_that_is_not_streamed() -> None:
    request = ModelRequest("m", (UserMessage("hi"),), (), ModelOptions(stream=False))
    with talking_to(json_answer(chat_body("Hi", usage=Usage(3, 4)))) as (provider, server):
        assert reply(provider, request) == AssistantMessage([Text("Hi")], usage=Usage(3, 4))
        assert "stream" not in server.requests[0].json
        assert server.requests[0].headers["accept"] == "application/json"


def test_whole_body_where_a_stream_was_asked_for() -> None:
    with talking_to(json_answer(chat_body("Hi"))) as (provider, _):
        assert reply(provider) == AssistantMessage([Text("Hi")])


def test_request_carries_the_key_and_own_headers() -> None:
    headers = {"X-Team": "a", "user-agent": "mine"}
    with talking_to(chat_stream("Hi"), key=f" {KEY}\n", headers=headers) as (provider, server):
        reply(provider)
        (request,) = server.requests
        assert request.path == "/v1/chat/completions"
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert request.headers["x-team"] == "a"
        assert request.headers["user-agent"] == "mine"
        assert request.headers["content-type"] == "application/json"
        assert request.headers["accept"] == "text/event-stream"


def test_request_without_a_key_has_no_authorization() -> None:
    with talking_to(chat_stream("Hi"), key="") as (provider, server):
        reply(provider)
        assert "authorization" not in server.requests[0].headers


def test_query_and_user_of_the_url_are_used_and_never_shown() -> None:
    with LoopbackServer([chat_stream("Hi"), Answer(b"", status=401)]) as server:
        url = f"http://me:hunter2@127.0.0.1:{server.port}/openai?code=hunter2"
        provider = build(url=url)
        reply(provider)
        with pytest.raises(AuthenticationFailed) as caught:
            reply(provider)
        (request, _) = server.requests
        assert request.path == "/openai/chat/completions?code=hunter2"
        assert request.headers["authorization"] == "Basic bWU6aHVudGVyMg=="
        assert provider.endpoint == f"http://127.0.0.1:{server.port}/openai"
        assert "hunter2" not in f"{provider!r} {caught.value} {caught.value.body}"
        provider.close()


def test_key_is_in_no_error_and_no_repr() -> None:
    body = {"error": {"message": f"Incorrect API key provided: {KEY}."}}
    error = error_of(json_answer(body, 401))
    assert type(error) is AuthenticationFailed
    assert KEY not in f"{error} {error!r} {error.args} {error.body} {error.hint}"
    assert "[key]" in error.message
    with talking_to() as (provider, _):
        assert KEY not in repr(provider)


def test_key_that_is_repeated_inside_a_stream_is_taken_out() -> None:
    error = error_of(sse({"error": {"message": f"bad {KEY}"}}))
    assert KEY not in f"{error} {error.args} {error.body}"


@pytest.mark.parametrize("key", ["ключ", "two words", "line\nbreak", "a\x00b"])
def test_key_that_cannot_be_one_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        build(url="http://localhost:1", key=key)
    assert key not in str(caught.value)


def test_protocol_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigError, match="'smoke'"):
        build(url="http://localhost:1", api="smoke")


def test_connection_is_kept_from_turn_to_turn() -> None:
    body = [*(sse(event) for event in chat_events("Hi")), sse("[DONE]")]
    with talking_to(*[Answer(body)] * 3) as (provider, server):
        for _ in range(3):
            reply(provider)
        assert [request.connection for request in server.requests] == [1, 1, 1]


# The end of a stream


FINISHED = sse(*chat_events("1 2 3"))


@pytest.mark.parametrize("more", [b"", sse({"choices": [], "usage": {"total_tokens": 9}})])
def test_stream_that_is_never_closed_is_complete_within_a_short_grace(more: bytes) -> None:
    with talking_to(Answer([FINISHED, Wait(0.05), more, Wait()])) as (provider, _):
        started = time.monotonic()
        message = reply(provider)
        assert time.monotonic() - started < 20
        assert message == AssistantMessage([Text("1 2 3")], usage=Usage(9) if more else None)


def test_stream_that_is_never_closed_behind_the_mark_of_the_end_shows_its_finish_at_once() -> None:
    def is_shown_at_once() -> bool:
        started = time.monotonic()
        deltas = provider.reply(REQUEST, Cancel())
        while not isinstance(next(deltas), Finish):
            pass
        took = time.monotonic() - started
        assert list(deltas) == []
        return took < GRACE_S

    answer = Answer([FINISHED, sse("[DONE]"), Wait()])
    with talking_to(*[answer] * 5) as (provider, _):
        # a busy machine may be slower once, but not each time
        assert any(is_shown_at_once() for _ in range(5))


def test_stream_that_breaks_when_it_is_complete_is_complete() -> None:
    with talking_to(Answer([FINISHED, Cut(reset=True)])) as (provider, _):
        assert reply(provider).text == "1 2 3"


@pytest.mark.parametrize("together", [True, False])
def test_garbage_behind_the_end_is_an_error_and_takes_nothing_away(together: bool) -> None:
    garbage = sse("garbage")
    apart = Answer([FINISHED, Wait(0.05), garbage])
    answer = Answer(FINISHED + garbage) if together else apart
    assert type(error_of(answer)) is BrokenStream


@pytest.mark.parametrize(
    "answer",
    [
        Answer([sse(*chat_events("par")[:2]), Cut()]),
        Answer([sse(*chat_events("par")[:2]), Cut(reset=True)]),
        Answer([sse(*chat_events("par")[:2])], framing="close"),
        Answer([sse(*chat_events("par")[:2])]),
        Answer(b""),
    ],
)
def test_stream_that_breaks_before_is_an_error(answer: Answer) -> None:
    assert type(error_of(answer)) is BrokenStream


def test_broken_stream_leaves_the_provider_usable() -> None:
    broken = Answer([sse(*chat_events("par")[:2]), Cut()])
    with talking_to(broken, chat_stream("Hi")) as (provider, _):
        with pytest.raises(BrokenStream):
            reply(provider)
        assert reply(provider).text == "Hi"


def test_reply_that_is_not_read_to_its_end_closes_its_connection() -> None:
    with talking_to(Answer([sse(*chat_events("par")[:2]), Wait()])) as (provider, server):
        deltas = provider.reply(REQUEST, Cancel())
        next(deltas)
        deltas.close()  # type: ignore[attr-defined]  # it is a generator
        assert server.wait_for(lambda s: s.aborted)


@pytest.mark.parametrize("answer", [Raw([Wait()]), Answer([FINISHED[:80], Wait()])])
def test_cancel_ends_a_reply_at_once(answer: Answer | Raw) -> None:
    with talking_to(answer) as (provider, server):
        cancel = Cancel()

        def stop() -> None:
            server.wait_for(lambda s: s.requests)
            time.sleep(0.1)
            cancel.set("time limit")

        thread = threading.Thread(target=stop, daemon=True)
        thread.start()
        with pytest.raises(Cancelled, match="time limit"):  # it would wait for ever
            list(provider.reply(REQUEST, cancel))
        thread.join()
        assert server.wait_for(lambda s: s.aborted)


# Refusals


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"error": {"message": "no"}}, RequestRefused),
        (400, {"error": {"message": "no", "code": "context_length_exceeded"}}, ContextOverflow),
        (400, {"error": {"message": "m does not support tools"}}, ToolsRefused),
        (401, {"error": {"message": "no"}}, AuthenticationFailed),
        (403, {"error": {"message": "no"}}, AuthenticationFailed),
        (404, {"error": {"message": "no"}}, RequestRefused),
        (429, {"error": {"message": "no"}}, RateLimited),
        (500, {"error": {"message": "no"}}, ServerFault),
        (529, {"error": {"message": "no"}}, RateLimited),
        (200, {"error": {"message": "no", "code": 503}}, ServerFault),
    ],
)
def test_refusal_is_told_with_all_that_is_known(
    status: int, body: dict[str, Any], kind: type[ProviderError]
) -> None:
    error = error_of(json_answer(body, status, {"X-Request-Id": "req_1"}))
    assert type(error) is kind
    assert json.loads(error.body) == body
    if status != 200:
        assert error.status == status
        assert error.request_id == "req_1"
        assert error.message.startswith("127.0.0.1:")


@pytest.mark.parametrize(
    ("value", "seconds"), [("2", 2.0), ("86400", 86_400.0), ("soon", None), (None, None)]
)
def test_wait_that_the_server_asks_for_is_carried(value: str | None, seconds: float | None) -> None:
    headers = {"Retry-After": value} if value else {}
    assert error_of(Answer(b"busy", 429, headers)).retry_after_s == seconds


def test_redirect_is_not_followed_and_named() -> None:
    answer = Answer(b"", 308, {"Location": "https://new.example/v1/chat/completions?token=x"})
    error = error_of(answer)
    assert type(error) is RequestRefused
    assert "https://new.example/v1/chat/completions" in error.message
    assert "token" not in error.message


@pytest.mark.parametrize(("status", "kind"), [(502, ServerFault), (429, RateLimited)])
def test_web_page_of_a_gateway_is_the_error_that_its_status_says(
    status: int, kind: type[ProviderError]
) -> None:
    page = Answer(b"<html><title>Bad gateway</title>", status, content_type="text/html")
    error = error_of(page)
    assert (type(error), error.retryable) == (kind, True)
    assert error.message.endswith(": Bad gateway")


@pytest.mark.parametrize("status", [200, 404])
def test_web_page_in_place_of_a_reply_is_told(status: int) -> None:
    page = Answer(b"<html><title>Log in</title>", status, content_type="text/html; charset=utf-8")
    error = error_of(page)
    assert type(error) is RequestRefused
    assert "web page" in error.message
    assert "/v1" in error.hint


def test_stream_that_is_called_a_web_page_is_read() -> None:
    stream = Answer(sse(*chat_events("Hi"), "[DONE]"), content_type="text/html; charset=utf-8")
    with talking_to(stream) as (provider, _):
        assert reply(provider).text == "Hi"
    broken = Answer(sse(*chat_events("Hi")[:2]), content_type="text/html")
    assert type(error_of(broken)) is BrokenStream


def test_error_body_without_end_is_not_waited_for() -> None:
    assert type(error_of(Answer([b"x" * 70_000, Wait()], 500))) is ServerFault


def test_error_body_that_breaks_is_still_an_error() -> None:
    error = error_of(Answer([b"oh", Cut()], 500))
    assert (type(error), error.status) == (ServerFault, 500)


def test_nothing_listening_is_told_with_the_port(closed_port: int) -> None:
    with pytest.raises(Unreachable, match=rf"127\.0\.0\.1:{closed_port}"):
        reply(build(url=f"http://127.0.0.1:{closed_port}"))


# What single servers do not take


def refusing(message: str) -> Answer:
    return json_answer({"error": {"message": message}}, 400)


def test_field_that_is_refused_is_left_out_and_told_once() -> None:
    refusal = refusing("Unknown parameter: 'stream_options'.")
    with talking_to(refusal, chat_stream("Hi"), chat_stream("Again")) as (provider, server):
        deltas = list(provider.reply(REQUEST, Cancel()))
        notices = [delta.text for delta in deltas if isinstance(delta, ProviderNotice)]
        assert notices == [
            f"127.0.0.1:{server.port}: the server does not take stream_options: left out."
        ]
        assert deltas[0] == ProviderNotice(notices[0])
        assert fold(deltas).text == "Hi"
        assert not any(
            isinstance(delta, ProviderNotice) for delta in provider.reply(REQUEST, Cancel())
        )
        assert ["stream_options" in request.json for request in server.requests] == [
            True,
            False,
            False,
        ]


def test_several_refusals_in_a_row_are_worked_around() -> None:
    answers = [
        refusing("bad stream_options"),
        refusing("System role not supported"),
        chat_stream("Hi"),
    ]
    with talking_to(*answers) as (provider, server):
        assert reply(provider).text == "Hi"
        assert len(server.requests) == 3


def test_server_that_refuses_everything_is_given_up() -> None:
    with LoopbackServer(
        lambda _: refusing("stream_options messages role schema invalid")
    ) as server:
        provider = build(url=server.url)
        with pytest.raises(RequestRefused):
            reply(provider)
        assert len(server.requests) <= 9
        provider.close()


def test_tools_that_are_refused_are_told_as_such() -> None:
    request = ModelRequest("m", (UserMessage("hi"),), (ToolSpec("f", "", {}),))
    assert type(error_of(refusing("m does not support tools"), request=request)) is ToolsRefused


# Models


def test_models_are_listed() -> None:
    with talking_to(json_answer({"data": [{"id": "a"}, {"id": "b"}]})) as (provider, server):
        assert provider.models() == [ModelInfo("a"), ModelInfo("b")]
        (request,) = server.requests
        assert (request.method, request.path) == ("GET", "/v1/models")
        assert request.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (json_answer({"error": {"message": f"no {KEY}"}}, 401), AuthenticationFailed),
        (Answer(b"<html>", 200, content_type="text/html"), RequestRefused),
        (Answer(b"garbage", 200), BrokenStream),
        (Raw([Cut()]), Unreachable),
    ],
)
def test_models_that_cannot_be_listed_are_an_error(
    answer: Answer, kind: type[ProviderError]
) -> None:
    with talking_to(answer) as (provider, _), pytest.raises(ProviderError) as caught:
        provider.models()
    assert type(caught.value) is kind
    assert KEY not in str(caught.value)


# With the loop


def test_first_too_many_requests_does_not_end_a_run() -> None:
    busy = Answer(b"busy", 429, {"Retry-After": "0"})
    with talking_to(busy, busy, chat_stream("Hi")) as (provider, _):
        loop = Loop(provider, model="m", retry=RetryPolicy(base_s=0.01))
        chunks = list(loop.run([UserMessage("hi")]))
        assert [chunk.attempt for chunk in chunks if isinstance(chunk, RetryChunk)] == [1, 2]
        assert chunks[-1] == EndChunk("done")


def test_call_that_the_server_could_not_read_is_asked_for_again() -> None:
    failed = {
        "code": "tool_use_failed",
        "message": "Failed to call a function",
        "failed_generation": '<function=read={"path": "a"}</function>',
    }
    with talking_to(json_answer({"error": failed}, 400), chat_stream("Hi")) as (provider, _):
        loop = Loop(provider, model="m", retry=RetryPolicy(base_s=0.01))
        chunks = list(loop.run([UserMessage("hi")]))
        (retry,) = [chunk for chunk in chunks if isinstance(chunk, RetryChunk)]
        assert '<function=read={"path": "a"}</function>' in retry.text
        assert loop.messages[1:] == (
            AssistantMessage([Text("Hi")], origin=loop.messages[-1].origin),  # type: ignore[union-attr]
        )


def test_reply_of_the_loop_goes_back_with_what_its_server_needs() -> None:
    signed = {
        "index": 0,
        "id": "c1",
        "function": {"name": "nothing", "arguments": "{}"},
        "extra_content": {"google": {"thought_signature": "U0lHMQ=="}},
    }
    first = sse(
        {"choices": [{"delta": {"reasoning_content": "need it"}}]},
        {"choices": [{"delta": {"tool_calls": [signed]}}]},
        "[DONE]",
    )
    with talking_to(first, chat_stream("Hi")) as (provider, server):
        list(Loop(provider, model="m").run([UserMessage("hi")]))
        said = server.requests[1].json["messages"][1]
        assert said["reasoning_content"] == "need it"
        assert said["tool_calls"][0]["extra_content"] == signed["extra_content"]


@pytest.mark.parametrize("pieces", [1, 3])
def test_text_before_an_error_is_shown_however_the_stream_is_cut(pieces: int) -> None:
    events = [*chat_events("par")[:2], {"choices": [], "error": {"message": "worker limit"}}]
    whole = sse(*events)
    body = [whole] if pieces == 1 else [part for e in events for part in (sse(e), Wait(0.05))]
    given: list[str] = []
    with LoopbackServer(Answer(body)) as server:
        provider = build(url=f"{server.url}/v1")
        request = ModelRequest("m", (UserMessage("hi"),))
        deltas = provider.reply(request, Cancel())
        with pytest.raises(ServerFault, match="worker limit"):
            given.extend(delta.text for delta in deltas if isinstance(delta, PartText))
    assert given == ["par"]
