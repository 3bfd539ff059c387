"""A model's server for measurements: chat completions on 127.0.0.1, scripted by the path.

    /stream/N/v1/chat/completions   N deltas of four characters
    /turns/N/v1/chat/completions    a call of `echo` in each of the first N turns, then text

Each event is an HTTP chunk of its own; 16 of them are written at once. Nothing is remembered: how
many turns there were is counted in the request. Started as a process of its own by
`measuring.fake_server`; prints its port.
"""

from __future__ import annotations

import json
import re
import socketserver
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

EVENTS_A_WRITE = 16
ROUTE = re.compile(r"/(stream|turns)/(\d+)/v1/chat/completions")
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "bench"}
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
MODELS = b'{"object": "list", "data": [{"id": "bench", "object": "model"}]}'


def event(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return json.dumps({**HEAD, "choices": [choice]}, separators=(",", ":"))


def call(turn: int) -> dict[str, Any]:
    function = {"name": "echo", "arguments": json.dumps({"text": f"hello {turn}"})}
    return {"index": 0, "id": f"call_{turn}", "type": "function", "function": function}


def words(count: int) -> Iterator[str]:
    """Pieces of text that differ: some clients give up on a model that repeats itself."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return (f"q{letters[n // 26 % 26]}{letters[n % 26]} " for n in range(count))


def reply(deltas: list[dict[str, Any]], finish: str) -> list[bytes]:
    events = [event({"role": "assistant", "content": ""}), *map(event, deltas)]
    events += [event({}, finish), "[DONE]"]
    data = [f"data: {each}\n\n".encode() for each in events]
    return [*(b"%x\r\n%b\r\n" % (len(each), each) for each in data), b"0\r\n\r\n"]


@lru_cache(8)
def streamed(count: int) -> list[bytes]:
    """The writes of a reply of so many deltas."""
    chunks = reply([{"content": word} for word in words(count)], "stop")
    steps = range(0, len(chunks), EVENTS_A_WRITE)
    return [b"".join(chunks[start : start + EVENTS_A_WRITE]) for start in steps]


def turn_reply(turn: int, turns: int) -> bytes:
    if turn < turns:
        return b"".join(reply([{"tool_calls": [call(turn)]}], "tool_calls"))
    return b"".join(reply([{"content": "Done."}], "stop"))


class Handler(socketserver.StreamRequestHandler):
    """Answers the requests of one connection."""

    disable_nagle_algorithm = True

    def handle(self) -> None:
        """Read request after request."""
        while line := self.rfile.readline():
            head = b""
            while (field := self.rfile.readline()) not in (b"\r\n", b""):
                head += field
            length = LENGTH.search(head)
            body = self.rfile.read(int(length[1])) if length else b""
            self.answer(line.split()[1].decode(), body)

    def answer(self, path: str, body: bytes) -> None:
        """Write what the path stands for."""
        route = ROUTE.fullmatch(path)
        if route is None:
            size = b"Content-Length: %d\r\n\r\n" % len(MODELS)
            self.wfile.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + size + MODELS
            )
        elif route[1] == "stream":
            self.wfile.write(STREAM)
            for data in streamed(int(route[2])):
                self.wfile.write(data)
        else:
            turn = body.count(b'"tool_call_id"')
            self.wfile.write(STREAM + turn_reply(turn, int(route[2])))


class Server(socketserver.ThreadingTCPServer):
    """One thread a connection."""

    allow_reuse_address = True
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no fault."""


if __name__ == "__main__":
    with Server(("127.0.0.1", 0), Handler) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()
