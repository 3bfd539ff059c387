"""Folds the deltas of a provider into one assistant message.

Theory of operation: a provider numbers the parts of its reply; parts may be built side by side.
A `Fold` keeps one growing part an index, in the order in which the indices first came. `add` takes
a delta and gives the chunk that shows it, if anything is to be shown; `message` gives the whole at
any time, so an interrupted reply can be kept as far as it was shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from .chunks import MessageChunk, ReasoningChunk
from .messages import (
    AssistantMessage,
    Opaque,
    Origin,
    Part,
    Reasoning,
    Stop,
    Text,
    ToolCall,
    Usage,
)
from .providers.base import (
    Delta,
    Finish,
    PartKind,
    PartNative,
    PartStart,
    PartText,
    ProviderNotice,
)

__all__ = ["Fold", "fold"]


class _Growing:
    """A part that is being built."""

    __slots__ = ("id", "kind", "name", "native", "pieces")

    def __init__(self, kind: PartKind) -> None:
        self.kind = kind
        self.id = ""
        self.name = ""
        self.native: str | None = None
        self.pieces: list[str] = []

    def part(self) -> Part | None:
        """The part as it stands, or None if there is nothing in it."""
        text = "".join(self.pieces)
        match self.kind:
            case "text":
                return Text(text) if text else None
            case "reasoning":
                return Reasoning(text, self.native) if text or self.native else None
            case "tool_call":
                return ToolCall(self.id, _tool_name(self.name), text, self.native)
            case "opaque":
                return Opaque(self.native) if self.native else None


def _tool_name(name: str) -> str:
    """The name of a tool without what some models put around it.

    That is a special token behind it (`read_file<|channel|>commentary`), and `functions.` before.
    """
    return name.removeprefix("functions.").partition("<|")[0].strip() or name


class Fold:
    """One reply that is being read."""

    def __init__(self, origin: Origin | None = None) -> None:
        self._origin = origin
        self._parts: dict[int, _Growing] = {}
        self.usage: Usage | None = None
        self.stop: Stop | None = None
        self.shown = False
        """Whether a chunk was given for anything so far."""

    def add(self, delta: Delta) -> MessageChunk | ReasoningChunk | None:
        """Take a delta; returns the chunk that shows it, or None if nobody needs to see it."""
        kind = type(delta)
        if kind is PartText:
            return self._add_text(delta)  # type: ignore[arg-type]  # `kind` says so
        if kind is PartStart:
            self._start(delta)  # type: ignore[arg-type]
        elif not _is_sound(delta):
            raise TypeError(f"{delta!r:.200} is no delta")
        elif kind is PartNative:
            self._part(delta.index, "opaque").native = delta.native  # type: ignore[union-attr]
        elif kind is Usage:
            self.usage = delta  # type: ignore[assignment]
        elif kind is Finish:
            self.stop = delta.reason  # type: ignore[union-attr]
        return None

    def _part(self, index: int, kind: PartKind) -> _Growing:
        part = self._parts.get(index)
        if part is None:
            part = self._parts[index] = _Growing(kind)
        return part

    def _start(self, start: PartStart) -> None:
        if not all(isinstance(word, str) for word in (start.id, start.name)):
            raise TypeError(f"{start!r:.200} is no delta")
        part = self._part(start.index, start.kind)
        part.id = start.id or part.id
        part.name = start.name or part.name

    def _add_text(self, delta: PartText) -> MessageChunk | ReasoningChunk | None:
        part = self._parts.get(delta.index)
        if part is None:
            part = self._part(delta.index, "text")
        part.pieces.append(delta.text)
        if part.kind == "text":
            self.shown = True
            return MessageChunk(delta.text)
        if part.kind == "reasoning":
            self.shown = True
            return ReasoningChunk(delta.text)
        return None

    def message(self) -> AssistantMessage:
        """The whole message.

        A reply with calls stops for `tool_calls` whatever the provider says of its end, unless it
        was cut off: it is the calls that drive the loop.
        """
        parts = [part for growing in self._parts.values() if (part := growing.part())]
        stop = self.stop or "interrupted"
        if stop == "done" and any(isinstance(part, ToolCall) for part in parts):
            stop = "tool_calls"
        return AssistantMessage(parts, self._origin, stop, self.usage)

    def interrupted(self) -> AssistantMessage | None:
        """What was shown so far, without its calls; None if that is nothing.

        Reasoning that its provider has not signed yet stays text for people: no native form.
        """
        parts = [
            part
            for growing in self._parts.values()
            if growing.kind != "tool_call" and (part := growing.part())
        ]
        if not any(isinstance(part, Text) and part.text.strip() for part in parts):
            return None
        return AssistantMessage(parts, self._origin, "interrupted", self.usage)


def _is_sound(delta: Delta) -> bool:
    """Whether a delta other than text has the values that it should: a guest may have made it."""
    match delta:
        case PartNative(_, native):
            return isinstance(native, str)
        case Usage(a, b, c, d, e):
            return all(isinstance(count, int) for count in (a, b, c, d, e))
        case Finish(reason):
            return reason in get_args(Stop)
        case ProviderNotice(text):
            return isinstance(text, str)
        case _:
            return False


def fold(deltas: Iterable[Delta], origin: Origin | None = None) -> AssistantMessage:
    """The message that a whole sequence of deltas stands for."""
    growing = Fold(origin)
    for delta in deltas:
        growing.add(delta)
    return growing.message()
