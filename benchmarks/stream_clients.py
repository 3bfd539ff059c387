"""Reads one streamed reply: `stream_clients.py NAME URL`; prints its text.

Each client is the plainest use of its library that gives the text as it comes. It is run by the
Python that has the library.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator

MESSAGES = [{"role": "user", "content": "hi"}]


def httpx_json(url: str) -> Iterator[str]:
    """Read with httpx and json.loads and nothing else: what a stream costs in any case."""
    import httpx

    body = {"model": "bench", "messages": MESSAGES, "stream": True}
    with httpx.Client() as client, client.stream("POST", f"{url}/chat/completions", json=body) as r:
        for line in r.iter_lines():
            if line.startswith("data: ") and line != "data: [DONE]":
                yield json.loads(line[6:])["choices"][0]["delta"].get("content") or ""


def hrns_loop(url: str) -> Iterator[str]:
    from hrns import Loop, MessageChunk, UserMessage
    from hrns.providers.http import build

    for chunk in Loop(build(url=url)).run([UserMessage("hi")], model="bench"):
        if isinstance(chunk, MessageChunk):
            yield chunk.text


def openai_sdk(url: str) -> Iterator[str]:
    from openai import OpenAI

    client = OpenAI(base_url=url, api_key="x")
    for chunk in client.chat.completions.create(model="bench", messages=MESSAGES, stream=True):
        yield chunk.choices[0].delta.content or ""


def pydantic_ai(url: str) -> Iterator[str]:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    agent = Agent(OpenAIChatModel("bench", provider=OpenAIProvider(base_url=url, api_key="x")))

    async def read() -> list[str]:
        async with agent.run_stream("hi") as result:
            return [text async for text in result.stream_text(delta=True, debounce_by=None)]

    yield from asyncio.run(read())


CLIENTS = {
    "httpx-json": httpx_json,
    "hrns-loop": hrns_loop,
    "openai-sdk": openai_sdk,
    "pydantic-ai": pydantic_ai,
}

if __name__ == "__main__":
    pieces = list(CLIENTS[sys.argv[1]](sys.argv[2]))
    sys.stdout.write("".join(pieces))
