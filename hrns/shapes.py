"""Shapes: what a JSON value must look like, told as a JSON Schema and read strictly.

Schema and reader stand side by side, so what a model is told and what is taken cannot drift apart.
Reading is strict, for a tool runs with what the model meant or not at all: `"3"` is no number and
`"[1]"` is no list. The one leeway is JSON's own, which has a single kind of number: `3.0` is an
integer. A value that does not fit raises `Misfit` with every fault and where it lies; the path
costs nothing while all is well, because only a fault on its way out gathers it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from attrs import evolve, frozen

from .errors import ArgumentFault
from .nearest import nearest

__all__ = [
    "ANYTHING",
    "BOOLEAN",
    "INTEGER",
    "NOTHING",
    "NUMBER",
    "STRING",
    "Fault",
    "Field",
    "Misfit",
    "Shape",
    "choice",
    "either",
    "fixed_list_of",
    "list_of",
    "mapping_of",
    "parsed",
    "record_of",
    "shape_of_type",
    "structure",
]

_SHOWN_CHARACTERS = 60
_SHOWN_FAULTS = 10
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


@frozen
class Fault:
    """One thing that is wrong with a value. `path` leads from the value to it, such as `[0].x`."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.message} @ ${self.path}"


class Misfit(Exception):
    """A value does not fit its shape; `faults` says why."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = faults

    def below(self, step: str) -> Iterator[Fault]:
        """The faults as whoever holds the value sees them; `step` leads to the value."""
        return (Fault(step + fault.path, fault.message) for fault in self.faults)


Reader: TypeAlias = Callable[[Any], Any]


@frozen(eq=False)
class Shape:
    """What is expected.

    Parameters:
        schema: as a JSON Schema.
        read: gives the Python value of a JSON value; raises `Misfit`.
        needs: in words that follow "is needed": `a string`.
    """

    schema: Mapping[str, Any]
    read: Reader
    needs: str

    def noted(self, **keywords: Any) -> Shape:
        """The same with keywords of JSON Schema added, such as `description`."""
        return evolve(self, schema={**self.schema, **keywords})


@frozen(eq=False)
class Field:
    """A field of a record, or a parameter of a function."""

    name: str
    shape: Shape
    required: bool = True


def structure(shape: Shape, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of a call as the shape of a record reads them.

    Raises:
        ArgumentFault: they do not fit; the message tells the model every fault and its place.
    """
    try:
        values: Mapping[str, Any] = shape.read(dict(arguments))
    except Misfit as misfit:
        faults = [str(fault) for fault in misfit.faults]
        if more := len(faults[_SHOWN_FAULTS:]):
            faults[_SHOWN_FAULTS:] = [f"and {more} more faults"]
        raise ArgumentFault("; ".join(faults)) from None
    return values


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."


def _misfit(needs: str, value: Any) -> Misfit:
    hint = ": send the value itself, not a string that holds it" if _holds_json(value) else ""
    return Misfit(Fault("", f"{needs} is needed, not {_shown(value)}{hint}"))


def _holds_json(value: Any) -> bool:
    """Whether a string holds a number, a boolean, a list or an object."""
    if not isinstance(value, str):
        return False
    try:
        held = json.loads(value)
    except (ValueError, RecursionError):
        return False
    return held is not None and not isinstance(held, str)


def _read_string(value: Any) -> Any:
    if type(value) is str:
        return value
    raise _misfit("a string", value)


def _read_integer(value: Any) -> Any:
    if type(value) is int:  # a bool is an int for Python, not for JSON
        return value
    if type(value) is float and value.is_integer():
        return int(value)
    raise _misfit("an integer", value)


def _read_number(value: Any) -> Any:
    if type(value) is float or type(value) is int:
        return value
    raise _misfit("a number", value)


def _read_boolean(value: Any) -> Any:
    if type(value) is bool:
        return value
    raise _misfit("true or false", value)


def _read_null(value: Any) -> Any:
    if value is None:
        return None
    raise _misfit("null", value)


def _read_list(value: Any) -> Any:
    if isinstance(value, list):
        return value
    raise _misfit("a list", value)


def _read_object(value: Any) -> Any:
    if isinstance(value, dict):
        return value
    raise _misfit("an object", value)


ANYTHING = Shape({}, lambda value: value, "anything")
STRING = Shape({"type": "string"}, _read_string, "a string")
INTEGER = Shape({"type": "integer"}, _read_integer, "an integer")
NUMBER = Shape({"type": "number"}, _read_number, "a number")
BOOLEAN = Shape({"type": "boolean"}, _read_boolean, "true or false")
NOTHING = Shape({"type": "null"}, _read_null, "null")

_BY_TYPE = {shape.schema["type"]: shape for shape in (STRING, INTEGER, NUMBER, BOOLEAN, NOTHING)}
_BY_TYPE["array"] = Shape({"type": "array"}, _read_list, "a list")
_BY_TYPE["object"] = Shape({"type": "object"}, _read_object, "an object")


def shape_of_type(name: str) -> Shape:
    """The shape of a JSON Schema type, such as `string`; a word that is none takes anything."""
    return _BY_TYPE.get(name) or ANYTHING.noted(type=name)


def choice(members: Sequence[tuple[Any, Any]]) -> Shape:
    """One of some strings, numbers, booleans or null; each stands for the member beside it."""
    values = [value for value, _ in members]
    needs = f"one of {', '.join(map(_shown, values))}"
    # True == 1, so the type is part of the key.
    by_value = {(type(value), value): member for value, member in members}

    def read(value: Any) -> Any:
        if isinstance(value, list | dict) or (type(value), value) not in by_value:
            raise _misfit(needs, value)
        return by_value[type(value), value]

    schema: dict[str, Any] = {"enum": values}
    if all(isinstance(value, str) for value in values):
        schema = {"type": "string", **schema}
    return Shape(schema, read, needs)


def parsed(parse: Callable[[str], Any], needs: str, **keywords: Any) -> Shape:
    """What is written as a string and read by `parse`, which raises ValueError.

    Parameters:
        keywords: more of the JSON Schema, such as `format`.
    """

    def read(value: Any) -> Any:
        if isinstance(value, str):
            try:
                return parse(value)
            except ValueError:
                pass
        raise _misfit(needs, value)

    return Shape({"type": "string", **keywords}, read, needs)


def either(shapes: Sequence[Shape]) -> Shape:
    """The first of the shapes that takes the value."""
    needs = " or ".join(dict.fromkeys(shape.needs for shape in shapes))

    def read(value: Any) -> Any:
        misfits = []
        for shape in shapes:
            try:
                return shape.read(value)
            except Misfit as misfit:
                misfits.append(misfit)
        # A shape that looked inside the value knows better what is wrong with it.
        for looked_inside in misfits:
            if any(fault.path for fault in looked_inside.faults):
                raise looked_inside
        raise _misfit(needs, value)

    return Shape({"anyOf": [shape.schema for shape in shapes]}, read, needs)


def list_of(item: Shape, build: Callable[[list[Any]], Any], **keywords: Any) -> Shape:
    """A list of any length.

    Parameters:
        build: makes the collection of its items, such as `set`.
        keywords: more of the JSON Schema, such as `uniqueItems`.
    """
    read_item = item.read

    def read(value: Any) -> Any:
        items = enumerate(_read_list(value))
        return _built(build, _read_all((index, read_item, each) for index, each in items))

    return Shape({"type": "array", "items": item.schema, **keywords}, read, "a list")


def fixed_list_of(items: Sequence[Shape]) -> Shape:
    """A list of just these, as a tuple. Its schema tells a union of them: servers take that."""
    count = len(items)
    needs = f"a list of {count}"
    schemas = [shape.schema for shape in items]
    distinct = [schema for index, schema in enumerate(schemas) if schema not in schemas[:index]]

    def read(value: Any) -> Any:
        if not isinstance(value, list) or len(value) != count:
            raise _misfit(needs, value)
        parts = zip(range(count), items, value, strict=True)
        return tuple(_read_all((index, shape.read, each) for index, shape, each in parts))

    return Shape(
        {
            "type": "array",
            "items": distinct[0] if len(distinct) == 1 else {"anyOf": distinct},
            "minItems": count,
            "maxItems": count,
        },
        read,
        needs,
    )


def mapping_of(
    item: Shape, build: Callable[[dict[Any, Any]], Any] = dict, name: Shape = STRING
) -> Shape:
    """An object with any keys, as a dict.

    Parameters:
        build: makes another mapping of the dict.
        name: the shape of the keys. The schema does not tell it: few servers take that.
    """
    read_item = item.read

    def read(value: Any) -> Any:
        items = _read_object(value).items()
        names = _read_all((key, name.read, key) for key, _ in items)
        values = _read_all((key, read_item, each) for key, each in items)
        return build(dict(zip(names, values, strict=True)))

    schema = {"type": "object", "additionalProperties": item.schema}
    return Shape(schema, read, "an object")


def record_of(fields: Iterable[Field], build: Callable[[dict[str, Any]], Any]) -> Shape:
    """An object with these fields and no others.

    One that may be left out and is null, and takes no null, is left out: servers that hold a model
    to the schema have it write every field (OpenAI, "Structured Outputs": optional parameters).

    Parameters:
        build: makes the value of those that are given; what it raises is told as a fault.
    """
    by_name = {field.name: field for field in fields}
    readers = {field.name: field.shape.read for field in by_name.values()}
    required = [field.name for field in by_name.values() if field.required]
    optional = by_name.keys() - required

    def read(value: Any) -> Any:
        values: dict[str, Any] = {}
        faults: list[Fault] = []
        for name, item in _read_object(value).items():
            try:
                values[name] = (readers.get(name) or _no_field(name, readers))(item)
            except Misfit as misfit:
                if item is not None or name not in optional:
                    faults += misfit.below(_step(name))
        for name in required:
            if name not in value:
                faults.append(Fault(_step(name), "required field missing"))
        if faults:
            raise Misfit(*faults)
        return _built(build, values)

    schema = {
        "type": "object",
        "properties": {name: field.shape.schema for name, field in by_name.items()},
        **({"required": required} if required else {}),
    }
    return Shape(schema, read, "an object")


def _no_field(name: str, readers: Mapping[str, Reader]) -> Reader:
    """The reader of a field that is not there: it tells which are."""
    near = nearest(name, readers)
    guess = f'; did you mean "{near[0]}"?' if near else ""
    message = f"unknown field{guess} (the fields are: {', '.join(readers) or 'none'})"

    def read(_value: Any) -> Any:
        raise Misfit(Fault("", message))

    return read


def _read_all(parts: Iterable[tuple[str | int, Reader, Any]]) -> list[Any]:
    """The values of (key, reader, JSON value); raises `Misfit` with the faults of all of them."""
    values: list[Any] = []
    faults: list[Fault] = []
    for key, read, value in parts:
        try:
            values.append(read(value))
        except Misfit as misfit:
            faults += misfit.below(_step(key))
    if faults:
        raise Misfit(*faults)
    return values


def _step(key: str | int) -> str:
    if isinstance(key, str) and _PLAIN_KEY.fullmatch(key):
        return f".{key}"
    return f"[{json.dumps(key)}]"


def _built(build: Callable[[Any], Any], parts: Any) -> Any:
    try:
        return build(parts)
    except Exception as error:  # a guest's validator: what it says is for the model
        raise Misfit(Fault("", str(error) or type(error).__name__)) from error
