"""The official SDKs read the same bytes to the same message, where they are installed.

They are no dependency: install `openai`, `anthropic` and `ollama` into an environment of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hrns.messages import AssistantMessage
from hrns.providers.anthropic_reader import AnthropicDecoder
from hrns.providers.decoding import EventDecoder
from hrns.providers.ollama_reader import OllamaDecoder
from hrns.providers.openai_chat_reader import ChatDecoder
from hrns.providers.openai_responses_reader import ResponsesDecoder
from hrns.reply import fold
from hrns.testing import Answer, Call, LoopbackServer, chat_stream

openai = pytest.importorskip("openai", reason="the official SDKs are not installed")
anthropic = pytest.importorskip("anthropic", reason="the official SDKs are not installed")
ollama = pytest.importorskip("ollama", reason="the official SDKs are not installed")

pytestmark = pytest.mark.filterwarnings("default")  # what the SDKs warn of is theirs

RECORDINGS = Path(__file__).resolve().parents[2] / "shared" / "recordings"

ODD = {
    "openai-responses-encrypted-reasoning.sse": "four replies in one file",
    "mistral-reasoning.sse": "the content is a list of parts, which the SDK hands on as it is",
}


class Seen(NamedTuple):
    """What matters of a message."""

    text: str
    calls: list[tuple[str, str, Any]]  # id, name, arguments


def ours(decoder: EventDecoder, data: bytes) -> Seen:
    message: AssistantMessage = fold([*decoder.feed(data), *decoder.end()])
    calls = [(c.id, c.name, json.loads(c.arguments.strip() or "{}")) for c in message.calls]
    return Seen(message.text, calls)


@contextmanager
def served(data: bytes, content_type: str = "text/event-stream") -> Iterator[str]:
    with LoopbackServer(Answer(data, content_type=content_type)) as server:
        yield server.url


def chat(data: bytes) -> Seen:
    text, calls = "", dict[int, list[str]]()
    with served(data) as url, openai.OpenAI(base_url=url, api_key="x", max_retries=0) as client:
        for chunk in client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "hi"}], stream=True
        ):
            for choice in chunk.choices or ():
                text += choice.delta.content or ""
                for piece in choice.delta.tool_calls or ():
                    call = calls.setdefault(piece.index, [piece.id or "", "", ""])
                    call[1] = call[1] or piece.function.name or ""
                    call[2] += piece.function.arguments or ""
    return Seen(text, [(i, name, json.loads(given or "{}")) for i, name, given in calls.values()])


def responses(data: bytes) -> Seen:
    last: Any = None
    with served(data) as url, openai.OpenAI(base_url=url, api_key="x", max_retries=0) as client:
        for event in client.responses.create(model="m", input="hi", stream=True):
            if event.type == "response.completed":
                last = event.response
    calls = [
        (item.call_id, item.name, json.loads(item.arguments or "{}"))
        for item in last.output
        if item.type == "function_call"
    ]
    return Seen(last.output_text, calls)


def messages(data: bytes) -> Seen:
    with (
        served(data) as url,
        anthropic.Anthropic(base_url=url, api_key="x", max_retries=0) as client,
        client.messages.stream(
            model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}]
        ) as stream,
    ):
        message = stream.get_final_message()
    text = "".join(block.text for block in message.content if block.type == "text")
    calls = [(b.id, b.name, b.input or {}) for b in message.content if b.type == "tool_use"]
    return Seen(text, calls)


def ollama_chat(data: bytes) -> Seen:
    text, calls = "", []
    with served(data, "application/x-ndjson") as url:
        client = ollama.Client(host=url)
        for part in client.chat(
            model="m", messages=[{"role": "user", "content": "hi"}], stream=True
        ):
            text += part.message.content or ""
            calls += [
                ("", call.function.name, dict(call.function.arguments))
                for call in part.message.tool_calls or ()
            ]
    return Seen(text, calls)


def named_events(*events: dict[str, Any]) -> bytes:
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events
    )


def test_chat_completions_are_read_alike() -> None:
    calls = [Call("read", {"path": "ä"}, id="c1", pieces=5), Call("list", {}, id="c2")]
    data = chat_stream(["He", "llo 😀"], calls)
    assert ours(ChatDecoder(), data) == chat(data)


def test_messages_are_read_alike() -> None:
    start = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "m"}
    usage = {"input_tokens": 1, "output_tokens": 1}
    call = {"type": "tool_use", "id": "t1", "name": "read", "input": {}}
    text = {"type": "text_delta", "text": "He"}
    pieces = [{"type": "input_json_delta", "partial_json": p} for p in ('{"a":', ' "ä"}')]
    data = named_events(
        {"type": "message_start", "message": {**start, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": text},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": call},
        *({"type": "content_block_delta", "index": 1, "delta": piece} for piece in pieces),
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": usage},
        {"type": "message_stop"},
    )
    assert ours(AnthropicDecoder(), data) == messages(data)


def test_ollama_lines_are_read_alike() -> None:
    call = {"function": {"name": "read", "arguments": {"a": ["ä"]}}}
    lines = [
        {"model": "m", "message": {"role": "assistant", "content": "He"}, "done": False},
        {"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": [call]}},
        {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True},
    ]
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    seen = ours(OllamaDecoder(), data)
    assert Seen(seen.text, [("", *call[1:]) for call in seen.calls]) == ollama_chat(data)


READERS: dict[str, tuple[type[EventDecoder], Callable[[bytes], Seen]]] = {
    "chat": (ChatDecoder, chat),
    "responses": (ResponsesDecoder, responses),
    "messages": (AnthropicDecoder, messages),
}


def protocol_of(name: str) -> str:
    if "responses" in name:
        return "responses"
    if name.startswith(("anthropic-", "llamacpp-messages")) and "compat" not in name:
        return "messages"
    return "chat"


def outcome(read: Callable[[], Seen]) -> Seen | str:
    try:
        return read()
    except Exception:  # noqa: BLE001 - which one is theirs to say
        return "an error"


def test_recordings_are_read_alike() -> None:
    if not RECORDINGS.is_dir():
        pytest.skip("the recordings are not there")
    differing = {}
    for path in sorted(RECORDINGS.glob("*.sse")):
        if path.name.startswith("google") or path.name in ODD:
            continue
        decoder, theirs = READERS[protocol_of(path.name)]
        data = path.read_bytes()
        mine = outcome(lambda d=data, make=decoder: ours(make(), d))  # type: ignore[misc]
        other = outcome(lambda d=data, read=theirs: read(d))  # type: ignore[misc]
        if mine != other:
            differing[path.name] = (mine, other)
    assert differing == {}
