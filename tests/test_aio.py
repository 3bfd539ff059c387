"""Runs as async iterators."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import aclosing

import pytest

from hrns import aio
from hrns.chunks import EndChunk, MessageChunk
from hrns.errors import UsageError
from hrns.loop import Loop
from hrns.messages import AssistantMessage, ToolMessage, UserMessage
from hrns.testing import Call, Reply, Say, ScriptedProvider, Wait
from hrns.tools import ToolContext, tool

ASKED = [UserMessage("go")]


@tool(effects=())
async def later(seconds: float) -> str:
    """Wait a little."""
    await asyncio.sleep(seconds)
    return "waited"


def running() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "hrns run"]


def test_chunks_are_those_of_the_run() -> None:
    script: list[Reply] = [[Call("later", {"seconds": 0.01})], Say("done", pieces=4)]

    async def main() -> list[str]:
        return [
            chunk.type async for chunk in aio.run(Loop(ScriptedProvider(script), [later]), ASKED)
        ]

    plain = [chunk.type for chunk in Loop(ScriptedProvider(script), [later]).run(ASKED)]
    assert asyncio.run(main()) == plain
    assert running() == []


def test_event_loop_goes_on_while_a_tool_runs() -> None:
    begun, ticked = threading.Event(), threading.Event()

    @tool(effects=())
    def wait() -> str:
        """Wait for the event loop."""
        begun.set()
        return str(ticked.wait(30))

    async def tick() -> None:
        while not begun.is_set():
            await asyncio.sleep(0.01)
        ticked.set()

    async def main() -> None:
        ticking = asyncio.create_task(tick())
        loop = Loop(ScriptedProvider([[Call("wait")], Say("a")]), [wait])
        assert [chunk async for chunk in aio.run(loop, ASKED)][-1] == EndChunk("done")
        await ticking
        results = loop.messages[-2]
        assert isinstance(results, ToolMessage)
        assert [result.text for result in results.results] == ["True"]

    asyncio.run(main())


def test_consumer_that_leaves_ends_the_run() -> None:
    told = threading.Event()

    @tool(effects=())
    def wait(context: ToolContext) -> str:
        """Wait until told."""
        context.cancel.wait(30)
        told.set()
        return ""

    loop = Loop(ScriptedProvider([[Call("wait")]]), [wait])

    async def main() -> float:
        async with aclosing(aio.run(loop, ASKED)) as chunks:
            async for chunk in chunks:
                if chunk.type == "tool_call_start":
                    break
            left = time.monotonic()
        return time.monotonic() - left

    assert asyncio.run(main()) < 15
    assert told.is_set()
    assert running() == []
    assert [type(message) for message in loop.messages[-2:]] == [AssistantMessage, ToolMessage]


def test_time_out_around_a_run_ends_it() -> None:
    loop = Loop(ScriptedProvider([[Say("half"), Wait()]]))
    seen: list[str] = []

    async def main() -> None:
        async with asyncio.timeout(None) as limit:
            async for chunk in aio.run(loop, ASKED):
                seen.append(chunk.type)
                limit.reschedule(asyncio.get_running_loop().time() + 0.1)

    with pytest.raises(TimeoutError):
        asyncio.run(main())
    assert seen == ["message"]
    assert running() == []
    assert loop.messages[-1].text == "half"  # type: ignore[union-attr]


def test_run_does_not_get_far_ahead_of_a_slow_consumer() -> None:
    given = 0

    class Counting(ScriptedProvider):
        def reply(self, request, cancel):  # type: ignore[no-untyped-def]
            nonlocal given
            for delta in super().reply(request, cancel):
                given += 1
                yield delta

    loop = Loop(Counting([Say("x" * 5000, pieces=5000)]))

    async def main() -> int:
        async with aclosing(aio.run(loop, ASKED)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, MessageChunk):
                    await asyncio.sleep(0.2)
                    return given
        return 0

    assert 0 < asyncio.run(main()) < aio.AHEAD + 10


def test_misuse_is_raised_at_once() -> None:
    with pytest.raises(UsageError):
        aio.run(Loop(ScriptedProvider([])), [])


def test_what_a_consumer_of_chunks_raises_is_its_own() -> None:
    async def main() -> None:
        async for _ in aio.run(Loop(ScriptedProvider([Say("a")])), ASKED):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        asyncio.run(main())
