"""The loop: what holds whatever the model, the tools and the user do."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest
from attrs import evolve

from hrns.calls import CANCEL_GRACE_S, RESULT_LIMIT
from hrns.cancel import Cancel
from hrns.chunks import (
    Chunk,
    DiscardChunk,
    EndChunk,
    ErrorChunk,
    MessageChunk,
    MessageDoneChunk,
    NoticeChunk,
    QueuedChunk,
    ReasoningChunk,
    RetryChunk,
    ToolCallErrorChunk,
    ToolCallResultChunk,
    ToolCallStartChunk,
    ToolOutputChunk,
    UsageChunk,
)
from hrns.errors import (
    AuthenticationFailed,
    ContextOverflow,
    RateLimited,
    ServerFault,
    ToolFailure,
    UsageError,
)
from hrns.loop import Limits, Loop
from hrns.messages import (
    AssistantMessage,
    Diff,
    Image,
    Message,
    Origin,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
)
from hrns.permissions import Answer, Policy, Prepared, Question, Verdict
from hrns.providers.base import (
    Delta,
    Finish,
    ModelRequest,
    PartNative,
    PartStart,
    PartText,
    ProviderNotice,
)
from hrns.redact import Redactor
from hrns.retry import RetryPolicy
from hrns.testing import Call, Cut, Fail, Reply, Say, ScriptedProvider, Wait
from hrns.tools import SimpleTool, Tool, ToolArgument, ToolContext, tool
from hrns.transcript import INTERRUPTED, NEVER_RAN

ASKED = [UserMessage("go")]
ORIGIN = Origin("scripted", "scripted", "m")
AT_ONCE = RetryPolicy(retries=4, base_s=0, cap_s=0, limit_s=0)


@tool(effects=(), parallel_safe=True)
def echo(text: str) -> str:
    """Say it again."""
    return text


@tool(effects=())
def fail() -> str:
    """Fail."""
    raise ToolFailure("there is no such thing")


def run(loop: Loop, messages: Sequence[Message] = ASKED) -> list[Chunk]:
    return list(loop.run(messages, "m"))


def results(loop: Loop) -> list[ToolResult]:
    return [r for m in loop.messages if isinstance(m, ToolMessage) for r in m.results]


def shown(chunks: Iterable[Chunk], *kinds: type) -> list[Chunk]:
    return [chunk for chunk in chunks if isinstance(chunk, kinds)]


def test_answer_without_calls_gives_its_pieces_and_ends() -> None:
    loop = Loop(ScriptedProvider([Say("hello", reasoning="hm", pieces=2)]))
    message = AssistantMessage((Reasoning("hm"), Text("hello")), ORIGIN, "done")
    assert run(loop) == [
        ReasoningChunk("h"),
        ReasoningChunk("m"),
        MessageChunk("hel"),
        MessageChunk("lo"),
        MessageDoneChunk(message),
        EndChunk("done"),
    ]
    assert loop.messages == (*ASKED, message)


def test_call_is_run_and_its_result_goes_back() -> None:
    provider = ScriptedProvider([[Say("wait"), Call("echo", {"text": "hi"})], Say("it says hi")])
    loop = Loop(provider, [echo])
    chunks = run(loop)
    call = ToolCall("call_1", "echo", '{"text": "hi"}')
    first = AssistantMessage((Text("wait"), call), ORIGIN, "tool_calls")
    result = ToolResult("hi", call_id="call_1", name="echo")
    assert chunks == [
        MessageChunk("wait"),
        MessageDoneChunk(first),
        ToolCallStartChunk("call_1", "echo", '{"text": "hi"}'),
        ToolCallResultChunk("call_1", "echo", '{"text": "hi"}', "hi", "ok", result),
        MessageDoneChunk(ToolMessage([result])),
        MessageChunk("it says hi"),
        MessageDoneChunk(AssistantMessage([Text("it says hi")], ORIGIN)),
        EndChunk("done"),
    ]
    assert provider.requests[1].messages == (*ASKED, first, ToolMessage([result]))
    assert [spec.name for spec in provider.requests[0].tools] == ["echo"]


def test_callers_list_is_not_changed() -> None:
    messages: list[Message] = list(ASKED)
    run(Loop(ScriptedProvider([[Call("echo", {"text": "x"})], Say("y")]), [echo]), messages)
    assert messages == ASKED


def test_messages_are_complete_when_end_comes() -> None:
    loop = Loop(ScriptedProvider([[Call("echo", {"text": "x"})], Say("y")]), [echo])
    for chunk in loop.run(ASKED, "m"):
        if chunk.type == "end":
            assert [type(m) for m in loop.messages] == [
                UserMessage,
                AssistantMessage,
                ToolMessage,
                AssistantMessage,
            ]
            break
    else:
        pytest.fail("there was no end")


@pytest.mark.parametrize(
    "script",
    [
        [Say("a")],
        [Fail(AuthenticationFailed("no"))],
        [Fail(ValueError("a bug in the provider"))],
        [[Call("nothing")], Say("b")],
        [Cut()],
    ],
    ids=["answer", "refused", "bug", "unknown tool", "cut"],
)
def test_end_comes_once_and_last(script: list[Reply]) -> None:
    chunks = run(Loop(ScriptedProvider(script), retry=RetryPolicy(retries=0)))
    assert [chunk.type for chunk in chunks].count("end") == 1
    assert chunks[-1].type == "end"


def test_message_done_is_yielded_before_any_tool_runs() -> None:
    ran: list[str] = []

    @tool(effects=())
    def note() -> str:
        ran.append("ran")
        return ""

    loop = Loop(ScriptedProvider([[Call("note")], Say("done")]), [note])
    for chunk in loop.run(ASKED, "m"):
        if isinstance(chunk, MessageDoneChunk):
            time.sleep(0.02)
            assert ran == []
            break


def test_a_run_without_messages_is_misuse() -> None:
    with pytest.raises(UsageError, match="no message to answer"):
        Loop(ScriptedProvider([])).run([])


def test_two_tools_of_one_name_are_misuse() -> None:
    with pytest.raises(UsageError, match="two tools are called 'echo'"):
        Loop(ScriptedProvider([]), [echo, echo])


def test_simple_tool_takes_its_name_from_the_mapping() -> None:
    add = SimpleTool(
        "Adds.",
        [ToolArgument("a", "number"), ToolArgument("b", "number")],
        lambda args: str(args["a"] + args["b"]),
    )
    provider = ScriptedProvider([[Call("add", {"a": 1, "b": 2})], Say("3")])
    loop = Loop(provider, {"add": add})
    run(loop)
    assert [result.text for result in results(loop)] == ["3"]
    assert provider.requests[0].tools[0].schema == {
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
        "required": ["a", "b"],
    }


# Calls that cannot be run


def test_unknown_tool_is_an_error_without_a_start_that_names_the_nearest() -> None:
    loop = Loop(ScriptedProvider([[Call("ehco", {"text": "x"})], Say("sorry")]), [echo])
    chunks = run(loop)
    text = "ERROR: the tool 'ehco' was not found. Did you mean echo? The tools are: echo."
    result = ToolResult(text, status="error", call_id="call_1", name="ehco")
    error = ToolCallErrorChunk("call_1", "ehco", '{"text": "x"}', text, result)
    assert shown(chunks, ToolCallStartChunk, ToolCallErrorChunk, ToolCallResultChunk) == [error]
    assert results(loop) == [result]


@pytest.mark.parametrize("arguments", ['{"text": "a"}{"text": "b"}', '{"text": ', "[1]", "text"])
def test_arguments_that_are_no_object_are_told_and_not_run(arguments: str) -> None:
    loop = Loop(ScriptedProvider([[Call("echo", arguments)], Say("sorry")]), [echo])
    chunks = run(loop)
    (error,) = shown(chunks, ToolCallStartChunk, ToolCallErrorChunk, ToolCallResultChunk)
    assert isinstance(error, ToolCallErrorChunk)
    assert error.tool_args == arguments
    assert "the parameters are not valid" in error.text
    stored = [
        m.calls[0].arguments for m in loop.messages if isinstance(m, AssistantMessage) if m.calls
    ]
    assert stored == ["{}"]


@pytest.mark.parametrize("arguments", ["", "  ", "null", "{}"])
def test_no_arguments_are_an_empty_object(arguments: str) -> None:
    @tool(effects=())
    def now() -> str:
        """Tell the time."""
        return "noon"

    loop = Loop(ScriptedProvider([[Call("now", arguments)], Say("noon")]), [now])
    run(loop)
    assert [result.text for result in results(loop)] == ["noon"]
    calls = [m.calls[0] for m in loop.messages if isinstance(m, AssistantMessage) and m.calls]
    assert [call.arguments for call in calls] == ["{}"]


def test_missing_argument_is_told_with_its_path() -> None:
    loop = Loop(ScriptedProvider([[Call("echo", {})], Say("sorry")]), [echo])
    (error,) = shown(run(loop), ToolCallErrorChunk)
    assert isinstance(error, ToolCallErrorChunk)
    assert "$.text" in error.text


def test_cut_off_arguments_are_not_run_and_complete_ones_are() -> None:
    script: list[Reply] = [
        [
            Call("echo", {"text": "whole"}, id="a"),
            Call("echo", '{"text": "cu', id="b"),
            Finish("length"),
        ],
        [Call("echo", "", id="c"), Finish("length")],
        Say("done"),
    ]
    loop = Loop(ScriptedProvider(script), [echo])
    run(loop)
    whole, cut, empty = results(loop)
    assert (whole.text, whole.status) == ("whole", "ok")
    assert cut.status == empty.status == "error"
    assert "cut off" in cut.text
    assert "cut off" in empty.text


# Tools that fail


def test_failing_tool_is_a_result_with_status_error() -> None:
    loop = Loop(ScriptedProvider([[Call("fail")], Say("sorry")]), [fail])
    (result,) = shown(run(loop), ToolCallResultChunk)
    assert isinstance(result, ToolCallResultChunk)
    assert result.status == "error"
    assert result.text == "ERROR: fail: there is no such thing"


@pytest.mark.parametrize(
    ("raised", "text"),
    [
        (KeyError("x"), "ERROR: break_it: KeyError: 'x'"),
        (SystemExit(3), "ERROR: break_it: SystemExit: 3"),
        (KeyboardInterrupt(), "ERROR: break_it: KeyboardInterrupt"),
        (RecursionError("deep"), "ERROR: break_it: RecursionError: deep"),
    ],
)
def test_whatever_a_tool_raises_is_a_result(raised: BaseException, text: str) -> None:
    @tool(effects=())
    def break_it() -> str:
        """Break."""
        raise raised

    loop = Loop(ScriptedProvider([[Call("break_it")], Say("sorry")]), [break_it])
    assert run(loop)[-1] == EndChunk("done")
    assert [(r.status, r.text) for r in results(loop)] == [("error", text)]


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        ({"rows": [1]}, '{"rows": [1]}'),
        (None, ""),
        (False, "false"),
        (b"\xff", "\ufffd"),
        (3.5, "3.5"),
        ("ok \ud83d end", "ok \ufffd end"),
        ("a\0b", "a\ufffdb"),
    ],
)
def test_whatever_a_tool_returns_is_text(returned: object, text: str) -> None:
    @tool(effects=())
    def give() -> object:
        """Give."""
        return returned

    loop = Loop(ScriptedProvider([[Call("give")], Say("done")]), [give])
    run(loop)
    assert [(r.status, r.text) for r in results(loop)] == [("ok", text)]


def test_result_with_fields_of_wrong_types_is_made_sound() -> None:
    wrong: Any = ToolResult(
        [{"rows": 1}, Text(5), Image("image/png", "no bytes")],  # type: ignore[list-item, arg-type]
        status="fine",  # type: ignore[arg-type]
        display=Diff("a", 1, 2),  # type: ignore[arg-type]
        structured={"a": 1},  # type: ignore[arg-type]
    )
    give = Tool("give", "", {"type": "object"}, lambda *_: wrong, effects=())
    loop = Loop(ScriptedProvider([[Call("give")], Say("done")]), [give], redact=str.upper)
    assert run(loop)[-1] == EndChunk("done")
    (result,) = results(loop)
    assert [part.text for part in result.content if isinstance(part, Text)][:2] == [
        '{"ROWS": 1}',
        "5",
    ]
    assert (result.status, result.display, result.structured) == ("error", None, '{"A": 1}')


@pytest.mark.parametrize("prepared", [Prepared(title=None), Prepared(title=5), object()])  # type: ignore[arg-type]
def test_what_was_prepared_wrongly_is_told_and_not_run(prepared: Any) -> None:
    give = Tool("give", "", {}, lambda *_: "ran", effects=(), preparer=lambda *_: prepared)
    loop = Loop(ScriptedProvider([[Call("give")], Say("done")]), [give], redact=str.upper)
    assert run(loop)[-1] == EndChunk("done")
    assert [r.text for r in results(loop)] != ["RAN"]


@pytest.mark.parametrize("answer", [None, "yes", Answer("maybe")])  # type: ignore[arg-type]
def test_what_is_no_answer_is_no_yes(answer: Any) -> None:
    loop = Loop(
        ScriptedProvider([[Call("echo", {"text": "x"})], Say("done")]),
        [echo],
        policies=[lambda *_: Verdict("ask")],
        ask=lambda _question: answer,
    )
    assert run(loop)[-1] == EndChunk("done")
    assert [r.status for r in results(loop)] == ["denied"]


def test_long_result_loses_its_middle_only() -> None:
    @tool(effects=())
    def give() -> str:
        """Give much."""
        return "a" * RESULT_LIMIT + "b" * 10 + "c" * RESULT_LIMIT

    loop = Loop(ScriptedProvider([[Call("give")], Say("done")]), [give])
    run(loop)
    (result,) = results(loop)
    assert len(result.text) < RESULT_LIMIT + 100
    assert result.text.startswith("aaa")
    assert result.text.endswith("ccc")
    assert f"{RESULT_LIMIT + 10} characters left out" in result.text


def test_secrets_are_taken_out_of_results_and_output() -> None:
    @tool(effects=())
    def leak(context: ToolContext) -> ToolResult:
        """Leak."""
        context.output("key=hunter2-hunter2\n")
        return ToolResult("hunter2-hunter2", structured='{"key": "hunter2-hunter2"}')

    loop = Loop(
        ScriptedProvider([[Call("leak")], Say("done")]),
        [leak],
        redact=lambda text: text.replace("hunter2-hunter2", "[redacted]"),
    )
    chunks = run(loop)
    assert "hunter2" not in repr((chunks, loop.messages))
    assert shown(chunks, ToolOutputChunk) == [ToolOutputChunk("call_1", "key=[redacted]\n")]


def test_secret_in_output_is_taken_out_where_a_piece_ends_in_it() -> None:
    @tool(effects=())
    def leak(context: ToolContext) -> str:
        """Leak."""
        for piece in ("key=hunt", "er2-hun", "ter2\n", "the hunt"):
            context.output(piece)
        return "done"

    redact = Redactor(["hunter2-hunter2"])
    loop = Loop(ScriptedProvider([[Call("leak")], Say("done")]), [leak], redact=redact)
    assert shown(run(loop), ToolOutputChunk) == [
        ToolOutputChunk("call_1", text) for text in ("key=", "[redacted]\n", "the ", "hunt")
    ]


# Several calls


def test_results_stand_in_call_order_whatever_ends_first() -> None:
    go_on = [threading.Event() for _ in range(3)]
    go_on[0].set()

    @tool(effects=(), parallel_safe=True)
    def wait(turn: int) -> str:
        """Wait for one's turn."""
        assert go_on[turn].wait(20)
        if not turn:
            raise ToolFailure("no time")
        return f"turn {turn}"

    calls = [Call("wait", {"turn": turn}, id=f"c{turn}") for turn in (2, 1, 0)]
    loop = Loop(ScriptedProvider([calls, Say("done")]), [wait])
    ended: list[str] = []
    for chunk in loop.run(ASKED, "m"):
        if isinstance(chunk, ToolCallResultChunk):
            ended.append(chunk.call_id)
            for event in go_on[: len(ended) + 1]:
                event.set()
    assert ended == ["c0", "c1", "c2"]
    assert [(r.call_id, r.status) for r in results(loop)] == [
        ("c2", "ok"),
        ("c1", "ok"),
        ("c0", "error"),
    ]


def test_calls_that_are_not_parallel_safe_run_alone_and_in_order() -> None:
    running: list[str] = []
    seen: list[tuple[str, ...]] = []
    meeting = threading.Barrier(2)

    def work(name: str) -> str:
        """Work."""
        running.append(name)
        if name in "ab":
            meeting.wait(20)
        time.sleep(0.03)
        seen.append(tuple(running))
        running.remove(name)
        return name

    alone = tool(name="alone", effects=())(work)
    beside = tool(name="beside", effects=(), parallel_safe=True)(work)
    script: list[Reply] = [
        [
            Call("beside", {"name": "a"}),
            Call("beside", {"name": "b"}),
            Call("alone", {"name": "c"}),
            Call("alone", {"name": "d"}),
            Call("beside", {"name": "e"}),
        ],
        Say("done"),
    ]
    run(Loop(ScriptedProvider(script), [alone, beside]))
    assert set(seen[0]) == {"a", "b"}
    assert seen[2:] == [("c",), ("d",), ("e",)]


def test_no_more_than_the_limit_run_side_by_side() -> None:
    lock, now, most = threading.Lock(), 0, 0
    meeting = threading.Barrier(3)

    @tool(effects=(), parallel_safe=True)
    def work() -> str:
        """Work."""
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        meeting.wait(20)
        time.sleep(0.02)
        with lock:
            now -= 1
        return ""

    script: list[Reply] = [[Call("work") for _ in range(6)], Say("done")]
    loop = Loop(ScriptedProvider(script), [work], limits=Limits(parallel=3, repeats=99))
    run(loop)
    assert most == 3
    assert [r.status for r in results(loop)] == ["ok"] * 6


def test_repeated_and_missing_ids_are_made_unique() -> None:
    script: list[Reply] = [
        [
            Call("echo", {"text": "1"}, id="x"),
            Call("echo", {"text": "2"}, id="x"),
            Call("echo", {"text": "3"}, id=""),
        ],
        Say("done"),
    ]
    loop = Loop(ScriptedProvider(script), [echo])
    run(loop)
    assert [(r.call_id, r.text) for r in results(loop)] == [
        ("x", "1"),
        ("x_1", "2"),
        ("call_1", "3"),
    ]


def test_output_streams_while_the_tool_runs() -> None:
    go_on = threading.Event()

    @tool(effects=())
    def talk(context: ToolContext) -> str:
        """Talk."""
        context.output("first")
        assert go_on.wait(20)
        return "last"

    loop = Loop(ScriptedProvider([[Call("talk")], Say("done")]), [talk])
    for chunk in loop.run(ASKED, "m"):
        if isinstance(chunk, ToolOutputChunk):
            assert chunk == ToolOutputChunk("call_1", "first")
            go_on.set()
    assert go_on.is_set()
    assert [r.text for r in results(loop)] == ["last"]


def test_async_tool_runs() -> None:
    import asyncio

    @tool(effects=())
    async def wait(seconds: float) -> str:
        """Wait."""
        await asyncio.sleep(seconds)
        return "waited"

    loop = Loop(ScriptedProvider([[Call("wait", {"seconds": 0.01})], Say("done")]), [wait])
    run(loop)
    assert [r.text for r in results(loop)] == ["waited"]


# Failures of the provider


def test_failed_request_is_made_again_while_nothing_was_shown() -> None:
    script: list[Reply] = [Fail(RateLimited("slow down")), Fail(ServerFault("oops")), Say("hi")]
    loop = Loop(ScriptedProvider(script), retry=AT_ONCE)
    chunks = run(loop)
    assert chunks[:2] == [RetryChunk(1, 0, "slow down"), RetryChunk(2, 0, "oops")]
    assert chunks[-1] == EndChunk("done")
    assert len(loop.messages) == 2


def test_retries_end_with_the_servers_words() -> None:
    loop = Loop(
        ScriptedProvider(itertools.repeat(Fail(RateLimited("slow down", status=429)))),
        retry=evolve(AT_ONCE, retries=2),
    )
    chunks = run(loop)
    assert chunks[-2:] == [
        ErrorChunk("slow down", "rate_limited", 429),
        EndChunk("error", "rate_limited"),
    ]
    assert len(shown(chunks, RetryChunk)) == 2
    assert loop.messages == tuple(ASKED)


@pytest.mark.parametrize(
    "error", [AuthenticationFailed("no key"), ContextOverflow("too long")], ids=["key", "overflow"]
)
def test_refusal_is_not_tried_again(error: AuthenticationFailed | ContextOverflow) -> None:
    provider = ScriptedProvider([Fail(error)])
    assert run(Loop(provider, retry=AT_ONCE)) == [
        ErrorChunk(error.message, error.code),
        EndChunk("error", error.code),
    ]


def test_reply_that_breaks_is_discarded_and_asked_for_again() -> None:
    provider = ScriptedProvider([[Say("half"), Cut()], Say("whole")])
    loop = Loop(provider, retry=AT_ONCE)
    chunks = run(loop)
    assert [chunk.type for chunk in chunks] == [
        "message",
        "discard",
        "retry",
        "message",
        "message_done",
        "end",
    ]
    assert isinstance(chunks[1], DiscardChunk)
    assert loop.messages == (*ASKED, AssistantMessage([Text("whole")], ORIGIN))


def test_reply_that_breaks_ends_the_run_where_it_cannot_be_taken_back() -> None:
    provider = ScriptedProvider([[Say("half"), Cut()]])
    loop = Loop(provider, retry=AT_ONCE, take_back=False)
    chunks = run(loop)
    assert [chunk.type for chunk in chunks] == ["message", "error", "end"]
    assert chunks[-1] == EndChunk("error", "broken_stream")
    assert loop.messages == tuple(ASKED)


def test_reply_without_a_word_of_completion_is_broken() -> None:
    class Quiet(ScriptedProvider):
        def reply(self, _request: ModelRequest, _cancel: Cancel) -> Iterator[Delta]:
            yield PartStart(0, "text")
            yield PartText(0, "is that all")

    chunks = run(Loop(Quiet([]), retry=RetryPolicy(retries=0)))
    assert chunks[-1] == EndChunk("error", "broken_stream")


def test_bug_in_a_provider_is_named_and_ends_the_run() -> None:
    chunks = run(Loop(ScriptedProvider([Fail(ValueError("oops"))])))
    assert chunks == [
        ErrorChunk("the provider ScriptedProvider failed: ValueError: oops", "error"),
        EndChunk("error", "error"),
    ]


@pytest.mark.parametrize(
    "delta",
    [
        5,
        Usage(None, 1),  # type: ignore[arg-type]
        Finish("banana"),  # type: ignore[arg-type]
        PartNative(0, {"a": 1}),  # type: ignore[arg-type]
        PartStart(0, "tool_call", 5, "echo"),  # type: ignore[arg-type]
        ProviderNotice(None),  # type: ignore[arg-type]
    ],
)
def test_provider_that_gives_what_is_no_delta_is_named(delta: Any) -> None:
    chunks = run(Loop(ScriptedProvider([[Say("a"), delta]])))
    assert chunks[-1] == EndChunk("error", "error")
    assert isinstance(chunks[-2], ErrorChunk)
    assert chunks[-2].text.startswith("the provider ScriptedProvider failed: TypeError: ")


# Ends


@pytest.mark.parametrize(
    ("finish", "kinds", "end"),
    [
        ("length", ["message", "message_done", "error", "end"], EndChunk("error", "length")),
        ("filter", ["message", "message_done", "error", "end"], EndChunk("refused", "filter")),
        (
            "refusal",
            ["message", "message_done", "end"],
            EndChunk("refused", "the model refused"),
        ),
    ],
)
def test_reply_that_is_no_answer_ends_with_its_reason(
    finish: str, kinds: list[str], end: EndChunk
) -> None:
    provider = ScriptedProvider([[Say("I"), Finish(finish)]])  # type: ignore[arg-type]
    chunks = run(Loop(provider))
    assert [chunk.type for chunk in chunks] == kinds
    assert chunks[-1] == end


def test_empty_answer_is_told() -> None:
    provider = ScriptedProvider([[Say(reasoning="hm"), Finish("done")], Say("hello")])
    loop = Loop(provider)
    chunks = run(loop)
    assert chunks[-2:] == [NoticeChunk("the model gave no answer"), EndChunk("done")]
    run(loop, [*loop.messages, UserMessage("again")])
    assert provider.requests[1].messages == (UserMessage((Text("go"), Text("again"))),)


def test_calls_drive_the_loop_whatever_the_finish_reason() -> None:
    script: list[Reply] = [[Say("Looking."), Call("echo", {"text": "x"}), Finish("done")], Say("x")]
    loop = Loop(ScriptedProvider(script), [echo])
    run(loop)
    assert [r.text for r in results(loop)] == ["x"]


def test_turn_limit_ends_the_run_with_all_calls_answered() -> None:
    provider = ScriptedProvider(itertools.repeat(Call("echo", {"text": "x"}, id="c")))
    loop = Loop(provider, [echo], limits=Limits(turns=3, repeats=99))
    assert run(loop)[-1] == EndChunk("limit", "the limit of 3 turns is reached")
    assert len(provider.requests) == 3
    assert len(results(loop)) == 3


def test_token_limit_ends_the_run() -> None:
    provider = ScriptedProvider(
        itertools.repeat((Call("echo", {"text": "x"}), Usage(input=6), Usage(input=8, output=2)))
    )
    loop = Loop(provider, [echo], limits=Limits(tokens=15, repeats=99))
    chunks = run(loop)
    assert chunks[-1] == EndChunk("limit", "the limit of 15 tokens is reached")
    assert shown(chunks, UsageChunk) == [UsageChunk(Usage(8, 2))] * 2


@pytest.mark.parametrize(("seconds", "told"), [(0.05, "0.05 seconds"), (1, "1 second")])
def test_time_limit_ends_the_run(seconds: float, told: str) -> None:
    loop = Loop(ScriptedProvider([[Say("let me think"), Wait()]]), limits=Limits(seconds=seconds))
    chunks = run(loop)
    assert chunks[-1] == EndChunk("limit", f"the limit of {told} is reached")
    assert loop.messages[-1] == AssistantMessage([Text("let me think")], ORIGIN, "interrupted")


def test_the_same_call_again_and_again_is_warned_of_then_ended() -> None:
    provider = ScriptedProvider(itertools.repeat((Call("fail"), Call("echo", {"text": "x"}))))
    loop = Loop(provider, [echo, fail], limits=Limits(repeats=4))
    end = run(loop)[-1]
    assert isinstance(end, EndChunk)
    assert end.reason == "limit"
    assert "brought nothing new" in end.text
    texts = [result.text for result in results(loop)]
    assert not any("NOTICE" in text for text in texts[:5])
    assert all("NOTICE" in text for text in texts[5:])
    assert len(texts) == 10


def test_something_new_now_and_then_is_no_repetition() -> None:
    numbers = itertools.count()

    @tool(effects=())
    def count() -> int:
        """Count."""
        return next(numbers)

    turns = itertools.cycle([[Call("echo", {"text": "x"})], [Call("count")]])
    provider = ScriptedProvider(turns)
    loop = Loop(provider, [echo, count], limits=Limits(turns=40, repeats=2))
    assert run(loop)[-1] == EndChunk("limit", "the limit of 40 turns is reached")


# Cancelling


def cancelled_after(loop: Loop, when: Callable[[Chunk], bool]) -> tuple[list[Chunk], float]:
    """The chunks of a run that is cancelled at a chunk, and the seconds that it took to end."""
    chunks: list[Chunk] = []
    since = time.monotonic()
    for chunk in loop.run(ASKED, "m"):
        chunks.append(chunk)
        if when(chunk):
            since = time.monotonic()
            threading.Timer(0.02, loop.cancel).start()
    return chunks, time.monotonic() - since


def test_cancel_in_the_stream_keeps_what_was_shown() -> None:
    loop = Loop(ScriptedProvider([[Say("half a", reasoning="r"), Wait()]]))
    chunks, took = cancelled_after(loop, lambda chunk: chunk.type == "message")
    assert took < 15
    kept = AssistantMessage((Reasoning("r"), Text("half a")), ORIGIN, "interrupted")
    assert chunks[-2:] == [MessageDoneChunk(kept), EndChunk("cancelled", "interrupted")]
    assert loop.messages == (*ASKED, kept)


def test_cancel_in_the_stream_drops_unfinished_calls() -> None:
    loop = Loop(ScriptedProvider([[Say("I will"), Call("echo", '{"te'), Wait()]]), [echo])
    cancelled_after(loop, lambda chunk: chunk.type == "message")
    assert loop.messages == (*ASKED, AssistantMessage([Text("I will")], ORIGIN, "interrupted"))


def test_cancel_before_anything_came_keeps_nothing() -> None:
    def reply(_request: ModelRequest) -> Reply:
        threading.Timer(0.05, loop.cancel).start()
        return [Wait(), Say("never")]

    loop = Loop(ScriptedProvider(reply))
    assert run(loop) == [EndChunk("cancelled", "interrupted")]
    assert loop.messages == tuple(ASKED)


def test_cancel_between_retries_ends_the_wait() -> None:
    provider = ScriptedProvider(itertools.repeat(Fail(RateLimited("wait", retry_after_s=60))))
    chunks, took = cancelled_after(Loop(provider), lambda chunk: chunk.type == "retry")
    assert took < 15
    assert chunks[-1] == EndChunk("cancelled", "interrupted")


def test_cancel_in_a_tool_answers_every_call() -> None:
    @tool(effects=())
    def wait(context: ToolContext) -> str:
        """Wait."""
        context.cancel.wait(30)
        context.cancel.check()
        return "never"

    script: list[Reply] = [[Call("echo", {"text": "1"}), Call("wait"), Call("echo", {"text": "3"})]]
    loop = Loop(ScriptedProvider(script), [echo, wait])
    chunks, took = cancelled_after(
        loop, lambda c: isinstance(c, ToolCallStartChunk) and c.tool_name == "wait"
    )
    assert took < 15
    assert chunks[-1] == EndChunk("cancelled", "interrupted")
    assert [(r.call_id, r.status, r.text) for r in results(loop)] == [
        ("call_1", "ok", "1"),
        ("call_2", "interrupted", INTERRUPTED),
        ("call_3", "interrupted", NEVER_RAN),
    ]


def test_tool_that_ignores_cancel_is_left_behind_and_named() -> None:
    release = threading.Event()

    @tool(effects=())
    def stubborn() -> str:
        """Wait for ever."""
        release.wait(30)
        return "at last"

    loop = Loop(ScriptedProvider([[Call("stubborn")], Say("go on")]), [stubborn])
    chunks, took = cancelled_after(loop, lambda chunk: chunk.type == "tool_call_start")
    release.set()
    assert CANCEL_GRACE_S <= took < 15
    assert NoticeChunk("stubborn does not stop: it was left running") in chunks
    assert [r.status for r in results(loop)] == ["interrupted"]
    again = list(loop.run([*loop.messages, UserMessage("and now?")], "m"))
    assert again[-1] == EndChunk("done")


def test_cancel_while_a_call_is_prepared_ends_the_run() -> None:
    release = threading.Event()

    def prepare(_arguments: object, _context: ToolContext) -> Prepared:
        release.wait(30)
        return Prepared()

    slow = Tool("slow", "", {"type": "object"}, lambda *_: "", effects=(), preparer=prepare)
    loop = Loop(ScriptedProvider([[Call("slow")]]), [slow])
    chunks, took = cancelled_after(loop, lambda chunk: chunk.type == "message_done")
    release.set()
    assert took < 15
    assert chunks[-1] == EndChunk("cancelled", "interrupted")
    assert [(r.status, r.text) for r in results(loop)] == [("interrupted", NEVER_RAN)]


def test_cancel_in_a_question_ends_the_run() -> None:
    def ask(question: Question) -> Answer:
        question.cancel.wait(30)
        return Answer("once")

    loop = Loop(
        ScriptedProvider([[Call("echo", {"text": "x"})]]),
        [echo],
        policies=[lambda *_: Verdict("ask")],
        ask=ask,
    )
    chunks, took = cancelled_after(loop, lambda chunk: chunk.type == "tool_call_start")
    assert took < 15
    assert chunks[-1] == EndChunk("cancelled", "interrupted")
    assert [(r.status, r.text) for r in results(loop)] == [("interrupted", NEVER_RAN)]


def test_cancelled_flag_given_from_outside_ends_the_run_and_stays_the_callers() -> None:
    cancel = Cancel()
    loop = Loop(ScriptedProvider([Say("a")]))
    assert list(loop.run(ASKED, "m", cancel=cancel))[-1] == EndChunk("done")
    assert not cancel.is_set()
    cancel.set("terminated")
    assert list(loop.run(ASKED, "m", cancel=cancel)) == [EndChunk("cancelled", "terminated")]


def test_closed_run_tells_its_tools_and_keeps_a_sound_conversation() -> None:
    ended = threading.Event()

    @tool(effects=())
    def wait(context: ToolContext) -> str:
        """Wait."""
        context.cancel.wait(30)
        ended.set()
        return ""

    loop = Loop(ScriptedProvider([[Call("wait")]]), [wait])
    chunks = loop.run(ASKED, "m")
    while next(chunks).type != "tool_call_start":
        pass
    chunks.close()
    assert [(r.status, r.text) for r in results(loop)] == [("interrupted", NEVER_RAN)]


def test_run_that_is_closed_while_a_tool_runs_says_that_it_may_have_run() -> None:
    @tool(effects=())
    def talk(context: ToolContext) -> str:
        """Say something and wait."""
        context.output("begun")
        context.cancel.wait(30)
        return ""

    loop = Loop(ScriptedProvider([[Call("talk"), Call("echo", {"text": "later"})]]), [talk, echo])
    chunks = loop.run(ASKED, "m")
    while next(chunks).type != "tool_output":
        pass
    chunks.close()
    assert [r.text for r in results(loop)] == [INTERRUPTED, NEVER_RAN]


# Steering


def test_queued_message_is_delivered_behind_the_running_results() -> None:
    provider = ScriptedProvider([[Call("echo", {"text": "x"})], Say("blue then")])
    loop = Loop(provider, [echo])
    chunks = []
    for chunk in loop.run(ASKED, "m"):
        chunks.append(chunk)
        if chunk.type == "tool_call_start":
            loop.queue("make it blue")
    assert QueuedChunk("make it blue") in chunks
    assert provider.requests[1].messages[-1] == UserMessage("make it blue")


def test_message_queued_for_after_begins_another_turn() -> None:
    provider = ScriptedProvider([[Call("echo", {"text": "x"})], Say("done"), Say("also done")])
    loop = Loop(provider, [echo])
    for chunk in loop.run(ASKED, "m"):
        if chunk.type == "tool_call_start":
            loop.queue("then tidy up", "after")
    assert provider.requests[1].messages[-1] != UserMessage("then tidy up")
    assert provider.requests[2].messages[-1] == UserMessage("then tidy up")


def test_queued_message_can_be_taken_back() -> None:
    loop = Loop(ScriptedProvider([Say("a")]))
    loop.queue("never mind")
    assert loop.unqueue() == "never mind"
    assert loop.unqueue() is None


# Permission


def deny_echo(_call: ToolCall, tool: Tool, _prepared: Prepared) -> Verdict | None:
    return Verdict("deny", "no echoes here", "house rules") if tool.name == "echo" else None


def broken_guard(*_: object) -> Verdict:
    raise KeyError("command")


def leaving_guard(*_: object) -> Verdict:
    raise SystemExit(3)


def test_denied_call_is_not_run_and_the_model_is_told_why() -> None:
    ran: list[str] = []

    @tool(effects=["execute"])
    def act() -> str:
        """Act."""
        ran.append("ran")
        return ""

    def deny(*_: object) -> Verdict:
        return Verdict("deny", "not on a Friday", "house rules")

    loop = Loop(ScriptedProvider([[Call("act")], Say("fine")]), [act], policies=[deny])
    chunks = run(loop)
    assert ran == []
    assert [(r.status, r.text) for r in results(loop)] == [
        ("denied", "ERROR: this call was denied: not on a Friday")
    ]
    kinds = [c.type for c in chunks if c.type.startswith("tool")]
    assert kinds == ["tool_call_start", "tool_call_result"]


@pytest.mark.parametrize(
    ("policies", "status"),
    [
        ([], "ok"),
        ([lambda *_: None], "ok"),
        ([lambda *_: Verdict("allow"), deny_echo], "denied"),
        ([deny_echo, lambda *_: Verdict("allow")], "denied"),
        ([broken_guard], "denied"),
        ([leaving_guard], "denied"),
        ([lambda *_: "yes"], "denied"),
        ([lambda *_: Verdict("ask")], "denied"),
    ],
    ids=[
        "none",
        "no say",
        "strict last",
        "strict first",
        "raises",
        "exits",
        "nonsense",
        "no one to ask",
    ],
)
def test_strictest_policy_counts_and_a_broken_one_denies(
    policies: list[Policy], status: str
) -> None:
    loop = Loop(
        ScriptedProvider([[Call("echo", {"text": "x"})], Say("done")]), [echo], policies=policies
    )
    run(loop)
    assert [r.status for r in results(loop)] == [status]


@pytest.mark.parametrize(
    ("answer", "status", "text"),
    [
        (Answer("once"), "ok", "x"),
        (Answer("session"), "ok", "x"),
        (Answer("no"), "denied", "ERROR: this call was denied: the user said no"),
        (Answer("no", reason="later"), "denied", "ERROR: this call was denied: later"),
    ],
)
def test_answer_decides(answer: Answer, status: str, text: str) -> None:
    loop = Loop(
        ScriptedProvider([[Call("echo", {"text": "x"})], Say("done")]),
        [echo],
        policies=[lambda *_: Verdict("ask")],
        ask=lambda _question: answer,
    )
    run(loop)
    assert [(r.status, r.text) for r in results(loop)] == [(status, text)]


def test_question_that_fails_is_not_a_yes() -> None:
    def ask(_question: Question) -> Answer:
        raise EOFError("no terminal")

    loop = Loop(
        ScriptedProvider([[Call("echo", {"text": "x"})], Say("done")]),
        [echo],
        policies=[lambda *_: Verdict("ask")],
        ask=ask,
    )
    run(loop)
    assert [r.status for r in results(loop)] == ["denied"]


# Guests


def test_request_editor_changes_what_is_sent_and_not_the_transcript() -> None:
    def shorten(request: ModelRequest) -> ModelRequest:
        return evolve(request, messages=request.messages[-1:])

    provider = ScriptedProvider([Say("a")])
    loop = Loop(provider, request_editors=[shorten])
    given: list[Message] = [
        SystemMessage("s"),
        UserMessage("old"),
        AssistantMessage([Text("x")]),
        *ASKED,
    ]
    run(loop, given)
    assert provider.requests[0].messages == tuple(ASKED)
    assert loop.messages[:4] == tuple(given)


def test_request_editor_that_raises_is_named_once_and_dropped() -> None:
    def editor(_request: ModelRequest) -> ModelRequest:
        raise KeyError("x")

    loop = Loop(
        ScriptedProvider([[Call("echo", {"text": "x"})], Say("a")]),
        [echo],
        request_editors=[editor],
    )
    notices = shown(run(loop), NoticeChunk)
    assert len(notices) == 1
    assert "editor" in notices[0].text  # type: ignore[union-attr]


def test_wrappers_run_around_the_tool_the_first_outermost() -> None:
    seen: list[str] = []

    def outer(call: ToolCall, _tool: Tool, run: Callable[[], ToolResult]) -> ToolResult:
        seen.append(f"outer {call.name}")
        result = run()
        return evolve(result, content=(Text(f"<{result.text}>"),))

    def inner(_call: ToolCall, tool: Tool, run: Callable[[], ToolResult]) -> ToolResult:
        seen.append(f"inner {tool.name}")
        return run()

    loop = Loop(
        ScriptedProvider([[Call("echo", {"text": "x"})], Say("a")]),
        [echo],
        tool_wrappers=[outer, inner],
    )
    run(loop)
    assert seen == ["outer echo", "inner echo"]
    assert [r.text for r in results(loop)] == ["<x>"]


def test_wrapper_that_raises_is_a_result_that_names_it() -> None:
    def wrapper(*_: object) -> ToolResult:
        raise KeyError("x")

    loop = Loop(
        ScriptedProvider([[Call("echo", {"text": "x"})], Say("a")]), [echo], tool_wrappers=[wrapper]
    )
    run(loop)
    (result,) = results(loop)
    assert result.status == "error"
    assert "wrapper" in result.text


def test_prepared_title_is_shown_and_an_early_answer_is_not_run() -> None:
    def prepare(arguments: dict[str, str], _context: ToolContext) -> Prepared | ToolResult:
        if arguments["text"] == "old":
            return ToolResult("known already")
        return Prepared(title=f"Echo {arguments['text']}")

    titled = Tool(
        "titled",
        "",
        {"type": "object"},
        lambda a, _c: a["text"],
        effects=(),
        preparer=prepare,  # type: ignore[arg-type]
    )
    script: list[Reply] = [
        [Call("titled", {"text": "new"}), Call("titled", {"text": "old"})],
        Say("a"),
    ]
    loop = Loop(ScriptedProvider(script), [titled])
    starts = shown(run(loop), ToolCallStartChunk)
    assert [start.title for start in starts] == ["Echo new", ""]  # type: ignore[union-attr]
    assert [r.text for r in results(loop)] == ["new", "known already"]
