"""Reads replies of Anthropic's Messages protocol.

A reply is a list of blocks, numbered by the server; each becomes a part. What must come back
unchanged (a signed thought, a redacted one, a block of another kind) is kept as `native` once its
block has ended: a thought without its signature is text for people only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..messages import Stop, Usage
from .base import Delta, Finish, PartNative, PartStart, PartText
from .decoding import CallIds, EventDecoder, HalfCharacters, is_end_mark, no_call, no_reply
from .faults import fault, read_report
from .jsontext import as_text, compact, loads
from .sse import Event
from .stops import stop_for

__all__ = ["AnthropicDecoder"]

_TEXTS = {
    # the kind of the delta: the kind of its block, the field of its text
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "input_json_delta": ("tool_use", "partial_json"),
}
_CALL_FIELDS = frozenset({"type", "id", "name", "input"})
_WRITTEN = frozenset({"text_delta", "thinking_delta"})
"""The deltas that are not lost if their block was never announced."""


class _Block:
    """A block that is being read."""

    __slots__ = ("empty", "index", "kind", "pieces", "signature", "start", "written")

    def __init__(self, kind: str, index: int, start: dict[str, Any]) -> None:
        self.kind = kind
        self.index = index  # of the part
        self.start = start
        self.signature = start.get("signature") or ""
        self.written = False
        self.empty = ""  # `{}` as the first piece: all there is, or a sign that more comes
        self.pieces: list[str] = []  # of the input of a tool that the server runs


class AnthropicDecoder(EventDecoder):
    """Reads one reply.

    Parameters:
        ids: gives out ids for the calls.
    """

    def __init__(self, ids: CallIds | None = None) -> None:
        super().__init__()
        self._ids = ids or CallIds()
        self._blocks: dict[int, _Block] = {}
        self._parts = 0
        self._plain: dict[int, int] = {}  # the parts of text blocks, while no character is halved
        self._halves: HalfCharacters | None = None
        self._usage: dict[str, int] = {}
        self._reasoning = 0
        self._stop: Stop | None = None
        self._has_calls = False
        self._calls_tools = False  # by its own word

    def take(self, events: Iterable[Event], deltas: list[Delta]) -> bool:
        """Append what events stand for; returns whether `message_stop` was among them."""
        for name, data in events:
            if name == "content_block_delta" and b"\\u" not in data:
                value = loads(data)
                delta = value["delta"]
                part = self._plain.get(value["index"])
                if part is not None and delta["type"] == "text_delta":
                    text = delta["text"]
                    if text and text.__class__ is str:
                        deltas.append(PartText(part, text))
                        continue
            else:
                if is_end_mark(data):
                    continue  # some servers send it; it is not the mark of this protocol
                value = self.parse(name, data)
                if self._halves is None and b"\\ud" in data.lower():
                    self._halves = HalfCharacters()
                    self._plain.clear()
            if value is not None and self._event(value.get("type") or name, value, deltas):
                return True
        return False

    def body(self, value: dict[str, Any], deltas: list[Delta]) -> None:
        """Append what a whole JSON body stands for.

        Raises:
            ProviderError: it is an error, or no reply.
        """
        if value.get("type") == "error" or "error" in value:
            raise fault(read_report(value), body=compact(value))
        if not isinstance(value.get("content"), list | str) and value.get("type") != "message":
            raise no_reply(value)
        self._halves = HalfCharacters()
        self._message(value, deltas)
        self.finishing = True

    def _message(self, message: dict[str, Any], deltas: list[Delta]) -> None:
        """Append what a message has that is whole, or is about to begin."""
        self._ids.reply_id = str(message.get("id") or "")
        content = message.get("content") or []
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for index, block in enumerate(blocks):
            self._start(index, block, deltas)
            self._end_block(index, deltas)
        self._count(message.get("usage"))
        self._finish(message)

    def complete(self, deltas: list[Delta]) -> Finish:
        """Append what was held back; returns how the reply ended."""
        if self._halves is not None:
            deltas += self._halves.end()
        for index in list(self._blocks):
            self._end_block(index, deltas)
        if self._usage:
            deltas.append(self._sum())
        if self._calls_tools and not self._has_calls:
            deltas.append(no_call())
        return Finish(self._stop or ("tool_calls" if self._has_calls else "done"))

    def _event(self, kind: str, value: dict[str, Any], deltas: list[Delta]) -> bool:
        """Append what one event stands for; returns whether it is the last. Unknown ones pass."""
        match kind:
            case "content_block_delta":
                self._delta(value["index"], value["delta"], deltas)
            case "content_block_start":
                self._start(value["index"], value["content_block"], deltas)
            case "content_block_stop":
                self._end_block(value["index"], deltas)
            case "message_start":
                self._message(value["message"], deltas)
            case "message_delta":
                self._count(value.get("usage"))
                self._finish(value.get("delta") or {})
            case "message_stop":
                return True
            case "error":
                raise fault(read_report(value), body=compact(value))
            case _ if "error" in value:
                raise fault(read_report(value), body=compact(value))
        return False

    def _start(self, index: int, start: dict[str, Any], deltas: list[Delta]) -> None:
        self._end_block(index, deltas)  # some servers give all blocks one number, and end none
        kind = start["type"]
        block = self._blocks[index] = _Block(kind, self._parts, start)
        self._parts += 1
        if kind == "tool_use":
            self._has_calls = True
            call_id = self._ids.claim(str(start.get("id") or ""))
            deltas.append(PartStart(block.index, "tool_call", call_id, str(start["name"])))
        elif kind == "text":
            deltas.append(PartStart(block.index, "text"))
            if self._halves is None:
                self._plain[index] = block.index
            self._write(block, start.get("text") or "", deltas)
        elif kind in ("thinking", "redacted_thinking"):
            deltas.append(PartStart(block.index, "reasoning"))
            self._write(block, start.get("thinking") or "", deltas)
        else:
            deltas.append(PartStart(block.index, "opaque"))

    def _delta(self, index: int, delta: dict[str, Any], deltas: list[Delta]) -> None:
        kind = delta.get("type")
        block = self._blocks.get(index)
        if kind in _WRITTEN and (block is None or block.kind != _TEXTS[kind][0]):
            self._start(index, {"type": _TEXTS[kind][0]}, deltas)
            block = self._blocks[index]
        if block is None:
            return  # of a block that was never announced
        if kind == "signature_delta":
            block.signature += delta["signature"]
        elif kind in _TEXTS and block.kind == _TEXTS[kind][0]:
            self._write(block, delta[_TEXTS[kind][1]] or "", deltas)
        elif kind == "input_json_delta":
            block.pieces.append(delta["partial_json"])

    def _write(self, block: _Block, text: str | dict[str, Any], deltas: list[Delta]) -> None:
        if block.kind == "tool_use":
            text = as_text(text)
            if text == "{}" and not block.written:
                block.empty = text
                return
        if not isinstance(text, str):
            raise TypeError("the text of a delta is no text")
        if text and self._halves is not None:
            text = self._halves.join(block.index, text)
        if text:
            block.written = True
            deltas.append(PartText(block.index, text))

    def _end_block(self, index: int, deltas: list[Delta]) -> None:
        block = self._blocks.pop(index, None)
        if block is None:
            return
        start = block.start
        if block.kind == "tool_use":
            given = as_text(start.get("input")) if start.get("input") else block.empty
            if given and not block.written:
                deltas.append(PartText(block.index, given))
            unknown = {k: v for k, v in start.items() if k not in _CALL_FIELDS and v is not None}
            if unknown:
                deltas.append(PartNative(block.index, compact(unknown)))
        elif block.kind == "thinking":
            if block.signature:
                native = {"type": "thinking", "thinking": None, "signature": block.signature}
                deltas.append(PartNative(block.index, compact(native)))
        elif block.kind != "text":
            if block.pieces:
                start = {**start, "input": loads("".join(block.pieces).encode())}
            deltas.append(PartNative(block.index, compact(start)))

    def _count(self, usage: dict[str, Any] | None) -> None:
        """Take what is said of tokens; each number counts as it was last said, 0 says nothing."""
        for name, value in (usage or {}).items():
            if isinstance(value, int) and (value or name not in self._usage):
                self._usage[name] = value
        details = (usage or {}).get("output_tokens_details") or {}
        self._reasoning = details.get("thinking_tokens") or self._reasoning

    def _sum(self) -> Usage:
        count = self._usage.get
        read = count("cache_read_input_tokens", 0)
        written = count("cache_creation_input_tokens", 0)
        return Usage(
            input=count("input_tokens", 0) + read + written,
            output=count("output_tokens", 0),
            cache_read=read,
            cache_write=written,
            reasoning=self._reasoning,
        )

    def _finish(self, said: dict[str, Any]) -> None:
        if reason := said.get("stop_reason"):
            self._stop = stop_for(str(reason))
            self._calls_tools = reason == "tool_use"
            self.finishing = True
