from __future__ import annotations

import dataclasses
import decimal
import enum
import functools
import subprocess
import sys
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping, MutableSequence, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, date, datetime, time
from pathlib import Path, PurePath
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    Literal,
    LiteralString,
    NamedTuple,
    NewType,
    NotRequired,
    Optional,
    Required,
    TypedDict,
    TypeVar,
    Union,
)
from uuid import UUID

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hrns.annotations import section_of
from hrns.context import ToolContext
from hrns.errors import ArgumentFault, UsageError
from hrns.signature import Signature

if TYPE_CHECKING:
    from decimal import Decimal

    from hrns.context import ToolContext as OnlyForTheTypeChecker

T = TypeVar("T")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@attrs.frozen
class Edit:
    """One replacement.

    Attributes:
        oldString: what stands there now
    """

    oldString: str  # noqa: N815 - a name as many models know it
    newString: Annotated[str, "what is to stand there"]  # noqa: N815 - the same
    everywhere: bool = False
    tags: list[str] = attrs.Factory(list)
    _note: str = ""
    seen: int = attrs.field(default=0, init=False)


@dataclasses.dataclass
class Span:
    first: int
    last: int | None = None
    marks: list[int] = dataclasses.field(default_factory=list)
    size: int = dataclasses.field(default=0, init=False)


class Entry(TypedDict):
    name: str
    size: NotRequired[int]


class Loose(TypedDict, total=False):
    name: Required[str]
    size: int


@attrs.frozen
class Narrow:
    width: int = attrs.field(validator=attrs.validators.ge(1))


@attrs.frozen
class Tree:
    children: list[Tree]


@attrs.frozen
class Holder(Generic[T]):
    value: T


class Pair(NamedTuple):
    a: int


UserId = NewType("UserId", int)


def signature_of(annotation: Any, default: Any = ...) -> Signature:
    """The signature of a function with one parameter `it`."""

    def function(it: Any) -> object:
        return it

    function.__annotations__["it"] = annotation
    if default is not ...:
        function.__defaults__ = (default,)
    return Signature.of(function)


def told(annotation: Any, default: Any = ...) -> Any:
    """What a model is told of a parameter."""
    return signature_of(annotation, default).schema["properties"]["it"]


def read(annotation: Any, value: Any) -> Any:
    """The value that the parameter is given; its type counts."""
    return signature_of(annotation).structure({"it": value})["it"]


def faults(annotation: Any, value: Any) -> str:
    """What the model is told of a value that does not fit."""
    with pytest.raises(ArgumentFault) as caught:
        read(annotation, value)
    return str(caught.value)


STRING = {"type": "string"}
INTEGER = {"type": "integer"}
EDIT = {
    "type": "object",
    "description": "One replacement.",
    "properties": {
        "oldString": {"type": "string", "description": "what stands there now"},
        "newString": {"type": "string", "description": "what is to stand there"},
        "everywhere": {"type": "boolean", "default": False},
        "tags": {"type": "array", "items": STRING},
        "note": {"type": "string", "default": ""},
    },
    "required": ["oldString", "newString"],
}

# What a model is told


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, STRING),
        (int, INTEGER),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (object, {}),
        (list, {"type": "array", "items": {}}),
        (list[str], {"type": "array", "items": STRING}),
        (Sequence[int], {"type": "array", "items": INTEGER}),
        (Iterable[int], {"type": "array", "items": INTEGER}),
        (tuple[int, ...], {"type": "array", "items": INTEGER}),
        (tuple, {"type": "array", "items": {}}),
        (tuple[int, int], {"type": "array", "items": INTEGER, "minItems": 2, "maxItems": 2}),
        (
            tuple[int, str],
            {"type": "array", "items": {"anyOf": [INTEGER, STRING]}, "minItems": 2, "maxItems": 2},
        ),
        (set[str], {"type": "array", "items": STRING, "uniqueItems": True}),
        (dict, {"type": "object", "additionalProperties": {}}),
        (dict[str, int], {"type": "object", "additionalProperties": INTEGER}),
        (Mapping[str, Any], {"type": "object", "additionalProperties": {}}),
        (int | None, {"anyOf": [INTEGER, {"type": "null"}]}),
        (Optional[int], {"anyOf": [INTEGER, {"type": "null"}]}),  # noqa: UP045 - people write it
        (Union[int, str], {"anyOf": [INTEGER, STRING]}),  # noqa: UP007 - people write it
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal[1, "a", None, True], {"enum": [1, "a", None, True]}),
        (Colour, {"type": "string", "enum": ["red", "blue"]}),
        (Level, {"enum": [1, 2]}),
        (Path, STRING),
        (datetime, {"type": "string", "format": "date-time"}),
        (date, {"type": "string", "format": "date"}),
        (UserId, INTEGER),
        (Annotated[int, "how many"], {"type": "integer", "description": "how many"}),
        (Annotated[int, 3, "how many"], {"type": "integer", "description": "how many"}),
        (Annotated[int, 3], INTEGER),
        (
            list[Annotated[str, "a tag"]],
            {"type": "array", "items": {"type": "string", "description": "a tag"}},
        ),
        (Edit, EDIT),
        (
            Span,
            {
                "type": "object",
                "properties": {
                    "first": INTEGER,
                    "last": INTEGER,
                    "marks": {"type": "array", "items": INTEGER},
                },
                "required": ["first"],
            },
        ),
        (
            Entry,
            {
                "type": "object",
                "properties": {"name": STRING, "size": INTEGER},
                "required": ["name"],
            },
        ),
        (
            Loose,
            {
                "type": "object",
                "properties": {"name": STRING, "size": INTEGER},
                "required": ["name"],
            },
        ),
    ],
)
def test_annotation_is_told_as_a_schema(annotation: Any, schema: dict[str, Any]) -> None:
    assert told(annotation) == schema


@pytest.mark.parametrize(
    ("annotation", "default", "schema"),
    [
        (str, "a", {"type": "string", "default": "a"}),
        (int, 3, {"type": "integer", "default": 3}),
        (bool, False, {"type": "boolean", "default": False}),
        (list[int], [1], {"type": "array", "items": INTEGER, "default": [1]}),
        (dict[str, int], {}, {"type": "object", "additionalProperties": INTEGER, "default": {}}),
        (Colour, Colour.RED, {"type": "string", "enum": ["red", "blue"], "default": "red"}),
        (int | None, 3, {"anyOf": [INTEGER, {"type": "null"}], "default": 3}),
        # None is what leaving it out means, and said by that.
        (int | None, None, INTEGER),
        (int | str | None, None, {"anyOf": [INTEGER, STRING]}),
        (str, None, STRING),
        (Any, None, {}),
        # JSON has no word for these.
        (Path, Path("a"), STRING),
        (float, float("inf"), {"type": "number"}),
        (tuple[int, ...], (1,), {"type": "array", "items": INTEGER}),
    ],
)
def test_default_makes_optional_and_is_told(
    annotation: Any, default: Any, schema: dict[str, Any]
) -> None:
    signature = signature_of(annotation, default)
    assert signature.schema == {"type": "object", "properties": {"it": schema}}
    assert signature.structure({}) == {}


def test_null_stands_for_what_may_be_left_out() -> None:
    def function(limit: int = 5, span: Span | None = None, any_: Any = 1) -> None:
        raise NotImplementedError

    given = {"limit": None, "span": None, "any_": None}
    assert Signature.of(function).structure(given) == {"span": None, "any_": None}
    assert read(Span, {"first": 1, "last": None, "marks": None}) == Span(1)
    assert faults(Span, {"first": None}) == "an integer is needed, not null @ $.it.first"


def test_only_parameters_without_default_are_required() -> None:
    def function(a: int, b: str = "", *, c: bool, d: int | None = None) -> None:
        raise NotImplementedError

    assert Signature.of(function).schema["required"] == ["a", "c"]


# Words


def documented(path: Annotated[str, "from the annotation"], limit: int = 3, rest: str = "") -> str:
    """Reads a file.

    With more to say:
        of any form.

    Args:
        path: from the docstring
        limit (int): how many lines: at most
            this many, or
            - fewer
        missing: of no parameter

    Returns:
        its text
    """
    return f"{path} {limit} {rest}"


def test_docstring_describes_function_and_parameters() -> None:
    signature = Signature.of(documented)
    assert signature.description == "Reads a file.\n\nWith more to say:\n    of any form."
    assert signature.schema["properties"] == {
        "path": {"type": "string", "description": "from the annotation"},
        "limit": {
            "type": "integer",
            "description": "how many lines: at most this many, or - fewer",
            "default": 3,
        },
        "rest": {"type": "string", "default": ""},
    }


@pytest.mark.parametrize("heading", ["Args", "Arguments", "Attributes", "Parameters"])
def test_section_of_parameters_has_several_names(heading: str) -> None:
    docstring = f"Does.\n\n{heading}:\n    a: one\n    b: two"
    assert section_of(docstring) == ("Does.", {"a": "one", "b": "two"})


@pytest.mark.parametrize(
    ("docstring", "parts"),
    [
        ("", ("", {})),
        ("Does.", ("Does.", {})),
        ("Args:\n  a: one", ("", {"a": "one"})),
        ("Does.\n\nArgs:\n\n  a: one\n\n  b:\n    two\n\nRaises:\n  c: no",
         ("Does.", {"a": "one", "b": "two"})),
        ("Does.\n\nArgs:\n", ("Does.", {})),
        ("Does.\n\nArgs: none", ("Does.\n\nArgs: none", {})),
        ("Does.\n\n    Args:\n      a: one", ("Does.\n\n    Args:\n      a: one", {})),
        ("Does.\n\nArgs:\n  no entry\n  a: one", ("Does.", {"a": "one"})),
    ],
)  # fmt: skip
def test_section_of_parameters_is_found(docstring: str, parts: tuple[str, dict[str, str]]) -> None:
    assert section_of(docstring) == parts


@given(st.text())
def test_any_docstring_can_be_read(docstring: str) -> None:
    description, texts = section_of(docstring)
    assert len(description) + sum(map(len, texts.values())) <= len(docstring)


def test_description_of_a_parameter_goes_before_that_of_its_class() -> None:
    assert told(Annotated[Edit, "the first one"])["description"] == "the first one"


# What is read


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (str, "3", "3"),
        (int, 3, 3),
        (int, 3.0, 3),
        (float, 3, 3),
        (float, 2.5, 2.5),
        (bool, True, True),
        (None, None, None),
        (Any, {"a": [None]}, {"a": [None]}),
        (list, [1, "a"], [1, "a"]),
        (list[int], [1, 2.0], [1, 2]),
        (Sequence[str], ["a"], ["a"]),
        (MutableSequence[str], ["a"], ["a"]),
        (tuple[str, ...], ["a"], ("a",)),
        (tuple[int, str], [1, "a"], (1, "a")),
        (set[int], [1, 2, 1], {1, 2}),
        (frozenset[int], [1], frozenset({1})),
        (AbstractSet[int], [1], frozenset({1})),
        (dict[str, int], {"a": 1.0}, {"a": 1}),
        (int | None, None, None),
        (int | None, 3, 3),
        (int | str, "3", "3"),
        (float | int, 3, 3),
        (list[str] | str, "a", "a"),
        (Literal["a", 1], 1, 1),
        (Colour, "red", Colour.RED),
        (Level, 2, Level.HIGH),
        (Path, "a/b", Path("a/b")),
        (datetime, "2026-01-31T12:00:00Z", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        (date, "2026-01-31", date(2026, 1, 31)),
        (UserId, 3, 3),
        (Annotated[list[Annotated[int, "one"]], "all"], [1], [1]),
        (Edit, {"oldString": "a", "newString": "b"}, Edit("a", "b")),
        (
            Edit,
            {"oldString": "a", "newString": "b", "note": "n", "tags": ["x"]},
            Edit("a", "b", tags=["x"], note="n"),
        ),
        (list[Span], [{"first": 1}, {"first": 1, "last": 2.0}], [Span(1), Span(1, 2)]),
        (Entry, {"name": "a"}, {"name": "a"}),
        (Loose, {"name": "a", "size": 1}, {"name": "a", "size": 1}),
        (Edit | Span, {"first": 1}, Span(1)),
        (Edit | None, None, None),
        (UUID, str(UUID(int=1)), UUID(int=1)),
        (decimal.Decimal, "1.50", decimal.Decimal("1.50")),
        (time, "12:30:00", time(12, 30)),
        (PurePath, "a/b", PurePath("a/b")),
        (LiteralString, "a", "a"),
        (Literal[Colour.RED], "red", Colour.RED),
        (deque[int], [1], deque([1])),
        (OrderedDict[str, int], {"b": 1}, OrderedDict(b=1)),
        (dict[int, str], {"1": "a"}, {1: "a"}),
        (dict[Colour, int], {"red": 1}, {Colour.RED: 1}),
        (dict[Literal["a", "b"], int], {"a": 1}, {"a": 1}),
    ],
)
def test_value_is_read_as_its_annotation_says(annotation: Any, value: Any, expected: Any) -> None:
    found = read(annotation, value)
    assert (found, type(found)) == (expected, type(expected))


ITSELF = ": send the value itself, not a string that holds it"


@pytest.mark.parametrize(
    ("annotation", "value", "fault"),
    [
        (str, ["a"], 'a string is needed, not ["a"] @ $.it'),
        (str, None, "a string is needed, not null @ $.it"),
        (str, 3, "a string is needed, not 3 @ $.it"),
        (int, "3", f'an integer is needed, not "3"{ITSELF} @ $.it'),
        (int, "three", 'an integer is needed, not "three" @ $.it'),
        (int, True, "an integer is needed, not true @ $.it"),
        (int, 2.5, "an integer is needed, not 2.5 @ $.it"),
        (float, "2.5", f'a number is needed, not "2.5"{ITSELF} @ $.it'),
        (float, False, "a number is needed, not false @ $.it"),
        (bool, 1, "true or false is needed, not 1 @ $.it"),
        (bool, "true", f'true or false is needed, not "true"{ITSELF} @ $.it'),
        (None, 0, "null is needed, not 0 @ $.it"),
        (list[int], "[1]", f'a list is needed, not "[1]"{ITSELF} @ $.it'),
        (list[int], {"0": 1}, 'a list is needed, not {"0": 1} @ $.it'),
        (
            list[int],
            ["1", 2, None],
            (
                f'an integer is needed, not "1"{ITSELF} @ $.it[0]; '
                "an integer is needed, not null @ $.it[2]"
            ),
        ),
        (dict[str, int], "{}", f'an object is needed, not "{{}}"{ITSELF} @ $.it'),
        (dict[str, int], {"a b": "x"}, 'an integer is needed, not "x" @ $.it["a b"]'),
        (tuple[int, str], [1], "a list of 2 is needed, not [1] @ $.it"),
        (tuple[int, str], [1, 2], "a string is needed, not 2 @ $.it[1]"),
        (set[dict[str, int]], [{}], "unhashable type: 'dict' @ $.it"),
        (int | None, "x", 'an integer or null is needed, not "x" @ $.it'),
        (Literal["a", 1], True, 'one of "a", 1 is needed, not true @ $.it'),
        (Literal["a"], ["a"], 'one of "a" is needed, not ["a"] @ $.it'),
        (UUID, "x", 'a UUID is needed, not "x" @ $.it'),
        (decimal.Decimal, "x", 'a decimal number in a string is needed, not "x" @ $.it'),
        (dict[int, str], {"a": "b"}, 'a whole number as the name is needed, not "a" @ $.it.a'),
        (Colour, "RED", 'one of "red", "blue" is needed, not "RED" @ $.it'),
        (Path, 3, "a path is needed, not 3 @ $.it"),
        (
            datetime,
            "tomorrow",
            'a date and time such as 2026-01-31T12:00:00Z is needed, not "tomorrow" @ $.it',
        ),
        (date, "31.1.", 'a date such as 2026-01-31 is needed, not "31.1." @ $.it'),
        (Edit, "a", 'an object is needed, not "a" @ $.it'),
        (Edit, {"oldString": "a"}, "required field missing @ $.it.newString"),
        (
            list[Edit],
            [{"oldString": "a", "newStrng": "b"}, 3],
            (
                'unknown field; did you mean "newString"? '
                "(the fields are: oldString, newString, everywhere, tags, note) "
                "@ $.it[0].newStrng; required field missing @ $.it[0].newString; "
                "an object is needed, not 3 @ $.it[1]"
            ),
        ),
        (Edit | None, {"oldString": "a"}, "required field missing @ $.it.newString"),
        (Narrow, {"width": 0}, "'width' must be >= 1: 0 @ $.it"),
        (str, ["x" * 100], f'a string is needed, not ["{"x" * 58}... @ $.it'),
    ],
)
def test_fault_is_told_with_its_path(annotation: Any, value: Any, fault: str) -> None:
    assert faults(annotation, value) == fault


def test_every_fault_is_told_at_once() -> None:
    with pytest.raises(ArgumentFault) as caught:
        Signature.of(documented).structure({"limit": "3", "rest": 1, "pth": "a"})
    assert str(caught.value).split("; ") == [
        f'an integer is needed, not "3"{ITSELF} @ $.limit',
        "a string is needed, not 1 @ $.rest",
        "unknown field",
        'did you mean "path"? (the fields are: path, limit, rest) @ $.pth',
        "required field missing @ $.path",
    ]


def test_faults_without_end_are_counted() -> None:
    text = faults(list[int], ["x"] * 1000)
    assert text.count(" @ ") == 10
    assert text.endswith('not "x" @ $.it[9]; and 990 more faults')


def test_unknown_field_of_a_function_without_parameters_is_refused() -> None:
    def now() -> str:
        raise NotImplementedError

    signature = Signature.of(now)
    assert signature.schema == {"type": "object", "properties": {}}
    with pytest.raises(ArgumentFault, match=r"unknown field \(the fields are: none\) @ \$\.zone"):
        signature.structure({"zone": "UTC"})


# Calls


def test_call_passes_what_was_read_and_leaves_out_what_was_not() -> None:
    signature = Signature.of(documented)
    arguments = signature.structure({"path": "a", "limit": 7.0})
    assert signature.call(arguments, ToolContext()) == "a 7 "


def test_structure_takes_any_mapping_and_changes_nothing() -> None:
    given = {"limit": 7.0, "path": "a"}
    assert Signature.of(documented).structure(given) == {"limit": 7, "path": "a"}
    assert given == {"limit": 7.0, "path": "a"}


def plain(a: int, context: ToolContext) -> object:
    return a, context


def maybe(a: int, context: ToolContext | None = None) -> object:
    return a, context


def keyword(a: int, *, context: Annotated[ToolContext, "hidden"]) -> object:
    return a, context


def old_style(context: Optional[ToolContext], a: int) -> object:  # noqa: UP045 - people write it
    return a, context


async def awaitable(a: int, context: ToolContext) -> object:
    return a, context


class Bound:
    def method(self, a: int, context: ToolContext) -> object:
        return a, context

    def __call__(self, a: int, context: ToolContext) -> object:
        """Calls the object."""
        return a, context


@functools.wraps(plain)
def wrapper(*args: Any, **kwargs: Any) -> object:
    return plain(*args, **kwargs)


def other(a: int, more: int, context: ToolContext) -> object:
    return a + more, context


@pytest.mark.parametrize(
    "function", [plain, maybe, keyword, old_style, Bound().method, Bound(), wrapper]
)
def test_context_is_filled_in_whatever_the_function(function: Callable[..., object]) -> None:
    signature = Signature.of(function)
    assert signature.schema == {
        "type": "object",
        "properties": {"a": INTEGER},
        "required": ["a"],
    }
    context = ToolContext("7")
    assert signature.call(signature.structure({"a": 1}), context) == (1, context)
    with pytest.raises(ArgumentFault, match="unknown field"):
        signature.structure({"a": 1, "context": None})


def test_callable_object_is_described_by_its_call() -> None:
    assert Signature.of(Bound()).description == "Calls the object."


def test_partial_keeps_the_rest_of_the_parameters() -> None:
    signature = Signature.of(functools.partial(other, 1))
    assert signature.schema["properties"] == {"more": INTEGER}
    context = ToolContext()
    assert signature.call({"more": 2}, context) == (3, context)


def test_async_function_gives_an_awaitable() -> None:
    coroutine: Any = Signature.of(awaitable).call({"a": 1}, ToolContext())
    with pytest.raises(StopIteration):
        coroutine.send(None)


def test_context_that_only_the_type_checker_imports_is_found() -> None:
    namespace: dict[str, Any] = {}
    source = "from __future__ import annotations\ndef f(a: int, c: ToolContext) -> Nowhere: ..."
    exec(source, namespace)  # noqa: S102 - a module that lacks the import
    assert list(Signature.of(namespace["f"]).schema["properties"]) == ["a"]


# Misuse


def no_annotation(path) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001, RUF100
    raise NotImplementedError


def any_number(*paths: str) -> None:
    raise NotImplementedError


def any_names(**options: str) -> None:
    raise NotImplementedError


def by_position(path: str, /) -> None:
    raise NotImplementedError


class Box:
    def method(self, path: str) -> None:
        raise NotImplementedError


def out_of_reach(price: Decimal) -> None:
    raise NotImplementedError


def other_name(context: OnlyForTheTypeChecker) -> None:
    raise NotImplementedError


@pytest.mark.parametrize(
    ("function", "message", "hint"),
    [
        (
            no_annotation,
            "no_annotation: the parameter 'path' has no annotation",
            "Write what it takes, such as `path: str`",
        ),
        (any_number, "any_number: the parameter 'paths' takes any number of values", "names"),
        (any_names, "any_names: the parameter 'options' takes any names", "names"),
        (
            Box.method,
            "Box.method: the parameter 'self' is the object of a method",
            "Decorate a function, or make the tool of the bound method: `tool(obj.method)`.",
        ),
        (by_position, "by_position: the parameter 'path' cannot be passed by name", "names"),
        (
            out_of_reach,
            (
                "out_of_reach: the parameter 'price' has an annotation that cannot be "
                "resolved: name 'Decimal' is not defined"
            ),
            "TYPE_CHECKING",
        ),
        (
            other_name,
            (
                "other_name: the parameter 'context' has an annotation that "
                "cannot be resolved: name 'OnlyForTheTypeChecker' is not defined"
            ),
            "TYPE_CHECKING",
        ),
    ],
)
def test_function_that_is_no_tool_is_refused(
    function: Callable[..., object], message: str, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        Signature.of(function)
    assert caught.value.message == message
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        (complex, "JSON has no word for complex"),
        (bytes, "JSON has no word for bytes"),
        (Callable[[], int], "JSON has no word for"),
        (Pair, "JSON has no word for Pair"),
        (T, "JSON has no word for ~T"),
        (Holder[int], "JSON has no word for"),
        (list[complex], "JSON has no word for complex"),
        (dict[bool, str], "dict[bool, str] has keys that are no strings"),
        (Literal[b"a"], "has values that are no strings, numbers or booleans"),
        (enum.Enum("Odd", {"A": (1, 2)}), "has values that are no strings, numbers or booleans"),
        (Tree, "Tree.children: Tree holds itself, so its schema would have no end"),
        (Holder, "Holder.value: JSON has no word for ~T"),
        ([int], "[<class 'int'>]"),
    ],
)
def test_annotation_that_json_cannot_say_is_refused(annotation: Any, reason: str) -> None:
    with pytest.raises(UsageError) as caught:
        signature_of(annotation)
    assert reason in caught.value.message
    assert "the parameter 'it'" in caught.value.message
    assert caught.value.hint


# Properties

ANNOTATIONS = st.recursive(
    st.sampled_from([str, int, float, bool, Any, Colour, Level, Path, date, Edit, Span, Entry]),
    lambda inner: st.one_of(
        inner.map(lambda each: list[each]),  # type: ignore[valid-type]
        inner.map(lambda each: dict[str, each]),  # type: ignore[valid-type]
        inner.map(lambda each: tuple[each, int]),  # type: ignore[valid-type]
        inner.map(lambda each: each | None),
    ),
    max_leaves=3,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["first", "name", "x y"]), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=100)
@given(ANNOTATIONS, JSON)
def test_any_value_is_read_or_refused_with_words(annotation: Any, value: Any) -> None:
    try:
        read(annotation, value)
    except ArgumentFault as fault:
        assert " @ $.it" in str(fault)  # noqa: PT017 - a refusal is one of two right outcomes


@settings(max_examples=100)
@given(st.lists(st.builds(Span, st.integers(), st.none() | st.integers())))
def test_nested_values_survive_json(spans: list[Span]) -> None:
    given = [{"first": span.first, "last": span.last, "marks": span.marks} for span in spans]
    assert read(list[Span], given) == spans


# Start-up


def test_tools_are_made_without_cattrs_or_asyncio() -> None:
    code = """
import sys
from hrns.tools import tool
@tool
def add(a: int, b: int = 2) -> int:
    return a + b
add.structure({"a": 1})
sys.exit(sorted({"cattrs", "asyncio", "difflib", "click", "httpx"} & set(sys.modules)) or 0)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
