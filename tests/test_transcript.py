"""What is sent is a conversation that the strictest server takes."""

from __future__ import annotations

import json
from itertools import zip_longest

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hrns.messages import (
    AssistantMessage,
    Image,
    Message,
    Opaque,
    Reasoning,
    Stop,
    SystemMessage,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from hrns.tools import NAME_PATTERN, sound_text
from hrns.transcript import (
    INTERRUPTED,
    call_ids,
    extend,
    pending_calls,
    repair,
    sound_reply,
    unanswered,
    with_system,
)

ASK = UserMessage("go")


def calls(*ids: str, stop: Stop = "tool_calls") -> AssistantMessage:
    return AssistantMessage([ToolCall(id_, "look", "{}") for id_ in ids], stop=stop)


def answers(*ids: str) -> ToolMessage:
    return ToolMessage([ToolResult(f"saw {id_}", call_id=id_, name="look") for id_ in ids])


def test_sound_conversation_is_returned_as_the_same_objects() -> None:
    messages = (
        SystemMessage("s"),
        ASK,
        calls("a", "b"),
        answers("a", "b"),
        AssistantMessage([Reasoning("r", "{}"), Text("done"), Opaque("{}")]),
        UserMessage([Text("look"), Image("image/png", b"x")]),
    )
    repaired = repair(messages)
    assert len(repaired) == len(messages)
    assert all(kept is given for kept, given in zip(repaired, messages, strict=True))


def test_unanswered_calls_are_answered_right_after_their_message() -> None:
    messages: list[Message] = [ASK, calls("a", "b"), answers("a"), UserMessage("go on")]
    (first, second) = calls("a", "b").calls
    assert repair(messages) == (
        ASK,
        calls("a", "b"),
        ToolMessage([answers("a").results[0], unanswered(second)]),
        UserMessage("go on"),
    )
    assert repair([ASK, calls("a")])[-1] == ToolMessage([unanswered(first)])
    assert INTERRUPTED.startswith("ERROR:")


def test_calls_of_a_reply_that_was_cut_off_are_said_to_be_cut_off() -> None:
    (_, _, tool) = repair([ASK, calls("a", stop="length")])
    assert isinstance(tool, ToolMessage)
    assert "cut off" in tool.results[0].text


def test_results_come_in_call_order_and_each_once() -> None:
    messages: list[Message] = [ASK, calls("a", "b"), answers("b"), answers("a"), answers("a", "x")]
    assert repair(messages) == (ASK, calls("a", "b"), answers("a", "b"))


def test_results_behind_a_user_message_go_back_to_their_calls() -> None:
    messages: list[Message] = [ASK, calls("a"), UserMessage("hurry"), answers("a")]
    assert repair(messages) == (ASK, calls("a"), answers("a"), UserMessage("hurry"))


def test_orphan_results_are_dropped() -> None:
    assert repair([ASK, answers("x"), AssistantMessage([Text("a")])]) == (
        ASK,
        AssistantMessage([Text("a")]),
    )


def test_conversation_that_was_cut_at_its_head_begins_with_a_user_message() -> None:
    repaired = repair([SystemMessage("s"), answers("a"), calls("b"), answers("b")])
    assert repaired == (SystemMessage("s"), UserMessage("Continue."), calls("b"), answers("b"))


@pytest.mark.parametrize(
    "empty",
    [
        AssistantMessage([]),
        AssistantMessage([Text("  ")]),
        AssistantMessage([Reasoning("only thought")]),
        UserMessage(""),
    ],
)
def test_messages_without_content_are_left_out(empty: Message) -> None:
    assert repair([ASK, empty]) == (ASK,)


def test_neighbouring_users_are_joined_and_assistants_kept_apart() -> None:
    assert repair([ASK, UserMessage("now")]) == (UserMessage([Text("go"), Text("now")]),)
    one, two = AssistantMessage([Text("1")]), AssistantMessage([Text("2")])
    assert repair([ASK, one, two]) == (ASK, one, UserMessage("Continue."), two)


def test_system_messages_are_one_and_first() -> None:
    assert repair([ASK, SystemMessage("a"), SystemMessage("b\0")]) == (
        SystemMessage("a\n\nb\ufffd"),
        ASK,
    )
    assert repair([SystemMessage(" "), ASK]) == (ASK,)


def test_unsound_text_is_made_sound() -> None:
    messages: list[Message] = [
        UserMessage("a\ud83d"),
        AssistantMessage([Text("b\0"), ToolCall("c", "look", "{}")]),
        ToolMessage([ToolResult("d\udc88", call_id="c", name="look")]),
    ]
    assert repair(messages) == (
        UserMessage("a\ufffd"),
        AssistantMessage([Text("b\ufffd"), ToolCall("c", "look", "{}")]),
        ToolMessage([ToolResult("d\ufffd", call_id="c", name="look")]),
    )


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ("", "{}"),
        ("  ", "{}"),
        ("null", "{}"),
        ("[1]", "{}"),
        ('{"a": ', "{}"),
        ('{"a": 1}', '{"a": 1}'),
    ],
)
def test_arguments_are_json_objects(arguments: str, kept: str) -> None:
    message = AssistantMessage([ToolCall("c", "look", arguments, '{"index": 0}')])
    sound = sound_reply(message)
    assert sound.calls[0].arguments == kept
    assert sound.calls[0].id == "c"


def test_names_fit_what_servers_take() -> None:
    (call,) = sound_reply(AssistantMessage([ToolCall("c", "git.status é", "{}")])).calls
    assert call.name == "git_status__"


def test_ids_are_unique_in_a_message() -> None:
    message = AssistantMessage([ToolCall(id_, "look", "{}") for id_ in ("a", "a", "", "a_1", "")])
    assert [call.id for call in sound_reply(message).calls] == [
        "a",
        "a_1",
        "call_1",
        "a_1_1",
        "call_2",
    ]


def test_id_of_an_earlier_call_is_not_used_again() -> None:
    def turn(text: str) -> list[Message]:
        return [
            AssistantMessage([ToolCall("call_0", "look", "{}")]),
            ToolMessage([ToolResult(text, call_id="call_0", name="look")]),
        ]

    first, second, third = turn("1"), turn("2"), turn("3")
    repaired = repair([ASK, *first, *second, *third])
    assert repaired[:3] == (ASK, *first)
    assert [
        ([call.id for call in said.calls], [(r.call_id, r.text) for r in answer.results])
        for said, answer in zip(repaired[3::2], repaired[4::2], strict=True)
        if isinstance(said, AssistantMessage) and isinstance(answer, ToolMessage)
    ] == [(["call_0_1"], [("call_0_1", "2")]), (["call_0_2"], [("call_0_2", "3")])]


def test_pending_calls_are_those_without_a_result() -> None:
    assert [call.id for call in pending_calls([ASK, calls("a", "b"), answers("a")])] == ["b"]
    assert pending_calls([ASK, calls("a"), answers("a")]) == ()
    assert pending_calls([ASK, calls("a"), UserMessage("b")]) == ()


def test_with_system_replaces_the_old_one() -> None:
    assert with_system([SystemMessage("a"), ASK], "b") == (SystemMessage("b"), ASK)
    assert with_system([ASK], "b") == (SystemMessage("b"), ASK)
    assert with_system([SystemMessage("a"), ASK], "") == (ASK,)


TEXTS = st.sampled_from(["", " ", "a", "\0", "\ud83d", "é"])
IDS = st.sampled_from(["", "a", "b", "c", "call"])
PARTS = st.one_of(
    st.builds(Text, TEXTS),
    st.builds(Reasoning, TEXTS),
    st.builds(Opaque, st.just("{}")),
    st.builds(
        ToolCall,
        IDS,
        st.sampled_from(["look", "", "a.b", "x" * 80]),
        st.sampled_from(["", "{}", "null", "[", '{"a": "\\ud83d"}', '{"b": "\ud83d"}']),
    ),
)
MESSAGES = st.lists(
    st.one_of(
        st.builds(SystemMessage, TEXTS),
        st.builds(UserMessage, TEXTS),
        st.builds(AssistantMessage, st.lists(PARTS, max_size=4)),
        st.builds(
            ToolMessage,
            st.lists(st.builds(ToolResult, TEXTS, call_id=IDS, name=st.just("look")), max_size=3),
        ),
    ),
    max_size=8,
)


def assert_strict(messages: tuple[Message, ...]) -> None:
    """What the strictest of servers insists on."""
    turns = [m for m in messages if not isinstance(m, SystemMessage)]
    assert messages[len(messages) - len(turns) :] == tuple(turns)
    assert len(messages) - len(turns) <= 1
    if turns:
        assert isinstance(turns[0], UserMessage)
    for before, after in zip_longest(turns, turns[1:]):
        if isinstance(before, AssistantMessage) and before.calls:
            assert isinstance(after, ToolMessage)
            assert [r.call_id for r in after.results] == [c.id for c in before.calls]
            assert len({c.id for c in before.calls}) == len(before.calls)
        else:
            assert not isinstance(after, ToolMessage)
        if not isinstance(before, ToolMessage):
            assert type(before) is not type(after)
    replies = [message for message in turns if isinstance(message, AssistantMessage)]
    assert len(call_ids(turns)) == sum(len(reply.calls) for reply in replies)
    for message in turns:
        if isinstance(message, UserMessage | AssistantMessage):
            assert message.text.strip() or getattr(message, "calls", None)
            assert sound_text(message.text) == message.text
        for call in message.calls if isinstance(message, AssistantMessage) else ():
            assert NAME_PATTERN.fullmatch(call.name)
            assert isinstance(json.loads(call.arguments), dict)
            call.arguments.encode()


@settings(max_examples=150)
@given(MESSAGES)
def test_anything_becomes_a_conversation_that_a_strict_server_takes(
    messages: list[Message],
) -> None:
    repaired = repair(messages)
    assert_strict(repaired)
    again = repair(repaired)
    assert len(again) == len(repaired)
    assert all(kept is given for kept, given in zip(again, repaired, strict=True))


@settings(max_examples=150)
@given(MESSAGES, MESSAGES)
def test_extending_is_repairing_the_whole(old: list[Message], new: list[Message]) -> None:
    repaired = repair(old)
    growing = list(repaired)
    ids = call_ids(growing)
    extend(growing, new, ids)
    assert tuple(growing) == repair((*repaired, *new))
    assert ids == call_ids(growing)
