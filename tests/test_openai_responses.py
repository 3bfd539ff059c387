"""OpenAI's Responses protocol: replies wherever the stream is cut, requests in whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hrns.cancel import Cancel
from hrns.errors import (
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
    Stop,
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
    ProviderNotice,
    ToolSpec,
)
from hrns.providers.http import build
from hrns.providers.openai_responses import OpenAIResponses
from hrns.providers.openai_responses_reader import ResponsesDecoder
from hrns.providers.quirks import Quirks
from hrns.reply import fold
from hrns.testing import LoopbackServer, json_answer

# Replies


def stream(*events: dict[str, Any]) -> bytes:
    """The events as the server sends them, each with its name."""
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events
    )


def deltas_of(*blocks: bytes) -> list[Delta]:
    decoder = ResponsesDecoder()
    deltas = [delta for block in blocks for delta in decoder.feed(block)] + decoder.end()
    assert [type(delta) for delta in deltas].index(Finish) == len(deltas) - 1
    return deltas


def read(data: bytes) -> AssistantMessage:
    """The message in a stream: the same wherever it is cut, which is tried at every byte."""
    message = fold(deltas_of(data))
    for cut in range(1, len(data)):
        assert fold(deltas_of(data[:cut], data[cut:])) == message, cut
    return message


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", **fields}


def added(index: int, item: dict[str, Any]) -> dict[str, Any]:
    return event("output_item.added", output_index=index, item=item)


def done(index: int, item: dict[str, Any]) -> dict[str, Any]:
    return event("output_item.done", output_index=index, item=item)


def message_item(text: str = "", **more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text}] if text else []
    return {"type": "message", "id": "m1", "role": "assistant", "content": content, **more}


def call_item(arguments: str = "", **more: Any) -> dict[str, Any]:
    fields = {"id": "fc1", "call_id": "c1", "name": "read", "arguments": arguments}
    return {"type": "function_call", **fields, **more}


def reasoning_item(**more: Any) -> dict[str, Any]:
    return {"type": "reasoning", "id": "rs1", "summary": [], **more}


def text(piece: str, **where: Any) -> dict[str, Any]:
    return event("output_text.delta", delta=piece, **(where or {"item_id": "m1"}))


def arguments(piece: str, **where: Any) -> dict[str, Any]:
    fields = where or {"item_id": "fc1"}
    return event("function_call_arguments.delta", delta=piece, **fields)


CREATED = event("created", response={"id": "resp_1", "status": "in_progress"})


def completed(*output: dict[str, Any], status: str = "completed", **more: Any) -> dict[str, Any]:
    response = {"id": "resp_1", "status": status, "output": list(output), **more}
    return event("completed", response=response)


def test_text_comes_in_the_pieces_that_the_server_sent() -> None:
    data = stream(
        CREATED,
        added(0, message_item()),
        event("content_part.added", item_id="m1", part={"type": "output_text", "text": ""}),
        text("Hel"),
        text("lo"),
        event("output_text.done", item_id="m1", text="Hello"),
        done(0, message_item("Hello", status="completed")),
        completed(message_item("Hello"), usage={"input_tokens": 3, "output_tokens": 2}),
    )
    assert [d.text for d in deltas_of(data) if isinstance(d, PartText)] == ["Hel", "lo"]
    assert read(data) == AssistantMessage([Text("Hello")], usage=Usage(3, 2))


@pytest.mark.parametrize("where", [{"item_id": "m1"}, {"output_index": 0}, {"item_id": "?"}])
def test_deltas_find_their_item_by_id_or_place_or_type(where: dict[str, Any]) -> None:
    data = stream(added(0, message_item()), text("Hi", **where), completed())
    assert read(data) == AssistantMessage([Text("Hi")])


def test_text_that_was_never_announced_is_not_lost() -> None:
    assert read(stream(text("Hi"), completed())) == AssistantMessage([Text("Hi")])


def test_items_without_deltas_are_taken_whole() -> None:
    items = (message_item("Hi"), call_item('{"path":"a"}'))
    expected = AssistantMessage(
        [Text("Hi"), ToolCall("c1", "read", '{"path":"a"}')], stop="tool_calls"
    )
    assert read(stream(*(done(n, item) for n, item in enumerate(items)), completed())) == expected
    assert read(stream(completed(*items))) == expected
    assert read(stream(*map(added, range(2), items), completed(*items))) == expected


def test_whole_text_completes_what_the_deltas_left_out() -> None:
    data = stream(added(0, message_item()), text("He"), done(0, message_item("Hello")))
    assert read(data + stream(completed(message_item("Hello")))).text == "Hello"


def test_calls_may_be_interleaved() -> None:
    second = {"id": "fc2", "call_id": "c2", "name": "list"}
    data = stream(
        added(0, call_item()),
        added(1, call_item(**second)),
        arguments('{"path":'),
        arguments('{"dir":', item_id="fc2"),
        arguments('"a"}', output_index=0),
        arguments('"."}', output_index=1),
        event("function_call_arguments.done", item_id="fc1", arguments='{"path":"a"}'),
        done(0, call_item('{"path":"a"}')),
        done(1, call_item('{"dir":"."}', **second)),
        completed(),
    )
    assert read(data) == AssistantMessage(
        [ToolCall("c1", "read", '{"path":"a"}'), ToolCall("c2", "list", '{"dir":"."}')],
        stop="tool_calls",
    )


def test_arguments_that_come_only_at_their_end_are_taken_once() -> None:
    data = stream(
        added(0, call_item()),
        event("function_call_arguments.done", item_id="fc1", arguments="{}"),
        done(0, call_item("{}")),
        completed(call_item("{}")),
    )
    assert read(data).calls == (ToolCall("c1", "read", "{}"),)


def test_items_are_known_by_their_ids_alone() -> None:
    items = [message_item("Hi"), call_item("{}")]
    announced = [event("output_item.added", item=item) for item in (message_item(), call_item())]
    ended = [event("output_item.done", item=item) for item in items]
    data = stream(*announced, arguments("{}"), text("Hi"), *ended, completed(*items))
    assert read(data).parts == (Text("Hi"), ToolCall("c1", "read", "{}"))


ENCRYPTED = reasoning_item(
    encrypted_content="gAAA", summary=[{"type": "summary_text", "text": "plan"}]
)


def test_summary_is_shown_and_the_item_kept() -> None:
    summary = [{"type": "summary_text", "text": t} for t in ("plan", "more")]
    item = reasoning_item(encrypted_content="gAAA", summary=summary)
    data = stream(
        added(0, reasoning_item()),
        event("reasoning_summary_part.added", item_id="rs1", summary_index=0),
        event("reasoning_summary_text.delta", item_id="rs1", summary_index=0, delta="pl"),
        event("reasoning_summary_text.delta", item_id="rs1", summary_index=0, delta="an"),
        event("reasoning_summary_part.added", item_id="rs1", summary_index=1),
        event("reasoning_summary_text.delta", item_id="rs1", summary_index=1, delta="more"),
        done(0, item),
        completed(item),
    )
    (part,) = read(data).parts
    assert isinstance(part, Reasoning)
    assert part.text == "plan\n\nmore"
    assert json.loads(part.native or "") == item


def test_thought_that_comes_twice_is_shown_once() -> None:
    item = reasoning_item(content=[{"type": "reasoning_text", "text": "raw"}])
    data = stream(
        added(0, reasoning_item()),
        event("reasoning_text.delta", item_id="rs1", delta="raw"),
        event("reasoning_summary_text.delta", item_id="rs1", delta="plan"),
        done(0, item),
        completed(),
    )
    (part,) = read(data).parts
    assert isinstance(part, Reasoning)
    assert part.text == "raw"


def test_thought_without_deltas_is_read_from_its_item() -> None:
    for item, said in ((ENCRYPTED, "plan"), (reasoning_item(encrypted_content="g"), "")):
        (part,) = read(stream(done(0, item), completed())).parts
        assert isinstance(part, Reasoning)
        assert part.text == said
        assert json.loads(part.native or "") == item


def test_thought_that_is_cut_off_is_text_for_people_only() -> None:
    data = stream(
        added(0, reasoning_item()),
        event("reasoning_text.delta", item_id="rs1", delta="hm"),
        completed(status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
    )
    assert read(data) == AssistantMessage([Reasoning("hm")], stop="length")


def test_what_only_the_server_knows_is_kept() -> None:
    search = {"type": "web_search_call", "id": "ws1", "status": "completed"}
    data = stream(
        done(0, search),
        done(1, message_item("Hi", phase="final_answer")),
        done(2, call_item("{}", namespace="n", status="completed")),
        completed(),
    )
    assert read(data).parts == (
        Opaque('{"type":"web_search_call","id":"ws1","status":"completed"}'),
        Text("Hi"),
        Opaque('{"type":"message","phase":"final_answer"}'),
        ToolCall("c1", "read", "{}", '{"namespace":"n"}'),
    )


def test_refusal_is_shown_and_named() -> None:
    pieces = [event("refusal.delta", item_id="m1", delta=piece) for piece in ("I will ", "not.")]
    refused = AssistantMessage([Text("I will not.")], stop="refusal")
    assert read(stream(added(0, message_item()), *pieces, completed())) == refused
    whole = message_item(content=[{"type": "refusal", "refusal": "I will not."}])
    assert read(stream(completed(whole))) == refused


def test_characters_whose_halves_come_apart_are_joined() -> None:
    data = stream(added(0, message_item()), text("x"), text("AA"), text("BB"), completed())
    data = data.replace(b'"AA"', b'"\\ud83d"').replace(b'"BB"', b'"\\ude00"')
    assert read(data).text == "x😀"


def test_two_calls_with_one_id_get_two_ids() -> None:
    items = (done(0, call_item("{}")), done(1, call_item("{}", id="fc2")))
    data = stream(CREATED, *items, completed())
    first, second = read(data).calls
    assert first.id == "c1"
    assert second.id.startswith("call_")


@pytest.mark.parametrize("kind", ["incomplete", "completed"])
@pytest.mark.parametrize(
    ("reason", "stop"), [("max_output_tokens", "length"), ("content_filter", "filter")]
)
def test_reply_that_is_incomplete_is_not_taken_for_a_whole_one(
    kind: str, reason: str, stop: str
) -> None:
    last = completed(status="incomplete", incomplete_details={"reason": reason})
    data = stream(added(0, call_item()), arguments('{"pa'), {**last, "type": f"response.{kind}"})
    assert read(data) == AssistantMessage([ToolCall("c1", "read", '{"pa')], stop=stop)  # type: ignore[arg-type]


def error_of(data: bytes) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        deltas_of(data)
    return caught.value


FAILURE = {"code": "server_error", "message": "worker limit"}


@pytest.mark.parametrize(
    ("last", "error"),
    [
        (event("failed", response={"status": "failed", "error": FAILURE}), ServerFault),
        (completed(status="failed", error=FAILURE), ServerFault),
        (completed(status="cancelled"), ServerFault),
        ({"type": "error", **FAILURE}, ServerFault),
        ({"type": "error", "error": FAILURE}, ServerFault),
        ({"type": "error", "error": {**FAILURE, "code": "rate_limit_exceeded"}}, RateLimited),
        (
            {"type": "error", "error": {**FAILURE, "code": "context_length_exceeded"}},
            ContextOverflow,
        ),
        ({"type": "odd", "error": FAILURE}, ServerFault),
    ],
)
def test_error_inside_a_stream_is_the_servers_error(
    last: dict[str, Any], error: type[ProviderError]
) -> None:
    found = error_of(stream(CREATED, added(0, message_item()), text("par"), last))
    assert type(found) is error
    assert "worker limit" in found.message or "cancelled" in found.message


@pytest.mark.parametrize(
    "data",
    [
        b"",
        stream(CREATED),
        stream(added(0, message_item()), text("par")),
        stream(done(0, message_item("par"))),
        stream(done(0, message_item("par"))) + b"data: [DONE]\n\n",
        stream(completed())[:-20],
    ],
)
def test_stream_that_just_ends_is_broken(data: bytes) -> None:
    assert type(error_of(data)) is BrokenStream


@pytest.mark.parametrize(
    "odd",
    [
        event("output_item.added"),
        event("output_item.added", item=7),
        event("output_item.added", item={"type": "function_call", "id": "x"}),
        event("output_text.delta", item_id="m1"),
        event("output_text.delta", item_id="m1", delta=7),
        event("completed"),
        event("completed", response={"usage": 7}),
    ],
)
def test_event_that_does_not_fit_the_protocol_is_a_broken_stream(odd: dict[str, Any]) -> None:
    data = stream(added(0, message_item()), odd, completed())
    assert type(error_of(data)) is BrokenStream


BODY = {
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "output": [ENCRYPTED, message_item("Hi"), call_item("{}")],
    "usage": {"input_tokens": 3, "output_tokens": 4, "output_tokens_details": {}},
}


def test_whole_body_is_read() -> None:
    message = read(json.dumps(BODY).encode())
    assert message == AssistantMessage(
        [
            Reasoning("plan", json.dumps(ENCRYPTED, separators=(",", ":"))),
            Text("Hi"),
            ToolCall("c1", "read", "{}"),
        ],
        stop="tool_calls",
        usage=Usage(3, 4),
    )
    assert OpenAIResponses().recognises(BODY)
    assert OpenAIResponses().read_body(BODY) == message


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"error": FAILURE}, ServerFault),
        ({"object": "response", "status": "failed", "output": [], "error": FAILURE}, ServerFault),
        ({"output": 7}, BrokenStream),
        ({"output": [7]}, BrokenStream),
        ({}, BrokenStream),
    ],
)
def test_whole_body_that_is_no_reply_is_an_error(
    body: dict[str, Any], error: type[ProviderError]
) -> None:
    assert type(error_of(json.dumps(body).encode())) is error


def test_body_of_another_kind_is_not_recognised() -> None:
    assert not OpenAIResponses().recognises({"choices": []})


PIECES = st.lists(st.text(max_size=5), max_size=3)
NOISE = st.sampled_from([b"", b": ping\n\n", stream(event("in_progress")), b"id: 3\n"])


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.booleans(), st.lists(st.text(max_size=5), max_size=3), NOISE), max_size=4
    ),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.integers(1, 40),
)
def test_message_is_the_same_however_the_stream_is_written_and_cut(
    items: list[tuple[bool, list[str], bytes]], line_end: bytes, size: int
) -> None:
    noisy = stream(CREATED)
    expected: list[Part] = []
    for index, (is_call, pieces, noise) in enumerate(items):
        whole = "".join(pieces)
        if is_call:
            fields = {"id": f"i{index}", "call_id": f"c{index}"}
            written = [arguments(piece, item_id=f"i{index}") for piece in pieces]
            noisy += stream(added(index, call_item(**fields)), *written)
            noisy += noise + stream(done(index, call_item(whole, **fields)))
            expected.append(ToolCall(f"c{index}", "read", whole))
        else:
            given_id = {"id": f"i{index}"}
            written = [text(piece, item_id=f"i{index}") for piece in pieces]
            noisy += stream(added(index, message_item(**given_id)), *written)
            noisy += noise + stream(done(index, message_item(whole, **given_id)))
            expected += [Text(whole)] if whole else []
    noisy = (noisy + stream(completed())).replace(b"\n", line_end)
    cut = [noisy[at : at + size] for at in range(0, len(noisy), size)]
    assert fold(deltas_of(*cut)).parts == tuple(expected)


# Requests


HERE = "http://here/v1"
OWN = Origin("openai-responses", HERE, "m")
FOREIGN = Origin("openai-responses", "http://elsewhere/v1", "m")
HI = UserMessage("hi")
SENT_HI = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}


def sent(*messages: Message, codec: OpenAIResponses | None = None, **more: Any) -> dict[str, Any]:
    """The body of the request, parsed."""
    request = ModelRequest("m", messages, **more)
    value: dict[str, Any] = json.loads(
        (codec or OpenAIResponses()).encode(request, endpoint=HERE).body
    )
    return value


def test_whole_request() -> None:
    spec = ToolSpec("read", "Reads.", {"type": "object"})
    request = ModelRequest("m", (SystemMessage("Be brief."), HI), (spec,))
    encoded = OpenAIResponses().encode(request, endpoint=HERE)
    assert (encoded.method, encoded.path) == ("POST", "/responses")
    assert json.loads(encoded.body) == {
        "model": "m",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "instructions": "Be brief.",
        "input": [SENT_HI],
        "tools": [
            {
                "type": "function",
                "name": "read",
                "description": "Reads.",
                "parameters": {"type": "object"},
                "strict": False,
            }
        ],
    }


def test_options_go_where_the_protocol_has_them() -> None:
    options = ModelOptions(
        max_tokens=9,
        temperature=0.0,
        reasoning_effort="low",
        tool_choice="read",
        response_schema={"type": "object"},
        stream=False,
        extra={"top_p": 0.5},
    )
    value = sent(HI, tools=(ToolSpec("read", "", {}),), options=options)
    del value["input"], value["tools"], value["include"], value["store"]
    wanted = {"type": "json_schema", "name": "answer", "schema": {"type": "object"}}
    assert value == {
        "model": "m",
        "max_output_tokens": 9,
        "temperature": 0.0,
        "reasoning": {"effort": "low", "summary": "auto"},
        "tool_choice": {"type": "function", "name": "read"},
        "text": {"format": {**wanted, "strict": False}},
        "top_p": 0.5,
    }


def test_conversation_is_a_list_of_items() -> None:
    url = "data:image/png;base64,eA=="
    picture = Image("image/png", b"x")
    value = sent(
        UserMessage((Text("see"), picture)),
        AssistantMessage([Text("I look."), ToolCall("c1", "f", " "), ToolCall("c2", "f", "{}")]),
        ToolMessage(
            [ToolResult("one", call_id="c1"), ToolResult([Text("see"), picture], call_id="c2")]
        ),
    )
    assert value["input"] == [
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "see"},
                {"type": "input_image", "image_url": url},
            ],
        },
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "I look."}],
        },
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call", "call_id": "c2", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "one"},
        {
            "type": "function_call_output",
            "call_id": "c2",
            "output": [
                {"type": "input_text", "text": "see"},
                {"type": "input_image", "image_url": url},
            ],
        },
    ]


def items_of(*parts: Part, origin: Origin | None = OWN) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = sent(HI, AssistantMessage(parts, origin))["input"][1:]
    return items


CALL = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}


def test_encrypted_reasoning_goes_back_unchanged_to_its_origin_only() -> None:
    parts: list[Part] = [
        Reasoning("plan", json.dumps(ENCRYPTED)),
        Opaque('{"type":"web_search_call","id":"ws1"}'),
        ToolCall("c1", "read", "{}", '{"namespace":"n"}'),
    ]
    assert items_of(*parts) == [
        ENCRYPTED,
        {"type": "web_search_call", "id": "ws1"},
        {**CALL, "namespace": "n"},
    ]
    for origin in (FOREIGN, Origin("openai-chat", HERE, "m"), None):
        assert items_of(*parts, origin=origin) == [CALL]


@pytest.mark.parametrize("content", [None, ""])
def test_reasoning_that_only_its_server_could_look_up_does_not_go_back(
    content: str | None,
) -> None:
    native = json.dumps(reasoning_item(encrypted_content=content))
    assert items_of(Reasoning("plan", native), ToolCall("c1", "read", "{}")) == [CALL]


def test_thought_in_the_open_goes_back() -> None:
    item = reasoning_item(content=[{"type": "reasoning_text", "text": "raw"}])
    assert items_of(Reasoning("raw", json.dumps(item)), Text("Hi"))[0] == item


def test_phase_of_a_message_goes_back_with_it() -> None:
    phase = Opaque('{"type":"message","phase":"final_answer"}')
    (item,) = items_of(Text("Hi"), phase)
    assert item["phase"] == "final_answer"
    (item,) = items_of(Text("Hi"), phase, origin=FOREIGN)
    assert "phase" not in item


def test_message_of_which_nothing_can_be_sent_is_left_out() -> None:
    assert items_of(Reasoning("plan")) == []
    assert sent(HI, AssistantMessage([Reasoning("plan")]), HI)["input"] == [SENT_HI, SENT_HI]


def test_id_that_is_too_long_is_shortened_alike_in_call_and_result() -> None:
    long = "x" * 70
    conversation = (
        AssistantMessage([ToolCall(long, "f", "{}")]),
        ToolMessage([ToolResult("1", call_id=long)]),
    )
    call, result = sent(HI, *conversation)["input"][1:]
    assert call["call_id"] == result["call_id"]
    assert len(call["call_id"]) <= 64


FULL = ModelRequest(
    "m",
    (SystemMessage("Be brief."), HI),
    (ToolSpec("f", "", {}),),
    ModelOptions(reasoning_effort="low"),
)


@pytest.mark.parametrize(
    ("message", "missing"),
    [
        ("Encrypted content is not supported with this model.", "include"),
        ("Unknown parameter: 'store'.", "store"),
        ("Unsupported parameter: 'reasoning.effort'", "reasoning"),
    ],
)
def test_field_that_is_refused_is_left_out(message: str, missing: str) -> None:
    codec = OpenAIResponses(Quirks())
    before = json.loads(codec.encode(FULL, endpoint=HERE).body)
    assert codec.adapt(RequestRefused(message), FULL)
    del before[missing]
    assert json.loads(codec.encode(FULL, endpoint=HERE).body) == before


def test_summary_that_is_refused_is_not_asked_for() -> None:
    codec = OpenAIResponses(Quirks())
    refusal = RequestRefused("Your organization must be verified to generate reasoning summaries.")
    assert codec.adapt(refusal, FULL)
    assert json.loads(codec.encode(FULL, endpoint=HERE).body)["reasoning"] == {"effort": "low"}


def test_instructions_that_are_refused_become_a_message() -> None:
    codec = OpenAIResponses(Quirks())
    assert codec.adapt(RequestRefused("unknown field instructions"), FULL)
    value = json.loads(codec.encode(FULL, endpoint=HERE).body)
    assert "instructions" not in value
    assert value["input"][0]["role"] == "system"


@pytest.mark.parametrize(
    "message",
    [
        "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
        "The encrypted content for item rs_1 could not be verified.",
    ],
)
def test_reasoning_that_is_refused_no_longer_goes_back(message: str) -> None:
    codec = OpenAIResponses(Quirks())
    request = ModelRequest(
        "m", (HI, AssistantMessage([Reasoning("", json.dumps(ENCRYPTED)), Text("Hi")], OWN), HI)
    )
    assert b"gAAA" in codec.encode(request, endpoint=HERE).body
    assert codec.adapt(RequestRefused(message), request)
    assert b"gAAA" not in codec.encode(request, endpoint=HERE).body


def test_conversation_with_a_server() -> None:
    data = stream(added(0, message_item()), text("Hi"), done(0, message_item("Hi")), completed())
    refusal = json_answer({"error": {"message": "Unknown parameter: 'store'."}}, 400)
    listed = json_answer({"data": [{"id": "m"}]})
    with LoopbackServer([refusal, data, listed]) as server:
        provider = build(url=server.url, key="sk-planted", api="openai-responses")
        deltas = list(provider.reply(ModelRequest("m", (HI,)), Cancel()))
        assert isinstance(deltas[0], ProviderNotice)
        assert fold(deltas) == AssistantMessage([Text("Hi")])
        assert provider.models() == [ModelInfo("m")]
        assert [request.path for request in server.requests] == [
            "/v1/responses",
            "/v1/responses",
            "/v1/models",
        ]
        provider.close()


# Servers that are further from the protocol


@pytest.mark.parametrize(
    ("kind", "stop"),
    [("completed", "done"), ("done", "done"), ("incomplete", "length")],
)
def test_event_says_how_it_ended_where_the_response_does_not(kind: str, stop: Stop) -> None:
    data = stream(added(0, message_item()), text("par"), event(kind, response={"id": "resp_1"}))
    assert read(data) == AssistantMessage([Text("par")], stop=stop)


@pytest.mark.parametrize("kind", ["failed", "cancelled"])
def test_event_that_says_it_failed_is_an_error(kind: str) -> None:
    data = stream(added(0, message_item()), text("par"), event(kind, response={"id": "resp_1"}))
    assert type(error_of(data)) is ServerFault


def test_call_that_comes_with_the_whole_response_only_is_not_lost() -> None:
    for known in ("m1", "m2"):
        output = [message_item("Hi", id=known), call_item("{}")]
        data = stream(added(0, message_item()), text("Hi"), completed(*output))
        assert read(data).parts == (Text("Hi"), ToolCall("c1", "read", "{}"))


def test_text_that_comes_behind_reasoning_with_the_whole_response_only_is_not_lost() -> None:
    thought = reasoning_item(encrypted_content="eHg=")
    data = stream(added(0, thought), done(0, thought), completed(thought, message_item("Hi")))
    assert read(data).text == "Hi"


@pytest.mark.parametrize(
    "whole",
    [
        event("output_text.done", item_id="m1", text="Hi"),
        event("refusal.done", item_id="m1", refusal="Hi"),
    ],
)
def test_text_that_comes_only_at_its_end_is_taken(whole: dict[str, Any]) -> None:
    data = stream(added(0, message_item()), whole, completed())
    assert read(data).text == "Hi"


def test_arguments_before_their_call_is_announced_are_kept() -> None:
    data = stream(arguments("{}", item_id="fc1"), done(0, call_item("{}")), completed())
    assert read(data).parts == (ToolCall("c1", "read", "{}"),)


def test_arguments_count_as_they_are_said_at_their_end() -> None:
    end = event("function_call_arguments.done", item_id="fc1", arguments='{"b":1}')
    for last in ([end], [end, done(0, call_item())], [done(0, call_item('{"b":1}'))]):
        data = stream(added(0, call_item()), arguments('{"a'), *last, completed())
        assert read(data).parts == (ToolCall("c1", "read", '{"b":1}'),)


def test_arguments_may_be_an_object() -> None:
    item = {**call_item(), "arguments": {"a": 1}}
    assert read(stream(done(0, item), completed())).parts == (ToolCall("c1", "read", '{"a":1}'),)


@pytest.mark.parametrize(
    "thought",
    [
        event("reasoning.delta", item_id="rs1", delta="hm"),
        event("reasoning_summary.delta", item_id="rs1", delta={"text": "hm"}),
    ],
)
def test_thought_in_the_events_of_other_servers_is_shown(thought: dict[str, Any]) -> None:
    data = stream(added(0, reasoning_item()), thought, added(1, message_item()), text("Hi"))
    assert read(data + stream(completed())).parts == (Reasoning("hm"), Text("Hi"))


def test_item_whose_id_changes_without_a_place_is_one_item() -> None:
    data = stream(
        event("output_item.added", item=message_item(id="a")),
        text("Hi", item_id="b"),
        event("output_item.done", item=message_item("Hi", id="c")),
        completed(message_item("Hi", id="d")),
    )
    assert read(data).parts == (Text("Hi"),)


def test_body_of_odd_form_is_read() -> None:
    items = [{"role": "assistant", "content": "Hi"}]
    body = {"object": "response", "status": "completed", "output": items}
    assert read(json.dumps(body).encode()) == AssistantMessage([Text("Hi")])


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_body_without_its_reply_is_no_empty_reply(status: str) -> None:
    error = error_of(json.dumps({"object": "response", "status": status, "output": []}).encode())
    assert error.message.endswith(status)


def test_thought_that_nothing_follows_does_not_go_back() -> None:
    native = '{"type":"reasoning","id":"rs1","summary":[],"encrypted_content":"eHg="}'
    own = Origin("openai-responses", HERE, "m")
    cut = AssistantMessage([Text("Hi"), Reasoning("hm", native)], own, "interrupted")
    (_, said, _) = sent(HI, cut, HI)["input"]
    assert said["content"] == [{"type": "output_text", "text": "Hi"}]


def test_id_that_no_server_takes_does_not_go_back() -> None:
    item = {"type": "reasoning", "id": "r" * 65, "summary": [], "encrypted_content": "eHg="}
    own = Origin("openai-responses", HERE, "m")
    asked = AssistantMessage([Reasoning("hm", json.dumps(item)), Text("Hi")], own)
    (_, thought, *_) = sent(HI, asked, HI)["input"]
    assert thought == {name: value for name, value in item.items() if name != "id"}


@pytest.mark.parametrize(
    "message",
    [
        "Invalid 'input[2].id': string too long. Expected a string with maximum length 64",
        f"The encrypted content for item {'r' * 400} could not be verified.",
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    ],
)
def test_reasoning_that_is_refused_in_other_words_no_longer_goes_back(message: str) -> None:
    codec = OpenAIResponses(Quirks())
    assert codec.adapt(RequestRefused(message, status=400), ModelRequest("m", (HI,)))
    assert codec.quirks == Quirks(native=False)


def test_field_that_a_refusal_names_beside_its_message_is_left_out() -> None:
    said = {"message": "Unsupported value: 'minimal' is not supported", "param": "reasoning.effort"}
    codec = OpenAIResponses(Quirks())
    request = ModelRequest("m", (HI,), (), ModelOptions(reasoning_effort="minimal"))
    assert codec.adapt(codec.error(400, {}, json.dumps({"error": said}).encode()), request)
    assert codec.quirks == Quirks(dropped=frozenset({"reasoning"}))
