"""Anthropic's Messages protocol: replies wherever the stream is cut, requests in whole."""

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
    ContextOverflow,
    ProviderError,
    RateLimited,
    RequestRefused,
    ServerFault,
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
from hrns.providers.anthropic import Anthropic
from hrns.providers.anthropic_reader import AnthropicDecoder
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
from hrns.providers.http import build
from hrns.providers.quirks import Quirks
from hrns.reply import fold
from hrns.testing import Answer, LoopbackServer, json_answer

# Replies


def stream(*events: dict[str, Any]) -> bytes:
    """The events as the server sends them, each with its name."""
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events
    )


def deltas_of(*blocks: bytes) -> list[Delta]:
    decoder = AnthropicDecoder()
    deltas = [delta for block in blocks for delta in decoder.feed(block)] + decoder.end()
    assert [type(delta) for delta in deltas].index(Finish) == len(deltas) - 1
    return deltas


def read(data: bytes) -> AssistantMessage:
    """The message in a stream: the same wherever it is cut, which is tried at every byte."""
    message = fold(deltas_of(data))
    for cut in range(1, len(data)):
        assert fold(deltas_of(data[:cut], data[cut:])) == message, cut
    return message


def started(**usage: int) -> dict[str, Any]:
    message = {"id": "msg_1", "role": "assistant", "content": [], "usage": usage}
    return {"type": "message_start", "message": message}


def start(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    block = {"type": kind, **fields}
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def text(index: int, piece: str) -> dict[str, Any]:
    return delta(index, "text_delta", text=piece)


def arguments(index: int, piece: str) -> dict[str, Any]:
    return delta(index, "input_json_delta", partial_json=piece)


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def finished(reason: str | None = "end_turn", **usage: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


STOP = {"type": "message_stop"}
PING = {"type": "ping"}


def test_text_comes_in_the_pieces_that_the_server_sent() -> None:
    data = stream(
        started(input_tokens=9, output_tokens=1),
        start(0, "text", text=""),
        PING,
        text(0, "Hel"),
        text(0, ""),
        text(0, "lo"),
        stop(0),
        finished(output_tokens=4),
        STOP,
    )
    assert [d.text for d in deltas_of(data) if isinstance(d, PartText)] == ["Hel", "lo"]
    assert read(data) == AssistantMessage([Text("Hello")], usage=Usage(9, 4))


def test_blocks_may_be_interleaved_and_what_is_unknown_is_skipped() -> None:
    data = stream(
        started(),
        start(0, "text", text="I "),
        text(0, "look."),
        PING,
        start(1, "tool_use", id="t1", name="read", input={}),
        start(2, "tool_use", id="t2", name="list", input={}),
        arguments(1, '{"path":'),
        arguments(2, '{"dir":'),
        arguments(7, '{"stray":'),
        delta(1, "foo_delta", foo=1),
        {"type": "foo", "index": 1},
        arguments(2, '"."}'),
        arguments(1, '"a"}'),
        stop(2),
        stop(1),
        stop(0),
        stop(7),
        finished("tool_use"),
        STOP,
    )
    assert read(data) == AssistantMessage(
        [
            Text("I look."),
            ToolCall("t1", "read", '{"path":"a"}'),
            ToolCall("t2", "list", '{"dir":"."}'),
        ],
        stop="tool_calls",
    )


def test_events_without_a_name_are_known_by_their_type() -> None:
    data = stream(started(), start(0, "text", text=""), text(0, "Hi"), finished(), STOP)
    unnamed = b"\n".join(line for line in data.split(b"\n") if not line.startswith(b"event"))
    assert read(unnamed) == AssistantMessage([Text("Hi")])


@pytest.mark.parametrize("line_end", [b"\r\n", b"\r"])
def test_lines_may_end_in_any_way(line_end: bytes) -> None:
    data = stream(started(), start(0, "text", text=""), text(0, "Hi"), finished(), STOP)
    assert read(data.replace(b"\n", line_end)) == AssistantMessage([Text("Hi")])


def test_characters_whose_halves_come_apart_are_joined() -> None:
    data = stream(started(), start(0, "text", text=""), text(0, "x"), text(0, "AA"), text(0, "BB"))
    data = data.replace(b'"AA"', b'"\\ud83d"').replace(b'"BB"', b'"\\ude00"')
    assert read(data + stream(stop(0), finished(), STOP)).text == "x😀"


SIGNED = Reasoning("plan", '{"type":"thinking","thinking":null,"signature":"c2ln"}')


def test_signed_and_redacted_thoughts_are_kept_in_their_order() -> None:
    data = stream(
        started(),
        start(0, "thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="pl"),
        delta(0, "thinking_delta", thinking="an"),
        delta(0, "signature_delta", signature="c2"),
        delta(0, "signature_delta", signature="ln"),
        stop(0),
        start(1, "redacted_thinking", data="eHg="),
        stop(1),
        start(2, "tool_use", id="t1", name="list", input={}, caller={"type": "direct"}),
        arguments(2, ""),
        stop(2),
        finished("tool_use", output_tokens=9, output_tokens_details={"thinking_tokens": 5}),
        STOP,
    )
    assert read(data) == AssistantMessage(
        [
            SIGNED,
            Reasoning("", '{"type":"redacted_thinking","data":"eHg="}'),
            ToolCall("t1", "list", "", '{"caller":{"type":"direct"}}'),
        ],
        stop="tool_calls",
        usage=Usage(0, 9, reasoning=5),
    )


@pytest.mark.parametrize(
    "signature", [[], [delta(0, "signature_delta", signature="")]], ids=["none", "empty"]
)
def test_thought_without_a_signature_is_text_for_people_only(
    signature: list[dict[str, Any]],
) -> None:
    data = stream(
        started(),
        start(0, "thinking", thinking=""),
        delta(0, "thinking_delta", thinking="plan"),
        *signature,
        stop(0),
        finished(),
        STOP,
    )
    assert read(data).parts == (Reasoning("plan"),)


def test_signature_that_is_cut_off_with_its_stream_is_not_kept() -> None:
    data = stream(
        started(),
        start(0, "thinking", thinking=""),
        delta(0, "thinking_delta", thinking="plan"),
        delta(0, "signature_delta", signature="c2"),
    )
    assert fold(AnthropicDecoder().feed(data)).parts == (Reasoning("plan"),)


def test_blocks_of_another_kind_are_kept() -> None:
    block = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"q": "x"}}
    data = stream(started(), start(0, **{"kind": block.pop("type"), **block}), stop(0))  # type: ignore[arg-type]
    data += stream(start(1, "text", text="Hi"), stop(1), finished(), STOP)
    assert read(data).parts == (
        Opaque('{"type":"server_tool_use","id":"s1","name":"web_search","input":{"q":"x"}}'),
        Text("Hi"),
    )


def test_arguments_that_come_whole_are_taken() -> None:
    data = stream(started(), start(0, "tool_use", id="t1", name="f", input={"a": 1}), stop(0))
    assert read(data + stream(finished("tool_use"), STOP)).calls == (
        ToolCall("t1", "f", '{"a":1}'),
    )


def test_two_calls_with_one_id_get_two_ids() -> None:
    calls = [start(n, "tool_use", id="t1", name="f", input={}) for n in range(2)]
    first, second = read(stream(started(), *calls, finished("tool_use"), STOP)).calls
    assert first.id == "t1"
    assert second.id.startswith("call_")


def test_second_start_of_the_message_changes_nothing() -> None:
    begun = started(input_tokens=17, output_tokens=1)
    data = stream(begun, begun, start(0, "text", text=""), text(0, "Hi"), stop(0))
    message = read(data + stream(finished(output_tokens=5), STOP))
    assert message == AssistantMessage([Text("Hi")], usage=Usage(17, 5))


def test_cached_tokens_count_as_read() -> None:
    begun = started(input_tokens=1, cache_read_input_tokens=90, cache_creation_input_tokens=9)
    message = read(stream(begun, finished(output_tokens=5), STOP))
    assert message.usage == Usage(100, 5, cache_read=90, cache_write=9)


@pytest.mark.parametrize(
    ("reason", "stopped"),
    [
        ("end_turn", "done"),
        ("stop_sequence", "done"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
        ("unheard_of", "done"),
    ],
)
def test_stop_reason_says_how_it_ended(reason: str, stopped: str) -> None:
    assert read(stream(started(), finished(reason), STOP)).stop == stopped


def test_either_end_suffices() -> None:
    begun = (started(), start(0, "text", text=""), text(0, "Hi"))
    assert read(stream(*begun, STOP)).text == "Hi"
    assert read(stream(*begun, finished())).text == "Hi"


def error_of(data: bytes) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        deltas_of(data)
    return caught.value


@pytest.mark.parametrize(
    "data",
    [
        b"",
        stream(PING),
        stream(started(), start(0, "text", text=""), text(0, "Par")),
        stream(started(), start(0, "text", text=""), text(0, "Par"), stop(0), finished(None)),
        stream(started(), finished())[:-30],
    ],
)
def test_stream_that_just_ends_is_broken(data: bytes) -> None:
    assert type(error_of(data)) is BrokenStream


@pytest.mark.parametrize(
    ("kind", "message", "error"),
    [
        ("overloaded_error", "Overloaded", RateLimited),
        ("rate_limit_error", "slow", RateLimited),
        ("api_error", "Internal server error", ServerFault),
        ("invalid_request_error", "no", RequestRefused),
        ("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum", ContextOverflow),
        ("authentication_error", "who", AuthenticationFailed),
    ],
)
def test_error_inside_a_stream_is_the_servers_error(
    kind: str, message: str, error: type[ProviderError]
) -> None:
    failure = {"type": "error", "error": {"type": kind, "message": message}}
    data = stream(started(), start(0, "text", text=""), text(0, "Par"), failure)
    for form in (data, data.replace(b"event: error\n", b""), stream(failure)):
        found = error_of(form)
        assert (type(found), message in found.message) == (error, True)


@pytest.mark.parametrize(
    "event",
    [
        {"type": "content_block_start"},
        {"type": "content_block_start", "index": 0, "content_block": 7},
        {"type": "content_block_start", "index": [], "content_block": {"type": "text"}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use"}},
        {"type": "content_block_delta", "index": 0},
        delta(0, "thinking_delta", thinking=7),
        delta(1, "text_delta", text=7),
        {"type": "message_start"},
        {"type": "message_delta", "usage": 7},
    ],
)
def test_event_that_does_not_fit_the_protocol_is_a_broken_stream(event: dict[str, Any]) -> None:
    data = stream(started(), start(0, "thinking"), start(1, "text"), event, finished(), STOP)
    assert type(error_of(data)) is BrokenStream


BODY = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "plan", "signature": "c2ln"},
        {"type": "text", "text": "Hi"},
        {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}},
    ],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 3, "output_tokens": 4},
}
BODY_MESSAGE = AssistantMessage(
    [SIGNED, Text("Hi"), ToolCall("t1", "f", '{"a":1}')], stop="tool_calls", usage=Usage(3, 4)
)


def test_whole_body_is_read() -> None:
    assert read(json.dumps(BODY).encode()) == BODY_MESSAGE
    assert Anthropic().recognises(BODY)
    assert Anthropic().read_body(BODY) == BODY_MESSAGE


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}, RateLimited),
        ({"error": "m"}, ServerFault),
        ({"content": 7}, BrokenStream),
        ({"content": [7]}, BrokenStream),
        ({}, BrokenStream),
    ],
)
def test_whole_body_that_is_no_reply_is_an_error(
    body: dict[str, Any], error: type[ProviderError]
) -> None:
    assert type(error_of(json.dumps(body).encode())) is error
    assert not Anthropic().recognises(body)


KINDS = st.sampled_from(["text", "thinking", "tool_use"])
PIECES = st.lists(st.text(max_size=5), max_size=3)
NOISE = st.sampled_from([b"", b": ping\n\n", stream(PING), b"id: 3\n", stream({"type": "odd"})])


def block_events(index: int, kind: str, pieces: list[str]) -> list[dict[str, Any]]:
    head: dict[str, dict[str, Any]] = {
        "text": {"text": ""},
        "thinking": {"thinking": ""},
        "tool_use": {"id": f"t{index}", "name": "f", "input": {}},
    }
    fields = {"text": "text", "thinking": "thinking", "tool_use": "partial_json"}
    kinds = {"text": "text_delta", "thinking": "thinking_delta", "tool_use": "input_json_delta"}
    body = [delta(index, kinds[kind], **{fields[kind]: piece}) for piece in pieces]
    return [start(index, kind, **head[kind]), *body, stop(index)]


@settings(max_examples=60)
@given(
    st.lists(st.tuples(KINDS, PIECES, NOISE), max_size=4),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.integers(1, 40),
)
def test_message_is_the_same_however_the_stream_is_written_and_cut(
    blocks: list[tuple[str, list[str], bytes]], line_end: bytes, size: int
) -> None:
    noisy = stream(started())
    expected: list[Part] = []
    for index, (kind, pieces, noise) in enumerate(blocks):
        noisy += noise + stream(*block_events(index, kind, pieces))
        whole = "".join(pieces)
        if kind == "tool_use":
            expected.append(ToolCall(f"t{index}", "f", whole))
        elif whole:
            expected.append(Text(whole) if kind == "text" else Reasoning(whole))
    noisy = (noisy + stream(finished(), STOP)).replace(b"\n", line_end)
    cut = [noisy[at : at + size] for at in range(0, len(noisy), size)]
    assert fold(deltas_of(*cut)).parts == tuple(expected)


# Requests


HERE = "http://here"
OWN = Origin("anthropic", HERE, "m")
FOREIGN = Origin("anthropic", "http://elsewhere", "m")
HI = UserMessage("hi")
MARK = {"cache_control": {"type": "ephemeral"}}


def sent(*messages: Message, codec: Anthropic | None = None, **more: Any) -> dict[str, Any]:
    """The body of the request, parsed."""
    codec = codec or Anthropic(Quirks(cache_marks=False))
    value: dict[str, Any] = json.loads(
        codec.encode(ModelRequest("m", messages, **more), endpoint=HERE).body
    )
    return value


def test_whole_request() -> None:
    spec = ToolSpec("read", "Reads.", {"properties": {}})
    request = ModelRequest("m", (SystemMessage("Be brief."), HI), (spec,))
    encoded = Anthropic().encode(request, endpoint=HERE)
    assert (encoded.method, encoded.path) == ("POST", "/v1/messages")
    assert json.loads(encoded.body) == {
        "model": "m",
        "max_tokens": 32_000,
        "stream": True,
        "system": [{"type": "text", "text": "Be brief.", **MARK}],
        "tools": [
            {
                "name": "read",
                "description": "Reads.",
                "input_schema": {"type": "object", "properties": {}},
            }
        ],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi", **MARK}]}],
    }


def test_options_go_where_the_protocol_has_them() -> None:
    options = ModelOptions(
        max_tokens=9,
        temperature=0.0,
        tool_choice="read",
        response_schema={"type": "object"},
        stop="END",
        seed=1,
        stream=False,
        extra={"top_k": 5},
    )
    value = sent(HI, tools=(ToolSpec("read", "", {}),), options=options)
    del value["messages"], value["tools"]
    assert value == {
        "model": "m",
        "max_tokens": 9,
        "temperature": 0.0,
        "tool_choice": {"type": "tool", "name": "read"},
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
        "stop_sequences": ["END"],
        "top_k": 5,
    }


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [("auto", {"type": "auto"}), ("none", {"type": "none"}), ("required", {"type": "any"})],
)
def test_choice_of_tools_is_in_the_protocols_words(choice: str, wanted: dict[str, str]) -> None:
    options = ModelOptions(tool_choice=choice)
    value = sent(HI, tools=(ToolSpec("read", "", {}),), options=options)
    assert value["tool_choice"] == wanted
    assert "tool_choice" not in sent(HI, options=options)


def test_effort_is_asked_for_in_words() -> None:
    value = sent(HI, options=ModelOptions(reasoning_effort="minimal", temperature=0.5))
    assert value["thinking"] == {"type": "adaptive"}
    assert value["output_config"] == {"effort": "low"}
    assert "temperature" not in value
    assert sent(HI, options=ModelOptions(reasoning_effort="none"))["thinking"] == {
        "type": "disabled"
    }


@pytest.mark.parametrize(
    ("effort", "limit", "budget"),
    [("low", None, 2048), ("high", 4096, 4095), ("max", None, 24_576), ("low", 1000, None)],
)
def test_effort_is_asked_for_in_tokens_where_words_are_refused(
    effort: str, limit: int | None, budget: int | None
) -> None:
    options = ModelOptions(reasoning_effort=effort, max_tokens=limit)
    value = sent(HI, codec=Anthropic(Quirks(budgets=True)), options=options)
    thinking = {"type": "enabled", "budget_tokens": budget} if budget else None
    assert value.get("thinking") == thinking
    assert "output_config" not in value


def test_thinking_is_not_asked_for_where_a_tool_is_forced() -> None:
    options = ModelOptions(reasoning_effort="high", tool_choice="required")
    assert "thinking" not in sent(HI, tools=(ToolSpec("read", "", {}),), options=options)


def test_calls_results_and_images_are_sent() -> None:
    results = ToolMessage(
        [
            ToolResult("one", call_id="t1"),
            ToolResult("ERROR: no", status="error", call_id="t2"),
            ToolResult([Text("see"), Text(" "), Image("image/png", b"x")], call_id="t3"),
        ]
    )
    calls = [ToolCall("t1", "f", '{"a":1}'), ToolCall("t2", "f", " "), ToolCall("t3", "f", "[1]")]
    image = {"type": "base64", "media_type": "image/png", "data": "eA=="}
    user = UserMessage((Text("see"), Image("image/png", b"x")))
    assert sent(user, AssistantMessage([Text("I look."), *calls]), results)["messages"] == [
        {
            "role": "user",
            "content": [{"type": "text", "text": "see"}, {"type": "image", "source": image}],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}},
                {"type": "tool_use", "id": "t2", "name": "f", "input": {}},
                {"type": "tool_use", "id": "t3", "name": "f", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "one"},
                {
                    "type": "tool_result",
                    "tool_use_id": "t2",
                    "content": "ERROR: no",
                    "is_error": True,
                },
                {
                    "type": "tool_result",
                    "tool_use_id": "t3",
                    "content": [
                        {"type": "text", "text": "see"},
                        {"type": "image", "source": image},
                    ],
                },
            ],
        },
    ]


def test_neighbours_of_one_role_are_joined() -> None:
    results = ToolMessage([ToolResult("one", call_id="t1")])
    value = sent(HI, AssistantMessage([ToolCall("t1", "f", "{}")]), results, UserMessage("and?"))
    assert [message["role"] for message in value["messages"]] == ["user", "assistant", "user"]
    assert [block["type"] for block in value["messages"][2]["content"]] == ["tool_result", "text"]


def test_several_instructions_are_several_blocks() -> None:
    value = sent(SystemMessage("one"), SystemMessage("two"), HI)
    assert value["system"] == [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]


def blocks_of(*parts: Part, origin: Origin | None = OWN) -> list[dict[str, Any]]:
    value: list[dict[str, Any]] = sent(HI, AssistantMessage(parts, origin))["messages"][1][
        "content"
    ]
    return value


def test_thoughts_go_back_byte_for_byte_to_their_origin_only() -> None:
    redacted = Reasoning("", '{"type":"redacted_thinking","data":"eHg="}')
    call = ToolCall("t1", "f", "{}", '{"caller":{"type":"direct"}}')
    other = Opaque('{"type":"server_tool_use","id":"s1"}')
    plain = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    assert blocks_of(SIGNED, redacted, other, call) == [
        {"type": "thinking", "thinking": "plan", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "eHg="},
        {"type": "server_tool_use", "id": "s1"},
        {**plain, "caller": {"type": "direct"}},
    ]
    for origin in (FOREIGN, Origin("openai-chat", HERE, "m"), None):
        assert blocks_of(SIGNED, redacted, other, call, origin=origin) == [plain]


def test_thought_without_a_signature_is_never_sent() -> None:
    assert blocks_of(Reasoning("plan"), Text("Hi")) == [{"type": "text", "text": "Hi"}]


def test_message_of_thoughts_alone_is_left_out() -> None:
    value = sent(HI, AssistantMessage([SIGNED], OWN), UserMessage("well?"))
    assert value["messages"] == [
        {
            "role": "user",
            "content": [{"type": "text", "text": "hi"}, {"type": "text", "text": "well?"}],
        }
    ]


def test_ids_are_made_to_fit_alike_in_call_and_result() -> None:
    odd = "functions.read:0"
    value = sent(
        HI,
        AssistantMessage([ToolCall(odd, "f", "{}")]),
        ToolMessage([ToolResult("one", call_id=odd)]),
    )
    (call,), (result,) = (message["content"] for message in value["messages"][1:])
    assert call["id"] == result["tool_use_id"]
    assert call["id"].replace("_", "").isalnum()


def marks(value: dict[str, Any]) -> list[bool]:
    return [
        "cache_control" in block for message in value["messages"] for block in message["content"]
    ]


def test_last_two_messages_of_the_user_are_marked_for_the_cache() -> None:
    turn = (AssistantMessage([Text("a")]), UserMessage((Text("b"), Text("c"))))
    value = sent(HI, *turn, *turn, codec=Anthropic(Quirks()))
    assert marks(value) == [False, False, False, True, False, False, True]


def test_tools_are_marked_where_there_are_no_instructions() -> None:
    specs = (ToolSpec("a", "", {}), ToolSpec("b", "", {}))
    value = sent(HI, tools=specs, codec=Anthropic(Quirks()))
    assert ["cache_control" in tool for tool in value["tools"]] == [False, True]


FULL = ModelRequest("m", (SystemMessage("Be brief."), HI), (), ModelOptions(reasoning_effort="low"))


@pytest.mark.parametrize(
    ("message", "quirks"),
    [
        ("max_tokens: 32000 > 8192, which is the maximum allowed", Quirks(token_limit=8192)),
        ("system.0.cache_control: Extra inputs are not permitted", Quirks(cache_marks=False)),
        ("adaptive thinking is not supported on this model", Quirks(budgets=True)),
        ("output_config: Extra inputs are not permitted", Quirks(budgets=True)),
        ("Invalid `signature` in `thinking` block", Quirks(native=False)),
        ("`thinking` blocks in the latest message cannot be modified.", Quirks(native=False)),
        ("the final block in an assistant message cannot be `thinking`.", Quirks(native=False)),
        ("tools.0.input_schema: unknown keyword", Quirks(plain_schemas=True)),
    ],
)
def test_refusal_that_is_understood_changes_how_requests_are_written(
    message: str, quirks: Quirks
) -> None:
    codec = Anthropic(Quirks())
    assert codec.adapt(RequestRefused(message, status=400), FULL)
    assert codec.quirks == quirks


def test_model_that_cannot_think_is_not_asked_to() -> None:
    codec = Anthropic(Quirks(budgets=True))
    assert codec.adapt(RequestRefused("thinking is not supported by this model"), FULL)
    assert "thinking" not in json.loads(codec.encode(FULL, endpoint=HERE).body)


def test_each_message_is_encoded_once() -> None:
    codec = Anthropic()
    first = codec.texts((HI,))[0]
    assert codec.texts((HI, AssistantMessage([Text("a")])))[0] is first


# With a server


def test_conversation_with_a_server() -> None:
    data = stream(started(), start(0, "text", text=""), text(0, "Hi"), stop(0), finished(), STOP)
    refusal = json_answer(
        {"type": "error", "error": {"type": "invalid_request_error", "message": "cache_control"}},
        400,
    )
    listed = json_answer({"data": [{"id": "m", "max_input_tokens": 9}]})
    with LoopbackServer([refusal, data, listed, Answer(b"", 529)]) as server:
        provider = build(url=f"{server.url}/v1/messages", key="sk-planted", api="anthropic")
        request = ModelRequest("m", (HI,))
        deltas = list(provider.reply(request, Cancel()))
        assert isinstance(deltas[0], ProviderNotice)
        assert fold(deltas) == AssistantMessage([Text("Hi")])
        assert provider.models() == [ModelInfo("m", 9)]
        with pytest.raises(RateLimited):
            list(provider.reply(request, Cancel()))
        paths = [received.path for received in server.requests]
        assert paths == ["/v1/messages", "/v1/messages", "/v1/models?limit=1000", "/v1/messages"]
        headers = server.requests[0].headers
        assert headers["x-api-key"] == "sk-planted"
        assert headers["anthropic-version"] == "2023-06-01"
        provider.close()


# Servers that are further from the protocol


def test_mark_of_the_end_of_another_protocol_is_ignored() -> None:
    data = stream(started(), start(0, "text", text=""), text(0, "Hi"), finished())
    assert read(data + b"data: [DONE]\n\n") == AssistantMessage([Text("Hi")])
    assert type(error_of(stream(started()) + b"data: [DONE]\n\n")) is BrokenStream


def test_blocks_with_one_number_and_no_ends_are_told_apart() -> None:
    data = stream(
        started(),
        start(0, "text", text="I look."),
        start(0, "tool_use", id="t1", name="read", input={"path": "a"}),
        start(0, "tool_use", id="t2", name="read", input={}),
        arguments(0, '{"path": "b"}'),
        finished("tool_use"),
        STOP,
    )
    first, second = ToolCall("t1", "read", '{"path":"a"}'), ToolCall("t2", "read", '{"path": "b"}')
    assert read(data).parts == (Text("I look."), first, second)


@pytest.mark.parametrize(
    "events",
    [
        [start(0, "tool_use", id="t1", name="f", input='{"a":1}')],
        [
            start(0, "tool_use", id="t1", name="f"),
            delta(0, "input_json_delta", partial_json={"a": 1}),
        ],
        [start(0, "tool_use", id="t1", name="f"), arguments(0, "{}"), arguments(0, '{"a":1}')],
    ],
)
def test_arguments_of_odd_forms_are_read(events: list[dict[str, Any]]) -> None:
    data = stream(started(), *events, finished("tool_use"), STOP)
    assert read(data).parts == (ToolCall("t1", "f", '{"a":1}'),)


def test_empty_object_alone_is_the_arguments() -> None:
    events = [start(0, "tool_use", id="t1", name="f"), arguments(0, "{}"), stop(0)]
    data = stream(started(), *events, finished("tool_use"), STOP)
    assert read(data).parts == (ToolCall("t1", "f", "{}"),)


def test_text_of_a_block_that_was_never_announced_is_not_lost() -> None:
    thought = delta(0, "thinking_delta", thinking="hm")
    assert read(stream(started(), text(0, "Hi"), finished(), STOP)).parts == (Text("Hi"),)
    data = stream(started(), thought, text(0, "Hi"), finished(), STOP)
    assert read(data).parts == (Reasoning("hm"), Text("Hi"))


def test_message_that_is_whole_from_the_start_is_read() -> None:
    message = {"content": [{"type": "text", "text": "Hi"}], "stop_reason": "max_tokens"}
    data = stream({"type": "message_start", "message": message}, STOP)
    assert read(data) == AssistantMessage([Text("Hi")], stop="length")


@pytest.mark.parametrize("content", ["Hi", [{"type": "text", "text": "Hi"}]])
def test_content_of_a_body_may_be_text(content: object) -> None:
    body = {"type": "message", "content": content, "stop_reason": "end_turn"}
    assert read(json.dumps(body).encode()) == AssistantMessage([Text("Hi")])


def test_input_of_a_tool_that_the_server_runs_goes_back() -> None:
    data = stream(
        started(),
        start(0, "server_tool_use", id="s1", name="web_search", input={}),
        arguments(0, '{"query":'),
        arguments(0, '"x"}'),
        stop(0),
        start(1, "text", text="Hi"),
        finished(),
        STOP,
    )
    (opaque, _) = read(data).parts
    assert isinstance(opaque, Opaque)
    assert json.loads(opaque.native)["input"] == {"query": "x"}


def test_call_that_is_said_but_not_there_is_told() -> None:
    data = stream(started(), start(0, "text", text="I look."), finished("tool_use"), STOP)
    assert read(data) == AssistantMessage([Text("I look.")])
    assert [type(d) for d in deltas_of(data)].count(ProviderNotice) == 1


@pytest.mark.parametrize(("reason", "stopped"), [("length", "length"), ("sensitive", "filter")])
def test_stop_reason_in_the_words_of_other_servers(reason: str, stopped: str) -> None:
    data = stream(started(), start(0, "text", text="a"), finished(reason), STOP)
    assert read(data).stop == stopped


def test_stop_reason_of_a_server_that_gave_up_is_an_error() -> None:
    data = stream(started(), start(0, "text", text="a"), finished("error"), STOP)
    assert type(error_of(data)) is ServerFault


def failed(*content: Text | Image) -> dict[str, Any]:
    result = ToolResult(content, status="error", call_id="t1", name="f")
    call = AssistantMessage([ToolCall("t1", "f", "{}")])
    (block,) = sent(HI, call, ToolMessage([result]), codec=Anthropic(Quirks(cache_marks=False)))[
        "messages"
    ][2]["content"]
    found: dict[str, Any] = block
    return found


def test_failed_result_has_text_and_nothing_else() -> None:
    assert failed(Text("no"))["is_error"] is True
    assert (failed(Text(" "))["content"], failed()["content"]) == ("ERROR", "ERROR")
    pictured = failed(Text("no"), Image("image/png", b"x"))
    assert "is_error" not in pictured
    assert [block["type"] for block in pictured["content"]] == ["text", "image"]


def test_thought_is_never_the_last_that_goes_back() -> None:
    own = Origin("anthropic", HERE, "m")
    native = '{"type":"thinking","thinking":null,"signature":"SIG"}'
    cut = AssistantMessage([Text("Hi"), Reasoning("hm", native), Text(" ")], own, "interrupted")
    assert sent(HI, cut, HI, codec=Anthropic(Quirks(cache_marks=False)))["messages"][1] == {
        "role": "assistant",
        "content": [{"type": "text", "text": "Hi"}],
    }


def test_unsigned_thoughts_go_back_where_a_server_insists() -> None:
    message = "The `content[].thinking` in the thinking mode must be passed back to the API."
    codec = Anthropic(Quirks())
    assert codec.adapt(RequestRefused(message, status=400), FULL)
    asked = AssistantMessage([Reasoning("hm"), ToolCall("t1", "f", "{}")])
    result = ToolMessage([ToolResult("ok", call_id="t1")])
    thought, call = sent(HI, asked, result, codec=codec)["messages"][1]["content"]
    assert thought == {"type": "thinking", "thinking": "hm", "signature": ""}
    assert call["type"] == "tool_use"


@pytest.mark.parametrize(
    "message",
    [
        "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
        "The maximum tokens you requested exceeds the model limit of 8192. Try fewer.",
        "`max_tokens` must be less than or equal to `8192`",
    ],
)
def test_limit_of_the_model_is_learnt_in_any_words(message: str) -> None:
    codec = Anthropic(Quirks())
    assert codec.adapt(RequestRefused(message, status=400), FULL)
    assert codec.quirks == Quirks(token_limit=8192)


def test_schema_with_a_choice_at_its_head_is_one_object_where_a_server_insists() -> None:
    message = "input_schema does not support oneOf, allOf, or anyOf at the top level"
    codec = Anthropic(Quirks())
    assert codec.adapt(RequestRefused(message, status=400), FULL)
    options = [{"type": "object", "properties": {name: {"type": "string"}}} for name in "ab"]
    value = sent(HI, tools=(ToolSpec("f", "", {"anyOf": options}),), codec=codec)
    assert value["tools"][0]["input_schema"] == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
    }


def test_calls_stand_behind_everything_else_of_their_message() -> None:
    asked = AssistantMessage([ToolCall("t1", "f", "{}"), Text("I look.")])
    result = ToolMessage([ToolResult("ok", call_id="t1")])
    blocks = sent(HI, asked, result, codec=Anthropic(Quirks()))["messages"][1]["content"]
    assert [block["type"] for block in blocks] == ["text", "tool_use"]


def test_tokens_that_were_told_are_not_taken_back() -> None:
    data = stream(
        started(input_tokens=9, output_tokens=1),
        start(0, "text", text="Hi"),
        finished(input_tokens=0, output_tokens=4),
        STOP,
    )
    assert read(data).usage == Usage(9, 4)
