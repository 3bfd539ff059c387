"""Reads replies of the chat-completions protocol, in all the dialects that go by its name.

Theory of operation: nearly every event carries a bit of text and nothing else, so `take` has a
short way for those; it is taken once it is certain that the text is no `<think>` tag. Everything
else goes through `_choice`. One text part and one reasoning part grow side by side, as the
protocol has one field for each; calls are stitched together by `CallStitcher`. Usage and the
finish reason are held back until the end: both may be said more than once, the last word wins.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from ..messages import Stop, Usage
from .base import Delta, Finish, PartNative, PartStart, PartText
from .call_stitching import CallStitcher
from .decoding import (
    CallIds,
    EventDecoder,
    HalfCharacters,
    is_end_mark,
    no_call,
    no_reply,
    stray_fault,
)
from .faults import fault, read_report
from .jsontext import compact, loads
from .sse import Event
from .stops import stop_for
from .thinking import ThinkTags

__all__ = ["REASONING_FIELDS", "ChatDecoder", "usage_of"]

REASONING_FIELDS = ("reasoning", "reasoning_content", "reasoning_text", "thinking")
"""The fields that servers give reasoning in; the first one that has text is shown."""

_KNOWN = frozenset(
    {"role", "content", "tool_calls", "function_call", "refusal", "reasoning_details"}
    | {"index", "name", "channel", "thinking_blocks", *REASONING_FIELDS}
)
_DETAILS = ("reasoning_details", "thinking_blocks")
"""The fields that servers give reasoning in as lists of pieces, which go back whole."""

_ENDED = r"stop|tool_calls|function_call|length"


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
        self._has_deltas = False  # rather than messages
        self._lead: int | None = None  # the index of the choice that is read
        self._finish = ""
        self._ended_by: Stop | None = None
        self._usage: Usage | None = None

    def take(self, events: Iterable[Event], deltas: list[Delta]) -> bool:
        """Append what events stand for; returns whether `[DONE]` was among them."""
        plain = self._plain
        append = deltas.append
        for name, data in events:
            if data.lstrip()[:6] == b"[DONE]":
                return True
            is_plain = plain >= 0 and not name and b"\\u" not in data
            if is_plain and (chunk := _object(data)) is not None:
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
                    and "error" not in choice
                    and not chunk.get("usage")
                    and "error" not in chunk
                ):
                    if text:
                        append(PartText(plain, text))
                    continue
                self._chunk(chunk, deltas)
            else:
                if self._odd(name, data, deltas):
                    return True
                plain = self._plain
        return False

    def _odd(self, name: str, data: bytes, deltas: list[Delta]) -> bool:
        """Append what any event stands for; returns whether it is the mark of the end."""
        if is_end_mark(data):
            return True
        chunk = self.parse(name, data)
        if self._halves is None and b"\\ud" in data.lower():
            self._halves = HalfCharacters()
        self._chunk(chunk, deltas)
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
            raise no_reply(value)
        self._halves = HalfCharacters()
        self._chunk({**value, "choices": _joined_choices(value["choices"])}, deltas)
        self.finishing = True

    def complete(self, deltas: list[Delta]) -> Finish:
        """Append what was held back; returns how the reply ended.

        Raises:
            ProviderError: there was no reply, but an error without the form of one.
        """
        for kind, text in self._tags.end():
            self._put(kind, text, deltas)
        if self.stray is not None and not (self._parts or self._finish):
            raise stray_fault(self.stray)
        if self._halves is not None:
            deltas += self._halves.end()
        self._keep_reasoning(deltas)
        self._calls.end(deltas)
        if not self._calls and self._finish in ("tool_calls", "function_call"):
            deltas.append(no_call())
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
        if chunk.get("error") or "error" in (chunk.get("object"), chunk.get("type")):
            raise fault(read_report(chunk), body=compact(chunk))
        self._ids.reply_id = self._ids.reply_id or str(chunk.get("id") or "")
        groq = chunk.get("x_groq") or {}
        for usage in (groq.get("usage"), chunk.get("usage")):
            self._usage = usage_of(usage) or self._usage
        choices = chunk.get("choices")
        if not choices and "usage" not in chunk and read_report(chunk).message:
            self.stray = chunk
        for choice in choices or ():
            if choice and (choice.get("index") or 0) == self._own_choice(choice):
                self._choice(choice, deltas)

    def _own_choice(self, choice: dict[str, Any]) -> int:
        """The index of the choice that is read: the first that comes."""
        if self._lead is None:
            self._lead = choice.get("index") or 0
        return self._lead

    def _delta(self, choice: dict[str, Any]) -> dict[str, Any]:
        """What a choice adds. A whole message behind deltas says nothing new."""
        delta: dict[str, Any] = choice.get("delta") or {}
        if (message := choice.get("message")) and not self._has_deltas and not any(delta.values()):
            whole: dict[str, Any] = message
            return whole
        if delta or message:
            self._has_deltas = True
            return delta
        return {} if choice.get("delta") is not None else {"content": choice.get("text")}

    def _choice(self, choice: dict[str, Any], deltas: list[Delta]) -> None:
        reason = str(choice.get("finish_reason") or "")
        if choice.get("error") and not re.fullmatch(_ENDED, reason.lower()):
            raise fault(read_report(choice), body=compact(choice))
        delta = self._delta(choice)
        self._reason(delta, deltas)
        self._content(delta.get("content"), deltas)
        if refusal := delta.get("refusal"):
            self._refused = True
            self._put("text", refusal, deltas)
        calls = delta.get("tool_calls") or []
        if isinstance(calls, dict):
            calls = [calls]
        if function := delta.get("function_call"):
            calls = [*calls, {"index": "function_call", "function": function}]
        if calls:
            self._calls.take(calls, deltas)
        self._keep_unknown(delta)
        self._usage = usage_of(choice.get("usage")) or self._usage
        if reason:
            self._end_with(reason)

    def _keep_unknown(self, delta: dict[str, Any]) -> None:
        for name, value in delta.items():
            if name in _KNOWN or value in (None, "", [], {}):
                continue
            if name == "extra_content":
                value = _without_thought(value)  # noqa: PLW2901 - the part of it that goes back
            if value:
                self._unknown[name] = value

    def _content(self, content: object, deltas: list[Delta]) -> None:
        """Append visible text: text, or a list of typed parts, or a single one."""
        if isinstance(content, dict):
            content = [content]
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
        for name in _DETAILS:
            if not (details := delta.get(name)):
                continue
            kept = self._reasoning.setdefault(name, [])
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
        self._finish = reason
        self._ended_by = stop_for(reason)

    def _stop(self) -> Stop:
        if self._ended_by in ("length", "filter"):
            return self._ended_by
        if self._calls:
            return "tool_calls"
        return "refusal" if self._refused or self._ended_by == "refusal" else "done"


def _object(data: bytes) -> dict[str, Any] | None:
    """The JSON object in data; None if it is anything else."""
    try:
        value = loads(data)
    except ValueError:
        return None
    return value if value.__class__ is dict else None


def _thought(part: Mapping[str, Any]) -> str:
    """The text of a thinking part, which may have parts of its own."""
    inner = part.get("thinking") or part.get("text") or ""
    if isinstance(inner, str):
        return inner
    return "".join(item if isinstance(item, str) else item.get("text") or "" for item in inner)


def _detail_texts(details: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for detail in details:
        yield detail.get("text") or detail.get("summary") or detail.get("thinking") or ""


def _merge_detail(kept: list[dict[str, Any]], detail: dict[str, Any]) -> None:
    """Add a piece of such a list to those before: their texts are joined.

    A piece continues the last one of its type and index, unless it has an id of its own or that
    one was signed already.
    """
    last = kept[-1] if kept else None
    if last is None or not _continues(last, detail):
        kept.append(dict(detail))
        return
    for name, value in detail.items():
        if name in ("text", "summary", "data", "thinking") and isinstance(last.get(name), str):
            last[name] += value or ""
        elif value is not None:
            last[name] = value


def _continues(last: Mapping[str, Any], detail: Mapping[str, Any]) -> bool:
    if any(last.get(name) != detail.get(name) for name in ("type", "index")):
        return False
    if last.get("id") and detail.get("id") and last["id"] != detail["id"]:
        return False
    return not (last.get("signature") and any(_detail_texts([detail])))


def _without_thought(extra: Any) -> Any:
    """Extra content without Google's word that this piece is a thought: the whole is none."""
    google = extra.get("google") if isinstance(extra, dict) else None
    if not isinstance(google, dict) or "thought" not in google:
        return extra
    rest = {name: value for name, value in google.items() if name != "thought"}
    return {**extra, "google": rest} if rest else {k: v for k, v in extra.items() if k != "google"}


def _joined_choices(choices: list[Any]) -> list[Any]:
    """The choices of a whole body; one that is in two, text and calls, is joined again.

    Only one choice is ever asked for.
    """
    first = next((choice for choice in choices if choice), None)
    if not first or first.get("finish_reason") != "tool_calls":
        return choices
    said = first.get("message") or {}
    if said.get("tool_calls"):
        return choices
    found = [(choice or {}).get("message") or {} for choice in choices]
    calls = [call for message in found for call in message.get("tool_calls") or ()]
    return [{**first, "message": {**said, "tool_calls": calls}}]


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
