"""What is given to a loop or a session and is not what it should be: told there, by name."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from hrns.agents import Agent
from hrns.cancel import Cancel
from hrns.chunks import EndChunk, ToolOutputChunk
from hrns.errors import UsageError, in_words
from hrns.loop import Limits, Loop
from hrns.messages import UserMessage
from hrns.misuse import shown, wrong_field
from hrns.records import PromptSection
from hrns.testing import Call, Say, ScriptedProvider, Wait
from hrns.tools import Tool, ToolContext, tool

ASKED = [UserMessage("go")]


@tool(effects=())
def echo(text: str) -> str:
    """Say it again."""
    return text


class Speechless(Exception):
    """An exception that fails when it is asked what it says; so does its repr."""

    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"provider": None}, "None is no provider"),
        ({"provider": "https://x"}, "'https://x' is no provider"),
        ({"tools": 5}, "tools are given as a mapping or a list of Tool records, not as 5"),
        ({"tools": echo}, "tools are given as a mapping"),
        ({"tools": [print]}, "tools are given as a mapping"),
        ({"tools": {"print": print}}, "tools are given as a mapping"),
        ({"model": 5}, "model must be a str, not 5"),
        ({"options": {"seed": 1}}, "options must be a ModelOptions, not {'seed': 1}"),
        ({"limits": {"turns": 3}}, "limits must be a Limits, not {'turns': 3}"),
        ({"retry": 3}, "retry must be a RetryPolicy, not 3"),
        ({"context": "here"}, "context must be a SessionContext, not 'here'"),
        ({"policies": None}, "policies: a list of functions is needed, not None"),
        ({"request_editors": [5]}, "request_editors: a list of functions is needed, not [5]"),
        ({"tool_wrappers": echo}, "tool_wrappers: a list of functions is needed"),
        ({"ask": "yes"}, "ask: a list of functions is needed"),
    ],
)
def test_loop_refuses_what_is_not_what_it_should_be(given: dict[str, Any], says: str) -> None:
    arguments = {"provider": ScriptedProvider([]), **given}
    with pytest.raises(UsageError) as caught:
        Loop(**arguments)
    assert str(caught.value).startswith(says)


@pytest.mark.parametrize(
    "limits",
    [
        {"turns": -1},
        {"seconds": float("nan")},
        {"seconds": "3"},
        {"parallel": 0},
        {"repeats": None},
    ],
)
def test_limit_that_is_no_amount_is_misuse(limits: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(limits))):
        Limits(**limits)


def test_time_without_end_is_no_limit() -> None:
    loop = Loop(ScriptedProvider([Say("hi")]), limits=Limits(seconds=float("inf")))
    assert list(loop.run(ASKED))[-1] == EndChunk("done")


@pytest.mark.parametrize(
    "messages", ["hello", None, 5, [], ["hello"], [{"role": "user"}], UserMessage("hello")]
)
def test_what_is_no_list_of_messages_is_misuse(messages: Any) -> None:
    with pytest.raises(UsageError, match="message"):
        Loop(ScriptedProvider([])).run(messages)


@pytest.mark.parametrize("given", [{"model": 5}, {"cancel": True}])
def test_run_refuses_other_arguments(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(given))):
        Loop(ScriptedProvider([])).run(ASKED, **given)


def test_loop_does_one_run_at_a_time() -> None:
    loop = Loop(ScriptedProvider([[Say("a"), Wait()], Say("b")]))
    first, made_before = loop.run(ASKED), loop.run(ASKED)
    next(first)
    for second in (lambda: loop.run(ASKED), lambda: next(made_before)):
        with pytest.raises(UsageError, match="one run at a time"):
            second()
    loop.cancel()
    assert list(first)[-1] == EndChunk("cancelled", "interrupted")
    assert list(loop.run(ASKED))[-1] == EndChunk("done")


def test_run_that_was_cancelled_before_it_began_ends_at_once() -> None:
    loop = Loop(ScriptedProvider([]))
    chunks = loop.run(ASKED)
    loop.cancel()
    assert list(chunks) == [EndChunk("cancelled", "interrupted")]


def test_tool_cannot_run_the_loop_that_runs_it() -> None:
    said: list[str] = []

    @tool(effects=())
    def again() -> str:
        """Run the loop."""
        try:
            return str(list(loop.run(ASKED)))
        except UsageError as error:
            said.append(error.message)
            return "no"

    loop = Loop(ScriptedProvider([[Call("again")], Say("done")]), [again])
    assert list(loop.run(ASKED))[-1] == EndChunk("done")
    assert said == ["this loop is at work: it does one run at a time"]


def test_exception_without_words_is_told_by_its_type() -> None:
    assert in_words(Speechless()) == "Speechless"
    assert in_words(KeyError("x")) == "KeyError: 'x'"
    assert in_words(ValueError()) == "ValueError"
    group = ExceptionGroup("all", [ValueError("one"), ExceptionGroup("in", [KeyError("two")])])
    assert in_words(group) == (
        "ExceptionGroup: all (2 sub-exceptions): ValueError: one; "
        "ExceptionGroup: in (1 sub-exception): KeyError: 'two'"
    )
    assert shown(Speechless()) == "a Speechless"
    assert shown("x" * 100) == f"'{'x' * 79}"


def test_field_of_a_wrong_type_is_named() -> None:
    fits = [PromptSection("a", "text"), Agent("A"), echo]
    assert [wrong_field(record) for record in fits] == ["", "", ""]
    wrong: list[Any] = [
        PromptSection("a", None),  # type: ignore[arg-type]
        PromptSection("a", "text", order="first"),  # type: ignore[arg-type]
        Agent("A", tools=None),  # type: ignore[arg-type]
        Tool("t", "", {}, None),  # type: ignore[arg-type]
    ]
    assert [wrong_field(record) for record in wrong] == ["text", "order", "tools", "function"]


def test_guest_that_raises_speechless_exceptions_does_not_stall_the_run() -> None:
    def fail(*_: object) -> Any:
        raise Speechless

    given: Iterable[dict[str, Any]] = (
        {"tools": [Tool("t", "", {}, fail, effects=())]},
        {"tools": [Tool("t", "", {}, echo.function, effects=(), preparer=fail)]},
        {"tools": [Tool("t", "", {}, echo.function, effects=(), structure=fail)]},
        {"request_editors": [fail]},
    )
    for arguments in given:
        loop = Loop(ScriptedProvider([[Call("t")], Say("done")]), **arguments)
        assert list(loop.run(ASKED))[-1] == EndChunk("done")


def test_sys_exit_of_a_guest_ends_nothing() -> None:
    def leave(*_: object) -> Any:
        raise SystemExit(3)

    class Leaving(ScriptedProvider):
        def reply(self, *_: object) -> Iterator[Any]:
            raise SystemExit(3)

    t = Tool("t", "", {}, lambda *_: "", effects=(), structure=leave)
    loop = Loop(ScriptedProvider([[Call("t")], Say("done")]), [t], request_editors=[leave])
    assert list(loop.run(ASKED))[-1] == EndChunk("done")
    assert list(Loop(Leaving([])).run(ASKED, cancel=Cancel()))[-1] == EndChunk("error", "error")


def test_tool_that_never_stops_to_talk_waits_for_its_reader_and_is_left_behind() -> None:
    stop, said = threading.Event(), [0]

    @tool(effects=())
    def chatter(context: ToolContext) -> str:
        """Talk."""
        while not stop.is_set():
            context.output("x")
            said[0] += 1
        return ""

    loop = Loop(ScriptedProvider([[Call("chatter")]]), [chatter])
    chunks = loop.run(ASKED)
    taken = 0
    while taken < 3:
        taken += next(chunks).type == "tool_output"
    stop.wait(0.2)
    assert said[0] < 1000  # it waits where nobody reads
    loop.cancel()
    rest = [chunk for chunk in chunks if chunk.type != "tool_output"]
    stop.set()
    assert [chunk.type for chunk in rest] == ["notice", "tool_call_result", "message_done", "end"]


def test_output_of_a_thread_that_outlives_its_call_is_not_that_of_a_later_one() -> None:
    outputs: list[Any] = []

    @tool(effects=())
    def say(context: ToolContext) -> str:
        """Talk."""
        outputs.append(context.output)
        outputs[0]("late" if len(outputs) > 1 else "in time")
        return str(len(outputs))

    twice = Call("say", id="c")
    loop = Loop(ScriptedProvider([[twice], [twice], Say("done")]), [say])
    heard = [chunk.text for chunk in loop.run(ASKED) if isinstance(chunk, ToolOutputChunk)]
    assert heard == ["in time"]
