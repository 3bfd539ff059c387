"""The client of chat-completions servers that hrns began from, row by row."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from hrns import AssistantMessage, Loop, ModelOptions, SimpleTool, UserMessage
from hrns.cancel import Cancel
from hrns.config import config_from, find_provider
from hrns.errors import AuthenticationFailed, ProviderError, RequestRefused, UsageError
from hrns.messages import Reasoning, Text
from hrns.providers.base import ModelInfo, ModelRequest
from hrns.providers.http import HttpProvider, build
from hrns.testing import Call, LoopbackServer, chat_body, chat_stream, json_answer, sse

ASK = (UserMessage("hi"),)


def ask(provider: HttpProvider, *, stream: bool = True, tools: Any = ()) -> AssistantMessage:
    """The reply of a run, whatever tools it called on the way."""
    loop = Loop(provider, tools, model="m", options=ModelOptions(stream=stream))
    list(loop.run(ASK))
    message = loop.messages[1]
    assert isinstance(message, AssistantMessage)
    return message


def event(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish, **more}]}


def sent_back(*events: dict[str, Any]) -> dict[str, Any]:
    """The assistant message that goes back after a reply of these events, which call `look`."""
    look = SimpleTool("Looks.", [], lambda _args: "seen")
    with LoopbackServer([sse(*events, "[DONE]"), chat_stream("done")]) as server:
        list(Loop(build(url=server.url), {"look": look}, model="m").run(ASK))
    message: dict[str, Any] = server.requests[1].json["messages"][1]
    return message


def call(**more: Any) -> dict[str, Any]:
    function = {"name": "look", "arguments": "{}"}
    return {"index": 0, "id": "c1", "type": "function", "function": function, **more}


# Requests


def test_base_url_is_that_of_openai_where_none_is_configured() -> None:
    config = config_from({"providers": {"a": {"model": "m"}}}, Path("config.json"))
    assert find_provider(config, "a", {}).url == "https://api.openai.com/v1"


def test_trailing_slash_is_cut_and_key_and_headers_are_sent() -> None:
    with LoopbackServer(chat_stream("ok")) as server:
        url = f"{server.url}/v1/"
        ask(build(url=url, key="sk-planted-key", headers={"X-Team": "blue"}))
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.headers["authorization"] == "Bearer sk-planted-key"
    assert request.headers["x-team"] == "blue"


def test_silence_of_five_minutes_is_the_most_that_is_waited_for() -> None:
    assert inspect.signature(build).parameters["idle_s"].default == 300


def test_models_are_the_ids_that_are_not_empty() -> None:
    listed = json_answer({"data": [{"id": "a"}, {"id": ""}, {}, {"id": "b"}]})
    with LoopbackServer(listed) as server:
        models = build(url=f"{server.url}/v1").models()
    assert [model.id for model in models] == ["a", "b"]
    assert isinstance(models[0], ModelInfo)
    assert (server.requests[0].method, server.requests[0].path) == ("GET", "/v1/models")


def test_reply_can_be_streamed_or_whole() -> None:
    with LoopbackServer([chat_stream("hello"), json_answer(chat_body("hello"))]) as server:
        provider = build(url=server.url)
        assert ask(provider).parts == ask(provider, stream=False).parts == (Text("hello"),)
    streamed, whole = server.requests
    assert streamed.json["stream"] is True
    assert "text/event-stream" in streamed.headers["accept"]
    assert whole.json.get("stream", False) is False


@pytest.mark.parametrize("request_", [ModelRequest("", ASK), ModelRequest("m", ())])
def test_request_without_model_or_messages_is_refused_before_it_is_sent(
    request_: ModelRequest,
) -> None:
    with LoopbackServer([]) as server, pytest.raises(UsageError):
        list(build(url=server.url).reply(request_, Cancel()))
    assert server.requests == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "no such model"}}, "no such model"),
        ({"message": "no such model"}, "no such model"),
        ({"detail": "no such model"}, "no such model"),
    ],
)
def test_answer_that_is_no_success_has_status_message_and_body(
    body: dict[str, Any], message: str
) -> None:
    with LoopbackServer(json_answer(body, 404)) as server, pytest.raises(ProviderError) as caught:
        list(build(url=server.url).reply(ModelRequest("m", ASK), Cancel()))
    assert isinstance(caught.value, RequestRefused)
    assert caught.value.status == 404
    assert message in str(caught.value)


def test_refused_key_is_told_apart() -> None:
    with (
        LoopbackServer(json_answer({"error": {"message": "bad key"}}, 401)) as server,
        pytest.raises(AuthenticationFailed),
    ):
        list(build(url=server.url).reply(ModelRequest("m", ASK), Cancel()))


# Replies


def test_text_after_the_end_of_the_stream_is_not_read() -> None:
    with LoopbackServer(sse(event({"content": "a"}), event({}, "stop"), "[DONE]", "not json")) as s:
        assert ask(build(url=s.url)).text == "a"


def test_data_lines_of_an_event_are_joined() -> None:
    text = b'data: {"choices": [{"index": 0,\ndata:  "delta": {"content": "a"},\n'
    text += b'data: "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
    with LoopbackServer(text) as server:
        assert ask(build(url=server.url)).text == "a"


def test_unknown_fields_of_a_message_and_its_calls_go_back() -> None:
    message = sent_back(
        event({"role": "assistant", "tool_calls": [call(signature="s1")]}),
        event({"provider_note": {"a": 1}}),
        event({}, "tool_calls"),
    )
    assert message["provider_note"] == {"a": 1}
    assert message["tool_calls"][0]["signature"] == "s1"


def test_last_value_of_an_unknown_field_wins() -> None:
    message = sent_back(
        event({"mark": "first"}), event({"mark": "last", "tool_calls": [call()]}, "tool_calls")
    )
    assert message["mark"] == "last"


def test_call_is_stitched_from_its_pieces() -> None:
    pieces = [
        {"index": 0, "id": "c1", "type": "function", "function": {"name": "look"}},
        {"index": 0, "function": {"arguments": "{"}},
        {"index": 0, "function": {"arguments": "}"}},
    ]
    events = [event({"tool_calls": [piece]}) for piece in pieces]
    assert sent_back(*events, event({}, "tool_calls"))["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    ]


def test_content_beside_calls_is_empty_rather_than_absent() -> None:
    assert sent_back(event({"tool_calls": [call()]}, "tool_calls"))["content"] == ""


def test_text_of_a_choice_is_joined_and_other_choices_are_left_aside() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "X"}, "finish_reason": None}]}
    message = sent_back(
        event({"content": "Let "}),
        other,
        event({"content": "me."}),
        event({"tool_calls": [call()]}, "tool_calls"),
    )
    assert message["content"] == "Let me."


def test_structured_content_is_read_as_its_text() -> None:
    with LoopbackServer(sse(event({"content": [{"type": "text", "text": "a"}]}, "stop"))) as server:
        assert ask(build(url=server.url)).text == "a"


def test_refusal_is_shown_and_kept() -> None:
    with LoopbackServer(sse(event({"refusal": "I will not."}), event({}, "stop"))) as server:
        message = ask(build(url=server.url))
    assert (message.text, message.stop) == ("I will not.", "refusal")


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_reasoning_is_joined_and_goes_back_beside_calls_as_reasoning_content(field: str) -> None:
    message = sent_back(
        event({field: "Look "}), event({field: "first."}), event({"tool_calls": [call()]}, "stop")
    )
    assert message["reasoning_content"] == "Look first."


def test_reasoning_is_a_part_before_the_text() -> None:
    with LoopbackServer(
        sse(event({"reasoning": "Hm."}), event({"content": "Hi."}), event({}, "stop"))
    ) as server:
        reasoning, text = ask(build(url=server.url)).parts
    assert isinstance(reasoning, Reasoning)
    assert (reasoning.text, text) == ("Hm.", Text("Hi."))


@pytest.mark.parametrize(
    ("finish", "stop"), [("stop", "done"), ("length", "length"), ("content_filter", "filter")]
)
def test_finish_reason_is_kept(finish: str, stop: str) -> None:
    with LoopbackServer(chat_stream("hi", finish=finish)) as server:
        assert ask(build(url=server.url)).stop == stop


def test_call_without_arguments_is_a_call_of_no_arguments() -> None:
    with LoopbackServer([chat_stream(calls=[Call("look", "")]), chat_stream("done")]) as server:
        look = SimpleTool("Looks.", [], lambda args: f"seen {dict(args)}")
        ask(build(url=server.url), tools={"look": look})
    assert server.requests[1].json["messages"][2]["content"] == "seen {}"
