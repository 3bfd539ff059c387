"""Models that cannot call tools: what they are sent, what is read, and when the mode changes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from hrns.cancel import Cancel
from hrns.chunks import (
    Chunk,
    EndChunk,
    ErrorChunk,
    MessageChunk,
    NoticeChunk,
    ReasoningChunk,
    ToolCallResultChunk,
)
from hrns.config import ModelConfig, ProviderConfig
from hrns.errors import BrokenStream, Cancelled, RequestRefused, ToolsRefused, UsageError
from hrns.loop import Loop
from hrns.messages import (
    AssistantMessage,
    Image,
    Message,
    Opaque,
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
from hrns.providers.base import (
    Delta,
    Finish,
    ModelOptions,
    ModelRequest,
    PartNative,
    PartStart,
    PartText,
    Provider,
    ProviderNotice,
    ToolSpec,
)
from hrns.providers.http import build
from hrns.providers.react_mode import ReactMode
from hrns.providers.tool_mode import ToolModes, with_tool_mode
from hrns.react.prompt import REMINDER, standard_prompt, tools_text
from hrns.reply import fold
from hrns.testing import (
    Answer,
    Call,
    Cut,
    Fail,
    LoopbackServer,
    Received,
    Reply,
    Say,
    ScriptedProvider,
    chat_stream,
    json_answer,
)
from hrns.tools import Tool, tool

GREP = ToolSpec("grep", "Searches {files}.", {"type": "object", "properties": {"pattern": {}}})
LIST = ToolSpec("list_files", "Lists.", {"type": "object"})
ASKED = ModelRequest("m", (UserMessage("How many?"),), (GREP, LIST))
STOP = "\nObservation:"
REMINDED = ProviderNotice("the model kept to no form that can be read: it was reminded")


def prompt(*tools: ToolSpec) -> str:
    texts = ((each.name, each.description, json.dumps(each.schema)) for each in tools)
    return standard_prompt(tools_text(texts))


def read(*replies: Reply, request: ModelRequest = ASKED) -> tuple[list[Delta], ScriptedProvider]:
    """What the mode makes of these replies, and who was asked."""
    provider = ScriptedProvider(replies)
    return list(ReactMode(provider).reply(request, Cancel())), provider


def named(message: AssistantMessage) -> AssistantMessage:
    """The message with its calls numbered: their ids are random."""
    calls = [f"call_{number}" for number in range(1, len(message.calls) + 1)]
    parts = [
        evolve(part, id=calls.pop(0)) if isinstance(part, ToolCall) else part
        for part in message.parts
    ]
    return evolve(message, parts=parts)


def said(*replies: Reply, request: ModelRequest = ASKED) -> AssistantMessage:
    """The message that the mode makes of these replies."""
    return named(fold(read(*replies, request=request)[0]))


def asked(request: ModelRequest) -> ModelRequest:
    """What the inner provider is asked."""
    return read(Say("Final Answer: 3"), request=request)[1].requests[0]


# What is read


@pytest.mark.parametrize("pieces", [1, 3, 200])
def test_thought_answer_and_action_come_as_what_they_are(pieces: int) -> None:
    action = 'Thought: I search.\nThen\nAction: grep\nAction Input: {"pattern": "x"}\n'
    assert said(Say(action, pieces=pieces)) == AssistantMessage(
        [Reasoning("I search.\nThen"), ToolCall("call_1", "grep", '{"pattern": "x"}')],
        stop="tool_calls",
    )
    answer = "Thought: I know.\nFinal Answer: **Three**\n\nfiles.\n"
    assert said(Say(answer, pieces=pieces)) == AssistantMessage(
        [Reasoning("I know."), Text("**Three**\n\nfiles.")]
    )


def test_text_streams_as_soon_as_it_is_certain() -> None:
    deltas, _ = read(
        [
            PartStart(0, "text"),
            *[PartText(0, piece) for piece in ("Thou", "ght: I", " kn", "ow\nFinal Ans", "wer: 4")],
            *[PartText(0, piece) for piece in ("2", ".")],
        ]
    )
    assert deltas == [
        PartStart(0, "reasoning"),
        PartText(0, "I"),
        PartText(0, " kn"),
        PartText(0, "ow"),
        PartStart(1, "text"),
        PartText(1, "4"),
        PartText(1, "2"),
        PartText(1, "."),
        Finish("done"),
    ]


def test_reply_is_cut_at_a_made_up_observation_and_not_read_any_further() -> None:
    message = said(
        [
            Say("Action: grep\nAction Input: {}\nObservation: 3 hits\nFinal"),
            Fail(BrokenStream("this was read")),
        ]
    )
    assert message == AssistantMessage([ToolCall("call_1", "grep", "{}")], stop="tool_calls")


def test_reading_less_closes_the_inner_reply() -> None:
    closed: list[bool] = []

    class Endless(ScriptedProvider):
        def reply(self, _request: ModelRequest, _cancel: Cancel) -> Iterator[Delta]:
            try:
                while True:
                    yield PartText(0, "Action: list_files\nObservation: a\n")
            finally:
                closed.append(True)

    deltas = ReactMode(Endless([])).reply(ASKED, Cancel())
    assert named(fold(deltas)).calls == (ToolCall("call_1", "list_files", "{}"),)
    assert closed == [True]


def test_answer_without_any_label_is_the_answer() -> None:
    assert said(Say("Hello!\nHow are you?", pieces=7)) == AssistantMessage(
        [Text("Hello!\nHow are you?")]
    )
    assert said(Say('{"files": 3}')) == AssistantMessage([Text('{"files": 3}')])


def test_name_that_is_decorated_is_found_and_an_unknown_one_passed_on() -> None:
    assert said(Say("Action: `grep`\nAction Input: {}")).calls[0].name == "grep"
    assert said(Say("Action: grip()\nAction Input: {}")).calls[0].name == "grip()"


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ("{'pattern': 'x', 'deep': True}", '{"pattern": "x", "deep": true}'),
        ('{"pattern": "a\nb"}', '{"pattern": "a\\nb"}'),
        ("the word x", "the word x"),
        ('{"pattern": ', '{"pattern":'),
    ],
)
def test_arguments_are_never_dropped(written: str, arguments: str) -> None:
    assert said(Say(f"Action: grep\nAction Input: {written}")).calls[0].arguments == arguments


def test_each_call_has_an_id_of_its_own() -> None:
    ids = {fold(read(Say("Action: list_files"))[0]).calls[0].id for _ in range(20)}
    assert len(ids) == 20
    assert all(re.fullmatch("call_[0-9a-f]{24}", each) for each in ids)


def test_reasoning_of_the_model_is_passed_on_with_what_is_its_own() -> None:
    deltas, _ = read(
        [
            ProviderNotice("a field was left out"),
            PartStart(4, "reasoning"),
            PartText(4, "Hm. "),
            PartStart(7, "text"),
            PartText(7, "<think>\nyes</think>\nThought: so\nAction: list_files"),
            PartNative(7, '{"of": "the text"}'),
            PartNative(4, '{"signature": "s"}'),
            PartNative(9, '{"unknown": 1}'),
            Usage(10, 5),
            Usage(10, 7),
            Finish("done"),
        ]
    )
    assert deltas[0] == ProviderNotice("a field was left out")
    assert named(fold(deltas)) == AssistantMessage(
        [
            Reasoning("Hm. ", '{"signature": "s"}'),
            Reasoning("\nyes"),
            Reasoning("so"),
            Opaque('{"unknown": 1}'),
            ToolCall("call_1", "list_files", "{}"),
        ],
        stop="tool_calls",
        usage=Usage(10, 7),
    )


def test_native_call_of_the_model_is_passed_on() -> None:
    message = said([Say("Thought: hm"), Call("grep", {"pattern": "x"}, id="own")])
    assert message.calls == (ToolCall("call_1", "grep", '{"pattern": "x"}'),)
    assert message.stop == "tool_calls"


@pytest.mark.parametrize("stop", ["length", "filter", "refusal"])
@pytest.mark.parametrize("text", ["Thought: I", "Final Answer: I", "Action: grep(", "I", ""])
def test_reply_that_was_cut_off_says_so(text: str, stop: Any) -> None:
    message = said([Say(text), Finish(stop)])
    assert message.stop == stop
    assert bool(message.text) == (text in ("Final Answer: I", "I"))


@pytest.mark.parametrize("text", ["Action: list_files", 'Action: grep\nAction Input: {"patt'])
def test_action_that_was_cut_off_is_never_run(text: str) -> None:
    ran: list[object] = []
    tools = [
        Tool(name, "", {"type": "object"}, lambda given, _: ran.append(given))
        for name in ("grep", "list_files")
    ]
    provider = ScriptedProvider([[Say(text), Finish("length")], Say("Final Answer: 3")])
    loop = Loop(ReactMode(provider), tools)
    list(loop.run(ASKED.messages))
    results = loop.messages[2]
    assert isinstance(results, ToolMessage)
    assert "the arguments were cut off" in results.results[0].text
    assert ran == []


def test_empty_reply_stays_empty() -> None:
    assert said(Say("")) == AssistantMessage([])


def test_reply_that_ends_without_a_word_is_broken() -> None:
    class Silent(ScriptedProvider):
        def reply(self, _request: ModelRequest, _cancel: Cancel) -> Iterator[Delta]:
            return iter([PartText(0, "Final Answer: 3")])

    with pytest.raises(BrokenStream, match="without a word"):
        list(ReactMode(Silent([])).reply(ASKED, Cancel()))


def test_fault_of_the_inner_provider_is_raised_as_it_is() -> None:
    with pytest.raises(BrokenStream, match="scripted reply was cut off"):
        read([Say("Action: grep"), Cut()])


REPLY_TEXTS = st.lists(
    st.sampled_from(["Thought: a", "\n", "Action: grep", "Action Input: {", '"a": 1}', "Final An"])
    | st.sampled_from(["swer: b", "Observation: c", "<think>", "</think>", " d", "**"]),
    max_size=10,
).map("".join)


@settings(max_examples=80, deadline=None)
@given(REPLY_TEXTS, st.integers(1, 40))
def test_any_reply_gives_the_same_in_any_pieces(text: str, pieces: int) -> None:
    rest = Say("Final Answer: done")
    whole = read(Say(text), rest)
    parts = read(Say(text, pieces=pieces), rest)
    assert named(fold(parts[0])) == named(fold(whole[0]))
    assert len(parts[1].requests) == len(whole[1].requests)


# Replies that keep to no form


@pytest.mark.parametrize(
    "text",
    [
        "Thought: I should look.",
        "Action:",
        'Action Input: {"pattern": "x"}',
        '{"tool_call": {"nome": "grep"}}',
        'Let me see.\n{"action": "grep", "action_input": {"pat',
    ],
)
def test_reply_that_keeps_to_no_form_is_answered_with_a_reminder(text: str) -> None:
    deltas, provider = read([Say(text), Usage(5, 1)], [Say("Final Answer: 3"), Usage(7, 2)])
    message = fold(deltas)
    assert message.text == "3"
    assert message.usage == Usage(12, 3)
    assert [each for each in deltas if isinstance(each, ProviderNotice)] == [REMINDED]
    first, second = provider.requests
    assert second == evolve(
        first,
        messages=(*first.messages, AssistantMessage([Text(text)]), UserMessage(REMINDER)),
    )


def test_model_that_never_keeps_to_the_form_ends_in_an_error_and_not_in_success() -> None:
    provider = ScriptedProvider([Say('{"tool_call": {"nome": "grep"}}')] * 3)
    chunks = list(Loop(ReactMode(provider), [grep]).run(ASKED.messages))
    assert [chunk for chunk in chunks if isinstance(chunk, MessageChunk)] == []
    assert isinstance(chunks[-2], ErrorChunk)
    assert "wrote neither an action nor an answer" in chunks[-2].text
    assert chunks[-1] == EndChunk("error", "broken_stream")
    assert len(provider.requests) == 3
    assert sum(isinstance(chunk, NoticeChunk) for chunk in chunks) == 2


def test_cancelled_reminder_asks_nobody() -> None:
    cancel = Cancel()
    provider = ScriptedProvider([Say("Thought: hm"), Say("Final Answer: 3")])
    deltas = ReactMode(provider).reply(ASKED, cancel)
    assert REMINDED in deltas  # read up to there
    cancel.set()
    with pytest.raises(Cancelled):
        next(deltas)


# What is sent


def test_tools_are_described_behind_the_instructions_and_not_offered() -> None:
    request = evolve(ASKED, messages=(SystemMessage("Be {kind}."), *ASKED.messages))
    assert asked(request) == ModelRequest(
        "m",
        (SystemMessage(f"Be {{kind}}.\n\n{prompt(GREP, LIST)}"), *ASKED.messages),
        options=ModelOptions(stop=[STOP]),
    )
    assert asked(ASKED).messages[0] == SystemMessage(prompt(GREP, LIST))


def test_options_go_along_and_stops_are_never_more_than_four() -> None:
    options = ModelOptions(max_tokens=9, temperature=0.5, stop=["a", "b"], extra={"top_k": 1})
    assert asked(evolve(ASKED, options=options)).options == evolve(options, stop=["a", "b", STOP])
    options = evolve(options, stop=["a", "b", "c", "d"])
    assert asked(evolve(ASKED, options=options)).options == options


def test_choice_and_schema_are_said_in_words() -> None:
    options = ModelOptions(tool_choice="required", response_schema={"type": "object"})
    sent = asked(evolve(ASKED, options=options))
    assert sent.options == ModelOptions(stop=[STOP])
    assert sent.messages[0].text == (  # type: ignore[union-attr]
        f"{prompt(GREP, LIST)}\n\nUse a tool in your next reply: do not answer yet.\n\n"
        'Behind Final Answer stands nothing but JSON that fits this schema: {"type": "object"}'
    )
    sent = asked(evolve(ASKED, options=ModelOptions(tool_choice="grep")))
    assert sent.messages[0].text.endswith(  # type: ignore[union-attr]
        "\n\nUse the tool grep in your next reply: do not answer yet."
    )


PICTURE = Image("image/png", b"png")
HISTORY: tuple[Message, ...] = (
    SystemMessage("Be brief."),
    UserMessage("How many?"),
    AssistantMessage(
        [
            Reasoning("signed", '{"s": 1}'),
            Reasoning("two words"),
            ToolCall("1", "grep", '{"pattern": "a"}', native='{"n": 1}'),
            ToolCall("2", "list_files", ""),
        ],
        Origin("scripted", "scripted", "m"),
        "tool_calls",
    ),
    ToolMessage(
        [
            ToolResult("3 hits\nin b", call_id="1", name="grep"),
            ToolResult([Text("c"), PICTURE], call_id="2"),
        ]
    ),
    UserMessage("Quick."),
    AssistantMessage([Reasoning("x"), Text(" Three. ")]),
    UserMessage("Sure?"),
)
DIALOGUE = (
    UserMessage("How many?"),
    AssistantMessage([Text('Thought: two words\nAction: grep\nAction Input: {"pattern": "a"}')]),
    UserMessage("Observation: 3 hits\nin b"),
    AssistantMessage([Text("Action: list_files\nAction Input: {}")]),
    UserMessage([Text("Observation: c"), PICTURE, Text("Quick.")]),
)


def test_earlier_calls_results_and_answers_are_written_as_the_model_would() -> None:
    sent = asked(evolve(ASKED, messages=HISTORY))
    assert sent.messages[1:] == (
        *DIALOGUE,
        AssistantMessage([Text("Final Answer: Three.")]),
        UserMessage("Sure?"),
    )


def test_call_without_a_result_is_told_to_be_interrupted() -> None:
    call = AssistantMessage([Text("I look."), ToolCall("1", "grep", "{}")])
    sent = asked(evolve(ASKED, messages=(UserMessage("a"), call, UserMessage("b"))))
    assert sent.messages[2:] == (
        AssistantMessage([Text("Thought: I look.\nAction: grep\nAction Input: {}")]),
        UserMessage(
            [
                Text(
                    "Observation: ERROR: interrupted: this call was not completed; "
                    "it may have run in part."
                ),
                Text("b"),
            ]
        ),
    )


@pytest.mark.parametrize("tools", [(), (GREP,)])
def test_request_without_tools_has_no_prompt_and_no_calls(tools: tuple[ToolSpec, ...]) -> None:
    options = ModelOptions(tool_choice="none" if tools else None)
    request = ModelRequest("m", HISTORY, tools, options)
    deltas, provider = read(Say("Thought: as it is"), request=request)
    assert fold(deltas).text == "Thought: as it is"
    assert provider.requests == [
        ModelRequest("m", (SystemMessage("Be brief."), *DIALOGUE, *HISTORY[-2:]))
    ]


def test_messages_are_written_once() -> None:
    provider = ScriptedProvider([Say("Final Answer: 3")] * 3)
    mode = ReactMode(provider)
    more = (AssistantMessage([Text("Yes.")]), UserMessage("Good."))
    for messages in (HISTORY, (*HISTORY, *more), HISTORY[:-1]):
        list(mode.reply(evolve(ASKED, messages=messages), Cancel()))
    first, second, third = (request.messages for request in provider.requests)
    assert all(a is b for a, b in zip(first, second, strict=False))
    assert all(a is b for a, b in zip(third, first, strict=False))


def test_prompt_follows_the_tools_on_offer() -> None:
    provider = ScriptedProvider([Say("Final Answer: 3")] * 4)
    mode = ReactMode(provider)
    other = evolve(GREP, schema={"type": "object"})
    for tools in ((GREP,), (GREP,), (other,), (other, LIST)):
        list(mode.reply(evolve(ASKED, tools=tools), Cancel()))
    systems = [request.messages[0] for request in provider.requests]
    assert systems[0] is systems[1]
    assert systems[2:] == [SystemMessage(prompt(other)), SystemMessage(prompt(other, LIST))]


def test_what_is_kept_of_old_conversations_is_bounded() -> None:
    provider = ScriptedProvider([Say("Final Answer: 3")] * 40)
    mode = ReactMode(provider)
    for _ in range(40):
        messages = tuple(UserMessage(str(number)) for number in range(100))
        list(mode.reply(evolve(ASKED, messages=messages), Cancel()))
    assert len(mode._texts._by_id) <= 1300


# Whole runs


@tool(effects=["read"], name="grep")
def grep(pattern: str) -> str:
    "Searches."
    return f"{len(pattern)} hits"


def test_run_in_react_mode_uses_tools_and_answers() -> None:
    provider = ScriptedProvider(
        [
            Say("Thought: I search.\nAction: grep\nAction Input: {'pattern': 'abc'}", pieces=9),
            Say("Action: grep\nAction Input: abc\nObservation: 9 hits"),
            Say("Action: grop\nAction Input: {}"),
            Say("Thought: I know.\nFinal Answer: 3 hits.", pieces=9),
        ]
    )
    loop = Loop(ReactMode(provider), [grep], model="m")
    chunks = list(loop.run([SystemMessage("Be brief."), UserMessage("How many?")]))
    results = [
        result.text
        for message in loop.messages
        if isinstance(message, ToolMessage)
        for result in message.results
    ]
    assert results[0] == "3 hits"
    assert "not valid JSON" in results[1]
    assert "'grop' was not found" in results[2]
    assert text_of(chunks, ReasoningChunk) == "I search.I know."
    assert text_of(chunks, MessageChunk) == "3 hits."
    assert chunks[-1] == EndChunk("done")
    sent = provider.requests[-1].messages
    assert [message.text for message in sent[1:4] if not isinstance(message, ToolMessage)] == [
        "How many?",
        'Thought: I search.\nAction: grep\nAction Input: {"pattern": "abc"}',
        "Observation: 3 hits",
    ]


def text_of(chunks: list[Chunk], kind: type[MessageChunk | ReasoningChunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, kind))


# The mode of a provider


def test_native_mode_is_the_provider_itself() -> None:
    provider = ScriptedProvider([])
    assert with_tool_mode(provider, "native") is provider


def test_unknown_mode_is_refused() -> None:
    with pytest.raises(UsageError, match="'magic'"):
        with_tool_mode(ScriptedProvider([]), "magic")
    with pytest.raises(UsageError, match="'magic'"):
        with_tool_mode(ScriptedProvider([]), lambda _: "magic").reply(ASKED, Cancel())


@pytest.mark.parametrize("wrap", [ReactMode, lambda inner: with_tool_mode(inner, "auto")])
def test_wrapped_provider_is_where_the_inner_one_is(wrap: Any) -> None:
    inner = ScriptedProvider([], api="a", endpoint="b", models=["m"])
    outer: Provider = wrap(inner)
    assert (outer.api, outer.endpoint, outer.models()) == ("a", "b", inner.models())
    assert repr(inner) in repr(outer)


def test_mode_is_said_for_each_model() -> None:
    entry = ProviderConfig("home", tool_mode="native", models={"m": ModelConfig(tool_mode="react")})
    inner = ScriptedProvider([Say("Final Answer: a"), Say("Final Answer: b")])
    provider = with_tool_mode(inner, entry.tool_mode_for)
    texts = [
        fold(provider.reply(evolve(ASKED, model=model), Cancel())).text for model in ("m", "other")
    ]
    assert texts == ["a", "Final Answer: b"]
    assert [bool(request.tools) for request in inner.requests] == [False, True]


def test_auto_mode_is_native_while_tools_are_taken() -> None:
    inner = ScriptedProvider([Call("grep", {"pattern": "x"})])
    deltas = list(with_tool_mode(inner, "auto").reply(ASKED, Cancel()))
    assert fold(deltas).calls == (ToolCall("call_1", "grep", '{"pattern": "x"}'),)
    assert inner.requests == [ASKED]


def test_auto_mode_turns_to_react_with_one_notice_when_tools_are_refused() -> None:
    refusal = Fail(ToolsRefused("m takes no tools"))
    inner = ScriptedProvider(
        [
            [ProviderNotice("a field was left out"), refusal],
            Say("Action: list_files"),
            Say("Final Answer: 3"),
            refusal,
            Say("Final Answer: 4"),
        ]
    )
    provider = with_tool_mode(inner, "auto")
    first = list(provider.reply(ASKED, Cancel()))
    assert first[:2] == [
        ProviderNotice("a field was left out"),
        ProviderNotice("m is told of its tools in words, and uses them in words: m takes no tools"),
    ]
    assert named(fold(first)).calls == (ToolCall("call_1", "list_files", "{}"),)
    again = list(provider.reply(ASKED, Cancel()))
    assert not any(isinstance(delta, ProviderNotice) for delta in again)
    other = list(provider.reply(evolve(ASKED, model="n"), Cancel()))
    assert sum(isinstance(delta, ProviderNotice) for delta in other) == 1
    assert [bool(request.tools) for request in inner.requests] == [True, False, False, True, False]


def test_other_refusals_change_no_mode() -> None:
    provider = with_tool_mode(ScriptedProvider([Fail(RequestRefused("no"))]), "auto")
    with pytest.raises(RequestRefused, match="no"):
        list(provider.reply(ASKED, Cancel()))


def test_refusal_behind_a_reply_changes_no_mode() -> None:
    inner = ScriptedProvider([[Say("a", pieces=1), Fail(ToolsRefused("late"))]])
    provider = ToolModes(inner, lambda _model: "auto")
    with pytest.raises(ToolsRefused, match="late"):
        list(provider.reply(ASKED, Cancel()))


def toolless(bodies: list[Mapping[str, Any]]) -> Any:
    """A server whose model takes no tools, and stops at no stop sequence."""
    replies = iter(
        [
            'Action: grep\nAction Input: {"pattern": "abc"}\nObservation: 99\nFinal Answer: 99',
            "Thought: I know.\nFinal Answer: 3 hits.",
        ]
    )

    def answer(request: Received) -> Answer:
        body = json.loads(request.body)
        bodies.append(body)
        if "tools" in body:
            return json_answer({"error": {"message": "m does not support tools"}}, status=400)
        return Answer(chat_stream([*next(replies)]))

    return answer


def test_server_that_refuses_tools_is_used_all_the_same() -> None:
    bodies: list[Mapping[str, Any]] = []
    with LoopbackServer(toolless(bodies)) as server:
        provider = with_tool_mode(build(url=f"{server.url}/v1"), "auto")
        loop = Loop(provider, [grep], model="m")
        chunks = list(loop.run([UserMessage("How many?")]))
    assert [chunk.text for chunk in chunks if isinstance(chunk, ToolCallResultChunk)] == ["3 hits"]
    assert text_of(chunks, MessageChunk) == "3 hits."
    (notice,) = [chunk.text for chunk in chunks if isinstance(chunk, NoticeChunk)]
    assert notice.startswith("m is told of its tools in words")
    assert chunks[-1] == EndChunk("done")
    assert [("tools" in body, body.get("stop")) for body in bodies] == [
        (True, None),
        (False, [STOP]),
        (False, [STOP]),
    ]
    assert [message["role"] for message in bodies[-1]["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]


def test_server_that_refuses_stop_sequences_is_used_without() -> None:
    bodies: list[Mapping[str, Any]] = []
    inner = toolless(bodies)

    def answer(request: Received) -> Answer:
        body = json.loads(request.body)
        if "stop" in body:
            message = "Unsupported parameter: 'stop' is not supported with this model."
            return json_answer({"error": {"message": message, "param": "stop"}}, status=400)
        result: Answer = inner(request)
        return result

    with LoopbackServer(answer) as server:
        provider = with_tool_mode(build(url=f"{server.url}/v1"), "react")
        chunks = list(Loop(provider, [grep], model="m").run([UserMessage("How many?")]))
    assert text_of(chunks, MessageChunk) == "3 hits."
    assert [body.get("stop") for body in bodies] == [None, None]
