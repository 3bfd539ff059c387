"""Streaming: the CPU that a delta costs, (CPU at N deltas - CPU at 1) / N, against httpx + json.

Start-up is in both figures and goes away in the difference. `hrns exec` prints the deltas as they
come, as its users see them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

from measuring import (
    HERE,
    HRNS,
    Measured,
    clean_environment,
    fake_server,
    heading,
    in_turn,
    measure,
    options,
    peer,
    peer_python,
    ratio,
    table,
)

BASE = "httpx + json"


def clients(peers: Path | None) -> Mapping[str, Callable[[str], list[str]]]:
    """The words that each client is run with, as a function of the base URL."""

    def library(python: str, name: str) -> Callable[[str], list[str]]:
        return lambda url: [python, str(HERE / "stream_clients.py"), name, url]

    def program(*words: str) -> Callable[[str], list[str]]:
        return lambda _url: list(words)

    exec_words = (*HRNS, "exec", "--quiet", "--no-stdin", "hi")
    found = {
        BASE: library(sys.executable, "httpx-json"),
        "hrns exec": program(*exec_words),
        "hrns exec, stream-json": program(*exec_words, "--output-format", "stream-json"),
        "hrns.Loop": library(sys.executable, "hrns-loop"),
    }
    if llm := peer(peers, "llm"):
        found["llm"] = program(llm, "-m", "bench", "hi")
    for module, name in (("openai", "openai-sdk"), ("pydantic_ai", "pydantic-ai")):
        if python := peer_python(peers, module):
            found[name] = library(python, name)
    return found


def main() -> None:
    parser = options("Measure what a streamed delta costs.", rounds=7)
    parser.add_argument("--deltas", type=int, default=20_000)
    chosen = parser.parse_args()
    runs: dict[str, Callable[[], Measured]] = {}
    with fake_server() as server:
        for name, words in clients(chosen.peers).items():
            for count in (1, chosen.deltas):
                runs[f"{name} {count}"] = _run(words, f"{server}/stream/{count}/v1", count)
        measured = in_turn(runs, chosen.rounds)
    heading(f"streaming: medians and ratios of {chosen.rounds} rounds, {chosen.deltas} deltas")
    costs = {
        name: _microseconds(
            measured[f"{name} 1"], measured[f"{name} {chosen.deltas}"], chosen.deltas
        )
        for name in clients(chosen.peers)
    }
    rows = [(name, median(cost), ratio(cost, costs[BASE])) for name, cost in costs.items()]
    table(("client", "us cpu a delta", f"x {BASE}"), *rows)


def _run(words: Callable[[str], list[str]], url: str, count: int) -> Callable[[], Measured]:
    def run() -> Measured:
        with clean_environment(url) as environ:
            done = measure(words(url), environ)
        assert done.output.count("q") >= count, done.output[:200]
        return done

    return run


def _microseconds(short: list[Measured], long: list[Measured], deltas: int) -> list[float]:
    return [
        (each.cpu_s - other.cpu_s) / deltas * 1e6 for each, other in zip(long, short, strict=True)
    ]


if __name__ == "__main__":
    main()
