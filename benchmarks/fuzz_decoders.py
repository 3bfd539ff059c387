"""Feeds the decoders of all protocols broken streams, and looks for what must not happen.

    python benchmarks/fuzz_decoders.py [--seconds 60] [--seed 0] [FOLDER_OF_STREAMS]

What must not happen: an exception that is no `ProviderError`, another message when the same bytes
come in other pieces, a `Finish` that is not last, more memory or time than the bytes account for.
Streams are made from the examples below and the files of the folder: bytes and JSON values are
changed, events left out, doubled and exchanged, numbers and names swapped.
"""

from __future__ import annotations

import argparse
import json
import random
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hrns.errors import ProviderError
from hrns.messages import AssistantMessage, ToolCall
from hrns.providers.anthropic_reader import AnthropicDecoder
from hrns.providers.base import Finish
from hrns.providers.decoding import CallIds, EventDecoder
from hrns.providers.ollama_reader import OllamaDecoder
from hrns.providers.openai_chat_reader import ChatDecoder
from hrns.providers.openai_responses_reader import ResponsesDecoder
from hrns.reply import fold
from hrns.testing import Call, chat_stream

DECODERS: tuple[Callable[[CallIds], EventDecoder], ...] = (
    ChatDecoder,
    ResponsesDecoder,
    AnthropicDecoder,
    OllamaDecoder,
)
LIMIT_S = 2.0
MEMORY_PER_BYTE = 400
ODD = [None, 0, -1, 1e400, "", " ", [], {}, [None], {"": 0}, "\ud83d", True, 10**30, "[DONE]"]
PIECES = [b"\n", b"\r", b"\n\n", b"data: ", b"event: error\n", b"[DONE]", b"{", b"\\ud83d", b"\xff"]
PIECES += [b"\xef\xbb\xbf", b": ping\n\n", b"\x00", b"<think>", b"</think>", b'"error":{}', b"null"]


def named(*events: dict[str, Any]) -> bytes:
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events
    )


def examples() -> list[bytes]:
    item = {"type": "function_call", "id": "f", "call_id": "c", "name": "read", "arguments": ""}
    tool = {"type": "tool_use", "id": "t", "name": "read", "input": {}}
    call = {"function": {"name": "read", "arguments": {"a": 1}}}
    return [
        chat_stream(["<think>hm", "</think>Hi"], [Call("read", {"a": 1}, id="c", pieces=3)]),
        chat_stream(["a", "b", "c"], reasoning="plan"),
        named(
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.function_call_arguments.delta", "item_id": "f", "delta": "{}"},
            {"type": "response.reasoning_summary_text.delta", "item_id": "r", "delta": "hm"},
            {"type": "response.output_text.delta", "item_id": "m", "delta": "Hi"},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"status": "completed", "output": [item]}},
        ),
        named(
            {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking"}},
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "signature_delta", "signature": "s"},
            },
            {"type": "content_block_stop", "index": 0},
            {"type": "content_block_start", "index": 1, "content_block": tool},
            {
                "type": "content_block_delta",
                "index": 1,
                "delta": {"type": "input_json_delta", "partial_json": "{}"},
            },
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
            {"type": "message_stop"},
        ),
        b"".join(
            json.dumps(line).encode() + b"\n"
            for line in (
                {"message": {"role": "assistant", "content": "Hi", "thinking": "hm"}},
                {"message": {"role": "assistant", "content": "", "tool_calls": [call]}},
                {"message": {"role": "assistant", "content": ""}, "done": True, "eval_count": 3},
            )
        ),
    ]


def changed_value(value: Any, dice: random.Random) -> Any:
    """The value with one thing in it replaced, left out or doubled."""
    if dice.random() < 0.2:
        return dice.choice(ODD)
    if isinstance(value, dict) and value:
        name = dice.choice(list(value))
        inner = changed_value(value[name], dice)
        kept = {k: v for k, v in value.items() if k != name or dice.random() < 0.9}
        return {**kept, dice.choice([name, name, name, dice.choice(list(value))]): inner}
    if isinstance(value, list) and value:
        place = dice.randrange(len(value))
        return [*value[:place], changed_value(value[place], dice), *value[place:]]
    return dice.choice(ODD)


def changed_event(event: bytes, dice: random.Random) -> bytes:
    """An event whose JSON is changed; one without JSON stays."""
    start = event.find(b"{")
    try:
        value = json.loads(event[start:])
    except ValueError:
        return event
    return event[:start] + json.dumps(changed_value(value, dice)).encode("utf-8", "replace")


def mutated(data: bytes, dice: random.Random) -> bytes:
    """A stream with a few things wrong with it."""
    end = b"\n\n" if b"\n\n" in data else b"\n"
    for _ in range(dice.randint(1, 4)):
        events = data.split(end)
        place = dice.randrange(len(events))
        match dice.randrange(7):
            case 0:
                at = dice.randrange(len(data) + 1)
                data = data[:at] + dice.choice(PIECES) + data[at:]
            case 1:
                at = dice.randrange(len(data) + 1)
                data = data[:at] + data[at + dice.randint(1, 30) :]
            case 2:
                data = data.replace(b"\n", dice.choice([b"\r\n", b"\r", b"\n"]))
            case 3:
                data = end.join([*events[:place], *events[place + 1 :]])
            case 4:
                data = end.join([*events[:place], events[place], *events[place:]])
            case 5:
                dice.shuffle(events)
                data = end.join(events)
            case _:
                events[place] = changed_event(events[place], dice)
                data = end.join(events)
    return data


def in_pieces(data: bytes, dice: random.Random) -> list[bytes]:
    cuts = sorted(dice.randrange(len(data) + 1) for _ in range(dice.randint(0, 12)))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]


def comparable(message: AssistantMessage) -> AssistantMessage:
    """The message with the ids left out that are made where a server gives none."""
    parts = [
        ToolCall("", p.name, p.arguments, p.native) if isinstance(p, ToolCall) else p
        for p in message.parts
    ]
    return AssistantMessage(parts, None, message.stop, message.usage)


def outcome(make: Callable[[CallIds], EventDecoder], blocks: list[bytes]) -> AssistantMessage | str:
    """The message of a stream, or the kind of its error."""
    decoder = make(CallIds())
    try:
        deltas = [delta for block in blocks for delta in decoder.feed(block)]
        deltas += decoder.end()
    except ProviderError:
        return "an error"
    kinds = [type(delta) for delta in deltas]
    assert kinds.count(Finish) == 1, kinds
    assert kinds[-1] is Finish, kinds
    return comparable(fold(deltas))


def check(make: Callable[[CallIds], EventDecoder], data: bytes, dice: random.Random) -> None:
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    started = time.perf_counter()
    whole = outcome(make, [data])
    assert outcome(make, in_pieces(data, dice)) == whole
    assert time.perf_counter() - started < LIMIT_S, "too slow"
    used = tracemalloc.get_traced_memory()[1] - before
    assert used < 1_000_000 + MEMORY_PER_BYTE * len(data), f"{used} bytes for {len(data)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("folder", nargs="?", type=Path)
    options = parser.parse_args()
    streams = examples()
    if options.folder:
        files = [path for path in options.folder.iterdir() if path.suffix in (".sse", ".json")]
        streams += [path.read_bytes() for path in files if path.stat().st_size < 20_000]
    tracemalloc.start()
    deadline = time.monotonic() + options.seconds
    count = 0
    while time.monotonic() < deadline:
        seed = f"{options.seed}/{count}"
        dice = random.Random(seed)  # noqa: S311 - a stream that fails must come again
        data = mutated(dice.choice(streams), dice)
        make = dice.choice(DECODERS)
        try:
            check(make, data, dice)
        except Exception:
            print(f"seed {seed}, {make}: {data!r}")
            raise
        count += 1
    print(f"{count} streams, nothing found")


if __name__ == "__main__":
    main()
