"""Stitches the pieces of tool calls together, as chat-completions servers send them.

The protocol gives each piece an `index`. Servers leave it out, give every call the same, send the
name again with each piece or in pieces, give no id or a new one each time. What is certain here:
pieces of two calls are never joined into one, and a call that is sent twice is one call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .base import Delta, PartNative, PartStart, PartText
from .decoding import CallIds
from .jsontext import as_text, compact, loads

__all__ = ["CallStitcher"]

_CALL_FIELDS = frozenset({"index", "id", "type", "function"})
_FUNCTION_FIELDS = frozenset({"name", "arguments"})
_EMPTY = ("{}", "null")


class _Slot:
    """A call that is being put together."""

    __slots__ = ("empty", "extra", "given_id", "id", "index", "name", "pieces")

    def __init__(self, index: int) -> None:
        self.index = index  # of the part
        self.given_id = ""  # by the server
        self.id = ""
        self.name = ""
        self.pieces: list[str] = []
        self.empty = ""  # `{}` as the first piece: all there is, or a sign that more comes
        self.extra: dict[str, Any] = {}

    @property
    def arguments(self) -> str:
        return "".join(self.pieces) or self.empty

    def is_whole(self) -> bool:
        """Whether the arguments are JSON by now, so nothing more can belong to them."""
        text = self.arguments
        if not text.rstrip().endswith("}"):
            return False
        try:
            loads(text.encode("utf-8", "surrogatepass"))
        except ValueError:
            return False
        return True

    def is_other(self, given_id: str, name: str, arguments: str) -> bool:
        """Whether a piece begins another call, although it comes in this one's place."""
        if not name:
            return False
        renumbered = bool(given_id and self.given_id and given_id != self.given_id)
        if self.empty and not self.pieces and given_id and given_id == self.given_id:
            return False
        if self.is_whole():
            return renumbered or bool(arguments.strip())
        return renumbered and (name != self.name or not self.arguments.strip())

    def is_repeated(self, given_id: str, name: str, arguments: str) -> bool:
        """Whether a piece is this whole call once more."""
        return (
            given_id in (self.given_id, "" if not name else self.given_id)
            and name in (self.name, "")
            and arguments == self.arguments
            and self.is_whole()
        )


class CallStitcher:
    """The tool calls of one reply.

    Parameters:
        new_part: gives the index of a new part.
        ids: gives out ids.
    """

    def __init__(self, new_part: Callable[[], int], ids: CallIds) -> None:
        self._new_part = new_part
        self._ids = ids
        self._slots: list[_Slot] = []
        self._by_index: dict[int | str, _Slot] = {}

    def __bool__(self) -> bool:
        return bool(self._slots)

    def take(self, entries: list[dict[str, Any]], deltas: list[Delta]) -> None:
        """Append what the entries of one `tool_calls` list stand for."""
        for position, entry in enumerate(entries):
            if not entry:
                continue
            function = entry.get("function") or _flat_function(entry)
            given_id = _word(entry.get("id"))
            name = _word(function.get("name"))
            arguments = as_text(function.get("arguments"))
            slot = self._slot(entry.get("index"), given_id, name, arguments, position)
            if slot.is_repeated(given_id, name, arguments):
                continue
            self._identify(slot, given_id, name, deltas)
            if arguments.strip() in _EMPTY and not slot.pieces:
                slot.empty = arguments
            elif arguments:
                slot.pieces.append(arguments)
                deltas.append(PartText(slot.index, arguments))
            _keep_unknown(slot.extra, entry, function)

    def end(self, deltas: list[Delta]) -> None:
        """Append the ids that no server gave, and the fields that only it knows."""
        for slot in self._slots:
            if not slot.id:
                slot.id = self._ids.claim("")
                deltas.append(PartStart(slot.index, "tool_call", slot.id, slot.name))
            if slot.empty and not slot.pieces:
                deltas.append(PartText(slot.index, slot.empty))
            if slot.extra:
                deltas.append(PartNative(slot.index, compact(slot.extra)))

    def _slot(
        self, index: object, given_id: str, name: str, arguments: str, position: int
    ) -> _Slot:
        """The call that a piece belongs to; a new one if it belongs to none."""
        if isinstance(index, str) and index.isdecimal():
            index = int(index)
        if isinstance(index, int | str):
            slot = self._by_index.get(index)
            if slot is not None and not name and given_id not in ("", slot.given_id):
                return self._with_id(given_id, name, arguments) or slot
            if slot is None or self._is_other(slot, given_id, name, arguments):
                slot = self._by_index[index] = self._open()
            return slot
        if given_id:
            return self._with_id(given_id, name, arguments) or self._open()
        last = self._slots[-1] if self._slots else None
        if last is None or (name and (position or name != last.name)):
            return self._open()
        return self._open() if self._is_other(last, given_id, name, arguments) else last

    def _with_id(self, given_id: str, name: str, arguments: str) -> _Slot | None:
        for slot in reversed(self._slots):
            if slot.given_id == given_id:
                return None if self._is_other(slot, given_id, name, arguments) else slot
        return None

    def _is_other(self, slot: _Slot, given_id: str, name: str, arguments: str) -> bool:
        return slot.is_other(given_id, name, arguments) and not slot.is_repeated(
            given_id, name, arguments
        )

    def _open(self) -> _Slot:
        slot = _Slot(self._new_part())
        self._slots.append(slot)
        return slot

    def _identify(self, slot: _Slot, given_id: str, name: str, deltas: list[Delta]) -> None:
        """Give the call its id and name, as far as the piece has them."""
        whole_name = _joined_name(slot.name, name)
        if slot.id and whole_name == slot.name:
            return
        if given_id and not slot.id:
            slot.given_id = given_id
            slot.id = self._ids.claim(given_id)
        slot.name = whole_name
        deltas.append(PartStart(slot.index, "tool_call", slot.id, slot.name))


def _joined_name(before: str, more: str) -> str:
    """A name and what came behind it: a fragment, or the name once more."""
    return more if more.startswith(before) else before + more


def _word(value: object) -> str:
    return str(value) if isinstance(value, str | int) else ""


def _flat_function(entry: dict[str, Any]) -> dict[str, Any]:
    """The function of an entry that has its fields without a `function` around them."""
    return {name: entry.pop(name) for name in _FUNCTION_FIELDS if name in entry}


def _keep_unknown(extra: dict[str, Any], entry: dict[str, Any], function: dict[str, Any]) -> None:
    """Keep the fields that the protocol does not have, such as signatures; the last value wins."""
    extra.update((k, v) for k, v in entry.items() if k not in _CALL_FIELDS and v is not None)
    kind = entry.get("type")
    if kind not in ("function", "", None):
        extra["type"] = kind
    unknown = {k: v for k, v in function.items() if k not in _FUNCTION_FIELDS and v is not None}
    if unknown:
        extra["function"] = {**extra.get("function", {}), **unknown}
