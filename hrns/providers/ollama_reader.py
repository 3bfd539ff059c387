"""Reads replies of Ollama's own protocol: JSON objects, one a line, the last with `done`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from ..errors import BrokenStream
from ..messages import Stop, Usage
from .base import Delta, Finish, PartNative, PartStart, PartText
from .decoding import CallIds, EventDecoder, HalfCharacters, is_end_mark, no_reply
from .faults import fault, read_report
from .jsontext import compact, loads
from .openai_chat_reader import usage_of
from .sse import LIMIT_BYTES, Event
from .stops import stop_for
from .thinking import ThinkTags

__all__ = ["LineReader", "OllamaDecoder"]

_CALL_FIELDS = frozenset({"id", "type", "function"})
_FUNCTION_FIELDS = frozenset({"name", "arguments", "index"})
_COUNTS = {"prompt_eval_count": "prompt_tokens", "eval_count": "completion_tokens"}
_REPLY_FIELDS = frozenset({"message", "response", "done"})
_KNOWN = frozenset({"role", "content", "thinking", "tool_calls", "images"})


class LineReader:
    """Cuts bytes in any pieces into lines, each as an event without a name.

    Parameters:
        limit_bytes: the most bytes of one line.
    """

    __slots__ = ("_limit", "_object", "_object_size", "_pieces", "_size")

    def __init__(self, limit_bytes: int = LIMIT_BYTES) -> None:
        self._limit = limit_bytes
        self._pieces: list[bytes] = []
        self._size = 0
        self._object: list[bytes] = []
        self._object_size = 0

    def feed(self, block: bytes) -> list[Event]:
        """The lines that these bytes complete, empty ones left out.

        Raises:
            BrokenStream: a line is longer than the limit.
        """
        lines = block.split(b"\n")
        rest = lines.pop()
        if lines:
            lines[0] = b"".join((*self._pieces, lines[0]))
            self._pieces, self._size = [], 0
        if rest:
            self._pieces.append(rest)
            self._size += len(rest)
            if self._size > self._limit:
                raise BrokenStream(f"a line of the stream is longer than {self._limit} bytes")
        return [("", line) for line in self._joined(lines) if line and not line.isspace()]

    def _joined(self, lines: list[bytes]) -> Iterator[bytes]:
        """The lines; those of an object that is written over several of them as one.

        Such an object begins with a line that is a bracket alone, and ends with one.
        """
        for line in lines:
            if self._object or line.strip() == b"{":
                self._object.append(line)
                self._object_size += len(line)
                if self._object_size > self._limit:
                    raise BrokenStream(f"an object is longer than {self._limit} bytes")
                if line.rstrip() != b"}":
                    continue
                line = b"\n".join(self._object)  # noqa: PLW2901 - the whole of it
                self._object, self._object_size = [], 0
            yield line

    def end(self) -> list[Event]:
        """The last line, if nothing ended it."""
        return self.feed(b"\n")


class OllamaDecoder(EventDecoder):
    """Reads one reply.

    Parameters:
        ids: gives out ids for the calls.
    """

    def __init__(self, ids: CallIds | None = None) -> None:
        super().__init__(LineReader())
        self._ids = ids or CallIds()
        self._tags = ThinkTags()
        self._halves: HalfCharacters | None = None
        self._index = {"text": -1, "reasoning": -1}
        self._plain = -1  # the text part, once all further text is plain
        self._parts = 0
        self._has_thinking = False
        self._has_calls = False
        self._unknown: dict[str, Any] = {}
        self._usage: Usage | None = None
        self._stop: Stop | None = None

    def take(self, events: Iterable[Event], deltas: list[Delta]) -> bool:
        """Append what lines stand for; returns whether the last of a reply was among them."""
        for name, data in events:
            if self._plain >= 0 and data[:1] == b"{" and b"\\u" not in data:
                value = loads(data)
                message = value.get("message") or {}
                text = message.get("content")
                if text.__class__ is str and len(message) == 2 and not value.get("done"):
                    if text:
                        deltas.append(PartText(self._plain, text))
                    continue
            else:
                if is_end_mark(data):
                    continue  # some servers send it; it is not the mark of this protocol
                value = self.parse(name, data)
                if self._halves is None and b"\\ud" in data.lower():
                    self._halves = HalfCharacters()
                    self._plain = -1
            if self._line(value, deltas):
                return True
        return False

    def body(self, value: dict[str, Any], deltas: list[Delta]) -> None:
        """Append what a whole JSON body stands for.

        Raises:
            ProviderError: it is an error, or no reply.
        """
        self._halves = HalfCharacters()
        self._line(value, deltas)
        if not isinstance(value.get("message"), dict):
            raise no_reply(value)

    def complete(self, deltas: list[Delta]) -> Finish:
        """Append what was held back; returns how the reply ended."""
        for kind, text in self._tags.end():
            self._put(kind, text, deltas)
        if self._halves is not None:
            deltas += self._halves.end()
        if self._has_thinking:
            deltas.append(PartNative(self._index["reasoning"], '{"thinking":null}'))
        if self._unknown:
            deltas += [PartStart(self._parts, "opaque")]
            deltas += [PartNative(self._parts, compact(self._unknown))]
        if self._usage is not None:
            deltas.append(self._usage)
        return Finish(self._stop or ("tool_calls" if self._has_calls else "done"))

    def _line(self, value: dict[str, Any] | None, deltas: list[Delta]) -> bool:
        """Append what one line stands for; returns whether it is the last.

        Raises:
            ProviderError: it is an error.
        """
        if value is None:
            return False
        if value.get("error"):
            raise fault(read_report(value), body=compact(value))
        if not _REPLY_FIELDS.intersection(value):
            self.stray = value  # an error under a name of its own
        message = value.get("message") or {"content": value.get("response")}
        if thought := message.get("thinking"):
            self._has_thinking = True
            self._put("reasoning", thought, deltas)
        for kind, text in self._tags.feed(message.get("content") or ""):
            self._put(kind, text, deltas)
        if self._tags.plain and self._halves is None:
            self._plain = self._index["text"]
        for call in message.get("tool_calls") or ():
            self._call(call, deltas)
        self._unknown.update((k, v) for k, v in message.items() if k not in _KNOWN and v)
        if not value.get("done"):
            return False
        self._stop = stop_for(str(value.get("done_reason") or ""))
        counts = {name: value[given] for given, name in _COUNTS.items() if given in value}
        self._usage = usage_of(counts)
        self.finishing = True
        return True

    def _call(self, call: dict[str, Any], deltas: list[Delta]) -> None:
        """Append a call: they come whole, their arguments as an object."""
        function = call.get("function") or {
            name: call.pop(name) for name in ("name", "arguments") if name in call
        }
        given = function.get("arguments")
        index = self._new_part()
        self._has_calls = True
        call_id = self._ids.claim(str(call.get("id") or ""))
        deltas.append(PartStart(index, "tool_call", call_id, str(function["name"])))
        deltas.append(PartText(index, given if isinstance(given, str) else compact(given or {})))
        unknown = {k: v for k, v in call.items() if k not in _CALL_FIELDS and v}
        inner = {k: v for k, v in function.items() if k not in _FUNCTION_FIELDS and v}
        if inner:
            unknown["function"] = inner
        if unknown:
            deltas.append(PartNative(index, compact(unknown)))

    def _put(self, kind: Literal["text", "reasoning"], text: str, deltas: list[Delta]) -> None:
        """Append text of the text part or the reasoning part."""
        if not isinstance(text, str):
            raise TypeError("what should be text is none")
        index = self._index[kind]
        if index < 0:
            index = self._index[kind] = self._new_part()
            deltas.append(PartStart(index, kind))
        if self._halves is not None:
            text = self._halves.join(index, text)
        if text:
            deltas.append(PartText(index, text))

    def _new_part(self) -> int:
        self._parts += 1
        return self._parts - 1
