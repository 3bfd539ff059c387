from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any, get_args

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hrns.chunks import (
    Chunk,
    DiscardChunk,
    EndChunk,
    EndReason,
    ErrorChunk,
    MessageChunk,
    MessageDoneChunk,
    NoticeChunk,
    QueuedChunk,
    ReasoningChunk,
    RetryChunk,
    SubagentChunk,
    ToolCallErrorChunk,
    ToolCallResultChunk,
    ToolCallStartChunk,
    ToolOutputChunk,
    Unknown,
    UsageChunk,
)
from hrns.context import Mode
from hrns.errors import HrnsError, SerialError
from hrns.messages import (
    AssistantMessage,
    Diff,
    Image,
    Message,
    Opaque,
    Origin,
    Reasoning,
    Status,
    Stop,
    SystemMessage,
    Terminal,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
)
from hrns.serial import (
    chunk_schema,
    dumps,
    loads_chunk,
    loads_message,
    read_chunk,
    read_message,
    to_json,
)

# One of everything, and how it stands in JSON

RESULT = ToolResult(
    [Text("a"), Image("image/png", b"\x89P")],
    "error",
    Diff("a.py", None, "new"),
    '{"rows": 1}',
    "1",
    "read_file",
)
RESULT_JSON = {
    "content": [
        {"type": "text", "text": "a"},
        {"type": "image", "media_type": "image/png", "data": "iVA="},
    ],
    "status": "error",
    "display": {"type": "diff", "path": "a.py", "old": None, "new": "new"},
    "structured": '{"rows": 1}',
    "call_id": "1",
    "name": "read_file",
}
USAGE_JSON = {"input": 1, "output": 2, "cache_read": 0, "cache_write": 0, "reasoning": 3}
CALLED = {"call_id": "1", "tool_name": "read_file", "tool_args": '{"path": "a"}'}

MESSAGES: list[tuple[Message, dict[str, Any]]] = [
    (SystemMessage("be good"), {"role": "system", "text": "be good"}),
    (UserMessage("hello"), {"role": "user", "parts": [{"type": "text", "text": "hello"}]}),
    (
        AssistantMessage(
            [
                Reasoning("hm"),
                Reasoning("hm", '{"signature": "x"}'),
                Text("yes"),
                ToolCall("1", "read_file", "{}"),
                ToolCall("2", "read_file", "{}", "{}"),
                Opaque("[]"),
            ],
            Origin("openai-chat", "https://example.org/v1", "small"),
            "tool_calls",
            Usage(1, 2, reasoning=3),
        ),
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "text": "hm"},
                {"type": "reasoning", "text": "hm", "native": '{"signature": "x"}'},
                {"type": "text", "text": "yes"},
                {"type": "tool_call", "id": "1", "name": "read_file", "arguments": "{}"},
                {
                    "type": "tool_call",
                    "id": "2",
                    "name": "read_file",
                    "arguments": "{}",
                    "native": "{}",
                },
                {"type": "opaque", "native": "[]"},
            ],
            "origin": {
                "api": "openai-chat",
                "endpoint": "https://example.org/v1",
                "model": "small",
            },
            "stop": "tool_calls",
            "usage": USAGE_JSON,
        },
    ),
    (AssistantMessage([]), {"role": "assistant", "parts": [], "stop": "done"}),
    (
        ToolMessage([RESULT, ToolResult("", display=Terminal("make", "", None, 0.5))]),
        {
            "role": "tool",
            "results": [
                RESULT_JSON,
                {
                    "content": [{"type": "text", "text": ""}],
                    "status": "ok",
                    "display": {
                        "type": "terminal",
                        "command": "make",
                        "output": "",
                        "exit_status": None,
                        "duration_s": 0.5,
                    },
                },
            ],
        },
    ),
]

CHUNKS: list[tuple[Chunk, dict[str, Any]]] = [
    (MessageChunk("hi"), {"type": "message", "text": "hi"}),
    (MessageChunk(""), {"type": "message", "text": ""}),
    (ReasoningChunk("hm"), {"type": "reasoning", "text": "hm"}),
    (
        ErrorChunk("no way", "unreachable"),
        {"type": "error", "text": "no way", "reason": "unreachable", "http_status": 0},
    ),
    (
        ToolCallStartChunk("1", "read_file", '{"path": "a"}', "read a"),
        {"type": "tool_call_start", **CALLED, "title": "read a"},
    ),
    (
        ToolCallStartChunk("1", "read_file", '{"path": "a"}'),
        {"type": "tool_call_start", **CALLED},
    ),
    (
        ToolCallErrorChunk("1", "read_file", '{"path": "a"}', "no", RESULT),
        {"type": "tool_call_error", **CALLED, "text": "no", "result": RESULT_JSON},
    ),
    (
        ToolCallResultChunk("1", "read_file", '{"path": "a"}', "a", "error", RESULT),
        {
            "type": "tool_call_result",
            **CALLED,
            "text": "a",
            "status": "error",
            "result": RESULT_JSON,
        },
    ),
    (ToolOutputChunk("1", "line\n"), {"type": "tool_output", "call_id": "1", "text": "line\n"}),
    *(
        (MessageDoneChunk(message), {"type": "message_done", "message": data})
        for message, data in MESSAGES
        if not isinstance(message, SystemMessage)
    ),
    (
        RetryChunk(2, 1.5, "busy"),
        {"type": "retry", "attempt": 2, "delay_s": 1.5, "text": "busy"},
    ),
    (DiscardChunk("cut off"), {"type": "discard", "text": "cut off"}),
    (UsageChunk(Usage(1, 2, reasoning=3)), {"type": "usage", "usage": USAGE_JSON}),
    (NoticeChunk("by the way"), {"type": "notice", "text": "by the way"}),
    (QueuedChunk("and this"), {"type": "queued", "text": "and this"}),
    (
        SubagentChunk("1", SubagentChunk("2", MessageChunk("hi"))),
        {
            "type": "subagent",
            "call_id": "1",
            "chunk": {
                "type": "subagent",
                "call_id": "2",
                "chunk": {"type": "message", "text": "hi"},
            },
        },
    ),
    (EndChunk(), {"type": "end", "reason": "done"}),
    (EndChunk("limit", "turns"), {"type": "end", "reason": "limit", "text": "turns"}),
    (Unknown("later", {"type": "later", "a": [1, None]}), {"type": "later", "a": [1, None]}),
]


@pytest.mark.parametrize(("chunk", "data"), CHUNKS)
def test_chunk_stands_in_json_and_comes_back(chunk: Chunk, data: dict[str, Any]) -> None:
    assert to_json(chunk) == data
    assert read_chunk(data) == chunk
    assert loads_chunk(dumps(chunk)) == chunk


@pytest.mark.parametrize(("message", "data"), MESSAGES)
def test_message_stands_in_json_and_comes_back(message: Message, data: dict[str, Any]) -> None:
    assert to_json(message) == data
    assert read_message(data) == message
    assert loads_message(dumps(message).encode()) == message


def test_every_type_of_chunk_is_tested() -> None:
    assert {type(chunk) for chunk, _ in CHUNKS} == set(get_args(Chunk))


# Lines


def test_values_may_stand_inside_other_json() -> None:
    entry = {"id": "7", "parent": None, "message": UserMessage("a"), "usage": [Usage(), 1.5, True]}
    assert json.loads(dumps(entry)) == {
        "id": "7",
        "parent": None,
        "message": {"role": "user", "parts": [{"type": "text", "text": "a"}]},
        "usage": [
            {"input": 0, "output": 0, "cache_read": 0, "cache_write": 0, "reasoning": 0},
            1.5,
            True,
        ],
    }


def test_line_is_one_line_and_says_text_as_it_is() -> None:
    line = dumps(MessageChunk("grüße\n🍸\r\u2028\0"))
    assert line == '{"type": "message", "text": "grüße\\n🍸\\r\u2028\\u0000"}'


@pytest.mark.parametrize(
    ("text", "sound"),
    [("half \ud83d", "half \ufffd"), ("\udc88name", "\ufffdname"), ("\ud83c\udf78", "🍸")],
)
def test_line_has_no_half_characters(text: str, sound: str) -> None:
    line = dumps(ToolCallResultChunk("1", text, text, text, "ok", ToolResult(text)))
    line.encode()
    assert loads_chunk(line) == ToolCallResultChunk(
        "1", sound, sound, sound, "ok", ToolResult(sound)
    )


# Newer writers


def test_unknown_chunk_is_kept_as_it_was() -> None:
    line = '{"a": {"b": [1, 2.5, "ü"]}, "type": "later", "text": null}'
    chunk = loads_chunk(line)
    assert chunk == Unknown("later", json.loads(line))
    assert dumps(chunk) == line


def test_unknown_chunk_made_by_hand_has_its_type() -> None:
    assert to_json(Unknown("later", {"a": 1})) == {"a": 1, "type": "later"}


def test_unknown_chunk_inside_a_subagent_is_kept() -> None:
    data = {"type": "subagent", "call_id": "1", "chunk": {"type": "later", "a": 1}}
    assert to_json(read_chunk(data)) == data


def test_unknown_fields_are_ignored() -> None:
    data = {
        "type": "message_done",
        "at": 1,
        "message": {
            "role": "assistant",
            "parts": [{"type": "text", "text": "a", "annotations": []}],
            "stop": "done",
            "origin": {"api": "a", "endpoint": "e", "model": "m", "region": "r"},
            "usage": {"input": 1, "audio": 2},
            "cost": 0.1,
        },
    }
    assert read_chunk(data) == MessageDoneChunk(
        AssistantMessage([Text("a")], Origin("a", "e", "m"), usage=Usage(1))
    )


def test_missing_fields_have_their_defaults() -> None:
    assert read_chunk({"type": "end"}) == EndChunk()
    assert read_chunk({"type": "error", "text": "a"}) == ErrorChunk("a")
    assert read_message({"role": "assistant", "parts": [], "usage": None}) == AssistantMessage([])


def test_unknown_display_is_left_out() -> None:
    data = {"role": "tool", "results": [{"content": [], "display": {"type": "chart", "x": 1}}]}
    assert read_message(data) == ToolMessage([ToolResult([])])


# Wrong shapes


def in_result(result: Any) -> dict[str, Any]:
    return {"type": "message_done", "message": {"role": "tool", "results": [result]}}


@pytest.mark.parametrize(
    ("data", "faults"),
    [
        ([], ["an object is needed, not [] @ $"]),
        (None, ["an object is needed, not None @ $"]),
        ({}, ["text as type is needed, not None @ $"]),
        ({"type": ["message"]}, ["text as type is needed, not ['message'] @ $"]),
        ({"type": "message"}, ["required field missing @ $.text"]),
        ({"type": "message", "text": None}, ["text is needed, not None @ $.text"]),
        ({"type": "message", "text": 5}, ["text is needed, not 5 @ $.text"]),
        (
            {"type": "retry", "attempt": "1", "delay_s": True},
            [
                "an integer is needed, not '1' @ $.attempt",
                "a number is needed, not True @ $.delay_s",
                "required field missing @ $.text",
            ],
        ),
        ({"type": "usage", "usage": []}, ["an object is needed, not [] @ $.usage"]),
        (
            {"type": "message_done", "message": {"role": "user", "parts": {}}},
            ["a list is needed, not {} @ $.message.parts"],
        ),
        (
            {"type": "message_done", "message": {"role": "system", "text": "a"}},
            ["role 'system' is not known @ $.message"],
        ),
        (
            in_result({"content": [{"type": "text", "text": "a"}, {"type": "video"}]}),
            ["type 'video' is not known @ $.message.results[0].content[1]"],
        ),
        (
            in_result({"content": [{"type": "image", "media_type": "image/png", "data": "!"}]}),
            ["Only base64 data is allowed @ $.message.results[0].content[0].data"],
        ),
        (
            {"type": "subagent", "call_id": "1", "chunk": {"type": "message"}},
            ["required field missing @ $.chunk.text"],
        ),
    ],
)
def test_wrong_shape_is_refused_with_every_path(data: Any, faults: list[str]) -> None:
    with pytest.raises(SerialError) as caught:
        read_chunk(data)
    assert caught.value.message == f"a chunk cannot be read: {'; '.join(faults)}"


@pytest.mark.parametrize(
    "data",
    [
        {"type": "end", "reason": "bored"},
        in_result({"content": [], "status": "meh"}),
        {"type": "tool_call_result", **CALLED, "text": "", "status": 1, "result": RESULT_JSON},
    ],
)
def test_word_outside_its_list_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(SerialError, match=r"a chunk cannot be read: .* @ \$\.(reason|.*status)"):
        read_chunk(data)


@pytest.mark.parametrize("data", [{"role": "user"}, {"role": "judge"}, {"type": "user"}, "user", 3])
def test_what_is_no_message_is_refused(data: Any) -> None:
    with pytest.raises(SerialError, match="a message cannot be read: "):
        read_message(data)


@pytest.mark.parametrize("read", [loads_chunk, loads_message])
@pytest.mark.parametrize(
    "line", ["", "{", '{"type": "message"} {}', b"\xff", "[" * 100_000, '{"type": 1}', "null"]
)
def test_line_that_is_no_json_of_ours_is_refused(
    read: Callable[[str | bytes], object], line: str | bytes
) -> None:
    with pytest.raises(SerialError, match="cannot be read"):
        read(line)


def test_chunks_that_are_nested_too_deeply_are_refused() -> None:
    data: dict[str, Any] = {"type": "end"}
    for _ in range(5000):
        data = {"type": "subagent", "call_id": "1", "chunk": data}
    with pytest.raises(SerialError, match="recursion") as caught:
        read_chunk(data)
    assert len(caught.value.message) < 1100


# Properties

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
MAYBE = st.none() | TEXT
COUNT = st.integers(0, 2**53)
SECONDS = st.floats(0, 1e9)
USAGES = st.builds(Usage, COUNT, COUNT, COUNT, COUNT, COUNT)
ORIGINS = st.builds(Origin, TEXT, TEXT, TEXT)
TEXT_PARTS = st.builds(Text, TEXT)
IMAGES = st.builds(Image, TEXT, st.binary(max_size=12))
PARTS = st.one_of(
    TEXT_PARTS,
    IMAGES,
    st.builds(Reasoning, TEXT, MAYBE),
    st.builds(ToolCall, TEXT, TEXT, TEXT, MAYBE),
    st.builds(Opaque, TEXT),
)
DISPLAYS = st.one_of(
    st.none(),
    st.builds(Diff, TEXT, MAYBE, MAYBE),
    st.builds(Terminal, TEXT, TEXT, st.none() | st.integers(-64, 255), SECONDS),
)
RESULTS = st.builds(
    ToolResult,
    st.lists(TEXT_PARTS | IMAGES, max_size=2),
    st.sampled_from(get_args(Status)),
    DISPLAYS,
    MAYBE,
    TEXT,
    TEXT,
)
SPOKEN = st.one_of(
    st.builds(UserMessage, st.lists(PARTS, max_size=3)),
    st.builds(
        AssistantMessage,
        st.lists(PARTS, max_size=3),
        st.none() | ORIGINS,
        st.sampled_from(get_args(Stop)),
        st.none() | USAGES,
    ),
    st.builds(ToolMessage, st.lists(RESULTS, max_size=2)),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)


def unknown(kind: str, data: dict[str, Any]) -> Unknown:
    return Unknown(f"later_{kind}", {**data, "type": f"later_{kind}"})


FLAT_CHUNKS = st.one_of(
    *(
        st.builds(kind, TEXT)
        for kind in (MessageChunk, ReasoningChunk, DiscardChunk, NoticeChunk, QueuedChunk)
    ),
    st.builds(ErrorChunk, TEXT, TEXT, st.integers(0, 599)),
    st.builds(ToolCallStartChunk, TEXT, TEXT, TEXT, TEXT),
    st.builds(ToolCallErrorChunk, TEXT, TEXT, TEXT, TEXT, RESULTS),
    st.builds(
        ToolCallResultChunk, TEXT, TEXT, TEXT, TEXT, st.sampled_from(get_args(Status)), RESULTS
    ),
    st.builds(ToolOutputChunk, TEXT, TEXT),
    st.builds(MessageDoneChunk, SPOKEN),
    st.builds(RetryChunk, COUNT, SECONDS, TEXT),
    st.builds(UsageChunk, USAGES),
    st.builds(EndChunk, st.sampled_from(get_args(EndReason)), TEXT),
    st.builds(unknown, TEXT, st.dictionaries(TEXT, JSON, max_size=2)),
)
ANY_CHUNK: st.SearchStrategy[Chunk] = st.recursive(
    FLAT_CHUNKS, lambda inner: st.builds(SubagentChunk, TEXT, inner), max_leaves=2
)


@settings(max_examples=100)
@given(ANY_CHUNK)
def test_any_chunk_comes_back_from_its_line(chunk: Chunk) -> None:
    line = dumps(chunk)
    assert "\n" not in line
    assert loads_chunk(line.encode()) == chunk
    assert VALIDATOR.is_valid(json.loads(line))


@settings(max_examples=100)
@given(SPOKEN | st.builds(SystemMessage, TEXT))
def test_any_message_comes_back_from_its_line(message: Message) -> None:
    assert loads_message(dumps(message)) == message


MANGLED = st.recursive(
    JSON | st.sampled_from([data for _, data in CHUNKS]),
    lambda inner: st.dictionaries(
        st.sampled_from(["type", "text", "message", "chunk", "usage", "result", "call_id"]),
        inner | st.sampled_from([*(data["type"] for _, data in CHUNKS), RESULT_JSON, USAGE_JSON]),
        max_size=4,
    ),
    max_leaves=5,
)


@settings(max_examples=100)
@given(MANGLED)
def test_any_json_is_read_or_refused_by_one_of_our_errors(data: Any) -> None:
    try:
        chunk = read_chunk(data)
    except HrnsError as error:
        assert "a chunk cannot be read" in str(error)  # noqa: PT017 - one of two right outcomes
    else:
        assert read_chunk(to_json(chunk)) == chunk


# The schema

SCHEMA = chunk_schema()
VALIDATOR = Draft202012Validator(SCHEMA)
START = {
    "type": "start",
    "version": 1,
    "session": "20260131-7f3a",
    "cwd": "/project",
    "provider": "home",
    "model": "small",
    "agent": "Builder",
    "mode": "ask",
}


def test_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("data", [*(data for _, data in CHUNKS), START])
def test_schema_takes_every_line(data: dict[str, Any]) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(data)] == []
    assert VALIDATOR.is_valid({**data, "a_newer_field": 1})


@pytest.mark.parametrize("data", [*(data for chunk, data in CHUNKS[:-1]), START])
def test_schema_misses_each_field_that_is_always_there(data: dict[str, Any]) -> None:
    definition = SCHEMA["$defs"]["start" if data is START else f"chunk_{data['type']}"]
    assert definition["required"]
    for name in definition["required"]:
        assert not VALIDATOR.is_valid({key: data[key] for key in data if key != name})


@pytest.mark.parametrize(
    "data",
    [
        {},
        [],
        {"type": 1},
        {"type": "message", "text": None},
        {"type": "end", "reason": "bored"},
        {"type": "subagent", "call_id": "1", "chunk": {"type": "message"}},
        {**START, "version": 2},
    ],
)
def test_schema_refuses_what_is_no_line(data: Any) -> None:
    assert not VALIDATOR.is_valid(data)


def test_schema_knows_the_fields_of_every_class() -> None:
    definitions = SCHEMA["$defs"]
    kinds: dict[str, Any] = {
        **{f"chunk_{kind.type}": kind for kind in get_args(Chunk) if kind is not Unknown},
        "text": Text,
        "reasoning": Reasoning,
        "tool_call": ToolCall,
        "image": Image,
        "opaque": Opaque,
        "diff": Diff,
        "terminal": Terminal,
        "user_message": UserMessage,
        "assistant_message": AssistantMessage,
        "tool_message": ToolMessage,
        "usage": Usage,
        "origin": Origin,
        "tool_result": ToolResult,
    }
    assert set(definitions) == {*kinds, "start", "part"}
    for name, kind in kinds.items():
        told = set(definitions[name]["properties"]) - {"role"}
        assert told - {"type"} == {field.name for field in attrs.fields(kind)}
    assert definitions["assistant_message"]["properties"]["stop"]["enum"] == list(get_args(Stop))
    assert definitions["tool_result"]["properties"]["status"]["enum"] == list(get_args(Status))
    assert definitions["chunk_end"]["properties"]["reason"]["enum"] == list(get_args(EndReason))
    assert definitions["start"]["properties"]["mode"]["enum"] == list(get_args(Mode))


# Cost


def test_writing_imports_no_converter() -> None:
    code = """
import sys
from hrns.chunks import MessageDoneChunk
from hrns.messages import UserMessage
from hrns.serial import dumps
dumps(MessageDoneChunk(UserMessage("a")))
sys.exit("cattrs" in sys.modules)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
