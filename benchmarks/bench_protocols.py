"""Protocols: the CPU that a delta costs in each, against httpx + json and the official SDKs.

    python benchmarks/bench_protocols.py [--deltas 20000] [--rounds 5]

(CPU at N deltas - CPU at 1) / N of this process, the median of the rounds, all taken in turn in
one run; the server is another process. Each delta is a HTTP chunk of its own, as servers send
them, 16 in one write. The SDKs `openai`, `anthropic` and `ollama` are measured where they are
installed.
"""

from __future__ import annotations

import argparse
import json
import socketserver
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import httpx

from hrns.cancel import Cancel
from hrns.messages import UserMessage
from hrns.providers.base import ModelRequest, PartText
from hrns.providers.http import build

PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "ollama": "/api/chat",
}
BURST = 16  # events in one write
HELLO = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]}

# The server


def events_of(api: str, count: int) -> Iterator[bytes]:
    """The events of a reply with so many deltas, each as it stands in the stream."""
    words = [f"q{number % 1000:03d} " for number in range(count)]
    if api == "openai-chat":
        head: dict[str, Any] = {"id": "c", "object": "chat.completion.chunk", "created": 1}
        head |= {"model": "m", "system_fingerprint": "fp"}
        for word in words:
            choice = {"index": 0, "delta": {"content": word}, "logprobs": None}
            yield sse({**head, "choices": [{**choice, "finish_reason": None}]})
        yield sse({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        yield b"data: [DONE]\n\n"
    elif api == "openai-responses":
        item = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
        yield sse({"type": "response.output_item.added", "output_index": 0, "item": item})
        for number, word in enumerate(words):
            delta = {"item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": word}
            delta |= {"logprobs": [], "sequence_number": number}
            yield sse({"type": "response.output_text.delta", **delta})
        part = {"type": "output_text", "text": "".join(words), "annotations": []}
        output = [{**item, "status": "completed", "content": [part]}]
        response = {"id": "r", "object": "response", "status": "completed", "output": output}
        yield sse({"type": "response.completed", "response": response})
    elif api == "anthropic":
        message = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "m"}
        usage = {"input_tokens": 1, "output_tokens": 1}
        yield sse({"type": "message_start", "message": {**message, "usage": usage}})
        block = {"type": "text", "text": ""}
        yield sse({"type": "content_block_start", "index": 0, "content_block": block})
        for word in words:
            delta = {"type": "text_delta", "text": word}
            yield sse({"type": "content_block_delta", "index": 0, "delta": delta})
        yield sse({"type": "content_block_stop", "index": 0})
        end = {"delta": {"stop_reason": "end_turn"}, "usage": usage}
        yield sse({"type": "message_delta", **end})
        yield sse({"type": "message_stop"})
    else:
        head = {"model": "m", "created_at": "2026-01-01T00:00:00Z"}
        for word in words:
            message = {"role": "assistant", "content": word}
            yield json.dumps({**head, "message": message, "done": False}).encode() + b"\n"
        message = {"role": "assistant", "content": ""}
        last = {**head, "message": message, "done": True, "done_reason": "stop"}
        yield json.dumps(last).encode() + b"\n"


def sse(value: dict[str, Any]) -> bytes:
    name = f"event: {value['type']}\n" if "type" in value else ""
    return f"{name}data: {json.dumps(value, separators=(',', ':'))}\n\n".encode()


class Handler(socketserver.StreamRequestHandler):
    """Answers `/N/PATH` with N deltas of the protocol whose path it is."""

    kept: dict[tuple[str, int], list[bytes]] = {}  # noqa: RUF012 - one for the whole server

    def handle(self) -> None:
        """Answer request after request."""
        while line := self.rfile.readline():
            path = line.split()[1].decode()
            length = 0
            while (header := self.rfile.readline()) != b"\r\n":
                if header.lower().startswith(b"content-length:"):
                    length = int(header[15:])
            self.rfile.read(length)
            self.answer(path)

    def answer(self, path: str) -> None:
        """Send the reply of a path."""
        count = int(path.split("/")[1])
        api = next(api for api, end in PATHS.items() if path.endswith(end))
        if (api, count) not in self.kept:
            events = events_of(api, count)
            chunks = [b"%x\r\n%b\r\n" % (len(event), event) for event in events]
            chunks.append(b"0\r\n\r\n")
            self.kept[api, count] = [
                b"".join(chunks[at : at + BURST]) for at in range(0, len(chunks), BURST)
            ]
        kind = "application/x-ndjson" if api == "ollama" else "text/event-stream"
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.wfile.write(head.encode())
        for block in self.kept[api, count]:
            self.wfile.write(block)


def serve() -> None:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        print(server.server_address[1], flush=True)
        server.serve_forever()


# The readers: from a base URL and the protocol to the characters of the reply


def by_httpx(api: str, url: str) -> Callable[[], int]:
    client = httpx.Client()

    def text_of(value: dict[str, Any]) -> str:
        if api == "openai-chat":
            return value["choices"][0]["delta"].get("content") or ""
        if api == "ollama":
            return value["message"]["content"] or ""
        delta = value.get("delta", "")
        return delta if isinstance(delta, str) else delta.get("text", "")

    def read() -> int:
        total = 0
        with client.stream("POST", url + PATHS[api], json=HELLO) as response:
            for line in response.iter_lines():
                data = line if api == "ollama" else line[6:] if line.startswith("data: ") else ""
                if data and data != "[DONE]":
                    total += len(text_of(json.loads(data)))
        return total

    return read


def by_hrns(api: str, url: str) -> Callable[[], int]:
    suffix = "/v1" if api.startswith("openai") else ""
    provider = build(url=url + suffix, api=api)
    request = ModelRequest("m", (UserMessage("hi"),))

    def read() -> int:
        deltas = provider.reply(request, Cancel())
        return sum(len(delta.text) for delta in deltas if type(delta) is PartText)

    return read


def by_sdk(api: str, url: str) -> Callable[[], int] | None:
    asked = [{"role": "user", "content": "hi"}]
    module = {"anthropic": "anthropic", "ollama": "ollama"}.get(api, "openai")
    if find_spec(module) is None:
        return None
    sdk: Any = __import__(module)
    if api == "anthropic":
        client = sdk.Anthropic(base_url=url, api_key="x")
        return lambda: sum(
            len(event.delta.text)
            for event in client.messages.create(
                model="m", max_tokens=9, messages=asked, stream=True
            )
            if event.type == "content_block_delta"
        )
    if api == "ollama":
        client = sdk.Client(host=url)
        return lambda: sum(
            len(part.message.content) for part in client.chat("m", messages=asked, stream=True)
        )
    client = sdk.OpenAI(base_url=f"{url}/v1", api_key="x")
    if api == "openai-responses":
        return lambda: sum(
            len(event.delta)
            for event in client.responses.create(model="m", input="hi", stream=True)
            if event.type == "response.output_text.delta"
        )
    return lambda: sum(
        len(chunk.choices[0].delta.content or "")
        for chunk in client.chat.completions.create(model="m", messages=asked, stream=True)
    )


def cpu_s(read: Callable[[], int], expected: int) -> float:
    started = time.process_time()
    assert read() == expected
    return time.process_time() - started


def measure_streams(root: str, deltas: int, rounds: int) -> None:
    print(f"CPU a delta, in microseconds ({deltas} deltas, median of {rounds} rounds)\n")
    print("| protocol | httpx + json | hrns | of the bare reader | official SDK | times hrns |")
    print("|---|---|---|---|---|---|")
    for api in PATHS:
        makers = {"httpx": by_httpx, "hrns": by_hrns, "sdk": by_sdk}
        readers = {
            name: [read for count in (1, deltas) if (read := make(api, f"{root}/{count}"))]
            for name, make in makers.items()
        }
        times: dict[str, list[float]] = {name: [] for name, pair in readers.items() if pair}
        for round_number in range(rounds + 1):
            for name in times:
                one, many = readers[name]
                spent = (cpu_s(many, 5 * deltas) - cpu_s(one, 5)) / deltas
                times[name] += [spent * 1e6] if round_number else []  # the first warms up
        middle = {name: statistics.median(values) for name, values in times.items()}
        sdk = (
            f"{middle['sdk']:.0f} | {middle['sdk'] / middle['hrns']:.1f}"
            if "sdk" in middle
            else " | "
        )
        print(
            f"| {api} | {middle['httpx']:.1f} | {middle['hrns']:.1f} "
            f"| {middle['hrns'] / middle['httpx']:.2f} | {sdk} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deltas", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve()
    command = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            root = f"http://127.0.0.1:{int(server.stdout.readline())}"
            measure_streams(root, options.deltas, options.rounds)
        finally:
            server.kill()
    return None


if __name__ == "__main__":
    main()
