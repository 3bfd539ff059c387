"""What callers and guests gave, looked at where it was given: no surprise later in a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, get_args

import attrs

from .errors import UsageError
from .messages import Message

__all__ = [
    "callables_of",
    "is_provider",
    "messages_of",
    "name_of",
    "of_kind",
    "shown",
    "wrong_field",
]

_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "str": lambda value: isinstance(value, str),
    "int": lambda value: isinstance(value, int),
    "bool": lambda value: isinstance(value, bool),
    "frozenset": lambda value: isinstance(value, frozenset),
    "Mapping": lambda value: isinstance(value, Mapping),
    "Callable": callable,
}

T = TypeVar("T")


def shown(value: object) -> str:
    """A value for an error message: cut to a sane length, whatever its `repr` does."""
    try:
        return f"{value!r:.80}"
    except Exception:  # noqa: BLE001 - a guest's object; something is wrong with it already
        return f"a {type(value).__name__}"


def name_of(function: object) -> str:
    """What a guest's callable is called, for an error message."""
    return str(getattr(function, "__qualname__", None) or shown(function))


def wrong_field(record: Any) -> str:
    """The first field of an attrs record whose value is not of its plain type, or ""."""
    for field in attrs.fields(type(record)):
        is_sound = _KINDS.get(str(field.type).partition("[")[0], _anything)
        if not is_sound(getattr(record, field.name)):
            return str(field.name)
    return ""


def _anything(_value: object) -> bool:
    return True


def is_provider(given: object) -> bool:
    """Whether requests can be put to this: it has what `hrns.providers.base.Provider` has."""
    return callable(getattr(given, "reply", None)) and all(
        isinstance(getattr(given, name, None), str) for name in ("api", "endpoint")
    )


def of_kind(kind: type[T], name: str, given: object) -> T:
    """What was given, if it is of its kind.

    Raises:
        UsageError: it is not.
    """
    if isinstance(given, kind):
        return given
    raise UsageError(f"{name} must be a {kind.__name__}, not {shown(given)}")


def callables_of(name: str, given: object) -> tuple[Callable[..., Any], ...]:
    """The callables in what was given.

    Raises:
        UsageError: it is no iterable of callables.
    """
    functions = tuple(given) if isinstance(given, Iterable) else (None,)
    if all(map(callable, functions)):
        return functions
    raise UsageError(f"{name}: a list of functions is needed, not {shown(given)}")


def messages_of(given: object) -> tuple[Message, ...]:
    """The messages in what was given.

    Raises:
        UsageError: there is none, or something else.
    """
    hint = 'Give a list such as [UserMessage("hello")].'
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise UsageError(f"messages are needed, not {shown(given)}", hint=hint)
    messages = tuple(given)
    if not messages:
        raise UsageError("there is no message to answer", hint=hint)
    for message in messages:
        if not isinstance(message, get_args(Message)):
            raise UsageError(f"{shown(message)} is no message", hint=hint)
    return messages
