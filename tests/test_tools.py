from __future__ import annotations

import asyncio
import dataclasses
import enum
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hrns.cancel import Cancel
from hrns.context import SessionContext, ToolContext
from hrns.errors import ArgumentFault, Cancelled, ToolFailure, UsageError
from hrns.messages import Diff, Image, Text, ToolResult
from hrns.permissions import ALL_EFFECTS, Access, Prepared
from hrns.providers.base import ToolSpec
from hrns.tools import (
    Arguments,
    SimpleTool,
    Tool,
    ToolArgument,
    named,
    parse_arguments,
    sound_text,
    to_result,
    tool,
)

CONTEXT = ToolContext()

# Sound text


@pytest.mark.parametrize(
    ("text", "sound"),
    [
        ("plain", "plain"),
        ("", ""),
        ("grüße 🍸", "grüße 🍸"),
        ("cut \ud83d here", "cut \ufffd here"),
        ("cut \ud83d", "cut \ufffd"),
        ("\udf78 tail", "\ufffd tail"),
        ("\ud83c\udf78", "🍸"),
        ("\ud83c\ud83c\udf78", "\ufffd🍸"),
        ("name\udc88", "name\ufffd"),
        ("a\0b", "a\ufffdb"),
        ("ü\0", "ü\ufffd"),
        ("\ufeffbom\ufeff", "\ufeffbom\ufeff"),
        ("line\u2028line", "line\u2028line"),
    ],
)
def test_sound_text_replaces_what_no_file_takes(text: str, sound: str) -> None:
    assert sound_text(text) == sound


TEXTS = st.text(st.characters(codec=None, categories=None), max_size=30) | st.text(
    "a\0\ud83c\udf78ü", max_size=8
)


@given(TEXTS)
def test_sound_text_can_be_written_and_stays(text: str) -> None:
    sound = sound_text(text)
    sound.encode()
    assert "\0" not in sound
    assert sound_text(sound) == sound


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_sound_text_leaves_sound_text_alone(text: str) -> None:
    assert sound_text(text) == text


# Arguments


@pytest.mark.parametrize("text", ["", "  \n", "null", "{}", " {} "])
def test_nothing_stands_for_no_arguments(text: str) -> None:
    assert parse_arguments(text) == {}


def test_arguments_are_one_json_object() -> None:
    text = '{"path": "a", "limit": 3, "deep": [{"x": null}]}'
    assert parse_arguments(text) == {"path": "a", "limit": 3, "deep": [{"x": None}]}


@pytest.mark.parametrize(
    "text",
    [
        '{"path": "a"',
        '{"path": "a"}{"path": "b"}',
        "{'path': 'a'}",
        '{"path": "a",}',
        "path=a",
        '{"path": NaN}',
        '{"path": Infinity}',
        '{"path": "cut \\ud83d"}',
        '{"path": "cut \ud83d"}',
        '{"cut \\udf78": 1}',
        '{"size": ' + "9" * 5000 + "}",
    ],
)
def test_arguments_that_are_not_json_are_refused(text: str) -> None:
    with pytest.raises(ArgumentFault, match="the parameters are not valid JSON") as caught:
        parse_arguments(text)
    assert "do not send several sets of parameters in one call" in str(caught.value)


@pytest.mark.parametrize(
    "text", ['{"path": "a', '{"path"', '{"path": ', '{"path": "a"', "{", '{"a": "\\']
)
def test_arguments_that_break_off_are_said_to_be_cut_off(text: str) -> None:
    with pytest.raises(ArgumentFault, match="not valid JSON, they were cut off: "):
        parse_arguments(text)


@pytest.mark.parametrize("text", ['{"a": 1}}', '{"a" 1}', "{'a': 1}", '{"a": 1} {"b": 2}'])
def test_arguments_that_are_wrong_in_the_middle_are_not_said_to_be_cut_off(text: str) -> None:
    with pytest.raises(ArgumentFault, match="not valid JSON: "):
        parse_arguments(text)


@pytest.mark.parametrize("text", ['["a"]', '"a"', "3", "true"])
def test_arguments_that_are_no_object_are_refused(text: str) -> None:
    with pytest.raises(ArgumentFault, match="a JSON object is needed, not"):
        parse_arguments(text)


def test_arguments_that_are_nested_too_deeply_are_refused() -> None:
    with pytest.raises(ArgumentFault, match="nested too deeply"):
        parse_arguments('{"a": ' + "[" * 200_000 + "]" * 200_000 + "}")


@pytest.mark.parametrize(
    "text",
    [
        '{"drink": "\\ud83c\\udf78"}',
        '{"drink": "\ud83c\udf78"}',
        '{"drink": "\ud83c\\udf78"}',
        '{"drink": "🍸"}',
    ],
)
def test_halves_of_a_character_become_one(text: str) -> None:
    assert parse_arguments(text) == {"drink": "\N{COCKTAIL GLASS}"}


def test_text_about_surrogates_is_left_alone() -> None:
    assert parse_arguments(r'{"code": "\\ud83d"}') == {"code": r"\ud83d"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), JSON, max_size=4), st.booleans())
def test_json_objects_are_read_as_they_were_written(
    arguments: dict[str, Any], ensure_ascii: bool
) -> None:
    assert parse_arguments(json.dumps(arguments, ensure_ascii=ensure_ascii)) == arguments


# Results


@attrs.frozen
class Row:
    name: str
    size: int


@dataclasses.dataclass
class Point:
    x: int
    y: int


class Colour(enum.Enum):
    RED = "red"


class Model:
    """Stands for a pydantic model: it is known by its method."""

    def model_dump(self) -> dict[str, int]:
        return {"size": 1}


class Named:
    def __str__(self) -> str:
        return "a thing of its own"


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        ("plain", "plain"),
        ("", ""),
        (None, ""),
        (False, "false"),
        (True, "true"),
        (3, "3"),
        (2.5, "2.5"),
        (b"bytes \xc3\xbc \xff", "bytes ü \ufffd"),
        (bytearray(b"array"), "array"),
        (memoryview(b"view"), "view"),
        ({"rows": [1], "ü": None}, '{"rows": [1], "ü": null}'),
        ([1, "a"], '[1, "a"]'),
        ((1, 2), "[1, 2]"),
        ({"b", "a"}, '["a", "b"]'),
        (MappingProxyType({"a": 1}), '{"a": 1}'),
        (Row("a", 1), '{"name": "a", "size": 1}'),
        (Point(1, 2), '{"x": 1, "y": 2}'),
        (
            [Row("a", 1), {"at": Point(1, 2), "b": b"x"}],
            '[{"name": "a", "size": 1}, {"at": {"x": 1, "y": 2}, "b": "x"}]',
        ),
        ({"path": Path("a")}, '{"path": "a"}'),
        ({(1, 2): "keys that JSON has not"}, "{(1, 2): 'keys that JSON has not'}"),
        (Path("a/b"), "a/b"),
        (Colour.RED, "Colour.RED"),
        (Named(), "a thing of its own"),
        (Model(), '{"size": 1}'),
        ("half \ud83d", "half \ufffd"),
        ({"half": "\ud83d"}, '{"half": "\ufffd"}'),
        ("nul \0", "nul \ufffd"),
    ],
)
def test_whatever_a_tool_returns_is_text(returned: object, text: str) -> None:
    assert to_result(returned) == ToolResult(text)


def test_exception_that_is_returned_is_an_error() -> None:
    assert to_result(ValueError("no")) == ToolResult("ERROR: ValueError: no", status="error")


def test_what_a_generator_yields_is_put_together() -> None:
    def made(*items: object) -> ToolResult:
        return Tool("t", "", {}, lambda _arguments, _context: iter(items)).run({}, CONTEXT)

    assert made("one ", "two") == ToolResult("one two")
    assert made({"a": 1}, "b") == ToolResult('[{"a": 1}, "b"]')
    assert made() == ToolResult("")


def test_what_an_async_generator_yields_is_put_together() -> None:
    async def pieces(_arguments: Arguments, _context: ToolContext) -> AsyncIterator[str]:
        yield "one "
        yield "two"

    assert Tool("t", "", {}, pieces).run({}, CONTEXT) == ToolResult("one two")


def test_generator_without_end_is_cancelled() -> None:
    def endless(_arguments: Arguments, context: ToolContext) -> Iterator[str]:
        while True:
            context.cancel.set("enough")
            yield "more"

    context = attrs.evolve(CONTEXT, cancel=Cancel())
    with pytest.raises(Cancelled, match="enough"):
        Tool("t", "", {}, endless).run({}, context)


def test_value_that_holds_itself_is_still_text() -> None:
    rows: list[Any] = []
    rows.append(rows)
    assert to_result(rows) == ToolResult("[[...]]")


def test_text_that_begins_with_error_is_one() -> None:
    assert to_result("ERROR: no such file") == ToolResult("ERROR: no such file", status="error")
    assert to_result("no ERROR: here").status == "ok"


def test_result_is_kept_and_its_text_is_made_sound() -> None:
    picture = Image("image/png", b"\0")
    given = ToolResult(
        [Text("half \ud83d"), picture], "denied", Diff("p", "a", "b"), '{"a": 1}', "1", "t"
    )
    assert to_result(given) == attrs.evolve(given, content=(Text("half \ufffd"), picture))


@given(TEXTS)
def test_result_can_always_be_sent(text: str) -> None:
    for returned in (text, {"text": text}, [text], text.encode("utf-8", "surrogatepass")):
        to_result(returned).text.encode()


# Tools


def test_tool_runs_its_function_and_gives_a_result() -> None:
    echo = Tool("echo", "Echoes.", {"type": "object"}, lambda arguments, _context: arguments)
    assert echo.run({"a": 1}, CONTEXT) == ToolResult('{"a": 1}')
    assert echo.structure({"a": 1}) == {"a": 1}
    assert (echo.prepare({}, CONTEXT), echo.prepares) == (Prepared(), False)
    assert (echo.effects, echo.parallel_safe, echo.replaces) == (ALL_EFFECTS, False, False)
    assert (echo.spec.name, echo.spec.description) == ("echo", "Echoes.")


def test_tool_offers_the_same_spec_each_time() -> None:
    echo = SimpleTool("Echoes.", [], dict, name="echo")
    assert echo.spec is echo.spec
    assert isinstance(echo.spec, ToolSpec)


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        ({}, {"type": "object", "properties": {}}),
        ({"type": "object"}, {"type": "object", "properties": {}}),
        ({"properties": {"a": {}}}, {"type": "object", "properties": {"a": {}}}),
        ({"properties": {}, "type": "object"}, {"properties": {}, "type": "object"}),
    ],
)
def test_schema_says_what_servers_insist_on(schema: dict[str, Any], shown: dict[str, Any]) -> None:
    made = Tool("t", "", schema, lambda _arguments, _context: "")
    assert json.dumps(made.spec.schema) == json.dumps(shown)
    assert made.schema is schema


def test_name_of_a_partial_is_that_of_its_function() -> None:
    def add(a: int, b: int) -> int:
        return a + b

    made = tool(partial(partial(add, b=2)))
    assert made.name == "add"
    assert made.run(made.structure({"a": 1}), CONTEXT) == ToolResult("3")


def test_what_has_no_name_needs_one() -> None:
    class Adder:
        def __call__(self, a: int) -> int:
            return a + 1

    with pytest.raises(UsageError, match="has no name") as caught:
        tool(Adder())
    assert caught.value.hint == "Give it one: tool(name=...)."
    assert tool(name="add")(Adder()).name == "add"


def test_tool_of_a_tool_is_refused() -> None:
    @tool
    def look() -> str:
        return ""

    with pytest.raises(UsageError, match="look is a tool already"):
        tool(look)  # type: ignore[call-overload]


def test_effect_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="'delete'") as caught:
        Tool("t", "", {}, lambda _arguments, _context: "", effects=["read", "delete"])  # type: ignore[list-item]
    assert caught.value.hint == "Effects are execute, network, read, write."


def test_failure_of_a_tool_is_raised_to_the_loop() -> None:
    def fail(_arguments: Mapping[str, Any]) -> object:
        raise ToolFailure("no such file")

    with pytest.raises(ToolFailure, match="no such file"):
        SimpleTool("Fails.", [], fail).run({}, CONTEXT)


# SimpleTool


def adder() -> Tool:
    return SimpleTool(
        "Adds two numbers.",
        [ToolArgument("a", "number"), ToolArgument("b", "number")],
        lambda arguments: str(arguments["a"] + arguments["b"]),
    )


def test_simple_tool_requires_every_argument() -> None:
    assert adder().schema == {
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
        "required": ["a", "b"],
    }


def test_simple_tool_without_arguments_has_an_empty_object() -> None:
    schema = SimpleTool("Tells the time.", [], lambda _arguments: "12:00").schema
    assert schema == {"type": "object", "properties": {}, "required": []}


def test_simple_tool_runs_with_one_mapping() -> None:
    add = adder()
    assert add.run(add.structure({"a": 1, "b": 2.5}), CONTEXT) == ToolResult("3.5")


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({}, "required field missing @ $.a; required field missing @ $.b"),
        ({"a": 1}, "required field missing @ $.b"),
        (
            {"a": "1", "b": [2]},
            (
                'a number is needed, not "1": send the value itself, not a string that holds it '
                "@ $.a; a number is needed, not [2] @ $.b"
            ),
        ),
        ({"a": 1, "b": 2, "c": 3}, "unknown field (the fields are: a, b) @ $.c"),
    ],
)
def test_simple_tool_tells_the_faults_of_its_arguments(
    arguments: dict[str, Any], fault: str
) -> None:
    with pytest.raises(ArgumentFault) as caught:
        adder().structure(arguments)
    assert str(caught.value) == fault


@pytest.mark.parametrize(
    ("kind", "fits", "does_not"),
    [
        ("string", ["", "a"], [1, None, ["a"]]),
        ("integer", [1, -1, 2.0], [1.5, True, "1", None]),
        ("number", [1, 1.5], [True, "1"]),
        ("boolean", [True, False], [0, "true"]),
        ("array", [[], ["a", 1]], ["[]", {}]),
        ("object", [{}, {"a": 1}], ["{}", []]),
        ("null", [None], [0, ""]),
        ("a word of another's", [1, "a", None], []),
    ],
)
def test_simple_tool_takes_what_its_types_say(
    kind: str, fits: list[Any], does_not: list[Any]
) -> None:
    echo = SimpleTool("Echoes.", [ToolArgument("it", kind)], dict)
    assert echo.schema["properties"] == {"it": {"type": kind}}
    for value in fits:
        assert echo.structure({"it": value}) == {"it": value}
    for value in does_not:
        with pytest.raises(ArgumentFault):
            echo.structure({"it": value})


# @tool


@tool(effects=["read"], parallel_safe=True)
def word_count(file_name: Annotated[str, "the file to read"], minimum: int = 1) -> int:
    """Counts the words of a file."""
    words = Path(file_name).read_text("utf-8").split()
    return sum(len(word) >= minimum for word in words)


def test_function_becomes_a_tool(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one two three")
    assert (word_count.name, word_count.description) == (
        "word_count",
        "Counts the words of a file.",
    )
    assert word_count.schema == {
        "type": "object",
        "properties": {
            "file_name": {"type": "string", "description": "the file to read"},
            "minimum": {"type": "integer", "default": 1},
        },
        "required": ["file_name"],
    }
    assert word_count.effects == frozenset({"read"})
    assert word_count.parallel_safe
    arguments = word_count.structure({"file_name": str(tmp_path / "a"), "minimum": 4.0})
    assert word_count.run(arguments, CONTEXT) == ToolResult("1")


def test_decorator_works_bare_and_with_words_of_its_own() -> None:
    @tool
    def bare() -> str:
        return "bare"

    @tool(name="renamed", description="Something else.", replaces=True)
    def dressed() -> str:
        """Does something."""
        return "dressed"

    assert (bare.name, bare.description, bare.effects) == ("bare", "", ALL_EFFECTS)
    assert (dressed.name, dressed.description, dressed.replaces) == (
        "renamed",
        "Something else.",
        True,
    )
    assert (bare.run({}, CONTEXT).text, dressed.run({}, CONTEXT).text) == ("bare", "dressed")


def test_context_is_filled_in_and_hidden(tmp_path: Path) -> None:
    @tool
    def where(name: str, context: ToolContext) -> str:
        return f"{context.call_id}: {context.cwd / name}"

    assert list(where.schema["properties"]) == ["name"]
    context = ToolContext("7", SessionContext(cwd=tmp_path))
    assert where.run({"name": "a"}, context) == ToolResult(f"7: {tmp_path / 'a'}")


def prepare_removal(path: str, *, context: ToolContext) -> Prepared | ToolResult:
    if path == "/":
        return ToolResult("ERROR: not that one", status="error")
    return Prepared([Access("write", str(context.cwd / path))], f"remove {path}")


@tool(effects=["write"], prepare=prepare_removal)
def remove(path: str) -> str:
    """Removes a file."""
    return f"removed {path}"


def test_prepare_has_the_arguments_and_a_context_of_its_own() -> None:
    context = ToolContext(session=SessionContext(cwd=Path("/project")))
    assert remove.prepares
    assert remove.prepare({"path": "a"}, context) == Prepared(
        [Access("write", "/project/a")], "remove a"
    )
    assert remove.prepare({"path": "/"}, context) == ToolResult(
        "ERROR: not that one", status="error"
    )


def test_prepare_with_other_parameters_is_refused() -> None:
    def prepare(paths: list[str], context: ToolContext) -> Prepared:
        raise NotImplementedError

    def touch(path: str) -> str:
        raise NotImplementedError

    with pytest.raises(UsageError) as caught:
        tool(prepare=prepare)(touch)
    assert "prepare takes ['paths']" in caught.value.message
    assert "touch takes ['path']" in caught.value.message


# Async tools


def test_async_tool_is_awaited() -> None:
    @tool
    async def slow_add(a: int, b: int, context: ToolContext) -> dict[str, int]:
        await asyncio.sleep(0)
        return {"sum": a + b, "cwd": len(context.cwd.parts)}

    assert slow_add.run({"a": 1, "b": 2}, CONTEXT) == ToolResult('{"sum": 3, "cwd": 0}')


def test_async_tools_share_one_loop_beside_the_callers_threads() -> None:
    @tool
    async def where() -> str:
        return f"{id(asyncio.get_running_loop())} {threading.current_thread().name}"

    first, second = where.run({}, CONTEXT), where.run({}, CONTEXT)
    assert first == second
    assert threading.current_thread().name not in first.text


def test_what_an_async_tool_raises_is_raised() -> None:
    @tool
    async def fail() -> str:
        raise ToolFailure("no such host")

    with pytest.raises(ToolFailure, match="no such host"):
        fail.run({}, CONTEXT)


def test_async_tool_is_cancelled_with_its_call() -> None:
    ended: list[str] = []

    @tool
    async def sleepy() -> None:
        threading.Timer(0.05, cancel.set, ["time limit"]).start()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    cancel = Cancel()
    with pytest.raises(Cancelled, match="time limit"):
        sleepy.run({}, ToolContext(cancel=cancel))
    deadline = time.monotonic() + 20
    while not ended and time.monotonic() < deadline:
        time.sleep(0.005)
    assert ended == ["cancelled"]


def test_async_tool_of_a_cancelled_call_does_not_start() -> None:
    cancel = Cancel()
    cancel.set()

    @tool
    async def sleepy() -> None:
        await asyncio.sleep(60)

    with pytest.raises(Cancelled, match="interrupted"):
        sleepy.run({}, ToolContext(cancel=cancel))


def test_async_tool_that_cancels_itself_says_so() -> None:
    @tool
    async def quitter() -> None:
        raise asyncio.CancelledError

    with pytest.raises(Cancelled, match="the tool cancelled itself"):
        quitter.run({}, CONTEXT)


# Names


def test_tools_are_called_by_their_names_or_by_their_keys() -> None:
    add = adder()
    assert list(named([word_count, remove])) == ["word_count", "remove"]
    by_key = named({"add": add})
    assert (by_key["add"].name, by_key["add"].spec.name) == ("add", "add")
    assert by_key["add"].run({"a": 1, "b": 1}, CONTEXT) == ToolResult("2")


@pytest.mark.parametrize("name", ["", "two words", "x" * 65, "häh", "a.b", "a\n"])
def test_name_that_no_provider_takes_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is no name for a tool") as caught:
        named({name: adder()})
    assert repr(name) in caught.value.message


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="two tools are called 'remove'"):
        named([remove, remove])
