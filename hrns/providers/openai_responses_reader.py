"""Reads replies of OpenAI's Responses protocol.

A reply is a list of items; each becomes a part, when it is announced or first written to. What the
stream of deltas left out is taken from the whole items that come at their ends, and from the whole
response that comes last: some servers send only those.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from ..errors import BrokenStream, ServerFault
from ..messages import Stop, Usage
from .base import Delta, Finish, PartKind, PartNative, PartStart, PartText
from .decoding import CallIds, EventDecoder, HalfCharacters, is_end_mark, no_reply
from .faults import fault, read_report
from .jsontext import as_text, compact, loads
from .openai_chat_reader import usage_of
from .sse import Event

__all__ = ["ResponsesDecoder"]

_KINDS: dict[str, PartKind] = {
    "message": "text",
    "reasoning": "reasoning",
    "function_call": "tool_call",
}
_WRITES = {
    # the event: the type of item that it writes to
    "response.output_text.delta": "message",
    "response.refusal.delta": "message",
    "response.reasoning_text.delta": "reasoning",
    "response.reasoning.delta": "reasoning",
    "response.reasoning_summary.delta": "reasoning",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.function_call_arguments.delta": "function_call",
}
_WHOLES = {
    # the event: the type of item that it completes, the field of its text
    "response.output_text.done": ("message", "text"),
    "response.refusal.done": ("message", "refusal"),
    "response.function_call_arguments.done": ("function_call", "arguments"),
}
_ENDS = {
    # the event: the status of its response, where that has none of its own
    "response.completed": "completed",
    "response.done": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
}
_CALL_FIELDS = frozenset({"id", "type", "call_id", "name", "arguments", "status"})
_MESSAGE_FIELDS = frozenset({"id", "type", "role", "status", "content"})


class _Item:
    """An item that is being read."""

    __slots__ = ("index", "is_done", "is_named", "kind", "pieces", "source", "type", "whole")

    def __init__(self, item_type: str, index: int) -> None:
        self.type = item_type
        self.kind = _KINDS.get(item_type, "opaque")
        self.index = index  # of the part
        self.pieces: list[str] = []
        self.source = ""  # the first of several renderings of the same thought that was shown
        self.is_done = False
        self.is_named = False  # of a call: whether its name came
        self.whole = ""  # of a call: its arguments as they are said at their end


class ResponsesDecoder(EventDecoder):
    """Reads one reply.

    Parameters:
        ids: gives out ids for the calls.
    """

    def __init__(self, ids: CallIds | None = None) -> None:
        super().__init__()
        self._ids = ids or CallIds()
        self._items: dict[str | int, _Item] = {}
        self._parts = 0
        self._halves: HalfCharacters | None = None
        self._usage: Usage | None = None
        self._stop: Stop = "done"
        self._has_calls = False
        self._given_ids: set[str] = set()  # of calls, as the server has them

    def take(self, events: Iterable[Event], deltas: list[Delta]) -> bool:
        """Append what events stand for; returns whether the last of a reply was among them."""
        for name, data in events:
            if is_end_mark(data):
                continue  # some servers send it; the end is a whole response
            if name == "response.output_text.delta" and data[:1] == b"{" and b"\\u" not in data:
                value = loads(data)
                item = self._items.get(value.get("item_id", ""))
                text = value["delta"]
                if item is not None and self._halves is None and text.__class__ is str:
                    item.pieces.append(text)
                    deltas.append(PartText(item.index, text))
                    continue
            else:
                value = self.parse(name, data)
                if self._halves is None and b"\\ud" in data.lower():
                    self._halves = HalfCharacters()
            if value is not None and self._event(value.get("type") or name, value, deltas):
                return True
        return False

    def body(self, value: dict[str, Any], deltas: list[Delta]) -> None:
        """Append what a whole JSON body stands for.

        Raises:
            ProviderError: it is an error, or no reply.
        """
        if value.get("error"):
            raise fault(read_report(value), body=compact(value))
        if not isinstance(value.get("output"), list):
            raise no_reply(value)
        if value.get("status") in ("queued", "in_progress"):
            raise BrokenStream(f"the server answered before its reply was there: {value['status']}")
        self._halves = HalfCharacters()
        self._response(value, deltas)

    def complete(self, deltas: list[Delta]) -> Finish:
        """Append what was held back; returns how the reply ended.

        Raises:
            BrokenStream: a call was never named.
        """
        for item in dict.fromkeys(self._items.values()):
            if item.kind == "tool_call" and not item.is_named:
                raise BrokenStream("the reply has a call without a name")
            if item.kind == "tool_call" and not item.is_done:
                self._give(item, item.whole or "".join(item.pieces), deltas)
        if self._halves is not None:
            deltas += self._halves.end()
        if self._usage is not None:
            deltas.append(self._usage)
        return Finish("tool_calls" if self._has_calls and self._stop == "done" else self._stop)

    def _event(self, kind: str, value: dict[str, Any], deltas: list[Delta]) -> bool:
        """Append what one event stands for; returns whether it is the last. Unknown ones pass."""
        if kind in _WRITES:
            item = self._found(value, _WRITES[kind], deltas)
            delta = value["delta"]
            self._write(item, delta["text"] if isinstance(delta, dict) else delta, deltas, kind)
            if kind == "response.refusal.delta":
                self._stop = "refusal"
            return False
        match kind:
            case "response.output_item.added" | "response.output_item.done":
                change = self._add if kind.endswith("added") else self._end_item
                change(value["item"], value.get("output_index"), deltas)
            case _ if kind in _WHOLES:
                self._complete(kind, value, deltas)
            case "response.reasoning_summary_part.added" if value.get("summary_index"):
                self._write(self._found(value, "reasoning", deltas), "\n\n", deltas, kind)
            case "response.created":
                self._ids.reply_id = str(value["response"].get("id") or "")
            case _ if kind in _ENDS:
                self._response({"status": _ENDS[kind], **value["response"]}, deltas)
                return True
            case _ if kind == "error" or value.get("error"):
                raise fault(read_report(value), body=compact(value))
        return False

    def _response(self, response: dict[str, Any], deltas: list[Delta]) -> None:
        """Append what a whole response has that was not there yet."""
        self._judge(response)
        self._ids.reply_id = self._ids.reply_id or str(response.get("id") or "")
        known = set(self._items)
        types = {item.type for item in self._items.values()}
        for index, item in enumerate(response.get("output") or ()):
            is_other = item.get("id") not in known and index not in known
            if is_other and self._came_already(item, types):
                continue
            self._end_item(item, index, deltas)
        self._usage = usage_of(response.get("usage"))

    def _came_already(self, item: dict[str, Any], types: Container[str]) -> bool:
        """Whether an item came under another id: a call has one of its own, others by their type.

        Parameters:
            types: those of the items that the stream had.
        """
        if item.get("type") == "function_call":
            return str(item.get("call_id") or item.get("id") or "") in self._given_ids
        return item.get("type") in types

    def _judge(self, response: dict[str, Any]) -> None:
        """Take how a response ended from its own status, whatever the event says.

        Raises:
            ProviderError: it failed.
        """
        status = response.get("status")
        if status in ("failed", "cancelled") or response.get("error"):
            report = read_report(response)
            if not report.message:
                raise ServerFault(f"the server gave the reply up: {status}")
            raise fault(report, body=compact(response))
        if status == "incomplete":
            reason = (response.get("incomplete_details") or {}).get("reason")
            self._stop = "filter" if reason == "content_filter" else "length"
        self.finishing = True

    def _add(self, given: dict[str, Any], index: object, deltas: list[Delta]) -> _Item:
        """The item that is announced here, or was before."""
        keys = [key for key in (given.get("id"), index) if isinstance(key, str | int)]
        item_type = str(given.get("type") or ("message" if "role" in given else ""))
        item = next((self._items[key] for key in keys if key in self._items), None)
        if item is None and index is None:
            item = self._unended(item_type, given)
        if item is None:
            item = self._new(item_type, deltas)
        if item.kind == "tool_call" and not item.is_named and given.get("name"):
            self._name(item, given, deltas)
        self._items.update(dict.fromkeys(keys or [f"#{item.index}"], item))
        return item

    def _new(self, item_type: str, deltas: list[Delta]) -> _Item:
        item = _Item(item_type, self._parts)
        self._parts += 1
        self._has_calls = self._has_calls or item.kind == "tool_call"
        deltas.append(PartStart(item.index, item.kind))
        return item

    def _name(self, item: _Item, given: dict[str, Any], deltas: list[Delta]) -> None:
        """Give a call its id and name."""
        item.is_named = True
        call_id = str(given.get("call_id") or given.get("id") or "")
        self._given_ids.add(call_id)
        claimed = self._ids.claim(call_id)
        deltas.append(PartStart(item.index, "tool_call", claimed, str(given["name"])))

    def _unended(self, item_type: str, given: dict[str, Any]) -> _Item | None:
        """The only item that this may be once more, under another id, where no place is told."""
        if item_type == "function_call" and str(given.get("call_id") or "") not in self._given_ids:
            return None
        found = [i for i in self._items.values() if i.type == item_type and not i.is_done]
        return found[-1] if found else None

    def _found(self, value: dict[str, Any], item_type: str, deltas: list[Delta]) -> _Item:
        """The item that a delta belongs to: by its id, its place, or as the last of its type."""
        for name in ("item_id", "output_index"):
            item = self._items.get(value.get(name, ""))
            if item is not None and item.type == item_type:
                return item
        for item in reversed(self._items.values()):
            if item.type == item_type:
                return item
        return self._add({"type": item_type, "id": value.get("item_id")}, None, deltas)

    def _write(self, item: _Item, text: str, deltas: list[Delta], source: str) -> None:
        if not isinstance(text, str):
            raise TypeError("the text of a delta is no text")
        if item.kind == "reasoning":
            source = "summary" if "summary" in source else "raw"
            if (item.source or source) != source:
                return
            item.source = source
        item.pieces.append(text)
        if item.kind == "tool_call":
            return  # given out at its end, where it is said once more, as a whole
        self._give(item, text, deltas)

    def _give(self, item: _Item, text: str, deltas: list[Delta]) -> None:
        if text and self._halves is not None:
            text = self._halves.join(item.index, text)
        if text:
            deltas.append(PartText(item.index, text))

    def _catch_up(self, item: _Item, whole: str, deltas: list[Delta]) -> None:
        """Append what a whole text has beyond the pieces that came."""
        so_far = "".join(item.pieces)
        if len(whole) > len(so_far) and whole.startswith(so_far):
            self._write(item, whole[len(so_far) :], deltas, item.source)

    def _complete(self, kind: str, value: dict[str, Any], deltas: list[Delta]) -> None:
        """Take a whole text that comes behind its pieces, or in place of them."""
        item_type, field = _WHOLES[kind]
        item = self._found(value, item_type, deltas)
        whole = as_text(value.get(field))
        if item.kind == "tool_call":
            item.whole = whole
        elif not item.pieces:
            self._write(item, whole, deltas, kind)
        if kind == "response.refusal.done":
            self._stop = "refusal"

    def _end_item(self, given: dict[str, Any], index: object, deltas: list[Delta]) -> None:
        item = self._add(given, index, deltas)
        if item.is_done:
            return
        item.is_done = True
        match item.kind:
            case "tool_call":
                item.whole = as_text(given.get("arguments")) or item.whole
                self._give(item, item.whole or "".join(item.pieces), deltas)
                unknown = _unknown(given, _CALL_FIELDS)
                if unknown:
                    deltas.append(PartNative(item.index, compact(unknown)))
            case "text":
                self._catch_up(item, self._said(given), deltas)
                self._keep_unknown(given, deltas)
            case "reasoning":
                if not item.pieces:
                    self._write(item, _thought(given), deltas, "reasoning_text")
                deltas.append(PartNative(item.index, compact(given)))
            case _:
                deltas.append(PartNative(item.index, compact(given)))

    def _said(self, message: dict[str, Any]) -> str:
        """The text of a message item; a refusal is text too, and is noted."""
        texts = []
        if isinstance(message.get("content"), str):
            return str(message["content"])
        for part in message.get("content") or ():
            if refusal := part.get("refusal"):
                self._stop = "refusal"
            texts.append(refusal or part.get("text") or "")
        return "".join(texts)

    def _keep_unknown(self, message: dict[str, Any], deltas: list[Delta]) -> None:
        """Keep what only this server knows of a message, as a part that stands behind its text."""
        unknown = _unknown(message, _MESSAGE_FIELDS)
        if unknown:
            native = compact({"type": "message", **unknown})
            deltas += [PartStart(self._parts, "opaque"), PartNative(self._parts, native)]
            self._parts += 1


def _unknown(item: dict[str, Any], known: frozenset[str]) -> dict[str, Any]:
    return {name: v for name, v in item.items() if name not in known and v not in (None, [], {})}


def _thought(item: dict[str, Any]) -> str:
    """The text of a whole reasoning item: as it was thought if that is told, else its summary."""
    raw = "".join(part.get("text") or "" for part in item.get("content") or ())
    return raw or "\n\n".join(part.get("text") or "" for part in item.get("summary") or ())
