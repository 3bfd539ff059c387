"""Replies of the chat-completions protocol, as the bytes that a server sends."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..messages import Usage
from .scripted import Call

__all__ = ["chat_body", "chat_events", "chat_stream", "in_pieces", "sse"]


def sse(*events: Mapping[str, Any] | str) -> bytes:
    r"""Server-sent events, one `data` line each; a mapping becomes JSON, text is sent as it is.

    ::

        sse({"choices": []}, "[DONE]") == b'data: {"choices": []}\n\ndata: [DONE]\n\n'
    """
    texts = (event if isinstance(event, str) else _json(event) for event in events)
    return "".join(f"data: {text}\n\n" for text in texts).encode()


def chat_stream(
    text: str | Iterable[str] = "",
    calls: Sequence[Call] = (),
    *,
    reasoning: str = "",
    finish: str = "",
    usage: Usage | None = None,
) -> bytes:
    """A whole streamed reply: the events of `chat_events`, then `[DONE]`.

    ::

        chat_stream("Hello.")
        chat_stream(["Hel", "lo."])
        chat_stream(calls=[Call("read_file", {"fileName": "a.txt"}, id="c1", pieces=4)])
    """
    events = chat_events(text, calls, reasoning=reasoning, finish=finish, usage=usage)
    return sse(*events, "[DONE]")


def chat_events(
    text: str | Iterable[str] = "",
    calls: Sequence[Call] = (),
    *,
    reasoning: str = "",
    finish: str = "",
    usage: Usage | None = None,
) -> list[dict[str, Any]]:
    """The events of a streamed reply, without `[DONE]`.

    Parameters:
        text: the visible text; several texts become one event each.
        calls: tool calls; the id and name in one event, the arguments in `Call.pieces` more.
        reasoning: as `reasoning_content`, before the text.
        finish: the finish reason; the one that fits if it is left out.
        usage: sent in a last event that has no choices.
    """
    texts = [text] if isinstance(text, str) else text
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": reasoning}] if reasoning else []
    deltas += [{"content": piece} for piece in texts if piece]
    for index, call in enumerate(calls):
        deltas += [
            {"tool_calls": [{"index": index, **piece}]} for piece in _call_pieces(call, index)
        ]
    events = [_event(delta, None) for delta in deltas]
    events.append(_event({}, finish or _finish(calls)))
    if usage:
        events.append({"object": "chat.completion.chunk", "choices": [], "usage": _usage(usage)})
    return events


def chat_body(
    text: str = "",
    calls: Sequence[Call] = (),
    *,
    reasoning: str = "",
    finish: str = "",
    usage: Usage | None = None,
) -> dict[str, Any]:
    """The whole reply as one JSON object, as a server gives it where no stream is asked for."""
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if reasoning:
        message["reasoning_content"] = reasoning
    if calls:
        message["tool_calls"] = [_whole_call(call, index) for index, call in enumerate(calls)]
    choice = {"index": 0, "message": message, "finish_reason": finish or _finish(calls)}
    body: dict[str, Any] = {"object": "chat.completion", "choices": [choice]}
    return {**body, "usage": _usage(usage)} if usage else body


def in_pieces(data: bytes, size: int) -> tuple[bytes, ...]:
    """The data in pieces of `size` bytes; the last may be shorter."""
    return tuple(data[start : start + size] for start in range(0, len(data), size))


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _event(delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"object": "chat.completion.chunk", "choices": [choice]}


def _finish(calls: Sequence[Call]) -> str:
    return "tool_calls" if calls else "stop"


def _whole_call(call: Call, index: int) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments_text}
    return {"id": call.id or f"call_{index + 1}", "type": "function", "function": function}


def _call_pieces(call: Call, index: int) -> Iterator[dict[str, Any]]:
    head = _whole_call(call, index)
    yield {**head, "function": {"name": call.name, "arguments": ""}}
    for piece in call.argument_pieces:
        yield {"function": {"arguments": piece}}


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }
