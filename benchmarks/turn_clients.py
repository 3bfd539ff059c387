"""Runs one session of tool turns: `turn_clients.py NAME URL TURNS`; prints JSON.

Gives, for each turn, the wall and CPU seconds at which its tool ran, and the peak memory in MB. The
hand loop is what one would write without a harness: httpx, and json for the whole conversation in
each turn. Run by the Python that has the library.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from peak_memory import peak_mb

PROMPT = "go on"
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
FUNCTION = {"name": "echo", "description": "Echoes.", "parameters": SCHEMA}

wall_s: list[float] = []
cpu_s: list[float] = []


def echo(text: str) -> str:
    """Echoes."""
    wall_s.append(time.perf_counter())
    cpu_s.append(time.process_time())
    return text


def converse(complete: Callable[[list[Any]], dict[str, Any]]) -> None:
    """The hand loop, around something that gives an assistant message for messages."""
    messages: list[Any] = [{"role": "user", "content": PROMPT}]
    while True:
        reply = complete(messages)
        messages.append(reply)
        if not reply.get("tool_calls"):
            return
        for call in reply["tool_calls"]:
            result = echo(**json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


def folded(deltas: list[dict[str, Any]]) -> dict[str, Any]:
    """The message that deltas add up to; the server sends calls whole."""
    content = "".join(delta.get("content") or "" for delta in deltas)
    calls = [call for delta in deltas for call in delta.get("tool_calls") or ()]
    message: dict[str, Any] = {"role": "assistant", "content": content}
    return {**message, "tool_calls": calls} if calls else message


def hand_httpx(url: str, _turns: int) -> None:
    import httpx

    tools = [{"type": "function", "function": FUNCTION}]
    with httpx.Client() as client:

        def complete(messages: list[Any]) -> dict[str, Any]:
            body = {"model": "bench", "messages": messages, "tools": tools, "stream": True}
            with client.stream("POST", f"{url}/chat/completions", json=body) as response:
                return folded(
                    [
                        json.loads(line[6:])["choices"][0]["delta"]
                        for line in response.iter_lines()
                        if line.startswith("data: ") and line != "data: [DONE]"
                    ]
                )

        converse(complete)


def hrns_loop(url: str, _turns: int) -> None:
    from hrns import Loop, UserMessage, tool
    from hrns.providers.http import build

    loop = Loop(build(url=url), [tool(effects=())(echo)], model="bench")
    for _ in loop.run([UserMessage(PROMPT)]):
        pass


def hrns_session(url: str, _turns: int) -> None:
    """A session as `hrns exec` has it: plugins, permissions, the bundled tools, a journal."""
    from pathlib import Path

    from hrns import hookimpl, open_session, tool
    from hrns.config import Config, ProviderConfig
    from hrns.plugins import load_plugins

    class Echo:
        @hookimpl
        def hrns_tools(self) -> Any:
            return [tool(effects=())(echo)]

    plugins = load_plugins({})
    plugins.register("echo", Echo())
    entry = ProviderConfig("bench", url=url, model="bench")
    config = Config(Path("config.json"))
    session = open_session(config, plugins, entry, cwd=Path.cwd(), mode="all", save=True)
    with session:
        for _ in session.send(PROMPT):
            pass


def openai_sdk(url: str, _turns: int) -> None:
    from openai import OpenAI

    client = OpenAI(base_url=url, api_key="x")
    tools: Any = [{"type": "function", "function": FUNCTION}]

    def complete(messages: list[Any]) -> dict[str, Any]:
        chunks = client.chat.completions.create(
            model="bench", messages=messages, tools=tools, stream=True
        )
        return folded([chunk.choices[0].delta.model_dump(exclude_none=True) for chunk in chunks])

    converse(complete)


def pydantic_ai(url: str, _turns: int) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.usage import UsageLimits

    agent = Agent(OpenAIChatModel("bench", provider=OpenAIProvider(base_url=url, api_key="x")))
    agent.tool_plain(echo)

    async def read() -> None:
        limits = UsageLimits(request_limit=None)
        async with agent.run_stream(PROMPT, usage_limits=limits) as result:
            await result.get_output()

    asyncio.run(read())


CLIENTS = {
    "hand-httpx": hand_httpx,
    "hrns-loop": hrns_loop,
    "hrns-session": hrns_session,
    "openai-sdk": openai_sdk,
    "pydantic-ai": pydantic_ai,
}

if __name__ == "__main__":
    name, url, turns = sys.argv[1:]
    CLIENTS[name](url, int(turns))
    assert len(wall_s) == int(turns), f"{len(wall_s)} turns"
    print(json.dumps({"wall_s": wall_s, "cpu_s": cpu_s, "peak_mb": peak_mb()}))
