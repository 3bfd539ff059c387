"""ReAct: scripted steps a second, what a delta costs in react mode, and turns in it.

    python benchmarks/bench_react.py [--rounds 3]

CPU time of this process; no server is asked, so nothing but hrns is measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from statistics import median

from measuring import heading, options, table

from hrns.cancel import Cancel
from hrns.loop import Loop
from hrns.messages import UserMessage
from hrns.providers.base import (
    Delta,
    Finish,
    ModelInfo,
    ModelRequest,
    PartStart,
    PartText,
    Provider,
    ToolSpec,
)
from hrns.providers.react_mode import ReactMode
from hrns.react import AgentConfig, LoopRunner, ToolRegistry
from hrns.react import ToolSpec as TextToolSpec
from hrns.testing import Call, Say, ScriptedProvider
from hrns.tools import Tool

SCHEMA = '{"type": "object", "properties": {"city": {"type": "string"}}}'
ACTION = (
    'Thought: I look at the weather of city {0}.\nAction: weather\nAction Input: {{"city": "{0}"}}'
)
ANSWER = "Thought: I know enough.\nFinal Answer: It is sunny."
WIDE = 1_000_000_000  # tokens: nothing is evicted


def cpu_s(run: Callable[[], object]) -> float:
    started = time.process_time()
    run()
    return time.process_time() - started


def scripted(steps: int, limit: int) -> Callable[[], object]:
    """A run of so many steps: all but the last use a tool."""
    registry = ToolRegistry()
    registry.register(TextToolSpec("weather", "Tells the weather.", SCHEMA), lambda text: text)
    replies = [ACTION.format(number) for number in range(steps - 1)]
    config = AgentConfig(max_iterations=steps, context_token_limit=limit)

    def run() -> None:
        answer = LoopRunner(config, registry).run_scripted([*replies, ANSWER])
        assert answer == "It is sunny."

    return run


class Streaming:
    """Answers with so many deltas of four characters."""

    api = endpoint = "bench"

    def __init__(self, deltas: int) -> None:
        self._deltas = [PartText(0, "word")] * deltas

    def reply(self, _request: ModelRequest, _cancel: Cancel) -> Iterator[Delta]:
        """The deltas."""
        yield PartStart(0, "text")
        yield PartText(0, "Final Answer: ")
        yield from self._deltas
        yield Finish("done")

    def models(self) -> list[ModelInfo]:
        """None."""
        return []


def read(provider: Provider) -> Callable[[], object]:
    request = ModelRequest("m", (UserMessage("hi"),), (ToolSpec("weather", "", {}),))
    return lambda: sum(1 for _ in provider.reply(request, Cancel()))


def turns(count: int, *, native: bool) -> Callable[[], object]:
    """A session of so many turns: all but the last use a tool."""
    texts = [ACTION.format(number) for number in range(count - 1)]
    tool = Tool("weather", "", {"type": "object"}, lambda given, _: f"sunny in {given['city']}")

    def run() -> None:
        if native:
            calls = [Call("weather", {"city": str(number)}) for number in range(count - 1)]
            provider: Provider = ScriptedProvider([*calls, Say("It is sunny.")])
        else:
            provider = ReactMode(ScriptedProvider([Say(text) for text in (*texts, ANSWER)]))
        loop = Loop(provider, [tool])
        *_, end = loop.run([UserMessage("How is the weather?")])
        assert end.type == "end"

    return run


def main() -> None:
    rounds = options(__doc__ or "", rounds=3).parse_args().rounds

    def taken(run: Callable[[], object]) -> float:
        return median(cpu_s(run) for _ in range(rounds))

    heading("ReAct")
    rows: list[list[object]] = []
    for limit in (8192, WIDE):
        for steps in (1_000, 10_000, 100_000):
            seconds = taken(scripted(steps, limit))
            rows.append(
                [steps, "all" if limit == WIDE else limit, steps / seconds, seconds / steps * 1e6]
            )
    table(["steps", "history (tokens)", "steps a second", "us a step"], *rows)
    print()
    deltas = 20_000
    inner = Streaming(deltas)
    bare, mode = taken(read(inner)), taken(read(ReactMode(inner)))
    table(
        ["20,000 deltas", "us a delta"],
        ["the provider alone", bare / deltas * 1e6],
        ["in react mode", mode / deltas * 1e6],
    )
    print()
    rows = []
    for count in (100, 400, 1_600):
        native, react = (taken(turns(count, native=native)) for native in (True, False))
        rows.append([count, native / count * 1e6, react / count * 1e6])
    table(["turns", "us a turn, native", "in react mode"], *rows)


if __name__ == "__main__":
    main()
