"""Ollama's own protocol: replies wherever the stream is cut, requests in whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hrns.cancel import Cancel
from hrns.errors import (
    AuthenticationFailed,
    BrokenStream,
    ProviderError,
    RequestRefused,
    ServerFault,
    ToolsRefused,
)
from hrns.messages import (
    AssistantMessage,
    Image,
    Message,
    Opaque,
    Origin,
    Part,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
)
from hrns.providers.base import (
    Delta,
    Finish,
    ModelInfo,
    ModelOptions,
    ModelRequest,
    PartText,
    ToolSpec,
)
from hrns.providers.http import build
from hrns.providers.ollama import Ollama, context_length
from hrns.providers.ollama_reader import LineReader, OllamaDecoder
from hrns.providers.quirks import Quirks
from hrns.reply import fold
from hrns.testing import Answer, LoopbackServer, json_answer

# Replies


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def line(content: Any = "", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **more}
    return {"model": "m", "message": message, "done": False}


def call(name: str, arguments: Any, **more: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments}, **more}


def last(reason: str = "stop", **more: Any) -> dict[str, Any]:
    return {**line(), "done": True, "done_reason": reason, **more}


def deltas_of(*blocks: bytes) -> list[Delta]:
    decoder = OllamaDecoder()
    deltas = [delta for block in blocks for delta in decoder.feed(block)] + decoder.end()
    assert [type(delta) for delta in deltas].index(Finish) == len(deltas) - 1
    return deltas


def without_ids(message: AssistantMessage) -> AssistantMessage:
    """The message with call ids that are the same each time: most servers give none."""
    assert all(part.id for part in message.calls)
    assert len({part.id for part in message.calls}) == len(message.calls)
    parts = [
        ToolCall("", part.name, part.arguments, part.native)
        if isinstance(part, ToolCall) and part.id.startswith("call_")
        else part
        for part in message.parts
    ]
    return AssistantMessage(parts, message.origin, message.stop, message.usage)


def read(data: bytes) -> AssistantMessage:
    """The message in a stream: the same wherever it is cut, which is tried at every byte."""
    message = without_ids(fold(deltas_of(data)))
    for cut in range(1, len(data)):
        assert without_ids(fold(deltas_of(data[:cut], data[cut:]))) == message, cut
    return message


def test_text_comes_in_the_pieces_that_the_server_sent() -> None:
    data = lines(line("Hel"), line(""), line("lo"), last(prompt_eval_count=3, eval_count=2))
    assert [d.text for d in deltas_of(data) if isinstance(d, PartText)] == ["Hel", "lo"]
    assert read(data) == AssistantMessage([Text("Hello")], usage=Usage(3, 2))


@pytest.mark.parametrize("counts", [{}, {"eval_count": None}, {"prompt_eval_count": "x"}])
def test_tokens_that_are_not_told_are_not_made_up(counts: dict[str, Any]) -> None:
    assert read(lines(line("Hi"), last(**counts))).usage in (None, Usage())


def test_calls_in_a_line_before_the_last_are_calls() -> None:
    two = [call("read", {"path": "a"}), call("list", '{"dir":"."}')]
    assert read(lines(line(tool_calls=two), last())) == AssistantMessage(
        [ToolCall("", "read", '{"path":"a"}'), ToolCall("", "list", '{"dir":"."}')],
        stop="tool_calls",
    )


@pytest.mark.parametrize("arguments", [None, {}])
def test_call_without_arguments_has_an_empty_object(arguments: object) -> None:
    (found,) = read(lines(line(tool_calls=[call("list", arguments)]), last())).calls
    assert found.arguments == "{}"


def test_ids_of_the_server_are_kept() -> None:
    data = lines(line(tool_calls=[call("list", {}, id="c1")]), last())
    assert read(data).calls == (ToolCall("c1", "list", "{}"),)


def test_last_line_needs_no_end() -> None:
    assert read(lines(line("Hi"), last())[:-1]) == AssistantMessage([Text("Hi")])


def test_line_ends_and_empty_lines_do_not_matter() -> None:
    data = b"\n \r\n" + lines(line("Hi")).replace(b"\n", b"\r\n\r\n") + lines(last())
    assert read(data) == AssistantMessage([Text("Hi")])


def test_thinking_is_told_from_text() -> None:
    data = lines(line(thinking="pl"), line(thinking="an"), line("Hi"), last())
    assert read(data).parts == (Reasoning("plan", '{"thinking":null}'), Text("Hi"))


def test_thinking_in_tags_is_told_from_text() -> None:
    data = lines(*(line(piece) for piece in ("<thi", "nk>plan</th", "ink>\n", "Hi")), last())
    assert read(data).parts == (Reasoning("plan"), Text("Hi"))


def test_what_only_the_server_knows_is_kept() -> None:
    odd = {"function": {"name": "f", "arguments": {}, "sig": "x", "index": 0}, "extra": 1}
    assert read(lines(line("Hi", tool_calls=[odd], mark="y"), last())).parts == (
        Text("Hi"),
        ToolCall("", "f", "{}", '{"extra":1,"function":{"sig":"x"}}'),
        Opaque('{"mark":"y"}'),
    )


def test_characters_whose_halves_come_apart_are_joined() -> None:
    data = lines(line("x"), line("AA"), line("BB"), last())
    data = data.replace(b'"AA"', b'"\\ud83d"').replace(b'"BB"', b'"\\ude00"')
    assert read(data).text == "x😀"


@pytest.mark.parametrize(
    ("reason", "stop"), [("stop", "done"), ("length", "length"), ("", "done"), ("load", "done")]
)
def test_reason_says_how_it_ended(reason: str, stop: str) -> None:
    assert read(lines(line("Hi"), last(reason))).stop == stop


def error_of(data: bytes) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        deltas_of(data)
    return caught.value


@pytest.mark.parametrize("data", [b"", b"\n", lines(line("par")), lines(line("par"), last())[:-30]])
def test_stream_that_just_ends_is_broken(data: bytes) -> None:
    assert type(error_of(data)) is BrokenStream


def test_error_inside_a_stream_is_the_servers_error() -> None:
    found = error_of(lines(line("par"), {"error": "an error was encountered"}))
    assert (type(found), "was encountered" in found.message) == (ServerFault, True)


@pytest.mark.parametrize(
    "odd",
    [
        7,
        "text",
        [],
        {"message": 7},
        line(7),
        line(tool_calls=7),
        line(tool_calls=[7]),
        line(tool_calls=[{"function": {}}]),
    ],
)
def test_line_that_does_not_fit_the_protocol_is_a_broken_stream(odd: Any) -> None:
    for before in (b"", lines(line("a"))):
        assert type(error_of(before + lines(odd, last()))) is BrokenStream


def test_line_that_never_ends_is_refused_at_the_limit() -> None:
    reader = LineReader(limit_bytes=1000)
    assert reader.feed(b"x" * 1000) == []
    with pytest.raises(BrokenStream, match="longer than 1000 bytes"):
        reader.feed(b"x")


BODY = {**last(prompt_eval_count=3, eval_count=4), "message": line("Hi", thinking="hm")["message"]}


def test_whole_body_is_read() -> None:
    message = read(json.dumps(BODY).encode())
    assert message == AssistantMessage(
        [Reasoning("hm", '{"thinking":null}'), Text("Hi")], usage=Usage(3, 4)
    )
    assert Ollama().recognises(BODY)
    assert Ollama().read_body(BODY) == message


@pytest.mark.parametrize(
    ("body", "error"), [({"error": "no"}, ServerFault), ({"message": 7}, BrokenStream)]
)
def test_whole_body_that_is_no_reply_is_an_error(
    body: dict[str, Any], error: type[ProviderError]
) -> None:
    assert not Ollama().recognises(body)
    with pytest.raises(error):
        Ollama().read_body(body)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.text(max_size=5), st.text(max_size=3), st.booleans()), max_size=5),
    st.sampled_from([b"\n", b"\r\n", b"\n\n"]),
    st.integers(1, 40),
)
def test_message_is_the_same_however_the_stream_is_cut(
    pieces: list[tuple[str, str, bool]], line_end: bytes, size: int
) -> None:
    values = [
        line(text, thinking=thought, **({"tool_calls": [call("f", {})]} if calls else {}))
        for text, thought, calls in pieces
    ]
    data = lines(*values, last()).replace(b"\n", line_end)
    cut = [data[at : at + size] for at in range(0, len(data), size)]
    message = fold(deltas_of(*cut))
    assert message.text == "".join(text for text, _, _ in pieces)
    assert len(message.calls) == sum(calls for _, _, calls in pieces)
    assert without_ids(message) == without_ids(fold(deltas_of(lines(*values, last()))))


# Requests


HERE = "http://here"
OWN = Origin("ollama", HERE, "m")
FOREIGN = Origin("ollama", "http://elsewhere", "m")
HI = UserMessage("hi")


def sent(*messages: Message, codec: Ollama | None = None, **more: Any) -> dict[str, Any]:
    """The body of the request, parsed."""
    request = ModelRequest("m", messages, **more)
    value: dict[str, Any] = json.loads((codec or Ollama()).encode(request, endpoint=HERE).body)
    return value


def test_whole_request() -> None:
    spec = ToolSpec("read", "Reads.", {"type": "object"})
    request = ModelRequest("m", (SystemMessage("Be brief."), HI), (spec,))
    encoded = Ollama().encode(request, endpoint=HERE)
    assert (encoded.method, encoded.path) == ("POST", "/api/chat")
    function = {"name": "read", "description": "Reads.", "parameters": {"type": "object"}}
    assert json.loads(encoded.body) == {
        "model": "m",
        "stream": True,
        "options": {"num_ctx": 8192},
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "hi"},
        ],
        "tools": [{"type": "function", "function": function}],
    }


def test_options_go_where_the_protocol_has_them() -> None:
    options = ModelOptions(
        max_tokens=9,
        temperature=0.0,
        reasoning_effort="low",
        tool_choice="required",
        response_schema={"type": "object"},
        stop="END",
        seed=1,
        stream=False,
        extra={"top_k": 5, "keep_alive": "1h", "options": {"num_ctx": 4096}},
    )
    value = sent(HI, options=options)
    del value["messages"]
    assert value == {
        "model": "m",
        "stream": False,
        "think": "low",
        "format": {"type": "object"},
        "keep_alive": "1h",
        "options": {
            "num_predict": 9,
            "temperature": 0.0,
            "seed": 1,
            "stop": ["END"],
            "top_k": 5,
            "num_ctx": 4096,
        },
    }


def test_thinking_can_be_switched_off() -> None:
    assert sent(HI, options=ModelOptions(reasoning_effort="none"))["think"] is False


@pytest.mark.parametrize(
    ("size_bytes", "max_tokens", "tokens"),
    [(0, None, 8192), (18_000, None, 8192), (18_500, None, 16_384), (60_000, 20_000, 65_536)],
)
def test_context_holds_the_request_and_its_reply(
    size_bytes: int, max_tokens: int | None, tokens: int
) -> None:
    assert context_length(size_bytes, max_tokens) == tokens


def test_context_grows_with_the_conversation_and_never_shrinks() -> None:
    codec = Ollama()
    long = UserMessage("word " * 12_000)
    lengths = [sent(m, codec=codec)["options"]["num_ctx"] for m in (HI, long, HI)]
    assert lengths == [8192, 32_768, 32_768]


def test_pictures_do_not_count_as_text() -> None:
    picture = Image("image/png", b"x" * 300_000)
    seen = ToolMessage([ToolResult([Text("see"), picture], call_id="c1", name="look")])
    value = sent(UserMessage((Text("see"), picture)), seen)
    assert value["options"]["num_ctx"] == 8192


def test_context_length_of_the_configuration_is_left_alone() -> None:
    long = UserMessage("word " * 12_000)
    value = sent(long, options=ModelOptions(extra={"num_ctx": 4096}))
    assert value["options"]["num_ctx"] == 4096


def test_conversation_is_sent() -> None:
    picture = Image("image/png", b"x")
    calls = [ToolCall("c1", "f", '{"a":1}'), ToolCall("c2", "f", " "), ToolCall("c3", "f", "[]")]
    results = [
        ToolResult("one", call_id="c1", name="f"),
        ToolResult([Text("see"), picture], call_id="c2", name="f"),
    ]
    value = sent(
        UserMessage((Text("see"), picture)),
        AssistantMessage([Text("I look."), *calls]),
        ToolMessage(results),
    )
    assert value["messages"] == [
        {"role": "user", "content": "see", "images": ["eA=="]},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "c1", "function": {"name": "f", "arguments": {"a": 1}}},
                {"id": "c2", "function": {"name": "f", "arguments": {}}},
                {"id": "c3", "function": {"name": "f", "arguments": {}}},
            ],
        },
        {"role": "tool", "tool_name": "f", "tool_call_id": "c1", "content": "one"},
        {
            "role": "tool",
            "tool_name": "f",
            "tool_call_id": "c2",
            "content": "see",
            "images": ["eA=="],
        },
    ]


def test_what_only_the_server_knows_goes_back_to_its_origin_only() -> None:
    native_call = ToolCall("c1", "f", "{}", '{"extra":1,"function":{"sig":"x"}}')
    parts: list[Part] = [Reasoning("hm", '{"thinking":null}'), native_call, Opaque('{"mark":"y"}')]
    plain_call = {"id": "c1", "function": {"name": "f", "arguments": {}}}
    plain = {"role": "assistant", "content": "", "tool_calls": [plain_call]}
    assert sent(HI, AssistantMessage(parts, OWN))["messages"][1] == {
        "role": "assistant",
        "content": "",
        "thinking": "hm",
        "mark": "y",
        "tool_calls": [
            {"id": "c1", "extra": 1, "function": {"name": "f", "arguments": {}, "sig": "x"}}
        ],
    }
    assert sent(HI, AssistantMessage(parts, FOREIGN))["messages"][1] == plain


def test_model_that_cannot_think_is_not_asked_to() -> None:
    codec = Ollama(Quirks())
    request = ModelRequest("m", (HI,), (), ModelOptions(reasoning_effort="low"))
    assert codec.adapt(RequestRefused('"m" does not support thinking: think'), request)
    assert "think" not in json.loads(codec.encode(request, endpoint=HERE).body)


@pytest.mark.parametrize(
    "body",
    [
        {"models": [{"name": "a:latest", "model": "a:latest"}, {"name": "b"}]},
        {"data": [{"id": "a:latest"}, {"id": "b"}]},
    ],
)
def test_models_are_listed(body: dict[str, Any]) -> None:
    found = Ollama().read_models(json.dumps(body).encode())
    assert found == [ModelInfo("a:latest"), ModelInfo("b")]


@pytest.mark.parametrize("body", [b"", b"7", b"{}", b'{"models": [{}]}'])
def test_what_is_no_list_of_models_is_refused_or_empty(body: bytes) -> None:
    if body == b'{"models": [{}]}':
        assert Ollama().read_models(body) == []
    else:
        with pytest.raises(BrokenStream):
            Ollama().read_models(body)


def test_conversation_with_a_server() -> None:
    stream = Answer([lines(line("Hi")), lines(last())], content_type="application/x-ndjson")
    refusal = json_answer({"error": "registry.ollama.ai/library/m does not support tools"}, 400)
    listed = json_answer({"models": [{"name": "m"}]})
    with LoopbackServer([stream, listed, refusal]) as server:
        provider = build(url=server.url, api="ollama")
        request = ModelRequest("m", (HI,))
        assert fold(provider.reply(request, Cancel())) == AssistantMessage([Text("Hi")])
        assert provider.models() == [ModelInfo("m")]
        with pytest.raises(ToolsRefused):
            list(provider.reply(request, Cancel()))
        paths = [received.path for received in server.requests]
        assert paths == ["/api/chat", "/api/tags", "/api/chat"]
        provider.close()


# Servers that are further from the protocol


def as_events(*values: Any) -> bytes:
    return b"".join(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values)


def test_lines_framed_as_events_are_read() -> None:
    assert read(as_events(line("H"), line("i"), last()) + b"data: [DONE]\n\n").text == "Hi"


def test_body_over_several_lines_is_read() -> None:
    body = json.dumps(last(message={"role": "assistant", "content": "Hi"}), indent=2)
    assert read(body.encode()) == read(body.replace("\n", "\r\n").encode())
    assert read(body.encode()).text == "Hi"
    assert "boom" in error_of(json.dumps({"error": "boom"}, indent=2).encode()).message


def test_object_that_never_ends_is_refused_at_the_limit() -> None:
    reader = LineReader(limit_bytes=100)
    reader.feed(b"{\n")
    with pytest.raises(BrokenStream):
        reader.feed(b'  "a": 1,\n' * 20)


def test_reply_in_the_field_of_another_request_is_read() -> None:
    pieces = [{"response": "Hi", "done": False}, {"response": "", "done": True}]
    assert read(lines(*pieces)).text == "Hi"


def test_call_without_a_function_around_it_is_read() -> None:
    given = {"name": "f", "arguments": {"a": 1}}
    (found,) = read(lines(line(tool_calls=[given]), last())).calls
    assert (found.name, found.arguments) == ("f", '{"a":1}')


def test_status_beside_an_error_counts() -> None:
    error = error_of(lines(line("x"), {"StatusCode": 401, "error": "unauthorized"}))
    assert (type(error), error.status) == (AuthenticationFailed, 401)


def test_error_under_a_name_of_its_own_is_told() -> None:
    error = error_of(lines(line("x"), {"error parsing tool call": "invalid character 'c'"}))
    assert (type(error), "invalid character 'c'" in error.message) == (ServerFault, True)
