"""JSON <-> values: the journal, logs, `--output-format`.

How values stand in JSON:

- a chunk is `{"type": ..., its fields}`, a part and a display likewise, a message has `role`;
  usage, origin and tool result are known by their place and have neither;
- names are those of the classes; bytes are base64; tuples are lists;
- a field is left out if it holds its default and that is None or ""; every other field is there;
- who reads ignores fields that it does not know, keeps a chunk of a type that it does not know as
  `Unknown`, which is written back as it was, and leaves out a display that it does not know.

Writing goes by a table of fields, for it happens at every delta; reading goes through cattrs,
which is imported for the first thing that is read.
"""

from __future__ import annotations

import functools
import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, Union, cast, get_args, get_origin

import attrs
from attrs import frozen

from .chunks import Chunk, Unknown
from .errors import SerialError
from .messages import (
    AssistantMessage,
    Diff,
    Image,
    Message,
    Opaque,
    Origin,
    Reasoning,
    SystemMessage,
    Terminal,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
)
from .tools import sound_text

if TYPE_CHECKING:
    from cattrs import Converter

__all__ = [
    "chunk_schema",
    "dumps",
    "loads_chunk",
    "loads_message",
    "read_chunk",
    "read_message",
    "to_json",
]

_CHUNKS = tuple(kind for kind in get_args(Chunk) if kind is not Unknown)

_TAGS: dict[type, tuple[str, str]] = {
    **{kind: ("type", kind.type) for kind in _CHUNKS},
    Text: ("type", "text"),
    Reasoning: ("type", "reasoning"),
    ToolCall: ("type", "tool_call"),
    Image: ("type", "image"),
    Opaque: ("type", "opaque"),
    Diff: ("type", "diff"),
    Terminal: ("type", "terminal"),
    SystemMessage: ("role", "system"),
    UserMessage: ("role", "user"),
    AssistantMessage: ("role", "assistant"),
    ToolMessage: ("role", "tool"),
}
_UNTAGGED = (Usage, Origin, ToolResult)

_SHOWN_CHARACTERS = 1000

_encode = json.JSONEncoder(ensure_ascii=False).encode

T = TypeVar("T")


# Writing


@frozen
class _Plan:
    """How a class is written: its tag, and of each field its name and what it is left out for."""

    tag: Mapping[str, str]
    fields: tuple[tuple[str, object], ...]


_ALWAYS_THERE = object()


def _plan(kind: Any) -> _Plan:
    return _Plan(
        dict([_TAGS[kind]] if kind in _TAGS else []),
        tuple(
            (each.name, each.default if each.default in (None, "") else _ALWAYS_THERE)
            for each in attrs.fields(kind)
        ),
    )


_PLANS = {kind: _plan(kind) for kind in (*_TAGS, *_UNTAGGED)}


def to_json(value: Chunk | Message | ToolResult | Usage | Origin) -> dict[str, Any]:
    """A value as plain JSON values."""
    data: dict[str, Any] = _plain(value)
    return data


def dumps(value: object) -> str:
    """A value, or JSON with values in it, as one line of JSON without lone surrogates.

    The line is not ASCII and may hold U+2028: a line ends at a line feed alone.
    """
    return sound_text(_encode(_plain(value)))


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind is str or value is None:
        return value
    if plan := _PLANS.get(kind):
        return _fields(plan, value)
    if kind is tuple or kind is list:
        return [_plain(each) for each in value]
    if kind is bytes:
        return b64encode(value).decode()
    if kind is Unknown:
        return {**value.data, "type": value.type}
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return value


def _fields(plan: _Plan, value: Any) -> dict[str, Any]:
    data: dict[str, Any] = dict(plan.tag)
    for name, left_out_for in plan.fields:
        item = getattr(value, name)
        if item != left_out_for:
            data[name] = item if type(item) is str else _plain(item)
    return data


# Reading


def read_chunk(data: object) -> Chunk:
    """The chunk that JSON values stand for; `Unknown` if its type is not known.

    Raises:
        SerialError: they are no chunk; the message says where they are wrong.
    """
    return _read(data, cast("type[Chunk]", Chunk), "chunk")


def read_message(data: object) -> Message:
    """The message that JSON values stand for.

    Raises:
        SerialError: they are no message; the message says where they are wrong.
    """
    return _read(data, cast("type[Message]", Message), "message")


def loads_chunk(text: str | bytes) -> Chunk:
    """The chunk in a line of JSON; raises as `read_chunk` does."""
    return read_chunk(_loads(text, "chunk"))


def loads_message(text: str | bytes) -> Message:
    """The message in a line of JSON; raises as `read_message` does."""
    return read_message(_loads(text, "message"))


def _loads(text: str | bytes, what: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SerialError(f"a {what} cannot be read: {error}") from error


def _read(data: object, kind: type[T], what: str) -> T:
    try:
        return _converter().structure(data, kind)
    except Exception as error:  # whatever a hook of cattrs raises, it is about the data
        from cattrs import transform_error

        faults = "; ".join(transform_error(error, format_exception=_in_words))
        shown = faults if len(faults) <= _SHOWN_CHARACTERS else f"{faults[:_SHOWN_CHARACTERS]}..."
        raise SerialError(f"a {what} cannot be read: {shown}") from error


def _in_words(error: BaseException, _kind: type | None) -> str:
    return "required field missing" if isinstance(error, KeyError) else str(error)


@functools.cache
def _converter() -> Converter:
    """The converter, strict: cattrs would make the text "None" of a null."""
    from cattrs import Converter

    converter = Converter()
    converter.register_structure_hook(str, _exactly("text", str))
    converter.register_structure_hook(int, _exactly("an integer", int))
    converter.register_structure_hook(float, _exactly("a number", float, int))
    converter.register_structure_hook(bytes, _read_bytes)
    converter.register_structure_hook_factory(_is_list, lambda kind: _read_list(converter, kind))
    converter.register_structure_hook_factory(
        _PLANS.__contains__, lambda kind: _read_record(converter, kind)
    )
    converter.register_structure_hook_factory(
        _is_tagged_union, lambda kind: _read_tagged(converter, kind)
    )
    return converter


_Hook: TypeAlias = Callable[[Any, Any], Any]


def _exactly(what: str, *kinds: type) -> _Hook:
    def read(value: Any, _kind: Any) -> Any:
        if type(value) in kinds:
            return value
        raise _needed(what, value)

    return read


def _needed(what: str, value: object) -> TypeError:
    return TypeError(f"{what} is needed, not {value!r:.60}")


def _read_bytes(value: Any, _kind: Any) -> bytes:
    if not isinstance(value, str):
        raise _needed("base64 text", value)
    return b64decode(value, validate=True)


def _is_list(kind: Any) -> bool:
    return get_origin(kind) is tuple


def _read_list(converter: Converter, kind: Any) -> _Hook:
    """As cattrs reads a list, but from a list alone: it would take a string or an object too."""
    as_list: Any = list.__class_getitem__(get_args(kind)[0])

    def read(value: Any, _kind: Any) -> Any:
        if not isinstance(value, list):
            raise _needed("a list", value)
        return tuple(converter.structure(value, as_list))

    return read


def _read_record(converter: Converter, kind: Any) -> _Hook:
    from cattrs.gen import make_dict_structure_fn

    read_fields = make_dict_structure_fn(kind, converter)

    def read(value: Any, kind: Any) -> Any:
        if not isinstance(value, dict):
            raise _needed("an object", value)
        return read_fields(value, kind)

    return read


def _is_tagged_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType) and any(each in _TAGS for each in get_args(kind))


def _read_tagged(converter: Converter, union: Any) -> _Hook:
    """The class of the union that the tag names. One that may be absent is so if it is unknown."""
    kinds = {_TAGS[kind]: kind for kind in get_args(union) if kind in _TAGS}
    key = next(iter(kinds))[0]
    may_be_absent = NoneType in get_args(union)

    def read(value: Any, _union: Any) -> Any:
        if value is None and may_be_absent:
            return None
        if not isinstance(value, dict):
            raise _needed("an object", value)
        tag = value.get(key)
        if not isinstance(tag, str):
            raise _needed(f"text as {key}", tag)
        if kind := kinds.get((key, tag)):
            return converter.structure(value, kind)
        if Unknown in get_args(union):
            return Unknown(tag, value)
        if may_be_absent:
            return None
        raise ValueError(f"{key} {tag!r} is not known")

    return read


def chunk_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of each line of `--output-format stream-json`."""
    from .schemas import shipped_schema

    return shipped_schema("chunks")
