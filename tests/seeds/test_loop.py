"""The loop that hrns began from, row by row."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from hrns import (
    EndChunk,
    ErrorChunk,
    Loop,
    MessageChunk,
    ReasoningChunk,
    SimpleTool,
    Tool,
    ToolArgument,
    ToolCallResultChunk,
    ToolCallStartChunk,
    ToolMessage,
    UserMessage,
    Verdict,
)
from hrns.chunks import Chunk, ToolCallErrorChunk, is_tool_chunk
from hrns.errors import RateLimited
from hrns.loop import Limits
from hrns.providers.http import build
from hrns.serial import to_json
from hrns.testing import (
    Answer,
    Call,
    Fail,
    LoopbackServer,
    Reply,
    Say,
    ScriptedProvider,
    Wait,
    chat_events,
    chat_stream,
    json_answer,
    sse,
)

ASK = [UserMessage("add 2 and 3")]
NUMBERS = [ToolArgument("a", "number"), ToolArgument("b", "number")]


def adder() -> Tool:
    return SimpleTool("Adds.", NUMBERS, lambda args: str(args["a"] + args["b"]))


def run(*script: Reply, tools: dict[str, Tool] | None = None) -> list[Chunk]:
    return list(Loop(ScriptedProvider(script), tools or {"add": adder()}).run(ASK))


def types(chunks: list[Chunk]) -> list[str]:
    return [chunk.type for chunk in chunks]


def streamed(*events: dict[str, Any] | str, ask: Any = ASK) -> list[Chunk]:
    """The chunks of a run against a server that sends these events."""
    with LoopbackServer(sse(*events)) as server:
        return list(Loop(build(url=server.url)).run(ask, model="m"))


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


STOP = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def test_simple_tool_has_no_name_but_the_key_in_the_mapping() -> None:
    assert adder().name == ""
    chunks = run(Call("plus", {"a": 2, "b": 3}), Say("5"), tools={"plus": adder()})
    (result,) = [chunk for chunk in chunks if isinstance(chunk, ToolCallResultChunk)]
    assert (result.tool_name, result.text) == ("plus", "5")


def test_flat_tool_is_offered_with_exactly_this_schema() -> None:
    with LoopbackServer(chat_stream("hi")) as server:
        list(Loop(build(url=server.url), {"add": adder()}).run(ASK, model="m"))
    properties = {"a": {"type": "number"}, "b": {"type": "number"}}
    schema = {"type": "object", "properties": properties, "required": ["a", "b"]}
    function = {"name": "add", "description": "Adds.", "parameters": schema}
    assert server.requests[0].json["tools"] == [{"type": "function", "function": function}]


def test_run_goes_on_with_all_messages_until_a_turn_has_no_call() -> None:
    call = Call("add", {"a": 2, "b": 3}, id="c1")
    with LoopbackServer([chat_stream("", [call]), chat_stream("5")]) as server:
        given = list(ASK)
        list(Loop(build(url=server.url), {"add": adder()}).run(given, model="m"))
    first, second = (request.json for request in server.requests)
    assert (first["stream"], second["stream"]) == (True, True)
    assert first["messages"] == [{"role": "user", "content": "add 2 and 3"}]
    user, assistant, result = second["messages"]
    assert user == first["messages"][0]
    assert assistant["tool_calls"][0]["id"] == "c1"
    assert result == {"role": "tool", "tool_call_id": "c1", "content": "5"}
    assert second["tools"] == first["tools"]
    assert given == ASK


def test_consumer_that_stops_at_the_end_finds_the_messages_complete() -> None:
    loop = Loop(ScriptedProvider([Call("add", {"a": 2, "b": 3}), Say("5")]), {"add": adder()})
    for chunk in loop.run(ASK):
        if chunk.type == "end":
            kinds = [type(message).__name__ for message in loop.messages]
            assert kinds == ["UserMessage", "AssistantMessage", "ToolMessage", "AssistantMessage"]
            break
    else:
        pytest.fail("no end came")


@pytest.mark.parametrize("reply", [Say("hi"), Fail(ValueError("a fault")), Say("")])
def test_end_comes_once_and_last_after_an_error_too(reply: Reply) -> None:
    came = types(run(reply))
    assert came.count("end") == 1
    assert came[-1] == "end"


def test_seven_types_of_chunks_have_these_names_and_fields() -> None:
    chunks = run(
        [Say("Let me see.", reasoning="Hm."), Call("add", {"a": 2, "b": 3}, id="c1")],
        Call("sub", "{}", id="c2"),
        Fail(ValueError("a fault")),
    )
    told = {chunk.type: to_json(chunk) for chunk in chunks}
    assert told["message"] == {"type": "message", "text": "Let me see."}
    assert told["reasoning"] == {"type": "reasoning", "text": "Hm."}
    assert told["error"]["text"].endswith("a fault")
    call = {"tool_name": "add", "tool_args": '{"a": 2, "b": 3}', "call_id": "c1"}
    assert told["tool_call_start"] == {"type": "tool_call_start", **call}
    assert call.items() <= told["tool_call_result"].items()
    assert told["tool_call_error"]["tool_name"] == "sub"
    assert told["end"]["reason"] == "error"
    about_tools = {chunk.type for chunk in chunks if is_tool_chunk(chunk)}
    assert about_tools == {"tool_call_start", "tool_call_error", "tool_call_result"}


def test_delta_with_content_is_a_message_and_one_without_is_reasoning() -> None:
    chunks = streamed(
        delta(reasoning="a", reasoning_content="not this"),
        delta(reasoning_content="b"),
        delta(content="c"),
        STOP,
    )
    shown = [chunk for chunk in chunks if isinstance(chunk, MessageChunk | ReasoningChunk)]
    assert shown == [ReasoningChunk("a"), ReasoningChunk("b"), MessageChunk("c")]


def test_delta_with_both_gives_both() -> None:
    chunks = streamed(delta(reasoning="a", content="b"), STOP)
    shown = [chunk for chunk in chunks if isinstance(chunk, MessageChunk | ReasoningChunk)]
    assert shown == [ReasoningChunk("a"), MessageChunk("b")]


def test_unknown_tool_is_an_error_without_a_start_and_the_nearest_are_named() -> None:
    chunks = run(Call("ad", {}), Say("sorry"))
    assert types(chunks)[:2] == ["message_done", "tool_call_error"]
    (error,) = [chunk for chunk in chunks if isinstance(chunk, ToolCallErrorChunk)]
    assert error.text.startswith("ERROR:")
    assert "not found" in error.text
    assert "add" in error.text


def test_arguments_that_are_no_json_are_told_with_what_to_do() -> None:
    chunks = run(Call("add", '{"a": 1}{"a": 2}'), Say("sorry"))
    assert "tool_call_start" not in types(chunks)
    (error,) = [chunk for chunk in chunks if isinstance(chunk, ToolCallErrorChunk)]
    assert error.text.startswith("ERROR: the parameters are not valid JSON")
    assert "several sets of parameters in one call" in error.text


def test_tool_that_returns_an_error_text_gives_a_result_with_status_error() -> None:
    failing = SimpleTool("Fails.", [], lambda _args: "ERROR: no such number")
    chunks = run(Call("fail"), Say("sorry"), tools={"fail": failing})
    assert "tool_call_error" not in types(chunks)
    (result,) = [chunk for chunk in chunks if isinstance(chunk, ToolCallResultChunk)]
    assert (result.text, result.status) == ("ERROR: no such number", "error")


def test_stream_that_cannot_be_opened_is_one_error_and_the_end() -> None:
    with LoopbackServer(json_answer({"error": {"message": "no such model"}}, 404)) as server:
        chunks = list(Loop(build(url=server.url)).run(ASK, model="m"))
    assert types(chunks) == ["error", "end"]
    assert isinstance(chunks[0], ErrorChunk)
    assert "no such model" in chunks[0].text


def test_event_that_is_an_error_is_one_error_and_the_end() -> None:
    shown, fault = sse(*chat_events("par")[:2]), sse({"error": {"message": "worker died"}})
    with LoopbackServer(Answer([shown, Wait(0.1), fault])) as server:
        chunks = list(Loop(build(url=server.url), take_back=False).run(ASK, model="m"))
    assert types(chunks) == ["message", "error", "end"]
    assert chunks[0] == MessageChunk("par")
    assert isinstance(chunks[1], ErrorChunk)
    assert "worker died" in chunks[1].text


def test_request_is_made_again_while_nothing_was_shown() -> None:
    chunks = run(Fail(RateLimited("slow down", retry_after_s=0)), Say("5"))
    assert types(chunks) == ["retry", "message", "message_done", "end"]


@pytest.mark.parametrize("side_by_side", [True, False])
def test_tools_run_one_after_another_unless_they_say_otherwise(side_by_side: bool) -> None:
    running, most, lock = 0, 0, threading.Lock()
    meeting = threading.Barrier(2)

    def work(*_: object) -> str:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        if side_by_side:
            meeting.wait(10)
        with lock:
            running -= 1
        return "done"

    schema = {"type": "object"}
    tool = Tool("work", "Works.", schema, work, effects=(), parallel_safe=side_by_side)
    loop = Loop(ScriptedProvider([[Call("work"), Call("work")], Say("both")]), [tool])
    assert list(loop.run(ASK))[-1] == EndChunk("done")
    assert most == (2 if side_by_side else 1)


def test_run_ends_at_its_limit_with_every_call_answered() -> None:
    script = ScriptedProvider(lambda _request: Call("add", {"a": 2, "b": 3}))
    loop = Loop(script, {"add": adder()}, limits=Limits(turns=2))
    chunks = list(loop.run(ASK))
    assert to_json(chunks[-1])["reason"] == "limit"
    assert sum(isinstance(message, ToolMessage) for message in loop.messages) == 2


def test_call_that_is_not_permitted_is_answered_and_not_run() -> None:
    loop = Loop(
        ScriptedProvider([Call("add", {"a": 2, "b": 3}), Say("sorry")]),
        {"add": adder()},
        policies=[lambda *_: Verdict("deny", "no sums today")],
    )
    chunks = list(loop.run(ASK))
    assert ToolCallStartChunk("call_1", "add", '{"a": 2, "b": 3}') in chunks
    (result,) = [chunk for chunk in chunks if isinstance(chunk, ToolCallResultChunk)]
    assert result.status == "denied"
    assert "no sums today" in result.text
