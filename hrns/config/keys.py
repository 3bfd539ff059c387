"""Key paths: `providers.home.url`, `permissions.allow[2]`, `providers."my box".model`.

What a path leads to is read, set and unset in the JSON document; nothing here touches a file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import ConfigError

if TYPE_CHECKING:
    from .save import Change

__all__ = [
    "KeyPath",
    "get_value",
    "parse_key_path",
    "set_value",
    "spell_key_path",
    "unset_value",
]

KeyPath: TypeAlias = tuple[str | int, ...]
"""Names of fields, and indexes into lists."""

_STEP = re.compile(
    r"""\.?(?: (?P<name>[^.\[\]"]+)
        | (?P<open>\[)? (?P<quoted>"(?:[^"\\]|\\.)*") (?(open)\])
        | \[(?P<index>\d+)\] )""",
    re.VERBOSE,
)


def parse_key_path(text: str) -> KeyPath:
    """The key path that a text stands for; it may begin with `$.`, as in error messages.

    Raises:
        ConfigError: it stands for none.
    """
    steps: list[str | int] = []
    rest = text.removeprefix("$")
    while rest:
        match = _STEP.match(rest)
        if match is None:
            raise ConfigError(
                f"{text!r} is not a key path",
                hint='Write providers.home.url, permissions.allow[0] or providers."my box".model.',
            )
        steps.append(_step(match))
        rest = rest[match.end() :]
    return tuple(steps)


def _step(match: re.Match[str]) -> str | int:
    if match["index"]:
        return int(match["index"])
    return str(json.loads(match["quoted"], strict=False)) if match["quoted"] else match["name"]


def spell_key_path(key_path: Sequence[str | int]) -> str:
    """A key path for people: `$.providers.home.url`, `$.permissions.allow[2]`, `$["a b"]`."""
    return "$" + "".join(map(_spell_step, key_path))


def _spell_step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if step and step.replace("-", "_").isidentifier():
        return f".{step}"
    return f"[{json.dumps(step, ensure_ascii=False)}]"


def get_value(document: Any, key_path: KeyPath) -> Any:
    """What a key path leads to in a document.

    Raises:
        ConfigError: nothing is there.
    """
    value = document
    for number, step in enumerate(key_path):
        if not _has(value, step):
            raise _missing(value, key_path[: number + 1])
        value = value[step]
    return value


def set_value(key_path: KeyPath, value: object) -> Change:
    """Sets what a key path leads to; objects on the way are made, an index may append to a list.

    Raises, when it is made to a document:
        ConfigError: the way leads through something that is no object, or past a list's end.
    """

    def change(document: dict[str, Any]) -> None:
        parent: Any = document
        for number, step in enumerate(key_path[:-1], start=1):
            if isinstance(parent, dict) and isinstance(step, str) and parent.get(step) is None:
                parent[step] = [] if isinstance(key_path[number], int) else {}
            parent = get_value(document, key_path[:number])
        _put(parent, value, key_path)

    return change


def unset_value(key_path: KeyPath) -> Change:
    """Takes out what a key path leads to.

    Raises, when it is made to a document:
        ConfigError: nothing is there.
    """

    def change(document: dict[str, Any]) -> None:
        get_value(document, key_path)
        if not key_path:
            raise ConfigError("the whole document cannot be unset")
        del get_value(document, key_path[:-1])[key_path[-1]]

    return change


def _has(value: Any, step: str | int) -> bool:
    if isinstance(step, int):
        return isinstance(value, list) and step < len(value)
    return isinstance(value, Mapping) and step in value


def _put(parent: Any, value: object, key_path: KeyPath) -> None:
    step = key_path[-1] if key_path else 0
    if isinstance(parent, list) and step == len(parent):
        parent.append(value)
    elif _has(parent, step) or (isinstance(parent, dict) and isinstance(step, str)):
        parent[step] = value
    else:
        raise ConfigError(f"nothing can be set at {spell_key_path(key_path)}")


def _missing(value: Any, key_path: KeyPath) -> ConfigError:
    names = ", ".join(value) if isinstance(value, Mapping) else ""
    hint = f"There is: {names}." if names else ""
    return ConfigError(f"there is nothing at {spell_key_path(key_path)}", hint=hint)
