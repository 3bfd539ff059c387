"""What a Python annotation means in JSON: annotation -> `Shape`.

::

    str int float bool None Any              themselves
    list[T] tuple[T, ...] set[T] Sequence[T] a list
    tuple[A, B]                              a list of two
    dict[K, T] Mapping[K, T]                 an object; K is read from a string, or an int
    X | Y, Optional[X]                       the first that takes the value
    Literal[...], an Enum                    one of its values
    Path, datetime, date, time, UUID,        a string
    Decimal, PurePath
    attrs class, dataclass, TypedDict        an object with its fields
    Annotated[T, "text"]                     T with a description
"""

from __future__ import annotations

import collections
import collections.abc
import dataclasses
import inspect
import math
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, time
from enum import Enum
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, LiteralString, TypeAlias, Union, get_args, get_origin

import attrs
from attrs import evolve, frozen

from . import shapes
from .shapes import Field, Shape

__all__ = ["REQUIRED", "Inexpressible", "field_of", "section_of", "shape_of"]

REQUIRED = object()
"""In place of a default: there is none."""

_SOME_DEFAULT = object()
"""In place of a default that only a call makes, such as that of a factory."""

_SECTION = re.compile(r"^(?:Args|Arguments|Attributes|Parameters):[ \t]*$", re.MULTILINE)
_ENTRY = re.compile(r"(\w+)(?: *\([^)]*\))?:\s*(.*)")

_Around: TypeAlias = tuple[type, ...]
"""The classes around an annotation: one that holds itself has a schema without end."""


class Inexpressible(Exception):
    """JSON has no word for an annotation; the message says for which, and where it stands."""


def shape_of(annotation: Any, around: tuple[type, ...] = ()) -> Shape:
    """The shape of an annotation, which is resolved: no string.

    Parameters:
        around: the classes that it stands in, outermost first.

    Raises:
        Inexpressible: JSON has no word for it.
    """
    for make in (_simple, _named, _choice, _union, _list, _mapping, _record):
        if (shape := make(annotation, around)) is not None:
            return shape
    name = getattr(annotation, "__qualname__", None) or repr(annotation)
    raise Inexpressible(f"JSON has no word for {name}")


def field_of(
    name: str, annotation: Any, default: Any, text: str = "", around: tuple[type, ...] = ()
) -> Field:
    """A parameter or a field as JSON sees it.

    One that is None when it is left out is not told to be nullable (though None is taken): to
    leave it out says the same, and not every server takes a union.

    Parameters:
        default: its default, or `REQUIRED`. Shown if JSON can say it.
        text: what the docstring says of it; an `Annotated` text goes before.
        around: as `shape_of` has it.

    Raises:
        Inexpressible: JSON has no word for the annotation.
    """
    shape = shape_of(annotation, around)
    if default is None:
        shape = evolve(shape, schema=_without_null(shape.schema))
    if text := _note_of(annotation) or text:
        shape = shape.noted(description=text)
    if isinstance(default, Enum):
        default = default.value
    if _is_shown(default):
        shape = shape.noted(default=default)
    return Field(name, shape, required=default is REQUIRED)


def section_of(docstring: str) -> tuple[str, dict[str, str]]:
    """A clean docstring in two: the text before its section of parameters, and what that says.

    The section is headed `Parameters:`, `Args:`, `Arguments:` or `Attributes:`. Its entries are
    `name: text` or `name (type): text`, indented; they go on in lines that are indented deeper.
    """
    heading = _SECTION.search(docstring)
    if heading is None:
        return docstring.strip(), {}
    body = re.split(r"^\S", docstring[heading.end() :], maxsplit=1, flags=re.MULTILINE)[0]
    entries: dict[str, list[str]] = {}
    for line in inspect.cleandoc(f"\n{body}").splitlines():
        if entry := _ENTRY.match(line):
            entries[entry[1]] = [entry[2]]
        elif entries:
            entries[next(reversed(entries))].append(line.strip())
    texts = {name: " ".join(lines).strip() for name, lines in entries.items()}
    return docstring[: heading.start()].strip(), texts


def _note_of(annotation: Any) -> str:
    """The text in `Annotated[T, "text"]`, or ""."""
    if get_origin(annotation) is not Annotated:
        return ""
    return next((note for note in annotation.__metadata__ if isinstance(note, str)), "")


def _without_null(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of a union without null; any other as it is."""
    if "anyOf" not in schema:
        return schema
    kept = [each for each in schema["anyOf"] if each != shapes.NOTHING.schema]
    others = {name: value for name, value in schema.items() if name != "anyOf"}
    return {**kept[0], **others} if len(kept) == 1 else {**others, "anyOf": kept}


def _is_shown(default: Any) -> bool:
    """Whether a default is JSON, and says more than that the field may be left out."""
    if isinstance(default, list):
        return all(_is_shown(each) for each in default)
    if isinstance(default, dict):
        return all(isinstance(key, str) and _is_shown(each) for key, each in default.items())
    return isinstance(default, str | bool | int) or (
        isinstance(default, float) and math.isfinite(default)
    )


def _uuid(text: str) -> Any:
    from uuid import UUID  # this module is read at each start, and few tools need this one

    return UUID(text)


def _decimal(text: str) -> Any:
    from decimal import Decimal, InvalidOperation

    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise ValueError(text) from error


_SIMPLE: dict[Any, Shape] = {
    str: shapes.STRING,
    LiteralString: shapes.STRING,
    int: shapes.INTEGER,
    float: shapes.NUMBER,
    bool: shapes.BOOLEAN,
    None: shapes.NOTHING,
    type(None): shapes.NOTHING,
    Any: shapes.ANYTHING,
    object: shapes.ANYTHING,
    Path: shapes.parsed(Path, "a path"),
    PurePath: shapes.parsed(PurePath, "a path"),
    datetime: shapes.parsed(
        datetime.fromisoformat, "a date and time such as 2026-01-31T12:00:00Z", format="date-time"
    ),
    date: shapes.parsed(date.fromisoformat, "a date such as 2026-01-31", format="date"),
    time: shapes.parsed(time.fromisoformat, "a time such as 12:00:00", format="time"),
}
_NAMED_SIMPLE = {
    ("uuid", "UUID"): shapes.parsed(_uuid, "a UUID", format="uuid"),
    ("decimal", "Decimal"): shapes.parsed(_decimal, "a decimal number in a string"),
}
"""By module and name: whoever annotates with one of these has imported its module, not we."""


def _simple(annotation: Any, _around: _Around) -> Shape | None:
    try:
        return _SIMPLE.get(annotation) or _NAMED_SIMPLE.get(
            (getattr(annotation, "__module__", ""), getattr(annotation, "__qualname__", ""))
        )
    except TypeError as error:  # not hashable, as every type is
        raise Inexpressible(f"{annotation!r} is no type that JSON has a word for") from error


def _named(annotation: Any, around: _Around) -> Shape | None:
    """`Annotated[T, "text"]`, `NotRequired[T]`, `NewType("N", T)`, `type N = T`: as T."""
    if get_origin(annotation) in (Annotated, typing.Required, typing.NotRequired):
        shape = shape_of(get_args(annotation)[0], around)
        text = _note_of(annotation)
        return shape.noted(description=text) if text else shape
    if isinstance(annotation, typing.NewType):
        return shape_of(annotation.__supertype__, around)
    if type(annotation).__name__ == "TypeAliasType":  # in `typing` from Python 3.12 on
        return shape_of(annotation.__value__, around)
    return None


def _choice(annotation: Any, _around: _Around) -> Shape | None:
    if get_origin(annotation) is Literal:
        given = get_args(annotation)
        members = [(each.value if isinstance(each, Enum) else each, each) for each in given]
    elif isinstance(annotation, type) and issubclass(annotation, Enum):
        members = [(member.value, member) for member in annotation]
    else:
        return None
    if not all(value is None or type(value) in (str, int, float, bool) for value, _ in members):
        raise Inexpressible(f"{annotation} has values that are no strings, numbers or booleans")
    return shapes.choice(members)


def _union(annotation: Any, around: _Around) -> Shape | None:
    if get_origin(annotation) not in (Union, types.UnionType):
        return None
    return shapes.either([shape_of(each, around) for each in get_args(annotation)])


_COLLECTIONS: dict[Any, type] = {
    list: list,
    tuple: tuple,
    set: set,
    frozenset: frozenset,
    collections.abc.Sequence: list,
    collections.abc.MutableSequence: list,
    collections.abc.Iterable: list,
    collections.abc.Collection: list,
    collections.abc.Set: frozenset,
    collections.abc.MutableSet: set,
    collections.deque: collections.deque,
}
_MAPPINGS: dict[Any, Callable[[dict[Any, Any]], Any]] = {
    dict: dict,
    collections.abc.Mapping: dict,
    collections.abc.MutableMapping: dict,
    collections.OrderedDict: collections.OrderedDict,
}
_NUMBER_KEY = shapes.parsed(int, "a whole number as the name")


def _list(annotation: Any, around: _Around) -> Shape | None:
    build = _COLLECTIONS.get(get_origin(annotation) or annotation)
    if build is None:
        return None
    items = [each for each in get_args(annotation) if each is not Ellipsis]
    if build is tuple and items and Ellipsis not in get_args(annotation):
        return shapes.fixed_list_of([shape_of(each, around) for each in items])
    item = shape_of(items[0], around) if items else shapes.ANYTHING
    if build in (set, frozenset):
        return shapes.list_of(item, build, uniqueItems=True)
    return shapes.list_of(item, build)


def _mapping(annotation: Any, around: _Around) -> Shape | None:
    build = _MAPPINGS.get(get_origin(annotation) or annotation)
    if build is None:
        return None
    key, item = get_args(annotation) or (str, Any)
    if key in (str, Any):
        return shapes.mapping_of(shape_of(item, around), build)
    named = _NUMBER_KEY if key is int else shape_of(key, around)
    if named.schema.get("type") != "string":
        raise Inexpressible(f"{annotation} has keys that are no strings")
    return shapes.mapping_of(shape_of(item, around), build, named)


def _record(annotation: Any, around: _Around) -> Shape | None:
    declared = _declared(annotation) if isinstance(annotation, type) else None
    if declared is None:
        return None
    name = annotation.__qualname__
    if annotation in around:
        raise Inexpressible(f"{name} holds itself, so its schema would have no end")
    summary, texts = section_of(_docstring(annotation))
    hints = _hints(annotation)
    fields = []
    for each in declared:
        text = texts.get(each.attribute, "")
        try:
            fields.append(
                field_of(
                    each.name, hints[each.attribute], each.default, text, (*around, annotation)
                )
            )
        except Inexpressible as error:
            raise Inexpressible(f"{name}.{each.attribute}: {error}") from None
    shape = shapes.record_of(fields, lambda values: annotation(**values))
    return shape.noted(description=summary) if summary else shape


@frozen
class _Declared:
    """A field as its class declares it; `name` is what its class and JSON call it."""

    attribute: str
    name: str
    default: Any


def _declared(owner: Any) -> list[_Declared] | None:
    """The fields of a class, or None if it is no record."""
    if hasattr(owner, "__required_keys__"):
        return list(_typed_dict_fields(owner))
    if attrs.has(owner):
        return list(_attrs_fields(owner))
    if dataclasses.is_dataclass(owner):
        return list(_dataclass_fields(owner))
    return None


def _attrs_fields(owner: Any) -> Iterator[_Declared]:
    for each in attrs.fields(owner):
        if each.init:
            default = REQUIRED if each.default is attrs.NOTHING else each.default
            yield _Declared(each.name, each.alias, default)


def _dataclass_fields(owner: Any) -> Iterator[_Declared]:
    for each in dataclasses.fields(owner):
        if each.init:
            made = each.default_factory is not dataclasses.MISSING
            default = _SOME_DEFAULT if made else each.default
            yield _Declared(
                each.name, each.name, REQUIRED if default is dataclasses.MISSING else default
            )


def _typed_dict_fields(owner: Any) -> Iterator[_Declared]:
    for name, hint in _hints(owner).items():
        # `__required_keys__` cannot see a marker in an annotation that was a string.
        marker = get_origin(hint)
        unmarked = marker not in (typing.Required, typing.NotRequired)
        required = name in owner.__required_keys__ if unmarked else marker is typing.Required
        yield _Declared(name, name, REQUIRED if required else _SOME_DEFAULT)


def _hints(owner: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(owner, include_extras=True)
    except NameError as error:
        raise Inexpressible(f"an annotation of {owner.__qualname__}: {error}") from error


def _docstring(owner: type) -> str:
    """The class's own docstring, unless it is the signature that `dataclass` puts there."""
    docstring = owner.__dict__.get("__doc__") or ""
    return "" if docstring.startswith(f"{owner.__name__}(") else inspect.cleandoc(docstring)
