"""Reads replies of the chat-completions protocol, in all the dialects that go by its name.

Theory of operation: nearly every event carries a bit of text and nothing else, so `take` has a
short way for those; it is taken once it is certain that the text is no `<think>` tag. Everything
else goes through `_choice`. One text part and one reasoning part grow side by side, as the
protocol has one field for each; calls are stitched together by `CallStitcher`. Usage and the
finish reason are held back until the end: both may be said more than once, the last word wins.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from ..errors import BrokenStream, ServerFault
from ..messages import Stop, Usage
from .base import Delta, Finish, PartNative, PartStart, PartText
from .call_stitching import CallStitcher
from .decoding import CallIds, EventDecoder, HalfCharacters
from .faults import fault, read_report
from .jsontext import compact, loads
from .sse import Event
from .thinking import ThinkTags

__all__ = ["REASONING_FIELDS", "ChatDecoder", "usage_of"]

REASONING_FIELDS = ("reasoning", "reasoning_content", "reasoning_text", "thinking")
"""The fields that servers give reasoning in; the first one that has text is shown."""

_KNOWN = frozenset(
    {"role", "content", "tool_calls", "function_call", "refusal", "reasoning_details"}
    | {"index", "name", "channel", *REASONING_FIELDS}
)
_CUT = ("length", "max_tokens", "max_output_tokens", "model_length", "token_limit")
_FILTERED = ("content_filter", "safety", "sensitive", "recitation", "prohibited_content")
_FAILED = ("error", "insufficient_system_resource", "network_error", "abort")


class ChatDecoder(EventDecoder):
    """Reads one reply.

    Parameters:
        ids: gives out ids for the calls.
    """

    def __init__(self, ids: CallIds | None = None) -> None:
        super().__init__()
        self._parts = 0
        self._ids = ids or CallIds()
        self._calls = CallStitcher(self._new_part, self._ids)
        self._tags = ThinkTags()
        self._halves: HalfCharacters | None = None  # until a half character was seen
        self._index = {"text": -1, "reasoning": -1}
        self._plain = -1  # the text part, once all further text is plain
        self._reasoning: dict[str, Any] = {}  # what goes back with the reasoning
        self._unknown: dict[str, Any] = {}
        self._refused = False
        self._finish = ""
        self._usage: Usage | None = None

    def take(self, events: Iterable[Event], deltas: list[Delta]) -> bool:
        """Append what events stand for; returns whether `[DONE]` was among them."""
        plain = self._plain
        append = deltas.append
        for name, data in events:
            if data.lstrip()[:6] == b"[DONE]":
                return True
            if plain >= 0 and not name and b"\\u" not in data:
                chunk = loads(data)
                try:
                    (choice,) = chunk["choices"]
                    delta = choice["delta"]
                    text = delta["content"]
                except (KeyError, TypeError, ValueError):
                    self._chunk(chunk, deltas)
                    continue
                if (
                    text.__class__ is str
                    and (len(delta) == 1 or (len(delta) == 2 and "role" in delta))
                    and not choice.get("finish_reason")
                    and not choice.get("index")
                    and not choice.get("usage")
                    and not chunk.get("usage")
                    and "error" not in chunk
                ):
                    if text:
                        append(PartText(plain, text))
                    continue
                self._chunk(chunk, deltas)
            else:
                chunk = self.parse(name, data)
                if self._halves is None and b"\\ud" in data.lower():
                    self._halves = HalfCharacters()
                self._chunk(chunk, deltas)
                plain = self._plain
        return False

    def body(self, value: dict[str, Any], deltas: list[Delta]) -> None:
        """Append what a whole JSON body stands for.

        Raises:
            ProviderError: it is an error, or no reply.
        """
        if not value.get("choices"):
            report = read_report(value)
            if report.message or value.get("error"):
                raise fault(report, body=compact(value))
            raise BrokenStream("the server answered with JSON that is no reply")
        self._halves = HalfCharacters()
        self._chunk(value, deltas)
        self.finishing = True

    def complete(self, deltas: list[Delta]) -> Finish:
        """Append what was held back; returns how the reply ended."""
        for kind, text in self._tags.end():
            self._put(kind, text, deltas)
        if self._halves is not None:
            deltas += self._halves.end()
        self._keep_reasoning(deltas)
        self._calls.end(deltas)
        if self._unknown:
            index = self._new_part()
            deltas.append(PartStart(index, "opaque"))
            deltas.append(PartNative(index, compact(self._unknown)))
        if self._usage is not None:
            deltas.append(self._usage)
        return Finish(self._stop())

    def _new_part(self) -> int:
        self._parts += 1
        return self._parts - 1

    def _chunk(self, chunk: dict[str, Any] | None, deltas: list[Delta]) -> None:
        """Append what one chunk stands for.

        Raises:
            ProviderError: it is an error.
        """
        if chunk is None:
            return
        if chunk.get("error") or chunk.get("object") == "error":
            raise fault(read_report(chunk), body=compact(chunk))
        self._ids.reply_id = self._ids.reply_id or str(chunk.get("id") or "")
        groq = chunk.get("x_groq") or {}
        for usage in (groq.get("usage"), chunk.get("usage")):
            self._usage = usage_of(usage) or self._usage
        for choice in chunk.get("choices") or ():
            if not choice.get("index"):
                self._choice(choice, deltas)

    def _choice(self, choice: dict[str, Any], deltas: list[Delta]) -> None:
        delta = choice.get("delta") or choice.get("message") or {}
        self._reason(delta, deltas)
        self._content(delta.get("content"), deltas)
        if refusal := delta.get("refusal"):
            self._refused = True
            self._put("text", refusal, deltas)
        calls = delta.get("tool_calls") or []
        if function := delta.get("function_call"):
            calls = [*calls, {"index": "function_call", "function": function}]
        if calls:
            self._calls.take(calls, deltas)
        self._unknown.update(
            (k, v) for k, v in delta.items() if k not in _KNOWN and v not in (None, "", [], {})
        )
        self._usage = usage_of(choice.get("usage")) or self._usage
        if reason := choice.get("finish_reason"):
            self._end_with(str(reason))

    def _content(self, content: object, deltas: list[Delta]) -> None:
        """Append visible text: text, or a list of typed parts."""
        if isinstance(content, list):
            for part in content:
                self._typed_part(part, deltas)
        elif isinstance(content, str) and content:
            for kind, text in self._tags.feed(content):
                self._put(kind, text, deltas)
            if self._tags.plain and self._halves is None:
                self._plain = self._index["text"]
        elif content:
            raise TypeError("the content is neither text nor parts")

    def _typed_part(self, part: str | dict[str, Any], deltas: list[Delta]) -> None:
        if isinstance(part, str):
            part = {"type": "text", "text": part}
        if part.get("type") in ("thinking", "reasoning"):
            self._reasoning.setdefault("thinking_part", None)
            self._put("reasoning", _thought(part), deltas)
        elif isinstance(part.get("text"), str):
            self._put("text", part["text"], deltas)
        else:
            self._unknown.setdefault("content", []).append(part)

    def _reason(self, delta: dict[str, Any], deltas: list[Delta]) -> None:
        shown = ""
        for name in REASONING_FIELDS:
            text = delta.get(name)
            if isinstance(text, str):
                self._reasoning.setdefault(name, None)
                shown = shown or text
        if details := delta.get("reasoning_details"):
            kept = self._reasoning.setdefault("reasoning_details", [])
            shown = shown or "".join(_detail_texts(details))
            for detail in details:
                _merge_detail(kept, detail)
        self._put("reasoning", shown, deltas)

    def _put(self, kind: Literal["text", "reasoning"], text: str, deltas: list[Delta]) -> None:
        """Append text of the text part or the reasoning part."""
        if not text:
            return
        if not isinstance(text, str):
            raise TypeError("what should be text is none")
        index = self._index[kind]
        if index < 0:
            index = self._index[kind] = self._new_part()
            deltas.append(PartStart(index, kind))
        if self._halves is not None:
            self._plain = -1
            text = self._halves.join(index, text)
        if text:
            deltas.append(PartText(index, text))

    def _keep_reasoning(self, deltas: list[Delta]) -> None:
        """Append the names of the fields that the reasoning came in, for the way back.

        A field that was only ever empty goes back too, if there are calls: it marks a mode in
        which its server insists on it.
        """
        index = self._index["reasoning"]
        needed = "reasoning_details" in self._reasoning or (self._calls and self._reasoning)
        if index < 0 and not needed:
            return
        if index < 0:
            index = self._new_part()
            deltas.append(PartStart(index, "reasoning"))
        if self._reasoning:
            deltas.append(PartNative(index, compact(self._reasoning)))

    def _end_with(self, reason: str) -> None:
        self.finishing = True
        self._finish = reason.lower()
        if self._finish in _FAILED or "malformed_function_call" in self._finish:
            raise ServerFault(f"the server gave the reply up: {reason}")

    def _stop(self) -> Stop:
        if self._finish in _CUT:
            return "length"
        if self._finish in _FILTERED:
            return "filter"
        if self._calls:
            return "tool_calls"
        return "refusal" if self._refused or self._finish == "refusal" else "done"


def _thought(part: Mapping[str, Any]) -> str:
    """The text of a thinking part, which may have parts of its own."""
    inner = part.get("thinking") or part.get("text") or ""
    if isinstance(inner, str):
        return inner
    return "".join(item if isinstance(item, str) else item.get("text") or "" for item in inner)


def _detail_texts(details: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for detail in details:
        yield detail.get("text") or detail.get("summary") or ""


def _merge_detail(kept: list[dict[str, Any]], detail: dict[str, Any]) -> None:
    """Add a piece of `reasoning_details` to those before: their texts are joined.

    A piece continues the last one of its type and index.
    """
    last = kept[-1] if kept else None
    if last is None or any(last.get(name) != detail.get(name) for name in ("type", "index")):
        kept.append(dict(detail))
        return
    for name, value in detail.items():
        if name in ("text", "summary", "data") and isinstance(last.get(name), str):
            last[name] += value or ""
        elif value is not None:
            last[name] = value


def usage_of(reported: Mapping[str, Any] | None) -> Usage | None:
    """The tokens of a `usage` object in any dialect, or None if there is none.

    Some servers leave reasoning out of the output, and count it in the total only.
    """
    if not reported:
        return None
    read = _count(reported, "prompt_tokens") or _count(reported, "input_tokens")
    written = _count(reported, "completion_tokens") or _count(reported, "output_tokens")
    total = _count(reported, "total_tokens")
    before = reported.get("prompt_tokens_details") or reported.get("input_tokens_details") or {}
    after = reported.get("completion_tokens_details") or reported.get("output_tokens_details") or {}
    return Usage(
        input=read if read or written else total,
        output=max(written, total - read) if read else written,
        cache_read=_count(before, "cached_tokens")
        or _count(reported, "prompt_cache_hit_tokens")
        or _count(reported, "cached_tokens"),
        cache_write=_count(before, "cache_write_tokens"),
        reasoning=_count(after, "reasoning_tokens"),
    )


def _count(counts: Mapping[str, Any], name: str) -> int:
    value = counts.get(name)
    return int(value) if isinstance(value, int | float) and 0 < value < math.inf else 0
