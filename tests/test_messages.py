from __future__ import annotations

from typing import Any

import attrs
import pytest

from hrns.messages import (
    AssistantMessage,
    Diff,
    Image,
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

CALL = ToolCall("1", "read_file", '{"path": "a"}')
PICTURE = Image("image/png", b"\x89PNG")


def test_string_stands_for_one_text_part() -> None:
    assert UserMessage("hello") == UserMessage((Text("hello"),))
    assert ToolResult("done") == ToolResult((Text("done"),))


def test_parts_may_be_any_iterable() -> None:
    assert UserMessage(iter([Text("a")])).parts == (Text("a"),)
    assert AssistantMessage([Text("a"), CALL]).parts == (Text("a"), CALL)
    assert ToolMessage(ToolResult(text) for text in "ab").results == (
        ToolResult("a"),
        ToolResult("b"),
    )


def test_text_is_what_people_see() -> None:
    assert UserMessage([Text("a"), PICTURE, Text("b")]).text == "a\nb"
    assert AssistantMessage([Reasoning("hm"), Text("a"), CALL, Text("b")]).text == "ab"
    assert ToolResult([Text("a"), PICTURE, Text("b")]).text == "a\nb"
    assert AssistantMessage([Opaque("{}")]).text == ""


def test_calls_are_in_the_order_of_the_parts() -> None:
    second = attrs.evolve(CALL, id="2")
    assert AssistantMessage([CALL, Text("and"), second]).calls == (CALL, second)


def test_usage_of_requests_adds_up_field_by_field() -> None:
    assert Usage(1, 2, 3, 4, 5) + Usage(10, 20, 30, 40, 50) == Usage(11, 22, 33, 44, 55)


def test_result_is_fine_unless_said_otherwise() -> None:
    assert attrs.asdict(ToolResult("x"), recurse=False) == {
        "content": (Text("x"),),
        "status": "ok",
        "display": None,
        "structured": None,
        "call_id": "",
        "name": "",
    }


@pytest.mark.parametrize(
    "value",
    [
        SystemMessage("s"),
        UserMessage([Text("u"), PICTURE]),
        AssistantMessage([Reasoning("r", "{}"), CALL], Origin("a", "e", "m"), usage=Usage(1)),
        ToolMessage([ToolResult("x", display=Diff("p", None, "n"))]),
    ],
)
def test_messages_are_frozen_values(value: Any) -> None:
    name = attrs.fields(type(value))[0].name
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(value, name, "changed")
    with pytest.raises((AttributeError, TypeError)):
        value.note = "more"
    assert {value: "found"}[attrs.evolve(value)] == "found"


def test_picture_is_not_shown_byte_by_byte() -> None:
    assert repr(PICTURE) == "Image(media_type='image/png', data=<4 bytes>)"
