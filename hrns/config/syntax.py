"""Text to JSON document, and back to the place of a fault: what, where, what to try.

Python's own reader says `Expecting value: line 3 column 5`. People write comments, trailing
commas and single quotes; they are told so, with the place.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import ConfigError

__all__ = ["decode_text", "line_and_column", "offset_of", "parse_document"]

_SPACE = re.compile(r"[ \t\r\n]*")
_TEXT_OR_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|NaN|-?Infinity|-?\d[\d.eE+-]*')

# What stands where the reader stopped: a pattern, what is wrong, what to try.
_FAULTS = tuple(
    (re.compile(pattern), message, hint)
    for pattern, message, hint in (
        (r"//|/\*|#", "a comment", "JSON has no comments: take it out."),
        (
            r"['`\u2018-\u201d]",
            "the wrong quotes",
            'Names and texts stand in double quotes: "like this".',
        ),
        (r"(True|False|None)\b", "a word of Python", "JSON writes true, false and null."),
        (r"[A-Za-z_][\w-]*\s*:", "a name without quotes", 'Write it in double quotes: "name".'),
    )
)
# The reader's own words, by how they begin: what is wrong, what to try.
_MESSAGES = (
    ("Expecting ',' delimiter", "a comma or a closing bracket is missing before this", ""),
    ("Expecting ':' delimiter", "a colon is missing before this", ""),
    ("Extra data", "something follows the end of the document", "Take out what is left over."),
    ("Unterminated string", "a text that is not closed", "Add the double quote at its end."),
    (
        "Invalid control",
        "a line break or tab inside a text",
        "Write \\n or \\t, or close the text.",
    ),
    ("Invalid \\", "a backslash that escapes nothing", "A backslash in a text is written \\\\."),
)


def decode_text(data: bytes, path: Path) -> str:
    """The text of a file in UTF-8, or in UTF-16 or UTF-32, with or without a byte order mark.

    Raises:
        ConfigError: it is in none of them.
    """
    try:
        return data.decode(json.detect_encoding(data))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            "not UTF-8 text", hint="Save the file as UTF-8.", path=path, line=line
        ) from error


def parse_document(text: str, path: Path) -> dict[str, Any]:
    """The JSON object in a text.

    Raises:
        ConfigError: it is no JSON, no object, or says one name twice in one object.
    """
    if not text.strip():
        hint = "Write {} into it, or delete it."
        raise ConfigError("the file is empty", hint=hint, path=path)
    try:
        document = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite
        )
    except json.JSONDecodeError as error:
        raise _error_at(text, path, *_explain(error)) from None
    except _Constant as error:
        raise _constant_error(error.name, text, path) from None
    except _Repeated as error:
        raise _repeated_error(error.name, text, path) from None
    except RecursionError as error:
        raise ConfigError("nested too deeply", path=path) from error
    except ValueError as error:  # a number of thousands of digits, which Python refuses to read
        raise ConfigError(str(error).partition(";")[0], path=path) from error
    if not isinstance(document, dict):
        hint = 'Write {"providers": {...}}.'
        raise ConfigError("the file is not a JSON object", hint=hint, path=path, line=1, column=1)
    return document


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Where an offset lies, both from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def offset_of(text: str, key_path: Sequence[str | int]) -> int:
    """Where the value at a key path begins in a valid document; the deepest that is there."""
    at = _skip(text, 0)
    for key in key_path:
        children = dict(_children(text, at)) if text[at] in "{[" else {}
        if key not in children:
            break
        at = children[key]
    return at


class _Repeated(Exception):
    """A name stands twice in one object; the first value would be lost."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class _Constant(Exception):
    """Python's reader takes NaN and the infinities, also for 1e400; JSON does not have them."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for name, value in pairs:
        if name in document:
            raise _Repeated(name)
        document[name] = value
    return document


def _no_constant(name: str) -> None:
    raise _Constant(name)


def _finite(spelled: str) -> float:
    number = float(spelled)
    if math.isinf(number):  # it would be written back as Infinity
        raise _Constant(spelled)
    return number


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _children(text: str, at: int) -> Iterator[tuple[str | int, int]]:
    """The keys of the object or array at an offset, and where their values begin."""
    decode = json.JSONDecoder().raw_decode
    is_object = text[at] == "{"
    at = _skip(text, at + 1)
    index = 0
    while text[at] not in "}]":
        key: str | int = index
        if is_object:
            key, at = decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        yield key, at
        at = _skip(text, decode(text, at)[1])
        if text[at] == ",":
            at = _skip(text, at + 1)
        index += 1


def _error_at(text: str, path: Path, offset: int, message: str, hint: str) -> ConfigError:
    line, column = line_and_column(text, offset)
    return ConfigError(message, hint=hint, path=path, line=line, column=column)


def _constant_error(name: str, text: str, path: Path) -> ConfigError:
    found = (match for match in _TEXT_OR_CONSTANT.finditer(text) if match[0] == name)
    is_number = name.removeprefix("-")[:1].isdigit()
    message = f"{name} is too large" if is_number else f"{name} is not JSON"
    return _error_at(text, path, next(found).start(), message, "Write a number.")


def _repeated_error(name: str, text: str, path: Path) -> ConfigError:
    # The reader tells no place here; the second mention is it, unless another object has it too.
    spelled = re.escape(json.dumps(name, ensure_ascii=False))
    mentions = [match.start() for match in re.finditer(rf"{spelled}\s*:", text)]
    message = f"the name {name!r} is written twice in one object"
    return _error_at(text, path, (mentions or [0])[:2][-1], message, "Take one of the two out.")


def _explain(error: json.JSONDecodeError) -> tuple[int, str, str]:
    """Where the document is off, what is wrong, and what to try."""
    text = error.doc
    # A line break inside a text is the fault itself, elsewhere it only stands before it.
    offset = error.pos if error.msg.startswith("Invalid control") else _skip(text, error.pos)
    before = text[:offset].rstrip()
    rest = text[offset:]
    if rest.startswith(",") and text[_skip(text, offset + 1) :].startswith(("}", "]")):
        return offset, "a trailing comma", "Take the comma out."
    if before.endswith(",") and rest.startswith(("}", "]")):
        return len(before) - 1, "a trailing comma", "Take the comma out."
    if not rest:
        return len(before), "the file ends too early", "A closing bracket is missing."
    for pattern, message, hint in _FAULTS:
        if pattern.match(rest):
            return offset, message, hint
    for beginning, message, hint in _MESSAGES:
        if error.msg.startswith(beginning):
            return offset, message, hint
    return offset, "this is not JSON", "A name or a value is expected here."
