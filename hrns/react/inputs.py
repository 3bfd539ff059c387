"""The input of an action: where it ends in a text, and the JSON that it stands for.

A model writes JSON, JSON with raw line breaks in its strings, or a Python literal. All three say
exactly one thing, so all three are taken, and the last two become JSON. Anything else stays the
text that it is: nothing is mended by guessing.
"""

from __future__ import annotations

import json
import re
import warnings
from ast import literal_eval
from collections.abc import Container, Mapping
from math import isfinite
from typing import Any

__all__ = [
    "Brackets",
    "answer_in",
    "as_json",
    "call_in",
    "looks_like_call",
    "resolve",
    "split_action",
    "unwrapped",
]

_OUTSIDE = re.compile(r"[{}\[\]()\"']")
_INSIDE = {quote: re.compile(rf"[{quote}\\]") for quote in "\"'"}
_RAW_LINES = json.JSONDecoder(strict=False)

_HALF = re.compile("[\ud800-\udfff]")
_MARK = re.compile(r"[(:]|(?:^|\s)\{")
_LABELLED_INPUT = re.compile(
    r"([^\"'{(\[]*[^\"'{(\[\s])\s+action[ _-]?input\s*\d*\s*[:\uff1a]\s*(.*)",
    re.IGNORECASE | re.DOTALL,
)
_SQUARE = re.compile(r"([\w.-]+)\[(.*)\]", re.DOTALL)
_MADE_UP = re.compile(r"\s*(\S+)\s+observation\s*\d*\s*[:\uff1a]", re.IGNORECASE)
_CALL_KEY = re.compile(
    r"[\"'](tool(_call)?s?|tool_name|action([ _]input)?|function(_call)?)[\"']\s*:"
    r"|[\"']name[\"']\s*:\s*[\"'][^\"']*[\"']\s*,\s*[\"'](arguments|parameters)[\"']\s*:"
    r"|^[^\w\n]{0,8}\d{0,3}[^\w\n]{0,8}action[ _-]?input[^\w\n]{0,8}:"
    r"|\A\s*(<(function|tool|invoke)\b|<(function|tool)_|\[TOOL_CALLS\])",
    re.IGNORECASE | re.MULTILINE,
)
_QUOTES = " `*_\"'[]<>."
_WRAPPERS = ("tool_call", "function_call", "function", "action", "tool")
_NAMES = ("action", "tool", "tool_name", "name", "function")
_INPUTS = ("action_input", "tool_input", "input", "arguments", "args", "parameters")


class Brackets:
    """Finds where the bracket at the head of a text is closed, brackets in strings ignored.

    Attributes:
        in_string: whether the text so far ends inside a string.
    """

    __slots__ = ("_depth", "_quote", "_seen", "_skip", "in_string")

    def __init__(self) -> None:
        self._depth = 0
        self._quote = ""
        self._seen = 0
        self._skip = 0  # characters of the next text that a backslash has taken
        self.in_string = False

    def feed(self, text: str) -> int | None:
        """The offset behind the closing bracket, from the head of the whole text, once it came."""
        at, self._skip = self._skip, 0
        while match := (_INSIDE[self._quote] if self._quote else _OUTSIDE).search(text, at):
            at = match.end()
            mark = match[0]
            if mark == "\\":
                at += 1
            elif mark in "\"'":
                self._quote = "" if self._quote else mark
            else:
                self._depth += 1 if mark in "{[(" else -1
                if self._depth <= 0:
                    return self._seen + at
        self._skip = max(0, at - len(text))
        self._seen += len(text)
        self.in_string = bool(self._quote)
        return None


def as_json(text: str) -> str | None:
    """The object or list that a text stands for, as JSON text; None if it is none.

    JSON is given back as it is written; a string with raw line breaks in it, and a Python literal,
    are written anew.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _rewritten(text)
    return text if isinstance(value, dict | list) else None


def _rewritten(text: str) -> str | None:
    """JSON with raw line breaks in strings, or a Python literal, as JSON; None if it is neither."""
    for read in (_RAW_LINES.decode, _literal):
        try:
            value = read(text)
            if isinstance(value, dict | list) and _has_only_json(value):
                return _written(value)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue
    return None


def _written(value: Any) -> str:
    """The value as JSON; half characters are escaped, so that two of them are one character."""
    text = json.dumps(value, ensure_ascii=False)
    return json.dumps(value) if _HALF.search(text) else text


def _literal(text: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "\d" is two characters: no news for anybody here
        return literal_eval(text)


def _has_only_json(value: Any) -> bool:
    """Whether nothing is lost when a Python value is written as JSON.

    Tuples, keys that are no strings, and numbers that JSON does not have, are lost.
    """
    if isinstance(value, float):
        return isfinite(value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _has_only_json(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_has_only_json, value))
    return value is None or isinstance(value, str | int | bool)


def split_action(text: str) -> tuple[str, str]:
    """Tool and input of an action on one line: `tool(input)`, `tool: input`, `tool {...}`, `tool`.

    A bracket stays at the head of the input: who reads on finds where it closes. An observation
    that was made up behind the bare name of a tool is no input.
    """
    if made_up := _MADE_UP.match(text):
        return made_up[1], ""
    text = text.strip()
    for form in (_LABELLED_INPUT, _SQUARE):
        if match := form.fullmatch(text):
            return match[1], match[2]
    mark = _MARK.search(text)
    if mark is None:
        return text, ""
    if mark[0] == ":":
        return text[: mark.start()].strip(), text[mark.end() :].strip()
    return text[: mark.end() - 1].strip(), text[mark.end() - 1 :]


def unwrapped(text: str) -> str:
    """What stands between the parentheses that a text begins with."""
    end = Brackets().feed(text)
    inner = text[1:].strip().removesuffix(")") if end is None else text[1 : end - 1]
    return inner.strip()


def call_in(value: Any) -> tuple[str, str] | None:
    """Tool and input that a JSON object names, in any of the shapes in the wild; None if none.

    ::

        {"action": "grep", "action_input": {"pattern": "x"}}
        {"tool_call": {"name": "grep", "arguments": {"pattern": "x"}}}
    """
    if not isinstance(value, Mapping):
        return None
    value = {_plain_key(key): item for key, item in value.items()}
    for key in _WRAPPERS:
        inner = value.get(key)
        if isinstance(inner, Mapping) and (found := call_in({**value, **inner, key: None})):
            return found
    key = next((key for key in _NAMES if isinstance(value.get(key), str)), "")
    given = [value[each] for each in _INPUTS if value.get(each) is not None]
    alone = len(value) == 1 and key != "name"
    if not key or not value[key].strip() or not (given or alone):
        return None
    return value[key].strip(), _input_text(given[0]) if given else ""


def answer_in(value: Any) -> str:
    """The answer that a JSON object gives under its name, or ""."""
    if not isinstance(value, Mapping):
        return ""
    named = {_plain_key(key): item for key, item in value.items()}
    answer = named.get("final_answer")
    return _input_text(answer) if answer else ""


def _plain_key(key: Any) -> Any:
    """A key such as `Action Input` as it is written most."""
    return re.sub("[ -]", "_", key).lower() if isinstance(key, str) else key


def _input_text(given: Any) -> str:
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def looks_like_call(text: str) -> bool:
    """Whether a text seems to be meant as a call in JSON."""
    return _CALL_KEY.search(text) is not None


def resolve(name: str, names: Container[str]) -> str:
    """The tool that a name means: itself, or without quotes and empty parentheses around it."""
    if name in names:
        return name
    bare = name.strip(_QUOTES).removesuffix("()").strip(_QUOTES)
    return bare if bare in names else name
