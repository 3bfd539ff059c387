"""Folding deltas into one message."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hrns.chunks import MessageChunk, ReasoningChunk
from hrns.messages import AssistantMessage, Opaque, Origin, Reasoning, Text, ToolCall, Usage
from hrns.providers.base import Delta, Finish, PartNative, PartStart, PartText
from hrns.reply import Fold, fold

ORIGIN = Origin("api", "endpoint", "model")


def test_parts_stand_in_the_order_in_which_they_began() -> None:
    deltas: list[Delta] = [
        PartStart(3, "reasoning"),
        PartText(3, "hm"),
        PartStart(0, "text"),
        PartText(0, "a"),
        PartStart(1, "tool_call", "c1", "look"),
        PartText(0, "b"),
        PartText(1, '{"x": '),
        PartText(3, "m"),
        PartText(1, "1}"),
        PartNative(3, '{"signature": "s"}'),
        PartNative(7, '{"citations": []}'),
        Usage(1, 2),
        Usage(3, 4),
        Finish("tool_calls"),
    ]
    assert fold(deltas, ORIGIN) == AssistantMessage(
        (
            Reasoning("hmm", '{"signature": "s"}'),
            Text("ab"),
            ToolCall("c1", "look", '{"x": 1}'),
            Opaque('{"citations": []}'),
        ),
        ORIGIN,
        "tool_calls",
        Usage(3, 4),
    )


def test_text_and_reasoning_are_shown_and_calls_are_not() -> None:
    assert not Fold().shown
    growing = Fold()
    assert growing.add(PartStart(0, "reasoning")) is None
    assert growing.add(PartText(0, "r")) == ReasoningChunk("r")
    assert growing.shown
    assert growing.add(PartText(1, "t")) == MessageChunk("t")
    assert growing.add(PartStart(2, "tool_call", "c", "n")) is None
    assert growing.add(PartText(2, "{}")) is None


def test_later_start_of_a_part_fills_in_id_and_name() -> None:
    deltas: list[Delta] = [
        PartStart(0, "tool_call", "", "run_com"),
        PartStart(0, "tool_call", "c1", "run_command"),
        PartStart(0, "tool_call", "", ""),
        Finish("done"),
    ]
    assert fold(deltas) == AssistantMessage([ToolCall("c1", "run_command", "")], stop="tool_calls")


def test_empty_parts_are_left_out() -> None:
    deltas: list[Delta] = [PartStart(0, "text"), PartStart(1, "reasoning"), Finish("done")]
    assert fold(deltas) == AssistantMessage([])


def test_cut_off_reply_with_calls_stays_cut_off() -> None:
    deltas: list[Delta] = [PartStart(0, "tool_call", "c", "n"), Finish("length")]
    assert fold(deltas).stop == "length"


def test_interrupted_reply_keeps_what_was_shown_without_its_calls() -> None:
    growing = Fold(ORIGIN)
    for delta in (PartText(0, "half"), PartStart(1, "tool_call", "c", "n"), PartText(1, "{")):
        growing.add(delta)
    assert growing.interrupted() == AssistantMessage([Text("half")], ORIGIN, "interrupted")


def test_interrupted_reply_with_nothing_to_keep_is_none() -> None:
    growing = Fold(ORIGIN)
    for delta in (PartStart(0, "reasoning"), PartText(0, "hm"), PartText(1, " \n")):
        growing.add(delta)
    assert growing.interrupted() is None


@given(st.lists(st.text(), max_size=20))
def test_text_in_any_pieces_is_the_same_text(pieces: list[str]) -> None:
    deltas: list[Delta] = [*(PartText(0, piece) for piece in pieces), Finish("done")]
    assert fold(deltas).text == "".join(pieces)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("read_file<|channel|>commentary", "read_file"),
        ("functions.read_file", "read_file"),
        ("<|channel|>", "<|channel|>"),
        ("read_file", "read_file"),
    ],
)
def test_name_of_a_tool_is_without_the_tokens_of_its_model(written: str, name: str) -> None:
    message = fold([PartStart(0, "tool_call", "c1", written), Finish("tool_calls")])
    assert message.calls == (ToolCall("c1", name, ""),)
